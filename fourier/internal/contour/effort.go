// How hard the next table of a question is to try, by what the last one lacked.
//
// It assumes a reading, with its error by cause. It steers, and proves nothing.

package contour

import "math"

const (
	roundingShare = 5e-15 // steers: about the error of a sum by floating point, as a share of its terms
	firstOwn      = 30    // steers: the condition at the saddle where none is known
)

// cost is the condition of the sum, or more where floating point costs more than its share.
func (r reading) cost() float64 {
	if r.folded {
		return r.condition // what an FFT of laws loses no line mends
	}
	return math.Max(r.condition, (r.rounding+r.quadrature)/roundingShare)
}

// limited reports whether the errors that grow with the condition are the largest.
func (r reading) limited() bool {
	return math.Max(r.rounding, r.quadrature) > math.Max(r.aliasing, r.truncation)
}

// An effort is what the next table of a question is made for: own is the cost of the sum at the saddle, about, finer
// a share of the errors that were planned, and coarser by how much wider the answer may be. lost is what the last table lost by the
// condition.
type effort struct{ own, finer, coarser, lost float64 }

// coarser is by how much wider than wanted an answer may be, once and once more, where a table for it would take more than the work, and once where
// another line would hardly lose fewer digits. steers: time for width.
const coarser = 17

// lastFrequencies bounds the frequencies of a table for a wider answer. steers: time and memory for width.
const lastFrequencies = 1 << 17

func newEffort(own float64) effort {
	return effort{own: math.Min(math.Max(own, 1), 1e15), finer: 1, coarser: 1, lost: math.Inf(1)}
}

// after turns up what the last table lacked, whose sum would have the cost own at the saddle. It returns false where
// another one is no use.
func (e *effort) after(r reading, own float64) bool {
	if !(r.low > math.Inf(-1)) {
		// Nothing was certain.
		e.own, e.finer = 10*e.own, e.finer/4
		return true
	}
	if !r.limited() {
		e.finer /= 20
		return true
	}
	known, lost := *e, r.rounding+r.quadrature
	if own > e.own && !math.IsInf(own, 0) {
		e.own = own
	}
	e.lost = lost
	return e.own > 4*known.own && lost < known.lost
}
