package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
)

func selectRun(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, _, err := execute(newSelectCmd(), args...)
	return out, err
}

func selectLaws(t *testing.T, args ...string) map[string]service.SelectedLaw {
	t.Helper()
	text, err := selectRun(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var out service.SelectAnswer
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	rows := map[string]service.SelectedLaw{}
	for _, r := range out.Laws {
		rows[r.Law] = r
	}
	return rows
}

func selectNear(t *testing.T, what string, got *float64, want, tol float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > tol*math.Abs(want) {
		t.Errorf("%s = %v, want %v", what, dashed(got, short), want)
	}
}

func TestSelectPure(t *testing.T) {
	slow.Test(t)
	// selection.md §5.3: ε₁ = 1, γ = 0.01, geometric; Poisson(10).
	rows := selectLaws(t, "--candidate-epsilon", "1", "--mean", "100", "--law", "geometric")
	r := rows["geometric"]
	selectNear(t, "tight", r.Epsilon.Tight, 2.95370423426358, 1e-13)
	selectNear(t, "Papernot–Steinke", r.Epsilon.PapernotSteinke, 3, 1e-13)
	selectNear(t, "paper", r.Epsilon.Paper, 3, 1e-13)
	selectNear(t, "gamma", r.Gamma, 0.01, 1e-13)
	selectNear(t, "miss 1 %", &r.Miss1, 0.01*0.99/(1-0.99*0.99), 1e-12)
	selectNear(t, "miss 5 %", &r.Miss5, 0.01*0.95/(1-0.99*0.95), 1e-12)
	if r.Delta != 0 {
		t.Errorf("δ = %v, want 0", r.Delta)
	}
	rows = selectLaws(t, "--candidate-epsilon", "1")
	if len(rows) != 4 || rows["poisson"].Shape != nil || rows["poisson"].Epsilon.PapernotSteinke != nil {
		t.Errorf("the default laws: %+v", rows)
	}
	selectNear(t, "Poisson", rows["poisson"].Epsilon.Tight, 5.62117157260009759, 1e-13)
	// A δ buys something for pure candidates too.
	with := selectLaws(t, "--candidate-epsilon", "1", "--delta", "1e-3", "--law", "geometric")
	if len(with) != 1 {
		t.Fatalf("one law asked for, %d answered", len(with))
	}
	for law, r := range with {
		if !(*r.Epsilon.Tight <= *rows[law].Epsilon.Tight) || r.Delta != 1e-3 {
			t.Errorf("%s: %v at δ = 1e-3, %v at 0", law, *r.Epsilon.Tight, *rows[law].Epsilon.Tight)
		}
	}
}

func TestSelectApproximate(t *testing.T) {
	// selection.md §5.4.
	r := selectLaws(t, "--candidate-epsilon", "1", "--candidate-delta", "1e-6", "--mean", "10", "--law", "geometric")["geometric"]
	selectNear(t, "tight", r.Epsilon.Tight, 2.59134086986481, 1e-12)
	selectNear(t, "δ", &r.Delta, 9.99991000080999e-6, 1e-12)
	if r.Epsilon.Paper != nil {
		t.Errorf("paper: %v, want none", *r.Epsilon.Paper)
	}
	// At a δ below E[K]·δ₁ nothing can be certified.
	r = selectLaws(t, "--candidate-epsilon", "1", "--candidate-delta", "1e-6", "--law", "geometric", "--delta", "1e-7")["geometric"]
	if r.Epsilon.Tight != nil {
		t.Errorf("ε at δ = 1e-7: %v, want none", *r.Epsilon.Tight)
	}
}

const selectDPSGD = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 1}}
    sampling: {poisson: {rate: 0.01}}
    count: 1000
