// The Rényi divergence between the laws of one query's output at a data set and at a
// neighbour. It takes logarithms of probabilities with their errors, and returns a
// divergence with a bound on its error: no difference of near-equal sums is taken.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A pair is two laws on the same outcomes, of which p is that of the data set that voted.
// Outcomes that have the same two probabilities may be listed as one. Entry i of p and of q
// is the logarithm of a probability to within err[i], absolutely; each law sums to 1.
type pair struct {
	p, q, err []float64
}

// reversed returns the pair with its laws exchanged.
func (x pair) reversed() pair { return pair{x.q, x.p, x.err} }

// Beyond these exponents of e the terms of a divergence are handled by their logarithms.
const (
	farTerm  = 30  // x^λ, where its companions −1−λ(x−1) are small beside it
	hugeTerm = 600 // q·x^λ, near the end of float64
)

// renyi returns D_λ(p‖q), and a bound on its absolute error.
//
// With g(x) = x^λ − 1 − λ(x − 1) ≥ 0 and Σq(x−1) = 0, where x = p/q,
//
//	D_λ(p‖q) = log(1 + Σ q·g(x))/(λ−1),
//
// and x − 1 of the likeliest outcome is minus the sum of the others, so that what is
// summed are small positive numbers and not probabilities that make 1.
func (x pair) renyi(order float64) (v, err float64) {
	s, e, ok := x.excess(order)
	if !ok {
		return x.renyiLog(order)
	}
	v = math.Log1p(s) / (order - 1)
	return v, e/(1+max(0, s-e))/(order-1) + 4*u*v + underflow
}

// upper returns D_λ(p‖q) rounded up.
func (x pair) upper(order float64) float64 {
	v, err := x.renyi(order)
	return max(0, v+err)
}

// excess returns Σ q·g(p/q) and a bound on its error; ok is false where it leaves float64.
func (x pair) excess(order float64) (s, err float64, ok bool) {
	w := 0 // the likeliest outcome of q
	for i, q := range x.q {
		if q > x.q[w] {
			w = i
		}
	}
	var moved, movedErr float64 // Σ(p−q) over the other outcomes
	for i := range x.p {
		l := x.p[i] - x.q[i]
		if order*l+x.q[i] > hugeTerm || l > hugeTerm {
			return 0, 0, false
		}
		if i == w {
			continue
		}
		q := math.Exp(x.q[i])
		d := q * math.Expm1(l)
		moved += d
		movedErr += (2*q+math.Abs(d))*(2*x.err[i]+u*(4+math.Abs(x.q[i]))) + 4*u*math.Abs(moved)
		g, e := excessTerm(order, l, 2*x.err[i]+u*math.Abs(l), x.q[i], x.err[i])
		s, err = s+g, err+e+u*s
	}
	q := math.Exp(x.q[w])
	rel := -moved / q
	relErr := (movedErr + math.Abs(moved)*2*x.err[w]) / q * (1 + 8*u)
	l, le := x.p[w]-x.q[w], 2*x.err[w]
	if rel > -0.5 && relErr < 0.25 {
		if e := 2*relErr + 4*u*math.Abs(rel); e < le {
			l, le = math.Log1p(rel), e
		}
	}
	g, e := excessTerm(order, l, le, x.q[w], x.err[w])
	return s + g, err + e + u*(s+g), true
}

// excessTerm returns q·g(e^l) and a bound on its error, for l known to le and log q to qe.
// With φ(z) = (e^z − 1 − z)/z² it is l²·λ(λφ(λl) − φ(l)), which keeps its digits however
// small l is.
func excessTerm(order, l, le, logQ, qe float64) (v, err float64) {
	q := math.Exp(logQ)
	z := order * l
	le += u * math.Abs(l) // of z
	if z > farTerm {
		// g(e^l) = e^z·(1 − λe^{−(λ−1)l} + (λ−1)e^{−z}).
		x := math.Exp(logQ + z)
		a := -math.Expm1(xmath.Log(order) - (order-1)*l)
		v = x * (a + (order-1)*math.Exp(-z))
		return v, x*(order*le+qe+u*(16+4*math.Abs(logQ)+4*z))*(1+1e-6) + underflow
	}
	a, b := phi2(z), phi2(l)
	g := l * l * order * (order*a - b)
	ge := l * l * order * 12 * u * (order*a + b)
	// dg/dl = λe^l(e^{(λ−1)l} − 1), and g is convex in x with its minimum at 1.
	slope := order * math.Exp(l) * math.Abs(math.Expm1((order-1)*l))
	slope += order * order * le * math.Exp(max(z, 0)) * 2
	ge += slope * le * (1 + 1e-6)
	v = q * g
	return v, q*ge + v*(qe+u*(8+2*math.Abs(logQ))) + underflow
}

// phi2 returns (e^z − 1 − z)/z², to 8u.
func phi2(z float64) float64 {
	if math.Abs(z) > 0.5 {
		return (math.Expm1(z) - z) / (z * z)
	}
	// Σ z^k/(k+2)!; the first term left out is below 2^−16/18! of the sum.
	s := 0.0
	for k := 17.0; k >= 3; k-- {
		s = (s + 1) * z / k
	}
	return (s + 1) / 2
}

// renyiLog returns the divergence from the logarithms of Σ p^λ·q^{1−λ}, where that is far
// from 1.
func (x pair) renyiLog(order float64) (v, err float64) {
	terms := make([]float64, len(x.p))
	top := math.Inf(-1)
	for i := range terms {
		terms[i] = order*x.p[i] - (order-1)*x.q[i]
		top = max(top, terms[i])
	}
	if math.IsInf(top, 1) {
		return math.Inf(1), 0
	}
	var sum float64
	for i, t := range terms {
		t -= top
		sum += math.Exp(t)
		if t > -745 {
			e := (2*order-1)*x.err[i] + 4*u*order*(math.Abs(x.p[i])+math.Abs(x.q[i])) + 4*u*math.Abs(t)
			err = max(err, e)
		}
	}
	v = (top + xmath.Log(sum)) / (order - 1)
	return v, (err+u*(8+float64(len(terms)))+4*u*math.Abs(top))/(order-1) + 4*u*math.Abs(v)
}

// joined returns the pair of a check, of which pass and fail are laws (logarithms of the two
// probabilities, for both data sets), followed by an answer if it passes: one law, whose
// outcomes are "no answer" and those of the answer.
func joined(check, answer pair) pair {
	out := pair{p: []float64{check.p[1]}, q: []float64{check.q[1]}, err: []float64{check.err[1]}}
	for i := range answer.p {
		p, q := answer.p[i]+check.p[0], answer.q[i]+check.q[0]
		out.p, out.q = append(out.p, p), append(out.q, q)
		out.err = append(out.err, answer.err[i]+check.err[0]+u*max(math.Abs(p), math.Abs(q)))
	}
	return out
}
