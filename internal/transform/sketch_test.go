package transform

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// A sketch is close to what it is a sketch of, far closer than a search needs, down to values
// of K that are next to 0.
func TestSketchIsClose(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	var worstK, worstFall float64
	for range 400 {
		q, sigma := logUniform(r, 1e-6, 0.9), logUniform(r, 0.3, 30)
		m, err := NewPoissonGaussian(q, 0, sigma, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			m = m.Reverse()
		}
		theta := logUniform(r, 1e-4, 50)
		if r.IntN(4) == 0 {
			theta = -r.Float64() * 3
		}
		s := NewSketch(m)
		k, slope, kErr := m.Real(theta)
		a, b := s.Real(theta)
		if math.IsInf(kErr, 1) || kErr > 1e-9*math.Abs(k) {
			continue
		}
		worstK = max(worstK, math.Abs(a-k)/math.Abs(k), math.Abs(b-slope)/(math.Abs(slope)+math.Abs(k/theta)))
		tMax := logUniform(r, 0.1, 300)
		line, err := m.Line(t.Context(), theta, tMax, 1e-14, 0)
		if err != nil {
			continue
		}
		fall, want := s.Line(theta).Fall(tMax), line.Decay(tMax)-k
		if want < -1e-11 && want > deepFall {
			x := math.Abs(fall/want - 1)
			if x > 0.02 {
				t.Logf("q=%v σ=%v θ=%v t=%v: falls by %v, proved %v", q, sigma, theta, tMax, fall, want)
			}
			worstFall = max(worstFall, x)
		}
	}
	t.Logf("K off by %.1e, its fall by %.1e", worstK, worstFall)
	if worstK > 1e-3 {
		t.Errorf("a sketch of K is off by %v", worstK)
	}
	if worstFall > 0.05 {
		t.Errorf("a sketch of the fall is off by %v", worstFall)
	}
}

// So is that of a group, whose turns are those of a binomial law with the same mean and variance.
func TestSketchOfGroupIsClose(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(4, 3))
	worst, tried := 0.0, 0
	for range 150 {
		m := binomialPair(2+r.IntN(63), logUniform(r, 1e-4, 0.9), logUniform(r, 0.3, 30), r.IntN(2) == 0)
		theta, tMax := logUniform(r, 1e-4, 10), logUniform(r, 0.01, 30)
		k, _, kErr := m.Real(theta)
		line, err := m.Line(t.Context(), theta, tMax, 1e-14, 0)
		if err != nil || !(kErr < 1e-9*math.Abs(k)) {
			continue
		}
		sketch := NewSketch(m).Line(theta)
		if sketch == nil {
			continue
		}
		fall, want := sketch.Fall(tMax), line.Decay(tMax)-k
		if want < -1e-9 && want > deepFall {
			tried++
			worst = max(worst, math.Abs(fall/want-1))
		}
	}
	t.Logf("%d, the fall off by %.1e", tried, worst)
	if tried < 50 || worst > 0.1 {
		t.Errorf("of %d falls the sketch of one is off by %v", tried, worst)
	}
}
