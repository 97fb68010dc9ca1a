package allocation

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A loader is steps whose batches are public, over whole numbers of size 1 at most, each of which releases the sum of its
// batch with noise that has the probability 2^−|k|/3 at k. What is outside [−window, window] is released as its ends. All
// probabilities are multiples of 1/(3·2^width).
type loader struct {
	moves  [][2]int64 // what the record contributes in a step that has it, in one data set and in the other
	others []int64    // what all the others do
	num    int64      // α = num/den
	den    int64
}

const window, width = 2, 4

// law returns the probabilities of what is released, times 3·2^width.
func law(sum int64) (p [2*window + 1]int64) {
	for k := int64(-width); k <= width; k++ { // the tails beyond ±width as its ends: 2^−width/3·(1 + ½ + …) = 2·2^−width/3
		mass := int64(1) << (width - max(k, -k))
		if max(k, -k) == width {
			mass *= 2
		}
		p[min(window, max(-window, sum+k))+window] += mass
	}
	return p
}

// best returns (3·2^width)^steps·den·δ of the best adversary: who fixes the public batches (bit i of schedule says whether
// step i has the record), and in each step chooses what all contribute from what was released before. p and q are the
// probabilities of what was released so far.
func (l loader) best(schedule uint, steps int, p, q int64) (most int64) {
	if steps == 0 {
		return max(0, l.den*p-l.num*q)
	}
	moves := l.moves
	if schedule&1 == 0 {
		moves = [][2]int64{{0, 0}}
	}
	for _, m := range moves {
		for _, o := range l.others {
			with, without, sum := law(m[0]+o), law(m[1]+o), int64(0)
			for y := range with {
				sum += l.best(schedule>>1, steps-1, p*with[y], q*without[y])
			}
			most = max(most, sum)
		}
	}
	return most
}

// TestFixedByEnumeration: every public order of at most three batches, every contribution of the record and of the
// others, chosen from what was released before, and every list of outputs, in whole numbers. Nobody sees more than the
// upper end, and somebody reaches the lower one.
func TestFixedByEnumeration(t *testing.T) {
	base := must(profiles.NewDiscreteLaplaceMechanism(1/math.Ln2, 1))
	zeroed := [2][][2]int64{{{1, 0}, {-1, 0}, {0, 0}}, {{0, 1}, {0, -1}, {0, 0}}}
	replaced := [][2]int64{{1, -1}, {-1, 1}, {1, 0}, {0, 0}}
	for _, r := range []profiles.Relation{profiles.ZeroOut, profiles.Substitute} {
		for uses := 1; uses <= 3; uses++ {
			m := must(must(NewFixed(int64(uses))).Apply(base, r))
			for _, alpha := range [][2]int64{{1, 4}, {1, 1}, {3, 2}, {5, 2}, {5, 1}, {20, 1}} {
				for d, dir := range m.Directions {
					l := loader{moves: replaced, others: []int64{0, 1}, num: alpha[0], den: alpha[1]}
					if r == profiles.ZeroOut {
						l.moves = zeroed[d]
					}
					steps, most := min(3, uses+1), int64(0)
					if uses == 3 {
						l.others = []int64{0}
					}
					for schedule := range uint(1) << steps {
						if bits.OnesCount(schedule) == uses {
							most = max(most, l.best(schedule, steps, 1, 1))
						}
					}
					truth := float64(most) / float64(l.den) / math.Pow(3<<width, float64(steps))
					eps := math.Log(float64(l.num) / float64(l.den))
					up, upErr := profiles.LogDelta(dir.Upper, eps)
					low, lowErr := profiles.LogDelta(dir.Lower, eps)
					upper, lower := math.Exp(up+upErr), math.Exp(low-lowErr)
					// The noise scale is 1/log 2 to a unit, and so is ε: δ to a few of them.
					if what := fmt.Sprintf("%v, %d uses, direction %d, ε = %v", r, uses, d, eps); upper < truth-1e-14 || lower > truth+1e-14 {
						t.Errorf("%s: δ in [%v, %v], and the best adversary has %v", what, lower, upper, truth)
					} else if upper > 1.01*lower+1e-300 {
						t.Errorf("%s: δ in [%v, %v] is wide", what, lower, upper)
					}
				}
			}
		}
	}
}

// cells returns δ(ε) between two ends, of one record that moves the sums of its batches to one side or the other of 0 by
// shift/2 each, in units of the noise: (1, …, 1) against (−1, …, −1) after the means are moved, over a partition of what
// is released. Lower is δ of the cells. A cell with α between the likelihood ratios of its corners has a part of δ of at
// most P(1 − α/ratio), with the ratio of the upper corner.
func cells(uses int, shift, eps float64) (lower, upper float64) {
	const far = 9.0
	n := []int{0, 2000, 500, 150}[uses]
	edge := make([]float64, n+1)
	edge[0] = math.Inf(-1)
	for i := 1; i < n; i++ {
		edge[i] = -far + 2*far*float64(i-1)/float64(n-2)
	}
	edge[n] = math.Inf(1)
	p, q := make([]float64, n), make([]float64, n)
	between := func(a, b float64) float64 { // the smaller tails, so that nothing cancels
		if a > 0 {
			a, b = -b, -a
		}
		return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
	}
	for i := range n {
		p[i], q[i] = between(edge[i]-shift/2, edge[i+1]-shift/2), between(edge[i]+shift/2, edge[i+1]+shift/2)
	}
	alpha := math.Exp(eps)
	var add func(left int, pr, qr, least, most float64)
	add = func(left int, pr, qr, least, most float64) {
		if left > 0 {
			for i := range n {
				add(left-1, pr*p[i], qr*q[i], least+shift*edge[i], most+shift*edge[i+1])
			}
			return
		}
		whole := max(0, pr-alpha*qr)
		lower += whole
		if least < eps && eps < most {
			whole = pr * -math.Expm1(eps-most)
		}
		upper += whole
	}
	add(uses, 1, 1, 0, 0)
	return lower, upper
}

// TestFixedGaussianByCells: that several uses are one with √uses of the shift, against sums over cells of all that is
// released: no rotation, no closed form.
func TestFixedGaussianByCells(t *testing.T) {
	for _, c := range []struct {
		uses  int
		sigma float64
		eps   []float64
	}{{1, 1, []float64{0, 1, 3}}, {2, 2, []float64{-0.5, 0, 1, 2}}, {3, 3, []float64{0.5}}} {
		for r, shift := range map[profiles.Relation]float64{profiles.ZeroOut: 1 / c.sigma, profiles.Substitute: 2 / c.sigma} {
			m := must(must(NewFixed(int64(c.uses))).Apply(gaussian(c.sigma), r))
			for _, eps := range c.eps {
				low, high := cells(c.uses, shift, eps)
				for d, dir := range m.Directions {
					up, upErr := profiles.LogDelta(dir.Upper, eps)
					down, downErr := profiles.LogDelta(dir.Lower, eps)
					// A million terms, each right to a few units.
					if math.Exp(up+upErr) < low*(1-1e-12) || math.Exp(down-downErr) > high*(1+1e-12) {
						t.Errorf("%v, %d uses, direction %d: δ(%v) in [%v, %v], cells have [%v, %v]", r, c.uses, d, eps, math.Exp(down), math.Exp(up), low, high)
					}
				}
				if high > 1.05*low {
					t.Errorf("%v, %d uses: δ(%v) of cells in [%v, %v] is wide", r, c.uses, eps, low, high)
				}
			}
		}
	}
}
