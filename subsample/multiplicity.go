package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Multiplicity is the law of U, how often one given record appears in the
// final subsample.
type Multiplicity struct {
	// LogP[u] is log Pr[U = u].
	LogP []float64
	// LogAbove[u] is log Pr[U ≥ u] for u = 0..len(LogP), rounded up: the last
	// entry is the mass beyond the table, below e^−790.
	LogAbove []float64
	// Err[u] bounds the absolute error of LogP[u].
	Err []float64
	// Eta is Pr[U ≥ 1], LogNone is log Pr[U = 0]; both to EtaErr relative
	// (absolute for the logarithm).
	Eta, LogNone, EtaErr float64
}

// logNegligible is where tables end: below it a mass is no float64.
const logNegligible = -800

// Multiplicity returns the law of how often one given record appears.
//
// Tables: docs/theory/subsampling.md §1. MUST.WO has the law of sampling with replacement
// (Zhao and Liu 2023, Corollary 6).
func (s FixedSize) Multiplicity() Multiplicity {
	n, b, m := float64(s.population), float64(s.subset), s.batch
	switch s.kind {
	case withoutReplacement:
		q := float64(m) / n
		return newMultiplicity([]float64{math.Log((n - float64(m)) / n), math.Log(q)}, []float64{4 * roundOff, 4 * roundOff}, math.Inf(-1),
			q, math.Log((n-float64(m))/n))
	case mustOW:
		inner := binomialLaw(m, 1/b, (b-1)/b)
		rate, rest := math.Log(b/n), math.Log((n-b)/n)
		for u := range inner.LogP {
			inner.LogP[u] += rate
			inner.Err[u] += roundOff * (4 + 4*math.Abs(rate) + finiteAbs(inner.LogP[u]))
		}
		inner.LogP[0] = xmath.LogAdd(inner.LogP[0], rest)
		last := inner.LogAbove[len(inner.LogP)] + rate
		return newMultiplicity(inner.LogP, inner.Err, last, b/n*inner.Eta, inner.LogP[0])
	case mustWW:
		return s.twiceReplaced()
	}
	return binomialLaw(m, 1/n, (n-1)/n)
}

// binomialLaw is the law of Bin(m, p).
func binomialLaw(m int64, p, q float64) Multiplicity {
	logP, errs, last := binomialTable(m, p, q)
	return newMultiplicity(logP, errs, last, -math.Expm1(float64(m)*log1mOf(p, q)), logP[0])
}

// binomialTable lists log Pr[Bin(m, p) = u] up to where the rest is negligible.
func binomialTable(m int64, p, q float64) (logP, errs []float64, logLast float64) {
	mean := float64(m) * p
	for u := int64(0); u <= m; u++ {
		l, e := logBinomial(u, m, p, q)
		if float64(u) > mean && l < logNegligible {
			// Beyond the mean the ratios fall: the rest is at most geometric.
			ratio := (float64(m) - float64(u)) / float64(u+1) * p / q
			return logP, errs, l - math.Log1p(-min(ratio, 1-1e-6)) + 1e-9
		}
		logP, errs = append(logP, l), append(errs, e)
	}
	return logP, errs, math.Inf(-1)
}

// slots returns the law of the number of stage-I slots that hold the record.
func (s FixedSize) slots() (logP, errs []float64, logLast float64) {
	n := float64(s.population)
	return binomialTable(s.subset, 1/n, (n-1)/n)
}

// drawn returns the law of the copies drawn when j of the slots hold the record.
func (s FixedSize) drawn(j int) Multiplicity {
	b := float64(s.subset)
	return binomialLaw(s.batch, float64(j)/b, (b-float64(j))/b)
}

// twiceReplaced mixes the second stage over the slots of the first.
func (s FixedSize) twiceReplaced() Multiplicity {
	pi, pErr, rest := s.slots()
	var logP, errs []float64
	var eta xmath.Sum
	last := rest
	for j := range pi {
		if j == 0 {
			logP, errs = []float64{pi[0]}, []float64{pErr[0]}
			continue
		}
		if pi[j] < logNegligible {
			last = xmath.LogAdd(last, pi[j]+pErr[j])
			continue
		}
		d := s.drawn(j)
		for len(logP) < len(d.LogP) {
			logP, errs = append(logP, math.Inf(-1)), append(errs, 0)
		}
		for u, l := range d.LogP {
			t := l + pi[j]
			if math.IsInf(t, -1) {
				continue
			}
			sum := xmath.LogAdd(logP[u], t)
			w := math.Exp(t - sum)
			errs[u] = w*(d.Err[u]+pErr[j]) + (1-w)*errs[u] + roundOff*(4+2*math.Abs(sum))
			logP[u] = sum
		}
		last = xmath.LogAdd(last, d.LogAbove[len(d.LogP)]+pi[j])
		eta.Add(math.Exp(pi[j]) * d.Eta)
	}
	return newMultiplicity(logP, errs, last, eta.Value(), logP[0])
}

