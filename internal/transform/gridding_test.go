package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Columns by gridding are within their bounds of direct sums, and need each of the bounds.
func TestGridding(t *testing.T) {
	for _, half := range []int{gridHalf, 6} {
		var worst float64
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			nodes, n := 1+r.IntN(200), 2+r.IntN(400)
			spread := math.Exp(8 - 16*r.Float64())
			loss, weight := make([]float64, nodes), make([]float64, nodes)
			for j := range loss {
				loss[j] = spread * r.NormFloat64() * math.Exp(-6*r.Float64())
				weight[j] = math.Exp(-20 * r.Float64())
			}
			h := floor30(math.Exp(-3*r.Float64()) / spread)
			s := secondOrderGrid(loss, weight, h, n, half, 1)
			without := secondOrderGrid(loss, weight, h, n, half, 0).err
			for k := range n {
				var re, im, bound, off, c2, c1 float64
				for j, w := range weight {
					a, b := oscillation(float64(k) * h * loss[j])
					x, y := -2*w*a, w*b
					off = x - c2
					z := re + off
					c2, re = (z-re)-off, z
					off = y - c1
					z = im + off
					c1, im = (z-im)-off, z
					bound += 12 * u * (w*a + math.Abs(w*b))
				}
				d := math.Hypot(s.re[k]-re, s.im[k]-im)
				if !(d <= s.err[k]+bound) {
					t.Fatalf("half %d seed %d: s_%d of %d is off by %v, bound %v", half, seed, k, n, d, s.err[k])
				}
				if k > 0 {
					worst = max(worst, d/(without[k]+bound))
				}
			}
		}
		t.Logf("half %d: errors up to %.3g of the bound without the theorem's", half, worst)
		if half == 6 && !(worst > 10) {
			t.Errorf("without the bound of the theorem the error is at most %v times the rest", worst)
		}
	}
}

func floor30(x float64) float64 {
	f, e := math.Frexp(x)
	return math.Ldexp(math.Floor(f*(1<<30)), e-30)
}

// TestGridsHaveAnEnd: a grid longer than its transform may be is not made.
func TestGridsHaveAnEnd(t *testing.T) {
	const most = mostGrid / (2 * gridOver)
	if x := gridTerms(10, most); math.IsInf(x, 1) || gridLength(most) != mostGrid {
		t.Errorf("%d frequencies cost %v on %d points", most, x, gridLength(most))
	}
	for _, n := range []int{most + 1, 1 << 23, 1 << 40} {
		if x := gridTerms(1<<18, n); !math.IsInf(x, 1) {
			t.Errorf("%d frequencies cost %v", n, x)
		}
		if x := ColumnTerms(1<<18, float64(n)); x != float64(n)*(1<<18) {
			t.Errorf("%d frequencies cost %v by the cheaper way", n, x)
		}
	}
}
