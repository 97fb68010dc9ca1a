package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant"
)

// event is an event without module_name.
func event(class, rest string) string {
	if rest != "" {
		rest = ", " + rest
	}
	return fmt.Sprintf(`{"class_name": "%sDpEvent"%s}`, class, rest)
}

// gaussianEvent is the one that most tests use.
const gaussianEvent = `{"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}`

// TestEventsRead: what each class of dp_accounting stands for. The meaning of the
// parameters is that of the docstrings of dp_event.py.
func TestEventsRead(t *testing.T) {
	for _, c := range []struct{ event, plan string }{
		{gaussianEvent, "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n"},
		{strings.Replace(gaussianEvent, "{", `{"module_name": "dp_accounting.dp_event", `, 1), "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n"},
		{event("Laplace", `"noise_multiplier": 20`), "neighbors: add-remove\nsteps:\n  - mechanism: {laplace: {noise-multiplier: 20}}\n"},
		{event("RandomizedResponse", `"noise_parameter": 0.25, "num_buckets": 3`), "neighbors: substitute\nsteps:\n  - mechanism: {randomized-response: {probability: 0.25, categories: 3}}\n"},
		{event("EpsilonDelta", `"epsilon": 1, "delta": 1e-06`), "neighbors: add-remove\nsteps:\n  - mechanism: {approximate: {epsilon: 1, delta: 1e-6}}\n"},
		{event("EpsilonDelta", `"epsilon": 1, "delta": 0.0`), "neighbors: add-remove\nsteps:\n  - mechanism: {pure: {epsilon: 1}}\n"},
		{event("DiscreteGaussian", `"sigma": 4, "sensitivity": 2.0, "dimension": 1`), "neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {noise-multiplier: 1.9999999999999987, sensitivity: 2, dimension: 1}}\n"},
		{event("DiscreteGaussian", `"sigma": 4, "sensitivity": 1.0, "dimension": null`), "neighbors: add-remove\nsteps:\n  - mechanism: {discrete-gaussian: {noise-multiplier: 4}}\n"},
		{event("NonPrivate", ""), "neighbors: add-remove\nsteps:\n  - mechanism: {finite: {p: [1, 0], q: [0, 1]}}\n"},
		{event("NoOp", ""), "neighbors: add-remove\nsteps:\n  - mechanism: {finite: {p: [1], q: [1]}}\n"},
		{event("MixtureOfGaussians", `"standard_deviation": 2, "sensitivities": [0, 0.5, 1.0, 1.5], "sampling_probs": [0.7, 0.1, 0.1, 0.1]`),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian-mixture: {noise-multiplier: 4, shifts: [0, 1, 2, 3], probabilities: [0.7, 0.1, 0.1, 0.1]}}\n"},
		{event("MixtureOfGaussians", `"standard_deviation": 2, "sensitivities": [0.1, 0.25, 0.3], "sampling_probs": [0.7, 0.1, 0.2]`),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian-mixture: {noise-multiplier: 39.999999999999964, shifts: [2, 5, 6], probabilities: [0.7, 0.1, 0.2]}}\n"},
		{event("MixtureOfGaussians", `"standard_deviation": 2, "sensitivities": [0.0], "sampling_probs": [1.0]`),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian-mixture: {noise-multiplier: 2, shifts: [0], probabilities: [1]}}\n"},
		{event("TruncatedSubsampledGaussian", `"dataset_size": 1000, "sampling_probability": 0.01, "truncated_batch_size": 20, "noise_multiplier": 1.5`),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.5}}\n    sampling: {truncated-poisson: {rate: 0.01, cap: 20, population: 1000}}\n"},
		{event("SingleEpochTreeAggregation", `"noise_multiplier": 3, "step_counts": [5, 9]`), "neighbors: zero-out\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.4999999999999987}}\n"},
		{event("Composed", `"events": [`+event("SampledWithoutReplacement", `"source_dataset_size": 10, "sample_size": 2, "event": `+gaussianEvent)+", "+treeEvent+"]"),
			"neighbors: zero-out\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n    sampling: {without-replacement: {population: 10, batch: 2}}\n  - mechanism: {gaussian: {noise-multiplier: 0.5773502691896253}}\n"},
		{event("SingleEpochTreeAggregation", `"noise_multiplier": 3, "step_counts": 1`), "neighbors: zero-out\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 3}}\n"},
		{event("PoissonSampled", `"sampling_probability": 0.01, "event": `+gaussianEvent),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n    sampling: {poisson: {rate: 0.01}}\n"},
		{event("SampledWithoutReplacement", `"source_dataset_size": 1000, "sample_size": 10, "event": `+gaussianEvent),
			"neighbors: substitute\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n    sampling: {without-replacement: {population: 1000, batch: 10}}\n"},
		{event("SelfComposed", `"count": 7, "event": `+gaussianEvent), "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n    count: 7\n"},
		{event("SelfComposed", `"count": 3, "event": `+event("SelfComposed", `"count": 7, "event": `+gaussianEvent)),
			"neighbors: add-remove\nsteps:\n  - count: 3\n    steps:\n      - mechanism: {gaussian: {noise-multiplier: 1.1}}\n        count: 7\n"},
		{event("Composed", `"events": [`+gaussianEvent+`, `+event("Laplace", `"noise_multiplier": 2`)+`]`),
			"neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n  - mechanism: {laplace: {noise-multiplier: 2}}\n"},
		{event("RepeatAndSelect", `"mean": 10, "shape": 1, "event": `+gaussianEvent),
			"neighbors: add-remove\nsteps:\n  - selection: {law: geometric, mean: 10}\n    mechanism: {gaussian: {noise-multiplier: 1.1}}\n"},
		{event("RepeatAndSelect", `"mean": 10, "shape": Infinity, "event": `+event("SelfComposed", `"count": 7, "event": `+gaussianEvent)),
			"neighbors: add-remove\nsteps:\n  - selection: {law: poisson, mean: 10}\n    steps:\n      - mechanism: {gaussian: {noise-multiplier: 1.1}}\n        count: 7\n"},
		{`{"neighbors": "substitute", "event": ` + gaussianEvent + `}`, "neighbors: substitute\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 1.1}}\n"},
	} {
		got, format, err := Convert([]byte(c.event), "")
		if err != nil || format != Steps {
			t.Errorf("%s: %q, %v", c.event, format, err)
			continue
		}
		if diff := cmp.Diff(c.plan, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.event, diff)
		}
	}
}

