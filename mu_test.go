package accountant_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

// accountantOf holds the plan of a text.
func accountantOf(t *testing.T, text string) *accountant.Accountant {
	t.Helper()
	p, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := accountant.New(p.Neighbors)
	if err := a.AddPlan(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGDPOfGaussians: without sampling μ is √Σμ², with a tolerance and without.
func TestGDPOfGaussians(t *testing.T) {
	a := accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, count: 9}]}")
	g, err := a.GDP(context.Background(), 0)
	if err != nil || !(g.Mu.Lower <= 0.75 && g.Mu.Upper >= 0.75 && g.Mu.Upper-g.Mu.Lower < 1e-13) || g.Regret != 0 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, tolerance := range []float64{1e-12, 1e-6, 1e-3} {
		g, err := a.GDP(context.Background(), tolerance)
		if err != nil || g.Mu.Upper > 0.75*(1+1e-13) || g.Mu.Lower > g.Mu.Upper || g.Mu.Lower < 0.7 || g.Mu.Upper-g.Mu.Lower > 1e-3 {
			t.Errorf("at %v: %+v, %v", tolerance, g, err)
		}
	}
}

// TestGDPOfRandomAllocation: steps whose laws are computed for a question are apart from what is
// added, and neither nothing nor Gaussian. Without them μ was 0.
func TestGDPOfRandomAllocation(t *testing.T) {
	slow.Test(t)
	for _, steps := range []string{
		"{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {random-allocation: {steps: 8}}}",
		"{mechanism: {gaussian: {noise-multiplier: 20}}}, {mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {random-allocation: {steps: 8}}}",
	} {
		a := accountantOf(t, "{neighbors: add-remove, steps: ["+steps+"]}")
		if g, err := a.GDP(context.Background(), 0); err == nil || !strings.HasPrefix(err.Error(), "tolerance: 0 is for Gaussian noise") {
			t.Errorf("%s: %+v, %v", steps, g, err)
		}
		g, err := a.GDP(context.Background(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		iv, err := a.Delta(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if !(g.Mu.Lower > 0.1 && g.Mu.Lower <= g.Mu.Upper && g.Mu.Upper < 1.1) || iv.Lower > gaussDelta(g.Mu.Upper, 1)+1e-6 {
			t.Errorf("%s: %+v, where δ(1) is %v", steps, g, iv.Lower)
		}
	}
}

// TestGDPOfASensitivityInterval: the lower end is that of the contributions that are found, not
// that of the bound above.
func TestGDPOfASensitivityInterval(t *testing.T) {
	slow.Test(t)
	a := accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {matrix: {noise-multiplier: 4, steps: 9, strategy: {toeplitz: {coefficients: [1, 0, 0.5, 0, -0.5]}}, participation: {min-separation: 2, at-most: 3}}}}]}")
	iv, err := a.Delta(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tolerance := range []float64{0, 1e-9} {
		g, err := a.GDP(context.Background(), tolerance)
		if err != nil {
			t.Fatal(err)
		}
		// δ(0) = 2Φ(μ/2) − 1 is attained at the lower end, and proved at the upper.
		if low, high := gaussDelta(g.Mu.Lower, 0), gaussDelta(g.Mu.Upper, 0); low > iv.Lower*(1+1e-9) || high < iv.Upper*(1-1e-9)-tolerance || !(iv.Lower < iv.Upper*0.999) {
			t.Errorf("at %v: μ in [%v, %v] is δ(0) in [%v, %v], which is in [%v, %v]", tolerance, g.Mu.Lower, g.Mu.Upper, low, high, iv.Lower, iv.Upper)
		}
	}
}

// phi and gaussDelta are the profile of the Gaussian mechanism.
func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func gaussDelta(mu, epsilon float64) float64 {
	return phi(mu/2-epsilon/mu) - math.Exp(epsilon)*phi(-mu/2-epsilon/mu)
}

// TestGDPSampledNeedsTolerance: of (σ, q, T) = (1, 0.01, 1) the implied μ at ε = 20 is
// 0.80999554 and at ε = 80 it is 0.94527042, so that a μ below 1 without a tolerance is
// wrong; with one, the Gaussian of the upper end plus τ is above the plan at every ε, and that
// of a little less than the lower end is not.
func TestGDPSampledNeedsTolerance(t *testing.T) {
	a := accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}}]}")
	if _, err := a.GDP(context.Background(), 0); err == nil || !strings.HasPrefix(err.Error(), "tolerance: 0 is for Gaussian noise") {
		t.Errorf("no refusal without a tolerance: %v", err)
	}
	last := 0.0
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6, 1e-10, 1e-40} {
		g, err := a.GDP(context.Background(), tolerance)
		if err != nil {
			t.Fatal(err)
		}
		if g.Mu.Lower < last || g.Mu.Upper >= 1 || g.Mu.Upper-g.Mu.Lower > 2e-2*g.Mu.Upper && g.Mu.Upper > 0 {
			t.Errorf("at %v: %+v after %v", tolerance, g, last)
		}
		last = g.Mu.Lower
		if g.Mu.Upper == 0 {
			continue
		}
		beyond, regret := false, 0.0
		for epsilon := 0.0; epsilon < 12; epsilon += 0.0371 {
			iv, err := a.Delta(context.Background(), epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if iv.Lower > gaussDelta(g.Mu.Upper, epsilon)+tolerance*(1+1e-9)+1e-15 {
				t.Errorf("τ = %v: at ε = %v δ is %v, above that of μ = %v", tolerance, epsilon, iv.Lower, g.Mu.Upper)
			}
			regret = max(regret, gaussDelta(g.Mu.Upper, epsilon)-iv.Upper)
			beyond = beyond || iv.Upper > gaussDelta(g.Mu.Lower*0.97, epsilon)+tolerance
		}
		if !beyond && tolerance >= 1e-6 {
			t.Errorf("τ = %v: μ = %v would do", tolerance, g.Mu.Lower*0.97)
		}
		if g.Regret < regret || g.Regret > regret+0.01 {
			t.Errorf("τ = %v: regret %v, measured %v", tolerance, g.Regret, regret)
		}
	}
	// The implied μ of the errata, from the certified lower ends.
	// log δ changes by ε²/μ³ times a change of μ, of which the digits are given.
	for _, c := range []struct{ epsilon, mu, tol float64 }{{5, 0.512, 0.1}, {20, 0.80999554, 1e-5}} {
		iv, err := a.Delta(context.Background(), c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if got := gaussDelta(c.mu, c.epsilon); math.Abs(got/iv.Lower-1) > c.tol {
			t.Errorf("ε = %v: δ = %v, that of the implied μ %v", c.epsilon, iv.Lower, got)
		}
	}
}

func TestGDPRefusals(t *testing.T) {
	a := accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {approximate: {epsilon: 1, delta: 0.01}}}]}")
	for _, c := range []struct {
		tolerance float64
		want      string
	}{
		{math.NaN(), "tolerance: NaN is not in"}, {1, "tolerance: 1 is not in"}, {-1, "tolerance: -1 is not in"},
		{1e-3, "tolerance: 0.001 is below the mass of losses above 600"},
	} {
		if _, err := a.GDP(context.Background(), c.tolerance); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if g, err := a.GDP(context.Background(), 0.02); err != nil || g.Mu.Upper < 1 {
		t.Errorf("%+v, %v", g, err)
	}
	// Pure ε = 1: δ(ε) = (e − e^ε)/(e+1); the golden value is the largest of the implied μ on
	// a fine grid, computed here with a bisection of its own.
	a = accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {pure: {epsilon: 1}}}]}")
	want := 0.0
	for epsilon := 0.0; epsilon < 1; epsilon += 1e-3 {
		d := (math.E-math.Exp(epsilon))/(math.E+1) - 1e-6
		lo, hi := 0.0, 10.0
		for range 60 {
			if mid := (lo + hi) / 2; gaussDelta(mid, epsilon) < d {
				lo = mid
			} else {
				hi = mid
			}
		}
		want = max(want, lo)
	}
	g, err := a.GDP(context.Background(), 1e-6)
	if err != nil || g.Mu.Lower > want+1e-5 || g.Mu.Upper < want-1e-9 || g.Mu.Upper-g.Mu.Lower > 1e-3 {
		t.Errorf("%+v, %v, want %v", g, err, want)
	}
}
