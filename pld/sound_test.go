package pld_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/profiles/profiletest"
	"github.com/dpaccountant/accountant/subsample"
)

// subject is a profile with its truth (nil: the profile's own δ, within its own
// error bound) and where to look at it.
type subject struct {
	name  string
	p     profiles.Profile
	exact profiletest.Exact
	sd    float64 // the scale of its loss
	fixed bool    // offset: put a lattice point on the first atom
}

func subjects() []subject {
	base := func(b profiles.Base, err error) profiles.Profile {
		return must(must(b, err).Pair(profiles.AddRemove))
	}
	plusMinus := func(b profiles.Base, err error) profiles.Profile {
		p, _, e := must(b, err).(profiles.SubstituteMixer).SubstituteMixture(0.1)
		return must(p, e)
	}
	g1, g3, l2 := profiletest.Gaussian(1), profiletest.Gaussian(0.3), profiletest.Laplace(2)
	rev := profiles.Reverse
	return []subject{
		{"gaussian 2", gaussian(2), profiletest.Gaussian(2), 0.5, false},
		{"gaussian 0.05", gaussian(0.05), profiletest.Gaussian(0.05), 20, false},
		{"gaussian 1000", gaussian(1000), profiletest.Gaussian(1000), 1e-3, false},
		{"laplace 2", laplace(2), l2, 0.5, true},
		{"gaussian 1 at 0.01", sampled(gaussian(1), 0.01), profiletest.Poisson(g1, 0.01), 0.015, false},
		{"gaussian 1 at 0.01, add", rev(sampled(gaussian(1), 0.01)), profiletest.Reverse(profiletest.Poisson(g1, 0.01)), 0.015, false},
		{"gaussian 0.8 at 0.001", sampled(gaussian(0.8), 0.001), profiletest.Poisson(profiletest.Gaussian(0.8), 0.001), 0.003, false},
		{"gaussian 0.3 at 0.5", sampled(gaussian(0.3), 0.5), profiletest.Poisson(g3, 0.5), 2, false},
		{"gaussian 0.3 at 0.5, add", rev(sampled(gaussian(0.3), 0.5)), profiletest.Reverse(profiletest.Poisson(g3, 0.5)), 2, false},
		{"gaussian 1 at 1e-8", sampled(gaussian(1), 1e-8), profiletest.Poisson(g1, 1e-8), 2e-8, false},
		{"laplace 2 at 0.1", sampled(laplace(2), 0.1), profiletest.Poisson(l2, 0.1), 0.05, true},
		{"laplace 2 at 0.1, add", rev(sampled(laplace(2), 0.1)), profiletest.Reverse(profiletest.Poisson(l2, 0.1)), 0.05, true},
		{"envelope of gaussian 1 at 0.1", must(subsample.Envelope(gaussian(1), 0.1)), profiletest.Envelope(g1, 0.1), 0.1, true},
		{"envelope of laplace 2 at 0.1", must(subsample.Envelope(laplace(2), 0.1)), profiletest.Envelope(l2, 0.1), 0.05, true},
		{"gaussian ±1 at 0.1", plusMinus(profiles.NewGaussianMechanism(1)), nil, 0.2, false},
		{"laplace ±1 at 0.1", plusMinus(profiles.NewLaplaceMechanism(1)), nil, 0.1, true},
		{"discrete gaussian 1.5", base(profiles.NewDiscreteGaussianMechanism(1.5, 1)), nil, 0.6, true},
		{"discrete laplace 2 at 0.1", sampled(base(profiles.NewDiscreteLaplaceMechanism(2, 1)), 0.1), nil, 0.05, true},
		{"response", base(profiles.NewRandomizedResponse(0.5, 4)), nil, 1, true},
		{"approximate", base(profiles.NewApproximate(1, 1e-200)), nil, 1, true},
		{"finite", must(profiles.NewFinite([]float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.25, 0, 0.5})), nil, 0.5, true},
		{"disjoint", must(profiles.NewFinite([]float64{1, 0}, []float64{0, 1})), nil, 1, false},
		{"identical", profiles.Identical(), nil, 1, true},
	}
}

// truth returns δ(ε) and a bound on its relative error.
func (s subject) truth(eps float64, exact bool) (d *big.Float, rel float64) {
	if s.exact != nil && exact {
		e := oracle.F(eps)
		m := s.exact(e)
		d := m.Delta(e)
		if d.Sign() <= 0 {
			return hp(0), 0
		}
		// Cancellation of the 320 bits.
		lost := float64(m.P.MantExp(nil) - d.MantExp(nil))
		return hp(0).Set(d), math.Exp2(lost - 300)
	}
	l, err := profiles.LogDelta(s.p, eps)
	if math.IsInf(l, -1) {
		return hp(0), 0
	}
	return exp2u(l), math.Expm1(min(err, 700)) + 4*0x1p-53
}

