// Transforms of bounded losses with atoms and smooth pieces: Laplace noise on a sample, and any
// finite law.
//
// They assume atoms and pieces whose masses make 1 under P and under Q, each known to the errors that
// it states. They return lines (mixedline.go) from sums over nodes (rule.go).

package transform

// Bounded losses of atoms and of pieces with a density: Laplace noise on a sample, and finite laws. The
// sum is in terms of second order, so that an error is relative to the loss however small that is.

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// An Atom is an outcome of positive mass. Q has the mass e^LogMass, P e^(LogMass+Loss)
// and the loss is Loss; reversed, P has e^LogMass, Q e^(LogMass+Loss), and the loss is −Loss.
type Atom struct {
	LogMass, Loss float64
	MassErr       float64 // relative error of e^LogMass
	LossErr       float64 // absolute error of Loss
	Reversed      bool
}

// A Piece is a range of outcomes From < v < To on which Q has the density
// ¼e^{LogWeight − v/2} and the likelihood ratio P/Q is
//
//	g(v) = 1 + Lift + Share·(e^{v−Center} − 1) = Floor + Share·e^{v−Center}:
//
// Laplace noise between the centres that it may have. Reversed exchanges P and Q.
type Piece struct {
	From, To, LogWeight        float64
	Lift, Share, Center, Floor float64
	WeightErr                  float64 // relative error of e^LogWeight
	RatioErr                   float64 // relative error of Lift, Share and Floor
	RateErr                    float64 // relative error of Share that changes Floor as much
	ScaleErr                   float64 // relative error of v and Center: of 1/b
	Reversed                   bool
}

// Mixed is the transform of a bounded loss with atoms and pieces: Laplace noise on a
// sample, and any finite law. It is computed as
//
//	M(z) = 1 − p∞ + z(q∞ − p∞) + ∫ [ex(zL) + z·ex(−L)] dP,   ex(v) = e^v − 1 − v,
//
// in which the terms of first order, that cancel, are absent: an error is relative
// to log M. Pieces are integrated by Gauss–Legendre quadrature.
type Mixed struct {
	atoms      []Atom
	pieces     []Piece
	pInf, qInf float64
	gap        float64 // q∞ − p∞
	pErr, qErr float64 // errors of these
	gapErr     float64

	excess, excessErr float64 // see Excess
}

// NewMixed returns the transform of the atoms and pieces. With P(L = +∞) = pInf and
// Q(L = −∞) = qInf, known to the relative error infErr, their masses make 1 under P and under Q.
func NewMixed(atoms []Atom, pieces []Piece, pInf, qInf, infErr float64) *Mixed {
	wrong := infErr * (math.Abs(pInf) + math.Abs(qInf))
	m := &Mixed{pInf: pInf, qInf: qInf, gap: qInf - pInf, pErr: wrong, qErr: wrong, gapErr: wrong}
	for _, a := range atoms {
		if !math.IsInf(a.LogMass, -1) {
			m.atoms = append(m.atoms, a)
		}
	}
	for _, p := range pieces {
		if !math.IsInf(p.LogWeight, -1) && p.From < p.To {
			m.pieces = append(m.pieces, p)
		}
	}
	return m
}

// Strip implements Transform: the loss is bounded.
func (m *Mixed) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform.
func (m *Mixed) Infinite() (pInf, qInf float64) { return m.pInf, m.qInf }

// Reverse implements Transform: every part changes its roles.
func (m *Mixed) Reverse() Transform { return m.reversed() }

func (m *Mixed) reversed() *Mixed {
	r := *m
	r.pInf, r.qInf, r.pErr, r.qErr, r.gap = m.qInf, m.pInf, m.qErr, m.pErr, -m.gap
	r.atoms, r.pieces = slices.Clone(m.atoms), slices.Clone(m.pieces)
	for i := range r.atoms {
		r.atoms[i].Reversed = !r.atoms[i].Reversed
	}
	for i := range r.pieces {
		r.pieces[i].Reversed = !r.pieces[i].Reversed
	}
	return &r
}

