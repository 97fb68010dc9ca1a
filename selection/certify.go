// Both ends of what a search costs, from a candidate that is known by intervals: the least
// of the prices above, the best of the attacks below, per direction; and the two as a
// mechanism that composes.

package selection

import (
	"context"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A certified is one direction of a search: δ from above and from below.
type certified struct {
	above func(eps float64) float64 // for every real ε
	quick func(eps float64) float64 // the same without Theorem E
	below func(eps float64) float64 // for ε ≥ 0; nil where no attack is known
	// What above and below are made of, of the kind of search that it is.
	best  *attacker
	first *firstAttack
	exact *exact
}

// certify returns both directions of the search, with so many strips for Theorem E; with none,
// the quick price from above only.
func (p Price) certify(ctx context.Context, c *Candidate, f fineness, strips int) ([2]certified, error) {
	if c == nil {
		return [2]certified{}, fault.New("candidate", "is missing")
	}
	t, err := c.tabulate(ctx, f)
	if err != nil {
		return [2]certified{}, err
	}
	var low, up *pair
	if strips > 0 {
		pts := t.samples()
		low, up = t.reached(pts), above(pts)
	}
	old, leaks := p.simple(ctx, t), p.leaks(t)
	var out [2]certified
	for d := range 2 {
		if d == 1 {
			t = t.reverse()
			if up != nil {
				up = up.reverse()
			}
			if low != nil {
				low = low.reverse()
			}
		}
		one := t.delta
		var price func(float64) float64
		if p.first {
			f := newFirstPrice(p.law, t)
			price = func(eps float64) float64 {
				if !affords(ctx, p.law, 4*f.steps()) {
					return 1
				}
				return f.delta(eps, one)
			}
		} else {
			m := mixture{w: []float64{1}, c: []float64{math.Inf(1)}} // any outcome may tell all
			if affords(ctx, p.law, leastHull) {
				m = newMixture(p.law, t)
			}
			price = func(eps float64) float64 { return m.delta(eps, one) }
			if up != nil {
				out[d].exact = newExact(p.law, up, m.c[0])
			}
		}
		quick := func(eps float64) float64 {
			if eps < 0 {
				return price(eps)
			}
			return leaks.below(eps, min(old(eps), price(eps)))
		}
		out[d].quick, out[d].above = quick, quick
		if x := out[d].exact; x != nil {
			out[d].above = func(eps float64) float64 {
				v := quick(eps)
				if eps >= 0 && x.serves(eps) {
					v = min(v, x.delta(ctx, eps, strips))
				}
				return v
			}
		}
		switch {
		case low == nil:
		case p.first:
			out[d].first = newFirstAttack(p.law, low)
			out[d].below = out[d].first.delta
		case affords(ctx, p.law, 2*coarsest):
			at := newAttacker(p.law, low)
			out[d].best = at
			out[d].below = func(eps float64) float64 {
				if !affords(ctx, p.law, 8*len(at.pair.loss)) {
					return 0
				}
				return at.delta(eps)
			}
		}
	}
	if ctx.Err() != nil {
		return [2]certified{}, ctx.Err()
	}
	return out, nil
}

// A leak is what a search costs as one of an (ε, δ)-private candidate ([Price.Approximate]).
type leak struct {
	at, hit float64 // of the candidate: ε, and the δ of the search
	price   func() float64
}

type leaks []leak

// mostLeaks is at how many ε the candidate is seen so, from the end of its table down.
const mostLeaks = 8

// leaks returns what some points of the candidate's profile make of the search: at the end of the table, where infinite
// losses are all that is left of δ, it is 1 − f(1 − δ(∞)).
func (p Price) leaks(t *tables) (out leaks) {
	other := t.reverse()
	end := 0.0
	for _, s := range t.sides {
		end = max(end, s.eps[len(s.eps)-1])
	}
	for i := range mostLeaks {
		at := end * math.Exp2(-float64(i)/2)
		d := max(t.delta(at), other.delta(at))
		if !(d < 1) || end == 0 && i > 0 {
			break
		}
		hit := p.law.Hit(d) * (1 + 1e-9) // steers; the proved value is that of Approximate
		out = append(out, leak{at, hit, sync.OnceValue(func() float64 {
			e, proved, err := p.Approximate(at, d)
			if err != nil || !(proved <= hit) {
				return math.Inf(1)
			}
			return e
		})})
	}
	return out
}

// below returns the least δ at ε that is proved by a leak, v if none is smaller.
func (l leaks) below(eps, v float64) float64 {
	for _, x := range l {
		if x.at <= eps && x.hit < v && x.price() <= eps {
			v = x.hit
		}
	}
	return v
}

// simple is the price of Profile, for either direction; 1 where the law has none.
func (p Price) simple(ctx context.Context, t *tables) func(eps float64) float64 {
	other := t.reverse()
	b, err := p.Profile(ctx, func(eps float64) float64 {
		return min(0, xmath.Log(max(t.delta(eps), other.delta(eps)))+4*xmath.U)
	})
	if err != nil {
		return func(float64) float64 { return 1 }
	}
	return func(eps float64) float64 {
		d := b(eps)
		return min(1, math.Exp(d)*(1+4*xmath.U*(1+math.Abs(xmath.Finite(d)))))
	}
}

// defaultAccuracy is how much ε a chord of the candidate's table costs.
const defaultAccuracy = 1e-6

// fine returns how to tabulate a candidate for a question about δ.
func (p Price) fine(accuracy, delta float64) (fineness, error) {
	if err := p.ready(); err != nil {
		return fineness{}, err
	}
	if accuracy == 0 {
		accuracy = defaultAccuracy
	}
	if !(accuracy >= 1e-9 && accuracy <= 1) {
		return fineness{}, fault.New("accuracy", "%v is not in [1e-9, 1]", accuracy)
	}
	floor, asked := -60.0, leastAsked
	if delta > 0 {
		floor, asked = min(floor, xmath.Log(delta)-20), min(asked, xmath.Log(delta)-6)
	}
	return p.fineness(accuracy, floor, asked), nil
}

// leastAsked is the log δ below which a table is coarser, unless a question is about a smaller δ.
const leastAsked = -25.0

// fineness returns how to tabulate a candidate of which the search's δ matters down to a logarithm, and is asked down to another.
func (p Price) fineness(accuracy, floor, asked float64) fineness {
	most := max(0, p.law.logMean())
	return fineness{accuracy: accuracy, floor: max(floor-most, -700), deep: asked - most}
}

// Epsilon returns the interval in which ε of the search lies at δ in [0, 1): a search costs
// at most upper, and with some score the candidate, at the pair of data sets whose δ it was
// given as its lower end, reaches lower. accuracy is what reading the candidate from a table
// may cost in ε; 0 stands for 1e-6. The worst direction of the relation counts.
//
// Above is the least of Theorems U1 and E (best of K; F for the first above a threshold) and
// of [Price.Profile]; below is the best of the rankings of the files attack.go and exact.go. For
// small δ the two meet, up to the accuracy: at δ = 0, the price of a pure candidate is their
// supremum. Where ε is small or the runs many they meet up to the grid of Theorem E. Relation: that
// of the candidate. lower is 0 where no attack is known; upper is +Inf where nothing is proved.
// Once ctx is done, the error is that of ctx.
func (p Price) Epsilon(ctx context.Context, c *Candidate, delta, accuracy float64) (lower, upper float64, err error) {
	if !(delta >= 0 && delta < 1) {
		return 0, 0, fault.New("delta", "%v is not in [0, 1)", delta)
	}
	f, err := p.fine(accuracy, delta)
	if err != nil {
		return 0, 0, err
	}
	both, err := p.certify(ctx, c, f, manyStrips)
	if err != nil {
		return 0, 0, err
	}
	for _, d := range both {
		e := d.quickEpsilon(ctx, delta)
		if d.below != nil {
			lower = max(lower, reachedEpsilon(ctx, d.below, delta, lower, min(e, 1e4)))
		}
		e = d.exactly(ctx, delta, lower, e)
		lower = d.merged(ctx, delta, lower, min(e, 1e4))
		upper = max(upper, e)
	}
	if ctx.Err() != nil {
		return 0, 0, ctx.Err()
	}
	return lower, upper, nil
}

// quickEpsilon returns an ε at which δ is not exceeded, +Inf if none is found.
func (d certified) quickEpsilon(ctx context.Context, delta float64) float64 {
	e, ok := crossing(func(eps float64) float64 {
		if ctx.Err() != nil {
			return -1
		}
		v := d.quick(eps)
		if v <= delta*(1-4*xmath.U) {
			return max(-1e3, xmath.Log(v/max(delta, 1e-300))-1e-9)
		}
		return max(1e-9, xmath.Log(v/max(delta, 1e-300)))
	}, 1e4)
	if !ok {
		e = math.Inf(1)
	}
	return e
}

// exactly returns an ε from lo to hi at which δ is not exceeded, by Theorem E if the gap
// between the two is open, hi if it is worth nothing.
func (d certified) exactly(ctx context.Context, delta, lo, hi float64) float64 {
	top := min(hi, maxExact-1) - lo
	if d.exact == nil || delta == 0 || !(hi-lo > openGap*max(1, min(hi, maxExact))) || top <= 0 || !d.exact.serves(lo+top) {
		return hi
	}
	x, ok := crossingTo(func(x float64) float64 {
		if ctx.Err() != nil {
			return 1
		}
		return xmath.Log(max(d.exact.delta(ctx, lo+x, manyStrips), tiny)/delta) + 4*xmath.U
	}, top, 1e-3)
	if !ok || ctx.Err() != nil {
		return hi
	}
	return lo + x
}

// reachedEpsilon returns an ε from lo to hi at which more than δ is reached, as large as
// bisection finds it; lo if there is none.
func reachedEpsilon(ctx context.Context, below func(float64) float64, delta, lo, hi float64) float64 {
	if !(below(lo) > delta) {
		return lo
	}
	// The price is near: try just below it before halving.
	for gap := 1e-12 * max(1, hi); hi-gap > lo && ctx.Err() == nil; gap *= 8 {
		if e := hi - gap; below(e) > delta {
			lo = e
			break
		}
		hi -= gap
	}
	halvings := math.Ceil(math.Log2((hi - lo) / (1e-9 * max(1, hi))))
	lo, _ = xmath.Bisect(lo, hi, int(max(0, halvings)), func(eps float64) bool { return ctx.Err() == nil && below(eps) > delta })
	return lo
}

// openGap is the relative gap between the ends from which on the merged ranking is tried.
const openGap = 1e-3

// merged returns an ε from lo to hi at which more than δ is reached, by merged rankings; lo if there is none. The
// first is made for hi, each other one for the ε that the one before it reaches.
func (d certified) merged(ctx context.Context, delta, lo, hi float64) float64 {
	if d.best == nil {
		return lo
	}
	target := hi
	for range 4 {
		if !(hi-lo > openGap*max(1, hi)) || ctx.Err() != nil {
			break
		}
		found := reachedEpsilon(ctx, d.best.reachOf(d.best.merge(ctx, target, manyStrips)).delta, delta, lo, hi)
		gained := found - lo
		lo, target = found, found
		if gained < openGap/10 {
			break
		}
	}
	return lo
}

// Delta returns the interval in which δ of the search lies at ε ≥ 0; see [Price.Epsilon].
func (p Price) Delta(ctx context.Context, c *Candidate, eps, accuracy float64) (lower, upper float64, err error) {
	if !(eps >= 0 && eps <= 1e4) {
		return 0, 0, fault.New("epsilon", "%v is not in [0, 1e4]", eps)
	}
	f, err := p.fine(accuracy, 0)
	if err != nil {
		return 0, 0, err
	}
	both, err := p.certify(ctx, c, f, manyStrips)
	if err == nil && both[0].quick(eps)+both[1].quick(eps) < 1e-15 { // of tables down to e^−60
		if f, err = p.fine(accuracy, 1e-280); err == nil {
			both, err = p.certify(ctx, c, f, manyStrips)
		}
	}
	if err != nil {
		return 0, 0, err
	}
	for _, d := range both {
		up := d.above(eps)
		upper = max(upper, up)
		if d.below != nil {
			lower = max(lower, d.below(eps))
		}
		if d.best != nil && lower < (1-openGap)*up && ctx.Err() == nil {
			lower = max(lower, d.best.reachOf(d.best.merge(ctx, eps, manyStrips)).delta(eps))
		}
	}
	return lower, upper, ctx.Err()
}
