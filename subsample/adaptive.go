package subsample

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// An AdaptiveAttack is what an adversary reaches who chooses at every step, from
// the outputs so far, whether all other records agree with the substitute or
// with the record: a legal adaptive composition, since the query may depend on
// earlier outputs and the data sets are fixed. It is a lower bound on the loss
// of adaptive composition (not on that of one fixed mechanism: see Attack).
//
// must-gap.md §5.2: G_k(α) = max over both pairs of E_P[G_{k−1}(αe^{−L})],
// G_0 = (1−α)₊. Each pair is replaced by its lower law on a lattice, which keeps
// the recursion on the lattice and below the truth; the error of each transform
// is subtracted.
type AdaptiveAttack struct {
	step float64
	top  int       // lattice indices −top..top
	g    []float64 // lower bounds of G at e^{(i−top)·step}
	runs int
	n    int
	fft  *fourier.FFT
	pair [2]adaptivePair
}

type adaptivePair struct {
	freq []complex128
}

// NewAdaptiveAttack prepares the attack on a lattice of the given step up to
// losses of ±reach; the result is a lower bound for every step and reach.
func (s FixedSize) NewAdaptiveAttack(b profiles.Base, step, reach float64) (*AdaptiveAttack, error) {
	if !(step > 0 && step <= 1) {
		return nil, fmt.Errorf("step: %v is not in (0, 1]", step)
	}
	if !(reach >= step && reach/step <= 1<<20) {
		return nil, fmt.Errorf("reach: %v is not in [%v, %v]", reach, step, step*(1<<20))
	}
	p, err := s.Attack(b)
	if err != nil {
		return nil, err
	}
	top := int(math.Ceil(reach / step))
	a := &AdaptiveAttack{step: step, top: top}
	a.n = 1
	for a.n < 6*top+3 {
		a.n *= 2
	}
	a.fft = fourier.NewFFT(a.n)
	for i, q := range []profiles.Profile{p, profiles.Reverse(p)} {
		_, lower := pld.Discretize(q, pld.Uniform(0, step, -int64(top), int64(top)))
		x := make([]float64, a.n)
		for j, l := range lower.LogMass {
			x[(int(lower.Index[j])+a.n)%a.n] += math.Exp(l)
		}
		a.pair[i].freq = a.fft.Coefficients(nil, x)
	}
	a.g = make([]float64, 2*top+1)
	for i := range a.g {
		a.g[i] = max(0, -math.Expm1(float64(i-top)*step))
	}
	return a, nil
}

// Run adds k steps.
func (a *AdaptiveAttack) Run(k int) {
	x := make([]float64, a.n)
	for range k {
		// What lies beyond the lattice: G ≥ 1 − α below it, G ≥ 0 above.
		clear(x)
		norm := 0.0
		for j := -2 * a.top; j <= a.top; j++ {
			v := -math.Expm1(float64(j) * a.step)
			if j >= -a.top {
				v = a.g[j+a.top]
			}
			x[(j+a.n)%a.n] = v
			norm += v * v
		}
		f := a.fft.Coefficients(nil, x)
		// Two transforms and a product, each with a relative 2-norm error of at most
		// 14u per binary digit of the length (see fourier.Gonum), bound the largest
		// error; twice, for the law's own transform.
		slack := 4 * 14 * roundOff * math.Log2(float64(a.n)) * math.Sqrt(norm)
		next := make([]float64, len(a.g))
		z := make([]complex128, len(f))
		for _, p := range a.pair {
			for i := range z {
				z[i] = f[i] * p.freq[i]
			}
			y := a.fft.Sequence(nil, z)
			for i := range next {
				next[i] = max(next[i], y[(i-a.top+a.n)%a.n]/float64(a.n)-slack)
			}
		}
		a.g = next
		a.runs++
	}
}

// Epsilon returns a lower bound of ε(δ) of the steps run so far: the last
// lattice point at which δ is exceeded; −Inf if there is none.
func (a *AdaptiveAttack) Epsilon(delta float64) float64 {
	for i := len(a.g) - 1; i >= 0; i-- {
		if a.g[i] > delta {
			return float64(i-a.top) * a.step
		}
	}
	return math.Inf(-1)
}

// Delta returns a lower bound of δ(ε) of the steps run so far: the value at the
// next lattice point, or 0 beyond them.
func (a *AdaptiveAttack) Delta(eps float64) float64 {
	i := int(math.Ceil(eps/a.step)) + a.top
	switch {
	case i >= len(a.g):
		return 0
	case i < 0:
		return max(0, -math.Expm1(eps))
	}
	return max(0, a.g[i])
}
