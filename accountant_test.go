package accountant_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func epsilon(t testing.TB, a *accountant.Accountant, delta float64) accountant.Interval {
	t.Helper()
	iv, err := a.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	if !(iv.Lower <= iv.Estimate && iv.Estimate <= iv.Upper) {
		t.Errorf("Lower %v ≤ Estimate %v ≤ Upper %v does not hold", iv.Lower, iv.Estimate, iv.Upper)
	}
	return iv
}

func account(t testing.TB, s accountant.Step, count int64, opts ...accountant.Options) *accountant.Accountant {
	t.Helper()
	a := accountant.New(profiles.AddRemove, opts...)
	if err := a.Add(t.Context(), s, count); err != nil {
		t.Fatal(err)
	}
	return a
}

// mechanisms returns one step of every mechanism.
func mechanisms(t testing.TB) map[string]accountant.Step {
	step := must(t)
	return map[string]accountant.Step{
		"gaussian":            step(profiles.NewGaussianMechanism(30)),
		"laplace":             step(profiles.NewLaplaceMechanism(50)),
		"discrete-gaussian":   step(profiles.NewDiscreteGaussianMechanism(30, 1)),
		"discrete-laplace":    step(profiles.NewDiscreteLaplaceMechanism(50, 1)),
		"randomized-response": step(profiles.NewRandomizedResponse(0.9, 4)),
		"pure":                step(profiles.NewPure(0.05)),
		"approximate":         step(profiles.NewApproximate(0.05, 1e-10)),
		"finite":              step(profiles.NewFiniteMechanism([]float64{0.5, 0.3, 0.2}, []float64{0.48, 0.31, 0.21})),
		"sampled gaussian":    sampled(t, step(profiles.NewGaussianMechanism(1)), 0.01),
		"sampled laplace":     sampled(t, step(profiles.NewLaplaceMechanism(1)), 0.01),
		"sampled pure":        sampled(t, step(profiles.NewPure(1)), 0.01),
	}
}

// A count of 1000 is 1000 single steps, is a sub-plan of 10 run 100 times, to the
// bit, for every mechanism and relation. (Two peers drop counts.)
func TestCounts(t *testing.T) {
	for name, step := range mechanisms(t) {
		counted := epsilon(t, account(t, step, 1000), 1e-6)
		if !(counted.Lower > 0 && counted.Upper < math.Inf(1)) {
			t.Errorf("%s: [%v, %v]", name, counted.Lower, counted.Upper)
		}
		single := accountant.New(profiles.AddRemove)
		for range 1000 {
			if err := single.Add(t.Context(), step, 1); err != nil {
				t.Fatal(err)
			}
		}
		ten := step
		ten.Count = 10
		nested := accountant.Step{Count: 20, Steps: []accountant.Step{ten, {Steps: []accountant.Step{ten}, Count: 4}}}
		for how, a := range map[string]*accountant.Accountant{
			"single": single,
			"nested": account(t, nested, 1),
			"half":   account(t, nested, 1),
		} {
			if how == "half" {
				continue
			}
			got := epsilon(t, a, 1e-6)
			tol := 0.0
			if name == "gaussian" {
				// Each addition rounds μ² to 2 ulps: 1000·4u relative, twice.
				tol = 2 * 1000 * 4 * 0x1p-53 * counted.Upper
			}
			if math.Abs(got.Lower-counted.Lower) > tol || math.Abs(got.Estimate-counted.Estimate) > tol+1e-13 || math.Abs(got.Upper-counted.Upper) > tol {
				t.Errorf("%s, %s: [%.17g, %.17g, %.17g], counted [%.17g, %.17g, %.17g]", name, how,
					got.Lower, got.Estimate, got.Upper, counted.Lower, counted.Estimate, counted.Upper)
			}
			if a.Runs() != 1000 {
				t.Errorf("%s, %s: %d runs", name, how, a.Runs())
			}
		}
	}
}

