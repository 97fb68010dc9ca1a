// Plans of finite laws alone (docs/theory/contour.md, Theorem 9): the integral is asked with one more mechanism, whose transform decays.
//
// It assumes that every step has a transform. What it returns is proved whatever the largest loss of that mechanism is.

package fourier

import "math"

// bumpShare is the share of the width wanted that the mechanism beside finite laws may cost.
const bumpShare = 0.5 // steers: width for frequencies

// manyFinite is from how many different laws on an integral is asked: an FFT each is cheaper for fewer. steers: time.
const manyFinite = 16

// finite reports whether all parts are finite laws.
func (p *factors) finite() bool { return p.without == 0 && !p.decays }

// mostExcess is how many times too wide an answer may be for a smaller bump to help. steers: next to the largest loss lattices answer.
const mostExcess = 30

// smoothRounds is how often a question is asked with a smaller bump, where δ falls faster with ε than was guessed.
const smoothRounds = 3 // steers: time for width

// smooth asks the integral of finite laws with a bump.
func (q *question) smooth(known Result) (Result, error) {
	eps, theta, logDelta, ok := q.guess()
	most := bumpShare * q.widthFor(eps, theta)
	for range smoothRounds {
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
		x := q.excess(known)
		if wants > 0 || !q.tooWide(known) || !(x < mostExcess) {
			break
		}
		most *= bumpShare / x
	}
	return known, nil
}
