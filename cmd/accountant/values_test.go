package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/internal/slow"
)

// validCalls are cheap calls of every command with flags; okPlan is on standard
// input.
var validCalls = []string{
	"epsilon --delta 1e-5 -",
	"delta --epsilon 1 -",
	"dpsgd --examples 100 --batch-size 10 --epochs 1 --noise-multiplier 5 --delta 1e-5",
	"risk --false-positives 0.1 --priors 0.5 -",
	"curve --points 3 --csv -",
	"sweep --delta 1e-5 --out sweep.csv gaussian.yaml",
	"profile --mechanism gaussian --noise-multiplier 1 --at 1",
	"sampling --population 100 --batch 10 --noise-multiplier 5 --steps 1 --recursion 0",
	"calibrate --epsilon 3 --delta 0 --solve count -",
	"compare --delta 1e-5 -",
	"query --budget 1 --count data.csv",
	"shuffle --users 100 --epsilon 1 --delta 1e-5",
	"release --sensitivity 1 laplace.yaml values.csv",
	"majority release --mechanisms 3 --epsilon 0.1 --allowance 1 ballots.csv",
	"select run --law fixed --max 1 echo 1",
	"matrix stream --clip 1 matrix.yaml values.csv",
	"sampling draw --population 10 sampled.yaml",
	"local run --mechanism k-rr --epsilon 1 --categories 3 values.csv messages.csv",
	"matrix optimize --strategy toeplitz --steps 4 --participation {single:true}",
	"filter menu.yaml",
	"plan check -",
	"plan fmt -",
	"plan schema",
	"plan convert -",
	"diff --delta 0.1 - gaussian.yaml",
	"gdp -",
	"gdp solve --mu 3 --solve noise-multiplier gaussian.yaml",
	"audit --design many-runs --delta 1e-5 scores.csv",
	"select --candidate-epsilon 1 --law geometric",
	"majority --mechanisms 3 --epsilon 0.1 --allowance 1",
	"pate synth --teachers 10 --classes 3 --queries 4 --out votes.csv",
	"pate analyze --votes votes.csv --mechanism gnmax --sigma2 40 --delta 1e-5 --orders 10 --price theorem6",
	"pate answer --votes votes.csv --mechanism gnmax --sigma2 40",
	"pate calibrate --votes votes.csv --mechanism gnmax --epsilon 5 --delta 1e-5",
	"pate smooth --votes votes.csv --mechanism gnmax --sigma2 40 --delta 1e-5 --order 10 --beta 0.01 --sigma-ss 5",
	"pate publish --votes votes.csv --mechanism gnmax --sigma2 40 --delta 1e-5 --order 10 --beta 0.02 --noise 0.15",
	"label --epsilon 1 --prior prior.csv",
	"label apply --epsilon 1 --prior prior.csv --in data.csv --out noisy.csv",
	"ledger init --epsilon 1000 --delta 0 new.ledger",
	"ledger log new.ledger", // before there are notes
	"ledger add new.ledger -",
	"ledger status new.ledger",
	"ledger fits --limit 2 new.ledger -",
	"ledger check new.ledger",
	"ledger checkpoint new.ledger",
	"ledger backup new.ledger copy.ledger",
	"explain poisson",
	"man pages",
	"version",
}

// TestFlagValues gives every flag of every command values that are not meant. There
// is an answer or one line that says what is wrong, and no panic.
func TestFlagValues(t *testing.T) {
	slow.Test(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"prior.csv": "label,weight\n0,1\n1,2\n", "data.csv": "label\n0\n1\n", "empty": "",
		"gaussian.yaml": "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}}]\n",
		"laplace.yaml":  "neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}}]\n",
		"sampled.yaml":  "neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.5}}}]\n",
		"matrix.yaml":   "neighbors: add-remove\nsteps: [{mechanism: {matrix: {noise-multiplier: 1, steps: 3, strategy: identity, participation: {epochs: 1}}}}]\n",
		"ballots.csv":   "1,1,0\n",
		"values.csv":    "0\n2\n1\n",
		"menu.yaml":     "neighbors: add-remove\nbudget: {units: 2}\nmenu: [{name: a, cost: 1, steps: [{mechanism: {pure: {epsilon: 1}}}]}]\n",
		"scores.csv":    "score,member\n1,1\n2,1\n0,0\n-1,0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	covered, tried := map[string]bool{}, map[string]int{}
	for _, line := range validCalls {
		args := strings.Fields(line)
		if code, _, stderr := command(okPlan, args...); code != 0 {
			t.Errorf("%s: %d, %s", line, code, stderr)
			continue
		}
		cmd, _, err := newRootCmd().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		covered[cmd.CommandPath()] = true
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			before := tried[f.Name+f.Usage]
			tried[f.Name+f.Usage]++
			for i, value := range []string{"", " ", "NaN", ".inf", "-1", "1e400", "1e-400", "0", "x\ny", "dir", "empty", "no/such", ",", "1,NaN"} {
				if before > 1 && (before+i)%4 != 0 && !slow.All() {
					continue // two commands with this flag have had them all
				}
				rest, words := without(args, "--"+f.Name), strings.Count(cmd.CommandPath(), " ")
				call := slices.Concat(rest[:words], []string{"--" + f.Name + "=" + value}, rest[words:])
				code, stdout, stderr := command(okPlan, call...)
				switch lines := strings.Count(stderr, "\n"); {
				case code == 0:
					if strings.Contains(stdout, "NaN") && !strings.Contains(value, "NaN") {
						t.Errorf("%q: NaN in %s", call, stdout)
					}
				case code != exitInput && code != exitUsage && code != exitInfeasible, lines != 1, !strings.HasPrefix(stderr, "accountant"), stdout != "":
					t.Errorf("%q: %d, %q, %q", call, code, stdout, stderr)
				}
			}
		})
	}
	root := newRootCmd()
	forEachCommand(root, func(c *cobra.Command) {
		if c.Runnable() && !c.HasSubCommands() && !covered[c.CommandPath()] && !strings.Contains(c.CommandPath(), "completion") && c.Name() != "help" && c.Name() != "serve" && c.CommandPath() != "accountant plan init" { // TestPlanInit
			t.Errorf("%s is not tried", c.CommandPath())
		}
	})
}

// without returns args without a flag and its value.
func without(args []string, flag string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] != flag:
			rest = append(rest, args[i])
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "--"):
			i++
		}
	}
	return rest
}
