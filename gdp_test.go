package accountant_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/plan"
)

// TestSquaredMu: Σ count/σ², four times that under substitution, rounded up.
func TestSquaredMu(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		err  string
	}{
		{"{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 3}}, count: 7}, {count: 2, steps: [{mechanism: {gaussian: {noise-multiplier: 5}}}]}]}", 7./9 + 2./25, ""},
		{"{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 3}}, count: 7}]}", 28. / 9, ""},
		{"{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 3}}}, {mechanism: {pure: {epsilon: 1}}}]}", 0, "steps[1]: mechanism: pure has no known μ"},
	} {
		p, err := plan.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.SquaredMu()
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%v, want %s", err, c.err)
			}
			continue
		}
		if err != nil || !(got >= c.want*(1-1e-16) && got <= c.want*(1+1e-14)) || math.IsNaN(got) {
			t.Errorf("%s: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}
