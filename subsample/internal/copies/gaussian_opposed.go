// §12: an attack on zero-out in a batch of fixed size, all other records opposing the one
// whose place is emptied.

package copies

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// How the outputs are told apart: cells of cellWidth up to cellReach from the centres of the
// likeliest numbers of copies. Only how much is lost depends on them, not what is proved:
// an attacker who sees cells sees less.
const (
	cellWidth   = 0.025
	cellReach   = 12
	cellCentres = 6     // numbers of copies that get cells
	cellRare    = 1e-12 // less likely ones get none
)

// NewGaussianOpposed returns the pair (Σ_u p_u N(2uθ, 1), Σ_u p_u N(uθ, 1)) with its outputs
// told apart by cells only, which is a pair that is attained: all other records are −x, where
// x is at distance theta from an empty place (docs/theory/subsampling.md §12).
func NewGaussianOpposed(law Law, theta float64) (*profiles.Discrete, error) {
	ends := cellEnds(law, theta)
	n := len(ends) + 1
	var atoms []profiles.Atom
	massErr, lossErr := 0.0, 0.0
	for i := range n {
		lo, hi := math.Inf(-1), math.Inf(1)
		if i > 0 {
			lo = ends[i-1]
		}
		if i < n-1 {
			hi = ends[i]
		}
		p, pErr := cellMass(law, 2*theta, lo, hi)
		q, qErr := cellMass(law, theta, lo, hi)
		if math.IsInf(p, -1) || math.IsInf(q, -1) {
			continue // less than any float64; left out, which only lowers
		}
		atoms = append(atoms, profiles.Atom{Loss: p - q, LogP: p, LogQ: q})
		massErr = max(massErr, pErr/(1-p), qErr/(1-q))
		lossErr = max(lossErr, pErr+qErr+xmath.U*math.Abs(p-q))
	}
	none := math.Inf(-1)
	return profiles.NewDiscrete(atoms, none, none, massErr, lossErr)
}

// cellEnds returns the ends between the cells, ascending.
func cellEnds(law Law, theta float64) []float64 {
	centres := []float64{0}
	for u := 1; u < len(law.LogP) && len(centres) < 2*cellCentres; u++ {
		if law.LogP[u] > xmath.Log(cellRare) || u == 1 {
			centres = append(centres, float64(u)*theta, 2*float64(u)*theta)
		}
	}
	slices.Sort(centres)
	var ends []float64
	for _, c := range slices.Compact(centres) {
		steps := int(2 * cellReach / cellWidth)
		for i := range steps + 1 {
			x := c - cellReach + float64(i)*cellWidth
			if len(ends) == 0 || x >= ends[len(ends)-1]+cellWidth {
				ends = append(ends, x)
			}
		}
	}
	return ends
}

// cellMass returns log Σ_u p_u P(lo < N(u·shift, 1) ≤ hi), and its error.
func cellMass(law Law, shift, lo, hi float64) (log, err float64) {
	s := newLogSum()
	n := 0
	for u, l := range law.LogP {
		if u > 0 && law.LogAbove[u]+far < s.now() {
			break
		}
		c := float64(u) * shift
		a, b := lo-c, hi-c
		round := xmath.U * (2*c + math.Abs(c)) // of the centre
		var m, e float64
		switch {
		case math.IsInf(lo, -1):
			m = xmath.LogNormalTail(-b)
			e = normalErr(m, -b, round+xmath.U*math.Abs(b))
		case math.IsInf(hi, 1):
			m = xmath.LogNormalTail(a)
			e = normalErr(m, a, round+xmath.U*math.Abs(a))
		default:
			w := hi - lo
			m, e = xmath.LogNormalBetween((a+b)/2, w)
			far := math.Abs(a+b)/2 + w/2
			moved := round + 2*xmath.U*(math.Abs(a)+math.Abs(b))
			// The interval moves by moved; its width is off by an ulp of its ends.
			e += (far+moved)*moved + 2*xmath.U*(math.Abs(lo)+math.Abs(hi))/w*(1+w*far)
		}
		s.add(l+m, law.Err[u]+e)
		n++
	}
	log, err = s.value(n)
	return log, err + leftOut
}

func notGaussian(b profiles.Mechanism) error {
	return fault.New("mechanism", "%q is not in [gaussian]", b.Name())
}
