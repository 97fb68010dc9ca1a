// Noise functions: their checks, and those in closed form. Closed forms that are exact
// are rational numbers.

package darrm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Gamma is a noise function: Gamma[l] is the probability of answering with
// the true majority when l of the len−1 votes are ones. It is symmetric,
// Gamma[l] = Gamma[K−l]. A tie of an even number of votes has no majority and is
// answered by a fair coin: its entry is 0.
type Gamma []float64

// check returns an error unless g is a symmetric noise function.
func (g Gamma) check() error {
	if err := checkMechanisms(len(g) - 1); err != nil {
		return fault.In("gamma", err)
	}
	for l, v := range g {
		if !(v >= 0 && v <= 1) {
			return fault.New(fmt.Sprintf("gamma[%d]", l), "%v is not in [0, 1]", v)
		}
		if o := g[len(g)-1-l]; o != v {
			return fault.New(fmt.Sprintf("gamma[%d]", l), "%v is not gamma[%d] = %v, it must be symmetric", v, len(g)-1-l, o)
		}
		if v != 0 && 2*l == len(g)-1 {
			return fault.New(fmt.Sprintf("gamma[%d]", l), "%v is not 0, it must be 0 for a tie", v)
		}
	}
	return nil
}

// monotone reports whether clearer majorities are answered at least as
// truthfully: g does not fall from the middle outwards.
func (g Gamma) monotone() bool {
	return slices.IsSorted(g.right())
}

// right returns γ(n), …, γ(K), the part that determines the rest.
func (g Gamma) right() []float64 { return g[half(len(g)-1):] }

// fromRight mirrors γ(n), …, γ(K) of k votes.
func fromRight(k int, x []float64) Gamma {
	g := make(Gamma, k+1)
	for j, v := range x {
		g[half(k)+j], g[k-half(k)-j] = v, v
	}
	return g
}

// Constant returns γ ≡ c for K mechanisms: randomized response on the majority.
func Constant(mechanisms int, c float64) (Gamma, error) {
	if err := checkMechanisms(mechanisms); err != nil {
		return nil, err
	}
	if !(c >= 0 && c <= 1) {
		return nil, fault.New("constant", "%v is not in [0, 1]", c)
	}
	return constant(mechanisms, c), nil
}

func constant(k int, c float64) Gamma {
	g := make(Gamma, k+1)
	for l := range g {
		if 2*l != k {
			g[l] = c
		}
	}
	return g
}

// Subsampling returns the noise function of the majority of m votes drawn
// without replacement, ties decided by a fair coin, to the nearest floats: the two have the
// same output law given any votes (Lemma 3.1 of the paper; its displayed
// formula holds for l ≤ (K−1)/2 and is mirrored here).
//
// With independent (ε, Δ)-DP mechanisms it is (tε, 1−(1−Δ)^t)-DP for
// t = ⌈m/2⌉ (Theorems 1 and 2), and for Δ = 0 no less will do.
// An even m is m−1 in disguise.
func Subsampling(mechanisms, m int) (Gamma, error) {
	exact, err := exactSubsampling(mechanisms, m)
	if err != nil {
		return nil, err
	}
	return rounded(exact), nil
}

func exactSubsampling(mechanisms, m int) ([]*big.Rat, error) {
	if err := checkMechanisms(mechanisms); err != nil {
		return nil, err
	}
	if m < 1 || m > mechanisms {
		return nil, fault.New("votes", "%d is not in [1, %d]", m, mechanisms)
	}
	// With m = 2t−1, H = ⌊K/2⌋ and l ≤ K/2,
	//	γ(l)·C(K, m) = Σ_{j=l}^{K−1−l} C(j, t−1) C(K−1−j, t−1):
	// positive terms only, the same for j and K−1−j (equation 3).
	k, h, t := int64(mechanisms), int64(mechanisms)/2, int64(m+1)/2
	total := new(big.Int).Binomial(k, 2*t-1)
	sum := new(big.Int) // of a tie, or of the term that is its own mirror image
	if k%2 == 1 {
		sum.Binomial(h, t-1)
		sum.Mul(sum, sum)
	}
	out := make([]*big.Rat, k+1)
	for l := h; l >= 0; l-- {
		if l < h {
			term := new(big.Int).Binomial(l, t-1)
			term.Mul(term, new(big.Int).Binomial(k-1-l, t-1))
			sum.Add(sum, term.Lsh(term, 1))
		}
		out[l] = new(big.Rat).SetFrac(sum, total)
		out[k-l] = new(big.Rat).Set(out[l])
	}
	return out, nil
}

