package main

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// TestTruth compares what the commands print with closed forms, and with
// references of other origin.
func TestTruth(t *testing.T) {
	gaussians := func(sigma float64, k int) string {
		return fmt.Sprintf("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}]\n", sigma, k)
	}
	// k Gaussians of noise multiplier σ have the δ of one with μ = √k/σ:
	// Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang, ICML 2018, Theorem 8).
	delta := func(mu, eps float64) float64 {
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu)
	}
	for _, c := range []struct {
		sigma float64
		k     int
		eps   float64
	}{{1, 1, 1}, {5, 4, 0.5}, {2, 100, 20}, {30, 1000, 3}} {
		truth := delta(math.Sqrt(float64(c.k))/c.sigma, c.eps)
		code, out, errs := command(gaussians(c.sigma, c.k), "delta", "--json", "--epsilon", fmt.Sprint(c.eps), "-")
		var d struct {
			Results []struct{ Delta bounds }
		}
		if err := json.Unmarshal([]byte(out), &d); code != 0 || err != nil {
			t.Fatalf("%+v: %d %s %v", c, code, errs, err)
		}
		// The closed form in float64 is good to about 1e-14.
		if b := d.Results[0].Delta; !(b.Lower <= truth*(1+1e-13) && truth <= b.Upper*(1+1e-13)) || b.Upper-b.Lower > 2e-3*truth {
			t.Errorf("%+v: δ = %v is not in a narrow %+v", c, truth, b)
		}
		// ε(δ(ε)) = ε.
		code, out, errs = command(gaussians(c.sigma, c.k), "epsilon", "--json", "--delta", fmt.Sprint(truth), "-")
		var e struct {
			Results []struct{ Epsilon bounds }
		}
		if err := json.Unmarshal([]byte(out), &e); code != 0 || err != nil {
			t.Fatalf("%+v: %d %s %v", c, code, errs, err)
		}
		if b := e.Results[0].Epsilon; !(b.Lower <= c.eps+1e-10 && c.eps <= b.Upper+1e-10) || b.Upper-b.Lower > 2e-3*c.eps {
			t.Errorf("%+v: ε is not in a narrow %+v", c, b)
		}
	}

	// DP-SGD with q = 256/60000, σ = 1.1, 14062 steps: at 1e-5, 1e-10 and 1e-30 all digits of
	// golden contour.json, of which the last may be off by one; at the others a tilted FFT
	// with Richardson extrapolation, good to about 1e-7 (golden peers.json, rows dpsgd/C/ref).
	code, out, errs := command("", "dpsgd", "--sampling-rate", "0.004266666666666667", "--steps", "14062", "--noise-multiplier", "1.1",
		"--delta", "1e-5,1e-6,1e-10,1e-15,1e-30", "--json")
	var runs struct {
		Results []struct {
			Results []struct{ Epsilon bounds }
		}
	}
	if err := json.Unmarshal([]byte(out), &runs); code != 0 || err != nil || len(runs.Results) != 1 || len(runs.Results[0].Results) != 5 {
		t.Fatalf("dpsgd: %d %s %v", code, errs, err)
	}
	for i, c := range []struct{ want, off float64 }{{2.381596921424397, 1e-15}, {2.696659403689543, 1e-7}, {3.73583859849618, 1e-14}, {4.771674134720568, 1e-7}, {7.7964681787962, 1e-13}} {
		if b := runs.Results[0].Results[i].Epsilon; !(b.Lower <= c.want+c.off && c.want-c.off <= b.Upper) || b.Upper-b.Lower > 1e-8*c.want {
			t.Errorf("dpsgd: ε = %v is not in a narrow %+v", c.want, b)
		}
	}
}

type bounds struct{ Lower, Estimate, Upper float64 }