// badEvents are refused, with the place.
var treeEvent = event("SingleEpochTreeAggregation", `"noise_multiplier": 1, "step_counts": 5`)

var badEvents = []struct{ event, want string }{
	{`{"class_name": "ZCDpEvent", "rho": 0.1, "xi": 0}`, "line 1: class_name: ZCDpEvent is a Rényi bound without a privacy profile; give the mechanism itself"},
	{`{"class_name": "UnsupportedDpEvent"}`, "line 1: class_name: UnsupportedDpEvent stands for an operation that nobody described"},
	{`{"class_name": "GausianDpEvent", "noise_multiplier": 1}`, `class_name: "GausianDpEvent" is not a known class of events; did you mean GaussianDpEvent?`},
	{`{"class_name": "Gaussian", "noise_multiplier": 1}`, `class_name: "Gaussian" is not a known class of events`},
	{`{"class_name": "GaussianDpEvent"}`, "plan: noise_multiplier is missing; must be a number"},
	{`{"class_name": "GaussianDpEvent", "noise_multiplier": -1}`, "noise_multiplier: -1 is not in ["},
	{`{"class_name": "GaussianDpEvent", "noise_multiplier": NaN}`, `noise_multiplier: "NaN" is not a number`},
	{`{"class_name": "GaussianDpEvent", "noise": 1}`, `plan: unknown key "noise"; did you mean "noise_multiplier"?`},
	{`{"class_name": "GaussianDpEvent", "noise_multiplier": 1, "module_name": "my.events"}`, `module_name: "my.events" is not dp_accounting.dp_event`},
	{event("Composed", `"events": []`), "events: an empty list is not a list of at least one event"},
	{event("Composed", "\"events\": [\n"+gaussianEvent+",\n3]"), "line 3: events[1]: 3 is not an event"},
	{event("SelfComposed", `"count": 0, "event": `+gaussianEvent), "count: 0 is not a whole number in [1, 2^53]"},
	{event("SelfComposed", `"count": 2`), "plan: event is missing"},
	{event("PoissonSampled", `"sampling_probability": 2, "event": `+gaussianEvent), "sampling_probability: 2 is not in [0, 1]"},
	{event("PoissonSampled", `"sampling_probability": 0.1, "event": `+event("PoissonSampled", `"sampling_probability": 0.1, "event": `+gaussianEvent)),
		"event.class_name: PoissonSampledDpEvent is not covered inside of a sample"},
	{event("PoissonSampled", `"sampling_probability": 0.1, "event": `+event("Composed", `"events": [`+event("Laplace", `"noise_multiplier": 1`)+`]`)),
		`event.events[0].class_name: "LaplaceDpEvent" is not covered inside of one sample with others`},
	{event("DiscreteGaussian", `"sigma": 4, "sensitivity": 2, "dimension": 3`), "dimension: 3 is not 1, null or at least 4"},
	{event("DiscreteGaussian", `"sigma": 4, "sensitivity": 1.5`), "sensitivity: 1.5 is not a whole number"},
	{event("DiscreteLaplace", `"noise_parameter": 0, "sensitivity": 1`), "noise_parameter: 0 is not above 0"},
	{event("PermuteAndFlip", `"epsilon": -1`), "epsilon: -1 is not"},
	{event("MixtureOfGaussians", `"standard_deviation": 1`), "plan: sensitivities is missing; must be a list of numbers"},
	{event("MixtureOfGaussians", `"standard_deviation": 1, "sensitivities": [], "sampling_probs": []`), "sensitivities: an empty list is not a list of at least one number"},
	{event("MixtureOfGaussians", `"standard_deviation": 1, "sensitivities": [1, -2], "sampling_probs": [0.5, 0.5]`), "sensitivities[1]: -2 is not in [0, +Inf)"},
	{event("MixtureOfGaussians", `"standard_deviation": 1, "sensitivities": [1, 2], "sampling_probs": [0.5, 0.6]`), "sampling_probs: sums to 1.1, must sum to 1"},
	{event("MixtureOfGaussians", `"standard_deviation": 1, "sensitivities": [1, 1.41421356], "sampling_probs": [0.5, 0.5]`), "sensitivities: are not whole multiples of one number"},
	{`{"neighbors": "substitute", "event": ` + event("MixtureOfGaussians", `"standard_deviation": 1, "sensitivities": [1], "sampling_probs": [1]`) + `}`,
		"event.class_name: MixtureOfGaussiansDpEvent is not covered under substitute; must be under add-remove or zero-out"},
	{event("TruncatedSubsampledGaussian", `"dataset_size": 10, "sampling_probability": 0.01, "truncated_batch_size": 20, "noise_multiplier": 1.5`), "truncated_batch_size: 20 is not in [1, 10]"},
	{event("PoissonSampled", `"sampling_probability": 0.1, "event": `+event("TruncatedSubsampledGaussian", `"dataset_size": 10`)), "TruncatedSubsampledGaussianDpEvent is not covered inside of a sample"},
	{event("RepeatAndSelect", `"mean": 10, "shape": -0.5, "event": `+gaussianEvent), "shape: -0.5 is not in [0, Infinity]"},
	{event("SingleEpochTreeAggregation", `"noise_multiplier": 1, "step_counts": []`), "step_counts: is empty"},
	{`{"event": ` + gaussianEvent + `}`, "plan: neighbors is missing"},
	{`{"neighbors": "add-remove", "event": ` + event("SampledWithReplacement", `"source_dataset_size": 10, "sample_size": 2, "event": `+gaussianEvent) + `}`,
		"event.class_name: SampledWithReplacementDpEvent is not covered under add-remove; must be under substitute or zero-out"},
	{`{"neighbors": "add-remove", "event": ` + event("SelfComposed", `"count": 2, "event": `+treeEvent) + `}`,
		"event.event.class_name: SingleEpochTreeAggregationDpEvent is not covered under add-remove; must be under zero-out"},
	{`{"neighbors": "substitute", "event": ` + treeEvent + `}`, "event.class_name: SingleEpochTreeAggregationDpEvent is not covered under substitute; must be under zero-out"},
	{`{"neighbors": "add-remove", "event": ` + event("RandomizedResponse", `"noise_parameter": 0.5, "num_buckets": 4`) + `}`,
		"event.class_name: RandomizedResponseDpEvent is not covered under add-remove; must be under substitute or zero-out"},
}

