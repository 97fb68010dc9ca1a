package accountant

// What the best of a random number of runs costs, by package selection, and what a search keeps of it: the bounds of
// selections, so that each is computed once whatever else the search turns.

import (
	"context"
	"math"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
)

// selectionAccuracy and selectionFloor say how finely the price of a selection
// is turned into a profile: chords cost at most this much ε, and log δ is
// followed down to this; what is left counts as +∞.
const (
	selectionAccuracy = 1e-3
	selectionFloor    = -60
	selectionChord    = 1e-5 // which chords of the candidate cost, in ε where that is up to 1, else relatively
)

// searchTable is how finely the candidate of a single search is read from a table for one question, relative to its ε from leastScale
// to 1.
const (
	searchTable = 1e-5
	leastScale  = 1e-3
)

// oneSearch narrows the answer about a single private selection, whose profile has one ranking for all δ, by its price at this δ, which
// has a ranking of its own: at is an ε where delta is asked, else a δ. Where the work does not suffice the answer stays. It reports whether chords
// of candidates, for want of work, may cost as much as the width asked.
func (a *Accountant) oneSearch(ctx context.Context, iv *Interval, at float64, delta bool) (few bool) {
	eps := iv.Upper
	if delta {
		eps = at
	}
	scale := min(1, max(leastScale, eps))
	few = a.mostStretched()*selectionChord/2 > a.opts.Relative*scale // half of it on average
	if a.curved || len(a.added) != 1 || a.runs != 1 || iv.Gap == nil || iv.Upper-iv.Lower <= a.opts.Relative*math.Abs(iv.Upper) {
		return few
	}
	o := a.origins[a.added[0].m]
	if o == nil || o.candidate == nil || o.short {
		return few
	}
	own := parallel.WithWork(ctx, a.opts.work())
	one, err := o.candidate.Candidate(own)
	if err != nil {
		return few
	}
	var lower, upper float64
	if price := selection.PriceOfBest(o.law); delta {
		lower, upper, err = price.Delta(own, one, at, searchTable*scale)
	} else {
		lower, upper, err = price.Epsilon(own, one, at, searchTable*scale)
	}
	if err != nil || !(upper > 0 && max(lower, iv.Lower) <= min(upper, iv.Upper)) {
		return few
	}
	if iv.Upper = min(iv.Upper, upper); lower > 0 { // 0 stands for no attack
		iv.Lower = max(iv.Lower, lower)
	}
	iv.Estimate = min(max(iv.Estimate, iv.Lower), iv.Upper)
	gap := *iv.Gap
	gap.Proved = Range{Lower: min(gap.Proved.Lower, iv.Upper), Estimate: min(gap.Proved.Estimate, iv.Upper), Upper: iv.Upper}
	gap.Attack = Range{Lower: iv.Lower, Estimate: max(gap.Attack.Estimate, iv.Lower), Upper: max(gap.Attack.Upper, iv.Lower)}
	iv.Gap, iv.Budget.TheoryGap = &gap, 0
	if d := gap.Proved.Lower - gap.Attack.Upper; d > 0 {
		iv.Budget.TheoryGap = d
	}
	return o.candidate.stretched*searchTable/2 > a.opts.Relative
}

// mostStretched is how many times more than asked chords of the candidates of its searches cost, at most, for want of work.
func (a *Accountant) mostStretched() (by float64) {
	for _, o := range a.origins {
		if o != nil {
			by = max(by, o.stretched)
		}
	}
	return by
}

// bests are the bounds of selections that a plan, or a search, has asked for, which need not be computed again for another way
// through branches, or where the search turns something else, such as a count. A nil one keeps nothing. It is of one goroutine.
type bests struct{ kept []bestKept }

// A bestAsked is all that the bounds of a selection depend on.
type bestAsked struct {
	step     Step
	relation profiles.Relation
	records  int64
	sums     fourier.Options
}

type bestKept struct {
	bestAsked
	m    profiles.Bounds
	from *origin
}

// mostBests bounds how many are kept: of a few selections at a few accuracies.
const mostBests = 32

func (b *bests) of(asked bestAsked) (m profiles.Bounds, from *origin, ok bool) {
	if b == nil {
		return m, nil, false
	}
	i := slices.IndexFunc(b.kept, func(k bestKept) bool { return reflect.DeepEqual(k.bestAsked, asked) })
	if i < 0 {
		return m, nil, false
	}
	return b.kept[i].m, b.kept[i].from, true
}

func (b *bests) keep(asked bestAsked, m profiles.Bounds, from *origin) {
	if b == nil {
		return
	}
	if len(b.kept) >= mostBests {
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	b.kept = append(b.kept, bestKept{asked, m, from})
}
