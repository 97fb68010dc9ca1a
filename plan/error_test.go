package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpaccountant/accountant"
)

// TestErrorWraps: what a constructor had against a value can be had by its type.
func TestErrorWraps(t *testing.T) {
	for _, c := range []struct {
		step string
		path []string
	}{
		{"mechanism: {gaussian: {noise-multiplier: -1}}", []string{"gaussian", "noise-multiplier"}},
		{"mechanism: {finite: {p: [0.5, 0.5], q: [0.5, 2]}}", []string{"finite", "q[1]"}},
		{gauss + "\n    sampling: {poisson: {rate: 2}}", []string{"rate"}},
		{gauss + "\n    sampling: {must-ow: {population: 9, subset: 0, batch: 1}}", []string{"must-ow", "subset"}},
		{gauss + "\n    selection: {law: geometric, mean: 0.5}", []string{"mean"}},
		{"mechanism: {majority: {mechanisms: 0, epsilon: 1, allowance: 1}}", []string{"mechanisms"}},
	} {
		_, err := Parse(t.Context(), []byte(one(c.step)))
		var wrong *accountant.FieldError
		if !errors.As(err, &wrong) || !cmp.Equal(wrong.Path, c.path) {
			t.Errorf("%s: error %v wraps %+v, want the path %q", c.step, err, wrong, c.path)
		}
	}
	_, err := Parse(t.Context(), []byte("neighbours: 1\n"))
	var wrong *accountant.FieldError
	if errors.As(err, &wrong) {
		t.Errorf("%v wraps %+v, but no constructor was called", err, wrong)
	}
}
