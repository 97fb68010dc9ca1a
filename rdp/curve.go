// What a Rényi curve is, and composition. Values are upper bounds.

package rdp

import (
	"math"
	"slices"

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
	for _, p := range c.parts {
		v := value(p, alpha)
		if math.IsNaN(v) || math.IsInf(v, 1) {
			return c.worst(alpha)
		}
		s.Add(v)
	}
	// A compensated sum of non-negative terms errs by less than 2 u for any
	// length that fits in memory; 4 u covers the last rounding.
	return xmath.RoundUp(s.Value(), 4)
}

// worst is NaN if any part is broken, and +Inf otherwise.
func (c composed) worst(alpha float64) float64 {
	for _, p := range c.parts {
		if math.IsNaN(value(p, alpha)) {
			return math.NaN()
		}
	}
	return math.Inf(1)
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
