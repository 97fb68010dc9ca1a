package accountant

// What a plan is worth in μ of Gaussian differential privacy: exactly, where all of it is
// Gaussian noise on the whole data set, else at a tolerance (package internal/mu); and the value of
// a quantity that meets a budget in μ.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/mu"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// SquaredMu returns Σμ² of a plan of steps on the whole data set that are μ-GDP (profiles.Mu), rounded up:
// the plan is √Σμ²-GDP (Dong, Roth and Su, JRSS-B 2022, corollary 3.3), and each step may be
// chosen in the light of outputs if a rdp.GaussianFilter admits it. Relation: the plan's; substituting
// a record doubles μ. Any other mechanism, a sample or a selection is an error that
// names it.
// A person with k records makes μ k times as large.
func (p *Plan) SquaredMu() (float64, error) {
	sum, err := squaredMu(p.Steps, p.Neighbors)
	if k := float64(p.Records()); k > 1 {
		sum = xmath.Up(sum*(k*k), 1) // k² is exact, as k ≤ 2^20
	}
	return sum, err
}

func squaredMu(steps []Step, r profiles.Relation) (float64, error) {
	sum := 0.0
	for i, s := range steps {
		one, err := func() (float64, error) {
			switch {
			case s.Selection != nil:
				return 0, fault.New("selection", "has no known μ")
			case s.Disjoint != nil:
				return 0, fault.New("disjoint", "is not a release to all records")
			case s.Mechanism == nil:
				return squaredMu(s.Steps, r)
			case s.Sampling != nil:
				return 0, fault.New("sampling", "%s: the loss of a sampled step is not Gaussian", s.Sampling.Name())
			}
			mu, err := profiles.Mu(s.Mechanism, r)
			if err != nil {
				return 0, err
			}
			return xmath.Up(mu*mu, 1), nil
		}()
		if err != nil {
			return 0, fault.In(fmt.Sprintf("steps[%d]", i), err)
		}
		if one > 0 {
			sum = xmath.Up(sum+xmath.Up(one*float64(max(1, s.Count)), 1), 1)
		}
	}
	return sum, nil
}

// A GDP says how much Gaussian differential privacy a plan has, at a tolerance.
type GDP struct {
	// Mu is the least μ for which every test with a false-positive rate x has at most
	// the power that it could have under μ-GDP, plus Tolerance.
	Mu        Range
	Tolerance float64
	// Regret is the most by which μ-GDP, at Mu.Upper, overstates δ at any ε (which is the
	// power of tests at any false-positive rate): at most that is lost by speaking of μ.
	Regret   float64
	Warnings []string
}

// gdpShare: so many parts of the work of a question go, at least, to each look at where the curve ends.
const gdpShare = 16

// GDP returns μ at a tolerance τ: inf{μ : δ(ε) ≤ δ_μ(ε) + τ for all real ε}, in both
// directions, as a certified interval. τ is in [1e-100, 1); it may be 0 for Gaussian noise
// on the whole data set alone. Without a tolerance no plan with sampled Gaussian noise has a
// smaller μ than without its sampling: far out, where nobody looks, sampling is invisible.
//
// The proof of both ends is in package internal/mu.
//
// A mass of infinite loss above τ has no μ, which is an error.
func (a *Accountant) GDP(ctx context.Context, tolerance float64) (GDP, error) {
	out := GDP{Tolerance: tolerance}
	exact, gaussian := a.gaussianMu()
	if tolerance == 0 && gaussian {
		out.Mu = exact
		return out, nil
	}
	if !(tolerance >= 1e-100 && tolerance < 1) {
		if tolerance == 0 {
			return out, fault.New("tolerance", "0 is for Gaussian noise on the whole data set alone; a sampled plan has no smaller μ without a tolerance")
		}
		return out, fault.New("tolerance", "%v is not in [1e-100, 1)", tolerance)
	}
	var warnings []string
	// All questions share the work of one.
	most, spent := a.opts.work(), a.spent()
	defer func(work float64) { a.opts.Work = work }(a.opts.Work)
	end, err := a.Epsilon(ctx, tolerance)
	if err != nil {
		return out, err
	}
	top := math.Inf(1)
	if gaussian {
		top = exact.Upper
	}
	asked, points, wide := false, 0, false
	found, err := mu.Find(tolerance, end.Upper, top, func(epsilons []float64) ([]mu.Point, error) {
		spent := a.spent() - spent
		left, first := most-spent, !asked
		asked = true
		// What theory leaves open no more points close, so that these are not for all of the work that is left.
		if len(epsilons) > 1 && (left <= 0 && !first || wide && spent/float64(points)*float64(len(epsilons)) > left) {
			if len(warnings) == 0 {
				warnings = append(warnings, fmt.Sprintf("%v: %s", parallel.ErrWork, parallel.Wider))
			}
			return nil, mu.ErrEnough
		}
		a.opts.Work = max(left, most/gdpShare) // where the curve ends must be proved
		curve, err := a.DeltaCurve(ctx, epsilons)
		out := make([]mu.Point, len(curve))
		points += len(curve)
		for i, p := range curve {
			wide = wide || p.Upper > 1.01*p.Lower && p.Gap != nil
			out[i] = mu.Point{At: p.At, Lower: p.Lower, Upper: p.Upper}
			if p.computed() <= a.opts.Relative*tolerance {
				continue // μ is that of a tolerance which is as near as asked
			}
			for _, w := range p.Warnings {
				if w = fourier.Reason(w); !slices.Contains(warnings, w) { // a width is that of a point
					warnings = append(warnings, w)
				}
			}
		}
		return out, err
	})
	if err != nil && ctx.Err() != nil { // what is proved by then is too little for any μ
		return out, ctx.Err()
	}
	if err != nil {
		return out, err
	}
	out.Mu = Range{Lower: found.Lower, Estimate: (found.Lower + found.Upper) / 2, Upper: found.Upper}
	out.Regret, out.Warnings = found.Regret, oneWarning(warnings)
	return out, nil
}

