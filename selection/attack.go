// Attacks: rankings of the outcomes by which a search reaches nearly its price. It assumes a
// pair that the candidate can be turned into, and returns δ rounded down.
//
// The interleaved ranking. Let T = {L < l*} with l* where f'(1−u)/f'(1−v) is largest, u and
// v the P- and Q-mass of {L < l}. T stands on top, by ascending loss, and an outcome of high
// loss s stands in it below {L < l(s)}, where e^s f'(1−u) − e^ε f'(1−v) is largest; all
// others stand below, by descending loss. Whatever the ranking, it is an attack: how it is
// chosen cannot harm what is proved.
//
// Theorem S. Where T and S = {L > ε − ln R} are disjoint and L is continuous, with π = P(S)
// and ρ the least f'(1−u−π)/f'(1−u) in T, it reaches δ_A(ε + ln ρ) ≥ ρ·B(ε), B the bound of
// Theorem U1: at its place an outcome has no more than u + π above it under P, and no less
// than U(u) under Q.

package selection

import (
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A block of the ranking, from the top.
type block struct{ p, q float64 }

// An attacker ranks the outcomes of a pair.
type attacker struct {
	l     Law
	pair  *pair
	low   []block   // P- and Q-mass u and v of {L < loss[i]}
	a, b  []float64 // f'(1−u) and f'(1−v) of it, up to where a/b is largest
	steps []int     // vertices of the hull of (b, a), by ascending i
	logR  float64   // the largest ln f'(1−u)/f'(1−v) at the ends of outcomes
}

// coarsest is how many blocks of a candidate a ranking tells apart at least.
const coarsest = 200

func newAttacker(l Law, p *pair) *attacker {
	p = p.coarse(max(coarsest, min(1<<17, 2_000_000/lawWork(l))))
	at := &attacker{l: l, pair: p, low: totals(p.blocks())[1 : len(p.loss)+2]}
	best, peak := math.Inf(-1), 0
	for i, m := range at.low {
		a, b := l.LogDPGF(min(1, m.p)), l.LogDPGF(min(1, m.q))
		at.a, at.b = append(at.a, math.Exp(a)), append(at.b, math.Exp(b))
		if a-b > best {
			best, peak = a-b, i
		}
	}
	at.a, at.b, at.logR = at.a[:peak+1], at.b[:peak+1], best
	for i := range at.a {
		for n := len(at.steps); n > 1; n = len(at.steps) {
			j, k := at.steps[n-2], at.steps[n-1]
			// From j down to i: k is above the chord, or goes.
			if (at.a[j]-at.a[k])*(at.b[k]-at.b[i]) >= (at.a[k]-at.a[i])*(at.b[j]-at.b[k]) {
				at.steps = at.steps[:n-1]
				continue
			}
			break
		}
		at.steps = append(at.steps, i)
	}
	return at
}

// ranking returns the blocks from the top for a target ε. Only losses below split are in T, only those from there on in S.
func (at *attacker) ranking(eps float64, split int) (blocks []block) {
	p := at.pair
	var u, v xmath.Sum
	put := func(b block) {
		blocks = append(blocks, b)
		u.Add(b.p)
		v.Add(b.q)
	}
	if p.qNeg > 0 {
		put(block{0, p.qNeg})
	}
	next, step := 0, 0 // of T; of the hull
	e := math.Exp(eps)
	rest := slices.Repeat([]float64{1}, len(p.loss)) // share of each outcome that stands below
	insert := func(pm, qm float64) float64 {
		for step+1 < len(at.steps) && at.steps[step+1] <= split {
			i, j := at.steps[step], at.steps[step+1]
			if pm*at.a[j]-e*qm*at.b[j] <= pm*at.a[i]-e*qm*at.b[i] {
				break
			}
			step++
		}
		for ; next < at.steps[step]; next++ {
			put(block{p.p[next], p.q[next]})
			rest[next] = 0
		}
		x := at.share(pm, qm, e, u.Value(), v.Value())
		if x > 0 {
			put(block{x * pm, x * qm})
		}
		return x
	}
	left := p.pInf
	if left > 0 {
		left *= 1 - insert(p.pInf, 0)
	}
	for j := len(p.loss) - 1; j >= max(split, next); j-- {
		x := insert(p.p[j], p.q[j])
		if x == 0 {
			break
		}
		rest[j] = 1 - x
	}
	// T goes on, whether or not anything was put into it.
	for ; next < min(split, len(at.a)-1); next++ {
		put(block{p.p[next], p.q[next]})
		rest[next] = 0
	}
	if left > 0 {
		put(block{left, 0})
	}
	for j := len(p.loss) - 1; j >= 0; j-- {
		if rest[j] > 0 {
			put(block{rest[j] * p.p[j], rest[j] * p.q[j]})
		}
	}
	return blocks
}

// share returns how much of an outcome of masses (pm, qm) gains when it stands below u and
// v: its slivers gain until e^s f'(1−u) falls below e^ε f'(1−v).
func (at *attacker) share(pm, qm, e, u, v float64) float64 {
	gains := func(x float64) bool {
		a := at.l.LogDPGF(min(1, u+x*pm))
		if qm == 0 {
			return true
		}
		return xmath.Log(pm)+a > xmath.Log(e)+xmath.Log(qm)+at.l.LogDPGF(min(1, v+x*qm))
	}
	switch {
	case !gains(0):
		return 0
	case gains(1):
		return 1
	}
	lo, _ := xmath.Bisect(-700, 0, 60, func(log float64) bool { return gains(math.Exp(log)) })
	return math.Exp(lo)
}

// delta returns what the best ranking known reaches at ε ≥ 0, rounded down.
func (at *attacker) delta(eps float64) float64 {
	peak := len(at.a) - 1
	// S ends where an outcome gains nothing even at the best place.
	first := sort.SearchFloat64s(at.pair.loss, eps-at.logR)
	best := at.constant(eps)
	if first >= peak {
		return max(best, at.value(eps, peak))
	}
	// T and S overlap: one threshold parts them.
	tries := 24
	for k := 0; k <= tries; k++ {
		best = max(best, at.value(eps, first+(peak-first)*k/tries))
	}
	return best
}

func (at *attacker) value(eps float64, split int) float64 {
	return at.reachOf(at.ranking(eps, split)).delta(eps)
}

// A winner is the law of the best of K runs on the blocks of a ranking.
type winner struct {
	l            Law
	rel          float64 // error of the masses of blocks and of their sums (of parts of outcomes: leastShare)
	blocks       []block
	above, below []block // the masses of the first i blocks, and of those from the i-th on
}

func (at *attacker) winner(blocks []block) winner {
	w := winner{l: at.l, rel: at.pair.rel + 256*xmath.U, blocks: blocks, above: totals(blocks)}
	w.below = totals(reversed(blocks))
	slices.Reverse(w.below)
	return w
}

// totals returns the masses of the first i blocks together, for every i.
func totals(blocks []block) []block {
	out := make([]block, len(blocks)+1)
	var p, q xmath.Sum
	for i, b := range blocks {
		p.Add(b.p)
		q.Add(b.q)
		out[i+1] = block{p.Value(), q.Value()}
	}
	return out
}

func reversed(blocks []block) []block {
	out := slices.Clone(blocks)
	slices.Reverse(out)
	return out
}

// blocks returns the masses of all outcomes, from the lowest loss on.
func (p *pair) blocks() []block {
	out := make([]block, len(p.loss)+2)
	for i := range out {
		out[i].p, out[i].q, _ = p.outcome(i - 1)
	}
	return out
}

// mass returns what the winner has on the blocks from the i-th to before the j-th, which is i+1 or
// the number of blocks, and the relative error of it.
func (w winner) mass(i, j int) (a, b, err float64) {
	x := w.blocks[i]
	if j == len(w.blocks) {
		x = w.below[i]
	}
	a, errA := w.one(w.above[i].p, x.p, w.below[j].p)
	b, errB := w.one(w.above[i].q, x.q, w.below[j].q)
	return a, b, max(errA, errB)
}

// one is mass under one of the two laws, from the top or from the bottom.
func (w winner) one(above, p, below float64) (mass, err float64) {
	u, p := within(above, p)
	err = 2 * w.rel * (1 + sensitivity(w.l, u+p))
	if u < above { // a unit of 1 that within took off is much of f' where many runs see it
		err += math.Expm1(w.l.LogDPGF(u) - w.l.LogDPGF(min(1, above)))
	}
	if l, ok := w.l.(fromBelow); ok {
		n, _ := w.l.MaxRuns()
		if e := 2 * w.rel * (1 + float64(n)); e < err {
			return l.below(below, p), e + w.l.relErr()
		}
	}
	return w.l.block(u, p), err + w.l.relErr()
}

// within returns a block of mass p below one of mass u such that both fit into 1. The mass
// keeps its digits: below almost everything, 1 − u has none, and e^ε times a mass lost there
// can be all of δ.
func within(u, p float64) (u0, p0 float64) {
	p = min(1, p)
	return max(0, min(u, 1-p)), p
}

// reachOf returns the reach of a ranking of blocks, all of which may win.
func (at *attacker) reachOf(blocks []block) reach {
	r := make(reach, len(blocks))
	w := at.winner(blocks)
	for i, x := range blocks {
		a, b, err := w.mass(i, i+1)
		if !(err < 0.5) {
			a, b, err = 0, 1, 0
		}
		r[i] = block{max(0, a*(1-err)-tiny), b * (1 + err)}
		if x.q > 0 {
			r[i].q += tiny // it may have underflowed
		}
	}
	return r
}

// sensitivity bounds u'·f”(1−u')/f'(1−u') for u' ≤ u: what a relative error of u is worth
// in f'(1−u).
func sensitivity(l Law, u float64) float64 {
	switch l := l.(type) {
	case tnb:
		return 1 + l.eta
	case poisson:
		return l.mu * u
	case binomial:
		return float64(l.n) * l.p * u / max(0, 1-l.p*u)
	}
	n, _ := l.MaxRuns()
	return float64(n) * u / max(0, 1-u)
}

// constant is the search among outcomes that all have one score: the candidate itself.
func (at *attacker) constant(eps float64) float64 {
	var p, q xmath.Sum
	p.Add(at.pair.pInf)
	for i, l := range at.pair.loss {
		if l > eps {
			p.Add(at.pair.p[i])
			q.Add(at.pair.q[i])
		}
	}
	d := p.Value()*(1-at.pair.rel) - times(q.Value(), math.Exp(eps))*(1+at.pair.rel)*(1+8*xmath.U*(1+eps))
	return max(0, d) * at.l.Hit(1) * (1 - at.l.relErr() - 64*xmath.U)
}

// coarse returns a pair of at most n blocks, neighbours put together.
func (p *pair) coarse(n int) *pair {
	if len(p.loss) <= n {
		return p
	}
	c := &pair{qNeg: p.qNeg, pInf: p.pInf, rel: p.rel + 8*xmath.U}
	size := (len(p.loss) + n - 1) / n
	for i := 0; i < len(p.loss); i += size {
		var a, b xmath.Sum
		for j := i; j < min(i+size, len(p.loss)); j++ {
			a.Add(p.p[j])
			b.Add(p.q[j])
		}
		c.p, c.q = append(c.p, a.Value()), append(c.q, b.Value())
		c.loss = append(c.loss, xmath.Log(a.Value())-xmath.Log(b.Value()))
	}
	return c
}

// firstAttack accepts {L < loss[i]} and {L > s} in a search for the first outcome above a
// threshold: accepted outcomes of high loss win, or "no outcome" does.
type firstAttack struct {
	l         Law
	pair      *pair
	low, high []block // masses of {L < loss[i]} and of {L ≥ loss[i]}
}

func newFirstAttack(l Law, p *pair) *firstAttack {
	p = p.coarse(max(coarsest, min(1<<17, 2_000_000/lawWork(l))))
	end, all := len(p.loss)+2, p.blocks()
	at := &firstAttack{l: l, pair: p, low: totals(all)[1:end], high: totals(reversed(all))[1:end]}
	slices.Reverse(at.high)
	return at
}

// delta returns what the best set of accepted outcomes known reaches at ε ≥ 0, rounded down.
func (at *firstAttack) delta(eps float64) float64 {
	e, l, n := math.Exp(eps), at.l, len(at.pair.loss)
	err := 2*l.relErr() + 64*xmath.U
	rel := at.pair.rel + 32*xmath.U
	g := func(u float64) float64 { return l.Hit(u) / u }
	best := 0.0
	for i := range n + 1 {
		// Which high losses gain depends on how many are accepted: two steps towards it.
		j := n
		if m := math.Exp(l.logMean()); i < n {
			j = sort.SearchFloat64s(at.pair.loss, eps-xmath.Log(m/g(max(at.low[i].q, 1e-300))))
		}
		for range 3 {
			j = max(i, j)
			high := at.high[j]
			u, v := at.low[i].p+high.p, at.low[i].q+high.q
			if !(u > 0 && v > 0) {
				break
			}
			gu, gv := g(min(1, u*(1+rel)))*(1-err), g(min(1, v*(1-rel)))*(1+err)
			d := max(0, high.p*(1-rel)*gu-times(high.q, e)*(1+rel)*gv)
			// f(1−u) falls: the mass of the others, not 1 − u, keeps its digits.
			restU, restV := max(0, 1-u*(1+rel)), max(0, 1-v*(1-rel))
			if none := l.PGF(restU)*(1-err) - e*l.PGF(restV)*(1+err) - 4*xmath.U*(1+e); none > 0 {
				d += none
			}
			best = max(best, d*(1-8*xmath.U*(1+eps))-tiny)
			k := sort.SearchFloat64s(at.pair.loss, eps-xmath.Log(gu/gv))
			if k == j {
				break
			}
			j = k
		}
	}
	return best
}

// A reach is what the winners of one ranking get, rounded outward: mass under P down, under
// Q up, by block.
type reach []block

// delta returns what is reached at ε ≥ 0, rounded down.
func (r reach) delta(eps float64) float64 {
	var gain, loss xmath.Sum
	e := math.Exp(eps)
	for _, b := range r {
		if b.p > times(b.q, e) {
			gain.Add(b.p)
			loss.Add(b.q)
		}
	}
	return max(0, gain.Value()*(1-8*xmath.U)-times(loss.Value(), e)*(1+8*xmath.U*(1+eps))-tiny)
}
