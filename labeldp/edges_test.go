package labeldp

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestLabelsOfNextToNoProbability: the zeros of a dual are beyond float64, and the certificate was NaN.
func TestLabelsOfNextToNoProbability(t *testing.T) {
	for _, c := range []struct {
		labels, weights []float64
		eps             float64
	}{
		{[]float64{0, 1}, []float64{1, 1e-300}, 1e-6}, {[]float64{0, 1, 2, 3}, []float64{1, 1e-200, 1e-200, 1}, 3},
		{[]float64{0, 1, 2}, []float64{1e-320, 1, 1}, 1}, {[]float64{0, 1, 2, 3, 4}, []float64{0, 0, 1e-320, 0, 1}, 28},
	} {
		p, err := NewPrior(c.labels, c.weights)
		if err != nil {
			t.Fatal(err)
		}
		_, cert, err := OptimalUnbiased(t.Context(), p, c.eps)
		if err != nil || !(cert.RelGap >= 0 && cert.RelGap <= 1 && cert.Dual <= cert.Primal*(1+1e-9)) {
			t.Errorf("%+v: %+v, %v", c, cert, err)
		}
	}
	// All loss may be avoided where bias is allowed: no gap, and not 0/0.
	p, err := NewPrior([]float64{0, 1}, []float64{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	_, cert, err := BiasLimited(t.Context(), p, 1, 10, []float64{0, 1})
	if err != nil || cert.Primal != 0 || cert.RelGap != 0 {
		t.Errorf("%+v, %v", cert, err)
	}
}

// TestReadRowsThatAreNearlyOne: weights whose rows sum to 1 within the tolerance of reading, where only the label in the
// middle is ever up. The two ends, which are the worst pair of rows that sum to 1, lose nothing; the profile said
// so of all labels.
func TestReadRowsThatAreNearlyOne(t *testing.T) {
	for _, text := range []string{
		`{"name":"x","epsilon":1,"labels":[0,1,2],"atoms":[{"output":0,"weight":5e-7,"up":[false,true,false]},{"output":1,"weight":0.9999993,"up":null}]}`,
		`{"name":"x","epsilon":1e-6,"labels":[0,1,2],"atoms":[{"output":0,"weight":0.5,"up":[false,true,false]},{"output":1,"weight":0.5,"up":null}]}`,
		`{"name":"x","epsilon":1,"labels":[0,1,2],"atoms":[{"output":0,"weight":1e-9,"up":[true,false,false]},{"output":0.5,"weight":5e-7,"up":[false,true,false]},
		  {"output":2,"weight":1e-9,"up":[false,false,true]},{"output":1,"weight":0.9999993,"up":null}]}`,
	} {
		read, err := ReadRandomizer([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := read.(*randomizer)
		p, err := r.Pair(profiles.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{0, 0.5 * r.eps} {
			worst := 0.0
			for i := range r.Labels() {
				for j := range r.Labels() {
					a, b, d := r.draw.weights(i), r.draw.weights(j), 0.0
					for k := range a {
						x, _ := a[k].Float64()
						y, _ := b[k].Float64()
						d += max(0, x-math.Exp(eps)*y) / float64(r.draw.total)
					}
					worst = max(worst, d)
				}
			}
			log, e := profiles.LogDelta(p, eps)
			if delta := math.Exp(log + e); !(delta >= worst*(1-1e-6)) || worst == 0 {
				t.Errorf("%s: δ(%v) of what is drawn is %v, the profile has %v", text, eps, worst, delta)
			}
		}
	}
}

// TestStepAboveTheRange: labels that are the same number of steps, 0, above the lowest one to nine digits had noise of no
// steps, whose price was NaN or nothing and whose draw was a panic.
func TestStepAboveTheRange(t *testing.T) {
	for _, staircase := range []bool{false, true} {
		if a, err := NewAdditive([]float64{0, 1e-10}, 1, Noise{Discrete: true, Step: 1, Staircase: staircase}); err == nil {
			t.Errorf("%v has steps of 1 for labels 1e-10 apart", a)
		}
		if _, err := NewAdditive([]float64{3}, 1, Noise{Discrete: true, Step: 1, Staircase: staircase}); err != nil {
			t.Error(err)
		}
	}
}
