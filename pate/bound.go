// Theorem 6 of PATE 2018 at the orders of Proposition 10, for Gaussian noise: the cost
// as a function of log q, rounded up.

package pate

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

const u = xmath.U

// underflow bounds what is lost below 1e-308, where exp and the operations after
// it round to multiples of 5e-324, down to 0; once before and once after the
// division by λ − 1.
const underflow = 4e-323

// logSumExp returns v = log(e^a + e^b) and a bound on its absolute error, given
// bounds on those of a and b. When both are small the sum is near 1 and expm1
// keeps the digits: a is often −q and e^b nearly q.
func logSumExp(a, ea, b, eb float64) (v, err float64) {
	if math.Abs(a) < 0.5 && b < 0.5 {
		x, y := math.Expm1(a), math.Exp(b)
		v = math.Log1p(x + y)
		err = ((1+x)*ea+y*eb+2*u*(math.Abs(x)+y))/(1+x+y)*(1+1e-9) + 2*u*math.Abs(v)
		return v, err
	}
	v = xmath.LogAdd(a, b)
	err = (math.Exp(a-v)*ea+math.Exp(b-v)*eb)*(1+1e-9) + u*(4+4*math.Abs(v))
	return v, err
}

// logSurvivors returns λ·log(1−e^p) − (λ−1)·log(1−e^c) and a bound on its
// absolute error, given that of c; p is exact (it is an upper bound already).
// It is the contribution of the likely outcome to Theorem 6.
func logSurvivors(order, p, c, ec float64) (a, err float64) {
	l1, l2 := xmath.Log1mExp(p), xmath.Log1mExp(c)
	a = order*l1 - (order-1)*l2
	// d/dc log(1−e^c) = −e^c/(1−e^c).
	err = 4*u*(order*math.Abs(l1)+(order-1)*math.Abs(l2)) + (order-1)*ec*math.Exp(c)/-math.Expm1(c)*(1+1e-9) + order*underflow
	return a, err
}

// gaussianCost is the cost at one order, as a function of log q, of a mechanism
// that is (μ, μ/σ²)-RDP at every order μ and has one outcome of probability at
// least 1 − q: Theorem 6 at the orders of Proposition 10, capped by λ/σ².
//
// With s = √log(1/q), t = 1/σ those orders are μ2 = s/t, μ1 = μ2 + 1, and
//
//	(λ−1)·cost = log[ (1−e^{−s²})^λ / (1−e^{−(s−t)²})^{λ−1} + e^b ],
//	b = −s² + (λ−1)t(2s+t),
//
// valid for s > t, s ≥ (λ−1)t and log((s+t)/(s−t)) ≤ 2st − t². The cost grows
// with q (Proposition 10 and Lemma 9) up to q0, where it meets λ/σ².
type gaussianCost struct {
	order, t float64
	ind      float64 // λ/σ², at least
	logQ0    float64
}

// newGaussianCost takes t = 1/σ and t² apart, because the threshold's σ is √2·σ1
// and its t² has no root in it.
func newGaussianCost(order, t, t2 float64) gaussianCost {
	c := gaussianCost{order: order, t: t, ind: order * t2}
	// The cost is at least the cap where it becomes valid: at s = (λ−1)t the
	// term e^b alone gives λt², and at s = t + gap the first term does. Should
	// it be below, the jump is kept: q0 is then where validity ends.
	lo := max(t+monotoneGap(t), (order-1)*t) * (1 + 8*u)
	below := func(s float64) bool {
		v, _ := c.dependent(-s * s)
		return v <= c.ind
	}
	if below(lo) {
		c.logQ0 = -lo * lo
		return c
	}
	hi := 2 * lo
	for !below(hi) {
		if hi *= 2; math.IsInf(hi*hi, 1) {
			c.logQ0 = math.Inf(-1)
			return c
		}
	}
	hi, _ = xmath.Bisect(hi, lo, 200, below) // hi stays on the valid side
	c.logQ0 = -hi * hi
	return c
}

