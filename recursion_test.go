package accountant

import (
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestWithRecursion: the recursion's interval lies within the one without it,
// alone and with another mechanism in the plan, and grows with the runs.
func TestWithRecursion(t *testing.T) {
	sampling, err := subsample.NewWithoutReplacement(50, 5)
	if err != nil {
		t.Fatal(err)
	}
	base, err := profiles.NewGaussianMechanism(2)
	if err != nil {
		t.Fatal(err)
	}
	sampled := Step{Mechanism: base, Sampling: sampling}
	with, without := New(profiles.Substitute, WithRecursion(40)), New(profiles.Substitute)
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
		if got.Upper > want.Upper*(1+1e-9) || got.Lower < want.Lower*(1-1e-9) || got.Estimate < got.Lower || got.Estimate > got.Upper {
			t.Errorf("%s: %+v is not within %+v", c.name, got, want)
		}
		// Two totals need not agree in digits that are not certified: both are within 1e-9.
		if (got.Upper < want.Upper*(1-1e-9)) != c.narrow {
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