// DoubleSubsampling returns the noise function of the majority of 2m−1 votes
// (of all of them if m ≥ K/2), to the nearest floats.
//
// With independent (ε, Δ)-DP mechanisms it is (mε, 1−(1−Δ)^m)-DP: Theorem 4.1 of
// the paper, there for identically distributed votes and Δ = 0, in general by
// Theorems 1 and 2.
func DoubleSubsampling(mechanisms, m int) (Gamma, error) {
	if err := checkMechanisms(mechanisms); err != nil {
		return nil, err
	}
	if m < 1 || m > mechanisms {
		return nil, fault.New("allowance", "%d is not in [1, %d]", m, mechanisms)
	}
	return Subsampling(mechanisms, min(2*m-1, mechanisms))
}

// rounded returns the floats nearest to an exact noise function.
func rounded(exact []*big.Rat) Gamma {
	g := make(Gamma, len(exact))
	for l, r := range exact {
		g[l], _ = r.Float64()
	}
	return g
}

// RRConstant returns the constant of the paper's baseline, randomized response
// on a majority that is (τε, λ)-DP, for a release that is (mε, δ)-DP: Lemma A.1
// with the clamp at 1 that it leaves out, and for m > τ the constant of the
// vertex that is then the worst. It is sound and loose; see [BestConstant].
func RRConstant(epsilon, m, tau, lambda, delta float64) (float64, error) {
	for _, c := range []struct {
		name      string
		v, lo, hi float64
	}{{"epsilon", epsilon, minEpsilon, maxEpsilon}, {"allowance", m, 0, 700 / epsilon}, {"tau", tau, 0, 1e300},
		{"lambda", lambda, 0, 1}, {"delta", delta, 0, 1}} {
		if !(c.v >= c.lo && c.v <= c.hi) {
			return 0, fault.New(c.name, "%v is not in [%g, %g]", c.v, c.lo, c.hi)
		}
	}
	if m > tau {
		return roundDown((math.Expm1(m*epsilon) + 2*delta) / (math.Expm1(m*epsilon) + 2*lambda)), nil
	}
	// Divided by e^{τε}, so that large budgets do not overflow.
	s := math.Exp(-tau * epsilon)
	gain := -math.Expm1((m-tau)*epsilon) + (s+math.Exp((m-tau)*epsilon))*lambda
	r := -math.Expm1(-m*epsilon) + 2*delta*math.Exp(-m*epsilon) // R·e^{−mε}
	worst := 2*gain/(1+s)*math.Exp(-m*epsilon) - math.Expm1(-m*epsilon)
	return roundDown(r / worst), nil
}

// roundDown takes the rounding of a dozen operations off a probability.
func roundDown(c float64) float64 { return min(1, c*(1-16*xmath.U)) }

// One private answer, drawn exactly.

// Release answers with the majority of the votes with probability γ(number of
// ones), and with a fair coin otherwise. The law of the bit is exact: γ is
// compared with as many random bits as it takes. The bit is the only
// thing that may be published: neither the count of votes, nor which of the two
// happened.
//
// Each call spends the whole budget of g. A second call on the same votes is a
// second release, and to be accounted for as one.
//
// The source nil is the operating system's; another must not be predictable or reused.
func Release(g Gamma, votes []bool, src rand.Source) (bool, error) {
	if err := g.check(); err != nil {
		return false, err
	}
	if len(votes) != len(g)-1 {
		return false, fault.New("votes", "there are %d, must be one for each of the %d mechanisms", len(votes), len(g)-1)
	}
	src = random.Source(src)
	ones := count(votes)
	if random.Coin(src, g[ones]) {
		return ones >= half(len(votes)), nil
	}
	return random.Coin(src, 0.5), nil
}

