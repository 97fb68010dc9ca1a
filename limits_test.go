package accountant_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

// TestEveryAnswerEndsWithinItsLimits: under limits of work, memory and time that are far too small, every question
// has an interval that meets the one without a limit, and a warning where it is wider than asked; a cancelled context
// is its error. The plans are of every kind of engine: integrals, lattices, laws for a question, gaps, closed forms.
func TestEveryAnswerEndsWithinItsLimits(t *testing.T) {
	slow.Test(t)
	for name, steps := range map[string]string{
		"integral": "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 1000}]",
		"laplace":  "neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 3}}, sampling: {poisson: {rate: 0.0001}}, count: 20}]",
		"lattice":  "neighbors: add-remove\nsteps: [{mechanism: {discrete-gaussian: {noise-multiplier: 3}}, sampling: {poisson: {rate: 0.1}}, count: 7}]",
		"laws":     "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {random-allocation: {steps: 20}}, count: 3}]",
		"gap":      "neighbors: substitute\nsteps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {with-replacement: {population: 100, batch: 5}}, count: 10}]",
		"mixed":    "neighbors: add-remove\nsteps: [{mechanism: {exponential: {epsilon: 0.3}}, count: 5}, {mechanism: {gaussian: {noise-multiplier: 5}}, count: 3}]",
	} {
		p, err := plan.Parse(t.Context(), []byte(steps))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		account := func(opts ...accountant.Options) *accountant.Accountant {
			a := p.Accountant(opts...)
			if err := a.AddPlan(t.Context(), p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return a
		}
		type question struct {
			name string
			ask  func(context.Context, *accountant.Accountant) ([]accountant.Interval, error)
		}
		questions := []question{
			{"ε", func(ctx context.Context, a *accountant.Accountant) ([]accountant.Interval, error) {
				iv, err := a.Epsilon(ctx, 1e-9)
				return []accountant.Interval{iv}, err
			}},
			{"δ", func(ctx context.Context, a *accountant.Accountant) ([]accountant.Interval, error) {
				iv, err := a.Delta(ctx, 0.5)
				return []accountant.Interval{iv}, err
			}},
			{"curve", func(ctx context.Context, a *accountant.Accountant) (ivs []accountant.Interval, err error) {
				points, err := a.EpsilonCurve(ctx, []float64{1e-9, 1e-3})
				for _, x := range points {
					ivs = append(ivs, x.Interval)
				}
				return ivs, err
			}},
		}
		for _, q := range questions {
			free, err := q.ask(t.Context(), account())
			if err != nil {
				t.Fatalf("%s, %s: %v", name, q.name, err)
			}
			for limit, opt := range map[string]accountant.Options{
				"work":      {WorkLimit: 1e4},
				"no memory": {Memory: 1 << 14}, "no time": {TimeLimit: time.Nanosecond},
			} {
				ivs, err := q.ask(t.Context(), account(opt))
				if err != nil || len(ivs) != len(free) {
					t.Errorf("%s, %s, %s: %d answers, %v", name, q.name, limit, len(ivs), err)
					continue
				}
				for i, iv := range ivs {
					if !(iv.Lower <= iv.Estimate && iv.Estimate <= iv.Upper && iv.Lower <= free[i].Upper && iv.Upper >= free[i].Lower) {
						t.Errorf("%s, %s, %s: [%v, %v, %v], and [%v, %v] without", name, q.name, limit, iv.Lower, iv.Estimate, iv.Upper, free[i].Lower, free[i].Upper)
					}
					if wide := iv.Upper-iv.Lower > max(1e-3*math.Abs(iv.Upper), 1e-6); wide && q.name != "δ" && iv.Gap == nil && len(iv.Warnings) == 0 {
						t.Errorf("%s, %s, %s: [%v, %v] without a warning", name, q.name, limit, iv.Lower, iv.Upper)
					}
					if g := iv.Gap; g != nil && len(iv.Warnings) == 0 && (g.Proved.Upper-g.Proved.Lower > 1e-3*math.Abs(g.Proved.Upper) || g.Attack.Upper-g.Attack.Lower > 1e-3*math.Abs(g.Attack.Upper)) {
						t.Errorf("%s, %s, %s: %+v without a warning", name, q.name, limit, *g)
					}
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if _, err := q.ask(ctx, account()); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: a cancelled context has %v", name, q.name, err)
			}
		}
	}
}

// TestSearchHasABound: a search whose candidate takes more work than there is has a finite upper end all the same, by what the candidate
// costs at a few small δ. The truth is at least 1.981589, which the whole work proves.
func TestSearchHasABound(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{selection: {law: negative-binomial, shape: 1.776, mean: 7.1}, "+
		"steps: [{mechanism: {gaussian: {noise-multiplier: 0.6}}, sampling: {poisson: {rate: 0.00013}}, count: 4000}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant(accountant.Options{WorkLimit: 3e6})
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), 7.257e-9)
	if err != nil || !(iv.Upper >= 1.981 && iv.Upper < 2.3) || len(iv.Warnings) == 0 {
		t.Errorf("[%v, %v], %q, %v; want an upper end from 1.981 to 2.3, and a warning", iv.Lower, iv.Upper, iv.Warnings, err)
	}
}

// TestSearchesOverTrainings: the preset work suffices for the best of many sampled trainings. The ends are those of before, [.0187,
// .0205] and [.142, .203], which the work limit left.
func TestSearchesOverTrainings(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		search, training  string
		delta, least, top float64
	}{
		{"law: geometric, mean: 2", "{gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.00052}}, count: 138", 6.11279e-10, 0.0195, 0.0197},
		{"law: negative-binomial, shape: 4, mean: 16.2", "{gaussian: {noise-multiplier: 1.7}}, sampling: {poisson: {rate: 0.001}}, count: 981", 1.24e-9, 0.169, 0.170},
		// Each δ of its batches is asked of a lattice: what is left open is theory's.
		{"law: binomial, mean: 5, max: 10", "{gaussian: {noise-multiplier: 2.3}}, sampling: {without-replacement: {population: 2590, batch: 38}}, count: 1000", 1e-6, 2.154, 2.347},
	} {
		p, err := plan.Parse(t.Context(), []byte("neighbors: zero-out\nsteps: [{selection: {"+c.search+"}, steps: [{mechanism: "+c.training+"}]}]"))
		if err != nil {
			t.Fatal(err)
		}
		a := p.Accountant()
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), c.delta)
		if err != nil || !(iv.Lower >= c.least && iv.Upper <= c.top) || len(iv.Warnings) > 0 {
			t.Errorf("%s: [%v, %v], %q, %v; want ends from %v to %v, and no warning", c.search, iv.Lower, iv.Upper, iv.Warnings, err, c.least, c.top)
		}
	}
}

