// Samples of samples: docs/theory/subsampling.md §16.

package subsample

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Stage is one of several samplings, each of what the one before has drawn: so many distinct records or slots, or
// so many independent draws.
type Stage struct {
	Size     int64
	Distinct bool
}

// NewStages returns the law of the last stage where it is that of a scheme of one or two stages, and an error otherwise.
func NewStages(population int64, stages []Stage) (FixedSize, error) {
	fail := func(i int, format string, a ...any) (FixedSize, error) {
		return nil, fault.In("stages", fault.New(fmt.Sprintf("stages[%d]", i), format, a...))
	}
	if population < 1 || population > maxPopulation {
		return nil, fault.In("stages", fault.New("population", "%d is not in [1, %d]", population, int64(maxPopulation)))
	}
	if len(stages) == 0 {
		return nil, fault.In("stages", fault.New("stages", "is an empty list, must have a stage"))
	}
	var kept []Stage
	held := population
	for i, x := range stages {
		switch {
		case x.Size < 1 || x.Size > maxPopulation:
			return fail(i, "%d is not in [1, %d]", x.Size, int64(maxPopulation))
		case x.Distinct && x.Size > held:
			return fail(i, "%d distinct of %d cannot be drawn", x.Size, held)
		}
		held = x.Size
		n := len(kept)
		switch {
		case x.Size == 1: // a uniform record, whatever was before
			kept = []Stage{{Size: 1, Distinct: true}}
		case n == 2 && kept[0].Size == 1: // all slots hold one record
			kept[1].Size = x.Size
		case x.Distinct && x.Size == population && n == 0: // the population
		case x.Distinct && n > 0:
			kept[n-1].Size = x.Size
		default:
			kept = append(kept, x)
		}
		if len(kept) > 2 {
			return fail(i, "draws with replacement after two stages that do not collapse: nothing is proved about three")
		}
	}
	switch {
	case len(kept) == 0:
		return NewWithoutReplacement(population, population)
	case len(kept) == 1 && kept[0].Distinct:
		return NewWithoutReplacement(population, kept[0].Size)
	case len(kept) == 1:
		return NewWithReplacement(population, kept[0].Size)
	case kept[0].Distinct:
		return NewMustOW(population, kept[0].Size, kept[1].Size)
	}
	return NewMustWW(population, kept[0].Size, kept[1].Size)
}
