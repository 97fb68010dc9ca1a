// The ranges of inputs, and the orders that are used where none are named.

package pate

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
)

// The ranges of inputs. Standard deviations and scales are in votes; outside
// these ranges λ/σ² or a squared argument would leave float64.
const (
	minSigma, maxSigma = 1e-4, 1e9
	maxOrder           = 1e6
	maxThreshold       = 1e12
)

func checkRange(field string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return fault.New(field, "%v is not in [%g, %g]", v, lo, hi)
	}
	return nil
}

func checkSigma(field string, v float64) error { return checkRange(field, v, minSigma, maxSigma) }

func checkThreshold(v float64) error {
	return checkRange("threshold", v, -maxThreshold, maxThreshold)
}

func checkOrder(field string, v float64) error {
	if !(v > 1 && v <= maxOrder) {
		return fault.New(field, "%v is not in (1, %g]", v, float64(maxOrder))
	}
	return nil
}

func checkOrders(orders []float64) error {
	if len(orders) == 0 || len(orders) > 100_000 {
		return fault.New("orders", "%d orders are not in [1, 100000]", len(orders))
	}
	for i, a := range orders {
		if err := checkOrder(fmt.Sprintf("orders[%d]", i), a); err != nil {
			return err
		}
		if i > 0 && a <= orders[i-1] {
			return fault.New(fmt.Sprintf("orders[%d]", i), "%v is not in (%v, %g]: orders must ascend", a, orders[i-1], float64(maxOrder))
		}
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fault.New("delta", "%v is not in (0, 1)", delta)
	}
	return nil
}

// defaultOrders returns 1.5, 2, 2.5, …, 100: the orders at which costs are
// tabulated by default. The best order for the ensembles of the literature lies
// between 7 and 100.
func defaultOrders() []float64 {
	orders := make([]float64, 198)
	for i := range orders {
		orders[i] = 1.5 + 0.5*float64(i)
	}
	return orders
}
