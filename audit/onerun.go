package audit

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file bounds ε from one run with m canaries, each of which takes part by its own fair
// coin, after Steinke, Nasr and Jagielski, Privacy auditing with one training run (NeurIPS
// 2023). For δ > 0 it has the exact bound, which the end of this file proves, in place of
// their Corollary 5.4, which is larger where it matters and too small far below the mean.

// Guesses are how many of the canaries an auditor guessed right: the In highest scores are
// guessed to be members, the Out lowest not to be, and the others are passed over.
type Guesses struct {
	Canaries, In, Out, Correct int
	// Tests is how many pairs of In and Out were tried: the chance that one of them
	// misleads is at most the sum, so that each has a share of 1/Tests.
	Tests int
}

// OneRun returns the guesses that bound ε best at δ and a confidence in (0, 1). It tries
// numbers of guesses that do not depend on who is a member; with guesses above 0 only that
// number, half In and half Out. Equal scores count as wrong where they could be.
func OneRun(s Scores, delta, confidence float64, guesses int) (Guesses, error) {
	tries, err := guessesOf(s, delta, confidence, guesses)
	if err != nil {
		return Guesses{}, err
	}
	var best Guesses
	found := -1.0
	for _, g := range tries {
		if x := g.Epsilon(delta, confidence); x > found {
			best, found = g, x
		}
	}
	return best, nil
}

// guessesOf returns the guesses that are tried.
func guessesOf(s Scores, delta, confidence float64, guesses int) ([]Guesses, error) {
	if err := check(s, delta, confidence); err != nil {
		return nil, err
	}
	in, out := sorted(s.Members), sorted(s.NonMembers)
	m := len(in) + len(out)
	if m > maxRows {
		return nil, fault.New("members", "and non-members are %d, more than %d", m, maxRows)
	}
	if _, chance := xmath.BinomialTail(int64(max(len(in), len(out))), int64(m), 0.5, 0.5); chance < unfair {
		return nil, fault.New("members", "are %d of %d canaries, which fair coins give with a chance below %v: one run has canaries with a fair coin each", len(in), m, unfair)
	}
	var tries []Guesses
	try := func(high, low int) {
		tries = append(tries, Guesses{Canaries: m, In: high, Out: low, Correct: correctAbove(in, out, high) + correctBelow(in, out, low)})
	}
	switch {
	case guesses < 0 || guesses > m:
		return nil, fault.New("guesses", "%d is not in [0, %d], the number of canaries", guesses, m)
	case guesses > 0:
		try((guesses+1)/2, guesses/2)
	default:
		// Fewer guesses than leastGuesses prove little even if all are right. An attack that knows members only is rarer: a coarser sequence.
		for k, r := 0, m; r >= min(m, leastGuesses); k, r = k+1, r/2 {
			try((r+1)/2, r/2)
			if k > 0 && k%2 == 0 {
				try(r, 0)
			}
		}
	}
	for i := range tries {
		tries[i].Tests = len(tries)
	}
	return tries, nil
}

// unfair is the chance of so uneven coins at which they are refused: a guess that all took part would be right too often.
const unfair = 1e-12

// correctAbove returns how many of the k highest of all scores are those of members, at
// least: of those that equal the k-th, as few as can be.
func correctAbove(in, out []float64, k int) int {
	if k == 0 {
		return 0
	}
	// The k-th highest score of all, by bisection over the ranks of each list.
	t := kthHighest(in, out, k)
	up := math.Nextafter(t, math.Inf(1))
	a, b := atLeast(in, up), atLeast(out, up)
	if math.IsInf(t, 1) {
		a, b = 0, 0
	}
	equalOut := atLeast(out, t) - b
	return a + max(0, k-a-b-equalOut)
}

// correctBelow returns how many of the k lowest of all scores are those of non-members, at
// least.
func correctBelow(in, out []float64, k int) int {
	return correctAbove(negated(out), negated(in), k)
}

// negated returns the negatives of ascending numbers, ascending.
func negated(xs []float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[len(xs)-1-i] = -x
	}
	return ys
}

