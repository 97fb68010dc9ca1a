package accountant_test

import (
	"context"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// personsRun is a run of DP-SGD about persons.
func personsRun(t testing.TB, r profiles.Relation, sigma, rate float64, steps, records int64, opts ...accountant.Options) *accountant.Accountant {
	t.Helper()
	b, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		t.Fatal(err)
	}
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		t.Fatal(err)
	}
	p := &accountant.Plan{Neighbors: r, RecordsPerPerson: records, Steps: []accountant.Step{{Mechanism: b, Sampling: s, Count: steps}}}
	a := p.Accountant(opts...)
	if err := a.AddPlan(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return a
}

// The numbers are of a contour integral in numpy, which shares no code with this one, at
// δ = 1e-5, to about 1e-9.
func TestPersonsGolden(t *testing.T) {
	const add, sub = profiles.AddRemove, profiles.Substitute
	for _, c := range []struct {
		r       profiles.Relation
		sigma   float64
		rate    float64
		steps   int64
		records int64
		want    float64
	}{
		{add, 1, 0.01, 1000, 1, 1.8282366665}, {add, 1, 0.01, 1000, 2, 3.9790857631}, {add, 1, 0.01, 1000, 4, 8.8991878708},
		{add, 1, 0.01, 1000, 8, 20.8952989740}, {add, 1, 0.01, 1000, 16, 52.7139748283},
		{sub, 1, 0.01, 1000, 1, 2.8434402593}, {sub, 1, 0.01, 1000, 2, 6.2861886880}, {sub, 1, 0.01, 1000, 4, 14.4759178195},
		{sub, 1, 0.01, 1000, 8, 35.4304575443},
		{add, 2, 0.01, 1000, 2, 1.3325671618}, {add, 2, 0.01, 1000, 4, 2.8933843407}, {add, 2, 0.01, 1000, 8, 6.4601838714},
		{sub, 2, 0.01, 1000, 1, 1.2051986527}, {sub, 2, 0.01, 1000, 2, 2.6039329596}, {sub, 2, 0.01, 1000, 4, 5.7657813406},
		{add, 1.1, 256. / 60000, 14063, 2, 5.2648953537},
	} {
		iv, err := personsRun(t, c.r, c.sigma, c.rate, c.steps, c.records, accountant.Options{Accuracy: 1e-6}).Epsilon(context.Background(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Lower <= c.want*(1+3e-10) && c.want*(1-3e-10) <= iv.Upper && iv.Upper-iv.Lower <= 1e-5*c.want) {
			t.Errorf("%v, σ %v, k %d: [%.10f, %.10f] %v %v, want %.10f", c.r, c.sigma, c.records, iv.Lower, iv.Upper, iv.Engine, iv.Warnings, c.want)
		}
	}
}

// TestManyRecords: coarse laws of persons with many records place ε far from where it is. The first pass then says
// where, and its laws answer.
func TestManyRecords(t *testing.T) {
	iv, err := personsRun(t, profiles.AddRemove, 1, 0.1, 1000, 1024).Epsilon(context.Background(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if !(iv.Upper-iv.Lower <= 1e-3*iv.Upper) || len(iv.Warnings) > 0 {
		t.Errorf("[%v, %v], %v", iv.Lower, iv.Upper, iv.Warnings)
	}
}
