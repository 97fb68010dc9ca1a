package accountant_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// A loss is what theory says of one unsampled run: bounds of ε at a log δ, which may be −Inf, derived from the definition of the
// noise and not by the engine.
type loss func(logDelta float64, r profiles.Relation) (low, high float64)

// bounded is a loss of at most top, and of infinity with a probability of e^logInf. Its largest finite loss has an outcome
// of more probability than any δ here, unless it is rare.
func bounded(addRemove, substitute, zeroOut, logInf float64, rare bool) loss {
	return func(logDelta float64, r profiles.Relation) (low, high float64) {
		if logDelta < logInf {
			return math.Inf(1), math.Inf(1)
		}
		high = map[profiles.Relation]float64{profiles.AddRemove: addRemove, profiles.Substitute: substitute, profiles.ZeroOut: zeroOut}[r]
		if rare && !math.IsInf(logDelta, -1) || logDelta > -700 {
			return math.Inf(-1), high
		}
		return high, high
	}
}

// unlimited is a loss without a bound, of which only that is said.
func unlimited(logDelta float64, _ profiles.Relation) (low, high float64) {
	if math.IsInf(logDelta, -1) {
		return math.Inf(1), math.Inf(1)
	}
	return math.Inf(-1), math.Inf(1)
}

// normal is Gaussian noise: with z = ε/μ − μ/2, P(L > ε) is below φ(z)/z, and δ(ε) ≥ P(L > ε + 1)·(1 − 1/e), which is
// above that of φ(z')·z'/(1 + z'²).
func normal(sigma float64) loss {
	return func(logDelta float64, r profiles.Relation) (low, high float64) {
		if math.IsInf(logDelta, -1) {
			return math.Inf(1), math.Inf(1)
		}
		mu := 1 / sigma
		if r == profiles.Substitute {
			mu = 2 / sigma
		}
		phi := func(z float64) float64 { return -z*z/2 - math.Log(2*math.Pi)/2 }
		if logDelta > -10 {
			return math.Inf(-1), math.Inf(1)
		}
		z := 1.0
		for phi(z)-math.Log(z) > logDelta {
			z += 1e-3
		}
		high = mu * (z + mu/2)
		for z = 1.0; phi(z)+math.Log(z/(1+z*z))-1 > logDelta; {
			z += 1e-3
		}
		return mu*(z-1e-3+mu/2) - 1, high
	}
}

// whole is discrete Gaussian noise: outcome k has the loss s(2k − s)/(2σ²) and a mass of about e^(−(k − s)²/(2σ²)).
func whole(sigma float64) loss {
	return func(logDelta float64, r profiles.Relation) (low, high float64) {
		if math.IsInf(logDelta, -1) {
			return math.Inf(1), math.Inf(1)
		}
		s := 1.0
		if r == profiles.Substitute {
			s = 2
		}
		if logDelta > -10 {
			return math.Inf(-1), math.Inf(1)
		}
		z := math.Sqrt(-2 * logDelta) // of the noise over σ at which a mass is about δ
		at := func(z float64) float64 { return s * (2*(s+z*sigma) - s) / (2 * sigma * sigma) }
		return at(0.9*z) - 1, at(1.1*z + 3/sigma)
	}
}

