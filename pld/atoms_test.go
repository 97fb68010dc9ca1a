package pld_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// TestRandomAtomsAreBounded: laws of profiles with many irregular atoms bound them
// from both sides, however fast the masses fall.
func TestRandomAtomsAreBounded(t *testing.T) {
	rounds := 6
	if slow.On() {
		rounds = 20
	}
	if slow.All() {
		rounds = 60
	}
	for n := range rounds {
		rng := rand.New(rand.NewPCG(11, uint64(n)))
		k := 2 + rng.IntN(80)
		p, q := make([]float64, k), make([]float64, k)
		fall := 8 * rng.Float64()
		for i := range p {
			p[i] = math.Exp(-fall * rng.Float64() * float64(i))
			q[i] = p[i] * math.Exp(3*rng.NormFloat64()*rng.Float64())
		}
		norm := func(x []float64) {
			s := 0.0
			for _, v := range x {
				s += v
			}
			for i := range x {
				x[i] /= s
			}
		}
		norm(p)
		norm(q)
		d, err := profiles.NewFinite(p, q)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := pld.Range(d, -2000, -60)
		if !(lo < hi) {
			continue
		}
		for _, parts := range []float64{1.3, 7, 60, 1e3, 1e5} {
			step := (hi - lo) / parts
			g := pld.Uniform(lo-step*rng.Float64(), step, -1, int64(parts)+2)
			up, low := pld.Discretize(d, g)
			u, l := newReader(up), newReader(low)
			for range 100 {
				e := lo + (hi-lo)*(1.1*rng.Float64()-0.05)
				want, rel := profiles.LogDelta(d, e)
				if math.IsInf(want, -1) {
					continue
				}
				truth := exp2u(want)
				if rel > 1 {
					continue
				}
				slack := hp(1 + math.Expm1(rel) + 4*0x1p-53)
				if x := hp(0).Mul(u.at(e-up.LossErr), slack); x.Cmp(truth) < 0 {
					t.Fatalf("%d, %v parts: upper δ(%v) = %.20g below %.20g", n, parts, e, x, truth)
				}
				if x, y := l.at(e+low.LossErr), hp(0).Mul(truth, slack); x.Cmp(y) > 0 {
					t.Fatalf("%d, %v parts: lower δ(%v) = %.20g above %.20g (%.3g of it)", n, parts, e, x, y, ratio(x, y))
				}
			}
		}
	}
}
