// Theorem U1, the mixture price: what the best of K runs costs is at most a mixture of
// what one run costs at shifted ε. It assumes upper ends of the candidate's profile in both
// directions, and returns δ rounded up.
//
// Theorem U1. In one direction (P, Q) let δ(t) and δʳ(t) be the profiles of (P, Q) and (Q, P),
// U(u) = inf_t (e^t u + δʳ(t)), and α the least nondecreasing concave function on [0, E[K]]
// above (0, 0) and all points (f'(1−U(u)), f'(1−u)), u in [0, 1]; its pieces rise by w_j with
// slope e^{c_j}. For every ranking of the outcomes and every real ε
//
//	δ_A(ε) ≤ f(0)(1−e^ε)₊ + Σ_j w_j·δ(ε − c_j).
//
// Proof. An outcome with P-mass u and Q-mass v ranked above it has the weights f'(1−u) and
// f'(1−v), v ≤ U(u), and f' increases. So it adds at most k(dP, e^ε dQ) to δ_A(ε), with
// k(p, q) = max_u [f'(1−u)p − f'(1−U(u))q]₊, the support function of the hull below α, which
// is Σ_j w_j [p − e^{−c_j}q]₊. Integrate. "No outcome" adds [f(0) − e^ε f(0)]₊.

package selection

