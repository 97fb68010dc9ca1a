package allocation

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/subsample"
)

// This file draws batches. Nil is the operating system's source (internal/random); integers below
// a bound come without a bias. Never publish bins, batches or their sizes.

var _, _, _ subsample.Sampler = randomScheme{}, shuffleScheme{}, truncatedScheme{}

// epochs returns the batches of a run, epoch after epoch: the first steps of what draw returns,
// which with once is drawn a single time.
func epochs(src rand.Source, once bool, steps int64, draw func(src rand.Source) [][]int64) iter.Seq[[]subsample.Pick] {
	src = random.Source(src)
	var epoch [][]int64
	at := steps
	return func(yield func([]subsample.Pick) bool) {
		for steps > 0 {
			if at == steps {
				if at = 0; epoch == nil || !once {
					epoch = draw(src)
				}
			}
			batch := picks(epoch[at])
			at++
			if !yield(batch) {
				return
			}
		}
	}
}

// picks returns records once each, in ascending order.
func picks(records []int64) []subsample.Pick {
	out := make([]subsample.Pick, len(records))
	for i, r := range records {
		out[i] = subsample.Pick{Index: r, Copies: 1}
	}
	slices.SortFunc(out, func(a, b subsample.Pick) int { return cmp.Compare(a.Index, b.Index) })
	return out
}

// Batches implements subsample.Sampler.
func (s randomScheme) Batches(src rand.Source, population int64) (iter.Seq[[]subsample.Pick], error) {
	if err := checkRecords(population); err != nil {
		return nil, err
	}
	return epochs(src, s.once, s.part, func(src rand.Source) [][]int64 { return s.epoch(src, population) }), nil
}

// Batches implements subsample.Sampler. A short last batch is kept.
func (s shuffleScheme) Batches(src rand.Source, population int64) (iter.Seq[[]subsample.Pick], error) {
	if err := checkRecords(population); err != nil {
		return nil, err
	}
	return epochs(src, s.once, s.batches, func(src rand.Source) [][]int64 { return s.epoch(src, population) }), nil
}

// Batches implements subsample.Sampler. The population must be that of the scheme.
func (s truncatedScheme) Batches(src rand.Source, population int64) (iter.Seq[[]subsample.Pick], error) {
	if population != s.population {
		return nil, fault.New("population", "%d is not the scheme's, %d", population, s.population)
	}
	if err := checkRecords(population); err != nil {
		return nil, err
	}
	src = random.Source(src)
	return func(yield func([]subsample.Pick) bool) {
		for yield(s.draw(src)) {
		}
	}, nil
}

// maxRecords bounds what is drawn at once: all batches of an epoch are in memory.
const maxRecords = 1 << 40

func checkRecords(n int64) error {
	if n < 1 || n > maxRecords || n > math.MaxInt/16 {
		return fault.New("population", "%d is not in [1, %d]", n, int64(maxRecords))
	}
	return nil
}

// epoch draws one epoch for so many records: for each step, the records that take part, in
// ascending order. Time and memory are linear in records × uses and steps.
func (s randomScheme) epoch(src rand.Source, records int64) [][]int64 {
	r := rand.New(src)
	if s.uses == 1 {
		bins := make([]int64, records)
		for i := range bins {
			bins[i] = r.Int64N(s.steps)
		}
		return byStep(bins, 1, s.steps)
	}
	bins := make([]int64, 0, records*s.uses)
	for range records {
		bins = append(bins, random.Subset(r, s.steps, s.uses)...)
	}
	return byStep(bins, s.uses, s.steps)
}

// byStep sorts records into their steps by counting; bins lists uses steps of each record.
func byStep(bins []int64, uses, steps int64) [][]int64 {
	ends := make([]int64, steps+1)
	for _, b := range bins {
		ends[b+1]++
	}
	for i := range steps {
		ends[i+1] += ends[i]
	}
	all := make([]int64, len(bins))
	next := slices.Clone(ends[:steps])
	for i, b := range bins {
		all[next[b]] = int64(i) / uses
		next[b]++
	}
	out := make([][]int64, steps)
	for i := range out {
		out[i] = all[ends[i]:ends[i+1]:ends[i+1]]
	}
	return out
}

// epoch draws a permutation of so many records and cuts it into batches of one size; the last
// is what is left, and may be short.
func (s shuffleScheme) epoch(src rand.Source, records int64) [][]int64 {
	r := rand.New(src)
	all := make([]int64, records)
	for i := range all {
		all[i] = int64(i)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	size := (records + s.batches - 1) / s.batches
	out := make([][]int64, s.batches)
	for i := range out {
		from := min(int64(i)*size, records)
		to := min(from+size, records)
		out[i] = all[from:to:to]
	}
	return out
}

// draw draws the batch of one step: a Poisson sample, and a uniform subset of it where it is
// above the cap.
func (s truncatedScheme) draw(src rand.Source) []subsample.Pick {
	p, err := subsample.NewPoisson(s.rate)
	if err != nil {
		panic(err) // the rate was checked
	}
	batch, err := p.Sample(src, s.population)
	if err != nil {
		panic(err)
	}
	if int64(len(batch)) <= s.cap {
		return batch
	}
	r := rand.New(src)
	for i := range s.cap {
		j := i + r.Int64N(int64(len(batch))-i)
		batch[i], batch[j] = batch[j], batch[i]
	}
	batch = batch[:s.cap]
	slices.SortFunc(batch, func(a, b subsample.Pick) int { return cmp.Compare(a.Index, b.Index) })
	return batch
}
