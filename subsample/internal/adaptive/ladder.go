// The lattice of blocks (§13): powers of a law's transform, on a lattice finer than that of the functions it is applied to.

package adaptive

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A ladder applies many steps of a law at once to a function G(α) = Σ c_j (β_j − α)₊ with β_j = e^{j·step}: a product
// with a power of the law's transform. Masses are multiplied by β^tilt before, so that rounding is small where δ is
// asked. The law is on a lattice with fine points to a step: its chords cost in every step, those of G once a block.
type ladder struct {
	step     float64
	fine     int
	low, top int // nodes −low..top
	n        int // length of a transform of nodes
	tilt     float64
	rounding float64   // of a weight β^tilt, and of sums over the nodes
	beta     []float64 // by j + low
	weight   []float64 // β^tilt
	coarse   *fourier.FFT
	dense    *fourier.FFT
	nodes    []float64 // the buffers of apply
	spectrum []complex128
	power    []complex128
	product  []complex128
	out      []float64
}

// newLadder has nodes from e^−below to e^above, as many as maxPoints points of the finer lattice allow.
func newLadder(step float64, fine int, below, above, tilt float64, maxPoints int) (*ladder, error) {
	if !(step <= 5) {
		return nil, fmt.Errorf("a step of loss %.3g is more than cells are spread over", step)
	}
	if !(tilt*(below+above) < 600) {
		return nil, fmt.Errorf("weights over losses of −%.3g to %.3g leave no room for rounding at the tilt %.3g", below, above, tilt)
	}
	if !((below+above)/step*float64(fine) < float64(min(maxPoints, gonumfft.MaxLength/2))) {
		return nil, fmt.Errorf("blocks of steps need more than %d points", maxPoints)
	}
	l := &ladder{step: step, fine: fine, low: int(math.Ceil(below / step)), top: int(math.Ceil(above / step)), tilt: tilt}
	l.n = gonumfft.Length(l.low + l.top + 3)
	size := l.low + l.top + 1
	l.rounding = 32 * xmath.U * (4 + (1+tilt)*float64(size)*step + float64(size))
	l.beta, l.weight = make([]float64, size), make([]float64, size)
	for i := range l.beta {
		y := float64(i-l.low) * step
		l.beta[i], l.weight[i] = math.Exp(y), math.Exp(tilt*y)
	}
	points := l.n * fine
	l.coarse, l.dense = fourier.NewFFT(l.n), fourier.NewFFT(points)
	l.nodes, l.out = make([]float64, l.n), make([]float64, points)
	l.spectrum = make([]complex128, l.n/2+1)
	l.power, l.product = make([]complex128, points/2+1), make([]complex128, points/2+1)
	return l, nil
}

// price is about the work of one block, in the unit of parallel.WithWork.
func (l *ladder) price() float64 { return 3 * perPoint * float64(l.n*l.fine) }

// A kernel is the transform of a law on the finer lattice, multiplied by β^tilt.
type kernel struct {
	freq []complex128
	sum  float64 // of the masses, from above
	err  float64 // of a frequency, relative to sum
	inf  float64 // P-mass at +∞
}

// kernel transforms a law, whose masses it rounds up or down.
//
// The mass at loss 0, nearly all, is a constant that is added in the end: the transform's error is relative to the rest.
func (l *ladder) kernel(law massLaw, up bool) (*kernel, error) {
	n := l.n * l.fine
	clear(l.out)
	at0, sum := 0.0, 0.0
	for i, p := range law.mass {
		x := float64(law.index[i]) * l.step / float64(l.fine)
		round := 8 * xmath.U * (2 + math.Abs((l.tilt-1)*x))
		if !up {
			round = -round
		}
		p *= math.Exp((l.tilt-1)*x) * (1 + round)
		sum += p
		switch j := law.index[i]; {
		case j == 0:
			at0 += p
		case 2*j >= n || 2*j <= -n:
			return nil, fmt.Errorf("a loss of %.3g is beyond the lattice", x)
		default:
			l.out[(j+n)%n] += p
		}
	}
	square := 0.0
	for _, p := range l.out {
		square += p * p
	}
	k := &kernel{freq: l.dense.Coefficients(nil, l.out), sum: sum * (1 + float64(len(law.mass))*xmath.U), inf: law.inf}
	for i := range k.freq {
		k.freq[i] += complex(at0, 0)
	}
	k.err = (gonumfft.Eta(n)*math.Sqrt(float64(n)*square)*(1+1e-6) + 4*xmath.U*sum) / sum
	return k, nil
}

