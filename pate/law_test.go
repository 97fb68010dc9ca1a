package pate

import (
	"math"
	"testing"
)

func TestLawGolden(t *testing.T) {
	for _, c := range []struct {
		n            []int64
		sigma, order float64
		fwd, rev     float64
	}{
		{[]int64{180, 70}, 40, 14, .001801128496377266, .001894088838862752},
		{[]int64{150, 40, 30, 30}, 40, 14, .001954620025126713, .002043267732604947},
		{[]int64{5, 5}, 2, 3, .4358425542050386, .2974253744832274},
		{[]int64{200, 20, 10, 10, 4, 3, 2, 1, 0, 0}, 40, 14, 1.939091981520752e-4, 2.098698499876625e-4},
		{[]int64{6, 5, 4, 0}, 1.5, 2.5, .7171299957734344, .5870984195334018},
		{[]int64{2000, 1480}, 10, 14, 5.949691935586238e-268, 8.26647836197572e-266},
		{[]int64{1100, 60, 0}, 20, 8, 3.345993031507237e-289, 4.347610062038733e-288},
	} {
		h := newHistogram(c.n)
		g, ok := newGaussLaw(h, c.sigma)
		if !ok {
			t.Fatal("no law")
		}
		var fwd, rev, e float64
		for _, x := range pairs(g, h, h.moves(false, false)) {
			v, err := x.renyi(c.order)
			if v > fwd {
				fwd, e = v, err
			}
			v, _ = x.reversed().renyi(c.order)
			rev = max(rev, v)
		}
		t.Logf("%v: %v %v  rel %.2g %.2g err %.2g", c.n, fwd, rev, fwd/c.fwd-1, rev/c.rev-1, e/fwd)
		if math.Abs(fwd/c.fwd-1) > 1e-11 || math.Abs(rev/c.rev-1) > 1e-11 {
			t.Errorf("%v: %v %v", c.n, fwd, rev)
		}
	}
}

// The values are from the design note pate-exact (mpmath).
func TestLaplaceLawGolden(t *testing.T) {
	for _, c := range []struct {
		n     []int64
		gamma float64
		want  []float64
	}{
		{[]int64{180, 70}, .05, []float64{.99233730355288, .00766269644712012}},
		{[]int64{6, 5, 4, 0}, .7, []float64{.582046960652314, .281559111742563, .129414025083938, .00697990252118534}},
	} {
		h := newHistogram(c.n)
		w, ok := newLaplaceLaw(h, c.gamma)
		if !ok {
			t.Fatal("no law")
		}
		l, e := w.law(nobody, c.n)
		for i, want := range c.want {
			near(t, "probability", math.Exp(l[i]), want, 1e-13)
			if e[i] > 1e-12 {
				t.Errorf("error %v", e[i])
			}
		}
	}
	h := newHistogram([]int64{180, 70})
	w, _ := newLaplaceLaw(h, .05)
	var d [2]float64
	for _, x := range pairs(w, h, h.moves(false, false)) {
		d[0], d[1] = max(d[0], x.upper(14)), max(d[1], x.reversed().upper(14))
	}
	near(t, "forward", d[0], 5.9505999723e-4, 1e-10)
	near(t, "reverse", d[1], 6.4572087688e-4, 1e-10)
	best := LNMax{.05}.best(math.Log(.00766269644712012), 14)
	near(t, "best forward", best[0], 8.43281323224812e-4, 1e-11)
	near(t, "best reverse", best[1], 9.31866160045445e-4, 1e-11)
}
