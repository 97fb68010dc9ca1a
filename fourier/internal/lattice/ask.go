// A question to the engine, and the two ways to answer it.
//
// It assumes what its callers know without an engine: that there are two runs or more, where
// ε lies, and how likely an infinite loss is. It returns an interval that is proved whatever limit was
// reached.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// Accuracy is how narrow an interval is wanted: for ε the larger of Relative times its size and
// Absolute, for δ Relative times δ.
type Accuracy struct{ Relative, Absolute float64 }

// Epsilon returns an interval of ε(δ), 0 < δ < 1, of two or more runs. ε is known to lie in
// [floor, top], and logInf is the log-probability of an infinite loss.
func (s *Sum) Epsilon(m *meter.Meter, a Accuracy, logDelta, logInf, floor, top float64) (Answer, error) {
	q := &query{Sum: s, m: m, relative: a.Relative, absolute: a.Absolute}
	return q.ask(Answer{Lower: floor, Upper: top, Estimate: math.NaN()},
		func(r Answer, relative float64) bool { return r.width() <= max(r.smaller(relative), q.absolute) },
		func(best Answer) (Answer, error) { return q.transformEpsilon(best, logDelta, logInf, floor, top) },
		func(best Answer, relative float64) (Answer, error) {
			return q.doubleEpsilon(best, logDelta, floor, top, relative)
		})
}

// Delta returns an interval of δ(ε) of two or more runs, for a finite ε below their largest loss.
func (s *Sum) Delta(m *meter.Meter, a Accuracy, eps, logInf float64) (Answer, error) {
	q := &query{Sum: s, m: m, relative: a.Relative, absolute: a.Absolute}
	return q.ask(Answer{Upper: 1, Estimate: math.NaN()},
		func(r Answer, relative float64) bool { return r.width() <= relative*r.Upper },
		func(best Answer) (Answer, error) { return q.transformDelta(best, eps, logInf) },
		func(best Answer, relative float64) (Answer, error) { return q.doubleDelta(best, eps, relative) })
}

// ask asks the two ways to compose lattice laws in turn, each with the interval
// proved before, until it is done: a transform while its tilt suits and it is short; then, of few runs or where that gave up,
// laws convolved one by one, to a thousandth; then what transforms can; then the
// products again if they were what served.
func (q *query) ask(best Answer, done func(r Answer, relative float64) bool, transform func(best Answer) (Answer, error), double func(best Answer, relative float64) (Answer, error)) (Answer, error) {
	asked := q.relative
	coarse := max(asked, rung)
	first, second := q.m.Work/2, q.m.Work/2
	if q.few() {
		first, second = fewTransforms, easyWork
	}
	within := func(work float64, way func() (Answer, error)) (r Answer, err error) {
		err = q.m.Within(work, func() (err error) {
			r, err = way()
			return err
		})
		return r, err
	}
	q.hasty, q.relative = true, coarse
	best, err := within(first, func() (Answer, error) { return transform(best) })
	if err != nil {
		return Answer{}, err
	}
	ended := func() bool { return done(best, q.relative) || q.m.Stopped() != nil || q.m.Work <= 0 }
	doubled := false // the products served
	if !ended() {
		if q.hasty = false; q.gaveUp || q.few() {
			if best, err = within(second, func() (Answer, error) { return double(best, coarse) }); err != nil {
				return Answer{}, err
			}
			doubled = done(best, coarse)
		}
	}
	if q.relative = asked; !ended() {
		if doubled {
			best, err = double(best, asked)
		} else {
			best, err = transform(best)
		}
		if err != nil {
			return Answer{}, err
		}
	}
	if done(best, asked) {
		best.Warnings = nil
	}
	return best, nil
}
