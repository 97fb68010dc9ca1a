// The constructors of laws, which check their parameters, and laws by name for plans and
// flags.

package selection

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// newGeometric returns the law Pr[K = k] = γ(1−γ)^{k−1}, k ≥ 1.
func newGeometric(gamma float64) (Law, error) { return newNegativeBinomial(1, gamma) }

func newNegativeBinomial(shape, gamma float64) (Law, error) {
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	if !(gamma >= 1e-300 && gamma <= 1) {
		return nil, fault.New("gamma", "%v is not in (0, 1] (nor above 1e-300)", gamma)
	}
	return newTNB(shape, gamma), nil
}

// withMean returns the negative binomial law of a shape whose mean is the given
// one. γ is rounded down, so that the mean is never below the one asked for and
// the price is that of the law returned.
func withMean(shape, mean float64) (Law, error) {
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	if !(mean >= 1 && mean <= maxMean) {
		return nil, fault.New("mean", "%v is not in [1, %g]", mean, float64(maxMean))
	}
	if mean == 1 {
		return newTNB(shape, 1), nil
	}
	// The mean decreases in γ. Bisection on x = −log γ finds a γ at which it was seen to be large enough, with
	// the error of Mean (see logMean).
	least := func(x float64) float64 {
		l := newTNB(shape, math.Exp(-x))
		return l.Mean() * (1 - 2*xmath.U*(10+math.Abs(shape)*l.b))
	}
	lo, hi := 0.0, 690.0
	if most := least(hi); most < mean {
		return nil, fault.New("mean", "%v is not in [1, %g], the range of shape %v", mean, max(1, most), shape)
	}
	_, hi = xmath.Bisect(lo, hi, 200, func(x float64) bool { return least(x) < mean })
	return newTNB(shape, math.Exp(-hi)), nil
}

// newConditionedLaw returns the law of K given K ≤ max, for K negative binomial of the
// shape: Pr[K = k] ∝ (1−γ)^k Γ(k+η)/k! for 1 ≤ k ≤ max.
func newConditionedLaw(shape, gamma float64, maxRuns int) (Law, error) {
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	if !(gamma >= 0 && gamma <= 1) {
		return nil, fault.New("gamma", "%v is not in [0, 1]", gamma)
	}
	if err := checkMaxRuns(maxRuns); err != nil {
		return nil, err
	}
	if gamma == 1 || maxRuns == 1 {
		return newTNB(shape, 1), nil
	}
	return newConditioned(shape, gamma, maxRuns), nil
}

// newCensoredLaw returns the law of min(G, max) for G geometric.
func newCensoredLaw(gamma float64, maxRuns int) (Law, error) {
	if !(gamma >= 0 && gamma <= 1) {
		return nil, fault.New("gamma", "%v is not in [0, 1]", gamma)
	}
	if err := checkMaxRuns(maxRuns); err != nil {
		return nil, err
	}
	return newCensored(gamma, maxRuns), nil
}

func checkMaxRuns(n int) error {
	if n < 1 || n > maxTable {
		return fault.New("max", "%d is not in [1, %d]", n, maxTable)
	}
	return nil
}

func newPoisson(mean float64) (Law, error) {
	if !(mean > 0 && mean <= maxMean) {
		return nil, fault.New("mean", "%v is not in (0, %g]", mean, float64(maxMean))
	}
	return poisson{mean}, nil
}

// newBinomial returns the binomial law of n trials with success probability p.
func newBinomial(n int, p float64) (Law, error) {
	if n < 1 || n > 1e9 {
		return nil, fault.New("n", "%d is not in [1, 1e9]", n)
	}
	if !(p > 0 && p <= 1) {
		return nil, fault.New("p", "%v is not in (0, 1]", p)
	}
	if n == 1 && p == 1 {
		return newFixed(n)
	}
	return binomial{n, p}, nil
}

// newFixed returns the law of exactly n runs.
func newFixed(n int) (Law, error) {
	if n < 1 || n > 1e9 {
		return nil, fault.New("n", "%d is not in [1, 1e9]", n)
	}
	if n == 1 {
		return newTNB(1, 1), nil
	}
	return binomial{n, 1}, nil
}

// A Config has the parameters of a law, in programs and plan files and on the command line.
type Config struct {
	// Law is one of geometric, logarithmic, negative-binomial, poisson, binomial, fixed.
	//
	// The first three are the negative binomial family: Pr[K = k] ∝ (1−γ)^k Γ(k+η)/k! for
	// k ≥ 1. Shape 1 is the geometric law, shape 0 the logarithmic one. With η < 0 the
	// mean is dominated by a rare, long tail: Pr[K = 1] stays large whatever the mean.
	//
	// Under poisson and binomial K may be 0; the answer is then "no outcome", whatever the
	// data. A fixed law is priced for pure and approximate candidates only, at K times the
	// ε of one run.
	Law string `json:"law" yaml:"law"`
	// Shape is the shape η > −1 of a negative-binomial law.
	Shape float64 `json:"shape,omitempty" yaml:"shape,omitempty"`
	// Mean is the expected number of runs. For the negative binomial family it
	// stands in place of Gamma and is the mean before Max is applied; γ is rounded down
	// then, so that the mean is never below it and the price is that of the law built.
	Mean float64 `json:"mean,omitempty" yaml:"mean,omitempty"`
	// Gamma is the stopping probability γ of the negative binomial family; 1 is exactly
	// one run. With a Max it may be 0: shape 1 is then the uniform law.
	Gamma float64 `json:"gamma,omitempty" yaml:"gamma,omitempty"`
	// Max bounds the number of runs (negative binomial family), or is the number
	// of runs (fixed) or of trials (binomial).
	Max int `json:"max,omitempty" yaml:"max,omitempty"`
	// Cap says how Max is applied. The default, condition, is the law of K given K ≤ Max:
	// its price never exceeds that of the law without the bound. With censor a geometric
	// search is cut off after Max runs, which costs more than the geometric law itself.
	Cap string `json:"cap,omitempty" yaml:"cap,omitempty"`
}

