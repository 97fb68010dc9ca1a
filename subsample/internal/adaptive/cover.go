// The comparison of §10: mixtures of laws that together dominate every place of the other
// records, found cell by cell. Linear programs steer; dominates proves.

package adaptive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/lp"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A family is a finite set of pairs on a lattice of losses such that every pair
// of neighbouring data sets is dominated, in one step, by one of its members: an
// upper bound for an adversary who places the other records anew at every step
// (docs/theory/subsampling.md §10). The single pair that dominates all of them, which Apply
// returns, must be the worst at every threshold at once; no data set is.
//
// Whatever the laws of the palette are, the proof that the family covers everything is the
// comparison of dominates. Which members are found depends on the tilt c that they are
// wanted for, where G falls like α^{−c}: they are those of the least expectation.
type family struct {
	*palette
	members []member
}

const (
	maxCells = 600
	harmless = 0.003 // of what worst costs: a member of no more is good enough

	// What a division takes for each node, measured (1,700 to 2,800), in the unit of parallel.WithWork.
	perCellNode = 2200
)

// newFamily covers all configurations, for the tilt c.
func newFamily(ctx context.Context, p *palette, c float64) (*family, error) {
	f := &family{palette: p}
	t := p.target(c)
	type covered struct {
		*bounded
		members [2]member // of the cell and of its mirror image
		value   float64   // of the dearer one
	}
	queue := []covered{{p.whole(), [2]member{}, math.Inf(1)}}
	for n := 0; len(queue) > 0; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := parallel.Spend(ctx, perCellNode*float64(len(p.x))); err != nil {
			return nil, err
		}
		// The worst first, so that the limit on cells costs least.
		worst := 0
		for i, c := range queue {
			if c.value > queue[worst].value {
				worst = i
			}
		}
		c := queue[worst]
		// A half that is dropped leaves their number: hence the limit on n.
		if len(f.members)/2+len(queue) > maxCells || n > 4*maxCells {
			if math.IsInf(c.value, 1) {
				return nil, fmt.Errorf("the configurations of the other records need more than %d cells", maxCells)
			}
			for _, c := range queue {
				f.members = append(f.members, c.members[:]...)
			}
			break
		}
		queue = slices.Delete(queue, worst, worst+1)
		var halves [2]covered
		split := c.split()
		parallel.Do(2, func(i int) {
			if split[i].empty() {
				return
			}
			b := c.part(split[i])
			h := covered{bounded: b, value: math.Inf(-1)}
			for i, side := range []*bounded{b, b.mirror()} {
				m, v := p.fit(side, t)
				h.members[i], h.value = m, max(h.value, v)
			}
			halves[i] = h
		})
		for _, h := range halves {
			switch {
			case h.bounded == nil:
			case h.value <= harmless:
				f.members = append(f.members, h.members[:]...)
			default:
				queue = append(queue, h)
			}
		}
	}
	return f, nil
}

// A target says what laws cost at each of a few tilts, relative to worst: 0 is near, 1
// worst. What counts is the largest cost: G is only about α^{−c}, and before the last steps
// also matters where it falls less.
type target [][]float64

// tilts are those of a target, in units of c, and how much costs there count. At the lower
// ones laws other than near cost more; without them 1000 steps of 200 of 10,000 records at
// noise 4 have ε ≤ 1.3369, with them 1.3345.
var tilts = [...]struct{ factor, weight float64 }{{0.3, 0.5}, {0.5, 1}, {0.7, 1}, {1, 1}, {1.4, 1}}

func (p *palette) target(c float64) target {
	var out target
	for _, at := range tilts {
		t := p.tilted(c * at.factor)
		base, unit := t[near], t[worst]-t[near]
		if !(unit > 1e-12*base) { // worst costs nothing
			unit = 1e-12 * base
		}
		for j := range t {
			t[j] = at.weight * (t[j] - base) / unit
		}
		out = append(out, t)
	}
	return out
}

