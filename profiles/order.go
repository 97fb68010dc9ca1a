package profiles

// A pair of which nobody says which data set is the first: the least symmetric profile above a
// discrete one and its reverse, up to chords. It assumes nothing of the profile.

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// EitherOrder returns a symmetric profile that dominates p and its reverse: p itself if it is
// symmetric. At the losses of p it is the larger of the two, up to rounding, and a chord in e^ε between
// them.
//
// Both profiles are polygons in e^ε whose corners are at these losses, and the larger of two convex functions is
// convex: the chords of what is above both at the corners are above both.
func EitherOrder(p *Discrete) (*Discrete, error) {
	reverse := Reverse(p).(*Discrete)
	if Equal(p, reverse) {
		return p, nil
	}
	x := []float64{0}
	for _, d := range []*Discrete{p, reverse} {
		for _, a := range d.atoms {
			if a.Loss > 0 {
				x = append(x, a.Loss+d.lossErr)
			}
		}
	}
	slices.Sort(x)
	x = slices.Compact(x)
	h, back := p.corners(x), reverse.corners(x)
	for i, v := range back {
		h[i] = max(h[i], v)
	}
	return NewChords(x, h, h)
}

// corners returns δ at losses x from 0 up, among which those of the profile are, rounded up: losses are moved to the right by their
// error and masses up by theirs. Masses below 1e-300 are raised to it. What has a loss of at most 0 has one of at most the error,
// which counts at 0.
func (d *Discrete) corners(x []float64) []float64 {
	n := len(x)
	up := func(log float64) float64 {
		if math.IsInf(log, -1) {
			return 0
		}
		return max(math.Exp(log)*(1+d.massErr*(1+math.Abs(log))+4*xmath.U), 1e-300)
	}
	mass, near := make([]float64, n), 0.0
	for _, a := range d.atoms {
		if k, ok := slices.BinarySearch(x, a.Loss+d.lossErr); ok && a.Loss > 0 {
			mass[k] += up(a.LogP)
		} else if a.Loss > -d.lossErr {
			near += up(a.LogP) * d.lossErr
		}
	}
	value := values(x, mass, up(d.logPInf))
	for k, v := range value {
		// Sums and products of positive terms, a few of them for each loss.
		value[k] = min(1, v*(1+16*float64(n+4)*xmath.U))
	}
	value[0] = min(1, value[0]+near*(1+4*xmath.U))
	return value
}

// Example (docs/theory/subsampling.md §9): both orders are needed.
//
// Let the record z that x displaces be of either kind. With P = (1, 0), Q = (½, ½), n = 2, m = 1: if x has Q and z has
// P, removing x shows the second outcome with probability ¼, which z alone never shows; the other way round the loss
// is at most log 2.