// Build returns the law that c names.
func (c Config) Build() (Law, error) {
	if c.Cap != "" && c.Cap != "condition" && c.Cap != "censor" {
		return nil, fault.New("cap", "%q is not one of condition, censor", c.Cap)
	}
	if c.Law != "negative-binomial" && c.Shape != 0 {
		return nil, fault.New("shape", "%v is set, allowed only with law negative-binomial", c.Shape)
	}
	switch c.Law {
	case "geometric":
		return c.negativeBinomial(1)
	case "logarithmic":
		return c.negativeBinomial(0)
	case "negative-binomial":
		return c.negativeBinomial(c.Shape)
	}
	if c.Gamma != 0 || c.Cap != "" {
		return nil, fault.New("gamma, cap", "not allowed with law %q", c.Law)
	}
	switch c.Law {
	case "poisson":
		if c.Max != 0 {
			return nil, fault.New("max", "%d is set, not allowed with law poisson", c.Max)
		}
		return newPoisson(c.Mean)
	case "binomial":
		if !(c.Mean > 0 && c.Mean <= float64(c.Max)) {
			return nil, fault.New("mean", "%v is not in (0, max = %d]", c.Mean, c.Max)
		}
		return newBinomial(c.Max, c.Mean/float64(c.Max))
	case "fixed":
		if c.Mean != 0 {
			return nil, fault.New("mean", "%v is set, law fixed takes max", c.Mean)
		}
		return newFixed(c.Max)
	}
	return nil, fault.New("law", "%s", nearest.Value(c.Law, []string{"geometric", "logarithmic", "negative-binomial", "poisson", "binomial", "fixed"}))
}

func (c Config) negativeBinomial(shape float64) (Law, error) {
	gamma := c.Gamma
	if (c.Mean != 0) == (c.Gamma != 0) {
		if c.Max == 0 || c.Mean != 0 {
			return nil, fault.New("mean, gamma", "exactly one must be set for law %q", c.Law)
		}
	}
	if c.Mean != 0 {
		l, err := withMean(shape, c.Mean)
		if err != nil {
			return nil, err
		}
		gamma = l.(tnb).gamma
	}
	switch {
	case c.Max == 0 && c.Cap != "":
		return nil, fault.New("max", "must be set when cap is")
	case c.Max == 0:
		return newNegativeBinomial(shape, gamma)
	case c.Cap != "censor":
		return newConditionedLaw(shape, gamma, c.Max)
	case shape != 1:
		return nil, fault.New("cap", "censor is allowed only with law geometric")
	}
	return newCensoredLaw(gamma, c.Max)
}

// What a law of the number of runs has to know about itself.

// A Law is the distribution of the number of runs K. Laws are immutable; they
// come from the constructors of this package only, because a price has to be
// proved for each family.
type Law interface {
	fmt.Stringer

	// Mean returns E[K].
	Mean() float64
	// PGF returns f(x) = E[x^K] for x in [0, 1]. For the best of K runs it is the
	// probability to miss a set of outcomes of probability 1−x altogether.
	PGF(x float64) float64
	// LogDPGF returns log f'(1−u), accurate for small u.
	LogDPGF(u float64) float64
	// Hit returns 1 − f(1−p), accurate for small p: the probability that at least
	// one of the K runs falls into a set of probability p.
	Hit(p float64) float64
	// PMF returns Pr[K = k].
	PMF(k int) float64
	// MaxRuns returns the largest possible K, if there is one.
	MaxRuns() (n int, bounded bool)
	// Family returns the shape η and the stopping probability γ of a law of the
	// negative binomial family (geometric, logarithmic, conditioned, censored), and
	// false for others.
	Family() (shape, gamma float64, ok bool)
	// Sample draws K, from exactly this law, in time proportional to the mean or,
	// in the negative binomial family, to 1/γ.
	Sample(rng *rand.Rand) int

	// What a search does to a block of outcomes: blocks.go.
	logSlope(u float64) float64
	block(u, p float64) float64
	relErr() float64
	// logMean bounds log E[K] from above.
	logMean() float64
	// pureRatio bounds from above ln R_f, the largest log-ratio of f' between
	// neighbouring data sets, for a pure ε-DP candidate.
	pureRatio(eps float64) float64
	// profileRatio is pureRatio for a candidate known by its profile.
	profileRatio(b Bound) (float64, error)
	// without is the law of K given that none of the K runs falls into a set of
	// probability p, for p < 1.
	without(p float64) Law
}

const (
	maxShape = 1e6
	maxMean  = 1e15
	maxTable = 1_000_000 // entries of the table of a capped law
)

func checkShape(shape float64) error {
	if !(shape > -1 && shape <= maxShape) {
		return fault.New("shape", "%v is not in (-1, %g]", shape, float64(maxShape))
	}
	return nil
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func quo(a, b float64) *big.Rat { return new(big.Rat).Quo(rat(a), rat(b)) }
