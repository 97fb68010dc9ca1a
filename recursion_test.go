package accountant

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// fiveOfFifty returns a sampling scheme whose runs the recursion knows together, and noise for it.
func fiveOfFifty(t *testing.T) (subsample.FixedSize, profiles.Mechanism) {
	t.Helper()
	sampling, err := subsample.NewWithoutReplacement(50, 5)
	if err != nil {
		t.Fatal(err)
	}
	base, err := profiles.NewGaussianMechanism(2)
	if err != nil {
		t.Fatal(err)
	}
	return sampling, base
}

// TestWithRecursion: the recursion's interval lies within the one without it,
// alone and with another mechanism in the plan, and grows with the runs.
func TestWithRecursion(t *testing.T) {
	slow.Test(t)
	sampling, base := fiveOfFifty(t)
	sampled := Step{Mechanism: base, Sampling: sampling}
	with, without := New(profiles.Substitute, Options{Recursion: 40}), New(profiles.Substitute)
	add := func(s Step, count int64) {
		t.Helper()
		for _, a := range []*Accountant{with, without} {
			if err := a.Add(t.Context(), s, count); err != nil {
				t.Fatal(err)
			}
		}
	}
	const delta = 1e-5
	last := 0.0
	for _, c := range []struct {
		name   string
		step   Step
		count  int64
		narrow bool
	}{
		{"one run", sampled, 1, false},
		{"ten runs", sampled, 9, true},
		{"thirty runs", sampled, 20, true},
		{"and another mechanism", Step{Mechanism: base}, 1, true},
		{"above the limit", sampled, 11, false},
	} {
		add(c.step, c.count)
		got, err := with.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		want, err := without.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		// Above the limit both totals ask the same sums, with laws aimed at what each was asked before: their ends differ by a small
		// part of the discretization, which is 1.3e-4.
		if got.Upper > want.Upper*(1+1e-6) || got.Lower < want.Lower*(1-1e-6) || got.Estimate < got.Lower || got.Estimate > got.Upper {
			t.Errorf("%s: %+v is not within %+v", c.name, got, want)
		}
		if (got.Upper < want.Upper*(1-1e-6)) != c.narrow {
			t.Errorf("%s: ε ≤ %v with the recursion, %v without", c.name, got.Upper, want.Upper)
		}
		if got.Upper <= last {
			t.Errorf("%s: ε ≤ %v falls from %v", c.name, got.Upper, last)
		}
		last = got.Upper
		if warned := strings.Contains(strings.Join(got.Warnings, " "), "the recursion"); warned != (with.Runs() > 40) {
			t.Errorf("%s: warnings %q", c.name, got.Warnings)
		}
		d, err := with.Delta(t.Context(), got.Upper)
		if err != nil {
			t.Fatal(err)
		}
		if d.Lower > delta || d.Upper > delta*(1+1e-2) {
			t.Errorf("%s: δ(%v) is in [%v, %v], ε was asked at %v", c.name, got.Upper, d.Lower, d.Upper, delta)
		}
	}
}

// TestRecursionIsCounted: a limit of work ends the recursion too, with a warning and the best that was proved
// without it; what a question takes stays within its limit, and a larger limit never makes an end worse.
func TestRecursionIsCounted(t *testing.T) {
	slow.Test(t)
	sampling, base := fiveOfFifty(t)
	m, err := sampling.Apply(base, profiles.Substitute) // with laws of its recursion that all share once they are made
	if err != nil {
		t.Fatal(err)
	}
	const delta, runs = 1e-5, 30
	ask := func(opts ...Options) (Interval, float64) {
		a := New(profiles.Substitute, append(opts, Options{Recursion: 40})...)
		if err := a.AddBounds(m, runs); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		return iv, a.spent()
	}
	limits := []float64{1e5, 3e7, 1e9}
	var ivs []Interval
	for _, limit := range limits {
		iv, spent := ask(Options{WorkLimit: limit})
		// A small limit is passed by what every answer takes: two times it are promised.
		if ivs = append(ivs, iv); spent > 2*limit {
			t.Errorf("limit %.3g: it took %.3g", limit, spent)
		}
	}
	free, _ := ask()
	last := Interval{Range: Range{Upper: math.Inf(1), Lower: math.Inf(-1)}}
	narrowed, left := 0, 0
	for i, limit := range limits {
		iv := ivs[i]
		if !(iv.Lower <= free.Upper && iv.Upper >= free.Upper*(1-1e-9) && iv.Lower <= free.Lower*(1+1e-9)) {
			t.Errorf("limit %.3g: [%v, %v] is better than [%v, %v] without one", limit, iv.Lower, iv.Upper, free.Lower, free.Upper)
		}
		if iv.Upper > last.Upper*(1+1e-9) || iv.Lower < last.Lower*(1-1e-9) {
			t.Errorf("limit %.3g: [%v, %v], and [%v, %v] at a smaller one", limit, iv.Lower, iv.Upper, last.Lower, last.Upper)
		}
		last = iv
		if iv.Upper <= free.Upper*(1+1e-9) && iv.Lower >= free.Lower*(1-1e-9) {
			narrowed++
		} else if left++; !strings.Contains(strings.Join(iv.Warnings, "\n"), "recursion") {
			t.Errorf("limit %.3g: [%v, %v] without a recursion, and no warning: %q", limit, iv.Lower, iv.Upper, iv.Warnings)
		}
	}
	if narrowed < 1 || left < 2 {
		t.Errorf("%d limits were enough and %d too little: the test sees little", narrowed, left)
	}
}

