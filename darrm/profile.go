// A release as a mechanism: its exact privacy profile over the worst corners.

package darrm

import (
	"cmp"
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Mechanism returns so many answers of a private majority with the noise function g, one
// after the other and each with fresh votes, as one mechanism for the accountant; Allowance
// and OutputDelta do not count. Upper holds for every way to choose the families of
// mechanisms, each knowing the answers before (repeated.go, Theorem 7), which composing
// the profile of one answer overstates. Lower is one such way, chosen for delta, the δ at
// which the two should be close. Votes for many classes can only be taken one by one.
//
// Both directions of one answer have as Upper the profile
//
//	δ(ε') = max(0, max P − e^{ε'} P') over all families of such mechanisms,
//
// for every real ε', up to rounding, which is upwards (proof below; Lemmas 3.4 and
// 5.1 of the paper at an arbitrary ε'). A single family attains it at each ε', not
// the same one at all: the pair dominates every family. Lower is that of the one family
// among its vertices which is told apart best in the long run (largest Hellinger distance).
// Once ctx is done, the error is that of ctx.
func (p Params) Mechanism(ctx context.Context, r profiles.Relation, g Gamma, answers int, delta float64) (profiles.Bounds, error) {
	none := profiles.Bounds{}
	if err := cmp.Or(p.checkWith(g), checkAnswers(answers, delta)); err != nil {
		return none, err
	}
	out := profiles.Bounds{Name: "majority", Relation: r}
	if p.Classes > 2 {
		if answers > 1 {
			return none, fault.New("answers", "%d is not 1, the only number for votes for many classes", answers)
		}
		d, err := p.labelDirection(ctx, g, delta)
		out.Directions = [2]profiles.Direction{d, d}
		return out, err
	}
	hulls, inner, err := p.hulls(ctx, g)
	if err != nil {
		return none, err
	}
	if answers == 1 {
		up, err := hulls.profile()
		if err != nil {
			return none, err
		}
		for i := range out.Directions {
			out.Directions[i].Upper = up
			if out.Directions[i].Lower, err = inner[i].attack(); err != nil {
				return none, err
			}
		}
		return out, nil
	}
	rec, err := newRecursion(ctx, hulls, answers, delta)
	if err != nil {
		return none, err
	}
	up, err := rec.upper(delta)
	if err != nil {
		return none, err
	}
	d := profiles.Direction{Upper: up}
	if inner[0] == inner[1] { // closed under the exchange of the data sets
		if inner[0] != hulls {
			if rec, err = newRecursion(ctx, inner[0], answers, delta); err != nil {
				return none, err
			}
		}
		if d.Lower, err = rec.lower(answers, delta); err != nil {
			return none, err
		}
	}
	out.Directions = [2]profiles.Direction{d, d}
	return out, nil
}

// hulls returns the trade-off curve above all families, and for each order of the data sets
// that of families that exist for certain.
func (p Params) hulls(ctx context.Context, g Gamma) (*hull, [2]*hull, error) {
	var inner [2]*hull
	if p.Voters == nil {
		h, err := newHull(ctx, newCornerTable(p.Mechanisms, p.Epsilon, p.Delta, g.monotone()), g)
		return h, [2]*hull{h, h}, err
	}
	t, err := newPanel(p.Voters, false)
	if err != nil {
		return nil, inner, err
	}
	h, err := newHull(ctx, t, g)
	if err != nil {
		return nil, inner, err
	}
	if t, err = newPanel(p.Voters, true); err != nil {
		return nil, inner, err
	}
	for i := range inner {
		if i > 0 && len(t.orders) == 1 {
			inner[i] = inner[0]
		} else if inner[i], err = newHull(ctx, t.only(i), g); err != nil {
			return nil, inner, err
		}
	}
	return h, inner, nil
}

// labelDirection is the profile of an answer with many labels: the worst families at some
// ε, and chords between; and the law of the worst one at the ε of one δ.
func (p Params) labelDirection(ctx context.Context, g Gamma, delta float64) (profiles.Direction, error) {
	const points = 60
	p.OutputDelta = max(p.labelLoss(), 0.5) // a bound on all sets of labels is looked for
	lost := p.labelLoss()
	// No answer of one of K votes has a larger loss than all of them together.
	far := float64(p.Mechanisms) * p.Epsilon * (1 + 8*xmath.U)
	var eps, w []float64
	start := 0.0
	for i := range points + 1 {
		e := far * float64(i) / points
		best := 0.0
		t := newLabelTable(p, math.Exp(-e))
		err := t.visit(ctx, g, func(r *run) {
			best = max(best, r.P[0]-r.Q[0]/t.s)
		})
		if err != nil {
			return profiles.Direction{}, err
		}
		if i == points {
			best = 0
		} else {
			best += t.underflow() * (1 + 1/t.s)
		}
		best = min(1, lost+(1-lost)*max(0, best))
		if best > delta {
			start = e
		}
		eps, w = append(eps, e), append(w, best)
	}
	up, err := profiles.NewChords(eps, w, w)
	if err != nil {
		return profiles.Direction{}, err
	}
	low, err := p.labelAttack(ctx, g, math.Exp(-start))
	return profiles.Direction{Upper: up, Lower: low}, err
}

// labelAttack is the profile of the worst family at one s, which tells its set of labels
// from the others.
func (p Params) labelAttack(ctx context.Context, g Gamma, s float64) (*profiles.Discrete, error) {
	t := newLabelTable(p, s)
	best, x, y := math.Inf(-1), 0.0, 0.0
	err := t.visit(ctx, g, func(r *run) {
		if v := s*r.P[0] - r.Q[0]; v > best {
			best, x, y = v, r.Q[0], r.P[0]
		}
	})
	if err != nil {
		return nil, err
	}
	x += t.underflow()
	y = max(y-t.underflow(), x)
	return profiles.NewFinite([]float64{y, 1 - y}, []float64{x, 1 - x})
}

// Why the profile is exact.
//
// (2) holds at any ε': δ(ε') = max(0, max P − e^{ε'}P') over the corner multisets. As a function of e^{ε'} it is an
// upper envelope of lines, so it is the profile of a discrete pair whose trade-off curve is the concave hull of the
// points (P', P). The set is closed under exchange of the data sets, (P', P) → (1−P, 1−P'), so the hull is computed
// up to the antidiagonal, where P' is small and known relatively, and mirrored. Points are rounded outward. The pair
// dominates every family at every ε', and for one release no smaller profile does; composed it is an upper bound,
// for no single family attains all of it.
