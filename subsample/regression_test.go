package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// must.md §7.6, "CTD regression values": connect the dots with step 1e-3 on
// [−10, 10] (WOR, WR) or [−40, 40] (OW, WW), composed by another program to 1e-9
// or 2e-14.
//
// Ours is rounded outward, which moves mass up, never down, and more of it where
// tails are less exact (pair B next to its pile at log p_0). By how much at most
// is measured. The long grids take seconds: SLOW=2 runs them.
func TestConnectTheDotsRegression(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	paper := func(s FixedSize) profiles.Profile { return ok(s.PaperPairNotABound(base)) }
	bound := func(s FixedSize) profiles.Profile { return ok(s.Theorem5(base)) }
	for _, c := range []struct {
		name  string
		p     profiles.Profile
		reach int64
		up    float64
		k     []int
		want  [][]float64 // δ(0.1), δ(0.5), δ(1)
	}{
		{"WOR A", paper(wor), 10, 3e-9, []int{1000}, [][]float64{{0.0862121449636, 0.00979886639499, 0.000110647758754}}},
		{"WOR C", bound(wor), 10, 3e-9, []int{1000, 100}, [][]float64{{0.116970839945, 0.024285054827, 0.0011509721735}, {0.0156273087596, 1.88817954177e-6}}},
		{"WR C", bound(wr), 10, 1.3e-8, []int{1000}, [][]float64{{0.119956394357, 0.0260791716937, 0.0014150405059}}},
		{"OW A", paper(ow), 40, 1e-8, []int{1000}, [][]float64{{0.0891447231517, 0.0109451754244, 0.000153217505053}}},
		{"OW B remove", ok(ow.Attack(base)), 40, 4e-7, []int{1000}, [][]float64{{0.184446543533, 0.0914300533462, 0.0380868359299}}},
		{"OW C", bound(ow), 40, 3e-9, []int{1000, 100}, [][]float64{{0.341682754163, 0.234226177448, 0.142351887076}, {0.0627447376837, 0.0183340189545, 0.00908770712296}}},
		{"WW C", bound(ww), 40, 4e-8, []int{1000}, [][]float64{{0.345010203166, 0.237959982814, 0.146122401855}}},
	} {
		if c.reach > 10 && !slow.All() {
			continue
		}
		law, _ := pld.Discretize(c.p, pld.Uniform(0, 1e-3, -c.reach*1000, c.reach*1000))
		f := composer{law: law, n: 1 << 17, step: 1e-3}
		f.freq = f.transform(0, 0)
		for i, k := range c.k {
			d := f.deltaOf(k)
			for j, want := range c.want[i] {
				if got := d([]float64{0.1, 0.5, 1}[j]); got < want*(1-1e-9)-2e-14 || got > want*(1+c.up)+2e-14 {
					t.Errorf("%s: delta of %d runs, no. %d, is %.12g, want %.12g (%.1e)", c.name, k, j, got, want, got/want-1)
				}
			}
		}
	}
}
