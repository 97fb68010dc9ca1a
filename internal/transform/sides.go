// One side of a mixture, P or Q: its density at a node, and the shares that its means have there, which all lines turn.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A side is P or Q of a mixture. Its means are sign·n, n = 0 … len−1; their likelihood ratio to mean 0 is e^v at lattice point d,
// v = sign·n·d + offset[n].
type side struct {
	sign         float64
	logW, w, err []float64 // weights; relative errors, those of their logarithms included
	offset       []float64
	inv2, sigErr float64 // of the mixture
}

// newSide returns a side of so many means, with a weight for the first.
func (m *mixture) newSide(sign float64, means int, logW0, err0 float64) side {
	s := side{sign: sign, inv2: m.inv2, sigErr: m.sigErr, logW: make([]float64, means), w: make([]float64, means), err: make([]float64, means), offset: make([]float64, means)}
	for n := range s.logW {
		c := sign * float64(n)
		s.logW[n], s.offset[n] = math.Inf(-1), c*(m.x0-c/2)*m.inv2
	}
	s.logW[0], s.w[0], s.err[0] = logW0, math.Exp(logW0), err0+u*(2+2*math.Abs(xmath.Finite(logW0)))
	return s
}

// set sets the weight of mean sign·n, if it is one of the side. The exponential of its logarithm rounds, too.
func (s *side) set(n int, logW, err float64) {
	if n > 0 && n < len(s.logW) && !math.IsInf(logW, -1) {
		s.logW[n], s.w[n], s.err[n] = logW, math.Exp(logW), err+u*(3+2*math.Abs(logW))
	}
}

// exponent returns v of mean sign·n at lattice point d, and the bound of its error. An error of σ moves it by that
// much of dv/dlog(1/σ) = v − n²/(2σ²), the outcome (x/σ) held fixed.
func (s *side) exponent(n int, d float64) (v, err float64) {
	c := s.sign * float64(n)
	v = c*d + s.offset[n]
	if n > 1 || s.offset[n] != 0 { // else it is exact
		err = u * (math.Abs(v) + math.Abs(c*d) + 5*math.Abs(s.offset[n]))
	}
	if s.sigErr > 0 {
		err += s.sigErr * (math.Abs(v) + c*c*s.inv2/2)
	}
	return v, err
}

// A window is the shares of a side at a node: w[i] is that of mean at + sign·(i − top), the largest w[top], and they sum to 1. What is
// left out has shares below e^negligible of the largest.
type window struct {
	sign, at     float64
	top          int
	w            []float64
	two          [2]float64 // keeps w where there are no more
	mean, second float64    // E[c − at] and E(c − at)²
	dv           float64    // bounds the errors of the logarithms of the shares, but for a common one
}

var single = window{sign: 1, w: []float64{1}}

// at returns the shares at lattice point d, and the logarithm of the density over that of mean 0 with the bound of its error.
//
// The logarithm l of a share, not divided by their sum, is v with its error and that of the weight; it rounds, and so does its difference
// from the largest, by u of both, of which each has a u to spare. Exponentials round by 4u with their sum.
func (s *side) at(d float64) (x *window, log, err float64) {
	if len(s.logW) == 1 {
		return &single, 0, 0
	}
	var few [4]float64
	logs, top := few[:0], 0
	for n := range s.logW {
		v, _ := s.exponent(n, d)
		if logs = append(logs, v+s.logW[n]); logs[n] > logs[top] {
			top = n
		}
	}
	lo, hi, most := 0, len(logs)-1, logs[top]
	for logs[lo]-most < negligible {
		lo++
	}
	for logs[hi]-most < negligible {
		hi--
	}
	x = &window{sign: s.sign, at: s.sign * float64(top), top: top - lo}
	if x.w = x.two[:]; hi-lo > 1 {
		x.w = make([]float64, hi-lo+1)
	}
	x.w = x.w[:hi-lo+1]
	var sum, wrong, first, second float64
	for i := range x.w {
		l := logs[lo+i]
		if math.IsInf(l, -1) {
			continue
		}
		_, dv := s.exponent(lo+i, d)
		w, k := math.Exp(l-most), float64(i-x.top)
		e := s.err[lo+i] + dv + 2*u*(math.Abs(l)+math.Abs(s.logW[lo+i]))
		x.w[i] = w
		sum += w
		wrong += w * (e + 4*u)
		first += w * k
		second += w * k * k
		x.dv = max(x.dv, e)
	}
	for i := range x.w {
		x.w[i] /= sum
	}
	x.mean, x.second = s.sign*first/sum, second/sum
	log = most + xmath.Log(sum)
	means := float64(len(s.logW))
	return x, log, logError(wrong/sum+means*negligibleShare) + u*(means+2*math.Abs(log)+2*math.Abs(most)+2)
}

// excess returns Σ w_n(e^{v_n} − 1), the density over that of mean 0 less 1, and the bound of its error; ok is false where
// that is out of range.
func (s *side) excess(d float64) (sum, err float64, ok bool) {
	for n := 1; n < len(s.logW); n++ {
		v, dv := s.exponent(n, d)
		if v > 500 {
			return 0, 0, false
		}
		e := math.Expm1(v)
		sum += s.w[n] * e
		err += s.w[n] * (math.Abs(e)*(s.err[n]+4*u) + (1+e)*dv)
	}
	return sum, err * (1 + float64(len(s.logW))/4), true
}

// turn returns the turn of the shares by the angle of the table, those of real zeros followed by whole turns.
//
// With S = Σ w sin²(a(c−at)/2) and I = Σ w sin(a(c−at)) their sum is 1 − 2S + iI, |·|² = 1 − 4S + 4S² + I².
func (x *window) turn(t *angles, realZeros bool) turn {
	if len(x.w) == 1 {
		return turn{component: x.at}
	}
	var s2, s1 float64
	for i, w := range x.w[x.top:] {
		s2 += w * t.sin2[i]
		s1 += w * t.sin[i]
	}
	for i, w := range x.w[:x.top] {
		s2 += w * t.sin2[x.top-i]
		s1 -= w * t.sin[x.top-i]
	}
	s1 *= x.sign
	mod := min(0, 0.5*math.Log1p(s1*s1-4*s2*(1-s2)))
	out := turn{logMod: mod, logLow: mod, component: x.at, rest: math.Atan2(s1, 1-2*s2), second: x.second * (1 + 1e-14)}
	if realZeros {
		out.settle(t, x.mean, x.second)
	}
	return out
}
