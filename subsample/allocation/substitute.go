package allocation

// Substitution under random allocation: Theorem 2 of docs/theory/allocation.md.

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// substitute returns all epochs under substitution: avg N(e_i) against avg N(−e_i), which
// dominates and is attained. Its profile is computed at one α after the other; the polygon
// through upper values lies above, lines that a convex function cannot cross lie below.
func (s randomScheme) substitute(ctx context.Context, b profiles.Mechanism) (profiles.Bounds, error) {
	sigma, ok := noiseOf(b)
	if err := s.checkSubstitute(b, ok); err != nil {
		return profiles.Bounds{}, err
	}
	source, err := s.use(positive.LogNormal{S: 1 / sigma, Ulps: 4})
	if err != nil {
		return profiles.Bounds{}, err
	}
	g := source.(positive.LogNormal)
	runs, uses := s.epochs, int64(1)
	if s.once {
		runs, uses = uses, runs
	}
	// Where it is known which step had the record, h is larger (it is jointly convex).
	seen, err := unhidden(b, profiles.Substitute, uses)
	if err != nil {
		return profiles.Bounds{}, err
	}
	ks, err := s.table(ctx, g, seen, runs*max(1, s.target.Runs))
	if err != nil {
		return profiles.Bounds{}, err
	}
	ks = falling(ks)
	up, err := above(ks)
	if err != nil {
		return profiles.Bounds{}, err
	}
	low, err := below(ks)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.Bounds{Name: b.Name(), Relation: profiles.Substitute, Numerical: true}
	if runs == 1 {
		m.Directions = [2]profiles.Direction{{Upper: up, Lower: low}, {Upper: up, Lower: low}}
		return m, nil
	}
	sumUp, sumLow, err := pairOf(ctx, s.target, positive.FromProfile{Profile: up}, positive.FromProfile{Profile: low}, func(p *positive.Program, a int) int { return p.Power(a, runs) })
	if err != nil {
		return profiles.Bounds{}, err
	}
	return twoSided(b.Name(), profiles.Substitute, sumUp, sumLow)
}

// The accuracy of a row and the distance to the next one, in log h. A chord of an exponential is
// fold²/8 too high in the middle. What is asked, a part of ε, is ε·θ as much of h, for h ~ e^{−θε}.
const (
	mostFold, leastFold = 0.5, 0.05
	mostRow, leastRow   = 1e-2, 1e-5
	farRow              = 3e-2 // away from the target
)

// maxRows bounds the table.
const maxRows = 400

// A row has at most a part of the work that is left, so that hard rows are wide and not missing: of one epoch, where the rows
// near the target's δ decide, these shares; of a product, an equal part for each row to come. leastRowWork is what most rows
// take however wide, measured, and fewestRows what a table has at least: with less work none is begun.
const (
	nearShare, farShare      = 1. / 12, 1. / 60
	leastRowWork, fewestRows = 3e5, 16
)

// paidRow is row for a share of the work that is left, or for more where that buys none.
func (s randomScheme) paidRow(ctx context.Context, g positive.LogNormal, eps, relative, floor, share float64) (low, up float64, err error) {
	_, left := parallel.Work(ctx)
	for most := max(leastRowWork, share*left); ; most *= 4 {
		own := parallel.WithWork(ctx, most)
		low, up, err = s.row(own, g, eps, relative, floor)
		if _, left := parallel.Work(ctx); err != parallel.ErrWork || left < most {
			return low, up, err
		}
	}
}

