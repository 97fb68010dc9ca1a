// What a law of the number of runs has to know about itself.

package selection

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
)

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
