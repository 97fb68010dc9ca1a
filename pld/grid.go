// The part of a lattice on which a profile matters.

package pld

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Range returns losses lo < hi such that the finite loss exceeds hi with
// log P-probability at most logAbove, and is at most lo with at most logBelow;
// or the ends of the support if they come first. Where no loss is finite, lo is
// +Inf and hi is −Inf.
func Range(p profiles.Profile, logAbove, logBelow float64) (lo, hi float64) {
	sup := p.Support()
	above := func(t float64) bool {
		x := p.Tails(t, 0).P
		if !math.IsInf(sup.LogPInf, -1) {
			// Rounding leaves no smaller difference than this.
			x = xmath.LogSub(x, sup.LogPInf+8*xmath.U*(1+math.Abs(sup.LogPInf)))
		}
		return x > logAbove
	}
	below := func(t float64) bool { return p.Tails(-t, 0).PC > logBelow }
	return -reach(below, -sup.Min), reach(above, sup.Max)
}

// reach returns the smallest t, to a few percent of its distance from 0, at
// which far is false; at most end.
func reach(far func(float64) bool, end float64) float64 {
	// Bracket by powers of two on the side of the answer.
	sign := 1.0
	if !far(0) {
		sign = -1 // the bulk lies on the other side of 0
	}
	const tiny, huge = -40, 1000
	passed := func(e int) bool {
		t := math.Ldexp(sign, e)
		return sign < 0 && far(t) || sign > 0 && (t >= end || !far(t))
	}
	e := leastInt(tiny, huge, passed)
	in, out := 0.0, math.Ldexp(sign, e)
	switch {
	case sign < 0:
		in, out = out, 0
		if e > tiny && e < huge {
			out = in / 2
		}
	case out >= end || e == huge:
		return min(out, end)
	case e > tiny:
		in = out / 2
	}
	_, out = xmath.Bisect(in, out, 8, far)
	return min(out, end)
}

// leastInt returns the least e in [lo, hi] at which a condition holds that holds
// from there on, and hi if there is none. It starts from 0 and goes up in small
// steps at first: tails far out are dear.
func leastInt(lo, hi int, holds func(int) bool) int {
	// Invariant: it does not hold below lo, and holds at hi if anywhere.
	e, up, down := 0, 2, 3
	for lo < hi {
		if e < lo || e >= hi {
			e = lo + (hi-lo)/2
		}
		if holds(e) {
			hi, e = e, e-down
			down *= 2
			continue
		}
		lo, e = e+1, e+up
		if e > 12 {
			up *= 2
		}
	}
	return lo
}

// Coarse returns an upper law of p on losses that follow its tails: from one to
// the next the log-odds of exceeding the loss change by at most res, down to the
// given log-probabilities. It is not on a lattice. As any upper law it is above
// p, so its K(θ) for θ > 0 bounds that of p. Once stop, if not nil, reports true, no more
// losses are looked at: the law is above p all the same, but may be far above.
func Coarse(p profiles.Profile, logAbove, logBelow, res float64, stop func() bool) *Law {
	if Listed(p) {
		return atomLaw(p.(*profiles.Discrete), +1)
	}
	return follow(p, logAbove, logBelow, func(float64) float64 { return res }, stop).upper()
}

// Follow returns the upper and the lower law of p on losses as those of Coarse, where
// res may depend on the log-odds.
func Follow(p profiles.Profile, logAbove, logBelow float64, res func(odds float64) float64, stop func() bool) (upper, lower *Law) {
	if Listed(p) {
		return atomLaw(p.(*profiles.Discrete), +1), atomLaw(p.(*profiles.Discrete), -1)
	}
	d := follow(p, logAbove, logBelow, res, stop)
	return d.upper(), d.lower()
}

// fewListed is up to how many atoms a law that is not on a lattice has them all.
const fewListed = 4096

// Listed reports whether Coarse and Follow return all atoms of p as they are, which costs next to nothing.
func Listed(p profiles.Profile) bool {
	d, ok := p.(*profiles.Discrete)
	return ok && len(d.Atoms()) <= fewListed
}

// follow places vertices along the tails; those between the ends, of the range and at atoms, until stop.
func follow(p profiles.Profile, logAbove, logBelow float64, res func(odds float64) float64, stop func() bool) *discretizer {
	lo, hi := Range(p, logAbove, logBelow)
	odds := func(t profiles.Tails) float64 {
		return max(t.P, logAbove-1) - max(t.PC, logBelow-1)
	}
	sup := p.Support()
	at := func(t float64) point { return point{t: t, tails: p.Tails(t, 0)} }
	pts := []point{at(lo)}
	var split func(a, b point, end float64, depth int)
	split = func(a, b point, end float64, depth int) {
		m := a.t + (b.t-a.t)/2
		if from := odds(a.tails); from-end <= min(res(from), res(end)) || depth == 0 || !(m > a.t && m < b.t) || stop != nil && stop() {
			pts = append(pts, b)
			return
		}
		mid := at(m)
		split(a, mid, odds(mid.tails), depth-1)
		split(mid, b, end, depth-1)
	}
	ends := []float64{hi}
	for _, a := range sup.Atoms {
		if a > lo && a < hi {
			ends = append(ends, a)
		}
	}
	slices.Sort(ends)
	for _, e := range slices.Compact(ends) {
		if !(e > pts[len(pts)-1].t) || e < hi && stop != nil && stop() {
			continue
		}
		last, b := pts[len(pts)-1], at(e)
		end := odds(b.tails)
		if odds(last.tails)-end > res(end) && slices.Contains(sup.Atoms, e) {
			// No point below an atom takes off what the odds fall by at it.
			end = odds(p.Tails(math.Nextafter(e, math.Inf(-1)), 0))
		}
		split(last, b, end, 52)
	}
	d := &discretizer{p: p, sup: sup, pts: pts}
	d.prune()
	d.fill()
	return d
}

// SpikeOffset returns a lattice offset that suits a loss piled up at one end of
// its support: there the likelihood ratio of all the mass within half a step of
// the last lattice point is that point's own, so that merging it costs nothing
// (docs/theory/accuracy.md §3). It is NaN for a profile without such an end
// (Support.Spike is NaN).
func SpikeOffset(p profiles.Profile, step float64) float64 {
	sup := p.Support()
	sign, at := 1.0, sup.Spike // a spike at the left end
	if math.Abs(sup.Spike-sup.Max) < math.Abs(sup.Spike-sup.Min) {
		sign = -1
	}
	// Positive while the lattice point lies before the mean ratio of the mass
	// between it and the end of the support.
	f := func(o float64) float64 {
		t := p.Tails(o+sign*step/2, 0)
		if sign > 0 {
			return t.PC - t.QC - o
		}
		return o - (t.P - t.Q)
	}
	end, _ := xmath.Bisect(step, -0.5*step, 40, func(m float64) bool { return f(at+sign*m) <= 0 })
	return at + sign*end
}
