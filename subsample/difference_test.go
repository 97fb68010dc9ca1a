package subsample

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/profiles"
)

func TestTailDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := math.Exp(rapid.Float64Range(-1, 9).Draw(t, "log noise"))
		rate := math.Exp(rapid.Float64Range(-20, -0.1).Draw(t, "log rate"))
		var g profiles.Profile
		g, _ = profiles.NewGaussian(noise)
		if rapid.Bool().Draw(t, "laplace") {
			g, _ = profiles.NewLaplace(noise)
		}
		p, err := PoissonProfile(g, rate)
		if rapid.Bool().Draw(t, "substitute") {
			p, err = Envelope(g, rate)
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "reverse") {
			p = profiles.Reverse(p)
		}
		// ε at a quantile of the base's loss.
		eps := math.Log1p(rate * math.Expm1(rapid.Float64Range(-3, 3).Draw(t, "position")/noise))
		if rapid.Bool().Draw(t, "mirror") {
			eps = -eps
		}
		d, ok := p.(profiles.TailDifferencer)
		if !ok {
			t.Fatalf("%T has no tail differences", p)
		}
		l, e := d.LogTailDifference(eps, 0)
		if math.IsInf(e, 1) {
			return // below the support
		}
		tails := p.Tails(eps, 0)
		if math.IsInf(l, -1) {
			if tails.P != tails.Q {
				t.Fatalf("%T at %g: no difference of e^%g and e^%g", p, eps, tails.P, tails.Q)
			}
			return
		}
		a, b := math.Exp(tails.P), math.Exp(tails.Q)
		slack := a*(tails.Err+2e-16*math.Abs(tails.P)) + b*(tails.Err+2e-16*math.Abs(tails.Q)) + 1e-16*(a+b)
		if x := math.Exp(l); !(math.Abs(a-b-x) <= slack+x*math.Expm1(min(e, 700))+1e-15*x*(1+math.Abs(l))) {
			t.Fatalf("%T at %g: %g, tails differ by %g", p, eps, x, a-b)
		}
	})
}

// TestSubstituteTailDifferences: of Gaussian noise on a Poisson sample under substitution the difference is that of the tails
// within both errors, is far more accurate than they are where losses are small, and covers all losses within a tolerance.
func TestSubstituteTailDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := math.Exp(rapid.Float64Range(-2, 12).Draw(t, "log noise"))
		p := mixture(must(profiles.NewGaussianMechanism(noise)), rapid.Float64Range(1e-3, 0.9).Draw(t, "rate"))
		eps := rapid.Float64Range(-3, 3).Draw(t, "position") / noise
		d := p.(profiles.TailDifferencer)
		l, err := d.LogTailDifference(eps, 0)
		tails := p.Tails(eps, 0)
		a, b, x := math.Exp(tails.P), math.Exp(tails.Q), math.Exp(l)
		slack := a*(tails.Err+2e-16*math.Abs(tails.P)) + b*(tails.Err+2e-16*math.Abs(tails.Q)) + 1e-16*(a+b)
		if !(math.Abs(a-b-x) <= slack+x*(math.Expm1(min(err, 700))+4e-16*(1+math.Abs(l)))) {
			t.Fatalf("at %g: %g, tails differ by %g", eps, x, a-b)
		}
		if noise > 10 && err > 1e-13 && math.Abs(eps)*noise < 0.9 {
			t.Fatalf("at %g: error %g", eps, err)
		}
		tol := 1e-6 * math.Abs(eps)
		_, wide := d.LogTailDifference(eps, tol)
		near, e2 := d.LogTailDifference(eps+0.9*tol, 0)
		if math.Abs(near-l) > wide+e2 {
			t.Fatalf("%g at %g and %g at %g, allowed %g", l, eps, near, eps+0.9*tol, wide)
		}
	})
}
