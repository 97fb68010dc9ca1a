package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// TestIntegerNoise: answers of integer-noise.md §3 with its errata. 4.8332 is the unit pair composed 16 times, 4.826 that of
// the sum of 16 numbers; the published Rényi bound, as coded, has 5.488.
func TestIntegerNoise(t *testing.T) {
	for _, c := range []struct {
		step                               accountant.Step
		least, lower, upper, most, byRenyi float64
	}{
		{must(t)(profiles.NewSkellamMechanism(4, 4)), 4.833, 4.83323, 4.94662539, 4.94662541, 5.48805},
		{must(t)(profiles.NewSkellamMechanism(10, 10)), 4.88, 4.8958, 4.89587466, 4.89587468, 5.26493},
		{must(t)(profiles.NewSummedNoise("discrete-gaussian", 1, 0, 2, 2)), 4.80, 4.9458, 4.94585022, 4.94585024, 6},
	} {
		p := &accountant.Plan{Neighbors: profiles.ZeroOut, Steps: []accountant.Step{c.step}}
		a := accountant.New(p.Neighbors)
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Lower >= c.least && iv.Lower <= c.lower && iv.Upper >= c.upper && iv.Upper <= c.most && iv.Upper < c.byRenyi) || len(iv.Warnings) > 0 {
			t.Errorf("%s: [%.9g, %.10g], want lower in [%v, %v], upper in [%v, %v]; %q", c.step.Mechanism.Name(), iv.Lower, iv.Upper, c.least, c.lower, c.upper, c.most, iv.Warnings)
		}
	}
}

