// The transform of a lattice law: a positive measure on finitely many losses, whose
// numbers are exact by definition. It takes losses and log-masses as floats and returns
// log M with what the arithmetic here loses.
//
// With p the masses over their total, p∞ that at +∞,
//
//	M(z) − 1 = −p∞ + Σ p·(e^{zl} − 1),
//
// whose terms are of the first order in the loss. They cancel to the second order, and the
// error, a few u of Σp|e^{zl} − 1|, is therefore not relative to log M. It cannot be: a law
// that is not exactly the profile has terms of first order, too, which nothing but its
// numbers knows. For T losses of the size 1/√T it is √T·u in all.
//
// It assumes nothing of the law but that it is finite.

package transform

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Points is the transform of such a measure divided by its total mass, which makes it a
// probability. Its Excess is the logarithm of the total.
type Points struct {
	loss, logP, p  []float64 // masses over the total, and their logarithms
	errP           float64   // relative error of all masses by that of the total
	pInf, qInf     float64
	errPInf        float64
	excess, errExc float64
	reversed       bool // of (Q, P): masses e^{logP−l}, losses −l
}

// NewPoints returns the transform of a measure with the masses e^logMass at finite losses
// and e^logPInf at +∞, of positive total.
//
// The measure need not be a probability, nor Σm·e^{−l} ≤ 1: a law above or below a profile
// may have more or less. Composing T copies multiplies every δ of Points by e^{T·Excess}.
func NewPoints(losses, logMass []float64, logPInf float64) *Points {
	var total xmath.Sum
	total.Add(math.Exp(logPInf))
	for _, l := range logMass {
		total.Add(math.Exp(l))
	}
	m := &Points{excess: xmath.Log(total.Value())}
	// exp 2u a term, the sum 2u, the logarithm 2u of itself.
	m.errExc = xmath.U * (4 + 2*math.Abs(m.excess))
	m.errP = m.errExc * (1 + m.errExc)
	x := logPInf - m.excess
	if m.pInf = math.Exp(x); !math.IsInf(logPInf, -1) {
		// It may underflow, but there is some.
		m.pInf = max(m.pInf, math.SmallestNonzeroFloat64)
		m.errPInf = m.pInf*(m.errP+xmath.U*(3+math.Abs(x))) + math.SmallestNonzeroFloat64
	}
	var gap xmath.Sum
	for i, l := range losses {
		x := logMass[i] - m.excess
		if math.IsInf(x, -1) {
			continue
		}
		m.loss, m.logP, m.p = append(m.loss, l), append(m.logP, x), append(m.p, math.Exp(x))
		gap.Add(scaledExpm1(x, -l))
	}
	// 0 would say that M(−1) is 1 to the last digit.
	if m.qInf = m.pInf - gap.Value(); m.qInf == 0 {
		m.qInf = math.SmallestNonzeroFloat64
	}
	return m
}

// scaledExpm1 returns e^x(e^a − 1).
func scaledExpm1(x, a float64) float64 {
	if a > 1 {
		return math.Exp(x+a) - math.Exp(x)
	}
	return math.Exp(x) * math.Expm1(a)
}

// Excess returns the logarithm of the total mass of the measure, and the bound of its
// error. The measure of T copies is e^{T·Excess} times what this transform describes.
func (m *Points) Excess() (excess, err float64) { return m.excess, m.errExc }

// Strip implements Transform: the loss is bounded.
func (m *Points) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform. 1 − M(−1) may be negative.
func (m *Points) Infinite() (pInf, qInf float64) {
	if m.reversed {
		return m.qInf, m.pInf
	}
	return m.pInf, m.qInf
}

// Reverse implements Transform.
func (m *Points) Reverse() Transform {
	r := *m
	r.reversed = !m.reversed
	return &r
}

// Real implements Transform.
func (m *Points) Real(s float64) (k, slope, err float64) {
	v, e := m.line(s, 0, 0)
	if e != nil {
		return math.NaN(), math.NaN(), math.Inf(1)
	}
	k, _, err = v.LogM(0)
	return k, v.slope, err
}

// Line implements Transform.
func (m *Points) Line(_ context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	if err := checkLine(m, theta, tMax); err != nil {
		return nil, err
	}
	return m.line(theta, tMax, tol)
}

// pointsLine is the transform on one line.
type pointsLine struct {
	theta, tMax float64
	near        bool    // D = M − 1 is summed; else M over e^shift
	shift       float64 // 0 if near
	d, err      float64 // D(θ), or M(θ)e^{−shift}, and its error
	slope, top  float64
	w, l        []float64 // tilted masses over e^shift, and losses, of the points kept
	// Σ over the points kept of eW, eW|l|, ½eWl² and 4uW|l|, and over those left out of
	// 2W and W|l|.
	e0, e1, e2, phase, d0, d1 float64
}

// shiftFrom is how far log M may be from 0 for M − 1 to be summed.
const shiftFrom = 0.5 // steers: which sum is taken

var errNoPoints = errors.New("losses: none is finite, so that M is 0")

