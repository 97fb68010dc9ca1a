// The exact price of the best of K runs, over all rankings at once, for a candidate known as a
// pair of laws: a longest path on a grid, from above and, as a ranking, from below. It assumes
// a pair that can be turned into the candidate, or one that the candidate can be turned into.
//
// Theorem E. In one direction (P, Q) let U(x) be the Q-mass of the lowest losses up to P-mass
// x, and V(y) that of the highest losses up to P-mass y. For every ε
//
//	max over rankings of δ_A(ε) = f(0)(1−e^ε)₊ + sup ∫₀^Y [f'(1−x(y)−y)dy − e^ε f'(1−U(x(y))−V(y))dV(y)],
//
// over Y and nondecreasing x ≥ 0 with x(Y) + Y ≤ 1: low losses, ascending, are merged with
// high ones, descending, which win. Outcomes may be cut into parts, by a score that draws.
//
// Proof. Let S be the outcomes that gain, y the P-mass of S above one of them and x that of the
// others above it; s and t the same under Q. They gain ∫ f'(1−x−y)dy − e^ε ∫ f'(1−t−s)ds. The
// second integral falls where t rises, and by parts it is f(1) − f(1−t−s) at the end less
// ∫ f'(1−t−s)dt, which rises with s. As s(y) ≥ V(y) and t ≤ U(x), it is at least what the right
// side has, first with V in place of s, then with U in place of t. Where x + y ≤ 1 the low and the high
// losses do not overlap, so that a ranking reaches it.
//
// On a grid, let λ be e^ε over the largest ratio dP/dQ in row j, and U and V in a cell at most a linear v.
// Then dy gains at most f'(1−x−y) − λT(v), T a tangent of the convex f'(1−v): a convex function, which on either
// horizontal edge of the cell is largest at a corner. Let A_i and B_i be the larger values on the edges
// y_j and y_{j+1} of column i, or 0. At the share θ of the row a path in column i(θ) gains (1−θ)A_i + θB_i at most.
// The mean of i(θ) with the weight 2(1−θ) comes before that with the weight 2θ, quantile by quantile, and i does not
// fall. So a row gives at most ½A_i + ½B_k, for some i ≤ k: two steps of the longest path. The error is of second
// order in the widths.
//
// In a cell that x + y = 1 crosses, or where v may reach 1, let r = 1 − x − y and κ ≤ 1 be no more than
// dQ/dP in the row. What is left has losses no higher, so 1 − v ≥ κr, and dy gains at most
// φ(r) = f'(r) − λf'(κr). Its coefficients are negative up to some power m of r, and not from there on. So φ(r)/r^m rises, and φ ≥ 0 makes
// φ″ ≥ 0, as m(m−1)φ/r² is no more than it: φ₊ rises and is convex, and A and B are its values at x_i.

package selection

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A strip is a part of the outcomes of a pair, and the loss of the first of them. It ends inside an
// outcome, of which the share rest is left: −1 stands for qNeg, len(loss) for pInf.
type strip struct {
	block
	loss    float64
	outcome int
	rest    float64
}

// Into how many strips either end of a pair is cut: for one ε, and for the points of a profile.
const (
	manyStrips = 600
	fewStrips  = 250
)

// negligible is the logarithm by which f'(1−u) may fall until its places are told apart no more.
const negligible = 45

// A clock tells how much the weights of places change from the top to P-mass u and Q-mass v: their logarithms, or, with
// even, mostly themselves.
type clock struct {
	l          Law
	start, eps float64
	even       bool
}

func newClock(l Law, eps float64, even bool) clock {
	return clock{l: l, start: l.LogDPGF(0), eps: max(0, eps), even: even}
}

func (c clock) at(m block) float64 {
	x, y := min(negligible, c.start-c.l.LogDPGF(min(1, m.p))), min(negligible+c.eps, c.start-c.l.LogDPGF(min(1, m.q)))
	if c.even {
		return x/200 + y/200 - math.Expm1(-x) - math.Expm1(-y)
	}
	return x + y
}

// steep is the range of the logarithm of f' from which on a grid by logarithms is coarse where most of a law's places are:
// a second one is made, evenly.
const steep = 20

