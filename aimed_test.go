package accountant

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

func gaussianOf(t *testing.T, sigma float64) profiles.Mechanism {
	t.Helper()
	b, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func allocated(t *testing.T, steps int64) allocation.Random {
	t.Helper()
	s, err := allocation.NewRandom(steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asked(t *testing.T, r profiles.Relation, delta float64, steps []Step, opts ...Options) Interval {
	t.Helper()
	a := New(r, opts...)
	if err := a.AddPlan(t.Context(), &Plan{Neighbors: r, Steps: steps}); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// TestAllocationMeetsItsGoldenValues: the intervals of the specification's §7, at the width
// that is asked for by default.
func TestAllocationMeetsItsGoldenValues(t *testing.T) {
	for _, c := range []struct {
		sigma        float64
		steps, count int64
		delta        float64
		lower, upper float64
	}{
		{1, 1000, 1, 1e-6, 0.171725, 0.171736},
		{1, 1000, 10, 1e-6, 0.540029, 0.540093},
		{1.1, 234, 60, 1e-5, 2.340299, 2.340960},
		{2.5, 78, 90, 8e-7, 2.016919, 2.017380},
		{1, 1000, 1, 1e-100, 14.719748, 14.719913},
	} {
		steps := []Step{{Mechanism: gaussianOf(t, c.sigma), Sampling: allocated(t, c.steps), Count: c.count}}
		iv := asked(t, profiles.AddRemove, c.delta, steps)
		if !(iv.Lower <= c.upper && iv.Upper >= c.lower) {
			t.Errorf("%+v: [%v, %v] does not meet it", c, iv.Lower, iv.Upper)
		}
		if iv.Upper-iv.Lower > 1e-3*iv.Upper || len(iv.Warnings) > 0 || iv.Gap != nil {
			t.Errorf("%+v: [%v, %v] is wider than asked, with %q and gap %v", c, iv.Lower, iv.Upper, iv.Warnings, iv.Gap)
		}
	}
}

// TestAimedTotalsGrow: runs that are added one by one, between questions, answer as those
// added at once, with laws of one run composed and with one law of all.
func TestAimedTotalsGrow(t *testing.T) {
	b, s := gaussianOf(t, 1.1), allocated(t, 50)
	for _, opts := range [][]Options{nil, {{ManyQuestions: true}}} {
		a := New(profiles.AddRemove, opts...)
		var last Interval
		for range 5 {
			if err := a.Add(t.Context(), Step{Mechanism: b, Sampling: s}, 1); err != nil {
				t.Fatal(err)
			}
			iv, err := a.Epsilon(t.Context(), 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if !(iv.Upper > last.Upper) {
				t.Errorf("%d runs: ε ≤ %v, not above %v", a.Runs(), iv.Upper, last.Upper)
			}
			last = iv
		}
		once := asked(t, profiles.AddRemove, 1e-5, []Step{{Mechanism: b, Sampling: s, Count: 5}})
		if last.Lower > once.Upper || once.Lower > last.Upper {
			t.Errorf("[%v, %v] one by one, [%v, %v] at once", last.Lower, last.Upper, once.Lower, once.Upper)
		}
	}
}

// TestEveryQuestionCountsAimedSteps: no question may forget them, as each asks its own sums.
func TestEveryQuestionCountsAimedSteps(t *testing.T) {
	slow.Test(t)
	b, s := gaussianOf(t, 0.5), allocated(t, 4)
	a := New(profiles.AddRemove)
	if err := a.Add(t.Context(), Step{Mechanism: gaussianOf(t, 100)}, 1); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(t.Context(), Step{Mechanism: b, Sampling: s}, 3); err != nil {
		t.Fatal(err)
	}
	if d, err := a.Delta(t.Context(), 1); err != nil || !(d.Lower > 0.1) {
		t.Errorf("δ(1) = %v, %v", d, err)
	}
	if r, err := a.Risk(t.Context(), nil, nil); err != nil || !(r.Advantage.Lower > 0.3) || r.TheoryGap {
		t.Errorf("risk %+v, %v", r, err)
	}
	// A tolerance of 0 is for Gaussian noise on the whole data set alone.
	if g, err := a.GDP(t.Context(), 0); err == nil { // which bounded μ at other tolerances, too
		t.Errorf("μ without a tolerance: %+v", g)
	}
	if p, err := a.TradeOff(t.Context(), []float64{0.1}); err != nil || !(p[0].Power.Lower > 0.3) {
		t.Errorf("trade-off %+v, %v", p, err)
	}
	if c, err := a.DeltaCurve(t.Context(), []float64{0, 1, 2}); err != nil || !(c[2].Lower > 0.01) {
		t.Errorf("curve %+v, %v", c, err)
	}
	p := &Plan{Neighbors: profiles.AddRemove, Steps: []Step{{Mechanism: b, Sampling: s, Count: 4}}}
	if c, err := p.StepsCurve(t.Context(), 1e-5, 4); err != nil || len(c) != 4 || !(c[3].Lower > c[0].Upper) {
		t.Errorf("steps %+v, %v", c, err)
	}
	rows, err := p.Compare(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	truth := rows[len(rows)-1]
	for _, row := range rows {
		if row.Kind == UpperBound && row.Epsilon < truth.Lower {
			t.Errorf("%s: ε ≤ %v is below %v", row.Method, row.Epsilon, truth.Lower)
		}
		if row.Method == "basic composition" && !(row.Epsilon > truth.Epsilon) {
			t.Errorf("basic composition of four epochs is %v, as if they were one", row.Epsilon)
		}
	}
}

func TestCalibrateMeetsABudgetWithAimedSteps(t *testing.T) {
	p := &Plan{Neighbors: profiles.AddRemove, Steps: []Step{{Mechanism: gaussianOf(t, 1), Sampling: allocated(t, 100), Count: 10}}}
	c, err := Calibrate(t.Context(), p, Goal{Epsilon: 1, Delta: 1e-6, Solve: NoiseMultiplier})
	if err != nil {
		t.Fatal(err)
	}
	if !(c.Meets.Upper <= 1 && c.Meets.Upper > 0.998) {
		t.Errorf("%v: ε ≤ %v", c.Value, c.Meets.Upper)
	}
}

// TestBelowTheLeastDelta: the upper end is then that of batches which anybody may know.
func TestBelowTheLeastDelta(t *testing.T) {
	iv := asked(t, profiles.AddRemove, 1e-200, []Step{{Mechanism: gaussianOf(t, 5), Sampling: allocated(t, 10), Count: 4}})
	public := asked(t, profiles.AddRemove, 1e-200, []Step{{Mechanism: gaussianOf(t, 5), Count: 4}})
	if math.Abs(iv.Upper-public.Upper) > 1e-6*public.Upper || len(iv.Warnings) == 0 || !strings.Contains(iv.Warnings[0], "1e-120") {
		t.Errorf("ε ≤ %v with %q; in public ε ≤ %v", iv.Upper, iv.Warnings, public.Upper)
	}
	if !(iv.Lower > 0) {
		t.Errorf("ε ≥ %v", iv.Lower)
	}
}

// TestShuffleIsBetweenAnAttackAndNoAmplification at the specification's rows of §7; the attack
// is at least as good as the one there.
func TestShuffleIsBetweenAnAttackAndNoAmplification(t *testing.T) {
	for _, c := range []struct {
		relation     profiles.Relation
		lower, upper float64
	}{{profiles.ZeroOut, 11.3510, 54.0459}, {profiles.Substitute, 14.0743, 158.366}} {
		s, err := allocation.NewShuffle(234)
		if err != nil {
			t.Fatal(err)
		}
		iv := asked(t, c.relation, 1e-5, []Step{{Mechanism: gaussianOf(t, 1.1), Sampling: s, Count: 60}})
		if !(iv.Lower >= 0.99*c.lower && iv.Lower < 1.05*c.lower) || math.Abs(iv.Upper-c.upper) > 1e-3*c.upper || iv.Gap == nil {
			t.Errorf("%v: [%v, %v], not about [%v, %v]", c.relation, iv.Lower, iv.Upper, c.lower, c.upper)
		}
	}
}

func TestAddChecksAimedSteps(t *testing.T) {
	laplace, err := profiles.NewLaplaceMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := allocation.NewShuffle(10)
	if err != nil {
		t.Fatal(err)
	}
	a := New(profiles.ZeroOut)
	if err := a.Add(t.Context(), Step{Mechanism: laplace, Sampling: s}, 1); err == nil || a.Runs() != 0 {
		t.Errorf("%v, and %d runs", err, a.Runs())
	}
	first, err := allocated(t, 10).First(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := New(profiles.Substitute).Add(t.Context(), Step{Mechanism: gaussianOf(t, 1), Sampling: first}, 1); err == nil {
		t.Error("a part of an epoch was taken under substitute")
	}
}

// TestCheckIsWhatMechanismRefuses, as one stands for the other.
func TestCheckIsWhatMechanismRefuses(t *testing.T) {
	laplace, err := profiles.NewLaplaceMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	random := allocated(t, 6)
	two, _ := random.WithUses(2)
	six, _ := random.WithUses(6)
	part, _ := random.First(2)
	once, _ := random.WithOneDraw(2)
	shuffle, _ := allocation.NewShuffle(3)
	for _, s := range []subsample.LawMaker{random, two, six, part, once, shuffle} {
		for _, b := range []profiles.Mechanism{gaussianOf(t, 2), laplace} {
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute, profiles.ZeroOut} {
				laws, check := s.Laws(b, r)
				_, err := laws.For(t.Context(), profiles.Question{Runs: 2, Delta: 1e-3, Width: 0.3, Total: 2})
				if (check == nil) != (err == nil) {
					t.Errorf("%s %+v, %s, %v: Check %v, Mechanism %v", s.Name(), s, b.Name(), r, check, err)
				}
			}
		}
	}
}

func TestAimedQuestionsCanBeCancelled(t *testing.T) {
	a := New(profiles.AddRemove)
	if err := a.Add(t.Context(), Step{Mechanism: gaussianOf(t, 1), Sampling: allocated(t, 100)}, 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Epsilon(ctx, 1e-6); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if iv, err := a.Epsilon(t.Context(), 1e-6); err != nil || !(iv.Upper > 0) {
		t.Errorf("after that: %v, %v", iv, err)
	}
}

// TestLawsAreCounted: a limit of work makes laws wider, with a warning, and a limit that is no limit changes nothing.
func TestLawsAreCounted(t *testing.T) {
	ask := func(opts ...Options) Interval {
		a := New(profiles.AddRemove, append(opts, Options{Accuracy: 1e-4})...)
		if err := a.Add(t.Context(), Step{Mechanism: gaussianOf(t, 1), Sampling: allocated(t, 300)}, 1); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return iv
	}
	free := ask()
	if iv := ask(Options{WorkLimit: 1e12}); iv.Lower != free.Lower || iv.Upper != free.Upper || len(iv.Warnings) != 0 {
		t.Errorf("at a limit of 1e12: [%v, %v] with %q; without one [%v, %v]", iv.Lower, iv.Upper, iv.Warnings, free.Lower, free.Upper)
	}
	iv := ask(Options{WorkLimit: 1e4})
	if !(iv.Lower <= free.Upper && free.Lower <= iv.Upper) || !(iv.Upper-iv.Lower > 10*(free.Upper-free.Lower)) {
		t.Errorf("at a limit of 1e4: [%v, %v]; without one [%v, %v]", iv.Lower, iv.Upper, free.Lower, free.Upper)
	}
	if len(iv.Warnings) == 0 || !strings.Contains(iv.Warnings[0], "wider than asked") {
		t.Errorf("at a limit of 1e4: warnings %q", iv.Warnings)
	}
}

// TestALowCapIsToldWithOneThatIsNot at the specification's row with n−1 = 50000 and B = 550.
func TestALowCapIsToldWithOneThatIsNot(t *testing.T) {
	s, err := allocation.NewTruncated(0.01, 550, 50000)
	if err != nil {
		t.Fatal(err)
	}
	iv := asked(t, profiles.AddRemove, 1e-6, []Step{{Mechanism: gaussianOf(t, 1), Sampling: s, Count: 2000}})
	if len(iv.Warnings) == 0 || !strings.HasPrefix(iv.Warnings[len(iv.Warnings)-1], "cap: 550 is so low") {
		t.Errorf("[%v, %v] with %q", iv.Lower, iv.Upper, iv.Warnings)
	}
}
