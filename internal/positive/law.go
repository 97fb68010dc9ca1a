// Package positive computes laws of sums and products of independent non-negative random variables,
// one above and one below in the convex order. Arithmetic is positive: no mass is ever a difference
// of larger ones, so a probability of 1e-100 has as many digits as one of a half.
//
// A variable X is below Y in the convex order if E φ(X) ≤ E φ(Y) for every convex φ. Replacing the
// values of a cell by a mean-preserving spread on its ends goes up in that order. Replacing them by
// their mean goes down. Sums and products with independent non-negative variables keep the order.
// So a law rounded up (down) at every step, on whatever grids, is above (below):
// docs/theory/allocation.md §3.
//
// It assumes values ≥ 0 and means that are known to be finite. Use it for likelihood ratios: E(M −
// α)₊ and E(1 − αM)₊ give a privacy profile.
package positive

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

const u = xmath.U

// A Law is a positive measure on finitely many values, and a mean at infinity:
// E φ = Σ Mass·φ(X) + Top·lim φ(x)/x. Immutable.
//
// X ascends strictly and is at least 0; masses are positive. The exact law that this one
// stands for has masses within the relative error MassErr and values within the relative
// error ValueErr of these.
type Law struct {
	X, Mass           []float64
	Top               float64
	MassErr, ValueErr float64
}

// Values are kept in [least, most], but for 0, so that no product of two leaves the range of a
// float64, nor do the masses that go with them: P-mass is Mass·X.
const (
	mostLog = 300
	mostX   = 1.9424263952412558e130  // below e^mostLog
	leastX  = 5.1482002224122925e-131 // above e^−mostLog
)

// within returns the law with its values in [leastX, mostX], and 0. l itself where they are.
//
// Above, what is larger goes to 0 and its mean to infinity, and what is smaller to 0, which lowers
// E(X − k)₊ by less than e^−mostLog and only for k as small. Below, what is larger goes to mostX with its
// mean, and what is smaller to leastX: that raises E(k − X)₊, or E(X − k)₊, by less than e^−mostLog, and only
// for k beyond these ends, where it is about the total mass, or mean. Both are less than a rounding of
// the masses, which MassErr has.
func (l *Law) within(above bool) *Law {
	n := len(l.X)
	if n == 0 || l.X[n-1] <= mostX && (l.X[0] >= leastX || l.X[0] == 0 && (n == 1 || l.X[1] >= leastX)) {
		return l
	}
	r := &Law{Top: l.Top, MassErr: l.MassErr + 4*u, ValueErr: l.ValueErr}
	put := func(x, m float64) {
		if i := len(r.X) - 1; i >= 0 && x <= r.X[i] {
			r.Mass[i] += m
			return
		}
		r.X, r.Mass = append(r.X, x), append(r.Mass, m)
	}
	zero := 0.0
	for i, x := range l.X {
		if above && (x > mostX || x < leastX) || x == 0 {
			zero += l.Mass[i]
		}
	}
	if zero > 0 {
		put(0, zero)
	}
	for i, x := range l.X {
		switch m := l.Mass[i]; {
		case x == 0:
		case x > mostX && above:
			r.Top += m * x
		case x > mostX:
			put(mostX, m*(x/mostX))
		case x >= leastX:
			put(x, m)
		case !above:
			put(leastX, m)
		}
	}
	return r
}

// Above returns E(X − k)₊ of the numbers as they stand.
func (l *Law) Above(k float64) float64 {
	var s xmath.Sum
	s.Add(l.Top)
	for i := len(l.X) - 1; i >= 0 && l.X[i] > k; i-- {
		s.Add(l.Mass[i] * (l.X[i] - k))
	}
	return s.Value()
}

// Affine returns the law of scale·X + shift, for scale > 0 and shift ≥ 0 that are known to the
// relative error err. Above, a mean at infinity does not vanish.
func (l *Law) Affine(scale, shift, err float64, above bool) *Law {
	r := *l
	r.X = make([]float64, len(l.X))
	for i, x := range l.X {
		r.X[i] = scale*x + shift
	}
	if r.Top = l.Top * scale; above && l.Top > 0 {
		r.Top += math.SmallestNonzeroFloat64
	}
	r.ValueErr += err + 3*u
	r.MassErr += err + 2*u // of Top
	return &r
}

// An operation combines two independent values.
type operation int

const (
	add operation = iota
	multiply
)

