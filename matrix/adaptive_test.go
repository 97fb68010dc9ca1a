package matrix_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
)

// A policy is the contribution at the second step as a function of the first release, of
// size at most 1.
type policy func(y float64) float64

// randomPolicy is constant on some intervals.
func randomPolicy(r *rand.Rand) policy {
	cuts, values := make([]float64, 3), make([]float64, 4)
	for i := range cuts {
		cuts[i] = 2 * r.NormFloat64()
	}
	for i := range values {
		values[i] = 2*r.Float64() - 1
		if r.IntN(2) == 0 {
			values[i] = math.Copysign(1, values[i])
		}
	}
	return func(y float64) float64 {
		at := 0
		for _, c := range cuts {
			if y > c {
				at++
			}
		}
		return values[at]
	}
}

// twoSteps returns δ(ε), the larger of both directions, of a run of two steps with
// C = [[1, 0], [c, d]], of which pattern p has probability weights[p]: bit 0 is the first
// step, bit 1 the second. The sum over the plane is right to about 1e-3 of itself.
func twoSteps(c, d, sigma float64, weights [4]float64, first float64, second policy, eps float64) float64 {
	const step, reach = 0.03, 8.0
	remove, add := 0.0, 0.0
	for z1 := -reach; z1 < reach+2/sigma; z1 += step {
		u2 := second(z1 * sigma)
		for z2 := -reach; z2 < reach+3/sigma; z2 += step {
			q := math.Exp(-(z1*z1+z2*z2)/2) / (2 * math.Pi) * step * step
			ratio := 0.0
			for p, w := range weights {
				if w == 0 {
					continue
				}
				a1, a2 := 0.0, 0.0
				if p&1 != 0 {
					a1, a2 = first, c*first
				}
				if p&2 != 0 {
					a2 += d * u2
				}
				a1, a2 = a1/sigma, a2/sigma
				ratio += w * math.Exp(a1*z1+a2*z2-(a1*a1+a2*a2)/2)
			}
			remove += q * max(0, ratio-math.Exp(eps))
			add += q * max(0, 1-math.Exp(eps)*ratio)
		}
	}
	return max(remove, add)
}

// TestAdaptivePolicies: no contribution that depends on the first release costs more than
// what is certified, for every schema; the constant one reaches what is exact.
func TestAdaptivePolicies(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(11, 7))
	const sigma, c, d, rate = 1.7, 0.6, 1.0, 0.3
	full := must(matrix.Toeplitz([]float64{1, c}))
	for _, x := range []struct {
		name    string
		s       matrix.Strategy
		c       float64
		p       matrix.Participation
		weights [4]float64
		exact   bool
	}{
		{"both steps", full, c, must(matrix.Epochs(2)), [4]float64{3: 1}, true},
		{"two bins", full, c, must(matrix.BallsInBins(2)), [4]float64{1: 0.5, 2: 0.5}, false},
		{"coins", matrix.Identity(), 0, must(matrix.CyclicPoisson(1, rate)),
			[4]float64{(1 - rate) * (1 - rate), rate * (1 - rate), rate * (1 - rate), rate * rate}, true},
	} {
		a := total(profiles.AddRemove, step(newRun(sigma, 2, x.s, x.p)))
		for _, eps := range []float64{0.1, 1} {
			certified := must(a.Delta(ctx, eps))
			for range 15 {
				first := math.Copysign(1, r.Float64()-0.5)
				if got := twoSteps(x.c, d, sigma, x.weights, first, randomPolicy(r), eps); got > certified.Upper*(1+2e-3) {
					t.Errorf("%s, ε = %v: a policy has %v, certified %v", x.name, eps, got, certified.Upper)
				}
			}
			got := twoSteps(x.c, d, sigma, x.weights, 1, func(float64) float64 { return 1 }, eps)
			if got < certified.Lower*(1-2e-3) || x.exact && got < certified.Upper*(1-2e-3) {
				t.Errorf("%s, ε = %v: the constant policy has %v, certified [%v, %v]", x.name, eps, got, certified.Lower, certified.Upper)
			}
		}
	}
}
