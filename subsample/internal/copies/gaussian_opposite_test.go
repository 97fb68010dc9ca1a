package copies

import (
	"math"
	"testing"
)

// must.md §8, check 14: sampling without replacement, the paper's pair: its closed
// form of the inverse loss, the stable one with asinh and our Newton iteration.
func TestInverseLossWithoutReplacement(t *testing.T) {
	for _, q := range []float64{1e-4, 0.02, 0.5, 0.99} {
		for _, sigma := range []float64{0.5, 1, 4} {
			s2 := sigma * sigma
			law := NewLaw([]float64{math.Log1p(-q), math.Log(q)}, make([]float64, 2), math.Inf(-1), q, math.Log1p(-q))
			p := NewGaussianOpposite(law, 2/sigma) // noise 1, centres ±1/σ
			loss := func(x float64) float64 {      // L at σx, must.md §4.1
				t := sigma * x
				side := func(t float64) float64 { return math.Log1p(q * math.Expm1((2*t-1)/(2*s2))) }
				return side(t) - side(-t)
			}
			for s := -20.0; s <= 20; s += 0.5 {
				asinh := sigma * (s/2 + math.Asinh((1-q)/q*math.Exp(1/(2*s2))*math.Sinh(s/2)))
				c := q * math.Exp(-1/(2*s2))
				d := math.Sqrt((1-q)*(1-q)*math.Expm1(s)*math.Expm1(s) + 4*c*c*math.Exp(s))
				closed := sigma * math.Log(((1-q)*math.Expm1(s)+d)/(2*c))
				got, _ := p.threshold(s, 0)
				if math.Abs(got-asinh) > 1e-12*(1+math.Abs(asinh)) {
					t.Errorf("q %v sigma %v: the loss is %v at %v, asinh says %v", q, sigma, s, got, asinh)
				}
				// For s < 0 the printed form is a difference of nearly equal numbers.
				if s >= 0 && math.Abs(closed-asinh) > 1e-12*(1+math.Abs(asinh)) {
					t.Errorf("q %v sigma %v: closed form %v, asinh %v at %v", q, sigma, closed, asinh, s)
				}
				if l := loss(got); math.Abs(l-s) > 2e-12*(1+math.Abs(s)) {
					t.Errorf("q %v sigma %v: L(g(%v)) = %v", q, sigma, s, l)
				}
				l, slope, _ := p.loss(got)
				const h = 1e-4
				if g := (loss(got+h) - loss(got-h)) / (2 * h); math.Abs(slope-g) > 1e-5*(1+g) || math.Abs(l-s) > 2e-12*(1+math.Abs(s)) {
					t.Errorf("q %v sigma %v: slope %v at %v, by differences %v", q, sigma, slope, s, g)
				}
			}
		}
	}
}

// Check 15: with many copies the loss of the paper's pair is odd, strictly
// increasing and finite, however far out.
func TestOppositeLossIsOddAndIncreasing(t *testing.T) {
	for name, law := range map[string]Law{"WR": WithReplacement(5000, 1000), "OW": MustOW(5000, 100, 1000), "WW": MustWW(5000, 100, 1000)} {
		p := NewGaussianOpposite(law, 2./4)
		last := math.Inf(-1)
		for _, x := range []float64{-1e4, -1e3, -100, -10, -1, -1e-3, 0, 1e-3, 1, 10, 100, 1e3, 1e4} {
			l, slope, _ := p.loss(x)
			if !(l > last) || math.IsInf(l, 0) || !(slope > 0) {
				t.Errorf("%s: loss %v with slope %v at %v, after %v", name, l, slope, x, last)
			}
			if back, _, _ := p.loss(-x); back != -l {
				t.Errorf("%s: loss %v at %v, %v at %v", name, l, x, back, -x)
			}
			last = l
		}
	}
}
