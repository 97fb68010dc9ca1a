package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Acceptance check 14: parameters (selection.md §5.6).
func TestCheck14Parameters(t *testing.T) {
	for _, c := range []struct {
		slack, eps, epsilon, delta, beta float64
		n                                int
		p                                float64
		c, s4, d4, n4, nu4, xi4          float64
		s5, d5, margin, n5, lower        float64
	}{
		{.5, .1, 1, 1e-6, .1, 10, .5, 8.2122884341565, 1.2, 363.556761252143, 5.98104122171833e17, 2.4, 4.8,
			.6, 349.708824502912, 8.53930633477856, 2.39577003561386e14, 1.4596927889755e-12},
		{.5, .5, 1, 1e-6, .1, 100, .5, 10.0046144902936, 2, 238.721980381479, 8.87005128030862e38, 4, 8,
			1, 230.650347181755, 14.0655105579643, 1.88628463092417e27, 1.2227759448411e-25},
		{.9, .9, 4, 1e-5, .2, 10, .25, 17.2359192998062, 3.6, 60.2823406308164, 1482769536879.19, 1.8, 3.6,
			1.8, 57.6535479056882, 4.79548236357207, 4184447028.89547, 1.37780565765476e-8},
	} {
		sv := SampledSparseVector{Percentile: c.p, CandidateEpsilon: c.eps, Slack: c.slack, Epsilon: c.epsilon, Delta: c.delta, Beta: c.beta, Queries: c.n}
		p := must(sv.Plan())
		relNear(t, "C", p.Constant, c.c, 1e-13)
		relNear(t, "S", p.Sensitivity, c.s4, 1e-14)
		relNear(t, "Δ", p.PaperOffset, c.d4, 1e-13)
		relNear(t, "N", p.PaperCalls, c.n4, 1e-12)
		relNear(t, "ν", p.ThresholdScale, c.nu4, 1e-14)
		relNear(t, "ξ", p.QueryScale, c.xi4, 1e-14)
		if p.Offset < p.PaperOffset || p.Calls < 2*p.PaperCalls {
			t.Errorf("Δ = %v, N = %v used, less than the theorem's %v, 2·%v", p.Offset, p.Calls, p.PaperOffset, p.PaperCalls)
		}
		_, err := sv.Run(t.Context(), nil, func(context.Context, int, *rand.Rand) (bool, error) {
			t.Fatal("called")
			return false, nil
		})
		if err == nil || !strings.HasPrefix(err.Error(), "max-calls: ") {
			t.Errorf("%v calls: %v", p.Calls, err)
		}
		ts := ThresholdSearch{Percentile: c.p, CandidateEpsilon: c.eps, Slack: c.slack, Epsilon: c.epsilon, Delta: c.delta, Beta: c.beta, Resolution: c.n}
		q := must(ts.Plan())
		relNear(t, "S", q.Sensitivity, c.s5, 1e-14)
		relNear(t, "Δ", q.PaperOffset, c.d5, 1e-13)
		relNear(t, "Λ", q.Margin, c.margin, 1e-13)
		if math.Abs(q.PaperCalls-math.Ceil(c.n5)) > 1e-12*c.n5 {
			t.Errorf("N = %v, want %v rounded up", q.PaperCalls, c.n5)
		}
		relNear(t, "quantile", q.PaperLower, c.lower, 1e-12)
		relNear(t, "ν", q.ThresholdScale, 2*c.s5/c.epsilon, 1e-14)
		relNear(t, "ξ", q.QueryScale, 4*c.s5/c.epsilon, 1e-14)
		if _, err := ts.Run(t.Context(), nil, nil); err == nil || !strings.HasPrefix(err.Error(), "max-calls: ") {
			t.Errorf("%v calls: %v", q.Calls, err)
		}
	}
	// The utility event of §6 E14 at ε₀ = .1, ε₁ = .9, R = 10, δ = 1e-6.
	p := must(ThresholdSearch{Percentile: .5, CandidateEpsilon: .9, Slack: .1, Epsilon: 1, Delta: 1e-6, Beta: .1, Resolution: 10}.Plan())
	near(t, "Δ", p.PaperOffset, 971.76, 1e-5)
	if want := 2 * (math.Exp(.05) + 1) * math.Log(2e7) / (.1 * math.Expm1(.05)); math.Abs(p.Offset-want) > 1e-9*want {
		t.Errorf("Δ used = %v, want %v", p.Offset, want)
	}
	a, b := SparseVector{0.5, 0.3, 2}.scales()
	relNear(t, "Algorithm 3 ν", a, 4*0.3/2, 1e-15)
	relNear(t, "Algorithm 3 ξ", b, 8*0.3/2, 1e-15)

	// Theorem 4.7 (§5.6): the theorem's own cut-off is log(2/ε₀)/γ.
	for _, c := range []struct {
		k, r                int
		beta, eps, slack    float64
		exponent, p1, gamma float64
		runs                float64
	}{
		{10, 10, .1, 1, 1, 18, 1.49882324924345e-57, 1.49882324924345e-58, 4.62460921199228e57},
		{10, 10, .1, .05, 1, 6.6, 7.04088144853626e-23, 7.04088144853626e-24, 9.84460803134307e22},
		{2, 5, .5, .01, 1, 6.12, 1.48900432430232e-10, 7.4450216215116e-11, 9310210443.94509},
	} {
		s := TwoStage{Candidates: c.k, CandidateEpsilon: c.eps, Slack: c.slack, Delta: 1e-6, Beta: c.beta, Resolution: c.r}
		p := must(s.Plan())
		relNear(t, "exponent", p.Exponent, c.exponent, 1e-14)
		relNear(t, "p₁", p.Share, c.p1, 1e-12)
		relNear(t, "γ", p.Gamma, c.gamma, 1e-12)
		relNear(t, "T", math.Log(2/c.slack)/p.Gamma, c.runs, 1e-12)
		if p.Epsilon > 2*c.eps+c.slack || p.Search.Percentile != 1/(2*float64(c.k)) {
			t.Errorf("cost %v, above 2ε₁ + ε₀", p.Epsilon)
		}
		_, err := RunTwoStage(t.Context(), nil, s, func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, nil })
		if err == nil || !strings.HasPrefix(err.Error(), "max-calls: ") {
			t.Errorf("%v calls: %v", p.Calls, err)
		}
	}
}

