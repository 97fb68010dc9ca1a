package profiles

// A pair of which nobody says which data set is the first: the least symmetric profile above a
// discrete one and its reverse, up to chords. It assumes nothing of the profile.

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// EitherOrder returns a symmetric profile that dominates p and its reverse: p itself if it is
// symmetric. At the losses of p it is the larger of the two, up to rounding, and a chord in e^ε between
// them.
//
// Both profiles are polygons in e^ε whose corners are at these losses, so that what is above both at
// the corners is above both. The larger of two convex curves is convex; where one of them is the larger
// at both ends of a side, its slope there, −Q(L > ε), is taken from its masses, and only where they
// cross from a difference of values, which is between the two slopes. At ε = 0 both have
// the value TV(P, Q), and the larger one is that of the smaller slope.
func EitherOrder(p *Discrete) (*Discrete, error) {
	reverse := Reverse(p).(*Discrete)
	if Equal(p, reverse) {
		return p, nil
	}
	x := []float64{0}
	for _, d := range []*Discrete{p, reverse} {
		for _, a := range d.atoms {
			if a.Loss > 0 {
				x = append(x, a.Loss+d.lossErr)
			}
		}
	}
	slices.Sort(x)
	x = slices.Compact(x)
	a, b := newCorners(p, x), newCorners(reverse, x)
	n := len(x) - 1
	inf := max(a.value[n], b.value[n])
	// The Q-mass above each corner, from the right, and the masses at the corners under P: in units of e^{−x} of the
	// next corner, which no loss is too large for.
	mass := make([]float64, n+1)
	before := 0.0
	for k := n - 1; k >= 0; k-- {
		if k+2 <= n {
			before *= math.Exp(x[k+1] - x[k+2])
		}
		s := max(before, larger(a, b, x, k))
		mass[k+1] = s - before
		before = s
	}
	// Rounding: no value is below those of the two.
	raise := 1.0
	sum := newWalk(x, mass, inf)
	for k := n; k >= 0; k-- {
		if v, least := sum.at(x[k]), max(a.value[k], b.value[k]); v > 0 && least > raise*v {
			raise = least / v
		}
	}
	raise *= 1 + 16*float64(n+4)*xmath.U
	for k := range mass {
		mass[k] *= raise
	}
	inf = min(1, inf*raise)
	return twoSided(x, mass, mass, inf, inf)
}

// corners are a profile at losses x from 0 up, rounded up: δ, and the Q-mass of what lies above, in units of e^{−x}
// of the next corner.
type corners struct{ value, above []float64 }

// newCorners moves losses to the right by their error and masses up by theirs. Masses below 1e-300 are
// raised to it. What has a loss of at most 0 has one of at most the error, which counts at 0.
func newCorners(d *Discrete, x []float64) corners {
	n := len(x)
	up := func(log float64) float64 {
		if math.IsInf(log, -1) {
			return 0
		}
		return max(math.Exp(log)*(1+d.massErr*(1+math.Abs(log))+4*xmath.U), 1e-300)
	}
	mass, near := make([]float64, n), 0.0
	for _, a := range d.atoms {
		if k, ok := slices.BinarySearch(x, a.Loss+d.lossErr); ok && a.Loss > 0 {
			mass[k] += up(a.LogP)
		} else if a.Loss > -d.lossErr {
			near += up(a.LogP) * d.lossErr
		}
	}
	c := corners{make([]float64, n), make([]float64, n)}
	w := newWalk(x, mass, up(d.logPInf))
	q := 0.0
	for k := n - 1; k >= 0; k-- {
		// Sums and products of positive terms, a few of them for each loss.
		c.value[k] = min(1, w.at(x[k])*(1+16*float64(n+4)*xmath.U))
		if k+1 < n {
			q = mass[k+1] + q
		}
		c.above[k] = q
		if k+1 < n {
			q *= math.Exp(x[k] - x[k+1])
		}
	}
	c.value[0] = min(1, c.value[0]+near*(1+4*xmath.U))
	return c
}

// larger returns the Q-mass that the larger of two profiles has above corner k, on the side from
// there to the next corner, in the units of corners. From ε = 0 on, where nothing tells which one is the larger, it is what the
// value there takes: the smaller slope may be 0 by rounding.
func larger(a, b corners, x []float64, k int) float64 {
	few, many := min(a.above[k], b.above[k]), max(a.above[k], b.above[k])
	first, second := compare(a, b, k), compare(a, b, k+1)
	switch {
	case first == 0 && second == 0 && k > 0:
		return few
	case first == 0 && second == 0:
	case first >= 0 && second >= 0:
		return a.above[k]
	case first <= 0 && second <= 0:
		return b.above[k]
	}
	s := (max(a.value[k], b.value[k]) - max(a.value[k+1], b.value[k+1])) / -math.Expm1(x[k]-x[k+1])
	return min(max(s, few), many)
}

// compare returns the sign of the difference of two profiles at a corner, 0 where rounding may be all
// of it: what is then taken for the larger one is raised.
func compare(a, b corners, k int) int {
	tie := 1 + 64*float64(len(a.value)+4)*xmath.U
	switch {
	case k > 0 && a.value[k] > b.value[k]*tie:
		return 1
	case k > 0 && b.value[k] > a.value[k]*tie:
		return -1
	}
	return 0
}
