package fourier

import (
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// Composition by repeated doubling, without a tilt and without a transform: for laws
// of which no tilt brings the mass to ε, as where one step in a million has a loss
// that decides alone (docs/accuracy.md §14).
//
// A pile is an upper or a lower law of some runs on losses of its own. Two of them are
// multiplied pair by pair, and the products collected in cells, which are made few
// again. All terms are positive, so that a mass of 1e-310 has as many correct digits
// as one of 1. In every cell (t, t′] the products have a P-mass A, and B = Σ m(1 − e^{t−l})
// says what they lose between P and Q. An upper law gives B/(1 − e^{t−t′}) to t′ and the
// rest to t, which keeps both masses; a lower one puts A at the loss whose P over Q is
// that of all the cell, −log(1 − B/A) above t. The first is the polygon of §2 there, the
// second what is left of privacy loss when the losses of a cell cannot be told apart.
// What rounding may have taken away is added, or what it may have added taken away.

// pileUnit is the unit of masses, so that products of two are float64s.
const pileUnit = 0x1p-300

type pile struct {
	loss, mass []float64 // ascending losses, and masses in pileUnit
	inf        float64   // mass at +∞, in pileUnit
	moved      float64   // by how much losses may have been displaced
}

// newPile returns a law as a pile: rounded up, or down where up is false.
func newPile(l *pld.Law, up bool) *pile {
	sign := -1.0
	if up {
		sign = 1
	}
	mass := func(log float64) float64 {
		x := math.Exp(log) / pileUnit
		if log < -600 {
			x = math.Exp(log - math.Log(pileUnit))
		}
		return x * (1 + sign*xmath.U*(8+math.Abs(finite(log))+500))
	}
	p := &pile{loss: l.Loss, mass: make([]float64, len(l.Loss)), inf: mass(l.LogPInf), moved: l.LossErr}
	for i, m := range l.LogMass {
		p.mass[i] = mass(m)
	}
	return p
}

// total returns the mass of all finite losses.
func (p *pile) total() float64 {
	sum := 0.0
	for _, m := range p.mass {
		sum += m
	}
	return sum
}

// A pileJob says how piles are multiplied.
type pileJob struct {
	up   bool
	res  float64 // by how much the log-odds of exceeding a loss may change in a cell
	log  float64 // log δ
	runs float64 // of which the result is the law, and of all
	all  float64
	m    *meter
}

// at returns the resolution at log-odds: losses that single runs, or blocks of them, exceed
// about as often as all runs together may exceed ε decide more than others.
func (j pileJob) at(odds float64) float64 {
	if x := odds + math.Log(j.all/j.runs) - j.log; x > -8 && x < 12 {
		return j.res / closer
	}
	return j.res
}

const closer = 8

// above is the log of the mass that need not be followed: pileMargin below δ in all
// products of this kind.
func (j pileJob) above() float64 {
	return j.log - pileMargin - math.Log(j.all/j.runs) - math.Log(2*math.Log2(j.all)+4)
}

const (
	logBelow  = -50     // mass below the first loss of a pile, as that of other laws
	pairsKept = 1 << 14 // so many sums of two losses are cells of their own
	mostCells = 1 << 18
	workPair  = 0.35 // a product of two masses
	workCell  = 1    // a cell, with its share of sorting and joining
)

var errPiles = errors.New("the laws have too many losses to be multiplied one by one")

// cells returns the ends of the cells in which products of a and b are collected:
// the losses of each, moved to places of the other that carry its mass, and sums of
// losses that are as rare in one as in the other.
func (j pileJob) cells(a, b *pile) []float64 {
	var t []float64
	if len(a.loss)*len(b.loss) <= pairsKept {
		for _, x := range a.loss {
			for _, y := range b.loss {
				t = append(t, x+y)
			}
		}
	} else {
		n := max(0.25, 2*j.res)
		for _, y := range b.places(n) {
			for _, x := range a.loss {
				t = append(t, x+y)
			}
		}
		if a != b {
			for _, x := range a.places(n) {
				for _, y := range b.loss {
					t = append(t, x+y)
				}
			}
		}
		oa, ob := a.odds(), b.odds()
		k := 0
		for i, x := range a.loss {
			for k < len(ob)-1 && ob[k] > oa[i] {
				k++
			}
			t = append(t, x+b.loss[k])
		}
		t = append(t, a.loss[0]+b.loss[0], a.loss[len(a.loss)-1]+b.loss[len(b.loss)-1])
	}
	slices.Sort(t)
	n := 0
	for _, x := range t {
		if n == 0 || x > t[n-1]+4*xmath.U*math.Abs(x) {
			t[n] = x
			n++
		}
	}
	return t[:n]
}

// places returns losses between which the odds of exceeding one change by res times
// what they are, and by 1 about the middle: where steep tails of the other law are
// shifted to, none of their masses may be given to the next one.
func (p *pile) places(res float64) []float64 {
	var out []float64
	odds := p.odds()
	next := math.Inf(1)
	for i, x := range odds {
		if x <= next {
			out = append(out, p.loss[i])
			next = x - max(1, res*math.Abs(x))
		}
	}
	return out
}

// odds returns the log-odds of being at least each loss.
func (p *pile) odds() []float64 {
	out := make([]float64, len(p.loss))
	sum := p.inf
	for i := len(out) - 1; i >= 0; i-- {
		sum += p.mass[i]
		out[i] = math.Log(sum)
	}
	sum = 0
	for i, m := range p.mass {
		out[i] -= math.Log(max(sum, math.Exp(logBelow)/pileUnit))
		sum += m
	}
	return out
}

// times returns the composition of a and b.
func (j pileJob) times(a, b *pile) (*pile, error) {
	out := &pile{moved: a.moved + b.moved}
	na, nb := len(a.loss), len(b.loss)
	round := xmath.U * float64(na+nb+8)
	if !j.up {
		round = -round
	}
	out.inf = (a.inf*(b.total()+b.inf) + a.total()*b.inf) * pileUnit * (1 + round)
	if na == 0 || nb == 0 {
		return out, nil
	}
	out.moved += xmath.U * (max(math.Abs(a.loss[0]), math.Abs(a.loss[na-1])) + max(math.Abs(b.loss[0]), math.Abs(b.loss[nb-1])))
	t := append(j.cells(a, b), math.Inf(1))
	if len(t) > mostCells+pairsKept {
		return nil, errPiles
	}
	j.m.spend(workCell * float64(len(t)))
	mass, gain := make([]float64, len(t)), make([]float64, len(t)) // A and B of a cell, in pileUnit²
	// Of each row of products the end that cannot count is left out.
	least := math.Exp(j.above() - math.Log(float64(na)) - 5 - 2*math.Log(pileUnit)) // in pileUnit²
	rest := make([]float64, nb+1)
	for i := nb - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + b.mass[i]
	}
	lost, pairs := 0.0, 0
	for i, x := range a.loss {
		from := 0
		if a == b {
			from = i
		}
		x0 := a.mass[i]
		to := nb
		for to > from && x0*rest[to-1] <= least {
			to--
		}
		lost += 2 * x0 * rest[max(to, from)]
		if to == from {
			continue
		}
		k, _ := slices.BinarySearch(t, x+b.loss[from])
		if k > 0 && t[k] > x+b.loss[from] {
			k--
		}
		sa, sb := 0.0, 0.0
		for n := from; n < to; n++ {
			l := x + b.loss[n]
			if l >= t[k+1] {
				mass[k] += sa
				gain[k] += sb
				sa, sb = 0, 0
				k = find(t, k+1, l)
			}
			p := x0 * b.mass[n]
			if a == b && n > i {
				p *= 2
			}
			sa += p
			if y := l - t[k]; y > 0 {
				sb += p * oneMinusExp(y)
			}
		}
		mass[k] += sa
		gain[k] += sb
		if pairs += to - from; i%64 == 63 {
			j.m.spend(workPair * float64(pairs))
			pairs = 0
			if err := j.m.stopped(); err != nil {
				return nil, err
			}
			if j.m.work < 0 {
				return nil, errOverwork
			}
		}
	}
	j.m.spend(workPair * float64(pairs))
	if j.up {
		out.inf += lost * pileUnit * (1 + 2*round)
	}
	j.collect(out, t, mass, gain, xmath.U*float64(na+nb+16))
	return out, nil
}

