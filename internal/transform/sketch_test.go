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
		if want < -1e-11 && want > -12 {
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

// So is that of a finite law of thousands of atoms, with infinite losses or without, of which the
// masses go down to the least ones that there are.
func TestSketchOfManyAtomsIsClose(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 60 {
		mu, n := logUniform(r, 1e-3, 8), 600+r.IntN(3000)
		pInf := 0.0
		if r.IntN(2) == 0 {
			pInf = logUniform(r, 1e-12, 1e-2)
		}
		// The loss of Gaussian noise, cut at 36 deviations, and masses that make 1.
		reach := 36 * mu
		var losses, logs []float64
		sum, back := 0.0, 0.0
		for i := range n {
			l := -reach + 2*reach*(float64(i)+r.Float64())/float64(n)
			w := -(l - mu*mu/2) * (l - mu*mu/2) / (2 * mu * mu)
			losses, logs = append(losses, l), append(logs, w)
			sum += math.Exp(w)
			back += math.Exp(w - l)
		}
		var atoms []Atom
		for i, l := range losses {
			// Scaled so that P has 1 − p∞; Q then has about 1.
			q := logs[i] - l - math.Log(sum) + math.Log1p(-pInf)
			atoms = append(atoms, Atom{LogMass: q, Loss: l})
		}
		qInf := max(0, 1-back/sum*(1-pInf))
		m := NewMixed(atoms, nil, pInf, qInf, 0)
		s := NewSketch(m)
		if _, ok := s.(*mixedSketch); !ok {
			t.Fatalf("%T", s)
		}
		for _, theta := range []float64{-3, -1.2, -0.7, -0.3, 0.05, 0.8, 5, 30} {
			k, slope, kErr := m.Real(theta)
			a, b := s.Real(theta)
			if math.IsInf(kErr, 1) || kErr > 1e-6*math.Abs(k) || math.Abs(theta)*mu > 30 {
				continue
			}
			given := pInf + math.Abs(theta)*(pInf+qInf) // of which K is the difference to the rest
			if math.Abs(a-k) > 0.02*(math.Abs(k)+given) || math.Abs(b-slope) > 0.03*(math.Abs(slope)+math.Abs(k/theta)) {
				t.Errorf("μ = %v, %d atoms, θ = %v: K = %v, slope %v, sketched %v and %v", mu, n, theta, k, slope, a, b)
			}
		}
	}
}

// So is that of Laplace noise on a sample, a bounded loss with pieces. It has no line: what a certified
// sum takes for one value of K, up to seconds, is what a search must not take for a guess.
func TestSketchOfPiecesIsClose(t *testing.T) {
	tried := 0
	for _, mu := range []float64{1e-3, 0.3, 1, 10, 300} { // of one over the noise multiplier
		for _, rate := range []float64{1e-6, 0.01, 0.5} {
			m := NewSampledLaplace([]LaplaceItem{{M: mu}}, 0, rate, 0)
			s := NewSketch(m)
			if _, ok := s.(*mixedSketch); !ok {
				t.Fatalf("μ = %v, rate %v: %T", mu, rate, s)
			}
			for _, theta := range []float64{-300, -3, -1.2, -0.7, -0.3, 0.05, 0.8, 5, 30, 1000} {
				k, slope, kErr := m.Real(theta)
				if math.IsInf(kErr, 1) || kErr > 1e-6*math.Abs(k) {
					continue
				}
				tried++
				a, b := s.Real(theta)
				if !(math.Abs(a-k) <= 0.02*math.Abs(k) && math.Abs(b-slope) <= 0.03*(math.Abs(slope)+math.Abs(k/theta))) {
					t.Errorf("μ = %v, rate %v, θ = %v: K = %v, slope %v, sketched %v and %v", mu, rate, theta, k, slope, a, b)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d values were compared", tried)
	}
}

// So is that of a group, whose turns are those of a binomial law with the same mean and variance. What it is held against
// is a bound, of lines at few distances (Theorem 6): where K is in the thousands that bound can be short of the fall by a quarter.
func TestSketchOfGroupIsClose(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(4, 3))
	worst, short, tried := 0.0, 0, 0
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
		if want < -1e-9 && want > -12 {
			tried++
			if off := math.Abs(fall/want - 1); off > 0.1 && math.Abs(k) > 1000 && fall < want {
				short++
			} else {
				worst = max(worst, off)
			}
		}
	}
	t.Logf("%d, the fall off by %.1e, %d bounds short of it", tried, worst, short)
	if tried < 50 || worst > 0.1 || short > 3 {
		t.Errorf("of %d falls the sketch of one is off by %v", tried, worst)
	}
}
