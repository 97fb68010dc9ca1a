// DummyExponential: the exponential mechanism among scores and dummy classes. It assumes
// independent scores, each of a pure mechanism, and returns an index.

package selection

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// DummyExponential picks one of several private scores by the exponential
// mechanism with dummy classes: Algorithm 8 of Liu and Talwar (STOC 2019,
// Appendix C), after Gupta et al. Each score is drawn once by an ε₁-DP sampler of
// its own, independent of the others, and capped at Threshold; 1 + 1/Gamma dummy
// classes have score Threshold. It costs 2ε₁ + 4·Gamma, whatever Exponent is
// (Theorem C.1 states 8·Gamma; its proof gives 4). Any neighbouring relation.
type DummyExponential struct {
	Threshold float64
	Gamma     float64 // in [2^−53, ¼), 1/Gamma an integer
	Exponent  float64 // ε₂, in (0, +Inf]; +Inf picks uniformly at or above Threshold
}

// Epsilon returns what a pick costs for candidates that are eps-DP.
func (d DummyExponential) Epsilon(eps float64) (float64, error) {
	if !(eps >= 0 && eps <= 1e6) {
		return 0, fault.New("epsilon", "%v is not in [0, 1e6]", eps)
	}
	return xmath.RoundUp(2*eps+4*d.Gamma, 4), d.check()
}

func (d DummyExponential) check() error {
	if math.IsNaN(d.Threshold) || math.IsInf(d.Threshold, 0) {
		return fault.New("threshold", "%v is not finite", d.Threshold)
	}
	if !(d.Exponent > 0) {
		return fault.New("exponent", "%v is not in (0, +Inf]", d.Exponent)
	}
	if n := math.Round(1 / d.Gamma); !(d.Gamma >= 0x1p-53 && d.Gamma < 0.25) || math.Abs(n*d.Gamma-1) > 1e-12 {
		return fault.New("gamma", "%v is not in [2^-53, 0.25) with 1/gamma an integer", d.Gamma)
	}
	return nil
}

// Pick returns the index of the score picked, or −1 for a dummy class. The scores
// are the samples themselves and must not be released with it, nor used again. The
// theorem takes any weight in [0, 1] that is a function of the class's own score; the
// weights are those of float64, and are kept exactly: a class is proposed uniformly and
// taken with its weight as probability.
func (d DummyExponential) Pick(src rand.Source, scores []float64) (int, error) {
	if err := d.check(); err != nil {
		return -1, err
	}
	return d.pick(generators(src)(), scores), nil
}

func (d DummyExponential) pick(rng *rand.Rand, scores []float64) int {
	dummies := uint64(1 + math.Round(1/d.Gamma))
	for {
		i := rng.Uint64N(uint64(len(scores)) + dummies)
		if i >= uint64(len(scores)) {
			return -1
		}
		weight := 0.0
		switch q := scores[i]; {
		case q >= d.Threshold:
			weight = 1
		case math.IsInf(d.Exponent, 1) || math.IsNaN(q):
		default:
			weight = math.Exp(d.Exponent * (q - d.Threshold))
		}
		if random.Coin(rng, weight) {
			return int(i)
		}
	}
}
