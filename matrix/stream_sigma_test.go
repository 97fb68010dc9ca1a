package matrix

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The noise of a stream is at least the noise multiplier times the clipping norm, as real numbers.
func TestStreamHasAllOfItsNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 100 {
		c := Config{NoiseMultiplier: 1 + r.Float64(), Steps: 1, Strategy: Identity(), Participation: Single()}
		clip := 0.1 + r.Float64()
		s, err := NewStream(c, clip, 1, r)
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Float).SetPrec(200).Mul(big.NewFloat(c.NoiseMultiplier), big.NewFloat(clip))
		if big.NewFloat(s.sigma).Cmp(want) < 0 {
			t.Fatalf("noise multiplier %v, clip %v: noise of %v, which is less than their product", c.NoiseMultiplier, clip, s.sigma)
		}
	}
}
