// Samples of fixed size, of exactly the law that is accounted for.

package subsample

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// stateless returns independent batches.
func stateless(src rand.Source, draw func(src rand.Source) []Pick) iter.Seq[[]Pick] {
	src = random.Source(src)
	return func(yield func([]Pick) bool) {
		for yield(draw(src)) {
		}
	}
}

// Batches implements Sampler: independent samples of [FixedSize.Sample]. The population
// must be that of the scheme.
func (s fixedSize) Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error) {
	if err := s.checkPopulation(population); err != nil {
		return nil, err
	}
	return stateless(src, s.draw), nil
}

func (s fixedSize) checkPopulation(population int64) error {
	if population != s.population {
		return fault.In(s.Name(), fault.New("population", "%d is not the scheme's, %d", population, s.population))
	}
	return nil
}

// KeptBatches implements FixedSize.
func (s fixedSize) KeptBatches(src rand.Source, population, resamples int64) (iter.Seq[[]Pick], error) {
	if err := s.checkPopulation(population); err != nil {
		return nil, err
	}
	left := int64(0)
	var slots []int64
	return stateless(src, func(src rand.Source) []Pick {
		r := rand.New(src)
		if left == 0 {
			left = resamples
			if s.kind == mustOW {
				slots = random.Subset(r, s.population, s.subset)
			} else {
				slots = draws(r, s.population, s.subset)
			}
		}
		left--
		picks := tally(draws(r, s.subset, s.batch))
		for i := range picks {
			picks[i].Index = slots[picks[i].Index]
		}
		return merge(picks) // slots ascend
	}), nil
}

// Sample implements FixedSize.
func (s fixedSize) Sample(src rand.Source, population int64) ([]Pick, error) {
	if err := s.checkPopulation(population); err != nil {
		return nil, err
	}
	return s.draw(random.Source(src)), nil
}

func (s fixedSize) draw(src rand.Source) []Pick {
	r := rand.New(src)
	switch s.kind {
	case withoutReplacement:
		return once(random.Subset(r, s.population, s.batch))
	case mustOW:
		// Which slots are drawn, and how often; by symmetry the slots drawn hold a
		// uniformly random set of records, and the counts, listed by slot, are
		// exchangeable: pairing both in ascending order has the right law.
		slots := tally(draws(r, s.subset, s.batch))
		for i, x := range random.Subset(r, s.population, int64(len(slots))) {
			slots[i].Index = x
		}
		return slots
	case mustWW:
		// Each slot that is drawn holds an independent uniform record.
		slots := tally(draws(r, s.subset, s.batch))
		for i := range slots {
			slots[i].Index = r.Int64N(s.population)
		}
		slices.SortFunc(slots, func(a, b Pick) int { return cmp.Compare(a.Index, b.Index) })
		return merge(slots)
	}
	// Distinct slots of draws with replacement are draws with replacement.
	return tally(draws(r, s.population, s.batch))
}

// draws returns k independent uniform indices below n, sorted.
func draws(r *rand.Rand, n, k int64) []int64 {
	xs := make([]int64, k)
	for i := range xs {
		xs[i] = r.Int64N(n)
	}
	slices.Sort(xs)
	return xs
}

// tally counts repetitions in a sorted list.
func tally(sorted []int64) []Pick {
	picks := make([]Pick, 0, len(sorted))
	for _, x := range sorted {
		picks = append(picks, Pick{x, 1})
	}
	return merge(picks)
}

// merge joins neighbours with the same index.
func merge(sorted []Pick) []Pick {
	out := sorted[:0]
	for _, p := range sorted {
		if n := len(out); n > 0 && out[n-1].Index == p.Index {
			out[n-1].Copies += p.Copies
			continue
		}
		out = append(out, p)
	}
	return out
}

func once(sorted []int64) []Pick {
	picks := make([]Pick, len(sorted))
	for i, x := range sorted {
		picks[i] = Pick{x, 1}
	}
	return picks
}
