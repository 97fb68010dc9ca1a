// Curves that are known at some orders only. Orders ascend; between them the next larger
// one bounds.

package rdp

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Grid is a curve that is known at some orders only: Values[i] bounds the
// Rényi divergence at Orders[i]. Orders ascend strictly and lie above 1 (the
// last may be +Inf); values are in [0, +Inf]. A Grid that breaks these rules is
// a broken curve, which every conversion refuses.
type Grid struct {
	Orders, Values []float64
}

// NewGrid returns the grid of the values at the orders, which it checks.
func NewGrid(orders, values []float64) (Grid, error) {
	g := Grid{slices.Clone(orders), slices.Clone(values)}
	return g, g.Check()
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
