// The transform of one Laplace mechanism, in closed form.
//
// It assumes the largest loss known to a relative error. It returns values whose errors are relative to log M, near
// 0 too, where the closed form cancels.

package transform

// Laplace noise on the whole data set: a closed form, summed so that nothing cancels near z = −½.

import (
	"context"
	"math"
	"math/cmplx"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Laplace is the transform of the Laplace mechanism of largest loss m = 1/b,
//
//	M(z) = [(z+1)e^{zm} + z·e^{−(z+1)m}] / (2z+1),
//
// an entire function: z = −½ is a removable singularity. The loss has atoms ±m and the
// density ¼e^{(l−m)/2} between them. (Q, P) has the same transform: M(z) = M(−1−z).
type Laplace struct {
	m   float64
	rel float64 // relative error of m
}

// NewLaplace returns the transform of the Laplace mechanism whose largest loss is m > 0,
// known to the relative error rel.
func NewLaplace(m, rel float64) Laplace { return Laplace{m, rel} }

// Strip implements Transform: the loss is bounded.
func (Laplace) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform.
func (Laplace) Infinite() (pInf, qInf float64) { return 0, 0 }

// Reverse implements Transform.
func (l Laplace) Reverse() Transform { return l }

// Real implements Transform.
func (l Laplace) Real(s float64) (k, slope, err float64) {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return math.NaN(), math.NaN(), math.Inf(1)
	}
	if s < -0.5 {
		k, slope, err = l.Real(-1 - s)
		// −1 − s rounds at most once, relative to |s| + 1; K moves by K' times that.
		return k, -slope, err + math.Abs(slope)*xmath.U*(1+math.Abs(s))
	}
	k, _, err = l.at(s, 0)
	return k, l.slope(s), err
}

// slope returns M'/M at s ≥ −½. With w = 2s + 1, µ = m/2 and x = wµ,
// M = e^{−µ}(cosh x + µ·sinh(x)/x).
func (l Laplace) slope(s float64) float64 {
	w, mu := 2*s+1, l.m/2
	x := w * mu
	if x < 1 {
		// (x·cosh x − sinh x)/x² and sinh(x)/x as series.
		y := x * x
		g := x / 3 * (1 + y/10*(1+y/28*(1+y/54*(1+y/88*(1+y/130)))))
		return 2 * mu * (math.Sinh(x) + mu*g) / (math.Cosh(x) + mu*(1+evenSeries(y, sinhcSeries)))
	}
	// Over e^x: e^{−2x} is harmless when it underflows.
	e := math.Exp(-2 * x)
	cosh, sinh := (1+e)/2, -math.Expm1(-2*x)/2
	return 2 * mu * (sinh + mu*(x*cosh-sinh)/(x*x)) / (cosh + mu*sinh/x)
}

// Line implements Transform.
func (l Laplace) Line(_ context.Context, theta, tMax, _ float64, _ int) (Line, error) {
	if err := checkLine(l, theta, tMax); err != nil {
		return nil, err
	}
	v := laplaceLine{l: l, theta: theta}
	if theta < -0.5 {
		v.theta, v.mirror = -1-theta, true
	}
	k, slope, err := l.Real(theta)
	v.top, v.slope = k+err, math.Abs(slope)
	if theta < -2 { // else −1 − θ is exact
		v.moved = xmath.U * math.Abs(theta)
	}
	// Tilted mass of the atoms and variation of the tilted density, which is
	// monotone: twice its larger end. Both as logarithms; their exponents round.
	a, b := v.theta*l.m, -(1+v.theta)*l.m
	margin := v.moved*l.m + 8*xmath.U*(1+math.Abs(a)+math.Abs(b)) + l.rel*(math.Abs(a)+math.Abs(b))
	v.atoms = xmath.LogAdd(a, b) - math.Ln2 + margin
	v.variation = max(a, b) - math.Ln2 + margin
	if tMax > 0 && l.m < mostPanels {
		v.spread = newSpread(NewSampledLaplace([]LaplaceItem{{M: l.m, MErr: l.rel}}, 0, 1, 0), v.theta, v.top)
	}
	return v, nil
}

type laplaceLine struct {
	l                     Laplace
	theta                 float64 // at least −½
	mirror                bool    // the line was −1 − θ
	moved, slope          float64 // by rounding of −1 − θ; |K'|
	top, atoms, variation float64 // logarithms
	spread                spread
}

func (v laplaceLine) Terms(n int) float64 { return float64(n) }

