package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	const a = `neighbors: add-remove
steps:
  - name: training
    mechanism: {gaussian: {noise-multiplier: 1.1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
  - name: survey
    mechanism: {pure: {epsilon: 0.1}}
  - mechanism: {finite: {p: [0.5, 0.5], q: [0.25, 0.75]}}
`
	const b = `neighbors: substitute
steps:
  - mechanism: {finite: {p: [0.5, 0.5], q: [0.5, 0.5]}}
  - name: training
    mechanism: {laplace: {noise-multiplier: 1.1}}
    sampling: {poisson: {rate: 1e-2}}
  - name: new
    count: 3
    mechanism: {pure: {epsilon: 0.2}}
`
	got, err := Diff([]byte(a), []byte(b))
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{"neighbors", "add-remove", "substitute"},
		{"steps[0].mechanism.finite.q[0]", "0.25", "0.5"},
		{"steps[0].mechanism.finite.q[1]", "0.75", "0.5"},
		{"steps[0].mechanism.gaussian", "noise-multiplier: 1.1", ""},
		{"steps[1].mechanism.laplace", "", "noise-multiplier: 1.1"},
		{"steps[1].sampling.poisson.rate", "0.01", "1e-2"},
		{"steps[0].count", "1000", ""},
		{"steps[2]", "", "a step with pure"},
		{"steps[1]", "a step with pure", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if same, err := Diff([]byte(a), []byte(a)); err != nil || len(same) > 0 {
		t.Errorf("%v, %v", same, err)
	}
	if _, err := Diff([]byte(a), []byte("x")); err == nil {
		t.Error("no plan was compared")
	}
}
