package selection

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestComposedIsRoundedUp: just below the largest loss, n·ε, a δ is P(n)·(1 − e^{ε′−nε}). Where the product n·ε is
// rounded down by nearly half a unit, and the search ends next to the answer, ε′ was below it.
func TestComposedIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	tried := 0
	for range 20_000 {
		n := 3 + 2*rng.IntN(20)
		eps := 1 / float64(n) * (1 + 0.01*rng.Float64())
		product := float64(n) * eps
		if off := math.FMA(float64(n), eps, -product); !(off > 0.48*0x1p-52) { // of the largest of 0.5 units
			continue
		}
		tried++
		for _, top := range []float64{product * (1 + 1e-15), xmath.RoundUp(product, 8)} {
			mid := top - top*0x1p-30
			delta := responses(n, eps, mid)
			got := must(composed(n, eps, delta))
			left := math.FMA(float64(n), eps, -got) // exactly
			if reached := math.Exp(-float64(n)*math.Log1p(math.Exp(-eps))) * -math.Expm1(-left); reached > delta*(1+1e-12) {
				t.Fatalf("%d responses at %v reach δ(%v) = %v, above %v", n, eps, got, reached, delta)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d products are rounded far down", tried)
	}
}
