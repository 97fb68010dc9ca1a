package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// This file publishes an upper bound on what a table of votes cost.

func newPatePublishCmd() *cobra.Command {
	var f pateFlags
	var q service.PatePublishRequest
	var confidence float64
	var seed uint64
	cmd := &cobra.Command{
		Use:  "publish",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Confidence, q.Seed = given(cmd, "confidence", confidence), given(cmd, "seed", seed)
			var err error
			if q.PateVotes, err = f.request(cmd); err != nil {
				return err
			}
			a, err := askIf(cmd, f.progress, "smooth bound", (*service.Service).PatePublish, q)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), a, func(w io.Writer) error { return writePatePublish(w, a, q.Seed != nil) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&q.Order, "order", 0, "Rényi order `λ` (required)")
	fs.Float64Var(&q.Beta, "beta", 0, "smoothness `β`, about one over the distance at which votes still agree (required)")
	fs.Float64Var(&q.Noise, "noise", 0, "standard deviation `s` of the noise on the logarithm of the cost (required)")
	fs.Float64Var(&confidence, "confidence", 0.95, "the `probability` that the bound holds")
	fs.Uint64Var(&seed, "seed", 0, "seed of the noise, for tests: a known seed gives no privacy")
	fs.BoolVar(&q.Private, "private", false, "print also what depends on the private votes and must not be published")
	for _, name := range []string{"order", "beta", "noise"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

func writePatePublish(w io.Writer, o *service.PatePublishAnswer, seeded bool) error {
	f := newFacts(w, 21)
	f.add("mechanism", "%v", o.Run.Aggregator)
	f.add("fixed in advance", "order %v, beta %v, noise %v, confidence %v, delta %s", o.Order, o.Beta, o.Noise, o.Confidence, short(o.Delta))
	may := "may be published, an upper bound"
	if seeded {
		may = "NOT to be published, as its seed is known; an upper bound"
	}
	f.add("published epsilon", "%s: %s except with probability %.3g", rounded(o.Epsilon, 6, up), may, 1-o.Confidence)
	f.add("", "over its noise, at the data set that voted, this number included")
	f.add("cost of the noise", "%.6g, a part of it (Rényi, at the order)", o.NoiseCost)
	if err := f.Flush(); err != nil {
		return err
	}
	if p := o.Private; p != nil {
		return writePatePublishPrivate(w, p)
	}
	return nil
}

func writePatePublishPrivate(w io.Writer, p *service.PatePublishedPrivate) error {
	fmt.Fprintf(w, "\n%s, these depend on the private votes:\n", paint(w, red, pateNotSafe))
	f := newFacts(w, 23)
	f.add("  Rényi cost", "%.6g (best bound from q)", p.Cost)
	f.add("  smooth bound", "%.6g, at distance %d", p.Smooth, p.Distance)
	f.add("  epsilon at the median of the noise  ", "%.6g", p.Median)
	return f.Flush()
}
