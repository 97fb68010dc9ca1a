package plan

import (
	"strings"
	"testing"
)

// FuzzParse: no input panics, and an error is one line.
func FuzzParse(f *testing.F) {
	for _, c := range badPlans {
		if len(c.plan) < 5000 {
			f.Add([]byte(c.plan))
		}
	}
	for _, c := range badEvents {
		f.Add([]byte(c.event))
	}
	f.Add([]byte(one(gauss, "sampling: {poisson: {rate: 0.5}}", "count: 3")))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(t.Context(), data)
		switch {
		case err == nil && (p == nil || len(p.Steps) == 0):
			t.Errorf("no error and no plan")
		case err != nil && p != nil:
			t.Errorf("an error and a plan")
		case err != nil && strings.ContainsAny(err.Error(), "\n\r"):
			t.Errorf("error has several lines: %q", err)
		}
	})
}
