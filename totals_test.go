package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// TestTotalsOfUse: whatever a running total was asked before, and however it grew, its
// answers meet those of an accountant that is new: both are proved. Where both engines
// can do it they are as narrow.
func TestTotalsOfUse(t *testing.T) {
	type more struct {
		rate, sigma float64
		count       int64
	}
	for _, c := range []struct {
		name   string
		grow   []more
		deltas []float64
		eps    []float64
	}{
		{"deep", []more{{0.01, 1, 1000}}, []float64{1e-5, 1e-300, 0.4, 1e-30, 1e-5}, []float64{2, 0, 9, -0.5, 40}},
		{"longer", []more{{0.01, 1, 10}, {0.01, 1, 1e3}, {0.01, 1, 1e7}, {0.01, 1, 1e10}}, []float64{1e-5, 1e-12}, []float64{0, 1}},
		{"others", []more{{0.01, 1, 500}, {0.2, 5, 30}, {0.001, 0.7, 2000}, {0.01, 1, 3}, {0.5, 40, 1}}, []float64{1e-6, 1e-20}, []float64{0.5, 4}},
	} {
		for _, opts := range [][]accountant.Options{nil, {{ManyQuestions: true}}} {
			t.Run(fmt.Sprintf("%s/%d", c.name, len(opts)), func(t *testing.T) {
				total := accountant.New(profiles.AddRemove, opts...)
				for n, m := range c.grow {
					if err := total.Add(t.Context(), dpsgdStep(t, m.rate, m.sigma), m.count); err != nil {
						t.Fatal(err)
					}
					fresh := func() *accountant.Accountant {
						a := accountant.New(profiles.AddRemove)
						for _, m := range c.grow[:n+1] {
							if err := a.Add(t.Context(), dpsgdStep(t, m.rate, m.sigma), m.count); err != nil {
								t.Fatal(err)
							}
						}
						return a
					}
					check := func(what string, reused, want accountant.Interval) {
						t.Helper()
						if !(reused.Lower <= want.Upper && want.Lower <= reused.Upper) {
							t.Errorf("after %d: %s is in [%v, %v] and in [%v, %v]", n+1, what, reused.Lower, reused.Upper, want.Lower, want.Upper)
						}
						w, v := reused.Upper-reused.Lower, want.Upper-want.Lower
						if w > 4*v && w > 1e-8*math.Abs(reused.Upper) && w > 1e-12 {
							t.Errorf("after %d: %s is [%v, %v], %v wide; a new accountant's is %v", n+1, what, reused.Lower, reused.Upper, w, v)
						}
					}
					for _, delta := range c.deltas {
						reused, err := total.Epsilon(t.Context(), delta)
						if err != nil {
							t.Fatal(err)
						}
						want, err := fresh().Epsilon(t.Context(), delta)
						if err != nil {
							t.Fatal(err)
						}
						check(fmt.Sprintf("ε(%v)", delta), reused, want)
					}
					for _, eps := range c.eps {
						reused, err := total.Delta(t.Context(), eps)
						if err != nil {
							t.Fatal(err)
						}
						want, err := fresh().Delta(t.Context(), eps)
						if err != nil {
							t.Fatal(err)
						}
						check(fmt.Sprintf("δ(%v)", eps), reused, want)
					}
				}
			})
		}
	}
}

// TestCurvesOfUse: the points of a curve, which share tables, meet those that are asked
// each of a new accountant.
func TestCurvesOfUse(t *testing.T) {
	step := dpsgdStep(t, 0.001, 0.8)
	step.Count = 10000
	plan := &accountant.Plan{Neighbors: profiles.AddRemove, Steps: []accountant.Step{step}}
	fresh := func(count int64) *accountant.Accountant {
		a := accountant.New(profiles.AddRemove)
		if err := a.Add(t.Context(), dpsgdStep(t, 0.001, 0.8), count); err != nil {
			t.Fatal(err)
		}
		return a
	}
	meet := func(what string, a, b accountant.Interval, err error) {
		t.Helper()
		if err != nil || !(a.Lower <= b.Upper && b.Lower <= a.Upper) {
			t.Errorf("%s is in [%v, %v] and in [%v, %v], %v", what, a.Lower, a.Upper, b.Lower, b.Upper, err)
		}
	}
	deltas := []float64{1e-2, 1e-300, 1e-5, 0.3, 1e-12, 1e-40, 1e-5}
	points, err := fresh(10000).EpsilonCurve(t.Context(), deltas)
	for i, p := range points {
		if p.At != deltas[i] {
			t.Fatalf("point %d is at %v, not at %v", i, p.At, deltas[i])
		}
		want, e := fresh(10000).Epsilon(t.Context(), p.At)
		meet(fmt.Sprintf("ε(%v)", p.At), p.Interval, want, e)
	}
	if err != nil || len(points) != len(deltas) {
		t.Fatal(len(points), err)
	}
	epsilons := []float64{0, 3, -1, 1, 0.1, 12}
	if points, err = fresh(10000).DeltaCurve(t.Context(), epsilons); err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		if p.At != epsilons[i] {
			t.Fatalf("point %d is at %v, not at %v", i, p.At, epsilons[i])
		}
		want, e := fresh(10000).Delta(t.Context(), p.At)
		meet(fmt.Sprintf("δ(%v)", p.At), p.Interval, want, e)
	}
	steps, err := plan.StepsCurve(t.Context(), 1e-7, 7)
	if err != nil || len(steps) != 7 {
		t.Fatal(len(steps), err)
	}
	for _, p := range steps {
		want, e := fresh(int64(p.At)).Epsilon(t.Context(), 1e-7)
		meet(fmt.Sprintf("ε of %.0f runs", p.At), p.Interval, want, e)
	}
}

// TestStepsCurveOfGroups: the counts of a part of a plan are those of Scaled, also in groups and
// where a mechanism comes twice.
func TestStepsCurveOfGroups(t *testing.T) {
	one, two := dpsgdStep(t, 0.02, 2), dpsgdStep(t, 0.01, 1.5)
	one.Count, two.Count = 30, 1
	group := accountant.Step{Count: 5, Steps: []accountant.Step{one, two}}
	plan := &accountant.Plan{Neighbors: profiles.AddRemove, Steps: []accountant.Step{one, {Steps: []accountant.Step{one, two}}, group, two}}
	points, err := plan.StepsCurve(t.Context(), 1e-5, 6)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		part, err := plan.Scaled(int64(i+1), 6)
		if err != nil {
			t.Fatal(err)
		}
		a := accountant.New(profiles.AddRemove)
		if err := a.AddPlan(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		want, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil || p.At != float64(a.Runs()) || !(p.Lower <= want.Upper && want.Lower <= p.Upper) {
			t.Errorf("part %d: %.0f runs in [%v, %v]; Scaled has %d in [%v, %v], %v", i+1, p.At, p.Lower, p.Upper, a.Runs(), want.Lower, want.Upper, err)
		}
	}
}
