package logit

import (
	"math/rand/v2"
	"testing"
)

// A regression learns two labels that a line divides, noise keeps it from it, and the same
// seed trains the same teacher.
func TestTrain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var data []Image
	for range 200 {
		im := Image{make([]float64, Pixels+1), 0}
		im.X[3], im.X[Pixels] = rng.NormFloat64(), 1
		if im.X[3] > 0 {
			im.Label = 1
		}
		data = append(data, im)
	}
	right := func(noise float64) (n int) {
		m := Training{Steps: 30, Rate: 1, Clip: 1, Noise: noise}.Train(data, 2, rand.New(rand.NewPCG(5, 5)))
		for _, im := range data {
			if m.Label(im.X) == im.Label {
				n++
			}
		}
		return n
	}
	if first, again := right(1), right(1); first != again {
		t.Errorf("the same seed has %d right, then %d", first, again)
	}
	if right(0) < 190 || right(1) < 180 || right(1e4) == right(1) {
		t.Errorf("right of 200: %d without noise, %d with 1, %d with 10,000", right(0), right(1), right(1e4))
	}
}
