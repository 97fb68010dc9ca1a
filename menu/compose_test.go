package menu

import (
	"context"
	"math"
	"math/big"
	"testing"
)

// TestInfiniteRunsAreRoundedUp: runs whose losses are all infinite, which a law has with mass m, have m^n.
func TestInfiniteRunsAreRoundedUp(t *testing.T) {
	for i := range 50 {
		m, n := 1-float64(i+1)/1024/3, 3+i
		p := part{law: &law{mass: []float64{0}, inf: m}, count: float64(n), k: math.Inf(-1)}
		l, err := maker{step: 0.1}.compose(context.Background(), []part{p}, 0.1, true)
		if err != nil {
			t.Fatal(err)
		}
		want := big.NewFloat(1).SetPrec(4000)
		for range n {
			want.Mul(want, big.NewFloat(m))
		}
		if new(big.Float).SetPrec(4000).SetFloat64(l.inf).Cmp(want) < 0 {
			t.Errorf("%d runs with mass %v at an infinite loss have %v, below m^n", n, m, l.inf)
		}
	}
}
