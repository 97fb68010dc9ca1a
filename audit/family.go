package audit

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// This file bounds one run by a whole trade-off curve at once, after Mahloujifar, Melis and Chaudhuri, Auditing f-differential
// privacy in one run (ICML 2025). The end of this file has the proof of what is computed here.

// A curve is a privacy curve as lines: whatever has probability y has one of at least ratios[i]·(y − deltas[i]) on the neighbouring data.
type curve struct{ epsilons, ratios, deltas []float64 }

// curveOf returns the lines of points (ε, δ) of a privacy curve.
func curveOf(epsilons, deltas []float64) curve {
	c := curve{epsilons: epsilons, deltas: deltas}
	for _, e := range epsilons {
		c.ratios = append(c.ratios, math.Exp(-e)*(1-4*xmath.U))
	}
	return c
}

// How many points of the Gaussian curve are taken, and how far out: ε is largest where an event of probability Φ(−far) is. Neither proves anything.
const (
	gaussianPoints = 256
	gaussianFar    = 8
)

// gaussianCurve returns the curve of the Gaussian mechanism, and false where noise of 1/mu is out of range.
func gaussianCurve(mu float64) (curve, bool) {
	if mu == 0 {
		return curveOf([]float64{0}, []float64{0}), true
	}
	gauss, err := profiles.NewGaussian(1 / mu)
	if err != nil {
		return curve{}, false
	}
	epsilons, deltas := make([]float64, gaussianPoints), make([]float64, gaussianPoints)
	for i := range epsilons {
		epsilons[i] = float64(i) / (gaussianPoints - 1) * (mu*mu/2 + gaussianFar*mu)
		l, e := gauss.LogDelta(epsilons[i])
		deltas[i] = math.Exp(l+e) * (1 + 4*xmath.U)
	}
	return curveOf(epsilons, deltas), true
}

// below returns the line that is highest at y.
func (c curve) below(y float64) (ratio, delta float64) {
	best := math.Inf(-1)
	for i, r := range c.ratios {
		if x := r * (y - c.deltas[i]); x > best {
			best, ratio, delta = x, r, c.deltas[i]
		}
	}
	return ratio, delta
}

// refresh is how much a probability grows before its line is looked for again. It affects sharpness and speed only.
const refresh = 1.0005

// refutes reports whether no mechanism with the curve lets an auditor guess as many right with a probability of p or more.
//
// With T_j = P[correct ≥ j] and D_j = T_{j+1} + … + T_r, and F(y) ≥ 0 below the inverse of the curve,
//
//	D_{j−1} = D_j + T_j,  T_{j−1} ≥ max(T_j, (m·F((D_j + j·T_j)/m) + D_j + T_j)/(r − j + 1)).
//
// Both grow with T_j and D_j, so that T_v = p and D_v = 0, rounded down on the way, lead to lower bounds; T_0 is 1.
func (g Guesses) refutes(c curve, p float64) bool {
	const down = 1 - 4*xmath.U // less than the three roundings that it follows
	r, m := g.In+g.Out, float64(g.Canaries)
	t, d := p, 0.0
	var ratio, delta float64
	again := 0.0
	for j := min(g.Correct, r); j > 0; j-- {
		y := (d + float64(j)*t) / m * down
		if y >= again {
			ratio, delta = c.below(y)
			again = refresh * y
		}
		next := d + t
		if y > delta {
			next += m * (ratio * (y - delta) * down) * down
		}
		next = next / float64(r-j+1) * down
		d = (d + t) * down
		if next > t {
			t = next
		} else if again == refresh*y {
			return false // the same y comes again, and less would follow
		}
		if t > 1 {
			return true
		}
	}
	return false
}

// PValueOfCurve returns a bound of the probability that a mechanism with a privacy curve lets an auditor guess as many right, times the number
// of tests; at most 1. The mechanism is (ε, δ)-differentially private for each of the points at once, which must not depend on the
// scores. The bound is at most pValue at each of them.
func (g Guesses) PValueOfCurve(epsilons, deltas []float64) float64 {
	c := curveOf(epsilons, deltas)
	return min(g.atPoints(c, 1), g.leastRefuted(c)*float64(g.Tests)*(1+2*xmath.U))
}

// atPoints returns the least pValue at every so many points of a curve. It is below what the whole curve proves where few of many guesses are right.
func (g Guesses) atPoints(c curve, every int) float64 {
	least := 1.0
	for i := 0; i < len(c.epsilons); i += every {
		least = min(least, g.pValue(c.epsilons[i], c.deltas[i]))
	}
	return least
}

// leastRefuted returns nearly the least p that a curve refutes, or 1.
func (g Guesses) leastRefuted(c curve) float64 {
	if g.Correct <= 0 || len(c.epsilons) == 0 || !g.refutes(c, 1) {
		return 1
	}
	log, _ := xmath.Bisect(0, -740, 40, func(log float64) bool { return g.refutes(c, math.Exp(log)) })
	return math.Exp(log)
}

