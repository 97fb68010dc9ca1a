package service

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// This file prices private selection: the best of a random number of runs. One run is a
// plan, or is declared by its guarantee; each law of the number of runs is a line.

// SelectRequest has one run, the laws of the number of runs to compare, and the δ that ε
// is asked for.
type SelectRequest struct {
	Plan             PlanText  `json:"plan,omitempty" or:"candidate-epsilon" not:"candidate-epsilon,candidate-delta" with:"delta" help:"plan {file} of one run (- reads standard input)"`
	CandidateEpsilon *float64  `json:"candidate-epsilon,omitempty" help:"{ε} of one run"`
	CandidateDelta   *float64  `json:"candidate-delta,omitempty" help:"{δ} of one run"`
	Laws             []string  `json:"law,omitempty" one:"geometric,logarithmic,negative-binomial,poisson,binomial,fixed" help:"{laws} to compare: geometric, logarithmic, negative-binomial, poisson, binomial, fixed"`
	Shape            *float64  `json:"shape,omitempty" preset:"0.5" help:"{shape} of the negative-binomial law, above -1"`
	Means            []float64 `json:"mean,omitempty" preset:"10" help:"expected {runs}; several with commas"`
	Max              int       `json:"max,omitempty" help:"largest number of {runs}: the law is conditioned on it (fixed, binomial: number of runs, of trials)"`
	FirstAbove       bool      `json:"first-above,omitempty" help:"price the first outcome above a threshold instead of the best (geometric laws)"`
	Delta            Decimals  `json:"delta,omitempty" in:"(0, 1)" help:"{δ} that ε is asked for, several with commas between them"`
	Caps
}

// SelectLaws are the laws that are compared where a request names none.
var SelectLaws = []string{"logarithmic", "negative-binomial", "geometric", "poisson"}

// SelectAnswer has a line for each law and mean.
type SelectAnswer struct {
	Laws  []SelectedLaw `json:"laws" py:",return"`
	Notes []string      `json:"notes,omitempty"`
}

// SelectedLaw is what the whole search costs by one law.
type SelectedLaw struct {
	Law     string        `json:"law"`
	Shape   *float64      `json:"shape"`
	Mean    float64       `json:"mean"`
	Gamma   *float64      `json:"gamma"`
	Epsilon SelectEpsilon `json:"epsilon" py:"*"`
	Delta   float64       `json:"delta"`
	Miss1   float64       `json:"miss-top-1-percent"`
	Miss5   float64       `json:"miss-top-5-percent"`
}

// SelectEpsilon has nil where the literature has no bound, or none that says anything. The
// ε of the search lies between Lower, which an attack reaches, and Tight, which is proved.
type SelectEpsilon struct {
	Lower           *float64 `json:"lower"`
	Tight           *float64 `json:"tight" py:"epsilon"`
	PapernotSteinke *float64 `json:"papernot-steinke"`
	Paper           *float64 `json:"paper"`
}

// A selectCandidate is what is known about one run.
type selectCandidate struct {
	bound    selection.Bound
	smooth   selection.Bound // bound, cheaper to evaluate often
	curve    rdp.Curve       // nil: none is known
	both     *selection.Candidate
	declared bool
	eps, dl  float64 // when declared
}

// shape reports which keys do not go together.
func (q SelectRequest) shape() error {
	if n := max(1, len(q.Means)) * max(1, len(q.Laws)) * max(1, len(q.Delta)); n > maxAsked {
		return shape("%s, %s and %s make more than 1000 lines", "mean", "law", "delta")
	}
	return nil
}

