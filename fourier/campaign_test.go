package fourier

import (
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// What the campaign (lab/campaign) has found in this package.

// A mechanism that shows nothing has ε(δ) = log(1 − δ), which is no float64: the ends enclose it.
func TestLosslessIsRoundedOutward(t *testing.T) {
	s := sum(t, Options{}, profiles.Identical(), 3)
	for _, delta := range []float64{3e-12, 1e-300, 0.1, 0.7, 1 - 1e-9} {
		r := epsilon(t, s, delta)
		truth := oracle.Log1m(oracle.F(delta))
		if oracle.F(r.Lower).Cmp(truth) > 0 || oracle.F(r.Upper).Cmp(truth) < 0 || !(r.Upper-r.Lower <= 1e-15*math.Abs(r.Lower)) {
			t.Errorf("δ = %v: [%v, %v], want %.20g", delta, r.Lower, r.Upper, truth)
		}
	}
	for _, eps := range []float64{-1e-9, -0.3, -7, -800} {
		r, err := s.Delta(t.Context(), eps)
		if err != nil {
			t.Fatal(err)
		}
		truth := oracle.Sub(oracle.F(1), oracle.Exp(oracle.F(eps)))
		if oracle.F(r.Lower).Cmp(truth) > 0 || oracle.F(r.Upper).Cmp(truth) < 0 {
			t.Errorf("ε = %v: [%v, %v], want %.20g", eps, r.Lower, r.Upper, truth)
		}
	}
}

// Next to the end of the losses δ is a difference that rounding hides: the interval says so.
func TestRoundingIsAWarning(t *testing.T) {
	m, err := profiles.NewRandomizedResponse(0.427388, 21)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	s := sum(t, Options{}, p, 1)
	top := p.Support().Max
	r, err := s.Delta(t.Context(), math.Nextafter(top, 0))
	if err != nil {
		t.Fatal(err)
	}
	if r.Upper-r.Lower > 2e-3*r.Upper && !slices.ContainsFunc(r.Warnings, func(w string) bool { return w != "" }) {
		t.Errorf("[%v, %v] has no warning", r.Lower, r.Upper)
	}
	if r, err = s.Delta(t.Context(), top/2); err != nil || len(r.Warnings) > 0 {
		t.Errorf("[%v, %v] has warnings: %q, %v", r.Lower, r.Upper, r.Warnings, err)
	}
}

// From the largest loss on δ is the mass of infinite losses, which may be next to 1: its error does not carry the upper end
// beyond 1.
func TestInfiniteLossesAreAtMostCertain(t *testing.T) {
	p, err := profiles.NewFinite([]float64{0, 1}, []float64{0.953125, 0.046875})
	if err != nil {
		t.Fatal(err)
	}
	s := sum(t, Options{}, profiles.Reverse(p), 14) // the mass without an infinite loss is 0.047^14 = 2e-19
	for _, eps := range []float64{2.6, 85} {
		r, err := s.Delta(t.Context(), eps)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Lower >= 1-1e-12 && r.Upper == 1) {
			t.Errorf("δ(%v) in [%v, %v], want an end of 1", eps, r.Lower, r.Upper)
		}
	}
}
