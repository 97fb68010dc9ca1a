package choice

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The samplers. Every comparison of a random number with scores or thresholds is that of
// the real numbers, decided with as many random bits as it takes (internal/random), so
// that the law is the one that is priced. A source nil is the operating system's; another
// must be secret. How long a draw takes is not hidden.

// Candidates are the scores to choose among. Neighbouring data sets change each score by
// at most Sensitivity; Monotone says that they change all of them the same way.
type Candidates struct {
	Scores      []float64
	Sensitivity float64
	Monotone    bool
}

// scale returns λ with 2Δ/λ ≤ ε, or Δ/λ ≤ ε for monotone scores: the quotient is rounded up.
func (c Candidates) scale(epsilon float64) (float64, error) {
	switch {
	case len(c.Scores) == 0:
		return 0, fault.New("scores", "is empty; must list at least one candidate")
	case !(c.Sensitivity > 0 && c.Sensitivity <= 1e100):
		return 0, fault.New("sensitivity", "%v is not in (0, 1e+100]", c.Sensitivity)
	}
	if _, err := NewExponential(epsilon); err != nil {
		return 0, fault.Rename(err, func(s string) string {
			if s == "exponential" {
				return ""
			}
			return s
		})
	}
	for i, x := range c.Scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fault.New(fmt.Sprintf("scores[%d]", i), "%v is not a finite number", x)
		}
	}
	moves := 2 * c.Sensitivity
	if c.Monotone {
		moves = c.Sensitivity
	}
	return xmath.Up(moves/epsilon, 1), nil
}

// accepted is true with probability e^{(score − most)/scale}: an exponential number times
// scale is above the difference.
func accepted(src rand.Source, score, most, scale float64) bool {
	return random.Sum{Fixed: []float64{most, -score}}.Less(random.Sum{Noise: []random.Term{{Scale: scale, Z: random.Exponential(src)}}})
}

// Exponential returns the index of a candidate, chosen with a probability in proportion to
// e^{score/λ}: one is drawn uniformly until it is accepted with the probability
// e^{(score − largest)/λ}. Price: NewExponential(epsilon).
func (c Candidates) Exponential(epsilon float64, src rand.Source) (int, error) {
	scale, err := c.scale(epsilon)
	if err != nil {
		return 0, err
	}
	src = random.Source(src)
	uniform, most := rand.New(src), slices.Max(c.Scores)
	for {
		if i := uniform.IntN(len(c.Scores)); accepted(src, c.Scores[i], most, scale) {
			return i, nil
		}
	}
}

// PermuteAndFlip returns the index of the first candidate, in a random order, that is
// accepted with the probability e^{(score − largest)/λ}. Price: NewPermuteAndFlip(epsilon).
func (c Candidates) PermuteAndFlip(epsilon float64, src rand.Source) (int, error) {
	scale, err := c.scale(epsilon)
	if err != nil {
		return 0, err
	}
	src = random.Source(src)
	most := slices.Max(c.Scores)
	for _, i := range rand.New(src).Perm(len(c.Scores)) {
		if accepted(src, c.Scores[i], most, scale) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("internal error: the best candidate was not accepted")
}

// NoisyMax returns the index of the largest score with independent noise of scale λ,
// gumbel, exponential or laplace. Price: NewNoisyMax(noise, epsilon).
func (c Candidates) NoisyMax(noise string, epsilon float64, src rand.Source) (int, error) {
	if err := checkNoise(noise, gumbelNoise, exponentialNoise, laplaceNoise); err != nil {
		return 0, err
	}
	switch noise {
	case gumbelNoise: // the same law
		return c.Exponential(epsilon, src)
	case exponentialNoise:
		return c.PermuteAndFlip(epsilon, src)
	}
	scale, err := c.scale(epsilon)
	if err != nil {
		return 0, err
	}
	src = random.Source(src)
	best, most := 0, random.Noisy(c.Scores[0], scale, random.Laplace(src))
	for i, x := range c.Scores[1:] {
		if y := random.Noisy(x, scale, random.Laplace(src)); most.Less(y) {
			best, most = i+1, y
		}
	}
	return best, nil
}

// maxCount is the largest count: float64 holds every whole number up to it.
const maxCount = 1 << 53

// Release implements Threshold.
func (t thresholdRelease) Release(count int64, src rand.Source) (shown bool, noisy float64, err error) {
	if count < 0 || count > maxCount {
		return false, 0, fault.New("count", "%d is not an integer in [0, 2^53]", count)
	}
	if count == 0 {
		return false, 0, nil
	}
	src = random.Source(src)
	n := float64(count)
	if t.noise == discreteLaplaceNoise {
		// The difference of two geometric numbers.
		z := random.Geometric(src, t.scale)
		z.Sub(z, random.Geometric(src, t.scale)).Add(z, big.NewInt(count))
		least, _ := new(big.Float).SetFloat64(math.Ceil(t.threshold)).Int(nil)
		if z.Cmp(least) < 0 {
			return false, 0, nil
		}
		noisy, _ = new(big.Float).SetInt(z).Float64()
		return true, noisy, nil
	}
	draw := random.Laplace
	if t.noise == gaussianNoise {
		draw = random.Normal
	}
	sum := random.Noisy(n, t.scale, draw(src))
	if sum.Less(random.Sum{Fixed: []float64{t.threshold}}) {
		return false, 0, nil
	}
	_, e := math.Frexp(t.scale)
	return true, sum.Nearest(math.Ldexp(1, e-11)), nil
}

// Keep implements SelectPartitions.
func (s selectPartitions) Keep(count int64, src rand.Source) (bool, error) {
	if count < 0 || count > maxCount {
		return false, fault.New("count", "%d is not an integer in [0, 2^53]", count)
	}
	keep, hide := s.t.at(int(min(count, math.MaxInt32)))
	src = random.Source(src)
	if keep <= 0.5 {
		return random.Coin(src, keep), nil
	}
	return !random.Coin(src, hide), nil
}
