package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/audit"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file answers what an attack proves, and whether a plan can be what ran.

// The designs of an audit.
const (
	ManyRuns = "many-runs"
	OneRun   = "one-run"
)

// gaussianFamily is the family of mechanisms that may be declared.
const gaussianFamily = "gaussian"

// AuditRequest asks what the scores of an attack prove at a δ and a confidence, 0.95 if
// left out, and, with a plan, whether that agrees with it.
type AuditRequest struct {
	Design     string    `json:"design" one:"many-runs,one-run" help:"many-runs or one-run, see above"`
	Members    []float64 `json:"members"`
	NonMembers []float64 `json:"non-members"`
	Delta      Decimals  `json:"delta" in:"[0, 1)" help:"one or several {δ} to bound ε at, with commas between them"`
	Confidence Decimal   `json:"confidence,omitempty" in:"(0, 1)" preset:"0.95" help:"{probability} that what is told holds, at least"`
	// Threshold was fixed before anybody saw the scores (many-runs).
	Threshold Decimal `json:"threshold,omitempty" of:"design=many-runs" in:"[-max, max]" help:"many-runs: a {score} that was fixed before anybody saw the scores (default: all thresholds at once)"`
	// Family is what is declared of the mechanism: any, the default, or gaussian.
	Family  string  `json:"family,omitempty" one:"any,gaussian" preset:"any" help:"the {family} of the mechanism, if it is known: any, or gaussian, for which ε follows from the bound of μ"`
	Guesses Decimal `json:"guesses,omitempty" of:"design=one-run" in:"whole [1, 16777216]" help:"one-run: {number} of canaries to guess, half of them members, fixed likewise (default: several numbers are tried, and paid for)"`
	// Points is how many points of the ROC, and of the plan's trade-off curve, come along.
	Points Decimal  `json:"points,omitempty" in:"whole [2, 1000]"`
	Plan   PlanText `json:"plan,omitempty" help:"plan {file} that is said to have run"`
	Limits
}

// AuditAnswer has lower bounds that hold with the confidence.
type AuditAnswer struct {
	Design     string `json:"design"`
	Members    int    `json:"members"`
	NonMembers int    `json:"non-members"`
	Confidence Number `json:"confidence"`
	Delta      Number `json:"delta"`
	Epsilon    Lower  `json:"epsilon"`
	Mu         Lower  `json:"mu"`
	// Family is gaussian where the mechanism was declared to be: ε is then of that family only.
	Family string     `json:"family,omitempty"`
	Rates  *AuditRate `json:"rates,omitempty"`
	// Band is of many runs at all thresholds: a true-positive rate that is attained at most at each false-positive rate.
	Band    []ROCPoint `json:"band,omitempty"`
	Guesses *AuditOne  `json:"guesses,omitempty"`
	Claim   *Claim     `json:"claim,omitempty" py:"*"`
	ROC     []ROCPoint `json:"roc,omitempty"`
	Curve   []ROCBound `json:"curve,omitempty"`
}

// Lower is a lower bound alone.
type Lower struct {
	Lower Number `json:"lower"`
}

// AuditRate is what was counted in many runs, see audit.Rates.
type AuditRate struct {
	Threshold     Number `json:"threshold"`
	Members       int    `json:"members"`
	TruePositives int    `json:"true-positives"`
	NonMembers    int    `json:"non-members"`
	FalsePositive int    `json:"false-positives"`
	TruePositive  Lower  `json:"true-positive-rate"`
	FalsePosRate  Upper  `json:"false-positive-rate"`
}

// AuditOne is what was counted in one run, see audit.Guesses.
type AuditOne struct {
	In      int `json:"in"`
	Out     int `json:"out"`
	Correct int `json:"correct"`
	Tests   int `json:"tests"`
}

// A Claim is a plan beside an audit of what is said to have run by it.
type Claim struct {
	Unit
	Epsilon Bounds `json:"epsilon" py:"claimed_*"`
	// Consistent is false if the plan is refuted: were it what ran, such scores would
	// have a chance of at most 1 − confidence.
	Consistent bool   `json:"consistent"`
	Reason     string `json:"reason"`
}

