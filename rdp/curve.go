// What a Rényi curve is, and composition. Values are upper bounds.

package rdp

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Curve is the Rényi guarantee of a mechanism under one neighbouring relation.
//
// Definition: Mironov, "Rényi differential privacy" (CSF 2017), Definition 4.
type Curve interface {
	// RDP returns an upper bound on D_α(M(D)‖M(D')) over all neighbours in both
	// directions: a number in [0, +Inf], +Inf where no bound is known. It is
	// called with 1 < α ≤ +Inf; α = +Inf asks for the largest privacy loss. A
	// curve returns NaN only to say that it is broken; every conversion then
	// fails.
	RDP(alpha float64) float64
}

// A Func is a curve given by a formula.
type Func func(alpha float64) float64

// RDP implements Curve.
func (f Func) RDP(alpha float64) float64 { return f(alpha) }

// value returns c at the order, NaN if that is negative, not a number, or if
// there is no such order.
func value(c Curve, alpha float64) float64 {
	if c == nil || !(alpha > 1) {
		return math.NaN()
	}
	if v := c.RDP(alpha); v >= 0 {
		return v
	}
	return math.NaN()
}

// checkValue is value with an error that tells what is wrong.
func checkValue(c Curve, alpha float64) (float64, error) {
	if c == nil {
		return 0, fault.New("curve", "is nil, must be a Rényi curve")
	}
	if v := c.RDP(alpha); !(v >= 0) {
		return 0, fault.New("curve", "the value %v at order %v is not in [0, +Inf]", v, alpha)
	}
	return value(c, alpha), nil
}

// Compose returns the curve of the composition of mechanisms, each run on the
// whole data: the sum at every order. It holds for mechanisms chosen in
// advance; when a mechanism is chosen in the light of earlier outputs use
// Filter, which also covers the choice of when to stop.
//
// Theorem: Mironov 2017, Proposition 1, which allows the outputs of earlier
// mechanisms as inputs to later ones but not as the choice of their curves.
// Relation: that of the curves, which must be the same for all.
func Compose(curves ...Curve) Curve {
	return composed{slices.Clone(curves)}
}

type composed struct{ parts []Curve }

func (c composed) RDP(alpha float64) float64 {
	var s xmath.Sum
	most := 0.0
	for _, p := range c.parts {
		v := value(p, alpha)
		s.Add(v)
		most = max(most, v) // NaN if any is
	}
	if math.IsNaN(most) || math.IsInf(most, 1) {
		return most
	}
	// A compensated sum of non-negative terms errs by less than 2 u for any
	// length that fits in memory; 4 u covers the last rounding.
	return xmath.RoundUp(s.Value(), 4)
}

func (c composed) orders() []float64 {
	var all []float64
	for _, p := range c.parts {
		all = append(all, ordersOf(p)...)
	}
	return sortOrders(all)
}

// Repeat returns the curve of n runs of the same mechanism: n times the curve.
// No run costs nothing; a negative n gives a broken curve, which every
// conversion refuses. Theorem: as Compose.
func Repeat(c Curve, n int64) Curve { return repeated{c, n} }

type repeated struct {
	base Curve
	n    int64
}

func (r repeated) RDP(alpha float64) float64 {
	v := value(r.base, alpha)
	switch {
	case r.n < 0 || math.IsNaN(v):
		return math.NaN()
	case r.n == 0:
		return 0
	}
	return xmath.RoundUp(v*float64(r.n), 2)
}

func (r repeated) orders() []float64 { return ordersOf(r.base) }

// ordered is implemented by curves that are best at certain orders only.
type ordered interface{ orders() []float64 }

// ordersOf returns the orders at which c should be evaluated, nil if any will do.
func ordersOf(c Curve) []float64 {
	if o, ok := c.(ordered); ok {
		return o.orders()
	}
	return nil
}

// sortOrders returns the distinct orders above 1, ascending.
func sortOrders(orders []float64) []float64 {
	out := slices.DeleteFunc(slices.Clone(orders), func(a float64) bool { return !(a > 1) })
	slices.Sort(out)
	return slices.Compact(out)
}

