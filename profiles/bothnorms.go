package profiles

// Laplace noise on a vector of which both norms are bounded: the L1 norm by what pure differential privacy is about, the L2
// norm by its probit step (remark d of Theorem 1 in docs/theory/integer-noise.md).

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// WithL2 returns a Laplace or discrete Laplace mechanism, by NewLaplaceMechanism or NewDiscreteLaplaceMechanism, on a query of
// which the L2 sensitivity is known as well. For Laplace noise l2 ≤ 1 is a share of the L1 sensitivity; for discrete noise it
// is the L2 sensitivity, at least the root of the L1 sensitivity. Its Pair is the largest profile below that of the L1 norm and
// that of Gaussian noise, of multiplier noiseMultiplier/(√(π/2)·l2) for Laplace noise.
func WithL2(m Mechanism, l2 float64) (b Mechanism, err error) {
	switch m := m.(type) {
	case laplaceBase:
		b, err = m.withL2(l2)
	case integerNoise:
		b, err = m.withL2(l2)
	default:
		err = fault.New("l2-sensitivity", "%v is for Laplace and discrete Laplace noise alone, not for %s", l2, m.Name())
	}
	if err == nil {
		_, err = b.Pair(Substitute)
	}
	return b, err
}

func (l laplaceBase) withL2(l2 float64) (Mechanism, error) {
	if !(l2 > 0 && l2 <= 1 && l2 >= 1e-6) {
		return nil, fault.In("laplace", fault.New("l2-sensitivity", "%v is not in [1e-06, 1], a share of the L1 sensitivity", l2))
	}
	// One number of the size l2, or so many equal ones that both norms hold.
	copies := int64(math.Ceil(1 / (l2 * l2) * (1 + 1e-12)))
	return bothNorms{l1: l, l2: l2, mu: xmath.Up(laplaceMu*l.l.m*l2, 4), copies: copies,
		one: laplaceBase{newLaplace(xmath.Down(l.l.m*l2, 2))}, unit: laplaceBase{newLaplace(xmath.Down(l.l.m/float64(copies), 2))}}, nil
}

func (b integerNoise) withL2(l2 float64) (Mechanism, error) {
	if _, ok := b.w.(laplaceWeights); !ok {
		return nil, fault.New("l2-sensitivity", "%v is for Laplace and discrete Laplace noise alone, not for one number with %s noise", l2, b.name)
	}
	norm2 := xmath.Up(l2*l2, 2)
	if !(l2 >= 1 && norm2 >= float64(b.shift)) {
		return nil, fault.In(b.name, fault.New("l2-sensitivity", "%v is not at least %.6g: whole numbers with an L1 norm of %d may all be 1 or -1", l2, math.Sqrt(float64(b.shift)), b.shift))
	}
	n := int64(min(norm2, float64(b.shift)*float64(b.shift)))
	_, s := geometricLaw(b.noise * float64(b.shift))
	one, unit := b, b
	one.shift = int(root(n))
	unit.shift, unit.noise = 1, b.noise*float64(b.shift)
	return bothNorms{l1: b, l2: l2, mu: xmath.Up(s.step*math.Sqrt(float64(n)), 4), copies: int64(b.shift), one: one, unit: unit}, nil
}

// bothNorms is noise with a pair for each norm: that of l1, and Gaussian noise of μ.
type bothNorms struct {
	l1     Mechanism
	l2, mu float64
	one    Mechanism // an attack, and copies of another one
	unit   Mechanism
	copies int64
}

// Name implements Mechanism.
func (b bothNorms) Name() string { return b.l1.Name() }

// Pair implements Mechanism: δ is convex in e^ε and below both, so that it is below their lower convex hull.
func (b bothNorms) Pair(r Relation) (Profile, error) {
	p, err := b.l1.Pair(r)
	if err != nil {
		return nil, err
	}
	g := newGaussian(b.mu)
	if r == Substitute {
		g.mu *= 2
	}
	most := p.Support().Max
	near := min(most, g.mu*(g.mu/2+40)) // Gaussian noise has no more that counts
	var x, h []float64
	for i := range hullPoints + 1 {
		eps := near * float64(i) / hullPoints
		if i == hullPoints {
			eps = most
		}
		least := math.Inf(1)
		for _, q := range []Profile{p, g} {
			d, e := LogDelta(q, eps)
			if !math.IsInf(e, 1) {
				least = min(least, xmath.ExpUp(d+e))
			}
		}
		if i == hullPoints {
			least = 0
		}
		x, h = append(x, eps), append(h, min(1, least))
	}
	return NewChords(x, h, h)
}

// hullPoints is at how many losses two pairs are compared. It trades width for time.
const hullPoints = 2000

// Attack implements Attacked: one number that takes the whole L2 norm.
func (b bothNorms) Attack(Relation) (Mechanism, error) { return b.one, nil }

// copied returns the attack by equal numbers that take the whole of both norms.
func (b bothNorms) copied(r Relation) (Repeated, error) {
	p, err := b.unit.Pair(r)
	return Repeated{p, b.copies}, err
}

// NoiseMultiplier returns the scale over the L1 sensitivity.
func (b bothNorms) NoiseMultiplier() float64 { return b.l1.(NoiseScaler).NoiseMultiplier() }

// NoiseRange implements NoiseScaler.
func (b bothNorms) NoiseRange(Relation) (lo, hi float64) { return 1e-2, 1e6 }

// WithNoiseMultiplier implements NoiseScaler.
func (b bothNorms) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	m, err := b.l1.(NoiseScaler).WithNoiseMultiplier(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	return WithL2(m, b.l2)
}
