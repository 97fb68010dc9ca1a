// Elementary bounds: an answer is never above what a simpler release of the same steps costs.
//
// They need no engine, no work and no time. They assume profiles that dominate their steps, and sums
// that dominate one another where BoundBy says so.

package fourier

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// BoundBy says that each of the sums that by returns, too, dominates whatever the steps of s are, such as the same
// steps without their sampling: its upper ends hold for s. An answer that is wider than asked takes
// the smallest of these upper ends; each sum has its own work limit. by is called where it is needed. rival
// says that the other profiles may be the better ones, so that they are always asked. A nil by takes the bounds back.
//
// parts, if any, are such a release together: it costs at most what they do one after the other, which is for answers that are still too wide.
//
// The sums must not be asked at the same time.
func (s *Sum) BoundBy(by func(context.Context) (releases, parts []*Sum), rival bool) {
	s.by, s.rival = by, rival && by != nil
}

// An inquiry is what is asked of a sum: ε(at), or δ(at).
type inquiry struct {
	ofDelta bool
	at      float64
}

// bounded returns r with the smallest upper end that is known: that of the engine, of basic composition, or of
// the sums that bound s.
func (s *Sum) bounded(ctx context.Context, r Result, a inquiry) (Result, error) {
	if s.by != nil && (s.tooWide(r, a.ofDelta) || s.rival) {
		releases, parts := s.by(ctx)
		for _, simpler := range releases {
			if !s.tooWide(r, a.ofDelta) && !s.rival {
				break
			}
			o, err := s.askOf(ctx, simpler, a)
			if err != nil {
				return Result{}, err
			}
			if s.rival {
				r.Lower = min(r.Lower, o.Lower)
			}
			if o.Upper < r.Upper {
				r = s.under(r, o, a, "a simpler release of the same steps")
			}
		}
		if len(parts) > 1 && s.tooWide(r, a.ofDelta) {
			x, err := s.inTurn(ctx, parts, a)
			if err != nil {
				return Result{}, err
			}
			r = s.basically(r, x, a)
		}
	}
	if s.tooWide(r, a.ofDelta) && (s.plainly() || r.far()) {
		if a.ofDelta {
			return s.basically(r, s.elementaryDelta(a.at), a), nil
		}
		r = s.basically(r, s.elementaryEpsilon(xmath.Log(a.at)), a)
	}
	return r, nil
}

// basically returns r with the upper end x of basic composition, where that is smaller.
func (s *Sum) basically(r Result, x float64, a inquiry) Result {
	if x = max(x, r.Lower); x < r.Upper {
		return s.under(r, Result{Estimate: x, Upper: x, Engine: ClosedForm}, a, "basic composition")
	}
	return r
}

// inTurn returns what sums cost one after the other, at most: δ(Σ ε_i) ≤ Σ δ_i(ε_i), which elementaryEpsilon proves of kinds that
// run once. Each has the same part of δ, or of ε.
func (s *Sum) inTurn(ctx context.Context, parts []*Sum, a inquiry) (float64, error) {
	a.at = xmath.Down(a.at/float64(len(parts)), 1)
	if !a.ofDelta {
		a.at = max(a.at, 0) // of δ = 0, or of one too small to be shared
	}
	var all xmath.Sum
	for _, p := range parts {
		r, err := s.askOf(ctx, p, a)
		if err != nil || math.IsInf(r.Upper, 1) {
			return math.Inf(1), err
		}
		all.Add(r.Upper)
	}
	return xmath.Up(all.Value(), 2), nil
}

// askOf has another sum answer, whose work is that of s.
func (s *Sum) askOf(ctx context.Context, o *Sum, a inquiry) (r Result, err error) {
	before := o.Spent()
	if a.ofDelta {
		r, err = o.Delta(ctx, a.at)
	} else {
		r, err = o.Epsilon(ctx, a.at)
	}
	s.spent += o.Spent() - before
	return r, err
}

// under returns r with the upper end of o, which is smaller.
func (s *Sum) under(r, o Result, a inquiry, of string) Result {
	if r.Lower > o.Upper {
		// r is about profiles that are not attained; o is about better ones.
		return o
	}
	r.Upper, r.Estimate, r.Loose, r.Engine = o.Upper, min(max(r.Lower, o.Estimate), o.Upper), false, o.Engine
	r.Points, r.Step, r.Frequencies, r.Theta, r.Period = o.Points, o.Step, o.Frequencies, o.Theta, o.Period
	if r = r.Narrowed(); !s.tooWide(r, a.ofDelta) {
		r.Warnings = nil
	} else if len(r.Warnings) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the upper end is that of %s", of))
	}
	if r.loose() {
		r.Loose, r.Estimate = true, r.Lower+(r.Upper-r.Lower)/2
	}
	return r
}

