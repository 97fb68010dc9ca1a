// Mixtures of laws, and the largest of their expectations along a lattice.

package adaptive

import (
	"math"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A member is a mixture of the laws of a family, a public choice: a weight for each law,
// none negative, the sum at least 1 and at most 1 + 16 u.
type member []float64

// value is Σ w_j v_j.
func (m member) value(values [][]float64, i int) float64 {
	sum := 0.0
	for j, w := range m {
		sum += w * values[j][i]
	}
	return sum
}

// The points of stretches for which members are left out, and of the parts of these for which more are.
const longStretch, shortStretch = 1 << 10, 1 << 5

// A joint finds the largest of the members' expectations at every point of a lattice.
//
// With v_j the laws' values at a point, top the largest of them and d > 0 a scale, a
// member's value is top·Σw − d·Σ w_j·drop_j, drop_j = (top − v_j)/d ≥ 0. Along a range of
// points each drop lies between its least and its largest. So a member whose sum with the
// least drops is above another's with the largest ones is below that one at all of these
// points, and is left out there.
type joint struct {
	members []member
	worst   int         // index of the law that sets the scale
	drop    [][]float64 // of each law at each point
	top     []float64
	values  atomic.Int64 // of members that were computed, sums of drops included
}

// join sets g to upper bounds of the largest values of the members, given the laws' values.
func (t *joint) join(values [][]float64, g []float64) {
	laws := len(values)
	if len(t.top) != len(g) {
		t.top = make([]float64, len(g))
		t.drop = make([][]float64, laws)
		for j := range t.drop {
			t.drop[j] = make([]float64, len(g))
		}
	}
	all := make([]int, len(t.members))
	for i := range all {
		all[i] = i
	}
	parallel.Do((len(g)+longStretch-1)/longStretch, func(s int) {
		lo, hi := s*longStretch, min((s+1)*longStretch, len(g))
		for i := lo; i < hi; i++ {
			t.drops(values, i)
		}
		some := t.contenders(lo, hi, all)
		for ; lo < hi; lo += shortStretch {
			t.fill(values, g, lo, min(lo+shortStretch, hi), some)
		}
	})
}

// drops sets what is compared at a point.
func (t *joint) drops(values [][]float64, i int) {
	top, base := values[0][i], math.Inf(-1)
	for j := range values {
		top = max(top, values[j][i])
		if j != t.worst {
			base = max(base, values[j][i])
		}
	}
	// The scale makes drops comparable along the lattice; any positive one is right.
	d := values[t.worst][i] - base
	if !(d > 1e-9*math.Abs(top)) {
		d = 1e-9*math.Abs(top) + 1e-300
	}
	t.top[i] = top
	for j := range values {
		t.drop[j][i] = (top - values[j][i]) / d
	}
}

// fill is join for the points lo..hi−1, where the members not in some are below others.
//
// Rounding: a drop is known to 3 u·top/d, so that the comparison decides up to 8 u·top in
// the values; so does the sum of a member's terms, of at most 16 laws. 64 u·top covers
// both.
func (t *joint) fill(values [][]float64, g []float64, lo, hi int, some []int) {
	some = t.contenders(lo, hi, some)
	t.values.Add(int64((hi - lo) * len(some)))
	for i := lo; i < hi; i++ {
		best := math.Inf(-1)
		for _, n := range some {
			best = max(best, t.members[n].value(values, i))
		}
		if math.IsNaN(t.top[i]) {
			best = t.top[i]
		}
		g[i] = best + 64*xmath.U*math.Abs(t.top[i])
	}
}

// contenders are those of some that may be the largest at a point of lo..hi−1.
func (t *joint) contenders(lo, hi int, some []int) []int {
	laws := len(t.drop)
	least, most := make([]float64, laws), make([]float64, laws)
	for j, d := range t.drop {
		least[j], most[j] = d[lo], d[lo]
		for _, v := range d[lo+1 : hi] {
			least[j], most[j] = min(least[j], v), max(most[j], v)
		}
	}
	t.values.Add(2 * int64(len(some)))
	cap := math.Inf(1)
	sums := make([]float64, len(some))
	for i, n := range some {
		low, high := 0.0, 0.0
		for j, w := range t.members[n] {
			low += w * least[j]
			high += w * most[j]
		}
		sums[i], cap = low, min(cap, high)
	}
	var left []int
	for i, n := range some {
		// Negated, so that what is no number stays.
		if !(sums[i] > cap) {
			left = append(left, n)
		}
	}
	return left
}
