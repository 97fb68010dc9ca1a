// The schemes of fixed size, and the law of the copies of a record.

package subsample

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/adaptive"
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
type FixedSize interface {
	Sampler
	BatchSetter
	// Subset returns b of a scheme of two stages, whose population is n and whose batch is m; else 0.
	Subset() int64
	// Multiplicity returns the law of how often one given record appears.
	Multiplicity() Multiplicity
	// MostCopies returns how often one record can be in a batch.
	MostCopies() int64
	// LogAtLeast returns a bound on log Pr[U ≥ u], u ≥ 1, of the Multiplicity U, below any float64 as well.
	LogAtLeast(u int64) float64
	// InclusionProbability returns η, the probability that a given record appears.
	InclusionProbability() float64
	// ExpectedDistinct returns the expected number of distinct records in the subsample, nη.
	ExpectedDistinct() float64
	// AmplifiedEpsilon returns ε' = log(1 + η(e^ε − 1)), the ε at which Theorem 5
	// states the amplified δ' for a base mechanism at ε ≥ 0.
	AmplifiedEpsilon(eps float64) float64
	// Theorem5 returns the single-step bound of Theorem 5 of Zhao and Liu 2023 as a
	// profile: δ'(ε') = Σ_u p_u δ_u(ε) at ε' = log(1 + η(e^ε − 1)), reflected below
	// 0. Relation: substitute. Apply is tighter for the Gaussian.
	Theorem5(b profiles.Mechanism) (profiles.Profile, error)
	// Aligned returns the aligned privacy profile of Theorem 5 at the given ε ≥ 0 of
	// the base mechanism. Relation: substitute.
	Aligned(b profiles.Mechanism, epsilons []float64) ([]AlignedPoint, error)
	// Attack returns the pair of outputs on two concrete data sets that differ by
	// one substitution: all other records agree with the substitute and are as far
	// from the record as the sensitivity allows (docs/theory/subsampling.md §7, pair B). It is legal
	// for a fixed mechanism, and a lower bound on the privacy profile at every ε.
	Attack(b profiles.Mechanism) (profiles.Profile, error)
	// PaperPairNotABound returns the pair that Zhao and Liu 2023 (equations 6–8)
	// compose: mixtures at +u and at −u. It is the pair of two data sets whose other
	// records contribute nothing, and not a dominating pair: other data sets lose
	// far more privacy (docs/theory/must-composition.md). Only for reproduction.
	// Relation: substitute; the mechanism must be Gaussian.
	PaperPairNotABound(b profiles.Mechanism) (profiles.Profile, error)
	// NewAdaptiveBound returns the bound of the scheme with the mechanism, or an
	// error if there is none.
	NewAdaptiveBound(b profiles.Mechanism) (adaptive.Bound, error)
	// Sample draws a subsample: records in ascending order with their
	// multiplicities. Its law is exactly that of the scheme, as far as src is
	// uniform. Time and memory are linear in the batch (up to sorting), whatever the
	// population and the subset. The source nil is the operating system's; the sample is never
	// to be published. The population must be that of the scheme.
	Sample(src rand.Source, population int64) ([]Pick, error)
	// KeptBatches draws the batches of MUST.OW or MUST.WW whose subset serves for so many of them (allocation.Resampled).
	KeptBatches(src rand.Source, population, resamples int64) (iter.Seq[[]Pick], error)
}

// AsFixedSize returns s as such a scheme, false if it is none. A Scheme of others that embeds one
// is none: what is proved of it is its own.
func AsFixedSize(s Scheme) (FixedSize, bool) {
	if f, ok := s.(fixedSize); ok {
		return f, true
	}
	return nil, false
}

type fixedSize struct {
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
	return fixedSize{kind: withoutReplacement, population: population, batch: batch}.checked()
}

// NewWithReplacement returns batch independent uniform draws.
func NewWithReplacement(population, batch int64) (FixedSize, error) {
	return fixedSize{kind: withReplacement, population: population, batch: batch}.checked()
}

// NewMustOW returns MUST.OW: subset distinct records, then batch draws from them
// with replacement.
func NewMustOW(population, subset, batch int64) (FixedSize, error) {
	return fixedSize{kind: mustOW, population: population, subset: subset, batch: batch}.checked()
}

