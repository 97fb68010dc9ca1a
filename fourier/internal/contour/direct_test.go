package contour

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/pld"
)

// Direct summation against the FFT: the same readings within both bounds, and a
// smaller bound at many runs.
func TestDirectAgainstFFT(t *testing.T) {
	for _, c := range []struct {
		rate, sigma, theta, eps float64
		runs                    float64
		grid                    [4]float64
		n                       int
	}{
		{0.01, 1, 6, 1.8, 1000, [4]float64{0, 1e-3, -11, 3000}, 16384},
		{1e-4, 1, 12, 6.6, 1e8, [4]float64{0, 1e-5, -11, 40000}, 1 << 21},
	} {
		up, _ := pld.Discretize(dpsgd(t, c.rate, c.sigma), pld.Uniform(0, c.grid[1], int64(c.grid[2]), int64(c.grid[3])))
		comp := newComposition(t, law(up, int64(c.runs)))
		comp.Fold(c.grid[1], 1<<23, Gonum{})
		f, d := &folded{theta: c.theta, step: c.grid[1], n: int64(c.n)}, &folded{theta: c.theta, step: c.grid[1], n: int64(c.n)}
		work := 1e9
		if !f.multiply(t.Context(), f.tilt(comp.factors), Gonum{}) || !d.direct(t.Context(), d.tilt(comp.factors), &work) {
			t.Fatalf("T=%g: no composition", c.runs)
		}
		f.finish()
		d.finish()
		for _, e := range []float64{c.eps * 0.97, c.eps, c.eps * 1.03} {
			x, _ := f.at(e)
			y, _ := d.at(e)
			wrongX, wrongY := x.quad+x.round+x.tail, y.quad+y.round+y.tail
			if diff := math.Abs(x.s - y.s); diff > wrongX+wrongY {
				t.Errorf("T=%g ε=%v: %v and %v differ by %g, above %g + %g", c.runs, e, x.s, y.s, diff, wrongX, wrongY)
			}
			if wrongY > wrongX {
				t.Errorf("T=%g ε=%v: direct summation certifies %g, the FFT %g", c.runs, e, wrongY, wrongX)
			}
		}
	}
}

// go-dsp and gonum give the same readings within what both certify for their transform.
func TestReadingsOfTwoTransforms(t *testing.T) {
	// Readings of one composition with the same length.
	up, lo := goldenLaws(t)
	for _, factors := range [][]Factor{{law(up, 1000)}, {law(lo, 1000)}, {law(up, 300), law(lo, 20)}} {
		for _, e := range []float64{0.5, 1, 1.8, 2.5} {
			x := foldTable(t, 5, 1<<14, Gonum{}, 1, factors...).read(e, &unscaled)
			y := foldTable(t, 5, 1<<14, godsp.Transform, 1, factors...).read(e, &unscaled)
			if x.low > y.high || y.low > x.high || math.Abs(x.mid-y.mid) > x.quadrature+x.rounding+y.quadrature+y.rounding {
				t.Errorf("ε=%v: %v and %v", e, x, y)
			}
		}
	}
}

// Readings are continuous where ε passes a lattice point.
func TestEdgeLatticePoint(t *testing.T) {
	up, _ := goldenLaws(t)
	c := foldTable(t, 6, 16384, Gonum{}, 1, law(up, 1000)).folded
	for _, e := range []float64{0.5, 1, 1.8, 2.048} {
		at, _ := c.at(e)
		for _, x := range []float64{math.Nextafter(e, -1), math.Nextafter(e, 9)} {
			// One ulp moves log δ by θ·u·ε ~ 1e-15; core.md §9.5 asks for 1e-12.
			to, _ := c.at(x)
			if j := math.Abs(to.s/at.s*math.Exp(6*(e-x)) - 1); j > 1e-12 {
				t.Errorf("S jumps by %g at ε=%v", j, e)
			}
		}
	}
}
