package xmath

import "math"

// Chords returns the masses of the law whose profile joins the values h by chords
// as far as they are convex in α, its own values, and the mass beyond the last
// node. At the corners of h's lower hull the law is at least h, rounding included;
// value is its own to 8n roundings.
func Chords(x, h []float64) (mass, value []float64, inf float64) {
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
	// Between nodes the profile falls with slope Q(L ≥ next node): q, in units of
	// e^−x of that node. All terms are positive.
	value[n] = inf
	q := 0.0
	for j := n - 1; j >= 0; j-- {
		d := x[j] - x[j+1]
		q += mass[j+1]
		value[j] = value[j+1] - math.Expm1(d)*q
		q *= math.Exp(d)
	}
	up := 1.0
	for _, j := range hull {
		if h[j] > up*value[j] {
			up = h[j] / value[j]
		}
	}
	up *= 1 + 16*float64(n+1)*U
	for j := range value {
		mass[j] *= up
		value[j] *= up
	}
	return mass, value, inf * up
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