// Every exact curve here is a sum of positive terms. With r = dP/dQ and
// E_Q[r] = 1,
//
//	e^{(α−1)D_α} − 1 = E_Q[g(r)],  g(r) = r^α − 1 − α(r − 1) ≥ 0,
//
// so that nothing cancels, however small the divergence is (at a sampling rate
// of 1e-9 it is of the order of 1e-18), and α = 1 + 1e-12 needs no special case.

// logG returns log g(e^l) for α > 1 and −Inf ≤ l ≤ +Inf, with a relative error
// of g of at most errG(α, l).
func logG(alpha, l float64) float64 {
	t := alpha - 1 // exact for α ≤ 2, and within u otherwise
	switch {
	case l == 0:
		return math.Inf(-1)
	case math.IsInf(l, 0):
		if l > 0 {
			return l
		}
		return xmath.Log(t)
	case math.Abs(alpha*l) <= 0.5 && math.Abs(l) <= 0.5:
		// g = Σ_{k≥2} (α^k − α) l^k/k! = αt Σ_{k≥2} c_{k−1} l^k/k! with
		// c_j = 1 + α + … + α^{j−1}. Ratios of terms are at most 1/3 at first and
		// fall; for l < 0 the sum alternates and is at least 2/3 of its first term.
		sum, c, term := 0.0, 1.0, l*l/2
		for k := 2; ; k++ {
			d := c * term
			sum += d
			if math.Abs(d) <= 1e-18*math.Abs(sum) {
				break
			}
			term *= l / float64(k+1)
			c = c*alpha + 1
		}
		return xmath.Log(alpha*t) + xmath.Log(sum)
	case l < -1:
		return xmath.Log(-t*math.Expm1(l) + math.Exp(l)*math.Expm1(t*l))
	case t*l > 700:
		return alpha*l + math.Log1p(math.Exp(-t*l)*(t*math.Expm1(-l)-1))
	}
	// The smaller of the two terms is at most 0.79 of the larger: it is largest
	// at |αl| = 0.5, where (1−e^{−l})/l at l = 0.5 and its like bound it.
	return l + xmath.Log(math.Expm1(t*l)+t*math.Expm1(-l))
}

// errG bounds the relative error of exp(logG(α, l)) for an l that is exact: 10
// roundings amplified by 1/(1 − 0.79), and the rounding of exponents and of the
// logarithm.
func errG(alpha, l, logG float64) float64 {
	if math.IsInf(l, 0) {
		return 8 * xmath.U
	}
	return xmath.U * (64 + 4*math.Abs((alpha-1)*l) + 4*math.Abs(l) + 2*math.Abs(logG))
}

// term returns log(e^{logQ}·g(e^l)) rounded up, given bounds on the absolute
// errors of logQ and l. An error of l moves log g by at most
// max(α, 2/|l| + 2)·lErr, because g′(l) ≤ (2/|l| + α)·g.
func term(alpha, logQ, l, qErr, lErr float64) float64 {
	if math.Abs(l) <= lErr {
		l = 2 * lErr // g(l′) ≤ g(2·lErr)·(1 + O(lErr)) for |l′| ≤ 2·lErr
	}
	y := logG(alpha, l)
	if math.IsInf(y, -1) || math.IsInf(logQ, -1) {
		return math.Inf(-1)
	}
	e := errG(alpha, l, y) + qErr + 2*xmath.U*math.Abs(logQ)
	if lErr > 0 {
		e += lErr * (alpha + 2/math.Abs(l) + 2)
	}
	return logQ + y + e
}

// fromMoment returns D_α from an upper bound on log(e^{(α−1)D_α} − 1).
func fromMoment(alpha, la float64) float64 {
	switch {
	case math.IsNaN(la):
		return math.NaN()
	case math.IsInf(la, -1):
		return 0
	case math.IsInf(la, 1):
		return la
	case la < 0:
		return xmath.RoundUp(math.Log1p(math.Exp(la))/(alpha-1), 8+2*math.Abs(la))
	}
	return xmath.RoundUp((la+math.Log1p(math.Exp(-la)))/(alpha-1), 8)
}

// logExpm1 returns log(e^x − 1) for x ≥ 0, with its limits.
func logExpm1(x float64) float64 {
	if x > 1 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return xmath.Log(math.Expm1(x))
}