// The laws bound the profile, at every ε and for every step, whether it resolves
// the loss or not, aligned or not, thinned or not: upper ≥ δ, and lower read
// LossErr further up ≤ δ. Only the error of the truth itself is allowed for, and
// 4 u of the reading.
func TestLawsAreBounds(t *testing.T) {
	for n, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			type known struct {
				d   *big.Float
				rel float64
			}
			seen := map[float64]known{}
			truth := func(e float64) known {
				k, ok := seen[e]
				if !ok {
					// Three in four by the profile itself, which is fast and has its own tests.
					k.d, k.rel = s.truth(e, rng.IntN(4) == 0)
					seen[e] = k
				}
				return k
			}
			for _, depth := range []float64{-60, -2000} { // the second with masses beyond float64
				lo, hi := pld.Range(s.p, depth, -60)
				if !(lo < hi) { // no spread: anything around it
					lo, hi = -1, 1
				}
				var common []float64 // the same for all laws: the truth is slow
				for range 60 {
					common = append(common, lo-0.1*s.sd+(hi-lo+0.2*s.sd)*rng.Float64())
				}
				for range 30 {
					common = append(common, s.sd*rng.NormFloat64())
				}
				reads := 0
				for _, rel := range []float64{20, 3, 1, 0.3, 0.1, 0.01} {
					step := rel * s.sd
					if (hi-lo)/step > 2500 {
						continue
					}
					offsets := []float64{0, step * rng.Float64()}
					if a := s.p.Support().Atoms; s.fixed && len(a) > 0 {
						offsets[0] = a[0]
					}
					if d, ok := s.p.(*profiles.Discrete); ok && len(d.Atoms()) > 0 {
						offsets[0] = d.Atoms()[0].Loss
					}
					for _, o := range offsets {
						g := pld.Uniform(o, step, int64(math.Floor((lo-o)/step))-1, int64(math.Ceil((hi-o)/step))+1)
						thin := g
						thin.Tilt, thin.LogNorm, thin.Share = 2, 1, 1e-3
						for _, g := range []pld.Grid{g, thin} {
							up, low := pld.Discretize(s.p, g)
							eps := append([]float64(nil), common...)
							for range 32 { // at, between and next to lattice points
								x := o + step*math.Round(float64(g.Lo)+rng.Float64()*float64(g.Hi-g.Lo))
								eps = append(eps, x, x+step/2)
								if math.Abs(x) > 1e-20*step { // closer than the reading resolves
									eps = append(eps, math.Nextafter(x, 100), math.Nextafter(x, -100))
								}
							}
							reads += len(eps)
							name := fmt.Sprintf("step %g, offset %g, share %g", step, o, g.Share)
							u, l := newReader(up), newReader(low)
							for _, e := range eps {
								k := truth(e)
								slack := hp(1 + k.rel + 4*0x1p-53)
								if x := hp(0).Mul(u.at(e-up.LossErr), slack); x.Cmp(k.d) < 0 {
									t.Fatalf("%s: upper δ(%v) = %.20g below %.20g (%.3g of it)", name, e, x, k.d, ratio(x, k.d))
								}
								if x, y := l.at(e+low.LossErr), hp(0).Mul(k.d, slack); x.Cmp(y) > 0 {
									t.Fatalf("%s: lower δ(%v) = %.20g above %.20g (%.3g of it), second order %v", name, e, x, y, ratio(x, y), low.SecondOrder)
								}
							}
							checkLaw(t, name, up, +1)
							checkLaw(t, name, low, -1)
						}
					}
				}
				if reads < 1000 && depth == -60 {
					t.Errorf("only %d readings", reads)
				}
			}
		})
	}
}

func ratio(a, b *big.Float) float64 {
	if b.Sign() == 0 {
		return math.Inf(1)
	}
	x := hp(0).Quo(hp(0).Sub(a, b), b)
	f, _ := x.Float64()
	return f
}

func checkLaw(t *testing.T, name string, l *pld.Law, sign float64) {
	t.Helper()
	for i := range l.Loss {
		if math.IsNaN(l.LogMass[i]) || math.IsNaN(l.Loss[i]) || i > 0 && l.Loss[i] <= l.Loss[i-1] {
			t.Fatalf("%s: loss %v with log mass %v", name, l.Loss[i], l.LogMass[i])
		}
	}
	if math.IsNaN(l.LogPInf) || math.IsNaN(l.LossErr) || l.LossErr < 0 {
		t.Fatalf("%s: log mass at +∞ %v, LossErr %v", name, l.LogPInf, l.LossErr)
	}
	m := newReader(l).total()
	if sign > 0 && !(m >= 1-1e-15 && m < 1+1e-9) || sign < 0 && !(m <= 1+1e-15) {
		t.Errorf("%s: total mass 1 %+.3g", name, m-1)
	}
}