func kthHighest(a, b []float64, k int) float64 {
	i, j := len(a), len(b)
	for ; ; k-- {
		var x float64
		if j == 0 || i > 0 && a[i-1] >= b[j-1] {
			i--
			x = a[i]
		} else {
			j--
			x = b[j]
		}
		if k == 1 {
			return x
		}
	}
}

// pValue returns a bound of the probability that a mechanism which is (ε, δ)-differentially
// private lets an auditor guess as many right, times the number of tests; at most 1.
//
// With r = In + Out guesses, S(v) = P[Bin(r, q) ≥ v] and b its mass at v, q = e^ε/(1+e^ε),
//
//	P[correct ≥ v] ≤ S(v) + m·δ·S(v)·(1−S(v))/(v·b(v)),
//
// and a mechanism attains it while it is not larger than 1 (proof at the end of this file).
func (g Guesses) pValue(epsilon, delta float64) float64 {
	r, v := g.In+g.Out, g.Correct
	if v == 0 {
		return 1
	}
	q, rest := 1/(1+math.Exp(-epsilon)), 1/(1+math.Exp(epsilon))
	lower, upper := xmath.BinomialTail(int64(v), int64(r), q, rest)
	p := upper
	if delta > 0 {
		l, err := xmath.BinomialMass(int64(v), int64(r), q, rest)
		p += float64(g.Canaries) * delta * upper * (1 - lower) / float64(v) * math.Exp(err-l)
	}
	// At most twelve roundings. Where the mass is 0 in floating point nothing is known.
	if p *= float64(g.Tests) * (1 + 0x1p-49); !(p < 1) {
		return 1
	}
	return p
}

// Epsilon returns the lower bound of ε at a δ, at a confidence: the largest ε that is
// found whose PValue is at most 1 − confidence; 0 says nothing.
//
// Proof that an ε below the truth ε* is what comes out, but for a chance of 1 − confidence:
// more comes out only if some ε > ε* has a PValue of at most that, hence if the number of
// correct guesses is at least the least w(ε) with this property, over ε > ε*. It is w of some
// such ε, for which the mechanism is (ε, δ)-private as well, so that PValue bounds the chance.
func (g Guesses) Epsilon(delta, confidence float64) float64 {
	return largest(maxEpsilon, failure(confidence), func(epsilon float64) float64 { return g.pValue(epsilon, delta) })
}

// Where to look for a bound: more than a thousand million correct guesses prove none larger. How few guesses are tried. None of them proves anything.
const (
	maxEpsilon   = 40
	maxMu        = 20
	leastGuesses = 25
)

// largest returns a number in [0, high] at which p is at most alpha, near where it stops to be; 0 if there is none. It starts from a grid, because
// a bound of a probability may be 1 where the probability underflows.
func largest(high, alpha float64, p func(float64) float64) float64 {
	const grid = 80
	low := -1.0
	for i := range grid {
		if x := high / grid * float64(i); p(x) <= alpha {
			low = x
		} else if low >= 0 {
			break
		}
	}
	if low < 0 {
		return 0
	}
	low, _ = xmath.Bisect(low, low+high/grid, 40, func(x float64) bool { return p(x) <= alpha })
	return low
}

