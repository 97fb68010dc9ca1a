// Conversions between a Rényi curve and (ε, δ). It assumes a curve that bounds at every
// order; ε and δ are rounded up.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Epsilon returns an ε such that c implies (ε, δ)-differential privacy, and the
// order it was read at:
//
//	ε = D_α + log((α−1)/α) − (log δ + log α)/(α−1),  at least 0,
//
// with the limit ε = D_∞ + log(1 − δ) at α = ∞,
// minimised over the orders of c if c is (composed of) a Grid, and otherwise
// over all real orders by a search; every order gives a valid bound. ε is +Inf
// when no order gives a finite one. The order is 1 when ε = 0 follows from
// Bretagnolle–Huber (δ ≥ √(1 − exp(−D_α)) for some α).
//
// Theorem: Canonne, Kamath and Steinke, "The discrete Gaussian for
// differential privacy" (NeurIPS 2020), Proposition 12; Balle et al.,
// "Hypothesis testing interpretations and Rényi differential privacy" (AISTATS
// 2020), Theorem 21. It holds direction by direction under any relation.
func Epsilon(c Curve, delta float64) (eps, order float64, err error) {
	if err := checkDelta(delta); err != nil {
		return 0, 0, err
	}
	logDelta := xmath.Log(delta)
	eps, order, err = minimise(c, func(alpha, v float64) float64 { return epsilonAt(alpha, v, logDelta) })
	if err != nil || eps == 0 {
		return eps, order, err
	}
	small, err := smallest(c)
	if err != nil {
		return 0, 0, err
	}
	if logTotalVariation(small) <= logDelta {
		return 0, 1, nil
	}
	return eps, order, nil
}

// EpsilonClassic is Epsilon by the older, looser conversion ε = D_α +
// log(1/δ)/(α−1).
//
// Theorem: Mironov, "Rényi differential privacy" (CSF 2017), Proposition 3.
func EpsilonClassic(c Curve, delta float64) (eps, order float64, err error) {
	if err := checkDelta(delta); err != nil {
		return 0, 0, err
	}
	logDelta := xmath.Log(delta)
	return minimise(c, func(alpha, v float64) float64 {
		if math.IsInf(alpha, 1) {
			return v
		}
		return xmath.RoundUp(v-logDelta/(alpha-1), 6)
	})
}

// Delta returns a δ such that c implies (ε, δ)-differential privacy, and the
// order it was read at:
//
//	δ = exp((α−1)(D_α − ε)) / (α−1) · (1 − 1/α)^α,  at most 1,
//
// minimised like Epsilon; also δ ≤ √(1 − exp(−D_α)), which bounds the total
// variation distance (Bretagnolle and Huber 1979, with D_1 ≤ D_α); the order is
// then 1. Theorem: as Epsilon.
func Delta(c Curve, eps float64) (delta, order float64, err error) {
	if err := checkEpsilon(eps); err != nil {
		return 0, 0, err
	}
	ld, order, err := minimise(c, func(alpha, v float64) float64 { return logDeltaAt(alpha, v, eps) })
	if err != nil {
		return 0, 0, err
	}
	small, err := smallest(c)
	if err != nil {
		return 0, 0, err
	}
	if tv := logTotalVariation(small); tv < ld {
		ld, order = tv, 1
	}
	return min(1, xmath.ExpUp(ld)), order, nil
}

// DeltaClassic is Delta by the older, looser conversion
// δ = exp(−(α−1)(ε − D_α)). Theorem: as EpsilonClassic.
func DeltaClassic(c Curve, eps float64) (delta, order float64, err error) {
	if err := checkEpsilon(eps); err != nil {
		return 0, 0, err
	}
	ld, order, err := minimise(c, func(alpha, v float64) float64 {
		if math.IsInf(alpha, 1) {
			return logDeltaAt(alpha, v, eps)
		}
		return min(0, up((alpha-1)*(v-eps), (alpha-1)*(v+eps)))
	})
	return min(1, xmath.ExpUp(ld)), order, err
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fault.New("delta", "%v is not in (0, 1)", delta)
	}
	return nil
}

func checkEpsilon(eps float64) error {
	if !(eps >= 0 && !math.IsInf(eps, 1)) {
		return fault.New("epsilon", "%v is not in [0, +Inf)", eps)
	}
	return nil
}

// up returns x plus 8 u times the magnitude of what was added to get it.
func up(x, magnitude float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return math.Nextafter(x+8*xmath.U*magnitude, math.Inf(1))
}

