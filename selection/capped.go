// Laws with a largest number of runs, by their table. Sums over a table are bounded with
// the error of its entries; suprema are rounded up.

package selection

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// capped is a law on 1..T known by its table: a negative binomial law given
// K ≤ T, or a geometric one cut off at T.
type capped struct {
	eta, gamma float64
	censored   bool
	tilted     bool      // some other law on 1..T; only pmf counts
	tiltErr    float64   // what tilting added to the relative errors of pmf
	pmf        []float64 // pmf[k] = Pr[K = k]; pmf[0] = 0
	used       []float64 // pmf but for what counts in no sum, at its end
	inside     float64   // Pr[K ≤ T] before conditioning, approximately
}

func newConditioned(eta, gamma float64, n int) *capped {
	l := &capped{eta: eta, gamma: gamma, pmf: make([]float64, n+1)}
	mode := 1
	grow := func(k int) float64 { return (1 - gamma) * (float64(k) + eta) / float64(k+1) }
	for mode < n && grow(mode) >= 1 {
		mode++
	}
	// Weights relative to the largest one, so that nothing overflows.
	w := l.pmf
	w[mode] = 1
	for k := mode; k < n; k++ {
		w[k+1] = w[k] * grow(k)
	}
	for k := mode; k > 1; k-- {
		w[k-1] = w[k] / grow(k-1)
	}
	total := l.normalise()
	if gamma > 0 {
		l.inside = newTNB(eta, gamma).PMF(mode) * total
	}
	return l
}

func newCensored(gamma float64, n int) *capped {
	l := &capped{eta: 1, gamma: gamma, censored: true, pmf: make([]float64, n+1)}
	rest := 1.0
	for k := 1; k < n; k++ {
		l.pmf[k] = rest * gamma
		rest *= 1 - gamma
	}
	l.pmf[n] = rest
	l.trim()
	return l
}

// normalise divides by the sum and returns it.
func (l *capped) normalise() float64 {
	var s xmath.Sum
	for _, w := range l.pmf {
		s.Add(w)
	}
	for k := range l.pmf {
		l.pmf[k] /= s.Value()
	}
	l.trim()
	return s.Value()
}

// trim leaves out the terms of which Σ k²·Pr[K = k] is below u² of the first two: f', f” and their differences have
// those at every u, as Pr[K = 1] and 2·Pr[K = 2] at least.
func (l *capped) trim() {
	l.used = l.pmf
	rest, least := 0.0, xmath.U*xmath.U*min(l.pmf[1], l.pmf[min(2, l.max())])
	for n := l.max(); n > 2; n-- {
		if rest += float64(n) * float64(n) * l.pmf[n]; !(rest < least) {
			break
		}
		l.used = l.pmf[:n]
	}
}

func (l *capped) max() int { return len(l.pmf) - 1 }

// slack bounds the relative error of sums over the table of n entries. The recursion for the weights makes at most
// four roundings for each entry; divided makes four, and each of its arguments may be off by u, which is n·u of the sum.
func (l *capped) slack() float64 { return 12*float64(len(l.pmf)+8)*xmath.U + l.tiltErr }

func (l *capped) String() string {
	how := "conditioned"
	if l.censored {
		how = "censored"
	}
	return fmt.Sprintf("%s(shape=%g, gamma=%.6g, max=%d)", how, l.eta, l.gamma, l.max())
}

// sum returns Σ_k g(k)·Pr[K = k].
func (l *capped) sum(g func(k float64) float64) float64 {
	var s xmath.Sum
	for k, p := range l.pmf {
		if p > 0 {
			s.AddProduct(p, g(float64(k)))
		}
	}
	return s.Value()
}

func (l *capped) Mean() float64    { return l.sum(func(k float64) float64 { return k }) }
func (l *capped) logMean() float64 { return xmath.Log(l.Mean()) + l.slack() }

// divided returns (f(x) − f(y))/(x − y), by Horner's rule: a sum of positive terms.
func (l *capped) divided(x, y float64) float64 {
	rest, sum := 0.0, 0.0
	for k := len(l.used) - 1; k >= 1; k-- {
		rest = rest*x + l.used[k]
		sum = sum*y + rest
	}
	return sum
}

func (l *capped) PGF(x float64) float64 { return x * l.divided(x, 0) }