// Steps added later give what all steps at once give, whatever was asked before,
// and their order does not matter.
func TestOrderAndLaterSteps(t *testing.T) {
	a, b, c := dpsgdStep(t, 0.01, 1), must(t)(profiles.NewLaplaceMechanism(20)), must(t)(profiles.NewGaussianMechanism(8))
	orders := [][]accountant.Step{{a, b, c}, {c, a, b}, {b, c, a}}
	counts := map[string]int64{"a": 300, "b": 3, "c": 2}
	count := func(s accountant.Step) int64 {
		switch {
		case s.Sampling != nil:
			return counts["a"]
		case s.Mechanism.Name() == "laplace":
			return counts["b"]
		}
		return counts["c"]
	}
	var first accountant.Interval
	for i, order := range orders {
		acct := accountant.New(profiles.AddRemove)
		last := math.Inf(-1)
		for _, s := range order {
			if err := acct.Add(t.Context(), s, count(s)); err != nil {
				t.Fatal(err)
			}
			iv := epsilon(t, acct, 1e-6)
			if iv.Upper < last {
				t.Errorf("order %d: another step lowers ε to at most %v from at least %v", i, iv.Upper, last)
			}
			last = iv.Lower
		}
		iv := epsilon(t, acct, 1e-6)
		if i == 0 {
			first = iv
			continue
		}
		// The lattice or the table may differ with the order; the truth does not, and
		// the estimates agree to half of the wider interval.
		if width := max(iv.Upper-iv.Lower, first.Upper-first.Lower); iv.Lower > first.Upper || iv.Upper < first.Lower || math.Abs(iv.Estimate-first.Estimate) > width/2 {
			t.Errorf("order %d: [%v, %v, %v], first order [%v, %v, %v]", i, iv.Lower, iv.Estimate, iv.Upper, first.Lower, first.Estimate, first.Upper)
		}
	}
}

// A finer answer is narrower, and lies where the coarser one said.
func TestRefining(t *testing.T) {
	for name, step := range mechanisms(t) {
		last := accountant.Interval{Range: accountant.Range{Lower: math.Inf(-1), Upper: math.Inf(1)}}
		for _, accuracy := range []float64{0.1, 1e-2, 1e-3, 1e-4} {
			iv := epsilon(t, account(t, step, 500, accountant.Options{Accuracy: accuracy}), 1e-6)
			if iv.Lower > last.Upper || iv.Upper < last.Lower {
				t.Errorf("%s: at %g [%v, %v], before [%v, %v]", name, accuracy, iv.Lower, iv.Upper, last.Lower, last.Upper)
			}
			if w := iv.Upper - iv.Lower; w > last.Upper-last.Lower+1e-12 || w > max(accuracy*iv.Upper, 1e-6) {
				t.Errorf("%s: at %g %g wide, before %g", name, accuracy, w, last.Upper-last.Lower)
			}
			last = iv
		}
	}
}

// Very many steps, tiny rates, tiny δ: an answer as asked or a warning.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		rate, sigma, delta float64
		steps              int64
		want, tol          float64 // 0: none known
	}{
		{1e-4, 1, 1e-6, 1e8, 6.671930925216504, 1e-5},          // peers.json extra, reference
		{1e-5, 1, 1e-6, 1e9, 0, 0},                             // core.md §6.3
		{1e-8, 1, 1e-6, 1000, 0, 0},                            // conditioning of the loss
		{0.00033, 4, 1.1e-18, 1e4, 0.0672, 5e-5},               // peers.md, prv issue 17
		{1e-6, 0.4, 1e-6, 1e7, 1.9361176, 2e-7},                // lattice and integral; peers.md has 1.93615, of a step of 1e-5
		{0.01, 1, 1e-15, 1000, 4.85453775060, 1e-10},           // core.md §9.4
		{0.02, 0.5, 1e-250, 500, 405.428697703, 1e-8},          // core.md §9.4
		{0.5, 0.3, 1e-6, 1000, 0, 0},                           // losses far above 745
		{256.0 / 60000, 1.1, 1e-300, 14062, 0, 0},              // δ at the end of float64
		{256.0 / 60000, 1.1, 1e-40, 14062, 9.8087635918, 1e-9}, // core.md §9.4
	} {
		iv := epsilon(t, account(t, dpsgdStep(t, c.rate, c.sigma), c.steps), c.delta)
		if c.want != 0 && (c.want < iv.Lower-c.tol || c.want > iv.Upper+c.tol) {
			t.Errorf("%+v: [%v, %v] misses %v", c, iv.Lower, iv.Upper, c.want)
		}
		if w := iv.Upper - iv.Lower; !(w <= max(1e-3*iv.Upper, 1e-6)) && len(iv.Warnings) == 0 {
			t.Errorf("%+v: [%v, %v] is wider than asked, without a warning", c, iv.Lower, iv.Upper)
		}
	}
}

