package service

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestDraw: a seed makes the same batches again and none makes others, whole epochs are drawn, and what cannot be drawn is
// refused. That the laws are right is tested beside the samplers, and in python/tests.
func TestDraw(t *testing.T) {
	s := New(nil)
	draw := func(sampling string, population, batches, seed Decimal) ([][]int64, string) {
		t.Helper()
		a, err := Ask[DrawAnswer](t.Context(), s, DrawRequest{Sampling: json.RawMessage(sampling), Population: population, Batches: batches, TestSeed: seed})
		if err != nil {
			return nil, err.Error()
		}
		return a.Batches, ""
	}
	for sampling, want := range map[string]int{
		`{"poisson": {"rate": "3/10"}}`:                                    1,
		`{"truncated-poisson": {"rate": 0.3, "cap": 9, "population": 60}}`: 1,
		`{"must-ww": {"population": 60, "subset": 30, "batch": 10}}`:       1,
		`{"random-allocation": {"steps": 5}}`:                              5,
		`{"random-allocation": {"steps": 5, "first": 2}}`:                  2,
		`{"random-allocation": {"steps": 5, "uses": 2}}`:                   5,
		`{"balls-in-bins": {"bins": 4, "redraw": "once", "epochs": 3}}`:    4,
		`{"shuffle": {"batches": 7}}`:                                      7,
	} {
		one, why := draw(sampling, "60", "", "1")
		if len(one) != want || why != "" {
			t.Errorf("%s: %d batches, %s", sampling, len(one), why)
		}
		if again, _ := draw(sampling, "60", "", "1"); !reflect.DeepEqual(one, again) {
			t.Errorf("%s: %v, and then %v", sampling, one, again)
		}
		for _, seed := range []Decimal{"2", "", ""} { // two of 60 records are alike with probability below 1e-9
			if other, why := draw(sampling, "60", "", seed); why != "" || reflect.DeepEqual(one, other) {
				t.Errorf("%s: seed %q: %v again %s", sampling, seed, one, why)
			}
		}
	}
	for _, c := range []struct {
		sampling, want      string
		population, batches Decimal
	}{
		{``, "sampling: an empty value is not a sampling scheme such as {poisson: {rate: …}}", "9", ""},
		{`{"poisson": {"rate": 2}}`, "sampling.poisson.rate: 2 is not in [0, 1]", "9", ""},
		{`"none"`, "sampling: none draws nothing: every record takes part", "9", ""},
		{`{"fixed-order": {"uses": 1}}`, "sampling: fixed-order draws nothing: its batches may be public", "9", ""},
		{`{"shuffle": {"batches": 3, "unused": 0.1}}`, "sampling.shuffle.unused: is for batches that are drawn elsewhere; here a short last batch is kept", "9", ""},
		{`{"random-allocation": {"steps": 5, "first": 0}}`, "sampling.random-allocation.first: 0 draws nothing", "9", ""},
		{`{"random-allocation": {"steps": 5}}`, "batches: 7 is not a multiple of 5, the batches of an epoch", "9", "7"},
		{`{"random-allocation": {"steps": 1073741824, "first": 1}}`, "batches: 1 are about 1073741833 batches and records, more than 33554432", "9", ""},
		{`{"without-replacement": {"population": 9, "batch": 2}}`, "without-replacement: population: 8 is not the scheme's, 9", "8", ""},
		{`{"poisson": {"rate": 0}}`, "batches: 0 is not a whole number in [1, 33554432]", "9", "0"},
		{`{"poisson": {"rate": 0}}`, "population: 0 is not a whole number in [1, 9007199254740992]", "0", ""},
	} {
		if _, why := draw(c.sampling, c.population, c.batches, ""); why != c.want {
			t.Errorf("%s: %s, want %s", c.sampling, why, c.want)
		}
	}
}
