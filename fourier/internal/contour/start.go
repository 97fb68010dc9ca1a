// Where to begin. Nothing here is a bound: a poor start costs another table.
//
// It assumes sketches of the transforms. It returns the cumulant of the composition, or of a sample of its
// factors, its saddles, and where ε may lie.

package contour

import (
	"math"
	"runtime"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// sampleSize is about the number of factors that the search for a line looks at when
// there are more than sampleAbove of them. The certificate is made with all.
const (
	sampleSize  = 24 // steers: time for width
	sampleAbove = 2 * sampleSize
)

// A cumulant is K(s) = log M(s) of a composition, or of a sample of its factors with
// the counts scaled up, at the points asked for so far.
//
// It takes all values from sketches of the transforms: none of them may enter a certificate.
type cumulant struct {
	factors []Factor
	sketch  []transform.Sketch
	index   []int // of each factor in the composition
	count   []float64
	points  []point         // by increasing s
	order   []int           // of the factors, by what they contribute near a line, once that is known
	reached float64         // the largest frequency of the lines that cut prepared
	kept    []*sketchLines  // of the lines asked for last
	folded  bool            // some factors are laws on a lattice
	bump    *transform.Bump // with which finite laws are asked; nil: none
	decay   float64         // what log |M/M(θ)| of all factors is as a share of the sample's, at the last cut
}

// A point is a value of K and its derivative, +Inf where K is not available.
type point struct{ s, k, slope float64 }

// sample returns the cumulant of a composition. Of many factors, every stretch of neighbours in an order is stood for
// by the one in its middle. No stretch has much of the factors, or of K at 1 or at theta, 0 where no line is known: a
// factor that makes much of K stands for itself.
func (c *Composition) sample(order []int, theta float64) *cumulant {
	q := &cumulant{decay: 1, bump: c.bump}
	n := len(order)
	share := slices.Repeat([]float64{1 / float64(n)}, n)
	if n <= sampleAbove {
		share = slices.Repeat([]float64{1}, n)
	} else if c.share(1, share); theta != 0 {
		c.share(theta, share)
	}
	for from, to := 0, 0; from < n; from = to {
		part := 0.0
		for to = from; to < n; to++ {
			if part += share[order[to]]; to > from && part > 1.0/sampleSize {
				break
			}
		}
		j := order[(from+to)/2]
		f := c.factors[j]
		if _, ok := f.Transform.(*Law); ok {
			q.folded = true
		}
		q.factors, q.index, q.sketch = append(q.factors, f), append(q.index, j), append(q.sketch, newSketch(f.Transform))
		var sum float64
		for _, i := range order[from:to] {
			sum += float64(c.factors[i].Count)
		}
		q.count = append(q.count, sum)
	}
	return q
}

// inOrder returns the factors by K of one run at s, the largest first, or as they were added where s is 0.
func (c *Composition) inOrder(s float64) []int {
	order := make([]int, len(c.factors))
	for i := range order {
		order[i] = i
	}
	if s == 0 {
		return order
	}
	k := c.reals(s)
	sort.SliceStable(order, func(i, j int) bool { return k[order[i]] > k[order[j]] })
	return order
}

// share raises what is known of each factor to its share of Σ|K(s)|.
func (c *Composition) share(s float64, known []float64) {
	k := c.reals(s)
	sum := 0.0
	for i := range k {
		if k[i] = math.Abs(k[i]) * float64(c.factors[i].Count); !math.IsInf(k[i], 0) {
			sum += k[i]
		}
	}
	for i, x := range k {
		if x > 0 {
			known[i] = max(known[i], min(1, x/sum))
		}
	}
}

// reals returns about K(s) of one run of each factor.
func (c *Composition) reals(s float64) []float64 {
	k := make([]float64, len(c.factors))
	workers := min(len(k), runtime.GOMAXPROCS(0))
	parallel.Do(workers, func(w int) {
		for i := w; i < len(k); i += workers {
			k[i], _ = newSketch(c.factors[i].Transform).Real(s)
		}
	})
	return k
}

// cumulant returns the sample of the factors as they are, with the points of earlier
// questions: one of each side looks at many of the same.
func (c *Composition) cumulant() *cumulant {
	if c.known == nil || len(c.known.points) > keptPoints {
		c.known = c.sample(c.inOrder(0), 0)
	}
	return c.known
}

// keptPoints bounds how many values of K are kept for later questions.
const keptPoints = 256 // steers: memory for time

// resample chooses the sample by what the factors contribute to K near a line. Without that a few factors with
// heavy tails, which the remainders are made of, could be missed or count too much.
func (c *Composition) resample(q *cumulant, theta float64) *cumulant {
	if len(c.factors) <= alike || q.order != nil {
		return q
	}
	if theta > 0 {
		theta *= 1.5
	}
	order := c.inOrder(theta)
	if len(order) > sampleAbove {
		c.known = c.sample(order, theta)
	}
	c.known.order = order
	return c.known
}

// release drops what a transform of many keeps for later.
func release(t transform.Transform) {
	if r, ok := t.(transform.Releaser); ok {
		r.Release()
	}
}

// runs is the number of runs.
func (q *cumulant) runs() float64 {
	var s float64
	for _, n := range q.count {
		s += n
	}
	return s
}

// at returns K and its derivative at s.
func (q *cumulant) at(s float64) point {
	i := sort.Search(len(q.points), func(i int) bool { return q.points[i].s >= s })
	if i < len(q.points) && q.points[i].s == s {
		return q.points[i]
	}
	p := q.evaluate(s)
	q.points = slices.Insert(q.points, i, p)
	return p
}

// evaluate returns the point at s from the sketches.
func (q *cumulant) evaluate(s float64) point {
	p := point{s: s}
	for j, f := range q.sketch {
		k, slope := f.Real(s)
		if math.IsInf(k, 0) || math.IsNaN(k+slope) {
			p.k, p.slope = math.Inf(1), math.Copysign(math.Inf(1), s+0.5)
			break
		}
		p.k += q.count[j] * k
		p.slope += q.count[j] * slope
	}
	return p
}

// curvature returns K” at theta from two slopes.
func (q *cumulant) curvature(theta float64) float64 {
	p := q.at(theta)
	d := 0.05 * math.Min(math.Abs(theta), math.Abs(1+theta))
	if theta > 0 {
		d = 0.05 * theta
	}
	for _, r := range q.points {
		if x := math.Abs(r.s - theta); x > d/4 && x < 2*d && sideOf(r.s) == sideOf(theta) && !math.IsInf(r.k, 0) {
			return (r.slope - p.slope) / (r.s - theta)
		}
	}
	r := q.at(theta - d)
	return (p.slope - r.slope) / d
}

// line maps the real line onto a side, increasing.
func (d side) line(u float64) float64 {
	switch d {
	case right:
		return math.Exp(u)
	case middle:
		return -1 / (1 + math.Exp(u))
	}
	return -1 - math.Exp(-u)
}

func (d side) unline(theta float64) float64 {
	switch d {
	case right:
		return xmath.Log(theta)
	case middle:
		return xmath.Log((1 + theta) / -theta)
	}
	return -xmath.Log(-1 - theta)
}

// steep is how close to 0 the value at a root must be. Where one rare jump takes over,
// K' rises by orders of magnitude within a millionth of θ: that a bracket is narrow
// means nothing there.
const steep = 0.1 // steers: time for accuracy of a start

// root returns a root of an increasing f to an accuracy of tol, from a start and a
// first step. f may return ±Inf. It returns the last point when there is none. With
// rate > 0, f is known to rise at about that rate or faster, and steps are no longer than
// that takes: far out, K costs far more.
func root(f func(float64) float64, x, step, tol, rate float64) float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	flo, fhi := math.NaN(), math.NaN()
	side, wide := 0, tol
	for i := range 100 {
		y := f(x)
		if y == 0 {
			return x
		}
		if math.Abs(y) > steep {
			tol = math.Min(tol, 1e-13*math.Max(1, math.Abs(x)))
		} else {
			tol = wide
		}
		if y < 0 {
			lo, flo = x, y
			if side < 0 {
				fhi /= 2
			}
			side = -1
		} else {
			hi, fhi = x, y
			if side > 0 {
				flo /= 2
			}
			side = 1
		}
		switch {
		case math.IsInf(hi, 1) || math.IsInf(lo, -1):
			d := step
			if rate > 0 {
				d = math.Max(2*tol, math.Min(d, math.Abs(y)/rate+tol))
			}
			x -= math.Copysign(d, y)
			step *= 2
		case hi-lo <= tol:
			return (lo + hi) / 2
		default:
			next := lo + (hi-lo)*flo/(flo-fhi)
			if !(next > lo && next < hi) || i > 8 && i%2 == 0 {
				next = (lo + hi) / 2
			}
			// A step that lands next to an end would shrink the bracket from one side only.
			next = math.Min(math.Max(next, lo+0.45*tol), hi-0.45*tol)
			if math.Abs(next-x) < 0.1*tol {
				return next
			}
			x = next
		}
		if math.Abs(x) > 600 {
			return x
		}
	}
	return x
}