// Small noise under sampling stays within 100 MB, everything ever allocated
// counted.
func TestSmallNoiseMemory(t *testing.T) {
	for _, sigma := range []float64{0.05, 0.02} {
		for _, step := range []accountant.Step{must(t)(profiles.NewGaussianMechanism(sigma)), dpsgdStep(t, 0.01, sigma)} {
			for _, n := range []int64{1, 100} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				iv := epsilon(t, account(t, step, n), 1e-6)
				runtime.ReadMemStats(&after)
				if mb := float64(after.TotalAlloc-before.TotalAlloc) / 1e6; mb > 100 {
					t.Errorf("σ=%v, %d steps: allocated %.0f MB", sigma, n, mb)
				}
				if w := iv.Upper - iv.Lower; !(w <= 1e-3*iv.Upper) {
					t.Errorf("σ=%v, %d steps: [%v, %v], %q", sigma, n, iv.Lower, iv.Upper, iv.Warnings)
				}
			}
		}
	}
}

// Under a memory limit the interval holds the truth (core.md §9.4), and it says so
// when it is wider than asked.
func TestMemoryLimit(t *testing.T) {
	step := dpsgdStep(t, 0.01, 1)
	warned := 0
	for _, points := range []int64{256, 512, 4096} {
		for _, accuracy := range []float64{1e-3, 1e-6, 1e-9} {
			iv := epsilon(t, account(t, step, 1000, accountant.Options{Memory: 64 * points, Transform: fourier.Gonum, Accuracy: accuracy}), 1e-5)
			const truth, digit = 1.82823666652, 1e-11
			if iv.Lower > truth+digit || iv.Upper < truth-digit {
				t.Errorf("%d points: [%v, %v] misses %v", points, iv.Lower, iv.Upper, truth)
			}
			if w := iv.Upper - iv.Lower; w > accuracy*truth && len(iv.Warnings) == 0 {
				t.Errorf("%d points: %g wide at accuracy %g, without a warning", points, w, accuracy)
			}
			warned += len(iv.Warnings)
		}
	}
	if warned == 0 {
		t.Error("no limit was ever reached")
	}
}

// The facade passes the transform on.
func TestWithTransform(t *testing.T) {
	step := dpsgdStep(t, 0.01, 1)
	a := epsilon(t, account(t, step, 1000, accountant.Options{Transform: fourier.Gonum}), 1e-5)
	b := epsilon(t, account(t, step, 1000, accountant.Options{Transform: godsp.Transform}), 1e-5)
	if a.Points&(a.Points-1) == 0 || b.Points&(b.Points-1) != 0 {
		t.Errorf("%d and %d points: go-dsp takes powers of two only", a.Points, b.Points)
	}
	// Same step, other length: they differ by aliasing, round-off and the solver.
	tol := a.Budget.Aliasing + b.Budget.Aliasing + a.Budget.RoundOff + b.Budget.RoundOff + 1e-5*(a.Upper-a.Lower)
	if math.Abs(a.Lower-b.Lower) > tol || math.Abs(a.Upper-b.Upper) > tol {
		t.Errorf("[%v, %v] and [%v, %v] differ by more than %g", a.Lower, a.Upper, b.Lower, b.Upper, tol)
	}
}

// Sampling never raises ε, and a higher rate never lowers it.
func TestSamplingAmplifies(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		var b profiles.Mechanism
		var err error
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			b, err = profiles.NewGaussianMechanism(math.Exp(rapid.Float64Range(-0.5, 2).Draw(t, "log σ")))
		case 1:
			b, err = profiles.NewLaplaceMechanism(math.Exp(rapid.Float64Range(-0.5, 2).Draw(t, "log b")))
		case 2:
			b, err = profiles.NewPure(rapid.Float64Range(0.1, 3).Draw(t, "ε0"))
		}
		if err != nil {
			t.Fatal(err)
		}
		n := int64(rapid.IntRange(1, 200).Draw(t, "count"))
		delta := math.Exp(rapid.Float64Range(-40, -3).Draw(t, "log δ"))
		rate := math.Exp(rapid.Float64Range(-5, -0.05).Draw(t, "log q"))
		last := math.Inf(-1)
		for _, q := range []float64{rate / 2, rate, 1} {
			if q < rate && !slow.All() {
				continue
			}
			p, err := subsample.NewPoisson(q)
			if err != nil {
				t.Fatal(err)
			}
			a := accountant.New(profiles.AddRemove)
			if err := a.Add(t.Context(), accountant.Step{Mechanism: b, Sampling: p}, n); err != nil {
				t.Fatal(err)
			}
			iv, err := a.Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			if iv.Upper < last {
				t.Fatalf("rate %v: ε ≤ %v, at a lower rate ε ≥ %v", q, iv.Upper, last)
			}
			last = iv.Lower
		}
	})
}

