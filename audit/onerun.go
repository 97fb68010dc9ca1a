package audit

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// This file bounds ε from one run with m canaries, each of which takes part by its own fair
// coin, after Steinke, Nasr and Jagielski, Privacy auditing with one training run (NeurIPS
// 2023). For δ > 0 it has the exact bound, of which docs/guide/audit.md has the proof, in place of
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
	if _, chance := upperTail(m, max(len(in), len(out)), 0.5, 0.5); chance < unfair {
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
// and a mechanism attains it while it is not larger than 1 (docs/guide/audit.md).
func (g Guesses) pValue(epsilon, delta float64) float64 {
	r, v := g.In+g.Out, g.Correct
	if v == 0 {
		return 1
	}
	q, rest := 1/(1+math.Exp(-epsilon)), 1/(1+math.Exp(epsilon))
	lower, upper := upperTail(r, v, q, rest)
	p := upper
	if delta > 0 {
		l, err := logMass(r, v, q, rest)
		p += float64(g.Canaries) * delta * upper * (1 - lower) / float64(v) * math.Exp(err-l)
	}
	// At most twelve roundings. Where the mass is 0 in floating point nothing is known.
	if p *= float64(g.Tests) * (1 + 0x1p-49); !(p < 1) {
		return 1
	}
	return p
}

// Epsilon returns the lower bound of ε at a δ, at a confidence: the largest ε that is
// found whose pValue is at most 1 − confidence; 0 says nothing.
//
// Proof that an ε below the truth ε* is what comes out, but for a chance of 1 − confidence:
// more comes out only if some ε > ε* has a pValue of at most that, hence if the number of
// correct guesses is at least the least w(ε) with this property, over ε > ε*. It is w of some
// such ε, for which the mechanism is (ε, δ)-private as well, so that pValue bounds the chance.
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
	high = low + high/grid
	for range 40 {
		if mid := (low + high) / 2; p(mid) <= alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
