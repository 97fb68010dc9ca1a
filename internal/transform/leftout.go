// Mills' bound (contour.md §4, contour-errata.md 2) of the nodes that a sum leaves out.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// The density f = P^{θ+1}Q^{−θ} beyond an outermost node X lies below a Gaussian
// through f(X): every term of a mixture grows with x at the rate c/σ² of its mean
// relative to that of mean 0, so that f(x) ≤ f(X)·N(x; μ, σ²)/N(X; μ, σ²) with
//
//	μ = (θ+1)·c_P − θ·c_Q,
//
// c_P and c_Q the means that make μ largest on the right, smallest on the left. For θ > 0, c_Q is
// the mean of c under the shares of Q at X: further out on the right that is larger, on the left
// smaller. For
// X beyond μ by z > 0 standard deviations the majorant is monotone, its integral
// is at most f(X)σ/z by Mills' inequality, and so is its sum over the missing nodes
// times the step.

// meanBeyond returns μ for the power θ ≥ −1 beyond lattice point d on a side.
func (m *mixture) meanBeyond(theta, d float64, right bool) float64 {
	mean, err := 0.0, 0.0
	switch {
	case theta > 0:
		mean, err = m.meanQ(d)
	case !right:
		mean = -m.spanQ
	}
	if right {
		return (theta+1)*m.spanP - theta*(mean-err)
	}
	return -theta * (mean + err)
}

// beyond returns by how many standard deviations lattice point d is beyond the mean of its majorant on a side.
func (m *mixture) beyond(theta, d float64, right bool) float64 {
	return sign(right) * (m.x(d) - m.meanBeyond(theta, d, right)) / m.sigma
}

// sign is that of outcomes on a side.
func sign(right bool) float64 {
	if right {
		return 1
	}
	return -1
}

// logBeyond returns the logarithm of the bound of what lies beyond lattice point d on a side, where the logarithm of f is logF; +Inf
// where nothing is proved.
func (m *mixture) logBeyond(theta, d, logF float64, right bool) float64 {
	return m.logMills(m.beyond(theta, d, right), logF)
}

func (m *mixture) logMills(z, logF float64) float64 {
	if !(z >= 0.5) {
		return math.Inf(1)
	}
	return logF + xmath.Log(m.sigma/z) + 1e-9 // the roundings of z and of the logarithms
}

// x returns the outcome at lattice point d.
func (m *mixture) x(d float64) float64 { return d/m.inv2 + m.x0 }

// tailFrom returns the outcome x beyond which Mills' bound begins to hold on a side: where x = μ, of which
// x − μ is increasing, to a tenth of σ.
func (m *mixture) tailFrom(theta float64, right bool) float64 {
	if !(theta > 0) || m.spanQ == 0 {
		return m.meanBeyond(theta, 0, right)
	}
	widest := (theta+1)*m.spanP + theta*m.spanQ
	halvings := max(0, int(math.Log2(widest/m.sigma)+4))
	lo, hi := xmath.Bisect(0, widest, halvings, func(x float64) bool { return x < m.meanBeyond(theta, (x-m.x0)*m.inv2, right) })
	if right {
		return hi
	}
	return lo
}

// ends are the logarithms of what may be left out on each side.
type ends struct{ left, right float64 }

// mostTurned is the largest t·Im L that the ends of a line of the strip are made for. steers: time for width.
const mostTurned = 1000

// endsFor returns them for a line: on a line of the strip the nodes left out count e^{t·Im L} times. Going outwards Im L grows on the
// right by the means of P, and on the left by those of Q. On the left of an f with a large θ and several means of Q, lines with t·Im L
// of about θ serve; f falls fast enough there.
func (m *mixture) endsFor(theta, tMax, goal float64) ends {
	e := ends{goal - min(40, 0.3*tMax), goal - min(40, 0.3*tMax)}
	if m.spanP > 0 {
		e.right = goal - min(mostTurned, 0.3*tMax)
	}
	if m.spanQ > 0 {
		e.left = goal - min(mostTurned+2*max(0, theta), 0.3*tMax)
	}
	return e
}

// cut returns the outermost nodes of a level such that what is left out counts for at
// most e^own for the power θ and e^pieces for P and Q alone. It returns false if that
// takes more than maxNodes nodes.
func (m *mixture) cut(theta float64, level int, own ends, pieces float64, maxNodes int) (lo, hi int, ok bool) {
	h := m.step(level)
	from := [2]float64{min(m.tailFrom(theta, false), -m.spanQ) - 0.6*m.sigma, max(m.tailFrom(theta, true), m.spanP) + 0.6*m.sigma}
	if span := (from[1] - from[0]) * m.inv2 / h; !(span < float64(maxNodes)) {
		return 0, 0, false
	}
	if lo, ok = m.end(theta, h, from[0], false, own.left, pieces); !ok {
		return 0, 0, false
	}
	if hi, ok = m.end(theta, h, from[1], true, own.right, pieces); !ok {
		return 0, 0, false
	}
	return lo, hi, hi-lo < maxNodes && max(-lo, hi) < maxIndex
}

// end returns the outermost node of a step on one side, from the outcome x on.
func (m *mixture) end(theta, h, x float64, right bool, own, pieces float64) (j int, ok bool) {
	sign := sign(right)
	for range 60 {
		j = int(sign * math.Ceil(sign*(x-m.x0)*m.inv2/h))
		d := float64(j) * h
		n := m.evaluate(d)
		over, far := math.Inf(-1), x
		for _, g := range [...]struct{ theta, goal float64 }{{theta, own}, {0, pieces}, {-1, pieces}} {
			z := m.beyond(g.theta, d, right)
			miss := m.logMills(z, n.logF(g.theta)) - g.goal
			if math.IsInf(miss, 1) {
				miss = 2
			}
			if miss > 0 {
				// The majorant falls by miss from z to √(z² + 2·miss) standard deviations.
				z = max(0, z)
				move := math.Sqrt(z*z+2*miss) - z
				if miss > 6 {
					move = min(0.6*move, max(3, z/2)) // f may fall faster
				}
				if to := m.x(d) + sign*max(0.02, move)*m.sigma; sign*(to-far) > 0 {
					far = to
				}
			}
			over = max(over, miss)
		}
		if over <= 0 {
			return j, true
		}
		x = far
	}
	return 0, false
}

// maxIndex bounds indices of nodes: with a step of 30 bits their points are exact below, and
// the trapezoidal rule needs equidistant ones.
const maxIndex = 1 << 23
