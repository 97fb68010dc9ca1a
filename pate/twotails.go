// Theorem (two tails): of all that an answer can be that differs from one class with
// probability q, the dearest fails on the two tails of the Gaussian that a moved vote shifts.
// R*(q), the best bound from q alone, in both directions. It returns costs rounded up.

package pate

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/queue"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The proof. Moving a vote shifts the noisy scores by √2, so that they have the likelihood ratio
// of P₀ = N(0,1) to Q₀ = N(μ,1), μ = √2/σ, in one coordinate x. Let E(x) = Pr[fail | x], the
// same at both data sets: ∫E dP₀ = q, ∫E dQ₀ = y. By joint convexity over the failing outcomes,
// with r = dP₀/dQ₀,
//
//	e^{(λ−1)D} ≤ S(E) = (1−q)^λ(1−y)^{1−λ} + ∫E·r^λ dQ₀.
//
// S is convex in E, so that a maximiser over {0 ≤ E ≤ 1, ∫E dP₀ = q} also maximises the
// linear part there, ∫E·(A′(y)/r + r^{λ−1}) dP₀ with A′ ≥ 0: a function that is convex in
// log r, and so in x, which is large on two tails. In reverse, with ρ = 1/r, it is ρ^λ − κρ,
// convex in ρ: two tails as well. S(E) is that of a mechanism that tells x on E and "not
// failed" elsewhere; telling it on a smaller E is post-processing, so that the maximum grows
// with q and an upper bound on q may stand in for it, and is at most λ/σ², that of telling x.
// With both directions bounded it needs no condition on q, σ or λ.

// tailCost is R* of one probability q, at any order.
type tailCost struct {
	logQ, sigma, mu float64
	shapes          map[float64]shape // by where q is divided: the same at every order
}

func newTailCost(logQ, sigma float64) tailCost {
	return tailCost{logQ: logQ, sigma: sigma, mu: math.Sqrt2 / sigma, shapes: map[float64]shape{}}
}

// A shape is a division of q between the tails, q1 = q·e^at/(1+e^at) to the left: Φ(x1) = q1
// and Φ̄(x2) = q2, and what that makes under the neighbour.
type shape struct {
	at, q, q1, y float64
	x1, x2       float64
	errY         float64    // relative
	keep, other  float64    // log(1−q) and log(1−y)
	r            [2]float64 // log r at the two ends
}

func (c tailCost) shape(at float64) shape {
	if s, ok := c.shapes[at]; ok {
		return s
	}
	l1, l2 := c.logQ-xmath.LogAdd(0, -at), c.logQ-xmath.LogAdd(0, at)
	x1, x2 := -logTailInv(l1), logTailInv(l2)
	s := shape{at: at, q: math.Exp(c.logQ), q1: math.Exp(l1), x1: x1, x2: x2, r: [2]float64{c.mu * (c.mu/2 - x1), c.mu * (c.mu/2 - x2)}}
	y1, y2 := xmath.LogNormalTail(c.mu-x1), xmath.LogNormalTail(x2-c.mu)
	s.y = math.Exp(y1) + math.Exp(y2)
	s.errY = max(shiftedErr(x1, c.mu-x1, y1), shiftedErr(x2, x2-c.mu, y2))
	s.keep, s.other = math.Log1p(-s.q), math.Log1p(-s.y)
	c.shapes[at] = s
	return s
}

// shiftedErr bounds the error of log Φ̄ = l at shift, a sum of x, which is good to 4u(1+|x|),
// and a product: d log Φ̄ is at most |shift| + 1. The point itself is that of a q within 4u.
func shiftedErr(x, shift, l float64) float64 {
	if math.IsInf(x, 0) || math.IsInf(l, -1) {
		return 0
	}
	return u * (8 + 8*math.Abs(l) + (1+math.Abs(shift))*(8+8*math.Abs(x)+4*math.Abs(shift-x)))
}

