// Theorem 2 of Balle, Barthe and Gaboardi 2018, extended below ε = 0: substitution.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Envelope returns the profile that bounds the effect of substituting one
// record when the record takes part with probability rate:
//
//	δ(ε) = rate·δ_base(log(1 + (e^ε − 1)/rate))   for ε ≥ 0,
//
// and for ε < 0 its reflection, with the reverse of base. It is the advanced
// joint convexity bound (Balle, Barthe and Gaboardi, NeurIPS 2018, Theorem 2)
// extended to negative ε by the symmetry of the relation (docs/theory.md §5).
// Relation: substitute. Condition: base dominates the mechanism both when the
// record is substituted and when it is removed.
//
// Its loss has an atom at 0. It is convex there for every base: with h(1) =
// rate·δ_base(0) ≤ δ_base(0), the slopes satisfy Q(L>0) + P(L<0) ≤ 1 − h(1).
func Envelope(base profiles.Profile, rate float64) (profiles.Profile, error) {
	if err := CheckRate(rate); err != nil {
		return nil, err
	}
	switch rate {
	case 0:
		return profiles.Identical(), nil
	case 1:
		return base, nil
	}
	up := newPoisson(base, rate)
	if d, ok := base.(*profiles.Discrete); ok {
		return envelopeDiscrete(d, up)
	}
	return envelope{up, newPoisson(profiles.Reverse(base), rate)}, nil
}

// envelope has the tails of up above 0, and of the reverse of down below.
type envelope struct{ up, down poisson }

// SelfReverse implements profiles.SelfReverser.
func (e envelope) SelfReverse() bool { return profiles.Equal(e.up.base, e.down.base) }

// Cost implements profiles.Costly.
func (e envelope) Cost() float64 { return profiles.Cost(e.up) }

func (e envelope) Tails(eps, tol float64) profiles.Tails {
	return halves(e.up, e.down, eps, tol)
}

// halves returns the tails of the loss that has those of up above 0, those of the reverse of down
// below it, and an atom at 0 with the rest.
func halves[P profiles.Profile](up, down P, eps, tol float64) profiles.Tails {
	if eps >= 0 {
		t := up.Tails(eps, tol)
		// Below ε lie the atom at 0 and the other half: complements, not the
		// half's own tails.
		t.PC, t.QC = xmath.Log1mExp(t.P), xmath.Log1mExp(t.Q)
		t.ErrC = 4*xmath.U + max(xmath.ComplementErr(t.P, t.PC, t.Err), xmath.ComplementErr(t.Q, t.QC, t.Err))
		return t
	}
	// L ≤ ε is −L ≥ −ε; the loss has no atom in ε < 0 but images of the half's.
	t := down.Tails(math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps))
	r := profiles.Tails{PC: t.Q, QC: t.P, ErrC: t.Err}
	r.P, r.Q = xmath.Log1mExp(r.PC), xmath.Log1mExp(r.QC)
	r.Err = 4*xmath.U + max(xmath.ComplementErr(r.PC, r.P, r.ErrC), xmath.ComplementErr(r.QC, r.Q, r.ErrC))
	return r
}

func (e envelope) Support() profiles.Support {
	u, d := e.up.Support(), e.down.Support()
	s := profiles.Support{Min: min(-d.Max, 0), Max: max(u.Max, 0), LogPInf: u.LogPInf, LogQInf: d.LogPInf,
		Spike: math.NaN(), LossErr: max(u.LossErr, d.LossErr)}
	for i := len(d.Atoms) - 1; i >= 0; i-- {
		if a := -d.Atoms[i]; a < 0 {
			s.Atoms = append(s.Atoms, a)
		}
	}
	s.Atoms = append(s.Atoms, 0)
	for _, a := range u.Atoms {
		if a > 0 {
			s.Atoms = append(s.Atoms, a)
		}
	}
	return s
}

// envelopeDiscrete lists the atoms of the envelope of a discrete base.
func envelopeDiscrete(d *profiles.Discrete, up poisson) (*profiles.Discrete, error) {
	sup := d.Support()
	var atoms []profiles.Atom
	big := 0.0
	zero := math.Inf(-1) // P-mass of the base at loss 0
	for _, a := range d.Atoms() {
		f := forward(math.Abs(a.Loss), up.rate)
		big = max(big, f)
		switch {
		case a.Loss > 0:
			atoms = append(atoms, profiles.Atom{Loss: f, LogP: up.mix(a.LogP, a.LogQ), LogQ: a.LogQ})
		case a.Loss < 0:
			atoms = append(atoms, profiles.Atom{Loss: -f, LogP: a.LogP, LogQ: up.mix(a.LogQ, a.LogP)})
		default:
			zero = a.LogP
		}
	}
	// The atom at 0 has what is left of P: P(L=0) + (1−rate)·δ_base(0).
	massErr := d.MassErr() + 4*xmath.U*(1+math.Abs(up.logRate))
	if delta0, err := logVariation(d); !math.IsInf(delta0, -1) {
		zero = xmath.LogAdd(zero, up.log1m+delta0)
		massErr += err
	}
	atoms = append(atoms, profiles.Atom{Loss: 0, LogP: zero, LogQ: zero})
	return profiles.NewDiscrete(atoms, up.logRate+sup.LogPInf, up.logRate+sup.LogQInf, massErr, forwardErr(sup.LossErr, max(sup.Max, -sup.Min), up.rate)+8*xmath.U*big)
}

// logVariation returns log δ(0) of d and its error, from the sum of P(1 − e^{−L})
// over L > 0: unlike P(L > 0) − Q(L > 0) it does not cancel.
func logVariation(d *profiles.Discrete) (logDelta, err float64) {
	sup := d.Support()
	terms, moved := []float64{sup.LogPInf}, []float64{math.Inf(-1)}
	for _, a := range d.Atoms() {
		if a.Loss > 0 {
			terms = append(terms, a.LogP+xmath.Log1mExp(-a.Loss))
			moved = append(moved, a.LogP-a.Loss) // how fast the term grows with the loss
		}
	}
	logDelta = xmath.LogSum(terms)
	if math.IsInf(logDelta, -1) {
		return logDelta, 0
	}
	// Relative errors c(1 + |log m|) of n masses: see Discrete; 8 u for the sum.
	n := float64(len(terms) + 1)
	err = (d.MassErr()+8*xmath.U)*(1+math.Abs(logDelta)+xmath.Log(n)) + sup.LossErr*math.Exp(xmath.LogSum(moved)-logDelta)
	return logDelta, err
}
