package transform

import (
	"context"
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

// A frequency beyond all sense is refused at once.
func TestHugeFrequencyIsRefused(t *testing.T) {
	m, err := NewPoissonGaussian(0.002, 0, 18, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tMax := range []float64{1e18, 8.4e37, 1e300} {
		if _, err := m.Line(context.Background(), 3238, tMax, 1e-13, 1<<10); err == nil {
			t.Errorf("a line up to %v has 1024 nodes", tMax)
		}
	}
}

// Real of a bounded loss ends at any point: the sum of panels is limited.
func TestRealOfMixedEnds(t *testing.T) {
	m := NewSampledLaplace([]LaplaceItem{{M: 0.037, MErr: 2 * u}}, 0, 0.018, 0)
	for _, s := range []float64{1e12, -1e12, 3.4e11, 1e15, 1e300} {
		if k, _, err := m.Real(s); !(err >= 0) && !math.IsNaN(k) {
			t.Errorf("log M(%v) = %v ± %v", s, k, err)
		}
	}
}
