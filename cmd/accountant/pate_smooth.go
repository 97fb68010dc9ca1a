package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
)

func newPateSmoothCmd() *cobra.Command {
	var f pateFlags
	var in pateSmoothFlags
	cmd := &cobra.Command{
		Use:   "smooth --votes FILE --mechanism M --delta δ --order λ --beta β --sigma-ss σ",
		Short: "Sanitize the cost of a table of votes, so that it may be published",
		Long: `smooth adds Gaussian noise to a data-dependent ε, calibrated to its smooth
sensitivity, and charges for that. The order, β, σ and δ must have been fixed
without looking at the votes. Run it once: every run publishes anew.

The sanitized ε may be published, but is an estimate and no upper bound: the
noise is symmetric, so that half of the time it is below the ε that was paid.
The bound that may be published is the independent ε of pate analyze.

--optimise picks σ from the private votes, and --gnss paper uses a formula that
is no bound for λβ > 1/4; both print diagnostics only.`,
		Example: `  accountant pate smooth --votes votes.csv --mechanism confident --threshold 200 --sigma1 150 --sigma2 40 \
      --delta 1e-5 --order 14 --beta 0.0143 --sigma-ss 5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.check(cmd); err != nil {
				return err
			}
			run, err := f.parse(cmd)
			if err != nil {
				return err
			}
			out, err := measuredIf(cmd, f.progress, "smooth sensitivity", func(m *meter) (*pateSmoothReport, error) {
				l, err := run.ledger(cmd, []float64{in.order}, m)
				if err != nil {
					return nil, flagged(cmd, instead(err, "orders[0]", "order"))
				}
				s, err := l.NewSensitivity(cmd.Context(), in.order, run.report, run.transcript(run.report))
				if err != nil {
					return nil, flagged(cmd, err)
				}
				out, err := in.report(run, s, f.delta)
				if err != nil {
					return nil, flagged(cmd, instead(err, "rounds[0]", ""))
				}
				return out, nil
			})
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), out, func(w io.Writer) error { return out.write(w, run) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&in.order, "order", 0, "Rényi order `λ` (required)")
	fs.Float64Var(&in.beta, "beta", 0, "smoothness `β`, about 0.2/λ (required)")
	fs.Float64Var(&in.sigma, "sigma-ss", 0, "noise scale `σ`, in units of the smooth sensitivity")
	fs.BoolVar(&in.optimise, "optimise", false, "choose the noise scale from the votes instead; publishes nothing")
	in.gnss = "exact"
	addChoice(cmd, &in.gnss, "gnss", "cost of the noise: exact, or paper (Theorem 23 as printed; publishes nothing)", "exact", "paper")
	fs.Uint64Var(&in.seed, "seed", 0, "seed of the noise, for tests: a known seed gives no privacy")
	_ = cmd.MarkFlagRequired("order")
	_ = cmd.MarkFlagRequired("beta")
	return cmd
}

// instead returns the error with another name for a field, "" for none.
func instead(err error, field, name string) error {
	return fault.Rename(err, func(f string) string {
		if f == field {
			return name
		}
		return f
	})
}

type pateSmoothFlags struct {
	order, beta, sigma float64
	optimise           bool
	gnss               string
	seed               uint64
	seeded             bool
}

func (in *pateSmoothFlags) check(cmd *cobra.Command) error {
	in.seeded = cmd.Flags().Changed("seed")
	given := cmd.Flags().Changed("sigma-ss")
	switch {
	case given && in.optimise:
		return usageError{errors.New("--optimise excludes --sigma-ss")}
	case !given && !in.optimise:
		return usageError{errors.New("missing --sigma-ss (or --optimise)")}
	}
	return nil
}

type pateSmoothReport struct {
	Delta   float64      `json:"delta"`
	Order   float64      `json:"order"`
	Beta    float64      `json:"beta"`
	Sigma   float64      `json:"sigma-ss"`
	GNSS    string       `json:"gnss"`
	Report  string       `json:"report"`
	Epsilon *float64     `json:"sanitized-epsilon"`
	Why     string       `json:"why-none,omitempty"`
	Private patePrivates `json:"not-safe-to-publish"`
	IsBound bool         `json:"sanitized-epsilon-is-a-bound"` // never: the noise is symmetric
}

type patePrivates struct {
	Cost     float64 `json:"rdp"`
	GNSSCost float64 `json:"gnss-rdp"`
	Bound    bool    `json:"bound"`
	Fixed    float64 `json:"fixed-epsilon"`
	Smooth   float64 `json:"smooth-sensitivity"`
	Distance int     `json:"distance"`
	StdDev   float64 `json:"noise-standard-deviation"`
}

func (in *pateSmoothFlags) report(r *pateRun, s *pate.Sensitivity, delta float64) (*pateSmoothReport, error) {
	ss, distance, err := s.Smooth(in.beta)
	if err != nil {
		return nil, err
	}
	out := &pateSmoothReport{Delta: delta, Order: in.order, Beta: in.beta, Sigma: in.sigma, GNSS: in.gnss, Report: r.report.String()}
	p := &out.Private
	p.Cost, p.Smooth, p.Distance = s.Cost, ss, distance
	if in.optimise {
		choose := pate.OptimalGNSSSigma
		if in.gnss == "paper" {
			choose = pate.PrintedGNSSSigma
		}
		if ss == 0 {
			return nil, fmt.Errorf("--optimise: the smooth sensitivity is 0, so that no noise is needed: publish the data-independent ε")
		}
		if out.Sigma, err = choose(in.order, in.beta, ss); err != nil {
			return nil, err
		}
	}
	p.StdDev = ss * out.Sigma
	if in.gnss == "paper" {
		var proved bool
		if p.GNSSCost, proved, err = pate.GNSSPrintedNotABound(in.order, in.beta, out.Sigma); err != nil {
			return nil, err
		}
		p.Bound = proved && s.Bound
		out.Why = "the cost of the noise is Theorem 23 as printed"
	} else {
		if p.GNSSCost, err = pate.GNSSRDP(in.order, in.beta, out.Sigma); err != nil {
			return nil, err
		}
		p.Bound = s.Bound
	}
	if p.Fixed, err = pate.EpsilonAt(in.order, p.Cost+p.GNSSCost, delta, r.conversion); err != nil {
		return nil, err
	}
	switch {
	case out.Why != "":
	case in.optimise:
		out.Why = "the noise scale was chosen by looking at the votes"
	case !s.Bound && r.report == pate.Realised:
		out.Why = "which queries were answered is random, so that their cost is no bound: leave --answered out"
	case !s.Bound:
		out.Why = "the expected cost is not a bound"
	default:
		var src rand.Source // the operating system's
		if in.seeded {
			src = rand.NewPCG(in.seed, 0)
		}
		z, err := pate.Sanitize(delta, r.conversion, src, pate.Round{Sensitivity: s, Beta: in.beta, Sigma: out.Sigma})
		if err != nil {
			return nil, err
		}
		out.Epsilon = &z.Epsilon
	}
	return out, nil
}

func (o *pateSmoothReport) write(w io.Writer, r *pateRun) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mechanism            %v\n", r.aggregator)
	when := "fixed in advance    "
	if o.Why != "" {
		when = "parameters          "
	}
	fmt.Fprintf(&b, "%s order %v, beta %v, sigma-ss %v, delta %s\n", when, o.Order, o.Beta, o.Sigma, short(o.Delta))
	if o.Epsilon != nil {
		fmt.Fprintf(&b, "sanitized epsilon    %.4g: may be published, an estimate and %s\n", *o.Epsilon, paint(w, red, "NOT AN UPPER BOUND"))
		fmt.Fprintf(&b, "                     (the noise puts it below the ε that was paid half of the time)\n")
	} else {
		fmt.Fprintf(&b, "sanitized epsilon    none: %s\n", o.Why)
	}
	p := o.Private
	bound := ""
	if !p.Bound {
		bound = ", " + paint(w, red, "NOT A BOUND")
	}
	fmt.Fprintf(&b, "\n%s, these depend on the private votes:\n", paint(w, red, pateNotSafe))
	fmt.Fprintf(&b, "  Rényi cost           %.6g (%s report)\n", p.Cost, o.Report)
	fmt.Fprintf(&b, "  cost of the noise    %.6g (%s formula)\n", p.GNSSCost, o.GNSS)
	fmt.Fprintf(&b, "  epsilon of both      %.6g%s\n", p.Fixed, bound)
	fmt.Fprintf(&b, "  smooth sensitivity   %.6g, at distance %d\n", p.Smooth, p.Distance)
	fmt.Fprintf(&b, "  noise                ± %.6g\n", p.StdDev)
	_, err := io.WriteString(w, b.String())
	return err
}
