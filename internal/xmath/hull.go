package xmath

import "math"

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
	factor, round := 1.0, 16*float64(len(hull)+1)*U
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
