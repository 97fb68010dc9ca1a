// Plans of finite laws alone (docs/theory/contour.md, Theorem 9): the integral is asked with one more mechanism, whose transform decays.
//
// It assumes that every step has a transform. What it returns is proved whatever the largest loss of that mechanism is.

package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// bumpShare is the share of the width wanted that the mechanism beside finite laws may cost.
const bumpShare = 0.5 // steers: width for frequencies

// manyFinite is from how many different laws on an integral is asked, where there is work for their lines: an FFT each is cheaper for fewer. steers: time.
const manyFinite = 4

// finite reports whether all parts are finite laws.
func (p *factors) finite() bool { return p.without == 0 && !p.decays }

// mostExcess is how many times too wide an answer may be for a smaller bump to help. steers: next to the largest loss lattices answer.
const mostExcess = 30

// smooth asks the integral of finite laws with a bump, and again with another one: a smaller one, where δ falls faster with ε than was
// guessed, or a larger one, where the width wanted takes too many frequencies: lattices may not reach as much.
func (q *question) smooth(known Result) (Result, error) {
	eps, theta, logDelta, ok := q.guess()
	most := bumpShare * q.widthFor(eps, theta)
	larger := false
	for range lawRounds {
		if !ok || !(most > 0) || math.IsInf(most, 1) {
			break
		}
		if p := &q.factors; !(most <= p.most*2 && most >= p.most) {
			p.most, p.upper, p.lower = most, nil, nil
		}
		if served, err := q.refit(logDelta); err != nil || !served {
			return known, err
		}
		r, wants, err := q.integral(q.easyTerms(q.m))
		if err != nil {
			return known, err
		}
		known = both(r, known)
		if !q.tooWide(known) {
			return known, nil
		}
		x := q.excess(known)
		switch answered := x < mostExcess; {
		case answered && wants == 0 && !larger:
			most *= bumpShare / x
		case !answered && wants > 0:
			most, larger = most/(bumpShare*bumpShare), true
		default:
			ok = false
		}
	}
	known.Warnings = []string{meter.Warning(meter.ErrRounds, known.Upper-known.Lower)}
	return known, nil
}