// NewMustWO returns MUST.WO: subset draws with replacement, then batch of these
// slots without replacement. In law it is sampling with replacement, whatever
// the subset.
func NewMustWO(population, subset, batch int64) (FixedSize, error) {
	return fixedSize{kind: mustWO, population: population, subset: subset, batch: batch}.checked()
}

// NewMustWW returns MUST.WW: subset draws with replacement, then batch draws
// from these slots with replacement.
func NewMustWW(population, subset, batch int64) (FixedSize, error) {
	return fixedSize{kind: mustWW, population: population, subset: subset, batch: batch}.checked()
}

// checked returns the scheme, or nil with an error where a size is out of range.
func (s fixedSize) checked() (FixedSize, error) {
	mostSubset := int64(maxBatch)
	if s.kind == mustOW {
		mostSubset = min(mostSubset, s.population)
	}
	switch {
	case s.population < 1 || s.population > maxPopulation:
		return nil, s.outOfRange("population", s.population, 1, maxPopulation)
	case s.twoStage() && (s.subset < 1 || s.subset > mostSubset):
		return nil, s.outOfRange("subset", s.subset, 1, mostSubset)
	case s.batch < 1 || s.batch > s.MaxBatch():
		return nil, s.outOfRange("batch", s.batch, 1, s.MaxBatch())
	}
	return s, nil
}

func (s fixedSize) twoStage() bool { return s.kind >= mustOW }

func (s fixedSize) outOfRange(field string, value, lo, hi int64) error {
	return fault.In(s.Name(), fault.New(field, "%d is not in [%d, %d]", value, lo, hi))
}

// Name implements Scheme.
func (s fixedSize) Name() string { return kindNames[s.kind] }

// Population implements BatchSetter.
func (s fixedSize) Population() int64 { return s.population }

// Subset implements FixedSize.
func (s fixedSize) Subset() int64 { return s.subset }

// Batch implements BatchSetter.
func (s fixedSize) Batch() int64 { return s.batch }

// A Multiplicity is the law of U, how often one given record appears in the final sample.
type Multiplicity = copies.Law

// Multiplicity implements FixedSize.
//
// Tables: docs/theory/subsampling.md §1. MUST.WO has the law of sampling with replacement
// (Zhao and Liu 2023, Corollary 6).
func (s fixedSize) Multiplicity() Multiplicity {
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

// MostCopies implements FixedSize.
func (s fixedSize) MostCopies() int64 {
	if s.kind == withoutReplacement {
		return 1
	}
	return s.batch
}

// LogAtLeast implements FixedSize: the expected number of sets of u
// places that all hold the record is C(m,u)·Pr[u given places hold it].
func (s fixedSize) LogAtLeast(u int64) float64 {
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

// InclusionProbability implements FixedSize.
func (s fixedSize) InclusionProbability() float64 { return s.Multiplicity().Eta }

// ExpectedDistinct implements FixedSize.
func (s fixedSize) ExpectedDistinct() float64 {
	if s.kind == withoutReplacement {
		return float64(s.batch)
	}
	return float64(s.population) * s.InclusionProbability()
}

// AmplifiedEpsilon implements FixedSize.
func (s fixedSize) AmplifiedEpsilon(eps float64) float64 {
	return forward(eps, s.InclusionProbability())
}

// MaxBatch implements BatchSetter.
func (s fixedSize) MaxBatch() int64 {
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
func (s fixedSize) WithBatch(batch int64) (Scheme, error) {
	s.batch = batch
	return s.checked()
}

// Proof (docs/theory/subsampling.md §1): the order of η.
//
// η_WW ≤ η_OW ≤ η_WR ≤ m/n. Throw m balls into b slots and let D be the number of slots hit: `η_OW = E D/n` and
// `η_WW = E[1 − (1−1/n)^D] ≤ E D/n`. The function `(b/n)(1−(1−1/b)^m)` is concave in b with non-negative slope at
// `b = n`, so it grows up to its value at `b = n`, which is WR. The last step is Bernoulli's inequality.
