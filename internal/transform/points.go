// The transform of a lattice law, as a Mixed of atoms: a positive measure on finitely many losses, whose numbers are
// exact by definition.
//
// With p the masses over their total, the mass under Q at −∞ is what makes Σp·e^{−l} up to 1, whatever its
// sign. It is of the first order in the losses and rounds, by a few u of Σp|e^{−l} − 1|, so that the error is
// not relative to log M. It cannot be: a law that is not exactly the profile has terms of first order, too,
// which nothing but its numbers knows. For T losses of the size 1/√T it is √T·u in all.
//
// It assumes nothing of the law but that it is finite.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewPoints returns the transform of a measure with the masses e^logMass at finite losses
// and e^logPInf at +∞, of positive total, divided by its total, which makes it a probability.
//
// The measure need not be a probability, nor Σm·e^{−l} ≤ 1: a law above or below a profile
// may have more or less. Composing T copies multiplies every δ of the transform by e^{T·Excess}.
func NewPoints(losses, logMass []float64, logPInf float64) *Mixed {
	const u = xmath.U
	var total xmath.Sum
	total.Add(math.Exp(logPInf))
	for _, l := range logMass {
		total.Add(math.Exp(l))
	}
	excess := xmath.Log(total.Value())
	// exp 2u a term, the sum 2u, the logarithm 2u of itself.
	errExc := u * (4 + 2*math.Abs(excess))
	errP := errExc * (1 + errExc)
	var atoms []Atom
	var gap xmath.Sum // Q(L = −∞) − P(L = +∞)
	wrong := 0.0
	for i, l := range losses {
		x := logMass[i] - excess
		if math.IsInf(x, -1) {
			continue
		}
		e := errP + u*math.Abs(x)
		atoms = append(atoms, Atom{LogMass: x, Loss: -l, Reversed: true, MassErr: e})
		d := math.Exp(x) * math.Expm1(-l)
		if l < -1 {
			d = math.Exp(x-l) - math.Exp(x)
		}
		gap.Add(-d)
		// The exponentials and the sum: 8u, and u(|x| + |l|) by the rounding of x − l.
		wrong += math.Abs(d) * (e + u*(10+2*math.Abs(x)+2*math.Abs(l)))
	}
	pInf, errPInf := 0.0, 0.0
	if x := logPInf - excess; !math.IsInf(x, -1) {
		// It may underflow, but there is some.
		pInf = max(math.Exp(x), math.SmallestNonzeroFloat64)
		errPInf = pInf*(errP+u*(3+math.Abs(x))) + math.SmallestNonzeroFloat64
	}
	// 0 would say that M(−1) is 1 to the last digit.
	qInf := pInf + gap.Value()
	if qInf == 0 {
		qInf = math.SmallestNonzeroFloat64
	}
	m := NewMixed(atoms, nil, pInf, qInf, 0)
	m.excess, m.excessErr = excess, errExc
	m.gap, m.gapErr = gap.Value(), wrong
	m.pErr, m.qErr = errPInf, errPInf+wrong+u*math.Abs(qInf)
	return m
}

// Excess returns the logarithm of the total mass of the measure, and the bound of its
// error; 0 unless NewPoints made the transform. The measure of T copies is e^{T·Excess} times what it describes.
func (m *Mixed) Excess() (excess, err float64) { return m.excess, m.excessErr }
