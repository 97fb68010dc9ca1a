// Binomial probabilities with their errors, for any number of trials.

package xmath

import "math"

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
