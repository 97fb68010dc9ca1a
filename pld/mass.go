// Masses between two points: what a cell of the grid gets, from the tails at its ends. It
// assumes tails with bounds of their errors, and returns masses with bounds of theirs.

package pld

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// tiltedMass bounds the tilted mass between two points.
func tiltedMass(a, b point, g Grid) float64 {
	m := xmath.LogSub(a.tails.P, b.tails.P)
	if b.tails.PC < a.tails.P {
		m = xmath.LogSub(b.tails.PC, a.tails.PC)
	}
	return math.Exp(m + g.Tilt*b.t - g.LogNorm)
}

// within returns the error of a tail in units of e^scale, of logarithm x known to
// err, when a larger tail of logarithm at most most bounds it.
func within(tail, x, err, most float64) float64 {
	if err < 1e-3 {
		return tail * rise(err)
	}
	return max(tail, math.Exp(min(x+err, most, 700))*(1+1e-9))
}

// between returns e^shift times the mass between two points, from the logs of
// its tails above (up) and up to (lo) the points, whichever are smaller; and the
// error bound, from the error of each tail. Where a tail loses its accuracy with
// its size, next to the end of a support, the larger one must not pay for it.
func between(upA, upB, loA, loB float64, a, b profiles.Tails, shift, tol float64) (m, err float64) {
	big, small, relBig, relSmall := loB, loA, b.ErrC, a.ErrC
	if upA < loB {
		big, small, relBig, relSmall = upA, upB, a.Err, b.Err
	}
	if math.IsInf(big, -1) {
		return 0, 0
	}
	top := math.Exp(big + shift)
	m = -top * math.Expm1(small-big)
	err = top*rise(relBig) + math.Abs(m)*(tol+xmath.U*(6+2*math.Abs(big)+2*math.Abs(shift)))
	if !math.IsInf(small, -1) {
		if relSmall > 1 {
			// Nothing is known but the order of the two masses, which their logarithms need not have.
			err += max(top, math.Exp(small+shift))
		} else {
			err += math.Exp(small+shift) * rise(relSmall) * (1 + 4*xmath.U)
		}
		err += top * 2 * xmath.U * math.Abs(small-big) * math.Exp(small-big)
	}
	return m, err
}

// rise returns e^x − 1: by what part of itself a mass may be larger whose
// logarithm has error x.
func rise(x float64) float64 {
	if x < 1e-9 {
		return x * (1 + 1e-9)
	}
	return math.Expm1(x)
}

func massP(a, b profiles.Tails, shift float64) (m, err float64) {
	return between(a.P, b.P, a.PC, b.PC, a, b, shift, 0)
}

func massQ(a, b profiles.Tails, shift, tol float64) (m, err float64) {
	return between(a.Q, b.Q, a.QC, b.QC, a, b, shift, tol)
}