// monotoneGap returns s − t at the root of log((s+t)/(s−t)) = 2st − t², rounded
// to the side where the condition of Lemma 9 holds. The left side falls and the
// right side grows in s; s = t + 1 satisfies the condition.
func monotoneGap(t float64) float64 {
	holds := func(g float64) bool { return math.Log1p(2*t/g) <= t*t+2*t*g }
	lo, hi := 1e-300, 1.0
	if holds(lo) {
		return lo
	}
	hi, _ = xmath.BisectLog(hi, lo, 1200, holds)
	return hi * (1 + 8*u)
}

// dependent returns the closed form and a bound on its absolute error; +Inf
// where s − t has no correct digit left. It does not check validity.
func (c gaussianCost) dependent(logQ float64) (v, err float64) {
	n, t := c.order-1, c.t
	s := math.Sqrt(-logQ)
	d := s - t
	if !(d > 1e4*u*s) {
		return math.Inf(1), math.Inf(1)
	}
	// −(s−t)², in the form that loses less.
	x, ex := -d*d, 2*d*(2*u*(s+t))+u*d*d
	if s > 2*t {
		x = logQ + t*(2*s-t)
		ex = u*math.Abs(x) + 4*u*t*(2*s+t)
	}
	a, ea := logSurvivors(c.order, logQ, x, ex)
	g := n * t * (2*s + t)
	b := logQ + g
	v, err = logSumExp(a, ea, b, u*math.Abs(b)+5*u*g)
	return v / n, (err+2*u*math.Abs(v)+underflow)/n + underflow
}

// at returns the cost and a bound on its absolute error.
func (c gaussianCost) at(logQ float64) (v, err float64) {
	if !(logQ <= c.logQ0) {
		return c.ind, 6 * u * c.ind
	}
	if math.IsInf(logQ, -1) {
		return 0, 0
	}
	v, err = c.dependent(logQ)
	if !(v+err < c.ind) {
		return c.ind, 6 * u * c.ind
	}
	return max(v, 0), err
}

// upper returns the cost rounded up.
func (c gaussianCost) upper(logQ float64) float64 {
	v, err := c.at(logQ)
	return v + err
}

// The threshold check as a mechanism with two outcomes, and its cost.

func thresholdLogs(threshold, sigma1, v float64) (pass, fail float64) {
	x := (threshold - v) / sigma1
	return xmath.LogNormalTail(x), xmath.LogNormalTail(-x)
}

// thresholdLogQ returns the log of the probability of the less likely outcome
// of the threshold check, rounded up.
func thresholdLogQ(threshold, sigma1, v float64) float64 {
	pass, fail := thresholdLogs(threshold, sigma1, v)
	l := min(pass, fail)
	if math.IsInf(l, -1) {
		return l
	}
	return min(0, l+logTailErr(l))
}

func thresholdCost(sigma1 float64) func(order float64) gaussianCost {
	t := 1 / sigma1
	return func(order float64) gaussianCost {
		return newGaussianCost(order, t/math.Sqrt2, t*t/2)
	}
}

// Theorem (adaptive Gaussian composition): Q checks and at most A answers are μ-GDP, μ² =
// Q/σ1² + 2A/σ2², whatever is answered; then nothing may be looked at any more. It returns ε at
// every data set, rounded up: the line that may be published as it stands.

// independentEpsilon returns ε at δ of a data-independent curve, λμ²/2 at every order: a check
// adds 1/σ1² to μ², an answer 2/σ2², and the answer is asked for in the light of the check;
// rdp.GaussianFilter has the proof that squares add up. Condition: after the last answer that is charged
// the mechanism answers nothing without looking at the votes.
func independentEpsilon(curve rdp.Grid, delta float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	square := math.Inf(1)
	for i, order := range curve.Orders {
		square = min(square, 2*curve.Values[i]/order*(1+4*u))
	}
	if square == 0 {
		return 0, nil
	}
	return gaussianEpsilon(xmath.SqrtUp(square), delta)
}

