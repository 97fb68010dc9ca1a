package subsample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

// Corollary 1 for Laplace noise: centres on either side of the one that they are compared with lose no more than
// all on one side, as far out as they may be.
func TestCorollary1Laplace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	density := func(x float64) float64 { return math.Exp(-math.Abs(x)) / 2 }
	for range 200 {
		const copies = 4
		var w, d [copies]float64
		scale := math.Exp(2*r.Float64() - 1.5)
		for u := range d {
			w[u], d[u] = r.Float64(), scale*float64(u+1)*(2*r.Float64()-1)
		}
		q := 3 * r.Float64()
		side := func(centre func(u int) float64) float64 {
			return hockey(func(x float64) (sum float64) {
				for u, p := range w {
					sum += p * density(x-centre(u))
				}
				return sum
			}, density, q, -25, 25)
		}
		got, bound := side(func(u int) float64 { return d[u] }), side(func(u int) float64 { return scale * float64(u+1) })
		// The trapezoid rule with step 1/160 is off by step²/8 at each of five kinks of slope 2 at most.
		if got > bound+5e-5 {
			t.Errorf("weights %v, centres %v, q %v: %v, on one side %v", w, d, q, got, bound)
		}
	}
}

// Where all copies share one threshold the bound is the attack, for every scheme; with Theorem 5 ε was up to 7 times as
// large there. Below, at ε = 0, each copy is alone.
func TestLaplaceCopies(t *testing.T) {
	_, wr, ow, ww, _ := paperSetting()
	for _, c := range []struct {
		s     FixedSize
		delta float64
	}{{wr, 1e-5}, {ow, 1e-5}, {ww, 1e-5}, {must(NewMustWO(10000, 300, 200)), 1e-5}, {must(NewMustWW(1000, 100, 50)), 1e-5}} {
		for _, noise := range []float64{1, 4, 30} {
			d := ok(c.s.Apply(laplace(noise), profiles.Substitute)).Directions[0]
			var end [2]float64
			for i, p := range []profiles.Profile{d.Lower, d.Upper} {
				sum := fourier.New(fourier.DefaultOptions())
				if err := sum.Add(p, 1); err != nil {
					t.Fatal(err)
				}
				r := ok(sum.Epsilon(t.Context(), c.delta))
				end[i] = []float64{r.Lower, r.Upper}[i]
			}
			if !(end[0] > 0 && end[0] <= end[1] && end[1] <= end[0]*(1+1e-3)) {
				t.Errorf("%s, noise %v: the attack has %v, the bound %v", c.s.Name(), noise, end[0], end[1])
			}
			lo, five := deltaOf(d.Lower, 0), deltaOf(ok(c.s.Theorem5(laplace(noise))), 0)
			if up := deltaOf(d.Upper, 0); !(lo <= up && math.Abs(up-five) <= 1e-9*five) {
				t.Errorf("%s, noise %v at 0: attack %v, upper %v, Theorem 5 %v", c.s.Name(), noise, lo, up, five)
			}
		}
	}
}
