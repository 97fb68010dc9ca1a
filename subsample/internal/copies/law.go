// The law of how often a record is in a batch: tables with an error for each entry, and
// what lies beyond them.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Law is the law of U, how often one given record appears in the
// final subsample.
type Law struct {
	// LogP[u] is log Pr[U = u].
	LogP []float64
	// LogAbove[u] is log Pr[U ≥ u] for u = 0..len(LogP), rounded up: the last
	// entry is the mass beyond the table, below e^−790.
	LogAbove []float64
	// LogBelow[u] is log Pr[U < u] of the table, rounded up, and peak a u of the largest mass.
	LogBelow []float64
	peak     int
	// Err[u] bounds the absolute error of LogP[u].
	Err []float64
	// Eta is Pr[U ≥ 1], LogNone is log Pr[U = 0]; both to EtaErr relative
	// (absolute for the logarithm).
	Eta, LogNone, EtaErr float64
	// RealZeros says that Σ_u Pr[U = u] w^u is a polynomial with real zeros, all of it in the table.
	RealZeros bool
}

// logNegligible is where tables end: below it a mass is no float64.
const logNegligible = -800

func NewLaw(logP, errs []float64, logLast, eta, logNone float64) Law {
	// A law without a chance of 0 (everybody is drawn) keeps an empty entry.
	law := Law{LogP: logP, Err: errs, Eta: min(1, eta), LogNone: logNone}
	law.LogAbove = make([]float64, len(logP)+1)
	law.LogAbove[len(logP)] = logLast
	for u := len(logP) - 1; u >= 0; u-- {
		law.LogAbove[u] = min(0, xmath.LogAdd(law.LogAbove[u+1], logP[u]+errs[u])+4*xmath.U)
	}
	law.LogBelow = make([]float64, len(logP)+1)
	law.LogBelow[0] = math.Inf(-1)
	for u, l := range logP {
		law.LogBelow[u+1] = min(0, xmath.LogAdd(law.LogBelow[u], l+errs[u])+4*xmath.U)
		if l > logP[law.peak] {
			law.peak = u
		}
	}
	top := 0.0
	for u, l := range logP {
		if l > -40 {
			top = max(top, errs[u])
		}
	}
	law.EtaErr = top + 8*xmath.U
	return law
}

// Mean returns E[U] of the table.
func (l Law) Mean() float64 {
	var s xmath.Sum
	for u, p := range l.LogP {
		s.Add(float64(u) * math.Exp(p))
	}
	return s.Value()
}

// RelErr bounds the errors of the table, each over one plus the size of the logarithm.
func (l Law) RelErr() float64 {
	worst := 0.0
	for u, e := range l.Err {
		worst = max(worst, e/(1+xmath.FiniteAbs(l.LogP[u])))
	}
	return worst
}

// The law of the copies for each scheme of fixed size: docs/theory/subsampling.md §1, and
// Corollary 6 of Zhao and Liu 2023 (MUST.WO is sampling with replacement).

// WithoutReplacement returns the law for batch distinct records of a population.
func WithoutReplacement(population, batch int64) Law {
	n, m := float64(population), float64(batch)
	q := m / n
	return NewLaw([]float64{xmath.Log((n - m) / n), xmath.Log(q)}, []float64{4 * xmath.U, 4 * xmath.U}, math.Inf(-1),
		q, xmath.Log((n-m)/n))
}

// WithReplacement returns the law for batch independent draws, and for MUST.WO, whatever
// its subset (Zhao and Liu 2023, Corollary 6).
func WithReplacement(population, batch int64) Law {
	n := float64(population)
	return Binomial(batch, 1/n, (n-1)/n)
}

// MustOW returns the law for a subset of distinct records and draws with replacement
// from it.
func MustOW(population, subset, batch int64) Law {
	n, b := float64(population), float64(subset)
	return staged([]float64{xmath.Log((n - b) / n), xmath.Log(b / n)}, []float64{4 * xmath.U, 4 * xmath.U}, math.Inf(-1), subset, batch)
}

// wholeTable is the most records whose law has no end before its last entry.
const wholeTable = 1 << 12

// Coins returns the law of how many of k records take part when each does with probability
// rate, independently: Bin(k, rate), whole for up to wholeTable records.
func Coins(k int64, rate float64) Law {
	if k > wholeTable {
		return Binomial(k, rate, 1-rate)
	}
	logP, errs := make([]float64, k+1), make([]float64, k+1)
	for u := range logP {
		logP[u], errs[u] = xmath.LogBinomial(int64(u), k, rate, 1-rate)
	}
	law := NewLaw(logP, errs, math.Inf(-1), -math.Expm1(float64(k)*xmath.LogComplement(rate, 1-rate)), logP[0])
	law.RealZeros = true // (1 − rate + rate·w)^k
	return law
}

// Weights returns the law of given probabilities of 0, 1, … copies, each known to one
// rounding and their sum 1 to so many.
func Weights(p []float64) Law {
	logP, errs := make([]float64, len(p)), make([]float64, len(p))
	eta := 0.0
	for u, x := range p {
		logP[u], errs[u] = xmath.Log(x), float64(4+len(p))*xmath.U
		if u > 0 {
			eta += x
		}
	}
	return NewLaw(logP, errs, math.Inf(-1), eta, logP[0])
}

// Binomial is the law of Bin(m, p).
func Binomial(m int64, p, q float64) Law {
	logP, errs, last := binomialTable(m, p, q)
	return NewLaw(logP, errs, last, -math.Expm1(float64(m)*xmath.LogComplement(p, q)), logP[0])
}

// binomialTable lists log Pr[Bin(m, p) = u] up to where the rest is negligible.
func binomialTable(m int64, p, q float64) (logP, errs []float64, logLast float64) {
	mean := float64(m) * p
	for u := int64(0); u <= m; u++ {
		l, e := xmath.LogBinomial(u, m, p, q)
		if float64(u) > mean && l < logNegligible {
			// Beyond the mean the ratios fall: the rest is at most geometric.
			ratio := (float64(m) - float64(u)) / float64(u+1) * p / q
			return logP, errs, l - math.Log1p(-min(ratio, 1-1e-6)) + 1e-9
		}
		logP, errs = append(logP, l), append(errs, e)
	}
	return logP, errs, math.Inf(-1)
}

// Slots returns the law of the number of stage-I slots of MUST.WW that hold the record.
func Slots(population, subset int64) (logP, errs []float64, logLast float64) {
	n := float64(population)
	return binomialTable(subset, 1/n, (n-1)/n)
}

// Drawn returns the law of the copies that MUST.WW draws when j of the slots hold the
// record.
func Drawn(subset, batch int64, j int) Law {
	b := float64(subset)
	return Binomial(batch, float64(j)/b, (b-float64(j))/b)
}

// MustWW returns the law for two stages with replacement: the second mixed over the slots
// of the first.
func MustWW(population, subset, batch int64) Law {
	pi, pErr, rest := Slots(population, subset)
	return staged(pi, pErr, rest, subset, batch)
}

// staged mixes the second stage over the number of slots of the first that hold the record.
func staged(pi, pErr []float64, rest float64, subset, batch int64) Law {
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
		d := Drawn(subset, batch, j)
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
			errs[u] = w*(d.Err[u]+pErr[j]) + (1-w)*errs[u] + xmath.U*(4+2*math.Abs(sum))
			logP[u] = sum
		}
		last = xmath.LogAdd(last, d.LogAbove[len(d.LogP)]+pi[j])
		eta.Add(math.Exp(pi[j]) * d.Eta)
	}
	return NewLaw(logP, errs, last, eta.Value(), logP[0])
}
