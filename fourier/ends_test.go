package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// Beyond all finite losses δ is the mass at infinity, which is known to the error that a tail of its size has: both ends
// carry it, besides the rounding of the exponential.
func TestDeltaBeyondTheLossesCarriesItsError(t *testing.T) {
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 1, LogP: math.Log(0.5), LogQ: math.Log(0.5) - 1}, {Loss: math.Log(0.5) - math.Log1p(-0.5/math.E), LogP: math.Log(0.5), LogQ: math.Log1p(-0.5 / math.E)}}, -600, math.Inf(-1), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := sum(t, Options{}, d, 3)
	logInf, infErr, top := s.steps.Ends()
	if top != 3 || !(infErr > 1e-13) {
		t.Fatalf("the mass at infinity is known to %v, the largest loss is %v: nothing is tested", infErr, top)
	}
	for _, eps := range []float64{4, 700} {
		r, err := s.Delta(t.Context(), eps)
		if err != nil {
			t.Fatal(err)
		}
		low := oracle.Exp(oracle.Sub(oracle.F(logInf), oracle.F(infErr)))
		high := oracle.Exp(oracle.Add(oracle.F(logInf), oracle.F(infErr)))
		if oracle.F(r.Lower).Cmp(low) > 0 || oracle.F(r.Upper).Cmp(high) < 0 {
			t.Errorf("δ(%v) in [%v, %v], which is narrower than what is known, [%.17g, %.17g]", eps, r.Lower, r.Upper, low, high)
		}
	}
}

// ε(δ) of one answer is log((p − δ)/q), which is no float64: the ends enclose it, wherever δ is.
func TestEpsilonOfOneAnswerIsEnclosed(t *testing.T) {
	const p, q = 0.75, 0.25 // exact
	d, err := profiles.NewFinite([]float64{p, q}, []float64{q, p})
	if err != nil {
		t.Fatal(err)
	}
	s := sum(t, Options{}, d, 1)
	for i := range 300 {
		delta := 0.66 * (float64(i) + 0.5) / 300 // below 2/3, where the other outcome begins to count
		r := epsilon(t, s, delta)
		truth := oracle.Log(oracle.Div(oracle.Sub(oracle.F(p), oracle.F(delta)), oracle.F(q)))
		if oracle.F(r.Lower).Cmp(truth) > 0 || oracle.F(r.Upper).Cmp(truth) < 0 {
			t.Errorf("δ = %v: ε in [%v, %v], the truth is %.20g", delta, r.Lower, r.Upper, truth)
		}
	}
}

// TestManyLossesAreInfiniteAllButSurely: of 1100 losses that are infinite with probability ½ none is with 2^−1100, so that δ is below 1; one
// that is infinite with probability 1 has δ = 1.
func TestManyLossesAreInfiniteAllButSurely(t *testing.T) {
	for _, c := range []struct {
		p, q  []float64
		count int64
		lower float64
	}{
		{[]float64{0.5, 0.5, 0}, []float64{0.25, 0, 0.75}, 1100, 1 - 0x1p-53},
		{[]float64{0, 1}, []float64{1, 0}, 1, 1},
	} {
		p, err := profiles.NewFinite(c.p, c.q)
		if err != nil {
			t.Fatal(err)
		}
		s := New(Options{})
		if err := s.Add(p, c.count); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Delta(t.Context(), 2); err != nil || r.Lower != c.lower || r.Upper != 1 {
			t.Errorf("%d runs: δ in [%v, %v], %v; want [%v, 1]", c.count, r.Lower, r.Upper, err, c.lower)
		}
	}
}

// TestLawThatLacksMass: masses that were made smaller, for a law from below, leave δ next to 1 − e^ε a little under it, which every pair of
// laws reaches: the interval begins and ends there.
func TestLawThatLacksMass(t *testing.T) {
	const less = 1e-14
	p, err := profiles.NewDiscrete([]profiles.Atom{{Loss: math.Log(0.4 / 0.6), LogP: math.Log(0.4 * (1 - less)), LogQ: math.Log(0.6)},
		{Loss: math.Log(0.6 / 0.4), LogP: math.Log(0.6 * (1 - less)), LogQ: math.Log(0.4)}},
		math.Inf(-1), math.Inf(-1), less, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	if err := s.Add(p, 1); err != nil {
		t.Fatal(err)
	}
	r, err := s.Delta(t.Context(), -0.6)
	if want := -math.Expm1(-0.6); err != nil || r.Lower > want || r.Upper < xmath.Down(want, 2) {
		t.Errorf("δ in [%v, %v], %v; 1 − e^ε is %v", r.Lower, r.Upper, err, want)
	}
}

// TestEpsilonOfALawThatLacksMass: a law from below may have nothing but losses below 0, and not all of its mass, as far as that is known. ε(δ) of the pair that it
// is below is at least log(1 − δ), and δ(ε) at least 1 − e^ε: neither is an error.
func TestEpsilonOfALawThatLacksMass(t *testing.T) {
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: -0.4, LogP: math.Log(0.66), LogQ: 0}}, math.Inf(-1), math.Inf(-1), 0.2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 3} {
		for _, delta := range []float64{0, 1e-300, 1e-5, 0.2} {
			s := sum(t, Options{}, d, count)
			r, err := s.Epsilon(t.Context(), delta)
			if least := math.Log1p(-delta); err != nil || !(r.Lower <= least && r.Upper >= least && r.Lower >= least-1e-12) {
				t.Errorf("%d runs: ε(%v) in [%v, %v], %v; want %v", count, delta, r.Lower, r.Upper, err, least)
			}
		}
		for _, eps := range []float64{-2, -0.39, -0.1, 0.5} {
			s := sum(t, Options{}, d, count)
			r, err := s.Delta(t.Context(), eps)
			if least := max(0, -math.Expm1(eps)); err != nil || r.Upper < least || r.Lower < least-1e-12 {
				t.Errorf("%d runs: δ(%v) in [%v, %v], %v; want at least %v", count, eps, r.Lower, r.Upper, err, least)
			}
		}
	}
}
