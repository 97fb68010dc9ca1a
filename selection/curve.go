// Prices from Rényi curves. It assumes a curve that bounds the candidate at every order,
// and returns one that bounds the search.

package selection

import (
	"context"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// FromCurve returns the conversion of a Rényi curve to a bound on δ(ε). Theorem
// and relation: those of [rdp.Delta].
func FromCurve(c rdp.Curve) Bound {
	return func(eps float64) float64 {
		d, _, err := rdp.Delta(c, eps)
		if err != nil {
			return math.NaN()
		}
		return math.Log(d) + 2*xmath.U*(1+math.Abs(math.Log(max(d, math.SmallestNonzeroFloat64))))
	}
}

// Curve returns the Rényi curve of the selection from that of the candidate:
//
//	ε_A(λ) = log(f(0) + E[K]·R^{λ−1}·e^{(λ−1)ε_Q(λ)})/(λ−1),
//
// which is ε_Q(λ) + ln R + ln E[K]/(λ−1) when K is never 0, with ln R as in
// [Price.Profile] and for Poisson laws ln R = μ·δ_Q(log(λ/(λ−1))); then the
// least value over all higher orders, because Rényi divergence does not decrease
// in the order. candidate is a bound on the candidate's profile, when one is
// known that is better than what the curve itself implies; it may be nil.
//
// It is never above Theorem 2 of Papernot and Steinke (ICLR 2022) nor its
// sharpening (see [PapernotSteinke]); for Poisson laws it is their Theorem 6
// with the mass of K = 0 put back, without which that theorem fails for μ < 1.
// Relation: that of the curve.
//
// Once ctx is done, the error is that of ctx. For Poisson laws the curve returned
// asks candidate once for each order that it is asked for.
func (p Price) Curve(ctx context.Context, c rdp.Curve, candidate Bound) (rdp.Curve, error) {
	if c == nil {
		return nil, fault.New("curve", "is nil, must be a Rényi curve")
	}
	b := candidate
	if b == nil {
		b = FromCurve(c)
	}
	atInf := c.RDP(math.Inf(1))
	var ratio func(lambda float64) float64
	if l, ok := p.law.(poisson); ok {
		ratio = func(lambda float64) float64 {
			// ε̂ = log(λ/(λ−1)), rounded down. Orders close to 1 gain nothing from an
			// ε̂ above 4, where ln E[K]/(λ−1) is past any use.
			hat := min(4, math.Log1p(1/(lambda-1))*(1-8*xmath.U))
			return xmath.RoundUp(l.mu*math.Exp(min(0, b(hat))), 8)
		}
	} else {
		r, err := p.profileRatio(b.until(ctx))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		_, gamma, family := p.law.Family()
		switch {
		case err != nil && atInf <= maxPure && !p.first:
			r = p.law.pureRatio(atInf) // laws that only pure candidates have a price for
		case err != nil:
			return nil, err
		case family && gamma > 0:
			n := 1.0
			if !p.first {
				eta, _, _ := p.law.Family()
				n = 1 + eta
			}
			r = min(r, xmath.RoundUp(n*sharpened(c, gamma, nil), 4))
		}
		ratio = func(float64) float64 { return r }
	}
	logM, logF0 := p.law.logMean(), math.Log(p.law.PMF(0))
	raw := func(lambda float64) float64 {
		if math.IsInf(lambda, 1) {
			if atInf <= maxPure {
				if p.first {
					return p.pure(p.law, atInf)
				}
				return xmath.RoundUp(atInf+min(ratio(math.MaxFloat64), p.law.pureRatio(atInf)), 8)
			}
			return math.Inf(1)
		}
		return selectionRDP(lambda, c.RDP(lambda)+ratio(lambda), logM, logF0)
	}
	asked := rdp.Func(func(lambda float64) float64 {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		return raw(lambda)
	})
	orders := append(rdp.DefaultOrders(), math.Inf(1))
	g, table := c.(rdp.Grid)
	if table {
		if err := g.Check(); err != nil {
			return nil, err
		}
		orders = g.Orders
	}
	e, err := envelope(asked, orders)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || table {
		return e, err
	}
	return rdp.Func(func(lambda float64) float64 {
		i := sort.SearchFloat64s(e.Orders, lambda)
		if i == len(e.Orders) {
			return raw(lambda)
		}
		return min(raw(lambda), e.Values[i])
	}), nil
}

const maxPure = 1e6

// selectionRDP returns log(f0 + m·e^{(λ−1)x})/(λ−1), at least 0, rounded up.
func selectionRDP(lambda, x, logM, logF0 float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	t := lambda - 1
	v := logM + t*x
	mag := math.Abs(logM) + t*x
	if !math.IsInf(logF0, -1) {
		v = xmath.LogAdd(logF0, v)
		mag += math.Abs(logF0)
	}
	return max(0, (v+8*xmath.U*(1+mag))/t*(1+4*xmath.U))
}

// envelope returns c at the orders, each value lowered to the least one of the
// orders above it: Rényi divergence does not decrease in the order (van Erven
// and Harremoës, 2014, Theorem 3).
func envelope(c rdp.Curve, orders []float64) (rdp.Grid, error) {
	g := rdp.OnOrders(c, orders)
	for i := len(g.Values) - 2; i >= 0; i-- {
		g.Values[i] = min(g.Values[i], g.Values[i+1])
	}
	return g, g.Check()
}

// sharpened returns the least log(1 + (1/γ−1)e^{(λ̂−1)ε̂})/λ̂ over the orders λ̂,
// with λ̂ = 1 and ∞ always among them; over real orders when orders is nil.
func sharpened(c rdp.Curve, gamma float64, orders []float64) float64 {
	a := math.Log1p(-gamma) - math.Log(gamma) // log(1/γ − 1)
	return overOrders(c, -math.Log(gamma), orders, func(lambda, e float64) float64 {
		return (softplus(a+(lambda-1)*e) + 8*xmath.U*(1+math.Abs(a)+(lambda-1)*e)) / lambda
	})
}

func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// overOrders minimises f(λ̂, c(λ̂)) over orders, with the value atOne at λ̂ = 1 and
// c(∞) at ∞.
func overOrders(c rdp.Curve, atOne float64, orders []float64, f func(lambda, e float64) float64) float64 {
	best := xmath.RoundUp(atOne, 4)
	if e := c.RDP(math.Inf(1)); e >= 0 {
		best = min(best, e)
	}
	at := func(lambda float64) float64 {
		e := c.RDP(lambda)
		if !(e >= 0) || math.IsInf(e, 1) {
			return math.Inf(1)
		}
		v := xmath.RoundUp(f(lambda, e), 8)
		best = min(best, v)
		return v
	}
	if orders != nil {
		for _, l := range orders {
			if l > 1 && !math.IsInf(l, 1) {
				at(l)
			}
		}
		return best
	}
	if g, ok := c.(rdp.Grid); ok {
		return overOrders(c, atOne, g.Orders, f)
	}
	// A scan over λ̂−1 and a golden section around its best point; every value is
	// a bound, so nothing depends on the minimum being global.
	order := func(x float64) float64 { return 1 + math.Pow(10, x) }
	low, lowX := math.Inf(1), 0.0
	for x := -3.0; x <= 7; x += 0.125 {
		if v := at(order(x)); v < low {
			low, lowX = v, x
		}
	}
	xmath.GoldenSection(func(x float64) float64 { return at(order(x)) }, lowX-0.125, lowX+0.125, 1e-9)
	return best
}