func (v laplaceLine) LogM(t float64) (re, im, err float64) {
	re, im, err = v.l.at(v.theta, t)
	if v.mirror {
		// M(θ + it) is the conjugate of M(−1 − θ + it), where |M'| ≤ |M'(θ)| + t·E[L²e^{θL}], and
		// at most m·M(θ).
		im = -im
		if math.IsInf(err, 1) {
			re += v.moved * v.l.m
		} else if v.moved > 0 {
			err += 2 * v.moved * v.l.m * min(v.slope/v.l.m+t*v.l.m, 1) * math.Exp(min(700, v.top-re))
		}
	}
	return re, im, err
}

// Decay implements Line: the spread of the loss near the real axis, and |M| ≤ A + V/t, A the
// tilted mass of the atoms and V the variation over the real line of the tilted density,
// its jumps to 0 included.
func (v laplaceLine) Decay(t float64) float64 {
	if !(t > 0) {
		return v.top
	}
	bound := v.spread.bound(t, func(t float64) float64 {
		return xmath.LogAdd(v.atoms, v.variation-xmath.Log(t)) + 8*xmath.U*(1+math.Abs(v.atoms)) - v.top
	})
	return min(v.top, v.top+bound+4*xmath.U*math.Abs(v.top)+v.moved*v.l.m)
}

// at returns log M(θ + it) for θ ≥ −½, and a bound of its error.
func (l Laplace) at(theta, t float64) (re, im, err float64) {
	m := l.m
	z, z1, w := complex(theta, t), complex(theta+1, t), complex(2*theta+1, 2*t)
	az, az1, aw := cmplx.Abs(z), cmplx.Abs(z1), cmplx.Abs(w)
	if az1*m <= 2 {
		// M − 1 with its terms of first order, which cancel, left out. ex(v) = e^v − 1 − v
		// by its series has an error of 8 u·ex(|v|): 6 u of a Horner scheme whose
		// partial sums fall, 2 u of the argument that it squares. The products, the sum
		// and the quotient add at most 12 u.
		var d complex128
		var size float64
		if aw >= 0.5 {
			a, b := z*complex(m, 0), -z1*complex(m, 0)
			d = (z1*expTail(a) + z*expTail(b)) / w
			size = (az1*ex(az*m) + az*ex(az1*m)) / aw
		} else {
			// M = e^{−µ}(cosh x + µ·sinh(x)/x), x = wµ, is regular here; 2θ + 1 is exact.
			mu := m / 2
			y := w * w * complex(mu*mu, 0)
			e := math.Exp(-mu)
			cosh1, sinhc1 := evenSeries(y, coshSeries), evenSeries(y, sinhcSeries)
			d = complex(e, 0) * (complex(-ex(mu), 0) + cosh1 + complex(mu, 0)*sinhc1)
			r := cmplx.Abs(y)
			size = e * (ex(mu) + evenSeries(r, coshSeries) + mu*evenSeries(r, sinhcSeries))
		}
		// |dM/dm| = |z(z+1)(e^{zm} − e^{−(z+1)m})/w| ≤ |z||z+1|·m·e^{θm}: the quotient is the
		// integral of e^{−m/2+wl/2} over |l| ≤ m, halved.
		wrong := 24*xmath.U*size + l.rel*m*m*az*az1*math.Exp(theta*m)*(1+1e-9)
		return logComplex(1, real(d), imag(d), wrong, 0)
	}
	// M = e^{zm}·½[1 + E + (1 − E)/w], E = e^{−wm}, |E| ≤ 1.
	wm := w * complex(m, 0)
	awm := aw * m
	gone := -cexpm1(-wm) // 1 − E
	quot := complex(m, 0)
	if w != 0 {
		quot = gone / w
	}
	h := (complex(2, 0) - gone + quot) / 2
	// Errors: u|wm| of the exponent of E, which counts E·|wm| ≤ 1 in 1 − E relative to it
	// where wm is small; a dozen roundings.
	e := math.Exp(-real(wm))
	wrong := xmath.U * ((16+4*awm*e)*(1+e) + (16+4*awm)*cmplx.Abs(quot))
	wrong += l.rel * m * az * az1 * cmplx.Abs(quot)
	re, im, err = logComplex(0, real(h), imag(h), wrong, 0)
	a := theta * m
	err += 4 * xmath.U * (math.Abs(a) + t*m + math.Abs(re))
	if math.IsInf(err, 1) {
		re += 4 * xmath.U * (math.Abs(a) + math.Abs(re))
	}
	return re + a, im + t*m, err
}

// cexpm1 returns e^v − 1.
func cexpm1(v complex128) complex128 {
	if cmplx.Abs(v) < 1 {
		return v + expTail(v)
	}
	return cmplx.Exp(v) - 1
}
