// Profiles, their tails and supports, reversal, and what a profile may say besides. A
// profile is assumed to be a dominating pair; everything here returns logarithms with bounds
// of their errors.

package profiles

import (
	"math"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Tails holds the natural logarithms of the four tail masses of a privacy loss
// at one ε. An outcome that only P can produce has L = +∞ and counts in P; one
// that only Q can produce has L = −∞ and counts in QC.
type Tails struct {
	P, Q   float64 // log P(L > ε), log Q(L > ε)
	PC, QC float64 // log P(L ≤ ε), log Q(L ≤ ε)

	// Err bounds the absolute error of P and Q, ErrC that of PC and QC: the
	// relative error of the masses themselves.
	Err, ErrC float64
}

// A Profile is one direction (P, Q) of a mechanism. Implementations are
// immutable and safe for concurrent use. Methods that a profile may have besides,
// such as LogDelta and Transform, are in internal/hook.
type Profile interface {
	// Tails returns the tails at ε, for every real ε. The argument itself may be
	// inexact: the error bounds hold for the exact tails at every point within
	// tol of ε, except across an atom (see Support.LossErr).
	Tails(eps, tol float64) Tails

	// Support describes where the loss lives.
	Support() Support
}

// Support says where the privacy loss of a profile lives.
type Support struct {
	// Min and Max are the essential infimum and supremum of the finite part of
	// the loss; −Inf and +Inf if unbounded. Max is rounded up and Min down.
	Min, Max float64

	// LogPInf is log P(L = +∞), LogQInf is log Q(L = −∞): −Inf if there is none.
	LogPInf, LogQInf float64

	// Atoms lists losses of positive mass, ascending; nil if there is none, or
	// if the profile is a *Discrete, which lists its own.
	Atoms []float64

	// Spike marks a loss near which much of the mass piles up without being an
	// atom (the left end of a Poisson-subsampled loss); NaN if there is none.
	// It steers where a lattice is placed, never what is proved.
	Spike float64

	// LossErr bounds the rounding error of the location of atoms: the delivered
	// profile is that of a loss that differs from the exact one by at most
	// LossErr. Composing T copies costs at most T·LossErr in ε.
	LossErr float64
}

// LogDelta returns log δ(ε) of one run of p, and a bound on the absolute error
// of that logarithm (+Inf when rounding leaves no correct digit).
//
// δ(ε) = P(L > ε) − e^ε Q(L > ε) is a difference; a profile that knows a closed
// form without cancellation has a method LogDelta of its own, and that is used instead.
func LogDelta(p Profile, eps float64) (logDelta, err float64) {
	if d, ok := p.(hook.LogDeltaer); ok {
		return d.LogDelta(eps)
	}
	return logDeltaFromTails(p.Tails(eps, 0), eps)
}

func logDeltaFromTails(t Tails, eps float64) (logDelta, err float64) {
	a, b := t.P, t.Q+eps
	// The error of a term e^x of the difference, over e^d: that of the tail, and of
	// the rounding of ε + log Q and of x − d.
	part := func(x, d float64) float64 {
		if math.IsInf(x, -1) {
			return 0
		}
		return (t.Err + 2*xmath.U*(math.Abs(x)+math.Abs(d))) * math.Exp(x-d)
	}
	if eps < 0 {
		// 1 − δ = P(L ≤ ε) + e^ε Q(L > ε) has only positive terms, and gives the
		// larger δ of this side more accurately.
		c := xmath.LogAdd(t.PC, b)
		if c < -xmath.Ln2 {
			if math.IsInf(c, -1) {
				return 0, 0
			}
			rel := max(t.Err, t.ErrC) + 4*xmath.U*(1+math.Abs(c)+math.Abs(eps))
			return xmath.Log1mExp(c), 2*rel*math.Exp(c) + 2*xmath.U
		}
	}
	d := xmath.LogSub(a, b)
	if math.IsInf(d, -1) {
		if math.IsInf(a, -1) {
			return d, 0
		}
		return d, math.Inf(1)
	}
	rel := part(a, d) + part(b, d) + 4*xmath.U
	if rel > 0.5 {
		return d, math.Inf(1)
	}
	return d, -math.Log1p(-rel)
}

// A reverser is a profile that lists its reverse anew.
type reverser interface{ reverse() Profile }

// Reverse returns the profile of (Q, P), the other direction of the
// neighbouring relation: its loss is −L. The algebra is an exchange of tails;
// nothing is subtracted.
func Reverse(p Profile) Profile {
	switch p := p.(type) {
	case reversed:
		return p.base
	case reverser:
		return p.reverse()
	case hook.SelfReverser:
		if p.SelfReverse() {
			return p.(Profile)
		}
	}
	return reversed{p}
}

type reversed struct{ base Profile }

func (r reversed) Tails(eps, tol float64) Tails {
	// −L > ε is L < −ε. The base gives L ≤ −ε, which differs only at an atom
	// exactly at −ε; evaluating one ulp below resolves that.
	t := r.base.Tails(math.Nextafter(-eps, math.Inf(-1)), tol+xmath.U*math.Abs(eps))
	return Tails{P: t.QC, Q: t.PC, PC: t.Q, QC: t.P, Err: t.ErrC, ErrC: t.Err}
}

// Cost implements hook.Costly.
func (r reversed) Cost() float64 { return hook.Cost(r.base) }

func (r reversed) Support() Support {
	s := r.base.Support()
	atoms := make([]float64, len(s.Atoms))
	for i, a := range s.Atoms {
		atoms[len(atoms)-1-i] = -a
	}
	if len(atoms) == 0 {
		atoms = nil
	}
	return Support{Min: -s.Max, Max: -s.Min, LogPInf: s.LogQInf, LogQInf: s.LogPInf,
		Atoms: atoms, Spike: -s.Spike, LossErr: s.LossErr}
}

// When two profiles are certainly the same.

// Equal reports whether p and q are certainly the same profile: equal values, or
// discrete profiles with the same atoms.
func Equal(p, q Profile) bool {
	a, aok := p.(*Discrete)
	b, bok := q.(*Discrete)
	if aok && bok {
		return a == b || a.logPInf == b.logPInf && a.logQInf == b.logQInf &&
			a.massErr == b.massErr && a.lossErr == b.lossErr && slices.Equal(a.atoms, b.atoms)
	}
	va, vb := reflect.ValueOf(p), reflect.ValueOf(q)
	return va.Comparable() && vb.Comparable() && p == q
}
