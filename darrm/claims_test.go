package darrm

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// What objective.go and Options.Free say about the price of monotone noise
// functions, and about subsampling at m = 1 (issue 13, claim 8).
func TestPriceOfMonotoneAndOfSubsampling(t *testing.T) {
	ctx := context.Background()
	o := Surrogate{0.75}
	for _, c := range []struct {
		k                        int
		epsilon                  float64
		lost                     float64 // share of V that monotone costs
		chosen, subsampled, flat float64 // errors; flat is the best constant's
	}{
		{3, 2, 0.0405, 0.0597, 0.0938, 0.0597},
		{5, 2, 0.0400, 0.0858, 0.1465, 0.0858},
		{11, 0.1, 0, 0.2157, 0.2157, 0.2929},
		{11, 0.5, 0, 0.2157, 0.2157, 0.2760},
		{11, 1, 0.0025, 0.2149, 0.2157, 0.2276},
		{11, 2, 0.0170, 0.1105, 0.2157, 0.1105},
	} {
		p := Params{Mechanisms: c.k, Epsilon: c.epsilon, Allowance: 1}
		mono, err := Optimize(ctx, p, o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		free, err := Optimize(ctx, p, o, Options{Free: true})
		if err != nil {
			t.Fatal(err)
		}
		sub, err := exactSubsampling(c.k, 1)
		if err != nil {
			t.Fatal(err)
		}
		value, best, err := objective(o, rounded(sub))
		if err != nil {
			t.Fatal(err)
		}
		flat, _, err := BestConstant(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name            string
			got, want, half float64
		}{
			{"lost", 1 - mono.Value/free.Value, c.lost, 6e-5},
			{"error", (best - mono.Value) / 2, c.chosen, 6e-5},
			{"error of subsampling", (best - value) / 2, c.subsampled, 6e-5},
			{"error of the best constant", (1 - flat) * best / 2, c.flat, 6e-5},
		} {
			if math.Abs(x.got-x.want) > x.half {
				t.Errorf("K = %d, ε = %v: %s %v, want %v", c.k, c.epsilon, x.name, x.got, x.want)
			}
		}
	}
	page, err := os.ReadFile("objective.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"4.05 %", "0.110 against 0.216", "0.2149 against 0.2157"} {
		if !strings.Contains(strings.ReplaceAll(string(page), "\n// ", " "), number) {
			t.Errorf("objective.go does not have %q", number)
		}
	}
}

// The hundred answers of docs/guide/darrm.md cost between 11.156 and 11.160 at δ = 1e-5.
func TestHundredAnswers(t *testing.T) {
	p := pure(11, .1, 3)
	r, err := Optimize(t.Context(), p, Surrogate{.75}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Mechanism(t.Context(), profiles.AddRemove, r.Gamma, 100, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if low, up := deltaOf(t, m.Directions[0].Lower, 11.156), deltaOf(t, m.Directions[0].Upper, 11.160); low < 1e-5 || up > 1e-5 {
		t.Errorf("δ(11.156) ≥ %v, δ(11.160) ≤ %v", low, up)
	}
}