// find returns the last k ≥ from with t[k] ≤ l; t[from] ≤ l, and the last of t is +∞.
func find(t []float64, from int, l float64) int {
	step := 1
	for from+step < len(t) && t[from+step] <= l {
		from += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if from+step < len(t) && t[from+step] <= l {
			from += step
		}
	}
	return from
}

// oneMinusExp returns 1 − e^{−y} for y > 0, to a few u and absolutely to one.
func oneMinusExp(y float64) float64 {
	if y < 1e-4 {
		return y * (1 - y/2*(1-y/3*(1-y/4)))
	}
	return 1 - math.Exp(-y)
}

// collect joins cells while the odds allow it, and places their masses, which are known
// to a relative error of round, in out.
func (j pileJob) collect(out *pile, t, mass, gain []float64, round float64) {
	n := len(mass)
	above := make([]float64, n+1) // mass from each cell on, in pileUnit
	for k := n - 1; k >= 0; k-- {
		mass[k] *= pileUnit
		gain[k] *= pileUnit
		above[k] = above[k+1] + mass[k]
	}
	least, low := math.Exp(j.above()-math.Log(pileUnit)), math.Exp(logBelow)/pileUnit
	odds := make([]float64, n+1)
	below := 0.0
	for k := range odds {
		odds[k] = math.Log(above[k]+out.inf+least) - math.Log(below+low)
		if k < n {
			below += mass[k]
		}
	}
	put := func(l, m float64) {
		if !(m > 0) {
			return
		}
		if i := len(out.loss); i > 0 && out.loss[i-1] == l {
			out.mass[i-1] += m
			return
		}
		out.loss, out.mass = append(out.loss, l), append(out.mass, m)
	}
	last := 0 // the first cell that cannot count
	for above[last] > least {
		last++
	}
	ends := j.join(t, mass, odds, last)
	for k := 0; k < n; {
		if mass[k] == 0 {
			k++
			continue
		}
		if above[k] <= least { // the rest of the law cannot count
			if j.up {
				out.inf += above[k] * (1 + 2*round + xmath.U*float64(n))
			} else {
				put(t[k], above[k]*(1-2*round-xmath.U*float64(n)))
			}
			return
		}
		a, b, end := mass[k], gain[k], k+1
		for last := ends[k]; end < last; end++ {
			d := t[end] - t[k]
			a += mass[end]
			b += mass[end]*oneMinusExp(d) + math.Exp(-d)*gain[end]
		}
		round := round + xmath.U*float64(6*(end-k))
		if j.up {
			a *= 1 + round
			b = (b + 8*xmath.U*a) * (1 + round)
			to := math.Inf(1)
			if end < n {
				to = t[end]
			}
			up := min(a, b/oneMinusExp(to-t[k])*(1+16*xmath.U))
			put(t[k], a-up+2*xmath.U*a)
			if math.IsInf(to, 1) {
				out.inf += up
			} else {
				put(to, up)
			}
		} else {
			l := t[k]
			if r := min(b/a*(1-2*round)-8*xmath.U, 1-0x1p-50); r > 0 {
				l = max(l, xmath.Down(l-math.Log1p(-r)*(1-8*xmath.U), 1))
			}
			put(l, a*(1-round))
		}
		k = end
	}
}

