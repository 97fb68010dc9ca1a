// Theorem 5 of Zhao and Liu 2023 for Laplace noise: the public choice of group
// profiles, in closed form.

package copies

import (
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// laplaceMixture is the public choice (see GroupMixture) of Laplace profiles, the u-th
// of largest loss m_u with weight w_u, m_u ascending; everything is given away
// with what is left, R. With a = |ε|, sums over m_u > a and
//
//	W = Σ w_u,  V = 1 − R − W,  X = ½ e^{a/2} Σ w_u e^{−m_u/2},  Y = X e^{−a},
//
// the tails for ε ≥ 0 are P = R + W − X, Q = Y and their complements V + X, 1 − Y;
// for ε < 0 the other way round. X ≤ W/2: no difference cancels.
type laplaceMixture struct {
	m    []float64
	logW []float64     // log w_u
	err  []float64     // of log w_u
	sums []laplaceSums // by the first m_u > a; len(m)+1
	rest float64       // log R
	sup  profiles.Support
}

// laplaceSums holds logarithms, the rounding errors of them, and what errors of
// the weights do to them.
type laplaceSums struct {
	in, decayed, out            float64 // of W, Σ w_u e^{−m_u/2}, V
	inErr, decayedErr, outErr   float64
	inLaw, decayedLaw, leastLaw float64 // leastLaw is the least error of a weight
}

// newLaplaces takes m_u to 2 u relative and log w_u to err.
func newLaplaceMixture(m, logW, err []float64, rest float64) *laplaceMixture {
	n := len(m)
	p := &laplaceMixture{m: m, logW: logW, err: err, sums: make([]laplaceSums, n+1), rest: rest}
	in, decayed, out := newLogSum(), newLogSum(), newLogSum()
	inLaw, decayedLaw, least := newLogSum(), newLogSum(), math.Inf(1)
	for k := n; k >= 0; k-- {
		if k < n {
			t := logW[k] - m[k]/2
			in.accumulate(logW[k], 0)
			decayed.accumulate(t, xmath.U*(m[k]+math.Abs(t)))
			inLaw.add(logW[k], err[k])
			decayedLaw.add(t, err[k])
			least = min(least, err[k])
		}
		s := &p.sums[k]
		s.in, s.inErr = in.value(0)
		s.decayed, s.decayedErr = decayed.value(0)
		s.inLaw, s.decayedLaw, s.leastLaw = inLaw.mean(), decayedLaw.mean(), least
	}
	for k := range p.sums {
		s := &p.sums[k]
		s.out, s.outErr = out.value(0)
		if k < n {
			out.accumulate(logW[k], err[k])
		}
	}
	p.sup = profiles.Support{Min: math.Inf(1), Max: math.Inf(-1), LogPInf: rest, LogQInf: rest, Spike: math.NaN()}
	if n > 0 {
		top := m[n-1]
		p.sup.Min, p.sup.Max, p.sup.LossErr = -top, top, 2*xmath.U*top
		for _, x := range slices.Backward(m) {
			p.sup.Atoms = append(p.sup.Atoms, -x)
		}
		p.sup.Atoms = append(p.sup.Atoms, m...)
	}
	return p
}

// SelfReverse implements profiles.SelfReverser.
func (p *laplaceMixture) SelfReverse() bool { return true }

func (p *laplaceMixture) Tails(eps, tol float64) profiles.Tails {
	a := math.Abs(eps)
	k := sort.SearchFloat64s(p.m, a) // m_u ≥ a: the smallest loss −m_u itself is L ≤ ε
	if eps >= 0 && k < len(p.m) && p.m[k] == a {
		k++
	}
	s := &p.sums[k]
	up, upErr, down, downErr := p.rest, 0.0, math.Inf(-1), 0.0
	rest, restErr, all, allErr := s.out, s.outErr, 0.0, 0.0
	if k < len(p.m) {
		x, y := s.decayed+a/2-math.Ln2, s.decayed-a/2-math.Ln2
		e := s.decayedErr + tol/2 + 2*xmath.U*(2+a)
		xErr, yErr := e+2*xmath.U*math.Abs(x), e+s.decayedLaw+2*xmath.U*math.Abs(y)
		down, downErr = y, yErr
		up, upErr = lessHalf(s.in, s.inErr, s.inLaw, s.leastLaw, x, xErr)
		xErr += s.decayedLaw
		if p.rest > up-far {
			up = xmath.LogAdd(up, p.rest)
			upErr += 4 * xmath.U * (1 + math.Abs(up))
		} else {
			upErr += leftOut
		}
		rest, restErr = addLogs(s.out, s.outErr, x, xErr)
		r := math.Exp(y)
		all = math.Log1p(-r)
		allErr = relative(r*rise(yErr)/(1-r)) + 4*xmath.U
	}
	t := profiles.Tails{P: min(0, up), Q: down, Err: max(upErr, downErr),
		PC: min(0, rest), QC: all, ErrC: max(restErr, allErr)}
	if eps < 0 {
		t = profiles.Tails{P: t.QC, Q: t.PC, Err: t.ErrC, PC: t.Q, QC: t.P, ErrC: t.Err}
	}
	return t
}

// lessHalf returns log(e^s − e^x) and its error, for a sum s of weights of which x
// takes at most half from each. sErr and xErr are rounding errors; law is what the
// errors of the weights make of s, and least the smallest of these. A weight counts
// between half and all of itself, so that its error beyond the least one weighs
// twice as much as in s at most.
func lessHalf(s, sErr, law, least, x, xErr float64) (log, err float64) {
	if math.IsInf(s, -1) {
		return s, 0
	}
	r := min(0.5, math.Exp(x-s))
	log = s + math.Log1p(-r)
	return log, relative((rise(sErr)+r*rise(xErr))/(1-r)) + 2*law - least + 4*xmath.U*(1+math.Abs(s)+math.Abs(log))
}

// addLogs returns log(e^a + e^b) and its error.
func addLogs(a, aErr, b, bErr float64) (log, err float64) {
	if a < b {
		a, aErr, b, bErr = b, bErr, a, aErr
	}
	if math.IsInf(b, -1) {
		return a, aErr
	}
	w := math.Exp(b - a)
	log = a + math.Log1p(w)
	return log, (aErr+w*bErr)/(1+w) + 4*xmath.U*(2+math.Abs(log))
}

// rise is the relative error e^err − 1 of a number whose logarithm has error err.
func rise(err float64) float64 {
	if err < 1 {
		return err * (1 + err)
	}
	return math.Expm1(err)
}

// relative is the error of the logarithm of a number with the relative error x.
func relative(x float64) float64 {
	switch {
	case x < 0.5:
		return x * (1 + x)
	case x < 1:
		return -math.Log1p(-x)
	}
	return math.Inf(1)
}

// Support implements Profile.
func (p *laplaceMixture) Support() profiles.Support { return p.sup }
