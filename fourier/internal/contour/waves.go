// Tables of atoms (docs/theory/contour.md, Theorem 9): the transforms of finite laws come back, so that no bound of each shows that
// their sum may end. One more factor decays, and the waves of all of them together bound what is between.
//
// It assumes factors that are finite laws. What it returns holds for any last frequency.

package contour

import (
	"context"
	"math"
	"math/bits"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Smooth adds a bump, which is not among the factors: each table has a column of it.
func (c *Composition) Smooth(b transform.Bump) { c.bump = &b }

// waveShare is what a frequency at which waves are looked at costs, as a share of one of the sum. steers: time for width.
const waveShare = 1e-3

// mostWaves bounds the frequencies at which waves are looked at. steers: time for width.
const mostWaves = 1 << 18

// atoms makes a table of finite laws and a bump for a goal.
func (c *Composition) atoms(ctx context.Context, q *cumulant, g goal, p plan) (*table, error) {
	base := q.at(p.theta)
	aim := g.logX + xmath.Log(g.tol) - (base.k - p.theta*g.eps)
	bump, err := c.bump.Line(ctx, p.theta, 0, 0, 0)
	if err != nil {
		return nil, &NotServed{Reason: err.Error()}
	}
	k, _, wrong := bump.LogM(0)
	fall := func(t float64) float64 { return min(0, bump.Decay(t)-(k-wrong)) }
	need := c.bump.Reach(p.theta, aim-math.Ln2) / p.h
	if !(need < mostWaves) {
		return nil, &NotServed{Reason: "the transform does not decay: atoms", Work: int64(math.Min(need, 1e18))}
	}
	many := 1 << bits.Len(uint(max(need, 63)))
	end := float64(many-1) * p.h
	all := &cumulant{factors: c.factors, count: make([]float64, len(c.factors))}
	lines := make([]transform.Line, len(c.factors))
	last := float64(many) * p.h
	if err := all.prepare(ctx, p, last, lines); err != nil {
		return nil, err
	}
	var w transform.Waves
	for i, l := range lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if v, ok := l.(transform.Waver); !ok || !v.Waves(&w, float64(c.factors[i].Count), last) {
			return nil, &NotServed{Reason: "the transform does not decay: atoms"}
		}
	}
	bounds := w.Bounds(p.h, many)
	if bounds == nil {
		return nil, &NotServed{Reason: "the waves of atoms are too many"}
	}
	// Σ_{k>n} h/π·|∏M|/|z_k(z_k+1)|, over M(θ): |z(z+1)| ≥ t².
	sum := math.Exp(fall(end)) / (math.Pi * end)
	p.n = many - 1
	for ; p.n > 1; p.n-- {
		t := float64(p.n) * p.h
		more := sum + p.h/math.Pi/(t*t)*math.Exp(bounds[p.n]+fall(t))
		if more > math.Exp(aim) {
			break
		}
		sum = more
	}
	if work := termsOf(lines, p.n+1); work > float64(g.work) {
		return nil, &NotServed{Reason: "too many frequencies", Work: int64(math.Min(work, 1e18))}
	}
	t := &table{plan: p, lastGuess: g.eps, waves: xmath.Log(sum), terms: w.Terms(many)}
	t.bump = newColumn(ctx, c.bump, p, bump)
	return t, t.extend(ctx, c, lines)
}