// strips cuts a pair from one end into about n parts, between which the weights of places
// change little, and losses too where they are the high ones. Parts of one outcome have its loss; of no outcome
// is less than the share least left.
func (p *pair) strips(c clock, n int, high bool, least float64) []strip {
	step, width := c.at(block{1, 1})/float64(n), p.span()/float64(n)
	// The outcomes from that end, and the masses of the first k of them.
	count := len(p.loss) + 2
	outcome := func(k int) int {
		if high {
			return count - 2 - k
		}
		return k - 1
	}
	blocks := p.blocks()
	if high {
		slices.Reverse(blocks)
	}
	first := totals(blocks)
	var out []strip
	next := step
	put := func(s strip) {
		if s.p > 0 || s.q > 0 {
			out = append(out, s)
		}
	}
	for k := 0; k < count; {
		i := outcome(k)
		_, _, loss := p.outcome(i)
		// Whole outcomes, up to the next cut; what only one law has stands alone.
		m := k + sort.Search(count-k, func(m int) bool {
			_, _, l := p.outcome(outcome(k + m))
			return high && loss-l > width || c.at(first[k+m+1]) > next
		})
		if i == -1 || i == len(p.loss) {
			m = min(m, k+1)
		}
		if m > k {
			whole := totals(blocks[k:m]) // differences of the first ones would have no digits
			put(strip{block: whole[m-k], loss: loss, outcome: outcome(m - 1)})
			if k = m; m < count && c.at(first[m]) > next-step/4 {
				next += step
			}
			continue
		}
		// Parts of one outcome, all but the last of which end at a cut.
		before, one := first[k], blocks[k]
		upTo := func(x float64) float64 { return c.at(block{before.p + x*one.p, before.q + x*one.q}) }
		for from := 0.0; from < 1; {
			to := 1.0
			if len(out) < 2*n && upTo(1) > next {
				to, _ = xmath.Bisect(from, 1, 40, func(x float64) bool { return !(upTo(x) > next) })
				if 1-to < least {
					to = 1
				}
			}
			put(strip{block: block{(to - from) * one.p, (to - from) * one.q}, loss: loss, outcome: i, rest: 1 - to})
			// Where one part is more than a step, the clock goes on from its end.
			next = max(next, upTo(to)) + step
			from = to
		}
		k++
	}
	return out
}

// outcome returns the masses and the loss of the i-th loss; −1 and len(loss) are the infinite ones.
func (p *pair) outcome(i int) (pm, qm, loss float64) {
	switch i {
	case -1:
		return 0, p.qNeg, math.Inf(-1)
	case len(p.loss):
		return p.pInf, 0, math.Inf(1)
	}
	return p.p[i], p.q[i], p.loss[i]
}

// span returns how far the losses reach but for the outermost masses of 1e-15.
func (p *pair) span() float64 {
	lo, hi := 0, len(p.loss)-1
	for x := 0.0; lo < hi && x+p.p[lo]+p.q[lo] < 1e-15; lo++ {
		x += p.p[lo] + p.q[lo]
	}
	for x := 0.0; lo < hi && x+p.p[hi]+p.q[hi] < 1e-15; hi-- {
		x += p.p[hi] + p.q[hi]
	}
	if lo >= hi {
		return 0
	}
	return p.loss[hi] - p.loss[lo]
}

// stripsFor is how many strips of n a law has: fewer where each value of f' takes long.
func stripsFor(l Law, n int) int {
	return max(40, int(float64(n)/math.Cbrt(float64(lawWork(l)))))
}

// massesOf returns the masses of the first i strips, for every i.
func massesOf(ss []strip) []block {
	blocks := make([]block, len(ss))
	for i, s := range ss {
		blocks[i] = s.block
	}
	return totals(blocks)
}

// An exact is Theorem E in one direction, for a pair that can be turned into the candidate.
type exact struct {
	w    weight
	logR float64 // ln R, up
	pair *pair

	lock  sync.Mutex
	grids map[gridKey]*grid
}

// A gridKey tells grids apart: how many strips, for which power of two of ε, and evenly or not.
type gridKey struct {
	n, octave int
	even      bool
}

// exactGain is what Theorem E has to be worth to be asked.
const exactGain = 1e-3

