package accountant

// What a search keeps of selections: their bounds, so that each is computed once whatever else the search turns.

import (
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

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
	m profiles.Bounds
}

// mostBests bounds how many are kept: of a few selections at a few accuracies.
const mostBests = 32

func (b *bests) of(asked bestAsked) (m profiles.Bounds, ok bool) {
	if b == nil {
		return m, false
	}
	i := slices.IndexFunc(b.kept, func(k bestKept) bool { return reflect.DeepEqual(k.bestAsked, asked) })
	if i < 0 {
		return m, false
	}
	return b.kept[i].m, true
}

func (b *bests) keep(asked bestAsked, m profiles.Bounds) {
	if b == nil {
		return
	}
	if len(b.kept) >= mostBests {
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	b.kept = append(b.kept, bestKept{asked, m})
}