// A split is a shape at one order and in one direction: the sum S − 1 of its two parts, the
// likely outcome's and the tails', with their errors, and their logarithms.
type split struct {
	shape
	likely, tails       float64 // (1−q)^λ(1−y)^{1−λ} − 1, or in reverse, and ∫E·r^λ
	likelyErr, tailsErr float64
	logLikely, logTails float64 // of (1−q)^λ(1−y)^{1−λ} and of the tails
	logErr              float64 // of both logarithms
	slope               float64 // log of the size of the derivative of the likely part in y, which is
	steep               float64
	inverse, power      [2]float64 // 1/r at the two ends, and r^{λ−1}, in reverse r^{−λ}
	logPower            [2]float64
}

// A tailOrder is one order and direction of R*.
type tailOrder struct {
	tailCost
	order, logC float64 // logC = λ(λ−1)μ²/2
	reverse     bool
	inLogs      bool
}

// at returns the split at one point.
func (c *tailOrder) at(at float64) *split {
	s := &split{shape: c.shape(at)}
	n := c.order - 1
	shift1, shift2 := -s.x1-n*c.mu, s.x2+n*c.mu
	if c.reverse {
		shift1, shift2 = c.order*c.mu-s.x1, s.x2-c.order*c.mu
	}
	b1, b2 := xmath.LogNormalTail(shift1), xmath.LogNormalTail(shift2)
	s.logTails = xmath.LogAdd(c.logC+b1, c.logC+b2)
	s.logErr = max(shiftedErr(s.x1, shift1, b1), shiftedErr(s.x2, shift2, b2)) + 8*u*c.logC
	s.tails = math.Exp(s.logTails)
	s.tailsErr = s.tails * (s.logErr + u*(8+math.Abs(s.logTails)))
	a, b, from, to := s.keep, s.other, s.q, s.y
	s.slope = xmath.Log(n) + c.order*(a-b)
	if c.reverse {
		a, b, from, to = b, a, to, from
		s.slope = xmath.Log(c.order) + n*(a-b)
	}
	s.steep = math.Exp(s.slope)
	exponent := n
	if c.reverse {
		exponent = -c.order
	}
	for i, r := range s.r {
		s.inverse[i] = math.Exp(-r)
		s.logPower[i] = exponent * r
		s.power[i] = math.Exp(s.logPower[i])
	}
	s.logLikely = c.order*a - n*b
	// (1−y)·g(x) + (λ−1)y − λq with x = (1−q)/(1−y), or the same with q and y exchanged.
	le := 2*s.errY*s.y/max(1-s.y, 1e-300) + 2*u*(math.Abs(a)+math.Abs(b))
	g, ge := excessTerm(c.order, a-b, le, b, le)
	s.likely = g + (n*to - c.order*from)
	s.likelyErr = ge + (c.order+n)*(s.y*(s.errY+8*u)+s.q*8*u) + 4*u*math.Abs(s.likely)
	s.logErr += c.order*le*2 + u*(8+4*c.order*(math.Abs(a)+math.Abs(b)))
	return s
}

// value is S − 1, or log S.
func (c *tailOrder) value(s *split) float64 {
	if c.inLogs {
		return xmath.LogAdd(s.logLikely, s.logTails)
	}
	return s.likely + s.tails
}

// A cell is a range of splits with a bound on S − 1 over it, or on log S.
type cell struct {
	lo, hi *split
	bound  float64
}

// firstSplits are where q is divided before anything is known.
var firstSplits = []float64{math.Inf(-1), -36, -16, -8, -4, -2, 0, 2, 4, 8, 16, 36, math.Inf(1)}

