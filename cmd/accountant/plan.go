package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// This file has the commands about the text of a plan, which ask for no privacy.

func newPlanCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Make, check, tidy or convert the text of a plan",
		Long: `plan works on the text of a plan. It computes no privacy: for that see epsilon,
delta and the others, which read the same files.`,
		Example: `  accountant plan init plan.yaml
  accountant plan check examples/dpsgd.yaml
  accountant plan convert events.json
  accountant plan convert --to events examples/dpsgd.yaml`,
		Args: needCommand,
		RunE: missingCommand,
	}
	cmd.AddCommand(newPlanInitCmd(), newPlanCheckCmd(), newPlanFmtCmd(), newPlanSchemaCmd(), newPlanConvertCmd())
	return cmd
}

func newPlanConvertCmd() *cobra.Command {
	var out output
	var q service.ConvertRequest
	cmd := &cobra.Command{
		Use:   "convert plan.yaml|events.json",
		Short: "Write a plan as events of dp_accounting, or such events as a plan",
		Long: `convert reads a plan, or a DpEvent of Google's dp_accounting as JSON (what its
to_named_tuple has, as nested objects), and writes the other one to standard output.
All commands that read plans read such events as they are.

What the other side has no word for is refused by name. Events do not name the
neighbouring relation: one alone is under add-remove, and a plan under substitute
becomes {"neighbors": "substitute", "event": …}. Names of steps are left out of events.
- reads standard input.`,
		Example: `  accountant plan convert events.json > plan.yaml
  accountant plan convert --to events examples/dpsgd.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := askPlan(cmd, "converting", (*service.Service).Convert, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
				_, err := io.WriteString(w, a.Text)
				return err
			})
		},
	}
	addChoice(cmd, &q.To, "to", "`format` to write: plan or events (default: the one that the file is not in)", "plan", "events")
	out.register(cmd)
	return cmd
}
