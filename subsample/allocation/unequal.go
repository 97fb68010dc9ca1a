package allocation

// Random allocation to steps of unequal probabilities: consequence 3 of Theorem 1 in
// docs/theory/allocation.md.

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Unequal is random allocation in which step i is drawn with probability w_i, and no step with
// what is left. One run is one epoch.
type Unequal struct {
	weights []float64 // ascending
	steps   []float64 // in the order of the steps
	left    float64   // probability of no step
	target  Target
}

// maxWeights bounds the number of different weights: each takes sums of its own.
const maxWeights = 64

// NewUnequal returns the scheme. The weights are probabilities whose sum is 1 up to rounding, or
// at most 1 − 1e-6.
func NewUnequal(weights []float64) (Unequal, error) {
	if len(weights) < 1 || len(weights) > maxSteps {
		return Unequal{}, fault.New("weights", "%d of them are not in [1, %d]", len(weights), int64(maxSteps))
	}
	var sum xmath.Sum
	for _, w := range weights {
		if !(w > 0 && w <= 1) {
			return Unequal{}, fault.New("weights", "%v is not in (0, 1]", w)
		}
		sum.Add(w)
	}
	s := Unequal{weights: slices.Sorted(slices.Values(weights)), steps: slices.Clone(weights), target: defaultTarget}
	total := sum.Value()
	switch {
	case math.Abs(total-1) <= 1e-12:
		for i := range s.weights {
			s.weights[i] /= total
			s.steps[i] /= total
		}
	case total > 1-1e-6:
		return Unequal{}, fault.New("weights", "their sum %v is not 1 within 1e-12, and not in (0, 1 − 1e-6]", total)
	default:
		sum.Add(-1)
		s.left = -sum.Value()
	}
	if n := len(slices.Compact(slices.Clone(s.weights))); n > maxWeights {
		return Unequal{}, fault.New("weights", "%d different ones are not in [1, %d]", n, maxWeights)
	}
	return s, nil
}

// For returns the scheme with laws that are sharp for another question.
func (s Unequal) For(t Target) (Unequal, error) {
	if err := t.check(); err != nil {
		return Unequal{}, err
	}
	s.target = t
	return s, nil
}

// Name returns the scheme's name.
func (Unequal) Name() string { return "unequal-allocation" }

// Apply returns one epoch of b, exact under add-remove and zero-out: M = 1 − Σw + Σ w_i A_i.
func (s Unequal) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if len(s.weights) == 0 {
		return profiles.Bounds{}, fault.New("weights", "0 of them are not in [1, %d]", int64(maxSteps))
	}
	if r != profiles.AddRemove && r != profiles.ZeroOut {
		return profiles.Bounds{}, fault.New("neighbors", "%v is not in [add-remove, zero-out]", r)
	}
	upper, lower, err := source(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	up, low, err := pairOf(context.Background(), s.target, upper, lower, func(p *positive.Program, a int) int {
		all := -1
		for i := 0; i < len(s.weights); {
			n := i
			for n < len(s.weights) && s.weights[n] == s.weights[i] {
				n++
			}
			x := p.Affine(p.Sum(a, int64(n-i)), s.weights[i], 0, 2*u)
			if i = n; all < 0 {
				all = x
			} else {
				all = p.Add(all, x)
			}
		}
		if s.left > 0 {
			all = p.Affine(all, 1, s.left, 4*u/s.left)
		}
		return all
	})
	if err != nil {
		return profiles.Bounds{}, err
	}
	return twoSided(b.Name(), r, up, low)
}
