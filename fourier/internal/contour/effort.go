// How hard the next table of a question is to try, by what the last one lacked.
//
// It assumes a reading, with its error by cause. It steers, and proves nothing.

package contour

import "math"

// An effort is how much more than planned the next table of a question tries: shares of the
// goal of its errors and of the condition allowed, and the condition of the last table, by
// which the errors of the transforms count.
// own is what of that is not the choice of the line: the condition at the saddle.
type effort struct{ goal, condition, seen, own float64 }

// allowed is how far above the smallest possible the terms of a sum may be, for errors of tol.
func (e *effort) allowed(tol float64) float64 {
	return math.Max(1.5, math.Max(30, math.Min(1e4, tol/1e-14))*e.condition/e.own)
}

// learn takes the own condition from a table.
func (e *effort) learn(q *cumulant, r reading, theta, eps, saddle float64) {
	if c := r.condition; c > 0 && !math.IsInf(c, 0) {
		loss := math.Exp(math.Max(0, q.excess(theta, eps)-q.excess(saddle, eps)))
		if own := c / loss / 30; own > e.own {
			e.own = math.Min(own, 1e6)
		}
	}
}

// doubtLess follows a table of which nothing was certain: the next one is to be finer, and its
// terms are to cancel less.
func (e *effort) doubtLess() {
	e.condition = math.Max(e.condition/10, 1e-3)
	e.goal = math.Max(e.goal/4, 1e-3)
}

// after turns up what the last table lacked. It returns false when that was tried before.
func (e *effort) after(r reading) bool {
	if math.Max(r.rounding, r.quadrature) <= math.Max(r.aliasing, r.truncation) {
		e.goal /= 20
		return true
	}
	if r.quadrature > 8*r.rounding && r.condition > 4*e.seen {
		// The nodes were too few; what the transforms lose by floating point is a few
		// times the rounding here.
		e.seen = r.condition
		return true
	}
	e.seen = math.Max(e.seen, r.condition)
	if e.condition <= 1e-3 {
		return false
	}
	e.condition /= 20
	return true
}
