// Theorem 3 (certificate). With F = Σ T_i log M_i(θ) − θε as an exact label, all terms
// of aliasing.go are divided by e^F. Then I_θ(ε)e^{−F} lies between
//
//	V − E − Σ R(s)e^{−F} [s outside (−1,0)]   and   V + E + Σ R(s)e^{−F} [s inside],
//
// V = S + series, E = quadrature + rounding + truncation, where
//
//   - quadrature: a transform that is wrong by the factor e^η changes its term c_k by at
//     most |c_k|(e^{|η|}−1), η = ΣT_iη_i;
//   - rounding: of the terms c_k (table.sum; the phase im_k − kh·ε is one fused operation,
//     u of its value), and 8u of the series times the sizes of the exponents in them, which
//     S does not share: the series are exact numbers, not multiples of e^F. Their exponents
//     carry u(|F| + |ε| + (θ+1)λ), which can be far above what S loses (θ small, ε and λ large);
//   - truncation: |z(z+1)| ≥ t² and Σ_{k>n} h/(kh)² ≤ 1/(nh), with Theorem 6 for the product.
//     A term of which no logarithm is known (|M| too small, or η ≥ ½) counts with its bound.
//
// F is never rounded in S (its terms are e^{Σ T_i(log M_i(z_k) − log M_i(θ))} and know
// nothing of ε but the phase), so that the float of F only enters the series, the
// remainders and the final logarithm.
//
// It assumes columns whose errors are proved by their transforms. What it returns holds for any line, period
// and number of frequencies: bad ones make it wide.

package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A reading is what a table says about one ε: bounds of the logarithm of the
// quantity of the table's side (inversion.go), and what they are made of.
type reading struct {
	low, mid, high float64
	slope          float64 // d mid/dε
	// Each error relative to the quantity.
	aliasing, truncation, quadrature, rounding float64
	condition                                  float64 // size of the terms over that of the sum
	folded                                     bool    // the sum is that of laws
}

// at evaluates the frequency sum, with its errors; ok is false where nothing is known.
func (t *table) at(eps float64, scale *terms) (r folding, ok bool) {
	if t.folded != nil {
		return t.folded.at(eps)
	}
	s, ds, phase := t.columnSum(eps)
	return folding{s: s, ds: ds, label: math.FMA(-t.theta, eps, t.re0), modulus: t.mass, quad: t.quad,
		round: t.round + scale.rounding*phase, tail: math.Exp(t.logTail)}, true
}

// columnSum evaluates the sum of the columns and its derivative by ε, and bounds the part of
// its error that the phases make.
func (t *table) columnSum(eps float64) (s, ds, phase float64) {
	var c float64
	im, a, b, modulus := t.im, t.a, t.b, t.modulus
	for k := range im {
		f := float64(k) * t.h
		p := math.FMA(-f, eps, im[k])
		sin, cos := math.Sincos(p)
		x := a[k]*cos - b[k]*sin
		y := a[k]*sin + b[k]*cos
		ds -= t.theta*x - f*y
		phase += modulus[k] * math.Abs(p)
		// Two-sum.
		sum := s + x
		r := sum - s
		c += (s - (sum - r)) + (x - r)
		s = sum
	}
	return s + c, ds, 2.02 * xmath.U * phase
}

