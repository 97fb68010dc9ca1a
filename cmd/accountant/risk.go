package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

func newRiskCmd() *cobra.Command {
	var flags answerFlags
	var rates, priors string
	cmd := &cobra.Command{
		Use:   "risk plan.yaml",
		Short: "Tell what an attacker can learn from a plan, in plain terms",
		Long: `risk tells how well the best attacker, who knows all records but one, can tell
two neighbouring data sets apart by everything that the plan releases: the
advantage over guessing, the true-positive rate at given false-positive rates,
and the probability to guess right when one of the two data sets has a given
prior probability.

Upper ends hold for every attacker; lower ends are reached by a known attack.
The plan file is YAML or JSON; - reads standard input.`,
		Example: `  accountant risk examples/dpsgd.yaml
  accountant risk --false-positives 1e-6,0.01 --priors 0.5 --json examples/dpsgd.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			fprs, err := parseNumbers("false-positives", rates, riskRange)
			if err != nil {
				return err
			}
			ps, err := parseNumbers("priors", priors, riskRange)
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			plan, err := readPlan(cmd, args[0])
			if err != nil {
				return err
			}
			risk, err := measured(cmd, "computing", func(m *meter) (risk accountant.Risk, err error) {
				acct, err := newAccountant(cmd.Context(), plan, append(opts, accountant.WithProgress(m.at)))
				if err != nil {
					return risk, fmt.Errorf("%s: %w", args[0], err)
				}
				return askRisk(cmd.Context(), acct, fprs, ps)
			})
			if err != nil {
				return err
			}
			warnRisk(cmd.ErrOrStderr(), risk)
			return flags.print(cmd.OutOrStdout(), newRiskJSON(plan.Neighbors, risk), func(w io.Writer) error {
				return printRisk(w, plan.Neighbors, risk)
			})
		},
	}
	cmd.Flags().StringVar(&rates, "false-positives", "0.001,0.01,0.1", "false-positive `rates`, with commas between them")
	cmd.Flags().StringVar(&priors, "priors", "0.5,0.1,0.01", "prior `probabilities`, with commas between them")
	flags.registerPlain(cmd)
	return cmd
}

var riskRange = interval{lo: 1e-290, hi: 1, openHi: true}

// registerPlain registers the flags of commands without a --verbose form.
func (f *answerFlags) registerPlain(cmd *cobra.Command) {
	var all cobra.Command
	f.register(&all)
	for _, name := range []string{"json", "csv", "accuracy", "memory", "work"} {
		cmd.Flags().AddFlag(all.Flags().Lookup(name))
	}
}

// The JSON of a risk. The order of the keys is part of the interface.
type (
	riskJSON struct {
		Neighbors    string          `json:"neighbors"`
		Advantage    riskValueJSON   `json:"advantage"`
		TruePositive []riskRateJSON  `json:"true-positive-rate"`
		Bayes        []riskPriorJSON `json:"bayes-success"`
		TheoryGap    bool            `json:"theory-gap,omitempty"`
		Warnings     []string        `json:"warnings,omitempty"`
	}
	riskValueJSON struct {
		boundsJSON
		WorstDirection string `json:"worst-direction"`
	}
	riskRateJSON struct {
		FalsePositive number `json:"false-positive-rate"`
		riskValueJSON
	}
	riskPriorJSON struct {
		Prior number `json:"prior"`
		riskValueJSON
	}
)

// rows has a row for each measure, and at says of which rate or prior.
func (r riskJSON) rows() any {
	type row struct {
		Neighbors string  `json:"neighbors"`
		Measure   string  `json:"measure"`
		At        *number `json:"at"`
		riskValueJSON
		TheoryGap bool `json:"theory-gap"`
	}
	rows := []row{{r.Neighbors, "advantage", nil, r.Advantage, r.TheoryGap}}
	for _, v := range r.TruePositive {
		rows = append(rows, row{r.Neighbors, "true-positive-rate", &v.FalsePositive, v.riskValueJSON, r.TheoryGap})
	}
	for _, v := range r.Bayes {
		rows = append(rows, row{r.Neighbors, "bayes-success", &v.Prior, v.riskValueJSON, r.TheoryGap})
	}
	return rows
}

// askRisk returns a risk whose ends are at least what guessing without the release
// attains: a certified lower end can be a little below.
func askRisk(ctx context.Context, acct *accountant.Accountant, rates, priors []float64) (accountant.Risk, error) {
	risk, err := acct.Risk(ctx, rates, priors)
	if err != nil {
		return risk, err
	}
	over := func(v *accountant.RiskValue, guess float64) {
		v.Lower, v.Estimate, v.Upper = max(v.Lower, guess), max(v.Estimate, guess), max(v.Upper, guess)
	}
	over(&risk.Advantage, 0)
	for i, v := range risk.TruePositive {
		over(&risk.TruePositive[i], v.At)
	}
	for i, v := range risk.Bayes {
		over(&risk.Bayes[i], max(v.At, 1-v.At))
	}
	return risk, nil
}

func newRiskJSON(r profiles.Relation, risk accountant.Risk) riskJSON {
	value := func(v accountant.RiskValue) riskValueJSON {
		return riskValueJSON{boundsJSON{number(v.Lower), number(v.Estimate), number(v.Upper)}, v.Direction}
	}
	out := riskJSON{Neighbors: r.String(), Advantage: value(risk.Advantage), TheoryGap: risk.TheoryGap, Warnings: riskWarnings(risk)}
	for _, v := range risk.TruePositive {
		out.TruePositive = append(out.TruePositive, riskRateJSON{number(v.At), value(v)})
	}
	for _, v := range risk.Bayes {
		out.Bayes = append(out.Bayes, riskPriorJSON{number(v.At), value(v)})
	}
	return out
}

// riskWarnings lists every warning once.
func riskWarnings(risk accountant.Risk) []string {
	var all []string
	seen := map[string]bool{}
	for _, list := range [][]accountant.RiskValue{{risk.Advantage}, risk.TruePositive, risk.Bayes} {
		for _, v := range list {
			for _, w := range v.Warnings {
				if !seen[w] {
					seen[w] = true
					all = append(all, w)
				}
			}
		}
	}
	return all
}

func warnRisk(w io.Writer, risk accountant.Risk) {
	for _, text := range riskWarnings(risk) {
		fmt.Fprintf(w, "%s%s\n", warning(w), oneLine(text))
	}
}

func printRisk(w io.Writer, r profiles.Relation, risk accountant.Risk) error {
	fmt.Fprintf(w, "neighbors: %v\n\n", r)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(what string, v accountant.RiskValue) {
		d := digitsFor(accountant.Interval{Lower: v.Lower, Upper: v.Upper})
		certified := fmt.Sprintf("%s … %s", rounded(v.Lower, d, down), rounded(v.Upper, d, up))
		if v.Lower == v.Upper {
			certified = short(v.Upper)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", what, certified, v.Direction)
	}
	fmt.Fprintf(tw, "  the best attacker's\tcertified\tworst direction\n")
	row("advantage", risk.Advantage)
	for _, v := range risk.TruePositive {
		row("true-positive rate at "+percent(v.At)+" false positives", v)
	}
	for _, v := range risk.Bayes {
		row("probability to guess right with prior "+percent(v.At), v)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if risk.TheoryGap {
		fmt.Fprint(w, gapNote)
	}
	fmt.Fprintln(w, "\nWithout the release: advantage 0, true-positive rate = false-positive rate, and\nright as often as the likelier data set comes up. The best attacker can always guess\nthat way, so that no end is below.")
	return nil
}

// percent writes a probability the way people say it.
func percent(p float64) string {
	if p < 1e-4 {
		return short(p)
	}
	return rounded(100*p, 6, near) + " %"
}
