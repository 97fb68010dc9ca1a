// Searches in one variable.

package xmath

import (
	"math"
	"slices"
)

// Order returns 0 … n−1 sorted by compare, of which equal ones stay in order.
func Order(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// Bisect halves the interval between in, where a property holds, and out, where it does not, until the ends have no
// number between them, at most so many times, and returns the ends. holds is not asked at in and out.
func Bisect(in, out float64, halvings int, holds func(float64) bool) (float64, float64) {
	return bisect(in, out, halvings, false, holds)
}

// BisectLog is Bisect on the logarithms of positive ends.
func BisectLog(in, out float64, halvings int, holds func(float64) bool) (float64, float64) {
	return bisect(in, out, halvings, true, holds)
}

func bisect(in, out float64, halvings int, geometric bool, holds func(float64) bool) (float64, float64) {
	for range halvings {
		lo, hi := min(in, out), max(in, out)
		mid := lo + (hi-lo)/2
		if geometric {
			mid = math.Sqrt(lo) * math.Sqrt(hi)
		}
		if mid <= lo || mid >= hi {
			break
		}
		if holds(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return in, out
}

// GoldenSection evaluates f on ever smaller sections around a minimum between a
// and b, until they are narrower than tol. It returns nothing: f keeps what it
// wants of the values it saw, which is all that callers need for whom every
// value of f is a valid bound.
func GoldenSection(f func(float64) float64, a, b, tol float64) {
	const r = 0.6180339887498949
	x1, x2 := b-r*(b-a), a+r*(b-a)
	y1, y2 := f(x1), f(x2)
	for b-a > tol {
		if y1 <= y2 {
			b, x2, y2 = x2, x1, y1
			x1 = b - r*(b-a)
			y1 = f(x1)
		} else {
			a, x1, y1 = x1, x2, y2
			x2 = a + r*(b-a)
			y2 = f(x2)
		}
	}
}

// Chords returns the masses of the law whose profile joins the values h by chords
// as far as they are convex in α = e^x, its own values, and the mass beyond the last
// node. At the corners of h's lower hull the law is at least h, or at most h if it
// is to be below, rounding included; value is its own to 8 roundings for each corner.
func Chords(x, h []float64, below bool) (mass, value []float64, inf float64) {
	n := len(x) - 1
	mass, value = make([]float64, n+1), make([]float64, n+1)
	// slope is that from node i to j, in units of the value per α_at.
	slope := func(i, j, at int) float64 {
		return (h[j] - h[i]) / (math.Expm1(x[j]-x[at]) - math.Expm1(x[i]-x[at]))
	}
	hull := LowerHull(x, h)
	for k := 1; k < len(hull); k++ {
		i, j := hull[k-1], hull[k]
		mass[j] = -slope(i, j, j)
		if k+1 < len(hull) {
			mass[j] += slope(j, hull[k+1], j)
		}
		mass[j] = max(0, mass[j])
	}
	inf = h[n]
	// Between corners the profile falls with slope Q(L ≥ next corner): q, in units of
	// e^−x of that corner. All terms are positive.
	value[n] = inf
	q := 0.0
	for k := len(hull) - 1; k > 0; k-- {
		i, j := hull[k-1], hull[k]
		q += mass[j]
		for at := j - 1; at >= i; at-- {
			value[at] = value[j] - math.Expm1(x[at]-x[j])*q
		}
		q *= math.Exp(x[i] - x[j])
	}
	factor, round := 1.0, 8*float64(len(hull)+2)*U
	if below {
		round = -round
	}
	for _, j := range hull {
		if f := h[j] / value[j]; value[j] > 0 && (below && f < factor || !below && f > factor) {
			factor = f
		}
	}
	factor *= 1 + round
	for j := range value {
		mass[j] *= factor
		value[j] *= factor
	}
	return mass, value, inf * factor
}

// LowerHull lists the corners of the largest function of α = e^x that is convex
// and at most h.
func LowerHull(x, h []float64) []int {
	var hull []int
	for i := range h {
		for n := len(hull); n >= 2; n = len(hull) {
			a, b := hull[n-2], hull[n-1]
			// Slopes per α_b.
			if (h[b]-h[a])/-math.Expm1(x[a]-x[b]) < (h[i]-h[b])/math.Expm1(x[i]-x[b]) {
				break
			}
			hull = hull[:n-1]
		}
		hull = append(hull, i)
	}
	return hull
}

// Middle returns the middle of an interval, its end where both ends are the same, infinite ones too.
func Middle(lower, upper float64) float64 {
	if lower == upper {
		return lower
	}
	return lower + (upper-lower)/2
}
