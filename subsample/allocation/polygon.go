package allocation

import (
	"cmp"
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
		lq := xmath.Log(q[k])
		lp := lq + vs[k].eps
		atoms = append(atoms, profiles.Atom{Loss: vs[k].eps, LogP: lp, LogQ: lq}, profiles.Atom{Loss: -vs[k].eps, LogP: lq, LogQ: lp})
		rest.Add(-q[k])
		rest.Add(-math.Exp(lp))
	}
	// Rounding up next to α = 1 may make more than 1 of all masses, by an ulp over the gap there.
	excess := max(0, -rest.Value())
	if excess > 1e-10 {
		return nil, errors.New("internal error: the polygon of a substitution is not the profile of a pair")
	}
	if x := rest.Value(); x > 0 {
		atoms = append(atoms, profiles.Atom{Loss: 0, LogP: xmath.Log(x), LogQ: xmath.Log(x)})
	}
	l := xmath.Log(pInf)
	return profiles.NewDiscrete(atoms, l, l, 32*u+excess, 16*u*(1+vs[n-1].eps))
}

// wholeHull returns the lower convex hull, from ε = 0 on, of points there and of their reflections:
// at α = 1 it is not above the chord from (1/α, 1 − 1/α + h/α) to (α, h), for the next vertex.
func wholeHull(vs []vertex, above bool) []vertex {
	vs = hull(vs)
	for len(vs) >= 2 {
		a, h := math.Exp(vs[1].eps), vs[1].h
		chord := h + (a-1)*(1-h)/(a+1)
		if above {
			chord *= 1 + 16*u
		} else {
			chord *= 1 - 16*u
		}
		if vs[0].h <= chord {
			break
		}
		vs[0].h = chord
		n := len(vs)
		if vs = hull(vs); len(vs) == n {
			break
		}
	}
	return vs
}

// hull returns the lower convex hull of points, in α = e^ε.
func hull(vs []vertex) []vertex {
	slices.SortFunc(vs, func(a, b vertex) int {
		if a.eps != b.eps {
			return cmp.Compare(a.eps, b.eps)
		}
		return cmp.Compare(a.h, b.h)
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

// A known is an interval of h at one ε.
type known struct{ eps, low, up float64 }

// falling returns the intervals narrowed by what others know: h does not grow.
func falling(ks []known) []known {
	ks = slices.Clone(ks)
	for i := 1; i < len(ks); i++ {
		ks[i].up = min(ks[i].up, ks[i-1].up)
	}
	for i := len(ks) - 2; i >= 0; i-- {
		ks[i].low = max(ks[i].low, ks[i+1].low)
	}
	return ks
}

// beneath returns vertices of a curve below a symmetric h, of at least three points from ε = 0 on.
// Between two points it is the larger of two lines that come from the next ones outside, through
// an upper value there and the lower one here, which a convex h cannot cross: right of a point it
// lies above the line from the left, and the like. Left of 1 the next one outside is the
// reflection of the second. After the last point but one there is only the line from the left,
// until it meets 0; chords of lower values would not do.
func beneath(ks []known) []vertex {
	// line returns the value at eps of the line through (a, up) and (b, low), b next to eps.
	line := func(a, b known, eps float64) float64 {
		w := math.Expm1(a.eps - b.eps) // (α_a − α_b)/α_b
		return b.low + (a.up-b.low)/w*math.Expm1(eps-b.eps)
	}
	back := known{eps: -ks[1].eps, up: (-math.Expm1(-ks[1].eps) + ks[1].up*math.Exp(-ks[1].eps)) * (1 + 8*u)}
	from := func(i int) known {
		if i == 0 {
			return back
		}
		return ks[i-1]
	}
	var vs []vertex
	// end lets the line from the left meet 0, at α_k·(1 + low/fall) with fall for each α_k.
	end := func(i int) []vertex {
		k := ks[i]
		fall := (from(i).up - k.low) / -math.Expm1(from(i).eps-k.eps)
		if !(fall > 0) {
			return vs // below a point without a slope nothing is left
		}
		return append(vs, vertex{k.eps + math.Log1p(k.low/fall*(1-1e-12)), 0})
	}
	last := len(ks) - 2
	for i := range last {
		k, next := ks[i], ks[i+1]
		vs = append(vs, vertex{k.eps, k.low})
		// The lines cross, or one end is where the larger one changes.
		lo, hi := xmath.Bisect(k.eps, next.eps, 60, func(eps float64) bool { return line(from(i), k, eps) > line(ks[i+2], next, eps) })
		m := lo + (hi-lo)/2
		h := min(line(from(i), k, m), line(ks[i+2], next, m)) * (1 - 1e-12)
		if h <= 0 {
			return end(i) // points too far from each other
		}
		if m > k.eps && m < next.eps {
			vs = append(vs, vertex{m, h})
		}
	}
	vs = append(vs, vertex{ks[last].eps, ks[last].low})
	return end(last)
}
