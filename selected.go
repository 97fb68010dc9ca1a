package accountant

// Private selection in a plan: a step or a sub-plan as the candidate of a search, from both
// ends, and the search as a mechanism of the sum.

import (
	"context"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// selectionAccuracy and selectionFloor say how finely the price of a selection
// is turned into a profile: chords cost at most this much ε, and log δ is
// followed down to this; what is left counts as +∞.
const (
	selectionAccuracy = 1e-3
	selectionFloor    = -60
	selectionShare    = 20 // of the work of a question goes to each δ of the candidate
)

// selected returns the mechanism of a selection step, the best of a random
// number of runs of the candidate (selection.PriceOfBest).
func (a *Accountant) selected(ctx context.Context, s Step) (profiles.Bounds, error) {
	law, err := s.Selection.Build()
	if err != nil {
		return profiles.Bounds{}, fault.Rename(err, func(field string) string { return "selection." + field })
	}
	// The price is of two data sets, whatever makes them neighbours.
	candidate := New(a.relation, WithRecordsPerPerson(a.Records()))
	candidate.opts.Options = a.opts.sums(selectionShare)
	s.Selection, s.Count = nil, 1
	if err := candidate.Add(ctx, s, 1); err != nil {
		return profiles.Bounds{}, err
	}
	one, err := candidate.Candidate(ctx)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return selection.PriceOfBest(law).Bounds(ctx, "selection", a.relation, one, selectionAccuracy, selectionFloor)
}

// Candidate returns everything added so far as the candidate of a private selection: what
// is proved of each direction, and what a pair of data sets is known to reach. It asks for
// many δ, each of which may take the work limit of one question.
func (a *Accountant) Candidate(ctx context.Context) (*selection.Candidate, error) {
	if len(a.added) == 1 && a.runs == 1 && len(a.aimed) == 0 {
		return selection.CandidateOf(*a.added[0].m), nil
	}
	if len(a.aimed) > 0 || a.blocks {
		// Known as a whole only, the worst of both directions.
		bound := selection.FromDelta(func(eps float64) (float64, error) {
			iv, err := a.Delta(ctx, eps)
			return iv.Upper, err
		})
		return bound.Candidate(bound, [2]func(float64) float64{}), nil
	}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	a.expectMany()
	// What is reached in the two directions is one pair of data sets where each step's is.
	mirrored := true
	for _, r := range a.summed {
		one, other := side(r, 0, true), side(r, 1, true)
		mirrored = mirrored && one != nil && other != nil && isReverse(one, other) && r.m.Together == nil
	}
	var lock sync.Mutex
	ask := func(s *fourier.Sum, eps float64) (fourier.Result, error) {
		lock.Lock()
		defer lock.Unlock()
		s.LimitWork(a.opts.work() / a.asked())
		return s.Delta(ctx, eps)
	}
	var upper [2]selection.Bound
	var lower [2]func(float64) float64
	for d := range 2 {
		sum, low := a.upper[d], a.lower[d]
		upper[d] = selection.FromDelta(func(eps float64) (float64, error) {
			r, err := ask(sum, eps)
			return min(1, r.Upper), err
		})
		if mirrored {
			lower[d] = func(eps float64) float64 {
				r, err := ask(low, eps)
				if err != nil {
					return math.NaN()
				}
				return math.Log(max(0, r.Lower)) - 1e-15
			}
		}
	}
	return upper[0].Candidate(upper[1], lower), nil
}
