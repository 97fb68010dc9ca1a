package selection

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// TwoStage selects among private candidates with scores in [0, 1] when no
// threshold is known: a [ThresholdSearch], then [FirstAbove] with the threshold it
// finds. It is Algorithm 7 of Liu and Talwar (STOC 2019), Theorem 4.7, and costs at
// most (2ε₁ + Slack, Delta) for candidates that are ε₁-DP. Any neighbouring
// relation.
//
// It is here to show what approaching 2ε₁ takes: the number of calls grows like
// Candidates·(Resolution+1)^{6+12ε₁/ε₀} and is out of reach for all but toy
// parameters. Use [Best].
type TwoStage struct {
	Candidates       int     // number of candidates that the trial draws from
	CandidateEpsilon float64 // ε₁, pure
	Slack            float64 // ε₀, in (0, 1]
	Delta            float64 // in (0, 1)
	Beta             float64 // probability of failure, in (0, 1)
	Resolution       int     // R > 1
	MaxCalls         float64 // 0 is DefaultMaxCalls
}

// A TwoStagePlan holds the parameters that a [TwoStage] selection runs with.
type TwoStagePlan struct {
	Exponent float64 // 6 + 12ε₁/ε₀
	Share    float64 // p₁, the probability that the second stage counts on
	Gamma    float64 // stopping probability of the second stage
	MaxRuns  float64 // log(2/ε₀')/γ, the cut-off of the theorem, ε₀' = ε₀/2
	Calls    float64 // of the first stage, plus the expected ones of the second
	Search   ThresholdSearch
	Epsilon  float64 // what both stages cost together, Delta being as given
}

// Plan returns the parameters of a run. Both stages get half of the slack, which
// is what makes the exponent and the total of the theorem come out.
func (s TwoStage) Plan() (TwoStagePlan, error) {
	var p TwoStagePlan
	if err := checkFields(fieldRange{"candidates", float64(s.Candidates), 0, 1e15},
		fieldRange{"candidate-epsilon", s.CandidateEpsilon, 0, 500},
		fieldRange{"slack", s.Slack, 0, math.Nextafter(1, 2)}, fieldRange{"delta", s.Delta, 0, 1},
		fieldRange{"beta", s.Beta, 0, 1}, fieldRange{"resolution", float64(s.Resolution), 1, maxResolution + 1}); err != nil {
		return p, err
	}
	k := float64(s.Candidates)
	half := s.Slack / 2
	p.Exponent = 6 + 12*s.CandidateEpsilon/s.Slack
	p.Share = math.Pow(s.Beta*s.Beta/float64(s.Resolution+1), p.Exponent) / (12 * k)
	p.Gamma = p.Share * s.Beta
	p.MaxRuns = math.Ceil(math.Log(2/half) / p.Gamma)
	p.Search = ThresholdSearch{Percentile: 1 / (2 * k), CandidateEpsilon: s.CandidateEpsilon, Slack: half,
		Epsilon: half, Delta: s.Delta, Beta: s.Beta, Resolution: s.Resolution, MaxCalls: s.MaxCalls}
	search, err := p.Search.Plan()
	if err != nil {
		return p, err
	}
	p.Calls = search.Calls + 1/p.Gamma
	p.Epsilon = up(half+s.CandidateEpsilon+pureRoot(s.CandidateEpsilon, p.Gamma), 4)
	return p, nil
}

// RunTwoStage runs both stages. The second one is not cut off, which costs less
// than the theorem's cut-off and has the same expected number of calls.
func RunTwoStage[T any](ctx context.Context, s TwoStage, trial Trial[T], opts ...Option) (Result[T], error) {
	p, err := s.Plan()
	if err != nil {
		return Result[T]{}, err
	}
	if err := checkCalls(p.Calls, s.MaxCalls); err != nil {
		return Result[T]{}, err
	}
	l, err := Geometric(p.Gamma)
	if err != nil {
		return Result[T]{}, err
	}
	src, _ := newSource(opts)
	search, runs := random.Split(src.master), random.Split(src.master)
	threshold, err := p.Search.Run(ctx, func(ctx context.Context, rng *rand.Rand) (float64, error) {
		_, score, err := trial(ctx, rng)
		return score, err
	}, WithSource(search))
	if err != nil {
		return Result[T]{}, err
	}
	return FirstAbove(ctx, l, threshold, trial, WithSource(runs))
}

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
	if err := checkApprox(eps, 0); err != nil {
		return 0, err
	}
	return up(2*eps+4*d.Gamma, 4), d.check()
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
func (d DummyExponential) Pick(scores []float64, opts ...Option) (int, error) {
	if err := d.check(); err != nil {
		return -1, err
	}
	src, _ := newSource(opts)
	rng := src.next()
	dummies := uint64(1 + math.Round(1/d.Gamma))
	for {
		i := rng.Uint64N(uint64(len(scores)) + dummies)
		if i >= uint64(len(scores)) {
			return -1, nil
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
			return int(i), nil
		}
	}
}
