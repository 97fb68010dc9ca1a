package matrix

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// The quantiles take steps² terms, seconds where there are thousands of steps, and end with their context.
func TestCoinsEndWithTheirContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	c := make([]float64, 512)
	for i := range c {
		c[i] = 1 / float64(i+1)
	}
	if _, err := posteriors(ctx, c, len(c), 0.01, 60, 30); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled quantiles return %v", err)
	}
}

// A rate of which no quotient is a float64 is none that a posterior may lose: with q = 1e-310 and what
// multiplies its odds by e^a, it is q·e^a.
func TestPosteriorsAtTinyRates(t *testing.T) {
	c := []float64{1, 1}
	const sigma, log = 0.03, 750
	for _, q := range []float64{1e-300, 1e-310} {
		out, err := posteriors(context.Background(), c, 2, q, sigma, log)
		if err != nil {
			t.Fatal(err)
		}
		// Any λ has a quantile of at least log/λ + λσ²/2 ≥ σ·√(2·log), and so a ≥ √(2·log)/σ − 1/2σ².
		a := math.Sqrt(2*log)/sigma - 1/(2*sigma*sigma)
		if least := 1 / (1 + math.Exp(-a-xmath.Log(q))); !(out[1] >= least) {
			t.Errorf("q = %v: the posterior is %v, and at least %v", q, out[1], least)
		}
	}
}