// raise sets power to that of the kernel for a number of steps, and returns the power of its sum, from above, and the error
// of a frequency relative to that.
//
// A product of two complex numbers is off by √5 u of itself. A frequency is off by e relative to the sum; a square then by
// 2e + e² + √5 u, which after all squares and products is at most (1 + e + 3u)^steps − 1.
func (l *ladder) raise(k *kernel, steps int64) (sum, err float64) {
	for i, z := range k.freq {
		v := complex(1, 0)
		for b := steps; b > 0; b >>= 1 {
			if b&1 == 1 {
				v *= z
			}
			z *= z
		}
		l.power[i] = v
	}
	e := k.err + 2*3*xmath.U
	log := float64(steps) * xmath.Log(k.sum)
	return math.Exp(log) * (1 + 8*xmath.U*(2+math.Abs(log)+float64(steps))), math.Expm1(float64(steps) * math.Log1p(e))
}

// apply multiplies the transform of masses, by node and already multiplied by β^tilt, by power. It returns the products' masses
// on the finer lattice, times β^tilt, from index 0 on, those of negative losses at the end; and how far each may be off.
func (l *ladder) apply(masses []float64, sum, err float64) (out []float64, off float64) {
	clear(l.nodes)
	square := 0.0
	for i, m := range masses {
		l.nodes[(i-l.low+l.n)%l.n] += m
		square += m * m
	}
	l.coarse.Coefficients(l.spectrum, l.nodes)
	for i := range l.product {
		// The transform of masses at every fine-th point is periodic.
		j := i % l.n
		var z complex128
		if j <= l.n/2 {
			z = l.spectrum[j]
		} else {
			z = l.spectrum[l.n-j]
			z = complex(real(z), -imag(z))
		}
		l.product[i] = z * l.power[i]
	}
	l.dense.Sequence(l.out, l.product)
	n := float64(len(l.out))
	for i := range l.out {
		l.out[i] /= n
	}
	// In 2-norms: the transform of the masses is off by eta, each of its products by err and its rounding, relative to
	// the largest of power; and the transform back by eta. A component is at most a norm.
	eta := gonumfft.Eta(l.n) + gonumfft.Eta(len(l.out)) + err + 8*xmath.U
	return l.out, eta * (1 + 1e-6) * math.Sqrt(square) * sum
}

// gather returns masses c_j at nodes j = 1..top, from masses on the finer lattice: each goes to the nodes around it in the
// shares that keep mass and mean, which is the chord. off is added to each, for an upper bound; or taken away.
func (l *ladder) gather(out []float64, off float64) []float64 {
	c := make([]float64, l.top+1)
	share, back := make([]float64, l.fine), make([]float64, l.fine)
	for r := range share {
		x := float64(r) * l.step / float64(l.fine)
		share[r] = math.Expm1(x) / math.Expm1(l.step)
		back[r] = math.Exp(-l.tilt * x)
	}
	for j := range c {
		w := 1 / l.weight[j+l.low]
		for r := range share {
			m := out[j*l.fine+r]
			if off >= 0 {
				m = max(m, 0)
			}
			m = (m + off) * w * back[r]
			c[j] += m * (1 - share[r])
			if j < l.top {
				c[j+1] += m * share[r]
			}
		}
	}
	c[0] = 0 // what symmetry says
	return c
}
