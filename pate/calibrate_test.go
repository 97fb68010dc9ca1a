package pate

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// What Calibrate returns meets the target by the ledger, next to it or to the bound at every data set, and no neighbour of T and σ1 among
// a few expects more than a hundredth more correct answers.
func TestCalibrateMeetsTheTarget(t *testing.T) {
	slow.Test(t)
	v, err := ballots.SynthS1(250, 10, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Target{
		{Epsilon: 1, Delta: 1e-5, Report: Joint, Check: true},
		{Epsilon: 2, Delta: 1e-6, Report: Worst, Check: true, MaxAnswers: 60, Threshold: 150},
		{Epsilon: 0.5, Delta: 1e-5, Report: Worst},
		{Epsilon: 3, Delta: 1e-5, Report: DataIndependent, Check: true, MaxAnswers: 50},
	} {
		found, err := c.Calibrate(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Aggregator                              Aggregator
			Epsilon, Independent, Answered, Correct float64
		}
		got.Aggregator = found.Aggregator()
		got.Answered, got.Correct = found.Expected()
		of := func(l *Ledger, r Report) float64 {
			cost, err := l.Cost(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			eps, _, err := cost.Epsilon(cost.Total, Improved, c.Delta)
			if err != nil {
				t.Fatal(err)
			}
			return eps
		}
		got.Independent = of(found, DataIndependent)
		got.Epsilon = min(of(found, c.Report), got.Independent)
		epsilon := func(a Aggregator) float64 {
			l, err := Account(t.Context(), v, a, Options{MaxAnswers: c.MaxAnswers})
			if err != nil {
				t.Fatal(err)
			}
			return min(of(l, c.Report), got.Independent)
		}
		if eps := epsilon(got.Aggregator); !(math.Abs(eps/got.Epsilon-1) < 5e-3 && got.Epsilon <= c.Epsilon && (eps > 0.97*c.Epsilon || got.Independent > 0.999*4*c.Epsilon)) {
			t.Errorf("%+v: %v has ε = %v, said %v", c, got.Aggregator, eps, got.Epsilon)
		}
		if a, ok := got.Aggregator.(confident); ok && c.Threshold != 0 && a.threshold != c.Threshold {
			t.Errorf("threshold %v, want %v", a.threshold, c.Threshold)
		}
		if got.Independent > max(c.Epsilon, c.Independent, 4*c.Epsilon) {
			t.Errorf("%v: %v at every data set", got.Aggregator, got.Independent)
		}
		if !(got.Correct > 0 && got.Correct <= got.Answered && got.Answered <= 100) || c.MaxAnswers > 0 && got.Answered > float64(c.MaxAnswers) {
			t.Errorf("%+v: %+v", c, got)
		}
		if c.Report == Joint { // the parameters of the paper, with the σ2 that meets the target
			c.Threshold, c.Sigma1 = 200, 150
			paper, err := c.Calibrate(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			if _, correct := paper.Expected(); !(got.Correct >= correct*0.99) {
				t.Errorf("%v expects %v correct answers, %v expects %v", got.Aggregator, got.Correct, paper.Aggregator(), correct)
			}
		}
	}
}

// Tune's publication has the median that Publish tells for it, below that of the parameters in docs/guide/pate.md.
func TestTune(t *testing.T) {
	v, err := ballots.SynthS1(250, 10, 640)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Account(t.Context(), v, gnMax{40}, Options{Orders: []float64{12}})
	if err != nil {
		t.Fatal(err)
	}
	p, median, err := l.Tune(t.Context(), 1e-5, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Publish(t.Context(), p, 1e-5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Private.Median != median || !(median <= 1.7188) { // the page's, of λ = 12, β = 0.02, s = 0.15
		t.Errorf("%+v: median %v, told %v", p, got.Private.Median, median)
	}
	for _, c := range []Publication{{12, 0.02, 0.15, 0.95}, {p.Order, p.Beta, 1.3 * p.Noise, 0.95}, {p.Order, p.Beta, 0.7 * p.Noise, 0.95}} {
		if other, err := l.Publish(t.Context(), c, 1e-5, nil); err != nil || other.Private.Median < median {
			t.Errorf("%+v has the median %v, %v", c, other.Private.Median, err)
		}
	}
}

// A Target that is none is refused, and so is one that no noise meets.
func TestCalibrateRefuses(t *testing.T) {
	v, err := ballots.SynthS1(100, 3, 50)
	if err != nil {
		t.Fatal(err)
	}
	good := Target{Epsilon: 1, Delta: 1e-5, Report: Joint, Check: true}
	for _, c := range []struct {
		change func(*Target)
		want   string
	}{
		{func(c *Target) { c.Epsilon = math.NaN() }, "epsilon: NaN is not in [0.001, 1000]"},
		{func(c *Target) { c.Delta = 0 }, "delta: 0 is not in"},
		{func(c *Target) { c.Report = Realised }, "report: realised is not in [joint, worst, independent]"},
		{func(c *Target) { c.Check, c.MaxAnswers = false, 3 }, "gnmax has no threshold"},
		{func(c *Target) { c.MaxAnswers = -1 }, "max-answers: -1 is not in"},
		{func(c *Target) { c.Sigma1 = 1e99 }, "sigma1: 1e+99 is not in"},
		{func(c *Target) { c.Threshold = math.Inf(1) }, "threshold: +Inf is not"},
		{func(c *Target) { c.Report, c.Sigma1 = DataIndependent, 1 }, "epsilon: 1 is not reached by 50 queries"},
	} {
		bad := good
		c.change(&bad)
		if _, err := bad.Calibrate(t.Context(), v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", bad, err, c.want)
		}
	}
	if _, err := good.Calibrate(t.Context(), nil); err == nil {
		t.Error("no votes are no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := good.Calibrate(ctx, v); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
