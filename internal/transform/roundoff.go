// Round-off (contour.md §6, with the constants of contour-errata.md 1, 5, 6, 11).

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A roundOff bounds the rounding of a sum at θ + it by
// g0 + g1·t + Σ min(a1·t + a2·t², b0 + b1·t), with a term for the losses of each size: where rare events turn, most of
// the mass does not.
//
// A node has two numbers with errors, the density q of Q (relative error e) and the loss
// (error δL). What a node contributes is q·[(1+ρ)^{z+1} − 1 − (z+1)ρ] with ρ = e^L − 1: the
// error of q counts as a factor, that of L moves it by at most
//
//	|z+1|·q·|e^{zL} − 1|·e^L·δL ≤ (θ+1+t)·δL·(p·|e^{θL} − 1| + W·min(t|L|, 2)).
//
// (For an error that is not small, δL/(1 − (θ+1)δL) in its place, as e^x − 1 ≤ x/(1−x).)
// The roundings of the expressions are relative to their terms, which for frequencies are
// at most W·min((tL)²/2, 2 + t|L|), and are part of e.
type roundOff struct {
	g0, g1 float64
	turns  [bands]turnErrors
}

// turnErrors is what losses of one size add at frequencies above 0.
type turnErrors struct{ a1, a2, b0, b1 float64 }

// bands is the number of sizes, of which each is four times the one before; the last one begins at 1.
const bands = 12

// band returns that of a loss.
func band(l float64) int {
	_, exp := math.Frexp(l)
	return min(max(bands-1+(exp-1)/2, 0), bands-1)
}

// relative bounds the relative error of the terms of a node at θ, but for that of
// its loss: its density, the exponentials of the listed exponents, and the functions
// and products (at most 26 u together: 17 u for ex(v) as a difference, the step, the
// products; sums by Neumaier's method add 2 u).
func (n *node) relative(theta float64) float64 {
	return n.errQ + u*(28+2*math.Abs(n.logQ)+5*math.Abs(theta*n.loss)+5*math.Abs(n.loss))
}

// secondOrder adds a node of sums by Proposition 3. Where growth is w − p in floats, an error of w is one of w·e^{itL} in all three sums
// together: only the roundings of products grow with t, and what p has.
func (r *roundOff) secondOrder(second, kappa, growth, w, loss, e, theta, errLoss float64, same bool) {
	errLoss = grown(errLoss, theta)
	x := math.Abs(growth) * errLoss
	r.g0 += e*(second+math.Abs(theta)*kappa) + (theta+1)*x
	products := e
	if same {
		products = productErr
		r.g1 += e * math.Abs(loss) * (w - growth)
	}
	r.g1 += products*math.Abs(loss*growth) + e*kappa + x
	r.oscillating(w, loss, e, products, theta, errLoss)
}

// productErr bounds the errors of w·(sin tL − tL) and of t·wL that grow with w·t|L|, relative to it: 2.5u by the rounding of the
// argument, 5u of the function, u each of the products, 2u of each sum; twice that.
const productErr = 24 * u

// direct adds a node of sums of W_j·e^{itL_j}: a loss moves a term by |z+1|·W·δL.
func (r *roundOff) direct(w, loss, e, theta, errLoss float64) {
	errLoss = grown(errLoss, theta)
	r.g0 += e*w + (theta+1)*w*errLoss
	r.g1 += productErr*w*math.Abs(loss) + w*errLoss
	r.oscillating(w, loss, e, productErr, theta, errLoss)
}

// grown returns the error of a loss as it counts for finite errors; θ ≥ −½.
func grown(errLoss, theta float64) float64 {
	x := (theta + 1) * errLoss
	if !(x < 1) {
		return math.Inf(1)
	}
	return errLoss / (1 - x)
}

func (r *roundOff) oscillating(w, loss, e, products, theta, errLoss float64) {
	l, y := math.Abs(loss), w*errLoss
	o := &r.turns[band(l)]
	o.a1 += (theta + 1) * y * l
	o.a2 += y*l + e*w*l*l/2
	o.b0 += 2 * (theta + 1) * y
	o.b0 += 2 * e * w
	o.b1 += 2*y + products*w*l
}

// sums adds the roundings of the sums themselves, and of adding them up here.
func (r *roundOff) sums(d0, m1 float64) {
	r.g0 += 4 * u * math.Abs(d0)
	r.g1 += 4 * u * math.Abs(m1)
}

// at bounds the error at frequency t.
func (r *roundOff) at(t float64) float64 {
	sum := r.g0 + r.g1*t
	for i := range r.turns {
		o := &r.turns[i]
		sum += min(t*(o.a1+o.a2*t), o.b0+o.b1*t)
	}
	return sum * (1 + 1e-10)
}

// logComplex returns the logarithm of e^scale·(unit + re + i·im), known to err·e^scale, and the bound
// of the complex error of the logarithm: −log(1−x) for the relative error x, and 4 u of
// the logarithm. For x ≥ ½ it returns the largest modulus and +Inf.
func logComplex(unit, re, im, err, scale float64) (logRe, logIm, bound float64) {
	full := unit + re
	mod := math.Hypot(full, im)
	if x := err / mod; !(x < 0.5) {
		return scale + xmath.Log(mod+err) + 8*u*(1+math.Abs(scale)), 0, math.Inf(1)
	} else if r := 2*re + re*re + im*im; unit == 1 && scale == 0 && r > -0.4 && r < math.MaxFloat64 {
		// |M|² − 1 = 2·Re D + |D|²: of the logarithm its rounding is below 3.8u, which would be 4.2u next to |M|² = ½.
		logRe = math.Log1p(r) / 2
		logIm = math.Atan2(im, full)
		bound = -math.Log1p(-x)
	} else {
		logRe = scale + xmath.Log(mod)
		logIm = math.Atan2(im, full)
		bound = -math.Log1p(-x) + 4*u*math.Abs(scale) + 4*u
	}
	return logRe, logIm, bound + 4*u*math.Hypot(logRe, logIm)
}
