// §10 from below: an adversary who chooses between two data sets at every step.

package adaptive

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// An attack is what an adversary reaches who chooses at every step, from
// the outputs so far, whether all other records agree with the substitute or
// with the record: a legal adaptive composition, since the query may depend on
// earlier outputs and the data sets are fixed. It is a lower bound on the loss
// of adaptive composition (not on that of one fixed mechanism: see subsample.FixedSize.Attack).
//
// G_k(α) = max over both pairs of E_P[G_{k−1}(αe^{−L})], G_0 = (1−α)₊
// (docs/theory/subsampling.md §10). Each pair is replaced by its lower law on a lattice, which
// keeps the recursion on the lattice and below the truth.
type attack struct {
	r recursion
	g []float64 // lower bounds of G at e^{i·step}, of losses moved by at most moved

	lossErr, moved float64 // in one step, and so far
	linear         bool    // chords of g are lower bounds too
}

// newAttack has G at up to top lattice points and one step's losses at up to most of either
// sign; of larger ones it makes no use. It has its accuracy where log δ falls with slope c.
func newAttack(p profiles.Profile, step float64, top, most int, c float64) *attack {
	a := &attack{g: make([]float64, top+1)}
	a.r = recursion{step: step, c: c, join: larger}
	for _, q := range []profiles.Profile{p, profiles.Reverse(p)} {
		_, lower := pld.Discretize(q, pld.Uniform(0, step, -int64(most), int64(most)))
		l := massLaw{inf: math.Exp(lower.LogPInf) * (1 - 8*xmath.U)}
		for j, m := range lower.LogMass {
			l.index, l.mass = append(l.index, int(lower.Index[j])), append(l.mass, math.Exp(m))
		}
		a.r.laws = append(a.r.laws, l)
		a.lossErr = max(a.lossErr, lower.LossErr)
	}
	return a
}

// larger sets g to the larger of two laws' values.
func larger(values [][]float64, g []float64) {
	for i := range g {
		g[i] = max(values[0][i], values[1][i])
	}
}

// run adds k steps, or none when it returns the error of a cancelled context.
func (a *attack) run(ctx context.Context, k int64) error {
	g := slices.Clone(a.g)
	if err := a.r.run(ctx, g, k); err != nil {
		return err
	}
	a.g = g
	a.moved += float64(k) * a.lossErr * (1 + 4*xmath.U)
	return nil
}

// Epsilon returns a lower bound of ε(δ) of the steps run so far: the last
// lattice point at which δ is exceeded; −Inf if there is none.
func (a *attack) Epsilon(delta float64) float64 {
	for i := len(a.g) - 1; i >= 0; i-- {
		if a.g[i] > delta {
			x := float64(i) * a.r.step
			if a.linear && i+1 < len(a.g) {
				x += math.Log1p((a.g[i]-delta)/(a.g[i]-a.g[i+1])*math.Expm1(a.r.step)) * (1 - 16*xmath.U)
			}
			return xmath.Down(x-a.moved, 2)
		}
	}
	for i := 1; i < len(a.g); i++ {
		if a.at(-i) > delta {
			return xmath.Down(-float64(i)*a.r.step-a.moved, 2)
		}
	}
	return math.Inf(-1)
}

// at is the lower bound at e^{i·step}; G is symmetric.
func (a *attack) at(i int) float64 {
	switch {
	case i >= len(a.g):
		return 0
	case i >= 0:
		return a.g[i]
	}
	v := -math.Expm1(float64(i) * a.r.step)
	if -i < len(a.g) {
		v += math.Exp(float64(i)*a.r.step) * a.g[-i]
	}
	return max(0, v*(1-8*xmath.U))
}

// Delta returns a lower bound of δ(ε) of the steps run so far: the value at the
// next lattice point, or that at the last one less the most by which δ can fall
// from there, its slope in e^ε being at least −1; 0 beyond the lattice.
func (a *attack) Delta(eps float64) float64 {
	eps = xmath.Up(eps+a.moved, 2)
	switch i := math.Floor(eps / a.r.step); {
	case math.IsNaN(i) || i >= float64(len(a.g)):
		return 0
	case -i > float64(len(a.g)):
		return max(0, -math.Expm1(eps)*(1-8*xmath.U))
	default:
		x := i * a.r.step
		fall := math.Exp(x) * max(0, math.Expm1(eps-x))
		// The difference is of losses known to 2 u each, so that of α to 8 u.
		return max(0, a.at(int(i)+1), a.at(int(i))-fall*(1+8*xmath.U)-8*xmath.U*math.Exp(eps)*(1+math.Abs(eps)))
	}
}

// Proof (docs/theory/subsampling.md §10): the adversary from below.
//
// The adversary from below. It chooses at each step between "all others agree with x'" and "all others agree with x",
// from the threshold that its outputs leave: `G_k(α) = max over both pairs of E_P[G_{k−1}(αe^{−L})]`. Replacing each
// pair by a lower law on a lattice can only lower the expectation of a convex, falling G; the transform's error is
// subtracted. It proves that pair B is not the worst case of adaptive composition.
