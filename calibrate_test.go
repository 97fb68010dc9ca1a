package accountant

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func onePlan(t *testing.T, b profiles.Mechanism, err error, rate float64, count int64) *Plan {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s := Step{Name: "step", Mechanism: b, Count: count}
	if rate < 1 {
		if s.Sampling, err = subsample.NewPoisson(rate); err != nil {
			t.Fatal(err)
		}
	}
	return &Plan{Neighbors: profiles.AddRemove, Steps: []Step{s}}
}

func gaussianPlan(t *testing.T, sigma, rate float64, count int64) *Plan {
	b, err := profiles.NewGaussianMechanism(sigma)
	return onePlan(t, b, err, rate, count)
}

// upperAt is the certified upper end at a value of the quantity.
func upperAt(t *testing.T, p *Plan, g Goal, x, accuracy float64) float64 {
	t.Helper()
	g.Solve = cmp.Or(g.Solve, NoiseMultiplier)
	k, err := newParameter(p, g)
	if err != nil {
		t.Fatal(err)
	}
	q, err := k.build(x)
	if err != nil {
		t.Fatal(err)
	}
	a := New(q.Neighbors, Options{Accuracy: accuracy, Memory: 64 * calibrationPoints})
	if err := a.AddPlan(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), g.Delta)
	if err != nil {
		t.Fatal(err)
	}
	return iv.Upper
}

// checkBracket checks what every Calibration promises.
func checkBracket(t *testing.T, name string, c *Calibration, g Goal) {
	t.Helper()
	if c.Unlimited || c.Fails == nil {
		t.Errorf("%s: unlimited", name)
		return
	}
	if c.Meets.At != c.Value || !(c.Meets.Upper <= g.Epsilon) || !(c.Fails.Upper > g.Epsilon) {
		t.Errorf("%s: %v has ε ≤ %v, %v has ε ≤ %v; budget %v", name, c.Value, c.Meets.Upper, c.Fails.At, c.Fails.Upper, g.Epsilon)
	}
	d := (c.Meets.At - c.Fails.At) / c.Value
	if cmp.Or(g.Solve, NoiseMultiplier) != NoiseMultiplier {
		d = -d
	}
	if g.Solve == Count || g.Solve == Batch {
		d *= c.Value / max(1, math.Floor(1e-6*c.Value)) * 1e-6
	}
	if !(d > 0 && d <= 1e-6*(1+1e-9)) {
		t.Errorf("%s: %v and %v are %v apart", name, c.Meets.At, c.Fails.At, d)
	}
}