// Acceptance check 14: the algorithms. With ε₃ → ∞ the noise vanishes and they
// compare exactly.
func TestCheck14Algorithms(t *testing.T) {
	ctx := t.Context()
	ps := []float64{0.1, 0.4999, 0.5001, 0.9}
	i, err := SparseVector{0.5, 1, 1e300}.Run(ctx, nil, len(ps), func(_ context.Context, i int) (float64, error) { return ps[i], nil })
	if err != nil || i != 2 {
		t.Errorf("noise-free sparse vector stops at %d (%v), want 2", i, err)
	}
	for _, c := range []struct {
		p    float64
		want int
	}{{0, -1}, {1, 0}} {
		i, err = SparseVector{0.5, 1, 1}.Run(ctx, nil, 3, func(context.Context, int) (float64, error) { return c.p, nil })
		if err != nil || i != c.want {
			t.Errorf("probability %v: %d (%v), want %d", c.p, i, err, c.want)
		}
	}
	if _, err = (SparseVector{0.5, 1, 1}).Run(ctx, nil, 3, func(context.Context, int) (float64, error) { return math.NaN(), nil }); err == nil {
		t.Error("a NaN probability must be refused")
	}
	// The halting rate at p = p*: ξ ≥ ν for Laplace scales b and 2b is one half.
	halts := 0
	for k := range 2000 {
		i, _ := SparseVector{0.3, 1, 1}.Run(ctx, rand.NewChaCha8([32]byte{byte(k), byte(k >> 8)}), 1, func(context.Context, int) (float64, error) { return 0.3, nil })
		if i == 0 {
			halts++
		}
	}
	if math.Abs(float64(halts)-1000) > 5*math.Sqrt(500) {
		t.Errorf("%d of 2000 halts at p = p*", halts)
	}

	sv := SampledSparseVector{Percentile: .5, CandidateEpsilon: .1, Slack: .9, Epsilon: 1e300, Delta: 1e-2, Beta: .5, Queries: 4}
	calls := 0
	i, err = sv.Run(ctx, rand.NewChaCha8([32]byte{1}), func(_ context.Context, i int, rng *rand.Rand) (bool, error) {
		calls++
		return rng.Float64() < []float64{0.1, 0.2, 0.99, 1}[i], nil
	})
	plan := must(sv.Plan())
	if err != nil || i != 2 || calls != 3*int(plan.Calls) {
		t.Errorf("sampled sparse vector stops at %d after %d calls (%v)", i, calls, err)
	}
	// Extremes of N and Δ stay finite in log space.
	for _, h := range []float64{0, 1e300} {
		big := SparsePlan{Calls: 1e300, Offset: 1e-300, Sensitivity: 1, ThresholdScale: 1, QueryScale: 1}
		i, err := sv.run(ctx, big, rand.New(rand.NewPCG(1, 1)), func(int) (float64, error) { return h, nil })
		if err != nil || (i == 0) != (h > 0) {
			t.Errorf("N = 1e300, %v hits: %d, %v", h, i, err)
		}
	}

	// Noise of no finite scale is refused, not drawn.
	for _, c := range []SparseVector{{0.5, 1e300, 1e-300}, {0.5, 1e-300, 1}} {
		i, err := c.Run(ctx, nil, 1, func(context.Context, int) (float64, error) { return 0.5, nil })
		if c.Epsilon < 1 && err == nil || c.Epsilon == 1 && (err != nil || i > 0) {
			t.Errorf("%+v: %d, %v", c, i, err)
		}
	}

	// One batch serves every step; nothing passes below the margin: 0.
	ts := ThresholdSearch{Percentile: .5, CandidateEpsilon: .1, Slack: .9, Epsilon: 1e300, Delta: 1e-2, Beta: .5, Resolution: 10}
	q := must(ts.Plan())
	for _, c := range []struct{ score, want float64 }{{1, 0.9}, {0.73, 0.7}, {0.7, 0.7}, {0.05, 0}, {math.NaN(), 0}, {-4, 0}, {9, 0.9}} {
		calls := 0
		got, err := ts.Run(ctx, nil, func(context.Context, *rand.Rand) (float64, error) {
			calls++
			return c.score, nil
		})
		if err != nil || math.Abs(got-c.want) > 1e-15 || calls != int(q.Calls) {
			t.Errorf("scores %v: threshold %v (%v) after %d calls, want %v after %v", c.score, got, err, calls, c.want, q.Calls)
		}
	}
	stuck := q
	stuck.Margin, stuck.Offset = -1e6, 1e-9
	if got, err := ts.run(ctx, stuck, rand.New(rand.NewPCG(1, 1)), func() (float64, error) { return 0.5, nil }); err != nil || got != 0 {
		t.Errorf("nothing passes: %v, %v, want 0", got, err)
	}
	// The largest step that is reached by more than the allowed share.
	plain := SparsePlan{Calls: 1000, Offset: 1e-9}
	k := 0
	got, err := ts.run(ctx, plain, rand.New(rand.NewPCG(1, 1)), func() (float64, error) { k++; return float64(k-1) / 1000, nil })
	if err != nil || got != 0.5 {
		t.Errorf("uniform scores, p* = ½: %v (%v), want 0.5", got, err)
	}

	s := TwoStage{Candidates: 1, CandidateEpsilon: 1e-6, Slack: 1, Delta: 0.9, Beta: 0.99, Resolution: 2, MaxCalls: 1e9}
	if p := must(s.Plan()); p.Calls > 1e6 {
		t.Fatalf("the toy two-stage needs %v calls", p.Calls)
	}
	r, err := RunTwoStage(ctx, rand.NewChaCha8([32]byte{3}), s, func(context.Context, *rand.Rand) (string, float64, error) { return "x", 0.9, nil })
	if err != nil || !r.Found || r.Payload != "x" {
		t.Errorf("two-stage: %+v, %v", r, err)
	}
	for _, bad := range []SampledSparseVector{{}, {Percentile: 1}, {Percentile: .5, CandidateEpsilon: math.NaN()}} {
		if _, err := bad.Plan(); err == nil {
			t.Errorf("%+v must be refused", bad)
		}
	}
}