func (t target) of(m member) float64 {
	most := math.Inf(-1)
	for _, cost := range t {
		sum := 0.0
		for j, w := range m {
			sum += w * cost[j]
		}
		most = max(most, sum)
	}
	return most
}

// fit finds a member that dominates b, of small cost, and sharpens the bounds of b that
// stand in its way. The cost is +Inf if none is found.
func (p *palette) fit(b *bounded, t target) (best member, cost float64) {
	cost = math.Inf(1)
	for {
		m, err := p.cheapest(b, t)
		if err == nil {
			if m, ok := p.dominates(m, b); ok {
				if v := t.of(m); v < cost {
					best, cost = m, v
				}
			}
			if cost <= harmless {
				return best, cost
			}
		}
		changed := false
		for k := range p.x {
			up, down := 1., 1.
			if err == nil {
				up, down = p.spare(m, b, k)
			} else { // worst alone does not do
				up, down = p.laws[worst].up[k]/b.up[k]-1, p.laws[worst].down[k]/b.down[k]-1
			}
			// What a member has to spare where it is bound is 1e-7 of the worst law's weight
			// and rounding.
			if up < 1e-6 && p.sharpen(b, k, true) {
				changed = true
			}
			if down < 1e-6 && p.sharpen(b, k, false) {
				changed = true
			}
		}
		if !changed {
			return best, cost
		}
	}
}

// spare returns by how much m is above b at a node, in units of worst's distance from the
// least of the laws there.
func (p *palette) spare(m member, b *bounded, k int) (up, down float64) {
	leastUp, leastDown := math.Inf(1), math.Inf(1)
	for j, w := range m {
		u, d := p.laws[j].up[k], p.laws[j].down[k]
		up, down = up+w*u, down+w*d
		leastUp, leastDown = min(leastUp, u), min(leastDown, d)
	}
	most := p.laws[worst].up[k]
	return (up - b.up[k]) / max(most-leastUp, 1e-13*most), (down - b.down[k]) / max(most-leastDown, 1e-13*most)
}

// cheapest solves the linear program of the member of least cost that is above b at every
// node. The weight of worst is what is left of 1. Rows are added where a solution fails. It is
// long because a solution is proved right after it is found.
func (p *palette) cheapest(b *bounded, t target) (member, error) {
	var laws []int
	var gain, lo, hi []float64
	for j := range p.laws {
		if j != worst {
			laws, gain, lo, hi = append(laws, j), append(gain, 1e-4*(1-t[0][j])), append(lo, 0), append(hi, 1)
		}
	}
	// The last variable is the largest cost: at most 1, which worst has.
	solver, err := lp.New(append(gain, -1), append(lo, -1e6), append(hi, 1))
	if err != nil {
		return nil, err
	}
	row := make([]float64, len(laws)+1)
	for i := range laws {
		row[i] = 1
	}
	if err := solver.AddRow(row, 1); err != nil {
		return nil, err
	}
	for _, cost := range t {
		for i, j := range laws {
			row[i] = cost[j] - cost[worst]
		}
		row[len(laws)] = -1
		if err := solver.AddRow(row, -cost[worst]); err != nil {
			return nil, err
		}
	}
	row[len(laws)] = 0
	add := func(k int, up bool) error {
		most := p.laws[worst].up[k]
		side := func(l nodeLaw) float64 { return l.down[k] }
		bound := b.down[k]
		if up {
			side, bound = func(l nodeLaw) float64 { return l.up[k] }, b.up[k]
		}
		for i, j := range laws {
			row[i] = (most - side(p.laws[j])) / most
		}
		return solver.AddRow(row, (most-bound)/most)
	}
	added := map[[2]int]bool{}
	for range 200 {
		x, _, err := solver.Maximize(context.Background())
		if err != nil {
			return nil, err
		}
		m := make(member, len(p.laws))
		m[worst] = 1
		for i, j := range laws {
			m[j] = x[i]
			m[worst] -= x[i]
		}
		m[worst] = max(0, m[worst])
		violated := p.violated(m, b, added)
		for _, v := range violated {
			added[v] = true
			if err := add(v[0], v[1] == 0); err != nil {
				return nil, err
			}
		}
		if len(violated) == 0 {
			return m, nil
		}
	}
	return nil, lp.ErrStalled
}

