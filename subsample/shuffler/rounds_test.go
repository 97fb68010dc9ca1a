package shuffler_test

import (
	"context"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

func epsilon(t *testing.T, m profiles.Mechanism, s subsample.Scheme, r profiles.Relation, count int64, delta float64, opts ...accountant.Options) accountant.Interval {
	t.Helper()
	p := accountant.Plan{Neighbors: r, Steps: []accountant.Step{{Mechanism: m, Sampling: s, Count: count}}}
	a := p.Accountant(opts...)
	if err := a.AddPlan(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(context.Background(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// TestRounds has the intervals of ../../docs/theory/shuffler.md: one bit of 10,000 users at ε₀ = 1 and δ = 1e-6. The lower ends are those of the attack
// on equal others, 0.035658815, 0.1216985664, 0.41541347 and 1.43103708 by another program.
func TestRounds(t *testing.T) {
	bit, err := shuffler.NewKRR(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shuffler.New(10000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rounds               int64
		lower, attack, upper float64
	}{
		{1, .035658, .035658816, .035677},
		{10, .121698, .12169857, .122074},
		{100, .415413, .41541348, .417242},
		{1000, 1.43103, 1.43103709, 1.43856},
	} {
		iv := epsilon(t, bit, s, profiles.Substitute, c.rounds, 1e-6)
		// The composition has the accuracy of a question that asks for none.
		if !(iv.Lower >= c.lower*(1-5e-4) && iv.Lower <= c.attack && iv.Upper <= c.upper && iv.Upper >= c.attack*(1-1e-8)) {
			t.Errorf("%d rounds: [%v, %v] is not in [%v, %v] around %v", c.rounds, iv.Lower, iv.Upper, c.lower, c.upper, c.attack)
		}
		t.Log(c.rounds, iv.Lower, iv.Upper, iv.Warnings)
	}
}

// TestAttackOfAllRounds: which data set tells most depends on the rounds. Of one, the others hold the victim's value; of many, a third one.
func TestAttackOfAllRounds(t *testing.T) {
	krr, err := shuffler.NewKRR(2, 10)
	if err != nil {
		t.Fatal(err)
	}
	same, err := shuffler.NewSubsetSelection(2, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shuffler.New(10)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []profiles.Mechanism{krr, same} {
		for _, c := range []struct {
			rounds int64
			lower  float64
		}{{1, 1.997}, {5, 6.44}, {50, 31.7}} {
			if iv := epsilon(t, m, s, profiles.Substitute, c.rounds, 1e-6); !(iv.Lower >= c.lower && iv.Lower <= iv.Upper) {
				t.Errorf("%s, %d rounds: [%v, %v], want at least %v below", m.Name(), c.rounds, iv.Lower, iv.Upper, c.lower)
			}
		}
	}
}

// TestPersonsLoseNoMoreThanTheirMessages: without a shuffler ten messages of a person tell 10·ε₀ at most, so that the chain of ten changes has
// no infinite loss, and 30 rounds compose: they cost less than the 1,200 of their messages.
func TestPersonsLoseNoMoreThanTheirMessages(t *testing.T) {
	krr, err := shuffler.NewKRR(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shuffler.New(1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ delta, most float64 }{{1e-6, 300}, {0, 10 * 4 * 30 * (1 + 1e-6)}} {
		iv := epsilon(t, krr, s, profiles.Substitute, 30, c.delta, accountant.Options{RecordsPerPerson: 10})
		if !(iv.Upper <= c.most) {
			t.Errorf("ε(%v) ≤ %v, above %v", c.delta, iv.Upper, c.most)
		}
	}
}

// TestRoundingIsNoMass: losses of a matrix's games that are one but for rounding are one point of the profile above them. Kept apart, 1e-16
// of rounding became mass, and ε ≤ 40.93 became 122.8.
func TestRoundingIsNoMass(t *testing.T) {
	m, err := shuffler.NewMatrix([][]float64{
		{0.3333333333333333, 0.2631578947368421, 0.3508771929824561, 0.052631578947368474},
		{0.3333333333333333, 0.05263157894736842, 0.2631578947368421, 0.3508771929824561},
		{0.3333333333333333, 0.05263157894736842, 0.2631578947368421, 0.3508771929824561},
		{0.3508771929824561, 0.3333333333333333, 0.2631578947368421, 0.052631578947368585}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := shuffler.New(3)
	if err != nil {
		t.Fatal(err)
	}
	if iv := epsilon(t, m, s, profiles.Substitute, 100, 0.2); !(iv.Upper <= 40.93) {
		t.Errorf("ε(0.2) ≤ %v", iv.Upper)
	}
}
