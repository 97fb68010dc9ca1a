package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
)

func newCompareCmd() *cobra.Command {
	var flags answerFlags
	var recursion recursionFlag
	var delta string
	cmd := &cobra.Command{
		Use:   "compare --delta 1e-5 plan.yaml",
		Short: "Compare the ε of a plan by the methods of accounting",
		Long: `compare prints the ε that basic composition, advanced composition, Rényi
accounting with the classic and the improved conversion, zero-concentrated
privacy, the central limit theorem of Gaussian privacy and the Fourier
accountant give for a plan: with the theorem of each, and whether it is a proved
bound.`,
		Example: `  accountant compare --delta 1e-5 examples/dpsgd.yaml
  accountant compare --delta 1e-5 --csv examples/mixed.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := parseNumber("delta", delta, openUnit)
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
			rows, err := measured(cmd, "comparing", func(*meter) ([]accountant.Comparison, error) { return plan.Compare(cmd.Context(), d, opts...) })
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return flags.print(cmd.OutOrStdout(), comparisonJSON(plan, d, rows), func(w io.Writer) error {
				return printComparison(w, plan, d, rows)
			})
		},
	}
	cmd.Flags().StringVar(&delta, "delta", "", "the `δ` to compare at (required)")
	_ = cmd.MarkFlagRequired("delta")
	flags.register(cmd)
	recursion.register(cmd, "2000", "takes seconds for 1000")
	cmd.Flags().Lookup("verbose").Hidden = true // the table has no interval to split
	return cmd
}

type (
	compareJSON struct {
		Neighbors string         `json:"neighbors"`
		Delta     number         `json:"delta"`
		Methods   []comparedJSON `json:"methods"`
	}
	comparedJSON struct {
		Method  string  `json:"method"`
		Kind    string  `json:"kind"`
		Lower   *number `json:"lower,omitempty"`
		Epsilon *number `json:"epsilon,omitempty"`
		Theorem string  `json:"theorem"`
		Note    string  `json:"note,omitempty"`
	}
)

func comparisonJSON(plan *accountant.Plan, delta float64, rows []accountant.Comparison) compareJSON {
	out := compareJSON{Neighbors: plan.Neighbors.String(), Delta: number(delta)}
	for _, r := range rows {
		j := comparedJSON{Method: r.Method, Kind: r.Kind.String(), Theorem: r.Theorem, Note: r.Note}
		eps, lower := number(r.Epsilon), number(r.Lower)
		if r.Kind != accountant.NotApplicable {
			j.Epsilon = &eps
		}
		if r.Kind == accountant.Certified {
			j.Lower = &lower
		}
		out.Methods = append(out.Methods, j)
	}
	return out
}

func printComparison(w io.Writer, plan *accountant.Plan, delta float64, rows []accountant.Comparison) error {
	fmt.Fprintf(w, "neighbors: %v\nδ = %s\n\n", plan.Neighbors, short(delta))
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(tw, "  method\tε\t\tnote\n")
	for _, r := range rows {
		value := ""
		switch r.Kind {
		case accountant.Certified:
			d := digitsFor(accountant.Interval{Lower: r.Lower, Upper: r.Epsilon})
			value = fmt.Sprintf("%s ≤ ε ≤ %s", rounded(r.Lower, d, down), rounded(r.Epsilon, d, up))
			if math.IsInf(r.Lower, 1) {
				value = "ε = ∞"
			}
		case accountant.UpperBound:
			value = "ε ≤ " + rounded(r.Epsilon, 6, up)
		case accountant.Approximate:
			value = "ε ≈ " + rounded(r.Epsilon, 6, near)
		default:
			value = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%v\t%s\n", r.Method, value, r.Kind, strings.ReplaceAll(oneLine(r.Note), "no bound", paint(w, yellow, "no bound")))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nBy:")
	for _, r := range rows {
		fmt.Fprintf(w, "  %s: %s\n", r.Method, r.Theorem)
	}
	return nil
}
