// Theorem (the law of the Gaussian noisy maximum, to a relative error): the trapezoid rule of
// step h gives every class's probability within 2·Σ_k e^{−k²E} of itself, E = 2π²/(mh²), for
// m classes. It takes counts, and returns logarithms of probabilities, with their errors, at a
// data set and at every neighbour.

package pate

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// The proof. p = ∫f, f(w) = φ(w−ν_i)·Π_{j≠i}Φ(w−ν_j), is entire in w; |φ(x+iy)| = e^{y²/2}φ(x),
// and, integrating along the line, |Φ(x+iy)| ≤ e^{y²/2}Φ(x). So ∫|f(x+iy)|dx ≤ e^{my²/2}·p and,
// with the line of integration at y = ω/m, the Fourier transform of f is at most e^{−ω²/(2m)}·p
// in size. By Poisson's formula the rule errs by its values at ω = 2πk/h, k ≠ 0. (E = 38 makes
// that 7e-17.) f is log-concave, so that what lies beyond a node is at most a geometric series.

// trapezoidError is 2·Σ_k e^{−38k²}.
const trapezoidError = 7e-17

// maxNodes bounds the nodes of one law. Where gaps are so many standard deviations wide that
// there would be more, there is no law here and the cost is that of q alone.
const maxNodes = 1 << 14

// A histogram is the counts of a query: distinct values, descending, with how many classes
// have each.
type histogram struct {
	value []int64
	class []int // classes with the value
}

func newHistogram(votes []int64) histogram {
	w := slices.Clone(votes)
	slices.Sort(w)
	var h histogram
	for i := len(w) - 1; i >= 0; i-- {
		if n := len(h.value); n > 0 && h.value[n-1] == w[i] {
			h.class[n-1]++
		} else {
			h.value, h.class = append(h.value, w[i]), append(h.class, 1)
		}
	}
	return h
}

func (h histogram) classes() (m int) {
	for _, c := range h.class {
		m += c
	}
	return m
}

// A column is what the nodes of the rule have for one count: log Φ, its error, and log φ.
type column struct{ cdf, err, density, densityErr []float64 }

// A gaussLaw holds the rule for a histogram and its neighbours: columns for every count and
// for those one above and below, all on the same nodes.
type gaussLaw struct {
	h       histogram
	sigma   float64
	step    float64
	column  map[int64]column
	sum     []float64 // Σ log Φ over all classes, at every node
	sumErr  []float64
	scratch []float64
}

// newGaussLaw returns false where the law would take too many nodes.
func newGaussLaw(h histogram, sigma float64) (*gaussLaw, bool) {
	m := float64(h.classes())
	top, low := h.value[0], h.value[len(h.value)-1]
	// The step is a multiple of 2^−24, so that the nodes are exact.
	step := math.Floor(math.Pi*math.Sqrt(2/(38*m))*(1<<24)) / (1 << 24)
	from := math.Floor((float64(low-top-1)/sigma - 10) / step)
	to := math.Ceil((1/sigma + 12) / step)
	if !(to-from < maxNodes) {
		return nil, false
	}
	n := int(to-from) + 1
	g := &gaussLaw{h: h, sigma: sigma, step: step, column: map[int64]column{},
		sum: make([]float64, n), sumErr: make([]float64, n), scratch: make([]float64, n)}
	for _, v := range h.value {
		for _, c := range []int64{v, v + 1, v - 1} {
			if _, ok := g.column[c]; !ok && c >= 0 {
				g.column[c] = newColumn(float64(c-top)/sigma, from, step, n)
			}
		}
	}
	for i, v := range h.value {
		c, k := g.column[v], float64(h.class[i])
		for j := range g.sum {
			g.sum[j] += k * c.cdf[j]
			g.sumErr[j] += k*c.err[j] + 2*u*math.Abs(g.sum[j])
		}
	}
	return g, true
}

