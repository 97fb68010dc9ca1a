// The largest of the members of a family, from a table that rounds up.

package adaptive

import "github.com/dpaccountant/accountant/internal/xmath"

// gains tells the largest value of the members where the four laws have given
// values. With base the larger one of near and reverse, a member adds to it
//
//	(worst − base)·(e − ρa − wg),  a = (base − smaller)/(worst − base),
//	                               g = (base − right)/(worst − base),
//
// ρ the member's weight of the smaller one. The factor falls in a and g: a table
// at the next smaller ones is an upper bound.
type gains struct {
	members []member // and their mirror images
	table   []float64
}

const gainSteps = 256

func newGains(half []member) *gains {
	t := &gains{table: make([]float64, gainSteps*gainSteps)}
	for _, m := range half {
		t.members = append(t.members, m, m.mirror())
	}
	line := map[float64]float64{} // by w, the largest e − ρa
	for i := range gainSteps {
		a := ratioAt(i)
		clear(line)
		for _, m := range t.members {
			line[m.right] = max(line[m.right], m.worst-m.reverse*a)
		}
		for j := range gainSteps {
			g, best := ratioAt(j), 0.0
			for w, e := range line {
				best = max(best, e-w*g)
			}
			t.table[i*gainSteps+j] = best
		}
	}
	return t
}

// ratioAt is the smallest ratio of a row of the table.
func ratioAt(i int) float64 { return float64(i) / (gainSteps - float64(i)) }

// best returns an upper bound of the largest value of a member.
func (t *gains) best(near, reverse, right, worst float64) float64 {
	// Where right is the largest, near is raised to it.
	base, least := max(near, reverse, right), min(near, reverse)
	d := worst - base
	if !(d > 0) {
		return max(base, worst) * (1 + 8*xmath.U)
	}
	row := func(x float64) int { // of x/d, rounded down
		return max(0, min(gainSteps-1, int(x/(d+x)*gainSteps*(1-1e-12))))
	}
	return (base + d*t.table[row(base-least)*gainSteps+row(base-right)]) * (1 + 8*xmath.U)
}