// join returns where the cells that are joined with each, the first of them, end. Cells
// apart are joined only if there are too many else: many losses of discrete noise are met
// by cells themselves, and stay where they are.
func (j pileJob) join(t, mass, odds []float64, n int) []int {
	ends := make([]int, len(mass))
	if n == 0 {
		return ends
	}
	middle := t[n-1]
	for k, x := range odds[:n] {
		if x < 0 {
			middle = t[k]
			break
		}
	}
	most := fewJoined + mostJoined*int((odds[0]-odds[n])/j.res)
	for gap := 0.0; ; gap = max(4*gap, 1e-6) {
		count := 0
		for k := 0; k < n; {
			if mass[k] == 0 {
				k++
				continue
			}
			end, res := k+1, j.at(odds[k]) // end: of the last cell with mass
			for next := end; next < n && odds[k]-odds[next+1] <= res && t[next]-t[end] <= gap*math.Abs(t[next]-middle); next++ {
				if mass[next] > 0 {
					end = next + 1
				}
			}
			ends[k] = end
			k = end
			count++
		}
		if count <= most || gap > 4 {
			return ends
		}
	}
}

const (
	fewJoined  = 200
	mostJoined = 2
)

// power returns n runs of p.
func (j pileJob) power(p *pile, n int64) (*pile, error) {
	var all *pile
	var err error
	for runs, whole := 1.0, 0.0; ; runs *= 2 {
		if n&1 == 1 {
			if whole += runs; all == nil {
				all = p
			} else {
				j.runs = whole
				if all, err = j.times(p, all); err != nil {
					return nil, err
				}
			}
		}
		if n >>= 1; n == 0 {
			return all, nil
		}
		j.runs = 2 * runs
		if p, err = j.times(p, p); err != nil {
			return nil, err
		}
	}
}