// zeroMechanisms has every mechanism of the README's tables.
var zeroMechanisms = func() []struct {
	name, text string
	of         loss
} {
	none := math.Inf(-1)
	same := func(top float64) loss { return bounded(top, top, top, none, false) }
	// Truth .6 + .4/3, a lie .4/3; an empty place answers at random.
	lie := math.Log((0.6 + 0.4/3) / (0.4 / 3))
	return []struct {
		name, text string
		of         loss
	}{
		{"gaussian", "{noise-multiplier: 1}", normal(1)},
		{"gaussian", "{noise-multiplier: 1000}", normal(1000)},
		{"gaussian-mixture", "{noise-multiplier: 1, shifts: [0, 1], probabilities: [0.5, 0.5]}", unlimited},
		{"laplace", "{noise-multiplier: 2}", bounded(0.5, 1, 0.5, none, false)},
		{"discrete-gaussian", "{noise-multiplier: 1}", whole(1)},
		{"discrete-gaussian", "{noise-multiplier: 1000, dimension: 1}", whole(1000)},
		{"discrete-laplace", "{noise-multiplier: 2}", bounded(0.5, 1, 0.5, none, false)},
		{"randomized-response", "{probability: 0.4, categories: 3}", bounded(lie, lie, -math.Log(0.4), none, false)},
		{"pure", "{epsilon: 0.75}", same(0.75)},
		{"approximate", "{epsilon: 0.75, delta: 0}", same(0.75)},
		{"approximate", "{epsilon: 0.75, delta: 1e-5}", bounded(0.75, 0.75, 0.75, math.Log(1e-5), false)},
		{"approximate", "{epsilon: 0.75, delta: 1e-307}", bounded(0.75, 0.75, 0.75, math.Log(1e-307), false)},
		{"finite", "{p: [0.75, 0.25], q: [0.25, 0.75]}", same(math.Log(3))},
		{"finite", "{p: [1e-300, 1, 0], q: [0, 1, 1e-300]}", bounded(1e-12, 1e-12, 1e-12, math.Log(1e-300), true)},
		{"finite", "{p: [1e-300, 1, 1e-305], q: [1e-305, 1, 1e-300]}", bounded(math.Log(1e5), math.Log(1e5), math.Log(1e5), none, true)},
		{"exponential", "{epsilon: 0.5}", bounded(0.5, 0.5, 0.5, none, true)},
		{"permute-and-flip", "{epsilon: 0.5}", bounded(0.5, 0.5, 0.5, none, true)},
		{"noisy-max", "{noise: laplace, epsilon: 0.5}", bounded(0.5, 0.5, 0.5, none, true)},
		// A partition of one data set alone is told with some probability.
		{"threshold", "{noise: gaussian, standard-deviation: 1, threshold: 60}", unlimited},
		{"threshold", "{noise: laplace, scale: 1, threshold: 2000}", unlimited},
		{"threshold", "{noise: discrete-laplace, scale: 1, threshold: 900}", unlimited},
		{"select-partitions", "{epsilon: 1, delta: 1e-5}", unlimited},
		{"select-partitions", "{epsilon: 1, delta: 1e-290}", unlimited},
		{"majority", "{mechanisms: 3, epsilon: 0.1, allowance: 2}", bounded(0.2, 0.2, 0.2, none, true)},
		{"matrix", "{steps: 3, strategy: identity, participation: {min-separation: 3, at-most: 1}, noise-multiplier: 20}", unlimited},
	}
}()

// zeroSamplings has every sampling of the README's tables, and what becomes of the loss of a run.
var zeroSamplings = []struct {
	text string
	of   func(one loss) loss
}{
	{"", func(one loss) loss { return one }},
	{"poisson: {rate: 0.01}", onSample(0.01)},
	{"poisson: {rate: 1e-100}", onSample(1e-100)},
	{"poisson: {rate: 3e-308}", onSample(3e-308)},
	{"without-replacement: {population: 1000, batch: 10}", hiddenUses(1)},
	{"with-replacement: {population: 1000, batch: 3}", hiddenUses(3)},
	{"must-wo: {population: 1000, subset: 30, batch: 3}", hiddenUses(3)},
	{"must-ww: {population: 1000, subset: 30, batch: 3}", hiddenUses(9)},
	{"must-ow: {population: 1000, subset: 30, batch: 3}", hiddenUses(3)},
	{"random-allocation: {steps: 3}", hiddenUses(1)},
	{"random-allocation: {steps: 3, first: 2}", hiddenUses(1)},
	{"random-allocation: {steps: 50}", hiddenUses(1)},
	{"random-allocation: {steps: 3, epochs: 2}", hiddenUses(2)},
	{"random-allocation: {steps: 4, uses: 2}", hiddenUses(2)},
	{"balls-in-bins: {bins: 3, redraw: each-epoch}", hiddenUses(1)},
	{"shuffle: {batches: 3}", hiddenUses(1)},
	{"truncated-poisson: {rate: 0.01, cap: 20, population: 1000}", hiddenUses(1)},
	{"fixed-order: {}", func(one loss) loss { return one }},
	{"fixed-order: {uses: 3}", repeated(3)},
}

// repeated is what n runs cost: no less than one, no more than n with δ/n each.
func repeated(n float64) func(loss) loss {
	return func(one loss) loss {
		return func(logDelta float64, r profiles.Relation) (low, high float64) {
			low, _ = one(logDelta, r)
			if math.IsInf(logDelta, -1) {
				low *= n // pure bounds add up, and are reached
			}
			_, high = one(logDelta-math.Log(n), r)
			return low, n * high
		}
	}
}

