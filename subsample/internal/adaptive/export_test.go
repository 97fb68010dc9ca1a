package adaptive

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// Attack is the recursion from below.
type Attack = attack

// Run adds k steps.
func (a *Attack) Run(ctx context.Context, k int) error { return a.run(ctx, int64(k)) }

// Pessimistic is the recursion of Attack on upper laws, which lie above it,
// rounded up or down.
func Pessimistic(p profiles.Profile, step, reach, c float64, up bool) *Attack {
	a := Tilted(p, step, reach, c)
	a.r.upper, a.r.laws = up, nil
	top := int64(len(a.g)) - 1
	for _, q := range []profiles.Profile{p, profiles.Reverse(p)} {
		law, _ := pld.Discretize(q, pld.Uniform(0, step, -top, top))
		l := massLaw{inf: math.Exp(law.LogPInf)}
		for j, m := range law.LogMass {
			l.index, l.mass = append(l.index, int(law.Index[j])), append(l.mass, math.Exp(m))
		}
		a.r.laws = append(a.r.laws, l)
	}
	return a
}

// Crossing returns ε(δ) with log δ linear between lattice points, and its slope.
func Crossing(a *Attack, delta float64) (eps, slope float64) {
	i := len(a.g) - 2
	for a.g[i] <= delta {
		i--
	}
	slope = math.Log(a.g[i]/a.g[i+1]) / a.r.step
	return float64(i)*a.r.step + math.Log(a.g[i]/delta)/slope, slope
}

// Tilted is newAttack.
func Tilted(p profiles.Profile, step, reach, c float64) *Attack {
	top := int(math.Ceil(reach / step))
	return newAttack(p, step, top, top, c)
}

// At returns the bound at e^{i·step}, Step the step.
func (a *Attack) At(i int) float64 { return a.g[i] }

// Step returns the step of the lattice.
func (a *Attack) Step() float64 { return a.r.step }
