// The conditions under which the cost of a neighbour at a distance is bounded by a path
// (Theorem 20 of PATE 2018), tested, and the bound along that path.

package pate

import (
	"fmt"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// A ConditionError says that a condition of Theorem 20 of PATE 2018 fails, so
// that Algorithm 4 does not bound the local sensitivity and nothing based on it
// may be published.
type ConditionError struct {
	Condition    string // "C2", "C5" or "C6"
	Sigma, Order float64
	Classes      int
	Detail       string
}

// Error names the condition and where it fails.
func (e *ConditionError) Error() string {
	return fmt.Sprintf("order: %v: condition %s of smooth sensitivity fails for sigma2=%v and %d classes: %s; choose another order or sigma2, or publish the upper bound from R*, which needs no such condition (Ledger.Publish, accountant pate publish)",
		e.Order, e.Condition, e.Sigma, e.Classes, e.Detail)
}

// A localBound bounds the local sensitivity of the data-dependent cost of one
// GNMax answer at one order, as a function of log q: Algorithm 3 of PATE 2018.
type localBound struct {
	sigma    float64
	classes  int
	teachers int64
	cost     gaussianCost
	tails    *tails
	logHalf  float64 // log(m−1)
	shift    float64 // √2/σ
	logQMin  float64 // of the histogram [N, 0, …, 0]
	logQ1    float64 // log B_L(q0)
	plateau  float64
	flat     bool // the data-dependent bound is never used: the cost is constant
}

// conditionGrid is the number of points at which C6 is tested.
const conditionGrid = 4000

// newLocalBound tests the conditions of Theorem 20 and returns the bound, or a
// *ConditionError.
//
// C1, C3, C4, C7 and C8 hold for GNMax whatever its parameters; C2 is
// Proposition 21 and is tested again along every path of histograms that
// [NewSensitivity] walks; C5 and C6 are tested at 4000 values of q, uniform in
// √log(1/q). C5 also has a proof (docs/pate.md). C6, that the step
// β(B_U(q)) − β(q) grows with q up to q1, does fail for some parameters; between
// the points of the grid it is taken on trust, as in the paper.
func newLocalBound(sigma, order float64, classes int, teachers int64) (*localBound, error) {
	if err := errorsOf(checkSigma("sigma2", sigma), checkOrder("order", order), ballots.CheckTeachers(teachers)); err != nil {
		return nil, err
	}
	if classes < 2 || classes > 1_000_000 {
		return nil, fault.New("classes", "%d is not in [2, 1000000]", classes)
	}
	if teachers > maxSmoothTeachers {
		return nil, fault.New("teachers", "%d is not in [1, %d] for smooth sensitivity", teachers, maxSmoothTeachers)
	}
	b := &localBound{sigma: sigma, classes: classes, teachers: teachers, cost: GNMax{sigma}.cost(order),
		tails: newTails(sigma, teachers), logHalf: xmath.Log(float64(classes - 1)), shift: math.Sqrt2 / sigma}
	b.logQMin = b.unanimous()
	b.logQ1 = b.down(b.cost.logQ0)
	if b.logQMin > b.cost.logQ0 {
		b.flat = true
		return b, nil
	}
	below := b.down(b.logQ1)
	v1, e1 := b.cost.at(b.logQ1)
	v0, e0 := b.cost.at(below)
	b.plateau = max(b.cost.ind-v1+e1+6*u*b.cost.ind, v1-v0+e1+e0)
	return b, b.conditions()
}

// maxSmoothTeachers bounds the length of an array of sensitivities.
const maxSmoothTeachers = 1_000_000

func (b *localBound) unanimous() float64 {
	l := b.logHalf + b.tails.log(b.teachers)
	return min(0, l+logTailErr(l))
}

// up and down return log B_U(q) and log B_L(q) of Proposition 21: the largest
// and the smallest q of a neighbour. They are moved outward by their rounding
// error: the inverse is good to 4u(1+|y|), which moves log Φ̄ by at most
// 8u(1+2|log Φ̄|), twice, besides the function's own error.
func (b *localBound) up(logQ float64) float64   { return b.move(logQ, -b.shift, 1) }
func (b *localBound) down(logQ float64) float64 { return b.move(logQ, b.shift, -1) }

func (b *localBound) move(logQ, shift, outward float64) float64 {
	if math.IsInf(logQ, -1) {
		return logQ
	}
	l := xmath.LogNormalTail(logTailInv(logQ-b.logHalf) + shift)
	return min(0, b.logHalf+l+outward*u*(32+32*math.Abs(l)))
}

// At returns the bound at log q, rounded up.
func (b *localBound) At(logQ float64) float64 {
	return b.within(logQ, b.up(logQ), b.down(logQ))
}

// within is At, given the range of a neighbour's log q.
func (b *localBound) within(logQ, up, down float64) float64 {
	if b.flat {
		return 0
	}
	if logQ >= b.logQ1 && logQ <= b.cost.logQ0 {
		return b.plateau
	}
	return max(b.step(up, logQ), b.step(logQ, down))
}

// step returns the difference of the costs at two values of q, rounded up; 0 if
// both are above q0.
func (b *localBound) step(hi, lo float64) float64 {
	if lo > b.cost.logQ0 {
		return 0
	}
	vh, eh := b.cost.at(hi)
	vl, el := b.cost.at(lo)
	return max(0, vh-vl) + eh + el
}

func (b *localBound) fail(condition, format string, args ...any) error {
	return &ConditionError{condition, b.sigma, b.cost.order, b.classes, fmt.Sprintf(format, args...)}
}

// conditions tests C5 and C6 on a grid.
func (b *localBound) conditions() error {
	if b.cost.logQ0 > -math.Ln2 {
		return b.fail("C5", "q0 = %.6g is above 1/2", math.Exp(b.cost.logQ0))
	}
	if up := b.up(b.cost.logQ0); up >= 0 {
		return b.fail("C5", "B_U(q0) is not below 1 (q0 = %.6g)", math.Exp(b.cost.logQ0))
	}
	first := math.Sqrt(-b.down(b.logQMin))
	last := math.Sqrt(-b.logQ1)
	if first <= last {
		return nil
	}
	// delta returns the step up from log q and the cost there.
	delta := func(i int) (step, stepErr, v, err, logQ float64) {
		s := first + (last-first)*float64(i)/conditionGrid
		logQ = -s * s
		if i == conditionGrid {
			logQ = b.logQ1
			v, err = b.cost.at(logQ)
			return b.cost.ind - v, err + 6*u*b.cost.ind, v, err, logQ
		}
		v, err = b.cost.at(logQ)
		w, e := b.cost.at(b.up(logQ))
		return w - v, e + err, v, err, logQ
	}
	d0, de0, v0, e0, l0 := delta(0)
	for i := 1; i <= conditionGrid; i++ {
		d, de, v, e, l := delta(i)
		if v+e < v0-e0 {
			return b.fail("C5", "the cost falls from %.6g at log q = %.6g to %.6g at %.6g", v0, l0, v, l)
		}
		// Monotone up to the rounding error of both, and to 1e-12 of the value:
		// the argument of B_U rounds, too.
		if d+de < d0*(1-1e-12)-de0 {
			return b.fail("C6", "the step to a neighbour falls from %.6g at log q = %.6g to %.6g at %.6g", d0, l0, d, l)
		}
		d0, de0, v0, e0, l0 = d, de, v, e, l
	}
	return nil
}

// AtDistance returns the array L[0 … N]: L[d] bounds the local sensitivity at
// every histogram within d moved votes of the given one, which must hold the
// votes of all N teachers.
//
// Theorem: PATE 2018, Theorem 20 (Algorithms 4 and 5), with the sum of
// Algorithm 4's line 19 over all classes.
func (b *localBound) AtDistance(votes []int64) ([]float64, error) {
	if len(votes) != b.classes {
		return nil, fault.New("votes", "%d classes are not %d", len(votes), b.classes)
	}
	if err := ballots.CheckRow(votes); err != nil {
		return nil, err
	}
	if n := sum(votes); n != b.teachers {
		return nil, fault.New("votes", "%d votes are not the %d of all teachers, which smooth sensitivity needs", n, b.teachers)
	}
	w := append([]int64(nil), votes...)
	sort.Slice(w, func(i, j int) bool { return w[i] > w[j] })
	prefix, err := b.atDistance(w)
	if err != nil {
		return nil, err
	}
	return fill(prefix, int(b.teachers)+1), nil
}

// fill repeats the last value up to length n.
func fill(prefix []float64, n int) []float64 {
	l := make([]float64, n)
	k := copy(l, prefix)
	for ; k < n; k++ {
		l[k] = prefix[len(prefix)-1]
	}
	return l
}

// atDistance returns L without its constant end. It takes counts in descending
// order and uses them up.
func (b *localBound) atDistance(w []int64) ([]float64, error) {
	if b.flat {
		return []float64{0}, nil
	}
	logQ := b.tails.logQ(w)
	up, down := b.up(logQ), b.down(logQ)
	l := []float64{b.within(logQ, up, down)}
	// next appends a value. L is a maximum over all distances up to d;
	// Proposition 14 says that values only grow on the way to the plateau, and
	// the running maximum keeps rounding from hiding it.
	next := func(v float64) { l = append(l, max(v, l[len(l)-1])) }
	// move goes one step along the path, and reports the end of it.
	move := func(raise bool) (end bool, err error) {
		to := b.tails.logQ(w)
		if to > up || to < down {
			return false, b.fail("C2", "log q moves from %.6g to %.6g in one step", logQ, to)
		}
		if raise && to >= b.logQ1 || !raise && to <= b.cost.logQ0 {
			next(b.plateau)
			return true, nil
		}
		logQ, up, down = to, b.up(to), b.down(to)
		next(b.within(logQ, up, down))
		return false, nil
	}
	switch {
	case logQ > b.cost.logQ0: // lower q: votes move to the first class
		rest := sum(w[1:])
		run := 1 // w[1 … run] are the counts equal to the second highest
		for {
			if rest--; rest < 0 {
				// The histogram is unanimous: nothing lies further down.
				return l, nil
			}
			for run+1 < len(w) && w[run+1] == w[1] {
				run++
			}
			w[0]++
			w[run]--
			if run > 1 {
				run--
			}
			if end, err := move(false); end || err != nil {
				return l, err
			}
		}
	case logQ < b.logQ1: // raise q: votes move from the first to the second
		for {
			if w[0]-w[1] < 2 {
				next(b.plateau)
				return l, nil
			}
			w[0]--
			w[1]++
			if end, err := move(true); end || err != nil {
				return l, err
			}
		}
	}
	return l, nil
}
