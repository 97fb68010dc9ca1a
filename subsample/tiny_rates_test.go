package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Rates q so small that (e^ε − 1 + q)/q is no float64: the loss of the base at which the sampled loss is
// ε is finite, y = log(1 − e^−ε + q·e^−ε) + ε − log q, and tails are the base's there.
func TestRatesWhoseQuotientsOverflow(t *testing.T) {
	base, err := profiles.NewLaplace(0.001) // losses up to 1000
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{1e-293, 1e-300, 3e-308, 1e-315, math.SmallestNonzeroFloat64} {
		p, err := PoissonProfile(base, rate)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{1e-12, 0.5, 1, 17.5, 25, 100, 250} {
			y := eps + xmath.Log(-math.Expm1(-eps)) - xmath.Log(rate)
			if y > 998 {
				continue
			}
			want := base.Tails(y, 0)
			got := p.Tails(eps, 0)
			if off := math.Abs(got.Q - want.Q); !(off <= got.Err+want.Err+1e-12*y) || !(got.Err < 1e-10) {
				t.Errorf("q = %v, ε = %v: log Q(L > ε) = %v ± %v, want %v", rate, eps, got.Q, got.Err, want.Q)
			}
			// A tolerance that moves ε by so much moves y by at least as much.
			if wide := p.Tails(eps, eps/1e3); !(wide.Err >= eps/1e3) || math.IsNaN(wide.Err) {
				t.Errorf("q = %v, ε = %v: a tolerance of %v has an error of %v", rate, eps, eps/1e3, wide.Err)
			}
			log, e := profiles.LogDelta(base, y)
			if d, err := profiles.LogDelta(p, eps); !(math.Abs(d-log-xmath.Log(rate)) <= err+e+1e-12*y) || !(err < 1e-10) {
				t.Errorf("q = %v, ε = %v: log δ = %v ± %v, want %v", rate, eps, d, err, log+xmath.Log(rate))
			}
		}
	}
}

// An error of a large loss is one of the sampled loss, however small the rate: dε/dl = q·e^l/(1 − q + q·e^l).
func TestErrorOfLargeLossesAtTinyRates(t *testing.T) {
	if got := forwardErr(1e-6, 1000, 1e-306); !(got >= 1e-6*(1-1e-12)) {
		t.Errorf("an error of 1e-6 of a loss of 1000 is one of %v at a rate of 1e-306, want 1e-6", got)
	}
}