func TestEventsRefused(t *testing.T) {
	for _, c := range badEvents {
		_, err := Parse(t.Context(), []byte(c.event))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", c.event, err, c.want)
		}
	}
}

// TestEventsUnsayable: what no event says is refused, at its place in the plan.
func TestEventsUnsayable(t *testing.T) {
	for _, c := range []struct{ step, neighbors, want string }{
		{"mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {without-replacement: {population: 10, batch: 2}}", "add-remove", "steps[0].sampling.without-replacement: under add-remove has no event"},
		{"mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {must-ow: {population: 10, subset: 5, batch: 2}}", "substitute", "steps[0].sampling.must-ow: has no event"},
		{"mechanism: {gaussian-mixture: {noise-multiplier: 1, shifts: [1], probabilities: [1]}}", "substitute", "steps[0].mechanism.gaussian-mixture: under substitute has no event"},
		{"mechanism: {randomized-response: {probability: 0.5, categories: 3}}", "add-remove", "steps[0].mechanism.randomized-response: under add-remove has no event"},
		{"mechanism: {gaussian-mixture: {noise-multiplier: 1, shifts: [1], probabilities: [1]}}, sampling: {truncated-poisson: {rate: 0.1, cap: 2, population: 9}}", "add-remove", "sampling"},
		{"mechanism: {noisy-max: {noise: gumbel, epsilon: 1}}", "add-remove", "steps[0].mechanism.noisy-max: has no event"},
		{"mechanism: {finite: {p: [0.5, 0.5], q: [0.4, 0.6]}}", "add-remove", "steps[0].mechanism.finite: has no event"},
		{"mechanism: {finite: {rows: [[0.5, 0.5], [0.4, 0.6]]}}", "add-remove", "steps[0].mechanism.finite: has no event"},
		{"mechanism: {laplace: {noise-multiplier: 2, l2-sensitivity: 0.5}}", "add-remove", "steps[0].mechanism.laplace.l2-sensitivity: has no place in an event"},
		{"mechanism: {discrete-laplace: {noise-multiplier: 2, sensitivity: 4, l2-sensitivity: 2}}", "add-remove", "steps[0].mechanism.discrete-laplace.l2-sensitivity: has no place in an event"},
		{"mechanism: {majority: {mechanisms: 5, epsilon: 0.1, allowance: 3}}", "add-remove", "steps[0].mechanism.majority: has no event"},
		{"mechanism: {pure: {epsilon: 1}}, selection: {law: fixed, max: 3}", "add-remove", "steps[0].selection.max: has no place"},
		{"mechanism: {pure: {epsilon: 1}}, selection: {law: geometric, gamma: 0.1}", "add-remove", "steps[0].selection.gamma: has no place"},
	} {
		_, _, err := Convert([]byte("{neighbors: "+c.neighbors+", steps: [{"+c.step+"}]}"), Events)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.step, err, c.want)
		}
	}
	if _, _, err := Convert([]byte(gaussianEvent), "event"); err == nil || !strings.Contains(err.Error(), `to: "event" is not one of plan, events`) {
		t.Error(err)
	}
}

