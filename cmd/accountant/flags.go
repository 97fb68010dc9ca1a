package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/profiles"
)

// This file has the flags that several commands share.

// answerFlags are the flags of the commands that ask the accountant.
type answerFlags struct {
	output
	verbose bool
	service.Limits
}

func (f *answerFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.output.register(cmd)
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "print what the width of each interval is made of")
	addAccuracy(fs, &f.Accuracy)
	addCaps(cmd, &f.Caps)
}

// required marks flags without which a command does not run.
func required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.MarkFlagRequired(name)
	}
}

// addAccuracy defines the flag --accuracy.
func addAccuracy(fs *pflag.FlagSet, to *service.Decimal) {
	number(fs, to, "accuracy", "", "relative `width` that an interval may have (default 1e-9, and 1e-3 where lattices are needed)")
}

// addCaps defines the flags of what a command may take.
func addCaps(cmd *cobra.Command, to *service.Caps) {
	fs := cmd.Flags()
	number(fs, &to.Memory, "memory", "", "limit of memory in `MB` (default 1 GiB); at the limit the interval gets wider and there is a warning")
	number(fs, &to.Work, "work", "", "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the `limit` what is proved by then is told, with a warning")
	number(fs, &to.TimeLimit, "time-limit", "", "limit of the time in `seconds` (default none); at the limit what is proved by then is told, with a warning, which depends on the machine")
	cmd.PreRun = func(*cobra.Command, []string) {
		// A limit of memory is one of the process too: the collector must not let garbage fill more than that either.
		if bytes, err := to.Bytes(); err == nil && bytes > 0 {
			limitProcess(bytes)
		}
	}
}

// underCaps adds the limit flags and runs the command under them. Call it after RunE is set.
func underCaps(cmd *cobra.Command) {
	caps, run := new(service.Caps), cmd.RunE
	addCaps(cmd, caps)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx, end, err := caps.Under(cmd.Context())
		defer func() {
			end(&err)
			err = flagged(cmd, err)
		}()
		if err != nil {
			return err
		}
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
}

// limitProcess keeps the heap, garbage included, below a memory limit, with room for
// the program itself.
func limitProcess(bytes int64) { debug.SetMemoryLimit(bytes - min(24<<20, bytes/4)) }

// addRecursion defines the flag that says up to how many runs the recursion narrows a
// theory gap.
func addRecursion(cmd *cobra.Command, to *service.Decimal, preset, cost string) {
	number(cmd.Flags(), to, "recursion", preset, "narrow a theory gap by the recursion over data configurations for mechanisms that run at most this many `times`, and without replacement by blocks of runs for more; "+cost+"; 0 for never")
}

// addAttackTarget defines the flags of a budget on membership inference, which stands in the place of others.
func addAttackTarget(fs *pflag.FlagSet, to *service.AttackTarget, others string) {
	number(fs, &to.Advantage, "target-advantage", "", "in place of "+others+": the largest `advantage` of any membership-inference attack, its true-positive rate minus its false-positive rate")
	number(fs, &to.TPR, "target-tpr", "", "in place of "+others+": the largest true-positive `rate` of any attack with the false-positive rate --at-fpr")
	number(fs, &to.FPR, "at-fpr", "", "false-positive `rate` of --target-tpr")
}

// addNeighbors defines the flag --neighbors.
func addNeighbors(cmd *cobra.Command, to *string) {
	*to = profiles.AddRemove.String()
	addChoice(cmd, to, "neighbors", "neighbouring `relation`: add-remove, substitute or zero-out", *to, profiles.Substitute.String(), profiles.ZeroOut.String())
}
