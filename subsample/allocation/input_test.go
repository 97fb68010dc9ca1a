package allocation

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// TestBadInput: one line that names the field.
func TestBadInput(t *testing.T) {
	nan := math.NaN()
	for field, errs := range map[string][]error{
		"steps":      {err(NewRandom(0)), err(NewRandom(1 << 40))},
		"uses":       {err(must(NewRandom(5)).WithUses(6)), err(must(NewRandom(5)).WithUses(0)), err(NewFixed(0)), err(must(must(NewRandom(5)).WithUses(2)).Apply(gaussian(1), profiles.Substitute))},
		"epochs":     {err(must(NewRandom(5)).WithEpochs(0)), err(must(NewShuffle(5)).WithOneDraw(-1))},
		"redraw":     {err(must(must(NewRandom(5)).WithOneDraw(2)).Apply(must(profiles.NewLaplaceMechanism(1)), profiles.AddRemove))},
		"first":      {err(must(NewRandom(5)).First(6)), err(must(must(NewRandom(5)).First(3)).Apply(gaussian(1), profiles.Substitute)), err(must(must(NewRandom(5)).WithUses(2)).First(3))},
		"batches":    {err(NewShuffle(0))},
		"unused":     {err(must(NewShuffle(3)).WithUnused(1)), err(must(NewShuffle(3)).WithUnused(nan))},
		"rate":       {err(NewTruncated(nan, 1, 2)), err(NewTruncated(1.5, 1, 2))},
		"cap":        {err(NewTruncated(0.5, 0, 2)), err(NewTruncated(0.5, 3, 2))},
		"population": {err(must(NewRandom(5)).Batches(nil, 0)), err(must(NewTruncated(0.5, 1, 2)).Batches(nil, 3)), err(NewTruncated(0.5, 1, 0))},
		"mechanism":  {err(must(NewTruncated(0.5, 1, 2)).Apply(must(profiles.NewLaplaceMechanism(1)), profiles.AddRemove)), err(must(NewShuffle(5)).Apply(must(profiles.NewLaplaceMechanism(1)), profiles.ZeroOut)), err(must(NewRandom(5)).Apply(must(profiles.NewLaplaceMechanism(1)), profiles.Substitute))},
		"neighbors":  {err(must(NewFixed(2)).Apply(gaussian(1), profiles.AddRemove)), err(must(NewShuffle(2)).Apply(gaussian(1), 9))},
	} {
		for i, e := range errs {
			if e == nil {
				t.Errorf("%s, case %d: no error", field, i)
			} else if fault.Of(e).Field() != field || strings.Contains(e.Error(), "\n") {
				t.Errorf("%s, case %d: %v", field, i, e)
			}
		}
	}
}

func err[T any](_ T, e error) error { return e }

// sharp returns s with laws for a target.
func sharp(s Random, t target) randomScheme { return s.(randomScheme).at(t).(randomScheme) }

// sharpShuffle returns s with laws for a target.
func sharpShuffle(s Shuffle, t target) shuffleScheme { return s.(shuffleScheme).at(t).(shuffleScheme) }

// TestExtremes: noise and counts at the ends of their ranges give an answer or an error, soon.
func TestExtremes(t *testing.T) {
	slow.Test(t)
	for _, sigma := range []float64{0.05, 0.1, 100, 1e4} {
		for _, steps := range []int64{2, 1000000} {
			m, e := sharp(must(NewRandom(steps)), target{Delta: 1e-6, Relative: 1e-2}).Apply(gaussian(sigma), profiles.AddRemove)
			if e != nil {
				t.Errorf("σ = %v, %d steps: %v", sigma, steps, e)
				continue
			}
			lo, hi := interval(t, m.Directions[0], 1, 1e-6)
			if sigma > 10 && steps > 1000 {
				// The spread of M is 1e-5 or less, of which errors of masses, 1e6 times those of
				// one step, are a part.
				if !(lo <= hi) || hi > 1e-4 {
					t.Errorf("σ = %v, %d steps: [%v, %v]", sigma, steps, lo, hi)
				}
				continue
			}
			// With a noise multiplier of 0.05 the masses' logarithms span thousands.
			if !(lo <= hi) || hi > lo*(1.02+0.1*math.Floor(0.09/sigma))+2e-6 {
				t.Errorf("σ = %v, %d steps: [%v, %v]", sigma, steps, lo, hi)
			}
		}
	}
}

// TestCancelled: a cancelled context ends a long call.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		if _, e := must(NewRandom(1000)).Bounds(ctx, gaussian(1), r); e != context.Canceled {
			t.Errorf("%v: %v", r, e)
		}
	}
	if _, e := must(NewShuffle(1000)).Bounds(ctx, gaussian(1), profiles.ZeroOut); e != context.Canceled {
		t.Error(e)
	}
}

