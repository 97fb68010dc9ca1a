package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newEpsilonCmd() *cobra.Command {
	return question{name: "epsilon", what: "computing", verbose: true, recursion: "2000", except: []string{"certificate"}, text: printing(printIntervals[service.EpsilonAt]), rows: listing(intervalRows[service.EpsilonAt]), extra: func(a *asking) {
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

// printIntervals prints a table of intervals.
func printIntervals[At service.EpsilonAt | service.DeltaAt](w io.Writer, x service.Intervals[At], a *asking) {
	neighbors := x.Unit.Text()
	if x.Method != "" {
		printBounds(w, neighbors, x.Method, answers(x.Results))
		return
	}
	fmt.Fprintf(w, "neighbors: %s\n\n", neighbors)
	printTable(w, answers(x.Results), a.detail)
	if a.detail {
		printMatrices(w, x.Matrix)
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

// printBounds prints upper ends that are all that is proved.
func printBounds(w io.Writer, neighbors, method string, answers []answer) {
	label := "method"
	if method == service.RDPAccountant {
		label = "accountant"
	}
	fmt.Fprintf(w, "neighbors: %s\n%s: %s (upper bounds)\n\n", neighbors, label, method)
	t := print.NewTable(w, 3, 0)
	for i, a := range answers {
		head, order := "", ""
		if a.Order != 0 {
			head, order = "\torder", "\t"+rounded(a.Order, 4, near)
		}
		if i == 0 {
			fmt.Fprintf(t, "  %s\tproved%s\n", a.asked, head)
		}
		fmt.Fprintf(t, "  %s\t%s ≤ %s%s\n", short(a.at), a.told, rounded(a.Upper, 6, up), order)
	}
	t.Flush()
}
