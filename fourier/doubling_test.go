package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestDoublingHolds: intervals of laws multiplied one by one hold what is known in closed
// form, of Gaussians and of randomized response, and what the contour engine proves.
func TestDoublingHolds(t *testing.T) {
	flip, err := profiles.NewPure(0.3)
	if err != nil {
		t.Fatal(err)
	}
	pure, err := flip.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	gauss, err := profiles.NewGaussian(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		p     profiles.Profile
		runs  int64
		width float64
	}{
		{"pure, 5 runs", pure, 5, 1e-9},
		{"pure, 30 runs", pure, 30, 1e-9},
		{"Gaussian, 3 runs", gauss, 3, 2e-2},
		{"Gaussian, 100 runs", gauss, 100, 2e-2},
		{"Poisson, 1000 runs", sampled(t, 1, 0.01), 1000, 2e-2},
		{"Poisson, other direction", profiles.Reverse(sampled(t, 1, 0.01)), 1000, 2e-2},
	} {
		for _, delta := range []float64{1e-3, 1e-10, 1e-50} {
			truth := epsilon(t, sum(t, Options{Relative: 1e-9, Absolute: 1e-13}, c.p, int(c.runs)), delta)
			s := New(Options{})
			s.entries = []*entry{{profile: c.p, sup: c.p.Support(), count: c.runs}}
			s.copies, s.runs = float64(c.runs), float64(c.runs)
			_, _, top := s.ends()
			floor := math.Log1p(-delta)
			r, err := s.doubleEpsilon(s.newMeter(t.Context()), Result{Lower: floor, Upper: top, Estimate: math.NaN()}, math.Log(delta), floor, top, c.width)
			if err != nil {
				t.Fatal(err)
			}
			if r.Lower > truth.Upper || r.Upper < truth.Lower {
				t.Errorf("%s at %v: [%v, %v] misses [%v, %v]", c.name, delta, r.Lower, r.Upper, truth.Lower, truth.Upper)
			}
			if w := r.Upper - r.Lower; !(w <= c.width*math.Abs(truth.Upper)) && !(w <= 1e-6) {
				t.Errorf("%s at %v: [%v, %v] is %v wide", c.name, delta, r.Lower, r.Upper, w)
			}
			if c.p == pure || delta < 1e-20 {
				continue // next to the largest loss many δ have one ε
			}
			// And the other way round.
			d, err := s.doubleDelta(s.newMeter(t.Context()), Result{Upper: 1, Estimate: math.NaN()}, truth.Estimate, 1)
			if err != nil {
				t.Fatal(err)
			}
			if want := 1e-6 + 10*math.Abs(math.Log(delta))*1e-9; d.Lower > delta*(1+want) || d.Upper < delta*(1-want) {
				t.Errorf("%s at ε = %v: [%v, %v] misses %v", c.name, truth.Estimate, d.Lower, d.Upper, delta)
			}
		}
	}
}

// TestPilesRoundOutwards: products keep at least (at most) all mass, and no cell of an upper
// law loses privacy.
func TestPilesRoundOutwards(t *testing.T) {
	a := &pile{loss: []float64{-1, 0.1, 2}, mass: []float64{0.5 / pileUnit, 0.3 / pileUnit, 0.2 / pileUnit}}
	b := &pile{loss: []float64{-0.3, 0.1, 0.5, 50}, mass: []float64{0.2 / pileUnit, 0.4 / pileUnit, 0.4 / pileUnit, 1e-30 / pileUnit}}
	s := New(Options{})
	m := s.newMeter(t.Context())
	for _, up := range []bool{true, false} {
		j := pileJob{up: up, res: 3, log: math.Log(1e-50), runs: 2, all: 2, m: m}
		p, err := j.times(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{-1.3, -0.5, 0, 0.19, 0.2, 0.6, 2, 2.5, 40, 51} {
			want := 0.0
			for i, x := range a.loss {
				for k, y := range b.loss {
					want += a.mass[i] * b.mass[k] * pileUnit * pileUnit * max(0, -math.Expm1(eps-x-y))
				}
			}
			v, _ := p.logDelta(eps, up)
			if got := math.Exp(v); up && got < want || !up && got > want {
				t.Errorf("up %v at %v: %v, want %v", up, eps, got, want)
			}
		}
	}
}
