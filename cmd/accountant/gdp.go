package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newGDPCmd() *cobra.Command {
	var flags answerFlags
	var q service.GDPRequest
	cmd := &cobra.Command{
		Use:  "gdp",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			a, err := askPlan(cmd, "computing", (*service.Service).GDP, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			warnOf(cmd, a.Warnings)
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) {
				d := digitsFor(a.Mu)
				fmt.Fprintf(w, "neighbors: %s\n\n  %s ≤ μ ≤ %s at tolerance %s %s\n  regret ≤ %s\n", ofUnit(a.Neighbors, a.RecordsPerPerson),
					rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), short(a.Tolerance), titleOf(a.Mu), rounded(a.Regret.Upper, 3, up))
			})
		},
	}
	number(cmd.Flags(), &q.Tolerance, "tolerance", "1e-10", "`τ`, what the power of a test may be more than under μ-GDP")
	flags.registerPlain(cmd)
	cmd.AddCommand(newGDPSolveCmd())
	return cmd
}

func newGDPSolveCmd() *cobra.Command {
	var flags answerFlags
	var q service.GDPSolveRequest
	cmd := &cobra.Command{
		Use:  "solve",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			a, err := askPlan(cmd, "calibrating", (*service.Service).GDPSolve, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			warnOf(cmd, a.Warnings)
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) {
				fmt.Fprintf(w, "neighbors: %s\nbudget: μ ≤ %s at tolerance %s\n\n", ofUnit(a.Neighbors, a.RecordsPerPerson), short(a.Budget), short(a.Tolerance))
				for _, x := range a.Settings {
					fmt.Fprintf(w, "  %s %s: %s\n", x.Step, a.Solve, short(x.Value))
				}
				d := digitsFor(a.Mu)
				fmt.Fprintf(w, "  %s %s: %s ≤ μ ≤ %s %s\n", a.Solve, short(a.Value), rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), titleOf(a.Mu))
			})
		},
	}
	fs := cmd.Flags()
	number(fs, &q.Mu, "mu", "", "`μ` of the budget")
	number(fs, &q.ZCDP, "zcdp", "", "`ρ` of the budget, in place of --mu")
	number(fs, &q.Tolerance, "tolerance", "", "`τ`, as of gdp (default 1e-10)")
	addChoice(cmd, &q.Solve, "solve", "quantity to turn: noise-multiplier, count, rate or batch (required)", "noise-multiplier", "count", "rate", "batch")
	fs.StringVar(&q.Step, "step", "", "`name` or place of the step to turn, such as steps[0] (default: all that have the quantity)")
	number(fs, &q.Examples, "examples", "", "`size` of the data set, to turn the batch of Poisson sampling")
	flags.registerPlain(cmd)
	required(cmd, "solve")
	return cmd
}