// double returns the upper or the lower law of the sum, for a δ about as small as given.
func (s *Sum) double(m *meter, logDelta, res float64, up bool) (*pile, error) {
	var all *pile
	runs := 0.0
	for _, e := range s.entries {
		j := pileJob{up: up, res: res, log: logDelta, runs: 1, all: s.copies, m: m}
		upper, lower := pld.Follow(e.profile, j.above(), logBelow, j.at)
		if err := complete(upper); err != nil {
			return nil, err
		}
		law := upper
		if !up {
			law = lower
		}
		m.spend(workVertex * float64(len(law.Loss)))
		p, err := j.power(newPile(law, up), e.count)
		if err != nil {
			return nil, err
		}
		if runs += float64(e.count); all == nil {
			all = p
			continue
		}
		j.runs = runs
		if all, err = j.times(all, p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deepest is log δ below every float64.
const deepest = -770

// pileMargin is how far below δ, in logarithm, the mass of all runs together is followed.
const pileMargin = 12

// logDelta returns log δ(ε) of a pile, rounded up or down, and minus its derivative.
// One minus an exponential is off by u of the mass: of what the sum and its slope are.
func (p *pile) logDelta(eps float64, up bool) (v, slope float64) {
	i, _ := slices.BinarySearch(p.loss, eps)
	sum, q := p.inf, 0.0
	for ; i < len(p.loss); i++ {
		if l := p.loss[i]; l > eps {
			sum += p.mass[i] * oneMinusExp(l-eps)
			q += p.mass[i] * math.Exp(eps-l)
		}
	}
	round := xmath.U * float64(2*len(p.loss)+8)
	if up {
		sum = (sum + 4*xmath.U*q) * (1 + round)
	} else {
		sum = (sum - 4*xmath.U*q) * (1 - round)
	}
	if !(sum > 0) {
		return math.Inf(-1), 0
	}
	// Both logarithms are below 1000.
	v = math.Log(sum) + math.Log(pileUnit)
	if up {
		return min(0, v+2e-13), q / sum
	}
	return v - 2e-13, q / sum
}

// firstRes is the resolution tried first; the width falls with its square, and the work
// that it takes grows with its inverse square.
const firstRes = 0.5

// finerRes returns the resolution to try after one that gave a width, when a width is
// wanted; 0 if what is left of the work does not do for it.
func finerRes(res, want, width, spent, left float64) float64 {
	f := max(0.3, min(0.6, 0.8*math.Sqrt(want/width)))
	if !(spent/(f*f) < left) || res < 1e-3 {
		return 0
	}
	return res * f
}

// bothPiles returns the upper and the lower law of the sum.
func (s *Sum) bothPiles(m *meter, logDelta, res float64) (upper, lower *pile, err error) {
	if upper, err = s.double(m, logDelta, res, true); err == nil {
		lower, err = s.double(m, logDelta, res, false)
	}
	return upper, lower, err
}

// doubleEpsilon narrows best, which holds ε(δ), to a relative width, or so far as the
// work that is left allows.
func (s *Sum) doubleEpsilon(m *meter, best Result, logDelta, floor, top, relative float64) (Result, error) {
	best.Warnings = nil
	for res := firstRes; res > 0; {
		before := m.work
		upper, lower, err := s.bothPiles(m, logDelta, res)
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if err != nil {
			return s.widest(best, err), nil
		}
		at := func(p *pile, up bool) func(float64) (float64, float64) {
			return func(e float64) (float64, float64) {
				v, slope := p.logDelta(e, up)
				return v - logDelta, slope
			}
		}
		guess := min(max(best.Estimate, floor), top)
		if math.IsNaN(guess) || math.IsInf(guess, 0) {
			guess = max(floor, 0)
		}
		r := Result{
			Upper: solve(at(upper, true), floor, top, guess, 0, 0, true),
			Lower: solve(at(lower, false), floor, top, guess, 0, 0, false),
		}
		r.Budget = Budget{Discretization: max(0, r.Upper-r.Lower), RoundOff: upper.moved + lower.moved}
		r.Upper = min(top, xmath.Up(r.Upper+upper.moved, 2))
		r.Lower = max(floor, xmath.Down(r.Lower-lower.moved, 2))
		r.Estimate = r.Lower + (r.Upper-r.Lower)/2
		best = intersect(best, r)
		width, want := best.Upper-best.Lower, relative*min(math.Abs(best.Lower), math.Abs(best.Upper))
		if width <= want {
			return best, nil
		}
		left := m.work
		if width <= s.opts.Absolute {
			left = min(left, easyWork)
		}
		res = finerRes(res, want, width, before-m.work, left)
	}
	return s.widest(best, errOverwork), nil
}

// doubleDelta narrows best, which holds δ(ε).
func (s *Sum) doubleDelta(m *meter, best Result, eps, relative float64) (Result, error) {
	best.Warnings = nil
	depth := math.Log(best.Lower)
	if !(best.Lower > 0) {
		depth = -10
	}
	for res := firstRes; res > 0; {
		before := m.work
		upper, lower, err := s.bothPiles(m, depth, res)
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if err != nil {
			return s.widest(best, err), nil
		}
		hi, _ := upper.logDelta(xmath.Down(eps-upper.moved, 2), true)
		lo, _ := lower.logDelta(xmath.Up(eps+lower.moved, 2), false)
		best = intersect(best, Result{Lower: expDown(lo), Estimate: math.Exp(lo + (hi-lo)/2), Upper: expUp(hi), Budget: Budget{Discretization: expUp(hi) - expDown(lo)}})
		width, want := best.Upper-best.Lower, relative*best.Upper
		if width <= want || best.Upper < 1e-320 {
			return best, nil
		}
		if lo < depth-pileMargin/2 { // the tails that decide were left out
			if m.work < 2*(before-m.work) || depth <= deepest {
				break
			}
			depth = max(2*depth-pileMargin, deepest)
			continue
		}
		res = finerRes(res, want, width, before-m.work, m.work)
	}
	return s.widest(best, errOverwork), nil
}
