package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newRiskCmd() *cobra.Command {
	var flags answerFlags
	var q service.RiskRequest
	var picture pictureFlags
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
			if err := picture.check(flags.output); err != nil {
				return err
			}
			q.Limits = flags.Limits
			risk, err := askPlan(cmd, "computing", (*service.Service).Risk, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			warnAll(cmd.ErrOrStderr(), risk.Warnings)
			return picture.show(cmd, flags.output, risk, func() figure.Picture { return riskPicture(risk) }, func(w io.Writer) error { return printRisk(w, risk) })
		},
	}
	numbers(cmd.Flags(), &q.FalsePositives, "false-positives", "0.001,0.01,0.1", "false-positive `rates`, with commas between them")
	numbers(cmd.Flags(), &q.Priors, "priors", "0.5,0.1,0.01", "prior `probabilities`, with commas between them")
	flags.registerPlain(cmd)
	picture.register(cmd, "the certified intervals", 17, 9)
	return cmd
}

// riskPicture has a row for each measure of the attack.
func riskPicture(risk service.RiskAnswer) figure.Picture {
	var rows []figure.Row
	add := func(name string, v service.RiskValue) {
		rows = append(rows, figure.Row{Name: name, Lower: float64(v.Lower), Upper: float64(v.Upper)})
	}
	add("advantage", risk.Advantage)
	for _, v := range risk.TruePositive {
		add("true positives at "+percent(float64(v.FalsePositive))+" false ones", v.RiskValue)
	}
	for _, v := range risk.Bayes {
		add("right with prior "+percent(float64(v.Prior)), v.RiskValue)
	}
	return figure.Rows("The best attacker, "+ofUnit(risk.Neighbors, risk.RecordsPerPerson), "probability (advantage: difference of two)", rows)
}

// registerPlain registers the flags of commands without a --verbose form.
func (f *answerFlags) registerPlain(cmd *cobra.Command) {
	var all cobra.Command
	f.register(&all)
	for _, name := range append(slices.Clone(forms), "accuracy", "memory", "work", "time-limit") {
		cmd.Flags().AddFlag(all.Flags().Lookup(name))
	}
	cmd.PreRun = all.PreRun
}

func printRisk(w io.Writer, risk service.RiskAnswer) error {
	fmt.Fprintf(w, "neighbors: %s\n\n", ofUnit(risk.Neighbors, risk.RecordsPerPerson))
	tw := newTable(w, 3, 0)
	row := func(what string, v service.RiskValue) {
		d := digitsFor(v.Bounds)
		certified := fmt.Sprintf("%s … %s", rounded(v.Lower, d, down), rounded(v.Upper, d, up))
		if v.Lower == v.Upper {
			certified = short(v.Upper)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", what, certified, v.WorstDirection)
	}
	fmt.Fprintf(tw, "  the best attacker's\t%s\tworst direction\n", titleOf(risk.Advantage.Bounds))
	row("advantage", risk.Advantage)
	for _, v := range risk.TruePositive {
		row("true-positive rate at "+percent(float64(v.FalsePositive))+" false positives", v.RiskValue)
	}
	for _, v := range risk.Bayes {
		row("probability to guess right with prior "+percent(float64(v.Prior)), v.RiskValue)
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
