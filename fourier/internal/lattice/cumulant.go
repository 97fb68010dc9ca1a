// The cumulant of the total loss, from coarse laws, and what a saddle point makes of it.
//
// It assumes laws of which each is about that of a step, to half a unit of log-odds. It returns
// approximations, good to a few percent. Where a step has rare big losses they find ε up to three times too large,
// and the first pass then says where it is. They choose the tilt, the step and the length, and prove nothing. Bounds from the same laws are in
// bounds.go.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A cumulant is Σ_j T_j K_j: the logarithm of the transform of the total loss on the real axis. It is sampled on a
// grid of tilts, each node when it is first needed: a question looks at dozens of tilts, which lie close together.
type cumulant struct {
	terms []term
	nodes map[int]bend
}

// A bend is ΣTK at a tilt, with two derivatives.
type bend struct{ tilt, k, d1, d2 float64 }

// perLoss is what a loss of a law takes each time that the law is tilted.
const perLoss = 0.4 // steers: what work is charged

// mostBend is by how much ΣTK may differ from a parabola between two nodes.
const mostBend = 1 // steers: accuracy of a guess for time

// perOctave is the number of nodes for each doubling of the tilt.
const perOctave = 8 // steers: accuracy of a guess for time

func newCumulant(n int) *cumulant {
	return &cumulant{terms: make([]term, n), nodes: map[int]bend{}}
}

// evaluate sums at a tilt.
func (c *cumulant) evaluate(theta float64) bend {
	b := bend{tilt: theta}
	for _, t := range c.terms {
		t.m.Spend(perLoss * float64(len(t.law.Loss)))
		k, mean, v := t.law.Tilted(theta)
		b.k += t.count * k
		b.d1 += t.count * mean
		b.d2 += t.count * v
	}
	return b
}

// node returns the values at tilt 2^(i/perOctave).
func (c *cumulant) node(i int) bend {
	b, ok := c.nodes[i]
	if !ok {
		b = c.evaluate(math.Exp2(float64(i) / perOctave))
		c.nodes[i] = b
	}
	return b
}

// at returns ΣTK and its first two derivatives, between nodes by the polynomial of fifth degree that has their values
// and derivatives.
func (c *cumulant) at(theta float64) (k, d1, d2 float64) {
	if !(theta >= minTilt && theta <= maxTilt) {
		b := c.evaluate(theta)
		return b.k, b.d1, b.d2
	}
	i := int(math.Floor(perOctave * math.Log2(theta)))
	a, b := c.node(i), c.node(i+1)
	h := b.tilt - a.tilt
	x := (theta - a.tilt) / h
	// What the parabola at a lacks at b, in units of h.
	e0 := b.k - (a.k + h*(a.d1+h*a.d2/2))
	e1 := h * (b.d1 - (a.d1 + h*a.d2))
	e2 := h * h * (b.d2 - a.d2)
	c3 := 10*e0 - 4*e1 + e2/2
	c4 := -15*e0 + 7*e1 - e2
	c5 := 6*e0 - 3*e1 + e2/2
	if bend := math.Abs(c3) + math.Abs(c4) + math.Abs(c5); math.IsNaN(bend) || bend >= mostBend && !c.spent() {
		v := c.evaluate(theta) // an empty law, or one of jumps so rare that ΣTK turns between the nodes
		return v.k, v.d1, v.d2
	}
	k = a.k + h*x*(a.d1+h*x*a.d2/2) + x*x*x*(c3+x*(c4+x*c5))
	d1 = a.d1 + h*x*a.d2 + x*x*(3*c3+x*(4*c4+x*5*c5))/h
	d2 = a.d2 + x*(6*c3+x*(12*c4+x*20*c5))/(h*h)
	return k, d1, max(0, d2)
}

// maxLoss returns ΣT·(largest finite loss).
func (c *cumulant) maxLoss() float64 {
	m := 0.0
	for _, t := range c.terms {
		m += t.count * t.law.MaxLoss()
	}
	return m
}