// selection prices private selection.
func (s *Service) selection(ctx context.Context, q SelectRequest) (SelectAnswer, error) {
	if q.Laws == nil {
		q.Laws = SelectLaws
		if q.FirstAbove {
			q.Laws = []string{"geometric"}
		}
	}
	c, err := q.candidate(ctx)
	if err != nil {
		return SelectAnswer{}, err
	}
	var out SelectAnswer
	deltas := q.Delta.floats()
	if deltas == nil {
		deltas = []float64{0} // not asked for
	}
	for _, delta := range deltas {
		for _, mean := range q.Means {
			for _, name := range q.Laws {
				report(ctx, Progress{Done: len(out.Laws), Total: len(deltas) * len(q.Means) * len(q.Laws)})
				row, err := q.law(ctx, c, name, mean, delta)
				if err != nil {
					return SelectAnswer{}, err
				}
				out.Laws = append(out.Laws, row)
			}
		}
	}
	if why := reached(ctx); why != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("%v: what is proved is wider than need be", why))
	}
	for _, r := range out.Laws {
		if r.Epsilon.Paper != nil && (!c.declared || c.dl > 0) {
			out.Notes = append(out.Notes, "paper: Theorem 3.4 of Liu and Talwar, whose proof has a gap; no guarantee")
			break
		}
	}
	return out, nil
}

// candidate returns what is known of one run: what it declares, or the certified δ(ε) of
// a plan, the same less exactly and interpolated, and its Rényi curve, if it has one.
func (q SelectRequest) candidate(ctx context.Context) (c selectCandidate, err error) {
	if q.Plan == nil {
		c.declared, c.eps = true, *q.CandidateEpsilon
		c.dl = orZero(q.CandidateDelta)
		if c.bound, err = selection.FromApproximate(c.eps, c.dl); err == nil {
			c.both, err = declaredCandidate(c.eps, c.dl)
		}
		if err == nil && c.dl == 0 {
			c.curve, err = rdp.Pure(c.eps)
		}
		c.smooth = c.bound
		return c, renamed(err, "epsilon", "candidate-epsilon", "delta", "candidate-delta")
	}
	plan, err := q.Plan.parse(ctx)
	if err != nil {
		return c, err
	}
	_, work := parallel.Work(ctx)
	a, err := newAccountant(ctx, plan, []accountant.Options{{Accuracy: 1e-4, WorkLimit: work / selectShare}})
	if err != nil {
		return c, err
	}
	if c.bound, err = selectBound(ctx, a); err != nil {
		return c, err
	}
	if c.both, err = a.Candidate(ctx); err != nil {
		return c, err
	}
	c.smooth = c.bound.Interpolated()
	if c.curve, err = plan.RDP(); err != nil {
		c.curve = nil
	}
	return c, nil
}

// declaredCandidate is the worst candidate with a guarantee, which is one.
func declaredCandidate(eps, delta float64) (*selection.Candidate, error) {
	m, err := profiles.NewApproximate(eps, delta)
	if err != nil {
		return nil, err
	}
	b, err := profiles.Unsampled(context.Background(), m, profiles.AddRemove)
	if err != nil {
		return nil, err
	}
	return selection.CandidateOf(b), nil
}

// selectLeast is a δ that no number of runs makes count. An ε that leaves less is not
// asked for: beyond the numbers, next to 0, nothing is gained by more work.
const selectLeast = 1e-300

// selectShare of the work of a question goes to each δ of one run.
const selectShare = 20