// elementaryEpsilon returns an upper bound of ε(δ) by basic composition, +Inf where it has none.
//
// Let the finite losses of some steps be at most M together, and p the probability that a loss is
// infinite. Every other kind i, with losses of any size, runs n_i times at δ_i(ε). Then, in either
// direction,
//
//	δ(M + Σ n_i ε_i) ≤ p + Σ n_i δ_i(ε_i).
//
// Proof. Write P_i = m_i + r_i with m_i ≤ e^{ε_i}Q_i, m_i ≤ P_i and r_i of mass δ_i(ε_i); for a step with losses
// of at most M_i, r_i is what has an infinite loss. ⊗P_i − ⊗m_i has at most the mass Σ r_i, where that of the infinite losses
// together is p, and ⊗m_i ≤ e^{Σε_i}⊗Q_i. ∎
//
// δ − p is shared equally among the kinds that are left: none but one for Gaussians of any number.
func (s *Sum) elementaryEpsilon(logDelta float64) float64 {
	logInf, infErr, _ := s.steps.Ends()
	// log p − log δ, rounded up, and log(δ − p), rounded down.
	part := logInf + infErr - logDelta + 4*xmath.U*(1+math.Abs(logDelta))
	if !(part < 0) {
		return math.Inf(1)
	}
	free := logDelta + xmath.Log1mExp(part)
	free -= 8 * xmath.U * (1 + math.Abs(logDelta) + math.Abs(free))
	var sum xmath.Sum
	open := s.unbounded(&sum)
	for _, e := range open {
		n := float64(e.Count)
		share := xmath.Down(free-xmath.Log(n)-xmath.Log(float64(len(open))), 8)
		floor := xmath.Down(math.Log1p(-math.Exp(share)), 2) // δ(ε) ≥ 1 − e^ε
		_, eps := closed.Epsilon(e.Profile, share, floor, math.Inf(1))
		if math.IsInf(eps, 1) || math.IsNaN(eps) {
			return math.Inf(1)
		}
		sum.AddProduct(n, xmath.Up(eps+e.Support.LossErr, 2))
	}
	return xmath.Up(sum.Value(), 2)
}

// unbounded adds the largest finite losses of all steps that have one, and returns the others.
func (s *Sum) unbounded(sum *xmath.Sum) (open closed.Steps) {
	for _, e := range s.steps {
		switch {
		case math.IsInf(e.Support.Max, 1):
			open = append(open, e)
		case !math.IsInf(e.Support.Max, -1):
			sum.AddProduct(float64(e.Count), e.Support.Max+e.Support.LossErr)
		}
	}
	return open
}

// plainly reports whether basic composition is a closed form: of Gaussian noise, and of bounded losses.
func (s *Sum) plainly() bool {
	for _, e := range s.steps {
		if _, gaussian := e.Profile.(profiles.Gaussian); !gaussian && math.IsInf(e.Support.Max, 1) {
			return false
		}
	}
	return true
}

// deltaLooks is how often elementaryDelta halves the range of log δ where there is no closed form.
const deltaLooks = 30 // steers: time for width

// elementaryDelta returns an upper bound of δ(ε) by basic composition, as elementaryEpsilon: with
// one kind of unbounded loss in closed form, else the smallest δ found at which
// that bound is at most ε.
func (s *Sum) elementaryDelta(eps float64) float64 {
	logInf, infErr, top := s.steps.Ends()
	if logInf+infErr >= 0 {
		return 1
	}
	var sum xmath.Sum
	open := s.unbounded(&sum)
	if len(open) == 0 && eps < top {
		return 1
	}
	if len(open) == 1 {
		// All of ε that bounded losses leave goes to the runs of one kind, in equal parts.
		e := open[0]
		n := float64(e.Count)
		each := xmath.Down(xmath.Down(eps-xmath.Up(sum.Value(), 2), 2)/n, 2) - xmath.Up(e.Support.LossErr, 2)
		_, _, hi := closed.Delta(e.Profile, each, 0)
		hi += xmath.Log(n)
		return min(1, xmath.ExpUp(xmath.LogAdd(logInf+infErr, hi)+8*xmath.U*(1+math.Abs(hi))))
	}
	logDelta, _ := xmath.Bisect(0, max(logInf+infErr, -745), deltaLooks, func(x float64) bool { return s.elementaryEpsilon(x) <= eps })
	return min(1, xmath.ExpUp(logDelta))
}

// Epsilon returns inf{ε : δ(ε) ≤ delta}, which may be negative. delta is in
// [0, 1]. A cancelled context is returned as an error, soon.
func (s *Sum) Epsilon(ctx context.Context, delta float64) (Result, error) {
	r, err := s.epsilon(ctx, delta)
	if err != nil {
		return r, err
	}
	return s.bounded(ctx, r, inquiry{at: delta})
}

// Delta returns δ(eps), for any real eps. A cancelled context is returned as an
// error, soon.
func (s *Sum) Delta(ctx context.Context, eps float64) (Result, error) {
	r, err := s.delta(ctx, eps)
	if err != nil {
		return r, err
	}
	return s.bounded(ctx, r, inquiry{ofDelta: true, at: eps})
}
