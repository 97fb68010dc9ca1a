package profiles

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// The quadrature of Gaussian.LogDelta is worst at negative ε, where the
// integrand's derivatives grow.
func TestGaussianLogDeltaErrorHolds(t *testing.T) {
	for _, c := range []struct{ sigma, eps, want float64 }{
		// Φ̄(ε/μ−μ/2) − e^ε Φ̄(ε/μ+μ/2) to 40 digits (mpmath).
		{4.25, -1.5, -0.25248245892350438125},
		{4.25, -0.8, -0.59659301034202916727},
		{5, -1.5, -0.25248245892545349802},
		{4.0625, -1.9, -0.16201155143889425368},
		{8, -0.9, -0.5218354429087168735},
		{100, -0.07, -2.6940558786022433592},
	} {
		g, err := NewGaussian(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		got, e := g.LogDelta(c.eps)
		if e > 1e-12 || !(math.Abs(got-c.want) <= e+2*xmath.U*math.Abs(c.want)) {
			t.Errorf("σ=%v: log δ(%v) = %.17g ± %.2g, want %.17g", c.sigma, c.eps, got, e, c.want)
		}
	}
}

// Gaussians added one at a time stay as exact as all at once.
func TestGaussianRepeatDoesNotDrift(t *testing.T) {
	g, err := NewGaussian(1000 / 1.37)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200000
	var sum Gaussian
	for range n {
		sum = g.Repeat(1, sum)
	}
	one, all := g.Repeat(n, nil).(gaussianProfile).mu, sum.(gaussianProfile).mu
	if d := math.Abs(all - one); d > 2*xmath.U*one {
		t.Errorf("μ after %d single runs is %.17g, at once %.17g", n, all, one)
	}
}

// log(1 − p + p/k) must not be formed as log1p of nearly −1.
func TestRandomizedResponseNearUniform(t *testing.T) {
	b, err := NewRandomizedResponse(0.999999999, 1e9)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	d := p.(*Discrete)
	got := d.Atoms()[len(d.Atoms())-1].LogP
	const want = -20.03011867102743167 // log((1−p) + p/k) of the float64 p, 40 digits
	if err := d.MassErr() * (1 + math.Abs(want)); math.Abs(got-want) > err {
		t.Errorf("log mass of the truth is %.17g, want %.17g within %.2g", got, want, err)
	}
}

// The same for the largest loss of the sampled Laplace pair.
func TestLaplacePlusMinusRateNearOne(t *testing.T) {
	l := newLaplacePlusMinus(50, 1-1e-10)
	const want = 73.02585084709816051 // 40 digits
	if d := math.Abs(l.top - want); d > l.Support().LossErr {
		t.Errorf("largest loss %.17g, want %.17g within %.2g", l.top, want, l.Support().LossErr)
	}
}

// Losses merged in a chain are displaced by the length of the whole chain.
func TestMergedLossesCountTheirDisplacement(t *testing.T) {
	const n = 50
	var atoms []Atom
	for i := range n {
		atoms = append(atoms, Atom{1 + float64(i)*4*xmath.U, math.Log(0.5 / n), math.Log(0.5 / n)})
	}
	atoms = append(atoms, Atom{2, math.Log(0.5), math.Log(0.5)})
	d, err := NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Atoms()) != 2 {
		t.Fatalf("%d atoms, want 2", len(d.Atoms()))
	}
	if moved := d.Atoms()[0].Loss - 1; d.Support().LossErr < moved {
		t.Errorf("LossErr = %g, but the first loss moved by %g", d.Support().LossErr, moved)
	}
}

// Profiles of different accuracy are not the same profile.
func TestEqualComparesErrors(t *testing.T) {
	as := []Atom{{-1, math.Log(0.25), math.Log(0.75)}, {1, math.Log(0.75), math.Log(0.25)}}
	a, err := NewDiscrete(as, math.Inf(-1), math.Inf(-1), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewDiscrete(as, math.Inf(-1), math.Inf(-1), 0, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	if Equal(a, b) {
		t.Error("profiles with different LossErr count as equal")
	}
}

// TestLikeIsNotTheNoise: theorems about noise are looked up by these interfaces.
func TestLikeIsNotTheNoise(t *testing.T) {
	for _, p := range []Profile{gaussianLike{}, laplaceLike{}, reversed{newGaussian(1)}} {
		_, gaussian := p.(Gaussian)
		_, laplace := p.(Laplace)
		if gaussian || laplace {
			t.Errorf("%T is taken for noise on a sum", p)
		}
	}
	for _, p := range []Profile{newGaussian(1), newLaplace(1)} {
		_, gaussian := p.(Gaussian)
		_, laplace := p.(Laplace)
		if gaussian == laplace {
			t.Errorf("%T is Gaussian: %v, Laplace: %v", p, gaussian, laplace)
		}
	}
}
