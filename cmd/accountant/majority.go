package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
)

type majorityFlags struct {
	mechanisms                   int
	epsilon, deltaEach           float64
	allowance, outputDelta, mean float64
	gamma, objective, plot       string
	monotone, disjoint           bool
	output
}

// A majorityAnswer is what the command prints, as JSON with --json.
type majorityAnswer struct {
	Gamma     darrm.Gamma `json:"gamma"`
	Objective float64     `json:"objective"`
	// Gap is how far the objective may be below the largest one, for --gamma optimal.
	Gap       *float64 `json:"gap,omitempty"`
	MaxF      float64  `json:"max-f"`
	BudgetF   float64  `json:"budget-f"`
	Certified bool     `json:"certified"`
	// Error is the expected error of the answer (chosen) and of the other noise
	// functions that keep the same budget.
	Error map[string]float64 `json:"error"`

	families []majorityFamily
	proof    string
}

// rows has a row for each number of votes.
func (a *majorityAnswer) rows() any {
	type row struct {
		Votes int     `json:"votes"`
		Gamma float64 `json:"gamma"`
	}
	var t struct {
		Objective float64            `json:"objective"`
		MaxF      float64            `json:"max-f"`
		BudgetF   float64            `json:"budget-f"`
		Certified bool               `json:"certified"`
		Error     map[string]float64 `json:"error"`
		Rows      []row
	}
	t.Objective, t.MaxF, t.BudgetF, t.Certified, t.Error = a.Objective, a.MaxF, a.BudgetF, a.Certified, a.Error
	for votes, gamma := range a.Gamma {
		t.Rows = append(t.Rows, row{votes, gamma})
	}
	return t
}

type majorityFamily struct {
	name  string
	gamma darrm.Gamma
}

