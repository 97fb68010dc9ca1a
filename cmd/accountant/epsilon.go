package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
)

func newEpsilonCmd() *cobra.Command {
	return question{
		use:   "epsilon --delta 1e-5[,1e-6…] plan.yaml",
		short: "Tell the ε of a plan at one or several δ",
		long: `epsilon tells, for each δ, the smallest ε for which everything in the plan
together is (ε, δ)-differentially private. The plan file is YAML or JSON; -
reads standard input.`,
		example: `  accountant epsilon --delta 1e-5 examples/dpsgd.yaml
  accountant epsilon --delta 1e-5,1e-6 --json - < plan.yaml`,
		flag: "delta", symbol: "δ", allowed: deltaRange, told: "ε", ask: askEpsilon,
	}.command()
}

// A question asks a plan for one of ε and δ at values of the other.
type question struct {
	use, short, long, example string
	flag, symbol              string // of what is given
	allowed                   interval
	told                      string
	ask                       func(context.Context, *accountant.Accountant, []float64) ([]answer, error)
}

func (q question) command() *cobra.Command {
	var flags answerFlags
	var method, values string
	var recursion recursionFlag
	cmd := &cobra.Command{
		Use: q.use, Short: q.short, Long: q.long, Example: q.example,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := parseNumbers(q.flag, values, q.allowed)
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if opts, err = recursion.add(opts); err != nil {
				return err
			}
			plan, err := readPlan(cmd, args[0])
			if err != nil {
				return err
			}
			if method == rdpAccountant {
				if err := answerRDP(cmd, plan, q.told, at, flags.output); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return nil
			}
			answers, err := measured(cmd, "computing", func(m *meter) ([]answer, error) {
				acct, err := newAccountant(cmd.Context(), plan, append(opts, accountant.WithProgress(m.at)))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", args[0], err)
				}
				return q.ask(cmd.Context(), acct, at)
			})
			if err != nil {
				return err
			}
			return printAnswers(cmd, plan.Neighbors, answers, flags)
		},
	}
	cmd.Flags().StringVar(&values, q.flag, "", "one or several `"+q.symbol+"`, with commas between them (required)")
	_ = cmd.MarkFlagRequired(q.flag)
	method = fourierAccountant
	addChoice(cmd, &method, "accountant", "`method`: fourier, or rdp for a looser upper bound by Rényi accounting", fourierAccountant, rdpAccountant)
	flags.register(cmd)
	recursion.register(cmd, "2000", "takes seconds for 1000")
	return cmd
}
