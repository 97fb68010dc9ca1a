package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
)

func newCompareCmd() *cobra.Command {
	var flags answerFlags
	var delta string
	var asCSV bool
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
		Args: planArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.json && asCSV {
				return usageError{errors.New("--json and --csv exclude each other")}
			}
			d, err := parseNumber("delta", delta, openUnit)
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			plan, err := readPlan(cmd, args[0])
			if err != nil {
				return err
			}
			rows, err := plan.Compare(d, opts...)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			switch {
			case flags.json:
				return printJSON(cmd.OutOrStdout(), comparisonJSON(plan, d, rows))
			case asCSV:
				return printComparisonCSV(cmd, rows)
			}
			return printComparison(cmd, plan, d, rows)
		},
	}
	cmd.Flags().StringVar(&delta, "delta", "", "the `δ` to compare at (required)")
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	_ = cmd.MarkFlagRequired("delta")
	flags.register(cmd)
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

func printComparisonCSV(cmd *cobra.Command, rows []accountant.Comparison) error {
	w := csv.NewWriter(cmd.OutOrStdout())
	if err := w.Write([]string{"method", "kind", "lower", "epsilon", "theorem", "note"}); err != nil {
		return err
	}
	for _, r := range rows {
		record := []string{r.Method, r.Kind.String(), "", "", r.Theorem, r.Note}
		if r.Kind == accountant.Certified {
			record[2] = short(r.Lower)
		}
		if r.Kind != accountant.NotApplicable {
			record[3] = short(r.Epsilon)
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func printComparison(cmd *cobra.Command, plan *accountant.Plan, delta float64, rows []accountant.Comparison) error {
	w := cmd.OutOrStdout()
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
		fmt.Fprintf(tw, "  %s\t%s\t%v\t%s\n", r.Method, value, r.Kind, oneLine(r.Note))
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