func newColumn(nu, from, step float64, n int) column {
	c := column{cdf: make([]float64, n), err: make([]float64, n), density: make([]float64, n), densityErr: make([]float64, n)}
	for j := range c.cdf {
		x := (from+float64(j))*step - nu
		dx := u * (math.Abs(nu) + math.Abs(x)) // of the argument: ν and the difference rounded
		c.cdf[j] = xmath.LogNormalTail(-x)
		// φ/Φ is at most |x|+1 below 0, and at most φ/½ above.
		hazard := 1 - x
		if x > 0 {
			hazard = math.Exp(-x * x / 2)
		}
		c.err[j] = 8*u*math.Abs(c.cdf[j]) + hazard*dx
		c.density[j] = xmath.LogNormalDensity(x)
		c.densityErr[j] = 4*u*math.Abs(c.density[j]) + math.Abs(x)*dx
	}
	return c
}

// moved are Σ log Φ and its error after a vote has moved from a class with count a to one with
// count b; −1 stands for no class.
func (g *gaussLaw) moved(a, b int64) (sum, err []float64) {
	if a < 0 && b < 0 {
		return g.sum, g.sumErr
	}
	sum, err = slices.Clone(g.sum), slices.Clone(g.sumErr)
	swap := func(from, to int64) {
		x, y := g.column[from], g.column[to]
		for j := range sum {
			sum[j] += y.cdf[j] - x.cdf[j]
			err[j] += x.err[j] + y.err[j] + 2*u*(math.Abs(x.cdf[j])+math.Abs(y.cdf[j])+math.Abs(sum[j]))
		}
	}
	if a >= 0 {
		swap(a, a-1)
	}
	if b >= 0 {
		swap(b, b+1)
	}
	return sum, err
}

// log returns the log of the probability of a class with count v, where sum is Σ log Φ over
// all classes, and its absolute error.
func (g *gaussLaw) log(v int64, sum, sumErr []float64) (l, err float64) {
	c := g.column[v]
	term := g.scratch
	top := math.Inf(-1)
	for j := range term {
		term[j] = c.density[j] + sum[j] - c.cdf[j]
		top = max(top, term[j])
	}
	var total, weighted float64
	for j, t := range term {
		if t -= top; t < -50 {
			total += 2e-22 // e^−50, and more nodes than there are do not make an ulp
			continue
		}
		x := math.Exp(t)
		total += x
		weighted += x * (c.densityErr[j] + c.err[j] + sumErr[j] + u*(math.Abs(t)+2*math.Abs(sum[j])+2*math.Abs(c.cdf[j])+8))
	}
	n := len(term)
	l = xmath.Log(g.step) + top + xmath.Log(total)
	err = weighted/total*(1+1e-9) + u*(float64(n)/8+8+math.Abs(l)) + trapezoidError + float64(n)*4e-22
	// What lies beyond the ends, relative to the sum.
	for _, end := range [2][2]int{{0, 1}, {n - 1, n - 2}} {
		r := math.Exp(term[end[0]] - term[end[1]])
		if !(r < 1) {
			return l, math.Inf(1)
		}
		err += math.Exp(term[end[0]]-top) * r / (1 - r) / total * 1.01
	}
	return l, err
}

// A move is a vote that goes from a class with count From to one with count To; −1 stands for
// a teacher that abstains.
type move struct{ from, to int64 }

// moves returns every move that is possible, once for each pair of counts. With abstain, votes
// may also leave and arrive.
func (h histogram) moves(leave, arrive bool) (out []move) {
	for i, a := range h.value {
		if a >= 1 {
			for j, b := range h.value {
				if i != j || h.class[i] > 1 {
					out = append(out, move{a, b})
				}
			}
			if leave {
				out = append(out, move{a, -1})
			}
		}
		if arrive {
			out = append(out, move{-1, a})
		}
	}
	return out
}

