// What a noise function is judged by; it decides utility and never privacy.

package darrm

import (
	"math"

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
// symmetric prior, for which the signed objective vanishes (docs/darrm.md).
type Surrogate struct{ Mean float64 }

func (o Surrogate) check() error {
	if !(o.Mean > 0.5 && o.Mean <= 1) {
		return fault.New("prior-mean", "%v is not in (0.5, 1]", o.Mean)
	}
	return nil
}

func (o Surrogate) weights(k int) ([]float64, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
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
	if err := o.check(); err != nil {
		return nil, err
	}
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
	c := make([]float64, free(k))
	for j := range c {
		c[j] = 2 / float64(k+1)
	}
	return c, nil
}

// Value returns Σ c_l γ(l) over l > K/2 for the objective's weights c, and Σ c_l,
// the value of the noise-free majority.
func Value(o Objective, g Gamma) (value, best float64, err error) {
	if err := g.Check(); err != nil {
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
	if err := g.Check(); err != nil {
		return 0, err
	}
	c, err := Surrogate{mean}.weights(len(g) - 1)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for j, v := range g.right() {
		e += c[j] * (1 - v)
	}
	return math.Abs(e) / 2, nil
}
