package pld_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
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
	base := func(b profiles.Mechanism, err error) profiles.Profile {
		return must(must(b, err).Pair(profiles.AddRemove))
	}
	plusMinus := func(b profiles.Mechanism, err error) profiles.Profile {
		p, _, e := must(b, err).(interface {
			SubstituteMixture(float64) (profiles.Profile, bool, error)
		}).SubstituteMixture(0.1)
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
		{"gaussian 1e6", gaussian(1e6), profiletest.Gaussian(1e6), 1e-6, false},
		{"gaussian 1e4 at 0.01", sampled(gaussian(1e4), 0.01), profiletest.Poisson(profiletest.Gaussian(1e4), 0.01), 1e-6, false},
		{"laplace 0.1 at 1e-9", sampled(laplace(0.1), 1e-9), profiletest.Poisson(profiletest.Laplace(0.1), 1e-9), 1e-7, true},
		{"laplace 2 at 0.1", sampled(laplace(2), 0.1), profiletest.Poisson(l2, 0.1), 0.05, true},
		{"laplace 2 at 0.1, add", rev(sampled(laplace(2), 0.1)), profiletest.Reverse(profiletest.Poisson(l2, 0.1)), 0.05, true},
		{"envelope of gaussian 1 at 0.1", must(subsample.Envelope(gaussian(1), 0.1)), profiletest.Envelope(g1, 0.1), 0.1, true},
		{"envelope of laplace 2 at 0.1", must(subsample.Envelope(laplace(2), 0.1)), profiletest.Envelope(l2, 0.1), 0.05, true},
		{"gaussian ±1 at 0.1", plusMinus(profiles.NewGaussianMechanism(1)), nil, 0.2, false},
		{"laplace ±1 at 0.1", plusMinus(profiles.NewLaplaceMechanism(1)), nil, 0.1, true},
		{"discrete gaussian 1.5", base(profiles.NewDiscreteGaussianMechanism(1.5, 1)), nil, 0.6, true},
		{"discrete gaussian 1.8 at 0.004", sampled(base(profiles.NewDiscreteGaussianMechanism(1.8478, 1)), 0.0035515), nil, 0.02, true},
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
	if math.IsInf(l, -1) && err > 0 {
		return nil, 0 // no digit is known
	}
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
	slow.Test(t)
	for n, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			type known struct {
				d   *big.Float
				rel float64
			}
			reads := 0
			seen := map[float64]known{}
			truth := func(e float64) known {
				k, ok := seen[e]
				if !ok {
					// Most by the profile itself, which is fast and has its own tests.
					k.d, k.rel = s.truth(e, rng.IntN(6) == 0)
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
				for range 100 {
					common = append(common, lo-0.1*s.sd+(hi-lo+0.2*s.sd)*rng.Float64())
				}
				for range 40 {
					common = append(common, s.sd*rng.NormFloat64())
				}
				for _, rel := range []float64{20, 3, 1, 0.3, 0.1, 0.01} {
					step := rel * s.sd
					if (hi-lo)/step > 1500 {
						continue
					}
					offsets := []float64{0, step * rng.Float64()}
					if a := s.p.Support().Atoms; s.fixed && len(a) > 0 {
						offsets[0] = a[0]
					}
					if d, ok := s.p.(*profiles.Discrete); ok && len(d.Atoms()) > 0 {
						offsets[0] = d.Atoms()[0].Loss
					}
					if depth < -60 {
						offsets = offsets[:1]
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
								if k.d == nil {
									continue
								}
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
			}
			if reads < 1000 {
				t.Errorf("only %d readings", reads)
			}
		})
	}
}

// The same for profiles drawn at random, by their own δ.
func TestRandomLawsAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := func(name string, lo, hi float64) float64 { // not from the edges, as rapid likes
			return lo + (hi-lo)*float64(rapid.IntRange(0, 1<<20).Draw(t, name))/(1<<20)
		}
		scale := math.Exp(num("log scale", -3, 8))
		rate := math.Exp(-num("-log rate", 0.001, 22))
		var p profiles.Profile = gaussian(scale)
		if rapid.Bool().Draw(t, "laplace") {
			p = laplace(scale)
		}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 1, 2:
			p = sampled(p, rate)
		case 3:
			p = must(subsample.Envelope(p, rate))
		case 4:
			b := must(profiles.NewGaussianMechanism(scale))
			if _, ok := p.(profiles.Laplace); ok {
				b = must(profiles.NewLaplaceMechanism(scale))
			}
			x, _, err := b.(interface {
				SubstituteMixture(float64) (profiles.Profile, bool, error)
			}).SubstituteMixture(rate)
			p = must(x, err)
		}
		if rapid.Bool().Draw(t, "reverse") {
			p = profiles.Reverse(p)
		}
		depth := -num("depth", 10, 300)
		lo, hi := pld.Range(p, depth, depth)
		step := (hi - lo) / math.Exp(num("log points", 0.5, 6.5))
		o := step * num("offset", -1, 1)
		if a := p.Support().Atoms; len(a) > 0 && rapid.Bool().Draw(t, "aligned") {
			o = a[len(a)-1]
		} else if !math.IsNaN(p.Support().Spike) && rapid.Bool().Draw(t, "spike") {
			o = pld.SpikeOffset(p, step)
		}
		g := pld.Uniform(o, step, int64(math.Floor((lo-o)/step)), int64(math.Ceil((hi-o)/step))+1)
		if rapid.Bool().Draw(t, "thin") {
			g.Share, g.Tilt = math.Exp(num("log share", -10, -1)), num("tilt", 0, 20)
		}
		up, low := pld.Discretize(p, g)
		u, l := newReader(up), newReader(low)
		s := subject{p: p}
		for range 25 {
			k := float64(rapid.Int64Range(g.Lo, g.Hi).Draw(t, "k"))
			e := o + step*(k+rapid.SampledFrom([]float64{0, 0, 0.5, 0.25, 0.9, 1e-9}).Draw(t, "x"))
			d, rel := s.truth(e, false)
			if d == nil {
				continue
			}
			slack := hp(1 + rel + 4*0x1p-53)
			if x := hp(0).Mul(u.at(e-up.LossErr), slack); x.Cmp(d) < 0 {
				t.Fatalf("%+v, grid %+v: upper δ(%v) = %.20g below %.20g (%.3g of it)", p, g, e, x, d, ratio(x, d))
			}
			if x, y := l.at(e+low.LossErr), hp(0).Mul(d, slack); x.Cmp(y) > 0 {
				t.Fatalf("%+v, grid %+v: lower δ(%v) = %.20g above %.20g (%.3g of it), second order %v", p, g, e, x, y, ratio(x, y), low.SecondOrder)
			}
		}
	})
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
