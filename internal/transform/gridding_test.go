package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGridding: columns by gridding are within their bounds of direct sums, and need that of the theorem.
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
			s, _ := secondOrderGrid(loss, weight, h, n, half, 1)
			bare, _ := secondOrderGrid(loss, weight, h, n, half, 0)
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
					worst = max(worst, d/(bare.err[k]+bound))
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

// TestGridsHaveAnEnd: a grid longer than mostGrid is not made.
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

// TestGridNextToWholePeriods: a loss of whole periods of the frequencies has a second difference that is next to nothing, and known.
func TestGridNextToWholePeriods(t *testing.T) {
	const n = 32000
	h := floor30(0.03)
	loss, weight := []float64{1e-6, 2 * math.Pi / h * (1 + 5e-9)}, []float64{1, 3e-5}
	s, ok := secondOrderGrid(loss, weight, h, n, gridHalf, 1)
	if !ok {
		t.Fatal("no grid")
	}
	for k := 1; k < n; k += 997 {
		var re, im, bound float64
		for j, w := range weight {
			sin, cos := math.Sincos(float64(k) * h * loss[j])
			half := math.Sin(float64(k) * h * loss[j] / 2)
			x := float64(k) * h * loss[j]
			re += -2 * w * half * half
			im += w * (sin - x)
			// The argument is off by u of itself, which moves both by as much times the sine.
			bound += w * (2*u*math.Abs(x)*(math.Abs(sin)+math.Abs(1-cos)+2*u*math.Abs(x)) + 8*u*math.Abs(x))
		}
		if d := math.Hypot(s.re[k]-re, s.im[k]-im); !(d <= s.err[k]+bound) {
			t.Fatalf("s_%d is off by %v, bound %v and %v", k, d, s.err[k], bound)
		}
	}
	if _, ok := secondOrderGrid([]float64{1e30}, []float64{1}, h, n, gridHalf, 1); ok {
		t.Error("a loss 1e28 periods away has a place in the grid")
	}
}

// TestRareJumpsKeepTheirDigits: where rare losses alone turn, what the grid adds is relative to their mass. Without the moments it
// was that of all.
func TestRareJumpsKeepTheirDigits(t *testing.T) {
	const n, rare = 512, 1e-9
	h := floor30(0.05)
	var loss, weight []float64
	for i := range 100 {
		loss, weight = append(loss, -1e-4*float64(i+1)/100), append(weight, 0.01)
	}
	for i := range 20 {
		loss, weight = append(loss, 0.5+float64(i)), append(weight, rare/20)
	}
	s, _ := secondOrderGrid(loss, weight, h, n, gridHalf, 1)
	whole, _ := secondOrderFast(loss, weight, h, n, gridHalf, 1)
	k := n - 1
	x := float64(k) * h
	var turned float64 // the size of what is summed: ΣW·min((tℓ)²/2, 2 + t|ℓ|)
	for j, w := range weight {
		y := x * math.Abs(loss[j])
		turned += w * min(y*y/2, 2+y)
	}
	if !(s.err[k] < 1e-12*turned) {
		t.Errorf("s_%d is known to %v of %v", k, s.err[k]/turned, turned)
	}
	if !(whole.err[k] > 20*s.err[k]) {
		t.Errorf("moments make %v of an error of %v", s.err[k], whole.err[k])
	}
	// The bound of the moments is needed: off by it at most, and by a thousandth of it at least, at the largest angle.
	worst := 0.0
	for seed := range 50 {
		m := moments{reach: 1}
		var re, im float64
		for i := range 7 {
			y := math.Mod(0.37*float64(i+1)*float64(seed+1), 1)
			m.add(1, y)
			a, b := oscillation(slowTurn * y)
			re, im = re-2*a, im+b
		}
		x, y, err := m.at(slowTurn)
		d := math.Hypot(x-re, y-im)
		worst = max(worst, d/err)
		if !(d <= err) {
			t.Errorf("moments are off by %v, bound %v", d, err)
		}
	}
	if !(worst > 1e-3) {
		t.Errorf("moments are off by %v of their bound at most", worst)
	}
}
