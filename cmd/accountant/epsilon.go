package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newEpsilonCmd() *cobra.Command {
	var flags answerFlags
	var method string
	var deltas string
	cmd := &cobra.Command{
		Use:   "epsilon --delta 1e-5[,1e-6…] plan.yaml",
		Short: "Tell the ε of a plan at one or several δ",
		Long: `epsilon tells, for each δ, the smallest ε for which everything in the plan
together is (ε, δ)-differentially private. The plan file is YAML or JSON; -
reads standard input.`,
		Example: `  accountant epsilon --delta 1e-5 examples/dpsgd.yaml
  accountant epsilon --delta 1e-5,1e-6 --json - < plan.yaml`,
		Args: planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			ds, err := parseNumbers("delta", deltas, deltaRange)
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
				if err := answerRDP(cmd, plan, "ε", ds, flags.json); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return nil
			}
			acct, err := newAccountant(plan, opts)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			answers, err := askEpsilon(acct, ds)
			if err != nil {
				return err
			}
			return printAnswers(cmd, plan.Neighbors, answers, flags)
		},
	}
	cmd.Flags().StringVar(&deltas, "delta", "", "one or several `δ`, with commas between them (required)")
	_ = cmd.MarkFlagRequired("delta")
	cmd.Flags().StringVar(&method, "accountant", fourierAccountant, "`method`: fourier, or rdp for a looser upper bound by Rényi accounting")
	flags.register(cmd)
	return cmd
}
