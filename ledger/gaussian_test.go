package ledger

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

const gaussianPlan = `{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 20}}}]}`

// TestGaussianLedger: the budget (1, 1e-5) holds as many steps as one plan of Gaussian noise
// within it, more than the Rényi filter admits; the file is read back, and what is no
// Gaussian noise on the whole data set is refused.
func TestGaussianLedger(t *testing.T) {
	ctx := context.Background()
	count := func(mode Mode) (n int, l *Ledger) {
		l, err := Create(ctx, File(filepath.Join(t.TempDir(), "a.ledger")), Config{Epsilon: 1, Delta: 1e-5, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		for ; ; n++ {
			if err := l.SpendPlan(ctx, []byte(gaussianPlan), ""); errors.Is(err, ErrBudget) {
				return n, l
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	gaussians, l := count(AdaptiveGaussian)
	renyi, _ := count(Adaptive)
	// μ of (1, 1e-5) is 0.26805 (σ = 3.7306, Balle and Wang's calibration), (20·0.26805)² = 28.7.
	if gaussians != 28 || renyi >= gaussians {
		t.Errorf("%d steps, %d by the Rényi filter", gaussians, renyi)
	}
	back, err := Open(ctx, File(l.String()))
	if err != nil {
		t.Fatal(err)
	}
	st, err := back.Status(ctx)
	if err != nil || st.Entries != 28 || math.Abs(st.Spent.Mu-math.Sqrt(28)/20) > 1e-12 || math.Abs(st.Spent.MuBudget-0.26805) > 1e-4 {
		t.Errorf("%+v, %v", st, err)
	}
	if !strings.Contains(st.Guarantee, "filter of Gaussian differential privacy") {
		t.Error(st.Guarantee)
	}
	if _, err := Verify(ctx, File(l.String()), ""); err != nil {
		t.Error(err)
	}
	// A smaller step still fits.
	small := strings.Replace(gaussianPlan, "20", "40", 1)
	if err := back.SpendPlan(ctx, []byte(small), ""); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ step, want string }{
		{"mechanism: {gaussian: {noise-multiplier: 100}}, sampling: {poisson: {rate: 0.5}}", "steps[0]: sampling: poisson: the loss of a sampled step is not Gaussian"},
		{"mechanism: {pure: {epsilon: 0.01}}", "steps[0]: mechanism: pure has no known μ"},
		{"mechanism: {summed-noise: {noise: discrete-gaussian, clients: 2, standard-deviation: 0.5, sensitivity: 3}}", "steps[0]: neighbors: an absent client's noise is absent too"},
		{"steps: [{mechanism: {gaussian: {noise-multiplier: 100}}, selection: {law: geometric, mean: 2}}]", "steps[0]: steps[0]: selection: has no known μ"},
	} {
		err := back.SpendPlan(ctx, []byte("{neighbors: add-remove, steps: [{"+c.step+"}]}"), "")
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v, want %s", c.step, err, c.want)
		}
	}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Epsilon: 1, Mode: AdaptiveGaussian}, "delta: 0 is not in (0, 1)"},
		{Config{Epsilon: 1, Delta: 0.1, Mode: AdaptiveGaussian, Orders: []float64{2}}, "orders: are for adaptive ledgers"},
	} {
		if _, err := New(c.config); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	// Under substitution a step costs four times as much.
	l, err = New(Config{Neighbors: profiles.Substitute, Epsilon: 1, Delta: 1e-5, Mode: AdaptiveGaussian})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		if err := l.SpendPlan(ctx, []byte(strings.Replace(gaussianPlan, "add-remove", "substitute", 1)), ""); (err == nil) != (n < 7) {
			t.Errorf("step %d under substitution: %v", n, err)
		}
	}
}

