// The tilt and the length of the transform, chosen together.
//
// It assumes the cumulant of laws that reach as far as the question needs. It returns what is
// expected to be shortest; how much of δ wraps around the window that was chosen is bounded by
// read.go from the composition itself.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A window is a tilt and a length of the transform in units of loss.
type window struct {
	theta, width float64
	s            float64 // where the Chernoff bound of the right tail is best
}

// Tilts and Chernoff abscissae that are tried. Any of them is sound; these were found to be enough.
const (
	tiltLoss   = 1e3  // steers: by how much a sum may be smaller than at the saddle, for a shorter window
	firstTail  = 8    // steers: part of the Gaussian optimum at which the search for an abscissa begins
	tailFactor = 1.35 // steers: from one to the next
	mostTail   = 40   // steers: times the first one
)

// shares of the saddle that are tried as tilts.
var shares = [...]float64{1, 1.15, 0.9, 0.8, 0.7, 0.6, 0.5} // steers: time for length

// window chooses tilt and width together (docs/theory/accuracy.md §6): the saddle is not the
// best tilt when the tilted law has rare big jumps. tol is the share of δ that
// may alias.
func (c *cumulant) window(eps, logDelta, saddle, maxTheta, tol float64) window {
	best := window{width: math.Inf(1)}
	var refS float64
	for _, rho := range shares {
		th := min(rho*saddle, maxTheta)
		k, _, v := c.at(th)
		logS := logDelta - k + th*eps
		if rho == 1 {
			refS = logS
		} else if refS-logS > xmath.Log(tiltLoss) || th == maxTheta && rho != 1 {
			continue
		}
		left := (-xmath.Log(tol) - logDelta) / th
		logW := th*xmath.Log(th) - (1+th)*math.Log1p(th)
		right, s := math.Inf(1), 0.0
		// Geometric trial of s around the Gaussian optimum.
		need := logW - logS - xmath.Log(tol)
		s0 := math.Sqrt(2*max(need, 1)/max(v, 1e-300)) / firstTail
		for f := 1.0; f < mostTail; f *= tailFactor {
			ks, _, _ := c.at(th + s0*f)
			if r := (ks-k+need)/(s0*f) - eps; r < right {
				right, s = r, s0*f
			} else if r > 2*right {
				break
			}
		}
		if w := max(left, right); w < best.width {
			best = window{th, w, s}
		}
	}
	return best
}
