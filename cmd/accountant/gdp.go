package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/service"
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
			q.Limits = flags.limits()
			a, err := askPlan(cmd, "computing", (*service.Service).GDP, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			for _, text := range a.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s%s\n", warning(cmd.ErrOrStderr()), oneLine(text))
			}
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
				d := digitsFor(a.Mu)
				_, err := fmt.Fprintf(w, "neighbors: %s\n\n  %s ≤ μ ≤ %s at tolerance %s certified\n  regret ≤ %s\n", a.Neighbors,
					rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), short(a.Tolerance), rounded(a.Regret.Upper, 3, up))
				return err
			})
		},
	}
	number(cmd.Flags(), &q.Tolerance, "tolerance", "1e-10", "`τ`, what the power of a test may be more than under μ-GDP")
	flags.registerPlain(cmd)
	return cmd
}
