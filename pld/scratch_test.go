package pld

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func lawDelta(l *Law, eps float64) float64 {
	s := math.Exp(l.LogPInf)
	for i, x := range l.Loss {
		if x > eps {
			s += math.Exp(l.LogMass[i]) * -math.Expm1(eps-x)
		}
	}
	return s
}

func TestScratchBig(t *testing.T) {
	g, _ := profiles.NewGaussian(0.05)
	q, _ := subsample.PoissonProfile(g, 0.01)
	for _, step := range []float64{0.3, 0.05, 0.0029} {
		lo, hi := Range(q, -60, -50)
		off := SpikeOffset(q, step)
		gr := Uniform(off, step, int64(math.Floor((lo-off)/step)), int64(math.Ceil((hi-off)/step)))
		gr.Share, gr.Tilt, gr.LogNorm = 5e-5, 0.005, 0.01
		u, l := Discretize(q, gr)
		t.Log(step, off, lo, hi, len(u.Loss), len(l.Loss), l.SecondOrder, l.LossErr)
		for _, e := range []float64{-0.02, -0.01, 0, 1, 10, 100, 200, 300} {
			ld, _ := profiles.LogDelta(q, e)
			t.Log(e, math.Exp(ld), lawDelta(u, e)/math.Exp(ld)-1, lawDelta(l, e)/math.Exp(ld)-1)
		}
		t.Log(l.Loss[:4], l.LogMass[:4], u.Loss[:4], u.LogMass[:4])
	}
}
