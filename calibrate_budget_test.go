package accountant

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// manyNoises is a plan whose every evaluation takes all of its work: many discrete laws, which only lattices compose.
func manyNoises(t *testing.T) *Plan {
	t.Helper()
	p := &Plan{Neighbors: profiles.AddRemove}
	for i := range 8 {
		m, err := profiles.NewDiscreteGaussianMechanism(1+float64(i)/37, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, err := subsample.NewPoisson(0.01)
		if err != nil {
			t.Fatal(err)
		}
		p.Steps = append(p.Steps, Step{Mechanism: m, Sampling: s, Count: 10})
	}
	return p
}

// TestCalibrateWithin: all evaluations of a search share one work limit, and about twice that is the most that it takes; what it
// ends with meets the budget, is marked and has one warning.
func TestCalibrateWithin(t *testing.T) {
	p := manyNoises(t)
	g := Goal{Epsilon: 1, Delta: 1e-5, Solve: NoiseMultiplier}
	for _, work := range []float64{1e3, 1e5, 3e6} {
		ctx := parallel.WithWork(t.Context(), math.Inf(1))
		c, err := Calibrate(ctx, p, g, Options{WorkLimit: work})
		if err != nil {
			t.Errorf("work %v: %v", work, err)
			continue
		}
		spent, _ := parallel.Work(ctx)
		t.Logf("work %g: spent %.3g, factor %v, ε ≤ %v, %d evaluations, early %v", work, spent, c.Value, c.Meets.Upper, c.Evaluations, c.Early)
		if !c.Early || c.Unlimited || len(c.Meets.Warnings) != 1 || !(c.Meets.Upper <= g.Epsilon) {
			t.Errorf("work %v: early %v, unlimited %v, warnings %q, ε ≤ %v", work, c.Early, c.Unlimited, c.Meets.Warnings, c.Meets.Upper)
		}
		if c.Fails != nil && !(c.Fails.At < c.Value && c.Fails.Upper > g.Epsilon) {
			t.Errorf("work %v: %v fails with ε ≤ %v beside %v", work, c.Fails.At, c.Fails.Upper, c.Value)
		}
		if most := 2*work + 8*lastLooks*fixedWork; spent > most {
			t.Errorf("a limit of %v took %v", work, spent)
		}
	}
}

// TestCalibrateCountsTables: tables that are made anew for every value are work, so that a search for which they are too much ends.
func TestCalibrateCountsTables(t *testing.T) {
	p := &Plan{Neighbors: profiles.AddRemove}
	for i := range 20 {
		m, err := profiles.NewDiscreteGaussianMechanism(300+float64(i), 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Steps = append(p.Steps, Step{Mechanism: m, Count: 100_000})
	}
	ctx := parallel.WithWork(t.Context(), math.Inf(1))
	_, err := Calibrate(ctx, p, Goal{Epsilon: 1, Delta: 1e-5, Solve: NoiseMultiplier}, Options{WorkLimit: 1e4})
	spent, _ := parallel.Work(ctx)
	if !errors.Is(err, parallel.ErrWork) || spent > 1e8 {
		t.Errorf("error %v after %v", err, spent)
	}
}

// fixedWork is what a step takes of an evaluation whatever the limit is: the least of its laws (meter.leastVertices).
const fixedWork = 2.5e5

// TestCalibrateInTime: a search that the time limit ends says so, or has the value that it has found.
func TestCalibrateInTime(t *testing.T) {
	p := manyNoises(t)
	g := Goal{Epsilon: 1, Delta: 1e-5, Solve: NoiseMultiplier}
	if _, err := Calibrate(t.Context(), p, g, Options{TimeLimit: time.Nanosecond}); !errors.Is(err, fourier.ErrTimeLimit) {
		t.Errorf("after no time: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Calibrate(ctx, p, g, Options{TimeLimit: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCalibrateGDPWithin: all looks of a search for a budget of μ share one work limit; what it ends with meets the budget and is
// marked. Before, each look had a full limit: 1e6 took 2.6e7.
func TestCalibrateGDPWithin(t *testing.T) {
	p := manyNoises(t)
	const budget, tolerance = 2., 1e-2
	for _, work := range []float64{1e5, 1e6} {
		ctx := parallel.WithWork(t.Context(), math.Inf(1))
		c, err := CalibrateGDP(ctx, p, Goal{Solve: NoiseMultiplier}, budget, tolerance, Options{WorkLimit: work})
		spent, _ := parallel.Work(ctx)
		if most := 2*work + 40*lastLooks*fixedWork; spent > most {
			t.Errorf("a limit of %v took %.3g, more than %.3g", work, spent, most)
		}
		if err != nil {
			if !errors.Is(err, parallel.ErrWork) {
				t.Errorf("work %v: %v", work, err)
			}
			continue
		}
		if !(c.Meets.Upper <= budget) || c.Early != (len(c.Meets.Warnings) == 1) {
			t.Errorf("work %v: %+v, early %v", work, c.Meets, c.Early)
		}
		t.Logf("work %g: spent %.3g, factor %v, %+v, early %v", work, spent, c.Value, c.Meets, c.Early)
	}
}
