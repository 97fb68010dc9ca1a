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