func (l *capped) LogDPGF(u float64) float64 { return xmath.Log(l.divided(1-u, 1-u)) }

func (l *capped) Hit(p float64) float64 { return l.block(0, p) }

func (l *capped) PMF(k int) float64 {
	if k < 1 || k > l.max() {
		return 0
	}
	return l.pmf[k]
}

func (l *capped) Family() (shape, gamma float64, ok bool) { return l.eta, l.gamma, true }

func (l *capped) MaxRuns() (int, bool) { return l.max(), true }

// tableLimit is the largest table for which a supremum is searched when a closed
// form would do as well.
const tableLimit = 2000

// pureRatio is the supremum over the region of ε-close pairs, searched on the
// table, and for a conditioned law at most that of the law without the bound:
// conditioning on K ≤ T makes f_T'/f' decreasing, so every bound on a ratio of f'
// carries over. Censoring does not have that property.
func (l *capped) pureRatio(eps float64) float64 {
	bound := xmath.RoundUp(float64(l.max()-1)*eps, 4)
	if !l.censored && !l.tilted {
		bound = min(bound, xmath.RoundUp((l.eta+1)*pureRoot(eps, l.gamma), 4))
		if l.max() > tableLimit {
			return bound
		}
	}
	s := make(series, l.max())
	for k := range s {
		s[k] = float64(k+1) * l.pmf[k+1]
	}
	return min(bound, s.ratio(eps, l.slack()))
}

func (l *capped) profileRatio(b Bound) (float64, error) {
	if l.censored || l.tilted {
		return 0, fault.New("law", "%v is priced for pure and approximate candidates only; use a conditioned law", l)
	}
	if l.gamma == 0 {
		return 0, fault.New("gamma", "0 is not in (0, 1], the range for candidates that are not pure or approximate")
	}
	return newTNB(l.eta, l.gamma).profileRatio(b)
}

func (l *capped) without(p float64) Law {
	if !l.censored && !l.tilted {
		return newConditioned(l.eta, (l.gamma+(1-l.gamma)*p)*(1-8*xmath.U), l.max())
	}
	// Weights relative to the largest one, of which the logarithm is about top: that of a law with nearly
	// all of its mass at T would underflow otherwise, and with it all of the table.
	c := &capped{eta: l.eta, gamma: l.gamma, censored: l.censored, tilted: true, pmf: make([]float64, len(l.pmf))}
	lx, top := math.Log1p(-p), math.Inf(-1)
	for k := 1; k <= l.max(); k++ {
		if l.pmf[k] > 0 {
			top = max(top, xmath.Log(l.pmf[k])+float64(k-1)*lx)
		}
	}
	for k := 1; k <= l.max(); k++ {
		// In two halves, as a small weight may have a factor beyond float64.
		half := math.Exp((float64(k-1)*lx - top) / 2)
		if l.pmf[k] > 0 {
			c.pmf[k] = l.pmf[k] * half * half
		}
	}
	// An exponent rounds to some u of its two terms, of which |top| is at most 745 and T·|lx|.
	c.tiltErr = l.tiltErr + xmath.U*(16+8*float64(l.max())*-lx+4*math.Abs(top))
	c.normalise()
	return c
}

func (l *capped) Sample(rng *rand.Rand) int {
	if l.censored {
		for k := 1; k < l.max(); k++ {
			if random.Coin(rng, l.gamma) {
				return k
			}
		}
		return l.max()
	}
	switch {
	case l.eta > 1:
		return sampleShape(rng, l.eta, l.gamma, int64(l.max()))
	case l.inside > 0.25:
		base := newTNB(l.eta, l.gamma)
		for {
			if k, ok := base.trySample(rng, l.max()); ok {
				return k
			}
		}
	}
	// A uniform proposal; the weights do not rise, and every ratio of them is a rational number at most 1.
	for {
		k := 1 + int(rng.Uint64N(uint64(l.max())))
		ok := true
		for j := k - 1; ok && j > 0; j-- {
			r := (1 - l.gamma) * (float64(j) + l.eta) / float64(j+1)
			ok = random.Fraction(rng, r, func() *big.Rat { return stepOf(l.eta, l.gamma, j) })
		}
		if ok {
			return k
		}
	}
}
