package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// The noise of a private teacher is no less, and hardly more, than its guarantee takes.
func TestMultiplier(t *testing.T) {
	const steps = 10
	sigma, err := multiplier(privateEpsilon, privateDelta, steps)
	if err != nil {
		t.Fatal(err)
	}
	for scale, private := range map[float64]bool{1: true, .999: false} {
		g, err := profiles.NewGaussian(sigma * scale / math.Sqrt(steps))
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := profiles.LogDelta(g, privateEpsilon); (d <= math.Log(privateDelta)) != private {
			t.Errorf("σ = %v·%v: δ = %v", sigma, scale, math.Exp(d))
		}
	}
}

// A regression learns two labels that a line divides, noise keeps it from it, and the same
// seed trains the same teacher.
func TestTrain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var data []image
	for range 200 {
		im := image{x: make([]float64, 50)}
		im.x[3], im.x[49] = rng.NormFloat64(), 1
		if im.x[3] > 0 {
			im.label = 1
		}
		data = append(data, im)
	}
	right := func(noise float64) (n int) {
		m := train(data, 2, 30, 1, noise, rand.New(rand.NewPCG(5, 5)))
		for _, im := range data {
			if m.label(im.x) == im.label {
				n++
			}
		}
		return n
	}
	if right(0) < 190 || right(1) < 180 || right(0) != right(0) || right(1) != right(1) || right(1e4) == right(1) {
		t.Errorf("right of 200: %d without noise, %d with 1, %d with 10,000", right(0), right(1), right(1e4))
	}
}
