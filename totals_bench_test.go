package accountant_test

// Benchmarks of questions that one table answers many of: running totals, curves,
// calibration. The unit is x-fft (internal/xfft).

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/xfft"
)

// trainings are the cases A to F of DP-SGD (docs/contour.md).
var trainings = []struct {
	name        string
	rate, sigma float64
	steps       int64
}{
	{"A", 0.01, 1, 1000}, {"B", 0.001, 0.8, 10000}, {"C", 256. / 60000, 1.1, 14062},
	{"D", 0.02, 0.5, 500}, {"E", 1e-4, 0.6, 1000000}, {"F", 0.1, 4, 2000},
}

// distinctStep is step i of n, each with its own rate and noise.
func distinctStep(tb testing.TB, i, n int) accountant.Step {
	return dpsgdStep(tb, 0.005+0.01*float64(i)/float64(n), 0.8+1.2*float64((7*i)%n)/float64(n))
}

// total is an accountant with n distinct steps that was asked once.
func totalOf(tb testing.TB, n int) *accountant.Accountant {
	tb.Helper()
	a := accountant.New(accountant.AddRemove)
	for i := range n {
		if err := a.Add(tb.Context(), distinctStep(tb, i, n), 10); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := a.Epsilon(tb.Context(), 1e-6); err != nil {
		tb.Fatal(err)
	}
	return a
}

// BenchmarkDistinctTotal is ε of n distinct steps, from nothing.
func BenchmarkDistinctTotal(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			xfft.Measure(b, nil, func() { totalOf(b, n) })
		})
	}
}

// BenchmarkOneMoreStep is one more step, and ε, of a running total; grow is one
// more run of every tenth of its steps.
func BenchmarkOneMoreStep(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("distinct/%d", n), func(b *testing.B) {
			a, i := totalOf(b, n), 0
			xfft.Measure(b, nil, func() {
				i++
				if err := a.Add(b.Context(), dpsgdStep(b, 0.01+1e-7*float64(i), 1), 10); err != nil {
					b.Fatal(err)
				}
				if _, err := a.Epsilon(b.Context(), 1e-6); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("count/%d", n), func(b *testing.B) {
			a, i := totalOf(b, n), 0
			xfft.Measure(b, nil, func() {
				i++
				if err := a.Add(b.Context(), distinctStep(b, i%n, n), 1); err != nil {
					b.Fatal(err)
				}
				if _, err := a.Epsilon(b.Context(), 1e-6); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// grid is n numbers from lo to hi in equal steps.
func grid(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return x
}

// BenchmarkCurves are 200 points of each kind of curve, Risk and TradeOff, with a new
// accountant each time.
func BenchmarkCurves(b *testing.B) {
	deltas := grid(math.Log(1e-12), math.Log(1e-2), 200)
	for i, x := range deltas {
		deltas[i] = math.Exp(x)
	}
	for _, c := range trainings {
		plan := &accountant.Plan{Neighbors: accountant.AddRemove, Steps: []accountant.Step{dpsgdStep(b, c.rate, c.sigma)}}
		plan.Steps[0].Count = c.steps
		ask := func(what string, f func(a *accountant.Accountant) error) {
			b.Run(what+"/"+c.name, func(b *testing.B) {
				xfft.Measure(b, nil, func() {
					a := accountant.New(accountant.AddRemove)
					if err := a.AddPlan(b.Context(), plan); err != nil {
						b.Fatal(err)
					}
					if err := f(a); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
		ask("epsilon", func(a *accountant.Accountant) error {
			_, err := a.EpsilonCurve(b.Context(), deltas)
			return err
		})
		at, err := plan.StepsCurve(b.Context(), 1e-12, 1)
		if err != nil {
			b.Fatal(err)
		}
		ask("delta", func(a *accountant.Accountant) error {
			_, err := a.DeltaCurve(b.Context(), grid(0, at[0].Upper, 200))
			return err
		})
		ask("steps", func(*accountant.Accountant) error {
			_, err := plan.StepsCurve(b.Context(), 1e-5, 200)
			return err
		})
		ask("risk", func(a *accountant.Accountant) error {
			_, err := a.Risk(b.Context(), nil, nil)
			return err
		})
		ask("tradeoff", func(a *accountant.Accountant) error {
			_, err := a.TradeOff(b.Context(), grid(0.005, 0.995, 100))
			return err
		})
	}
}

// BenchmarkCalibrate looks for each quantity of a training that meets its ε at δ =
// 1e-5, from a start that is a third off.
func BenchmarkCalibrate(b *testing.B) {
	for _, c := range trainings {
		at := dpsgdStep(b, c.rate, c.sigma)
		at.Count = c.steps
		iv, err := (&accountant.Plan{Neighbors: accountant.AddRemove, Steps: []accountant.Step{at}}).StepsCurve(b.Context(), 1e-5, 1)
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range []accountant.Quantity{accountant.NoiseMultiplier, accountant.Rate, accountant.Count} {
			start := at
			switch q {
			case accountant.NoiseMultiplier:
				start = dpsgdStep(b, c.rate, c.sigma*1.33)
			case accountant.Rate:
				start = dpsgdStep(b, c.rate/1.33, c.sigma)
			}
			if start.Count = c.steps; q == accountant.Count {
				start.Count = c.steps * 3 / 4
			}
			b.Run(fmt.Sprintf("%v/%s", q, c.name), func(b *testing.B) {
				evaluations := 0
				xfft.Measure(b, nil, func() {
					found, err := accountant.Calibrate(b.Context(), &accountant.Plan{Neighbors: accountant.AddRemove, Steps: []accountant.Step{start}},
						accountant.Goal{Epsilon: iv[0].Upper, Delta: 1e-5, Solve: q})
					if err != nil {
						b.Fatal(err)
					}
					evaluations = found.Evaluations
				})
				b.ReportMetric(float64(evaluations), "evaluations")
			})
		}
	}
}
