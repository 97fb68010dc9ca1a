// A pair of laws from a bound on its privacy profile that is known at some ε, with chords
// between.

package darrm

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// fromChords returns a pair of laws whose profile is at least a convex, falling function of
// λ = e^ε ≥ 1 that is known at some ε, 0 the first of them, to be at most w, and for ε beyond
// the last. The profile is continued to λ < 1 as one that is its own reverse.
func fromChords(eps, w []float64) (*profiles.Discrete, error) {
	// The lower hull of the points is no less than the function. In front is the mirror
	// image of the second point, so that the hull is convex at λ = 1 too.
	w = slices.Clone(w)
	if len(eps) > 1 {
		l := math.Exp(-eps[1])
		mirror := -math.Expm1(-eps[1]) + l*w[1]
		share := -math.Expm1(-eps[1]) / (math.Exp(eps[1]) - l)
		w[0] = min(w[0], mirror*(1-share)+w[1]*share)
	}
	var hull []int
	slope := func(i, j int) float64 { // e^{ε_i} times the fall from i to j in λ
		return (w[i] - w[j]) / math.Expm1(eps[j]-eps[i])
	}
	for j := range eps {
		for len(hull) > 1 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if slope(a, b)*math.Exp(eps[b]-eps[a]) > slope(b, j) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, j)
	}
	// P at ε_j is λ_j times the change of slope there, Q that without λ_j.
	n := len(hull)
	p := make([]float64, n)
	for i, j := range hull {
		after := 0.0
		if i+1 < n {
			after = slope(j, hull[i+1])
		}
		if i > 0 {
			b := hull[i-1]
			p[i] = max(0, slope(b, j)*math.Exp(eps[j]-eps[b])-after)
		} else {
			p[i] = max(0, 1-w[0]-2*after) // both halves meet
		}
	}
	inf := w[len(w)-1]
	// What the masses make of w, by sums of positive terms; a lack of it by rounding is an
	// error of the masses.
	lack := 0.0
	for i := range n - 1 {
		sum := inf
		for k := n - 1; k > i; k-- {
			sum -= p[k] * math.Expm1(eps[hull[i]]-eps[hull[k]])
		}
		if sum > 0 {
			lack = max(lack, w[hull[i]]/sum-1)
		}
	}
	var atoms []profiles.Atom
	most := 0.0
	for i, j := range hull {
		if p[i] <= 0 {
			continue
		}
		lp := xmath.Log(p[i])
		lq := lp - eps[j]
		atoms = append(atoms, profiles.Atom{Loss: eps[j], LogP: lp, LogQ: lq})
		if j > 0 {
			atoms = append(atoms, profiles.Atom{Loss: -eps[j], LogP: lq, LogQ: lp})
		}
		most = max(most, math.Abs(lp), math.Abs(lq))
	}
	rest := math.Inf(-1)
	if inf > 0 {
		rest = xmath.Log(inf)
	}
	return profiles.NewDiscrete(atoms, rest, rest, lack+xmath.U*(16+2*most+float64(n)), 0)
}