// Proof: the guesses of one run.
//
// There are m canaries with fair coins s ∈ {0, 1}^m. The auditor guesses r of them (in the output's light) and
// passes over m − r; W is the number of right guesses. With q = e^ε/(1+e^ε), b the masses of Bin(r, q) and S(v) =
// b(v) + … + b(r):
//
// Theorem. If the mechanism is (ε, δ)-differentially private with respect to each coin, then for 1 ≤ v ≤ r
//
//	P[W ≥ v] ≤ S(v) + m·δ·S(v)·(1 − S(v)) / (v·b(v)),
//
// and some mechanism attains it, as long as the right side is at most 1.
//
// Proof. Guesses are post-processing, so that the output may be taken to be a pair t of a set R of r canaries and
// a guess for each. Exchange the coins' sides (flip s_i and the guess for i) or the canaries: P[W ≥ v] stays, and so
// does privacy. Average the mechanism over all these symmetries. Privacy is convex (for neighbours s, s′ the sum
// over t of (P(t|s) − e^ε P(t|s′))₊ is at most δ) and holds of the average. There P(t|s) = g(w)/C(m, r) with w the
// number of wrong guesses, since the symmetries take any pair with w wrong guesses to any other; Σ C(r, w)·g(w) = 1.
// Neighbours differ in canary i. Only t with i ∈ R matter, a share r/m of the sets, and of these guesses that are
// right for s and w wrong among the others give
//
//	(r/m)·Σ_{w<r} C(r−1, w)·(g(w) − e^ε·g(w+1))₊ ≤ δ.                                   (1)
//
// P[W ≥ v] = Σ_{w ≤ r−v} C(r, w)·g(w). Define y by y₀ = 1 − S(v) and y_w = e^ε·y_{w−1} + C(r, w)·(1{w ≤ r−v} −
// S(v)). Then, summing by parts,
//
//	P[W ≥ v] − S(v) = Σ_w C(r, w)·(1{w ≤ r−v} − S(v))·g(w) = Σ_{w<r} y_w·(g(w) − e^ε·g(w+1)),
//
// where y_r = 0 was used, which is the definition of S(v): with k = r − w, Σ_{j≤w} e^{ε(w−j)}·C(r, j) =
// S(k)/((1−q)^r·e^{εk}), hence y_w is (1−S(v))·S(k) for k ≥ v and S(v)·(1−S(k)) for k < v, over (1−q)^r·e^{εk}:
// never negative, and 0 at k = 0. As (1−q)^r·e^{εk}·C(r−1, w) = (k/r)·b(k), (1) bounds the sum by m·δ times the
// greatest of
//
//	(1−S(v))·S(k)/(k·b(k)), k ≥ v, and S(v)·(1−S(k))/(k·b(k)), k < v.
//
// With b′, S′ those of Bin(r−1, q): k·b(k) = r·q·b′(k−1), S(k) = S′(k−1) − (1−q)·b′(k−1) and 1 − S(k) = F′(k−1) −
// q·b′(k−1) with F′ = P[· ≤ ·]. S′/b′ falls and F′/b′ grows, as the binomial law is log-concave. So the greatest is
// at k = v, where both agree. Attained: let W be Bin(r, q) with probability 1 − λ and else the same given W ≥ v,
// all patterns of wrong guesses alike. (1) is an equality at w = r − v only, where it is λ·v·b(v)/(m·S(v)) = δ, and
// P[W ≥ v] = S(v) + λ·(1−S(v)). g falls in w, so that the other order of neighbours adds nothing. ∎
//
// For δ = 0 this is Theorem 5.1 of Steinke, Nasr and Jagielski, Privacy auditing with one (1) training run
// (NeurIPS 2023). For δ > 0 their Corollary 5.4 (and the code of their appendix D, which others have taken over) has
// S(v) + 2mδ·max_i (S(v−i) − S(v))/i. Where audits are decided, S(v) ≤ ½, that is up to 17 times as much in the term
// of δ. Far below the mean it is too little: three canaries, all guessed, the guesses any of the seven that are not
// all wrong, are (0, 1/7)-private and always have one right, of which the corollary says 0.982
// (TestCorollary54Counterexample); p-values of that size decide nothing.
//
// ε. The bound is the largest ε found at which the right side is at most 1 − confidence. If ε* is the truth,
// more than ε* comes out only if W is at least the smallest w(ε) at which that is so, for some ε > ε*; the smallest
// of these is w of some such ε, the mechanism is (ε, δ)-private for it as well, and so the chance is at most 1 −
// confidence. μ is found in the same way, on the curve of the Gaussian mechanism.
//
// How many guesses. The numbers tried (all, half, a quarter, … of the canaries, half of them as members or all)
// do not depend on the coins; each has its share of 1 − confidence. --guesses fixes one. Scores that are equal
// count as wrong where the order of the rows could make them so.