// TestConformance: the laws and mixtures are profiles.
func TestConformance(t *testing.T) {
	capped := must(must(NewTruncated(0.1, 20, 100)).Apply(gaussian(1), profiles.AddRemove))
	substituted := must(must(NewTruncated(0.1, 20, 100)).Apply(gaussian(1), profiles.Substitute))
	for _, p := range []profiles.Profile{
		must(must(NewRandom(10)).Apply(gaussian(1), profiles.AddRemove)).Directions[0].Upper,
		capped.Directions[0].Upper, capped.Directions[1].Upper, substituted.Directions[0].Upper,
	} {
		profiletest.Run(t, p, nil, profiletest.Grid(p, 3))
	}
}

// TestSmallestCap: the hint costs what it says, and one less costs more.
func TestSmallestCap(t *testing.T) {
	s := must(NewTruncated(0.01, 550, 50000))
	q := newCapQuestion(t.Context(), gaussian(1), profiles.AddRemove, 2000, 1e-6, fourier.Options{Relative: 1e-3})
	cap1 := must(q.smallest(s.(truncatedScheme), 1.01*must(q.upper(s.(truncatedScheme), 50000))))
	cost := func(most int64) float64 {
		m := must(must(s.WithCap(most)).Apply(gaussian(1), profiles.AddRemove))
		_, hi := interval(t, m.Directions[0], 2000, 1e-6)
		return hi
	}
	plain := cost(50000)
	if a, b := cost(cap1), cost(cap1-1); a > plain*1.0101 || b < plain*1.0099 {
		t.Errorf("cap %d costs %v, one less %v, none %v", cap1, a, b, plain)
	}
	if math.Abs(plain-2.95555) > 1e-3 {
		t.Errorf("without a cap ε = %v, want 2.95555", plain)
	}
}

// TestCapCost: a cap next to the mean has a bound that says nothing.
func TestCapCost(t *testing.T) {
	ctx := context.Background()
	for most, vacuous := range map[int64]bool{600: false, 550: true} {
		c, e := must(NewTruncated(0.01, most, 50000)).CapCost(ctx, gaussian(1), profiles.AddRemove, 2000, 1e-6, fourier.Options{})
		if e != nil || c.Vacuous != vacuous || c.Capped < c.Uncapped || vacuous && (c.Smallest < 600 || c.Smallest > 610) {
			t.Errorf("cap %d: %+v, %v", most, c, e)
		}
	}
}

// What a cap costs is asked with the work of one question, and said of an ε above 0 only.
func TestCapCostKeepsToItsWork(t *testing.T) {
	s := must(NewTruncated(0.01, 550, 50000))
	ctx := t.Context()
	limits := fourier.Options{Work: 3e6, Relative: 1e-3}
	q := newCapQuestion(ctx, gaussian(1), profiles.AddRemove, 2000, 1e-6, limits)
	plain := must(q.upper(s.(truncatedScheme), s.(truncatedScheme).population))
	if most := must(q.smallest(s.(truncatedScheme), plain*1.01)); most < 600 || most > s.(truncatedScheme).population || q.left < -limits.Work {
		t.Errorf("cap %d, %v of the work is left", most, q.left)
	}
	c, e := s.CapCost(ctx, gaussian(1), profiles.ZeroOut, 4, 0.5, fourier.Options{})
	if e != nil || c.Uncapped >= 0 || c.Vacuous {
		t.Errorf("a negative ε: %+v, %v", c, e)
	}
}

func TestACapOfOneHasABound(t *testing.T) {
	// Every batch is cut: the part without a cut has no weight left.
	s := must(NewTruncated(256.0/60000, 1, 60000))
	m := must(s.Apply(gaussian(1.1), profiles.AddRemove))
	for _, d := range m.Directions {
		if got, err := profiles.LogDelta(d.Upper, 1); math.IsNaN(got) || math.IsNaN(err) || !(got <= 0) {
			t.Errorf("log δ(1) = %v with error %v", got, err)
		}
	}
}

// Randomized response answers for an empty place at random, which costs less than a
// substitution, in any order that is public and with one step in the epoch.
func TestRandomizedResponseOfAnEmptyPlace(t *testing.T) {
	b, err := profiles.NewRandomizedResponse(0.5, 3)
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.Pair(profiles.ZeroOut)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := NewFixed(1)
	if err != nil {
		t.Fatal(err)
	}
	random, err := NewRandom(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []interface {
		Apply(profiles.Mechanism, profiles.Relation) (profiles.Bounds, error)
	}{fixed, random} {
		m, err := s.Apply(b, profiles.ZeroOut)
		if err != nil || m.Relation != profiles.ZeroOut || !profiles.Equal(m.Directions[0].Upper, want) {
			t.Errorf("%T: %v, %v", s, m, err)
		}
	}
}
