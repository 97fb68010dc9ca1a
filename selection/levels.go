// Theorem U2, the price by levels: what the best of K runs costs at small ε, where outcomes
// that win keep each other from the good places, which Theorem U1 does not count. It assumes
// upper ends of the candidate's profile in both directions, and returns δ rounded up.
//
// Theorem U2. In one direction (P, Q) let U be as in Theorem U1, and S contain all outcomes of
// loss above s₀ = ε − ln R. Let Y(x) bound the Q-mass of subsets of S of P-mass at most x, and
// 0 = x₀ < … < x_K with x_K ≥ P(S). For every ranking, every α_k ≥ 0 and every ε ≥ 0
//
//	δ_A(ε) ≤ Σ_k α_k(x_{k+1} − x_k) + Σ_S max_{k,w} [(f'(1−x_k−w) − α_k)dP − e^ε f'(1−V_k(w))dQ]₊,
//	V_k(w) = min(1, U(x_k + w), Y(x_k) + U(w), Y(x_{k+1}) + Q(Sᶜ)).
//
// Proof. By Theorem U1's proof no outcome outside S adds anything. Of what is ranked above an
// outcome in S let x be the P-mass of S, x_k ≤ x ≤ x_{k+1}, and x_k + w ≥ x all of it. Under Q
// it has v ≤ U(x_k + w), and v ≤ Y'(x) + U'(x_k + w − x), Y' ≤ Y and U' ≤ Q(Sᶜ) being the largest
// Q-masses of P-masses in S and outside of it. Y' is concave, so Y'(x) ≤ Y(x_k) + Y'(x − x_k); and
// P-masses x − x_k in S and x_k + w − x outside are one of w, with a Q-mass of U(w) at most. So
// v ≤ Y(x_k) + U(w). Hence the outcome adds at most φ_k, the largest bracket with α_k = 0, which
// is at most α_k·dP + the bracket; and the outcomes in S with x in that level have P-mass
// x_{k+1} − x_k at most. (The specification has Y(x_{k+1}) + U(w), a little more.)
//
// What is known of the candidate is a pair that can be turned into it (tables.above): whatever
// a search over the candidate reaches, a search over that pair does, and its masses are known.

package selection

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A leveled is what Theorem U2 needs of one direction.
type leveled struct {
	w     weight
	logR  float64   // ln R, up
	pair  *pair     // above the candidate
	cells []cellOfU // of U, ascending, coarse
	tail  []float64 // P-mass of {loss ≥ loss[i]}, up
	count int       // K
}

// How many levels S is cut into for one ε, for the points of a profile, and for one δ; and by
// how much the logarithm of a weight changes within a cell of U, times the levels. The first
// cost about one part in so many of what the winners cost each other, the second step²/8 of
// δ. They are a choice, no part of the proof.
const (
	levelCount = 64
	fewLevels  = 24
	manyLevels = 256
	levelStep  = 1.28
)

// maxLeveled is the largest ε for which Theorem U2 is computed, by numbers e^ε.
const maxLeveled = 700

// newLeveled returns the price by levels for the first direction of t, and a pair above it; nil
// for laws whose f' takes too long.
func newLeveled(l Law, t *tables, above *pair, logR float64, count int) *leveled {
	work := math.Sqrt(float64(lawWork(l)))
	if work > 30 {
		return nil
	}
	lv := &leveled{w: newWeight(l), logR: logR, pair: above, count: max(8, int(float64(count)/work))}
	lv.cells = coarseCells(l, t.cells(), levelStep/float64(count), float64(6*lv.count))
	n := len(lv.pair.loss)
	lv.tail = make([]float64, n+1)
	var s xmath.Sum
	s.Add(lv.pair.pInf)
	lv.tail[n] = s.Value() * (1 + lv.pair.rel)
	for i := n - 1; i >= 0; i-- {
		s.Add(lv.pair.p[i])
		lv.tail[i] = min(1, s.Value()*(1+lv.pair.rel)*(1+8*xmath.U))
	}
	return lv
}

