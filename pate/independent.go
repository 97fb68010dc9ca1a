// Theorem (adaptive Gaussian composition): Q checks and at most A answers are μ-GDP, μ² =
// Q/σ1² + 2A/σ2², whatever is answered; then nothing may be looked at any more. It returns ε at
// every data set, rounded up: the line that may be published as it stands.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

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
	return gaussianEpsilon(rdp.MuOfSquare(square), delta)
}

// gaussianEpsilon returns the least ε, rounded up, at which μ-GDP is (ε, δ)-private.
func gaussianEpsilon(mu, delta float64) (float64, error) {
	g, err := profiles.NewGaussian(1 / xmath.Up(mu, 3)) // 1/μ rounds
	if err != nil {
		return 0, err
	}
	want := xmath.Log(delta)
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
	hi, _ = xmath.Bisect(hi, lo, 200, holds)
	return hi, nil
}
