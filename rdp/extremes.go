// The larger and the smaller of curves.

package rdp

import (
	"math"
	"slices"
)

// Max returns the larger of the curves at every order: both directions of one
// mechanism, or a mechanism that may be any of several.
func Max(curves ...Curve) Curve { return maximum{composed{slices.Clone(curves)}} }

type maximum struct{ composed }

func (c maximum) RDP(alpha float64) float64 {
	most := 0.0
	for _, p := range c.parts {
		most = max(most, value(p, alpha)) // NaN if any is
	}
	return most
}

// Min returns the smallest of several bounds on the same mechanism at every
// order; +Inf if there is none.
func Min(curves ...Curve) Curve { return minimum{composed{slices.Clone(curves)}} }

type minimum struct{ composed }

func (c minimum) RDP(alpha float64) float64 {
	least := math.Inf(1)
	for _, p := range c.parts {
		least = min(least, value(p, alpha)) // NaN if any is
	}
	return least
}

// orders is nil unless every part is best at certain orders only.
func (c minimum) orders() []float64 {
	for _, p := range c.parts {
		if ordersOf(p) == nil {
			return nil
		}
	}
	return c.composed.orders()
}
