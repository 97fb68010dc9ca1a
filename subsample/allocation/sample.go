package allocation

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/subsample"
)

// This file draws batches. Sources are uniform on 64 bits; integers below a bound come from them
// without a bias (rejection). For a release use a secret source, and never publish bins,
// batches or their sizes.

// maxRecords bounds what is drawn at once: all batches of an epoch are in memory.
const maxRecords = 1 << 40

func checkRecords(n int64) error {
	if n < 0 || n > maxRecords || n > math.MaxInt/16 {
		return fault.New("records", "%d is not in [0, %d]", n, int64(maxRecords))
	}
	return nil
}

// Batches draws one epoch for so many records: for each step, the records that take part, in
// ascending order. Time and memory are linear in records × uses and steps.
func (s Random) Batches(src rand.Source, records int64) ([][]int64, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	r := rand.New(src)
	if s.uses == 1 {
		bins := make([]int64, records)
		for i := range bins {
			bins[i] = r.Int64N(s.steps)
		}
		return byStep(bins, 1, s.steps), nil
	}
	bins := make([]int64, 0, records*s.uses)
	for range records {
		bins = subset(r, bins, s.steps, s.uses)
	}
	return byStep(bins, s.uses, s.steps), nil
}

// subset appends a uniformly random set of k of the numbers below n: Floyd's algorithm.
func subset(r *rand.Rand, out []int64, n, k int64) []int64 {
	from := len(out)
	const few = 32
	var seen map[int64]bool
	if k > few {
		seen = make(map[int64]bool, k)
	}
	has := func(x int64) bool {
		if seen != nil {
			return seen[x]
		}
		return slices.Contains(out[from:], x)
	}
	for j := n - k; j < n; j++ {
		x := r.Int64N(j + 1)
		if has(x) {
			x = j
		}
		if out = append(out, x); seen != nil {
			seen[x] = true
		}
	}
	return out
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

// Batches draws one epoch for so many records.
func (s Unequal) Batches(src rand.Source, records int64) ([][]int64, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	r := rand.New(src)
	sums := make([]float64, len(s.steps))
	total := 0.0
	for i, w := range s.steps {
		total += w
		sums[i] = total
	}
	steps := int64(len(s.steps))
	bins := make([]int64, records)
	for i := range bins {
		// 53 bits: a weight is met within 1e-16.
		x := r.Float64() * (total + s.left)
		bins[i] = int64(sort.Search(len(sums), func(j int) bool { return sums[j] > x }))
	}
	return byStep(bins, 1, steps+1)[:steps], nil
}

// Batches draws a permutation of so many records and cuts it into batches of one size; the last
// is what is left, and may be short.
func (s Shuffle) Batches(src rand.Source, records int64) ([][]int64, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	r := rand.New(src)
	all := make([]int64, records)
	for i := range all {
		all[i] = int64(i)
	}
	for i := records - 1; i > 0; i-- {
		j := r.Int64N(i + 1)
		all[i], all[j] = all[j], all[i]
	}
	size := (records + s.batches - 1) / s.batches
	out := make([][]int64, s.batches)
	for i := range out {
		from := min(int64(i)*size, records)
		to := min(from+size, records)
		out[i] = all[from:to:to]
	}
	return out, nil
}

// Batch draws the batch of one step, in ascending order: a Poisson sample, and a uniform subset
// of it where it is above the cap.
func (s Truncated) Batch(src rand.Source) ([]int64, error) {
	p, err := subsample.NewPoisson(s.rate)
	if err != nil {
		return nil, err
	}
	batch, err := p.(subsample.Poisson).Sample(src, s.population)
	if err != nil || int64(len(batch)) <= s.cap {
		return batch, err
	}
	r := rand.New(src)
	for i := range s.cap {
		j := i + r.Int64N(int64(len(batch))-i)
		batch[i], batch[j] = batch[j], batch[i]
	}
	batch = batch[:s.cap]
	slices.Sort(batch)
	return batch, nil
}
