package plan_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/subsample"
)

func added(t *testing.T, text string) *accountant.Accountant {
	t.Helper()
	p := parse(t, text)
	acct := accountant.New(p.Neighbors)
	if err := acct.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return acct
}

// Three votes, two queries: the composed δ lies between attack and bound. The
// truth is found here by enumeration: δ of two independent answers is convex in
// each pair (P, P'), so that families with every vote at a corner (darrm/corners.go,
// Lemma 5.1) are the worst.
func TestMajorityStepByEnumeration(t *testing.T) {
	for _, delta := range []float64{0, 0.02} {
		const eps, allowance = 0.4, 1.5
		p := darrm.Params{Mechanisms: 3, Epsilon: eps, Delta: delta, Allowance: allowance}.WithDefaultDelta()
		r, err := darrm.Optimize(context.Background(), p, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Gamma[2] == 1 {
			t.Fatal("the noise-free majority is allowed, which tests little")
		}
		// P(1) as in equation 1 of darrm/corners.go.
		one := func(p1, p2, p3 float64) float64 {
			all := p1*p2*p3 - (1-p1)*(1-p2)*(1-p3)
			two := p1*p2*(1-p3) + p1*(1-p2)*p3 + (1-p1)*p2*p3 - p1*(1-p2)*(1-p3) - (1-p1)*p2*(1-p3) - (1-p1)*(1-p2)*p3
			return (1 + r.Gamma[3]*all + r.Gamma[2]*two) / 2
		}
		a := (math.Exp(eps) + delta) / (math.Exp(eps) + 1)
		corners := [][2]float64{{0, 0}, {1, 1}, {0, delta}, {delta, 0}, {1 - delta, 1}, {1, 1 - delta}, {a, 1 - a}, {1 - a, a}}
		type pair struct{ p, q float64 }
		var families []pair
		for i, x := range corners {
			for j, y := range corners[:i+1] {
				for _, z := range corners[:j+1] {
					families = append(families, pair{one(x[0], y[0], z[0]), one(x[1], y[1], z[1])})
				}
			}
		}
		acct := added(t, fmt.Sprintf(`
neighbors: substitute
steps:
  - mechanism: {majority: {mechanisms: 3, epsilon: %v, allowance: %v, delta: %v}}
    count: 2
`, eps, allowance, delta))
		for _, e := range []float64{0, 0.1, 0.3, 0.5, 0.8, 1.1, 1.3} {
			truth := 0.0
			for i, f := range families {
				for _, g := range families[:i+1] {
					d := 0.0
					for _, x := range []pair{f, {1 - f.p, 1 - f.q}} {
						for _, y := range []pair{g, {1 - g.p, 1 - g.q}} {
							d += max(0, x.p*y.p-math.Exp(e)*x.q*y.q)
						}
					}
					truth = max(truth, d)
				}
			}
			iv, err := acct.Delta(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			// Four terms of size 1, each a dozen roundings from its value.
			const tol = 64 * 0x1p-53
			if !(iv.Lower <= truth+tol && truth-tol <= iv.Upper) {
				t.Errorf("Δ = %v: δ(%v) = %v is not in [%v, %v]", delta, e, truth, iv.Lower, iv.Upper)
			}
			if iv.Gap == nil {
				t.Errorf("Δ = %v: δ(%v) has no theory gap, but no single family attains the profile", delta, e)
			}
		}
	}
}

// The budget of the paper's experiments: composing profiles costs less than
// what the paper charges (Theorem 3.4 of Kairouz, Oh and Viswanath).
func TestMajorityStepAgainstGeneralComposition(t *testing.T) {
	const eps, each, slack = 0.0892, 1e-4, 1e-4
	for _, gamma := range []string{"optimal", "double", "subsampling", "constant"} {
		for _, q := range []int{20, 100} {
			text := fmt.Sprintf(`
neighbors: add-remove
steps:
  - mechanism: {majority: {mechanisms: 11, epsilon: %v, allowance: 3, delta: %v, gamma: %s}}
    count: %d
`, eps, each, gamma, q)
			general, delta, err := darrm.GeneralComposition(3*eps, 3*each, q, slack)
			if err != nil {
				t.Fatal(err)
			}
			iv, err := added(t, text).Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, Q = %d: [%.4f, %.4f], general composition %.4f", gamma, q, iv.Lower, iv.Upper, general)
			if !(iv.Upper < general) {
				t.Errorf("%s, Q = %d: ε = %v is above the general bound %v", gamma, q, iv.Upper, general)
			}
			if !(iv.Lower > 0 && iv.Gap != nil && iv.Lower <= iv.Gap.Attack.Upper && iv.Gap.Attack.Lower <= iv.Upper) {
				t.Errorf("%s, Q = %d: the attack's ε %+v and the interval [%v, %v] do not fit", gamma, q, iv.Gap, iv.Lower, iv.Upper)
			}
		}
	}
}

func TestMajorityStepErrors(t *testing.T) {
	const ok = "mechanisms: 11, epsilon: 0.1, allowance: 3"
	for _, c := range []struct{ step, want string }{
		{"mechanism: {majority: {mechanisms: 0, epsilon: 0.1, allowance: 3}}",
			"line 4: steps[0].mechanism.majority.mechanisms: 0 is not in [1, 1001]"},
		{"mechanism: {majority: {mechanisms: 11, epsilon: 0.1, allowance: 12}}",
			"line 4: steps[0].mechanism.majority.allowance: 12 is not in [1, 11], from one mechanism to all of them"},
		{"mechanism: {majority: {" + ok + ", output-delta: 2}}",
			"line 4: steps[0].mechanism.majority.output-delta: 2 is not in [delta, 1) = [0, 1)"},
		{"mechanism: {majority: {" + ok + ", gamma: best}}",
			`line 4: steps[0].mechanism.majority.gamma: "best" is not one of optimal, subsampling, double, constant`},
		{"{mechanism: {majority: {" + ok + "}}, sampling: {poisson: {rate: 0.1}}}",
			"line 4: steps[0].sampling: nothing is proved about majority on a sample; it runs on the whole data set"},
	} {
		_, err := plan.Parse(t.Context(), []byte("\nneighbors: add-remove\nsteps:\n  - "+c.step+"\n"))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.step, err, c.want)
		}
	}
}

// A compound base is refused on a sample by the accountant too, and leaves the
// total as it was.
func TestMajorityStepIsNotSampled(t *testing.T) {
	p := parse(t, "neighbors: add-remove\nsteps: [{mechanism: {majority: {mechanisms: 3, epsilon: 0.1, allowance: 1}}}]\n")
	rate, err := subsample.NewPoisson(0.5)
	if err != nil {
		t.Fatal(err)
	}
	step := p.Steps[0]
	step.Sampling = rate
	acct := accountant.New(p.Neighbors)
	if err := acct.Add(t.Context(), step, 1); err == nil || acct.Runs() != 0 {
		t.Errorf("error %v, %d runs", err, acct.Runs())
	}
}
