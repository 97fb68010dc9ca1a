package subsample

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// composer composes k runs on a plain circular lattice: connect the dots and one
// FFT. For these tests only: package fourier has the certificate.
type composer struct {
	law  *pld.Law
	freq []complex128
	n    int
	step float64
}

// newComposers returns the composers of the upper and the lower law of p.
func newComposers(p profiles.Profile, step, reach float64) (upper, lower composer) {
	half := int64(math.Round(reach / step))
	u, l := pld.Discretize(p, pld.Uniform(0, step, -half, half))
	n := int(math.Exp2(math.Ceil(math.Log2((2*reach + 12) / step))))
	make := func(law *pld.Law) composer {
		c := composer{law: law, n: n, step: step}
		c.freq = c.transform(0, 0)
		return c
	}
	return make(u), make(l)
}

// transform returns that of the law with masses e^{θl−K} larger.
func (c composer) transform(theta, k float64) []complex128 {
	x := make([]float64, c.n)
	for i, lm := range c.law.LogMass {
		x[c.place(c.law.Index[i])] += math.Exp(lm + theta*c.law.Loss[i] - k)
	}
	return fourier.NewFFT(c.n).Coefficients(nil, x)
}

func (c composer) place(index int64) int64 { return (index%int64(c.n) + int64(c.n)) % int64(c.n) }

func (c composer) power(freq []complex128, k int) []float64 {
	z := make([]complex128, len(freq))
	for i, f := range freq {
		z[i] = cmplx.Pow(f, complex(float64(k), 0))
	}
	return fourier.NewFFT(c.n).Sequence(nil, z)
}

// lost returns 1 − (1 − p∞)^k.
func (c composer) lost(k int) float64 {
	return -math.Expm1(float64(k) * math.Log1p(-math.Exp(c.law.LogPInf)))
}

// deltaOf returns δ_k as a function, with an absolute accuracy of about 1e-15·k;
// a quarter of the circle is read as negative.
func (c composer) deltaOf(k int) func(eps float64) float64 {
	x := c.power(c.freq, k)
	return func(eps float64) float64 {
		s := 0.0
		for j := int64(c.n)*3/4 - 1; float64(j)*c.step > eps; j-- {
			s += -math.Expm1(eps-float64(j)*c.step) * x[c.place(j)] / float64(c.n)
		}
		return s + c.lost(k)
	}
}

// tilted returns δ_k(ε) with relative accuracy: the law is tilted so that ε is
// about the mean of the sum.
func (c composer) tilted(k int, eps float64) float64 {
	n := float64(k)
	lo, hi := -6.0, 8.0 // log θ: the saddle point, where TK(θ) − θε − log θ(1+θ) is least
	for range 40 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		f := func(logTheta float64) float64 {
			t := math.Exp(logTheta)
			v, _, _ := c.law.Tilted(t)
			return n*v - t*eps - math.Log(t*(1+t))
		}
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	theta := math.Exp(lo)
	v, _, _ := c.law.Tilted(theta)
	x := c.power(c.transform(theta, v), k)
	s := 0.0
	first := int64(math.Floor(eps/c.step)) + 1
	for j := first; j < first+int64(c.n)*3/4; j++ {
		l := float64(j)*c.step - eps
		s += -math.Expm1(-l) * math.Exp(-theta*l) * x[c.place(j)] / float64(c.n)
	}
	return s*math.Exp(n*v-theta*eps) + c.lost(k)
}

func epsilonOf(f func(float64) float64, delta float64) float64 {
	lo, hi := 0.0, 60.0
	for range 50 {
		if mid := (lo + hi) / 2; f(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