// cells collects the masses of a grid's cells [g_k, g_{k+1}), the last without an end, and
// what lies below the first.
type cells struct {
	grid           []float64 // with +Inf at the end
	mass, moment   []float64 // moment: E(v − g_k) of the cell
	below, belowMo float64   // mass and mean of what lies below the grid
	terms          int       // bound of the number of additions into a cell
	lost           float64   // bound of the mass lost to underflow
	most           float64   // largest value
	beyond         float64   // a mean without a mass: above it is at infinity, below it is left out
	relErr         float64   // of masses that were given, not added
}

func newCells(grid []float64) *cells {
	k := len(grid)
	c := &cells{grid: make([]float64, k+1), mass: make([]float64, k), moment: make([]float64, k)}
	copy(c.grid, grid)
	c.grid[k] = math.Inf(1)
	return c
}

// pairs adds all values of x op y. Each row's runs within a cell are added up first, so that a
// mass is a sum of at most len(x)+len(y) terms in each of its additions' depth.
func (c *cells) pairs(op operation, x, y *Law) {
	if x == y {
		c.square(op, x)
		return
	}
	for i, xi := range x.X {
		c.row(op, xi, x.Mass[i], y.X, y.Mass)
	}
	c.finish(op, x, y)
}

// square uses the symmetry of x op x.
func (c *cells) square(op operation, x *Law) {
	for i, xi := range x.X {
		c.row(op, xi, x.Mass[i], x.X[i:i+1], x.Mass[i:i+1])
		c.row(op, xi, 2*x.Mass[i], x.X[i+1:], x.Mass[i+1:])
	}
	c.finish(op, x, x)
}

func (c *cells) finish(op operation, x, y *Law) {
	c.terms = len(x.X) + len(y.X) + 8
	c.lost = float64(len(x.X)) * float64(len(y.X)) * 2 * math.SmallestNonzeroFloat64
	if len(x.X) == 0 || len(y.X) == 0 {
		return
	}
	a, b := x.X[len(x.X)-1], y.X[len(y.X)-1]
	if op == add {
		c.most = a + b
	} else {
		c.most = a * b
	}
}

// row adds the values of one row, ascending.
func (c *cells) row(op operation, xi, mi float64, ys, ms []float64) {
	if len(ys) == 0 {
		return
	}
	ms = ms[:len(ys)]
	g := c.grid
	// x + y and x·y are slope·y + shift, to the bit.
	slope, shift := 1.0, xi
	if op == multiply {
		slope, shift = xi, 0
	}
	j := 0
	for ; j < len(ys); j++ {
		v := slope*ys[j] + shift
		if v >= g[0] {
			break
		}
		w := mi * ms[j]
		c.below += w
		if c.belowMo += w * v; v > 0 {
			c.belowMo += math.SmallestNonzeroFloat64 // 0 is for values that are
		}
	}
	if j == len(ys) {
		return
	}
	// The first cell by bisection, the others by walking.
	v := slope*ys[j] + shift
	k, found := slices.BinarySearch(g[:len(g)-1], v)
	if !found {
		k--
	}
	at, end := g[k], g[k+1]
	m, mo := 0.0, 0.0
	for ; j < len(ys); j++ {
		v := slope*ys[j] + shift
		if v >= end {
			c.mass[k] += m
			c.moment[k] += mo
			m, mo = 0, 0
			for k++; v >= g[k+1]; k++ {
			}
			at, end = g[k], g[k+1]
		}
		w := mi * ms[j]
		m += w
		mo += w * (v - at)
	}
	c.mass[k] += m
	c.moment[k] += mo
}

// up returns the spread of every cell on its ends; what lies beyond the last point goes there
// and its mean to Top, what lies below the first there and to 0.
func (c *cells) up() *Law {
	n := len(c.mass)
	l := &Law{X: make([]float64, 0, n+1), Mass: make([]float64, 0, n+1)}
	g := c.grid
	rise := 0.0
	zero := c.lost
	if c.below > 0 {
		// The mean of the cell is at most g_0: rounding is clamped, in the value view.
		rise = min(c.belowMo/g[0], c.below)
		zero += c.below - rise
	}
	if zero > 0 && g[0] > 0 {
		l.X, l.Mass = append(l.X, 0), append(l.Mass, zero)
	} else {
		rise += zero
	}
	for k := range n {
		m := c.mass[k] + rise
		rise = 0
		if k == n-1 {
			l.Top += max(c.moment[k], 0)
		} else if wide := g[k+1] - g[k]; wide > 0 {
			rise = min(max(c.moment[k]/wide, 0), c.mass[k])
			m -= rise
		}
		if !(m > 0) {
			continue
		}
		// Two losses may have one value, or be an ulp out of order: a cell between them has no width.
		if i := len(l.X) - 1; i >= 0 && g[k] <= l.X[i] {
			l.Mass[i] += m
			continue
		}
		l.X, l.Mass = append(l.X, g[k]), append(l.Mass, m)
	}
	l.Top += c.lost*c.most + c.beyond
	return l
}

