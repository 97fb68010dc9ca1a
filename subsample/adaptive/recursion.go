package adaptive

import (
	"context"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The recursion over data configurations (docs/theory/subsampling.md §10). G_k(α), the largest
// hockey-stick divergence of k-step adaptive protocols, satisfies
//
//	G_k(α) = sup over configurations of E_P[G_{k−1}(αe^{−L})],  G_0 = (1−α)₊;
//
// it is convex, decreasing, and symmetric, G(α) = 1 − α + αG(1/α), as the
// relation is. Replacing the configurations by laws that dominate them gives
// upper bounds, by laws of concrete data sets below them a concrete attack.

// A recursion runs G on α = e^{i·step}, i = 0..top, multiplied by e^{cx}: with c
// the slope of −log δ where δ is asked, what is transformed is level there and
// the transform's error is small relative to δ.
type recursion struct {
	step  float64
	c     float64
	laws  []massLaw
	join  func(values [][]float64, g []float64) // sets G, given each law's expectations
	upper bool                                  // round up, else down
	joint *joint                                // that join is of, nil if it is a mere maximum
}

// perPoint and perValue are what a point of a law's transform takes and a member's value at one, measured,
// in the unit of parallel.WithWork. They decide where a limit ends a recursion, and prove nothing.
const (
	perPoint = 2.5
	perValue = 0.25
)

// compared returns the work of the comparisons since it was asked last.
func (r recursion) compared() float64 {
	if r.joint == nil {
		return 0
	}
	return perValue * float64(r.joint.values.Swap(0))
}

// size is how many lattice points a transform holds, with losses of a step up to reach and down to −low, of which
// those below −cut count as −cut.
func (r recursion) size(top, reach, low int) (size, cut int) {
	// G decreases, so that a loss below −cut may count as −cut, or be left out of a
	// lower bound; it is rare, and G there is e^−5 times that at 0.
	cut = low
	if r.c > 0 {
		cut = int(min(float64(low), 5/(r.c*r.step)+1))
	}
	return top + cut + reach + 1, cut
}

// stepPrice is what the transforms of a step take.
func stepPrice(size, laws int) float64 {
	return perPoint * float64(gonumfft.Length(size)) * float64(laws+1)
}

// run replaces G by G after k more steps. What g holds after an error, that of a
// cancelled context, is of no use.
// It is long because the buffers of all steps are made once, before the loop over them.
func (r recursion) run(ctx context.Context, g []float64, k int64) error {
	top := len(g) - 1
	reach, low := 0, 0
	for _, l := range r.laws {
		for _, i := range l.index {
			reach, low = max(reach, i), max(low, -i)
		}
	}
	size, cut := r.size(top, reach, low)
	n := gonumfft.Length(size)
	eta := gonumfft.Eta(n)
	fft := fourier.NewFFT(n)
	freq := make([][]complex128, len(r.laws))
	buf := make([]float64, n)
	// A law's transform has an error of eta relative to its 2-norm (see gonumfft.Eta), each
	// of the others relative to what they transform.
	spread := 0.0
	for i, l := range r.laws {
		clear(buf)
		for j, p := range l.mass {
			at := l.index[j]
			if at < -cut {
				if !r.upper {
					continue
				}
				at = -cut
			}
			buf[(at+n)%n] += p * math.Exp(r.c*float64(at)*r.step)
		}
		sum, square := 0.0, 0.0
		for _, v := range buf {
			sum += v
			square += v * v
		}
		spread = max(spread, 3*sum+math.Sqrt(float64(n)*square))
		freq[i] = fft.Coefficients(nil, buf)
	}
	weight := make([]float64, size) // of index i − reach
	for i := range weight {
		weight[i] = math.Exp(r.c * float64(i-reach) * r.step)
	}
	scale := make([]float64, top+1) // of what a transform returns
	for i := range scale {
		scale[i] = 1 / float64(n) / weight[i+reach]
	}
	alpha, minus := make([]float64, reach+1), make([]float64, reach+1) // α and 1 − α
	for i := range alpha {
		x := -float64(i) * r.step
		alpha[i], minus[i] = math.Exp(x), -math.Expm1(x)
	}
	out := make([][]float64, len(r.laws))
	for i := range out {
		out[i] = make([]float64, n)
	}
	f := make([]complex128, n/2+1)
	back := make([]*fourier.FFT, len(r.laws)) // a plan serves one goroutine
	z := make([][]complex128, len(r.laws))
	for i := range back {
		back[i], z[i] = fourier.NewFFT(n), make([]complex128, n/2+1)
	}
	// Weights, α and masses have relative errors of a few u times their exponents.
	rounding := 32 * xmath.U * (4 + (1+r.c)*float64(size)*r.step)
	sign := 1.0
	if !r.upper {
		sign = -1
	}
	price := stepPrice(size, len(r.laws))
	if _, left := parallel.Work(ctx); float64(k)*price > left {
		return parallel.ErrWork
	}
	for done := range k {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := parallel.Spend(ctx, price+r.compared()); err != nil {
			return err
		}
		clear(buf)
		norm := 0.0
		for i := range weight {
			var v float64
			switch j := i - reach; {
			case j > top && r.upper:
				v = g[top]
			case j > top: // at least 0
			case j >= 0:
				v = g[j]
			case -j > top && !r.upper:
				v = minus[-j]
			default:
				v = minus[-j] + alpha[-j]*g[min(-j, top)]
			}
			v *= weight[i]
			norm += v * v
			buf[(i-reach+n)%n] = v
		}
		fft.Coefficients(f, buf)
		parallel.Do(len(r.laws), func(l int) {
			for i, v := range f {
				z[l][i] = v * freq[l][i]
			}
			back[l].Sequence(out[l], z[l])
			for i := range g {
				out[l][i] = out[l][i]*scale[i] + r.laws[l].inf
			}
		})
		slack := eta * math.Sqrt(norm) * spread
		r.join(out, g)
		for i, v := range g {
			v = v*(1+sign*rounding) + sign*slack/weight[i+reach]
			switch {
			case r.upper:
				g[i] = max(0, v) // or no number, which Upper refuses
			case v > 0:
				g[i] = v
			default: // an overflow too
				g[i] = 0
			}
		}
		if done%64 == 63 || done == k-1 {
			parallel.Progress(ctx, done+1)
		}
	}
	return nil
}
