package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

func runMajorityCmd(args ...string) (string, error) {
	out, _, err := execute(newMajorityCmd(), args...)
	return out, err
}

func TestMajorityJSON(t *testing.T) {
	for _, c := range []struct {
		args      string
		objective float64
		gamma6    float64
		errors    map[string]float64
	}{
		// darrm.md §11.3, K = 11, m = 3; errors are ½(Σc − V).
		{"--allowance 3", 0.848432873825749989, 0.707815009560151016, map[string]float64{
			"chosen": (0.931344985961914 - 0.848432873825749989) / 2, "double": (0.931344985961914 - 0.79296875) / 2, "subsampling": (0.931344985961914 - 0.6875) / 2}},
		{"--allowance 3 --monotone=false", 0.848732939364406901, 0.939702612174768737, nil},
		{"--allowance 3 --delta-each 1e-5", 0.848484458154536835, 0.707668303478060201, nil},
		{"--allowance 3 --gamma double", 0.79296875, 50. / 231, nil},
		{"--allowance 3 --gamma subsampling", 0.6875, 5. / 33, nil},
		// darrm.md §11.5
		{"--allowance 3 --gamma constant", 0.87198624440885206 * 0.931344985961914, 0.87198624440885206, nil},
		{"--allowance 6", 0.931344985961914, 1, nil},
		{"--allowance 1 --disjoint-shards", 0.931344985961914, 1, nil},
	} {
		out, err := runMajorityCmd(append([]string{"--mechanisms", "11", "--epsilon", "0.1", "--json"}, strings.Fields(c.args)...)...)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var a service.MajorityAnswer
		if err := decodeOne(out, &a); err != nil {
			t.Fatal(err)
		}
		if len(a.Gamma) != 12 || math.Abs(a.Gamma[6]-c.gamma6) > 2e-10 || math.Abs(a.Objective-c.objective) > 1e-11 || !a.Certified || !(a.MaxF <= a.BudgetF) {
			t.Errorf("%s: %s", c.args, out)
		}
		for name, want := range c.errors {
			if math.Abs(a.Error[name]-want) > 1e-11 {
				t.Errorf("%s: error of %s is %v, want %v", c.args, name, a.Error[name], want)
			}
		}
	}
}

func TestMajorityText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gamma.svg")
	out, err := runMajorityCmd("--mechanisms", "5", "--epsilon", "0.1", "--allowance", "2", "--plot", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(0.2, 0)-DP", "certified   true", "0.84650835"} {
		if !strings.Contains(out, want) {
			t.Errorf("the answer has no %q:\n%s", want, out)
		}
	}
	svg, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(svg, []byte("</svg>")) {
		t.Errorf("the plot is not an SVG: %v", err)
	}
}

func TestMajorityBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"--mechanisms 11 --epsilon NaN --allowance 3":                                                      "epsilon: NaN",
		"--mechanisms 11 --epsilon 0.1 --allowance 12":                                                     "allowance: 12",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --delta-each 2":                                       "--delta-each: 2",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --delta-each 0.1 --output-delta 0.01":                 "output-delta: 0.01",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --gamma best":                                         `gamma: "best"`,
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --objective x":                                        `objective: "x"`,
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --prior-mean 0.2":                                     "prior-mean: 0.2",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --prior 0.7":                                          "--prior: has 1 entries",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --prior 0.7,2":                                        "--prior: [0.7, 2] is not an interval in [0, 1]",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --prior 0.7,1 --samples 0":                            "--samples: 0 is not in",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --samples 9":                                          "--samples needs --prior",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --prior 0.7,1 --objective common-p":                   "--prior: is for two labels",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --plot x.doc":                                         `plot: "x.doc"`,
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --plot /nonexistent/x.svg":                            "nonexistent",
		"--mechanisms 101 --epsilon 0.1 --allowance 3 --delta-each 1e-5 --monotone=false":                  "mechanisms: 101",
		"--mechanisms 11 --epsilon 0.1 --allowance 3 --delta-each 1e-5 --output-delta 1e-5 --gamma double": "output-delta: 1e-05",
	} {
		out, err := runMajorityCmd(strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%s: error %v, want one with %q; printed %q", args, err, want, out)
		}
	}
}

// The error over a sampled prior is the least for the noise function that is optimal for it.
func TestMajorityPrior(t *testing.T) {
	chosen := func(args ...string) float64 {
		t.Helper()
		out, err := runMajorityCmd(append([]string{"--mechanisms", "11", "--epsilon", "0.1", "--allowance", "3", "--prior", "0.7,1", "--json"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var a struct{ Error map[string]float64 }
		if err := decodeOne(out, &a); err != nil {
			t.Fatal(err)
		}
		if want := a.Error["chosen"]; len(args) == 0 && !(want < a.Error["double"] && want < a.Error["constant"] && want < a.Error["subsampling"]) {
			t.Errorf("errors %v", a.Error)
		}
		return a.Error["chosen"]
	}
	best := chosen()
	if constant := chosen("--gamma", "constant"); !(best < constant) {
		t.Errorf("the optimum errs %v, a constant %v", best, constant)
	}
	// What a run at K = 11, m = 3 had, within the noise of 4,000 samples (its standard error is about 2 %).
	if !(best > 0.012 && best < 0.017) {
		t.Errorf("the optimum errs %v", best)
	}
}