// TestEventsOfContributions: noise by what a person contributes is the quotient in an event. A
// missing key was a panic.
func TestEventsOfContributions(t *testing.T) {
	for _, c := range []struct{ mechanism, event string }{
		{"gaussian: {standard-deviation: 4, partitions: 9, per-partition: 2}", event("Gaussian", `"noise_multiplier": 0.6666666666666663`)},
		{"laplace: {scale: 4, total: 9}", event("Laplace", `"noise_multiplier": 0.4444444444444442`)},
		{"laplace: {noise-multiplier: 4/3}", event("Laplace", `"noise_multiplier": 1.3333333333333333`)},
	} {
		got, _, err := Convert([]byte("{neighbors: add-remove, steps: [{mechanism: {"+c.mechanism+"}}]}"), Events)
		if err != nil {
			t.Errorf("%s: %v", c.mechanism, err)
			continue
		}
		back, _, err := Convert(got, Steps)
		want, _, err2 := Convert([]byte(c.event), Steps)
		if err != nil || err2 != nil || !bytes.Equal(back, want) {
			t.Errorf("%s: %s, want %s (%v, %v)", c.mechanism, back, want, err, err2)
		}
	}
}

// TestMixtureEventGolden: persons with two records at (σ, q, T) = (1, 0.01, 1000) as
// dp_accounting's mixture, in another unit; ε(1e-5) is 3.9790857631 by a contour integral
// (specification 2.7, group.py). dp_accounting has 3.9794845 at a discretisation of 1e-3.
func TestMixtureEventGolden(t *testing.T) {
	p, err := Parse(t.Context(), []byte(event("SelfComposed", `"count": 1000, "event": `+event("MixtureOfGaussians", `"standard_deviation": 0.5, "sensitivities": [0, 0.5, 1], "sampling_probs": [0.9801, 0.0198, 0.0001]`))))
	if err != nil {
		t.Fatal(err)
	}
	a := accountant.New(p.Neighbors)
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil || !(iv.Lower <= 3.9790857631+1e-9 && iv.Upper >= 3.9790857631-1e-9 && iv.Upper-iv.Lower < 1e-2) {
		t.Errorf("%+v, %v", iv, err)
	}
}