// direction returns R* of one direction at an order, rounded up, and how far it is at most
// above the supremum; it aims at accuracy relatively, by branch and bound.
func (c tailCost) direction(order float64, reverse bool, accuracy float64) (v, slack float64) {
	ind := xmath.Up(order/c.sigma/c.sigma, 3)
	if math.IsInf(c.logQ, -1) {
		return 0, 0
	}
	o := &tailOrder{tailCost: c, order: order, logC: order * (order - 1) / (c.sigma * c.sigma), reverse: reverse}
	first := make([]*split, len(firstSplits))
	for i, at := range firstSplits {
		s := o.at(at)
		first[i] = s
		// Beyond e^200 S is bounded by logarithms.
		o.inLogs = o.inLogs || !(s.logTails < 200 && s.logLikely < 200 && !math.IsNaN(s.likely))
	}
	best := 0.0
	var cells []cell
	for i, s := range first {
		best = max(best, o.value(s))
		if i > 0 {
			cells = append(cells, cell{first[i-1], s, o.bound(first[i-1], s)})
		}
	}
	most := (order - 1) * ind // of log S, for every q
	if !o.inLogs {
		most = math.Expm1(most)
	}
	q := queue.New(func(x, y cell) bool { return x.bound > y.bound }, cells...)
	for range 400 {
		top := q.First()
		if !(min(top.bound, most) > best*(1+accuracy)) {
			break
		}
		mid := (top.lo.at + top.hi.at) / 2
		switch {
		case math.IsInf(top.lo.at, -1):
			mid = 2 * top.hi.at
		case math.IsInf(top.hi.at, 1):
			mid = 2 * top.lo.at
		}
		if !(mid > top.lo.at && mid < top.hi.at) || math.Abs(mid) > 700 {
			break
		}
		s := o.at(mid)
		best = max(best, o.value(s))
		q.Replace(cell{top.lo, s, o.bound(top.lo, s)})
		q.Add(cell{s, top.hi, o.bound(s, top.hi)})
	}
	up := q.First().bound
	slack = up - best
	if !o.inLogs {
		slack /= 1 + best
		up = math.Log1p(up)
	}
	v = max(0, up)/(order-1)*(1+8*u) + underflow
	if !(v < ind) {
		return ind, max(0, ind-math.Log1p(best)/(order-1))
	}
	return v, slack / (order - 1)
}

// bound bounds S − 1 over a cell, or log S. Towards the right end, with more of q in the left
// tail, y falls; the tails' part rises, in reverse falls.
func (c *tailOrder) bound(lo, hi *split) float64 {
	worstLikely, worstTails := lo, hi
	if c.reverse {
		worstLikely, worstTails = hi, lo
	}
	if c.inLogs {
		v := xmath.LogAdd(worstLikely.logLikely+worstLikely.logErr, worstTails.logTails+worstTails.logErr)
		if math.IsNaN(v) {
			return math.Inf(1) // a cell must not hide in the queue
		}
		return v
	}
	corner := worstLikely.likely + worstLikely.likelyErr + worstTails.tails + worstTails.tailsErr
	v0, v1 := lo.likely+lo.tails+lo.likelyErr+lo.tailsErr, hi.likely+hi.tails+hi.likelyErr+hi.tailsErr
	least, most, err := c.slopes(lo, hi)
	least, most = least-err, most+err
	w := (hi.q1 - lo.q1) * (1 + 8*u)
	var tent float64
	switch {
	case least >= 0:
		tent = v1
	case most <= 0:
		tent = v0
	default:
		// The lines from both ends meet.
		tent = min(v0+most*w, v1-least*w, (v0*-least+v1*most+most*-least*w)/(most-least))
		tent += 8 * u * math.Abs(tent)
		tent = max(tent, v0, v1)
	}
	switch {
	case tent < corner: // and not when it is NaN
		return tent
	case math.IsNaN(corner):
		return math.Inf(1) // a cell must not hide in the queue
	}
	return corner
}

// slopes bounds the derivative of S in q1 over a cell, A′(y)(1/r1 − 1/r2) + r1^{λ−1} − r2^{λ−1}
// and in reverse A′(y)(1/r1 − 1/r2) + r1^{−λ} − r2^{−λ}, and the error of these bounds. Towards
// the right end r1 and r2 fall.
func (c *tailOrder) slopes(lo, hi *split) (least, most, err float64) {
	// 1/r2 − 1/r1 is between these, and not below 0.
	lessD := max(0, lo.inverse[1]-hi.inverse[0])
	moreD := hi.inverse[1] - lo.inverse[0]
	a0, a1 := lo.steep, hi.steep // |A′|
	inner, outer := hi.power[0]-lo.power[1], lo.power[0]-hi.power[1]
	if !c.reverse {
		// Less a1·… to a0·…, as A′ falls with y.
		least, most = inner-a0*moreD, outer-a1*lessD
	} else {
		least, most = outer+a0*lessD, inner+a1*moreD
	}
	part := func(e, log float64) float64 { return e * (1 + math.Abs(log)) }
	slopes := 0.0
	for i := range 2 {
		err += part(lo.power[i], lo.logPower[i]) + part(hi.power[i], hi.logPower[i])
		slopes += part(lo.inverse[i], lo.r[i]) + part(hi.inverse[i], hi.r[i])
	}
	err += max(a0, a1) * slopes * (1 + math.Abs(hi.slope) + math.Abs(lo.slope))
	return least, most, err * 64 * u * (1 + c.order*c.mu)
}

