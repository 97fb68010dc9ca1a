package rdp

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

// truth is a row of testdata/golden/rdp_truth.json (mpmath at 60 digits; see
// rdp_truth.py beside it).
type truth struct {
	Kind  string
	Alpha float64
	Value string
	Eps, B, Prob, Noise,
	Sigma float64
	K, Sens int
	P       []float64
	Q       json.RawMessage
}

func TestTruth(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden/rdp_truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []truth }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	worst := map[string]float64{}
	count := map[string]int{}
	for _, r := range file.Rows {
		want, err := strconv.ParseFloat(r.Value, 64)
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.curve()
		if err != nil {
			t.Fatal(r, err)
		}
		got := c.RDP(r.Alpha)
		rel := got/want - 1
		// An upper bound (up to the rounding of the printed truth), and within
		// 1e-12; losses of order αε in the exponent cost u·αε on top.
		if !(rel >= -4e-16 && rel <= 1e-12) {
			t.Errorf("%s %s at %v: got %v, want %v, off by %.2e", r.Kind, r.params(), r.Alpha, got, want, rel)
		}
		worst[r.Kind] = max(worst[r.Kind], math.Abs(rel))
		count[r.Kind]++
	}
	for k, n := range count {
		t.Logf("%-22s %4d rows, worst %.1e", k, n, worst[k])
	}
	if len(file.Rows) < 1000 {
		t.Errorf("only %d rows", len(file.Rows))
	}
}

func (r truth) params() string {
	r.Value, r.Kind = "", ""
	b, _ := json.Marshal(r)
	return string(b)
}

func (r truth) rate() float64 {
	var q float64
	_ = json.Unmarshal(r.Q, &q)
	return q
}

func (r truth) curve() (Curve, error) {
	switch r.Kind {
	case "pure":
		return Pure(r.Eps)
	case "laplace":
		return Laplace(r.B)
	case "exponential":
		return Exponential(r.Eps)
	case "rr":
		return RandomizedResponse(r.Prob, r.K)
	case "finite":
		var q []float64
		if err := json.Unmarshal(r.Q, &q); err != nil {
			return nil, err
		}
		return Finite(r.P, q)
	case "discrete-gaussian":
		return DiscreteGaussian(r.Noise, r.Sens)
	case "discrete-laplace":
		return DiscreteLaplace(r.Noise, r.Sens)
	case "poisson-laplace":
		l, err := Laplace(r.B)
		if err != nil {
			return nil, err
		}
		return Poisson(l, r.rate())
	case "poisson-gaussian":
		return newPoissonGaussian(r.rate(), r.Sigma)
	case "poisson-gaussian-add":
		return poissonGaussianAdd(r.rate(), r.Sigma)
	}
	return nil, os.ErrNotExist
}