import (
	"cmp"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A line is U(u) ≤ e^t·u + d: any t with an upper bound d of δʳ(t) is one.
type line struct{ slope, d float64 }

// A cellOfU is a range of u, with a line that bounds U there.
type cellOfU struct {
	lo, hi float64
	line   line
}

func (l line) at(u float64) float64 { return min(1, (l.slope*u+l.d)*(1+4*xmath.U)) }

// cells covers [0, 1] from 1 downwards, each u with about the best line.
func (t *tables) cells() []cellOfU {
	back, forward := t.sides[1], t.sides[0]
	lines := []line{{0, 1}}
	for i := len(forward.eps) - 1; i > 0; i-- {
		if x := -forward.eps[i]; x > -700 {
			lines = append(lines, line{math.Exp(x) * (1 + 4*xmath.U*(1-x)), min(1, (-math.Expm1(x)+math.Exp(x)*forward.up[i])*(1+8*xmath.U))})
		}
	}
	for i, x := range back.eps {
		if x < 700 {
			lines = append(lines, line{math.Exp(x) * (1 + 4*xmath.U*(1+x)), back.up[i]})
		}
	}
	slopes, ds := make([]float64, len(lines)), make([]float64, len(lines))
	for i, l := range lines {
		slopes[i], ds[i] = l.slope, l.d
	}
	var out []cellOfU
	hi := 1.0
	hull := xmath.LowerHull(slopes, ds)
	for n, i := range hull {
		lo := 0.0
		if n+1 < len(hull) {
			next := lines[hull[n+1]]
			lo = min(hi, max(0, (lines[i].d-next.d)/(next.slope-lines[i].slope)))
		}
		if lo < hi {
			out = append(out, cellOfU{lo, hi, lines[i]})
			hi = lo
		}
	}
	if hi > 0 {
		out = append(out, cellOfU{0, hi, lines[len(lines)-1]})
	}
	return out
}

// A mixture is the pieces of α: rises w and logarithms c of the slopes, descending from
// the first; both rounded up.
type mixture struct {
	w, c []float64
	none float64 // f(0)
}

// mixtureStep is the grid of c on which pieces are gathered. A piece between two slopes of
// the grid becomes the two edges that meet above it, which costs about a quarter of the
// square of the step times that of the slope of log δ.
const mixtureStep = 1.0 / 256

// newMixture returns the mixture of the first direction of t.
func newMixture(l Law, t *tables) mixture {
	xs, ys, n := hullOfWeights(l, t.cells())
	m := mixtureOf(xs, ys, n)
	m.none = l.PMF(0) * (1 + 8*xmath.U)
	return m
}

// mixtureOf returns the mixture of the upper hull of n points.
func mixtureOf(xs, ys []float64, n int) mixture {
	var m mixture
	guard := hullGuard(n)
	inflate := 1 + guard
	top := math.Inf(-1)
	c := make([]float64, len(xs))
	for i := 1; i < len(xs); i++ {
		c[i] = xmath.Log((ys[i]-ys[i-1])/(xs[i]-xs[i-1])) + guard
		if !math.IsInf(c[i], 1) {
			c[i] += 4 * xmath.U * math.Abs(c[i])
			top = max(top, c[i])
		}
	}
	if math.IsInf(top, -1) {
		m.w, m.c = []float64{ys[len(ys)-1] * inflate}, []float64{math.Inf(1)}
		return m
	}
	const most = 4096
	w := make([]float64, most+1)
	start := 0.0 // of slope +Inf
	for i := 1; i < len(xs); i++ {
		rise := ys[i] - ys[i-1]
		if math.IsInf(c[i], 1) {
			start += rise
			continue
		}
		x := max(0, (top-c[i])/mixtureStep)
		j := int(x)
		if j >= most {
			w[most] += rise
			continue
		}
		// Slopes s1 > s2 > s3: the share of the steeper edge is s1(1 − s3/s2)/(s1 − s3).
		s := x - float64(j)
		share := math.Expm1(-(1-s)*mixtureStep) / math.Expm1(-mixtureStep)
		share = min(1, share*(1+64*xmath.U/mixtureStep)) // the steeper the higher
		w[j] += rise * share
		w[j+1] += rise * (1 - share)
	}
	if start > 0 {
		m.w, m.c = append(m.w, start*inflate), append(m.c, math.Inf(1))
	}
	for j, rise := range w {
		if rise > 0 {
			m.w, m.c = append(m.w, rise*inflate), append(m.c, top-float64(j)*mixtureStep+8*xmath.U*(1+math.Abs(top)+float64(j)*mixtureStep))
		}
	}
	return m
}

// hullGuard is by how much the upper hull of n points, which is seen to rounding, has to be raised to
// be above them, relatively: a point that is left out is above the chord by 6u of its height
// at most, and so is the end of the chord when that is left out in turn.
func hullGuard(n int) float64 { return 8 * xmath.U * float64(n+32) }

// leastHull is how many values of f' a polygon above α takes for laws of many runs, about.
const leastHull = 1000

// hullOfWeights returns the vertices of a polygon above α, from (0, 0), and of how many points
// it is the hull.
func hullOfWeights(l Law, cells []cellOfU) (xs, ys []float64, points int) {
	w := newWeight(l)
	px, py := []float64{0}, []float64{0}
	add := func(x, y float64) { px, py = append(px, x), append(py, y) }
	budget := max(64, min(40000, 4_000_000/lawWork(l)))
	step := 20 * math.Abs(l.LogDPGF(0)-l.LogDPGF(math.Nextafter(1, 0))) / float64(budget)
	skip := max(1, len(cells)/(budget/2))
	for i := 0; i < len(cells); i++ {
		c := cells[i]
		if i+1 < len(cells) && i%skip != 0 {
			cells[i+1].hi = c.hi // any line bounds U
			continue
		}
		n := 1
		if f := math.Abs(l.LogDPGF(c.lo)-l.LogDPGF(c.hi)) / max(step, 1e-3); f > 1 {
			n = int(min(f, float64(budget))) + 1
		}
		for _, p := range split(l, c, n) {
			apex(w, p, add)
		}
	}
	xs, ys = upperHull(px, py)
	return xs, ys, len(px)
}

// split cuts a cell into n parts between which f' changes by about the same factor, where
// its logarithm is close to that of a power of g + u.
func split(l Law, c cellOfU, n int) []cellOfU {
	if n == 1 {
		return []cellOfU{c}
	}
	g := 1.0
	if _, gamma, ok := l.Family(); ok && gamma > 0 && gamma < 1 {
		g = gamma / (1 - gamma)
	}
	a, b := xmath.Log(g+c.hi), xmath.Log(g+c.lo)
	out := make([]cellOfU, 0, n)
	hi := c.hi
	for k := 1; k <= n; k++ {
		lo := min(hi, max(c.lo, math.Exp(a+(b-a)*float64(k)/float64(n))-g))
		if k == n {
			lo = c.lo
		}
		if lo < hi {
			out = append(out, cellOfU{lo, hi, c.line})
			hi = lo
		}
	}
	return out
}

// apex adds points whose hull is above the arc (f'(1−line(u)), f'(1−u)) of a cell: its two
// ends and the point where the steepest tangent at the left and the least steep one at the
// right meet; the corner above the left end where that cannot be told from rounding.
func apex(w weight, c cellOfU, add func(x, y float64)) {
	vLo, vHi := c.line.at(c.lo), c.line.at(c.hi)
	x1, y1 := w.down(vHi), w.up(c.hi)
	x2, y2 := w.down(vLo), w.up(c.lo)
	if !(x1 < x2 && y1 < y2) || vHi >= 1 {
		add(x1, y2)
		return
	}
	// dy/dx = f''(1−u)/(f''(1−v)·slope), and f'' falls with u.
	_, top := w.slopes(c.lo)
	low, _ := w.slopes(c.hi)
	bottom, _ := w.slopes(vHi)
	// Rounded up, vLo is past the place of the highest f''.
	_, high := w.slopes(vLo * (1 - 8*xmath.U))
	corner(x1, y1, x2, y2, top/(bottom*c.line.slope)*(1+8*xmath.U), low/(high*c.line.slope)*(1-8*xmath.U), add)
}

// corner adds points whose hull is above an arc from (x1, y1) to (x2, y2), both rounded outward,
// whose slope is between flat and steep: the ends, and where the tangents meet.
func corner(x1, y1, x2, y2, steep, flat float64, add func(x, y float64)) {
	// y1 + steep·(x−x1) = y2 − flat·(x2−x).
	num := (y2 - y1) - flat*(x2-x1)
	dx := num / (steep - flat)
	// The ends are rounded outward already; this is for the arithmetic from there.
	guard := 32 * xmath.U * (y2 + steep*x2) / (steep - flat)
	if !(x1 < x2 && y1 < y2 && dx >= 0 && dx-guard > 0 && dx < x2-x1) || math.IsInf(steep, 0) || math.IsNaN(guard) {
		add(x1, y2)
		return
	}
	add(x1, y1)
	x := x1 + (dx - guard)
	y := y1 + steep*(dx+guard)
	add(x*(1-4*xmath.U), y*(1+4*xmath.U))
	add(x2, y2)
}

// upperHull returns the least nondecreasing concave function above points, from the origin. Rises
// are compared with rises and runs with runs: products of small ones would underflow.
func upperHull(px, py []float64) (xs, ys []float64) {
	order := xmath.Order(len(px), func(i, j int) int { return cmp.Or(cmp.Compare(px[i], px[j]), cmp.Compare(py[i], py[j])) })
	xs, ys = []float64{0}, []float64{0}
	top := 0.0
	for _, i := range order {
		x, y := px[i], py[i]
		if y <= top {
			continue // below the horizontal line from the left
		}
		top = y
		for n := len(xs); n > 0; n = len(xs) {
			if x <= xs[n-1] && n > 1 || n > 1 && (y-ys[n-1])/(ys[n-1]-ys[n-2]) >= (x-xs[n-1])/(xs[n-1]-xs[n-2]) {
				xs, ys = xs[:n-1], ys[:n-1]
				continue
			}
			break
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// delta returns the bound of Theorem U1 at ε, at most 1.
func (m mixture) delta(eps float64, one func(float64) float64) float64 {
	var s xmath.Sum
	if eps < 0 {
		s.AddProduct(m.none, -math.Expm1(eps))
	}
	for j, w := range m.w {
		if math.IsInf(m.c[j], 1) {
			s.Add(w)
			continue
		}
		d := one(eps - m.c[j] - 2*xmath.U*(math.Abs(eps)+math.Abs(m.c[j])))
		if d == 0 {
			continue
		}
		s.AddProduct(w, d)
		s.Add(tiny) // it may have underflowed
		if s.Value() >= 1 {
			return 1
		}
	}
	return min(1, s.Value()*(1+16*xmath.U))
}
