// The schemes of fixed size, and the law of the copies of a record.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

type kind int

const (
	withoutReplacement kind = iota
	withReplacement
	mustOW
	mustWO
	mustWW
)

var kindNames = [...]string{"without-replacement", "with-replacement", "must-ow", "must-wo", "must-ww"}

// FixedSize is a sampling scheme whose subsample has a fixed, public number of
// records: without or with replacement, or in two stages (MUST, Zhao and Liu,
// arXiv:2312.13389). Both sizes must be public, and every run must draw its
// subsample afresh, in both stages.
//
// A subset that is drawn once and resampled often (the bag of little bootstraps) is
// an allocation.Resampled: its batches share the first stage.
type FixedSize struct {
	kind                      kind
	population, subset, batch int64 // subset is 0 for the schemes of one stage
}

// The largest sizes: n to 1e12, b and m to 1e6.
const (
	maxPopulation = 1_000_000_000_000
	maxBatch      = 1_000_000
)

// NewWithoutReplacement returns sampling of batch distinct records, uniformly
// among all subsets of that size.
func NewWithoutReplacement(population, batch int64) (FixedSize, error) {
	return FixedSize{kind: withoutReplacement, population: population, batch: batch}.checked()
}

// NewWithReplacement returns batch independent uniform draws.
func NewWithReplacement(population, batch int64) (FixedSize, error) {
	return FixedSize{kind: withReplacement, population: population, batch: batch}.checked()
}

// NewMustOW returns MUST.OW: subset distinct records, then batch draws from them
// with replacement.
func NewMustOW(population, subset, batch int64) (FixedSize, error) {
	return FixedSize{kind: mustOW, population: population, subset: subset, batch: batch}.checked()
}

// NewMustWO returns MUST.WO: subset draws with replacement, then batch of these
// slots without replacement. In law it is sampling with replacement, whatever
// the subset.
func NewMustWO(population, subset, batch int64) (FixedSize, error) {
	return FixedSize{kind: mustWO, population: population, subset: subset, batch: batch}.checked()
}

// NewMustWW returns MUST.WW: subset draws with replacement, then batch draws
// from these slots with replacement.
func NewMustWW(population, subset, batch int64) (FixedSize, error) {
	return FixedSize{kind: mustWW, population: population, subset: subset, batch: batch}.checked()
}

// checked returns the scheme, or the zero FixedSize with an error where a size is out of range.
func (s FixedSize) checked() (FixedSize, error) {
	mostSubset := int64(maxBatch)
	if s.kind == mustOW {
		mostSubset = min(mostSubset, s.population)
	}
	switch {
	case s.population < 1 || s.population > maxPopulation:
		return FixedSize{}, s.outOfRange("population", s.population, 1, maxPopulation)
	case s.twoStage() && (s.subset < 1 || s.subset > mostSubset):
		return FixedSize{}, s.outOfRange("subset", s.subset, 1, mostSubset)
	case s.batch < 1 || s.batch > s.MaxBatch():
		return FixedSize{}, s.outOfRange("batch", s.batch, 1, s.MaxBatch())
	}
	return s, nil
}

func (s FixedSize) twoStage() bool { return s.kind >= mustOW }

func (s FixedSize) outOfRange(field string, value, lo, hi int64) error {
	return fault.In(s.Name(), fault.New(field, "%d is not in [%d, %d]", value, lo, hi))
}

// Name implements Scheme.
func (s FixedSize) Name() string { return kindNames[s.kind] }

// Population, Subset and Batch return the sizes n, b and m; Subset is 0 for a
// scheme of one stage.
func (s FixedSize) Population() int64 { return s.population }

// Subset returns b, or 0; see Population.
func (s FixedSize) Subset() int64 { return s.subset }

// Batch returns m; see Population.
func (s FixedSize) Batch() int64 { return s.batch }

// A Multiplicity is the law of U, how often one given record appears in the final sample.
type Multiplicity = copies.Law

