package accountant

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// Plans for which what the coarse laws say of the neighbourhood of the answer leads
// astray: the accuracy asked for is reached all the same.
func TestAccuracyWhereCoarseLawsMislead(t *testing.T) {
	for _, c := range []struct {
		plan       string
		eps, delta float64 // one is asked, the other 0
	}{
		// Rare big losses: vertices placed by the ratios left out where they lie.
		{`{"neighbors": "substitute", "steps": [{"mechanism": {"laplace": {"noise-multiplier": 0.266827}},
			"sampling": {"must-wo": {"population": 3115, "subset": 562, "batch": 1}}, "count": 2}]}`, 0.173, 0},
		{`{"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4.58}},
			"sampling": {"must-ww": {"population": 144, "subset": 3, "batch": 1}}, "count": 2}]}`, 0, 1e-12},
		// Single atoms: Newton's method for the estimate did not end.
		{`{"neighbors": "substitute", "steps": [{"mechanism": {"majority": {"mechanisms": 21, "epsilon": 0.31, "allowance": 1}},
			"count": 10}]}`, 0, 8.850314950631742e-06},
		// Losses too small for the step that the saddle point suggests.
		{`{"neighbors": "add-remove", "steps": [{"mechanism": {"laplace": {"noise-multiplier": 0.833388}}, "count": 221},
			{"mechanism": {"majority": {"mechanisms": 3, "epsilon": 0.084, "allowance": 3}}, "count": 43483},
			{"mechanism": {"laplace": {"noise-multiplier": 4.09768}},
			"sampling": {"must-ow": {"population": 326, "subset": 5, "batch": 1}}, "count": 674}]}`, 0, 1e-9},
	} {
		p, err := ParsePlan([]byte(c.plan))
		if err != nil {
			t.Fatal(err)
		}
		a := New(p.Neighbors)
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), c.delta)
		if c.delta == 0 {
			iv, err = a.Delta(t.Context(), c.eps)
		}
		if err != nil || len(iv.Warnings) > 0 {
			t.Errorf("%s: [%v, %v], %v, %v", c.plan, iv.Lower, iv.Upper, iv.Warnings, err)
		}
	}
}

// Where both pairs have an infinite answer, theory leaves no gap.
func TestNoGapBetweenInfinities(t *testing.T) {
	p, err := ParsePlan([]byte(`{"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 1}},
		"sampling": {"with-replacement": {"population": 100, "batch": 7}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := New(p.Neighbors)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for delta, want := range map[float64]float64{0: math.Inf(1), 1: math.Inf(-1)} {
		if iv, err := a.Epsilon(t.Context(), delta); err != nil || iv.Gap == nil || iv.Lower != want || iv.Upper != want || iv.Budget.TheoryGap != 0 {
			t.Errorf("epsilon(%v) = %+v, %v", delta, iv, err)
		}
	}
}

// TestWarningsHaveTheWidth: a warning tells the width of the interval beside it, also
// where the other direction has narrowed that.
func TestWarningsHaveTheWidth(t *testing.T) {
	slow.Test(t)
	plan, err := ParsePlan([]byte(`{"neighbors": "add-remove", "steps": [{"mechanism": {"discrete-gaussian": {"noise-multiplier": 8.9614}},
		"sampling": {"poisson": {"rate": 0.0155735}}, "count": 483882}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := New(plan.Neighbors, Options{WorkLimit: 5e6})
	if err := a.AddPlan(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), 1e-300)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("(%.2g)", iv.Upper-iv.Lower)
	for _, w := range iv.Warnings {
		if strings.Contains(w, "wider than asked") && !strings.Contains(w, want) {
			t.Errorf("[%v, %v]: %q, want %s", iv.Lower, iv.Upper, w, want)
		}
	}
	if len(iv.Warnings) == 0 {
		t.Errorf("[%v, %v] without a warning: this plan tests nothing any more", iv.Lower, iv.Upper)
	}
}
