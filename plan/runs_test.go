package plan

import (
	"slices"
	"testing"
)

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"neighbors: substitute\nsteps:\n  - mechanism: {laplace: {noise-multiplier: 2}}\n  - {count: 3, steps: [{mechanism: {pure: {epsilon: 1}}, count: 5}, {mechanism: {approximate: {epsilon: 1, delta: 0.5}}}]}",
			[]string{"1 laplace noise-multiplier 0x1p+1", "15 pure epsilon 0x1p+0", "3 approximate epsilon 0x1p+0 delta 0x1p-1"}},
		{"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {standard-deviation: 4, partitions: 4}}\n    sampling: none\n  - mechanism: {finite: {p: [0.5, 0.5], q: [1, 0]}}\n    sampling: {poisson: {rate: 0.5}}",
			[]string{"1 gaussian noise-multiplier 0x1.ffffffffffffcp+0", "1 finite p 2 0x1p-1 0x1p-1 q 2 0x1p+0 0x0p+0 poisson rate 0x1p-1"}},
		{"neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {noise-multiplier: 2}}\n    sampling: {without-replacement: {population: 10, batch: 2}}\n  - mechanism: {discrete-laplace: {noise-multiplier: 2, sensitivity: 3}}",
			[]string{"1 discrete-gaussian noise-multiplier 0x1p+1 sensitivity 1 dimension 0 without-replacement population 10 batch 2", "1 discrete-laplace noise-multiplier 0x1p+1 sensitivity 3"}},
		{`{"class_name": "SelfComposedDpEvent", "count": 7, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}}`,
			[]string{"7 gaussian noise-multiplier 0x1p+1"}},
		{"neighbors: substitute\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n    sampling: {must-wo: {population: 10, subset: 5, batch: 2}}\n    count: 2\n  - selection: {law: geometric, mean: 3}\n    steps: [{mechanism: {pure: {epsilon: 1}}}]",
			[]string{"2 other mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {must-wo: {population: 10, subset: 5, batch: 2}}",
				"1 selection negative-binomial shape 0x1p+0 gamma 0x1.5555555555547p-2 steps 1\ninner 1 pure epsilon 0x1p+0"}},
		{"neighbors: substitute\nsteps:\n  - {selection: {law: geometric, mean: 3, max: 5}, mechanism: {pure: {epsilon: 1}}}\n  - {selection: {law: logarithmic, gamma: 0.25}, steps: [{selection: {law: poisson, mean: 3}, mechanism: {pure: {epsilon: 1}}}]}",
			[]string{"1 other selection: {law: geometric, mean: 3, max: 5}, mechanism: {pure: {epsilon: 1}}",
				"1 selection negative-binomial shape 0x0p+0 gamma 0x1p-2 steps 1\ninner 1 other selection: {law: poisson, mean: 3}, mechanism: {pure: {epsilon: 1}}"}},
		{"neighbors: substitute\nsteps: [{adaptive: {units: 4, menu: [{name: a, steps: [{mechanism: {pure: {epsilon: 1}}}]}]}}]",
			[]string{"1 other adaptive: {units: 4, menu: [{name: a, steps: [{mechanism: {pure: {epsilon: 1}}}]}]}"}},
	} {
		_, got, err := Runs([]byte(c.text))
		if err != nil {
			t.Errorf("%v\n%s", err, c.text)
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Runs of\n%s\nare %q\nwant %q", c.text, got, c.want)
		}
	}
	if _, _, err := Runs([]byte("neighbors: add-remove\nsteps: []")); err == nil {
		t.Error("a plan without steps has runs")
	}
}
