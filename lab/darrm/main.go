// Command darrm regenerates the figures and budget tables of Jiang, Zhang and Joshi, "Optimized
// Tradeoffs for Private Prediction with Majority Ensembling". It uses the library alone, and writes
// them with a report to a directory.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func main() {
	out := plots.OutFlag("docs/experiments")
	flag.Parse()
	e := &experiment{dir: out(), votes: "lab/votes/testdata", ctx: context.Background()}
	try.Main(func() {
		plots.WritePage(out(), "darrm", e.report())
	})
}

// An experiment collects the report.
type experiment struct {
	dir   string
	votes string
	ctx   context.Context
	page  plots.Values
}

// A curve is a noise function with its name.
type curve struct {
	name  string
	gamma darrm.Gamma
}

// families returns the noise functions that the paper compares, at one budget.
// tau and lambda describe the noise-free majority for the paper's constant.
func (e *experiment) families(p darrm.Params, tau, lambda float64) []curve {
	m := int(p.Allowance)
	sub := try.Must(darrm.Subsampling(p.Mechanisms, m))
	double := try.Must(darrm.DoubleSubsampling(p.Mechanisms, m))
	c := try.Must(darrm.RRConstant(p.Epsilon, p.Allowance, tau, lambda, p.OutputDelta))
	return []curve{
		{"optimal", e.optimal(p, 0.75)},
		{"double", double},
		{"subsampling", sub},
		{"paper's constant", try.Must(darrm.Constant(p.Mechanisms, c))},
	}
}

func (e *experiment) optimal(p darrm.Params, mean float64) darrm.Gamma {
	r := try.Must(darrm.Optimize(e.ctx, p, darrm.Surrogate{Mean: mean}, darrm.Options{}))
	return r.Gamma
}

func same(p float64, k int) []float64 { return slices.Repeat([]float64{p}, k) }

//go:embed page.tmpl
var pageText string

// report draws the figures and returns the page.
func (e *experiment) report() []byte {
	e.page = plots.Values{}
	lambda := -math.Expm1(11 * math.Log1p(-1e-5))
	e.noiseAndError("darrm-figure2", e.panels(darrm.Params{Mechanisms: 11, Epsilon: 0.1, Delta: 1e-5}, 11, lambda, 1, 3, 5, 7), 0)
	e.figure6()
	e.noiseAndError("darrm-figure7", e.panels(darrm.Params{Mechanisms: 11, Epsilon: 0.1}, 11, 0, 1, 3, 5, 7, 9, 11), 0)
	e.figure8()
	e.figure9()
	e.figure10()
	e.budgets()
	e.teachers()
	e.prediction()
	e.composition()
	e.digits()
	return e.page.Page(pageText)
}

// panels returns one for each allowance of p.
func (e *experiment) panels(p darrm.Params, tau, lambda float64, allowances ...float64) (out []panel) {
	for _, m := range allowances {
		p.Allowance = m
		out = append(out, panel{fmt.Sprintf("m = %g", m), e.families(p.WithDefaultDelta(), tau, lambda)})
	}
	return out
}

func (e *experiment) figure6() {
	tau, lambda := try.Must2(darrm.GeneralComposition(0.1, 1e-5, 35, 0.1))
	var panels []panel
	for _, count := range []int{10, 13, 15, 20} {
		budget, delta, _ := darrm.GeneralComposition(0.1, 1e-5, count, 0.1)
		p := darrm.Params{Mechanisms: 35, Epsilon: 0.1, Delta: 1e-5, Allowance: budget / 0.1, OutputDelta: delta}
		r := try.Must(darrm.Optimize(e.ctx, p, darrm.Surrogate{Mean: 0.75}, darrm.Options{}))
		shape := "γ ≡ 1"
		if r.Gamma[18] < 1 {
			shape = fmt.Sprintf("γ(18) = %.6f", r.Gamma[18])
		}
		cs := e.families(p, tau/0.1, lambda)
		// The paper's subsampling baseline draws M votes at this budget.
		sub, _ := darrm.Subsampling(35, count)
		cs[1], cs[2] = curve{"subsampling of M", sub}, cs[3]
		cs = cs[:3]
		panels = append(panels, panel{fmt.Sprintf("M = %d", count), cs})
		e.page.Add("figure6", "| %d | %.4f | %.4f | %.4f | %.4f | %.4f | %.6f | %.6f | %.6f | %s |\n", count, p.Allowance, budget, delta, tau/0.1, lambda,
			cs[2].gamma[0], r.Certificate.MaxF, r.Certificate.BudgetF, shape)
	}
	e.noiseAndError("darrm-figure6", panels, 0)
}

func (e *experiment) figure8() {
	allowances := []float64{10, 20, 30, 40, 60, 80}
	panels := e.panels(darrm.Params{Mechanisms: 101, Epsilon: 0.1}, 101, 0, allowances...)
	e.noiseAndError("darrm-figure8", panels, 1e-8)
	for i, pn := range panels {
		m := allowances[i]
		e.page.Add("figure8", "| %g |", m)
		for _, c := range pn.curves {
			v, _ := darrm.ExpectedError(c.gamma, 0.75)
			e.page.Add("figure8", " %.3g |", v)
		}
		c, _ := try.Must2(darrm.BestConstant(e.ctx, darrm.Params{Mechanisms: 101, Epsilon: 0.1, Allowance: m}))
		g, _ := darrm.Constant(101, c)
		v, _ := darrm.ExpectedError(g, 0.75)
		e.page.Add("figure8", " %.3g |\n", v)
	}
}

