// Chernoff's bound with the weight of Theorem 1: δ − (1−m₀) = I_s(ε) ≤ w(s)M(s)e^{−sε}
// for every s > 0, and 1 − δ at most the same for −1 < s < 0. It assumes nothing of s, and costs one value of each transform, which
// is kept: another factor costs one more.
//
// It returns upper bounds of δ, or of 1 − δ, which hold in floating point: all terms are rounded up.

package contour

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A bound is the sum Σ T_i log M_i(s) over the factors so far at one s > −1 other than 0, every term
// an upper bound, from which Chernoff's bound follows at every ε.
type bound struct {
	s      float64
	logM   []float64 // of each factor, of one run
	counts []int64   // those in the sum
	terms  int       // of the sum: a factor that grew is several
	sum    total
	m0     massTotal
	large  bool // some count is above 2^53, and so rounded
}

// update brings the sum up to date.
func (b *bound) update(c *Composition) {
	for i, n := range b.counts {
		if c.factors[i].Count < n || b.terms > maxTerms {
			*b = bound{s: b.s, logM: b.logM}
			break
		}
	}
	for i, f := range c.factors {
		if i == len(b.logM) {
			b.logM = append(b.logM, realBound(f.Transform, b.s))
			if len(c.factors) > sampleAbove {
				release(f.Transform)
			}
		}
		if i == len(b.counts) {
			b.counts = append(b.counts, 0)
		}
		more := f.Count - b.counts[i]
		if more == 0 {
			continue
		}
		b.terms++
		b.counts[i] = f.Count
		b.sum.add(float64(more), b.logM[i])
		pInf, _ := f.Transform.Infinite()
		b.m0.add(Factor{f.Transform, more}, pInf, 0)
		b.large = b.large || more > 1<<53
	}
}

// at returns the upper bound of log δ(ε), of log(1 − δ(ε)) where s < 0, +Inf where there is none.
func (b *bound) at(eps float64) float64 {
	m := float64(b.terms)
	share := 4 * m * m * xmath.U * xmath.U
	if b.large {
		share += xmath.U
	}
	logM, w := b.sum.above(share), logWeight(b.s)
	x := w + logM - b.s*eps
	x += 8 * xmath.U * (math.Abs(logM) + math.Abs(w) + math.Abs(b.s*eps) + 1)
	if m0 := b.m0.value(share); m0 != (mass{}) && b.s > 0 {
		_, _, rest := m0.infinite()
		x = xmath.LogAdd(x, rest)
		x += 4 * xmath.U * (1 + math.Abs(x))
	}
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// boundAt returns the bound at s.
func (c *Composition) boundAt(s float64) *bound {
	b := &bound{s: s}
	b.update(c)
	return b
}

// epsilon returns an ε at which the bound shows δ(ε) ≤ e^logDelta, +Inf where none is found.
func (b *bound) epsilon(logDelta float64) float64 {
	goal := logDelta - 4*xmath.U*math.Abs(logDelta)
	least := (b.at(0) - goal) / b.s // without infinite losses
	for more := 1e-12; more < 1; more *= 8 {
		if eps := least + more*math.Abs(least); b.at(eps) <= goal {
			return eps
		}
	}
	return math.Inf(1)
}

// Highest returns an ε at which Chernoff's bound at s > 0 shows δ(ε) ≤ e^logDelta, +Inf where it has none.
func (c *Composition) Highest(logDelta, s float64) float64 { return c.boundAt(s).epsilon(logDelta) }

// Most returns Chernoff's bound at s > 0 of log δ(ε), +Inf where there is none.
func (c *Composition) Most(eps, s float64) float64 { return c.boundAt(s).at(eps) }

// keptBounds is how many sums a composition keeps, the one that helped last first: those of
// thousands of factors are long, and each new factor costs each of them a value.
func (c *Composition) keptBounds() int {
	if len(c.factors) > sampleAbove {
		return 2
	}
	return 16
}

// AtMost reports whether δ(ε) ≤ e^logDelta is easily proved: by a table, or by Chernoff's
// bound. It makes no table.
func (c *Composition) AtMost(eps, logDelta float64) bool {
	if len(c.factors) == 0 {
		return false
	}
	goal := logDelta - 4*xmath.U*math.Abs(logDelta)
	for i, b := range c.bounds {
		if b.update(c); b.at(eps) <= goal {
			c.bounds = slices.Insert(slices.Delete(c.bounds, i, i+1), 0, b)
			return true
		}
	}
	for _, t := range c.tables {
		if sideOf(t.theta) != right || !t.current(c) {
			continue
		}
		switch r := t.read(eps, &c.scale); {
		case r.high <= goal:
			return true
		case r.low > goal:
			return false
		}
	}
	// A value of each transform of many costs more than to bring a table up to date.
	if len(c.factors) > sampleAbove && slices.ContainsFunc(c.tables, func(t *table) bool { return sideOf(t.theta) == right }) {
		return false
	}
	q := c.cumulant()
	s := q.saddle(right, eps, c.boundNear)
	c.boundNear = s
	if q.at(s).k+logWeight(s)-s*eps > goal {
		return false
	}
	b := c.boundAt(s)
	if kept := c.keptBounds(); len(c.bounds) >= kept {
		c.bounds = slices.Delete(c.bounds, kept-1, len(c.bounds))
	}
	c.bounds = slices.Insert(c.bounds, 0, b)
	return b.at(eps) <= goal
}
