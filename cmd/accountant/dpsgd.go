package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newDPSGDCmd() *cobra.Command {
	return question{name: "dpsgd", what: "computing", verbose: true, text: printing(printDPSGD), rows: listing(dpsgdRows), extra: func(a *asking) {
		inPlaceOf(a.cmd, "--noise-multiplier")
		showPreset(a.cmd, "neighbors", "add-remove") // or that of the batching
		targets := []string{"target-epsilon", "target-advantage", "target-tpr", "at-fpr"}
		a.cmd.Args = func(cmd *cobra.Command, args []string) error {
			// One of these is required; cobra checks required flags after this.
			if !slices.ContainsFunc(targets, cmd.Flags().Changed) {
				required(cmd, "noise-multiplier")
			}
			return noArgs(cmd, args)
		}
		a.read = func() error {
			if a.request.(*service.DPSGDRequest).NoiseMultiplier == "" {
				a.what = "calibrating"
			}
			return nil
		}
	}}.command()
}

// inPlaceOf says of the flags of a budget on membership inference which others they stand for.
func inPlaceOf(cmd *cobra.Command, others string) {
	for _, name := range []string{"target-advantage", "target-tpr"} {
		f := cmd.Flags().Lookup(name)
		f.Usage = "in place of " + others + ": " + f.Usage
	}
}

func printDPSGD(w io.Writer, x service.DPSGDAnswer, a *asking) {
	fmt.Fprintf(w, "DP-SGD: noise multiplier %s, %s; neighbors: %s\n\n", short(x.NoiseMultiplier), batches(x), service.Unit{Neighbors: x.Neighbors, RecordsPerPerson: x.RecordsPerPerson}.Text())
	if c := x.Calibration; c != nil {
		fmt.Fprintf(w, "target: %s\n", comparedWith(*c).budget)
		printCalibration(w, *c, false)
		fmt.Fprintln(w)
	}
	printTable(w, answers(x.Results), a.detail)
	fmt.Fprintf(w, "\n%s", x.Statement)
}

// batches says in a few words which batches there are.
func batches(r service.DPSGDAnswer) string {
	switch r.Batching {
	case service.RandomAllocation, service.Shuffle:
		return fmt.Sprintf("%s, %d steps an epoch, %d steps", r.Batching, r.StepsPerEpoch, r.Steps)
	case service.TruncatedPoisson:
		return fmt.Sprintf("sampling rate %s, cap %d, %d steps", short(r.SamplingRate), r.Cap, r.Steps)
	case service.WithoutReplacement, service.FixedOrder:
		return fmt.Sprintf("%s, %d steps", r.Batching, r.Steps)
	}
	return fmt.Sprintf("sampling rate %s, %d steps", short(r.SamplingRate), r.Steps)
}
