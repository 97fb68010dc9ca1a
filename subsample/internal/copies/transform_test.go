package copies

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/profiles"
)

// The transforms within a mass of sampling with replacement: the one above has the mass
// at +∞, both agree with the whole table where that is served, and M above ≥ M below.
func TestTransformsWithin(t *testing.T) {
	law := WithReplacement(100, 6)
	p := NewGaussianAttack(law, 0.25)
	whole := hook.TransformOf(p)
	if whole == nil {
		t.Fatal("no transform of at most 6 copies")
	}
	for _, mass := range []float64{1e-4, 1e-7, 1e-9} {
		upper, lower := p.TransformsWithin(mass)
		pInf, _ := upper.Infinite()
		if !(pInf > 0 && pInf <= mass*1.01) {
			t.Errorf("mass %g: P(L=+∞) = %g", mass, pInf)
		}
		if _, qInf := upper.Reverse().Infinite(); qInf != pInf {
			t.Errorf("mass %g: the reverse has Q(L=−∞) = %g, want %g", mass, qInf, pInf)
		}
		for _, c := range []struct{ s, want float64 }{{0, math.Log1p(-pInf)}, {-1, 0}} {
			if k, _, err := upper.Real(c.s); math.Abs(k-c.want) > err {
				t.Errorf("mass %g: log M(%v) = %v ± %v, want %v", mass, c.s, k, err, c.want)
			}
			if k, _, err := upper.Reverse().Real(-1 - c.s); math.Abs(k-c.want) > err {
				t.Errorf("mass %g: log M(%v) of the reverse = %v ± %v, want %v", mass, -1-c.s, k, err, c.want)
			}
		}
		for _, s := range []float64{0.5, 2, -0.4, -3} {
			k, _, _ := whole.Real(s)
			a, _, _ := upper.Real(s)
			b, _, _ := lower.Real(s)
			if off := 100 * mass * math.Exp(math.Abs(s)); math.Abs(a-k) > off || math.Abs(b-k) > off {
				t.Errorf("mass %g: log M(%v) = %v, above %v, below %v", mass, s, k, a, b)
			}
			l := must(upper.Line(t.Context(), s, 3, 1e-12, 0))
			for _, at := range []float64{0, 1, 3} {
				re, im, err := l.LogM(at)
				r2, i2, e2 := must(upper.Reverse().Line(t.Context(), -1-s, 3, 1e-12, 0)).LogM(at)
				if math.Hypot(re-r2, im+i2) > err+e2 || re > l.Decay(at) {
					t.Errorf("mass %g: log M(%v+%vi) = %v + %vi, the reverse has %v + %vi, Decay %v", mass, s, at, re, im, r2, i2, l.Decay(at))
				}
			}
		}
	}
	if up, lo := hook.TransformsOf(profiles.Reverse(NewGaussianAttack(WithReplacement(1000, 50), 0.2)), 1e-16); up == nil || lo == nil {
		t.Error("the reverse of a long table has no transforms")
	}
}
