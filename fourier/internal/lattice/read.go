// δ(ε) from a composition, with a bound of every error (docs/theory/accuracy.md §6, §7).
//
// It assumes what composition.go keeps. It returns a value, a bound above and one below; these hold for
// any tilt, length and ε: where the choice was bad, they are wide.

package lattice

import (
	"math"
	"math/bits"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A reading is δ of a composition at one ε, with its error budget. All logs.
type reading struct {
	eps      float64
	logValue float64 // log of the finite part as computed
	logInf   float64 // log of the P-mass at +∞
	infErr   float64 // and its error
	slope    float64 // −d log δ/dε of the finite part
	frac     float64 // position of ε in its lattice cell, in [0, 1)
	cond     float64 // Σ|terms|/|S|

	// In units of S: round-off, and aliasing from the left and the right.
	s, roundOff, aliasLeft, aliasRight, foldRight float64
	logScale                                      float64 // δ = e^logScale·S
	relative                                      float64 // relative error of the scale and the masses
}

// read evaluates the composition at ε (docs/theory/accuracy.md §6, §7). It is long because it has each
// error beside the value that it belongs to.
func (c *composition) read(eps float64) reading {
	r := reading{eps: eps, logValue: math.Inf(-1)}
	r.logInf, r.infErr = c.infinite.Log()
	if len(c.freqs) == 0 {
		if c.dropped {
			// The tilted mass itself was lost, by a label K that is off by more than
			// 46/T: nothing is known.
			r.s, r.roundOff = math.NaN(), math.Inf(1)
		}
		return r
	}
	whole := max(0, c.mass) + 1e-9 // bounds the log of any product of transforms
	th, d, n := c.theta, c.step, float64(c.n)

	y, j0, ok := c.place(eps)
	if !ok {
		// Too far away to place ε in a lattice cell: nothing is known but δ ∈ [0, 1].
		r.s, r.roundOff = math.NaN(), math.Inf(1)
		return r
	}
	r.frac = 1 - y/d

	f := c.tk
	f.AddProduct(-th, eps)
	r.logScale = f.Value()
	yErr := 4*xmath.U*(math.Abs(y)+math.Abs(eps)*1e-16) + 1e-30*c.reach
	r.relative = c.rho*(1+1e-6) + 2*xmath.U*math.Abs(r.logScale) + 8*xmath.U + (1+th)*yErr

	top := func(s float64) float64 { return math.Exp(-s*y) * -math.Expm1(-s*n*d) }
	t0, t1 := top(th), top(th+1)
	e0, e1 := math.Exp(-th*d), math.Exp(-(th+1)*d)
	o0, o1 := -math.Expm1(-th*d), -math.Expm1(-(th+1)*d)
	// What does not decide the value is summed plainly: the errors are sums of
	// positive terms.
	var sum xmath.Sum
	var sumQ, abs, errPow, errG, normB float64
	for i := range c.freqs {
		p := &c.freqs[i]
		w := 2.0
		if p.k == 0 || 2*p.k == c.n {
			w = 1
		}
		sinH, sinW := p.sinHalf, p.sin
		// 1 − e^{−sΔ+iω} = (1−e^{−sΔ}) + 2e^{−sΔ}sin²(ω/2) − i e^{−sΔ}sin ω
		g0 := invert(o0+2*e0*sinH*sinH, -e0*sinW, t0)
		g1 := invert(o1+2*e1*sinH*sinH, -e1*sinW, t1)
		wr, wi := g0.re-g1.re, g0.im-g1.im
		zr, zi := c.turn(p, j0)
		term := w * (wr*zr - wi*zi)
		sum.Add(term)
		sumQ += w * (g1.re*zr - g1.im*zi)
		mod := math.Sqrt(wr*wr + wi*wi)
		x := w * mod * p.abs
		abs += x
		errPow += x * p.pow
		errG += w * (g0.abs() + g1.abs()) * p.abs
		normB += x * mod * p.abs * p.b
	}
	r.s = sum.Value() / n
	absS := abs / n
	r.roundOff = (math.Sqrt(c.energy*normB)+errPow+10*xmath.U*abs+(16+2*(1+th)*d)*xmath.U*errG)/n*(1+1e-9+2*xmath.U*float64(len(c.freqs))) +
		c.spill*2*math.Exp(whole)
	if c.dropped {
		// Parseval: (1/N)Σ|W|² = Σ w² over the window, at most over the half line.
		g := func(s float64) float64 { return math.Exp(-s*y) / -math.Expm1(-s*d) }
		r.roundOff += math.Exp(dropLog+whole) * math.Sqrt(max(0, g(2*th)-2*g(2*th+1)+g(2*th+2))*(1+1e-9)+1e-12*g(2*th))
	}
	r.cond = absS / math.Abs(r.s)
	r.slope = (sumQ / n) / r.s

	// Aliasing (docs/theory/accuracy.md §6).
	nd := n * d
	right := math.Inf(1)
	for _, t := range c.right {
		right = min(right, t.logM-t.s*(eps+nd)+4*xmath.U*(math.Abs(t.logM)+t.s*(math.Abs(eps)+nd)))
	}
	right = min(right, 2*c.rho+whole) // the whole mass of the tilted law
	logWMax := th*xmath.Log(th) - (1+th)*math.Log1p(th)
	r.aliasLeft = math.Exp(-th*nd-r.logScale+c.logMass) * (1 + 1e-9)
	r.aliasRight = math.Exp(right+logWMax) * (1 + 1e-9)
	r.foldRight = math.Exp(right-th*nd) * (1 + 1e-9)
	if r.s > 0 {
		r.logValue = xmath.Log(r.s) + r.logScale
	}
	return r
}

// place returns the first lattice point above ε: its distance and its index.
func (c *composition) place(eps float64) (y float64, j0 int64, ok bool) {
	gap := c.origin
	gap.Add(-eps)
	d := c.step
	q := -gap.Value() / d
	if !(math.Abs(q) < 1<<50) {
		return 0, 0, false
	}
	j := math.Floor(q) + 1
	rest := gap
	rest.AddProduct(j, d)
	y = rest.Value()
	for y <= 0 {
		y += d
		j++
	}
	for y > d {
		y -= d
		j--
	}
	j0 = int64(math.Mod(j, float64(c.n)))
	if j0 < 0 {
		j0 += c.n
	}
	return y, j0, true
}

// turn returns e^{iω j0}·Z of a frequency, the phase from k·j0 mod n in integers.
func (c *composition) turn(p *freq, j0 int64) (zr, zi float64) {
	hi, lo := bits.Mul64(uint64(p.k), uint64(j0))
	_, rem := bits.Div64(hi%uint64(c.n), lo, uint64(c.n))
	sj, cj := math.Sincos(2 * math.Pi * float64(rem) / float64(c.n))
	return cj*p.re - sj*p.im, cj*p.im + sj*p.re
}

// density returns the density of the loss over δ at a reading, interpolated
// between lattice points.
func (c *composition) density(r reading) float64 {
	y, j0, ok := c.place(r.eps)
	if !ok {
		return math.NaN()
	}
	sum := 0.0
	for i := range c.freqs {
		p := &c.freqs[i]
		w := 2.0
		if p.k == 0 || 2*p.k == c.n {
			w = 1
		}
		zr, zi := c.turn(p, j0)
		sf, cf := math.Sincos(2 * math.Pi * float64(p.k) / float64(c.n) * (y / c.step))
		sum += w * (zr*cf + zi*sf)
	}
	return sum / float64(c.n) / c.step / r.s
}

type complexPair struct{ re, im float64 }

// abs is the modulus of a number far from the ends of the float64 range.
func (z complexPair) abs() float64 { return math.Sqrt(z.re*z.re + z.im*z.im) }

// invert returns t/(a + ib).
func invert(a, b, t float64) complexPair {
	m := a*a + b*b
	return complexPair{t * a / m, -t * b / m}
}

// upper returns an upper bound of log δ, lower a lower bound.
func (r reading) upper() float64 {
	if math.IsNaN(r.s) {
		return 0
	}
	v := r.s + r.roundOff + r.foldRight
	return min(0, xmath.LogAdd(r.logInf+r.infErr, xmath.Log(max(0, v))+r.logScale+r.relative+8*xmath.U*(1+math.Abs(r.logScale)))+2*xmath.U)
}

func (r reading) lower() float64 {
	v := r.s - r.roundOff - r.aliasLeft - r.aliasRight
	x := r.logInf - r.infErr
	if v > 0 && !math.IsInf(r.roundOff, 1) {
		x = xmath.LogAdd(x, xmath.Log(v)+r.logScale-r.relative-8*xmath.U*(1+math.Abs(r.logScale)))
	}
	// δ(ε) ≥ 1 − e^ε always.
	if r.eps < 0 {
		x = max(x, xmath.Log1mExp(r.eps)-4*xmath.U)
	}
	return x - 2*xmath.U
}

// totalSlope is −d log δ/dε with the mass at +∞ counted.
func (r reading) totalSlope() float64 {
	if math.IsInf(r.logInf, -1) {
		return r.slope
	}
	return r.slope * math.Exp(r.logValue-xmath.LogAdd(r.logValue, r.logInf))
}
