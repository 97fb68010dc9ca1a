package audit

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file bounds ε from many runs, by the errors of one test (Kairouz, Oh and Viswanath,
// ICML 2015, Theorem 2.1: (ε, δ) is a region of error rates; Jagielski, Ullman and Oprea,
// NeurIPS 2020, for audits). It assumes that the scores of members are independent and of
// one law, those of non-members too, and that the threshold does not depend on the scores
// that are counted.

// Rates are the errors of the test "score ≥ Threshold" in many runs.
type Rates struct {
	Threshold float64
	// How many scores were counted, and of these how many were at least the threshold.
	Members, NonMembers, TruePositives, FalsePositives int
	// Bounds that hold together with the confidence of the audit: the probability that a
	// non-member is called a member, and that a member is not, is at most that.
	FalsePositiveUpper, FalseNegativeUpper float64
}

// ManyRuns bounds the error rates of the best threshold test that it finds in half of the
// scores, drawn by the seed, by the other half. A threshold that was fixed before anybody
// saw the scores is better, see ManyRunsAt. At confidence c in (0, 1) the two bounds hold
// together with a probability of at least c.
//
// Proof: given which scores are in which half, the counted ones are independent of the
// threshold. Each bound is that of Clopper and Pearson (Biometrika 1934) at (1−c)/2: the
// true rate p is above the root of P[Bin(n, p) ≤ k] = a only if k is among the counts
// whose probability is at most a. The two failures add up to at most 1 − c.
func ManyRuns(s Scores, delta, confidence float64, seed uint64) (Rates, error) {
	if err := check(s, delta, confidence); err != nil {
		return Rates{}, err
	}
	for _, c := range []struct {
		name   string
		scores []float64
	}{{"members", s.Members}, {"non-members", s.NonMembers}} {
		if len(c.scores) < 2 {
			return Rates{}, fault.New(c.name, "1 score cannot be split; give at least 2, or a threshold that was fixed in advance")
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	split := func(xs []float64) (choose, count []float64) {
		for i, j := range rng.Perm(len(xs)) {
			if i < len(xs)/2 {
				choose = append(choose, xs[j])
			} else {
				count = append(count, xs[j])
			}
		}
		return sorted(choose), sorted(count)
	}
	in, in2 := split(s.Members)
	out, out2 := split(s.NonMembers)
	t := bestThreshold(in, out, delta, confidence)
	return ratesAt(in2, out2, t, confidence), nil
}

// ManyRunsAt is ManyRuns with a threshold that was fixed in advance, and counts all scores.
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

// bestThreshold returns the threshold whose bound is the largest, among those at which the
// number of false positives or of false negatives is one of a geometric sequence. It only
// steers: whatever it returns, the bound holds.
func bestThreshold(in, out []float64, delta, confidence float64) float64 {
	best, at := math.Inf(-1), out[len(out)/2]
	try := func(t float64) {
		r := ratesAt(in, out, t, confidence)
		// Where no bound is above 0 the better observed rates decide.
		x := r.Epsilon(delta)
		if x == 0 {
			x = float64(r.TruePositives)/float64(len(in)) - float64(r.FalsePositives)/float64(len(out)) - 2
		}
		if x > best {
			best, at = x, t
		}
	}
	for k := 1; k <= len(out); k += 1 + k/4 {
		try(math.Nextafter(out[len(out)-k], math.Inf(1)))
	}
	for k := 1; k <= len(in); k += 1 + k/4 {
		try(in[k-1])
	}
	return at
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
	low, high := -40.0, 9.0 // Φ(9) is 1 in floating point
	for range 80 {
		mid := (low + high) / 2
		if xmath.NormalTail(-mid)*(1-0x1p-49) > p {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