// Errors of the facade name the field.
func TestAddErrors(t *testing.T) {
	step := dpsgdStep(t, 0.01, 1)
	a := accountant.New(profiles.AddRemove)
	noOne := &accountant.Plan{RecordsPerPerson: -2, Steps: []accountant.Step{step}}
	for want, err := range map[string]error{
		"count: 0 is not an integer in [1, 2^53]":                                a.Add(t.Context(), step, 0),
		"count: -3 is not an integer in [1, 2^53]":                               a.Add(t.Context(), step, -3),
		"mechanism: is missing":                                                  a.Add(t.Context(), accountant.Step{}, 1),
		"steps: a step has either a mechanism or steps, not both":                a.Add(t.Context(), accountant.Step{Mechanism: step.Mechanism, Steps: []accountant.Step{step}}, 1),
		"neighbors: substitute is not the accountant's relation, add-remove":     a.AddPlan(t.Context(), &accountant.Plan{Neighbors: profiles.Substitute}),
		"mechanism: its relation substitute is not the accountant's, add-remove": a.AddBounds(profiles.Bounds{Relation: profiles.Substitute}, 1),
		"steps[0]: sampling: applies to a mechanism, not to a sub-plan":          a.Add(t.Context(), accountant.Step{Steps: []accountant.Step{{Sampling: step.Sampling, Steps: []accountant.Step{step}}}}, 1),
		"neighbors: Relation(7) is not one of add-remove, substitute, zero-out":  accountant.New(7).Add(t.Context(), step, 1),
		"records-per-person: -3 is not a whole number in [1, 1048576]":           accountant.New(profiles.AddRemove, accountant.Options{RecordsPerPerson: -3}).Add(t.Context(), step, 1),
		"records-per-person: -2 is not a whole number in [1, 1048576]":           noOne.Accountant().AddPlan(t.Context(), noOne),
		"mechanism: has no profile that bounds its direction remove":             a.AddBounds(profiles.Bounds{}, 1),
		"mechanism: has no profile that bounds its direction add":                a.AddBounds(profiles.Bounds{Directions: [2]profiles.Direction{{Upper: profiles.Identical(), Lower: profiles.Identical()}}}, 1),
		"count: 2 times 9007199254740992 is above 2^53":                          a.Add(t.Context(), accountant.Step{Mechanism: step.Mechanism, Count: 2}, 1<<53),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if a.Runs() != 0 {
		t.Errorf("%d runs after errors only", a.Runs())
	}
}

func ExampleAccountant() {
	gaussian, err := profiles.NewGaussianMechanism(1.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	poisson, err := subsample.NewPoisson(256.0 / 60000)
	if err != nil {
		fmt.Println(err)
		return
	}
	acct := accountant.New(profiles.AddRemove)
	if err := acct.Add(context.Background(), accountant.Step{Mechanism: gaussian, Sampling: poisson}, 14062); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := acct.Epsilon(context.Background(), 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ε is %.8f, to a billionth: %t (%s, %s)\n", iv.Upper, iv.Upper-iv.Lower < 1e-9, iv.Direction, iv.Engine)
	// Output: ε is 2.38159692, to a billionth: true (remove, contour)
}

func ExampleAccountant_Delta() {
	laplace, err := profiles.NewLaplaceMechanism(20)
	if err != nil {
		fmt.Println(err)
		return
	}
	acct := accountant.New(profiles.AddRemove, accountant.Options{Accuracy: 1e-6})
	if err := acct.Add(context.Background(), accountant.Step{Mechanism: laplace}, 3); err != nil {
		fmt.Println(err)
		return
	}
	iv, err := acct.Delta(context.Background(), 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("δ(0.1) = %.4g\n", iv.Upper)
	// Output: δ(0.1) = 0.006327
}

// dpsgdStep returns one step of DP-SGD.
func dpsgdStep(tb testing.TB, rate, sigma float64) accountant.Step {
	tb.Helper()
	m, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		tb.Fatal(err)
	}
	return accountant.Step{Mechanism: m, Sampling: s}
}