// TestLocalEpsilonWithoutTime: where time is over before a shuffled round is priced, what each message tells by itself is known.
func TestLocalEpsilonWithoutTime(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: substitute\nsteps: [{mechanism: {k-rr: {epsilon: 2, categories: 4}}, sampling: {shuffler: {users: 100000}}, count: 30}]"))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant(accountant.Options{TimeLimit: time.Nanosecond})
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if iv, err := a.Epsilon(t.Context(), 1e-6); err != nil || !(iv.Upper >= 60-1e-3 && iv.Upper < 60.001) || len(iv.Warnings) == 0 {
		t.Errorf("ε in [%v, %v] (%v), want an upper end of 60 and a warning", iv.Lower, iv.Upper, err)
	}
}

// TestBelowTheTotalVariation: where δ is above the sum of the total variations, ε is below 0, and a bound of it needs no law of the sum:
// it is the same under a limit of work that no lattice is made for.
func TestBelowTheTotalVariation(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {with-replacement: {population: 1000000000, batch: 1}}, count: 1000}]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []float64{1e4, 2.5e6} {
		a := p.Accountant(accountant.Options{WorkLimit: limit})
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		// 1000 runs of 1e-9 times the total variation of noise that moves by 2, 0.6827, are 6.827e-7 of the 1e-6.
		if iv, err := a.Epsilon(t.Context(), 1e-6); err != nil || iv.Upper > -3.17e-7 || iv.Lower > -3.17e-7 {
			t.Errorf("limit %g: %v, %v", limit, iv, err)
		}
	}
}
