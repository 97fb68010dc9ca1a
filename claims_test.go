package accountant

import (
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A tiny pure ε under sampling by substitution: δ(0) is of the size of the loss,
// and rounding must not hide that.
func TestTinyLossKeepsDeltaSmall(t *testing.T) {
	b, err := profiles.NewPure(1e-9)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewPoisson(0.1)
	if err != nil {
		t.Fatal(err)
	}
	a := New(profiles.Substitute)
	if err := a.Add(t.Context(), Step{Mechanism: b, Sampling: s}, 1); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Delta(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// 0.1·tanh(ε/2) = 5e-11, attained.
	if !(iv.Lower <= 5e-11 && 5e-11 <= iv.Upper) || iv.Upper > 5.1e-11 {
		t.Errorf("δ(0) in [%g, %g], want a narrow interval about 5e-11", iv.Lower, iv.Upper)
	}
}

// deltaAt1 returns the interval of δ(1) of a plan.
func deltaAt1(t *testing.T, text string) Interval {
	t.Helper()
	p, err := ParsePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := New(p.Neighbors)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Delta(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// Issue 13, claim 1: the certified interval of discrete-gaussian holds for a
// vector query, here (1, 1, 1, 1), and not only for one whole number.
func TestDiscreteGaussianCoversVectors(t *testing.T) {
	plan := func(mechanism string) Interval {
		t.Helper()
		return deltaAt1(t, "neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {"+mechanism+"}}\n")
	}
	for _, c := range []struct {
		mechanism string
		delta     float64
	}{
		{"noise-multiplier: 1, sensitivity: 2", 0.12510357012},
		{"noise-multiplier: 1, sensitivity: 2, dimension: 1", 0.1196116053},
	} {
		iv := plan(c.mechanism)
		if iv.Lower > c.delta+1e-9 || iv.Upper < c.delta-1e-9 || iv.Upper-iv.Lower > 1e-8 {
			t.Errorf("%s: δ(1) in [%v, %v], want %v", c.mechanism, iv.Lower, iv.Upper, c.delta)
		}
	}
	// Four coordinates that change by 1 are four runs of sensitivity 1.
	iv := deltaAt1(t, "neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {noise-multiplier: 2}}\n    count: 4\n")
	if v := plan("noise-multiplier: 1, sensitivity: 2"); v.Upper < iv.Lower {
		t.Errorf("a vector of four ones reaches %v, above the bound %v", iv.Lower, v.Upper)
	}
	for mechanism, want := range map[string]string{
		"noise-multiplier: 1, sensitivity: 2, dimension: 4": "dimension: 4 is not 1",
		"noise-multiplier: 0.001, sensitivity: 50":          "set dimension: 1", // below all noise of NewDiscreteGaussianMechanism
	} {
		_, err := ParsePlan([]byte("neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {" + mechanism + "}}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mechanism, err, want)
		}
	}
}
