package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDeltaCmd() *cobra.Command {
	var flags answerFlags
	var method string
	var epsilons string
	cmd := &cobra.Command{
		Use:   "delta --epsilon 2[,3…] plan.yaml",
		Short: "Tell the δ of a plan at one or several ε",
		Long: `delta tells, for each ε, the smallest δ for which everything in the plan
together is (ε, δ)-differentially private. The plan file is YAML or JSON; -
reads standard input.`,
		Example: `  accountant delta --epsilon 2 examples/dpsgd.yaml
  accountant delta --epsilon 1,2,4 --json - < plan.yaml`,
		Args: planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			es, err := parseNumbers("epsilon", epsilons, epsilonRange)
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if err := chosenAccountant(method); err != nil {
				return err
			}
			plan, err := readPlan(cmd, args[0])
			if err != nil {
				return err
			}
			if method == rdpAccountant {
				if err := answerRDP(cmd, plan, "δ", es, flags.json); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return nil
			}
			acct, err := newAccountant(plan, opts)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			answers, err := askDelta(acct, es)
			if err != nil {
				return err
			}
			return printAnswers(cmd, plan.Neighbors, answers, flags)
		},
	}
	cmd.Flags().StringVar(&epsilons, "epsilon", "", "one or several `ε`, with commas between them (required)")
	_ = cmd.MarkFlagRequired("epsilon")
	cmd.Flags().StringVar(&method, "accountant", fourierAccountant, "`method`: fourier, or rdp for a looser upper bound by Rényi accounting")
	flags.register(cmd)
	return cmd
}