// selectBound returns the certified δ(ε) of a plan, each ε computed once.
func selectBound(ctx context.Context, a *accountant.Accountant) (selection.Bound, error) {
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
		if reached(ctx) != nil {
			least := 1.0
			for e, d := range known {
				if e <= eps {
					least = min(least, d)
				}
			}
			return least, nil
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

// build returns the law of the number of runs.
func (q SelectRequest) build(name string, mean float64) (selection.Law, error) {
	cfg := selection.Config{Law: name, Mean: mean, Max: q.Max}
	switch name {
	case "negative-binomial":
		cfg.Shape = *q.Shape
	case "fixed":
		cfg.Mean = 0
		if q.Max == 0 {
			cfg.Max = int(min(math.Round(mean), 1e10))
		}
	case "binomial":
		if q.Max == 0 {
			return nil, fault.New("max", "is missing; the binomial law needs its number of trials")
		}
	case "poisson":
		cfg.Max = 0
	}
	return cfg.Build()
}

// selectTable is how much ε reading one run from a table may cost.
const selectTable = 1e-5

// law prices one law at a δ, 0 for none.
func (q SelectRequest) law(ctx context.Context, c selectCandidate, name string, mean, delta float64) (SelectedLaw, error) {
	law, err := q.build(name, mean)
	if err != nil {
		return SelectedLaw{}, err
	}
	row := SelectedLaw{Law: name, Mean: law.Mean(), Miss1: law.PGF(0.99), Miss5: law.PGF(0.95), Delta: delta}
	eta, gamma, family := law.Family()
	if family {
		row.Shape, row.Gamma = &eta, &gamma
	}
	price := selection.PriceOfBest(law)
	if q.FirstAbove {
		if price, err = selection.PriceOfFirstAbove(law); err != nil {
			return SelectedLaw{}, err
		}
	}
	tight, lower := math.Inf(1), 0.0
	if c.declared {
		e, d, err := price.Approximate(c.eps, c.dl)
		if err != nil {
			return SelectedLaw{}, err
		}
		if delta == 0 {
			row.Delta = d
		}
		if d <= row.Delta {
			tight = e
			if family && !q.FirstAbove {
				row.Epsilon.PapernotSteinke = selectNumber(selection.PapernotSteinkePure(c.eps, eta))
			}
		}
	}
	if lo, hi, err := price.Epsilon(ctx, c.both, row.Delta, selectTable); err == nil {
		lower, tight = lo, min(tight, hi)
		lower = min(lower, tight) // both are of the same truth: only rounding parts them
	}
	if row.Delta > 0 && (delta > 0 || !c.declared) {
		if b, err := price.Profile(ctx, c.bound); err == nil {
			if e, err := b.Epsilon(ctx, row.Delta); err == nil {
				tight = min(tight, e)
			}
		}
		if c.curve != nil {
			if !family {
				// Only for Poisson laws can the way through Rényi curves be the shorter one.
				if curve, err := price.Curve(ctx, c.curve, c.smooth); err == nil {
					if e, _, err := rdp.Epsilon(curve, row.Delta); err == nil {
						tight = min(tight, e)
					}
				}
			}
			if ps, err := selectPapernotSteinke(c, law); err == nil && !q.FirstAbove {
				e, _, err := rdp.Epsilon(ps, row.Delta)
				if old := row.Epsilon.PapernotSteinke; old == nil || err == nil && e < *old {
					row.Epsilon.PapernotSteinke = selectNumber(e, err)
				}
			}
		}
	}
	if ctx.Err() != nil {
		return SelectedLaw{}, ctx.Err()
	}
	row.Epsilon.Tight, row.Epsilon.Lower = selectNumber(tight, nil), selectNumber(lower, nil)
	if family && eta == 1 && q.Max == 0 && !q.FirstAbove {
		row.Epsilon.Paper = selectPaper(ctx, c, gamma, delta)
	}
	return row, nil
}

// selectPapernotSteinke is their Theorem 2, and for Poisson laws their Theorem 6
// where it holds, μ ≥ 1.
func selectPapernotSteinke(c selectCandidate, law selection.Law) (rdp.Curve, error) {
	if c.curve == nil {
		return nil, errors.New("no Rényi curve")
	}
	if _, _, ok := law.Family(); ok {
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

// selectPaper is what Liu and Talwar state: 3ε for pure candidates (the (2+η)ε of
// Papernot and Steinke for η = 1), and Theorem 3.4 otherwise, at half of δ for each of its
// terms.
func selectPaper(ctx context.Context, c selectCandidate, gamma, delta float64) *float64 {
	if c.declared && c.dl == 0 {
		return selectNumber(selection.PapernotSteinkePure(c.eps, 1))
	}
	if delta == 0 {
		return nil
	}
	delta2 := delta / 2
	eps, dl := c.eps, c.dl
	if !c.declared {
		runs := math.Ceil(xmath.Log(1/delta2) / gamma)
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