// eventNumbers are numbers as people and programs write them.
var eventNumbers = rapid.SampledFrom([]string{"0.01", "1e-3", "0.5", "1", "1.1", "7", "12.25", "0.30000000000000004", "3e2"})

// anyEvent draws an event that a plan can say back in the same words.
func anyEvent(t *rapid.T, depth int) string {
	x := func(name string) string { return eventNumbers.Draw(t, name) }
	rate := rapid.SampledFrom([]string{"0.01", "0.25", "1e-06", "1"}).Draw(t, "rate")
	count := rapid.IntRange(2, 1000).Draw(t, "count")
	mechanisms := []string{
		event("Gaussian", `"noise_multiplier": `+x("σ")),
		event("Laplace", `"noise_multiplier": `+x("b")),
		event("RandomizedResponse", `"noise_parameter": `+rate+`, "num_buckets": 5`),
		event("EpsilonDelta", `"epsilon": `+x("ε")+`, "delta": 1e-06`),
		event("EpsilonDelta", `"epsilon": `+x("ε")+`, "delta": 0`),
		event("DiscreteGaussian", `"sigma": `+x("σ")+`, "sensitivity": 1, "dimension": null`),
		event("NoOp", ""), event("NonPrivate", ""),
		event("MixtureOfGaussians", `"standard_deviation": `+x("σ")+`, "sensitivities": [0, 1, 3], "sampling_probs": [0.5, 0.25, 0.25]`),
		event("ExponentialMechanism", `"epsilon": 0.25`), event("PermuteAndFlip", `"epsilon": 12.5`),
	}
	m := rapid.SampledFrom(mechanisms).Draw(t, "mechanism")
	if depth == 0 {
		return m
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return event("PoissonSampled", `"sampling_probability": `+rate+`, "event": `+event("Gaussian", `"noise_multiplier": `+x("σ")))
	case 1:
		return event("SampledWithoutReplacement", `"source_dataset_size": 1000, "sample_size": 10, "event": `+event("Gaussian", `"noise_multiplier": `+x("σ")))
	case 2:
		return event("SelfComposed", fmt.Sprintf(`"event": %s, "count": %d`, anyEvent(t, depth-1), count))
	case 3:
		shape := rapid.SampledFrom([]string{"0", "1", "0.5", "Infinity"}).Draw(t, "shape")
		return event("RepeatAndSelect", `"event": `+anyEvent(t, depth-1)+`, "mean": 10, "shape": `+shape)
	case 4:
		events := []string{anyEvent(t, depth-1), anyEvent(t, depth-1)}
		return event("Composed", `"events": [`+strings.Join(events, ", ")+`]`)
	}
	return m
}

