// The product of the transforms of all terms, at the frequencies that count.
//
// It assumes tilted laws on lattices of one step. It keeps, beside the values, all that bounds their
// errors: of the masses, the transform, the powers, and what is left out (docs/theory/accuracy.md §6, §7).

package lattice

import (
	"math"
	"math/cmplx"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A composition is the transform of the convolution of several tilted laws at
// the frequencies that count, ready to be read at any ε near its centre.
type composition struct {
	theta, step float64
	n           int64
	freqs       []freq

	// TK = Σ T_j K_j and the position Σ T_j(o_j + c_jΔ) of index 0, both as
	// unevaluated double-length sums.
	tk, origin xmath.Sum

	energy   float64 // Σ_j E_j T_j, for the FFT's error (docs/theory/accuracy.md §7)
	rho      float64 // Σ_j T_j ρ_j: the relative error of the tilted masses
	spill    float64 // Σ_j T_j R_j: error of masses too small for ρ_j
	dropped  bool
	right    []rightTail
	infinite xmath.Union // that some loss is infinite
	logMass  float64     // bound of the log of the untilted P-mass of all copies
	mass     float64     // Σ_j T_j log Σx_j: log of the tilted mass, about 0
	reach    float64     // Σ_j T_j |losses|, for the rounding of the origin
}

// A freq is one kept frequency of the product of all terms. Until finish, re
// holds Σ log|z|, im the phase and abs Σ log ζ.
type freq struct {
	k      int64
	re, im float64 // the product of powers
	abs    float64 // its modulus with every factor inflated by its error
	b      float64 // Σ_j E_j T_j/ζ_j²
	pow    float64 // relative error of the powers

	// sin(ω/2) and sin ω of the frequency ω = 2πk/n.
	sinHalf, sin float64
}

// A rightTail is a Chernoff bound: log μ(l ≥ x) ≤ logM − s·x.
type rightTail struct{ s, logM float64 }

// begin collects what does not depend on the transform, and the tilted laws.
// Tilts at which the right tail is to be bounded are given by their excess over
// theta. Without spectra, no loss is finite.
func begin(terms []term, theta float64, n int64, excess []float64) (*composition, []spectrum) {
	c := &composition{theta: theta, step: terms[0].law.Step, n: n}
	c.right = make([]rightTail, len(excess))
	for i, s := range excess {
		c.right[i].s = s
	}
	spectra := make([]spectrum, 0, len(terms))
	empty := false
	for _, t := range terms {
		l := t.law
		c.infinite.Add(l.LogPInf, t.count, 4*xmath.U*(2-l.LogPInf))
		if len(l.Loss) == 0 {
			// All of an upper law may be at +∞; a lower law is empty when its steps say
			// nothing. Either way only the mass at +∞ is left.
			empty = true
			continue
		}
		k, mean, _ := l.Tilted(theta)
		centre := int64(math.Round((mean - l.Offset) / l.Step))
		sp, rho, spill := newSpectrum(t, theta, k, centre)
		spectra = append(spectra, sp)
		// Folded masses add up in one bin, with one rounding each.
		rho += xmath.U * (2 + float64((l.Index[len(l.Index)-1]-l.Index[0])/n))
		c.tk.AddProduct(t.count, k)
		c.origin.AddProduct(t.count, l.Offset)
		// centre·count may pass 2^53: multiply by the step first, exactly.
		p := float64(centre) * l.Step
		c.origin.AddProduct(t.count, p)
		c.origin.AddProduct(t.count, math.FMA(float64(centre), l.Step, -p))
		c.reach += t.count * (math.Abs(l.Offset) + math.Abs(p))
		c.rho += t.count * rho
		c.spill += t.count * spill
		k0, err0 := l.K(0)
		c.logMass += t.count * max(0, k0+err0)
		c.mass += t.count * math.Log1p(max(sp.excess, -1))
		for i, s := range excess {
			ks, err := l.K(theta + s)
			c.right[i].logM += t.count * (ks - k + err + 2*rho)
		}
	}
	if empty {
		return c, nil
	}
	return c, spectra
}

// finish turns the logarithms of the kept products into values.
func (c *composition) finish() {
	for i := range c.freqs {
		f := &c.freqs[i]
		m := math.Exp(f.re)
		sin, cos := math.Sincos(f.im)
		f.re, f.im, f.abs = m*cos, m*sin, math.Exp(f.abs)*(1+1e-12)
		f.pow += 8 * xmath.U * (1 + math.Abs(xmath.Log(max(m, 1e-300))))
		f.sinHalf = math.Sin(math.Pi * float64(f.k) / float64(c.n))
		f.sin = math.Sin(2 * math.Pi * float64(f.k) / float64(c.n))
	}
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