// Mu returns the lower bound of μ at a confidence: no mechanism that is μ-GDP with a smaller one lets an auditor guess as many right, but
// for a chance of 1 − confidence. The proof is that of Epsilon, with the curve of the Gaussian mechanism.
func (g Guesses) Mu(confidence float64) float64 {
	mu, _ := g.mu(context.Background(), confidence, 0)
	return mu
}

// mu is Mu, or 0 where that is not above a known bound.
func (g Guesses) mu(ctx context.Context, confidence, known float64) (float64, error) {
	share := failure(confidence) / float64(g.Tests) * (1 - 2*xmath.U)
	refuted := func(mu float64) bool {
		c, ok := gaussianCurve(mu)
		return ok && ctx.Err() == nil && (g.refutes(c, share) || g.atPoints(c, 16) <= failure(confidence))
	}
	if !refuted(known) {
		return 0, ctx.Err()
	}
	low, _ := xmath.Bisect(known, maxMu, 40, refuted)
	return low, ctx.Err()
}

// OneRunGaussian returns the guesses that bound μ best at a confidence, of those that OneRun tries, and the bound: what one run proves of a
// mechanism that is declared to be Gaussian. GaussianEpsilon has the ε that goes with it.
func OneRunGaussian(ctx context.Context, s Scores, confidence float64, guesses int) (Guesses, float64, error) {
	tries, err := guessesOf(s, 0, confidence, guesses)
	if err != nil {
		return Guesses{}, 0, err
	}
	best, found := tries[0], 0.0
	for _, g := range tries {
		mu, err := g.mu(ctx, confidence, found)
		if err != nil {
			return Guesses{}, 0, err
		}
		if mu > found {
			best, found = g, mu
		}
	}
	return best, found, nil
}

// GaussianEpsilon returns an ε that a Gaussian mechanism of that μ has at δ, or more: rounded down, +Inf at δ = 0. It takes a bound of
// μ to one of ε only where the mechanism is known to be Gaussian.
func GaussianEpsilon(mu, delta float64) float64 {
	if !(mu > 0) {
		return 0
	}
	if delta <= 0 {
		return math.Inf(1)
	}
	gauss, err := profiles.NewGaussian(xmath.Up(1/mu, 1))
	if err != nil {
		return 0
	}
	target := xmath.Up(xmath.Log(delta), 2)
	low, _ := xmath.Bisect(0, mu*(mu/2+40), 60, func(eps float64) bool {
		l, e := gauss.LogDelta(eps)
		return l-e >= target
	})
	return low
}

// Proof: a curve at once.
//
// A plan, or a mechanism that is declared to be Gaussian, is (ε, δ(ε))-private for all ε at once. Each of these
// bounds the same probability, so that the least counts without a price for trying; but together they prove more.
// Let F(y) be any function ≥ 0 such that an event of probability y has one of at least F(y) on neighbouring data,
// growing with y: the largest of e^{−ε}·(y − δ(ε)).
//
// Theorem. With T_j = P[W ≥ j] and D_j = T_{j+1} + … + T_r, for 1 ≤ j ≤ r
//
//	D_{j−1} = D_j + T_j,  T_{j−1} ≥ max(T_j, (m·F((D_j + j·T_j)/m) + D_j + T_j)/(r − j + 1)).
//
// Hence P[W ≥ v] < p if the recursion that starts with T_v = p and D_v = 0, with equality, has some T_j > 1.
//
// Proof. Average over the symmetries as above, which keeps F: an event has y on average if its images have y_k
// with mean y, these have at least F(y_k) each on neighbouring data, and e^{−ε}·(y − δ) is linear. The event that
// canary i is guessed, and rightly, and W ≥ j has the probability Σ_{k≥j} k·P[W = k]/m = (D_j + j·T_j)/m, as k of
// the m canaries are guessed rightly. On the data with canary i changed it is the event that i is guessed wrongly
// and that j − 1 guesses or more are right, whose probability is by the same count Σ_{k≥j−1} (r − k)·P[W = k]/m =
// (r·T_{j−1} − D_{j−1} − (j−1)·T_{j−1})/m. That is at least F of the first, which is the line above. Its right side
// grows with T_j and D_j: lower bounds of both, such as p ≤ P[W ≥ v] and 0, lead to lower bounds of all T_j, and
// none is above 1. ∎
//
// This is the recursion of Mahloujifar, Melis and Chaudhuri, Auditing f-differential privacy in one run (ICML
// 2025), who keep the sums of right and of wrong guesses; in T and D every term is positive, so that rounding down
// at each step keeps it a bound. Guesses that are passed over count through m. It is not exact: it puts no guesses
// above v, which wrong guesses at v would force. With a single point it is the theorem above where v = r
// (TestCurveOfOnePoint) and above it elsewhere, so that the smaller of both is used. On 50 files of 1,000 scores
// around 0.8 and 1,000 around 0, as if they were of one run, a mechanism that is declared to be Gaussian has ε ≥
// 1.710 at δ = 1e-5 in the median; jax_privacy proves 1.348 (TestPython).