// TestEventsRoundTrip: an event that becomes a plan and an event again says the same, and
// so does a plan that goes the other way.
func TestEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyEvent(t, 3)
		if strings.Contains(text, "Mixture") && strings.Contains(text, "Without") {
			return // no relation has both
		}
		asPlan, _, err := Convert([]byte(text), Steps)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		back, format, err := Convert(asPlan, "")
		if err != nil || format != Events {
			t.Fatalf("%s:\n%s%v", text, asPlan, err)
		}
		if diff := cmp.Diff(eventTree(t, []byte(text)), eventTree(t, back)); diff != "" {
			t.Fatalf("%s\n%s%s (-want +got):\n%s", text, asPlan, back, diff)
		}
		again, _, err := Convert(back, "")
		if err != nil || !bytes.Equal(again, asPlan) {
			t.Fatalf("%s\nbecame\n%s%v", asPlan, again, err)
		}
		if same, _, err := Convert(asPlan, Steps); err != nil || !bytes.Equal(same, asPlan) {
			t.Fatalf("%s\nwas written anew as\n%s%v", asPlan, same, err)
		}
	})
}

// eventTree is an event as JSON has it, without its wrapping and the modules, and with
// compositions of one event as that event.
func eventTree(t *rapid.T, text []byte) any {
	var v any
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("Infinity"), []byte(`"Infinity"`)), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if m := v.(map[string]any); m["class_name"] == nil {
		v = m["event"]
	}
	var strip func(any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "module_name")
			for k := range v {
				v[k] = strip(v[k])
			}
		case []any:
			for i := range v {
				v[i] = strip(v[i])
			}
		}
		return v
	}
	return strip(v)
}

// TestEventsOtherConventions: numbers that become others are those of the formulas, to
// less noise.
func TestEventsOtherConventions(t *testing.T) {
	for _, c := range []struct {
		event string
		want  float64 // of the noise multiplier
	}{
		{event("DiscreteLaplace", `"noise_parameter": 0.3, "sensitivity": 2`), 1 / 0.6},
		{event("DiscreteGaussian", `"sigma": 7, "sensitivity": 3`), 7. / 3},
		{event("SingleEpochTreeAggregation", `"noise_multiplier": 3, "step_counts": [3, 8, 2]`), 1.5},
		{event("PoissonSampled", `"sampling_probability": 0.1, "event": `+event("Composed", `"events": [`+gaussianEvent+`, `+event("SelfComposed", `"count": 3, "event": `+event("Gaussian", `"noise_multiplier": 2`))+`]`)),
			1 / math.Sqrt(1/1.21+0.75)},
	} {
		p, _, err := Convert([]byte(c.event), Steps)
		if err != nil {
			t.Errorf("%s: %v", c.event, err)
			continue
		}
		_, rest, _ := strings.Cut(string(p), "noise-multiplier: ")
		var got float64
		if _, err := fmt.Sscan(strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(",} \n", r) })[0], &got); err != nil {
			t.Fatal(err)
		}
		if !(got < c.want && got > c.want*(1-5e-15)) {
			t.Errorf("%s: noise multiplier %v, want a little below %v", c.event, got, c.want)
		}
	}
	back, _, err := Convert([]byte("{neighbors: add-remove, steps: [{mechanism: {discrete-laplace: {noise-multiplier: 2, sensitivity: 3}}}]}"), Events)
	if err != nil || !strings.Contains(string(back), `"noise_parameter": 0.1666666666666668`) || !strings.Contains(string(back), `"sensitivity": 3`) {
		t.Errorf("%s%v", back, err)
	}
}

