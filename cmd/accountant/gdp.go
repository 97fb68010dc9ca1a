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
		Use:   "gdp plan.yaml",
		Short: "Tell how much Gaussian differential privacy (μ) a plan has",
		Long: `gdp tells the least μ for which every test with a false-positive rate x has at most
the power that it could have under μ-GDP, plus the tolerance τ. A τ belongs to every
such μ: without one, sampling makes no difference, as far out, where no δ matters, it
is invisible. τ may be 0 for Gaussian noise on the whole data set alone.

The regret is the most by which speaking of μ overstates δ. - reads standard input.`,
		Example: `  accountant gdp examples/dpsgd.yaml
  accountant gdp --tolerance 1e-6 --json examples/dpsgd.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			a, err := askPlan(cmd, "computing", (*service.Service).GDP, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			warnAll(cmd.ErrOrStderr(), a.Warnings)
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
				d := digitsFor(a.Mu)
				_, err := fmt.Fprintf(w, "neighbors: %s\n\n  %s ≤ μ ≤ %s at tolerance %s %s\n  regret ≤ %s\n", ofUnit(a.Neighbors, a.RecordsPerPerson),
					rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), short(a.Tolerance), titleOf(a.Mu), rounded(a.Regret.Upper, 3, up))
				return err
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
		Use:   "solve plan.yaml",
		Short: "Turn noise, count, rate or batch until a plan meets a budget in μ, or in ρ of zCDP",
		Long: `solve finds the value of a quantity at which the upper end of μ at the tolerance is
within the budget, which that value is proved to meet. A budget in ρ is for Gaussian
noise on the whole data set alone: a sampled plan has no ρ below the unsampled one.`,
		Example: `  accountant gdp solve --mu 0.5 --solve noise-multiplier examples/dpsgd.yaml
  accountant gdp solve --zcdp 0.1 --solve count plan.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			a, err := askPlan(cmd, "calibrating", (*service.Service).GDPSolve, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			warnAll(cmd.ErrOrStderr(), a.Warnings)
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
				fmt.Fprintf(w, "neighbors: %s\nbudget: μ ≤ %s at tolerance %s\n\n", ofUnit(a.Neighbors, a.RecordsPerPerson), short(a.Budget), short(a.Tolerance))
				for _, x := range a.Settings {
					fmt.Fprintf(w, "  %s %s: %s\n", x.Step, a.Solve, short(x.Value))
				}
				d := digitsFor(a.Mu)
				_, err := fmt.Fprintf(w, "  %s %s: %s ≤ μ ≤ %s %s\n", a.Solve, short(a.Value), rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), titleOf(a.Mu))
				return err
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
	_ = cmd.MarkFlagRequired("solve")
	return cmd
}
