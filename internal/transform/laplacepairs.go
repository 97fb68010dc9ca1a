// Laplace noise on a sample as atoms and pieces.
//
// It assumes rates and weights with relative errors, and returns a Mixed whose masses carry them.

package transform

// Laplace noise on a sample, as atoms and pieces of a Mixed: the pair of a sampled record, and the
// envelope of a substituted one.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A LaplaceItem is Laplace noise of largest loss M = 1/b that is chosen, publicly, with the
// probability e^LogWeight; the errors are relative.
type LaplaceItem struct{ M, MErr, LogWeight, WeightErr float64 }

// NewSampledLaplace returns the transform of ((1−rate)·Q + rate·P, Q), where (P, Q) is one
// of the items, or, with the probability rest, gives everything away. rate is known to the
// relative error rateErr.
func NewSampledLaplace(items []LaplaceItem, rest, rate, rateErr float64) *Mixed {
	var atoms []Atom
	var pieces []Piece
	for _, it := range items {
		p := it.sampled(0, rate, rateErr)
		pieces = append(pieces, p)
		atoms = append(atoms, p.atom(0), p.atom(2*it.M))
	}
	if rate == 1 {
		return NewMixed(atoms, pieces, rest, rest, restErr)
	}
	if rest > 0 {
		atoms = append(atoms, Atom{LogMass: xmath.Log(rest), Loss: math.Log1p(-rate), MassErr: restErr + 4*xmath.U,
			LossErr: rateErr*rate/(1-rate)*(1+rateErr/(1-rate)) + 4*xmath.U*math.Abs(math.Log1p(-rate))})
	}
	return NewMixed(atoms, pieces, rate*rest, 0, restErr+rateErr)
}

// restErr is the relative rounding error of rest, a sum of exponentials.
const restErr = 1e-12

// NewLaplaceEnvelope returns the transform of the envelope of the items: the losses above 0
// of NewSampledLaplace, their reflection, and an atom at 0 with what is left.
func NewLaplaceEnvelope(items []LaplaceItem, rest, rate, rateErr float64) *Mixed {
	var atoms []Atom
	var pieces []Piece
	left, leftErr := rest, rest*restErr // Σ w(1 − e^{−m/2}) + rest
	for _, it := range items {
		p := it.sampled(it.M, rate, rateErr)
		top := p.atom(2 * it.M)
		for _, reversed := range []bool{false, true} {
			p.Reversed, top.Reversed = reversed, reversed
			pieces = append(pieces, p)
			atoms = append(atoms, top)
		}
		x := -math.Exp(it.LogWeight) * math.Expm1(-it.M/2)
		left += x
		leftErr += x * (it.MErr + it.WeightErr)
	}
	if left > 0 {
		atoms = append(atoms, Atom{LogMass: math.Log1p(-rate) + xmath.Log(left),
			MassErr: leftErr/left + rateErr*rate/(1-rate)*(1+rateErr/(1-rate)) + xmath.U*float64(16+len(items))})
	}
	return NewMixed(atoms, pieces, rate*rest, rate*rest, restErr+rateErr)
}

// sampled is the noise seen in t, v = 2t, between the two centres 0 and m: the unsampled loss
// is v − m.
func (it LaplaceItem) sampled(from, rate, rateErr float64) Piece {
	return Piece{From: from, To: 2 * it.M, LogWeight: it.LogWeight, Share: rate, Center: it.M, Floor: 1 - rate,
		WeightErr: it.WeightErr + xmath.U*math.Abs(it.LogWeight), RateErr: rateErr, ScaleErr: it.MErr}
}

// atom is the outcomes outside of the centres on the side of v, the one end of a range of pieces:
// under Q the mass is ½e^{−v/2}.
func (p *Piece) atom(v float64) Atom {
	l, dl := p.logRatio(v, p.ScaleErr*v)
	return Atom{LogMass: p.LogWeight - math.Ln2 - v/2, Loss: l, LossErr: dl,
		MassErr: p.WeightErr + p.ScaleErr*v/2 + xmath.U*(4+v+math.Abs(p.LogWeight)), Reversed: p.Reversed}
}

// NewOppositeLaplace returns the transform of the pair ((1−rate)·Lap(0) + rate·Lap(m),
// (1−rate)·Lap(0) + rate·Lap(−m)) of noise of scale 1, m known to the relative error mErr.
//
// Right of 0, in v = 2t, Q has the density ¼A·e^{−v/2}, A = 1 − rate + rate·e^{−m}, and
// P/Q = (1 − rate + rate·e^{v−m})/A; the left side is its mirror image.
func NewOppositeLaplace(m, mErr, rate float64) *Mixed {
	a := (1 - rate) + rate*math.Exp(-m)
	p := Piece{To: 2 * m, LogWeight: xmath.Log(a), Share: rate * math.Exp(-m) / a, Floor: (1 - rate) / a,
		RatioErr: 2*m*mErr + xmath.U*(12+2*m), ScaleErr: mErr, WeightErr: m*mErr + 8*xmath.U}
	if m > 300 {
		// The same ratio about the other end, where nothing underflows.
		p.Share, p.Center, p.Lift = rate/a, m, -rate*math.Expm1(-m)/a
	}
	top := p.atom(2 * m)
	q, back := p, top
	q.Reversed, back.Reversed = true, true
	return NewMixed([]Atom{top, back}, []Piece{p, q}, 0, 0, 0)
}

