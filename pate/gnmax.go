// GNMax, the Gaussian noisy maximum: an answer, the probability that it is not the
// plurality (rounded up), and its costs.

package pate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// gnMax adds independent Gaussian noise of standard deviation sigma to the
// count of every class and answers with the largest (PATE 2018, section 4.1).
type gnMax struct{ sigma float64 }

// NewGNMax returns the noisy maximum with independent Gaussian noise of the given
// standard deviation, in votes (PATE 2018, section 4.1).
//
// Its RDP is λ/σ² by Proposition 8 of PATE 2018: moving one vote changes the histogram
// by √2 in L2. Its LogQ is Proposition 7, the sum over the other classes of Pr[noise makes
// up for the gap]: a union bound, exact for two classes. Its DependentRDP is Theorem 6, at
// the orders of Proposition 10 where its conditions hold.
func NewGNMax(sigma float64) (NoisyMax, error) {
	if err := checkSigma("sigma2", sigma); err != nil {
		return nil, err
	}
	return gnMax{sigma}, nil
}

func (g gnMax) String() string { return fmt.Sprintf("gnmax(sigma2=%v)", g.sigma) }

func (g gnMax) Parameters() (threshold, sigma1, scale float64) { return 0, 0, g.sigma }

func (g gnMax) Label(votes []int64, _ int64, _ []float64, src rand.Source) (Answer, error) {
	return labelMax(votes, g.sigma, random.Normal, src)
}

func (g gnMax) RDP(order float64) float64 { return xmath.Up(order/g.sigma/g.sigma, 3) }

func (g gnMax) LogQ(votes []int64) (float64, error) { return logQ(g, votes) }

func (g gnMax) DependentRDP(logQ, order float64) (float64, error) {
	return dependentRDP(g, logQ, order)
}

func (g gnMax) cost(order float64) gaussianCost {
	t := 1 / g.sigma
	return newGaussianCost(order, t, t*t)
}

func (g gnMax) theorem6(order float64) func(logQ float64) float64 { return g.cost(order).upper }

func (g gnMax) bound(teachers int64) func(votes []int64) float64 {
	return newTails(g.sigma, teachers).logQ
}

func (g gnMax) fromQ(logQ, accuracy float64) func(order float64) [2]float64 {
	t := newTailCost(logQ, g.sigma)
	return func(order float64) (both [2]float64) {
		both[0], _ = t.direction(order, false, accuracy)
		both[1], _ = t.direction(order, true, accuracy)
		return both
	}
}

func (g gnMax) laws(h histogram) (winner, bool) { return newGaussLaw(h, g.sigma) }

// tails holds Pr[N(0, 2σ²) > Δ] for gaps Δ = 0, 1, …: gaps are integers, so a
// table turns a query of m classes into m additions.
type tails struct {
	scale float64 // √2·σ
	p     []float64
}

// Beyond this many entries a table costs more than it saves.
const maxTable = 1 << 20

func newTails(sigma float64, teachers int64) *tails {
	t := &tails{scale: math.Sqrt2 * sigma}
	if teachers > 0 && teachers < maxTable {
		t.p = make([]float64, teachers+1)
		for d := range t.p {
			t.p[d] = xmath.NormalTail(float64(d) / t.scale)
			if t.p[d] < 1e-300 {
				t.p = t.p[:d] // the rest goes through logarithms
				break
			}
		}
	}
	return t
}

func (t *tails) log(gap int64) float64 { return xmath.LogNormalTail(float64(gap) / t.scale) }

// logQ returns log q̃ rounded up, at most 0.
func (t *tails) logQ(votes []int64) float64 {
	var near xmath.Sum
	var far []float64 // the tails that the table does not hold
	top := argmax(votes)
	for i, n := range votes {
		switch d := votes[top] - n; {
		case i == top:
		case d < int64(len(t.p)):
			near.Add(t.p[d])
		default:
			far = append(far, t.log(d))
		}
	}
	l := xmath.LogSum(append(far, xmath.Log(near.Value())))
	return min(0, l+sumErr(l, len(votes)-1))
}

// Confident: a check of the largest count, then an answer. Answers are drawn exactly;
// costs assume that both noises are independent.

type confident struct {
	threshold      float64 // in votes
	sigma1, sigma2 float64 // standard deviations of the check and of the answer
}

