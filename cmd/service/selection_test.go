package service

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
)

// such ε took nine seconds.
func TestSelectFar(t *testing.T) {
	plan, err := PlanText("neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 0.8}}\n    sampling: {poisson: {rate: 0.01}}\n    count: 10000\n").parse(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAccountant(t.Context(), plan, []accountant.Options{{Accuracy: 1e-3, WorkLimit: 2.5e8 / selectShare}})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := selectBound(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{321.7, 354364} {
		if d, want := bound(eps), math.Log(selectLeast); math.Abs(d-want) > 1e-10 {
			t.Errorf("log δ(%v) is at most %v, want %v", eps, d, want)
		}
	}
}
