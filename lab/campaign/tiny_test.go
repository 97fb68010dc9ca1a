package campaign

import (
	"math"
	"testing"
)

// TestTailsOfTheObserver: far out, where e^ε is large, intervals keep their digits.
func TestTailsOfTheObserver(t *testing.T) {
	const sigma, n = 0.6, 100
	o := newObserver(false, sigma, 1, n)
	for shift := -1; shift <= 1; shift++ {
		for i, x := range map[int]float64{0: 1 + 12*sigma + float64(shift), n + 1: 1 + 12*sigma - float64(shift)} {
			if got, want := o.cells[shift+1][i], math.Erfc(x/(sigma*math.Sqrt2))/2; !(math.Abs(got/want-1) < 1e-9) {
				t.Errorf("shift %d, interval %d: %v, want %v", shift, i, got, want)
			}
		}
	}
}