`

func TestSelectPlan(t *testing.T) {
	slow.Test(t)
	path := filepath.Join(t.TempDir(), "dpsgd.yaml")
	if err := os.WriteFile(path, []byte(selectDPSGD), 0o600); err != nil {
		t.Fatal(err)
	}
	// selection.md §5.8; its base δ comes from another accountant, to 1e-3.
	rows := selectLaws(t, "--plan", path, "--law", "geometric,logarithmic", "--mean", "100", "--delta", "1e-5")
	for _, c := range []struct {
		law          string
		tight, peers float64
	}{
		{"geometric", 3.4797, 5.2700216080110405}, // selection-exact.md, section 0
		{"logarithmic", 0, 4.30116943987793},
	} {
		r := rows[c.law]
		if c.tight > 0 {
			selectNear(t, c.law+" tight", r.Epsilon.Tight, c.tight, 1e-3)
		}
		// The ends meet, below the 3.40953 of §5.8 for the logarithmic law.
		if lo, hi := *r.Epsilon.Lower, *r.Epsilon.Tight; !(lo <= hi && hi < lo+1e-3) || c.tight == 0 && hi > 3.40953 {
			t.Errorf("%s: [%v, %v]", c.law, lo, hi)
		}
		// Theirs minimises over a list of orders, ours over all: at most as large.
		if p := r.Epsilon.PapernotSteinke; p == nil || !(*p <= c.peers*(1+1e-6) && *p > 0.97*c.peers) {
			t.Errorf("%s Papernot–Steinke = %v, want about %v", c.law, dashed(p, short), c.peers)
		}
	}
	text, err := selectRun(t, "--plan", path, "--delta", "1e-5", "--law", "negative-binomial,geometric")
	if err != nil || strings.Count(text, "\n") != 4 || !strings.Contains(text, "no guarantee") ||
		!strings.Contains(text, " 2.6205") || !strings.Contains(text, " 2.6755") {
		t.Errorf("table: %v\n%s", err, text)
	}
}

// TestSelectInterval: both ends are there, the lower one never below one run's cost, and the
// first above a threshold costs less than the best.
func TestSelectInterval(t *testing.T) {
	slow.Test(t)
	args := []string{"--candidate-epsilon", "1", "--law", "geometric", "--delta", "1e-5"}
	best := selectLaws(t, args...)["geometric"].Epsilon
	first := selectLaws(t, append(args, "--first-above")...)["geometric"].Epsilon
	// selection-exact.md, section 2: 2.58118 attained, U2 2.58132, U1 below the price 2.591345.
	if !(*best.Lower > 2.5811 && *best.Lower <= *best.Tight && *best.Tight < 2.591345) {
		t.Errorf("best: [%v, %v]", *best.Lower, *best.Tight)
	}
	// ε + t* = 1.795672 at δ = 0.
	if !(*first.Lower > 1.7 && *first.Lower <= *first.Tight && *first.Tight <= 1.7956721) {
		t.Errorf("first above: [%v, %v]", *first.Lower, *first.Tight)
	}
	if _, err := selectRun(t, "--candidate-epsilon", "1", "--law", "poisson", "--first-above"); err == nil || !strings.Contains(err.Error(), "not geometric") {
		t.Errorf("a Poisson law for a threshold: %v", err)
	}
	if rows := selectLaws(t, "--candidate-epsilon", "1", "--first-above"); len(rows) != 1 {
		t.Errorf("%d laws by default", len(rows))
	}
}

func TestSelectInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "missing --plan (or --candidate-epsilon)"},
		{[]string{"x"}, "flags only"},
		{[]string{"--plan", "p", "--candidate-epsilon", "1"}, "exclude each other"},
		{[]string{"--plan", "p"}, "--plan needs --delta"},
		{[]string{"--plan", "/does/not/exist", "--delta", "1e-5"}, "no such file"},
		{[]string{"--candidate-epsilon", "-1"}, "candidate-epsilon: -1 is not in [0, "},
		{[]string{"--candidate-epsilon", "NaN"}, "candidate-epsilon: NaN is not in [0, "},
		{[]string{"--candidate-epsilon", "1", "--candidate-delta", "1"}, "candidate-delta: 1 is not in [0, 1)"},
		{[]string{"--candidate-epsilon", "1", "--delta", "1"}, "--delta: 1 is not in (0, 1)"},
		{[]string{"--candidate-epsilon", "1", "--mean", "0.5"}, "--mean: 0.5 is not in [1, "},
		{[]string{"--candidate-epsilon", "1", "--law", "normal"}, "--law: \"normal\" is not geometric, "},
		{[]string{"--candidate-epsilon", "1", "--law", "negative-binomial", "--shape", "-1"}, "--shape: -1 is not in (-1, "},
		{[]string{"--candidate-epsilon", "1", "--max", "-3"}, "--max: -3 is not in [1, "},
		{[]string{"--candidate-epsilon", "1", "--law", "binomial"}, "--max: is missing"},
	} {
		text, err := selectRun(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q", c.args, err, c.want)
		}
		if text != "" {
			t.Errorf("%q prints %q", c.args, text)
		}
	}
}

// The price that select tells for a plan is the one that a plan pays which says
// selection: around it. As a profile it is rounded up to chords, 1e-3 of ε, and
// the interval adds as much. (For Poisson laws select also tries the way through
// Rényi curves, which gives no profile, and can be below the step.)
func TestSelectAgreesWithPlanStep(t *testing.T) {
	slow.Test(t)
	const run = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: 20}}
    count: 100
`
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(run), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := selectLaws(t, "--plan", path, "--delta", "1e-5", "--mean", "10", "--law", "geometric,logarithmic,poisson")
	for _, law := range []string{"geometric", "logarithmic", "poisson"} {
		step := strings.Replace(run, "  - mechanism", "  - selection: {law: "+law+", mean: 10}\n    steps:\n    - mechanism", 1)
		step = strings.Replace(step, "    count", "      count", 1)
		code, stdout, stderr := command(step, "epsilon", "--delta", "1e-5", "--json", "-")
		if code != 0 {
			t.Fatalf("%d %s", code, stderr)
		}
		var out struct {
			Results []struct{ Epsilon struct{ Upper float64 } }
		}
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		got := out.Results[0].Epsilon.Upper
		if law == "poisson" && got > *rows[law].Epsilon.Tight {
			continue
		}
		selectNear(t, law, &got, *rows[law].Epsilon.Tight, 2e-3)
	}
}

// Where no more than selectLeast is left of δ, no work goes into how much it is: four
