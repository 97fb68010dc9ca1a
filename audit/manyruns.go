package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file bounds ε from many runs, by the errors of one test (Kairouz, Oh and Viswanath,
// ICML 2015, Theorem 2.1: (ε, δ) is a region of error rates; Jagielski, Ullman and Oprea,
// NeurIPS 2020, for audits). It assumes that the scores of members are independent and of
// one law, those of non-members too.

// Rates are the errors of the test "score ≥ Threshold" in many runs.
type Rates struct {
	Threshold float64
	// How many scores were counted, and of these how many were at least the threshold.
	Members, NonMembers, TruePositives, FalsePositives int
	// Bounds that hold together with the confidence of the audit: the probability that a
	// non-member is called a member, and that a member is not, is at most that.
	FalsePositiveUpper, FalseNegativeUpper float64
}

// Bounds are what many runs prove by all thresholds at once. Each of the three parts holds with the confidence for itself.
type Bounds struct {
	Epsilon float64 // the lower bound of ε at δ
	Mu      float64 // the lower bound of μ
	// Band has thresholds from the highest on, with rates that hold for all of them together: the trade-off curve of the
	// attack is between them and the corner (0, 0).
	Band []Rates
}

// How the failure of a confidence is shared out.
const (
	highShare = 0.75 // of ε: what the high scores prove; the low ones have the rest
	areaShare = 0.9  // of μ: what the area under the ROC proves; the band has the rest
)

// ManyRuns bounds ε, μ and the trade-off curve by all thresholds at once, with a confidence in (0, 1). It draws nothing. The ends of
// this file and of paths.go have the proofs. Once ctx is done, the error is that of ctx.
func ManyRuns(ctx context.Context, s Scores, delta, confidence float64) (Bounds, error) {
	if err := check(s, delta, confidence); err != nil {
		return Bounds{}, err
	}
	in, out := sorted(s.Members), sorted(s.NonMembers)
	alpha := failure(confidence)
	b := Bounds{Band: band(in, out, alpha)}
	high, err := pathOf(in, out).lowest(ctx, delta, highShare*alpha)
	if err != nil {
		return Bounds{}, err
	}
	low, err := pathOf(negated(out), negated(in)).lowest(ctx, delta, xmath.Down(1-highShare, 1)*alpha)
	if err != nil {
		return Bounds{}, err
	}
	b.Epsilon = max(high, low)
	b.Mu = areaMu(in, out, areaShare*alpha)
	for _, r := range band(in, out, xmath.Down(1-areaShare, 2)*alpha) {
		b.Mu = max(b.Mu, r.Mu())
	}
	return b, nil
}

// band bounds the rates of thresholds together, at all of them with a failure of alpha: those at which a number of errors is one of a
// sequence that the sizes alone determine. The share of each number is alpha over twice their number (Clopper and Pearson, a union).
func band(in, out []float64, alpha float64) (rs []Rates) {
	fp, fn := counts(len(out)), counts(len(in))
	above := func(n int, ks []int) (us []float64) {
		for _, k := range ks {
			us = append(us, proportionAbove(n, k, alpha/2/float64(len(ks))))
		}
		return us
	}
	fps, fns := above(len(out), fp), above(len(in), fn)
	at := func(t float64) {
		r := Rates{Threshold: t, Members: len(in), NonMembers: len(out), TruePositives: atLeast(in, t), FalsePositives: atLeast(out, t), FalsePositiveUpper: 1, FalseNegativeUpper: 1}
		// A number of errors between two of a sequence is at most the next.
		if i, _ := slices.BinarySearch(fp, r.FalsePositives); i < len(fp) {
			r.FalsePositiveUpper = fps[i]
		}
		if i, _ := slices.BinarySearch(fn, r.Members-r.TruePositives); i < len(fn) {
			r.FalseNegativeUpper = fns[i]
		}
		rs = append(rs, r)
	}
	for _, k := range fp {
		at(math.Nextafter(out[len(out)-1-k], math.Inf(1)))
	}
	for _, k := range fn {
		at(in[k])
	}
	slices.SortFunc(rs, func(a, b Rates) int { return cmp.Compare(b.Threshold, a.Threshold) })
	return slices.CompactFunc(rs, func(a, b Rates) bool { return a.Threshold == b.Threshold })
}

// counts are numbers of errors below n from 0 on, apart by about how much such a number varies, and at most some 300 of them.
func counts(n int) (ks []int) {
	spread := max(0.7, math.Pi*math.Sqrt(float64(n))/300)
	for k := 0; k < n; k += max(1, int(spread*math.Sqrt(float64(k)*float64(n-k)/float64(n)))) {
		ks = append(ks, k)
	}
	return ks
}

// areaMu returns the lower bound of μ by the area under the ROC: of μ-GDP it is at most Φ(μ/√2), and an average of min(n, m) independent
// pairs (Hoeffding, JASA 1963, section 5) exceeds its mean p by chance up to exp(−min(n, m)·KL(area, p)).
func areaMu(in, out []float64, alpha float64) float64 {
	twice := 0.0 // twice the pairs in the right order, and those that are equal
	for _, x := range in {
		twice += float64(len(out)-atLeast(out, x)) + float64(upTo(out, x))
	}
	// Whole and half numbers of pairs are exact up to 2^53; 1e-12 is more than two quotients, and keeps 1 − area from 0.
	area := twice / 2 / float64(len(in)) / float64(len(out)) * (1 - 1e-12)
	need := -xmath.Log(alpha) / float64(min(len(in), len(out))) * (1 + 1e-12)
	if !(area > 0.5 && divergence(area, 0.5) > need) {
		return 0
	}
	// KL(area, p) falls in p.
	low, _ := xmath.Bisect(0.5, area, 60, func(p float64) bool { return divergence(area, p)*(1-1e-9)-1e-15 > need })
	// Φ⁻¹(p) is −Φ⁻¹(1 − p).
	return max(0, xmath.Down(-quantileAbove(xmath.Up(1-low, 1))*math.Sqrt2, 4))
}

// divergence is the Kullback-Leibler divergence of coins with chances a and p, to 6e-16 for p from ½ to a: 1 − a and 1 − p are exact there, a
// quotient and its logarithm move a product by 2u, and neither product is above ln 2.
func divergence(a, p float64) float64 {
	d := a * xmath.Log(a/p)
	if a < 1 {
		d += (1 - a) * xmath.Log((1-a)/(1-p))
	}
	return d
}

// ManyRunsAt bounds the error rates of a threshold that was fixed in advance. At confidence c in (0, 1) the two bounds hold
// together with a probability of at least c.
//
// Proof: each bound is that of Clopper and Pearson (Biometrika 1934) at (1−c)/2: the
// true rate p is above the root of P[Bin(n, p) ≤ k] = a only if k is among the counts
// whose probability is at most a. The two failures add up to at most 1 − c.
func ManyRunsAt(s Scores, threshold, confidence float64) (Rates, error) {
	if err := check(s, 0, confidence); err != nil {
		return Rates{}, err
	}
	if math.IsNaN(threshold) {
		return Rates{}, fault.New("threshold", "%v is not a number", threshold)
	}
	return ratesAt(sorted(s.Members), sorted(s.NonMembers), threshold, confidence), nil
}

// ratesAt counts ascending scores.
func ratesAt(in, out []float64, t, confidence float64) Rates {
	r := Rates{Threshold: t, Members: len(in), NonMembers: len(out), TruePositives: atLeast(in, t), FalsePositives: atLeast(out, t)}
	a := failure(confidence) / 2
	r.FalsePositiveUpper = proportionAbove(r.NonMembers, r.FalsePositives, a)
	r.FalseNegativeUpper = proportionAbove(r.Members, r.Members-r.TruePositives, a)
	return r
}

// Epsilon returns the lower bound of ε at a δ in [0, 1): no mechanism with a smaller ε has
// both error rates below their bounds. 0 says nothing.
//
// For an event S, P(S) ≤ e^ε·Q(S) + δ under either order of the data sets. With S = "score
// ≥ t" and its complement, 1 − FN ≤ e^ε·FP + δ and 1 − FP ≤ e^ε·FN + δ; the bounds are put
// in place of the rates, which only lowers the ε that is left.
func (r Rates) Epsilon(delta float64) float64 {
	return max(0, logRatio(1-delta-r.FalseNegativeUpper, r.FalsePositiveUpper), logRatio(1-delta-r.FalsePositiveUpper, r.FalseNegativeUpper))
}

// logRatio returns log(a/b), rounded down; a has been rounded three times to within u of
// numbers of at most 1.
func logRatio(a, b float64) float64 {
	a -= 4 * xmath.U
	if !(a > 0) || a <= b {
		return 0
	}
	return max(0, xmath.Down(xmath.Log(a/b), 4)-2*xmath.U)
}

// Mu returns the lower bound of μ: no mechanism that is μ-GDP with a smaller μ has both
// error rates below their bounds, as its trade-off function is Φ(Φ⁻¹(1−x) − μ) (Dong, Roth
// and Su, JRSS-B 2022, definition 2.6). It is no bound of ε at some δ, unless the mechanism is
// known to be Gaussian.
func (r Rates) Mu() float64 {
	z := quantileAbove(r.FalsePositiveUpper) + quantileAbove(r.FalseNegativeUpper)
	if !(z < 0) {
		return 0
	}
	return xmath.Down(-z, 2)
}

// quantileAbove returns a number above Φ⁻¹(p).
func quantileAbove(p float64) float64 {
	if p >= 1 {
		return math.Inf(1)
	}
	// Φ(9) is 1 in floating point.
	z, _ := xmath.Bisect(9, -40, 80, func(z float64) bool { return xmath.NormalTail(-z)*(1-0x1p-49) > p })
	return z
}

// Proofs: one threshold, the area under the ROC, and the band.
//
// With the test "score ≥ t" let FP be the probability that a non-member is called a member, FN that a member is not.
//
// Rates. With k errors in n independent runs, let u(k) be the root of P[Bin(n, u) ≤ k] = a. The true rate p is
// above u(k) only if P[Bin(n, p) ≤ k] < a; the set of such k is an initial interval, whose probability is therefore
// below a. With a = (1 − confidence)/2 for each of the two rates, both bounds hold together with the confidence
// (Clopper and Pearson 1934).
//
// ε. For an event S, P(S) ≤ e^ε·Q(S) + δ with the data sets in either order. S = "score ≥ t" gives 1 − FN ≤
// e^ε·FP + δ, its complement 1 − FP ≤ e^ε·FN + δ. Bounds in place of the rates only lower the ε that is left, and
// one event covers both lines. μ. A μ-GDP mechanism has Φ⁻¹(1−FN) − Φ⁻¹(FP) ≤ μ. A bound of μ is one of ε only
// for a mechanism that is known to be Gaussian. A plan. Its certified trade-off curve T has 1 − FN ≤ T(FP) and 1
// − FP ≤ T(FN), as T is the worst over both directions.
//
// These are the bounds of a threshold that was fixed before anybody saw the scores (--threshold). Without one all
// thresholds are used at once, as follows; nothing is drawn, and the same file gives the same answer. The bounds of
// ε and of μ and the verdict on a plan hold with the confidence each.
//
// μ. The ROC of a μ-GDP mechanism is below Φ(Φ⁻¹(x) + μ), whose area is Φ(μ/√2). The observed area, with ½ for
// ties, is an average over pairs, and has an exponential moment of at most that of min(n, m) independent pairs
// (Hoeffding 1963, section 5): it exceeds its mean p by chance up to exp(−min(n, m)·KL(area, p)). That bounds p from
// below with 0.9·(1 − confidence); the band bounds μ at each threshold with the rest.
//
// The band bounds the trade-off curve at all thresholds together. A number of errors k is replaced by the next
// of a sequence that n alone determines (from 0 on, apart by about how much such a number varies), and the rate is
// bounded as above with a = (1 − confidence)/(2·the length of the sequence). Proof. Let k_1 < k_2 < … be the
// sequence. All bounds of FP fail only if some threshold has a rate above u(k_l) with at most k_l errors. The
// highest rate with at most k_l errors is that just before error k_l + 1, whose law is that of an order statistic:
// P[Bin(n, u(k_l)) ≤ k_l] = a bounds it. So the union over l has at most half of 1 − confidence, and the other half
// is that of FN. For 1000 scores the sequence has 152 numbers, and at most some 300 for more. A plan is refuted
// where its certified curve is below the band: the step line of --plot.
