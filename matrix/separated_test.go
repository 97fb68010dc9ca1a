package matrix

import (
	"math"
	"math/big"
	"math/rand/v2"
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
	// The rounding of κ is outward, against 300 bits; without the error terms some of these fail.
	big1 := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	power := func(x *big.Float, n int) *big.Float {
		out := big1(1)
		for ; n > 0; n /= 2 {
			if n%2 == 1 {
				out.Mul(out, x)
			}
			x = new(big.Float).SetPrec(300).Mul(x, x)
		}
		return out
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b, q := 2+rng.IntN(1<<rng.IntN(13)), math.Exp(-20*rng.Float64())
		x := big1(float64(b))
		kappa := power(new(big.Float).SetPrec(300).Sub(big1(1), big1(q)), b)
		kappa.Mul(kappa, power(new(big.Float).SetPrec(300).Quo(big1(float64(b-1)), x), b-1)).Quo(kappa, x)
		want := new(big.Float).SetPrec(300).Quo(big1(q), kappa.Add(kappa, big1(q)))
		r := big1(slotRate(q, b))
		if high := new(big.Float).SetPrec(300).Mul(want, big1(1+1e-11)); r.Cmp(want) < 0 && r.Cmp(big1(1)) < 0 || r.Cmp(high) > 0 {
			t.Errorf("b %d, q %v: %v, want %v", b, q, r, want)
		}
	}
}
