// §13 from below: an adversary who chooses a data set for many steps at a time.

package adaptive

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// attackGrowth is a block of the attack, relative to the steps before it: the adversary chooses anew at each.
const attackGrowth = 1. / 8

// lower returns what an adversary reaches who looks at the threshold that the outputs leave before each block of steps, and has
// all other records at the substitute for the whole block if it is at least 1, at the record otherwise.
//
// G is bounded from below by Σ c_j (β_j − α)₊ − lost, with a c_0 that symmetry may make negative: the law is below the pair for
// convex functions, of which the true G is one, and what bounds it from below at every α does so in expectation.
func (b *blocked) lower(ctx context.Context, p profiles.Profile, steps int64, eps, logDelta float64, maxPoints int) (*attack, error) {
	l, laws, err := b.ladderFor(ctx, false, steps, eps, logDelta, 20, maxPoints)
	if err != nil {
		return nil, err
	}
	most := int64(laws[0].index[len(laws[0].index)-2])
	_, found := pld.Discretize(p, pld.Uniform(0, l.step/float64(l.fine), -most, most))
	if found == nil {
		return nil, fmt.Errorf("a law below one step needs more than %d points", 2*most)
	}
	var law massLaw // what is at +∞ is left out
	for i, m := range found.LogMass {
		law.index, law.mass = append(law.index, int(found.Index[i])), append(law.mass, math.Exp(m))
	}
	k, err := l.kernel(law, false)
	if err != nil {
		return nil, err
	}
	c, lost := make([]float64, l.top+1), 0.0
	masses := make([]float64, len(l.beta))
	span := float64(l.n) * l.step
	for t := int64(0); t < steps; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := parallel.Spend(ctx, l.price()); err != nil {
			return nil, err
		}
		clear(masses)
		zero, size, beyond := 0.0, 0.0, 0.0 // c_0, sums of what is added for it, and of |c_j| β_j
		for j := l.top; j >= 1; j-- {
			mirror := c[j] * l.beta[j+l.low]
			masses[l.low+j] = c[j]
			if j <= l.low {
				masses[l.low-j] = mirror
			} else if c[j] < 0 {
				lost -= c[j]
			}
			zero += c[j] + mirror
			size += math.Abs(c[j] + mirror)
			beyond += math.Abs(c[j] * l.beta[j+l.low])
		}
		masses[l.low] = 1 - zero - l.rounding*(1+size)
		count := min(max(1, int64(attackGrowth*float64(t))), steps-t)
		sum, off := l.raise(k, count)
		negative := 0.0
		for i := range masses {
			masses[i] *= l.weight[i]
			negative -= min(0, masses[i])
		}
		// What a block brings above the top is left out: G may be lower there by this part of what is negative.
		lost += negative * sum * math.Exp(-(l.tilt-1)*float64(l.top)*l.step) * (1 + l.rounding)
		out, e := l.apply(masses, sum, off)
		c = l.gather(out, -e)
		for j := range c {
			c[j] -= l.rounding * math.Abs(c[j])
		}
		l.trim(c)
		// What a block brings below the lowest node comes back above the highest, with this part of its P-mass.
		lost += (1 + 2*beyond) * math.Exp(-(l.tilt-1)*span) * (1 + l.rounding)
		t += count
	}
	g := make([]float64, l.top+1)
	mass, value, size := 0.0, 0.0, 0.0
	for i := l.top - 1; i >= 0; i-- {
		mass += c[i+1]
		value += mass * (l.beta[i+1+l.low] - l.beta[i+l.low])
		size += math.Abs(c[i+1]) * l.beta[i+1+l.low]
		g[i] = value - l.rounding*size - lost // below 0 at the end, which says nothing, but a line to it does
	}
	return &attack{g: g, r: recursion{step: l.step}, moved: xmath.Up(float64(steps)*found.LossErr, 4), linear: true}, nil
}

// trim sets Σ_{j>i} c_j (β_j − α)₊ to 0 from its last positive node on, and lowers it in the step before: G is not negative, and
// beyond, what rounding takes away is more than G.
func (l *ladder) trim(c []float64) {
	mass, value := 0.0, 0.0
	for i := l.top - 1; i > 1; i-- {
		mass += c[i+1]
		was := value
		if value += mass * (l.beta[i+1+l.low] - l.beta[i+l.low]); was > 0 {
			clear(c[i+1:])
			c[i+1] = value / (l.beta[i+1+l.low] - l.beta[i+l.low])
			c[i+1] -= l.rounding * math.Abs(c[i+1])
			c[i] += mass - c[i+1] - l.rounding*(math.Abs(mass)+math.Abs(c[i+1])) // the slope below node i stays
			return
		}
	}
}

// Proof (docs/theory/subsampling.md §13): from below.
//
// From below (`blocks_attack.go`). An adversary who looks at the threshold before each block, and has all others at x'
// for the block if it is at least 1, at x otherwise. G is kept on the finer lattice: chords on the way to a coarser one
// would raise it. The law is one below the pair, rounding is taken off, and c_0 may be negative, which is right: a
// function below G at every α is below it in expectation.
