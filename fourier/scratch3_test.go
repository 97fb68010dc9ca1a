package fourier

import (
	"math"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func TestScratch3(t *testing.T) {
	g, _ := profiles.NewGaussian(1e6)
	h, _ := profiles.NewGaussian(0.5)
	for _, n := range []int64{1000, 1000000} {
		s := New(Options{})
		s.Add(g, n)
		s.Add(h, 1)
		t0 := time.Now()
		r, err := s.Epsilon(1e-5)
		t.Logf("%+v %v %v", r, err, time.Since(t0))
		l := s.entries[0].laws
		t.Log(len(l), l[0].upper.Loss, l[0].lower.Loss, l[0].lower.LogMass, l[0].lower.SecondOrder, l[0].lower.LossErr)
	}
	_ = pld.Law{}
	for _, c := range []struct {
		q, s float64
		n    int64
	}{{.01, .05, 1000}, {.01, .02, 1000}, {.01, .001, 1000}, {1, 1, 1 << 53}, {1, 1e15, 1 << 53}, {1e-300, 1, 1000}, {1e-8, 1, 1 << 53}, {0, 1, 100}, {1e-8, 1, 1e9}} {
		g, _ := profiles.NewGaussian(c.s)
		p, _ := subsample.PoissonProfile(g, c.q)
		s := New(Options{})
		s.Add(p, c.n)
		t0 := time.Now()
		r, err := s.Epsilon(1e-5)
		t.Logf("%v %+v %v %v", c, r, err, time.Since(t0))
	}
	_ = math.Pi
}
