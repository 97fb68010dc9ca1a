package subsample

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/profiles"
)

// The closed form of k records against an iterate of the roc of one link in rationals, for the ratios
// 1/2, 1/3 and 100 : 101 of pure ε = log of their inverses: g∘…∘g and the divergences of its kinks.
func TestPureChainInRationals(t *testing.T) {
	for _, ratio := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 3), big.NewRat(100, 101)} {
		one := big.NewRat(1, 1)
		up := new(big.Rat).Inv(ratio) // e^ε
		g := func(x *big.Rat) *big.Rat {
			a := new(big.Rat).Mul(up, x)
			b := new(big.Rat).Sub(one, new(big.Rat).Mul(ratio, new(big.Rat).Sub(one, x)))
			if a.Cmp(b) < 0 {
				return a
			}
			return b
		}
		f, _ := ratio.Float64()
		eps := -math.Log(f)
		for _, k := range []int{1, 2, 3, 5, 12} {
			p, err := pureChain(eps, k)
			if err != nil {
				t.Fatal(err)
			}
			// Kinks of g^{∘k} are where some iterate is at the kink of g, x = 1/(1 + e^ε): walk back from it.
			kinks := []*big.Rat{new(big.Rat), one}
			inverse := func(y *big.Rat) *big.Rat {
				a := new(big.Rat).Mul(ratio, y)
				b := new(big.Rat).Sub(one, new(big.Rat).Mul(up, new(big.Rat).Sub(one, y)))
				if a.Cmp(b) > 0 {
					return a
				}
				return b
			}
			for x, i := new(big.Rat).Inv(new(big.Rat).Add(one, up)), 0; i < k; i++ {
				if x.Sign() >= 0 && x.Cmp(one) <= 0 {
					kinks = append(kinks, x)
				}
				x = inverse(x)
			}
			for m := -2 * k; m <= 2*k; m++ {
				a := float64(m) / 2 * eps
				alpha := new(big.Rat).SetFloat64(math.Exp(a))
				best := new(big.Rat)
				for _, x := range kinks {
					y := x
					for range k {
						y = g(y)
					}
					if d := new(big.Rat).Sub(y, new(big.Rat).Mul(alpha, x)); d.Cmp(best) > 0 {
						best = d
					}
				}
				want, _ := best.Float64()
				got, e := profiles.LogDelta(p, a)
				// e^a rounds, and so does ε itself: where δ is next to 0 that is all of it.
				if lo, hi := math.Exp(got-e), math.Exp(got+e); want < lo-1e-14 || want > hi+1e-14 {
					t.Errorf("ratio %v, k %d, δ(%v) in [%v, %v], in rationals %v", ratio, k, a, lo, hi, want)
				}
			}
		}
	}
}

// At the edges: ε of 0 and next to it, ε whose e^ε overflows with k, and the most records. Nothing is
// NaN, no mass is infinite, δ is never below that of fewer records, and is its limit.
func TestPureChainEdges(t *testing.T) {
	for _, eps := range []float64{0, 5e-324, 1e-300, 1e-17, 1e-9, 1, 90, 500} {
		b, err := profiles.NewPure(eps)
		if err != nil {
			t.Logf("ε = %v: %v", eps, err)
			continue
		}
		for _, k := range []int64{1, 2, 3, 1 << 10, noiserange.MaxRecords} {
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute, profiles.ZeroOut} {
				name := fmt.Sprint(eps, " ", k, " ", r)
				m, err := ofPersons(t.Context(), b, nil, r, k)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				for d, dir := range m.Directions {
					for _, at := range []float64{-1, 0, eps / 2, eps, eps * float64(k) * (1 - 1e-9)} {
						up, low := upLow(dir, at)
						// Total variation of k links: tanh(ε/4·…) is at most kε/2.
						most := math.Log(min(1, float64(k)*eps/2*(1+1e-9)) + 1e-322)
						if math.IsNaN(up) || math.IsNaN(low) || low > up+1e-9*(1+math.Abs(up)) || at == 0 && up > most+1e-6*math.Abs(most)+1e-9 && eps >= 1e-9 && eps < 1e-3 && k <= 1<<10 {
							t.Errorf("%s, direction %d: log δ(%v) in [%v, %v], at most %v", name, d, at, low, up, most)
						}
					}
				}
			}
		}
	}
}
