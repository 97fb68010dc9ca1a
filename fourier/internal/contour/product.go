// The product of the transforms of laws on one lattice, at the frequencies that count.
//
// It assumes tilted laws, and the bound Eta of the transform's error. It keeps, beside the values, all that bounds their
// errors: of the masses, the transform, the powers, and what is left out (docs/theory/accuracy.md §7).

package contour

import (
	"context"
	"math"
	"math/cmplx"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A freq is one kept frequency of the product of all laws: Σ log|z|, the phase and Σ log ζ. Once finished, re and im are
// the term of the sum at a lattice point, over its part that all share, and next those at the lattice point above.
type freq struct {
	k            int64
	re, im       float64
	abs          float64 // the modulus of the product, with every factor inflated by its error
	b            float64 // Σ_j E_j T_j/ζ_j²
	pow          float64 // relative error of the powers
	nextR, nextI float64
}

// tilt collects what does not depend on the transform, and returns the tilted laws.
func (f *folded) tilt(factors []Factor) []spectrum {
	spectra := make([]spectrum, len(factors))
	for i, x := range factors {
		l, count := x.Transform.(*Law), float64(x.Count)
		k, mean, _ := l.Tilted(f.theta)
		centre := int64(math.Round((mean - l.Offset) / l.Step))
		sp, rho, spill := newSpectrum(l.Law, count, f.theta, k, centre)
		spectra[i] = sp
		// Folded masses add up in one bin, with one rounding each.
		rho += xmath.U * (2 + float64((l.Index[len(l.Index)-1]-l.Index[0])/f.n))
		f.label.AddProduct(count, k)
		f.label.AddProduct(-count, l.Excess)
		f.origin.AddProduct(count, l.Offset)
		// centre·count may pass 2^53: multiply by the step first, exactly.
		p := float64(centre) * l.Step
		f.origin.AddProduct(count, p)
		f.origin.AddProduct(count, math.FMA(float64(centre), l.Step, -p))
		f.reach += count * (math.Abs(l.Offset) + math.Abs(p))
		f.rho += count * (rho + l.ExcessErr)
		f.spill += count * spill
		f.mass += count * math.Log1p(max(0, sp.excess))
	}
	return spectra
}

// multiply multiplies the transforms of all laws; false when the question must end.
func (f *folded) multiply(ctx context.Context, spectra []spectrum, fft FFT) bool {
	n := int(f.n)
	eta := fft.Eta(n)
	x := make([]float64, n)
	for j, sp := range spectra {
		clear(x)
		norm := 0.0
		for i, v := range sp.x {
			k := sp.d[i] % f.n
			if k < 0 {
				k += f.n
			}
			x[k] += v
		}
		for _, v := range x {
			norm += v * v
		}
		e2 := eta * math.Sqrt(float64(n)*norm*(1+1e-9)) * (1 + eta)
		f.energy += e2 * sp.count
		var z []complex128
		if !meter.Await(ctx, func() { z = fft.Coefficients(x) }) {
			return false
		}
		if j == 0 {
			f.start(ctx, z, sp.count, e2)
		} else {
			f.times(ctx, z, sp.count, e2)
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return true
}

// start keeps the frequencies at which the first power is not negligible.
func (f *folded) start(ctx context.Context, z []complex128, count, e2 float64) {
	// Most frequencies are dropped: compare squares before taking logarithms.
	// |z| + e ≥ limit is necessary for count·log(|z|+e) ≥ dropLog.
	limit := math.Exp(dropLog/count)*(1-1e-12) - e2
	sq := limit * limit
	if limit < 0 {
		sq = -1
	}
	f.freqs = f.freqs[:0]
	for k, v := range z {
		if k&0xffff == 0 && ctx.Err() != nil {
			return
		}
		if real(v)*real(v)+imag(v)*imag(v) < sq {
			f.dropped = true
			continue
		}
		f.freqs = append(f.freqs, freq{k: int64(k)})
		if !f.freqs[len(f.freqs)-1].times(v, count, e2) {
			f.freqs = f.freqs[:len(f.freqs)-1]
			f.dropped = true
		}
	}
}

// times multiplies by one more power.
func (f *folded) times(ctx context.Context, z []complex128, count, e2 float64) {
	kept := f.freqs[:0]
	for i, p := range f.freqs {
		if i&0xffff == 0 && ctx.Err() != nil {
			return
		}
		if p.times(z[p.k], count, e2) {
			kept = append(kept, p)
		} else {
			f.dropped = true
		}
	}
	f.freqs = kept
}

// polar returns log|z| and the phase of z, and a bound on the error of the power
// z^T per unit of T (docs/theory/accuracy.md §7): log|z| = ½log1p(|z|²−1) loses nothing near
// |z| = 1.
func polar(z complex128) (logAbs, phase, err float64) {
	if z == 0 {
		return math.Inf(-1), 0, 0 // what z may be instead is ζ's business
	}
	a, b := real(z), imag(z)
	phase = math.Atan2(b, a)
	r2 := math.FMA(a-1, a+1, b*b)
	if r2 > -0.5 {
		logAbs = 0.5 * math.Log1p(r2)
		return logAbs, phase, xmath.U * (3*b*b + 4*math.Abs(r2) + 4*math.Abs(phase) + 2*math.Abs(logAbs))
	}
	logAbs = xmath.Log(cmplx.Abs(z))
	return logAbs, phase, xmath.U * (4 + 4*math.Abs(phase) + 4*math.Abs(logAbs))
}

// times multiplies by z^count; false when the product is negligible.
func (f *freq) times(z complex128, count, e2 float64) bool {
	logAbs, phase, err := polar(z)
	zeta := cmplx.Abs(z) + e2
	// log ζ, with ζ slightly above |z| near 1: keep log1p's accuracy.
	f.abs += count * (logAbs + math.Log1p(e2/max(cmplx.Abs(z), math.SmallestNonzeroFloat64))*(1+1e-12))
	if math.IsInf(logAbs, -1) {
		f.abs = count * xmath.Log(zeta)
	}
	if f.abs < dropLog {
		return false
	}
	f.re += count * logAbs
	f.im = addAngle(f.im, count, phase)
	f.b += e2 * count / (zeta * zeta)
	f.pow += count*err + 64*xmath.U
	return true
}

// addAngle returns a + count·phase reduced by 2π, the product in double length.
func addAngle(a, count, phase float64) float64 {
	const twoPiHi, twoPiLo = 6.283185307179586, 2.4492935982947064e-16
	p := count * phase
	e := math.FMA(count, phase, -p)
	q := math.Round(p / twoPiHi)
	r := math.FMA(-q, twoPiHi, p)
	r = math.FMA(-q, twoPiLo, r)
	return math.Remainder(a+(r+e), 2*math.Pi)
}

// timesNear multiplies by (1 + re + i·im)^count, the base known to err.
func (f *freq) timesNear(re, im, err, count float64) bool {
	r2 := math.FMA(re, 2+re, im*im)
	if r2 <= -0.75 {
		// Far from 1: the ordinary way.
		z := complex(1+re, im)
		ok := f.times(z, count, 0)
		f.pow += count * (err + 2*xmath.U) / max(math.Sqrt(1+r2), 1e-300)
		return ok
	}
	logAbs := 0.5 * math.Log1p(r2)
	phase := math.Atan2(im, 1+re)
	rel := err/math.Sqrt(1+r2) + xmath.U*(8*(math.Abs(re)+im*im)+6*math.Abs(r2)+6*math.Abs(phase)+2*math.Abs(logAbs))
	f.abs += count * (logAbs + rel)
	if f.abs < dropLog {
		return false
	}
	f.re += count * logAbs
	f.im = addAngle(f.im, count, phase)
	f.pow += count*rel + 64*xmath.U
	return true
}
