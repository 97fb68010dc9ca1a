package contour

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// gauss is the transform of the Gaussian pair with means mu apart, and of parts of it: a
// share pInf of P has an infinite loss, a share qInf of Q the loss −Inf.
type gauss struct{ mu, pInf, qInf float64 }

func (g gauss) shift() float64 { return math.Log1p(-g.pInf) - math.Log1p(-g.qInf) }

func (g gauss) Strip() (lo, hi float64)      { return math.Inf(-1), math.Inf(1) }
func (g gauss) Infinite() (float64, float64) { return g.pInf, g.qInf }
func (g gauss) Reverse() transform.Transform { return gauss{g.mu, g.qInf, g.pInf} }
func (g gauss) log(s, t float64) (re, im float64) { // of M(s+it)
	c := g.mu * g.mu / 2
	return c*(s*(1+s)-t*t) + math.Log1p(-g.pInf) + s*g.shift(), t * (c*(2*s+1) + g.shift())
}

func (g gauss) Real(s float64) (k, slope, err float64) {
	k, _ = g.log(s, 0)
	_, slope = g.log(s, 1)
	return k, slope, 8 * xmath.U * (g.mu*g.mu/2*math.Abs(s)*math.Abs(1+s) + math.Abs(s*g.shift()) + g.pInf)
}

func (g gauss) Line(_ context.Context, theta, _, _ float64, _ int) (transform.Line, error) {
	return gaussLine{g, theta}, nil
}

type gaussLine struct {
	gauss
	theta float64
}

func (l gaussLine) LogM(t float64) (re, im, err float64) {
	re, im = l.log(l.theta, t)
	c := l.mu * l.mu / 2
	return re, im, 8 * xmath.U * (c*(math.Abs(l.theta)*math.Abs(1+l.theta)+t*t+t*math.Abs(2*l.theta+1)) + (math.Abs(l.theta)+t)*math.Abs(l.shift()) + l.pInf)
}

func (l gaussLine) Decay(t float64) float64 {
	re, _, err := l.LogM(t)
	return re + err
}
func (l gaussLine) Terms(n int) float64 { return float64(n) }

// laplace is the transform of the Laplace mechanism with loss in [−m, m].
type laplace struct{ m float64 }

func (l laplace) Strip() (lo, hi float64)      { return math.Inf(-1), math.Inf(1) }
func (l laplace) Infinite() (float64, float64) { return 0, 0 }
func (l laplace) Reverse() transform.Transform { return l }

// moment is ((z+1)e^{zm} + z e^{−(z+1)m})/(2z+1).
func (l laplace) moment(z complex128) complex128 {
	m := complex(l.m, 0)
	return ((z+1)*cmplx.Exp(z*m) + z*cmplx.Exp(-(z+1)*m)) / (2*z + 1)
}

func (l laplace) size(z complex128) float64 {
	m := complex(l.m, 0)
	return (cmplx.Abs((z+1)*cmplx.Exp(z*m)) + cmplx.Abs(z*cmplx.Exp(-(z+1)*m))) / cmplx.Abs(2*z+1) * (20 + 4*cmplx.Abs(z)*l.m) * xmath.U
}

func (l laplace) Real(s float64) (k, slope, err float64) {
	a := real(l.moment(complex(s, 0)))
	const h = 1e-20 // the complex step
	b := l.moment(complex(s, h))
	return math.Log(a), imag(b) / h / a, l.size(complex(s, 0)) / a * 1.1
}

func (l laplace) Line(_ context.Context, theta, _, _ float64, _ int) (transform.Line, error) {
	if math.Abs(theta+0.5) < 1e-3 {
		return nil, fmt.Errorf("theta: %v is too close to -1/2", theta)
	}
	return laplaceLine{l, theta, real(l.moment(complex(theta, 0)))}, nil
}

type laplaceLine struct {
	laplace
	theta, at0 float64
}

func (l laplaceLine) LogM(t float64) (re, im, err float64) {
	z := complex(l.theta, t)
	w := l.moment(z)
	x := cmplx.Log(w)
	return real(x), imag(x), 1.2*l.size(z)/cmplx.Abs(w) + 4*xmath.U*cmplx.Abs(x)
}

// Decay is A + V/t with the variation of the corrected page: for every θ.
func (l laplaceLine) Decay(t float64) float64 {
	a := 0.5*math.Exp(l.theta*l.m) + 0.5*math.Exp(-(1+l.theta)*l.m)
	v := 0.5 * math.Max(math.Exp(l.theta*l.m), math.Exp(-(1+l.theta)*l.m))
	return math.Min(math.Log(a+v/t), math.Log(l.at0)) + 1e-13
}
func (l laplaceLine) Terms(n int) float64 { return 2 * float64(n) }
