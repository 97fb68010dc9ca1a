// The average error itself as an objective, over sampled votes, by conditional
// gradients.

package darrm

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
)

// TrueError minimises the average Error itself over sampled vectors of vote
// probabilities, instead of a surrogate: Samples draws of K independent p_i
// uniform on [Low, High]. The average is convex and piecewise linear in γ; it is
// minimised by cutting planes over the same privacy constraints.
type TrueError struct {
	Low, High float64
	Samples   int
	Seed      uint64
}

func (o TrueError) check() error {
	if !(o.Low >= 0 && o.Low < o.High && o.High <= 1) {
		return fault.New("prior", "[%v, %v] is not an interval in [0, 1]", o.Low, o.High)
	}
	if o.Samples < 1 || o.Samples > 1_000_000 {
		return fault.New("samples", "%d is not in [1, 1000000]", o.Samples)
	}
	return nil
}

func (o TrueError) weights(int) ([]float64, error) {
	return nil, fault.New("objective", "the sampled error is not linear in gamma")
}

// differences draws the samples: each has its d_l for l = n..K.
func (o TrueError) differences(k int) [][]float64 {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	coins := make([]coin, k)
	out := make([][]float64, o.Samples)
	for i := range out {
		for j := range coins {
			p := o.Low + (o.High-o.Low)*rng.Float64()
			coins[j] = coin{p, 1 - p}
		}
		out[i] = differences(poissonBinomial(coins))
	}
	return out
}

// Average returns the average Error of g over the sample.
func (o TrueError) Average(g Gamma) (float64, error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if err := g.Check(); err != nil {
		return 0, err
	}
	v, _ := averageError(o.differences(len(g)-1), g.right())
	return v, nil
}

// averageError returns the mean of ½|Σ(1 − x_j)d_j| and a subgradient.
func averageError(sample [][]float64, x []float64) (value float64, slope []float64) {
	slope = make([]float64, len(x))
	w := 0.5 / float64(len(sample))
	for _, d := range sample {
		e := 0.0
		for j, v := range d {
			e += (1 - x[j]) * v
		}
		s := -w
		if e < 0 {
			s = w
		}
		value += w * math.Abs(e)
		for j, v := range d {
			slope[j] += s * v
		}
	}
	return value, slope
}

// errorGap is how far the average error may be above its minimum, in units of a
// probability.
const errorGap = 1e-7

// minimiseError is Kelley's method: an extra variable z = 1 − (the error) is
// maximised under z ≤ 1 − (each linearisation of the error found so far), and
// under the corner rows as they become known. It ends when the value of the
// best feasible point is within errorGap of the bound.
func (pr *program) minimiseError(o TrueError, r *Result, opt Options) ([]float64, error) {
	sample := o.differences(pr.Mechanisms)
	c := make([]float64, pr.n+1)
	c[pr.n] = 1
	s, err := pr.solver(c)
	if err != nil {
		return nil, err
	}
	var best []float64
	bestValue := math.Inf(1)
	for {
		v, bound, err := pr.optimum(s)
		if err != nil {
			return nil, err
		}
		pr.bound = min(pr.bound, bound)
		x := pr.point(v)
		feasible, err := pr.separate(x, s, 1, r, opt)
		if err != nil {
			return nil, err
		}
		last := s.Work() > maxWork || r.Rounds >= maxRounds
		if pr.interior || last {
			// Its points are feasible up to its accuracy only.
			g, err := pr.repair(fromRight(pr.Mechanisms, x))
			if err != nil {
				return nil, err
			}
			x, feasible = g.right(), true
		}
		value, slope := averageError(sample, x)
		if feasible && value < bestValue {
			best, bestValue = x, value
		}
		if feasible && bestValue-(1-pr.bound) <= errorGap || last {
			return best, nil
		}
		// error(y) ≥ value + slope·(y − x), so z + slope·y ≤ 1 − value + slope·x.
		row, side := make([]float64, pr.n+1), 1-value
		copy(row, slope)
		row[pr.n] = 1
		for j, g := range slope {
			side += g * x[j]
		}
		if err := s.AddRow(pr.transform(row), side); err != nil {
			return nil, err
		}
	}
}
