package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// Single runs and one entry of a count give intervals that meet.
func TestGaussianOneByOne(t *testing.T) {
	g, err := profiles.NewGaussian(1000 / 1.37)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200000
	once, each := New(Options{Engine: Lattice}), New(Options{Engine: Lattice})
	if err := once.Add(g, n); err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := each.Add(g, 1); err != nil {
			t.Fatal(err)
		}
	}
	a, err := once.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := each.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if a.Lower > b.Upper || b.Lower > a.Upper {
		t.Errorf("[%v, %v] and [%v, %v] do not meet", a.Lower, a.Upper, b.Lower, b.Upper)
	}
}

// A δ equal to the computed probability of an infinite loss, which rounding may
// have put above the true one, does not prove ε = +∞.
func TestDeltaAtTheInfiniteMass(t *testing.T) {
	s := New(Options{Engine: Lattice})
	b, err := profiles.NewApproximate(1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	g, err := profiles.NewGaussian(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(p, 3); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(g, 1); err != nil {
		t.Fatal(err)
	}
	logInf, infErr, _ := s.ends()
	delta := math.Exp(logInf)
	for range 8 { // the neighbour whose logarithm is logInf, if there is one
		if math.Log(delta) >= logInf {
			break
		}
		delta = math.Nextafter(delta, 1)
	}
	if d := math.Log(delta) - logInf; math.Abs(d) > infErr {
		t.Fatalf("log δ is %g off, more than its error %g", d, infErr)
	}
	r, err := s.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Lower > 5 && r.Lower < 1e3) || !math.IsInf(r.Upper, 1) {
		t.Errorf("[%v, %v], want a finite end below and +Inf above", r.Lower, r.Upper)
	}
}

// When the label K of the tilt is so far off that even frequency 0 is dropped,
// nothing is known: not δ = 0.
func TestEverythingDroppedIsUnknown(t *testing.T) {
	c := &composition{theta: 1, step: 0.1, n: 64, dropped: true}
	r := c.read(0.5)
	if got := r.upper(); got != 0 {
		t.Errorf("upper bound of log δ is %v, want 0", got)
	}
	if got := r.lower(); !math.IsInf(got, -1) {
		t.Errorf("lower bound of log δ is %v, want −Inf", got)
	}
}

// A lower law without any loss, of a step that the lattice does not resolve, proves
// nothing; an upper one has all its mass at +∞.
func TestEmptyLaw(t *testing.T) {
	empty := func(logPInf float64) reading {
		l := &pld.Law{Step: 0.1, LogPInf: logPInf}
		return compose(nil, []term{{l, 3}}, 1, 64, Gonum, nil).read(1)
	}
	if r := empty(math.Inf(-1)); !math.IsInf(r.lower(), -1) {
		t.Errorf("an empty lower law proves log δ ≥ %v", r.lower())
	}
	if r := empty(0); r.upper() < 0 {
		t.Errorf("all mass at +∞, and log δ ≤ %v", r.upper())
	}
}