// TestCalibratePeers: no peer whose value meets the budget is less noisy. Cases
// and peers' values: testdata/golden/calibration.json, whose head says where
// they are from.
func TestCalibratePeers(t *testing.T) {
	slow.Test(t)
	data, err := os.ReadFile("testdata/golden/calibration.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows []struct {
			ID, Peer string
			Inputs   struct {
				Q, Sigma, Eps, Delta float64
				T, K                 int64
			}
			Settings struct{ Fn string }
			Outputs  struct{ Sigma, Parameter, T float64 }
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	type problem struct {
		mechanism    string
		q, sigma     float64
		count        int64
		epsilon, del float64
	}
	solved := map[problem]*Calibration{}
	rows, lower := 0, 0
	for _, r := range golden.Rows {
		in := r.Inputs
		if testing.Short() && in.Q == 0.001 {
			continue
		}
		pr := problem{"gaussian", 1, 1, max(1, in.K), in.Eps, in.Delta}
		theirs := r.Outputs.Sigma + r.Outputs.Parameter
		switch {
		case in.Sigma > 0:
			pr.q, pr.sigma, pr.count, theirs = in.Q, in.Sigma, 1, r.Outputs.T
		case in.Q > 0:
			pr.q, pr.count = in.Q, in.T
		case strings.Contains(r.Settings.Fn, "discrete_laplace"):
			pr.mechanism, theirs = "discrete-laplace", 1/theirs
		case strings.Contains(r.Settings.Fn, "laplace"):
			pr.mechanism = "laplace"
		}
		g := Goal{Epsilon: in.Eps, Delta: in.Delta}
		if in.Sigma > 0 {
			g.Solve = Count
		}
		var b profiles.Mechanism
		switch pr.mechanism {
		case "gaussian":
			b, err = profiles.NewGaussianMechanism(pr.sigma)
		case "laplace":
			b, err = profiles.NewLaplaceMechanism(pr.sigma)
		default:
			b, err = profiles.NewDiscreteLaplaceMechanism(pr.sigma, 1)
		}
		p := onePlan(t, b, err, pr.q, pr.count)
		c := solved[pr]
		if c == nil {
			if c, err = Calibrate(t.Context(), p, g); err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			solved[pr] = c
			checkBracket(t, r.ID, c, g)
		}
		rows++
		ours := c.Value
		if g.Solve == Count {
			if theirs > ours && upperAt(t, p, g, theirs, 3e-7) <= g.Epsilon {
				t.Errorf("%s: %s runs %v times, we %v", r.ID, r.Peer, theirs, ours)
			}
			continue
		}
		if theirs < ours*(1-1e-6) {
			lower++
			if u := upperAt(t, p, g, theirs, 3e-7); u <= g.Epsilon {
				t.Errorf("%s: %s meets the budget with %v (ε ≤ %v), we with %v", r.ID, r.Peer, theirs, u, ours)
			}
		}
	}
	t.Logf("%d rows, %d problems; %d peers' values are lower and miss the budget", rows, len(solved), lower)
	if rows < 40 {
		t.Errorf("only %d rows", rows)
	}
}

// TestCalibrateClosedForm: answers known without an accountant.
func TestCalibrateClosedForm(t *testing.T) {
	pure := func(eps float64, n int64) *Plan {
		b, err := profiles.NewPure(eps)
		return onePlan(t, b, err, 1, n)
	}
	laplace, err := profiles.NewLaplaceMechanism(1)
	mixed := &Plan{Neighbors: profiles.AddRemove, Steps: []Step{
		{Name: "a", Mechanism: laplace, Count: 2},
		{Name: "b", Steps: []Step{{Name: "c", Mechanism: laplace}}, Count: 3},
	}}
	half := onePlan(t, laplace, err, 0.5, 1)
	batch, err := subsample.NewWithoutReplacement(1000, 10)
	if err != nil {
		t.Fatal(err)
	}
	fixed := pure(1, 1)
	fixed.Neighbors, fixed.Steps[0].Sampling = profiles.Substitute, batch
	for _, c := range []struct {
		name string
		p    *Plan
		g    Goal
		want float64
	}{
		// n·ε ≤ budget.
		{"pure count", pure(0.25, 1), Goal{Epsilon: 3.1, Solve: Count}, 12},
		{"pure count from above", pure(0.25, 1e9), Goal{Epsilon: 3.1, Solve: Count}, 12},
		// k/b = budget.
		{"laplace", onePlan(t, laplace, err, 1, 10), Goal{Epsilon: 2}, 5},
		// 2/f + 3/f = 2.
		{"factor", mixed, Goal{Epsilon: 2}, 2.5},
		// 2 + 3/x = 4.
		{"one step", mixed, Goal{Epsilon: 4, Step: "c"}, 1.5},
		{"group", mixed, Goal{Epsilon: 4, Step: "b"}, 1.5},
		// 2 + n ≤ 9.5, and 5n ≤ 12.
		{"count of a group", mixed, Goal{Epsilon: 9.5, Solve: Count, Step: "b"}, 7},
		{"count of all", mixed, Goal{Epsilon: 12, Solve: Count}, 2},
		// log(1 + q(e − 1)) = 0.3.
		{"rate", half, Goal{Epsilon: 0.3, Solve: Rate}, math.Expm1(0.3) / math.Expm1(1)},
		{"batch", half, Goal{Epsilon: 0.3, Solve: Batch, Examples: 1000}, math.Floor(1000 * math.Expm1(0.3) / math.Expm1(1))},
		// The same without replacement, η = m/n; δ = 1e-12 changes ε by about as much.
		{"batch of fixed size", fixed, Goal{Epsilon: 0.3, Delta: 1e-12, Solve: Batch}, math.Floor(1000 * math.Expm1(0.3) / math.Expm1(1))},
	} {
		got, err := Calibrate(t.Context(), c.p, c.g)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkBracket(t, c.name, got, c.g)
		if math.Abs(got.Value-c.want) > 1.1e-6*c.want {
			t.Errorf("%s: %v, want %v", c.name, got.Value, c.want)
		}
	}
}

func TestCalibrateInfeasible(t *testing.T) {
	g1 := gaussianPlan(t, 1, 1, 5)
	mixed := &Plan{Neighbors: profiles.AddRemove, Steps: []Step{g1.Steps[0], {Name: "other", Mechanism: g1.Steps[0].Mechanism}}}
	leak, err := profiles.NewApproximate(0.1, 1e-4)
	for _, c := range []struct {
		p    *Plan
		g    Goal
		want string
	}{
		{g1, Goal{Epsilon: 1}, "no ε is finite, whatever the noise-multiplier"},
		{g1, Goal{Epsilon: -1, Delta: 0.1}, "below log(1 − δ)"},
		{mixed, Goal{Epsilon: 1, Delta: 1e-5, Step: "other"}, "the steps that stay as they are cost ε ≥"},
		{g1, Goal{Epsilon: 0.5, Delta: 1e-5, Solve: Count}, "even count 1 costs ε ≥ 4.377"}, // one Gaussian of σ = 1 (Balle and Wang 2018: 4.3772)
		{onePlan(t, leak, err, 1, 5), Goal{Epsilon: 1, Delta: 1e-5, Solve: Count}, "unlimited loss is likelier than δ"},
	} {
		_, err := Calibrate(t.Context(), c.p, c.g)
		if !errors.Is(err, ErrInfeasible) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want …%s…", c.g, err, c.want)
		}
	}
}

