package accountant

// What the best of a random number of runs costs, by package selection, and what a search keeps of it: the bounds of
// selections, so that each is computed once whatever else the search turns.

import (
	"context"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
)

// selectionAccuracy and selectionFloor say how finely the price of a selection
// is turned into a profile: chords cost at most this much ε, and log δ is
// followed down to this; what is left counts as +∞.
const (
	selectionAccuracy = 1e-3
	selectionFloor    = -60
)

func boundsOfBest(ctx context.Context, law selection.Law, r profiles.Relation, one *selection.Candidate) (profiles.Bounds, error) {
	return selection.PriceOfBest(law).Bounds(ctx, "selection", r, one, selectionAccuracy, selectionFloor)
}

func curveOfBest(law selection.Law, one rdp.Curve) (rdp.Curve, error) {
	return selection.PriceOfBest(law).Curve(context.Background(), one, nil)
}

// pureOfBest is the ε of a selection whose candidate is pure private with this ε.
func pureOfBest(law selection.Law, eps float64) (float64, error) {
	return selection.PriceOfBest(law).Pure(eps)
}

// bests are the bounds of selections that a search has asked for, which it need not compute again
// where it turns something else, such as a count. A nil one keeps nothing. It is of one goroutine.
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