// The cost of one query at every distance from the votes: tables that no votes enter. It
// assumes one order and one mechanism, and returns bounds that grow with the distance.

// far is the cost of one query at a distance: tables that no votes enter.
type far struct {
	order, ind float64
	bound      func(votes []int64) float64 // log q̃
	logQ, cost []float64                   // R* at log q, ascending both, the larger of both directions
	checks     []checkAt                   // of every statistic and neighbour; nil without a check
	total      float64                     // of all queries at every data set
	eta        float64                     // relative accuracy of what is computed
}

// leastCost is the least cost in the tables: below it float64 has no relative accuracy, which
// the smoothness of a logarithm needs.
const leastCost = 1e-290

// checkAt is what a check with a statistic contributes: e^{(λ−1)D} − 1 of check and answer is
// alone + weight·(e^{(λ−1)D_answer} − 1).
type checkAt struct{ alone, weight float64 }

// The grid of log q, to which q is rounded up: a function of q that rises and that no votes
// enter takes the place of R*.
func farStep(logQ float64) float64 {
	if logQ < -16 {
		return 1.0 / 8
	}
	return 1.0 / 256
}

// addChecks tabulates four pairs for every statistic v: its neighbours v ± 1, in both
// directions.
func (f *far) addChecks(c confident, teachers int64) error {
	for v := int64(0); v <= teachers; v++ {
		for _, w := range []int64{max(0, v-1), min(teachers, v+1)} {
			x := c.checkPair(float64(v), float64(w))
			for range 2 {
				s, e, ok := x.excess(f.order)
				z := f.order*x.p[0] - (f.order-1)*x.q[0]
				ez := (2*f.order-1)*x.err[0] + 8*u*f.order*(math.Abs(x.p[0])+math.Abs(x.q[0]))
				if !ok || z > 300 {
					return fault.New("sigma1", "%v is too small for a smooth bound at order %v", c.sigma1, f.order)
				}
				f.checks = append(f.checks, checkAt{max(leastCost, s+e), math.Exp(z) * (1 + 2*ez + 8*u)})
				if s > leastCost {
					f.eta = max(f.eta, 2*e/s+2*ez)
				}
				x = x.reversed()
			}
		}
	}
	if f.eta > 1e-3 {
		return fault.New("sigma1", "%v is so large that rounding hides what its check costs", c.sigma1)
	}
	return nil
}

// answer returns the cost of an answer with at most this q.
func (f *far) answer(logQ float64) float64 {
	return f.cost[min(len(f.cost)-1, sort.SearchFloat64s(f.logQ, logQ))]
}

// row returns F(d) of one query for d = 0 … most; counts are descending and are used up.
func (f *far) row(w []int64, statistic int, most int) []float64 {
	out := make([]float64, most+1)
	teachers := len(f.checks)/4 - 1
	for d := range out {
		cost := f.ind
		if d == 0 || w[0]-w[1] >= 2 {
			if d > 0 {
				w[0]--
				w[1]++
			}
			cost = f.answer(f.bound(w))
		} else {
			w[0], w[1] = 0, 0 // and so for every larger distance
		}
		out[d] = cost
		if f.checks != nil {
			grow := math.Expm1((f.order - 1) * cost)
			top := 0.0
			for _, c := range f.checks[4*max(0, statistic-d) : 4*(min(teachers, statistic+d)+1)] {
				top = max(top, c.alone+c.weight*grow)
			}
			out[d] = math.Log1p(top) / (f.order - 1) * (1 + 16*u)
			if math.IsInf(grow, 1) || math.IsInf(top, 1) {
				out[d] = f.total
			}
		}
		if d > 0 {
			out[d] = max(out[d], out[d-1])
		}
	}
	return out
}
