package profiles

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/hook"
)

// The difference must be that of the tails within both errors, for either
// direction, and be far more accurate than they are when losses are small.
func TestTailDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := math.Exp(rapid.Float64Range(-2, 12).Draw(t, "log noise"))
		var p Profile
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			p, _ = NewGaussian(noise)
		case 1:
			p, _ = NewLaplace(noise)
		case 2:
			b, _ := NewGaussianMechanism(noise)
			p, _, _ = b.(substituteMixer).SubstituteMixture(rapid.Float64Range(1e-3, 0.9).Draw(t, "rate"))
		}
		if rapid.Bool().Draw(t, "reverse") {
			p = reversed{p}
		}
		eps := rapid.Float64Range(-3, 3).Draw(t, "position") / noise
		l, err := p.(hook.TailDifferencer).LogTailDifference(eps, 0)
		tails := p.Tails(eps, 0)
		if math.IsInf(l, -1) {
			if err == 0 && tails.P != tails.Q {
				t.Fatalf("%T at %g: no difference of e^%g and e^%g", p, eps, tails.P, tails.Q)
			}
			return
		}
		a, b := math.Exp(tails.P), math.Exp(tails.Q)
		slack := a*(tails.Err+2e-16*math.Abs(tails.P)) + b*(tails.Err+2e-16*math.Abs(tails.Q)) + 1e-16*(a+b)
		if d := math.Exp(l); !(math.Abs(a-b-d) <= slack+d*(math.Expm1(min(err, 700))+4e-16*(1+math.Abs(l)))) {
			t.Fatalf("%T at %g: %g, tails differ by %g", p, eps, d, a-b)
		}
		if noise > 10 && err > 1e-13 && math.Abs(eps)*noise < 0.9 {
			t.Fatalf("%T at %g: error %g", p, eps, err)
		}
		// All arguments within tol must be covered.
		tol := 1e-6 * math.Abs(eps)
		_, wide := p.(hook.TailDifferencer).LogTailDifference(eps, tol)
		near, e2 := p.(hook.TailDifferencer).LogTailDifference(eps+0.9*tol, 0)
		if math.Abs(near-l) > wide+e2 && !math.IsInf(near, -1) {
			t.Fatalf("%T: %g at %g and %g at %g, allowed %g", p, l, eps, near, eps+0.9*tol, wide)
		}
	})
}

// Where nearly all of P is above a loss and nearly none of Q, the logarithm of the difference is near 0, and its error is
// that of the difference alone: it must cover what log1p of the small rest shows. (The rest is of positive terms, each
// within 4·2^−53: the reference is within 8·2^−53 of its size.)
func TestLaplaceTailDifferenceNearOne(t *testing.T) {
	worst := 0.0
	for m := 10.0; m < 60; m += 1.37 {
		noise, err := NewLaplace(1 / m)
		if err != nil {
			t.Fatal(err)
		}
		p := noise.(laplaceProfile)
		for eps := -m / 2; eps < m/2; eps += m / 64 {
			l, e := p.LogTailDifference(eps, 0)
			want := math.Log1p(-(math.Exp((eps-p.m)/2) + math.Exp(-(eps+p.m)/2)) / 2)
			if off := math.Abs(l-want) - 8*0x1p-53*math.Abs(want); off > e {
				t.Errorf("m = %v at %v: off by %v, claimed %v", m, eps, off, e)
			} else {
				worst = max(worst, off)
			}
		}
	}
	if worst < 1e-17 {
		t.Errorf("off by %v at most: nothing is tested", worst)
	}
}
