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

const (
	atOnce     = 1 << 10 // stretches of a lattice that are longer are halves worked on at the same time
	fewMembers = 4       // so many are tried at each point
	fewPoints  = 8       // so few are not divided further
	settled    = 0.9     // a half with more of the members than this is worth a division only down to manyPoints
	manyPoints = 64
)

// A joint finds the largest of the members' expectations at every point of a lattice.
//
// With v_j the laws' values at a point, top the largest of them and d > 0 a scale, a
// member's value is top·Σw − d·Σ w_j·drop_j, drop_j = (top − v_j)/d ≥ 0. Along a range of
// points each drop lies between its least and its largest. So a member whose sum with the
// least drops is above another's with the largest ones is below that one at all of these
// points, and is left out there. Ranges are halved until few members are left.
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
	stretches := (len(g) + atOnce - 1) / atOnce
	parallel.Do(stretches, func(s int) {
		for i := s * atOnce; i < min((s+1)*atOnce, len(g)); i++ {
			t.drops(values, i)
		}
	})
	all := make([]int, len(t.members))
	for i := range all {
		all[i] = i
	}
	t.fill(values, g, 0, len(g), all)
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

// fill is join for the points lo..hi−1, where the members not in some are below others. What it divides does not
// depend on the number of cores, and neither do its values.
//
// Rounding: a drop is known to 3 u·top/d, so that the comparison decides up to 8 u·top in
// the values; so does the sum of a member's terms, of at most 16 laws. 64 u·top covers
// both.
func (t *joint) fill(values [][]float64, g []float64, lo, hi int, some []int) {
	if hi-lo > fewPoints && len(some) > fewMembers {
		left := t.contenders(lo, hi, some)
		if hi-lo > manyPoints || float64(len(left)) < settled*float64(len(some)) || len(left) <= fewMembers {
			some = left
		}
		if len(some) > fewMembers {
			mid := lo + (hi-lo)/2
			halves := func(i int) { t.fill(values, g, [2]int{lo, mid}[i], [2]int{mid, hi}[i], some) }
			if hi-lo > atOnce {
				parallel.Do(2, halves)
			} else {
				halves(0)
				halves(1)
			}
			return
		}
	}
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