// low returns the law with the values of each cell at their mean. A product below the normal numbers may have come out larger
// than it is, by less than what is lost otherwise, which is taken off.
func (c *cells) low() *Law {
	n := len(c.mass)
	l := &Law{X: make([]float64, 0, n+1), Mass: make([]float64, 0, n+1)}
	g := c.grid
	put := func(x, m float64) {
		if i := len(l.X) - 1; i >= 0 && x <= l.X[i] {
			// Rounding at a common end: one value.
			l.Mass[i] += m
			return
		}
		l.X, l.Mass = append(l.X, x), append(l.Mass, m)
	}
	if m := c.below - c.lost; m > 0 {
		put(min(c.belowMo/c.below, g[0]), m)
	}
	for k := range n {
		if m := c.mass[k] - c.lost; m > 0 {
			put(min(g[k]+max(c.moment[k]/c.mass[k], 0), g[k+1]), m)
		}
	}
	return l
}

// round returns the law of the cells, above or below, with the errors of what was added
// and those of this rounding.
func (c *cells) round(above bool, massErr, valueErr float64) *Law {
	var l *Law
	if above {
		l = c.up()
	} else {
		l = c.low()
	}
	n := float64(c.terms)
	// A moment is a sum of positive terms, so that an error of (2n+4)u of it moves the mean of a
	// cell by that part of its distance from the lower end: at most gap/g_{k+1} of itself.
	last := len(c.mass) - 1
	wide := 0.0
	if c.below > 0 || c.mass[last] > 0 {
		wide = 1
	}
	for k := range last {
		if c.mass[k] > 0 {
			wide = max(wide, 1-c.grid[k]/c.grid[k+1])
		}
	}
	l.MassErr = massErr + (n+6)*u
	l.ValueErr = valueErr + 3*u + wide*(2*n+4)*u
	return l
}

// combine returns x op y rounded up or down onto the grid.
func combine(op operation, x, y *Law, grid []float64, above bool) *Law {
	c := newCells(grid)
	c.pairs(op, x, y)
	valueErr := max(x.ValueErr, y.ValueErr)
	if op == multiply {
		valueErr = x.ValueErr + y.ValueErr
	}
	l := c.round(above, x.MassErr+y.MassErr, valueErr)
	// Means at infinity: each is met by the total mass, or mean, of the other.
	bx, by := 0.0, 0.0
	for i, m := range x.Mass {
		bx += m * weight(op, x.X[i])
	}
	for i, m := range y.Mass {
		by += m * weight(op, y.X[i])
	}
	l.Top += x.Top*by + y.Top*bx
	if op == multiply {
		l.Top += x.Top * y.Top
	}
	if above && x.Top+y.Top > 0 {
		l.Top += 3 * math.SmallestNonzeroFloat64 // of products that vanish
	}
	return l
}

func weight(op operation, x float64) float64 {
	if op == add {
		return 1
	}
	return x
}

// Proof (docs/theory/allocation.md §3): round-off.
//
// Round-off. Masses are sums of products of positive numbers: a law of n copies has masses with the relative error `μ_n
// = μ_a + μ_b + (m + 6)u`, m the number of additions into a cell. A rounded moment is one of values in the cell, at most
// by `(2m + 4)u` of the distance from its lower end; values gain `ρ = max(ρ_a, ρ_b) + 3u + w(2m + 4)u`, w = 1 −
// g_k/g_{k+1} at most (1 at the ends); for products `ρ_a + ρ_b`. The rest `M − V/gap` of a spread is a difference of
// masses: rounding can make it negative, by an ulp of M, and it is clamped, which again is a change of values. As values
// and masses enter monotonically, `δ ≤ (1 + μ)(1 + ρ)·δ̂(ε + log(1 − ρ))` above, and the like below: masses of the
// profile have the error μ + ρ, losses `−log(1 − ρ)`. What underflows, at most 2⁻¹⁰⁷³ for each pair, is added at
// infinity and at 0 above, and taken off every mass below. Values stay between e^−300 and e^300, or are 0: above, what
// is larger goes to 0 and its mean to infinity; below, to e^300 with its mean, and what is smaller to e^−300, each of
// which is less than a rounding of the masses. Cells of the Gaussian are differences of the smaller tails at exact
// points z, with the error of that difference.