func TestCalibrateUnlimited(t *testing.T) {
	still, err := profiles.NewPure(0)
	for _, c := range []struct {
		p    *Plan
		g    Goal
		want float64
	}{
		{onePlan(t, still, err, 1, 3), Goal{Epsilon: 1, Solve: Count}, 1 << 53},
		{gaussianPlan(t, 10, 0.01, 1), Goal{Epsilon: 1, Delta: 1e-3, Solve: Rate}, 1},
	} {
		got, err := Calibrate(t.Context(), c.p, c.g)
		if err != nil || !got.Unlimited || got.Fails != nil || got.Value != c.want || !(got.Meets.Upper <= c.g.Epsilon) {
			t.Errorf("%+v: %+v, %v; want %v", c.g, got, err, c.want)
		}
	}
}

func TestCalibrateErrors(t *testing.T) {
	p := gaussianPlan(t, 1, 0.01, 10)
	twins := &Plan{Neighbors: profiles.AddRemove, Steps: []Step{p.Steps[0], p.Steps[0]}}
	pure, err := profiles.NewPure(1)
	for _, c := range []struct {
		p    *Plan
		g    Goal
		want string
	}{
		{p, Goal{Epsilon: math.NaN(), Delta: 0.1}, "epsilon: NaN is not a finite number"},
		{p, Goal{Epsilon: 1, Delta: 1}, "delta: 1 is not in [0, 1)"},
		{p, Goal{Epsilon: 1, Delta: 0.1, Solve: "noise"}, "solve: \"noise\" is not one of noise-multiplier, count, rate, batch, records-per-person, epsilon, users"},
		{p, Goal{Epsilon: 1, Delta: 0.1, Step: "stp"}, `step: "stp" is not a step; did you mean "step"?`},
		{twins, Goal{Epsilon: 1, Delta: 0.1, Step: "step"}, `step: "step" names 2 steps; say steps[0], …`},
		{p, Goal{Epsilon: 1, Delta: 0.1, Solve: Batch}, "examples: is missing; the batch of poisson sampling is rate times the number of examples"},
		{&Plan{}, Goal{Epsilon: 1, Delta: 0.1}, "steps: is empty; must list at least one step"},
		{onePlan(t, pure, err, 1, 1), Goal{Epsilon: 1, Delta: 0.1}, "solve: the plan has no step with a noise-multiplier that can be turned"},
	} {
		if _, err := Calibrate(t.Context(), c.p, c.g); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v; want %s", c.g, err, c.want)
		}
	}
}

// A search ends at the end of the range, also where that is not 0.01: for vectors
// of whole numbers it depends on sensitivity and relation.
func TestCalibrateVectorOfWholeNumbers(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		neighbors string
		least     float64
	}{{"add-remove", 1.2356}, {"substitute", 2.4934}} {
		p, err := ParsePlan([]byte("neighbors: " + c.neighbors + "\nsteps:\n  - mechanism: {discrete-gaussian: {noise-multiplier: 8, sensitivity: 20}}\n    count: 10\n"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Calibrate(t.Context(), p, Goal{Epsilon: 40, Delta: 1e-6, Solve: NoiseMultiplier})
		if err != nil {
			t.Fatal(err)
		}
		if x := got.Settings[0].Value; math.Abs(x-c.least) > 1e-4 || !got.Unlimited || !(got.Meets.Upper <= 40) {
			t.Errorf("%s: noise multiplier %v, want %v", c.neighbors, x, c.least)
		}
	}
}

// TestCalibrateEpsilons: mechanisms with an ε in the place of noise are turned together with the others, by its inverse.
func TestCalibrateEpsilons(t *testing.T) {
	keys, err := choice.NewSelectPartitions(2, 1e-8, 3)
	if err != nil {
		t.Fatal(err)
	}
	best, err := choice.NewExponential(1)
	if err != nil {
		t.Fatal(err)
	}
	p := gaussianPlan(t, 1, 1, 2)
	p.Steps = append(p.Steps, Step{Mechanism: keys, Count: 1}, Step{Mechanism: best, Count: 2})
	g := Goal{Epsilon: 1, Delta: 1e-6, Solve: NoiseMultiplier}
	c, err := Calibrate(t.Context(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	checkBracket(t, "keys, a choice and noise", c, g)
	s := c.Settings
	if len(s) != 3 || s[0].Epsilon || !s[1].Epsilon || !s[2].Epsilon {
		t.Fatal(s)
	}
	for i, x := range s {
		if got := x.Value / x.Before; i == 0 && math.Abs(got/c.Value-1) > 1e-9 || i > 0 && math.Abs(got*c.Value-1) > 1e-9 {
			t.Errorf("%s went from %v to %v by a factor of %v", x.Path, x.Before, x.Value, c.Value)
		}
	}
	if got := c.Plan.Steps[2].Mechanism.(profiles.EpsilonSetter).Epsilon(); got != s[2].Value {
		t.Errorf("ε %v in the plan, %v told", got, s[2].Value)
	}
}