// onSample is a Poisson sample: δ'(ε) = q·δ(log(1 + (e^ε − 1)/q)) where a record comes or goes; with a substitution no more than
// without a sample, and infinite where that is.
func onSample(q float64) func(loss) loss {
	return func(one loss) loss {
		return func(logDelta float64, r profiles.Relation) (low, high float64) {
			x, y := one(logDelta-math.Log(q), r)
			if r == profiles.AddRemove {
				return math.Log1p(q * math.Expm1(x)), math.Log1p(q * math.Expm1(y))
			}
			if _, high = one(logDelta, r); !math.IsInf(x, 1) {
				x = math.Inf(-1)
			}
			return x, high
		}
	}
}

// hiddenUses is a sampling in which a record has some chance to be used, and is so many times at most: pure bounds hold so many times, and a
// loss without a bound stays one.
func hiddenUses(most float64) func(loss) loss {
	return func(one loss) loss {
		return func(logDelta float64, r profiles.Relation) (low, high float64) {
			low, high = one(math.Inf(-1), r)
			if !math.IsInf(low, 1) || !math.IsInf(logDelta, -1) {
				low = math.Inf(-1)
			}
			return low, most * high
		}
	}
}

// TestZeroDelta: at δ = 0 and at 1e-320 every mechanism on every sampling of the README's tables has an interval that contains
// the truth. At 0 that is infinite wherever losses have no bound, however little probability they have.
func TestZeroDelta(t *testing.T) {
	slow.Test(t)
	logs := map[float64]float64{0: math.Inf(-1), 1e-320: -320 * math.Ln10}
	asked, plans := map[string]bool{}, 0
	for _, m := range zeroMechanisms {
		for _, s := range zeroSamplings {
			for _, r := range profiles.Relations() {
				many := s.text != "" && !strings.Contains(s.text, "poisson") && !strings.Contains(s.text, "replacement")
				hard := strings.Contains(m.name, "gaussian") && many
				if hard && (r == profiles.Substitute && !strings.Contains(s.text, "order") || strings.HasSuffix(m.text, ": 1}") || strings.Contains(s.text, "random") && s.text != "random-allocation: {steps: 3}") {
					continue // seconds each
				}
				for _, runs := range []float64{1, 3} {
					if many && runs == 1 {
						continue
					}
					if plans++; !many && plans/2%4 != 0 && !slow.All() {
						continue // the other three quarters are asked with SLOW=2
					}
					sampling := ""
					if s.text != "" {
						sampling = fmt.Sprintf(", sampling: {%s}", s.text)
					}
					text := fmt.Sprintf("neighbors: %v\nsteps: [{mechanism: {%s: %s}%s, count: %v}]", r, m.name, m.text, sampling, runs)
					p, err := plan.Parse(t.Context(), []byte(text))
					if err != nil && (s.text == "" || !strings.Contains(err.Error(), "sampling")) {
						t.Fatalf("%s: %v", text, err)
					}
					if err != nil {
						continue // a dash of the table
					}
					acct := p.Accountant(accountant.Options{Accuracy: 0.3, WorkLimit: 1e5})
					if err := acct.AddPlan(t.Context(), p); err != nil {
						if strings.Contains(err.Error(), "internal") {
							t.Errorf("%s: %v", text, err)
						}
						continue
					}
					asked[m.name], asked[s.text] = true, true
					for delta := range logs {
						low, high := repeated(runs)(s.of(m.of))(logs[delta], r)
						if m.name == "matrix" || m.name == "majority" {
							low, high = m.of(logs[delta], r)
							high *= runs
						}
						iv, err := acct.Epsilon(t.Context(), delta)
						if err != nil {
							t.Errorf("%s at δ = %v: %v", text, delta, err)
							continue
						}
						slack := func(x float64) float64 { return 1e-9 * (math.Abs(x) + 1e-300) }
						if !(iv.Lower <= high || iv.Lower <= high+slack(high)) || !(iv.Upper >= low || iv.Upper >= low-slack(low)) || !(iv.Lower <= iv.Upper) {
							t.Errorf("%s: ε(%v) in [%v, %v], the truth is in [%v, %v]", text, delta, iv.Lower, iv.Upper, low, high)
						}
					}
				}
			}
		}
	}
	for _, m := range zeroMechanisms {
		if !asked[m.name] {
			t.Errorf("%s was refused everywhere", m.name)
		}
	}
	for _, s := range zeroSamplings {
		if !asked[s.text] {
			t.Errorf("%s was refused everywhere", s.text)
		}
	}
}