func (e *experiment) figure9() {
	for _, m := range []float64{3, 5} {
		p := darrm.Params{Mechanisms: 11, Epsilon: 0.1, Allowance: m}
		cs := e.families(p, 11, 0)
		peaked := e.optimal(p, 0.85)
		cs[0].name = "opt-U"
		cs = append(cs, curve{"opt-P", peaked})
		for _, i := range []int{0, 4, 2, 1, 3} {
			u := try.Must(darrm.TrueError{Low: 0, High: 1, Samples: 20000, Seed: 9}.Average(cs[i].gamma))
			d, _ := darrm.Disagreement(cs[i].gamma, same(0.5, 11))
			// The error is linear in the laws as long as all p are on one side of ½.
			low, _ := darrm.Error(cs[i].gamma, same(0.05, 11))
			e.page.Add("figure9", "| %g | %s | %.4f | %.4f | %.3g |\n", m, cs[i].name, u, d, low)
		}
	}
}

func (e *experiment) figure10() {
	for i, eps := range []float64{0.2676, 0.2556} {
		s, l := gnmaxNoise(eps, 0.0003)
		e.page.Add("figure10", "| %s | (%g, 0.0003) | %.4f | %.6f |\n", []string{"MNIST", "Fashion-MNIST"}[i], eps, l, s)
	}
	e.gnmaxPlot("darrm-figure10")
}

func (e *experiment) budgets() {
	for _, m := range []float64{1, 3, 5, 7} {
		for _, q := range []int{20, 50, 100} {
			a, d := try.Must2(darrm.GeneralComposition(m*0.0892, m*1e-4, q, 1e-4))
			b, _, _ := darrm.GeneralComposition(m*0.0852, m*1e-4, q, 1e-4)
			e.page.Add("budgets", "| %g | %d | (%.3f, %.3f) | (%.3f, %.3f) |\n", m, q, a, d, b, d)
		}
	}
}

// composition compares the paper's bill for Q queries with that of the
// profiles.
func (e *experiment) composition() {
	const eps, delta = 0.0892, 1e-4
	for _, m := range []float64{1, 3, 5} {
		p := darrm.Params{Mechanisms: 11, Epsilon: eps, Delta: delta, Allowance: m}.WithDefaultDelta()
		for _, c := range e.families(p, 11, -1+1/math.Pow(1-delta, 11))[:3] {
			mech := try.Must(p.Mechanism(e.ctx, profiles.AddRemove, c.gamma, 1, 1e-5))
			for _, q := range []int{20, 50, 100} {
				general, total := try.Must2(darrm.GeneralComposition(m*eps, m*delta, q, delta))
				acct := accountant.New(mech.Relation)
				try.Check(acct.AddBounds(mech, int64(q)))
				iv := try.Must(acct.Epsilon(e.ctx, total))
				e.page.Add("composition", "| %g | %d | %.5f | %.4f | %s | %.4f | %.4f | %.0f %% |\n", m, q, total, general, c.name, iv.Lower, iv.Upper, 100*iv.Upper/general)
			}
		}
	}
}

// teachers compares what the optimum errs where a teacher is known by (ε, Δ) alone, which is how the paper reads its training, and
// where it is known by δ(ε) at every ε.
func (e *experiment) teachers() {
	const k, eps, delta, records, batch, steps = 11, 0.0892, 1e-4, 1024, 39, 132
	noise := try.Must(profiles.NewGaussianMechanism(12))
	sample := try.Must(subsample.NewPoisson(batch / float64(records)))
	one := accountant.New(profiles.AddRemove)
	try.Check(one.Add(e.ctx, accountant.Step{Mechanism: noise, Sampling: sample}, steps))
	e.page["teachers"], e.page["teacherEpsilon"], e.page["teacherDelta"] = k, eps, delta
	e.page["teacherSteps"], e.page["teacherBatch"], e.page["teacherRecords"] = steps, batch, records
	e.page["trainingEpsilon"] = try.Must(one.Epsilon(e.ctx, delta)).Upper
	last := try.Must(one.Epsilon(e.ctx, 1e-12)).Upper
	var epsilons, deltas []float64
	for i := range 40 {
		epsilons = append(epsilons, last*float64(i)/39)
	}
	for _, p := range try.Must(one.DeltaCurve(e.ctx, epsilons)) {
		deltas = append(deltas, p.Upper)
	}
	voters := try.Must(darrm.Voters{Count: k}.WithCurve(profiles.AddRemove, epsilons, deltas))
	for _, m := range []float64{1, 2, 3, 5} {
		p := darrm.Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: m}.WithDefaultDelta()
		declared := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		p.Voters = []darrm.Voters{voters}
		known := try.Must(darrm.ExpectedError(e.optimal(p, 0.75), 0.75))
		sub := try.Must(darrm.ExpectedError(try.Must(darrm.Subsampling(k, int(m))), 0.75))
		e.page.Add("known", "| %g | %.4f | %.4g | %.4f |\n", m, declared, known, sub)
	}
}
