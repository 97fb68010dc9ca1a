// ε in one table: where its reading is as wanted, and ends that its readings prove.
//
// It assumes nothing about how the quantity runs with ε but that it is monotone, which the quantities of
// inversion.go are: a reading that is certified on one side of the target is an end. Newton's method on the
// values makes it quick.

package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// found is what a table knows about the ε of a quantity.
type found struct {
	eps          float64 // where the quantity is as wanted, by the table's own value
	lower, upper float64 // certified
	reading      reading // at eps
}

// A bracket is where a root is; no step in it is longer than limit where an end is infinite.
type bracket struct{ lo, hi, limit float64 }

// cut takes what is above x away, or what is below it.
func (b *bracket) cut(x float64, above bool) {
	if above {
		b.hi = x
	} else {
		b.lo = x
	}
}

// inside returns x, or another point of the bracket if x is none.
func (b *bracket) inside(x float64) float64 {
	switch {
	case x > b.lo && x < b.hi:
		return x
	case !math.IsInf(b.lo, 0) && !math.IsInf(b.hi, 0):
		return b.lo + (b.hi-b.lo)/2
	case math.IsInf(b.hi, 0):
		return b.lo + b.limit
	}
	return b.hi - b.limit
}

// solve finds ε with quantity e^target in a table, and certified ends. Every reading that
// is certified to lie on one side of the target is an end, too: lower and upper are those
// known before.
func (t *table) solve(target, slack, eps, lower, upper float64, scale *terms) found {
	f := found{eps: math.NaN(), lower: lower, upper: upper, reading: reading{low: math.Inf(-1), high: math.Inf(1)}}
	dir := sideOf(t.theta).slope()
	limit := t.lambda() / 4
	read := func(eps float64) reading {
		r := t.read(eps, scale)
		r.low, r.high = r.low-slack, r.high+slack
		return r
	}
	where := bracket{lower, upper, limit} // by the values, which may be noise
	eps = where.inside(eps)
	for range 60 {
		r := read(eps)
		if math.IsNaN(r.mid) || !(r.slope*dir > 0) {
			// The sum is noise here: the quantity is too small for its terms. It is larger on
			// the other side.
			where.cut(eps, dir < 0)
			next := where.inside(eps + dir*math.Min(limit, 8/math.Abs(t.theta)))
			if next == eps || math.Abs(next-eps) < 1e-13*math.Abs(eps) {
				break
			}
			eps = next
			continue
		}
		f.eps, f.reading = eps, r
		where.cut(eps, !(dir*(r.mid-target) <= 0))
		if dir*(pick(r, dir > 0)-target) <= 0 {
			f.lower = math.Max(f.lower, eps)
		}
		if dir*(pick(r, dir < 0)-target) >= 0 {
			f.upper = math.Min(f.upper, eps)
		}
		step := (target - r.mid) / r.slope
		if math.Abs(step) > limit {
			step = math.Copysign(limit, step)
		}
		noise := 0.02 * (r.high - r.low) / math.Abs(r.slope)
		if math.Abs(step) <= math.Max(math.Min(noise, 1e-6*math.Abs(eps)), 2*xmath.U*math.Abs(eps)) {
			break
		}
		next := where.inside(eps + step)
		if next == eps || next <= where.lo || next >= where.hi {
			break
		}
		eps = next
	}
	if math.IsNaN(f.eps) {
		return f
	}
	r := f.reading
	slope := math.Abs(r.slope)
	f.upper = math.Min(f.upper, certify(read, f.eps, math.Max(0, dir*(target-pick(r, dir < 0)))/slope, target, dir))
	f.lower = math.Max(f.lower, certify(read, f.eps, -math.Max(0, dir*(pick(r, dir > 0)-target))/slope, target, dir))
	return f
}

func pick(r reading, high bool) float64 {
	if high {
		return r.high
	}
	return r.low
}

// certify goes from eps by 1.05·step, and further until the quantity, which rises where dir is 1, is proved to have passed the target. It
// returns an infinite end when it never is. Upwards a decreasing quantity must have its upper bound below the target, an increasing one its
// lower bound above it; downwards the other way round.
func certify(read func(float64) reading, eps, step, target, dir float64) float64 {
	sign := math.Copysign(1, step)
	if math.IsInf(step, 0) || math.IsNaN(step) {
		return math.Copysign(math.Inf(1), step)
	}
	d := 1.05*math.Abs(step) + 4*xmath.U*math.Abs(eps) + math.SmallestNonzeroFloat64
	for range 12 {
		x := eps + sign*d
		if r := read(x); sign*dir*(pick(r, sign*dir < 0)-target) >= 0 {
			return x
		}
		d *= 1.5
	}
	return math.Copysign(math.Inf(1), sign)
}