// violated returns where m is below b the most, for each of a few stretches of nodes and each
// side, 0 for up and 1 for down, leaving out what was added before.
func (p *palette) violated(m member, b *bounded, added map[[2]int]bool) (list [][2]int) {
	const stretches = 6
	for s := range stretches {
		for side := range 2 {
			at, worstOf := -1, -1e-12
			for k := s * len(p.x) / stretches; k < (s+1)*len(p.x)/stretches; k++ {
				spare, down := p.spare(m, b, k)
				if side == 1 {
					spare = down
				}
				if spare < worstOf && !added[[2]int{k, side}] {
					at, worstOf = k, spare
				}
			}
			if at >= 0 {
				list = append(list, [2]int{at, side})
			}
		}
	}
	return list
}

// dominates checks a member against b, after moving a little weight to the worst,
// so that rounding does not decide. Values that are no numbers fail.
//
// The laws are those of a θ larger by inflation and can spare the slack. It is for
// rounding: of the laws' values, of α = e^{x} at the nodes, and of the sides of
// triangles, each some u times at most a thousand, what log δ moves by.
func (p *palette) dominates(m member, b *bounded) (member, bool) {
	const shift = 1e-7
	m = slices.Clone(m)
	sum := 0.0
	for j, w := range m {
		m[j] = max(0, w)
		if j != worst {
			m[j] -= min(m[j], shift)
			sum += m[j]
		}
	}
	if !(sum <= 1) {
		return m, false
	}
	m[worst] = 1 - sum + 8*xmath.U // the sum of the weights is at least 1
	const down = 1 - 1e-11
	for k := range p.x {
		var up, rev float64
		for j, w := range m {
			up += w * p.laws[j].up[k]
			rev += w * p.laws[j].down[k]
		}
		if !(up*down >= b.up[k] && rev*down >= b.down[k]) {
			return m, false
		}
	}
	return m, true
}

// Proof (docs/theory/subsampling.md §10): a few laws instead of many.
//
// A few laws instead of many. Evaluating every cell at every step would cost a transform each. Instead seven laws on a
// lattice of losses are fixed: *near* (z = x'), its *reverse* (z = x), *right* (z at a right angle to both on the unit
// circle), *worst* (the larger of near and reverse at every α: the one-step profile of section 2), and three *edge* laws
// (s = 2, the right angle at x', t = 0.4, 0.75 and 1.15). For each cell the code looks for a mixture of them, as a
// public choice with weights, whose profile is at least the cell's at every lattice node. Between nodes the mixture's
// profile is its chord, which is above the chord of the cell's values, which is above the cell's convex profile; beyond
// the last node both are bounded by their value there. Then for every convex G
//
//	E_cell[G] ≤ Σ_j w_j E_j[G],
//
// and a step of the recursion takes seven expectations and, at each point, the largest of these sums. The laws need not
// be bounds of anything: the comparison is the proof, for any finite list of laws. They are those for a shift larger by
// 2e-4, so that the error of Φ hardly matters.
//
// *Which mixture.* Where G falls like α^{−c}, a mixture costs `Σ w_j E_j[e^{cL}]`. A linear program finds the cheapest
// one above the cell, for several tilts around the saddle point c. Cells whose mixture costs more than 0.003 of the
// distance from near to worst are halved, the dearest first, up to 600. A cell's mirror image has the same bounds with
// the directions exchanged, but a mixture of its own. *The largest* of some hundreds of mixtures is found by halving
// ranges of points and leaving out mixtures that stay below another one there; the result is that of trying all.
