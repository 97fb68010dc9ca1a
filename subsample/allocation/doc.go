// Package allocation accounts for how data loaders really batch. It has random allocation (every
// record falls into steps of its own choice, once an epoch), shuffled batches, Poisson batches with
// a cap, and a fixed public order.
//
// Each scheme returns a profiles.Bounds, which the accountant composes like anything else. For each
// direction that is a law above and one below the privacy profile of an epoch, or of several.
// docs/theory/allocation.md has the theorems. Proofs are there or end the files.
//
// Three things are assumed throughout. A step releases the sum of the batch's contributions with
// noise, divided by constants only. The number of steps, the divisor and the noise are public and
// not computed from the data set's private size. Batches stay secret. Do not use random
// allocation's numbers for a shuffled loader: an attack on that may cost twenty times as much.
package allocation

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

const u = xmath.U

// A target is the question that laws are made for. They bound every δ(ε), and are sharp near
// this one: ε to the relative width Relative at δ = Delta, of one run of the mechanism or of
// so many Runs composed (0 is 1).
type target struct {
	Delta, Relative float64
	Runs            int64
}

// The target of schemes that were given none.
var defaultTarget = target{Delta: 1e-6, Relative: 1e-3}

// minDelta is what positive arithmetic carries: a mass of 1e-14·δ squared stays above the
// smallest numbers.
const minDelta = 1e-120

func (t target) positive() positive.Target {
	return positive.Target{Delta: t.Delta, Relative: t.Relative}
}

var errUnknown = fault.New("mechanism", "its tails are not known well enough for laws of sums of them: their errors add up to more than the masses")

// profileOf returns the profile of the pair whose likelihood ratio under Q has the law l.
func profileOf(l *positive.Law) (*profiles.Discrete, error) {
	if !(l.ValueErr < 0.5 && l.MassErr < 0.5) {
		return nil, errUnknown
	}
	atoms := make([]profiles.Atom, 0, len(l.X))
	qInf, far := math.Inf(-1), 0.0
	for i, x := range l.X {
		m := xmath.Log(l.Mass[i])
		if x == 0 {
			qInf = m
			continue
		}
		loss := xmath.Log(x)
		far = max(far, math.Abs(loss))
		atoms = append(atoms, profiles.Atom{Loss: loss, LogP: m + loss, LogQ: m})
	}
	pInf := math.Inf(-1)
	if l.Top > 0 {
		pInf = xmath.Log(l.Top)
	}
	// Values that are off by ρ are losses that are off by −log(1−ρ), and P-masses by ρ.
	return profiles.NewDiscrete(atoms, pInf, qInf, l.MassErr+l.ValueErr+6*u, -math.Log1p(-l.ValueErr)+2*u*(1+far))
}

// twoSided returns the mechanism of a pair between two laws. With next to no noise the law below has lost values beyond
// all numbers and is none: then nothing is known below.
func twoSided(name string, r profiles.Relation, upper, lower *positive.Law) (profiles.Bounds, error) {
	up, err := profileOf(upper)
	if err != nil {
		return profiles.Bounds{}, err
	}
	low, err := profileOf(lower)
	if err != nil {
		return between(name, r, up, profiles.Identical(), true), nil
	}
	return between(name, r, up, low, true), nil
}

// between returns the mechanism whose second direction is the reverse of the first.
func between(name string, r profiles.Relation, upper, lower profiles.Profile, numerical bool) profiles.Bounds {
	m := profiles.Bounds{Name: name, Relation: r, Numerical: numerical}
	m.Directions[0] = profiles.Direction{Upper: upper, Lower: lower}
	m.Directions[1].Upper = profiles.Reverse(upper)
	if lower != nil {
		m.Directions[1].Lower = profiles.Reverse(lower)
	}
	return m
}

// source returns the likelihood ratio of the pair of one use of b, and of what is attained.
func source(b profiles.Mechanism, r profiles.Relation) (upper, lower positive.Source, err error) {
	pair, err := b.Pair(r)
	if err != nil {
		return nil, nil, err
	}
	reached, err := profiles.Attained(b, pair, r)
	if err != nil {
		return nil, nil, err
	}
	upper = sourceOf(pair)
	if lower = upper; !profiles.Equal(pair, reached) {
		lower = sourceOf(reached)
	}
	return upper, lower, nil
}

func sourceOf(p profiles.Profile) positive.Source {
	if g, ok := p.(profiles.Gaussian); ok {
		return positive.LogNormal{S: 1 / g.NoiseMultiplier(), Ulps: 4}
	}
	return positive.FromProfile{Profile: p}
}

// noiseOf returns the noise multiplier of a Gaussian base.
func noiseOf(b profiles.Mechanism) (sigma float64, ok bool) {
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		return 0, false
	}
	g, ok := p.(profiles.Gaussian)
	if !ok {
		return 0, false
	}
	return g.NoiseMultiplier(), true
}

// The parameters of schemes by their keys in plan files, for who writes a step down.

// Parameters implements Random.
func (s randomScheme) Parameters() map[string]any {
	p := map[string]any{"steps": s.steps}
	if s.uses > 1 {
		p["uses"] = s.uses
	}
	if s.part != s.steps {
		p["first"] = s.part
	}
	return withEpochs(p, s.epochs, s.once)
}

// Parameters implements Shuffle.
func (s shuffleScheme) Parameters() map[string]any {
	p := map[string]any{"batches": s.batches}
	if s.unused > 0 {
		p["unused"] = s.unused
	}
	return withEpochs(p, s.epochs, s.once)
}

// Parameters implements Truncated.
func (s truncatedScheme) Parameters() map[string]any {
	return map[string]any{"rate": s.rate, "cap": s.cap, "population": s.population}
}

// Parameters returns the parameters by their keys in plan files.
func (s fixedScheme) Parameters() map[string]any { return map[string]any{"uses": s.uses} }

func withEpochs(p map[string]any, epochs int64, once bool) map[string]any {
	if once {
		p["redraw"] = "once"
	}
	if once || epochs > 1 {
		p["epochs"] = epochs
	}
	return p
}
