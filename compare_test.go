package accountant

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

func compare(t *testing.T, text string, delta float64) map[string]Comparison {
	t.Helper()
	p, err := ParsePlan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Compare(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Comparison{}
	for _, r := range rows {
		if r.Theorem == "" {
			t.Errorf("%s names no theorem", r.Method)
		}
		out[r.Method] = r
	}
	if len(out) != 7 {
		t.Errorf("%d methods, want 7", len(out))
	}
	return out
}

// TestCompareOrder: no bound is below the certified lower end.
func TestCompareOrder(t *testing.T) {
	slow.Test(t)
	for name, text := range map[string]string{
		"pure":       "{neighbors: add-remove, steps: [{mechanism: {pure: {epsilon: 0.1}}, count: 100}]}",
		"gaussian":   "{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 8}}, count: 20}]}",
		"sampled":    "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 500}]}",
		"mixed":      "{neighbors: add-remove, steps: [{mechanism: {laplace: {noise-multiplier: 20}}, count: 30}, {mechanism: {discrete-gaussian: {noise-multiplier: 9}}, count: 3}]}",
		"substitute": "{neighbors: substitute, steps: [{mechanism: {laplace: {noise-multiplier: 9}}, sampling: {poisson: {rate: 0.1}}, count: 50}]}",
		"without":    "{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, sampling: {without-replacement: {population: 10000, batch: 200}}, count: 100}]}",
		"with":       "{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, sampling: {with-replacement: {population: 10000, batch: 200}}, count: 100}]}",
		"must-ow":    "{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, sampling: {must-ow: {population: 10000, subset: 118, batch: 200}}, count: 100}]}",
		"must-wo":    "{neighbors: substitute, steps: [{mechanism: {laplace: {noise-multiplier: 4}}, sampling: {must-wo: {population: 10000, subset: 400, batch: 200}}, count: 100}]}",
		"must-ww":    "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, sampling: {must-ww: {population: 10000, subset: 118, batch: 200}}, count: 10}]}",
		"approx":     "{neighbors: add-remove, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 1e-8}}, count: 50}]}",
	} {
		if (name == "with" || name == "must-ow") && !slow.All() {
			continue // seconds each, and copies as must-ww has them
		}
		t.Run(name, func(t *testing.T) {
			rows := compare(t, text, 1e-5)
			truth := rows["Fourier accountant"]
			for _, r := range rows {
				if r.Kind == UpperBound && r.Epsilon < truth.Lower {
					t.Errorf("%s: %v is below %v", r.Method, r.Epsilon, truth.Lower)
				}
				if r.Kind == NotApplicable && r.Note == "" {
					t.Errorf("%s: no reason", r.Method)
				}
			}
		})
	}
}

// TestCompareValues: what can be worked out by hand.
func TestCompareValues(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// 100 runs of pure ε = 0.1.
	const delta = 1e-5
	rows := compare(t, "{neighbors: add-remove, steps: [{mechanism: {pure: {epsilon: 0.1}}, count: 100}]}", delta)
	rho := 100 * 0.01 / 2
	near("zCDP", rows["zCDP"].Epsilon, rho+2*math.Sqrt(rho*math.Log(1/delta)))
	// One run at δ/100 = 1e-7 has δ(ε) = 1 − (1 + e^{ε−0.1})·…: hardly below 0.1.
	near("basic", rows["basic composition"].Epsilon, 10)
	// Optimal composition of pure runs is what they cost.
	near("advanced", rows["advanced composition"].Epsilon, rows["Fourier accountant"].Epsilon)
	// μ = 2√n·sinh(ε/2): mean ε·tanh(ε/2), variance ε²/cosh²(ε/2) a run.
	mu := 2 * math.Sqrt(100) * math.Sinh(0.05)
	g, err := profiles.NewGaussianMechanism(1 / mu)
	if err != nil {
		t.Fatal(err)
	}
	a := New(profiles.AddRemove)
	if err := a.Add(t.Context(), Step{Mechanism: g}, 1); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	near("CLT", rows["GDP central limit"].Epsilon, iv.Estimate)
	if rows["GDP central limit"].Kind != Approximate {
		t.Error("CLT is not marked approximate")
	}

	// Different runs: Σ ε·tanh(ε/2) + √(2 log(1/δ) Σ ε²) by hand, with all of δ on
	// the tail as pure runs need none.
	rows = compare(t, "{neighbors: add-remove, steps: [{mechanism: {pure: {epsilon: 0.01}}, count: 1000}, {mechanism: {pure: {epsilon: 0.02}}, count: 1000}]}", delta)
	near("heterogeneous", rows["advanced composition"].Epsilon,
		1000*(0.01*math.Tanh(0.005)+0.02*math.Tanh(0.01))+math.Sqrt(2*math.Log(1/delta)*1000*(0.01*0.01+0.02*0.02)))

	// Gaussians: ρ = n/(2σ²) and the classic conversion ρ + 2√(ρ log(1/δ)) is the
	// best of Mironov's over all orders.
	rows = compare(t, "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 5}}, count: 10}]}", delta)
	rho = 10.0 / 50
	near("Gaussian zCDP", rows["zCDP"].Epsilon, rho+2*math.Sqrt(rho*math.Log(1/delta)))
	near("Gaussian RDP", rows["RDP, classic conversion"].Epsilon, rows["zCDP"].Epsilon)
	// The improved conversion: min over α of ρα + log(1−1/α) − log(δα)/(α−1).
	least := math.Inf(1)
	for x := -6.0; x < 10; x += 1e-3 {
		alpha := 1 + math.Exp(x)
		least = min(least, rho*alpha+math.Log1p(-1/alpha)-math.Log(delta*alpha)/(alpha-1))
	}
	near("Gaussian RDP, improved", rows["RDP, improved conversion"].Epsilon, least)
	// Basic: each of the ten is at δ/10 on its own profile Φ(1/2σ − εσ) −
	// e^ε·Φ(−1/2σ − εσ) (Balle and Wang 2018, Theorem 8).
	one := rows["basic composition"].Epsilon / 10
	near("Gaussian basic", tail(one*5-0.1)-math.Exp(one)*tail(one*5+0.1), delta/10)
	near("Gaussian CLT is exact", rows["GDP central limit"].Epsilon, rows["Fourier accountant"].Epsilon)
}

// TestCompareSampledCLT: μ = q√(T(e^{1/σ²} − 1)) (Bu, Dong, Long and Su 2020,
// Corollary 4), and its ε from the Gaussian profile.
func TestCompareSampledCLT(t *testing.T) {
	row := compare(t, "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 1000}]}", 1e-5)["GDP central limit"]
	mu := 0.01 * math.Sqrt(1000*math.Expm1(1))
	if got := tail(row.Epsilon/mu-mu/2) - math.Exp(row.Epsilon)*tail(row.Epsilon/mu+mu/2); math.Abs(got-1e-5) > 1e-8 {
		t.Errorf("δ(%v) = %v under μ = %v", row.Epsilon, got, mu)
	}
}

// TestCompareRepeatedRecords: m copies of a record under substitution move the mean by 2m, and no ρ below that of all of them holds.
func TestCompareRepeatedRecords(t *testing.T) {
	for i, c := range []struct {
		sampling string
		copies   float64
	}{
		{"with-replacement: {population: 1000, batch: 30}", 30},
		{"must-ow: {population: 1000, subset: 100, batch: 30}", 30},
		{"must-ww: {population: 1000, subset: 100, batch: 30}", 30},
		{"without-replacement: {population: 1000, batch: 30}", 1},
	} {
		sampling, copies := c.sampling, c.copies
		for k, r := range []string{"substitute", "zero-out", "add-remove"} {
			if i%3 != k && !slow.All() {
				continue // a second each
			}
			rows := compare(t, "{neighbors: "+r+", steps: [{mechanism: {gaussian: {noise-multiplier: 100}}, sampling: {"+sampling+"}, count: 20}]}", 1e-5)
			rho := 20 * (2 * copies / 100) * (2 * copies / 100) / 2
			near := rho + 2*math.Sqrt(rho*math.Log(1e5))
			if got := rows["zCDP"].Epsilon; !(got >= near && got < near*(1+1e-9)) {
				t.Errorf("%s: ρ gives %v, want %v", sampling, got, near)
			}
			exact, renyi := rows["Fourier accountant"].Epsilon, rows["RDP, improved conversion"].Epsilon
			// MUST.WW has the wide tail of Theorem 5.
			if !(renyi >= exact && (renyi < 8*exact+0.05 || strings.HasPrefix(sampling, "must-ww"))) {
				t.Errorf("%s under %s: Rényi %v, certified %v", sampling, r, renyi, exact)
			}
		}
	}
}

// TestCompareNotApplicable: a method without a number for a plan says why.
func TestCompareNotApplicable(t *testing.T) {
	for _, c := range []struct{ plan, method, why string }{
		{"{neighbors: substitute, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 0.01}}, sampling: {without-replacement: {population: 100, batch: 10}}}]}",
			"zCDP", "no formula for approximate on without-replacement samples"},
		{"{neighbors: substitute, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {without-replacement: {population: 100, batch: 10}}}]}",
			"GDP central limit", "no formula for gaussian on without-replacement samples under substitute"},
		{"{neighbors: add-remove, steps: [{selection: {law: geometric, mean: 4}, steps: [{mechanism: {pure: {epsilon: 1}}}]}]}", "zCDP", "a private selection is no base mechanism"},
		{"{neighbors: add-remove, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 0.01}}}]}", "zCDP", "approximate has no ρ: neither Gaussian nor of finite pure ε"},
		{"{neighbors: add-remove, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 0.01}}}]}", "RDP, improved conversion", "no order has a finite Rényi divergence"},
		{"{neighbors: add-remove, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 0.01}}}]}", "basic composition", "some run has no finite ε"},
	} {
		if row := compare(t, c.plan, 1e-5)[c.method]; row.Kind != NotApplicable || !strings.Contains(row.Note, c.why) {
			t.Errorf("%s: %v, %q; want %q", c.method, row.Kind, row.Note, c.why)
		}
	}
}

// TestLaplaceMoments against the midpoint rule on the loss of Laplace noise.
func TestLaplaceMoments(t *testing.T) {
	for _, m := range []float64{1e-4, 0.05, 1, 6} {
		mean, square := laplaceMoments(m)
		const n = 20000
		wantMean, wantSquare := m*-math.Expm1(-m)/2, m*m*(1+math.Exp(-m))/2
		for i := range n {
			y := (float64(i) + 0.5) * m / n
			w := math.Exp(-y) / 2 * m / n
			wantMean += w * (m - 2*y)
			wantSquare += w * (m - 2*y) * (m - 2*y)
		}
		// The rule errs by (m/n)²/24 relative, the series below 1e-3 by m²/12.
		if math.Abs(mean-wantMean) > 1e-6*wantMean || math.Abs(square-wantSquare) > 1e-6*wantSquare {
			t.Errorf("m = %v: %v, %v; want %v, %v", m, mean, square, wantMean, wantSquare)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	p := gaussianPlan(t, 1, 1, 1)
	for _, delta := range []float64{0, 1, -1, math.NaN()} {
		if _, err := p.Compare(t.Context(), delta); err == nil || !strings.HasPrefix(err.Error(), "delta: ") {
			t.Errorf("δ = %v: %v", delta, err)
		}
	}
}