func newMultiplicity(logP, errs []float64, logLast, eta, logNone float64) Multiplicity {
	// A law without a chance of 0 (everybody is drawn) keeps an empty entry.
	law := Multiplicity{LogP: logP, Err: errs, Eta: min(1, eta), LogNone: logNone}
	law.LogAbove = make([]float64, len(logP)+1)
	law.LogAbove[len(logP)] = logLast
	for u := len(logP) - 1; u >= 0; u-- {
		law.LogAbove[u] = min(0, xmath.LogAdd(law.LogAbove[u+1], logP[u]+errs[u])+4*roundOff)
	}
	top := 0.0
	for u, l := range logP {
		if l > -40 {
			top = max(top, errs[u])
		}
	}
	law.EtaErr = top + 8*roundOff
	return law
}

// Mean returns E[U] of the table.
func (l Multiplicity) Mean() float64 { return l.moment(func(u float64) float64 { return u }) }

// FactorialMoment2 returns E[U(U−1)] of the table.
func (l Multiplicity) FactorialMoment2() float64 {
	return l.moment(func(u float64) float64 { return u * (u - 1) })
}

func (l Multiplicity) moment(f func(float64) float64) float64 {
	var s xmath.Sum
	for u, p := range l.LogP {
		s.Add(f(float64(u)) * math.Exp(p))
	}
	return s.Value()
}

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
// Do not use it for a subset that is drawn once and resampled often (the bag of
// little bootstraps): its runs share the first stage.
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
	s := FixedSize{kind: withoutReplacement, population: population, batch: batch}
	if err := s.check(); err != nil {
		return FixedSize{}, err
	}
	if batch > population {
		return FixedSize{}, s.outOfRange("batch", batch, 1, population)
	}
	return s, nil
}

// NewWithReplacement returns batch independent uniform draws.
func NewWithReplacement(population, batch int64) (FixedSize, error) {
	s := FixedSize{kind: withReplacement, population: population, batch: batch}
	return s, s.check()
}

// NewMustOW returns MUST.OW: subset distinct records, then batch draws from them
// with replacement.
func NewMustOW(population, subset, batch int64) (FixedSize, error) {
	s := FixedSize{mustOW, population, subset, batch}
	if err := s.check(); err != nil {
		return FixedSize{}, err
	}
	if subset > population {
		return FixedSize{}, s.outOfRange("subset", subset, 1, population)
	}
	return s, nil
}

// NewMustWO returns MUST.WO: subset draws with replacement, then batch of these
// slots without replacement. In law it is sampling with replacement, whatever
// the subset.
func NewMustWO(population, subset, batch int64) (FixedSize, error) {
	s := FixedSize{mustWO, population, subset, batch}
	if err := s.check(); err != nil {
		return FixedSize{}, err
	}
	if batch > subset {
		return FixedSize{}, s.outOfRange("batch", batch, 1, subset)
	}
	return s, nil
}

// NewMustWW returns MUST.WW: subset draws with replacement, then batch draws
// from these slots with replacement.
func NewMustWW(population, subset, batch int64) (FixedSize, error) {
	s := FixedSize{mustWW, population, subset, batch}
	return s, s.check()
}

func (s FixedSize) check() error {
	if s.population < 1 || s.population > maxPopulation {
		return s.outOfRange("population", s.population, 1, maxPopulation)
	}
	if s.twoStage() && (s.subset < 1 || s.subset > maxBatch) {
		return s.outOfRange("subset", s.subset, 1, maxBatch)
	}
	if s.batch < 1 || s.batch > maxBatch {
		return s.outOfRange("batch", s.batch, 1, maxBatch)
	}
	// Tables have about as many rows as copies are expected.
	if s.kind == mustWW && float64(s.batch)/float64(s.population) > 1000 {
		return fault.In(s.Name(), fault.New("batch", "%d is not in [1, %d], a thousand times the population", s.batch, 1000*s.population))
	}
	return nil
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
