package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newEpsilonCmd() *cobra.Command {
	var flags answerFlags
	var q service.EpsilonRequest
	var certificate string
	var follow followFlags
	cmd := &cobra.Command{
		Use: "epsilon",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().Changed("follow") {
				return nil
			}
			return planArg(cmd, args)
		},
		ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			if q.Certificate = certificate != ""; q.Certificate {
				if err := q.Check(); err != nil {
					return flagged(cmd, err)
				}
			}
			if err := follow.check(cmd, flags.output, q, args); err != nil {
				return err
			}
			if follow.log != "" {
				return follow.run(cmd, flags.output, service.FollowRequest{Delta: q.Delta, Narrowing: q.Narrowing, Limits: q.Limits}, args)
			}
			if q.GroupBlackBox {
				a, err := askPlan(cmd, "computing", (*service.Service).EpsilonGroup, &q, &q.Plan, args[0])
				if err != nil {
					return err
				}
				return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) { printGroup(w, a) })
			}
			if q.Accountant == service.RDPAccountant {
				a, err := askPlan(cmd, "computing", (*service.Service).EpsilonRDP, &q, &q.Plan, args[0])
				if err != nil {
					return err
				}
				return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) {
					printBounds(w, a.Neighbors, "δ", "ε", a.Results, func(r service.RDPEpsilonAt) [3]service.Number {
						return [3]service.Number{r.Delta, r.Epsilon.Upper, r.Order}
					})
				})
			}
			a, err := askPlan(cmd, "computing", (*service.Service).Epsilon, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			if q.Certificate {
				if err := writeFileAtomic(certificate, []byte(a.Results[0].Certificate)); err != nil {
					return err
				}
			}
			return flags.printAnswers(cmd, a, ofUnit(a.Neighbors, a.RecordsPerPerson), epsilonAnswers(a.Results))
		},
	}
	cmd.Flags().StringVar(&certificate, "certificate", "", "write to this `file` what another program needs to prove the interval anew, at one δ (docs/certificates.md)")
	addQuestion(cmd, &flags, "delta", "δ", &q.Delta, &q.Method, &q.Recursion)
	cmd.Flags().BoolVar(&q.GroupBlackBox, "group-black-box", false, "for persons with several records: a looser upper bound, from the privacy curve of one record alone")
	follow.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("certificate", "follow")
	return cmd
}

// printGroup prints upper bounds from the curve of one record.
func printGroup(w io.Writer, a service.GroupEpsilons) {
	fmt.Fprintf(w, "neighbors: %s\nmethod: %s (upper bounds)\n\n", ofUnit(a.Neighbors, a.RecordsPerPerson), a.Method)
	tw := newTable(w, 2, 0)
	fmt.Fprint(tw, "  δ\tproved\n")
	for _, r := range a.Results {
		fmt.Fprintf(tw, "  %s\tε ≤ %s\n", short(r.Delta), rounded(r.Epsilon.Upper, 6, up))
	}
	tw.Flush()
}

func newDeltaCmd() *cobra.Command {
	var flags answerFlags
	var q service.DeltaRequest
	cmd := &cobra.Command{
		Use:  "delta",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			if q.Accountant == service.RDPAccountant {
				a, err := askPlan(cmd, "computing", (*service.Service).DeltaRDP, &q, &q.Plan, args[0])
				if err != nil {
					return err
				}
				return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) {
					printBounds(w, a.Neighbors, "ε", "δ", a.Results, func(r service.RDPDeltaAt) [3]service.Number {
						return [3]service.Number{r.Epsilon, r.Delta.Upper, r.Order}
					})
				})
			}
			a, err := askPlan(cmd, "computing", (*service.Service).Delta, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			return flags.printAnswers(cmd, a, ofUnit(a.Neighbors, a.RecordsPerPerson), deltaAnswers(a.Results))
		},
	}
	addQuestion(cmd, &flags, "epsilon", "ε", &q.Epsilon, &q.Method, &q.Recursion)
	return cmd
}

