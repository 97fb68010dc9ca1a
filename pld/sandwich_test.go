package pld_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// lawDelta is log h of a law at ε.
func lawDelta(l *pld.Law, eps float64) float64 {
	xs := []float64{l.LogPInf}
	for i, x := range l.Loss {
		if x > eps {
			xs = append(xs, l.LogMass[i]+xmath.Log1mExp(eps-x))
		}
	}
	return xmath.LogSum(xs)
}

// The upper law and the coarse law are above the profile and the lower law below
// it, between and at the vertices, on full and on thinned grids, resolved or not.
// What the test may overlook is the error of the profile's own δ and of the sum:
// n masses, each with the rounding of its logarithm (|log| ≤ 700), 1e-13 at most.
func TestLawsEncloseTheProfile(t *testing.T) {
	must := func(p profiles.Profile, err error) profiles.Profile {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	gauss := func(sigma float64) profiles.Profile { p, err := profiles.NewGaussian(sigma); return must(p, err) }
	laplace := func(b float64) profiles.Profile { p, err := profiles.NewLaplace(b); return must(p, err) }
	poisson := func(p profiles.Profile, rate float64) profiles.Profile {
		return must(subsample.PoissonProfile(p, rate))
	}
	mixed := func(b profiles.Mechanism, err error) profiles.Profile {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := b.(interface {
			SubstituteMixture(float64) (profiles.Profile, bool, error)
		}).SubstituteMixture(0.3)
		return must(p, err)
	}
	rev := profiles.Reverse
	for name, p := range map[string]profiles.Profile{
		"gaussian 1": gauss(1), "gaussian 0.1": gauss(0.1), "gaussian 100": gauss(100),
		"laplace 0.05": laplace(0.05), "laplace 2": laplace(2),
		"poisson": poisson(gauss(1), 0.01), "poisson add": rev(poisson(gauss(1), 0.01)),
		"poisson 0.1": poisson(gauss(0.1), 0.5), "poisson 0.1 add": rev(poisson(gauss(0.1), 0.5)),
		"poisson 0.05": poisson(gauss(0.05), 1e-3), "poisson 0.05 add": rev(poisson(gauss(0.05), 1e-3)),
		"rate near 1": poisson(gauss(0.3), 0.999999), "rate near 1 add": rev(poisson(gauss(0.3), 0.999999)),
		"rate near 0": poisson(gauss(1), 1e-8), "sampled laplace": poisson(laplace(0.05), 0.01),
		"envelope": must(subsample.Envelope(gauss(0.5), 0.01)), "envelope laplace": must(subsample.Envelope(laplace(0.5), 0.01)),
		"gaussian ±1": mixed(profiles.NewGaussianMechanism(0.1)), "laplace ±1": mixed(profiles.NewLaplaceMechanism(0.5)),
	} {
		coarse := pld.Coarse(p, -300, -50, 0.5, nil)
		lo, hi := pld.Range(p, -300, -50)
		sup := p.Support()
		for _, n := range []float64{40, 300.5, 1500} {
			step := (hi - lo) / n
			if step > 0.5 {
				continue
			}
			offset := 0.0
			if len(sup.Atoms) > 0 {
				offset = sup.Atoms[0]
			} else if !math.IsNaN(sup.Spike) {
				offset = pld.SpikeOffset(p, step)
			}
			g := pld.Uniform(offset, step, int64(math.Floor((lo-offset)/step+1e-9)), int64(math.Ceil((hi-offset)/step-1e-9)))
			g.Hi = max(g.Hi, g.Lo+2)
			for _, share := range []float64{0, 1e-3} {
				g.Share, g.Tilt = share, min(5, 20/step)
				g.LogNorm, _, _ = coarse.Tilted(g.Tilt)
				up, low := pld.Discretize(p, g)
				seen := 0
				for i := range 160 {
					eps := lo - step + (hi-lo+2*step)*math.Mod(float64(i)*0.6180339887498949, 1)
					switch { // at vertices and next to them; towards the lower end
					case i < 60:
						eps = offset + step*float64(g.Lo+(g.Hi-g.Lo)*int64(i)/60)
						if i%2 == 1 {
							eps = math.Nextafter(eps, math.Inf(1))
						}
					case i > 120:
						eps = lo + step*math.Exp2(float64(120-i))
					}
					h, e := profiles.LogDelta(p, eps)
					if math.IsInf(h, -1) || math.IsInf(e, 1) {
						continue
					}
					seen++
					slope := math.Exp(eps + p.Tails(eps, 0).Q - h) // −d log δ/dε
					tol := e + 1e-14*(10+math.Abs(h))
					for _, l := range []*pld.Law{up, coarse} {
						if v := lawDelta(l, eps); v < h-tol-l.LossErr*slope {
							t.Errorf("%s, n=%v, share=%v: at ε=%.17g log δ = %.17g is above the upper law's %.17g", name, n, share, eps, h, v)
						}
					}
					if v := lawDelta(low, eps); v > h+tol+low.LossErr*slope {
						t.Errorf("%s, n=%v, share=%v: at ε=%.17g log δ = %.17g is below the lower law's %.17g", name, n, share, eps, h, v)
					}
				}
				if seen < 60 {
					t.Errorf("%s, n=%v: only %d of 160 points compared", name, n, seen)
				}
			}
		}
	}
}
