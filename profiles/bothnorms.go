package profiles

// Laplace noise on a vector of which both norms are bounded: the L1 norm by what pure differential privacy is about, the L2
// norm by its probit step (remark d of Theorem 1 in docs/theory/integer-noise.md).

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewLaplaceVector returns Laplace noise of scale noiseMultiplier times the L1 sensitivity, independent in each coordinate, on
// a query whose L2 sensitivity is at most l2 ≤ 1 times its L1 sensitivity. Its Pair is the largest profile below that of
// the L1 norm and that of Gaussian noise of multiplier noiseMultiplier/(√(π/2)·l2).
func NewLaplaceVector(noiseMultiplier, l2 float64) (Mechanism, error) {
	l, err := NewLaplace(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	l1 := l.(laplaceProfile)
	if !(l2 > 0 && l2 <= 1 && l2 >= 1e-6) {
		return nil, fault.In("laplace", fault.New("l2-sensitivity", "%v is not in [1e-06, 1], a share of the L1 sensitivity", l2))
	}
	// One number of the size l2, or so many equal ones that both norms hold.
	copies := int64(math.Ceil(1 / (l2 * l2) * (1 + 1e-12)))
	b := bothNorms{l1: laplaceBase{l1}, l2: l2, mu: xmath.Up(laplaceMu*l1.m*l2, 4), copies: copies,
		one: laplaceBase{newLaplace(xmath.Down(l1.m*l2, 2))}, unit: laplaceBase{newLaplace(xmath.Down(l1.m/float64(copies), 2))}}
	return b, b.check()
}

// NewDiscreteLaplaceVector is NewDiscreteLaplaceMechanism for a query of whole numbers whose L2 sensitivity is at most l2, with
// sensitivity ≤ l2².
func NewDiscreteLaplaceVector(noiseMultiplier float64, sensitivity int, l2 float64) (Mechanism, error) {
	const name = "discrete-laplace"
	m, err := NewDiscreteLaplaceMechanism(noiseMultiplier, sensitivity)
	if err != nil {
		return nil, err
	}
	norm2 := xmath.Up(l2*l2, 2)
	if !(l2 >= 1 && norm2 >= float64(sensitivity)) {
		return nil, fault.In(name, fault.New("l2-sensitivity", "%v is not at least %.6g: whole numbers with an L1 norm of %d may all be 1 or -1", l2, math.Sqrt(float64(sensitivity)), sensitivity))
	}
	n := int64(min(norm2, float64(sensitivity)*float64(sensitivity)))
	one := m.(integerNoise)
	_, s := geometricLaw(one.noise * float64(sensitivity))
	unit := one
	unit.shift, unit.noise = 1, one.noise*float64(sensitivity)
	one.shift = int(root(n))
	b := bothNorms{l1: m, l2: l2, mu: xmath.Up(s.step*math.Sqrt(float64(n)), 4), copies: int64(sensitivity), one: one, unit: unit}
	return b, b.check()
}

// bothNorms is noise with a pair for each norm: that of l1, and Gaussian noise of μ.
type bothNorms struct {
	l1     Mechanism
	l2, mu float64
	one    Mechanism // an attack, and copies of another one
	unit   Mechanism
	copies int64
}

func (b bothNorms) check() error {
	_, err := b.Pair(Substitute)
	return err
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
	if l, ok := b.l1.(integerNoise); ok {
		return NewDiscreteLaplaceVector(noiseMultiplier, l.shift, b.l2)
	}
	return NewLaplaceVector(noiseMultiplier, b.l2)
}