// TestBlocksByDefault: at training scale blocks of steps narrow the gap, alone and beside another mechanism, and without a warning; a second
// question does not repeat the check; with replacement too; MUST.OW has none and says so.
func TestBlocksByDefault(t *testing.T) {
	slow.Test(t)
	sampling, err := subsample.NewWithoutReplacement(10000, 200)
	if err != nil {
		t.Fatal(err)
	}
	base, err := profiles.NewGaussianMechanism(4)
	if err != nil {
		t.Fatal(err)
	}
	a, without := New(profiles.Substitute, Options{Recursion: 100}), New(profiles.Substitute)
	ask := func(of *Accountant) Interval {
		t.Helper()
		iv, err := of.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return iv
	}
	add := func(s Step, count int64) {
		t.Helper()
		for _, of := range []*Accountant{a, without} {
			if err := of.Add(t.Context(), s, count); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(Step{Mechanism: base, Sampling: sampling}, 1000)
	iv := ask(a)
	// The attack that chooses at each step has 1.332184 in the limit (subsample/internal/adaptive).
	if !(iv.Lower <= 1.332184 && iv.Upper >= 1.332184 && iv.Upper <= iv.Lower*1.003) || len(iv.Warnings) > 0 {
		t.Errorf("1000 steps: [%v, %v], warnings %q", iv.Lower, iv.Upper, iv.Warnings)
	}
	d, err := a.Delta(t.Context(), 1.333)
	if err != nil {
		t.Fatal(err)
	}
	if !(d.Lower <= 1e-5 && d.Lower > 0.95e-5 && d.Upper >= 1e-5 && d.Upper < 1.05e-5) {
		t.Errorf("δ(1.333) is in [%v, %v]", d.Lower, d.Upper)
	}
	add(Step{Mechanism: base}, 1)
	both, plain := ask(a), ask(without)
	if !(both.Upper > iv.Upper && both.Upper < plain.Upper*0.95 && math.Abs(both.Lower-plain.Lower) < 1e-9) || len(both.Warnings) > 0 {
		t.Errorf("beside another mechanism: [%v, %v], [%v, %v] without blocks, warnings %q", both.Lower, both.Upper, plain.Lower, plain.Upper, both.Warnings)
	}
	replaced, err := subsample.NewWithReplacement(10000, 200)
	if err != nil {
		t.Fatal(err)
	}
	a = New(profiles.Substitute, Options{Recursion: 100})
	if err := a.Add(t.Context(), Step{Mechanism: base, Sampling: replaced}, 1000); err != nil {
		t.Fatal(err)
	}
	// The attack has 1.338083 in the limit.
	if iv := ask(a); !(iv.Lower <= 1.338083 && iv.Upper >= 1.338083 && iv.Upper <= iv.Lower*1.01) || len(iv.Warnings) > 0 {
		t.Errorf("with replacement: [%v, %v], warnings %q", iv.Lower, iv.Upper, iv.Warnings)
	}
	subsets, err := subsample.NewMustOW(10000, 1000, 200)
	if err != nil {
		t.Fatal(err)
	}
	a = New(profiles.Substitute, Options{Recursion: 100})
	if err := a.Add(t.Context(), Step{Mechanism: base, Sampling: subsets}, 1000); err != nil {
		t.Fatal(err)
	}
	if iv := ask(a); !strings.Contains(strings.Join(iv.Warnings, " "), "the recursion") {
		t.Errorf("must-ow: warnings %q", iv.Warnings)
	}
}