// ROCPoint is an observed pair of rates.
type ROCPoint struct {
	FalsePositive Number `json:"false-positive-rate"`
	TruePositive  Number `json:"true-positive-rate"`
}

// ROCBound is what a plan lets the best attacker attain at a false-positive rate.
type ROCBound struct {
	FalsePositive Number `json:"false-positive-rate"`
	Bounds
}

// audit returns lower bounds of ε and μ, and what they say of a plan.
func (s *Service) audit(ctx context.Context, q AuditRequest) (_ *AuditAnswer, err error) {
	delta, confidence, points := q.Delta.float(), q.Confidence.float(), int(q.Points.whole())
	scores := audit.Scores{Members: q.Members, NonMembers: q.NonMembers}
	a := &AuditAnswer{Design: q.Design, Members: len(q.Members), NonMembers: len(q.NonMembers), Confidence: Number(confidence), Delta: Number(delta)}
	var rates []audit.Rates
	var guesses []audit.Guesses // those that bound ε best and those that bound μ best
	if q.Design == ManyRuns {
		var shown audit.Rates
		if q.Threshold == "" {
			b, err := audit.ManyRuns(ctx, scores, delta, confidence)
			if err != nil {
				return nil, err
			}
			rates = b.Band
			shown = slices.MaxFunc(rates, func(a, b audit.Rates) int { return cmp.Compare(a.Mu(), b.Mu()) })
			a.Epsilon, a.Mu = Lower{Number(b.Epsilon)}, Lower{Number(b.Mu)}
		} else {
			if shown, err = audit.ManyRunsAt(scores, q.Threshold.float(), confidence); err != nil {
				return nil, err
			}
			rates = []audit.Rates{shown}
			a.Epsilon, a.Mu = Lower{Number(shown.Epsilon(delta))}, Lower{Number(shown.Mu())}
		}
		a.Rates = &AuditRate{Threshold: Number(shown.Threshold), Members: shown.Members, TruePositives: shown.TruePositives, NonMembers: shown.NonMembers, FalsePositive: shown.FalsePositives,
			TruePositive: Lower{Number(oneMinus(shown.FalseNegativeUpper))}, FalsePosRate: Upper{Number(shown.FalsePositiveUpper)}}
	} else {
		of := int(q.Guesses.whole())
		g, err := audit.OneRun(scores, delta, confidence, of)
		if err != nil {
			return nil, err
		}
		h, mu, err := audit.OneRunGaussian(ctx, scores, confidence, of)
		if err != nil {
			return nil, err
		}
		a.Epsilon, a.Mu, guesses = Lower{Number(g.Epsilon(delta, confidence))}, Lower{Number(mu)}, []audit.Guesses{g, h}
		if q.Family == gaussianFamily {
			g = h
		}
		a.Guesses = &AuditOne{In: g.In, Out: g.Out, Correct: g.Correct, Tests: g.Tests}
	}
	if q.Family == gaussianFamily {
		a.Family, a.Epsilon = gaussianFamily, Lower{Number(audit.GaussianEpsilon(float64(a.Mu.Lower), delta))}
	}
	if points > 0 {
		for _, r := range rates {
			a.Band = append(a.Band, ROCPoint{Number(r.FalsePositiveUpper), Number(oneMinus(r.FalseNegativeUpper))})
		}
		for _, r := range scores.ROC(points) {
			a.ROC = append(a.ROC, ROCPoint{Number(r.FalsePositive), Number(r.TruePositive)})
		}
	}
	if q.Plan == nil {
		return a, nil
	}
	p, err := q.Plan.parse(ctx)
	if err != nil {
		return nil, err
	}
	acct, err := newAccountant(ctx, p, q.options(ctx, Narrowing{}))
	if err != nil {
		return nil, err
	}
	epsilon, err := acct.Epsilon(ctx, delta)
	if err != nil {
		return nil, err
	}
	a.Claim = &Claim{Unit: unitOf(p), Epsilon: boundsOf(epsilon.Lower, epsilon.Estimate, epsilon.Upper)}
	if q.Design == ManyRuns {
		err = a.Claim.judgeRates(ctx, acct, rates)
	} else {
		err = a.Claim.judgeGuesses(ctx, acct, guesses, epsilon.Upper, confidence)
	}
	if err != nil || points == 0 {
		return a, err
	}
	return a, a.addCurve(ctx, acct, points)
}

