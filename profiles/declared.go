// Mechanisms of which only a guarantee is known: the worst pair with that guarantee.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// declared is a mechanism known by its pair alone, whatever the relation.
type declared struct {
	name string
	p    *Discrete
}

func (d declared) Name() string                   { return d.name }
func (d declared) Pair(Relation) (Profile, error) { return d.p, nil }

// randomizedResponse is a declared mechanism that answers for an empty place, too.
type randomizedResponse struct {
	declared
	empty *Discrete // the pair of a true answer and a uniformly random one
}

func (r randomizedResponse) Pair(rel Relation) (Profile, error) {
	if rel == ZeroOut {
		return r.empty, nil
	}
	return r.p, nil
}

const maxEpsilon = 1e6

func checkEpsilon(name string, epsilon float64) error {
	if !(epsilon >= 0 && epsilon <= maxEpsilon) {
		return fault.In(name, fault.New("epsilon", "%v is not in [0, %g]", epsilon, maxEpsilon))
	}
	return nil
}

// NewPure returns the worst mechanism that satisfies pure ε-differential
// privacy: randomized response on one bit.
//
// Source: Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.
func NewPure(epsilon float64) (Mechanism, error) {
	if err := checkEpsilon("pure", epsilon); err != nil {
		return nil, err
	}
	return approximate("pure", epsilon, 0)
}

// NewApproximate returns the worst mechanism that satisfies
// (ε, δ)-differential privacy: with probability δ the outcome gives the data
// away, else randomized response on one bit.
//
// Source: Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.
func NewApproximate(epsilon, delta float64) (Mechanism, error) {
	if err := checkEpsilon("approximate", epsilon); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta <= 1) {
		return nil, fault.In("approximate", fault.New("delta", "%v is not in [0, 1]", delta))
	}
	return approximate("approximate", epsilon, delta)
}

func approximate(name string, epsilon, delta float64) (Mechanism, error) {
	hi := math.Log1p(-delta) - math.Log1p(math.Exp(-epsilon))
	lo := hi - epsilon
	p, err := NewDiscrete([]Atom{{-epsilon, lo, hi}, {epsilon, hi, lo}}, xmath.Log(delta), xmath.Log(delta), 4*xmath.U, 0)
	return declared{name, p}, err
}

// NewRandomizedResponse returns randomized response over a number of
// categories: with the given probability the answer is replaced by a uniformly
// random category. It is about one answer: a record that answers several
// questions is as many runs.
//
// Under ZeroOut an empty place answers with a uniformly random category, so that
// nobody sees that it is empty, and the pair is that of a true answer and such a one;
// so does, on a Poisson sample, whoever is not in it. (Google's dp_accounting has the
// same under REPLACE_SPECIAL.)
func NewRandomizedResponse(probability float64, categories int) (Mechanism, error) {
	const name = "randomized-response"
	if !(probability >= 0 && probability <= 1) {
		return nil, fault.In(name, fault.New("probability", "%v is not in [0, 1]", probability))
	}
	if categories < 2 || categories > 1e9 {
		return nil, fault.In(name, fault.New("categories", "%d is not an integer in [2, 1000000000]", categories))
	}
	k := float64(categories)
	if probability == 0 {
		p, err := NewDiscrete(nil, 0, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		// The answer is the truth, or the truth by chance.
		empty, err := NewDiscrete([]Atom{{xmath.Log(k), 0, -xmath.Log(k)}}, math.Inf(-1), math.Log1p(-1/k), 4*xmath.U, 2*xmath.U*xmath.Log(k))
		return randomizedResponse{declared{name, p}, empty}, err
	}
	loss := math.Log1p((1 - probability) * k / probability)
	lie := xmath.Log(probability) - xmath.Log(k)
	truth := math.Log1p(-probability * (1 - 1/k))
	if probability > 0.5 {
		truth = xmath.Log((1 - probability) + probability/k) // both terms positive, 1 − probability exact
	}
	atoms := []Atom{{-loss, lie, truth}, {loss, truth, lie}}
	if categories > 2 {
		rest := lie + xmath.Log(k-2)
		atoms = append(atoms, Atom{0, rest, rest})
	}
	none := math.Inf(-1)
	p, err := NewDiscrete(atoms, none, none, 4*xmath.U, 4*xmath.U*(1+loss))
	if err != nil {
		return nil, err
	}
	// Against the uniform 1/k: log(1 + (1 − probability)(k − 1)) for the truth, log(probability) else.
	uniform, lied := -xmath.Log(k), xmath.Log(probability)
	told := math.Log1p((1 - probability) * (k - 1))
	empty, err := NewDiscrete([]Atom{{lied, lie + xmath.Log(k-1), math.Log1p(-1 / k)}, {told, truth, uniform}}, none, none, 4*xmath.U, 4*xmath.U*(1+told-lied))
	return randomizedResponse{declared{name, p}, empty}, err
}

// NewFiniteMechanism returns the mechanism with output distributions p on one
// data set and q on its neighbour; see NewFinite. Nothing is known of other
// neighbours: that this pair is the worst is the caller's claim.
func NewFiniteMechanism(p, q []float64) (Mechanism, error) {
	d, err := NewFinite(p, q)
	if err != nil {
		return nil, err
	}
	return declared{"finite", d}, nil
}