// NewConfident returns the aggregator that answers with [NewGNMax] of sigma2 only when the
// largest count, after noise of its own, of standard deviation sigma1, reaches a threshold
// in votes (PATE 2018, Algorithm 1). The check is paid for on every query, the answer only
// when it is given. Sigma1 is usually several times sigma2, and the threshold 0.6 to 0.8 of
// the number of teachers.
func NewConfident(threshold, sigma1, sigma2 float64) (Aggregator, error) {
	c := confident{threshold, sigma1, sigma2}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c confident) check() error {
	return cmp.Or(checkThreshold(c.threshold), checkSigma("sigma1", c.sigma1), checkSigma("sigma2", c.sigma2))
}

func (c confident) Parameters() (threshold, sigma1, scale float64) {
	return c.threshold, c.sigma1, c.sigma2
}

func (c confident) String() string {
	return fmt.Sprintf("confident(threshold=%v, sigma1=%v, sigma2=%v)", c.threshold, c.sigma1, c.sigma2)
}

// An Answer is what an aggregator returned for one query.
type Answer struct {
	Class    int  // the label, or −1
	Answered bool // the teachers answered: the answer is to be paid for
}

var noAnswer = Answer{Class: -1}

func (c confident) Label(votes []int64, _ int64, _ []float64, src rand.Source) (Answer, error) {
	if err := ballot.CheckVotes(votes); err != nil {
		return noAnswer, err
	}
	return c.label(votes, float64(slices.Max(votes)), random.Source(src)), nil
}

func (c confident) label(votes []int64, v float64, src rand.Source) Answer {
	if random.Noisy(v, c.sigma1, random.Normal(src)).Less(random.Sum{Fixed: []float64{c.threshold}}) {
		return noAnswer
	}
	return Answer{noisyArgmax(votes, c.sigma2, random.Normal, src), true}
}

// checkPair returns the laws of the check, pass and fail, with statistics v and w.
func (c confident) checkPair(v, w float64) pair {
	p0, p1 := thresholdLogs(c.threshold, c.sigma1, v)
	q0, q1 := thresholdLogs(c.threshold, c.sigma1, w)
	return pair{[]float64{p0, p1}, []float64{q0, q1},
		[]float64{max(logTailErr(p0), logTailErr(q0)), max(logTailErr(p1), logTailErr(q1))}}
}

// The cost of publishing a number with noise in proportion to its smooth sensitivity. It
// assumes a β-smooth bound of the local sensitivity, and returns Rényi costs at one order.

// GNSS is the Gaussian noise, in proportion to a β-smooth bound on the local sensitivity,
// with which a number that depends on the votes is published, at one Rényi order.
type GNSS struct {
	Order float64 // λ, above 1
	Beta  float64 // β, positive; how large it may be depends on the order
}

// RDP returns the cost at one order of publishing f(D) + SS_β(D)·N(0, σ²),
// where SS_β is a β-smooth upper bound on the local sensitivity of f:
//
//	λe^{−2β}/(2σ²s) − (λβ + ½·log s)/(λ−1),  s = 1 − λ(1 − e^{−2β}).
//
// It is the exact supremum of the Rényi divergence of two such Gaussians over
// all pairs that β-smoothness allows, in both directions, rounded up.
//
// Condition: s > 0. It replaces Theorem 23 of PATE 2018, see
// [GNSS.PrintedNotABound]. Relation: the one of SS_β.
func (g GNSS) RDP(sigma float64) (float64, error) {
	order, beta := g.Order, g.Beta
	s, err := gnssSlack(order, beta)
	if err != nil {
		return 0, err
	}
	if err := checkRange("sigma-ss", sigma, minSigma, maxSigma); err != nil {
		return 0, err
	}
	a := order * math.Exp(-2*beta) / (2 * sigma * sigma * s)
	// log s from its small part: λβ and ½·log s nearly cancel for small β.
	b := (order*beta + 0.5*math.Log1p(order*math.Expm1(-2*beta))) / (order - 1)
	v := a - b
	// s is good to 4u(1 + λ·2β)/s relative, and so is a; log1p adds the same
	// absolutely.
	e := 8 * u * (1 + 2*order*beta) / s
	v += a*e + (e+8*u*order*beta)/(order-1)
	return max(0, v), nil
}

