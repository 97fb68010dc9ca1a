package calibrate

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
)

// cost answers with an interval as wide as the accuracy around f, placed within it by where.
func cost(f func(x float64) float64, where float64, calls *int) Ask {
	return func(_ context.Context, x, accuracy float64) (Answer, error) {
		*calls++
		w := accuracy * math.Abs(f(x))
		lower := f(x) - where*w
		return Answer{Range: fourier.Range{Lower: lower, Estimate: f(x), Upper: lower + w}, Proved: lower, Width: accuracy}, nil
	}
}

// TestRun: the value found meets the budget, its neighbour does not, and few evaluations
// show it: each takes far longer than anything else.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name      string
		parameter Parameter
		cost      func(x float64) float64
		root      float64
	}{
		{"falling", Parameter{Lo: 1e-6, Hi: 1e9, Start: 1, Safer: 1}, func(x float64) float64 { return 3 / x }, 1.5},
		{"far", Parameter{Lo: 1e-6, Hi: 1e9, Start: 1e5, Safer: 1}, func(x float64) float64 { return 5 / (x * x) }, math.Sqrt(2.5)},
		{"rising", Parameter{Lo: 1e-15, Hi: 1, Start: 0.3, Safer: -1}, func(x float64) float64 { return 100 * x * math.Sqrt(1+x) }, 0.019802},
		{"kinked", Parameter{Lo: 1e-3, Hi: 1e3, Start: 7, Safer: 1}, func(x float64) float64 { return max(2.0001/x, 2-1e-4*x) }, 1.00005},
		{"whole", Parameter{Lo: 1, Hi: 1 << 53, Start: 10, Integer: true, Safer: -1}, func(x float64) float64 { return 0.01 * math.Sqrt(x) }, 40000},
		{"whole and far", Parameter{Lo: 1, Hi: 1 << 53, Start: 1, Integer: true, Safer: -1}, func(x float64) float64 { return 1e-6 * math.Sqrt(x) }, 4e12},
	} {
		for _, where := range []float64{0, 0.5, 1} {
			calls := 0
			s := New(c.parameter, Goal{Budget: 2, Accuracy: 1e-8}, cost(c.cost, where, &calls))
			if err := s.Run(t.Context()); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			m, f := s.Meets, s.Fails
			if m.Upper > 2 || f == nil || f.Upper <= 2 || math.Abs(m.Value-f.Value) > 1.01*c.parameter.Unit(m.Value) {
				t.Errorf("%s: %+v meets, %+v fails", c.name, m, f)
			}
			if c.name != "kinked" && (math.Abs(m.Value-c.root) > 2e-6*c.root+1 || calls > 20) {
				t.Errorf("%s: %v after %d evaluations, want %v", c.name, m.Value, calls, c.root)
			}
		}
	}
}

func TestRunEnds(t *testing.T) {
	k := Parameter{Lo: 0.5, Hi: 4, Start: 1, Safer: 1}
	calls := 0
	s := New(k, Goal{Budget: 2, Accuracy: 1e-6}, cost(func(x float64) float64 { return 0.1 / x }, 0.5, &calls))
	if err := s.Run(t.Context()); err != nil || s.Meets.Value != 0.5 || s.Fails != nil {
		t.Errorf("all values meet the budget: %v, %+v, %+v", err, s.Meets, s.Fails)
	}
	s = New(k, Goal{Budget: 2, Accuracy: 1e-6}, cost(func(x float64) float64 { return 100 / x }, 0.5, &calls))
	var none *Infeasible
	if err := s.Run(t.Context()); !errors.As(err, &none) || none.Safest.Value != 4 {
		t.Errorf("no value meets the budget: %v", err)
	}
	// Out of reach at first is an error, later only a value of which nothing is known.
	broken := errors.New("out of range")
	s = New(k, Goal{Budget: 2, Accuracy: 1e-6}, func(context.Context, float64, float64) (Answer, error) {
		return Answer{}, &OutOfReach{broken}
	})
	if err := s.Run(t.Context()); err != broken {
		t.Errorf("nothing works: %v", err)
	}
	whole := cost(func(x float64) float64 { return 3 / x }, 0.5, &calls)
	s = New(k, Goal{Budget: 2, Accuracy: 1e-6}, func(ctx context.Context, x, accuracy float64) (Answer, error) {
		if x < 1 {
			return Answer{}, &OutOfReach{broken}
		}
		return whole(ctx, x, accuracy)
	})
	if err := s.Run(t.Context()); err != nil || math.Abs(s.Meets.Value-1.5) > 3e-6 {
		t.Errorf("some values are out of reach: %v, %+v", err, s.Meets)
	}
}
