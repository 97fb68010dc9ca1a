// The best noise function for a budget: from a solver, lowered until the certificate
// holds.

package darrm

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Optimize returns the noise function of largest objective among those that
// keep the budget for every family of independent (ε, Δ)-DP mechanisms, and
// among the monotone ones unless Options say otherwise. It is certified: the
// optimum of the linear program of Section 5 of the paper, scaled down by the
// rounding error that the certificate charges, with a bound on what a better one
// could gain (Result.Gap). Where the program is too ill-conditioned to be solved to
// its end, or too large (its effort is counted and limited, the same on every
// machine), the Gap is larger; subsampling, double subsampling and the best
// constant are always among what is compared. Once ctx is done, the error is that
// of ctx.
func Optimize(ctx context.Context, p Params, o Objective, opt Options) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	o, err := p.forLabels(o)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Result{Gamma: constant(p.Mechanisms, 1)}
	// The noise-free majority, if the budget allows it, is best.
	if r.Certificate, err = newChecker(ctx, p, true).certify(r.Gamma); err != nil {
		return nil, err
	}
	if p.majorityIsPrivate() {
		r.Certificate = p.byTheorem(r.Certificate)
	}
	if !r.Certificate.Certified {
		if opt.Free {
			if err := p.checkFree(); err != nil {
				return nil, err
			}
		}
		if err := r.solve(newProgram(ctx, p, !opt.Free), o, opt); err != nil {
			return nil, err
		}
	} else if _, _, r.Bound, err = valueOf(o, r.Gamma); err != nil {
		return nil, err
	}
	if r.Value, r.Best, _, err = valueOf(o, r.Gamma); err != nil {
		return nil, err
	}
	r.Bound = max(r.Bound, r.Value)
	r.Gap = r.Bound - r.Value
	return r, nil
}

// valueOf returns the objective of g, and that of the noise-free majority, also
// rounded up.
func valueOf(o Objective, g Gamma) (value, best, top float64, err error) {
	if t, ok := o.(TrueError); ok {
		value, err = t.Average(g)
		return 1 - value, 1, 1, err
	}
	value, best, err = objective(o, g)
	return value, best, best * (1 + float64(len(g))*xmath.U), err
}

// solve finds the best noise function that keeps the budget: the repaired optimum
// of the program, or one of those that need no program.
func (r *Result) solve(pr *program, o Objective, opt Options) error {
	var x []float64
	var err error
	if t, ok := o.(TrueError); ok {
		x, err = pr.minimiseError(t, r, opt)
	} else {
		var c []float64
		if c, err = o.weights(pr.Mechanisms); err == nil {
			x, err = pr.maximise(c, r, opt)
		}
	}
	if err != nil {
		return err
	}
	r.Bound = pr.bound
	best := math.Inf(-1)
	try := func(g Gamma, push bool) error {
		g, err := pr.repair(g)
		if err == nil && push {
			if err = pr.push(g); err == nil {
				g, err = pr.repair(g)
			}
		}
		if err != nil {
			return err
		}
		c, err := pr.certify(g)
		if err != nil {
			return err
		}
		v, _, _, err := valueOf(o, g)
		if err == nil && c.Certified && v > best {
			best, r.Gamma, r.Certificate = v, g, c
		}
		return err
	}
	// The program's own first: where another is as good, it has the shape.
	if err := try(fromRight(pr.Mechanisms, x), !pr.interior && !pr.seeded()); err != nil {
		return err
	}
	for _, g := range pr.baselines() {
		if v, _, _, err := valueOf(o, g); err != nil {
			return err
		} else if v > best { // repair only takes from it
			if err := try(g, false); err != nil {
				return err
			}
		}
	}
	if math.IsInf(best, -1) {
		return fault.New("epsilon", "the optimum for %v could not be certified", pr.Epsilon)
	}
	return nil
}

// baselines returns the noise functions that are proved or easily repaired to keep
// the budget, rounded to floats: subsampling ⌊m⌋ votes, or 2⌊m⌋ − 1, and a constant.
func (p Params) baselines() []Gamma {
	out := []Gamma{constant(p.Mechanisms, 1)}
	for _, votes := range []func(k, m int) (Gamma, error){Subsampling, DoubleSubsampling} {
		if g, err := votes(p.Mechanisms, int(p.Allowance)); err == nil {
			out = append(out, g)
		}
	}
	return out
}

// Options and answers of Optimize.

// Options of Optimize.
type Options struct {
	// Free drops the rule that clearer majorities are answered at least as
	// truthfully. The optimum gains 4.05 % of the objective at 3 mechanisms, ε = 2
	// and allowance 1, the most seen, and nothing or little where ε is small; it
	// loses its shape.
	Free bool
	// Progress, if set, is called after each round of the linear program with the
	// excess of its worst constraint; 0 or less is the end.
	Progress func(round int, excess float64)
}

// A Result is an optimised noise function with its proof.
type Result struct {
	Gamma Gamma
	// Value is the objective of Gamma and Best that of the noise-free majority;
	// for TrueError they are one minus the average error.
	Value, Best float64
	Certificate Certificate
	// Bound is at least the objective of every noise function that Optimize looks
	// for, and Gap how far Value may be below the largest one: Bound − Value. A
	// linear program solved to its end leaves a Gap of rounding errors; one that was
	// not says by Gap what that can have cost. The privacy of Gamma is certified
	// whatever the Gap.
	Bound, Gap float64
	// Rounds and Rows count the linear programs solved and the corner constraints
	// they needed; zero if none was.
	Rounds, Rows int
}