// logSumUp is xmath.LogSum rounded up: the terms are positive and summed with
// compensation, so the sum errs by 4 u and its logarithm by u relative.
func logSumUp(terms []float64) float64 {
	s := xmath.LogSum(terms)
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s
	}
	return s + 8*xmath.U*(1+math.Abs(s))
}

// Curves that are known at some orders only. Orders ascend; between them the next larger
// one bounds.

// A Grid is a curve that is known at some orders only: Values[i] bounds the
// Rényi divergence at Orders[i]. Orders ascend strictly and lie above 1 (the
// last may be +Inf); values are in [0, +Inf]. A Grid that breaks these rules is
// a broken curve, which Check and every conversion refuse.
type Grid struct {
	Orders, Values []float64
}

// Check returns an error unless g is well-formed.
func (g Grid) Check() error {
	if len(g.Orders) == 0 {
		return fault.New("orders", "is empty, must list at least one order")
	}
	if len(g.Orders) != len(g.Values) {
		return fault.New("values", "has %d entries, must have as many as orders (%d)", len(g.Values), len(g.Orders))
	}
	for i, a := range g.Orders {
		if !(a > 1) {
			return fault.New(fmt.Sprintf("orders[%d]", i), "%v is not in (1, +Inf]", a)
		}
		if i > 0 && !(a > g.Orders[i-1]) {
			return fault.New(fmt.Sprintf("orders[%d]", i), "%v is not above orders[%d] = %v", a, i-1, g.Orders[i-1])
		}
		if !(g.Values[i] >= 0) {
			return fault.New(fmt.Sprintf("values[%d]", i), "%v is not in [0, +Inf]", g.Values[i])
		}
	}
	return nil
}

// RDP implements Curve. Between orders it returns the smaller of two proved
// bounds: the value at the next order up (D_α does not decrease in α), and
// linear interpolation of (α−1)·D_α, which is convex in α. Above the last order
// it returns +Inf.
//
// Theorem: van Erven and Harremoës, "Rényi divergence and Kullback–Leibler
// divergence" (IEEE Trans. Inf. Theory 2014), Theorem 3 and Corollary 2. Both
// pass to a supremum over neighbours.
func (g Grid) RDP(alpha float64) float64 {
	if len(g.Orders) != len(g.Values) || math.IsNaN(alpha) {
		return math.NaN()
	}
	i := sort.SearchFloat64s(g.Orders, alpha)
	if i == len(g.Orders) {
		return math.Inf(1)
	}
	v := g.Values[i]
	b := g.Orders[i]
	if b == alpha || i == 0 || math.IsInf(b, 1) || math.IsInf(v, 1) {
		return v
	}
	a := g.Orders[i-1]
	return min(v, convexBetween(alpha, a, g.Values[i-1], b, v))
}

// convexBetween bounds D_α for a < α < b from D_a ≤ va and D_b ≤ vb by the
// convexity of (α−1)·D_α.
func convexBetween(alpha, a, va, b, vb float64) float64 {
	wa := (b - alpha) / (b - a) * ((a - 1) / (alpha - 1))
	wb := (alpha - a) / (b - a) * ((b - 1) / (alpha - 1))
	// Differences of orders, quotients and products round a dozen times, each by
	// u relative to its positive term (orders are exact inputs).
	return xmath.RoundUp(wa*va+wb*vb, 14)
}

func (g Grid) orders() []float64 { return sortOrders(g.Orders) }

// OnOrders returns the grid of the values of c at the orders; orders that do
// not lie above 1 and repetitions are left out.
func OnOrders(c Curve, orders []float64) Grid {
	g := Grid{Orders: sortOrders(orders)}
	g.Values = make([]float64, len(g.Orders))
	for i, a := range g.Orders {
		g.Values[i] = value(c, a)
	}
	return g
}

// DefaultOrders returns the orders at which curves are tabulated when nothing
// better is known: tenths up to 11, integers up to 64, then 8 per doubling up
// to 2^20, and towards 1 down to 1.001.
func DefaultOrders() []float64 {
	orders := []float64{1.001, 1.002, 1.005, 1.01, 1.02, 1.05}
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	for i := 11; i < 64; i++ {
		orders = append(orders, float64(i))
	}
	for base := 64; base < 1<<20; base *= 2 {
		for j := range 8 {
			orders = append(orders, float64(base+base/8*j))
		}
	}
	return append(orders, 1<<20)
}
