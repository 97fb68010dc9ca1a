// Logarithms of sums and differences, compensated sums, and steps of an ulp.

package xmath

import "math"

// U is the unit round-off of float64, 2^-53.
const U = 0x1p-53

// Ln2 is log 2.
const Ln2 = math.Ln2

// Log1mExp returns log(1 − e^x) for x ≤ 0, accurate at both ends.
func Log1mExp(x float64) float64 {
	switch {
	case x >= 0:
		return math.Inf(-1)
	case x > -Ln2:
		return Log(-math.Expm1(x))
	default:
		return math.Log1p(-math.Exp(x))
	}
}

// LogAdd returns log(e^a + e^b).
func LogAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) || math.IsInf(a, 1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// LogSub returns log(e^a − e^b) for a ≥ b, and −Inf when a ≤ b.
func LogSub(a, b float64) float64 {
	if math.IsInf(b, -1) {
		return a
	}
	if a <= b {
		return math.Inf(-1)
	}
	return a + Log1mExp(b-a)
}

// LogSum returns the log of the sum of the exponentials of xs, summed by
// Neumaier's method after scaling by the largest term.
func LogSum(xs []float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, 0) {
		return top
	}
	var s Sum
	for _, x := range xs {
		s.Add(math.Exp(x - top))
	}
	return top + Log(s.Value())
}

// A Union is the probability that at least one of independent events happens, by its logarithm, so that none underflows.
// The zero value has no event.
type Union struct {
	hazard float64 // log Σ −n·log(1 − p)
	some   bool
	err    float64
}

// linearBelow is the log-probability below which −log(1 − p) is p, to half of U of itself.
const linearBelow = -37.5

// Add adds n events of a log-probability that is known to err. One of −Inf does not happen.
func (a *Union) Add(logP, n, err float64) {
	if math.IsInf(logP, -1) || n == 0 {
		return
	}
	h := logP
	if h > linearBelow {
		h = Log(-Log1mExp(h))
	}
	own, many := h, Log(n)
	h += many
	if a.some {
		h = LogAdd(a.hazard, h)
	}
	a.hazard, a.some = h, true
	// The larger of the errors, and three roundings of each number that is added, which may cancel, and of the sum.
	a.err = max(a.err, err) + 3*U*(1+math.Abs(Finite(own))+math.Abs(many)+math.Abs(Finite(h)))
}

// Log returns the log-probability with a bound of its error, −Inf if there is no event.
func (a *Union) Log() (logP, err float64) {
	if !a.some {
		return math.Inf(-1), 0
	}
	logP = a.hazard
	if logP > linearBelow {
		logP = Log1mExp(-math.Exp(logP))
	}
	return logP, a.err + 4*U*(1+math.Abs(logP))
}

// Sum is a compensated (Neumaier) sum: its error is a few ulps of the result
// plus n²u² times the sum of magnitudes. The zero value is an empty sum.
type Sum struct{ s, c float64 }

// Add adds x.
func (a *Sum) Add(x float64) {
	t := a.s + x
	if math.Abs(a.s) >= math.Abs(x) {
		a.c += (a.s - t) + x
	} else {
		a.c += (x - t) + a.s
	}
	a.s = t
}

// AddProduct adds x·y without losing the low half of the product.
func (a *Sum) AddProduct(x, y float64) {
	p := x * y
	a.Add(p)
	a.Add(math.FMA(x, y, -p))
}

// Ldexp multiplies the sum by 2^k, exactly but for underflow.
func (a *Sum) Ldexp(k int) { a.s, a.c = math.Ldexp(a.s, k), math.Ldexp(a.c, k) }

// Value returns the sum.
func (a *Sum) Value() float64 { return a.s + a.c }

// Up returns x moved n ulps towards +Inf, Down towards −Inf.
func Up(x float64, n int) float64 {
	for range n {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}

// SqrtUp returns the square root of x ≥ 0, rounded up; that of 0 is 0.
func SqrtUp(x float64) float64 {
	if x == 0 {
		return 0
	}
	return Up(math.Sqrt(x), 1)
}

// Down returns x moved n ulps towards −Inf.
func Down(x float64, n int) float64 {
	return -Up(-x, n)
}

// FiniteAbs returns |x|, and 0 where x is infinite: the size that a relative error of a
// logarithm applies to, as −Inf is exact.
func FiniteAbs(x float64) float64 {
	return math.Abs(Finite(x))
}

// ComplementErr bounds the error of the logarithm b of 1 − e^a (Log1mExp), for an error err
// of a: +Inf if nothing is known of b.
func ComplementErr(a, b, err float64) float64 {
	if math.IsInf(a, -1) {
		return 0
	}
	x := math.Exp(a-b) * math.Expm1(err)
	if !(x < 1) {
		return math.Inf(1)
	}
	return -math.Log1p(-x)
}

// Rounding outwards, and the limits within which float64 is exact.

// RoundUp returns an upper bound on every number within n units of round-off, n·2^−53
// relative, of x ≥ 0; 0 and +Inf stay.
func RoundUp(x, n float64) float64 {
	if x == 0 || math.IsInf(x, 1) {
		return x
	}
	// The product and the sum round once each, which the 2 extra units cover;
	// the extra step serves subnormal numbers.
	return math.Nextafter(x+x*((n+2)*U), math.Inf(1))
}

// Finite returns x, or 0 for an infinite one, whose rounding costs nothing.
func Finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}

// MaxCount is the largest number of runs or records: up to it, whole numbers are exact in
// float64.
const MaxCount = 1 << 53

