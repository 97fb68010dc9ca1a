package audit

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// maxRows bounds the scores of an audit: up to it the errors of binomial.go are small.
const maxRows = 1 << 24

// Scores are what an attack says of records that took part and of records that did not.
// The higher a score, the surer it is that its record took part; only their order counts,
// and infinite scores are allowed.
type Scores struct{ Members, NonMembers []float64 }

// check reports what is wrong with the scores.
func (s Scores) check() error {
	for _, c := range []struct {
		name   string
		scores []float64
	}{{"members", s.Members}, {"non-members", s.NonMembers}} {
		if len(c.scores) == 0 {
			return fault.New(c.name, "are missing; there must be at least one score of each kind")
		}
		if len(c.scores) > maxRows {
			return fault.New(c.name, "%d scores are more than %d", len(c.scores), maxRows)
		}
		if slices.ContainsFunc(c.scores, math.IsNaN) {
			return fault.New(c.name, "have a score that is not a number")
		}
	}
	return nil
}

// check reports what is wrong with the scores, a δ or a confidence.
func check(s Scores, delta, confidence float64) error {
	if err := s.check(); err != nil {
		return err
	}
	if !(delta >= 0 && delta < 1) {
		return fault.New("delta", "%v is not in [0, 1)", delta)
	}
	if !(confidence > 0 && confidence < 1) {
		return fault.New("confidence", "%v is not in (0, 1)", confidence)
	}
	return nil
}

// failure is 1 − confidence, rounded down where it is no float64: never 1, a chance at which
// anything goes.
func failure(confidence float64) float64 {
	if confidence >= 0.5 {
		return 1 - confidence // exact
	}
	return xmath.Down(1-confidence, 1)
}

// A Rate is a point of the receiver operating characteristic of an attack.
type Rate struct{ FalsePositive, TruePositive float64 }

// ROC returns the observed rates of all tests of the form score ≥ t, from (0, 0) to
// (1, 1), thinned to at most so many points and never to fewer than 2. They are
// observations, not probabilities.
func (s Scores) ROC(points int) []Rate {
	in, out := sorted(s.Members), sorted(s.NonMembers)
	all := []Rate{{0, 0}}
	for _, t := range slices.Backward(slices.Compact(sorted(slices.Concat(in, out)))) {
		all = append(all, Rate{float64(atLeast(out, t)) / float64(len(out)), float64(atLeast(in, t)) / float64(len(in))})
	}
	points = max(2, points)
	if len(all) <= points {
		return all
	}
	// Small rates matter as much as large ones: half of the points are even in the
	// index, half in its logarithm.
	keep := map[int]bool{0: true, len(all) - 1: true}
	for i := range points / 2 {
		x := float64(i+1) / float64(points/2+1)
		keep[int(x*float64(len(all)-1))] = true
		keep[int(math.Pow(float64(len(all)-1), x))] = true
	}
	var some []Rate
	for i, r := range all {
		if keep[i] {
			some = append(some, r)
		}
	}
	return some
}

func sorted(xs []float64) []float64 {
	ys := slices.Clone(xs)
	slices.Sort(ys)
	return ys
}

// atLeast returns how many of ascending numbers are at least t.
func atLeast(ys []float64, t float64) int {
	i, _ := slices.BinarySearch(ys, t)
	return len(ys) - i
}