// table returns h(e^ε) of one epoch from ε = 0 on, until it is far below what the target's δ sees. seen is above it, if it is not nil, and
// has digits at every ε: with little noise and a large ε, sums of differences do not, and far out they are not worth their time.
func (s randomScheme) table(ctx context.Context, g positive.LogNormal, seen profiles.Profile, runs int64) ([]known, error) {
	floor := s.target.Delta / float64(runs) * 1e-3
	if runs > 1 {
		floor *= 1e-2
	}
	if _, left := parallel.Work(ctx); left < fewestRows*leastRowWork {
		return nil, parallel.ErrWork
	}
	relative, want, share := mostRow, mostFold, farShare
	var ks []known
	// A first step: the spread of log M is about √(4(e^{s²}−1)/t), and no more than s.
	step := 0.15 * min(g.S, 2*math.Sqrt(math.Expm1(g.S*g.S)/float64(s.steps)))
	most := step // between rows, where losses add up
	low := 1.0
	for eps := 0.0; len(ks) < maxRows; {
		up := 1.0
		if low > floor/100 {
			var err error
			if low, up, err = s.paidRow(ctx, g, eps, relative, floor, share); err != nil {
				return nil, err
			}
		} else {
			low = 0
		}
		if seen != nil {
			if l, off := profiles.LogDelta(seen, eps); l+off < 0 {
				up = min(up, math.Exp(l+off)*(1+8*u))
			}
		}
		ks = append(ks, known{eps, low, up})
		if !(up > floor) && len(ks) >= 3 {
			return ks, nil
		}
		if n := len(ks); n > 1 {
			fall := xmath.Log(ks[n-2].up / up)
			if fall <= 0 {
				fall = 1e-3
			}
			part := s.target.Relative * fall / step * eps
			relative = min(max(part/4, leastRow, s.target.Relative/100), mostRow)
			want = min(max(math.Sqrt(2*part), leastFold), mostFold)
			share = nearShare
			if runs > 1 {
				_, left := parallel.Work(ctx)
				if share = want / (want + xmath.Log(up/floor)); share*left < leastRowWork { // fewer rows
					want = mostFold
				}
			}
			if runs == 1 && (up < s.target.Delta/10 || up > s.target.Delta*10) {
				want, relative, share = mostFold, farRow, farShare
				if up < s.target.Delta/10 {
					want = 2 * mostFold
				}
			}
			step *= min(2, max(0.3, want/fall))
			if runs > 1 {
				step = min(step, most)
			}
		}
		eps += step
	}
	if len(ks) < 3 {
		return nil, fault.New("steps", "%d steps under substitute have no table", s.steps)
	}
	return ks, nil
}

// row returns an interval of h(e^ε) of one epoch: (1/t)·E(Σ W_i)₊ with W = A − αB.
func (s randomScheme) row(ctx context.Context, g positive.LogNormal, eps, relative, floor float64) (low, up float64, err error) {
	const reach = 6
	w := positive.NewDifference(g.S, g.Ulps, math.Exp(eps), reach)
	p := &positive.Program{}
	p.Sum(p.SourceOf(w, w.Mean()), s.steps)
	t := float64(s.steps)
	at := t * w.Shift
	// The target's unit is the mean of the sum.
	unit := t * w.Mean()
	upper, lower, err := p.Run(ctx, positive.Target{Delta: floor * t / unit / 10, Relative: relative, At: at})
	if err != nil {
		return 0, 0, err
	}
	// Values have errors relative to max(value, Shift), each of at most 5 of itself: ρ of S and
	// 10ρ of K. Masses: μ.
	rho, mu := upper.ValueErr, upper.MassErr
	up = upper.Above(at*(1-12*rho)) * (1 + mu) * (1 + 12*rho) / t * (1 + 8*u)
	rho, mu = lower.ValueErr, lower.MassErr
	low = lower.Above(at*(1+12*rho)) * max(0, 1-mu) * (1 - 12*rho) / t * (1 - 8*u)
	return max(low, 0), min(up, xmath.Up(1, 1)), nil
}

// A vertex is a point (e^Eps, H) of a privacy profile h(α).
type vertex struct{ eps, h float64 }

// A known is an interval of h at one ε.
type known struct{ eps, low, up float64 }

// falling returns the intervals narrowed by what others know: h does not grow.
func falling(ks []known) []known {
	ks = slices.Clone(ks)
	for i := 1; i < len(ks); i++ {
		ks[i].up = min(ks[i].up, ks[i-1].up)
	}
	for i := len(ks) - 2; i >= 0; i-- {
		ks[i].low = max(ks[i].low, ks[i+1].low)
	}
	return ks
}

// above returns the polygon through upper ends.
func above(ks []known) (*profiles.Discrete, error) {
	x, h := make([]float64, len(ks)), make([]float64, len(ks))
	for i, k := range ks {
		x[i], h[i] = k.eps, k.up
	}
	return profiles.NewChords(x, h, h)
}

