package transform

import (
	"math"
	"testing"
)

// Where 1 − q is a few ulps, one rounding of q is a large part of it: far left the loss is
// log(1−q), off by more than the relative error.
func TestRateNextToOne(t *testing.T) {
	const ulps = 8
	q := 1 - ulps*u
	m, err := NewPoissonGaussian(q, 2*u, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := m.(*mixture).at(-60)
	if want := math.Log(ulps / (ulps - 2)); !(n.errLoss >= want) {
		t.Errorf("loss %v ± %v, may be off by %v", n.loss, n.errLoss, want)
	}
	for _, x := range []float64{0, 1e-9, 0.009, 0.02, 0.5, 3} {
		if !(raised(x) >= math.Exp(x)) {
			t.Errorf("%v is below e^%v", raised(x), x)
		}
		if y := -math.Expm1(-x); !(logError(y) >= -math.Log1p(-y)) {
			t.Errorf("%v is below the error of a logarithm for %v", logError(y), y)
		}
	}
}

// What is given away is a sum of exponentials with the error restErr, in its atom as at infinity.
func TestErrorOfWhatIsGivenAway(t *testing.T) {
	items := []LaplaceItem{{M: 20, LogWeight: math.Log(0.7)}}
	for _, s := range []float64{-0.4, 0.5, 20} {
		x, _, err := NewSampledLaplace(items, 0.3, 0.6, 0).Real(s)
		y, _, _ := NewSampledLaplace(items, 0.3*(1+0.9*restErr), 0.6, 0).Real(s)
		if !(math.Abs(x-y) <= err) {
			t.Errorf("s %v: log M moves by %v, error %v", s, x-y, err)
		}
	}
}
