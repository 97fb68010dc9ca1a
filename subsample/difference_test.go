package subsample

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/hook"
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
		d, ok := p.(hook.TailDifferencer)
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