// below returns the polygon of beneath.
func below(ks []known) (*profiles.Discrete, error) {
	var x, h []float64
	for _, v := range beneath(ks) {
		if n := len(x); n > 0 && v.eps <= x[n-1] {
			h[n-1] = min(h[n-1], v.h)
			continue
		}
		x, h = append(x, v.eps), append(h, v.h)
	}
	return profiles.NewChordsBelow(x, h, h)
}

// beneath returns vertices of a curve below a symmetric h, of at least three points from ε = 0 on.
// Between two points it is the larger of two lines that come from the next ones outside, through
// an upper value there and the lower one here, which a convex h cannot cross: right of a point it
// lies above the line from the left, and the like. Left of 1 the next one outside is the
// reflection of the second. After the last point but one there is only the line from the left,
// until it meets 0; chords of lower values would not do.
func beneath(ks []known) []vertex {
	// line returns the value at eps of the line through (a, up) and (b, low), b next to eps.
	line := func(a, b known, eps float64) float64 {
		w := math.Expm1(a.eps - b.eps) // (α_a − α_b)/α_b
		return b.low + (a.up-b.low)/w*math.Expm1(eps-b.eps)
	}
	back := known{eps: -ks[1].eps, up: (-math.Expm1(-ks[1].eps) + ks[1].up*math.Exp(-ks[1].eps)) * (1 + 8*u)}
	from := func(i int) known {
		if i == 0 {
			return back
		}
		return ks[i-1]
	}
	var vs []vertex
	// end lets the line from the left meet 0, at α_k·(1 + low/fall) with fall for each α_k.
	end := func(i int) []vertex {
		k := ks[i]
		fall := (from(i).up - k.low) / -math.Expm1(from(i).eps-k.eps)
		if !(fall > 0) {
			return vs // below a point without a slope nothing is left
		}
		return append(vs, vertex{k.eps + math.Log1p(k.low/fall*(1-1e-12)), 0})
	}
	last := len(ks) - 2
	for i := range last {
		k, next := ks[i], ks[i+1]
		vs = append(vs, vertex{k.eps, k.low})
		// The lines cross, or one end is where the larger one changes.
		lo, hi := xmath.Bisect(k.eps, next.eps, 60, func(eps float64) bool { return line(from(i), k, eps) > line(ks[i+2], next, eps) })
		m := lo + (hi-lo)/2
		h := min(line(from(i), k, m), line(ks[i+2], next, m)) * (1 - 1e-12)
		if h <= 0 {
			return end(i) // points too far from each other
		}
		if m > k.eps && m < next.eps {
			vs = append(vs, vertex{m, h})
		}
	}
	vs = append(vs, vertex{ks[last].eps, ks[last].low})
	return end(last)
}

// Proof (docs/theory/allocation.md §2): Theorem 2.
//
// *Proof.* Over the density without either record, `p = avg Â_i` and `q = avg B̂_i`, exponentials of contributions `a_i,
// b_i` of norm at most 1. Append two different coordinates `√(1−|a_i|²)` and `√(1−|b_i|²)`: all have norm 1, with the
// same inner products `c_i`. A divergence is `E F(p, q)`, F convex and homogeneous of degree 1, so `F_xy ≤ 0`. At the
// last step, given the history, `∂/∂c E F(X + wÂ, Y + wB̂) = s²w² E[ÂB̂ F_xy] ≤ 0`: the largest value is at `c = −1`
// whatever the history. There it is a function of (X, Y) alone, an average of F, with a mixed derivative ≤ 0 again; go
// on backwards. Smooth F first, then limits. ∎

// Proof (docs/theory/allocation.md §3): laws under substitution.
//
// Substitution. `h(α) = (1/t) E(Σ W_i)₊` with `W = A − αB`, A and B independent of sign: one run for each α, of `W + c ≥
// 0`. Values below `−c` are raised (above) or lie at the mean of `Z < −6` (below): no mass is left out. Upper values at
// several α bound h by their polygon, as h is convex. Lower ones: right of α_j, h lies above the line through the
// *upper* value at α_{j−1} and the *lower* one at α_j, and likewise from the right; then the convex minorant. Left of 1
// by symmetry.