// newExact returns Theorem E for a pair above the candidate; nil for laws whose f' takes too long.
func newExact(l Law, above *pair, logR float64) *exact {
	if lawWork(l) > 2000 {
		return nil
	}
	return &exact{w: newWeight(l), logR: logR, pair: above}
}

// serves returns whether Theorem E can be below Theorem U1 at ε by more than exactGain, about:
// the winners cost each other no more places than their mass. It chooses and proves nothing.
func (x *exact) serves(eps float64) bool {
	if eps > maxExact {
		return false
	}
	var mass xmath.Sum
	mass.Add(x.pair.pInf)
	for i := len(x.pair.loss) - 1; i >= 0 && x.pair.loss[i] > eps-x.logR; i-- {
		mass.Add(x.pair.p[i])
	}
	for _, u := range []float64{0, 0.25, 0.5} {
		if x.w.l.LogDPGF(u)-x.w.l.LogDPGF(min(1, u+mass.Value())) > exactGain {
			return true
		}
	}
	return false
}

// What the making of a cell of the grid and one look at it take of a limit of work, in the unit of parallel.WithWork: measured
// 4.5 to 7.4 and .05 to .13 for laws in closed form, 2 and .12 for one of 60 terms.
const (
	perPlace = 5
	perCell  = 0.1
)

// work is what a grid takes.
func (x *exact) work(n int) float64 {
	m := float64(stripsFor(x.w.l, n))
	return perPlace * m * m * float64(lawWork(x.w.l))
}

// grid returns the grid of about n strips for ε, made once for each power of two, with all rows that can gain at ε.
func (x *exact) grid(ctx context.Context, eps float64, n int, even bool) (grid, error) {
	_, octave := math.Frexp(max(1, eps))
	key := gridKey{n, octave, even}
	x.lock.Lock()
	defer x.lock.Unlock()
	g, ok := x.grids[key]
	if !ok {
		if err := parallel.Take(ctx, x.work(n)); err != nil {
			return grid{}, err
		}
		g = x.newGrid(newClock(x.w.l, math.Ldexp(1, octave), even), stripsFor(x.w.l, n))
		if x.grids == nil {
			x.grids = map[gridKey]*grid{}
		}
		x.grids[key] = g
	}
	for len(g.rows) < len(g.high) && x.gains(g.high[len(g.rows)], eps) {
		if ctx.Err() != nil {
			return grid{}, ctx.Err()
		}
		x.addRow(g)
	}
	return *g, nil
}

// A grid is what Theorem E needs of the cells of a grid, whatever ε is.
type grid struct {
	rel       float64
	low, high []strip
	first     []block   // masses of the first low strips, for every number of them
	lo, hi    []float64 // U at the two ends of a column
	rows      []row     // of the first high strips: a smaller ε asks for more
	edge      []float64 // the weights where the next row starts, and its masses
	y, v      xmath.Sum
}

// A row is a strip of high losses, by the cells of which it has low ones above it: f'(1−x−y) on its two edges at
// the corners of the cells, rounded up, and the tangents at the four corners of each, rounded down.
type row struct {
	strip
	start, end []float64
	tangents   [][4]float64 // of each cell: at the left on the two edges, at the right on them
}

// newGrid returns a grid without rows.
func (x *exact) newGrid(c clock, n int) *grid {
	low, high := x.pair.strips(c, n, false, 1e-12), x.pair.strips(c, n, true, 1e-12)
	// Each mass is off by rel, and by one rounding for each part of an outcome.
	rel := 2*x.pair.rel + 8*xmath.U*float64(16+len(low)+len(high))
	first := massesOf(low)
	lo, hi := make([]float64, len(low)), make([]float64, len(low)) // v at the left end of a column and at the right
	for i, s := range low {
		_, _, last := x.pair.outcome(s.outcome)
		// U is concave: above its chord by a quarter of what its slope falls, at most.
		bulge := max(0, math.Exp(-s.loss)-math.Exp(-last)) * s.p / 4
		if !(bulge <= s.q) {
			bulge = s.q
		}
		if s.p == 0 {
			bulge = 0
		}
		lo[i], hi[i] = (first[i].q+bulge)*(1+rel), (first[i+1].q+bulge)*(1+rel)
	}
	g := &grid{rel: rel, low: low, high: high, first: first, lo: lo, hi: hi}
	g.edge = x.weights(g, 0)
	return g
}