func TestDummyExponential(t *testing.T) {
	// The law of the pick by enumeration, and its price on an extremal pair.
	d := DummyExponential{Threshold: 1, Gamma: 0.2, Exponent: math.Inf(1)}
	scores := []float64{1, 0.5, 2, math.NaN()}
	counts := map[int]float64{}
	const n = 40000
	for i := range n {
		k, err := d.Pick(rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}), scores)
		if err != nil {
			t.Fatal(err)
		}
		counts[k]++
	}
	for k, want := range map[int]float64{-1: 6. / 8, 0: 1. / 8, 1: 0, 2: 1. / 8, 3: 0} {
		if math.Abs(counts[k]/n-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("pick %d: %v, want %v", k, counts[k]/n, want)
		}
	}
	d.Exponent = 2
	counts = map[int]float64{}
	for i := range n {
		k, _ := d.Pick(rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)}), []float64{0.5, 3})
		counts[k]++
	}
	z := 6 + 1 + math.Exp(-1)
	for k, want := range map[int]float64{-1: 6 / z, 0: math.Exp(-1) / z, 1: 1 / z} {
		if math.Abs(counts[k]/n-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("pick %d: %v, want %v", k, counts[k]/n, want)
		}
	}
	// Exact check of 2ε₁ + 4γ on N Bernoulli scores at the threshold.
	for _, gamma := range []float64{0.2, 0.125, 0.01} {
		for _, eps := range []float64{0.1, 1} {
			for _, n := range []int{1, 3, 40} {
				price := must(DummyExponential{1, gamma, math.Inf(1)}.Epsilon(eps))
				for _, p := range []float64{1e-3, 0.1, 1 / (1 + math.Exp(eps))} {
					a, b := pickLaw(n, p, gamma), pickLaw(n, p*math.Exp(eps), gamma)
					if v := max(maxDivergence(a, b), maxDivergence(b, a)); v > price {
						t.Errorf("γ=%v ε=%v N=%d: %v above %v", gamma, eps, n, v, price)
					}
				}
			}
		}
	}
	for _, bad := range []DummyExponential{{1, 0.25, 1}, {1, 0.3, 1}, {1, 0.2, 0}, {math.NaN(), 0.2, 1}, {1, math.NaN(), 1}} {
		if _, err := bad.Pick(nil, nil); err == nil {
			t.Errorf("%+v must be refused", bad)
		}
	}
}

// pickLaw is the law of the pick among n scores that reach the threshold with
// probability p each: none, and any particular one.
func pickLaw(n int, p, gamma float64) []float64 {
	dummies := 1 + 1/gamma
	none := 0.0
	for k := range n + 1 {
		lg, _ := math.Lgamma(float64(n) + 1)
		lk, _ := math.Lgamma(float64(k) + 1)
		lr, _ := math.Lgamma(float64(n-k) + 1)
		w := math.Exp(lg - lk - lr + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		none += w * dummies / (dummies + float64(k))
	}
	return []float64{none, (1 - none) / float64(n)}
}
