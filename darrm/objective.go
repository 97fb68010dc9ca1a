// What a noise function is judged by; it decides utility and never privacy.

package darrm

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
)

// An Objective says what a good noise function is. Whatever it says, the
// privacy of the result is certified apart from it.
type Objective interface {
	// weights returns the coefficients of γ(n), …, γ(K) to maximise.
	weights(k int) ([]float64, error)
	check() error
}

// Surrogate is the paper's objective (its equation 202) in closed form: maximise
// V(γ) = Σ c_l γ(l), c_l = α_l − α_{K−l} with α the law of Binomial(K, Mean).
// ½(Σ c_l − V) is the expected Error when every p_i has mean Mean and is at least
// ½. Mean ¾ is the uniform prior on [½, 1], 0.85 that on [0.7, 1].
//
// It is what the paper optimises in place of the expected error under its
// symmetric prior, for which the signed objective vanishes.
type Surrogate struct{ Mean float64 }

func (o Surrogate) check() error {
	if !(o.Mean > 0.5 && o.Mean <= 1) {
		return fault.New("prior-mean", "%v is not in (0.5, 1]", o.Mean)
	}
	return nil
}

func (o Surrogate) weights(k int) ([]float64, error) {
	return differences(binomial(k, coin{o.Mean, 1 - o.Mean})), nil
}

// FewestDisagreements minimises Disagreement under independent p_i of mean Mean.
type FewestDisagreements struct{ Mean float64 }

func (o FewestDisagreements) check() error {
	if !(o.Mean >= 0 && o.Mean <= 1) {
		return fault.New("prior-mean", "%v is not in [0, 1]", o.Mean)
	}
	return nil
}

func (o FewestDisagreements) weights(k int) ([]float64, error) {
	a := binomial(k, coin{o.Mean, 1 - o.Mean})
	c := make([]float64, free(k))
	for j := range c {
		c[j] = a[half(k)+j] + a[k-half(k)-j]
	}
	return c, nil
}

// CommonUniform minimises Disagreement when all mechanisms share one p, uniform
// on [0, 1]: every vote count is then equally likely.
type CommonUniform struct{}

func (CommonUniform) check() error { return nil }

func (CommonUniform) weights(k int) ([]float64, error) {
	return slices.Repeat([]float64{2 / float64(k+1)}, free(k)), nil
}

// objective returns Σ c_l γ(l) over l > K/2 for the objective's weights c, and Σ c_l,
// the value of the noise-free majority.
func objective(o Objective, g Gamma) (value, best float64, err error) {
	if err := cmp.Or(g.check(), o.check()); err != nil {
		return 0, 0, err
	}
	c, err := o.weights(len(g) - 1)
	if err != nil {
		return 0, 0, err
	}
	for j, v := range g.right() {
		value += c[j] * v
		best += c[j]
	}
	return value, best, nil
}

// ExpectedError returns the expected Error over p_i uniform on [½, 1], or on any
// independent priors on [½, 1] with the given mean.
func ExpectedError(g Gamma, mean float64) (float64, error) {
	o := Surrogate{mean}
	if err := cmp.Or(g.check(), o.check()); err != nil {
		return 0, err
	}
	c, err := o.weights(len(g) - 1)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for j, v := range g.right() {
		e += c[j] * (1 - v)
	}
	return math.Abs(e) / 2, nil
}

// What a noise function is judged by when the votes are for one of many labels.

// Value returns the objective of g for the problem's number of classes, and that of the
// noise-free majority. For more than two classes Σ c_l γ(l) is twice what the probability of
// the right answer, with votes of Mean for it, has beyond one drawn uniformly.
func (p Params) Value(o Objective, g Gamma) (value, best float64, err error) {
	if o, err = p.forLabels(o); err != nil {
		return 0, 0, err
	}
	return objective(o, g)
}

// labelAccuracy is the surrogate objective for many labels: a mechanism votes for the right
// label with probability mean and for every other one alike. Σ c_l γ(l) is twice what the
// probability of the right answer has beyond 1/C.
type labelAccuracy struct {
	mean   float64
	labels int
}

func (o labelAccuracy) check() error {
	if !(o.mean > 1/float64(o.labels) && o.mean <= 1) {
		return fault.New("prior-mean", "%v is not in (1/%d, 1]", o.mean, o.labels)
	}
	return nil
}

func (o labelAccuracy) weights(k int) ([]float64, error) {
	wrong := (1 - o.mean) / float64(o.labels-1)
	a, b := binomial(k, coin{o.mean, 1 - o.mean}), binomial(k, coin{wrong, 1 - wrong})
	c := make([]float64, free(k))
	for j := range c {
		c[j] = 2 * (1 - 1/float64(o.labels)) * (a[half(k)+j] - b[half(k)+j])
	}
	return c, nil
}

// forLabels returns the objective of the problem's labels.
func (p Params) forLabels(o Objective) (Objective, error) {
	if p.Classes <= 2 {
		return o, nil
	}
	s, ok := o.(Surrogate)
	if !ok {
		return nil, fault.New("objective", "must be error (Surrogate) for %d classes", p.Classes)
	}
	return labelAccuracy{s.Mean, p.Classes}, nil
}

// The average error itself as an objective, over sampled votes, by conditional
// gradients.

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
	if err := cmp.Or(o.check(), g.check()); err != nil {
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

// What is maximised, and how.
//
// With x_j = γ(n+j) the condition is one linear row for each corner multiset, and a linear objective makes a linear
// program. The paper's objective, an integral that it estimates by sampling, is in closed form: α_l is multilinear
// in independent p_i, so its mean is the law of Binomial(K, μ), and one maximises
//
//	V(γ) = Σ_{l≥n} c_l γ(l),  c_l = C(K,l)(μ^l(1−μ)^{K−l} − μ^{K−l}(1−μ)^l),  (4)
//
// with μ = ¾ for p uniform on [½, 1]. ½(Σc_l − V) is the expected error there. Under a prior symmetric about ½ the
// signed mean of d_l is zero: (4) is a stand-in for the expected error under that prior and not equal to it, and its
// optimum is another. TrueError (--prior 0,1 on the command line) minimises a sample average of the error
// itself. Subsampling one vote, the paper's optimum at m = 1, is the optimum of (4) only where ε is small: at K = 11
// for ε = 0.1 and 0.5, but not for ε = 1 (errors 0.2149 against 0.2157) and far from it for ε = 2, where the best
// constant is the monotone optimum and halves the error, 0.110 against 0.216.
//
// The program is solved by generating rows. A table of Φ over the multisets of coins costs one multiplication and
// addition for each entry; f of each corner multiset is then two look-ups. Which mechanisms are at (0, Δ) and (1, 1−Δ)
// decides p' alone, and running minima find the best such choice: C(K+5, 5) pairs stand for the C(K+7, 7) multisets,
// 1 370 754 for 73 629 072 at K = 41. The worst forty become rows, and a dual simplex goes on from where it was
// (internal/lp). Ten rounds or so are enough.
//
// By default γ is monotone. It has three corners, and works up to K = 1001. What it costs of V grows with ε: nothing
// at K = 11, m = 1, ε = 0.5, 0.25 % at ε = 1, 1.7 % at ε = 2, and 4.05 % at K = 3, ε = 2, m = 1, the most that was
// seen (Options.Free has the other). Afterwards every entry (level) is raised as far as the others let it, because
// the weights c_l span a dozen orders of magnitude.
