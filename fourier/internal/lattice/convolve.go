// Composition by repeated doubling, without a tilt and without a transform: for laws
// of which no tilt brings the mass to ε, as where one step in a million has a loss
// that decides alone (docs/theory/accuracy.md §14).
//
// It assumes measures above, or below, what they stand for, and returns one of their sum on the same
// side. Two of them are multiplied pair by pair, and the products collected in cells, which are made few
// again. All terms are positive, so that a mass of 1e-310 has as many correct digits
// as one of 1. In every cell (t, t′] the products have a P-mass A, and B = Σ m(1 − e^{t−l})
// says what they lose between P and Q. An upper law gives B/(1 − e^{t−t′}) to t′ and the
// rest to t, which keeps both masses; a lower one puts A at the loss whose P over Q is
// that of all the cell, −log(1 − B/A) above t. The first is the polygon of §2 there, the
// second what is left of privacy loss when the losses of a cell cannot be told apart.
// What rounding may have taken away is added, or what it may have added taken away.

package lattice

import (
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A convolver multiplies measures, of which one side is kept: above, or below.
//
// Invariants: all is the number of runs of the question, runs that of the product under way.
type convolver struct {
	up   bool
	res  float64 // by how much the log-odds of exceeding a loss may change in a cell
	log  float64 // log δ
	runs float64 // of which the result is the law, and of all
	all  float64
	m    *meter.Meter
}

// at returns the resolution at log-odds: losses that single runs, or blocks of them, exceed
// about as often as all runs together may exceed ε decide more than others.
func (j convolver) at(odds float64) float64 {
	if x := odds + xmath.Log(j.all/j.runs) - j.log; x > -8 && x < 12 {
		return j.res / closer
	}
	return j.res
}

// closer is by how much the resolution is finer where single runs decide. steers: time for width.
const closer = 8

// deepMargin is how far below δ, in logarithm, the mass of all runs together is followed.
const deepMargin = 12 // steers: width for cells

// above is the log of the mass that need not be followed: deepMargin below δ in all
// products of this kind.
func (j convolver) above() float64 {
	return j.log - deepMargin - xmath.Log(j.all/j.runs) - xmath.Log(2*math.Log2(j.all)+4)
}

// What a convolution may take, and what it is charged. steers: time for width.
const (
	pairsKept = 1 << 14 // so many sums of two losses are cells of their own
	mostCells = 1 << 18
	workPair  = 0.35 // a product of two masses
	workCell  = 1    // a cell, with its share of sorting and joining
)

var errLosses = errors.New("the laws have too many losses to be multiplied one by one")

// cells returns the ends of the cells in which products of a and b are collected:
// the losses of each, moved to places of the other that carry its mass, and sums of
// losses that are as rare in one as in the other.
func (j convolver) cells(a, b *measure) []float64 {
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

// times returns the composition of a and b.
func (j convolver) times(a, b *measure) (*measure, error) {
	out := &measure{moved: a.moved + b.moved}
	na, nb := len(a.loss), len(b.loss)
	round := xmath.U * float64(na+nb+8)
	if !j.up {
		round = -round
	}
	out.inf = (a.inf*(b.total()+b.inf) + a.total()*b.inf) * massUnit * (1 + round)
	if na == 0 || nb == 0 {
		return out, nil
	}
	out.moved += xmath.U * (max(math.Abs(a.loss[0]), math.Abs(a.loss[na-1])) + max(math.Abs(b.loss[0]), math.Abs(b.loss[nb-1])))
	t := append(j.cells(a, b), math.Inf(1))
	if out.cells = max(a.cells, b.cells, len(t)); len(t) > mostCells+pairsKept {
		return nil, errLosses
	}
	j.m.Spend(workCell * float64(len(t)))
	p := &products{a: a, b: b, t: t, mass: make([]float64, len(t)), gain: make([]float64, len(t)), rest: make([]float64, nb+1)}
	for i := nb - 1; i >= 0; i-- {
		p.rest[i] = p.rest[i+1] + b.mass[i]
	}
	p.least = math.Exp(j.above() - xmath.Log(float64(na)) - 5 - 2*xmath.Log(massUnit))
	pairs := 0
	for i := range a.loss {
		if pairs += p.row(i); i%64 == 63 {
			j.m.Spend(workPair * float64(pairs))
			pairs = 0
			if err := j.m.Stopped(); err != nil {
				return nil, err
			}
			if j.m.Work < 0 {
				return nil, meter.ErrWork
			}
		}
	}
	j.m.Spend(workPair * float64(pairs))
	if j.up {
		out.inf += p.lost * massUnit * (1 + 2*round)
	}
	j.collect(out, t, p.mass, p.gain, xmath.U*float64(na+nb+16))
	return out, nil
}

// products are those of all masses of two measures, in massUnit².
type products struct {
	a, b       *measure
	t          []float64 // where cells begin; the last is +∞
	mass, gain []float64 // A and B of each cell
	rest       []float64 // of b, the mass from each loss on
	least      float64   // what the end of a row may be left out for
	lost       float64   // at least what was left out
}

// row adds the products of one mass of a to their cells, and returns their number.
// Where both laws are one, it adds those with itself and later ones, the latter twice.
func (p *products) row(i int) int {
	a, b, t := p.a, p.b, p.t
	from, to := 0, len(b.loss)
	if a == b {
		from = i
	}
	x, x0 := a.loss[i], a.mass[i]
	for to > from && x0*p.rest[to-1] <= p.least {
		to--
	}
	p.lost += 2 * x0 * p.rest[to]
	if to == from {
		return 0
	}
	k, _ := slices.BinarySearch(t, x+b.loss[from])
	if t[k] > x+b.loss[from] {
		k--
	}
	mass, gain := 0.0, 0.0
	for n := from; n < to; n++ {
		l := x + b.loss[n]
		if l >= t[k+1] {
			p.mass[k] += mass
			p.gain[k] += gain
			mass, gain = 0, 0
			k = find(t, k+1, l)
		}
		m := x0 * b.mass[n]
		if a == b && n > i {
			m *= 2
		}
		mass += m
		if y := l - t[k]; y > 0 {
			gain += m * oneMinusExp(y)
		}
	}
	p.mass[k] += mass
	p.gain[k] += gain
	return to - from
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

// collect joins cells while the odds allow it, and places their masses, which are known
// to a relative error of round, in out.
func (j convolver) collect(out *measure, t, mass, gain []float64, round float64) {
	n := len(mass)
	above := make([]float64, n+1) // mass from each cell on, in massUnit
	for k := n - 1; k >= 0; k-- {
		mass[k] *= massUnit
		gain[k] *= massUnit
		above[k] = above[k+1] + mass[k]
	}
	least, low := math.Exp(j.above()-xmath.Log(massUnit)), math.Exp(logBelow)/massUnit
	odds := make([]float64, n+1)
	below := 0.0
	for k := range odds {
		odds[k] = xmath.Log(above[k]+out.inf+least) - xmath.Log(below+low)
		if k < n {
			below += mass[k]
		}
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
				out.put(t[k], above[k]*(1-2*round-xmath.U*float64(n)))
			}
			return
		}
		end, to := ends[k], math.Inf(1)
		if end < n {
			to = t[end]
		}
		a, b := joined(t[k:end], mass[k:end], gain[k:end])
		if round := round + xmath.U*float64(6*(end-k)); j.up {
			out.raise(t[k], to, a*(1+round), (b+8*xmath.U*a*(1+round))*(1+round))
		} else {
			out.lower(t[k], a, b, round)
		}
		k = end
	}
}

// joined returns A and B of cells together, for the first loss of them.
func joined(t, mass, gain []float64) (a, b float64) {
	a, b = mass[0], gain[0]
	for i := 1; i < len(t); i++ {
		d := t[i] - t[0]
		a += mass[i]
		b += mass[i]*oneMinusExp(d) + math.Exp(-d)*gain[i]
	}
	return a, b
}

// put adds a mass to a loss, the last or a larger one; what this rounds was counted with it.
func (p *measure) put(l, m float64) {
	if !(m > 0) {
		return
	}
	if i := len(p.loss); i > 0 && p.loss[i-1] == l {
		p.mass[i-1] += m
		return
	}
	p.loss, p.mass = append(p.loss, l), append(p.mass, m)
}

// raise places the mass a of a cell from t to its end, which is to, for an upper law. a and b
// are at least those of the products.
func (p *measure) raise(t, to, a, b float64) {
	up := min(a, b/-math.Expm1(t-to)*(1+16*xmath.U))
	p.put(t, a-up+2*xmath.U*a)
	if math.IsInf(to, 1) {
		p.inf += up
	} else {
		p.put(to, up)
	}
}

// lower places the mass of a cell from t on for a lower law: a and b are relatively
// within round of those of the products, and b as well within 8u·a.
func (p *measure) lower(t, a, b, round float64) {
	l := t
	if r := min(b/a*(1-2*round)-8*xmath.U, 1-0x1p-50); r > 0 {
		l = max(l, xmath.Down(l-math.Log1p(-r)*(1-8*xmath.U), 1))
	}
	p.put(l, a*(1-round))
}

// join returns where the cells that are joined with each, the first of them, end. Cells
// apart are joined only if there are too many else: many losses of discrete noise are met
// by cells themselves, and stay where they are.
func (j convolver) join(t, mass, odds []float64, n int) []int {
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

// How many cells a law keeps: fewJoined, and mostJoined for each step of the resolution between its
// ends. steers: time for width.
const (
	fewJoined  = 200
	mostJoined = 2
)

// power returns n runs of p.
func (j convolver) power(p *measure, n int64) (*measure, error) {
	var all *measure
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

// Theory (docs/theory/accuracy.md §14): errors.
//
// A and B are raised (lowered) by at most u for each row and column, and 8u·A for the exponentials. What lies beyond
// e^{−12} of δ goes to +∞ above and to its first cell below. Sums of losses are displaced by their rounding (§8).
//
// Products below every float64 are lost: at most 2⁻¹⁰⁷⁴ each in units of 2⁻³⁰⁰, 2⁴⁰ of them in each of 53 doublings,
// times 2⁵³ runs. δ is read with 2⁻¹²⁰⁰ more above, and less below.