// outcomes lists the classes of a histogram by what happens to them in a move: the class that
// loses a vote, the one that gains one, and the others by their count.
func (h histogram) outcomes(m move) (before, after []int64, class []float64) {
	left := slices.Clone(h.class)
	add := func(v, w int64, n int) {
		before, after, class = append(before, v), append(after, w), append(class, float64(n))
	}
	for i, v := range h.value {
		if v == m.from {
			left[i]--
			add(v, v-1, 1)
		}
		if v == m.to {
			left[i]--
			add(v, v+1, 1)
		}
	}
	for i, v := range h.value {
		if left[i] > 0 {
			add(v, v, left[i])
		}
	}
	return before, after, class
}

// A winner computes the laws of the noisy maximum.
type winner interface {
	// law returns the log of the probability of a class with each of the counts, and its
	// error, after a move.
	law(m move, counts []int64) (logs, errs []float64)
}

func (g *gaussLaw) law(m move, counts []int64) (logs, errs []float64) {
	sum, sumErr := g.moved(m.from, m.to)
	for _, v := range counts {
		l, e := g.log(v, sum, sumErr)
		logs, errs = append(logs, l), append(errs, e)
	}
	return logs, errs
}

// nobody is the move that moves no vote.
var nobody = move{-1, -1}

// pairs returns the laws of a histogram's answer and of that of its neighbour, for each move.
func pairs(w winner, h histogram, moves []move) []pair {
	own := map[int64][2]float64{}
	logs, errs := w.law(nobody, h.value)
	for i, v := range h.value {
		own[v] = [2]float64{logs[i], errs[i]}
	}
	out := make([]pair, len(moves))
	for k, m := range moves {
		before, after, class := h.outcomes(m)
		q, errs := w.law(m, after)
		x := pair{p: make([]float64, len(q)), q: q, err: errs}
		for i, v := range before {
			many := xmath.Log(class[i])
			x.p[i] = own[v][0] + many
			x.q[i] += many
			x.err[i] = max(x.err[i], own[v][1]) + 3*u*max(math.Abs(x.p[i]), math.Abs(x.q[i]), 1)
		}
		out[k] = x
	}
	return out
}

// The error of a logarithmic normal tail whose argument was rounded.

// logTailErr bounds the absolute error of l = xmath.LogNormalTail(y) when y was
// rounded up to three times. The function is good to 4u of its value (plus 2u
// near 0); y(1+3u) moves it by 3u·y·φ(y)/Φ̄(y), and y·φ/Φ̄ ≤ y² + 1 ≤ 2|l| + 1
// for y > 0 (Birnbaum), and is below 0.3 in size for y < 0.
func logTailErr(l float64) float64 { return xmath.U * (8 + 10*math.Abs(l)) }

// sumErr bounds the absolute error of l, the logarithm of a sum of at most n such tails. The error of a sum is the mean of those of
// its terms, by their shares w, and the mean of |log t| is |l| − Σ w·log w ≤ |l| + log n.
func sumErr(l float64, n int) float64 { return logTailErr(math.Abs(l) + xmath.Log(float64(max(n, 1)))) }

// logTailInv returns the y with log Φ̄(y) = l: +Inf at −Inf, −Inf for l ≥ 0.
// The last Newton step is below 1e-15(1+|y|) and Newton converges
// quadratically, so that y is as good as log Φ̄ lets it be: within 4u(1+|y|).
func logTailInv(l float64) float64 {
	switch {
	case l >= 0:
		return math.Inf(-1)
	case math.IsInf(l, -1):
		return math.Inf(1)
	case l > -math.Ln2:
		return -logTailInv(xmath.Log1mExp(l))
	}
	y := 0.0
	if l < -2 {
		y = math.Sqrt(max(0, -2*l-xmath.Log(-4*math.Pi*l)))
	}
	// log Φ̄ is concave and decreasing: Newton never overshoots twice.
	for range 60 {
		d := (xmath.LogNormalTail(y) - l) * xmath.Mills(y)
		y += d
		if math.Abs(d) <= 1e-15*(1+math.Abs(y)) {
			break
		}
	}
	return y
}
