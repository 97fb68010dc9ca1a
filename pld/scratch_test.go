package pld

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
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

func TestScratchConv(t *testing.T) {
	f, _ := profiles.NewFinite([]float64{0.5, 0.25, 0.25}, []float64{0.45, 0.3, 0.25})
	rr, _ := profiles.NewRandomizedResponse(0.9, 10)
	rp, _ := rr.Pair(profiles.AddRemove)
	dg, _ := profiles.NewDiscreteGaussianMechanism(10, 2)
	dgp, _ := dg.Pair(profiles.AddRemove)
	la, _ := profiles.NewLaplace(20)
	ap, _ := profiles.NewApproximate(0.01, 1e-9)
	app, _ := ap.Pair(profiles.AddRemove)
	dl, _ := profiles.NewDiscreteLaplaceMechanism(10, 1)
	dlp, _ := dl.Pair(profiles.AddRemove)
	for name, p := range map[string]profiles.Profile{"finite": f, "rr": rp, "dg": dgp, "lap": la, "app": app, "dl": dlp} {
		for _, q := range []profiles.Profile{p, profiles.Reverse(p)} {
			for _, step := range []float64{0.01, 0.0013333, 0.00018, 1.11e-6} {
				sup := q.Support()
				off := sup.Min
				if len(sup.Atoms) > 0 {
					off = sup.Atoms[0]
				}
				lo, hi := Range(q, -80, -50)
				g := Uniform(off, step, int64(math.Floor((lo-off)/step+1e-9)), int64(math.Ceil((hi-off)/step-1e-9)))
				g.Share, g.Tilt, g.LogNorm = 5e-5, 14, 0
				if !math.IsInf(sup.LogQInf, -1) {
					g.Lo--
				}
				if g.Hi < g.Lo+2 {
					g.Hi = g.Lo + 2
				}
				u, l := Discretize(q, g)
				var du, dl, neg float64
				for e := lo - 0.1; e < hi+0.1; e += (hi - lo + 0.2) / 997 {
					ld, _ := profiles.LogDelta(q, e)
					d := math.Exp(ld)
					a, b := lawDelta(u, e), lawDelta(l, e+l.LossErr)
					du, dl = max(du, a-d), max(dl, d-b)
					neg = max(neg, d-a, b-d)
					if max(d-a, b-d) > 1e-12 {
						t.Log("VIOL", name, step, e, d-a, b-d, q.Support())
					}
				}
				t.Log(name, step, len(u.Loss), len(l.Loss), l.SecondOrder, "errs", du, dl, "viol", neg, math.Exp(u.LogPInf), math.Exp(l.LogPInf))
			}
		}
	}
}

func TestScratchViol(t *testing.T) {
	q, _ := profiles.NewFinite([]float64{0.5, 0.25, 0.25}, []float64{0.45, 0.3, 0.25})
	step := 1.11e-6
	off := q.Support().Min
	g := Uniform(off, step, 0, int64(math.Ceil((q.Support().Max-off)/step)))
	g.Share, g.Tilt, g.LogNorm = 5e-5, 14, 0
	d := newDiscretizer(q, g)
	l := d.lower()
	var m, mq float64
	for i, x := range l.Loss {
		m += math.Exp(l.LogMass[i])
		mq += math.Exp(l.LogMass[i] - x)
		t.Log(l.Index[i], x, math.Exp(l.LogMass[i]))
	}
	t.Log(m-1, mq-1, len(d.pts), d.center)
	for i, c := range d.cells {
		t.Log(i, d.index[i], d.pts[i].t, c.w, c.p, c.v, c.errV, c.left, c.errL, c.rght, c.errR, d.pts[i].atom)
	}
}