// ReleaseLabel answers with the label of an absolute majority of the votes, each in
// [0, classes), with probability γ(its votes), and otherwise, and without one, with a label
// drawn uniformly. It is what Params.Classes is certified for; all that Release requires
// holds for it.
func ReleaseLabel(g Gamma, votes []int, classes int, src rand.Source) (int, error) {
	if err := g.check(); err != nil {
		return 0, err
	}
	if len(votes) != len(g)-1 {
		return 0, fault.New("votes", "there are %d, must be one for each of the %d mechanisms", len(votes), len(g)-1)
	}
	if classes < 2 || classes > maxLabels {
		return 0, fault.New("classes", "%d is not in [2, %d]", classes, maxLabels)
	}
	counts := make([]int, classes)
	top := 0
	for i, v := range votes {
		if v < 0 || v >= classes {
			return 0, fault.New(fmt.Sprintf("votes[%d]", i), "%d is not in [0, %d)", v, classes)
		}
		if counts[v]++; counts[v] > counts[top] {
			top = v
		}
	}
	src = random.Source(src)
	if counts[top] >= half(len(votes)) && random.Coin(src, g[counts[top]]) {
		return top, nil
	}
	return rand.New(src).IntN(classes), nil
}

func count(votes []bool) int {
	n := 0
	for _, v := range votes {
		if v {
			n++
		}
	}
	return n
}

// Proofs of the closed forms.
//
// Subsampling. γ_m is the noise function of the majority of m votes drawn without replacement, a tie decided by
// a fair coin. (The printed algorithm answers 1 to a tie; that is neither symmetric nor equal to γ_m.) An even m is
// m − 1 in disguise: dropping a random vote of an even subset changes ties only, and fairly. For m = 2t − 1 and l ≤
// K/2
//
//	γ_m(l) · C(K, m) = Σ_{j=l}^{K−1−l} C(j, t−1) C(K−1−j, t−1),  (3)
//
// with positive terms only; the paper's form is one minus nearly one where the vote is close.
//
// Theorem 1. With independent ε-DP mechanisms the majority of 2t − 1 sampled votes is tε-DP, and for no smaller
// budget. Proof. For P_t = Pr[at least t ones], Σ p_i ∂_i P_t is the expected number of ones whose change would
// lower the count below t, and there are t of them when the count is exactly t and none otherwise: at most t·P_t.
// Along the path p_i(s) = p_i'(p_i/p_i')^s the logarithm of P_t thus rises by at most tε. Zeros are counted the same
// way, and with 2t − 1 votes their threshold is t, too. Averaging over subsets keeps it. It is tight as all p_i → 0.
// ∎
//
// So m sampled votes cost ⌈m/2⌉ε, not mε. The paper has this ("double subsampling", its Theorem 4.1) for identically
// distributed votes.
//
// Theorem 2. With (ε, Δ)-DP mechanisms it is (tε, 1 − (1−Δ)^t)-DP. Proof. γ is monotone, so by Theorem 3 every
// pair may be taken of the form p = Δ + (1−Δ)u, p' = (1−Δ)u' with u, u' as for ε-DP. Setting each vote to 1 with
// probability Δ spoils a majority of zeros, for which t zeros are needed, with 1 − P(p) ≥ (1−Δ)^t (1 − P(u));
// thinning ones gives P(p') ≥ (1−Δ)^t P(u'). With P(u) ≤ e^{tε}P(u'), P(p) − e^{tε}P(p') ≤ 1 − (1−Δ)^t + (1−Δ)^t
// (P(u) − e^{tε}P(u')) is at most 1 − (1−Δ)^t. ∎
//
// In particular the noise-free majority costs (tε, 1 − (1−Δ)^t) for t = ⌈K/2⌉: of an even K it is the majority of K
// − 1 sampled votes.
//
// Constant. Because f is linear in γ, the best constant is R / max f(γ≡1). The paper's constant, from the bill
// of composing all K mechanisms, is sound and nearly four times smaller at K = 11, m = 1. By the objective (4) the
// best constant loses to subsampling at m = 1 up to ε = 1 and wins from ε = 1.5 on (K = 3, 5, 11); at K = 11 it
// beats subsampling at m = 2, and double too for ε = 1 and more; at m = 3 to 5 it beats both for all ε from 0.1 to
// 3. "Constant" means this one everywhere; the paper's is called the paper's.
