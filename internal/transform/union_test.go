package transform

import (
	"context"
	"math"
	"math/cmplx"
	"testing"
)

// TestUnion: Σ w_i M_i on the real axis and on a line, with errors that hold and are small.
func TestUnion(t *testing.T) {
	gaussian := func(mean int) Transform {
		x, err := NewGaussianMixture(Pair{Sigma: 2, LogP0: math.Log(0.99), Components: []Component{{Mean: mean, LogP: math.Log(0.01), LogQ: math.Inf(-1)}}})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	of := []Transform{gaussian(1), gaussian(2), gaussian(2).Reverse()}
	weights := []float64{0.9, 0.07, 0.03}
	m := NewUnion(weights, of)
	for _, s := range []float64{-1.5, -0.5, -1e-6, 1e-9, 0.3, 4, 30} {
		k, slope, err := m.Real(s)
		want, steep := 0.0, 0.0
		for i, x := range of {
			k, d, _ := x.Real(s)
			want += weights[i] * math.Expm1(k)
			steep += weights[i] * math.Exp(k) * d
		}
		if math.Abs(k-math.Log1p(want)) > err+4*u*math.Abs(k) || err > 1e-12*math.Abs(k)+1e-13*max(1, math.Abs(s)) || math.Abs(slope-steep/(1+want)) > 1e-9*(1+math.Abs(slope)) {
			t.Errorf("s = %v: %v ± %v, want %v; slope %v, want %v", s, k, err, math.Log1p(want), slope, steep/(1+want))
		}
		// M(s) of the reverse is M(−1−s).
		r, _, e := m.Reverse().Real(-1 - s)
		if math.Abs(r-k) > err+e+1e-14*math.Abs(k)+4*u*math.Abs(slope) { // −1 − s is rounded
			t.Errorf("s = %v: %v, of the reverse %v", s, k, r)
		}
	}
	ctx := context.Background()
	l, err := m.Line(ctx, 3, 40, 1e-12, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]Line, len(of))
	for i, x := range of {
		if lines[i], err = x.Line(ctx, 3, 40, 1e-12, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []float64{0, 1e-5, 0.1, 1, 10, 40} {
		re, im, e := l.LogM(at)
		var want complex128
		for i, x := range lines {
			a, b, _ := x.LogM(at)
			want += complex(weights[i], 0) * cmplx.Exp(complex(a, b))
		}
		if d := cmplx.Abs(cmplx.Exp(complex(re, im))-want) / cmplx.Abs(want); d > math.Expm1(e)+4*u || e > 1e-9 {
			t.Errorf("t = %v: off by %v, error %v", at, d, e)
		}
		if re > l.Decay(at)+1e-12 {
			t.Errorf("t = %v: log|M| = %v is above its bound %v", at, re, l.Decay(at))
		}
	}
	if NewUnion(weights, []Transform{of[0], nil, of[2]}) != nil {
		t.Error("a union of no transform")
	}
}
