package accountant

// What an attacker can do, as numbers that need no ε: functions of the whole privacy profile, each
// an interval whose upper end is proved for every attacker.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A RiskValue is a certified measure of what an attacker can do. Upper holds for
// every attacker and every pair of neighbouring data sets; Lower is reached by a
// concrete attack on a concrete pair.
type RiskValue struct {
	At float64 // the false-positive rate, or the prior
	Range
	Direction string // of the relation, that Upper comes from
	Warnings  []string
}

// A Risk says in plain terms what everything released lets an attacker do who
// knows all records but one and has to tell two neighbouring data sets apart. All
// of it are functions of the privacy profile of the composition, not bounds
// through one (ε, δ).
type Risk struct {
	// Advantage is the largest true-positive rate minus false-positive rate of
	// any test: the total variation distance δ(0).
	Advantage RiskValue
	// TruePositive is the true-positive rate of the best test at each
	// false-positive rate: 1 − f(α) of TradeOff.
	TruePositive []RiskValue
	// Bayes is the probability of the best attacker to name the right data set
	// when one of the two has the given prior probability.
	Bayes []RiskValue
	// TheoryGap says that lower and upper ends are of different pairs of
	// distributions: a known attack's, and those of a theorem. No computation
	// closes the gap between the two.
	TheoryGap bool
}

// Risk returns the risk of everything added so far, at false-positive rates and
// priors in (0, 1); nil stands for false-positive rates of 0.001, 0.01 and 0.1, and for
// priors of 0.5, 0.1 and 0.01.
//
// An attacker who names the data set with prior π on the set S, and the other one
// elsewhere, is right with probability π·P(S) + (1 − π)·(1 − Q(S)), so that the
// best one is right, by the definition of the hockey-stick divergence, with
// probability
//
//	1 − π + π·δ(log((1−π)/π)).
//
// It is the same for π and 1 − π when either of the two data sets may be the
// likelier one, which is how it is meant: the worst over both.
func (a *Accountant) Risk(ctx context.Context, falsePositives, priors []float64) (Risk, error) {
	if falsePositives == nil {
		falsePositives = []float64{0.001, 0.01, 0.1}
	}
	if priors == nil {
		priors = []float64{0.5, 0.1, 0.01}
	}
	for _, p := range priors {
		if !(p >= minAlpha && p < 1) {
			return Risk{}, fault.New("prior", "%v is not in [%v, 1)", p, minAlpha)
		}
	}
	for _, alpha := range falsePositives {
		if err := checkAlpha(alpha); err != nil {
			return Risk{}, err
		}
	}
	ctx, stop := a.opts.within(ctx)
	defer stop()
	var t *total
	var tests []TradeOffPoint
	var err error
	if a.ways != nil {
		tests, err = a.tradeOffOfWays(ctx, falsePositives)
	} else if t, err = a.total(ctx, spread(falsePositives, priors), fineDelta); err == nil {
		a.expectMany()
		tests, err = t.tradeOff(ctx, falsePositives)
	}
	if err != nil {
		return Risk{}, err
	}
	var out Risk
	delta := func(eps float64) (iv Interval, err error) {
		if t != nil {
			iv, err = t.answer(ctx, deltaAt{eps})
		} else {
			iv, err = a.delta(ctx, eps)
		}
		out.TheoryGap = out.TheoryGap || iv.Gap != nil
		return iv, err
	}
	for _, x := range tests {
		out.TruePositive = append(out.TruePositive, RiskValue{At: x.Alpha, Range: x.Power, Direction: x.Direction, Warnings: x.Warnings})
	}
	iv, err := delta(0)
	if err != nil {
		return Risk{}, err
	}
	out.Advantage = RiskValue{At: 0, Range: iv.Range, Direction: iv.Direction, Warnings: iv.Warnings}
	for _, prior := range priors {
		p := min(prior, 1-prior)
		// Below 2⁻⁶⁰ δ is lost in the slack below.
		eps := math.Log1p(-p) - xmath.Log(p)
		iv, err := Interval{Range: Range{Upper: 0x1p-60}, Direction: a.relation.DirectionNames()[0]}, error(nil)
		if t == nil || !t.upper[0].Proves(ctx, eps, iv.Upper) || !t.symmetric && !t.upper[1].Proves(ctx, eps, iv.Upper) {
			iv, err = delta(eps)
		}
		if err != nil {
			return Risk{}, err
		}
		// dδ/dε lies in [−1, 0], so that an error of 4 units in the last place of
		// ε moves p·δ(ε) by at most 2⁻⁵⁰·p·(1 − log p) < 2⁻⁵⁰.
		guess := 1 - p // the likelier one; 1 − guess is exact, as guess ≥ ½
		if 1-guess < p {
			guess = xmath.Down(guess, 1)
		}
		at := func(d, slack float64) float64 { return min(max(1-p+p*d+slack, guess), 1) }
		out.Bayes = append(out.Bayes, RiskValue{At: prior,
			Range: Range{Lower: at(iv.Lower, -0x1p-49), Estimate: at(iv.Estimate, 0), Upper: at(iv.Upper, 0x1p-49)}, Direction: iv.Direction, Warnings: iv.Warnings})
	}
	return out, nil
}
