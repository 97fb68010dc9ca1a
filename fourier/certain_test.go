package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A loss that is finite with a probability of 2e-93 only: δ is below 1, by less than any float64 tells.
// Both ends were 1. Where every outcome tells, δ is 1.
func TestNearlyCertainIsNotCertain(t *testing.T) {
	for _, c := range []struct {
		p, q  []float64
		below bool
	}{
		{[]float64{2e-93, 1}, []float64{1, 0}, true},
		{[]float64{0, 1}, []float64{1, 0}, false},
	} {
		p, err := profiles.NewFinite(c.p, c.q)
		if err != nil {
			t.Fatal(err)
		}
		s := New(DefaultOptions())
		if err := s.Add(p, 1); err != nil {
			t.Fatal(err)
		}
		r, err := s.Delta(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Upper != 1 || (r.Lower < 1) != c.below || r.Lower < 1-1e-9 {
			t.Errorf("%v against %v: δ(1) in [%v, %v]", c.p, c.q, r.Lower, r.Upper)
		}
	}
}

// Masses of a law of products come out as much above 1 as rounding makes of them: the infinite one
// is not more than certain, as whose complement has no logarithm.
func TestInfiniteMassAboveOne(t *testing.T) {
	p, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 230, LogP: -300, LogQ: -530}}, 3.8e-15, 0, 1e-12, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := New(DefaultOptions())
	if err := s.Add(p, 1); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Epsilon(t.Context(), 1e-5); err != nil || !math.IsInf(r.Upper, 1) {
		t.Errorf("ε(1e-5) in [%v, %v], %v: an infinite loss is certain", r.Lower, r.Upper, err)
	}
}
