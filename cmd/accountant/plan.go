package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// This file has the commands about the text of a plan, which ask for no privacy.

func newPlanCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "plan",
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
		Use:  "convert",
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
