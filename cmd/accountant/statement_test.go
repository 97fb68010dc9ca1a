package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestStatementAtTarget: what is stated of a calibrated run is what was asked for.
func TestStatementAtTarget(t *testing.T) {
	for _, target := range []float64{1e-4, 5e-3, 0.5} {
		code, stdout, stderr := command("", "dpsgd", "--examples", "60000", "--batch-size", "256", "--epochs", "1",
			"--target-epsilon", short(target), "--delta", "1e-5", "--json")
		if code != 0 {
			t.Fatal(stderr)
		}
		var answers struct {
			Results []struct {
				Results []struct {
					Epsilon struct{ Lower, Estimate, Upper float64 }
				}
				Statement string
			}
		}
		if err := json.Unmarshal([]byte(stdout), &answers); err != nil {
			t.Fatal(err)
		}
		got := answers.Results[0]
		e := got.Results[0].Epsilon
		if e.Upper > target || e.Lower > e.Estimate || e.Estimate > e.Upper || e.Lower < target*(1-1e-3) {
			t.Errorf("target %v: %+v", target, e)
		}
		text := strings.Join(strings.Fields(got.Statement), " ")
		_, after, _ := strings.Cut(text, "(ε = ")
		stated, _, _ := strings.Cut(after, ",")
		var x float64
		if err := json.Unmarshal([]byte(stated), &x); err != nil || x > target {
			t.Errorf("target %v: states ε = %s, %v", target, stated, err)
		}
	}
}

// TestStatementDoubts: a promise that is worth little carries a warning.
func TestStatementDoubts(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--examples 60000 --batch-size 256 --epochs 1 --noise-multiplier 1.1 --delta 1e-5", nil},
		{"--examples 1000 --batch-size 10 --epochs 1 --noise-multiplier 1.1 --delta 1e-3", []string{"δ = 0.001 is not below 1/1000", "accountant risk"}},
		{"--examples 1000 --batch-size 10 --epochs 1 --noise-multiplier 1.1 --delta 1e-5,0.5", []string{"δ = 0.5 is not below 1/1000"}},
		{"--examples 1000 --batch-size 1000 --epochs 1 --noise-multiplier 10 --delta 1e-5", []string{"sampling rate is 1"}},
		{"--examples 1000 --batch-size 1000 --epochs 100 --noise-multiplier 1 --delta 1e-2", []string{"is not below 1/1000", "is above 10", "by a factor", "accountant risk", "sampling rate is 1"}},
		{"--sampling-rate 1 --steps 10 --noise-multiplier 0.01 --delta 1e-2", []string{"is above 10", "beyond all bounds", "sampling rate is 1"}},
	} {
		code, stdout, stderr := command("", append([]string{"dpsgd"}, strings.Fields(c.args)...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		_, warned, _ := strings.Cut(stdout, "\nWarning:\n")
		warned, _, _ = strings.Cut(warned, "\nAssumed:\n")
		warned = strings.Join(strings.Fields(warned), " ")
		if (warned == "") != (len(c.want) == 0) {
			t.Errorf("%s: %s", c.args, warned)
		}
		for _, want := range c.want {
			if !strings.Contains(warned, want) {
				t.Errorf("%s: %q is not in %s", c.args, want, warned)
			}
		}
	}
}

// TestUses: a rate that is rounded to 64 bits does not make one use more.
func TestUses(t *testing.T) {
	for _, c := range []struct {
		args        string
		uses, steps int64
	}{
		{"--sampling-rate 0.004273504273504274 --steps 14040", 60, 14040}, // 1/234
		{"--sampling-rate 0.004273504273504274 --steps 14041", 61, 14041},
		{"--sampling-rate 0.0042735 --steps 14041", 61, 14041},
		{"--sampling-rate 0.3333333333333333 --steps 3", 1, 3},
		{"--sampling-rate 0.333333333333334 --steps 3", 2, 3},
		{"--sampling-rate 0.004273504273504274 --epochs 60", 60, 14040},
		{"--sampling-rate 0.0042735042735042735 --epochs 60", 60, 14040},
	} {
		code, stdout, stderr := command("", append([]string{"dpsgd", "--noise-multiplier", "10", "--delta", "1e-5", "--json"}, strings.Fields(c.args)...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		var answers struct {
			Results []struct {
				Steps int64
				Any   struct {
					Uses int64 `json:"uses-per-example"`
				} `json:"any-order"`
			}
		}
		if err := json.Unmarshal([]byte(stdout), &answers); err != nil || len(answers.Results) != 1 {
			t.Fatal(stdout, err)
		}
		if got := answers.Results[0]; got.Any.Uses != c.uses || got.Steps != c.steps {
			t.Errorf("%s: %+v; want %d uses in %d steps", c.args, got, c.uses, c.steps)
		}
	}
}

// TestFromZero: an ε below 0 is printed as 0, with the reason; a risk is never below
// that of guessing.
func TestFromZero(t *testing.T) {
	const plan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.25}}}]\n"
	code, stdout, stderr := command(plan, "epsilon", "--delta", "0.9,1e-5", "-")
	if code != 0 || strings.Contains(stdout, "-") && strings.Contains(stdout, "-2.3") || !strings.Contains(stdout, "ε = 0 ") || !strings.Contains(stderr, "ε is reported as 0") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(plan, "epsilon", "--delta", "0.9", "--json", "-")
	if code != 0 || strings.Contains(stdout, ": -") || !strings.Contains(stdout, "ε is reported as 0") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	// What holds in any order as well is said once, and one step is one.
	code, stdout, stderr = command("", "dpsgd", "--examples", "1000", "--batch-size", "10", "--epochs", "0.01", "--noise-multiplier", "30", "--delta", "0.9")
	if code != 0 || !strings.Contains(stdout, "sampling rate 0.01, 1 step; neighbors") || strings.Count(stderr, "ε is reported as 0") != 1 {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = command(plan, "risk", "--json", "--priors", "0.5,0.1,0.01,0.001", "-")
	if code != 0 {
		t.Fatal(stderr)
	}
	var risk struct {
		Bayes []struct{ Prior, Lower, Estimate, Upper float64 } `json:"bayes-success"`
	}
	if err := json.Unmarshal([]byte(stdout), &risk); err != nil || len(risk.Bayes) != 4 {
		t.Fatal(stdout, err)
	}
	for _, b := range risk.Bayes {
		if guess := max(b.Prior, 1-b.Prior); b.Lower < guess || b.Estimate < b.Lower || b.Upper < b.Estimate {
			t.Errorf("%+v: below %v", b, guess)
		}
	}
}
