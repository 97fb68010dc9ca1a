package pld

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The mass that connect-the-dots moves up in a cell, and the depth of a tangent,
// are differences P − aQ of the masses of a stretch of losses of about log a. With
// small losses they are small against either, and the errors of the two, about u
// each, displace losses by about u/Δ, however small the losses are. With
// D(ε) = P(L > ε) − Q(L > ε) known to a relative error (profiles.TailDifferencer)
//
//	P(s < L ≤ t) − aQ(s < L ≤ t) = D(s) − D(t) − (a−1)·Q(s < L ≤ t)
//
// has errors of u times the loss (docs/accuracy.md §2).

// fine is the lattice step below which that is worth while: T runs displace the
// total loss by about 4uT/Δ without it, and it varies by a few √T·Δ at least.
const fine = 1e-4

func (d *discretizer) difference(t, tol float64) difference {
	if d.exact == nil {
		return difference{}
	}
	l, e := d.exact.LogTailDifference(t, tol)
	if !(e < 0.5) {
		return difference{err: math.Inf(1)}
	}
	x := math.Exp(l)
	return difference{x, x * (rise(e) + xmath.U*(2+2*math.Abs(xmath.Finite(l))))}
}

// gain returns P − aQ of the stretch between two points, a = e^t with t known to
// tol, in units of e^scale: the better one of the given value and that from the
// differences.
func (d *discretizer) gain(da, db difference, a, b profiles.Tails, t, tol, scale, x, err float64) (float64, float64) {
	if scale != 0 || math.IsInf(da.err, 1) || math.IsInf(db.err, 1) {
		return x, err
	}
	q, errQ := massQ(a, b, 0, 0)
	m := math.Expm1(t)
	y := da.x - db.x - m*q
	// Q's mass may be off by errQ, the exponent by tol, and each operation by u.
	e := da.err + db.err + math.Abs(m)*errQ + math.Exp(t)*tol*(1+1e-9)*(q+errQ) + 4*xmath.U*(da.x+db.x+math.Abs(m)*q)
	if e < err {
		return y, e
	}
	return x, err
}
