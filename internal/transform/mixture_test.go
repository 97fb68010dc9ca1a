package transform

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"
)

type goldenCase struct {
	Name            string
	P, Q            [][2]float64
	Sigma, Theta, T float64
	Re, Im          json.Number
}

// pairOf returns the pair of a golden case, whose weights are exact float64s.
func (c goldenCase) transform() Transform {
	if len(c.P) == 1 && c.P[0][0] == 1 && len(c.Q) == 0 {
		return must(NewPoissonGaussian(c.P[0][1], 0, c.Sigma, 0))
	}
	if len(c.Q) == 1 && c.Q[0][0] == 1 && len(c.P) == 0 {
		return must(NewPoissonGaussian(c.Q[0][1], 0, c.Sigma, 0)).Reverse()
	}
	means := map[int]*Component{}
	none := math.Inf(-1)
	at := func(c float64) *Component {
		i := int(c)
		if means[i] == nil {
			means[i] = &Component{Mean: i, LogP: none, LogQ: none}
		}
		return means[i]
	}
	restP, restQ := 1.0, 1.0
	for _, p := range c.P {
		at(p[0]).LogP = math.Log(p[1])
		restP -= p[1]
	}
	for _, q := range c.Q {
		at(q[0]).LogQ = math.Log(q[1])
		restQ -= q[1]
	}
	pair := Pair{Sigma: c.Sigma, LogP0: math.Log(restP), LogQ0: math.Log(restQ), Err0: 16 * u / min(restP, restQ)}
	for _, c := range means {
		pair.Components = append(pair.Components, *c)
	}
	flip := len(c.P) == 0 // means must be ordered by P/Q
	if flip {
		pair = mirrored(pair)
		for i := range pair.Components {
			pair.Components[i].Mean *= -1
		}
		return must(NewGaussianMixture(pair)).Reverse()
	}
	return must(NewGaussianMixture(pair))
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	data, err := os.ReadFile("../../testdata/golden/transform.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []goldenCase }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// log M is within its stated error of 50 digits, at real points and on lines; and the
// stated error is small.
func TestHighPrecision(t *testing.T) {
	for _, c := range goldenCases(t) {
		tr := c.transform()
		re, _ := c.Re.Float64()
		im, _ := c.Im.Float64()
		check := func(what string, gotRe, gotIm, err float64) {
			d := math.Hypot(gotRe-re, math.Remainder(gotIm-im, 2*math.Pi))
			if !(d <= err+2*u*math.Hypot(re, im)) {
				t.Errorf("%s %v | %v σ=%v: %s log M(%v+%vi) = %v + %vi ± %.3g, want %v + %vi: off by %.3g", c.Name, c.P, c.Q, c.Sigma, what, c.Theta, c.T, gotRe, gotIm, err, re, im, d)
			}
			// Where M is far below M(θ) it is a difference: digits are lost by that factor.
			k, _, _ := tr.Real(c.Theta)
			size := math.Hypot(re, im)
			if k-re > 28 {
				return // no digit is left
			}
			if !(err <= 1e-9*size+1e-13*math.Exp(k-re)*(1+k)*(1+c.Theta*c.Theta)) {
				t.Errorf("%s %v | %v σ=%v: %s log M(%v+%vi) = %v + %vi is known to %.3g only", c.Name, c.P, c.Q, c.Sigma, what, c.Theta, c.T, re, im, err)
			}
		}
		if c.T == 0 {
			k, _, err := tr.Real(c.Theta)
			check("Real", k, 0, err)
		}
		l, err := tr.Line(context.Background(), c.Theta, max(c.T, 1e-3), 1e-13*math.Hypot(re, im), 0)
		if err != nil {
			t.Errorf("%s %v | %v σ=%v: Line(%v, %v): %v", c.Name, c.P, c.Q, c.Sigma, c.Theta, c.T, err)
			continue
		}
		gotRe, gotIm, e := l.LogM(c.T)
		check("LogM", gotRe, gotIm, e)
		if b := l.Decay(c.T); !(b >= re-2*u*math.Abs(re)) {
			t.Errorf("%s %v | %v σ=%v: Decay(%v) = %v is below log|M| = %v (θ = %v)", c.Name, c.P, c.Q, c.Sigma, c.T, b, re, c.Theta)
		}
	}
}

// TestRealOfLargeMoments: a moment whose square is no float64 is known like others; by binomial terms, log M(s) is between
// (s+1)·log q + s(s+1)/(2σ²) and s(s+1)/(2σ²).
func TestRealOfLargeMoments(t *testing.T) {
	const rate, sigma = 0.01, 0.3
	tr, err := NewPoissonGaussian(rate, 0, sigma, 0)
	if err != nil {
		t.Fatal(err)
	}
	for s := 7.5; s < 12; s += 0.25 {
		top := s * (s + 1) / (2 * sigma * sigma)
		if k, _, err := tr.Real(s); !(err <= 1e-10 && k+err >= top+(s+1)*math.Log(rate) && k-err <= top) {
			t.Errorf("log M(%v) = %v ± %v, not in [%v, %v]", s, k, err, top+(s+1)*math.Log(rate), top)
		}
	}
}
