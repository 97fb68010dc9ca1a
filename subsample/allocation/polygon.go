package allocation

import (
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A vertex is a point (e^Eps, H) of a privacy profile h(α).
type vertex struct{ eps, h float64 }

// symmetric returns the profile of a symmetric pair whose h is the polygon through the vertices
// from α = 1 on, constant beyond the last, and its reflection 1 − α + αh(1/α) below. above rounds
// masses up, so that the law lies above the vertices, else down. The vertices are convex and
// fall; the first is at ε = 0.
//
// Masses come from the right, each from what the polygon still lacks at the vertex to the
// left: Q-mass q_k at α_k adds q_k(α_k − α) to every h(α) left of it.
func symmetric(vs []vertex, above bool) (*profiles.Discrete, error) {
	n := len(vs)
	pInf := 0.0
	if above {
		pInf = vs[n-1].h
	}
	// h(α) = far·1 + Σ q_j(α_j − α), of the masses so far; with tilt = Σ q_j.
	h, slope := pInf, 0.0
	if !above {
		h = 0
	}
	q := make([]float64, n)
	sign := -1.0
	if above {
		sign = 1
	}
	for k := n - 1; k >= 1; k-- {
		gap := math.Exp(vs[k-1].eps) * math.Expm1(vs[k].eps-vs[k-1].eps)
		if !above && k == n-1 {
			// Below, the last vertex is where h becomes 0.
			h = 0
		}
		at := h + slope*gap // at the vertex to the left
		lack := vs[k-1].h - at
		round := sign * 16 * u * (vs[k-1].h + at) * float64(n)
		if x := (lack + round) / gap; x > 0 {
			q[k] = x
			slope += x
		}
		h += slope * gap
	}
	var atoms []profiles.Atom
	var rest xmath.Sum
	rest.Add(1 - pInf)
	for k := 1; k < n; k++ {
		if q[k] == 0 {
			continue
		}
		lq := math.Log(q[k])
		lp := lq + vs[k].eps
		atoms = append(atoms, profiles.Atom{Loss: vs[k].eps, LogP: lp, LogQ: lq}, profiles.Atom{Loss: -vs[k].eps, LogP: lq, LogQ: lp})
		rest.Add(-q[k])
		rest.Add(-math.Exp(lp))
	}
	if rest.Value() < -1e-12 {
		return nil, errors.New("internal error: the polygon of a substitution is not the profile of a pair")
	}
	if x := rest.Value(); x > 0 {
		atoms = append(atoms, profiles.Atom{Loss: 0, LogP: math.Log(x), LogQ: math.Log(x)})
	}
	l := math.Log(pInf)
	return profiles.NewDiscrete(atoms, l, l, 32*u, 16*u*(1+vs[n-1].eps))
}

// hull returns the lower convex hull of points, in α = e^ε.
func hull(vs []vertex) []vertex {
	slices.SortFunc(vs, func(a, b vertex) int {
		if a.eps != b.eps {
			return compare(a.eps, b.eps)
		}
		return compare(a.h, b.h)
	})
	var out []vertex
	for _, v := range vs {
		if n := len(out); n > 0 && v.eps <= out[n-1].eps {
			continue
		}
		for len(out) >= 2 {
			a, b := out[len(out)-2], out[len(out)-1]
			// b is above the chord from a to v.
			left := math.Expm1(b.eps - a.eps)
			right := math.Exp(b.eps-a.eps) * math.Expm1(v.eps-b.eps)
			if (b.h-a.h)*right < (v.h-b.h)*left {
				break
			}
			out = out[:len(out)-1]
		}
		out = append(out, v)
	}
	return out
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// A known is an interval of h at one ε.
type known struct{ eps, low, up float64 }

// beneath returns vertices of a convex curve below h: between two points the larger of the lines
// that come from the next ones outside, through an upper value there and a lower one here, which
// a convex h cannot cross.
func beneath(ks []known) []vertex {
	n := len(ks)
	var vs []vertex
	// line returns the value at eps of the line through (a, up) and (b, low), b next to eps.
	line := func(a, b known, eps float64) float64 {
		w := math.Expm1(a.eps - b.eps) // (α_a − α_b)/α_b
		x := math.Expm1(eps - b.eps)
		return b.low + (a.up-b.low)/w*x
	}
	for i, k := range ks {
		vs = append(vs, vertex{k.eps, k.low})
		if i+1 == n {
			break
		}
		next := ks[i+1]
		// The lines cross at one place, or one of them is missing.
		left := func(eps float64) float64 {
			if i == 0 {
				return 0
			}
			return max(0, line(ks[i-1], k, eps))
		}
		right := func(eps float64) float64 {
			if i+2 >= n {
				return 0
			}
			return max(0, line(ks[i+2], next, eps))
		}
		lo, hi := k.eps, next.eps
		if left(lo) <= right(lo) || left(hi) >= right(hi) {
			if i == 0 || i+2 >= n {
				continue
			}
		}
		for range 60 {
			if mid := lo + (hi-lo)/2; left(mid) > right(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		m := lo + (hi-lo)/2
		vs = append(vs, vertex{m, min(left(m), right(m)) * (1 - 1e-12)})
	}
	return vs
}
