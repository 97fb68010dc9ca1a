package xmath_test

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestBisect: both ends are neighbours where that is asked for, whichever of them is the larger, and never change sides.
func TestBisect(t *testing.T) {
	below := func(x float64) bool { return x*x <= 2 }
	for _, search := range []func(in, out float64, halvings int, holds func(float64) bool) (float64, float64){xmath.Bisect, xmath.BisectLog} {
		in, out := search(0.5, 7, 200, below)
		if !below(in) || below(out) || out-in > 4e-16 {
			t.Errorf("the root of 2 is between %v and %v", in, out)
		}
		out, in = search(7, 0.5, 200, func(x float64) bool { return !below(x) })
		if !below(in) || below(out) || out-in > 4e-16 {
			t.Errorf("from above, the root of 2 is between %v and %v", in, out)
		}
	}
	if in, out := xmath.Bisect(0, 8, 2, below); in != 0 || out != 2 {
		t.Errorf("two halvings of [0, 8]: [%v, %v]", in, out)
	}
}
