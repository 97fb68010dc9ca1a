package pld

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func TestScratch(t *testing.T) {
	g, _ := profiles.NewGaussian(1)
	p, _ := subsample.PoissonProfile(g, 0.01)
	up, lo := Discretize(p, Uniform(0, 1e-3, -11, 12000))
	idx := map[int64]int{}
	for i, k := range up.Index {
		idx[k] = i
	}
	idl := map[int64]int{}
	for i, k := range lo.Index {
		idl[k] = i
	}
	for _, k := range []int64{-11, -10, -9, -8, -5, 0, 1, 10, 100, 1000, 5000} {
		tl := p.Tails(float64(k)*1e-3, 0)
		l := math.NaN()
		if i, ok := idl[k]; ok {
			l = math.Exp(lo.LogMass[i])
		}
		t.Log(k, math.Exp(tl.P), math.Exp(tl.Q), math.Exp(up.LogMass[idx[k]]), l, tl.Err, tl.ErrC)
	}
	t.Log(math.Exp(up.LogPInf), len(up.Loss), len(lo.Loss), lo.SecondOrder)
	for _, th := range []float64{1, 4, 5, 6.687, 8, 10} {
		k, m, v := up.Tilted(th)
		t.Log(th, k, m, v)
	}
	c := Coarse(p, -80, -50, 0.3)
	t.Log(len(c.Loss))
	for _, th := range []float64{1, 4, 5, 6.687, 8, 10} {
		k, m, v := c.Tilted(th)
		t.Log(th, k, m, v)
	}
	var s, sl float64
	for _, m := range up.LogMass {
		s += math.Exp(m)
	}
	for _, m := range lo.LogMass {
		sl += math.Exp(m)
	}
	t.Log(s-1, sl-1)
}
