// What is known about one step of a scheme (§10, from §3 and §4).

package adaptive

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// A share splits one step's bound for α ≥ 1: it is at most
// p_1·∫[N(x) − a·N(z) − b·N(x')]₊ + rest wherever the other record z of the
// first copy is (docs/theory/subsampling.md §10).
type share struct{ logA, logB, rest float64 }

// A Step is what is known about one step, for any distance theta between a record and its
// substitute, in units of the noise: [Single] or [Repeated].
type Step func(theta float64) stepBound

// A stepBound is what is known about one step: noise 1, θ = |x − x'|.
type stepBound struct {
	theta, p1 float64
	copies    float64                   // expected number: copies·θ is the scale of the loss
	shares    func(eps float64) []share // any of them holds
	single    bool                      // never more than one copy
}

// Single is sampling without replacement.
func Single(rate float64) Step {
	return func(theta float64) stepBound { return singleStep(theta, rate) }
}

func singleStep(theta, rate float64) stepBound {
	logOdds := math.Log1p(-rate) - xmath.Log(rate)
	return stepBound{theta: theta, p1: rate, copies: rate, single: true, shares: func(eps float64) []share {
		if eps == 0 {
			return []share{{math.Inf(-1), 0, 0}}
		}
		l := xmath.Log(math.Expm1(eps))
		// The two terms may cancel.
		return []share{{l + logOdds - 8*xmath.U*(1+math.Abs(l)+math.Abs(logOdds)), eps, 0}}
	}}
}

// Repeated is a scheme with several copies (docs/theory/subsampling.md §10):
// with probability rate the record is eligible, and then has the given law of
// copies; else, where the eligible record would have been, another one is. At
// α = e^eps the masses of all others are those of α' = α + odds·(α−1).
//
// The copies after the first count as far apart as they can be, as in R6. The
// first copy's share of the mass without a copy is that which R6 gives it when
// z = x', or all of it.
func Repeated(law copies.Law, rate, odds float64) Step {
	return func(theta float64) stepBound { return repeatedStep(law, theta, rate, odds) }
}

func repeatedStep(law copies.Law, theta, rate, odds float64) stepBound {
	c := copies.NewGaussianWR(law, theta)
	up := make([]float64, len(c.P)) // p_u and the rounding of a term with it, from above
	for u := range up {
		up[u] = rate * c.P[u] * math.Exp(law.Err[u]) * (1 + 1e-12)
	}
	p1 := up[1]
	lost := rate * math.Exp(law.LogAbove[len(law.LogP)])
	// normal is Φ̄(t − s) − e^l·Φ̄(t) from above, e^l the likelihood ratio of s at t.
	normal := func(s, t, l float64) float64 {
		p := math.Exp(xmath.LogNormalTail(t - s))
		// Rounding of t moves the first term by t² u, that of l the second, which is
		// the smaller one.
		return p - math.Exp(l+xmath.LogNormalTail(t)) + 16*xmath.U*(4+t*t+s*s+math.Abs(l))*p
	}
	alone := func(u int, eps float64) float64 {
		s := float64(u) * theta
		return up[u] * normal(s, s/2+eps/s, eps)
	}
	mean := 0.0
	for u, p := range c.P {
		mean += float64(u) * p
	}
	return stepBound{theta: theta, p1: p1, copies: rate * mean, shares: func(eps float64) []share {
		inner := eps // log α'
		if odds > 0 {
			inner = math.Log1p(math.Expm1(eps) * (1 + odds))
		}
		all := share{math.Inf(-1), eps, lost}
		for u := 2; u <= c.Last(); u++ {
			all.rest += alone(u, inner)
		}
		if eps == 0 {
			return []share{all}
		}
		// (α'−1)p_0/p_1 without a copy, and α'−α of other records in its place.
		l := xmath.Log(math.Expm1(eps))
		all.logA = l + xmath.LogAdd(math.Log1p(odds)+law.LogNone-law.LogP[1], xmath.Log(odds)) - law.EtaErr - law.Err[1] -
			8*xmath.U*(1+math.Abs(l)+math.Abs(law.LogNone)+math.Abs(law.LogP[1])+math.Log1p(odds))
		t, dt, i := c.Threshold(inner, 4*xmath.U*(1+inner))
		t -= dt // any threshold below R6's is allowed
		log1 := c.Exponent(1, t)
		if !(log1 >= 0) { // rounding of t
			return []share{all}
		}
		part := share{math.Inf(-1), min(eps, log1), lost}
		if log1 > eps {
			part.logA = min(all.logA, eps+xmath.Log(math.Expm1(log1-eps))-8*xmath.U*(1+eps+theta*(t+theta))/min(1, log1-eps))
		}
		for u := 2; u <= c.Last(); u++ {
			if u > i {
				part.rest += alone(u, inner)
				continue
			}
			part.rest += up[u] * normal(float64(u)*theta, t, c.Exponent(u, t))
		}
		return []share{part, all}
	}}
}

// at returns the bound of a configuration, from above. The triangle is in units
// of the ball's radius.
func (s stepBound) at(ways []share, g triangle) float64 {
	g = triangle{g.s * s.theta / 2, g.t * s.theta / 2, g.r * s.theta / 2}
	h := math.Inf(1)
	for _, w := range ways {
		if w.rest >= h {
			continue
		}
		h = min(h, (s.p1*math.Exp(max(-700, g.excess(w.logA, w.logB)))+w.rest)*(1+1e-12))
	}
	return h
}

// corner returns the bound where z = x', and where z = x, in closed form.
func (s stepBound) corner(g profiles.Gaussian, ways []share) (near, reverse float64) {
	delta := func(eps float64) float64 {
		l, _ := profiles.LogDelta(g, eps)
		return math.Exp(l)
	}
	near, reverse = math.Inf(1), math.Inf(1)
	for _, w := range ways {
		near = min(near, s.p1*delta(xmath.LogAdd(w.logA, w.logB))+w.rest)
		r := 0.0
		if w.logA < 0 {
			l := xmath.Log1mExp(w.logA)
			r = math.Exp(l) * delta(w.logB-l)
		}
		reverse = min(reverse, s.p1*r+w.rest)
	}
	return near, reverse
}
