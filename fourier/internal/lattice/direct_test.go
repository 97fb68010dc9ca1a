package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/godsp"
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
		s := runs(dpsgd(t, c.rate, c.sigma), int64(c.runs))
		coarse := s.coarse(nil, -13, 1e-3)
		theta := coarse.saddle(c.eps, 1)
		p := asking(t, s, 1e-3).newTarget(coarse, c.eps, -13, theta, 1e-2)
		k, _, _ := coarse.terms[0].law.Tilted(theta)
		l, err := s.lawsAt(nil, s.entries[0], ladder(s.step(p, 1)), p, -13-30-math.Log(c.runs), k)
		if err != nil {
			t.Fatal(err)
		}
		terms := []term{{l.upper, c.runs, nil}}
		f := compose(nil, terms, theta, c.n, Gonum{}, []float64{theta / 4})
		d, _ := composeDirect(nil, terms, theta, int64(c.n), []float64{theta / 4}, 1e9)
		if d == nil {
			t.Fatalf("T=%g: no direct composition", c.runs)
		}
		for _, e := range []float64{c.eps * 0.97, c.eps, c.eps * 1.03} {
			x, y := f.read(e), d.read(e)
			if diff := math.Abs(x.s - y.s); diff > x.roundOff+y.roundOff {
				t.Errorf("T=%g ε=%v: %v and %v differ by %g, above %g + %g", c.runs, e, x.s, y.s, diff, x.roundOff, y.roundOff)
			}
			if y.roundOff > x.roundOff {
				t.Errorf("T=%g ε=%v: direct summation certifies %g, the FFT %g", c.runs, e, y.roundOff, x.roundOff)
			}
		}
	}
}

// go-dsp and gonum give the same readings within what both certify for their transform.
func TestReadingsOfTwoTransforms(t *testing.T) {
	// Readings of one composition with the same length.
	up, lo := goldenLaws(t)
	for _, terms := range [][]term{{{up, 1000, nil}}, {{lo, 1000, nil}}, {{up, 300, nil}, {lo, 20, nil}}} {
		for _, e := range []float64{0.5, 1, 1.8, 2.5} {
			x := compose(nil, terms, 5, 1<<14, Gonum{}, []float64{1}).read(e)
			y := compose(nil, terms, 5, 1<<14, godsp.Transform, []float64{1}).read(e)
			if math.Abs(x.s-y.s) > x.roundOff+y.roundOff {
				t.Errorf("ε=%v: S = %v and %v differ by more than %g", e, x.s, y.s, x.roundOff+y.roundOff)
			}
		}
	}
}

// Readings are continuous where ε passes a lattice point.
func TestEdgeLatticePoint(t *testing.T) {
	up, _ := goldenLaws(t)
	c := compose(nil, []term{{up, 1000, nil}}, 6, 16384, Gonum{}, []float64{1, 2})
	for _, e := range []float64{0.5, 1, 1.8, 2.048} {
		at := c.read(e).s
		for _, x := range []float64{math.Nextafter(e, -1), math.Nextafter(e, 9)} {
			// One ulp moves log δ by θ·u·ε ~ 1e-15; core.md §9.5 asks for 1e-12.
			if j := math.Abs(c.read(x).s/at*math.Exp(6*(e-x)) - 1); j > 1e-12 {
				t.Errorf("S jumps by %g at ε=%v", j, e)
			}
		}
	}
}