// NewCopiedLaplace returns the transform of the pair (Σ_u p_u·Lap(uθ), Lap(0)) of noise of
// scale 1, for an observer who takes all outcomes from last·θ on for one. logP[u] = log p_u
// is known to errs[u], and beyond the table there is e^above at most; θ to the
// relative error thetaErr. It returns nil where the numbers leave the range.
//
// Between kθ and (k+1)θ, in v = 2t, P/Q = Σ_{u≤k} p_u e^{uθ} + Σ_{u>k} p_u e^{v−uθ}.
func NewCopiedLaplace(logP, errs []float64, above, theta, thetaErr float64, last int) *Mixed {
	reach := float64(last) * theta
	if !(reach <= 600) || last < 1 {
		return nil
	}
	lift, floor := weighing{}, weighing{}
	pieces := make([]Piece, last)
	for k := range pieces {
		x := float64(k) * theta
		p := math.Exp(logP[k])
		lift.add(p*math.Expm1(x), errs[k]+thetaErr*(1+x))
		floor.add(math.Exp(logP[k]+x), errs[k]+thetaErr*x+2*xmath.U*(x+math.Abs(logP[k])))
		pieces[k] = Piece{From: 2 * x, To: 2 * float64(k+1) * theta, Lift: lift.sum, Floor: floor.sum,
			// The ends are rounded: the range is a little longer or shorter.
			RatioErr: max(lift.relative(), floor.relative()), WeightErr: xmath.U * float64(4*k+4)}
	}
	share, fall, decayed := weighing{}, weighing{}, weighing{}
	for u := len(logP) - 1; u > 0; u-- {
		x := float64(u) * theta
		p := math.Exp(logP[u])
		share.add(p, errs[u])
		fall.add(-p*math.Expm1(-x), errs[u]+thetaErr)
		decayed.add(math.Exp(logP[u]-x), errs[u]+2*xmath.U*(x+math.Abs(logP[u])))
		if u > last {
			continue
		}
		// Center = −log(Σ p_u e^{−uθ}/Σ p_u). An error η of the weights moves it by
		// 2η·min(1, e^c − 1) ≤ 4η·c; one of θ scales it, by less.
		s := &pieces[u-1]
		s.Share = share.sum
		if !(s.Share > 0) || above+reach > xmath.Log(s.Share)-60 {
			return nil
		}
		if r := fall.sum / share.sum; r < 0.5 {
			s.Center = -math.Log1p(-r)
		} else {
			s.Center = -xmath.Log(decayed.sum / share.sum)
		}
		eta := max(share.relative(), fall.relative(), decayed.relative())
		s.RatioErr = max(s.RatioErr, share.relative()) + 1e-25
		s.ScaleErr = thetaErr + 4*eta + 4*xmath.U
	}
	first := pieces[0].atom(0)
	// All outcomes from last·θ on: P/Q is Σ_{u≤last} p_u e^{uθ} + Σ_{u>last} p_u(2e^{last·θ} − e^{(2·last−u)θ}).
	rho := weighing{}
	for u, l := range logP {
		x := float64(u) * theta
		grow := math.Expm1(x)
		if u > last {
			grow = 2*math.Expm1(reach) - math.Expm1(2*reach-x)
		}
		rho.add(math.Exp(l)*grow, errs[u]+thetaErr*(1+3*reach)+4*xmath.U*(1+reach))
	}
	end := Atom{LogMass: -math.Ln2 - reach, MassErr: thetaErr*reach + xmath.U*(2+2*reach)}
	end.Loss, end.LossErr = logOnePlus(rho.sum, rho.sum*rho.relative()+1e-25)
	return NewMixed([]Atom{first, end}, pieces, 0, 0, 0)
}

// A weighing is a sum of positive terms and of their errors.
type weighing struct {
	sum, err float64
	n        int
}

func (w *weighing) add(x, relative float64) {
	if x == 0 {
		return
	}
	w.sum += x
	w.err += x * relative
	w.n++
}

// relative is the relative error: of the terms, of 8 u to make one, and of the sum.
func (w *weighing) relative() float64 {
	if w.sum == 0 {
		return 0
	}
	return w.err/w.sum*(1+1e-9) + xmath.U*float64(8+w.n)
}
