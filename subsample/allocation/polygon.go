package allocation

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A vertex is a point (e^Eps, H) of a privacy profile h(α).
type vertex struct{ eps, h float64 }

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

// above returns the polygon through upper ends.
func above(ks []known) (*profiles.Discrete, error) {
	x, h := make([]float64, len(ks)), make([]float64, len(ks))
	for i, k := range ks {
		x[i], h[i] = k.eps, k.up
	}
	return profiles.NewChords(x, h, h)
}

// below returns the polygon of beneath.
func below(ks []known) (*profiles.Discrete, error) {
	var x, h []float64
	for _, v := range beneath(ks) {
		if n := len(x); n > 0 && v.eps <= x[n-1] {
			h[n-1] = min(h[n-1], v.h)
			continue
		}
		x, h = append(x, v.eps), append(h, v.h)
	}
	return profiles.NewChordsBelow(x, h)
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
