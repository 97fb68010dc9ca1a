package accountant_test

// Golden values of persons, choices and matrices that need the whole library; testdata/golden/beyond.json
// says where each number comes from.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// beyond reads the rows of a section.
func beyond[T any](t *testing.T, section string) (out T) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden/beyond.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[section], &out); err != nil {
		t.Fatalf("%s: %v", section, err)
	}
	return out
}

func planEpsilon(p *accountant.Plan, delta float64, opts ...accountant.Options) (accountant.Interval, error) {
	a := p.Accountant(opts...)
	if err := a.AddPlan(context.Background(), p); err != nil {
		return accountant.Interval{}, err
	}
	return a.Epsilon(context.Background(), delta)
}

// directions are how the file names a direction of a relation.
var directions = map[string]struct {
	relation profiles.Relation
	index    int
}{"remove": {profiles.AddRemove, 0}, "add": {profiles.AddRemove, 1}, "replace": {profiles.Substitute, 0}}

// oneDirection composes one direction of runs alone.
func oneDirection(t *testing.T, m profiles.Bounds, direction int, steps int64, delta float64) fourier.Result {
	t.Helper()
	sum := fourier.New(fourier.Options{Relative: 1e-6})
	if err := sum.Add(m.Directions[direction].Upper, steps); err != nil {
		t.Fatal(err)
	}
	r, err := sum.Epsilon(context.Background(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Both directions by themselves, with values that no other test has (TestPersonsGolden).
func TestPersonsGoldenByDirection(t *testing.T) {
	type row struct {
		Direction             string
		Sigma, Rate           float64
		Steps, Records        int64
		Epsilon, Lower, Upper float64
	}
	golden := beyond[struct{ Rows, Proved []row }](t, "persons")
	if len(golden.Rows) != 9 || len(golden.Proved) != 6 {
		t.Fatalf("%d and %d rows", len(golden.Rows), len(golden.Proved))
	}
	for _, c := range append(golden.Rows, golden.Proved...) {
		d := directions[c.Direction]
		b, err := profiles.NewGaussianMechanism(c.Sigma)
		if err != nil {
			t.Fatal(err)
		}
		s, err := subsample.NewPoisson(c.Rate)
		if err != nil {
			t.Fatal(err)
		}
		m, err := subsample.Of(context.Background(), b, s, d.relation, c.Records)
		if err != nil {
			t.Fatal(err)
		}
		got := oneDirection(t, m, d.index, c.Steps, 1e-5)
		low, high := c.Lower, c.Upper
		if c.Epsilon > 0 {
			low, high = c.Epsilon*(1-3e-10), c.Epsilon*(1+3e-10)
		}
		if !(got.Lower <= high && low <= got.Upper && got.Upper-got.Lower <= 1e-5*got.Upper) {
			t.Errorf("%+v: [%.10f, %.10f]", c, got.Lower, got.Upper)
		}
	}
}

// Acceptance 2.8.1: the answer for one record is that of a plan that does not speak of persons, to the byte.
func TestOneRecordIsToday(t *testing.T) {
	const steps = "steps:\n  - mechanism: {gaussian: {noise-multiplier: 1}}\n    sampling: {poisson: {rate: 0.01}}\n    count: 1000\n"
	for _, r := range []string{"add-remove", "substitute"} {
		var answers [2]accountant.Interval
		for i, unit := range []string{"", "records-per-person: 1\n"} {
			p, err := plan.Parse(t.Context(), []byte("neighbors: "+r+"\n"+unit+steps))
			if err != nil {
				t.Fatal(err)
			}
			if answers[i], err = planEpsilon(p, 1e-5); err != nil {
				t.Fatal(err)
			}
		}
		if fmt.Sprint(answers[0]) != fmt.Sprint(answers[1]) {
			t.Errorf("%s: %v, with a unit %v", r, answers[0], answers[1])
		}
	}
}

// What the curve of one record leads to, and what it costs to speak of one record k times as large that
// is drawn if any of k is: sound, and far above the exact pair.
func TestBlackBoxGolden(t *testing.T) {
	golden := beyond[struct {
		Rows []struct {
			Records         int64
			Iterate, Vadhan float64
			OneRecord       float64 `json:"one-record"`
		}
	}](t, "black box")
	for _, c := range golden.Rows {
		const steps = "mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}, count: 1000"
		row, exact := groupRow(t, fmt.Sprintf("neighbors: add-remove\nrecords-per-person: %d\nsteps: [{"+steps+"}]", c.Records, 1, 0.01), 1e-5)
		// The iterate of the prototype has a grid of its own: 1 %.
		if !(row.Epsilon > exact.Epsilon && math.Abs(row.Epsilon/c.Iterate-1) < 1e-2) {
			t.Errorf("%d records: the curve leads to %v, want %v, the pair to %v", c.Records, row.Epsilon, c.Iterate, exact.Epsilon)
		}
		if c.Vadhan > 0 && !(row.Epsilon < c.Vadhan) {
			t.Errorf("%d records: %v is not below the lemma's %v", c.Records, row.Epsilon, c.Vadhan)
		}
		rate := -math.Expm1(float64(c.Records) * math.Log1p(-0.01))
		p, err := plan.Parse(t.Context(), fmt.Appendf(nil, "neighbors: add-remove\nsteps: [{"+steps+"}]", 1/float64(c.Records), rate))
		if err != nil {
			t.Fatal(err)
		}
		iv, err := planEpsilon(p, 1e-5)
		if err != nil || math.Abs(iv.Upper/c.OneRecord-1) > 3e-3 {
			t.Errorf("%d records as one: %v (%v), want %v", c.Records, iv.Upper, err, c.OneRecord)
		}
	}
}

// One exponential mechanism's closed form composed as a pair is sound and loose; as pure mechanisms it is looser still.
// Permute-and-flip is Laplace noise.
func TestChoicesAsPairsGolden(t *testing.T) {
	type row struct {
		Epsilon            float64
		Runs               int64
		Lower, Upper, Pure float64
	}
	epsilon := func(p profiles.Profile, runs int64) fourier.Result {
		return oneDirection(t, profiles.NewBounds("", profiles.AddRemove, p), 0, runs, 1e-6)
	}
	exponentials := beyond[struct{ Rows []row }](t, "exponentials as pairs").Rows
	for _, c := range exponentials {
		p, err := profiles.NewExponential(c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		got := epsilon(p, c.Runs)
		if !(got.Lower <= c.Upper && c.Lower <= got.Upper && got.Upper-got.Lower < 1e-5*got.Upper) {
			t.Errorf("%d × %v as a pair: [%v, %v], want [%v, %v]", c.Runs, c.Epsilon, got.Lower, got.Upper, c.Lower, c.Upper)
		}
		pure, err := profiles.NewPure(c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := pure.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		// A prototype without an error bound: 1e-7, or 1e-6 for 2 × 3, where its digits end.
		if got := epsilon(pair, c.Runs); c.Pure > 0 && math.Abs(got.Upper-c.Pure) > 2e-6*c.Pure {
			t.Errorf("%d × %v as pure: [%.12f, %.12f], want %v", c.Runs, c.Epsilon, got.Lower, got.Upper, c.Pure)
		}
	}
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{mechanism: {permute-and-flip: {epsilon: 1}}, count: 10}]"))
	if err != nil {
		t.Fatal(err)
	}
	// choice/scores.go: an attack that adapts reaches 9.989 of 9.999.
	if iv, err := planEpsilon(p, 1e-6); err != nil || iv.Gap == nil || !(iv.Lower > 9.989 && iv.Lower < 9.999 && iv.Upper < 9.9991 && iv.Lower > 8.318) {
		t.Errorf("ten runs: %+v, %v", iv, err)
	}
	for _, c := range beyond[struct{ Rows []row }](t, "permute-and-flip").Rows {
		p, err := profiles.NewLaplace(1 / c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if got := epsilon(p, c.Runs); !(got.Lower <= c.Upper && c.Lower <= got.Upper) {
			t.Errorf("%d × %v: [%v, %v], want [%v, %v]", c.Runs, c.Epsilon, got.Lower, got.Upper, c.Lower, c.Upper)
		}
	}
}

// Acceptance 3.7.5: many exponential mechanisms cost no more than any simple bound says, over many kinds.
func TestExponentialsBelowEverySimpleBound(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		epsilon float64
		runs    int64
	}{{1e-4, 3}, {0.1, 16}, {0.5, 7}, {1, 9}, {3, 4}, {20, 2}, {100, 3}} {
		for _, delta := range []float64{1e-3, 1e-12} {
			p, err := plan.Parse(t.Context(), fmt.Appendf(nil, "neighbors: add-remove\nsteps: [{mechanism: {exponential: {epsilon: %v}}, count: %d}]", c.epsilon, c.runs))
			if err != nil {
				t.Fatal(err)
			}
			iv, err := planEpsilon(p, delta, accountant.Options{Accuracy: 1e-4})
			if err != nil {
				t.Fatal(err)
			}
			pair, err := profiles.NewExponential(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			composed := oneDirection(t, profiles.NewBounds("", profiles.AddRemove, pair), 0, c.runs, delta).Upper
			rho := float64(c.runs) * c.epsilon * c.epsilon / 8
			for name, most := range map[string]float64{"zCDP": rho + 2*math.Sqrt(-rho*math.Log(delta)), "the pair composed": composed, "kε": float64(c.runs) * c.epsilon} {
				// The recursion's own width is asked for at 1e-4.
				if !(iv.Lower <= most && iv.Upper <= most+2e-4*math.Abs(most)+1e-9) {
					t.Errorf("%d × %v at δ = %v: [%v, %v], above %s, %v", c.runs, c.epsilon, delta, iv.Lower, iv.Upper, name, most)
				}
			}
		}
	}
}

// Errata C1: far out the sampling cannot be seen, so that μ without a tolerance is that of the plan that is not sampled.
func TestImpliedMuGolden(t *testing.T) {
	golden := beyond[struct {
		Rows []struct{ Epsilon, Mu float64 }
		At20 float64 `json:"delta at 20"`
	}](t, "implied mu")
	a := accountantOf(t, "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}}]}")
	for _, c := range golden.Rows {
		iv, err := a.Delta(context.Background(), c.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := 1e-3, 2.0
		for range 80 {
			mid := (lo + hi) / 2
			g, err := profiles.NewGaussian(1 / mid)
			if err != nil {
				t.Fatal(err)
			}
			if l, _ := profiles.LogDelta(g, c.Epsilon); l < math.Log(iv.Lower) {
				lo = mid
			} else {
				hi = mid
			}
		}
		tol := 5e-4 // three digits
		if c.Mu*1e3 != math.Trunc(c.Mu*1e3) && c.Mu > 0.1 {
			tol = 5e-8 // eight
		}
		// Below the least float64 δ is 0, and so is its logarithm's use.
		if iv.Lower > 0 && math.Abs(lo-c.Mu) > tol {
			t.Errorf("ε = %v: δ = %v is that of μ = %.8f, want %v", c.Epsilon, iv.Lower, lo, c.Mu)
		}
		if c.Epsilon == 20 && math.Abs(iv.Lower/golden.At20-1) > 2e-4 {
			t.Errorf("δ(20) = %v, want %v", iv.Lower, golden.At20)
		}
	}
}
