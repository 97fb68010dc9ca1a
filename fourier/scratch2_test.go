package fourier

import (
	"testing"
	"time"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func TestScratch2(t *testing.T) {
	for _, c := range []struct {
		q, sigma float64
		n        int64
		d, truth float64
	}{
		{0.01, 1, 1000, 1e-5, 1.82823666652}, {0.01, 1, 1000, 1e-15, 4.85453775060}, {0.01, 1, 1000, 1e-40, 12.28622822112}, {0.01, 1, 1000, 1e-100, 29.5987115908}, {0.01, 1, 1000, 1e-250, 71.7022984198},
		{256. / 60000, 1.1, 14062, 1e-5, 2.3815969215},
		{0.001, 0.8, 10000, 1e-5, 0.7823877811}, {0.001, 0.8, 10000, 1e-100, 29.6573209944},
		{1e-4, 0.6, 1000000, 1e-5, 1.610850},
		{0.1, 4, 2000, 1e-5, 5.11694681418}, {0.1, 4, 2000, 1e-250, 42.40715227805},
		{0.02, 0.5, 500, 1e-5, 17.5707242141}, {0.02, 0.5, 500, 1e-250, 405.428697703},
		{1, 10, 1000, 1e-5, 17.85658683010761}, {1, 10, 1000, 1e-250, 111.6536455588272},
		{1, 0.3, 4, 1e-5, 49.88371241116723}, {1, 0.3, 4, 1e-250, 247.1971282564228},
		{1, 50, 1e5, 1e-100, 154.1072272419685},
		{1, 0.02, 1, 1e-15, 1646.139250457602},
		{1, 0.02, 1000, 1e-15, 0},
		{1e-4, 1, 1e8, 1e-6, 6.671930925216504},
		{1e-5, 1, 1e9, 1e-6, 0},
	} {
		g, _ := profiles.NewGaussian(c.sigma)
		p, _ := subsample.PoissonProfile(g, c.q)
		s := New(Options{})
		s.Add(p, c.n)
		t0 := time.Now()
		r, err := s.Epsilon(c.d)
		el := time.Since(t0)
		verts := 0
		for _, e := range s.entries {
			for _, l := range e.laws {
				verts += len(l.upper.Loss)
			}
		}
		ok := c.truth == 0 || r.Lower <= c.truth*(1+1e-6) && c.truth*(1-1e-6) <= r.Upper
		t.Logf("%v %v %v %v: [%.10g %.10g %.10g] truth %v %v width %.2g est %.2g  n=%d laws=%d verts=%d step=%.3g %v %v %v", c.q, c.sigma, c.n, c.d, r.Lower, r.Estimate, r.Upper, c.truth, ok, (r.Upper-r.Lower)/r.Upper, (r.Estimate-c.truth)/(r.Upper-r.Lower), r.Points, len(s.entries[0].laws), verts, r.Step, r.Budget, r.Warnings, el)
		_ = err
	}
}
