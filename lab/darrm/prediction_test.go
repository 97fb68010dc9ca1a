package main

import (
	"math"
	"testing"
)

func TestGoldenGNMax(t *testing.T) {
	// §7.2, the continuous optimum at m = 3, and the grid's σ, which is a little
	// above the optimum, for the others.
	for _, c := range []struct{ eps, delta, sigma, order float64 }{
		{0.2676, 0.0003, 21.460450190937, 62.1217134168},
		{0.2556, 0.0003, 22.459870812842, 64.9681728476},
	} {
		s, o := gnmaxNoise(c.eps, c.delta)
		if math.Abs(s/c.sigma-1) > 1e-12 || math.Abs(o/c.order-1) > 1e-11 {
			t.Errorf("σ = %v, λ = %v, want %v, %v", s, o, c.sigma, c.order)
		}
	}
	for _, c := range []struct{ m, mnist, fashion float64 }{{1, 68.21046312, 71.40509139}, {3, 21.46055283, 22.4600175}, {5, 12.54188907, 13.12255375}, {7, 8.814925476, 9.220496613}} {
		for i, grid := range []float64{c.mnist, c.fashion} {
			s, _ := gnmaxNoise(c.m*[]float64{0.0892, 0.0852}[i], c.m*1e-4)
			if !(s <= grid && s > grid*(1-1e-4)) {
				t.Errorf("m=%g: σ = %v, want just below the grid's %v", c.m, s, grid)
			}
		}
	}
	for i, want := range []float64{0.5454, 0.6415, 0.7324, 0.8112} {
		m := float64(2*i + 1)
		s, _ := gnmaxNoise(m*0.0892, m*1e-4)
		if a := gnmaxAccuracy(11, s); math.Abs(a-want) > 5.1e-5 {
			t.Errorf("m=%g: accuracy %v, want %v", m, a, want)
		}
	}
}

// TestGNMaxNoiseByScan: no order, of a fine list, makes less noise enough, and the noise is enough for the counts of votes
// themselves, which move by √2: the Gaussian profile of Balle and Wang, which knows no orders.
func TestGNMaxNoiseByScan(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, eps := range []float64{0.01, 0.3, 2, 20} {
		for _, delta := range []float64{1e-12, 1e-5, 0.1} {
			sigma, order := gnmaxNoise(eps, delta)
			cost := func(order float64) float64 { return order/(sigma*sigma) - math.Log(delta)/(order-1) }
			if math.Abs(cost(order)/eps-1) > 1e-12 {
				t.Errorf("ε = %v, δ = %v: σ = %v costs %v at its order %v", eps, delta, sigma, cost(order), order)
			}
			for x := 1.01; x < 1e5; x *= 1.01 {
				if cost(x) < eps*(1-1e-12) {
					t.Fatalf("ε = %v, δ = %v: order %v has %v, less than that of %v", eps, delta, x, cost(x), order)
				}
			}
			mu := math.Sqrt2 / sigma
			if d := phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu); d > delta {
				t.Errorf("ε = %v, δ = %v: σ = %v has δ = %v", eps, delta, sigma, d)
			}
		}
	}
}