// Real implements Transform.
func (m *Mixed) Real(s float64) (k, slope, err float64) {
	v, e := m.line(context.Background(), s, 0, 0, maxRealNodes)
	if e != nil {
		return math.NaN(), math.NaN(), math.Inf(1)
	}
	k, slope, err = v.real()
	if v.conjugate {
		slope = -slope
	}
	return k, slope, err
}

// Line implements Transform.
func (m *Mixed) Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	v, err := m.line(ctx, theta, tMax, tol, maxNodes)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (m *Mixed) line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (*mixedLine, error) {
	if err := checkLine(m, theta, tMax); err != nil {
		return nil, err
	}
	if len(m.atoms)+len(m.pieces) == 0 {
		return nil, errors.New("losses: none is finite, so that M is 0")
	}
	if theta < -0.5 {
		v, err := m.reversed().line(ctx, -1-theta, tMax, tol, maxNodes)
		if err != nil {
			return nil, err
		}
		v.conjugate = true
		return v, nil
	}
	// A rough pass finds the sizes that errors are compared with.
	r := newRule(m, theta, 0, true)
	if err := r.rough(); err != nil {
		return nil, err
	}
	lo, hi := -0.3, 2.0
	if math.IsInf(m.gap, 0) {
		lo = math.Inf(1)
	}
	rough := newSums(r.nodes, theta, 1, lo, hi)
	r = newRule(m, theta, tMax, rough.unit == 1)
	if r.second {
		// Errors are absolute, and M(θ) is about 1; log M itself needs a few roundings of D.
		r.logTol = xmath.Log(max(tol/16, 2*u*math.Abs(rough.d0))) - xmath.Log(8)
	} else {
		r.logTol = xmath.Log(max(tol/16, 2*u)) + rough.scale - xmath.Log(8)
	}
	r.logTol = max(r.logTol, -700) // at θ = 0 there is nothing to integrate
	if maxNodes <= 0 {
		maxNodes = maxLineNodes
	}
	if err := r.fine(ctx, maxNodes); err != nil {
		return nil, err
	}
	return r.line(), nil
}

// logRatio returns log g(v), v known to dv, and its error.
func (p *Piece) logRatio(v, dv float64) (l, dl float64) {
	e := v - p.Center
	de := dv + xmath.U*math.Abs(e) + p.ScaleErr*math.Abs(p.Center)
	if e > 36 && p.Share > 0 {
		// The floor is at most e^−36 of the rest, or g is its sum with something larger.
		top := xmath.Log(p.Share) + e
		if xmath.Log(p.Floor)-top < -36 {
			l = top + p.Floor*math.Exp(-top)
			return l, de + p.RatioErr + p.RateErr + xmath.U*(4+4*math.Abs(e)+4*math.Abs(l))
		}
	}
	grow := math.Expm1(e)
	rho := p.Lift + p.Share*grow
	jump := p.Share * math.Exp(e) // dg/dv
	if rho > -0.5 {
		size := p.Lift + p.Share*math.Abs(grow)
		d := (6*xmath.U+p.RatioErr+p.RateErr)*size + jump*de
		return logOnePlus(rho, d)
	}
	g := p.Floor + jump
	d := (6*xmath.U+p.RatioErr)*g + p.RateErr*p.Share*math.Abs(grow) + jump*de
	l = xmath.Log(g)
	return l, d/g*(1+d/g) + 2*xmath.U*math.Abs(l)
}

// logOnePlus returns log(1 + rho) for a rho known to d, and its error.
func logOnePlus(rho, d float64) (l, dl float64) {
	l = math.Log1p(rho)
	x := d / (1 + rho)
	return l, x*(1+x) + 2*xmath.U*math.Abs(l)
}
