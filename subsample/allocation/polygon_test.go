package allocation

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// TestPolygons: erratum A7. Laws from intervals of a symmetric profile at any points stay above
// and below it everywhere, between the points and beyond the last, on both sides of 1.
func TestPolygons(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		g := must(profiles.NewGaussian(math.Exp(r.NormFloat64())))
		h := func(eps float64) float64 {
			d, _ := profiles.LogDelta(g, eps)
			return math.Exp(d)
		}
		width := []float64{0, 1e-6, 1e-3, 0.05}[r.IntN(4)]
		var ks []known
		for eps := 0.0; len(ks) < 3+r.IntN(8); eps += r.Float64() / g.NoiseMultiplier() {
			k := known{eps, h(eps) * (1 - width*r.Float64()), min(1, h(eps)*(1+width*r.Float64()))}
			ks = append(ks, k)
		}
		ks = falling(ks)
		up, low := must(above(ks)), must(below(ks))
		last := ks[len(ks)-1].eps
		for i := range 401 {
			eps := (float64(i)/200 - 1) * (last + 1)
			want := h(eps)
			a, _ := profiles.LogDelta(up, eps)
			b, e := profiles.LogDelta(low, eps)
			if math.IsInf(e, 1) {
				b = math.Inf(-1)
			}
			if math.Exp(a) < want-1e-13 || math.Exp(b) > want+1e-13 {
				t.Fatalf("σ = %v, width %v, points %v: at ε = %v the laws have [%v, %v], h = %v", g.NoiseMultiplier(), width, ks, eps, math.Exp(b), math.Exp(a), want)
			}
		}
	}
}

// TestBeneathIsBelowItsLines: a vertex between two points is below both lines through them, also by what rounding adds: in
// 320 bits.
func TestBeneathIsBelowItsLines(t *testing.T) {
	g := must(profiles.NewGaussian(1))
	h := func(eps float64) float64 {
		d, _ := profiles.LogDelta(g, eps)
		return math.Exp(d)
	}
	expm1 := func(x *big.Float) *big.Float { return oracle.Sub(oracle.Exp(x), oracle.F(1)) }
	// line is that of beneath, exactly: through (a, up) and (b, low), linear in e^ε.
	line := func(a, b known, eps float64) *big.Float {
		w := expm1(oracle.Sub(oracle.F(a.eps), oracle.F(b.eps)))
		slope := oracle.Div(oracle.Sub(oracle.F(a.up), oracle.F(b.low)), w)
		return oracle.Add(oracle.F(b.low), oracle.Mul(slope, expm1(oracle.Sub(oracle.F(eps), oracle.F(b.eps)))))
	}
	r, checked := rand.New(rand.NewPCG(3, 3)), 0
	for range 40 {
		var ks []known
		for eps := 0.0; len(ks) < 8; eps += 0.1 + 0.3*r.Float64() {
			ks = append(ks, known{eps, h(eps), h(eps)})
		}
		for _, v := range beneath(ks) {
			for i := 1; i+2 < len(ks); i++ {
				if ks[i].eps < v.eps && v.eps < ks[i+1].eps {
					checked++
					if a, b := line(ks[i-1], ks[i], v.eps), line(ks[i+2], ks[i+1], v.eps); oracle.F(v.h).Cmp(a) > 0 || oracle.F(v.h).Cmp(b) > 0 {
						t.Fatalf("the vertex %v is above its lines, %.20g and %.20g", v, a, b)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d vertices between points: little was tested", checked)
	}
}
