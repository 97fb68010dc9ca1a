// Laws of discrete profiles, whose atoms are known.

package pld

import (
	"math"

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
		fits := true
		for _, a := range as {
			x := a.Loss - first
			if math.Abs(x-math.Round(x/s)*s) > tol {
				fits = false
				break
			}
		}
		if fits {
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
