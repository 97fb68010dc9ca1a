package accountant_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// TestCalibrateGDP: closed forms for Gaussian noise, and for a sampled plan that the value
// meets the budget and a slightly less careful one does not.
func TestCalibrateGDP(t *testing.T) {
	ctx := context.Background()
	read := func(text string) *accountant.Plan {
		p, err := plan.Parse(ctx, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	gauss := read("{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 3}}, count: 4}]}")
	for _, c := range []struct {
		solve     accountant.Quantity
		mu        float64
		tolerance float64
		want      float64
	}{
		{accountant.NoiseMultiplier, 1, 0, 2}, // 2/σ = 1
		{accountant.NoiseMultiplier, 0.01, 0, 200},
		{accountant.NoiseMultiplier, 100, 0, 0.02},
		{accountant.Count, 1, 0, 9}, // √n/3 = 1
		{accountant.Count, 10, 0, 900},
		{accountant.Count, 0.34, 0, 1},
	} {
		got, err := accountant.CalibrateGDP(ctx, gauss, accountant.Goal{Solve: c.solve}, c.mu, c.tolerance)
		if err != nil {
			t.Fatal(err)
		}
		// √9/3 is 1 only to rounding, so that the count may be one less.
		if off := math.Abs(got.Value - c.want); off > 2e-6*c.want && !(c.solve == accountant.Count && off <= 1) || got.Meets.Upper > c.mu {
			t.Errorf("%v for μ = %v: %v with %+v, want %v", c.solve, c.mu, got.Value, got.Meets, c.want)
		}
	}
	if _, err := accountant.CalibrateGDP(ctx, gauss, accountant.Goal{Solve: accountant.Count}, 0.1, 0); !errors.Is(err, accountant.ErrInfeasible) {
		t.Errorf("one step has μ = 1/3, above 0.1: %v", err)
	}
	for _, mu := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := accountant.CalibrateGDP(ctx, gauss, accountant.Goal{}, mu, 0); err == nil || !strings.HasPrefix(err.Error(), "mu: ") {
			t.Errorf("μ = %v: %v", mu, err)
		}
	}
	sampled := read("{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 100}]}")
	if _, err := accountant.CalibrateGDP(ctx, sampled, accountant.Goal{}, 0.5, 0); err == nil || !strings.HasPrefix(err.Error(), "tolerance: 0 is for") {
		t.Errorf("a sampled plan without a tolerance: %v", err)
	}
	got, err := accountant.CalibrateGDP(ctx, sampled, accountant.Goal{}, 0.2, 1e-8)
	if err != nil || got.Meets.Upper > 0.2 {
		t.Fatalf("%+v, %v", got, err)
	}
	less := read("{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 100}]}")
	noise, err := less.Steps[0].Mechanism.(interface {
		WithNoiseMultiplier(float64) (profiles.Mechanism, error)
	}).WithNoiseMultiplier(got.Value * 0.999)
	if err != nil {
		t.Fatal(err)
	}
	less.Steps[0].Mechanism = noise
	a := accountant.New(less.Neighbors)
	if err := a.AddPlan(ctx, less); err != nil {
		t.Fatal(err)
	}
	if g, err := a.GDP(ctx, 1e-8); err != nil || g.Mu.Upper <= 0.2 {
		t.Errorf("a thousandth less noise has μ in %+v, %v", g.Mu, err)
	}
}

func TestMuOfZCDP(t *testing.T) {
	if mu, err := accountant.MuOfZCDP(0.125); err != nil || mu > 0.5 || mu < 0.5-1e-15 {
		t.Errorf("%v, %v", mu, err)
	}
	for _, rho := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := accountant.MuOfZCDP(rho); err == nil || !strings.HasPrefix(err.Error(), "rho: ") {
			t.Errorf("ρ = %v: %v", rho, err)
		}
	}
}
