// Laws of discrete profiles, whose atoms are known.

package pld

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// atomLaw lists the atoms of d, with the error of their masses moved up (sign
// +1) or down (−1).
func atomLaw(d *profiles.Discrete, sign float64) *Law {
	sup := d.Support()
	l := &Law{LogPInf: sup.LogPInf, LossErr: sup.LossErr, SecondOrder: true}
	c := d.MassErr()
	for _, a := range d.Atoms() {
		if math.IsInf(a.LogP, -1) {
			continue
		}
		l.Loss = append(l.Loss, a.Loss)
		l.LogMass = append(l.LogMass, a.LogP+sign*(c+2*xmath.U)*(1+math.Abs(a.LogP)))
	}
	if !math.IsInf(l.LogPInf, -1) {
		l.LogPInf = min(0, l.LogPInf+sign*(c+2*xmath.U)*(1+math.Abs(l.LogPInf)))
	}
	return l
}

// OfAtoms returns the laws of d itself, not on a lattice: its atoms, with the errors of their
// masses moved up and down.
func OfAtoms(d *profiles.Discrete) (upper, lower *Law) { return atomLaw(d, +1), atomLaw(d, -1) }

// Spacing returns the offset and the largest step of a lattice that holds every
// atom of d up to rounding; ok is false if there is none with at most maxPoints
// points.
func Spacing(d *profiles.Discrete, maxPoints int64) (offset, step float64, ok bool) {
	as := d.Atoms()
	switch len(as) {
	case 0:
		return 0, 1, true
	case 1:
		return as[0].Loss, 0, true
	}
	first, last := as[0].Loss, as[len(as)-1].Loss
	span := last - first
	gap := math.Inf(1)
	for i := 1; i < len(as); i++ {
		gap = min(gap, as[i].Loss-as[i-1].Loss)
	}
	tol := roundingOf(d)
	for k := 1.0; k <= 64; k++ {
		n := math.Round(span / gap * k)
		if n > float64(maxPoints) {
			return 0, 0, false
		}
		s := span / n
		off := func(a profiles.Atom) bool { return math.Abs(a.Loss-first-math.Round((a.Loss-first)/s)*s) > tol }
		if !slices.ContainsFunc(as, off) {
			return first, s, true
		}
	}
	return 0, 0, false
}

// roundingOf is how far an atom may lie from its lattice point and still count
// as on it: the rounding errors of the losses, which Law.LossErr then carries.
func roundingOf(d *profiles.Discrete) float64 {
	as := d.Atoms()
	big := max(math.Abs(as[0].Loss), math.Abs(as[len(as)-1].Loss))
	return 32*xmath.U*big + 2*d.Support().LossErr
}

// OnLattice returns the laws of a profile all of whose atoms lie on the lattice:
// both are the profile itself, up to the rounding of masses and losses. ok is
// false if some atom is off the lattice.
func OnLattice(d *profiles.Discrete, offset, step float64) (upper, lower *Law, ok bool) {
	as := d.Atoms()
	upper, lower = atomLaw(d, +1), atomLaw(d, -1)
	tol, moved := 0.0, 0.0
	if len(as) > 0 {
		tol = roundingOf(d)
	}
	for _, l := range []*Law{upper, lower} {
		l.Offset, l.Step = offset, step
		l.Index = make([]int64, len(l.Loss))
		for i, x := range l.Loss {
			k := math.Round((x - offset) / step)
			on := offset + k*step
			if math.Abs(x-on) > tol {
				return nil, nil, false
			}
			moved = max(moved, math.Abs(x-on)+2*xmath.U*(math.Abs(offset)+math.Abs(on)))
			l.Index[i], l.Loss[i] = int64(k), on
		}
		l.LossErr += moved
	}
	return upper, lower, true
}

// Laws on a lattice, with masses that were rounded to the safe side.

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
	// its exponent, θl + log m, and of its loss, which is Offset + iΔ rounded.
	n := float64(len(l.Loss))
	return k, xmath.U*(6+math.Abs(theta)*(8*reach+2*math.Abs(l.Offset))+2*math.Abs(k)+n) + n*1e-26
}

// MaxLoss returns the largest finite loss, −Inf if there is none.
func (l *Law) MaxLoss() float64 {
	if len(l.Loss) == 0 {
		return math.Inf(-1)
	}
	return l.Loss[len(l.Loss)-1]
}