// coarseCells joins cells, given from u = 1 down, while the weights change little, and returns
// them ascending. Any line bounds U everywhere.
func coarseCells(l Law, cells []cellOfU, step, most float64) []cellOfU {
	change := func(c cellOfU, hi float64) float64 {
		return math.Abs(l.LogDPGF(c.lo)-l.LogDPGF(hi)) + math.Abs(finite(l.LogDPGF(c.line.at(c.lo)))-finite(l.LogDPGF(c.line.at(hi))))
	}
	total := 0.0
	for _, c := range cells {
		total += finite(change(c, c.hi))
	}
	step = max(step, total/most)
	var out []cellOfU
	hi, sum, from := 1.0, 0.0, 0
	// Of the cells from..i, the line that is the right one in the middle.
	join := func(lo float64, i int) {
		k := i
		for k > from && cells[k].hi < lo+(hi-lo)/2 {
			k--
		}
		out = append(out, cellOfU{lo, hi, cells[k].line})
	}
	for i, c := range cells {
		d := change(c, c.hi)
		if n := d / step; n > 2 {
			// One long cell: cut it.
			if i > from {
				join(c.hi, i-1)
			}
			out = append(out, split(l, c, int(min(n, most))+1)...)
			hi, sum, from = c.lo, 0, i+1
			continue
		}
		if sum += d; sum > step || i == len(cells)-1 {
			join(c.lo, i)
			hi, sum, from = c.lo, 0, i+1
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// start returns the index of the first loss of S, and P(S).
func (lv *leveled) start(eps float64) (first int, mass float64) {
	s0 := eps - lv.logR
	s0 -= 4 * xmath.U * (math.Abs(eps) + math.Abs(lv.logR))
	if math.IsInf(lv.logR, 1) {
		s0 = math.Inf(-1)
	}
	first = sort.SearchFloat64s(lv.pair.loss, s0)
	return first, lv.tail[first]
}

// levelGain is what Theorem U2 has to be worth to be asked.
const levelGain = 1e-3

// serves returns whether Theorem U2 can be below Theorem U1 at ε by more than levelGain, about:
// the winners cost each other no more places than their mass. It chooses and proves nothing.
func (lv *leveled) serves(eps float64) bool {
	if eps > maxLeveled {
		return false
	}
	_, mass := lv.start(eps)
	for _, c := range lv.cells {
		if c.lo <= 0.5 && lv.w.l.LogDPGF(c.lo)-lv.w.l.LogDPGF(min(1, c.lo+mass)) > levelGain {
			return true
		}
	}
	return false
}

// A level is a range of the P-mass of S above an outcome, and the hull of what an outcome
// there can get.
type level struct {
	lo, hi float64 // x_k, x_{k+1}
	xs, ys []float64
	alpha  float64
}

// perCell is what a cell of a level takes of a limit of work, in the unit of parallel.WithWork, measured.
const perCell = 5

// work is what delta takes.
func (lv *leveled) work(count int) float64 { return perCell * float64(count) * float64(len(lv.cells)) }

// delta returns the bound of Theorem U2 at ε ≥ 0 by so many levels, at most 1.
func (lv *leveled) delta(eps float64, count int) float64 {
	p := lv.pair
	first, mass := lv.start(eps)
	if mass == 0 {
		return 0
	}
	out := 1 + 2*p.rel + 16*xmath.U // outward, of masses and of sums of them
	var rest xmath.Sum
	rest.Add(p.qNeg)
	for _, q := range p.q[:first] {
		rest.Add(q)
	}
	qRest := min(1, rest.Value()*out)
	ks := make([]level, count)
	for k := range ks {
		ks[k].lo = mass * math.Pow(float64(k)/float64(count), 1.5)
		ks[max(k, 1)-1].hi = ks[k].lo
	}
	ks[count-1].hi = mass
	y := largest{p: p.p[first:], q: p.q[first:], out: out}
	at := make([]float64, count) // the loss with x_{k+1} above it
	top, start := len(p.loss), 0.0
	for k := range ks {
		end := y.at(ks[k].hi)
		ks[k].xs, ks[k].ys = lv.level(ks[k].lo, start, end+qRest)
		start = end
		for top > first && lv.tail[top] < ks[k].hi {
			top--
		}
		if at[k] = math.Inf(1); top < len(p.loss) {
			at[k] = p.loss[top]
		}
	}
	for k := count - 2; k >= 0; k-- {
		z := math.Exp(eps - at[k])
		ks[k].alpha = ks[k+1].alpha + max(0, ks[k].value(z)-ks[k+1].value(z))
	}
	return min(1, lv.sum(eps, ks, first, out))
}

// A largest is Y(x), for ascending x: the Q-mass of the lowest losses of S up to P-mass x.
type largest struct {
	p, q []float64
	out  float64
	i    int
	x, y xmath.Sum
}

func (l *largest) at(x float64) float64 {
	for ; l.i < len(l.p) && l.x.Value()+l.p[l.i] <= x*l.out; l.i++ {
		l.x.Add(l.p[l.i])
		l.y.Add(l.q[l.i])
	}
	y := l.y.Value()
	if l.i < len(l.p) {
		y += l.q[l.i] * min(1, max(0, x*l.out-l.x.Value()*(1-4*xmath.U))/l.p[l.i]*l.out)
	}
	return y * l.out
}

// level returns the hull of the points (f'(1−V(w)), f'(1−x−w)) over w, with y for Y(x) and
// most for the largest V.
func (lv *leveled) level(x, y, most float64) (xs, ys []float64) {
	var px, py []float64
	add := func(a, b float64) { px, py = append(px, a), append(py, b) }
	u := x * (1 - 2*xmath.U)
	yu := lv.w.up(u)
	_, steep := lv.w.slopes(u)
	most = min(1, most*(1+2*xmath.U))
	j := 0
	for _, c := range lv.cells {
		if u >= 1 {
			break
		}
		hi := min(1, x+c.hi) // of u
		for j+1 < len(lv.cells) && lv.cells[j].hi < (u+hi)/2 {
			j++
		}
		next := hi * (1 - 4*xmath.U)
		yn := lv.w.up(next)
		low, top := lv.w.slopes(next)
		// U(x + w), and Y + U(w): whichever is less where w is largest.
		l := lv.cells[j].line
		up := hi * (1 + 2*xmath.U)
		vLo, vHi := l.slope*u, l.slope*up
		if a := c.line.slope*c.hi + c.line.d + y; a < vHi+l.d {
			l = line{c.line.slope, c.line.d + y}
			vLo, vHi = l.slope*c.lo, l.slope*c.hi
		}
		vLo, vHi = (vLo+l.d)*(1+16*xmath.U), (vHi+l.d)*(1+16*xmath.U)
		if vHi >= most {
			add(lv.w.down(most), yu) // no better place in this cell than its start
		} else {
			_, high := lv.w.slopes(vLo * (1 - 32*xmath.U))
			bottom, _ := lv.w.slopes(vHi)
			corner(lv.w.down(vHi), yn, lv.w.down(vLo), yu, steep/(bottom*l.slope)*(1+8*xmath.U), low/(high*l.slope)*(1-8*xmath.U), add)
		}
		u, yu, steep = next, yn, top
	}
	add(lv.w.down(most), yu)
	return upperHull(px, py)
}

// value returns max (y − zx) over the hull.
func (k *level) value(z float64) float64 {
	i := sort.Search(len(k.xs)-1, func(i int) bool { return k.ys[i+1]-k.ys[i] <= z*(k.xs[i+1]-k.xs[i]) })
	return k.ys[i] - z*k.xs[i]
}

// sum is the right side of the theorem.
func (lv *leveled) sum(eps float64, ks []level, first int, out float64) float64 {
	p := lv.pair
	var px, py []float64
	var s xmath.Sum
	for _, k := range ks {
		s.AddProduct(k.alpha, (k.hi-k.lo)*(1+2*xmath.U))
		for i, y := range k.ys {
			if y > k.alpha {
				px, py = append(px, k.xs[i]), append(py, y-k.alpha*(1-xmath.U))
			}
		}
	}
	xs, ys := upperHull(px, py)
	// The hulls are seen to rounding: a point that is left out is above what stays by 6u of its
	// height, and so again when that is left out (hullGuard). A level has at most four points a cell. And
	// which vertex is best is seen to rounding.
	guard := 16 * xmath.U * float64(len(px)+4*len(lv.cells)+16) * math.Exp(lv.w.l.logMean())
	s.AddProduct(p.pInf*out, ys[len(ys)-1]+guard)
	e := math.Exp(eps) * (1 - 2*xmath.U*(1+eps))
	i := len(xs) - 1
	for j := len(p.loss) - 1; j >= first; j-- {
		pj, qj := p.p[j]*out, e*p.q[j]/out
		for i > 0 && (ys[i]-ys[i-1])*pj <= (xs[i]-xs[i-1])*qj {
			i--
		}
		s.Add(max(0, ys[i]*pj-xs[i]*qj) + guard*pj)
	}
	return s.Value() * out
}