// weights returns f'(1−x−y) at the ends of all columns, rounded up.
func (x *exact) weights(g *grid, y float64) []float64 {
	to, last := make([]float64, len(g.first)), -1.0
	for i, m := range g.first {
		if u := max(0, min(1, (m.p+y)*(1-g.rel))); u != last {
			to[i], last = x.w.up(u), u
		} else {
			to[i] = to[i-1] // beyond all mass, mostly
		}
	}
	return to
}

// addRow makes the next row of a grid.
func (x *exact) addRow(g *grid) {
	s, first, lo, hi, rel := g.high[len(g.rows)], g.first, g.lo, g.hi, g.rel
	y0, v0 := g.y.Value(), g.v.Value()*(1+rel)
	g.y.Add(s.p)
	g.v.Add(s.q)
	y1, v1 := g.y.Value(), g.v.Value()*(1+rel) // V is convex: below its chord
	r := row{strip: s, start: g.edge, end: x.weights(g, y1)}
	g.edge = r.end
	columns := sort.Search(len(g.low), func(i int) bool { return (first[i].p+y0)*(1-rel) > 1 })
	r.tangents = make([][4]float64, columns)
	for i := range r.tangents {
		t := x.w.tangent(min(1, (lo[i]+hi[i]+v0+v1)/2))
		corners := [4]float64{t.at(lo[i] + v0), t.at(lo[i] + v1), t.at(hi[i] + v0), t.at(hi[i] + v1)}
		switch {
		case first[i+1].p+y1 > 1-rel || hi[i]+v1 >= 1 && corners[3] <= 0:
			bottom := func(y float64) float64 {
				// Rounded up: where f' is steep at its end, half a unit of 1 may be most of κr.
				return x.w.down(min(1, (1-math.Exp(-max(0, s.loss))*(1-rel)*max(0, 1-(first[i].p+y)*(1+rel)))*(1+2*xmath.U)))
			}
			b0, b1 := bottom(y0), bottom(y1)
			corners = [4]float64{b0, b1, b0, b1}
		case corners[3] <= 0: // a wide cell: what the weight is at least
			least := x.w.down(hi[i] + v1)
			corners = [4]float64{least, least, least, least}
		}
		r.tangents[i] = corners
	}
	g.rows = append(g.rows, r)
}

// gains returns whether a row can gain at ε: no place has a ratio above R.
func (x *exact) gains(s strip, eps float64) bool {
	return !math.IsInf(s.loss, -1) && !(s.loss+x.logR <= eps-8*xmath.U*(1+eps+math.Abs(s.loss)))
}

// delta returns an upper bound of δ_A(ε), ε ≥ 0, on a grid of n strips; 1 once ctx is done or its work spent.
func (x *exact) delta(ctx context.Context, eps float64, n int) float64 {
	if eps > maxExact {
		return 1
	}
	least := x.deltaOn(ctx, eps, n, false)
	if l := x.w.l; l.LogDPGF(0)-l.LogDPGF(1) > steep {
		least = min(least, x.deltaOn(ctx, eps, n, true))
	}
	return least
}

// deltaOn is delta on one of the two grids.
func (x *exact) deltaOn(ctx context.Context, eps float64, n int, even bool) float64 {
	g, err := x.grid(ctx, eps, n, even)
	if err != nil || len(g.high) == 0 {
		return 1
	}
	if parallel.Take(ctx, perCell*float64(len(g.high)*len(g.low))) != nil {
		return 1
	}
	best := make([]float64, len(g.low))
	value := 0.0
	for _, r := range g.rows {
		if !x.gains(r.strip, eps) {
			break
		}
		p := r.p * (1 + g.rel) / 2
		e := math.Exp(min(700, eps-r.loss)) * (1 - g.rel - 8*xmath.U*(1+eps+math.Abs(xmath.Finite(r.loss))))
		half, last := 0.0, 0.0
		for i, t := range r.tangents {
			half = max(half, best[i]+p*max(0, r.start[i]-e*t[0], r.start[i+1]-e*t[2])*(1+4*xmath.U))
			last = max(last, half+p*max(0, r.end[i]-e*t[1], r.end[i+1]-e*t[3])*(1+4*xmath.U))
			best[i] = last
		}
		value = max(value, last)
	}
	return min(1, value*(1+8*xmath.U*float64(len(g.high)+8))+tiny)
}

