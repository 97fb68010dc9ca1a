package profiles

import (
	"math"
	"math/big"
	"testing"
)

// TestMassesOfManyOutcomes: 100,000 outcomes of three ratios are three masses, each as near as is stated to the sum of the
// probabilities themselves. Added one by one they were off by eight times that.
func TestMassesOfManyOutcomes(t *testing.T) {
	const n = 100000
	p, q := make([]float64, n), make([]float64, n)
	var sums [2]float64
	for i := range n {
		p[i], q[i] = [3]float64{3, 1, 1}[i%3], [3]float64{1, 3, 0}[i%3]
		sums[0] += p[i]
		sums[1] += q[i]
	}
	total, infinite, gain := new(big.Rat), new(big.Rat), new(big.Rat)
	exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for i := range n {
		p[i] /= sums[0]
		q[i] /= sums[1]
	}
	// Outcomes are alike, so that their sums are products.
	times := func(x float64, i int64) *big.Rat { return exact(0).Mul(exact(x), big.NewRat((n+2-i)/3, 1)) }
	totalQ := new(big.Rat)
	for i := range int64(3) {
		total.Add(total, times(p[i], i))
		totalQ.Add(totalQ, times(q[i], i))
	}
	infinite.Quo(times(p[2], 2), total)
	gain.Sub(exact(0).Quo(times(p[0], 0), total), exact(0).Quo(times(q[0], 0), totalQ)).Add(gain, infinite)

	d, err := NewFinite(p, q)
	if err != nil {
		t.Fatal(err)
	}
	logInf := d.Support().LogPInf
	for _, c := range []struct {
		name     string
		log, err float64
		want     *big.Rat
	}{
		{"the mass of an infinite loss", logInf, d.MassErr() * (1 + math.Abs(logInf)), infinite},
		{"δ(0)", first(LogDelta(d, 0)), second(LogDelta(d, 0)), gain},
	} {
		want, _ := c.want.Float64()
		if off := math.Abs(math.Exp(c.log)/want - 1); off > c.err+2e-16 {
			t.Errorf("%s is off by %v, stated are %v", c.name, off, c.err)
		}
	}
}

func first(x, _ float64) float64  { return x }
func second(_, x float64) float64 { return x }