// gnssSlack returns 1 − λ(1 − e^{−2β}).
func gnssSlack(order, beta float64) (float64, error) {
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	limit := -0.5 * math.Log1p(-1/order)
	if !(beta > 0 && beta < limit*(1-1e-9)) {
		return 0, fault.New("beta", "%v is not in (0, %v) at order %v", beta, limit, order)
	}
	return 1 + order*math.Expm1(-2*beta), nil
}

// PrintedNotABound returns the cost as Theorem 23 of PATE 2018 prints it,
// λe^{2β}/σ² + (βλ − ½·log(1 − 2λβ))/(λ−1), to reproduce that paper's tables.
// The last step of its proof needs λβ ≤ ¼; proved tells whether that holds.
// Otherwise the value can be too small: 0.518 at the paper's λ=14, β=0.0329,
// σ=6.23, where the divergence is 1.607. Use [GNSS.RDP].
func (g GNSS) PrintedNotABound(sigma float64) (value float64, proved bool, err error) {
	order, beta := g.Order, g.Beta
	if err := checkOrder("order", order); err != nil {
		return 0, false, err
	}
	if !(beta > 0 && beta < 1/(2*order)) {
		return 0, false, fault.New("beta", "%v is not in (0, %v) at order %v", beta, 1/(2*order), order)
	}
	if err := checkRange("sigma-ss", sigma, minSigma, maxSigma); err != nil {
		return 0, false, err
	}
	v := order*math.Exp(2*beta)/(sigma*sigma) + (beta*order-0.5*math.Log1p(-2*order*beta))/(order-1)
	return v, order*beta <= 0.25, nil
}

// OptimalSigma returns the noise scale that minimises the cost by RDP
// plus twice the standard deviation ss·σ of the published number,
// (λe^{−2β}/(2·s·ss))^{1/3}. A scale chosen by looking at a data-dependent ss
// leaks: choose it on public votes.
func (g GNSS) OptimalSigma(ss float64) (float64, error) {
	order, beta := g.Order, g.Beta
	s, err := gnssSlack(order, beta)
	if err != nil {
		return 0, err
	}
	if !(ss > 0 && !math.IsInf(ss, 1)) {
		return 0, fault.New("smooth-sensitivity", "%v is not in (0, +Inf)", ss)
	}
	return min(max(math.Cbrt(order*math.Exp(-2*beta)/(s*2*ss)), minSigma), maxSigma), nil
}

// PrintedSigma is OptimalSigma for the cost as printed:
// (λe^{2β}/ss)^{1/3}, which gives Table 2's column σ_SS.
func (g GNSS) PrintedSigma(ss float64) (float64, error) {
	order, beta := g.Order, g.Beta
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	if !(beta > 0 && beta < 1/(2*order)) {
		return 0, fault.New("beta", "%v is not in (0, %v) at order %v", beta, 1/(2*order), order)
	}
	if !(ss > 0 && !math.IsInf(ss, 1)) {
		return 0, fault.New("smooth-sensitivity", "%v is not in (0, +Inf)", ss)
	}
	return min(max(math.Cbrt(order*math.Exp(2*beta)/ss), minSigma), maxSigma), nil
}

// The cost of the noise of smooth sensitivity.
//
// The cost of the noise.
//
// Publishing f + SS_β·N(0, σ²) compares two Gaussians whose means differ by at most SS and whose widths by at most
// e^β. The supremum of their divergence, with s = 1 − λ(1 − e^{−2β}) > 0, is
//
//	λe^{−2β}/(2σ²s) − (λβ + ½·log s)/(λ−1).                                        (GNSS.RDP)
//
// With SS′ = e^τ·SS the divergence is λΔ²/(2σ²SS²(1−λ+λe^{2τ})) − (½·log(1−λ+λe^{2τ}) − λτ)/(λ−1). The first term,
// at Δ = SS·min(1, e^τ), falls with τ; the second is least at τ = 0 and larger at −β than at +β. So τ = −β is the
// worst for both.
//
// Theorem 23 of the paper is not a bound where λβ > ¼. Its last step replaces e^{2β}/(2(1−2λβ)) by e^{2β}. Three
// data sets on a path D′ – D – D″ with f = (e^{−β}, 0, −1) have SS(D) = 1 and SS(D′) = e^{−β}; at the paper's λ =
// 14, β = 0.0329, σ = 6.23 the divergence is 1.607 and the theorem says 0.518. Every row of Table 2 has λβ ≥ 0.4.
// The printed form is there as GNSS.PrintedNotABound, to reproduce the tables.
