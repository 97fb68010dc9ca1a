package accountant_test

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// dp_accounting 0.6.0 (b5b0286e) under REPLACE_SPECIAL, from_randomized_response and
// self_compose: golden peers.json, rows rr/*/REPLACE_SPECIAL/*/pld. It rounds losses up to
// multiples of 1e-4, so that it is above the truth, by 1e-4 for each run at most.
func TestZeroOutAgainstReplaceSpecial(t *testing.T) {
	for _, row := range []struct {
		probability float64
		categories  int
		runs        int64
		delta, want float64
	}{
		{0.5, 2, 1, 1e-5, 0.6931799997999974},
		{0.5, 2, 10, 1e-5, 6.921707210515603},
		{0.5, 2, 100, 1e-6, 39.4125685935809},
		{0.5, 2, 1000, 1e-5, 217.05669437821138},
		{0.9, 2, 1, 1e-10, 0.1053999998},
		{0.9, 2, 10, 1e-6, 1.0529754753548357},
		{0.9, 2, 1000, 1e-10, 24.633084715860328},
		{0.5, 10, 1, 1e-5, 1.704781818016527},
		{0.5, 10, 100, 1e-10, 133.85220096543782},
		{0.9, 100, 10, 1e-5, 15.492276783309403},
		{0.9, 100, 100, 1e-6, 58.918043736015186},
		{0.9, 100, 1000, 1e-5, 275.8690968194318},
	} {
		acct := accountant.New(profiles.ZeroOut)
		if err := acct.Add(t.Context(), must(t)(profiles.NewRandomizedResponse(row.probability, row.categories)), row.runs); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Epsilon(t.Context(), row.delta)
		if err != nil {
			t.Fatal(err)
		}
		if above := row.want - iv.Upper; above < -1e-9 || row.want-iv.Lower > 1e-4*float64(row.runs)+1e-9 {
			t.Errorf("%+v: [%v, %v]", row, iv.Lower, iv.Upper)
		}
	}
}

// Composed: what is Poisson sampled costs the same as under add-remove; batches of a fixed
// size cost more than Poisson's formula at m/n and less than a substitution; and no direction,
// method of comparison or order of questions panics.
func TestZeroOutComposed(t *testing.T) {
	run := func(r profiles.Relation, s subsample.Scheme) (*accountant.Plan, accountant.Interval) {
		t.Helper()
		step := must(t)(profiles.NewGaussianMechanism(1.1))
		step.Sampling, step.Count = s, 1000
		p := &accountant.Plan{Neighbors: r, Steps: []accountant.Step{step}}
		acct := accountant.New(r)
		if err := acct.AddPlan(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return p, iv
	}
	poisson, err := subsample.NewPoisson(0.004)
	if err != nil {
		t.Fatal(err)
	}
	wor, err := subsample.NewWithoutReplacement(50000, 200)
	if err != nil {
		t.Fatal(err)
	}
	_, one := run(profiles.AddRemove, poisson)
	p, same := run(profiles.ZeroOut, poisson)
	if one.Lower != same.Lower || one.Upper != same.Upper {
		t.Errorf("Poisson: add-remove %v, zero-out %v", one, same)
	}
	if _, err := p.Compare(t.Context(), 1e-5); err != nil {
		t.Error(err)
	}
	p, zero := run(profiles.ZeroOut, wor)
	_, sub := run(profiles.Substitute, wor)
	if !(zero.Lower > 2*one.Upper && zero.Upper < sub.Upper && zero.Gap != nil) {
		t.Errorf("without replacement: zero-out %v, Poisson's formula %v, substitute %v", zero, one, sub)
	}
	// Rényi: that of a substitution.
	curve, err := p.RDP()
	if err != nil {
		t.Fatal(err)
	}
	p.Neighbors = profiles.Substitute
	of, err := p.RDP()
	if err != nil {
		t.Fatal(err)
	}
	for _, alpha := range []float64{1.5, 4, 20} {
		if a, b := curve.RDP(alpha), of.RDP(alpha); a != b || math.IsInf(a, 0) {
			t.Errorf("order %v: %v under zero-out, %v under substitute", alpha, a, b)
		}
	}
}

// The label of a record cannot be empty: refused in one line that names the field.
func TestZeroOutIsRefusedForLabels(t *testing.T) {
	r, err := labeldp.RandomizedResponse([]float64{0, 1, 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	err = accountant.New(profiles.ZeroOut).Add(t.Context(), accountant.Step{Mechanism: r}, 1)
	if want := "neighbors: zero-out is not substitute, the only relation of label privacy"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The numbers of docs/guide/choosing-a-sampler.md: the README's run on batches of fixed size. The
// relations are ordered.
func TestZeroOutOfTheReadmesRun(t *testing.T) {
	for _, row := range []struct {
		name         string
		scheme       func() (subsample.FixedSize, error)
		noise        float64
		runs         int64
		lower, upper float64
	}{
		{"without-replacement", func() (subsample.FixedSize, error) { return subsample.NewWithoutReplacement(60000, 256) }, 1.1, 14062, 11.79, 12.07},
		{"with-replacement", func() (subsample.FixedSize, error) { return subsample.NewWithReplacement(60000, 256) }, 1.1, 14062, 12.86, 15.03},
		{"much noise", func() (subsample.FixedSize, error) { return subsample.NewWithoutReplacement(10000, 200) }, 4, 1000, 0.682, 0.750},
		{"much noise, Poisson", nil, 4, 1000, 0.5793, 0.580},
	} {
		if row.scheme == nil {
			acct := accountant.New(profiles.ZeroOut)
			if err := acct.Add(t.Context(), dpsgdStep(t, 0.02, row.noise), row.runs); err != nil {
				t.Fatal(err)
			}
			if iv, err := acct.Epsilon(t.Context(), 1e-5); err != nil || iv.Lower < row.lower || iv.Upper > row.upper {
				t.Errorf("%s: [%v, %v], %v", row.name, iv.Lower, iv.Upper, err)
			}
			continue
		}
		s, err := row.scheme()
		if err != nil {
			t.Fatal(err)
		}
		step := must(t)(profiles.NewGaussianMechanism(row.noise))
		step.Sampling = s
		acct := accountant.New(profiles.ZeroOut)
		if err := acct.Add(t.Context(), step, row.runs); err != nil {
			t.Fatal(err)
		}
		iv, err := acct.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(iv.Lower-row.lower) > 1e-2*row.lower || math.Abs(iv.Upper-row.upper) > 1e-2*row.upper || iv.Lower < row.lower-1e-2 {
			t.Errorf("%s: [%v, %v], want about [%v, %v]", row.name, iv.Lower, iv.Upper, row.lower, row.upper)
		}
	}
}