// saddle returns the point of a side where M(s)e^{−sε}/|s(s+1)| is smallest: the
// logarithm of that is convex.
func (q *cumulant) saddle(d side, eps, from float64) float64 {
	u := 0.0
	if from != 0 && sideOf(from) == d {
		u = d.unline(from)
	}
	f := func(u float64) float64 {
		s := d.line(u)
		p := q.at(s)
		// The two sums are compared by their ratio where they have one sign: the function
		// is then close to linear in u.
		x, y := p.slope-eps, 1/s+1/(1+s)
		if x > 0 && y > 0 {
			return xmath.Log(x / y)
		}
		if x < 0 && y < 0 {
			return xmath.Log(y / x)
		}
		if x-y < 0 {
			return math.Max(-20, x-y)
		}
		return math.Min(20, x-y)
	}
	return d.line(root(f, u, 1, 0.04, 0))
}

// start returns a guess of ε where the quantity of a side is e^{logX}, and of the
// saddle there.
func (q *cumulant) start(d side, logX float64) (eps, theta float64) {
	if d == middle {
		// 1 − δ ≤ M(θ)e^{−θε}, best at ε = K'(θ): K − θK' = log X, increasing in θ. Next to
		// θ = −1 the pole there carries everything: 1 − δ ≈ e^ε.
		g := func(u float64) float64 {
			p := q.at(d.line(u))
			return p.k - p.s*p.slope - logX
		}
		if g(-6) > 0 {
			return logX, q.saddle(d, logX, 0)
		}
		theta = d.line(root(g, 0, 1, 0.1, 0))
		eps = q.at(theta).slope
		return eps, q.saddle(d, eps, theta)
	}
	// Chernoff's bound with the weight of Theorem 1: its exponent −H(θ) = K − θK' −
	// log(1+θ) at the best ε is decreasing in θ, and −log X is where H must be.
	// log H is close to linear in log θ.
	want := xmath.Log(-logX)
	h := func(u float64) float64 {
		p := q.at(math.Exp(u))
		if math.IsInf(p.k, 1) {
			return 50
		}
		x := p.s*p.slope - p.k + math.Log1p(p.s)
		if x <= 0 {
			return -50
		}
		return xmath.Log(x) - want
	}
	theta = math.Exp(root(h, 0, 2, 0.05, 1.6))
	// Two steps towards the root of the saddle-point approximation. Where rare jumps carry δ
	// it is not monotone and K rises like a wall: a step must come closer.
	miss := func(theta float64) (off, step float64) {
		p := q.at(theta)
		phi := q.curvature(theta) + 1/(theta*theta) + 1/((1+theta)*(1+theta))
		if !(phi > 0) || math.IsInf(p.k, 0) {
			return math.Inf(1), 0
		}
		j := theta*p.slope - p.k - 1 - theta/(1+theta) + logPoles(theta) + 0.5*xmath.Log(2*math.Pi*phi)
		return -logX - j, (-logX - j) / (theta * theta * phi)
	}
	off, step := miss(theta)
	for range 2 {
		if math.IsInf(off, 0) || math.Abs(off) < 0.02 {
			break
		}
		next := theta * math.Exp(math.Max(-0.4, math.Min(0.4, step)))
		o, s := miss(next)
		if !(math.Abs(o) < math.Abs(off)) {
			break
		}
		theta, off, step = next, o, s
	}
	return q.at(theta).slope - 1/theta - 1/(1+theta), theta
}