// A tangent is a line below f'(1−v), which falls by a slope between two bounds.
type tangent struct{ v, y, least, most float64 }

func (w weight) tangent(v float64) tangent {
	least, most := w.slopes(v)
	return tangent{v: v, y: w.down(v), least: least, most: most}
}

// at returns the height of the line at v, rounded down.
func (t tangent) at(v float64) float64 {
	d := v - t.v
	if d > 0 {
		d *= t.most * (1 + 4*xmath.U)
	} else {
		d *= t.least * (1 - 4*xmath.U)
	}
	return t.y - d - 2*xmath.U*(t.y+math.Abs(d))
}

// maxExact is the largest ε for which Theorem E is computed, by numbers e^ε.
const maxExact = 690

// merge returns the best ranking at ε on the grid, from the top; nil once ctx is done.
func (at *attacker) merge(ctx context.Context, eps float64, n int) []block {
	n = stripsFor(at.l, n)
	if !affords(ctx, at.l, 2*n*n) {
		return nil
	}
	c := newClock(at.l, eps, false)
	low, high := at.pair.strips(c, n, false, leastShare), at.pair.strips(c, n, true, leastShare)
	below, before := massesOf(low), massesOf(high)
	e := math.Exp(eps)
	most := math.Inf(-1) // ln f'(1−u)/f'(1−v) at the best place
	for _, m := range below {
		if r := at.l.LogDPGF(min(1, m.p)) - at.l.LogDPGF(min(1, m.q)); r > most {
			most = r
		}
	}
	// best[i] is what the first j high strips can win with the first i low ones above the last of them, and
	// from[j][i] how many stood above the one before it.
	best := make([]float64, len(below))
	from := make([][]int32, len(high)+1)
	value, lastJ, lastI := 0.0, 0, 0
	for j := 1; j <= len(high) && ctx.Err() == nil; j++ {
		s := high[j-1]
		if s.q > 0 && !(s.loss > eps-most) {
			break // wins nowhere
		}
		from[j] = make([]int32, len(below))
		top, arg := math.Inf(-1), 0
		for i, m := range below {
			if i > 0 && !apart(low[i-1], s) {
				break
			}
			if best[i] > top {
				top, arg = best[i], i
			}
			gain := at.l.block(within(m.p+before[j-1].p, s.p)) - times(at.l.block(within(m.q+before[j-1].q, s.q)), e)
			best[i], from[j][i] = top+max(0, gain), int32(arg)
			if best[i] > value {
				value, lastJ, lastI = best[i], j, i
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	// Back from the last winner to the first: how many stand above each.
	above := make([]int, lastJ+1)
	for j, i := lastJ, lastI; j > 0; j-- {
		above[j] = i
		i = int(from[j][i])
	}
	var out []block
	n = 0
	for j := 1; j <= lastJ; j++ {
		for ; n < above[j]; n++ {
			out = append(out, low[n].block)
		}
		out = append(out, high[j-1].block)
	}
	// The rest, descending.
	bottom, top := strip{outcome: -1, rest: 1}, strip{outcome: len(at.pair.loss), rest: 1}
	if n > 0 {
		bottom = low[n-1]
	}
	if lastJ > 0 {
		top = high[lastJ-1]
	}
	for i := top.outcome; i >= bottom.outcome; i-- {
		share := 1.0
		if i == top.outcome {
			share += top.rest - 1
		}
		if i == bottom.outcome {
			share += bottom.rest - 1
		}
		if pm, qm, _ := at.pair.outcome(i); share > 0 && (pm > 0 || qm > 0) {
			out = append(out, block{share * pm, share * qm})
		}
	}
	return out
}

// leastShare is the least share of an outcome that may be left between low and high strips: 2^−53 of the whole
// outcome is then 64 ulps of it.
const leastShare = 1.0 / 64

// apart returns whether a low strip ends before a high one does.
func apart(low, high strip) bool {
	if low.outcome == high.outcome {
		left := low.rest + high.rest - 1
		return left == 0 && (low.rest == 0 || high.rest == 0) || left >= leastShare
	}
	return low.outcome < high.outcome
}