// TestEventsByDefinition: one event of each class has the δ of the noise that its docstring describes, from sums over outputs
// and closed forms, whatever the plan calls the parameters.
func TestEventsByDefinition(t *testing.T) {
	// hockey returns the larger of Σ(p − e^ε q)₊ and Σ(q − e^ε p)₊ over a grid of outputs, or all whole numbers.
	hockey := func(eps, step float64, p, q func(x float64) float64) float64 {
		remove, add := 0.0, 0.0
		for x := -400.0; x <= 400; x++ {
			a, b := step*p(step*x), step*q(step*x)
			remove, add = remove+max(0, a-math.Exp(eps)*b), add+max(0, b-math.Exp(eps)*a)
		}
		return max(remove, add)
	}
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	gauss := func(mu, eps float64) float64 { return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu) }
	discrete := func(log func(k float64) float64) func(k float64) float64 {
		total := 0.0
		for k := -400.0; k <= 400; k++ {
			total += math.Exp(log(k))
		}
		return func(k float64) float64 { return math.Exp(log(k)) / total }
	}
	laplace := discrete(func(k float64) float64 { return -0.4 * math.Abs(k) })
	round := discrete(func(k float64) float64 { return -k * k / (2 * 1.7 * 1.7) })
	for _, c := range []struct {
		event string
		eps   float64
		want  float64
		tol   float64 // of sums over a grid: a kink costs step²; else of what rounding noise down costs
	}{
		{event("Gaussian", `"noise_multiplier": 1.1`), 0.5, gauss(1/1.1, 0.5), 1e-9},
		{event("Laplace", `"noise_multiplier": 2`), 0.2, -math.Expm1((0.2 - 0.5) / 2), 1e-9},
		{event("PermuteAndFlip", `"epsilon": 0.5`), 0.2, -math.Expm1((0.2 - 0.5) / 2), 1e-9},
		{event("RandomizedResponse", `"noise_parameter": 0.25, "num_buckets": 3`), 0.7, 0.75 + 0.25/3 - math.Exp(0.7)*0.25/3, 1e-9},
		{event("EpsilonDelta", `"epsilon": 1, "delta": 0.1`), 0.3, 0.1 + 0.9*(math.E-math.Exp(0.3))/(1+math.E), 1e-9},
		{event("ExponentialMechanism", `"epsilon": 1.5`), 0.4, func() (most float64) {
			for x := 0.0; x <= 1.5; x += 1e-4 {
				most = max(most, (math.Exp(1.5)-math.Exp(x))/math.Expm1(1.5)*-math.Expm1(0.4-x))
			}
			return
		}(), 1e-7},
		{event("DiscreteLaplace", `"noise_parameter": 0.4, "sensitivity": 3`), 0.5, hockey(0.5, 1, laplace, func(k float64) float64 { return laplace(k - 3) }), 1e-9},
		{event("DiscreteGaussian", `"sigma": 1.7, "sensitivity": 2, "dimension": 1`), 0.5, hockey(0.5, 1, round, func(k float64) float64 { return round(k - 2) }), 1e-9},
		{event("MixtureOfGaussians", `"standard_deviation": 2, "sensitivities": [0, 1, 3], "sampling_probs": [0.5, 0.3, 0.2]`), 0.2,
			hockey(0.2, 0.05, func(x float64) float64 { return 0.5*normal(x) + 0.3*normal(x-0.5) + 0.2*normal(x-1.5) }, normal), 1e-4},
		{event("PoissonSampled", `"sampling_probability": 0.3, "event": `+gaussianEvent), 0.2,
			hockey(0.2, 0.05, func(x float64) float64 { return 0.7*normal(x) + 0.3*normal(x-1/1.1) }, normal), 1e-4},
		{event("SingleEpochTreeAggregation", `"noise_multiplier": 3, "step_counts": [5, 9]`), 0.5, gauss(2./3, 0.5), 1e-9}, // 9 has four binary digits
		{event("SampledWithoutReplacement", `"source_dataset_size": 1000, "sample_size": 10, "event": `+event("EpsilonDelta", `"epsilon": 1, "delta": 0`)), 0, 0.01 * math.Tanh(0.5), 1e-9},
		{event("Composed", `"events": [`+gaussianEvent+", "+event("SelfComposed", `"count": 3, "event": `+event("Gaussian", `"noise_multiplier": 2`))+"]"), 0.5,
			gauss(math.Sqrt(1/(1.1*1.1)+3./4), 0.5), 1e-8},
	} {
		p, err := Parse(t.Context(), []byte(c.event))
		if err != nil {
			t.Fatal(c.event, err)
		}
		acct := accountant.New(p.Neighbors)
		if err := acct.AddPlan(t.Context(), p); err != nil {
			t.Fatal(c.event, err)
		}
		iv, err := acct.Delta(t.Context(), c.eps)
		if err != nil || !(iv.Upper >= c.want-c.tol && iv.Lower <= c.want+c.tol && iv.Upper-c.want <= 1e-4+c.tol) {
			t.Errorf("%s: δ(%v) in [%v, %v], want %v (%v)", c.event, c.eps, iv.Lower, iv.Upper, c.want, err)
		}
	}
}

