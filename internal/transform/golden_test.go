package transform

import (
	"context"
	"math"
	"testing"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func poisson(q, sigma float64) Transform { return must(NewPoissonGaussian(q, 0, sigma, 0)) }

// The stage values of contour.md §11 (mpmath, 40 digits): case A, q = 0.01, σ = 1.
func TestGoldenStages(t *testing.T) {
	rem := poisson(0.01, 1)
	for _, c := range []struct{ theta, mMinus1, slope float64 }{
		{2, math.Expm1(5.2927514916932272e-4), 4.5587649006274455e-4},
		{4, 0.0018764272591135166064, 9.0893446710774962992e-4},
		{6.5, 0.005155835479422281898, math.NaN()},
	} {
		k, slope, err := rem.Real(c.theta)
		if want := math.Log1p(c.mMinus1); math.Abs(k-want) > err || math.Abs(k-want) > 1e-13*want || err > 1e-13*want {
			t.Errorf("K(%v) = %v ± %g, want %v", c.theta, k, err, want)
		}
		if m1 := slope * math.Exp(k); math.Abs(m1-c.slope) > 1e-13*c.slope {
			t.Errorf("M'(%v) = %v, want %v", c.theta, m1, c.slope)
		}
	}
	for _, c := range []struct {
		name     string
		tr       Transform
		theta, t float64
		re, im   float64
	}{
		{"remove", rem, 4, 0.5, 0.00184276323599538848, 0.00045280188615573603},
		{"remove", rem, 4, 5, -0.00104389613411838232, 0.00395667989893762275},
		{"remove", rem, 4, 25, -0.0462164627807275598, -0.00447416234522521358},
		{"add", rem.Reverse(), 10, 0, 0.007501400280851354, 0},
		{"add", rem.Reverse(), 10, 5, 0.006287697917369152, 0.006664696649164437},
		{"add", rem.Reverse(), 10, 25, -0.0196009947017702, 0.0408567798194604},
	} {
		l := must(c.tr.Line(context.Background(), c.theta, 30, 1e-16, 0))
		re, im, err := l.LogM(c.t)
		d := math.Hypot(re-c.re, im-c.im)
		t.Logf("%s log M(%v+%vi) = %v + %vi ± %.2g, off by %.2g, %d nodes", c.name, c.theta, c.t, re, im, err, d, int(l.Terms(1)))
		if d > err+1e-16 || d > 1e-13 || err > 1e-13 {
			t.Errorf("%s log M(%v+%vi) = %v + %vi ± %g, want %v + %vi", c.name, c.theta, c.t, re, im, err, c.re, c.im)
		}
	}
}

// log B_a(t) of the same page: a in units of y, relative to log M(θ).
func TestGoldenShiftedLines(t *testing.T) {
	rem := poisson(0.01, 1)
	for _, c := range []struct {
		tr          Transform
		theta, t, a float64
		want        float64
	}{
		{rem, 4, 25, 0.25, -0.0333460556845376},
		{rem, 4, 25, 0.1, -0.0215138052756165},
		{rem, 4, 100, 0.8, -0.230428512791619},
		{rem, 4, 1000, 1.5, -1.85836838421686},
		{rem.Reverse(), 10, 25, 0.25, -0.0181204010384644},
	} {
		l := must(c.tr.Line(context.Background(), c.theta, max(c.t/2, 20), 1e-16, 0)).(*mixtureLine)
		s := l.moved.newShiftedLine(c.a)
		upper := l.logB(s, c.t)
		clear(s.err) // without the allowance for rounding
		clear(s.slip)
		b := l.logB(s, c.t)
		k, _, _ := c.tr.Real(c.theta)
		if !(upper > b && upper < b+1e-13+2e-14*c.t) {
			t.Errorf("θ = %v, t = %v, a = %v: the rounding of log B is bounded by %g", c.theta, c.t, c.a, upper-b)
		}
		if math.Abs(b-k-c.want) > 1e-13 {
			t.Errorf("θ = %v, t = %v, a = %v: log B − K = %v, want %v", c.theta, c.t, c.a, b-k, c.want)
		}
	}
}