// epsilonAt is the conversion of D_α ≤ v at one order.
func epsilonAt(alpha, v, logDelta float64) float64 {
	if math.IsInf(alpha, 1) {
		// A loss of at most v gives δ(ε) ≤ 1 − e^{ε−v}.
		gain := xmath.Log1mExp(logDelta)
		return max(0, up(v+gain, v-gain))
	}
	t := alpha - 1
	la := xmath.Log(alpha)
	if alpha < 2 {
		la = math.Log1p(t)
	}
	a := logShrink(alpha)
	b := -(logDelta + la) / t
	return max(0, up(v+a+b, v-a+(la-logDelta)/t))
}

// logShrink returns log((α−1)/α).
func logShrink(alpha float64) float64 {
	if alpha > 2 {
		return math.Log1p(-1 / alpha)
	}
	return xmath.Log((alpha - 1) / alpha)
}

// logDeltaAt is the log of the conversion of D_α ≤ v at one order.
func logDeltaAt(alpha, v, eps float64) float64 {
	if math.IsInf(alpha, 1) {
		if v <= eps {
			return math.Inf(-1)
		}
		// δ ≤ 1 − e^{ε−v}.
		return up(xmath.Log1mExp(eps-v), 1)
	}
	if math.IsInf(v, 1) {
		return 0
	}
	t := alpha - 1
	s := alpha * logShrink(alpha)
	return min(0, up(t*(v-eps)-xmath.Log(t)+s, t*(v+eps)+math.Abs(xmath.Log(t))-s))
}

// logTotalVariation returns log √(1 − e^{−v}).
func logTotalVariation(v float64) float64 {
	l := xmath.Log1mExp(-v) / 2
	if math.IsInf(l, -1) {
		return l
	}
	return up(l, 1+math.Abs(l))
}

// smallest returns the value of c at its smallest order, or close to order 1.
func smallest(c Curve) (float64, error) {
	alpha := 1 + 1e-6
	if o := ordersOf(c); len(o) > 0 {
		alpha = o[0]
	}
	return checkValue(c, alpha)
}

// minimise returns the least f(α, c(α)) over the orders of c, or over real
// orders if c has no orders of its own, with the order where it is reached.
func minimise(c Curve, f func(alpha, v float64) float64) (best, order float64, err error) {
	if c == nil {
		return 0, 0, fault.New("curve", "is nil, must be a Rényi curve")
	}
	if g, ok := c.(Grid); ok {
		if err := g.Check(); err != nil {
			return 0, 0, err
		}
	}
	best, order = math.Inf(1), 1
	at := func(alpha float64) float64 {
		if err != nil {
			return math.Inf(1)
		}
		v, e := checkValue(c, alpha)
		if e != nil {
			err = e
			return math.Inf(1)
		}
		y := f(alpha, v)
		if math.IsNaN(y) {
			err = fault.New("curve", "the value %v at order %v gives no guarantee", v, alpha)
			return math.Inf(1)
		}
		if y < best || order == 1 {
			best, order = y, alpha
		}
		return y
	}
	if orders := ordersOf(c); orders != nil {
		for _, a := range orders {
			at(a)
		}
		return best, order, err
	}
	searchOrders(at)
	// Curves of sampled mechanisms have kinks at integers.
	for _, a := range []float64{math.Floor(order), math.Ceil(order)} {
		if a > 1 {
			at(a)
		}
	}
	return best, order, err
}

// searchOrders looks for a minimum of at over α > 1: a scan of α−1 over 24
// decades, then golden sections in the bracket of the best scan point. Nothing
// depends on how good the minimum is.
func searchOrders(at func(alpha float64) float64) {
	const lo, hi, n = -12.0, 12.0, 96 // powers of ten of α−1, and steps
	order := func(x float64) float64 { return 1 + math.Pow(10, x) }
	best, bestX, worse := math.Inf(1), lo, 0
	// Large orders are slow to evaluate and rarely help: two decades above
	// α = 2 without an improvement end the scan.
	for i := 0; i <= n && worse < 8; i++ {
		x := lo + (hi-lo)*float64(i)/n
		if y := at(order(x)); y < best {
			best, bestX, worse = y, x, 0
		} else if x > 0 {
			worse++
		}
	}
	at(math.Inf(1))
	const step = (hi - lo) / n
	xmath.GoldenSection(func(x float64) float64 { return at(order(x)) }, bestX-step, bestX+step, 1e-8)
}
