package darrm

import (
	"math"
	"math/big"
	"testing"
)

// composed returns δ at ε = num of k runs of the worst mechanism that is (ε, δ)-DP (Kairouz, Oh and Viswanath, Theorem
// 3.3): with e^ε and all else as 300-bit numbers, 1 − (1−δ)^k(1 − Σ_j C(k, j)(e^{jε} − e^{ε'+(k−j)ε})₊/(1 + e^ε)^k).
func composed(epsilon, delta float64, k int, at float64) *big.Float {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	// e^x by its series at x/2^64, squared 64 times.
	exp := func(x *big.Float) *big.Float {
		y := new(big.Float).SetMantExp(x, -64)
		sum, term := num(1), num(1)
		for i := 1; i < 12; i++ {
			term.Mul(term, y).Quo(term, num(float64(i)))
			sum.Add(sum, term)
		}
		for range 64 {
			sum.Mul(sum, sum)
		}
		return sum
	}
	sum, all, e, most := num(0), num(1), exp(num(epsilon)), exp(num(at))
	powers := []*big.Float{num(1)}
	for j := range k {
		powers = append(powers, new(big.Float).Mul(powers[j], e))
	}
	for j := range k + 1 {
		a := new(big.Float).Sub(powers[j], new(big.Float).Mul(most, powers[k-j]))
		if a.Sign() > 0 {
			ways := new(big.Float).SetPrec(300).SetInt(new(big.Int).Binomial(int64(k), int64(j)))
			sum.Add(sum, a.Mul(a, ways))
		}
	}
	for range k {
		sum.Quo(sum, new(big.Float).Add(num(1), e))
		all.Mul(all, new(big.Float).Sub(num(1), num(delta)))
	}
	return new(big.Float).Sub(num(1), all.Mul(all, sum.Sub(num(1), sum)))
}

// TestGeneralCompositionIsAbove: what is returned covers the exact composition of the worst mechanism, to the last bit, also
// where hardly any slack is left.
func TestGeneralCompositionIsAbove(t *testing.T) {
	for _, epsilon := range []float64{0, 0.01, 0.1, 0.3, 1, 2.7} {
		for _, delta := range []float64{0, 1e-20, 1e-5, 0.1, 0.5, 0.7} {
			for _, k := range []int{1, 2, 3, 7, 40} {
				for _, slack := range []float64{1e-300, 1e-6, 0.2} {
					eps, got, err := GeneralComposition(epsilon, delta, k, slack)
					if err != nil {
						t.Fatal(err)
					}
					truth := composed(epsilon, delta, k, eps)
					if new(big.Float).SetFloat64(got).Cmp(truth) < 0 {
						t.Errorf("%d runs of (%v, %v), slack %v: (%v, %v), but the worst mechanism has δ = %v", k, epsilon, delta, slack, eps, got, truth.Text('g', 25))
					}
					// At the ε of advanced composition the slack is not all used, but a hundredth is for many runs.
					if k == 40 && epsilon == 0.1 && delta == 0 && slack == 0.2 {
						if d, _ := truth.Float64(); d < slack/100 || math.IsNaN(d) {
							t.Errorf("the worst mechanism has %v of a slack of %v: this test could hardly fail", d, slack)
						}
					}
				}
			}
		}
	}
}
