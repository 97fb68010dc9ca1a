package plan

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

func TestRecordsPerPerson(t *testing.T) {
	const steps = "steps:\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n"
	p, err := Parse(t.Context(), []byte("neighbors: substitute\nrecords-per-person: 8\n"+steps))
	if err != nil || p.Records() != 8 {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err = Parse(t.Context(), []byte("neighbors: substitute\n"+steps)); err != nil || p.Records() != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, bad := range []string{"0", "-1", "1.5", "1048577", "1e300", "many", "[1]", "~"} {
		_, err := Parse(t.Context(), []byte("neighbors: substitute\nrecords-per-person: "+bad+"\n"+steps))
		if err == nil || !strings.Contains(err.Error(), "records-per-person") || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "in [1, 1048576]") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if out, _, err := Convert([]byte("neighbors: substitute\nrecords-per-person: 8\n"+steps), Steps); err != nil || !strings.Contains(string(out), "records-per-person: 8\n") {
		t.Errorf("%s, %v", out, err)
	}
	if _, _, err := Convert([]byte("neighbors: substitute\nrecords-per-person: 8\n"+steps), Events); err == nil || !strings.Contains(err.Error(), "records-per-person") {
		t.Error(err)
	}
}

func TestContributions(t *testing.T) {
	read := func(mechanism string) (profiles.Mechanism, error) {
		p, err := Parse(t.Context(), []byte("neighbors: add-remove\nsteps:\n  - mechanism: {"+mechanism+"}\n"))
		if err != nil {
			return nil, err
		}
		return p.Steps[0].Mechanism, nil
	}
	for text, want := range map[string]float64{
		"gaussian: {standard-deviation: 12, partitions: 9, per-partition: 2}":     2,
		"gaussian: {standard-deviation: 12, partitions: 9}":                       4,
		"gaussian: {standard-deviation: 12, total: 3, per-partition: 2}":          2,
		"laplace: {scale: 12, partitions: 3, per-partition: 2}":                   2,
		"laplace: {scale: 120, partitions: 3, per-partition: 2, clamp: [-10, 5]}": 2,
		"gaussian: {standard-deviation: 120, total: 3, clamp: [0, 20]}":           2,
		"laplace: {scale: 12, total: 6}":                                          2,
	} {
		b, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := b.(profiles.NoiseScaler).NoiseMultiplier(); got > want || got < want*(1-2e-15) {
			t.Errorf("%s: noise multiplier %v, want %v or just below", text, got, want)
		}
	}
	for text, field := range map[string]string{
		"gaussian: {standard-deviation: 12}":                                             "standard-deviation",
		"gaussian: {standard-deviation: 12, partitions: 1, total: 2}":                    "standard-deviation",
		"gaussian: {standard-deviation: 12, noise-multiplier: 1, total: 2}":              "standard-deviation",
		"gaussian: {noise-multiplier: 1, total: 2}":                                      "total",
		"gaussian: {standard-deviation: -1, total: 2}":                                   "standard-deviation",
		"gaussian: {standard-deviation: 1, total: 0}":                                    "total",
		"laplace: {scale: 1, partitions: -3}":                                            "partitions",
		"laplace: {scale: 1, partitions: 3, per-partition: 0}":                           "per-partition",
		"laplace: {scale: 1, partitions: 3, clamp: [1]}":                                 "clamp",
		"laplace: {scale: 1, partitions: 3, clamp: [2, 1]}":                              "clamp",
		"gaussian: {noise-multiplier: 1, clamp: [0, 1]}":                                 "clamp",
		"gaussian-mixture: {noise-multiplier: 1, shifts: [0.5], probabilities: [1]}":     "shifts",
		"gaussian-mixture: {noise-multiplier: 1, shifts: [0, 1], probabilities: [1]}":    "probabilities",
		"gaussian-mixture: {noise-multiplier: 1, shifts: [0, 1], probabilities: [1, 1]}": "probabilities",
		"gaussian-mixture: {noise-multiplier: 0, shifts: [1], probabilities: [1]}":       "noise-multiplier",
		"gaussian-mixture: {noise-multiplier: 1, shifts: [-1], probabilities: [1]}":      "shifts",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error about %s", text, err, field)
		}
	}
}

// A mixture with the binomial weights of two records is the plan of persons with two.
func TestGaussianMixture(t *testing.T) {
	const q = 0.125
	for _, r := range []string{"add-remove", "substitute"} {
		mixed, err := Parse(t.Context(), fmt.Appendf(nil, "neighbors: %s\nsteps:\n  - mechanism: {gaussian-mixture: {noise-multiplier: 1.5, shifts: [0, 1, 2], probabilities: [%v, %v, %v]}}\n    count: 20\n", r, (1-q)*(1-q), 2*q*(1-q), q*q))
		if err != nil {
			t.Fatal(err)
		}
		persons, err := Parse(t.Context(), fmt.Appendf(nil, "neighbors: %s\nrecords-per-person: 2\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.5}}\n    sampling: {poisson: {rate: %v}}\n    count: 20\n", r, q))
		if err != nil {
			t.Fatal(err)
		}
		a, b := mixed.Accountant(), persons.Accountant()
		if err := a.AddPlan(context.Background(), mixed); err != nil {
			t.Fatal(err)
		}
		if err := b.AddPlan(context.Background(), persons); err != nil {
			t.Fatal(err)
		}
		x, err := a.Epsilon(context.Background(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Epsilon(context.Background(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x.Upper-y.Upper) > 1e-9*y.Upper || x.Lower > y.Upper || y.Lower > x.Upper {
			t.Errorf("%s: [%v, %v] and [%v, %v]", r, x.Lower, x.Upper, y.Lower, y.Upper)
		}
	}
	if _, err := Parse(t.Context(), []byte("neighbors: add-remove\nsteps:\n  - mechanism: {gaussian-mixture: {noise-multiplier: 1, shifts: [1], probabilities: [1]}}\n    sampling: {poisson: {rate: 0.5}}\n")); err == nil || !strings.Contains(err.Error(), "sampling") {
		t.Errorf("a sample of a mixture: %v", err)
	}
}

// What is about persons already is not about persons with several records.
func TestPersonsTwice(t *testing.T) {
	_, err := Parse(t.Context(), []byte("neighbors: add-remove\nrecords-per-person: 2\nsteps:\n  - mechanism: {gaussian: {standard-deviation: 2, total: 3}}\n"))
	if err == nil || !strings.Contains(err.Error(), "line 4") || !strings.Contains(err.Error(), "records-per-person is 2") {
		t.Error(err)
	}
	for _, mechanism := range []string{"select-partitions: {epsilon: 1, delta: 1e-5}", "threshold: {noise: laplace, scale: 3, threshold: 20}"} {
		p, err := Parse(t.Context(), []byte("neighbors: add-remove\nrecords-per-person: 2\nsteps:\n  - mechanism: {"+mechanism+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Accountant().AddPlan(context.Background(), p); err == nil || !strings.Contains(err.Error(), "records-per-person: 2 is not for") {
			t.Errorf("%s: %v", mechanism, err)
		}
	}
}
