package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func TestScratch(t *testing.T) {
	g, _ := profiles.NewGaussian(1)
	p, _ := subsample.PoissonProfile(g, 0.01)
	up, lo := pld.Discretize(p, pld.Uniform(0, 1e-3, -11, 12000))
	for _, c := range []struct {
		th float64
		n  int
	}{{4, 16384}, {5, 15000}, {6, 16384}, {6.665, 31104}} {
		a := compose([]term{{up, 1000}}, c.th, c.n, Gonum, []float64{0.1, 0.2, 0.5, 1})
		b := compose([]term{{lo, 1000}}, c.th, c.n, Gonum, []float64{0.1, 0.2, 0.5, 1})
		for _, e := range []float64{0.5, 1.8, 5} {
			r := a.read(e)
			s := b.read(e)
			t.Log(c.th, c.n, e, len(a.freqs), r.s, r.slope, r.cond, r.density, r.logValue, r.upper(), r.lower(), s.logValue, math.Exp(r.logScale))
			t.Log(r.roundOff/r.s, r.aliasLeft/r.s, r.aliasRight/r.s, r.foldRight/r.s, r.relative)
		}
	}
}
