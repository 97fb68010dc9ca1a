// The merged ranking: for one ε, the best order in which low losses, ascending, and high losses,
// descending, can be merged from the top. It is the attack where those that win and those
// that they are steered with are many: at small ε, and under Poisson laws of large mean. It
// assumes a pair that the candidate can be turned into, and returns a ranking of it.
//
// For a given order of the winners nothing is better above a winner than the lowest losses:
// of the sets of one P-mass they have the largest Q-mass, and they are nested. That the
// winners are a half-line of losses in descending order is a choice. Whatever is chosen is an
// attack.

package selection

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// mergeCells is about how many cells the merge looks at: its work grows with the square.
const mergeCells = 500

// cellsOf cuts a pair into blocks for the merge, by ascending loss, none of which has much
// mass or width: neighbours are put together, large atoms cut into equal parts.
func (p *pair) cellsOf(n int) []block {
	var out []block
	most := 2 / float64(n)
	put := func(b block) {
		parts := 1 + int(max(b.p, b.q)/most)
		for range parts {
			out = append(out, block{b.p / float64(parts), b.q / float64(parts)})
		}
	}
	if p.qNeg > 0 {
		put(block{0, p.qNeg})
	}
	width := p.span() / float64(n)
	for i := 0; i < len(p.loss); {
		var a, b xmath.Sum
		for from := i; i < len(p.loss) && (i == from || p.loss[i]-p.loss[from] < width && a.Value()+p.p[i] < most && b.Value()+p.q[i] < most); i++ {
			a.Add(p.p[i])
			b.Add(p.q[i])
		}
		put(block{a.Value(), b.Value()})
	}
	if p.pInf > 0 {
		put(block{p.pInf, 0})
	}
	return out
}

// span returns how far the losses reach but for the outermost masses of 1e-15.
func (p *pair) span() float64 {
	lo, hi := 0, len(p.loss)-1
	for x := 0.0; lo < hi && x+p.p[lo]+p.q[lo] < 1e-15; lo++ {
		x += p.p[lo] + p.q[lo]
	}
	for x := 0.0; lo < hi && x+p.p[hi]+p.q[hi] < 1e-15; hi-- {
		x += p.p[hi] + p.q[hi]
	}
	if lo >= hi {
		return 0
	}
	return p.loss[hi] - p.loss[lo]
}

// merge returns the best merged ranking at ε, from the top; nil once ctx is done.
func (at *attacker) merge(ctx context.Context, eps float64) []block {
	cells := at.pair.cellsOf(max(40, min(mergeCells, int(700/math.Sqrt(float64(lawWork(at.l)))))))
	n := len(cells)
	u, v := make([]float64, n+1), make([]float64, n+1) // of the i lowest
	for i, c := range cells {
		u[i+1], v[i+1] = u[i]+c.p, v[i]+c.q
	}
	e := math.Exp(eps)
	// best[i] is what the j highest can win with the i lowest above the last of them, and
	// from[j][i] how many stood above the one before it.
	best := make([]float64, n+1)
	from := make([][]int32, n+1)
	value, lastJ, lastI := 0.0, 0, 0
	su, sv := 0.0, 0.0 // of the j highest
	for j := 1; j <= n && ctx.Err() == nil; j++ {
		c := cells[n-j]
		if c.p < times(c.q*1e-12, e) || xmath.Log(c.p/c.q) <= eps-at.logR() {
			break // wins nowhere
		}
		next := make([]float64, n-j+1)
		from[j] = make([]int32, n-j+1)
		top, arg := math.Inf(-1), 0
		for i := range next {
			if best[i] > top {
				top, arg = best[i], i
			}
			gain := at.l.block(within(u[i]+su, c.p)) - times(at.l.block(within(v[i]+sv, c.q)), e)
			next[i], from[j][i] = top+max(0, gain), int32(arg)
			if next[i] > value {
				value, lastJ, lastI = next[i], j, i
			}
		}
		best = next
		su, sv = su+c.p, sv+c.q
	}
	if ctx.Err() != nil {
		return nil
	}
	// Back from the last winner to the first: how many stand above each.
	above := make([]int, lastJ+1)
	for j, i := lastJ, lastI; j > 0; j-- {
		above[j] = i
		i = int(from[j][i])
	}
	var out []block
	low := 0
	for j := 1; j <= lastJ; j++ {
		for ; low < above[j]; low++ {
			out = append(out, cells[low])
		}
		out = append(out, cells[n-j])
	}
	for j := lastJ + 1; j <= n-low; j++ { // the rest, descending
		out = append(out, cells[n-j])
	}
	return out
}

// reachOf returns the reach of a ranking of blocks, all of which may win.
func (at *attacker) reachOf(blocks []block) reach {
	all := make([]int, len(blocks))
	for i := range all {
		all[i] = i
	}
	return at.reach(blocks, all)
}