// unbounded are steps whose losses have no bound; %v stands for their count.
var unbounded = []string{
	"{mechanism: {gaussian: {noise-multiplier: 1}}, count: %v}",
	"{mechanism: {gaussian: {noise-multiplier: 1000}}, sampling: {poisson: {rate: 0.01}}, count: %v}",
	"{mechanism: {discrete-gaussian: {noise-multiplier: 1}}, count: %v}",
	"{mechanism: {discrete-gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 1e-100}}, count: %v}",
	"{mechanism: {discrete-gaussian: {noise-multiplier: 1}}, sampling: {without-replacement: {population: 1000, batch: 10}}, count: %v}",
	"{mechanism: {finite: {p: [1e-300, 1], q: [0, 1]}}, sampling: {poisson: {rate: 1e-100}}, count: %v}",
	"{mechanism: {approximate: {epsilon: 0.1, delta: 1e-307}}, sampling: {poisson: {rate: 1e-100}}, count: %v}",
	"{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {without-replacement: {population: 1000, batch: 10}}, count: %v}",
	"{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {with-replacement: {population: 1000, batch: 3}}, count: %v}",
	"{mechanism: {threshold: {noise: laplace, scale: 1, threshold: 2000}}, count: %v}",
}

// TestUnboundedLossesEverywhere: losses without a bound have no ε at δ = 0, and no ε has δ = 0: by every engine, at every size of ε, for
// curves, calibrations and ledgers.
func TestUnboundedLossesEverywhere(t *testing.T) {
	slow.Test(t)
	epsilons := []float64{-1e308, -1e100, -800, 1, 50, 800, 1e6, 1e155, 1e308}
	for _, step := range unbounded {
		for _, r := range profiles.Relations() {
			for _, count := range []int64{1, 3} {
				text := fmt.Sprintf("{neighbors: %v, steps: ["+step+"]}", r, count)
				p, err := plan.Parse(t.Context(), []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				for _, laws := range []bool{false, true} {
					opts := []accountant.Options{{Accuracy: 0.3, WorkLimit: 1e6}}
					if laws {
						opts = append(opts, accountant.Options{Transform: fourier.Gonum})
					}
					acct := p.Accountant(opts...)
					if err := acct.AddPlan(t.Context(), p); err != nil || count == 1 && laws {
						continue // a dash of the table
					}
					points, err := acct.DeltaCurve(t.Context(), epsilons)
					if err != nil {
						t.Errorf("%s: %v", text, err)
					}
					for _, x := range points {
						if !(x.Lower <= x.Upper && x.Upper > 0) {
							t.Errorf("%s, laws alone %v: δ(%v) in [%v, %v]", text, laws, x.At, x.Lower, x.Upper)
						}
					}
					points, err = acct.EpsilonCurve(t.Context(), []float64{0, 0.5})
					if err != nil || !math.IsInf(points[0].Upper, 1) {
						t.Errorf("%s, laws alone %v: ε(0) in %v, %v", text, laws, points, err)
					}
				}
			}
		}
	}
}

// TestNoBudgetWithoutDelta: neither a ledger nor a calibration takes discrete Gaussian noise for pure.
func TestNoBudgetWithoutDelta(t *testing.T) {
	slow.Test(t)
	text := []byte("{neighbors: add-remove, steps: [{mechanism: {discrete-gaussian: {noise-multiplier: 1000, dimension: 1}}}]}")
	p, err := plan.Parse(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(t.Context(), ledger.File(t.TempDir()+"/budget.ledger"), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 0.05, Mode: ledger.Planned})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SpendPlan(t.Context(), text, ""); !errors.Is(err, ledger.ErrBudget) {
		t.Errorf("a ledger of (0.05, 0): %v, want a refusal", err)
	}
	if c, err := accountant.Calibrate(t.Context(), p, accountant.Goal{Solve: accountant.NoiseMultiplier, Epsilon: 0.05}); err == nil {
		t.Errorf("calibrated to (0.05, 0): %+v", c)
	}
}