// ExpUp and ExpDown are e^x rounded outwards: math.Exp is good to an ulp, and x to half an ulp of
// itself. The smallest positive number stands above what underflows, and 0 below it.
func ExpUp(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return math.Nextafter(math.Exp(x)*(1+4*U*(1+math.Abs(x))), math.Inf(1))
}

// ExpDown is beside ExpUp.
func ExpDown(x float64) float64 {
	if e := math.Exp(x); math.IsInf(e, 1) && !math.IsInf(x, 1) {
		return math.MaxFloat64
	}
	return max(0, math.Exp(x)*(1-4*U*(1+math.Abs(Finite(x))))-math.SmallestNonzeroFloat64)
}

// Binomial probabilities with their errors, for any number of trials.

// LogBinomial returns log Pr[Bin(n, p) = x], q = 1 − p given apart, and a bound
// on the absolute error of it.
//
// Loader's saddle-point form ("Fast and accurate computation of binomial
// probabilities", 2000) never forms a binomial coefficient: the error is a few
// units in the last place of 1 + |log p|, where a difference of log-gammas loses
// log(n!)·2^-53. The second term of the bound is the rounding of n·p, which
// enters through |x − np|; so does q, which may be off by a rounding.
func LogBinomial(x, n int64, p, q float64) (logP, err float64) {
	xf, nf := float64(x), float64(n)
	switch {
	case x < 0 || x > n:
		return math.Inf(-1), 0
	case p == 0 || q == 0:
		if (p == 0 && x == 0) || (q == 0 && x == n) {
			return 0, 0
		}
		return math.Inf(-1), 0
	case x == 0:
		logP = nf * LogComplement(p, q)
	case x == n:
		logP = nf * LogComplement(q, p)
	default:
		rest := math.Log1p(-xf / nf) // log((n − x)/n), of the smaller share
		if xf > nf/2 {
			rest = Log((nf - xf) / nf)
		}
		logP = stirlingError(nf) - stirlingError(xf) - stirlingError(nf-xf) -
			Deviance(xf, nf*p) - Deviance(nf-xf, nf*q) -
			0.5*(log2Pi+Log(xf)+rest)
	}
	return logP, U * (12 + 8*math.Abs(logP) + 4*math.Abs(xf-nf*p))
}

// BinomialMass is LogBinomial for p and q = 1 − p that are each within a relative 4 u of numbers that add
// up to 1, which enters through |x − np|: the derivatives by log p and log q are x − np and its negative.
func BinomialMass(x, n int64, p, q float64) (logP, err float64) {
	logP, err = LogBinomial(x, n, p, q)
	return logP, err + 8*U*math.Abs(float64(x)-float64(n)*p)
}

// BinomialTail returns bounds of Pr[Bin(n, p) ≥ k], for p and q as in BinomialMass and n up to 2^50.
func BinomialTail(k, n int64, p, q float64) (lower, upper float64) {
	switch {
	case k <= 0:
		return 1, 1
	case k > n:
		return 0, 0
	case float64(k) <= float64(n)*p: // the other tail is the smaller one
		lo, up := BinomialTail(n-k+1, n, q, p)
		return max(0, Down(1-up, 1)), min(1, Up(1-lo, 1))
	}
	l, err := BinomialMass(k, n, p, q)
	// The masses fall from here on, by a ratio that falls itself: what is left out at the
	// end is below a geometric series. Each ratio has at most 14 roundings.
	sum, term, terms := 1.0, 1.0, 1.0
	rest := 0.0
	for j := k; j < n; j++ {
		ratio := float64(n-j) / float64(j+1) * (p / q)
		next := term * ratio
		if ratio < 1 && next < 1e-18*sum*(1-ratio) {
			rest = next / (1 - ratio)
			break
		}
		term = next
		sum += term
		terms++
	}
	slack := err + 16*U*terms*2
	lower = math.Exp(l-slack)*sum*(1-1e-15) - underflow*sum
	upper = math.Exp(l+slack)*(sum+2*rest)*(1+1e-15) + underflow*(sum+2*rest)
	return max(0, lower), min(1, upper)
}

// underflow bounds what an exponential below the normal numbers, and a product, are off by.
const underflow = 8 * math.SmallestNonzeroFloat64

const log2Pi = 1.83787706640934548356

// LogComplement returns log(1−p) where q is 1−p, from whichever is the more accurate.
func LogComplement(p, q float64) float64 {
	if p < 0.5 {
		return math.Log1p(-p)
	}
	return Log(q)
}

// stirlingErrors are log n! − log(√(2πn)(n/e)^n), n = 1..15, from 40 digits.
var stirlingErrors = [16]float64{
	0,
	0.0810614667953272582197,
	0.0413406959554092940938,
	0.0276779256849983391488,
	0.0207906721037650931115,
	0.0166446911898211921632,
	0.0138761288230707479987,
	0.0118967099458917700951,
	0.0104112652619720964975,
	0.0092554621827127329177,
	0.0083305634333628712565,
	0.0075736754879518407950,
	0.0069428401072095298657,
	0.0064089941880042070684,
	0.0059513701127588477356,
	0.0055547335519628013710,
}

func stirlingError(n float64) float64 {
	if n < 16 {
		return stirlingErrors[int(n)]
	}
	// The alternating series; the first term left out is below 1e-18 at n = 16.
	z := 1 / (n * n)
	return (1./12 - (1./360-(1./1260-(1./1680-(1./1188-(691./360360-z/156)*z)*z)*z)*z)*z) / n
}