const minTilt, maxTilt = 1e-12, 1e12 // steers: the tilts that are tried

// spent reports whether the work is done: a root is then as good as it is by now.
func (c *cumulant) spent() bool {
	return len(c.terms) > 0 && c.terms[0].m != nil && (c.terms[0].m.Work < 0 || c.terms[0].m.Stopped() != nil)
}

// rootLog finds where the increasing function f changes sign, in log θ from a
// first guess, to a relative precision of about 1e-3, or until the work is done.
func (c *cumulant) rootLog(f func(theta float64) float64, guess float64) float64 {
	lo, hi := guess, guess
	if f(guess) < 0 {
		for hi < maxTilt && !c.spent() {
			hi *= 4
			if f(hi) >= 0 {
				break
			}
			lo = hi
		}
	} else {
		for lo > minTilt && !c.spent() {
			lo /= 4
			if f(lo) < 0 {
				break
			}
			hi = lo
		}
	}
	for hi/lo > 1.001 && !c.spent() {
		m := math.Sqrt(lo * hi)
		if f(m) < 0 {
			lo = m
		} else {
			hi = m
		}
	}
	return math.Sqrt(lo * hi)
}

// saddle returns the θ that minimises TK(θ) − θε − log(θ(1+θ)).
func (c *cumulant) saddle(eps, guess float64) float64 {
	return c.rootLog(func(t float64) float64 {
		_, d1, _ := c.at(t)
		return d1 - eps - 1/t - 1/(1+t)
	}, guess)
}

// logDelta returns the saddle-point value of log δ(ε) at the saddle θ, the
// density over δ, and the tilted variance of the sum.
func (c *cumulant) logDelta(eps, theta float64) (logDelta, g, variance float64) {
	k, _, v := c.at(theta)
	full := v + 1/(theta*theta) + 1/((1+theta)*(1+theta))
	logDelta = k - theta*eps - xmath.Log(theta*(1+theta)) - 0.5*xmath.Log(2*math.Pi*full)
	// Near the largest loss single atoms decide and there is no density: the
	// factor, an estimate anyway, is kept in bounds.
	return min(logDelta, 0), theta * (1 + theta) * min(math.Sqrt(full/max(v, 1e-300)), 30), v
}

// chernoff returns the ε at which the Chernoff bound of log δ falls to the given
// value, an upper bound of ε(δ) up to rounding, and the tilt that gives it:
// ε_C = min_θ (TK(θ) + θ log θ − (1+θ) log(1+θ) − log δ)/θ.
func (c *cumulant) chernoff(logDelta float64) (eps, theta float64) {
	theta = c.rootLog(func(t float64) float64 {
		k, d1, _ := c.at(t)
		a := k + t*xmath.Log(t) - (1+t)*math.Log1p(t) - logDelta
		return t*(d1+xmath.Log(t)-math.Log1p(t)) - a
	}, 1)
	k, _, _ := c.at(theta)
	return (k + theta*xmath.Log(theta) - (1+theta)*math.Log1p(theta) - logDelta) / theta, theta
}

// epsilon returns an approximation of ε(δ), good to a few percent, and its
// saddle.
func (c *cumulant) epsilon(logDelta float64) (eps, theta float64) {
	eps, theta = c.chernoff(logDelta)
	top := c.maxLoss()
	for range 6 {
		theta = c.saddle(eps, theta)
		v, _, _ := c.logDelta(eps, theta)
		step := (v - logDelta) / theta
		if next := eps + step; next < top {
			eps = next
		} else {
			eps = (eps + top) / 2
		}
		if math.Abs(step) < 1e-3*math.Abs(eps) {
			break
		}
	}
	return eps, theta
}

// like reports whether a tilt finds nearly the same in both.
func (c *cumulant) like(d *cumulant, theta float64) bool {
	a, _, _ := c.at(theta)
	b, _, _ := d.at(theta)
	return math.Abs(a-b) < 0.5
}