// oneMinus is 1 − x, rounded down.
func oneMinus(x float64) float64 { return max(0, xmath.Down(1-x, 1)) }

// judgeRates compares bounds of error rates that hold together with the most that the plan lets any
// test attain, in both directions: the rates of the complement of a test are those of the
// test with the data sets exchanged. The reason is what comes nearest to a refutation.
func (c *Claim) judgeRates(ctx context.Context, acct *accountant.Accountant, rates []audit.Rates) error {
	c.Consistent, c.Reason = true, "the rates of the attack prove nothing"
	type side struct {
		what          string
		rate, attains float64
	}
	var sides []side
	var at []float64
	for _, r := range rates {
		for _, s := range []side{
			{"true-positive rate", r.FalsePositiveUpper, oneMinus(r.FalseNegativeUpper)},
			{"true-negative rate", r.FalseNegativeUpper, oneMinus(r.FalsePositiveUpper)},
		} {
			if s.rate > 0 && s.rate < 1 && s.attains > 0 {
				sides, at = append(sides, s), append(at, s.rate)
			}
		}
	}
	if len(at) == 0 {
		return nil
	}
	points, err := acct.TradeOff(ctx, at)
	if err != nil {
		return err
	}
	nearest := math.Inf(-1)
	for i, p := range points {
		s, most := sides[i], p.Power.Upper
		if near := s.attains * (1 - most) / (most * (1 - s.attains)); near > nearest { // by odds
			nearest = near
			c.Reason = fmt.Sprintf("the %s of the attack is at least %.4g at an error rate of the other kind of at most %.4g; the plan allows %.4g", s.what, s.attains, s.rate, most)
		}
		c.Consistent = c.Consistent && s.attains <= most
	}
	return nil
}

// claimPoints is how many points of the plan's curve are compared with one run; more only
// make the comparison sharper.
const claimPoints = 24

// judgeGuesses bounds how likely so many correct guesses are under the plan's curve.
func (c *Claim) judgeGuesses(ctx context.Context, acct *accountant.Accountant, guesses []audit.Guesses, upper, confidence float64) error {
	c.Consistent = true
	if math.IsInf(upper, 1) {
		c.Reason = "the plan allows everything at this δ"
		return nil
	}
	var epsilons, deltas []float64
	for i := range claimPoints + 1 {
		epsilons = append(epsilons, max(0, upper)*float64(i)/claimPoints)
	}
	points, err := acct.DeltaCurve(ctx, epsilons)
	if err != nil {
		return err
	}
	for _, p := range points {
		deltas = append(deltas, min(1, p.Interval.Upper))
	}
	p := 1.0
	for _, g := range guesses { // the same tests, of which any may be taken
		p = min(p, g.PValueOfCurve(epsilons, deltas))
	}
	c.Consistent = p >= 1 || p > 1-confidence // a bound of 1 refutes nothing, however little is asked
	c.Reason = fmt.Sprintf("so many correct guesses have a probability of at most %.4g under the plan", p)
	return nil
}

// addCurve adds the plan's trade-off curve, from 1e-4 on or the smallest rate that is seen.
func (a *AuditAnswer) addCurve(ctx context.Context, acct *accountant.Accountant, points int) error {
	low := min(1e-3, 0.5/float64(a.NonMembers))
	var rates []float64
	for i := range points {
		x := (float64(i) + 0.5) / float64(points)
		rates = append(rates, math.Pow(low, 1-x))
	}
	curve, err := acct.TradeOff(ctx, rates)
	if err != nil {
		return err
	}
	for i, p := range curve {
		a.Curve = append(a.Curve, ROCBound{Number(rates[i]), rangeOf(p.Power)})
	}
	return nil
}
