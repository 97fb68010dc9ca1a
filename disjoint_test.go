package accountant_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

// held returns an accountant that holds a plan.
func held(t *testing.T, text string) *accountant.Accountant {
	t.Helper()
	p, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant()
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	before = "{mechanism: {gaussian: {noise-multiplier: 5}}, count: 2}"
	// The first of these is worse at small δ, the second at large ones.
	branchA = "{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: .01}}, count: 1000}"
	branchB = "{mechanism: {laplace: {noise-multiplier: .6}}}"
	branchC = "{count: 2, steps: [{mechanism: {gaussian: {noise-multiplier: 6}}}, {mechanism: {pure: {epsilon: .1}}}]}"
)

func steps(head string, list ...string) string {
	return head + "\nsteps: [" + strings.Join(list, ", ") + "]\n"
}

func branches(partition string, list ...string) string {
	return "{partition: " + partition + ", disjoint: [" + strings.Join(list, ", ") + "]}"
}

// TestDisjointIsTheWorstBranch: every answer is that of the plan with one branch, the largest over branches; also where a second
// step has branches of its own, and where branches are inside one another.
func TestDisjointIsTheWorstBranch(t *testing.T) {
	const head = "neighbors: add-remove"
	for name, c := range map[string]struct {
		plan string
		ways []string
	}{
		"one":    {steps(head, before, branches("fixed", branchA, branchB, branchC)), []string{branchA, branchB, branchC}},
		"two":    {steps(head, before, branches("fixed", branchA, branchB), branches("by-record", branchC, branchB)), []string{branchA + ", " + branchC, branchA + ", " + branchB, branchB + ", " + branchC, branchB + ", " + branchB}},
		"inside": {steps(head, before, branches("fixed", branchA, "{steps: ["+branchC+", "+branches("fixed", branchB, branchC)+"]}")), []string{branchA, branchC + ", " + branchB, branchC + ", " + branchC}},
		"times":  {steps(head, before, "{count: 3, "+branches("fixed", branchB, branchC)[1:]), []string{"{count: 3, steps: [" + branchB + "]}", "{count: 3, steps: [" + branchC + "]}"}},
	} {
		all := held(t, c.plan)
		ways := make([]*accountant.Accountant, len(c.ways))
		for i, way := range c.ways {
			ways[i] = held(t, steps(head, before, way))
		}
		compare := func(what string, ask func(a *accountant.Accountant) (lower, upper float64)) {
			lower, upper := math.Inf(-1), math.Inf(-1)
			for _, w := range ways {
				l, u := ask(w)
				lower, upper = max(lower, l), max(upper, u)
			}
			l, u := ask(all)
			if tol := 2e-3 * math.Abs(upper); !(l <= upper && u >= lower && math.Abs(l-lower) <= tol && math.Abs(u-upper) <= tol) {
				t.Errorf("%s, %s: [%v, %v], the largest of its ways has [%v, %v]", name, what, l, u, lower, upper)
			}
		}
		for _, delta := range []float64{1e-9, 1e-5, .05} {
			compare(fmt.Sprint("ε at ", delta), func(a *accountant.Accountant) (float64, float64) {
				iv, err := a.Epsilon(t.Context(), delta)
				if err != nil || iv.Gap != nil {
					t.Fatal(err, iv.Gap)
				}
				return iv.Lower, iv.Upper
			})
		}
		for _, eps := range []float64{-.5, 0, 1.5} {
			compare(fmt.Sprint("δ at ", eps), func(a *accountant.Accountant) (float64, float64) {
				iv, err := a.Delta(t.Context(), eps)
				if err != nil {
					t.Fatal(err)
				}
				return iv.Lower, iv.Upper
			})
		}
		compare("risk", func(a *accountant.Accountant) (float64, float64) {
			r, err := a.Risk(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.TruePositive[1].Lower, r.TruePositive[1].Upper
		})
		compare("μ", func(a *accountant.Accountant) (float64, float64) {
			g, err := a.GDP(t.Context(), 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			return g.Mu.Lower, g.Mu.Upper
		})
		points, err := all.TradeOff(t.Context(), []float64{.01})
		if err != nil {
			t.Fatal(err)
		}
		compare("power", func(a *accountant.Accountant) (float64, float64) {
			if a == all {
				return points[0].Power.Lower, 1 - points[0].TypeII.Lower
			}
			p, err := a.TradeOff(t.Context(), []float64{.01})
			if err != nil {
				t.Fatal(err)
			}
			return p[0].Power.Lower, p[0].Power.Upper
		})
	}
}

// TestDisjointPersonsAddUp: a person may have records in every branch. All branches together are above, and all records in
// one branch are an attack.
func TestDisjointPersonsAddUp(t *testing.T) {
	const head = "neighbors: add-remove\nrecords-per-person: 2"
	a := held(t, steps(head, before, branches("by-record", branchA, branchC)))
	iv, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := held(t, steps(head, before, branchA, branchC)).Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	one, err := held(t, steps(head, before, branchA)).Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(iv.Upper-sum.Upper) > 1e-3*sum.Upper || math.Abs(iv.Lower-one.Lower) > 1e-3*one.Lower || iv.Gap == nil {
		t.Errorf("[%v, %v] with the gap %+v, want the upper end of %+v and the lower end of %+v", iv.Lower, iv.Upper, iv.Gap, sum, one)
	}
	// More steps go to all of them.
	more := accountant.Step{Mechanism: mustPlan(t, steps(head, before)).Steps[0].Mechanism}
	if err := a.Add(t.Context(), more, 3); err != nil {
		t.Fatal(err)
	}
	after, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil || !(after.Upper > iv.Upper && after.Lower > iv.Lower) {
		t.Errorf("%+v and %v after more steps, %+v before", after, err, iv)
	}
}

func mustPlan(t *testing.T, text string) *accountant.Plan {
	t.Helper()
	p, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDisjointShards: a thousand equal shards are one way, and too many different ones are an error.
func TestDisjointShards(t *testing.T) {
	equal, others := make([]string, 1000), make([]string, 65)
	for i := range equal {
		equal[i] = branchA
	}
	for i := range others {
		others[i] = fmt.Sprintf("{mechanism: {pure: {epsilon: .%d}}}", 100+i)
	}
	iv, err := held(t, steps("neighbors: substitute", branches("fixed", equal...))).Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	one, err := held(t, steps("neighbors: substitute", branchA)).Epsilon(t.Context(), 1e-5)
	if err != nil || iv.Lower != one.Lower || iv.Upper != one.Upper {
		t.Errorf("%+v, one shard %+v, error %v", iv, one, err)
	}
	p := mustPlan(t, steps("neighbors: add-remove", branches("fixed", others...)))
	if err := p.Accountant().AddPlan(t.Context(), p); err == nil || !strings.Contains(err.Error(), "more than 64 ways") {
		t.Errorf("65 different branches: %v", err)
	}
}

// TestDisjointRefusals: what is not proved, with its sentence.
func TestDisjointRefusals(t *testing.T) {
	for text, want := range map[string]string{
		steps("neighbors: substitute", branches("by-record", branchA, branchB)): "steps[0]: partition: by-record is not for substitute: a record may change branch",
		steps("neighbors: zero-out", branches("by-record", branchA, branchB)):   "steps[0]: partition: by-record is not for zero-out",
	} {
		p := mustPlan(t, text)
		if err := p.Accountant().AddPlan(t.Context(), p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{disjoint: [" + branchA + ", " + branchB + "]}":                            "steps[0]: partition is missing",
		branches("random", branchA, branchB):                                        `steps[0].partition: "random" is not one of fixed, by-record`,
		branches("fixed", branchA):                                                  "steps[0].disjoint: has 1 branch",
		"{partition: fixed, mechanism: {pure: {epsilon: 1}}}":                       "steps[0].partition: is set without disjoint",
		"{partition: fixed, steps: [" + branchA + "], disjoint: [" + branchB + "]}": "steps[0].steps: is set beside disjoint",
		"{partition: fixed, disjoint: [" + branchA + ", {mechanism: {}}]}":          "steps[0].disjoint[1].mechanism",
	} {
		_, err := plan.Parse(t.Context(), []byte(steps("neighbors: add-remove", text)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestDisjointByEnumeration: branches of randomized response on two records, one in each branch, where how the second branch answers
// follows the first one's output, at least as noisily as the plan says: the loss about either record, over all outputs, is at most what the plan says.
func TestDisjointByEnumeration(t *testing.T) {
	p1, p2 := .8, .7 // the truth is told with 1 − p/2: the first branch, and the second after an output of 1
	truth := func(p float64, record, out int) float64 {
		if record == out {
			return 1 - p/2
		}
		return p / 2
	}
	law := func(x, y int) []float64 {
		var out []float64
		for a := range 2 {
			for b := range 2 {
				p := .9
				if a == 1 {
					p = p2
				}
				out = append(out, truth(p1, x, a)*truth(p, y, b))
			}
		}
		return out
	}
	a := held(t, steps("neighbors: substitute", branches("fixed", "{mechanism: {randomized-response: {probability: .8, categories: 2}}}",
		"{mechanism: {randomized-response: {probability: .7, categories: 2}}}")))
	for _, eps := range []float64{0, .1, .4, .6} {
		worst := 0.0
		for i := range 2 {
			for j := range 2 {
				for _, pair := range [][2][]float64{{law(i, j), law(1-i, j)}, {law(i, j), law(i, 1-j)}} {
					sum := 0.0
					for k := range pair[0] {
						sum += max(0, pair[0][k]-math.Exp(eps)*pair[1][k])
					}
					worst = max(worst, sum)
				}
			}
		}
		iv, err := a.Delta(t.Context(), eps)
		if err != nil || !(iv.Upper >= worst-1e-12) {
			t.Errorf("ε = %v: δ ≤ %v (%v), enumerated %v", eps, iv.Upper, err, worst)
		}
	}
}

// TestWorkOfTheOtherBranches: branches that take next to no work leave theirs to the one that decides.
func TestWorkOfTheOtherBranches(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte(`neighbors: substitute
steps:
  - partition: fixed
    disjoint:
      - steps: [{mechanism: {pure: {epsilon: 0.1}}}]
      - steps: [{mechanism: {pure: {epsilon: 0.2}}}]
      - steps: [{mechanism: {pure: {epsilon: 0.3}}}]
      - steps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {without-replacement: {population: 1000, batch: 20}}, count: 100}]`))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant(accountant.Options{WorkLimit: 4e5})
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	// A quarter of the work proves 12.5, all of it 2.33.
	if iv, err := a.Epsilon(t.Context(), 1e-6); err != nil || !(iv.Upper < 3) {
		t.Errorf("ε in [%v, %v], %v; want an upper end below 3", iv.Lower, iv.Upper, err)
	}
}

// TestSearchBesideBranchesIsPricedOnce: the price of a search is that of all nine ways, and not what the ways before have left.
func TestSearchBesideBranchesIsPricedOnce(t *testing.T) {
	a := held(t, `neighbors: substitute
steps:
  - selection: {law: logarithmic, mean: 20}
    steps: [{mechanism: {gaussian: {noise-multiplier: 6.5}}, sampling: {without-replacement: {population: 1864, batch: 90}}, count: 1490}]
  - {partition: fixed, disjoint: [{steps: [{mechanism: {pure: {epsilon: 0.1}}}]}, {steps: [{mechanism: {gaussian: {noise-multiplier: 4}}}]}, {steps: [{mechanism: {laplace: {noise-multiplier: 9}}}]}]}
  - {partition: fixed, disjoint: [{steps: [{mechanism: {pure: {epsilon: 0.2}}}]}, {steps: [{mechanism: {gaussian: {noise-multiplier: 8}}}]}, {steps: [{mechanism: {laplace: {noise-multiplier: 7}}}]}]}`)
	if iv, err := a.Epsilon(t.Context(), 1e-8); err != nil || len(iv.Warnings) > 0 {
		t.Errorf("ε in [%v, %v], %q, %v; want no warning", iv.Lower, iv.Upper, iv.Warnings, err)
	}
}
