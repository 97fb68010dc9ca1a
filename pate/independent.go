// Theorem (adaptive Gaussian composition): Q checks and at most A answers are μ-GDP, μ² =
// Q/σ1² + 2A/σ2², whatever is answered; then nothing may be looked at any more. It returns ε at
// every data set, rounded up: the line that may be published as it stands.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/gdp"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Independent returns ε at δ for every data set and in both directions: the Gaussian trade-off
// of all checks, and of as many answers as there may be, exactly. For LNMax it is the Rényi
// bound of the tight curve of pure privacy.
//
// Theorem: a check moves by 1/σ1, an answer by √2/σ2, and the answer is asked for in the light
// of the check; gdp.Filter has the proof that their squares add up. Condition: after A answers
// the mechanism answers nothing without looking at the votes.
func (l *Ledger) Independent(delta float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	queries := float64(l.votes.Queries())
	if x := l.q.lnmax; x != nil {
		c, err := pureTotal(x.Gamma, queries, l.orders)
		if err != nil {
			return 0, err
		}
		eps, _, err := Improved.Epsilon(c, delta)
		return eps, err
	}
	answers := queries
	if l.most > 0 {
		answers = min(answers, float64(l.most))
	}
	s := l.sigma2()
	square := 2 * answers / s / s
	if l.q.check != nil {
		c := l.confident()
		square += queries / c.Sigma1 / c.Sigma1
	}
	return gaussianEpsilon(gdp.Mu(xmath.Up(square, 8)), delta)
}

// gaussianEpsilon returns the least ε, rounded up, at which μ-GDP is (ε, δ)-private.
func gaussianEpsilon(mu, delta float64) (float64, error) {
	g, err := profiles.NewGaussian(1 / xmath.Up(mu, 3)) // 1/μ rounds
	if err != nil {
		return 0, err
	}
	want := math.Log(delta)
	want -= 4 * u * math.Abs(want)
	holds := func(eps float64) bool {
		l, e := g.LogDelta(eps)
		return l+e <= want
	}
	if holds(0) {
		return 0, nil
	}
	lo, hi := 0.0, 1.0
	for !holds(hi) {
		if lo, hi = hi, 2*hi; math.IsInf(hi, 1) {
			return hi, nil
		}
	}
	for range 200 {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
