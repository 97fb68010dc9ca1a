package transform

import (
	"math"
	"math/cmplx"
	"testing"
)

// The angle of Floor + jump·e^{iy} falls again beyond cos y = −jump/Floor: a bound of the
// quadrature error that takes it at the top of the ellipse is up to 90 times too small here.
func TestPanelsOfTurningLosses(t *testing.T) {
	const theta, freq = 0.1, 1000
	x, w := legendre(32)
	for _, m := range []float64{1, 3, 6} {
		for _, q := range []float64{0.1, 0.01, 1e-3} {
			for _, reversed := range []bool{false, true} {
				law := NewSampledLaplace([]LaplaceItem{{M: m}}, 0, q, 0)
				if reversed {
					law = law.reversed()
				}
				r := newRule(law, theta, freq, false)
				r.logTol = math.Log(1e-9)
				if err := r.fine(t.Context(), 1<<20); err != nil {
					t.Fatal(err)
				}
				for _, p := range r.panels {
					var got, want complex128
					for _, n := range r.nodes[p.from:p.to] {
						got += cmplx.Rect(math.Exp(n.logF(theta)), freq*n.loss)
					}
					// 400 parts of 32 nodes: less than half a radian each.
					piece := &law.pieces[p.piece]
					for k := range 400 {
						h := (p.v1 - p.v0) / 800
						for j := range x {
							v := p.v0 + h*(2*float64(k)+1+x[j])
							l, _ := piece.logRatio(v, 0)
							logP := math.Log(h*w[j]) + piece.LogWeight - 2*math.Ln2 - v/2
							if piece.Reversed {
								l = -l
							} else {
								logP += l
							}
							want += cmplx.Rect(math.Exp(logP+theta*l), freq*l)
						}
					}
					if e := cmplx.Abs(got - want); !(e <= math.Exp(p.quadrature)+1e-13) {
						t.Errorf("m %v q %v reversed %v [%v, %v], %d nodes: error %v, bound %v", m, q, reversed, p.v0, p.v1, p.to-p.from, e, math.Exp(p.quadrature))
					}
				}
			}
		}
	}
	for _, x := range []float64{0, 0.3, 1, 1.5, 8} {
		for _, y := range []float64{0.2, 1.6, 2.3, 2.9, 3.1} {
			bound := widestArg(x, y)
			for i := range 101 {
				r, phi := float64(i%11)/10, y*float64(i/11)/9
				if arg := cmplx.Phase(complex(x, 0) + cmplx.Rect(r, phi)); r > 0 && arg > bound+1e-14 {
					t.Errorf("x %v y %v: arg %v at %v, %v above %v", x, y, arg, r, phi, bound)
				}
			}
		}
	}
}