func (m *Points) line(theta, tMax, tol float64) (*pointsLine, error) {
	const u = xmath.U
	if len(m.loss) == 0 {
		return nil, errNoPoints
	}
	v := &pointsLine{theta: theta, tMax: tMax}
	// The exponent a of e^{θL}, and what it may be off by.
	power := func(l float64) (a, abs float64) {
		a = theta * l
		if m.reversed {
			return -a - l, 2*math.Abs(a) + 2*math.Abs(l)
		}
		return a, math.Abs(a)
	}
	var d, slope xmath.Sum
	tilted := make([]float64, len(m.loss))
	top, wrong := math.Inf(-1), m.errPInf
	for i, l := range m.loss {
		x := m.logP[i]
		a, abs := power(l)
		top = max(top, x+a)
		// An exact term is p(e^a − 1). The masses are off by errP and u(2 + |x|), expm1 and the
		// product by 3u, the sum by 2u; e^a by u·abs.
		p := m.p[i]
		grow := math.Expm1(a)
		w := p + p*grow
		if a < -0.5 {
			w = p * math.Exp(a)
		}
		tilted[i] = w
		d.Add(p * grow)
		slope.Add(w * l)
		wrong += math.Abs(p*grow)*(m.errP+u*(10+math.Abs(x))) + w*u*1.01*abs
	}
	v.d = d.Value() - m.pInf
	v.near = math.Abs(math.Log1p(v.d)) < shiftFrom
	v.err = wrong*(1+1e-9) + 2*u*math.Abs(v.d) + 2*u*m.pInf
	if !v.near {
		var s xmath.Sum
		for i, l := range m.loss {
			a, _ := power(l)
			s.Add(math.Exp(m.logP[i] + a - top))
		}
		v.shift = top + xmath.Log(s.Value())
		if math.IsNaN(v.shift) || math.IsInf(v.shift, 0) {
			return nil, errors.New("theta: M is out of the range of numbers")
		}
		d, slope = xmath.Sum{}, xmath.Sum{}
		wrong = 0
		for i, l := range m.loss {
			x := m.logP[i]
			a, abs := power(l)
			w := math.Exp(x + a - v.shift)
			tilted[i] = w
			d.Add(w)
			slope.Add(w * l)
			wrong += w * (m.errP + u*(10+2*math.Abs(x)+2*abs+2*math.Abs(v.shift)))
		}
		v.d, v.err = d.Value(), wrong*(1+1e-9)
	}
	if v.slope = slope.Value() / (v.d + b2f(v.near)); m.reversed {
		v.slope = -v.slope
	}
	k, _, err := v.LogM(0)
	if v.top = k; !math.IsInf(err, 1) {
		v.top += err
	}
	if tMax > 0 {
		v.keep(m, tilted, power, tol)
	}
	return v, nil
}

// keep collects what sums over t > 0 need, and leaves out points that carry nothing.
func (v *pointsLine) keep(m *Points, tilted []float64, power func(l float64) (a, abs float64), tol float64) {
	const u = xmath.U
	small := max(tol, u) / 16 / float64(len(tilted)) * math.Exp(min(0, v.top-v.shift))
	for i, w := range tilted {
		l := m.loss[i]
		abs := math.Abs(l)
		if w*(2+v.tMax*abs) < small {
			v.d0, v.d1 = v.d0+2*w, v.d1+w*abs
			continue
		}
		x := m.logP[i]
		_, far := power(l)
		e := w * (m.errP + u*(20+2*math.Abs(x)+2*far+2*math.Abs(v.shift)))
		v.w, v.l = append(v.w, w), append(v.l, l)
		v.e0 += e
		v.e1 += e * abs
		v.e2 += e * l * l / 2
		v.phase += 4 * u * w * abs
	}
	if m.reversed {
		for i := range v.l {
			v.l[i] = -v.l[i]
		}
	}
	const up = 1 + 1e-9 // plain sums
	v.e0, v.e1, v.e2, v.phase, v.d0, v.d1 = v.e0*up, v.e1*up, v.e2*up, v.phase*up, v.d0*up, v.d1*up
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Terms implements Line.
func (v *pointsLine) Terms(n int) float64 { return float64(len(v.w)) * float64(n) }

// LogM implements Line: D(θ+it) = D(θ) − 2ΣW·sin²(tl/2) + iΣW·sin(tl), and so for M over
// e^shift. A relative error e of W moves the two sums by at most ΣeW·min(2, t|l|, ½(tl)²)
// and ΣeW·min(1, t|l|); the argument of a sine is off by u of itself.
func (v *pointsLine) LogM(t float64) (re, im, err float64) {
	if t > v.tMax {
		return v.Decay(t), 0, math.Inf(1)
	}
	wrong := v.err + v.d0 + t*v.d1 + min(2*v.e0, t*v.e1, t*t*v.e2) + min(v.e0, t*v.e1) + t*v.phase
	var x, y float64
	if t > 0 {
		var c, s xmath.Sum
		for i, l := range v.l {
			sin, cos := math.Sincos(t * l / 2)
			c.Add(v.w[i] * sin * sin)
			s.Add(v.w[i] * sin * cos)
		}
		x, y = 2*c.Value(), 2*s.Value()
	}
	if v.near {
		return logOfSum(v.d-x, y, wrong)
	}
	re, im, err = logOf(v.d-x, y, wrong)
	return re + v.shift, im, err + 2*xmath.U*(math.Abs(re)+math.Abs(v.shift))
}

// Decay implements Line: the waves of finitely many losses come back.
func (v *pointsLine) Decay(t float64) float64 { return v.top }