// TestEventsCost: an event costs what its plan does; the golden number is that of the
// composition of Gaussian mechanisms, whose μ is √7/1.1, from its closed form.
func TestEventsCost(t *testing.T) {
	p, err := Parse(t.Context(), []byte(event("SelfComposed", `"count": 7, "event": `+gaussianEvent)))
	if err != nil {
		t.Fatal(err)
	}
	acct := accountant.New(p.Neighbors)
	if err := acct.AddPlan(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	iv, err := acct.Delta(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mu := math.Sqrt(7) / 1.1
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	want := phi(mu/2-1/mu) - math.E*phi(-mu/2-1/mu)
	if math.Abs(iv.Upper-want) > 1e-8 || iv.Lower > want+1e-12 || iv.Upper < want-1e-12 {
		t.Errorf("δ(1) in [%v, %v], want %v", iv.Lower, iv.Upper, want)
	}
	for _, c := range []struct {
		event string
		want  float64
	}{{event("NonPrivate", ""), math.Inf(1)}, {event("NoOp", ""), math.Log1p(-1e-5)}} { // δ(ε) = 1 − e^ε
		p, err := Parse(t.Context(), []byte(c.event))
		if err != nil {
			t.Fatal(err)
		}
		acct := accountant.New(p.Neighbors)
		if err := acct.AddPlan(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		if iv, err := acct.Epsilon(context.Background(), 1e-5); err != nil || !(iv.Lower <= c.want && c.want <= iv.Upper) || iv.Upper-iv.Lower > 1e-19 { // an ulp outward
			t.Errorf("%s: ε %v, %v", c.event, iv, err)
		}
	}
}

// TestEventClasses: every class of the file dp_event.py (snapshot b5b0286) is read or
// refused by name, and none is called unknown.
func TestEventClasses(t *testing.T) {
	var known []string
	for _, c := range eventClasses {
		known = append(known, c.class)
	}
	for class := range refusedClasses {
		known = append(known, class)
	}
	known = append(known, compositeClasses...)
	for _, class := range []string{"NoOp", "NonPrivate", "Unsupported", "RandomizedResponse", "EpsilonDelta", "Gaussian", "Laplace", "DiscreteLaplace",
		"DiscreteGaussian", "SelfComposed", "Composed", "PoissonSampled", "SampledWithReplacement", "SampledWithoutReplacement", "SingleEpochTreeAggregation",
		"RepeatAndSelect", "MixtureOfGaussians", "ZC", "ExponentialMechanism", "PermuteAndFlip", "TruncatedSubsampledGaussian"} {
		if !slices.Contains(known, class+"DpEvent") {
			t.Errorf("%sDpEvent is not known", class)
		}
	}
}