// oneWarning puts together what the values of δ were warned of: each reason once, whether it is that of an attack or
// not, without what followed from it.
func oneWarning(warnings []string) []string {
	var reasons []string
	for _, w := range warnings {
		w = strings.TrimPrefix(w, ofAttack)
		if !strings.HasPrefix(w, "the upper end is that of ") && !slices.Contains(reasons, w) {
			reasons = append(reasons, w)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return []string{strings.Join(reasons, "; ")}
}

// gaussianMu returns √Σμ² if all that was added is Gaussian noise on the whole data set: as an
// upper end that of what dominates, as a lower end that of what is attained.
func (a *Accountant) gaussianMu() (Range, bool) {
	if a.ways != nil {
		return a.muOfWays()
	}
	lower, upper := 0.0, 0.0
	for _, r := range a.added {
		d := r.m.Directions[0]
		g, ok := d.Upper.(profiles.Gaussian)
		if !ok {
			return Range{}, false
		}
		upper += float64(r.count) / g.NoiseMultiplier() / g.NoiseMultiplier()
		if g, ok := d.Lower.(profiles.Gaussian); ok {
			lower += float64(r.count) / g.NoiseMultiplier() / g.NoiseMultiplier()
		}
	}
	// Nine roundings of each term, and one for each sum; the root halves them.
	slack := float64(len(a.added)+12) * xmath.U
	out := Range{Lower: math.Sqrt(lower) * (1 - slack), Upper: math.Sqrt(upper) * (1 + slack)}
	out.Estimate = (out.Lower + out.Upper) / 2
	return out, true
}

// CalibrateGDP turns one quantity of a plan, as Calibrate does, until the upper end of its
// μ at a tolerance (see Accountant.GDP) is at most the budget; g's Epsilon and Delta are not used.
// That the value meets the budget is proved; that it is extreme, to 1e-6 or to the next
// whole number, rests on μ being monotone in it. All looks share the work of one question (Options.WorkLimit), as those of
// Calibrate do; where it ends before a value meets the budget, the error is parallel.ErrWork's.
//
// A budget of ρ-zero-concentrated privacy is one of μ = √(2ρ) with the tolerance 0, for Gaussian
// noise on the whole data set; for sampled plans there is no ρ below that of the same plan
// without sampling (MuOfZCDP).
func CalibrateGDP(ctx context.Context, p *Plan, g Goal, budget, tolerance float64, opts ...Options) (*Calibration, error) {
	if !(budget > 0 && budget <= mu.MaxMu) {
		return nil, fault.New("mu", "%v is not in (0, %v]", budget, float64(mu.MaxMu))
	}
	g.Solve = cmp.Or(g.Solve, NoiseMultiplier)
	if err := prepare(ctx, p, g); err != nil {
		return nil, err
	}
	k, err := newParameter(p, g)
	if err != nil {
		return nil, err
	}
	work, evals := defaults(opts...).work(), 0
	ctx = parallel.WithWork(ctx, work)
	s := calibrate.New(k.Parameter, calibrate.Goal{Budget: budget, Fixed: true}, func(ctx context.Context, x, _ float64) (answer calibrate.Answer, err error) {
		evals++
		plan, err := k.build(x)
		if err != nil {
			return answer, err
		}
		_, left := parallel.Work(ctx)
		if left <= 0 {
			return answer, parallel.ErrWork
		}
		a := p.Accountant(append(slices.Clone(opts), Options{WorkLimit: max(left, work/lookShare)})...)
		if err := a.AddPlan(ctx, plan); err != nil {
			return answer, err
		}
		found, err := a.GDP(ctx, tolerance)
		if err == nil || ctx.Err() != nil {
			return calibrate.Answer{Range: found.Mu, Proved: found.Mu.Lower, Full: Interval{Range: found.Mu, Warnings: found.Warnings}}, ctx.Err()
		}
		if errors.Is(err, mu.ErrNone) || errors.Is(err, mu.ErrUnproved) {
			answer.Range, err = Range{Estimate: math.Inf(1), Upper: math.Inf(1)}, nil
		}
		return answer, err
	})
	err = s.Run(ctx)
	early := errors.Is(err, parallel.ErrWork)
	var none *calibrate.Infeasible
	switch {
	case errors.As(err, &none):
		return nil, fmt.Errorf("%w: no value has a μ of at most %v at tolerance %v", ErrInfeasible, budget, tolerance)
	case early && s.Meets == nil:
		return nil, notFound(err)
	case early:
		err = parallel.ErrWork
	case err != nil:
		return nil, err
	}
	return k.found(s, Calibration{Asked: "mu", Evaluations: evals}, budget, err)
}

// MuOfZCDP returns the μ of the Gaussian noise that is ρ-zero-concentrated differentially
// private, √(2ρ) (Bun and Steinke, TCC 2016, Proposition 1.6), rounded down. It is a budget for
// Gaussian noise on the whole data set alone. A sampled plan is ρ-private for no ρ below
// that of the plan without sampling: its divergence at order α is at least
// T·log(q)·α/(α−1) + α·μ²/2.
func MuOfZCDP(rho float64) (float64, error) {
	if !(rho > 0 && rho <= mu.MaxMu*mu.MaxMu/2) {
		return 0, fault.New("rho", "%v is not in (0, %v]", rho, mu.MaxMu*mu.MaxMu/2.0)
	}
	return xmath.Down(math.Sqrt(2*rho), 1), nil
}
