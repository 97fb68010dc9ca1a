// Laws on a lattice, with masses that were rounded to the safe side.

package pld

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Law is a positive measure on finitely many losses, plus a mass at +∞. The
// stored float64 values are the measure: they carry no further error except
// LossErr.
type Law struct {
	// Step is the lattice step and Offset the loss at index 0; Step is 0 for a
	// law that is not on a lattice.
	Offset, Step float64
	Index        []int64   // lattice indices, ascending; nil off a lattice
	Loss         []float64 // ascending; Offset + Index·Step up to rounding
	LogMass      []float64 // log masses
	LogPInf      float64   // log mass at +∞

	// LossErr bounds the displacement of the losses that rounding caused: the
	// law is above (below) the profile of a loss moved by at most LossErr.
	LossErr float64
	// SecondOrder says that the error of the law is O(Step²). A lower law may
	// fall back to first order when the step does not resolve the loss.
	SecondOrder bool
}

// Tilted returns K = log Σ m e^{θl} over the finite part of the law, and the
// mean and variance of the tilted law.
func (l *Law) Tilted(theta float64) (k, mean, variance float64) {
	// Two passes: where the largest term is, the first of equal ones; and the sums, about its loss to keep the variance.
	top, at := math.Inf(-1), 0.0
	losses := l.Loss[:len(l.LogMass)]
	for i, m := range l.LogMass {
		if c := m + theta*losses[i]; !(c <= top) {
			top, at = c, losses[i]
		}
	}
	if math.IsInf(top, -1) {
		return top, 0, 0
	}
	var s, s1, s2 float64
	for i, m := range l.LogMass {
		c := m + theta*losses[i] - top
		if c < -60 {
			continue
		}
		x, d := math.Exp(c), losses[i]-at
		s += x
		s1 += x * d
		s2 += x * d * d
	}
	dm := s1 / s
	return top + xmath.Log(s), at + dm, max(0, s2/s-dm*dm)
}

// K returns log Σ m e^{θl}, not less than the exact value by more than
// rounding, which the second result bounds.
func (l *Law) K(theta float64) (k, err float64) {
	k, _, _ = l.Tilted(theta)
	reach := 0.0
	if n := len(l.Loss); n > 0 {
		reach = max(math.Abs(l.Loss[0]), math.Abs(l.Loss[n-1]))
	}
	// Terms below e^{−60} of the largest were dropped; each term has an error of
	// its exponent, θl + log m.
	n := float64(len(l.Loss))
	return k, xmath.U*(6+4*math.Abs(theta)*reach+2*math.Abs(k)+n) + n*1e-26
}

// MaxLoss returns the largest finite loss, −Inf if there is none.
func (l *Law) MaxLoss() float64 {
	if len(l.Loss) == 0 {
		return math.Inf(-1)
	}
	return l.Loss[len(l.Loss)-1]
}