// gaussianEpsilon returns the least ε, rounded up, at which μ-GDP is (ε, δ)-private.
func gaussianEpsilon(mu, delta float64) (float64, error) {
	g, err := profiles.NewGaussian(1 / xmath.Up(mu, 3)) // 1/μ rounds
	if err != nil {
		return 0, err
	}
	sum := fourier.New(fourier.Options{})
	if err := sum.Add(g, 1); err != nil {
		return 0, err
	}
	r, err := sum.Epsilon(context.Background(), delta)
	return max(0, r.Upper), err
}

// Theorem 6.
//
// Let M be (μ1, ε1)- and (μ2, ε2)-RDP, and let Pr[M(D) ≠ i*] ≤ q for some outcome i*. If 1 < λ ≤ μ1, μ2 > 1, q·e^ε2
// < 1 and q ≤ e^{(μ2−1)ε2} / (μ1/(μ1−1) · μ2/(μ2−1))^μ2, then
//
//	D_λ(M(D) ‖ M(D′)) ≤ 1/(λ−1) · log[ (1−q)·A^{λ−1} + q·B^{λ−1} ],
//	A = (1−q) / (1 − (q·e^ε2)^{(μ2−1)/μ2}),     B = e^ε1 / q^{1/(μ1−1)}.
//
// Why: what falls outside i* contributes the second term (Jensen at order μ1); what falls on i* cannot be much less
// likely under D′, because the reverse divergence at order μ2 bounds the probability of the rest there; and the sum
// grows with q in the stated range (Lemma 9), so that a bound on the probability may stand in for it. The tests'
// theorem6 checks every condition.
//
// The closed form for Gaussian noise.
//
// For GNMax ε_k = μ_k/σ². The best orders are μ2 = σ√log(1/q), μ1 = μ2 + 1 (Proposition 10). With s = √log(1/q) and
// t = 1/σ, so that μ2 = s/t, everything collapses:
//
//	cost(q) = 1/(λ−1) · log[ (1−e^{−s²})^λ / (1−e^{−(s−t)²})^{λ−1} + e^b ],   b = −s² + (λ−1)·t·(2s+t),
//
// since (q·e^ε2)^{1−1/μ2} = e^{−(s−t)²} and log(q·B^{λ−1}) = b. The conditions become
//
//	s > t,     s ≥ (λ−1)t,     log((s+t)/(s−t)) ≤ 2st − t².
//
// The left side of the third falls with s and the right side grows, and s = 1 + t satisfies it: the valid set is s ≥
// s_valid. The accountant takes the minimum with λ/σ². The cost grows with q: for q < q′, both valid, the bound at q
// with its own best orders is at most that at q with the orders of q′, which by Lemma 9 is at most that at q′. It
// meets λ/σ² at one point q0, found by bisection to the side where it lies below; above q0 the cost is λ/σ².
// Accountant and smooth sensitivity use this one definition.
//
// Inputs: for an answer q = ½ Σ erfc((n_i* − n_j)/(2σ)) over the other classes (Proposition 7, a union bound, exact
// for two classes). For a check the two outcomes are pass and fail, q is the smaller of their probabilities, and the
// noise acts like √2·σ1. Each tail is computed by itself: as log(1 − Pr[pass]) the other would vanish where it
// matters (T = 0, v = 20, σ1 = 0.5, λ = 16: cost 0 instead of 28.6).
//
// For LNMax the theorem is used at infinite orders, with q = Σ (2 + γΔ_j)/4 · e^{−γΔ_j}, for q ≤ 1/(e^{2γ} + 1).
//
// Rounding.
//
// All of it is done in log space with an error bound carried along: log q is rounded up (10u·|log q| + 8u, from the
// error of log Φ̄ and of its argument), and the closed form returns a value and a bound on its error, which is
// added. Where σ is large the two terms nearly cancel (−q against +q): the bound grows accordingly, and the minimum
// with λ/σ² keeps it harmless.
