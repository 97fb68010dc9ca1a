package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func newDPSGDCmd() *cobra.Command {
	var flags answerFlags
	var in dpsgdFlags
	cmd := &cobra.Command{
		Use:   "dpsgd --examples N --batch-size B --epochs E --noise-multiplier σ --delta δ",
		Short: "Tell the ε of training with DP-SGD, and what that promises",
		Long: `dpsgd tells the ε of training with DP-SGD under Poisson sampling, and states in
plain words what the number promises, what it assumes and what it leaves out.

Steps are ceil(examples / batch size × epochs) and the sampling rate is batch
size / examples; --steps and --sampling-rate may be given instead. With
--target-epsilon in place of --noise-multiplier the smallest noise multiplier is
found that meets the target.`,
		Example: `  accountant dpsgd --examples 60000 --batch-size 256 --epochs 60 --noise-multiplier 1.1 --delta 1e-5
  accountant dpsgd --sampling-rate 0.01 --steps 1000 --noise-multiplier 1 --delta 1e-5,1e-6 --json
  accountant dpsgd --examples 60000 --batch-size 256 --epochs 60 --target-epsilon 2 --delta 1e-5`,
		Args: func(cmd *cobra.Command, args []string) error {
			// One of the two is required; cobra checks required flags after this.
			if !cmd.Flags().Changed("target-epsilon") {
				_ = cmd.MarkFlagRequired("noise-multiplier")
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.checkShape(cmd); err != nil {
				return usageError{err}
			}
			run, err := in.parse()
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if in.target != "" {
				run.found, err = measured(cmd, "calibrating", func(m *meter) (*accountant.Calibration, error) {
					return run.calibrate(cmd.Context(), append(opts, accountant.WithProgress(m.at)))
				})
				if err != nil {
					return err
				}
			}
			return run.report(cmd, flags, opts)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&in.examples, "examples", "", "number of training examples `N`")
	fs.StringVar(&in.batch, "batch-size", "", "expected size `B` of a batch")
	fs.StringVar(&in.rate, "sampling-rate", "", "probability `q` of an example to be in a batch, instead of --examples and --batch-size")
	fs.StringVar(&in.epochs, "epochs", "", "number of epochs `E`, a fraction is allowed")
	fs.StringVar(&in.steps, "steps", "", "number of steps `T`, instead of --epochs")
	fs.StringVar(&in.noise, "noise-multiplier", "", "standard deviation `σ` of the noise over the clipping norm (required, or --target-epsilon)")
	fs.StringVar(&in.target, "target-epsilon", "", "find the smallest noise multiplier for this `ε`, instead of --noise-multiplier")
	fs.StringVar(&in.deltas, "delta", "", "one or several `δ`, with commas between them (required)")
	addNeighbors(cmd, &in.neighbors)
	_ = cmd.MarkFlagRequired("delta")
	flags.register(cmd)
	return cmd
}

// dpsgdFlags holds the flags as they were typed.
type dpsgdFlags struct {
	examples, batch, rate, epochs, steps, noise, target, deltas, neighbors string
}

// checkShape checks which flags are there.
func (f *dpsgdFlags) checkShape(cmd *cobra.Command) error {
	set := func(name string) bool { return cmd.Flags().Changed(name) }
	switch {
	case set("target-epsilon") && set("noise-multiplier"):
		return errors.New("--target-epsilon and --noise-multiplier exclude each other")
	case set("sampling-rate") && (set("examples") || set("batch-size")):
		return errors.New("--sampling-rate excludes --examples and --batch-size")
	case !set("sampling-rate") && !(set("examples") && set("batch-size")):
		return errors.New("missing --examples and --batch-size (or --sampling-rate)")
	case set("epochs") && set("steps"):
		return errors.New("--epochs and --steps exclude each other")
	case !set("epochs") && !set("steps"):
		return errors.New("missing --epochs (or --steps)")
	}
	return nil
}

// A dpsgdRun is a training run.
type dpsgdRun struct {
	neighbors       profiles.Relation
	noise, rate     float64
	steps           int64
	passes          int64   // how often at most an example is used when each epoch uses each once
	examples, batch int64   // 0: not told
	epochs          float64 // 0: not told
	deltas          []float64
	target          float64
	goal            accountant.Goal
	found           *accountant.Calibration // of the noise; nil if it was given
	gaussian        profiles.Base
	poisson         subsample.Scheme
}

func (f *dpsgdFlags) parse() (r dpsgdRun, err error) {
	if r.neighbors, err = profiles.ParseRelation(f.neighbors); err != nil {
		return r, err
	}
	rate := new(big.Rat)
	if f.rate != "" {
		if r.rate, err = parseNumber("sampling-rate", f.rate, rateRange); err != nil {
			return r, err
		}
		if rate, err = decimal.Exact(strings.TrimSpace(f.rate)); err != nil {
			return r, fmt.Errorf("--sampling-rate: %s %w", show(f.rate), err)
		}
	} else {
		if r.examples, err = parseWhole("examples", f.examples, decimal.MaxWhole); err != nil {
			return r, err
		}
		if r.batch, err = parseWhole("batch-size", f.batch, r.examples); err != nil {
			return r, err
		}
		r.rate = float64(r.batch) / float64(r.examples)
		rate.SetFrac64(r.batch, r.examples)
	}
	if f.steps != "" {
		if r.steps, err = parseWhole("steps", f.steps, decimal.MaxWhole); err != nil {
			return r, err
		}
		// Batches of fixed size in any order use an example this often.
		r.passes, _ = ceil(unrounded(new(big.Rat).Mul(rate, new(big.Rat).SetInt64(r.steps))))
	} else {
		if r.epochs, err = parseNumber("epochs", f.epochs, positive); err != nil {
			return r, err
		}
		epochs, err := decimal.Exact(strings.TrimSpace(f.epochs))
		if err != nil {
			return r, fmt.Errorf("--epochs: %s %w", show(f.epochs), err)
		}
		var ok bool
		if r.steps, ok = ceil(unrounded(new(big.Rat).Quo(epochs, rate))); !ok {
			return r, fmt.Errorf("--epochs: %s makes more than 2^53 steps", f.epochs)
		}
		r.passes, _ = ceil(epochs)
	}
	if f.target != "" {
		if r.target, err = parseNumber("target-epsilon", f.target, epsilonRange); err != nil {
			return r, err
		}
		r.noise = 1 // where the search starts
	} else if r.noise, err = decimal.Parse(strings.TrimSpace(f.noise)); err != nil {
		return r, fmt.Errorf("--noise-multiplier: %s %w", show(f.noise), err)
	}
	if r.gaussian, err = profiles.NewGaussianMechanism(r.noise); err != nil {
		return r, asFlag(err, map[string]string{"gaussian": ""})
	}
	if r.poisson, err = subsample.NewPoisson(r.rate); err != nil {
		return r, asFlag(err, map[string]string{"rate": "sampling-rate"})
	}
	if r.deltas, err = parseNumbers("delta", f.deltas, openUnit); err != nil {
		return r, err
	}
	if f.target != "" && len(r.deltas) > 1 {
		return r, fmt.Errorf("--delta: %d values are more than the one that a target has", len(r.deltas))
	}
	return r, nil
}

// calibrate sets the noise to the smallest that meets the target.
func (r *dpsgdRun) calibrate(ctx context.Context, opts []accountant.Option) (*accountant.Calibration, error) {
	plan := &accountant.Plan{Neighbors: r.neighbors,
		Steps: []accountant.Step{{Name: "DP-SGD", Mechanism: r.gaussian, Sampling: r.poisson, Count: r.steps}}}
	r.goal = accountant.Goal{Epsilon: r.target, Delta: r.deltas[0], Solve: accountant.NoiseMultiplier}
	c, err := accountant.Calibrate(ctx, plan, r.goal, opts...)
	if err != nil {
		return nil, fmt.Errorf("--target-epsilon: %w", err)
	}
	r.noise, r.gaussian = c.Value, c.Plan.Steps[0].Mechanism
	return c, nil
}

// unrounded returns the whole number that x, a multiple of a rate, is but for the
// rounding of the rate to 64 bits: 0.004273504273504274 is written for 1/234, and
// 14040 times that are 60. A float64 is within half a unit in the last place of the
// rate that was meant, and a decimal that reads back as the float64 within another
// half: together a relative 2^-52 at most.
func unrounded(x *big.Rat) *big.Rat {
	up := new(big.Rat).Add(x, big.NewRat(1, 2))
	whole := new(big.Rat).SetInt(new(big.Int).Quo(up.Num(), up.Denom()))
	off := new(big.Rat).Sub(x, whole)
	if off.Abs(off).Cmp(new(big.Rat).Mul(x, big.NewRat(1, 1<<52))) <= 0 {
		return whole
	}
	return x
}

// ceil rounds up; false beyond 2^53.
func ceil(r *big.Rat) (int64, bool) {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), q.IsInt64() && q.Int64() <= decimal.MaxWhole
}

// ask returns ε of the run itself and of the same steps without relying on
// sampling.
func (r dpsgdRun) ask(ctx context.Context, opts []accountant.Option) (sampled, anyOrder []answer, err error) {
	for _, c := range []struct {
		step  accountant.Step
		count int64
		to    *[]answer
	}{
		{accountant.Step{Name: "DP-SGD", Mechanism: r.gaussian, Sampling: r.poisson}, r.steps, &sampled},
		{accountant.Step{Name: "DP-SGD", Mechanism: r.gaussian}, r.passes, &anyOrder},
	} {
		if r.found != nil && r.found.Asked == "epsilon" && c.to == &sampled {
			sampled = probeAnswers(r.found, r.goal)[:1] // as certain as was needed to decide
			continue
		}
		if r.found != nil && c.to == &sampled {
			// The budget was met by δ: ε with the same accuracy.
			opts = append(slices.Clip(opts), accountant.WithAccuracy(min(r.found.Accuracy, 1e-3)))
		}
		acct := accountant.New(r.neighbors, opts...)
		if err := acct.Add(ctx, c.step, c.count); err != nil {
			return nil, nil, err
		}
		if *c.to, err = askEpsilon(ctx, acct, r.deltas); err != nil {
			return nil, nil, err
		}
	}
	if r.found != nil {
		// That δ at the target is at most the budget's is proved: so ε is at most the
		// target, whatever width its own interval has.
		iv := &sampled[0].Interval
		iv.Upper, iv.Estimate = min(iv.Upper, r.target), min(iv.Estimate, r.target)
	}
	return sampled, anyOrder, nil
}

type dpsgdRunJSON struct {
	Neighbors       string `json:"neighbors"`
	Examples        int64  `json:"examples,omitempty"`
	BatchSize       int64  `json:"batch-size,omitempty"`
	Epochs          number `json:"epochs,omitempty"`
	SamplingRate    number `json:"sampling-rate"`
	Steps           int64  `json:"steps"`
	NoiseMultiplier number `json:"noise-multiplier"`
}

type dpsgdJSON struct {
	dpsgdRunJSON
	Results   []any        `json:"results"`
	AnyOrder  anyOrderJSON `json:"any-order"`
	Statement string       `json:"statement"`
	// With --target-epsilon: how the noise multiplier was found.
	Calibration *solutionJSON `json:"calibration,omitempty"`
}

type anyOrderJSON struct {
	Uses    int64 `json:"uses-per-example"`
	Results []any `json:"results"`
}

// rows has a row for each δ, and another for the same run in any order.
func (d dpsgdJSON) rows() any {
	type row struct {
		dpsgdRunJSON
		Sampling string `json:"sampling"`
		epsilonJSON
	}
	var rows []row
	for _, part := range []struct {
		sampling string
		results  []any
	}{{"poisson", d.Results}, {"any-order", d.AnyOrder.Results}} {
		for _, r := range part.results {
			if e, ok := r.(epsilonJSON); ok {
				rows = append(rows, row{d.dpsgdRunJSON, part.sampling, e})
			}
		}
	}
	return rows
}

func (r dpsgdRun) report(cmd *cobra.Command, flags answerFlags, opts []accountant.Option) error {
	answers, err := measured(cmd, "computing", func(*meter) (both [2][]answer, err error) {
		both[0], both[1], err = r.ask(cmd.Context(), opts)
		return both, err
	})
	if err != nil {
		return err
	}
	sampled, anyOrder := answers[0], answers[1]
	warn(cmd.ErrOrStderr(), sampled)
	warn(cmd.ErrOrStderr(), anyOrder)
	statement := r.statement(sampled, anyOrder)
	var found *solutionJSON
	if r.found != nil {
		c := calibrationJSON(r.found, r.goal, r.neighbors.String())
		found = &c
	}
	out := dpsgdJSON{dpsgdRunJSON{r.neighbors.String(), r.examples, r.batch, number(r.epochs), number(r.rate), r.steps, number(r.noise)},
		resultsJSON(sampled), anyOrderJSON{r.passes, resultsJSON(anyOrder)}, statement, found}
	return flags.print(cmd.OutOrStdout(), out, func(w io.Writer) error {
		return r.print(w, sampled, flags.verbose, statement)
	})
}

func (r dpsgdRun) print(w io.Writer, sampled []answer, verbose bool, statement string) error {
	fmt.Fprintf(w, "DP-SGD: noise multiplier %s, sampling rate %s, %d steps; neighbors: %v\n\n", short(r.noise), short(r.rate), r.steps, r.neighbors)
	if r.found != nil {
		fmt.Fprintf(w, "target: ε ≤ %s at δ = %s\n", short(r.target), short(r.deltas[0]))
		if err := printCalibration(w, r.found, r.goal, false); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if err := printTable(w, sampled, verbose); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", statement)
	return err
}
