package fourier

import (
	"errors"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestRareLossesAreFound: where rare big losses decide, coarse laws find ε far too large, and the passes of a lattice
// find their way from there.
func TestRareLossesAreFound(t *testing.T) {
	p, err := subsample.PoissonProfile(declared(t)(profiles.NewApproximate(0.8948989200263251, 1.4914845790506182e-09)), 0.006340752115595468)
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range []int{0, 1 << 15} {
		r := epsilon(t, sum(t, Options{MaxPoints: points}, profiles.Reverse(p), 213), 1.8976945488091003e-22)
		if w := r.Upper - r.Lower; w > 1e-3*r.Upper || len(r.Warnings) > 0 {
			t.Errorf("%d points: [%v, %v], %v", points, r.Lower, r.Upper, r.Warnings)
		}
	}
}

// TestFewRunsAreNarrow: the integral answers a handful of runs at small rates, whose transforms need tens of thousands of frequencies, to
// 1e-6, and agrees with lattices.
func TestFewRunsAreNarrow(t *testing.T) {
	for _, c := range []struct {
		rate, sigma float64
		runs        int
		delta       float64
	}{{1e-2, 1, 2, 1e-6}, {1e-2, 0.7, 2, 1e-10}, {1e-3, 1, 3, 1e-6}, {2e-4, 1, 10, 1e-6}, {1e-4, 1, 10, 1e-6}, {3.62e-5, 6.34, 2, 5.6e-8}} {
		p := sampled(t, c.sigma, c.rate)
		r, laws := epsilon(t, integral(t, Options{}, p, c.runs), c.delta), epsilon(t, sum(t, Options{}, p, c.runs), c.delta)
		if w := r.Upper - r.Lower; w > 1e-6*max(r.Upper, 1e-3) || len(r.Warnings) > 0 {
			t.Errorf("%+v: [%v, %v], %v", c, r.Lower, r.Upper, r.Warnings)
		}
		if r.Lower > laws.Upper || r.Upper < laws.Lower {
			t.Errorf("%+v: [%v, %v] by the integral, [%v, %v] by laws", c, r.Lower, r.Upper, laws.Lower, laws.Upper)
		}
	}
}

// TestTinyRatesAreNarrow: where 10^10 runs have little more than M = 1 each, what the nodes of a moved line are too far apart by would count 10^10 times.
func TestTinyRatesAreNarrow(t *testing.T) {
	for _, c := range []struct {
		rate, sigma float64
		runs        int64
		delta       float64
	}{{1e-9, 1, 1e12, 1e-5}, {1.3e-9, 0.7, 798e9, 1e-5}, {9.8e-9, 1, 102e8, 3e-10}, {2.4e-9, 0.5, 423e8, 4e-9}} {
		r := epsilon(t, integral(t, Options{}, sampled(t, c.sigma, c.rate), int(c.runs)), c.delta)
		if w := r.Upper - r.Lower; w > 1e-6*max(r.Upper, 1e-3) || len(r.Warnings) > 0 {
			t.Errorf("%+v: [%v, %v], %v", c, r.Lower, r.Upper, r.Warnings)
		}
	}
}

// TestFewRunsAreMultiplied: few runs of rare losses for which rounding ends the transforms are multiplied one by one.
func TestFewRunsAreMultiplied(t *testing.T) {
	for _, c := range []struct{ rate, delta float64 }{{0.01, 1e-8}, {1e-4, 1e-40}} {
		p, err := subsample.PoissonProfile(declared(t)(profiles.NewDiscreteGaussianMechanism(1, 1)), c.rate)
		if err != nil {
			t.Fatal(err)
		}
		r := epsilon(t, sum(t, Options{}, p, 5), c.delta)
		if w := r.Upper - r.Lower; w > 1e-3*r.Upper || len(r.Warnings) > 0 {
			t.Errorf("rate %v, δ = %v: [%v, %v], %v", c.rate, c.delta, r.Lower, r.Upper, r.Warnings)
		}
	}
}

// TestOneStepBesideASchedule: of many steps the search looks at a sample, in which the step that decides stands for
// itself although it is one of 71.
func TestOneStepBesideASchedule(t *testing.T) {
	var steps []any
	for i := range 70 {
		p, err := subsample.PoissonProfile(gaussian(t, 2.1-0.01*float64(i)), 1e-3)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, p, 35)
	}
	steps = append(steps, declared(t)(profiles.NewDiscreteLaplaceMechanism(2, 1)), 38)
	r := epsilon(t, integral(t, Options{}, steps...), 2.39e-5)
	if w := r.Upper - r.Lower; w > 1e-8*r.Upper || len(r.Warnings) > 0 {
		t.Errorf("[%v, %v], %v", r.Lower, r.Upper, r.Warnings)
	}
}

// TestAimsAreMended: where coarse laws expect a δ that is orders of magnitude too large, or an ε a thousand times too large, the
// laws that follow say where the answer is, their tails reach it, and products are as deep as it is.
func TestAimsAreMended(t *testing.T) {
	laplace, errL := profiles.NewLaplaceMechanism(2.5)
	wide, errW := profiles.NewLaplaceMechanism(7.8147806573867635)
	discrete, errD := profiles.NewDiscreteGaussianMechanism(2.5, 1)
	few, errF := subsample.NewWithReplacement(300000, 9)
	many, errM := subsample.NewWithReplacement(1140957, 48)
	one, errO := subsample.NewWithoutReplacement(91392, 1)
	if err := errors.Join(errL, errW, errD, errF, errM, errO); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		base     profiles.Mechanism
		scheme   subsample.Scheme
		relation profiles.Relation
		runs     int
		eps      float64 // 0 asks for ε at 1e-9
		width    float64 // over the answer
	}{
		{"ε of few runs", laplace, few, profiles.Substitute, 50, 0, 1.36e-3}, // 1e-6 is asked
		{"δ of 1e-287", wide, many, profiles.ZeroOut, 1e5, 1, 1e-3},
		{"δ in a gap of losses", discrete, one, profiles.AddRemove, 1e5, 0.1, 0.02},
	} {
		b, err := c.scheme.Apply(c.base, c.relation)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range b.Directions {
			if d.Upper == nil {
				continue
			}
			s := sum(t, Options{}, d.Upper, c.runs)
			var r Result
			if c.eps == 0 {
				r = epsilon(t, s, 1e-9)
			} else {
				r = delta(t, s, c.eps)
			}
			if w := r.Upper - r.Lower; !(w <= c.width*r.Upper) {
				t.Errorf("%s, direction %d: [%v, %v], %v", c.name, i, r.Lower, r.Upper, r.Warnings)
			}
		}
	}
}
