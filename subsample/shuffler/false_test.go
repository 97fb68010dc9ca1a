package shuffler

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// What is false stays a test: statements that look right, with a case in which each is not.

// TestKnownCohortIsNotF: a cohort that the adversary knows costs 0.084020 where Theorem F is 0.055435.
func TestKnownCohortIsNotF(t *testing.T) {
	two := must(NewKRR(1, 2))
	known := 0.0
	for ones := range int64(4) { // of the three others in a cohort of four out of eight
		known = max(known, 0.5*newBinary(1, ones, 3-ones, 9).price(math.Exp(0.2)).above)
	}
	near(t, "known", known, 0.084020, 1e-4)
	f := deltaAt(must(gameOf(must(must(New(8)).WithCohort(4)).(shufflerScheme), two.(randomizer), profiles.Substitute, false).exact()), 0.2)
	near(t, "Theorem F", f, 0.055435, 1e-4)
}

// TestColludingLowerEnd: of seven users two collude, four report: one bit costs .031999 at α = 1.5 where two colluding users taken off n alone
// would attack .073849; and .148827 at α = 1.
func TestColludingLowerEnd(t *testing.T) {
	two := must(NewKRR(1, 2))
	s := must(must(must(New(7)).WithCohort(4)).WithColluding(2))
	b := must(s.Apply(two, profiles.Substitute))
	for _, c := range []struct{ alpha, truth float64 }{{1.5, 0.031999}, {1, 0.148827}} {
		for _, d := range b.Directions {
			if low := deltaAt(d.Lower, math.Log(c.alpha)); low > c.truth*(1+2e-5) {
				t.Errorf("α %v: at least %v, truth %v", c.alpha, low, c.truth)
			}
			if up := deltaAt(d.Upper, math.Log(c.alpha)); up < c.truth*(1-2e-5) {
				t.Errorf("α %v: at most %v, truth %v", c.alpha, up, c.truth)
			}
		}
	}
	// Some of the others: the lower end is not nothing.
	many := must(must(must(New(1000)).WithCohort(400)).WithColluding(50))
	fewer, share := many.(shufflerScheme).withFewer()
	low, up := must(gameOf(fewer, two.(randomizer), profiles.Substitute, true).sum(ctx, 1, 0.05)).below*share, must(gameOf(many.(shufflerScheme), two.(randomizer), profiles.Substitute, false).sum(ctx, 1, 0.05)).above
	if !(low > up/2 && share > 0.999) {
		t.Errorf("δ(0) is in [%v, %v] with probability %v", low, up, share)
	}
}

// TestLocalHashNeedsCollisions: two bijections are a universal family, and 2-RR: δ(0) is 0.46211715726001 and not half of it.
func TestLocalHashNeedsCollisions(t *testing.T) {
	truth := 0.46211715726001
	for _, c := range []struct {
		pairwise bool
		want     float64
	}{{false, truth}, {true, truth / 2}} {
		p := must(must(NewLocalHash(1, 2, c.pairwise)).Pair(profiles.Substitute))
		near(t, "one message", deltaAt(p, 0), c.want, 1e-12)
	}
}

// TestLowerBelowAdaptiveTruth: two rounds of four users: the same pair twice reaches 0.30594, an adversary that adapts 0.32275, and 0.33091 is above.
func TestLowerBelowAdaptiveTruth(t *testing.T) {
	two := must(NewKRR(1, 2))
	b := must(must(New(4)).Apply(two, profiles.Substitute))
	product := func(p profiles.Profile) (tv float64) {
		d := p.(*profiles.Discrete)
		for _, x := range d.Atoms() {
			for _, y := range d.Atoms() {
				tv += max(0, math.Exp(x.LogP+y.LogP)-math.Exp(x.LogQ+y.LogQ))
			}
		}
		return tv
	}
	if up := product(b.Directions[0].Upper); up < 0.32275 || up > 0.3315 {
		t.Errorf("at most %v, want 0.32275 to 0.3315", up)
	}
	if low := product(b.Directions[0].Lower); low > 0.30595 || low < 0.3 {
		t.Errorf("at least %v, want 0.30594", low)
	}
}

// TestMonotone: more users cost less, a larger ε₀, cohort, rate or more colluding users cost more.
func TestMonotone(t *testing.T) {
	all := must(New(60))
	ladder := func(name string, r []randomizer, s []shufflerScheme, rel profiles.Relation) {
		for _, eps := range []float64{0, 0.05, 0.2} {
			last := math.Inf(1)
			for i := range s {
				if now := must(gameOf(s[i], r[i], rel, false).sum(ctx, math.Exp(eps), 0.05)).above; now > last*(1+5e-3) {
					t.Errorf("%s, ε %v: %v after %v", name, eps, now, last)
				} else {
					last = now
				}
			}
		}
	}
	for _, make := range []func(eps float64) randomizer{
		func(e float64) randomizer { return must(NewKRR(e, 2)).(randomizer) }, func(e float64) randomizer { return must(NewKRR(e, 4)).(randomizer) },
		func(e float64) randomizer { return must(NewHadamard(e, 3)).(randomizer) }, func(e float64) randomizer { return must(NewOptimizedUnary(e, 0)).(randomizer) },
	} {
		r := make(1)
		same := []randomizer{r, r, r}
		ladder(r.name+" users", same, []shufflerScheme{must(New(40)).(shufflerScheme), all.(shufflerScheme), must(New(90)).(shufflerScheme)}, profiles.Substitute)
		ladder(r.name+" epsilon", []randomizer{make(1.5), make(1), make(0.5)}, []shufflerScheme{all.(shufflerScheme), all.(shufflerScheme), all.(shufflerScheme)}, profiles.Substitute)
		ladder(r.name+" cohort", same, []shufflerScheme{must(all.WithCohort(50)).(shufflerScheme), must(all.WithCohort(30)).(shufflerScheme), must(all.WithCohort(10)).(shufflerScheme)}, profiles.Substitute)
		ladder(r.name+" rate", same, []shufflerScheme{must(all.WithCohortRate(0.8)).(shufflerScheme), must(all.WithCohortRate(0.4)).(shufflerScheme), must(all.WithCohortRate(0.1)).(shufflerScheme)}, profiles.AddRemove)
		ladder(r.name+" colluding", same, []shufflerScheme{must(all.WithColluding(30)).(shufflerScheme), must(all.WithColluding(10)).(shufflerScheme), all.(shufflerScheme)}, profiles.Substitute)
	}
	// All others collude: what is left is the local price.
	two := must(NewKRR(1, 2))
	b := must(must(must(New(5)).WithColluding(4)).Apply(two, profiles.Substitute))
	near(t, "local", deltaAt(b.Directions[0].Lower, 0.3), deltaAt(must(two.Pair(profiles.Substitute)), 0.3), 1e-9)
}
