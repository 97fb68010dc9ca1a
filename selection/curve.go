// Prices from Rényi curves. It assumes a curve that bounds the candidate at every order,
// and returns one that bounds the search.
//
// Theorem (moments by rank). With U as in Theorem U1, every ranking and every order λ > 1,
//
//	e^{(λ−1)ε_A(λ)} ≤ f(0) + e^{(λ−1)ε_Q(λ)}·max_u f'(1−u)^λ f'(1−U(u))^{1−λ}.
//
// Proof. An outcome with P-mass u and Q-mass v ≤ U(u) above it adds (f'(1−u)dP)^λ(f'(1−v)dQ)^{1−λ}, and
// f' increases. a^λ b^{1−λ} is convex and homogeneous, it grows with a and falls with b, so that the vertices of any polygon
// above the points (f'(1−U(u)), f'(1−u)) but the origin have at least its maximum.

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
		return xmath.Log(d) + 2*xmath.U*(1+math.Abs(xmath.Log(max(d, math.SmallestNonzeroFloat64))))
	}
}

// Curve returns the Rényi curve of the selection from that of the candidate:
//
//	ε_A(λ) = log(f(0) + E[K]·R^{λ−1}·e^{(λ−1)ε_Q(λ)})/(λ−1),
//
// which is ε_Q(λ) + ln R + ln E[K]/(λ−1) when K is never 0, with ln R as in
// [Price.Profile] and for Poisson laws ln R = μ·δ_Q(log(λ/(λ−1))); for the best of K runs at
// most with the largest moment of the weights by rank in place of E[K]·R^{λ−1} (the theorem in
// curve.go); then the least value over all higher orders, because Rényi divergence does not decrease
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
	if err := p.ready(); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fault.New("curve", "is nil, must be a Rényi curve")
	}
	b := candidate
	if b == nil {
		b = FromCurve(c)
	}
	atInf, logM, logF0 := c.RDP(math.Inf(1)), p.law.logMean(), xmath.Log(p.law.PMF(0))
	var ratio func(lambda float64) float64
	if l, ok := p.law.(poisson); ok {
		// The moment by rank is this for Poisson laws.
		ratio = func(lambda float64) float64 {
			// ε̂ = log(λ/(λ−1)), rounded down. Orders close to 1 gain nothing from an
			// ε̂ above 4, where ln E[K]/(λ−1) is past any use.
			hat := min(4, math.Log1p(1/(lambda-1))*(1-8*xmath.U))
			return xmath.RoundUp(l.mu*math.Exp(min(0, b(hat))), 8)
		}
	} else {
		r, err := p.largestRatio(ctx, c, b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if candidate == nil {
			b = FromCurve(rdp.OnOrders(c, rdp.DefaultOrders())) // asked hundreds of times
		}
		ranks, ok := p.momentsByRank(ctx, b)
		if err != nil && !ok {
			return nil, err
		}
		ratio = func(lambda float64) float64 { return min(r, ranks.ratio(lambda, logM)) }
	}
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

// largestRatio bounds ln R at every order; +Inf and an error where nothing does.
func (p Price) largestRatio(ctx context.Context, c rdp.Curve, b Bound) (float64, error) {
	r, err := p.profileRatio(b.until(ctx))
	_, gamma, family := p.law.Family()
	switch atInf := c.RDP(math.Inf(1)); {
	case err != nil && atInf <= maxPure && !p.first:
		return p.law.pureRatio(atInf), nil // laws that only pure candidates have a price for
	case err != nil:
		return math.Inf(1), err
	case family && gamma > 0:
		n := 1.0
		if !p.first {
			eta, _, _ := p.law.Family()
			n = 1 + eta
		}
		r = min(r, xmath.RoundUp(n*sharpened(c, gamma, nil), 4))
	}
	return r, nil
}

// moments are the vertices of a polygon above the points (f'(1−U(u)), f'(1−u)), as logarithms.
type moments struct{ x, y []float64 }

// momentsTable is how finely the candidate's profile is read for moments, and how far down. A
// coarser table costs price and no soundness.
var momentsTable = fineness{accuracy: 1e-3, floor: -60, deep: -60}

// momentsByRank returns the polygon for a candidate that b bounds, false where there is none.
func (p Price) momentsByRank(ctx context.Context, b Bound) (moments, bool) {
	if p.first {
		return moments{}, false
	}
	t, err := b.Candidate(b, [2]func(float64) (float64, float64){}, nil).tabulate(ctx, momentsTable)
	if err != nil {
		return moments{}, false
	}
	m := momentsOf(hullOfWeights(p.law, t.cells()))
	return m, len(m.y) > 0
}

// momentsOf returns the moments of the hull of n points: none where a weight has no ratio.
func momentsOf(xs, ys []float64, n int) moments {
	var m moments
	for i := 1; i < len(xs); i++ {
		if xs[i] == 0 {
			return moments{}
		}
		m.x, m.y = append(m.x, xmath.Log(xs[i])), append(m.y, xmath.Log(ys[i])+hullGuard(n))
	}
	return m
}

// ratio returns what stands for ln R at an order: ln(max y^λ x^{1−λ}/E[K])/(λ−1), rounded up;
// +Inf without a polygon.
func (m moments) ratio(lambda, logM float64) float64 {
	if len(m.y) == 0 {
		return math.Inf(1)
	}
	best := math.Inf(-1)
	for i, y := range m.y {
		rest := (y - logM) / (lambda - 1)
		best = max(best, y-m.x[i]+rest+8*xmath.U*(math.Abs(y)+math.Abs(m.x[i])+math.Abs(rest)))
	}
	return best
}

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
	a := math.Log1p(-gamma) - xmath.Log(gamma) // log(1/γ − 1)
	return overOrders(c, -xmath.Log(gamma), orders, func(lambda, e float64) float64 {
		return (xmath.LogAdd(0, a+(lambda-1)*e) + 8*xmath.U*(1+math.Abs(a)+(lambda-1)*e)) / lambda
	})
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