// read returns the bounds of the table at ε.
func (t *table) read(eps float64, scale *terms) reading {
	const u = xmath.U
	nothing := reading{low: math.Inf(-1), mid: math.NaN(), high: math.Inf(1)}
	d := sideOf(t.theta)
	lambda := t.lambda()
	sum, ok := t.at(eps, scale)
	if !ok {
		return nothing
	}
	f, s, ds := sum.label, sum.s, sum.ds

	var series, dSeries, poles, masses float64
	pole := func(p, distance float64, m mass, sign, rate float64) {
		if !between(p, t.theta, t.sHigh) && !between(p, t.theta, t.sLow) {
			return
		}
		far, logMass := math.Abs(distance)*lambda, m.log+rate*eps
		v := math.Exp(logMass - f + logGeometric(far))
		series += sign * v
		dSeries += sign * v * rate
		poles += v * (1 + far + math.Abs(m.log) + math.Abs(logMass) + math.Abs(f) + math.Abs(eps))
		masses += v * math.Expm1(m.err+sum.moved)
	}
	pole(0, t.theta, t.m0, -sgn(t.theta), 0)
	pole(-1, t.theta+1, t.m1, sgn(t.theta+1), 1)

	v := d.sign() * (s + series)
	dv := d.sign() * (ds + dSeries)
	if !(v > 0) || math.IsInf(v, 0) {
		return nothing
	}
	tail := scale.truncation * sum.tail
	rounding := sum.round + scale.rounding*8*u*(poles+math.Abs(s))
	up := func(x float64) float64 { return x + 8*u*(math.Abs(x)+math.Abs(f)+math.Abs(t.re0)) }
	// The remainders' logarithms are sums of terms each of which is far below this.
	remainder := func(s, logM float64) float64 {
		r := logRemainder(s, t.theta, lambda, eps, logM)
		if math.IsNaN(r) {
			return math.Inf(1)
		}
		return scale.aliasing * math.Exp(up(r+4*u*(math.Abs(logM)+math.Abs(s*eps)+math.Abs(s-t.theta)*lambda+1)-f))
	}
	var adds, subtracts float64
	for _, r := range [2]struct{ s, logM float64 }{{t.sHigh, t.logHigh}, {t.sLow, t.logLow}} {
		x := remainder(r.s, r.logM)
		if (sideOf(r.s) == middle) == (d != middle) {
			adds += x
		} else {
			subtracts += x
		}
	}
	e := (sum.quad + rounding + tail + scale.infinite*masses) * (1 + 8*u)
	low := (v - e - subtracts) * (1 - 8*u)
	high := (v + e + adds) * (1 + 8*u)

	r := reading{
		mid: f + xmath.Log(v), slope: dv / v, low: math.Inf(-1), high: math.Inf(1),
		aliasing: (adds + subtracts) / v, truncation: tail / v,
		quadrature: sum.quad / v, rounding: rounding / v,
		condition: sum.modulus / v, folded: t.folded != nil,
	}
	pad := func(logV float64) float64 { return sum.moved + 4*u*(math.Abs(f)+math.Abs(logV)+1) }
	if low > 0 {
		l := xmath.Log(low)
		r.low = f + l - pad(l)
	}
	if !math.IsInf(high, 1) && !math.IsNaN(high) {
		l := xmath.Log(high)
		r.high = f + l + pad(l)
	}
	t.whole(&r, eps, d, scale)
	return r
}

// whole adds the part of the quantity that lies where the loss is infinite.
func (t *table) whole(r *reading, eps float64, d side, scale *terms) {
	m, lift := t.m0, 0.0
	switch d {
	case middle:
		return
	case left:
		m, lift = t.m1, eps
	}
	if m == (mass{}) {
		return
	}
	least, rest, most := m.infinite()
	if scale.infinite == 0 {
		least, most = rest, rest
	}
	if over := m.log + m.err; over > 0 {
		// Perhaps more than 1: the rest may be negative.
		x := xmath.Log(math.Expm1(over))
		left := xmath.LogSub(r.low, lift+x+4*xmath.U*(1+math.Abs(lift)+math.Abs(x)))
		r.low = left - 4*xmath.U*(1+math.Abs(xmath.Finite(left))+math.Abs(xmath.Finite(r.low)))
	}
	// The sums of logarithms round to a few ulps of them.
	sum := func(a, rest, sign float64) float64 {
		x := xmath.LogAdd(a, lift+rest)
		return x + sign*scale.infinite*4*xmath.U*(1+math.Abs(x)+math.Abs(lift)+math.Abs(xmath.Finite(rest)))
	}
	if rest > math.Inf(-1) {
		mid := sum(r.mid, rest, 0)
		r.slope *= math.Exp(r.mid - mid)
		if d == left {
			r.slope += math.Exp(lift + rest - mid)
		}
		r.mid = mid
	}
	if least > math.Inf(-1) {
		r.low = sum(r.low, least, -1)
	}
	r.high = sum(r.high, most, 1)
	if math.IsNaN(r.high) {
		r.high = math.Inf(1)
	}
}

func sgn(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}
