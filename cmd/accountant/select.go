package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

type selectFlags struct {
	plan                      string
	laws                      []string
	shape                     float64
	means                     []float64
	max                       int
	delta                     float64
	candidateEps, candidateDl float64
	output
}

const selectLong = `select compares laws of the number of runs for private selection: hyper-parameter
tuning by the best of a random number of private runs. For each law it prints the
expected number of runs, the probability that no run falls into the best 1 % and
5 % of the candidate distribution, and what the whole search costs.

One run is a plan (--plan) or is declared by its guarantee (--candidate-epsilon
and --candidate-delta). The number of runs itself must stay secret.`

func newSelectCmd() *cobra.Command {
	var f selectFlags
	cmd := &cobra.Command{
		Use:   "select (--plan FILE --delta D | --candidate-epsilon E [--candidate-delta D] [--delta D])",
		Short: "Price private selection (hyper-parameter tuning)",
		Long:  selectLong,
		Example: `  accountant select --plan dpsgd.yaml --law geometric --mean 100 --delta 1e-5
  accountant select --candidate-epsilon 1 --mean 10,100`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSelect(cmd, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.plan, "plan", "", "plan `file` of one run (- reads standard input)")
	f.laws = []string{"logarithmic", "negative-binomial", "geometric", "poisson"}
	addChoices(cmd, &f.laws, "law", "`laws` to compare: geometric, logarithmic, negative-binomial, poisson, binomial, fixed",
		"geometric", "logarithmic", "negative-binomial", "poisson", "binomial", "fixed")
	fs.Float64Var(&f.shape, "shape", 0.5, "shape of the negative-binomial law, above -1")
	fs.Float64SliceVar(&f.means, "mean", []float64{10}, "expected `runs`; several with commas")
	fs.IntVar(&f.max, "max", 0, "largest number of `runs`: the law is conditioned on it (fixed, binomial: number of runs, of trials)")
	fs.Float64Var(&f.delta, "delta", 0, "`δ` that ε is asked for")
	fs.Float64Var(&f.candidateEps, "candidate-epsilon", 0, "`ε` of one run")
	fs.Float64Var(&f.candidateDl, "candidate-delta", 0, "`δ` of one run")
	f.output.register(cmd)
	_ = cmd.MarkFlagFilename("plan", "yaml", "yml", "json")
	return cmd
}

// The JSON of the answer. The order of the keys is part of the interface.
type (
	selectJSON struct {
		Laws  []selectRow `json:"laws"`
		Notes []string    `json:"notes,omitempty"`
	}
	selectRow struct {
		Law     string        `json:"law"`
		Shape   *float64      `json:"shape"`
		Mean    float64       `json:"mean"`
		Gamma   *float64      `json:"gamma"`
		Epsilon selectEpsilon `json:"epsilon"`
		Delta   float64       `json:"delta"`
		Miss1   float64       `json:"miss-top-1-percent"`
		Miss5   float64       `json:"miss-top-5-percent"`
	}
	// null where the literature has no bound, or none that says anything.
	selectEpsilon struct {
		Tight           *float64 `json:"tight"`
		PapernotSteinke *float64 `json:"papernot-steinke"`
		Paper           *float64 `json:"paper"`
	}
)

// A selectCandidate is what is known about one run.
type selectCandidate struct {
	bound    selection.Bound
	smooth   selection.Bound // bound, cheaper to evaluate often
	curve    rdp.Curve       // nil: none is known
	declared bool
	eps, dl  float64 // when declared
}

func runSelect(cmd *cobra.Command, f selectFlags) error {
	set := cmd.Flags().Changed
	switch {
	case f.plan != "" && (set("candidate-epsilon") || set("candidate-delta")):
		return usageError{errors.New("--plan: not allowed together with --candidate-epsilon or --candidate-delta")}
	case f.plan == "" && !set("candidate-epsilon"):
		return usageError{errors.New("--plan: is missing; give a plan or --candidate-epsilon")}
	case f.plan != "" && !set("delta"):
		return usageError{errors.New("--delta: is missing; a plan is priced at a δ in (0, 1)")}
	case set("delta") && !(f.delta > 0 && f.delta < 1):
		return fmt.Errorf("--delta: %v is not in (0, 1)", f.delta)
	}
	c := selectCandidate{declared: f.plan == "", eps: f.candidateEps, dl: f.candidateDl}
	var err error
	if c.declared {
		if c.bound, err = selection.FromApproximate(c.eps, c.dl); err != nil {
			return fmt.Errorf("--candidate-%w", err)
		}
		if c.dl == 0 {
			if c.curve, err = rdp.Pure(c.eps); err != nil {
				return fmt.Errorf("--candidate-%w", err)
			}
		}
		c.smooth = c.bound
	} else if c.bound, c.smooth, c.curve, err = selectPlan(cmd, f.plan); err != nil {
		return err
	}

	var out selectJSON
	out.Laws, err = measured(cmd, "pricing", func(m *meter) (rows []selectRow, err error) {
		for _, mean := range f.means {
			for _, name := range f.laws {
				m.at(len(rows), len(f.means)*len(f.laws))
				row, err := selectLaw(cmd.Context(), f, c, name, mean)
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
		}
		return rows, nil
	})
	if err != nil {
		return err
	}
	for _, r := range out.Laws {
		if r.Epsilon.Paper != nil && (!c.declared || c.dl > 0) {
			out.Notes = append(out.Notes, "paper: Theorem 3.4 of Liu and Talwar, whose proof has a gap; no guarantee")
			break
		}
	}
	return f.print(cmd.OutOrStdout(), out, func(w io.Writer) error { return selectWriteTable(w, out) })
}

// selectPlan returns the certified δ(ε) of a plan, the same less exactly and
// interpolated, and its Rényi curve, nil when it has none.
func selectPlan(cmd *cobra.Command, path string) (bound, smooth selection.Bound, curve rdp.Curve, err error) {
	plan, err := readPlan(cmd, path)
	if err != nil {
		return nil, nil, nil, err
	}
	if bound, err = selectBound(cmd.Context(), plan, 1e-4); err == nil {
		smooth, err = selectBound(cmd.Context(), plan, 1e-3)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if curve, err = plan.RDP(); err != nil {
		curve = nil
	}
	return bound, smooth.Interpolated(), curve, nil
}

// selectLeast is a δ that no number of runs makes count. An ε that leaves less is not
// asked for: beyond the numbers, next to 0, nothing is gained by more work.
const selectLeast = 1e-300

// selectShare of the work of a question goes to each δ of one run.
const selectShare = 20

// selectBound returns the certified δ(ε) of a plan to a relative accuracy, each
// ε computed once.
func selectBound(ctx context.Context, plan *accountant.Plan, accuracy float64) (selection.Bound, error) {
	a := accountant.New(plan.Neighbors, accountant.WithAccuracy(accuracy), accountant.WithWorkLimit(fourier.DefaultWork(accuracy)/selectShare))
	if err := a.AddPlan(ctx, plan); err != nil {
		return nil, err
	}
	least, err := a.Epsilon(ctx, selectLeast)
	if err != nil {
		return nil, err
	}
	last := max(0, least.Upper)
	known := map[float64]float64{}
	delta := func(eps float64) (float64, error) {
		if eps >= last {
			return selectLeast, nil // δ never rises
		}
		if d, ok := known[eps]; ok {
			return d, nil
		}
		iv, err := a.Delta(ctx, eps)
		if err == nil {
			known[eps] = iv.Upper
		}
		return iv.Upper, err
	}
	if _, err := delta(0); err != nil {
		return nil, err
	}
	return selection.FromDelta(delta), nil
}

func selectLaw(ctx context.Context, f selectFlags, c selectCandidate, name string, mean float64) (selectRow, error) {
	cfg := selection.Config{Law: name, Mean: mean, Max: f.max}
	switch name {
	case "negative-binomial":
		cfg.Shape = f.shape
	case "fixed":
		cfg.Mean = 0
		if f.max == 0 {
			cfg.Max = int(min(math.Round(mean), 1e10))
		}
	case "binomial":
		if f.max == 0 {
			return selectRow{}, errors.New("--max: is missing; the binomial law needs its number of trials")
		}
	case "poisson":
		cfg.Max = 0
	}
	law, err := cfg.Build()
	if err != nil {
		return selectRow{}, fmt.Errorf("--%w", err)
	}
	row := selectRow{Law: name, Mean: law.Mean(), Miss1: law.PGF(0.99), Miss5: law.PGF(0.95), Delta: f.delta}
	if shape, ok := selection.Shape(law); ok {
		row.Shape = &shape
	}
	gamma, hasGamma := selection.Gamma(law)
	if hasGamma {
		row.Gamma = &gamma
	}
	price := selection.PriceOfBest(law)
	eta, family := selection.Shape(law)
	tight := math.Inf(1)
	if c.declared {
		e, d, err := price.Approximate(c.eps, c.dl)
		if err != nil {
			return selectRow{}, err
		}
		if f.delta == 0 {
			row.Delta = d
		}
		if d <= row.Delta {
			tight = e
			if family {
				row.Epsilon.PapernotSteinke = selectNumber(selection.PapernotSteinkePure(c.eps, eta))
			}
		}
	}
	if row.Delta > 0 && (f.delta > 0 || !c.declared) {
		if b, err := price.Profile(ctx, c.bound); err == nil {
			if e, err := b.Epsilon(ctx, row.Delta); err == nil {
				tight = min(tight, e)
			}
		}
		if c.curve != nil {
			// Only for Poisson laws can the way through Rényi curves be the shorter one.
			if curve, err := price.Curve(ctx, c.curve, c.smooth); !family && err == nil {
				if e, _, err := rdp.Epsilon(curve, row.Delta); err == nil {
					tight = min(tight, e)
				}
			}
			if ps, err := selectPapernotSteinke(c, law); err == nil {
				e, _, err := rdp.Epsilon(ps, row.Delta)
				if old := row.Epsilon.PapernotSteinke; old == nil || err == nil && e < *old {
					row.Epsilon.PapernotSteinke = selectNumber(e, err)
				}
			}
		}
	}
	if ctx.Err() != nil {
		return selectRow{}, ctx.Err()
	}
	row.Epsilon.Tight = selectNumber(tight, nil)
	if hasGamma && eta == 1 && f.max == 0 {
		row.Epsilon.Paper = selectPaper(ctx, c, gamma, f.delta)
	}
	return row, nil
}

// selectPapernotSteinke is their Theorem 2, and for Poisson laws their Theorem 6
// where it holds, μ ≥ 1.
func selectPapernotSteinke(c selectCandidate, law selection.Law) (rdp.Curve, error) {
	if c.curve == nil {
		return nil, errors.New("no Rényi curve")
	}
	if _, ok := selection.Shape(law); ok {
		return selection.PapernotSteinke(c.curve, law, nil, false)
	}
	if _, bounded := law.MaxRuns(); bounded || law.Mean() < 1 {
		return nil, errors.New("no bound for this law")
	}
	own := selection.FromCurve(c.curve)
	return rdp.Func(func(lambda float64) float64 {
		if math.IsInf(lambda, 1) {
			return lambda
		}
		v, err := selection.PapernotSteinkePoissonUnproved(c.curve, own, law.Mean(), lambda)
		if err != nil || math.IsNaN(v) {
			return math.Inf(1)
		}
		return max(0, v)
	}), nil
}

// selectPaper is what Liu and Talwar state: 3ε for pure candidates, and
// Theorem 3.4 otherwise, at half of δ for each of its terms.
func selectPaper(ctx context.Context, c selectCandidate, gamma, delta float64) *float64 {
	if c.declared && c.dl == 0 {
		return selectNumber(selection.LiuTalwarBest(c.eps))
	}
	if delta == 0 {
		return nil
	}
	delta2 := delta / 2
	eps, dl := c.eps, c.dl
	if !c.declared {
		runs := math.Ceil(math.Log(1/delta2) / gamma)
		dl = delta * delta / (8 * runs * runs) * (1 - 1e-9)
		var err error
		if eps, err = c.bound.Epsilon(ctx, dl); err != nil {
			return nil
		}
	}
	e, d, _, err := selection.LiuTalwarApproximateUnproved(eps, dl, gamma, delta2)
	if err == nil && d > delta {
		return nil
	}
	return selectNumber(e, err)
}

func selectNumber(x float64, err error) *float64 {
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func selectWriteTable(w io.Writer, out selectJSON) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "law\tshape\tγ\truns\tmiss 1 %\tmiss 5 %\tε paper\tε Papernot–Steinke\tε tight\tδ\t")
	for _, r := range out.Laws {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4f\t%.4f\t%s\t%s\t%s\t%s\t\n", r.Law, selectCell(r.Shape, "%g"),
			selectCell(r.Gamma, "%.4g"), r.Mean, r.Miss1, r.Miss5,
			selectUp(r.Epsilon.Paper), selectUp(r.Epsilon.PapernotSteinke), selectUp(r.Epsilon.Tight), rounded(r.Delta, 4, up))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range out.Notes {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

func selectCell(x *float64, format string) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, *x)
}

// selectUp prints an upper bound with five digits, rounded up.
func selectUp(x *float64) string {
	if x == nil {
		return "–"
	}
	return rounded(*x, 5, up)
}