// TestAbsentNoise: a client that is absent does not add its noise either, which alone tells more than its values do: with ten
// clients and 1,000 numbers that are all 0, δ(0) is at least .742, where .134 would be promised (errata, F1).
func TestAbsentNoise(t *testing.T) {
	const clients, numbers = 10, 1000
	reach := 120
	masses := func(variance float64) []float64 { // of Skellam noise: differences of Poisson variables
		poisson := make([]float64, 4*reach)
		for k := range poisson {
			g, _ := math.Lgamma(float64(k + 1))
			poisson[k] = math.Exp(-variance/2 + float64(k)*math.Log(variance/2) - g)
		}
		out := make([]float64, 2*reach+1)
		for j := range out {
			d := j - reach
			for k := max(0, -d); k < len(poisson) && k+d < len(poisson); k++ {
				out[j] += poisson[k] * poisson[k+d]
			}
		}
		return out
	}
	p, q := masses(clients), masses(clients-1)
	var atoms []profiles.Atom
	for j := range p {
		if x, y := math.Log(p[j]), math.Log(q[j]); p[j] > 1e-250 && q[j] > 1e-250 {
			atoms = append(atoms, profiles.Atom{Loss: x - y, LogP: x, LogQ: y})
		}
	}
	pair, err := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 1e-12, 1e-11)
	if err != nil {
		t.Fatal(err)
	}
	sum := fourier.New(fourier.DefaultOptions())
	if err := sum.Add(pair, numbers); err != nil {
		t.Fatal(err)
	}
	truth, err := sum.Delta(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := profiles.NewSummedNoise("skellam", clients, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	promised, err := m.Pair(profiles.ZeroOut)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := profiles.LogDelta(promised, 0)
	if !(truth.Lower >= 0.742 && truth.Lower <= 0.76 && math.Abs(math.Exp(d)-0.134) < 1e-3) {
		t.Errorf("δ(0) of absent noise is at least %v, promised %v", truth.Lower, math.Exp(d))
	}
	if err := accountant.New(profiles.AddRemove).Add(t.Context(), accountant.Step{Mechanism: m}, 1); err == nil {
		t.Error("add-remove is not refused")
	}
}

// TestSampledSubstitute: Lemma S for Poisson samples under substitution and batches of fixed size, against sums over all
// outcomes of noise on one and two numbers.
func TestSampledSubstitute(t *testing.T) {
	const reach = 40
	mass := func(name string, sd float64) func(k int) float64 {
		w := map[string]func(k int) float64{
			"discrete-gaussian": func(k int) float64 { return math.Exp(-float64(k*k) / (2 * sd * sd)) },
			"discrete-laplace":  func(k int) float64 { return math.Exp(-math.Abs(float64(k)) / sd) },
		}[name]
		total := 0.0
		for k := -10 * reach; k <= 10*reach; k++ {
			total += w(k)
		}
		return func(k int) float64 { return w(k) / total }
	}
	closest := math.Inf(-1)
	for _, c := range []struct {
		noise string
		sd    float64
	}{{"discrete-gaussian", 0.6}, {"discrete-gaussian", 1}, {"discrete-laplace", 1}, {"discrete-laplace", 2}} {
		f := mass(c.noise, c.sd)
		about := func(v [2]int) []float64 {
			var out []float64
			for x := -reach; x <= reach; x++ {
				for y := -reach; y <= reach; y++ {
					out = append(out, f(x-v[0])*f(y-v[1]))
				}
			}
			return out
		}
		zero := about([2]int{})
		for _, v := range [][2][2]int{{{1, 0}, {-1, 0}}, {{1, 0}, {0, 1}}, {{1, 1}, {-1, -1}}, {{1, 1}, {1, -1}}, {{2, 1}, {-2, -1}}, {{2, 1}, {-1, 2}}} {
			norm2 := v[0][0]*v[0][0] + v[0][1]*v[0][1]
			m := must(t)(profiles.NewSummedNoise(c.noise, 1, 0, c.sd, math.Sqrt(float64(norm2)))).Mechanism
			a, b := about(v[0]), about(v[1])
			for _, q := range []float64{0.05, 0.5, 0.8} {
				poisson, err := subsample.NewPoisson(q)
				if err != nil {
					t.Fatal(err)
				}
				bounds, err := subsample.Of(t.Context(), m, poisson, profiles.Substitute, 1)
				if err != nil {
					t.Fatal(err)
				}
				for eps := -2.0; eps <= 4; eps += 0.25 {
					h := 0.0
					for i := range zero {
						h += max(0, (1-q)*zero[i]+q*a[i]-math.Exp(eps)*((1-q)*zero[i]+q*b[i]))
					}
					up, _ := profiles.LogDelta(bounds.Directions[0].Upper, eps)
					low, _ := profiles.LogDelta(bounds.Directions[0].Lower, eps)
					if h > math.Exp(up)+1e-9 || math.Exp(low) > math.Exp(up)+1e-12 {
						t.Errorf("%v, %v, rate %v, ε = %v: %v, bounds %v and %v", c, v, q, eps, h, math.Exp(low), math.Exp(up))
					}
					closest = max(closest, h-math.Exp(up))
				}
			}
		}
	}
	if closest < -0.01 {
		t.Errorf("no bound is near: %v", closest)
	}
	fixed, err := subsample.NewWithoutReplacement(10, 3)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := subsample.Of(t.Context(), must(t)(profiles.NewSkellamMechanism(1, 1)).Mechanism, fixed, profiles.Substitute, 1)
	if err != nil || bounds.Together != nil || bounds.Numerical {
		t.Errorf("a batch of fixed size: %v, recursion %v, which is about more than pairs", err, bounds.Together)
	}
}

// TestSummedMissing: missing clients add no noise.
func TestSummedMissing(t *testing.T) {
	epsilon := func(clients, missing int64) string {
		step := must(t)(profiles.NewSummedNoise("discrete-gaussian", clients, missing, 1.5, 3.2))
		p := &accountant.Plan{Neighbors: profiles.Substitute, Steps: []accountant.Step{step}}
		a := accountant.New(p.Neighbors)
		if err := a.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.6f", iv.Upper)
	}
	if all, some, few := epsilon(40, 0), epsilon(50, 10), epsilon(40, 10); all != some || !(few > all) {
		t.Errorf("ε of 40 clients %s, of 50 less 10 %s, of 40 less 10 %s", all, some, few)
	}
}

// TestIntegerNoiseOnASampleByItself: who asks a scheme, and not subsample.Of, gets bounds by the pair alone, if any: no
// recursion, and no lower end that only Gaussian noise has.
func TestIntegerNoiseOnASampleByItself(t *testing.T) {
	m := must(t)(profiles.NewSkellamMechanism(1, 1)).Mechanism
	fixed, err := subsample.NewWithoutReplacement(10, 3)
	if err != nil {
		t.Fatal(err)
	}
	poisson, err := subsample.NewPoisson(0.3)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []subsample.Scheme{fixed, poisson} {
		for _, r := range profiles.Relations() {
			own, err := s.Apply(m, r)
			if err != nil {
				continue
			}
			whole, err := subsample.Of(t.Context(), m, s, r, 1)
			if err != nil {
				t.Fatal(err)
			}
			if own.Together != nil || !own.TheoryGap() {
				t.Errorf("%s, %v: recursion %v, gap %v", s.Name(), r, own.Together, own.TheoryGap())
			}
			for _, eps := range []float64{0, 0.5, 2} {
				up, _ := profiles.LogDelta(own.Directions[0].Upper, eps)
				if best, _ := profiles.LogDelta(whole.Directions[0].Upper, eps); up < best-1e-9 {
					t.Errorf("%s, %v, ε = %v: %v is below the bound by Lemma S, %v", s.Name(), r, eps, up, best)
				}
			}
		}
	}
}
