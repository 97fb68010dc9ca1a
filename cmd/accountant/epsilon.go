package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newEpsilonCmd() *cobra.Command {
	return question{name: "epsilon", what: "computing", verbose: true, recursion: "2000", except: []string{"certificate"}, extra: func(a *asking) {
		certificate, follow := "", followFlags{}
		q, cmd, run := a.request.(*service.EpsilonRequest), a.cmd, a.cmd.RunE
		cmd.Flags().StringVar(&certificate, "certificate", "", "write to this `file` what another program needs to prove the interval anew, at one δ (docs/reference/certificates.md)")
		follow.register(cmd)
		cmd.MarkFlagsMutuallyExclusive("certificate", "follow")
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().Changed("follow") {
				return nil
			}
			return planArg(cmd, args)
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := follow.check(cmd, a.output, *q, args); err != nil {
				return err
			}
			if follow.log != "" {
				return follow.run(cmd, a.output, service.FollowRequest{Delta: q.Delta, Narrowing: q.Narrowing, Limits: q.Limits}, args)
			}
			q.Certificate = certificate != ""
			return run(cmd, args)
		}
		a.wrote = func(answer any) (any, error) {
			x, ok := answer.(service.EpsilonAnswer)
			if !ok || certificate == "" {
				return answer, nil
			}
			err := writeFileAtomic(certificate, []byte(x.Certificate))
			x.Certificate = "" // which is in the file
			return x, err
		}
	}}.command()
}

func newDeltaCmd() *cobra.Command {
	return question{name: "delta", what: "computing", verbose: true, recursion: "2000"}.command()
}

// printIntervals prints a table of intervals.
func printIntervals(w io.Writer, neighbors string, answers []answer, matrices []service.MatrixRun, verbose bool) {
	fmt.Fprintf(w, "neighbors: %s\n\n", neighbors)
	printTable(w, answers, verbose)
	if verbose {
		printMatrices(w, matrices)
	}
}

// printMatrices prints what the prices of matrix mechanisms are made of.
func printMatrices(w io.Writer, runs []service.MatrixRun) {
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

// printGroup prints upper bounds from the curve of one record.
func printGroup(w io.Writer, a service.GroupBounds) {
	fmt.Fprintf(w, "neighbors: %s\nmethod: %s (upper bounds)\n\n", ofUnit(a.Neighbors, a.RecordsPerPerson), a.Method)
	tw := newTable(w, 2, 0)
	fmt.Fprint(tw, "  δ\tproved\n")
	for _, r := range a.Results {
		fmt.Fprintf(tw, "  %s\tε ≤ %s\n", short(r.Delta), rounded(r.Epsilon.Upper, 6, up))
	}
	tw.Flush()
}

func printEpsilonBounds(w io.Writer, a service.UpperBounds[service.EpsilonBound]) {
	t := boundsTable(w, a.Neighbors, "δ")
	for _, r := range a.Results {
		fmt.Fprintf(t, "  %s\tε ≤ %s\t%s\n", short(r.Delta), rounded(r.Epsilon.Upper, 6, up), rounded(r.Order, 4, near))
	}
	t.Flush()
}

func printDeltaBounds(w io.Writer, a service.UpperBounds[service.DeltaBound]) {
	t := boundsTable(w, a.Neighbors, "ε")
	for _, r := range a.Results {
		fmt.Fprintf(t, "  %s\tδ ≤ %s\t%s\n", short(r.Epsilon), rounded(r.Delta.Upper, 6, up), rounded(r.Order, 4, near))
	}
	t.Flush()
}

// boundsTable begins a table of upper bounds by Rényi accounting.
func boundsTable(w io.Writer, neighbors, asked string) *table {
	fmt.Fprintf(w, "neighbors: %s\naccountant: rdp (upper bounds)\n\n", neighbors)
	t := newTable(w, 3, 0)
	fmt.Fprintf(t, "  %s\tproved\torder\n", asked)
	return t
}

// ofUnit is a relation with the unit behind it, unless that is one record.
func ofUnit(neighbors string, records int64) string {
	if records <= 1 {
		return neighbors
	}
	return fmt.Sprintf("%s; persons with at most %d records", neighbors, records)
}
