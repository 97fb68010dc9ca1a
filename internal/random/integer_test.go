package random

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPanjer: numbers have the masses that the ratios of neighbours say, by χ², also where the mode is at an end.
func TestPanjer(t *testing.T) {
	const draws = 40_000
	for i, c := range []struct {
		a, b        float64
		least, most int64
	}{
		{0.3, 0, 0, math.MaxInt64}, {1, 0, 0, math.MaxInt64}, {7.25, 0, 0, math.MaxInt64}, {400, 0, 0, math.MaxInt64}, // Poisson
		{1.5, 0.5, 1, math.MaxInt64}, {0.9, 0.9, 1, math.MaxInt64}, {0.25, 0.125, 1, math.MaxInt64}, {45, 0.9, 1, math.MaxInt64},
		{45, 0.9, 1, 100}, {3, 1, 1, 12}, {1, 1, 1, 9}, {7.25, 0, 9, 12}, {2, 0.5, 4, 4},
	} {
		src := rand.NewPCG(31, uint64(i))
		counts := map[int64]float64{}
		for range draws {
			k := Panjer(src, new(big.Rat).SetFloat64(c.a), new(big.Rat).SetFloat64(c.b), c.least, c.most)
			if k < c.least || k > c.most {
				t.Fatalf("%+v: drew %d", c, k)
			}
			counts[k]++
		}
		mass, total := []float64{1}, 1.0
		for k := c.least; k < c.most && k < c.least+3000; k++ {
			mass = append(mass, mass[k-c.least]*(c.a+c.b*float64(k))/float64(k+1))
			total += mass[k-c.least+1]
		}
		chi2, df := 0.0, -1.0
		for k, m := range mass {
			if e := draws * m / total; e > 10 {
				d := counts[c.least+int64(k)] - e
				chi2, df = chi2+d*d/e, df+1
			}
		}
		if limit := df + 5*math.Sqrt(2*max(df, 0)) + 15; chi2 > limit {
			t.Errorf("%+v: χ² = %v with %v degrees of freedom", c, chi2, df)
		}
	}
}

// TestPanjerExactly: where 64 bits do not decide, the rational number does. Of mean 3/2 the number below the mode is taken with
// probability ⅔, of which 0xAAAAAAAAAAAAAAAA are the first bits.
func TestPanjerExactly(t *testing.T) {
	const bits, mode = 0xAAAAAAAAAAAAAAAA, 1
	below := words64{[]uint64{0, 0, 0, bits, 0}}
	if k := Poisson(&below, big.NewRat(3, 2)); k != mode-1 {
		t.Errorf("taken: %d", k)
	}
	left := words64{[]uint64{0, 0, 0, bits, math.MaxUint64, 1 << 63, 0, 0, 0}}
	if k := Poisson(&left, big.NewRat(3, 2)); k != mode {
		t.Errorf("not taken: %d", k)
	}
}
