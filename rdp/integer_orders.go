package rdp

import (
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Sums over integer orders, which bound a sampled mechanism at every order: between two
// of them a curve times (α−1) is convex.

// maxIntegerOrder bounds the orders at which a general curve is sampled: the sum
// at order α asks for all integer orders up to α.
const maxIntegerOrder = 2048

// sampled is a curve given by log(e^{(α−1)D} − 1) at integer orders.
type sampled struct {
	base *integerOrders
	la   func(alpha int) float64
}

func (s sampled) RDP(alpha float64) float64 {
	whole := value(s.base.curve, alpha)
	if math.IsNaN(whole) || alpha > maxIntegerOrder {
		return whole
	}
	lo, hi := math.Floor(alpha), math.Ceil(alpha)
	v := s.at(hi)
	switch {
	case lo == hi || lo < 2:
		// Below 2 the chord from order 1, where (α−1)D is 0, is the value at 2.
	case math.IsNaN(v):
	default:
		v = min(v, convexBetween(alpha, lo, s.at(lo), hi, v))
	}
	if math.IsNaN(v) {
		return v
	}
	return min(v, whole)
}

func (s sampled) at(alpha float64) float64 {
	whole := value(s.base.curve, alpha)
	v := fromMoment(alpha, s.la(int(alpha)))
	if math.IsNaN(whole) || math.IsNaN(v) {
		return math.NaN()
	}
	return min(v, whole)
}

func (s sampled) orders() []float64 {
	var out []float64
	for _, a := range ordersOf(s.base.curve) {
		if a <= maxIntegerOrder && a == math.Trunc(a) {
			out = append(out, a)
		}
	}
	return out
}

// integerOrders keeps the values of a curve at integer orders.
type integerOrders struct {
	curve  Curve
	mu     sync.Mutex
	values []float64 // from order 2
}

// moment returns (k−1)·D_k, NaN if the curve is broken.
func (o *integerOrders) moment(k int) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.values) < k-1 {
		order := float64(len(o.values) + 2)
		o.values = append(o.values, xmath.RoundUp((order-1)*value(o.curve, order), 1))
	}
	return o.values[k-2]
}

// sumOfPowers returns log Σ_{k≥from} C(n,k)e^{k·lx + (n−k)·ly + f(k)}, rounded
// up, for lx and ly accurate to 4 u relative and f to 8 u(1+|f|).
func sumOfPowers(n int, lx, ly float64, from int, f func(k float64) float64) float64 {
	terms := make([]float64, 0, n-from+1)
	var lc xmath.Sum // log C(n,k): a compensated sum of logarithms of ratios
	mag := 0.0       // what they sum to in magnitude, for the error
	for k := 1; k <= n; k++ {
		kf := float64(k)
		r := xmath.Log((float64(n) - kf + 1) / kf)
		lc.Add(r)
		mag += 1 + math.Abs(r)
		if k < from {
			continue
		}
		a, b, y := kf*lx, float64(n-k)*ly, f(kf)
		if k == n {
			b = 0 // also where ly = −Inf
		}
		if math.IsInf(y, 0) {
			terms = append(terms, y)
			continue
		}
		terms = append(terms, lc.Value()+a+b+y+xmath.U*(2*mag+8*(1-a-b+math.Abs(y))))
	}
	return logSumUp(terms)
}

// binomialSum returns log Σ_{k≥from} C(n,k)(1−q)^{n−k}q^k e^{f(k)}, rounded up,
// for f accurate to 8 u(1+|f|).
func binomialSum(n int, q float64, from int, f func(k float64) float64) float64 {
	return sumOfPowers(n, xmath.Log(q), math.Log1p(-q), from, f)
}
