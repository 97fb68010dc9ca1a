package accountant_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

// twoTypes is the menu RR(1), "gives the data away with probability 0.1", for one unit.
const twoTypes = `adaptive: {units: 1, delta: 0.2, menu: [{name: a, cost: 1, steps: [{mechanism: {finite: {p: [P, Q], q: [Q, P]}}}]}, {name: b, cost: 1, steps: [{mechanism: {approximate: {epsilon: 0, delta: 0.1}}}]}]}`

func adaptivePlan(t *testing.T, steps string) *accountant.Accountant {
	t.Helper()
	p := math.E / (1 + math.E)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	text := "neighbors: add-remove\nsteps:\n" + strings.NewReplacer("P", number(p), "Q", number(1-p)).Replace(steps)
	x, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := x.Accountant(accountant.Options{Accuracy: 1e-6})
	if err := a.AddPlan(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTwoAdaptiveStepsLowerEnd: two adaptive parts of one unit each are an analyst of two units, who has at most 0.364728854284041 at ε = 1 and
// 0.237182511116818 at 1.5, by hand; the product of what each reaches has 0.391622996421040 and 0.264076653253817, which is the upper end and
// must not be the lower one.
func TestTwoAdaptiveStepsLowerEnd(t *testing.T) {
	for _, steps := range []string{"  - {count: 2, " + twoTypes + "}\n", "  - {" + twoTypes + "}\n  - {" + twoTypes + "}\n"} {
		a := adaptivePlan(t, steps)
		for _, c := range []struct{ eps, reached, above float64 }{{1, 0.364728854284041, 0.391622996421040}, {1.5, 0.237182511116818, 0.264076653253817}} {
			iv, err := a.Delta(t.Context(), c.eps)
			if err != nil {
				t.Fatal(err)
			}
			if !(iv.Lower <= c.reached+1e-12 && iv.Lower > 0.7*c.reached && math.Abs(iv.Upper-c.above) < 1e-6) {
				t.Errorf("ε = %v: [%v, %v], want at most %v and %v", c.eps, iv.Lower, iv.Upper, c.reached, c.above)
			}
		}
	}
}

// TestAdaptivePartOfLargeLosses: a part whose losses go up to 2·460.517 = 921 at odds of 1/25, e^921 being no number. By hand, beside RR(1): below the losses
// of both runs together δ is that of at least one large loss, 1 − 0.8², less nothing that could be seen.
func TestAdaptivePartOfLargeLosses(t *testing.T) {
	a := adaptivePlan(t, "  - {adaptive: {units: 2, menu: [{name: a, cost: 1, steps: [{mechanism: {finite: {p: [0.8, 0.2], q: [1, 1e-200]}}}]}]}}\n  - {mechanism: {finite: {p: [P, Q], q: [Q, P]}}}\n")
	iv, err := a.Delta(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 - 0.8*0.8; !(iv.Lower <= want && want <= iv.Upper && iv.Upper < want+1e-6 && iv.Lower > want-1e-6) {
		t.Errorf("[%v, %v], want %v", iv.Lower, iv.Upper, want)
	}
}

// TestAdaptivePartGainsAtLargeDelta: where ε is infinite at small δ for every analyst alike, the choice counts at large ones. By the game's recursion over all
// outcomes δ(0.5) = 0.982272503395 and δ(2) = 0.943853298134; the dearest type alone has 0.784093412018 and 0.562427359753.
func TestAdaptivePartGainsAtLargeDelta(t *testing.T) {
	a := adaptivePlan(t, "  - {adaptive: {units: 2, menu: [{name: a, cost: 1, steps: [{mechanism: {finite: {p: [0.47, 0.31, 0.02, 0.2], q: [0.05, 0.51, 0.44, 0]}}}]}, {name: b, cost: 2, steps: [{mechanism: {pure: {epsilon: 5}}}]}]}}\n  - {mechanism: {pure: {epsilon: 0.1}}}\n")
	for _, c := range []struct{ eps, want float64 }{{0.5, 0.982272503395}, {2, 0.943853298134}} {
		iv, err := a.Delta(t.Context(), c.eps)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Lower <= c.want+1e-12 && c.want <= iv.Upper+1e-12 && iv.Upper-iv.Lower < 1e-3) {
			t.Errorf("ε = %v: [%v, %v], want %v within 1e-3", c.eps, iv.Lower, iv.Upper, c.want)
		}
	}
}

// TestInterleaved: a fixed step beside an adaptive part, at whatever time, costs at most the product, which is reached where it runs first. By hand, RR(1) and then
// one unit of the menu: pR_1(1) + (1−p)R_1(e²) at ε = 1.
func TestInterleaved(t *testing.T) {
	a := adaptivePlan(t, "  - {"+twoTypes+"}\n  - {mechanism: {finite: {p: [P, Q], q: [Q, P]}}}\n")
	iv, err := a.Delta(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	p := math.E / (1 + math.E)
	r1 := func(alpha float64) float64 { // the larger of the profiles of the two types
		return max(0.1+0.9*max(0, 1-alpha), p*max(0, 1-alpha/math.E)+(1-p)*max(0, 1-alpha*math.E))
	}
	want := p*r1(1) + (1-p)*r1(math.E*math.E)
	if math.Abs(iv.Upper-want) > 1e-6 || iv.Lower > want {
		t.Errorf("[%v, %v], want %v", iv.Lower, iv.Upper, want)
	}
}

// TestMenuChargedAs: a plan is charged as the cheapest type that dominates it in a listed family, and as none where no parameter says so.
func TestMenuChargedAs(t *testing.T) {
	m, err := plan.ParseMenu(t.Context(), []byte(`neighbors: add-remove
budget: {units: 9}
menu:
  - {name: dear, cost: 5, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.1}}, count: 10}]}
  - {name: cheap, cost: 2, steps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.1}}, count: 10}]}
  - {name: laplace, cost: 1, steps: [{mechanism: {laplace: {noise-multiplier: 3}}}]}
  - {name: pure, cost: 1, steps: [{mechanism: {pure: {epsilon: 0.5}}}, {mechanism: {laplace: {noise-multiplier: 30}}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[string]string{
		`{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.1}}, count: 10}`:                          "cheap",
		`{mechanism: {gaussian: {noise-multiplier: 1.9}}, sampling: {poisson: {rate: 0.05}}, count: 2}`:                        "dear",
		`{mechanism: {gaussian: {noise-multiplier: 0.9}}, sampling: {poisson: {rate: 0.05}}, count: 2}`:                        "",
		`{mechanism: {gaussian: {noise-multiplier: 5}}, sampling: {poisson: {rate: 0.11}}}`:                                    "",
		`{mechanism: {gaussian: {noise-multiplier: 5}}, sampling: {poisson: {rate: 0.1}}, count: 11}`:                          "",
		`{mechanism: {gaussian: {noise-multiplier: 5}}}`:                                                                       "",
		`{mechanism: {laplace: {noise-multiplier: 3.5}}}`:                                                                      "laplace",
		`{mechanism: {laplace: {noise-multiplier: 3.5}}, count: 2}`:                                                            "",
		`{mechanism: {laplace: {noise-multiplier: 3.5}}}, {mechanism: {laplace: {noise-multiplier: 4}}}`:                       "",
		`{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.05}}, count: 10}`:                         "cheap",
		`{mechanism: {pure: {epsilon: 0.5}}}, {mechanism: {laplace: {noise-multiplier: 30}}}`:                                  "pure",
		`{mechanism: {pure: {epsilon: 0.4}}}`:                                                                                  "",
		`{mechanism: {discrete-gaussian: {noise-multiplier: 9}}, sampling: {poisson: {rate: 0.1}}}`:                            "",
		`{mechanism: {gaussian: {noise-multiplier: 5}}, sampling: {truncated-poisson: {population: 100, rate: 0.1, cap: 20}}}`: "",
	} {
		p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: ["+steps+"]\n"))
		if err != nil {
			t.Fatalf("%s: %v", steps, err)
		}
		if got, err := m.ChargedAs(p); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q (%v), want %q", steps, got, err, want)
		}
	}
	// A type of two norms stands for itself alone: its multiplier is over one of them.
	two, err := plan.ParseMenu(t.Context(), []byte(`neighbors: add-remove
budget: {units: 9}
menu:
  - {name: small, cost: 1, steps: [{mechanism: {laplace: {noise-multiplier: 1, l2-sensitivity: 0.05}}}]}
  - {name: sampled, cost: 1, steps: [{mechanism: {laplace: {noise-multiplier: 1, l2-sensitivity: 0.05}}, sampling: {poisson: {rate: 0.1}}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[string]string{
		`{mechanism: {laplace: {noise-multiplier: 1, l2-sensitivity: 0.05}}}`:                                "small",
		`{mechanism: {laplace: {noise-multiplier: 1}}}`:                                                      "",
		`{mechanism: {laplace: {noise-multiplier: 1, l2-sensitivity: 1}}}`:                                   "",
		`{mechanism: {laplace: {noise-multiplier: 2, l2-sensitivity: 0.1}}}`:                                 "",
		`{mechanism: {laplace: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.1}}}`:                    "",
		`{mechanism: {laplace: {noise-multiplier: 1, l2-sensitivity: 1}}, sampling: {poisson: {rate: 0.1}}}`: "",
	} {
		p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: ["+steps+"]\n"))
		if err != nil {
			t.Fatalf("%s: %v", steps, err)
		}
		if got, err := two.ChargedAs(p); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q (%v), want %q", steps, got, err, want)
		}
	}
	p, _ := plan.Parse(t.Context(), []byte("neighbors: zero-out\nsteps: [{mechanism: {laplace: {noise-multiplier: 3.5}}}]\n"))
	if _, err := m.ChargedAs(p); err == nil {
		t.Error("another relation is charged")
	}
}

// TestAdaptiveHasNoRenyiCurve: the comparison says why the Rényi accountant has nothing to say of an adaptive step.
func TestAdaptiveHasNoRenyiCurve(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps: [{adaptive: {units: 4, menu: [{name: a, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: 5}}}]}]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Compare(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	const want = "steps[0]: mechanism: adaptive has no Rényi curve: what is proved of it is δ at each ε, for the Fourier accountant"
	said := 0
	for _, r := range rows {
		if strings.HasPrefix(r.Method, "RDP") {
			if said++; r.Kind != accountant.NotApplicable || r.Note != want {
				t.Errorf("%s: %v %q, want %q", r.Method, r.Kind, r.Note, want)
			}
		}
	}
	if said != 2 {
		t.Errorf("%d rows of the Rényi accountant, want 2", said)
	}
}

// TestMenuErrors: what is wrong with a menu has its line and field.
func TestMenuErrors(t *testing.T) {
	const head = "neighbors: add-remove\n"
	one := "\nmenu: [{name: a, steps: [{mechanism: {pure: {epsilon: 1}}}]}]\n"
	for text, want := range map[string]string{
		"":                                               "is empty; a menu has the keys",
		head + "budget: {units: 3}\n":                    "menu is missing; must be a list of types",
		head + "budget: {units: 3}\nmenu: []\n":          "menu: an empty list is not a list of at least one type",
		head + "budget: {units: 0}" + one:                "budget.units: 0 is not a whole number in [1, 100000]",
		head + "budget: {units: 100001}" + one:           "budget.units: 100001 is not a whole number in [1, 100000]",
		head + "budget: {epsilon: 1}" + one:              "budget: has neither units nor both epsilon and delta",
		head + "budget: {epsilon: 1, units: 3}" + one:    "budget.units: is set beside epsilon",
		head + "budget: {epsilon: -1, delta: 0.1}" + one: "budget.epsilon: -1 is not in (0, 10000]",
		head + "budget: {epsilon: 1, delta: 1}" + one:    "budget.delta: 1 is not in [1e-200, 1)",
		head + "budget: {units: 3}\nlevels: 0" + one:     "levels: 0 is not a whole number in [1, 1000]",
		head + "budget: {units: 3}\nlevel: 1" + one:      `unknown key "level"; did you mean "levels"?`,
		head + "budget: {units: 3}\nmenu: [{steps: [{mechanism: {pure: {epsilon: 1}}}]}]":                     "name is missing; must be a text",
		head + "budget: {units: 3}\nmenu: [{name: a, cost: 1.5, steps: [{mechanism: {pure: {epsilon: 1}}}]}]": "menu[0].cost: 1.5",
		head + "budget: {units: 3}\nmenu: [{name: a, steps: []}]":                                             "menu[0].steps: is empty",
		"neighbors: both\nbudget: {units: 3}" + one:                                                           `neighbors: "both" is not a relation`,
	} {
		if _, err := plan.ParseMenu(t.Context(), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	m, err := plan.ParseMenu(t.Context(), []byte(head+"budget: {units: 3}\nmenu: [{name: a, steps: [{partition: fixed, disjoint: [{mechanism: {pure: {epsilon: 1}}}, {mechanism: {pure: {epsilon: 2}}}]}]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Price(t.Context()); err == nil || !strings.Contains(err.Error(), "menu[0]: steps: have disjoint branches") {
		t.Errorf("disjoint branches: %v", err)
	}
	for steps, want := range map[string]string{
		`{adaptive: {units: 3}}`: "menu is missing",
		`{adaptive: {menu: []}}`: "units is missing",
		`{adaptive: {units: 3, menu: []}, mechanism: {pure: {epsilon: 1}}}`: "mechanism: is set beside adaptive",
	} {
		if _, err := plan.Parse(t.Context(), []byte(head+"steps: ["+steps+"]\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", steps, err, want)
		}
	}
}

// TestAdaptivePartBesideOthers: a plan of fixed steps and one adaptive part costs what the best analyst reaches who sees the fixed steps first, enumerated
// by the best next type after each transcript.
func TestAdaptivePartBesideOthers(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps:\n  - {mechanism: {pure: {epsilon: 0.4}}, count: 2}\n  - adaptive:\n      units: 7\n      menu:\n"+
		"        - {name: a, cost: 3, steps: [{mechanism: {pure: {epsilon: 0.71}}}]}\n        - {name: b, cost: 1, steps: [{mechanism: {approximate: {epsilon: 0.2, delta: 0.001}}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant()
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	outcomes := func(eps, delta float64) [][2]float64 {
		likely := (1 - delta) / (1 + math.Exp(-eps))
		return [][2]float64{{likely, likely * math.Exp(-eps)}, {likely * math.Exp(-eps), likely}, {delta, 0}, {0, delta}}
	}
	types := []struct {
		cost     int
		outcomes [][2]float64
	}{{3, outcomes(0.71, 0)}, {1, outcomes(0.2, 0.001)}}
	var best func(p, q float64, units int) float64
	for _, eps := range []float64{0.1, 0.5, 1.2, 2} {
		best = func(p, q float64, units int) float64 {
			most := max(0, p-math.Exp(eps)*q)
			for _, x := range types {
				if x.cost > units {
					continue
				}
				sum := 0.0
				for _, o := range x.outcomes {
					if p*o[0] > 0 {
						sum += best(p*o[0], q*o[1], units-x.cost)
					}
				}
				most = max(most, sum)
			}
			return most
		}
		truth := 0.0
		for _, x := range outcomes(0.4, 0) {
			for _, y := range outcomes(0.4, 0) {
				if x[0]*y[0] > 0 {
					truth += best(x[0]*y[0], x[1]*y[1], 7)
				}
			}
		}
		iv, err := a.Delta(t.Context(), eps)
		if err != nil || !(iv.Lower <= truth*(1+1e-12) && iv.Upper >= truth*(1-1e-12)) || iv.Upper > truth*(1+1e-6) || iv.Lower < 0.96*truth {
			t.Errorf("ε = %v: δ in [%v, %v], enumerated %v (%v)", eps, iv.Lower, iv.Upper, truth, err)
		}
	}
}

// Bounded losses beside far ones: tilted by the slope of δ next to the largest loss, a transform's errors reach 1 at ε = 0, and
// levels carry them on. There was no finite upper end at all. Alone, the bounded type costs as much.
func TestAdaptivePartOfBoundedAndFarLosses(t *testing.T) {
	slow.Test(t)
	bounded := "        - {name: a, cost: 1, steps: [{mechanism: {exponential: {epsilon: 0.335488931902453}}}]}\n"
	far := "        - {name: b, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.0001}}}]}\n"
	ask := func(types string) (lower, upper float64) {
		p, err := plan.Parse(t.Context(), []byte("neighbors: zero-out\nsteps:\n  - adaptive:\n      units: 7\n      menu:\n"+types))
		if err != nil {
			t.Fatal(err)
		}
		a := p.Accountant(accountant.Options{Accuracy: 1e-2})
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 3.29e-7)
		if err != nil {
			t.Fatal(err)
		}
		return iv.Lower, iv.Upper
	}
	least, one := ask(bounded)
	lower, both := ask(bounded + far)
	if !(lower > 0.99*least && both >= least && both <= 1.01*one) {
		t.Errorf("[%v, %v], and [%v, %v] with the bounded type alone", lower, both, least, one)
	}
}

// A plan that is one adaptive part is answered by the menu itself: chords left an interval of .0072, with a warning.
func TestOneAdaptivePartIsItsMenu(t *testing.T) {
	p, err := plan.Parse(t.Context(), []byte("neighbors: add-remove\nsteps:\n  - adaptive:\n      units: 3\n      menu:\n"+
		"        - {name: a, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: 2}}}]}\n        - {name: b, cost: 1, steps: [{mechanism: {laplace: {noise-multiplier: 2}}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Accountant()
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil || !(iv.Upper-iv.Lower <= 1e-3*iv.Upper && iv.Lower <= 3.70966 && 3.70965 <= iv.Upper) || len(iv.Warnings) > 0 {
		t.Errorf("[%v, %v], %q, %v", iv.Lower, iv.Upper, iv.Warnings, err)
	}
	d, err := a.Delta(t.Context(), iv.Upper)
	if err != nil || !(d.Upper-d.Lower <= 1e-3*d.Upper && d.Lower <= 1e-5 && 1e-5 <= 1.001*d.Upper) {
		t.Errorf("δ in [%v, %v], %q, %v", d.Lower, d.Upper, d.Warnings, err)
	}
}

// TestMenuWhoseUnitsAllowNothing: a part that cannot run shows nothing, whatever is in its menu: ε is log(1 − δ), also where δ is subnormal, and 0 at δ = 0;
// beside other steps it costs nothing.
func TestMenuWhoseUnitsAllowNothing(t *testing.T) {
	const part = "  - {adaptive: {units: 1, menu: [{name: a, cost: 2, steps: [{mechanism: {finite: {p: [0, 0.75, 0.25], q: [7e-301, 0.5, 0.5]}}}]}]}}\n"
	const other = "  - {mechanism: {laplace: {noise-multiplier: 2}}}\n"
	for _, c := range []struct {
		steps       string
		delta, want float64
	}{{part, 0.1, math.Log(0.9)}, {part, 4e-319, -4e-319}, {part, 0, 0}, {part + other, 0, 0.5}} {
		iv, err := adaptivePlan(t, c.steps).Epsilon(t.Context(), c.delta)
		if err != nil || !(iv.Lower <= c.want && c.want <= iv.Upper && iv.Upper-iv.Lower <= 1e-12*math.Abs(c.want)+1e-322) || len(iv.Warnings) > 0 {
			t.Errorf("at δ = %v: [%v, %v], %q, %v, want %v", c.delta, iv.Lower, iv.Upper, iv.Warnings, err, c.want)
		}
	}
}
