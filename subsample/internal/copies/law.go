// The law of how often a record is in a batch: tables with an error for each entry, and
// what lies beyond them.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Multiplicity is the law of U, how often one given record appears in the
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
func (l Law) Mean() float64 { return l.moment(func(u float64) float64 { return u }) }

// FactorialMoment2 returns E[U(U−1)] of the table.
func (l Law) FactorialMoment2() float64 {
	return l.moment(func(u float64) float64 { return u * (u - 1) })
}

func (l Law) moment(f func(float64) float64) float64 {
	var s xmath.Sum
	for u, p := range l.LogP {
		s.Add(f(float64(u)) * math.Exp(p))
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
