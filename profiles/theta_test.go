package profiles

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// θ of every vector is constant up to the bound (2), and with θ the masses (1)
func TestThetas(t *testing.T) {
	one := func(sigma float64) float64 { // log Σ e^{−k²/2σ²}
		var xs []float64
		for k := -int(40*sigma) - 3; k <= int(40*sigma)+3; k++ {
			xs = append(xs, -float64(k*k)/(2*sigma*sigma))
		}
		return xmath.LogSum(xs)
	}
	for _, c := range []struct {
		norm2 int
		sigma float64
	}{{4, 0.05}, {4, 0.69}, {4, 0.71}, {4, 2.5}, {9, 0.5}, {9, 3}, {16, 1}, {16, leastSigma(16)}, {25, 0.9}, {36, 0.8}, {64, 0.8}} {
		bound := thetaBound(c.norm2, c.sigma)
		sums := newPartialSums(c.sigma, c.norm2)
		count := 0
		sums.eachVector(func(parts []int) {
			count++
			g, d := gcdOf(parts), 0
			for _, n := range parts {
				d += n
			}
			theta := sums.theta(g)
			least, most := math.Inf(1), math.Inf(-1)
			for _, x := range theta {
				least, most = min(least, x), max(most, x)
			}
			if bound < 0.1 && most-least > 2.2*bound+1e-12 {
				t.Errorf("%v, σ %v: log θ of %v varies by %v, bound %v", c.norm2, c.sigma, parts, most-least, bound)
			}
			n := len(theta)
			sigma := c.sigma * math.Sqrt(float64(n))
			var all []float64
			for k := -int(40*sigma) - 3; k <= int(40*sigma)+3; k++ {
				all = append(all, -float64(k)*float64(k)/(2*sigma*sigma)+theta[((k%n)+n)%n])
			}
			if got, want := xmath.LogSum(all), float64(d)*one(c.sigma); math.Abs(got-want) > thetaListErr {
				t.Errorf("%v, σ %v: the masses of %v sum to e^%v, want e^%v", c.norm2, c.sigma, parts, got, want)
			}
		})
		if want := map[int]int{4: 2, 9: 4, 16: 8, 36: 43, 64: 220}[c.norm2]; want > 0 && count != want {
			t.Errorf("%d has %d sums of squares, want %d", c.norm2, count, want)
		}
	}
}
