package matrix

import (
	"math"
	"testing"
)

// separatedLaw returns the probability of every pattern of n steps, as bits, for a record that must
// stay away for the first so many steps and has the coin q.
func separatedLaw(n, b, first int, q float64) map[int]float64 {
	law := map[int]float64{}
	var walk func(t, pattern int, p float64)
	walk = func(t, pattern int, p float64) {
		if t >= n {
			law[pattern] += p
			return
		}
		walk(t+1, pattern, p*(1-q))
		walk(min(t+b, n), pattern|1<<t, p*q)
	}
	walk(min(first, n), 0, 1)
	return law
}

// slotSeries returns the first n probabilities of the gaps between slots less b, for κ: the numbers
// a_m·q/r of the proof, of which the series is (q/r)/(1 − (1−q)x + κx^b).
func slotSeries(n, b int, q, r, kappa float64) []float64 {
	a := make([]float64, n)
	a[0] = 1
	for m := 1; m < n; m++ {
		a[m] = (1 - q) * a[m-1]
		if m >= b {
			a[m] -= kappa * a[m-b]
		}
	}
	for m := range a {
		a[m] *= q / r
	}
	return a
}

// TestSlots: slots at least b apart, each used by a coin of rate r, have the patterns of b-min-sep:
// enumerated; gaps have no negative probability at slotRate's r, and some have at a κ that is 2 %
// larger.
func TestSlots(t *testing.T) {
	const n = 9
	for _, b := range []int{1, 2, 3, 5} {
		for _, q := range []float64{0.05, 0.3, 0.8} {
			r := slotRate(q, b)
			kappa := (1 - r) * q / r
			gaps := slotSeries(4000, b, q, r, kappa)
			total := 0.0
			for m, x := range gaps {
				if x < 0 {
					t.Errorf("b %d, q %v: gap %d has the probability %v", b, q, b+m, x)
				}
				total += x
			}
			if math.Abs(total-1) > 1e-9 {
				t.Errorf("b %d, q %v: gaps have the sum %v", b, q, total)
			}
			if b > 1 {
				negative := false
				for _, x := range slotSeries(4000, b, q, q/(q+1.02*kappa), 1.02*kappa) {
					negative = negative || x < 0
				}
				if !negative {
					t.Errorf("b %d, q %v: a lower rate would do", b, q)
				}
			}
			for first := range b {
				got := map[int]float64{}
				var walk func(from, pattern, least int, p float64)
				walk = func(from, pattern, least int, p float64) {
					left := p
					for m := 0; from+least+m < n; m++ {
						at := from + least + m
						left -= p * gaps[m]
						walk(at, pattern|1<<at, b, p*gaps[m]*r)
						walk(at, pattern, b, p*gaps[m]*(1-r))
					}
					got[pattern] += left
				}
				walk(0, 0, first, 1)
				for pattern, p := range separatedLaw(n, b, first, q) {
					if math.Abs(got[pattern]-p) > 1e-12 {
						t.Errorf("b %d, q %v, %d steps away: pattern %b has %v, want %v", b, q, first, pattern, got[pattern], p)
					}
				}
			}
		}
	}
	// The rounding of κ is outward.
	for _, b := range []int{2, 7, 100, 5000} {
		for _, q := range []float64{1e-300, 1e-9, 1e-3, 0.5, 1 - 0x1p-40} {
			kappa := math.Exp(float64(b)*math.Log1p(-q) + float64(b-1)*math.Log1p(-1/float64(b)) - math.Log(float64(b)))
			if r := slotRate(q, b); !(r >= q/(q+kappa)) || r > 1 || r > q/(q+kappa)*(1+1e-8) {
				t.Errorf("b %d, q %v: %v, want %v", b, q, r, q/(q+kappa))
			}
		}
	}
}
