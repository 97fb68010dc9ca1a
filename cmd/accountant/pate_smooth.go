package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newPateSmoothCmd() *cobra.Command {
	var f pateFlags
	var q service.PateSmoothRequest
	var sigma float64
	var seed uint64
	cmd := &cobra.Command{
		Use:  "smooth",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Sigma, q.Seed = given(cmd, "sigma-ss", sigma), given(cmd, "seed", seed)
			if err := q.CheckNoise(); err != nil {
				return flagged(cmd, err)
			}
			var err error
			if q.PateVotes, err = f.request(cmd); err != nil {
				return err
			}
			a, err := askIf(cmd, f.progress, "smooth sensitivity", (*service.Service).PateSmooth, q)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), a, func(w io.Writer) error { return writePateSmooth(w, a, q.Seed != nil) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&q.Order, "order", 0, "Rényi order `λ` (required)")
	fs.Float64Var(&q.Beta, "beta", 0, "smoothness `β`, about 0.2/λ (required)")
	fs.Float64Var(&sigma, "sigma-ss", 0, "noise scale `σ`, in units of the smooth sensitivity")
	fs.BoolVar(&q.Optimise, "optimise", false, "choose the noise scale from the votes instead; publishes nothing")
	q.GNSS = "exact"
	addChoice(cmd, &q.GNSS, "gnss", "cost of the noise: exact, or paper (Theorem 23 as printed; publishes nothing)", "exact", "paper")
	fs.Uint64Var(&seed, "seed", 0, "seed of the noise, for tests: a known seed gives no privacy")
	fs.BoolVar(&q.Private, "private", false, "print also what depends on the private votes and must not be published")
	_ = cmd.MarkFlagRequired("order")
	_ = cmd.MarkFlagRequired("beta")
	return cmd
}

func writePateSmooth(w io.Writer, o *service.PateSmoothAnswer, seeded bool) error {
	f := newFacts(w, 21)
	f.add("mechanism", "%v", o.Run.Aggregator)
	when := "fixed in advance"
	if o.Why != "" {
		when = "parameters"
	}
	f.add(when, "order %v, beta %v, sigma-ss %v, delta %s", o.Order, o.Beta, o.Sigma, short(o.Delta))
	if o.Epsilon != nil {
		may := "may be published"
		if seeded {
			may = "NOT to be published, as its seed is known"
		}
		f.add("sanitized epsilon", "%.4g: %s, an estimate and %s", *o.Epsilon, may, paint(w, red, "NOT AN UPPER BOUND"))
		f.add("", "(the noise puts it below the ε that was paid half of the time)")
	} else {
		f.add("sanitized epsilon", "none: %s", o.Why)
	}
	if err := f.Flush(); err != nil {
		return err
	}
	if p := o.Private; p != nil {
		return writePateSmoothPrivate(w, o, p)
	}
	return nil
}

func writePateSmoothPrivate(w io.Writer, o *service.PateSmoothAnswer, p *service.PatePrivates) error {
	bound := ""
	if !p.Bound {
		bound = ", " + paint(w, red, "NOT A BOUND")
	}
	fmt.Fprintf(w, "\n%s, these depend on the private votes:\n", paint(w, red, pateNotSafe))
	f := newFacts(w, 23)
	f.add("  Rényi cost", "%.6g (%s report)", p.Cost, o.Report)
	f.add("  cost of the noise", "%.6g (%s formula)", p.GNSSCost, o.GNSS)
	f.add("  epsilon of both", "%.6g%s", p.Fixed, bound)
	f.add("  smooth sensitivity", "%.6g, at distance %d", p.Smooth, p.Distance)
	f.add("  noise", "± %.6g", p.StdDev)
	return f.Flush()
}