// Multiplicity returns the law of how often one given record appears.
//
// Tables: docs/theory/subsampling.md §1. MUST.WO has the law of sampling with replacement
// (Zhao and Liu 2023, Corollary 6).
func (s FixedSize) Multiplicity() Multiplicity {
	switch s.kind {
	case withoutReplacement:
		return copies.WithoutReplacement(s.population, s.batch)
	case mustOW:
		return copies.MustOW(s.population, s.subset, s.batch)
	case mustWW:
		return copies.MustWW(s.population, s.subset, s.batch)
	}
	return copies.WithReplacement(s.population, s.batch)
}

// MostCopies returns how often one record can be in a batch.
func (s FixedSize) MostCopies() int64 {
	if s.kind == withoutReplacement {
		return 1
	}
	return s.batch
}

// LogAtLeast returns a bound on log Pr[U ≥ u], u ≥ 1, below any float64 as well: the expected number of sets of u
// places that all hold the record is C(m,u)·Pr[u given places hold it].
func (s FixedSize) LogAtLeast(u int64) float64 {
	if u > s.MostCopies() {
		return math.Inf(-1)
	}
	law := s.Multiplicity()
	known := law.LogAbove[min(u, int64(len(law.LogP)))]
	k := float64(u)
	var all float64 // log Pr[u given places hold the record]
	switch s.kind {
	case withReplacement, mustWO:
		all = -k * xmath.Log(float64(s.population))
	case mustOW:
		all = xmath.Log(float64(s.subset)/float64(s.population)) - k*xmath.Log(float64(s.subset))
	default: // E[(J/b)^u] of J slots, by stretches of J
		all = math.Inf(-1)
		for j := int64(1); j <= s.subset; {
			next := j + j/50 + 1
			least := min(0, logChoose(s.subset, j)-float64(j)*xmath.Log(float64(s.population)))
			all = xmath.LogAdd(all, least+k*xmath.Log(float64(min(next-1, s.subset))/float64(s.subset)))
			j = next
		}
	}
	choose := logChoose(s.batch, u)
	return min(known, choose+all+16*xmath.U*float64(s.batch)*(1+math.Abs(all)+math.Abs(choose)))
}

// logChoose bounds log C(n, k) ≤ k·log(n/k) + (n−k)·log(n/(n−k)) by the entropy.
func logChoose(n, k int64) float64 {
	if k >= n {
		return 0
	}
	x, y := float64(k), float64(n-k)
	return x*xmath.Log(float64(n)/x) + y*math.Log1p(x/y)
}

// InclusionProbability returns η, the probability that a given record appears.
func (s FixedSize) InclusionProbability() float64 { return s.Multiplicity().Eta }

// ExpectedDistinct returns the expected number of distinct records in the
// subsample, nη.
func (s FixedSize) ExpectedDistinct() float64 {
	if s.kind == withoutReplacement {
		return float64(s.batch)
	}
	return float64(s.population) * s.InclusionProbability()
}

// AmplifiedEpsilon returns ε' = log(1 + η(e^ε − 1)), the ε at which Theorem 5
// states the amplified δ' for a base mechanism at ε ≥ 0.
func (s FixedSize) AmplifiedEpsilon(eps float64) float64 {
	return forward(eps, s.InclusionProbability())
}

// MaxBatch implements BatchSetter.
func (s FixedSize) MaxBatch() int64 {
	switch s.kind {
	case withoutReplacement:
		return min(s.population, maxBatch)
	case mustWO:
		return s.subset
	case mustWW: // tables have about as many rows as copies are expected
		return min(maxBatch, 1000*s.population)
	}
	return maxBatch
}

// WithBatch implements BatchSetter.
func (s FixedSize) WithBatch(batch int64) (Scheme, error) {
	s.batch = batch
	return s.checked()
}

// Proof (docs/theory/subsampling.md §1): the order of η.
//
// η_WW ≤ η_OW ≤ η_WR ≤ m/n. Throw m balls into b slots and let D be the number of slots hit: `η_OW = E D/n` and
// `η_WW = E[1 − (1−1/n)^D] ≤ E D/n`. The function `(b/n)(1−(1−1/b)^m)` is concave in b with non-negative slope at
// `b = n`, so it grows up to its value at `b = n`, which is WR. The last step is Bernoulli's inequality.