// TestGaussianIsTheFilter: at order 2 the Rényi filter does what rdp.GaussianFilter does, to the last bit.
func TestGaussianIsTheFilter(t *testing.T) {
	l, err := New(Config{Epsilon: 1, Delta: 1e-5, Mode: AdaptiveGaussian})
	if err != nil {
		t.Fatal(err)
	}
	mu, err := rdp.MuWithin(1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rdp.NewGaussianFilter(mu)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 300 {
		noise, err := profiles.NewGaussianMechanism(20 * math.Exp(3*rng.NormFloat64()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := planText(accountant.Step{Mechanism: noise}, l.Config())
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Parse(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		square, err := p.SquaredMu()
		if err != nil {
			t.Fatal(err)
		}
		granted, admitted := l.SpendPlan(t.Context(), text, ""), want.Spend(square)
		if (granted == nil) != (admitted == nil) || granted != nil && granted.Error() != admitted.Error() {
			t.Fatalf("step %d: ledger %v, filter %v", i, granted, admitted)
		}
		if granted != nil {
			refused++
		}
		st, err := l.Status(t.Context())
		if spent, budget := want.Spent(); err != nil || st.Spent.Mu != xmath.SqrtUp(spent) || st.Spent.MuBudget != math.Sqrt(budget) {
			t.Fatalf("step %d: %+v, %v; the filter has %v of %v", i, st.Spent, err, spent, budget)
		}
	}
	if refused == 0 || refused == 300 {
		t.Errorf("%d refused", refused)
	}
}

// TestGaussianLedgerOfOtherNoise: what has a proved μ may be spent. D·deviation is 1 + 1/(6·variance) or less for each.
func TestGaussianLedgerOfOtherNoise(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		step string
		mu   float64
	}{
		{"laplace: {noise-multiplier: 100}", 1.2533141373 / 100},
		{"discrete-gaussian: {noise-multiplier: 100}", 0.01},
		{"discrete-gaussian: {noise-multiplier: 40, sensitivity: 2.9}", math.Sqrt(8) / 116},
		{"discrete-gaussian: {noise-multiplier: 40, sensitivity: 2, dimension: 1}", 0.025},
		{"discrete-laplace: {noise-multiplier: 100, sensitivity: 2}", 1.2533141373 / 100},
		{"skellam: {standard-deviation: 400, sensitivity: 4}", 0.01},
		{"summed-noise: {noise: skellam, clients: 12, missing: 2, standard-deviation: 100, sensitivity: 4}", 0.04 / math.Sqrt(10)},
		{"summed-noise: {noise: discrete-gaussian, clients: 1000, missing: 100, standard-deviation: 20, sensitivity: 4}", 4.0 / 600},
		{"summed-noise: {noise: discrete-laplace, clients: 1000, standard-deviation: 5, sensitivity: 4}", 4 / math.Sqrt(1000*2*math.Exp(-0.2)) * -math.Expm1(-0.2)},
	} {
		l, err := Create(ctx, File(filepath.Join(t.TempDir(), "a.ledger")), Config{Neighbors: profiles.ZeroOut, Epsilon: 1, Delta: 1e-5, Mode: AdaptiveGaussian})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.SpendPlan(ctx, []byte("{neighbors: zero-out, steps: [{mechanism: {"+c.step+"}, count: 3}]}"), ""); err != nil {
			t.Errorf("%s: %v", c.step, err)
			continue
		}
		st, err := l.Status(ctx)
		if want := math.Sqrt(3) * c.mu; err != nil || !(st.Spent.Mu > want*(1-1e-6) && st.Spent.Mu < want*(1+1e-3)) {
			t.Errorf("%s: μ = %v, want %v; %v", c.step, st.Spent.Mu, want, err)
		}
	}
	l, err := Create(ctx, File(filepath.Join(t.TempDir(), "a.ledger")), Config{Neighbors: profiles.ZeroOut, Epsilon: 1, Delta: 1e-200, Mode: AdaptiveGaussian})
	if err != nil {
		t.Fatal(err)
	}
	err = l.SpendPlan(ctx, []byte("{neighbors: zero-out, steps: [{mechanism: {summed-noise: {noise: discrete-gaussian, clients: 10000, standard-deviation: 100}}}]}"), "")
	if err == nil || !strings.Contains(err.Error(), "delta: of the ledger is below 1e-150") {
		t.Errorf("a tail beside δ = 1e-200: %v", err)
	}
}