func newMajorityCmd() *cobra.Command {
	f := &majorityFlags{}
	cmd := &cobra.Command{
		Use:   "majority --mechanisms K --epsilon ε --allowance m",
		Short: "Find the noise function of a private majority of K mechanisms",
		Long: `majority finds with what probability γ(l) the majority of K independent
(ε, Δ)-DP yes/no mechanisms may be told truthfully when l of them say yes, so
that the answer is (mε, δ)-DP, and certifies it.

Mechanisms on disjoint shards of the data need no noise: say --disjoint-shards.`,
		Example: `  accountant majority --mechanisms 11 --epsilon 0.1 --allowance 3
  accountant majority --mechanisms 35 --epsilon 0.1 --allowance 5 --delta-each 1e-5 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMajority(cmd, f)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&f.mechanisms, "mechanisms", 0, "number `K` of mechanisms, odd (required)")
	fs.Float64Var(&f.epsilon, "epsilon", 0, "`ε` of every mechanism (required)")
	fs.Float64Var(&f.allowance, "allowance", 0, "`m`: the answer may cost m times ε (required)")
	fs.Float64Var(&f.deltaEach, "delta-each", 0, "`Δ` of every mechanism")
	fs.Float64Var(&f.outputDelta, "output-delta", 0, "`δ` of the answer (default 1 − (1−Δ)^m)")
	f.gamma, f.objective = "optimal", "error"
	addChoice(cmd, &f.gamma, "gamma", "noise `function`: optimal, subsampling, double or constant", "optimal", "subsampling", "double", "constant")
	addChoice(cmd, &f.objective, "objective", "what optimal means: error (of votes above ½), disagreement or common-p", "error", "disagreement", "common-p")
	fs.Float64Var(&f.mean, "prior-mean", 0.75, "mean vote probability of the objective")
	fs.BoolVar(&f.monotone, "monotone", true, "let clearer majorities be answered at least as truthfully")
	fs.BoolVar(&f.disjoint, "disjoint-shards", false, "the mechanisms run on disjoint shards of the records")
	fs.StringVar(&f.plot, "plot", "", "draw the noise functions to a `file` (.svg, .png or .pdf)")
	f.output.register(cmd)
	_ = cmd.MarkFlagFilename("plot", pictures...)
	for _, name := range []string{"mechanisms", "epsilon", "allowance"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

func runMajority(cmd *cobra.Command, f *majorityFlags) error {
	p := darrm.Params{Mechanisms: f.mechanisms, Epsilon: f.epsilon, Delta: f.deltaEach, Allowance: f.allowance, OutputDelta: f.outputDelta}
	if !cmd.Flags().Changed("output-delta") {
		p = p.WithDefaultDelta()
	}
	if err := p.Check(); err != nil {
		return asFlag(err, map[string]string{"delta": "delta-each"})
	}
	var o darrm.Objective
	switch f.objective {
	case "error":
		o = darrm.Surrogate{Mean: f.mean}
	case "disagreement":
		o = darrm.FewestDisagreements{Mean: f.mean}
	case "common-p":
		o = darrm.CommonUniform{}
	}
	if f.plot != "" {
		if err := pictureFormat("plot", f.plot); err != nil {
			return err
		}
	}
	a, err := measured(cmd, "linear programs", func(m *meter) (*majorityAnswer, error) { return answerMajority(cmd.Context(), m, p, o, f) })
	if err != nil {
		return flagged(cmd, err)
	}
	if f.plot != "" {
		p, err := majorityPlot(a.families)
		if err != nil {
			return err
		}
		if err := savePicture(p, 6*vg.Inch, 4*vg.Inch, f.plot); err != nil {
			return err
		}
	}
	return f.output.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
		a.print(w, p, f)
		return nil
	})
}

// answerMajority computes the noise function asked for and those to compare
// it with.
func answerMajority(ctx context.Context, m *meter, p darrm.Params, o darrm.Objective, f *majorityFlags) (*majorityAnswer, error) {
	a := &majorityAnswer{Error: map[string]float64{}, proof: "computed over all corner multisets"}
	var cert darrm.Certificate
	var err error
	allowance := int(math.Floor(p.Allowance))
	// What the subsampling families are proved to need (docs/darrm.md, Theorem 2).
	needs := func(t int) float64 { return -math.Expm1(float64(t) * math.Log1p(-p.Delta)) }
	sub, double := floats(darrm.Subsampling(p.Mechanisms, allowance)), floats(darrm.DoubleSubsampling(p.Mechanisms, allowance))
	double2 := min(allowance, (p.Mechanisms+1)/2)
	subOK, doubleOK := p.OutputDelta >= needs((allowance+1)/2), p.OutputDelta >= needs(double2)
	best, bestCert, err := darrm.BestConstant(ctx, p)
	if err != nil {
		return nil, err
	}
	fixed, err := darrm.Constant(p.Mechanisms, best)
	if err != nil {
		return nil, err
	}
	byTheorem := func(g darrm.Gamma, ok bool) error {
		if !ok {
			return fault.New("output-delta", "%v is below what --gamma %s is proved to need", p.OutputDelta, f.gamma)
		}
		a.Gamma, a.proof = g, "Theorem 2 of docs/darrm.md, for the exact sampler"
		if cert, err = darrm.Certify(ctx, p, g); err != nil {
			return err
		}
		// The floats printed round the exact noise function.
		cert.Certified, cert.MaxF = true, min(cert.MaxF, cert.BudgetF)
		return nil
	}
	switch {
	case f.disjoint:
		if a.Gamma, err = darrm.Constant(p.Mechanisms, 1); err != nil {
			return nil, err
		}
		// One vote moves: the majority is as private as one mechanism.
		a.proof = "parallel composition: the noise-free majority costs what one mechanism costs"
		one := p
		one.Mechanisms, one.Allowance = 1, 1
		if cert, err = darrm.Certify(ctx, one, darrm.Gamma{1, 1}); err != nil {
			return nil, err
		}
		cert.BudgetF = p.BudgetF()
		cert.Certified, cert.MaxF = true, min(cert.MaxF, cert.BudgetF)
	case f.gamma == "optimal":
		opt := darrm.Options{Free: !f.monotone, Progress: func(round int, excess float64) {
			m.note(fmt.Sprintf("round %d, worst constraint %.2g above the budget", round, max(excess, 0)))
		}}
		r, err := darrm.Optimize(ctx, p, o, opt)
		if err != nil {
			return nil, err
		}
		a.Gamma, a.Gap, cert = r.Gamma, &r.Gap, r.Certificate
	case f.gamma == "subsampling":
		if err := byTheorem(sub, subOK); err != nil {
			return nil, err
		}
	case f.gamma == "double":
		if err := byTheorem(double, doubleOK); err != nil {
			return nil, err
		}
	case f.gamma == "constant":
		a.Gamma, cert = fixed, bestCert
	}
	a.MaxF, a.BudgetF, a.Certified = cert.MaxF, cert.BudgetF, cert.Certified
	if a.Objective, _, err = darrm.Value(o, a.Gamma); err != nil {
		return nil, err
	}
	a.families = []majorityFamily{{"chosen", a.Gamma}}
	if subOK {
		a.families = append(a.families, majorityFamily{"subsampling", sub})
	}
	if doubleOK {
		a.families = append(a.families, majorityFamily{"double", double})
	}
	a.families = append(a.families, majorityFamily{"constant", fixed})
	for _, fam := range a.families {
		// Means of ½ or less have no error objective; the uniform prior stands in.
		mean := f.mean
		if mean <= 0.5 {
			mean = 0.75
		}
		if a.Error[fam.name], err = darrm.ExpectedError(fam.gamma, mean); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func floats(exact []*big.Rat, err error) darrm.Gamma {
	if err != nil {
		return nil // Params.Check has been passed
	}
	return darrm.Float64s(exact)
}

func (a *majorityAnswer) print(w io.Writer, p darrm.Params, f *majorityFlags) {
	fmt.Fprintf(w, "budget      (%.6g, %.6g)-DP for the majority of %d mechanisms, each (%g, %g)-DP\n",
		p.Allowance*p.Epsilon, p.OutputDelta, p.Mechanisms, p.Epsilon, p.Delta)
	fmt.Fprintf(w, "certified   %v: %s\n", a.Certified, a.proof)
	fmt.Fprintf(w, "max f       %.12g of at most %.12g\n", a.MaxF, a.BudgetF)
	fmt.Fprintf(w, "objective   %.12g\n", a.Objective)
	// What rounding leaves is not worth a line.
	if a.Gap != nil && *a.Gap > 1e-9*a.Objective {
		fmt.Fprintf(w, "gap         the largest objective is at most %s more\n", rounded(*a.Gap, 2, up))
	}
	fmt.Fprintln(w, "expected error")
	for _, fam := range a.families {
		fmt.Fprintf(w, "  %-12s %.6g\n", fam.name, a.Error[fam.name])
	}
	fmt.Fprintln(w, "votes for the majority, probability γ of telling it")
	for l := (p.Mechanisms + 1) / 2; l <= p.Mechanisms; l++ {
		fmt.Fprintf(w, "  %5d      %.15g\n", l, a.Gamma[l])
	}
}

func majorityPlot(families []majorityFamily) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Noise functions of equal budget"
	p.X.Label.Text = "votes for 1"
	p.Y.Label.Text = "γ"
	p.Y.Min = 0
	for i, fam := range families {
		xy := make(plotter.XYs, len(fam.gamma))
		for l, v := range fam.gamma {
			xy[l] = plotter.XY{X: float64(l), Y: v}
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		line.Color, points.Color = plotutil.Color(i), plotutil.Color(i)
		line.Dashes, points.Shape = plotutil.Dashes(i), plotutil.Shape(i)
		if len(xy) > 60 {
			points.Radius = vg.Points(1)
		}
		p.Add(line, points)
		p.Legend.Add(fam.name, line, points)
	}
	// Room for the legend above the curves, whatever their shape.
	p.Legend.Top = true
	p.Y.Max = 1.45
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 0.25, Label: "0.25"}, {Value: 0.5, Label: "0.5"}, {Value: 0.75, Label: "0.75"}, {Value: 1, Label: "1"}})
	return p, nil
}
