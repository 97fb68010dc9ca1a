// The conditions under which the cost of a neighbour at a distance is bounded by a path
// (Theorem 20 of PATE 2018), tested, and the bound along that path.

package pate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

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

// newLocalBound tests the conditions of Theorem 20 and returns the bound, or the
// error of one that fails.
//
// C1, C3, C4, C7 and C8 hold for GNMax whatever its parameters; C2 is
// Proposition 21 and is tested again along every path of histograms that
// [NewSensitivity] walks; C5 and C6 are tested at 4000 values of q, uniform in
// √log(1/q). C5 also has a proof (bound.go). C6, that the step
// β(B_U(q)) − β(q) grows with q up to q1, does fail for some parameters; between
// the points of the grid it is taken on trust, as in the paper.
func newLocalBound(sigma, order float64, classes int, teachers int64) (*localBound, error) {
	if err := cmp.Or(checkSigma("sigma2", sigma), checkOrder("order", order), ballot.CheckTeachers(teachers)); err != nil {
		return nil, err
	}
	if classes < 2 || classes > 1_000_000 {
		return nil, fault.New("classes", "%d is not in [2, 1000000]", classes)
	}
	if teachers > maxSmoothTeachers {
		return nil, fault.New("teachers", "%d is not in [1, %d] for smooth sensitivity", teachers, maxSmoothTeachers)
	}
	b := &localBound{sigma: sigma, classes: classes, teachers: teachers, cost: gnMax{sigma}.cost(order),
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
	return min(0, l+sumErr(l, b.classes-1))
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

// fail returns the error of a condition that fails: Algorithm 4 does not bound the local sensitivity then, and nothing based
// on it may be published.
func (b *localBound) fail(condition, format string, args ...any) error {
	return fault.New("order", "%v: condition %s of smooth sensitivity fails for sigma2=%v and %d classes: %s; choose another order or sigma2, or publish the upper bound from R*, which needs no such condition (Ledger.Publish, accountant pate publish)",
		b.cost.order, condition, b.sigma, b.classes, fmt.Sprintf(format, args...))
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

// The ranges of inputs, and the orders that are used where none are named.

// The ranges of inputs. Standard deviations and scales are in votes; outside
// these ranges λ/σ² or a squared argument would leave float64.
const (
	minSigma, maxSigma = 1e-4, 1e9
	maxOrder           = 1e6
	maxThreshold       = 1e12
)

func checkRange(field string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return fault.New(field, "%v is not in [%g, %g]", v, lo, hi)
	}
	return nil
}

func checkSigma(field string, v float64) error { return checkRange(field, v, minSigma, maxSigma) }

func checkThreshold(v float64) error {
	return checkRange("threshold", v, -maxThreshold, maxThreshold)
}

func checkOrder(field string, v float64) error {
	if !(v > 1 && v <= maxOrder) {
		return fault.New(field, "%v is not in (1, %g]", v, float64(maxOrder))
	}
	return nil
}

func checkOrders(orders []float64) error {
	if len(orders) == 0 || len(orders) > 100_000 {
		return fault.New("orders", "%d orders are not in [1, 100000]", len(orders))
	}
	for i, a := range orders {
		if err := checkOrder(fmt.Sprintf("orders[%d]", i), a); err != nil {
			return err
		}
		if i > 0 && a <= orders[i-1] {
			return fault.New(fmt.Sprintf("orders[%d]", i), "%v is not in (%v, %g]: orders must ascend", a, orders[i-1], float64(maxOrder))
		}
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fault.New("delta", "%v is not in (0, 1)", delta)
	}
	return nil
}

// defaultOrders returns 1.5, 2, 2.5, …, 100: the orders at which costs are
// tabulated by default. The best order for the ensembles of the literature lies
// between 7 and 100.
func defaultOrders() []float64 {
	orders := make([]float64, 198)
	for i := range orders {
		orders[i] = 1.5 + 0.5*float64(i)
	}
	return orders
}

// The laws of a query's whole output, check and answer, at the data set that voted and at each
// of its neighbours. They assume that the partition of the data ignores its contents, so that
// one example changes one teacher's vote, and that the noises are independent.

// histogramKey is equal for histograms that are equal but for the order of the classes.
func histogramKey(votes []int64) string {
	w := slices.Clone(votes)
	slices.Sort(w)
	var key []byte
	for _, n := range w {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

// A neighbour is a move and the statistic of the check after it.
type neighbour struct {
	move
	statistic float64
}

// neighbours returns all that moving a vote can make of query i, each once. Where some rows of
// the table have fewer votes than teachers, votes may also be withdrawn and cast.
func (l *Ledger) neighbours(i int) []neighbour {
	row := l.votes.Row(i)
	abstain := l.votes.Short() > 0
	arrive := abstain && sum(row) < l.votes.Teachers()
	h := newHistogram(row)
	var out []neighbour
	if a, ok := l.aggregator.(interactive); ok {
		return a.neighbours(row, l.scores.Row(i), l.votes.Teachers(), abstain, arrive)
	}
	for _, m := range h.moves(abstain, arrive) {
		top := h.value[0]
		if m.from == top && h.class[0] == 1 {
			top--
			if len(h.value) > 1 {
				top = max(top, h.value[1])
			}
		}
		top = max(top, m.to+1)
		out = append(out, neighbour{m, float64(top)})
	}
	return out
}

// neighbours compares every pair of classes: the student's scores tell classes of the same count
// apart.
func (c interactive) neighbours(row []int64, scaled []float64, teachers int64, abstain, arrive bool) (out []neighbour) {
	known := map[neighbour]bool{}
	w := slices.Clone(row)
	add := func(a, b int) {
		m := nobody
		if a >= 0 {
			m.from = w[a]
			w[a]--
		}
		if b >= 0 {
			m.to = row[b]
			w[b]++
		}
		n := neighbour{m, c.statistic(w, scaled, teachers)}
		if a >= 0 {
			w[a]++
		}
		if b >= 0 {
			w[b]--
		}
		if !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	for a, n := range row {
		if n >= 1 {
			for b := range row {
				if b != a {
					add(a, b)
				}
			}
			if abstain {
				add(a, -1)
			}
		}
		if arrive {
			add(-1, a)
		}
	}
	return out
}

// laws are the laws of query i at the data set that voted and at its neighbours: of the answer,
// of the check, and of both; checks and joint are nil without a check. ok is false where
// there are none, because gaps are too wide.
func (l *Ledger) laws(i int) (answers, checks, joint []pair, ok bool) {
	h := newHistogram(l.votes.Row(i))
	w, ok := l.q.answer.laws(h)
	if !ok {
		return nil, nil, nil, false
	}
	near := l.neighbours(i)
	moves := make([]move, 0, len(near))
	at := map[move]int{}
	for _, n := range near {
		if _, ok := at[n.move]; !ok {
			at[n.move] = len(moves)
			moves = append(moves, n.move)
		}
	}
	answers = pairs(w, h, moves)
	if l.q.check == nil {
		return answers, nil, nil, true
	}
	for _, n := range near {
		c := l.q.confident.checkPair(l.q.statistic[i], n.statistic)
		checks = append(checks, c)
		joint = append(joint, joined(c, answers[at[n.move]]))
	}
	return answers, checks, joint, true
}

// The sensitivity along a path, and its conditions.
//
// A neighbour's q lies between B_L(q) and B_U(q) (Proposition 21),
//
//	B_{U,L}(q) = (m−1) · Φ̄( Φ̄⁻¹(q/(m−1)) ∓ √2/σ ),
//
// because splitting q evenly over the losing classes is extremal. The local bound (Algorithm 3) is the larger of
// cost(B_U(q)) − cost(q) and cost(q) − cost(B_L(q)), and constant between q1 = B_L(q0) and q0. At distance d
// (Algorithms 4 and 5) it is read off along one path of histograms: votes move from the first to the second class to
// raise q, and from the second highest, one by one, to the first to lower it. On a sum over queries the arrays L are
// added and discounted once (Theorem 24).
//
// Conditions.
//
// That the path is extremal needs conditions C1 to C8. For GNMax C1, C3, C4, C7 and C8 always hold. The library
// tests, and refuses where one fails:
//
//   - C2, B_L ≤ neighbour's q ≤ B_U, again at every step of every path;
//   - C5, cost non-decreasing up to q0 ≤ ½, B_U(q0) < 1: the monotone part is proved above, the rest is
//     tested;
//   - C6, cost(B_U(q)) − cost(q) non-decreasing up to q1. It really fails for some parameters, such as (σ, λ,
//     m) = (20, 25, 10) or (40, 100, 10), and the algorithm is then wrong. It is tested at 4001 points uniform in
//     √log(1/q), as the paper does with a numeric minimum; between the points it is not proved.
//
// Where C6 fails, the error names the bound above, which needs no such condition.
//
// Where even a unanimous vote has q > q0 the cost is λ/σ² everywhere and its sensitivity 0.