// addQuestion defines the flags of epsilon and delta.
func addQuestion(cmd *cobra.Command, flags *answerFlags, name, symbol string, at *service.OneOrMany, method *service.Method, recursion *service.Decimal) {
	numbers(cmd.Flags(), &at.List, name, "", "one or several `"+symbol+"`, with commas between them (required)")
	_ = cmd.MarkFlagRequired(name)
	method.Accountant = service.FourierAccountant
	addChoice(cmd, &method.Accountant, "accountant", "`method`: fourier, or rdp for a looser upper bound by Rényi accounting", service.FourierAccountant, service.RDPAccountant)
	addChoice(cmd, &method.Transform, "transform", "answer by lattices alone, with the Fourier transform of this `library`: gonum or go-dsp, which check each other", service.GonumTransform, service.GoDSPTransform)
	flags.register(cmd)
	addRecursion(cmd, recursion, "2000", "takes seconds for 1000")
}

// printAnswers prints a table of intervals, or v as JSON or CSV.
func (f *answerFlags) printAnswers(cmd *cobra.Command, v any, neighbors string, answers []answer) error {
	warn(cmd.ErrOrStderr(), answers)
	return f.print(cmd.OutOrStdout(), v, func(w io.Writer) {
		fmt.Fprintf(w, "neighbors: %s\n\n", neighbors)
		printTable(w, answers, f.verbose)
		if !f.verbose {
			return
		}
		printMatrices(w, v)
	})
}

// printMatrices prints what the prices of matrix mechanisms are made of.
func printMatrices(w io.Writer, v any) {
	var runs []service.MatrixRun
	switch v := v.(type) {
	case service.EpsilonAnswer:
		runs = v.Matrix
	case service.DeltaAnswer:
		runs = v.Matrix
	}
	for _, r := range runs {
		name := ""
		if r.Name != "" {
			name = ", " + r.Name
		}
		fmt.Fprintf(w, "\nmatrix at %s%s:\n", r.Step, name)
		if r.Sensitivity != nil {
			fmt.Fprintf(w, "  sensitivity in [%s, %s], effective noise multiplier %s\n",
				rounded(r.Sensitivity.Lower, 12, down), rounded(r.Sensitivity.Upper, 12, up), rounded(*r.EffectiveNoise, 6, near))
		}
		if r.WorstGroup != nil {
			fmt.Fprintf(w, "  group %d costs most:\n", *r.WorstGroup)
		}
		for i, b := range r.Blocks {
			if i == maxBlocks {
				fmt.Fprintf(w, "  and %d more\n", len(r.Blocks)-i)
				break
			}
			fmt.Fprintf(w, "  %d × norm %s, effective noise multiplier %s\n", b.Count, rounded(b.Norm.Upper, 9, up), rounded(b.EffectiveNoise, 6, near))
		}
	}
}

// maxBlocks is how many different blocks are printed; --json has all.
const maxBlocks = 10

// printBounds lists upper bounds by Rényi accounting: row returns where one is asked, the bound and its order.
func printBounds[R any](w io.Writer, neighbors, asked, told string, results []R, row func(R) [3]service.Number) {
	fmt.Fprintf(w, "neighbors: %s\naccountant: rdp (upper bounds)\n\n", neighbors)
	tw := newTable(w, 3, 0)
	fmt.Fprintf(tw, "  %s\tproved\torder\n", asked)
	for _, r := range results {
		x := row(r)
		fmt.Fprintf(tw, "  %s\t%s ≤ %s\t%s\n", short(x[0]), told, rounded(x[1], 6, up), rounded(x[2], 4, near))
	}
	tw.Flush()
}

// ofUnit is a relation with the unit behind it, unless that is one record.
func ofUnit(neighbors string, records int64) string {
	if records <= 1 {
		return neighbors
	}
	return fmt.Sprintf("%s; persons with at most %d records", neighbors, records)
}
