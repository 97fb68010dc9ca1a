package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newDPSGDCmd() *cobra.Command {
	var flags answerFlags
	var q service.DPSGDRequest
	cmd := &cobra.Command{
		Use: "dpsgd",
		Args: func(cmd *cobra.Command, args []string) error {
			// One of these is required; cobra checks required flags after this.
			if !slices.ContainsFunc([]string{"target-epsilon", "target-advantage", "target-tpr", "at-fpr"}, cmd.Flags().Changed) {
				_ = cmd.MarkFlagRequired("noise-multiplier")
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			if !cmd.Flags().Changed("neighbors") {
				q.Neighbors = "" // that of the batching
			}
			what := "computing"
			if q.NoiseMultiplier == "" {
				what = "calibrating"
			}
			a, err := ask(cmd, what, (*service.Service).DPSGD, q)
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), epsilonAnswers(a.Results))
			warn(cmd.ErrOrStderr(), epsilonAnswers(a.AnyOrder.Results))
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) { printDPSGD(w, a, flags.verbose) })
		},
	}
	fs := cmd.Flags()
	number(fs, &q.Examples, "examples", "", "number of training examples `N`")
	number(fs, &q.BatchSize, "batch-size", "", "expected size `B` of a batch")
	number(fs, &q.SamplingRate, "sampling-rate", "", "probability `q` of an example to be in a batch, instead of --examples and --batch-size")
	number(fs, &q.Epochs, "epochs", "", "number of epochs `E`, a fraction is allowed")
	number(fs, &q.Steps, "steps", "", "number of steps `T`, instead of --epochs")
	number(fs, &q.NoiseMultiplier, "noise-multiplier", "", "standard deviation `σ` of the noise over the clipping norm (required, or a target)")
	number(fs, &q.TargetEpsilon, "target-epsilon", "", "find the smallest noise multiplier for this `ε`, instead of --noise-multiplier")
	addAttackTarget(fs, &q.AttackTarget, "--noise-multiplier")
	numbers(fs, &q.Delta.List, "delta", "", "one or several `δ`, with commas between them (required)")
	q.Batching = service.Poisson
	addChoice(cmd, &q.Batching, "batching", "`how` batches are drawn: "+strings.Join(service.Batchings, ", "), service.Batchings...)
	number(fs, &q.Cap, "cap", "", "largest batch `B` of truncated-poisson batching")
	addNeighbors(cmd, &q.Neighbors)
	number(fs, &q.RecordsPerPerson, "records-per-person", "", "how many training examples `k` a person has at most; the answer is about persons")
	required(cmd, "delta")
	flags.register(cmd)
	return cmd
}

func printDPSGD(w io.Writer, a service.DPSGDAnswer, verbose bool) {
	fmt.Fprintf(w, "DP-SGD: noise multiplier %s, %s; neighbors: %s\n\n", short(a.NoiseMultiplier), batches(a), ofUnit(a.Neighbors, a.RecordsPerPerson))
	if c := a.Calibration; c != nil {
		fmt.Fprintf(w, "target: %s\n", comparedWith(*c).budget)
		printCalibration(w, *c, false)
		fmt.Fprintln(w)
	}
	printTable(w, epsilonAnswers(a.Results), verbose)
	fmt.Fprintf(w, "\n%s", a.Statement)
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
