package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Single runs and one entry of a count give intervals that meet.
func TestGaussianOneByOne(t *testing.T) {
	g, err := profiles.NewGaussian(1000 / 1.37)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200000
	once, each := New(Options{Laws: true}), New(Options{Laws: true})
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
	s := New(Options{Laws: true})
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
	logInf, infErr, _ := s.steps.Ends()
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
