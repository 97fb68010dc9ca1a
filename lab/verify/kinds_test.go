package verify

// Kinds of steps that have a file of their own in the checker, or a pair of two halves: what is true is proved, and nothing false is.

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/slow"
)

// A kindOfStep has plans that lose more than the first one, by little. Any of them with the claim of the first is false.
type kindOfStep struct {
	name, plan string
	worse      []string
	delta      float64
	slow       bool
}

// onSamples is a plan of one step on samples.
func onSamples(relation, mechanism, sampling string, count int) string {
	return fmt.Sprintf("neighbors: %s\nsteps: [{mechanism: {%s}, sampling: {%s}, count: %d}]", relation, mechanism, sampling, count)
}

// inFull is a plan of one step.
func inFull(relation, mechanism string, count int) string {
	return fmt.Sprintf("neighbors: %s\nsteps: [{mechanism: {%s}, count: %d}]", relation, mechanism, count)
}

// thresholds shows keys with noisy counts, beside answers to queries.
func thresholds(count int) string {
	return fmt.Sprintf("neighbors: add-remove\nsteps:\n  - {mechanism: {threshold: {noise: gaussian, standard-deviation: 4, threshold: 26, partitions: 2}}, count: %d}\n  - {mechanism: {gaussian: {noise-multiplier: 5}}, count: 3}", count)
}

// menus has two types, of which the second costs three units.
func menus(units, count int) string {
	return fmt.Sprintf("neighbors: add-remove\nsteps:\n  - adaptive:\n      units: %d\n      menu:\n        - {name: a, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: 8}}}]}\n        - {name: b, cost: 3, steps: [{mechanism: {laplace: {noise-multiplier: 5}}, count: %d}]}\n  - {mechanism: {gaussian: {noise-multiplier: 12}}}", units, count)
}

// searches shows the best of a random number of runs.
func searches(law string) string {
	return "neighbors: add-remove\nsteps:\n  - {selection: {law: " + law + "}, steps: [{mechanism: {gaussian: {noise-multiplier: 4}}, count: 3}]}"
}

var kindsOfSteps = []kindOfStep{
	{"permute-and-flip beside noise", "neighbors: zero-out\nsteps: [{mechanism: {permute-and-flip: {epsilon: 0.5}}}, {mechanism: {gaussian: {noise-multiplier: 3}}, count: 4}]", []string{
		"neighbors: zero-out\nsteps: [{mechanism: {permute-and-flip: {epsilon: 0.5001}}}, {mechanism: {gaussian: {noise-multiplier: 3}}, count: 4}]"}, 1e-6, true},
	{"noisy max", inFull("substitute", "noisy-max: {noise: laplace, epsilon: 0.5}", 8), []string{
		inFull("substitute", "noisy-max: {noise: laplace, epsilon: 1.5}", 8)}, 1e-3, true},
	{"noisy max with Gumbel noise", inFull("substitute", "noisy-max: {noise: gumbel, epsilon: 0.5}", 1), []string{
		inFull("substitute", "noisy-max: {noise: gumbel, epsilon: 0.50001}", 1)}, 1e-6, false},
	{"one threshold", inFull("add-remove", "threshold: {noise: gaussian, standard-deviation: 4, threshold: 24, partitions: 3}", 1), []string{
		inFull("add-remove", "threshold: {noise: gaussian, standard-deviation: 3.9999, threshold: 24, partitions: 3}", 1),
		inFull("add-remove", "threshold: {noise: gaussian, standard-deviation: 4, threshold: 24, partitions: 4}", 1)}, 1e-6, false},
	{"thresholds beside noise", thresholds(3), []string{thresholds(6), strings.Replace(thresholds(3), "threshold: 26", "threshold: 19", 1)}, 1e-6, true},
	{"a selection of keys", inFull("add-remove", "select-partitions: {epsilon: 1, delta: 1e-7}", 1), []string{
		inFull("add-remove", "select-partitions: {epsilon: 1.0001, delta: 1e-7}", 1),
		inFull("add-remove", "select-partitions: {epsilon: 1, delta: 1.01e-7}", 1)}, 1e-6, false},
	{"selections of keys", inFull("add-remove", "select-partitions: {epsilon: 0.5, delta: 1e-8, partitions: 2}", 2), []string{
		inFull("add-remove", "select-partitions: {epsilon: 0.8, delta: 1e-8, partitions: 2}", 2),
		inFull("add-remove", "select-partitions: {epsilon: 0.5, delta: 1e-8, partitions: 4}", 2)}, 1e-6, true},
	{"a menu", menus(12, 1), []string{menus(13, 1), menus(12, 2), strings.Replace(menus(12, 1), "cost: 3", "cost: 2", 1), strings.Replace(menus(12, 1), "noise-multiplier: 8", "noise-multiplier: 6", 1)}, 1e-6, false},
	{"a search", searches("geometric, mean: 10"), []string{searches("geometric, mean: 11"), searches("negative-binomial, shape: 2, mean: 10"),
		strings.Replace(searches("geometric, mean: 10"), "count: 3", "count: 4", 1)}, 1e-5, false},
	{"Laplace noise on samples, opposite records", onSamples("substitute", "laplace: {noise-multiplier: 2}", "poisson: {rate: 0.1}", 60), []string{
		onSamples("substitute", "laplace: {noise-multiplier: 1.999}", "poisson: {rate: 0.1}", 60),
		onSamples("substitute", "laplace: {noise-multiplier: 2}", "poisson: {rate: 0.1001}", 60),
		onSamples("substitute", "laplace: {noise-multiplier: 2}", "poisson: {rate: 0.1}", 61)}, 1e-6, false},
	{"one run of Laplace noise on a sample, opposite records", onSamples("substitute", "laplace: {noise-multiplier: 1}", "poisson: {rate: 0.1}", 1), []string{
		onSamples("substitute", "laplace: {noise-multiplier: 0.9999}", "poisson: {rate: 0.1}", 1)}, 1e-2, false},
	{"discrete Gaussian noise on samples, opposite records", onSamples("substitute", "discrete-gaussian: {noise-multiplier: 2, sensitivity: 2, dimension: 1}", "poisson: {rate: 0.1}", 12), []string{
		onSamples("substitute", "discrete-gaussian: {noise-multiplier: 1.98, sensitivity: 2, dimension: 1}", "poisson: {rate: 0.1}", 12),
		onSamples("substitute", "discrete-gaussian: {noise-multiplier: 2, sensitivity: 2, dimension: 1}", "poisson: {rate: 0.1}", 13)}, 1e-6, false},
	{"discrete Laplace noise on samples, opposite records", onSamples("substitute", "discrete-laplace: {noise-multiplier: 2, sensitivity: 2}", "poisson: {rate: 0.2}", 6), []string{
		onSamples("substitute", "discrete-laplace: {noise-multiplier: 1.9999, sensitivity: 2}", "poisson: {rate: 0.2}", 6),
		onSamples("substitute", "discrete-laplace: {noise-multiplier: 2, sensitivity: 2}", "poisson: {rate: 0.2}", 7)}, 1e-6, false},
	{"a guarantee on samples under substitute", onSamples("substitute", "approximate: {epsilon: 0.5, delta: 1e-12}", "poisson: {rate: 0.3}", 8), []string{
		onSamples("substitute", "approximate: {epsilon: 0.6, delta: 1e-12}", "poisson: {rate: 0.3}", 8),
		onSamples("substitute", "approximate: {epsilon: 0.5, delta: 1e-12}", "poisson: {rate: 0.3}", 12)}, 1e-6, false},
	{"randomized response against an empty place", onSamples("zero-out", "randomized-response: {probability: 0.5, categories: 4}", "poisson: {rate: 0.3}", 8), []string{
		onSamples("zero-out", "randomized-response: {probability: 0.4999, categories: 4}", "poisson: {rate: 0.3}", 8),
		onSamples("substitute", "randomized-response: {probability: 0.5, categories: 4}", "poisson: {rate: 0.3}", 8)}, 1e-6, false},
	{"Gaussian batches, another record in their place", onSamples("substitute", "gaussian: {noise-multiplier: 2}", "without-replacement: {population: 1000, batch: 100}", 4), []string{
		onSamples("substitute", "gaussian: {noise-multiplier: 1.9}", "without-replacement: {population: 1000, batch: 100}", 4),
		onSamples("substitute", "gaussian: {noise-multiplier: 2}", "without-replacement: {population: 1000, batch: 110}", 4),
		onSamples("substitute", "gaussian: {noise-multiplier: 2}", "without-replacement: {population: 1000, batch: 100}", 5)}, 1e-6, false},
	{"Gaussian batches, an empty place", onSamples("zero-out", "gaussian: {noise-multiplier: 1}", "without-replacement: {population: 1000, batch: 100}", 3), []string{
		onSamples("zero-out", "gaussian: {noise-multiplier: 0.9}", "without-replacement: {population: 1000, batch: 100}", 3),
		onSamples("substitute", "gaussian: {noise-multiplier: 1}", "without-replacement: {population: 1000, batch: 100}", 3)}, 1e-6, false},
	{"one Gaussian batch, an empty place", onSamples("zero-out", "gaussian: {noise-multiplier: 1}", "without-replacement: {population: 1000, batch: 100}", 1), []string{
		onSamples("zero-out", "gaussian: {noise-multiplier: 0.99}", "without-replacement: {population: 1000, batch: 100}", 1),
		onSamples("zero-out", "gaussian: {noise-multiplier: 1}", "without-replacement: {population: 1000, batch: 102}", 1)}, 1e-6, false},
	{"draws with replacement", onSamples("add-remove", "gaussian: {noise-multiplier: 3}", "with-replacement: {population: 200, batch: 6}", 400), []string{
		onSamples("add-remove", "gaussian: {noise-multiplier: 2.999}", "with-replacement: {population: 200, batch: 6}", 400),
		onSamples("add-remove", "gaussian: {noise-multiplier: 3}", "with-replacement: {population: 199, batch: 6}", 400)}, 1e-6, true},
	{"draws with replacement, an empty place", onSamples("zero-out", "gaussian: {noise-multiplier: 1}", "with-replacement: {population: 200, batch: 3}", 3), []string{
		onSamples("zero-out", "gaussian: {noise-multiplier: 0.9}", "with-replacement: {population: 200, batch: 3}", 3),
		onSamples("zero-out", "gaussian: {noise-multiplier: 1}", "with-replacement: {population: 100, batch: 3}", 3)}, 1e-6, false},
	{"draws with replacement, another record in their place", onSamples("zero-out", "laplace: {noise-multiplier: 2}", "with-replacement: {population: 200, batch: 60}", 3), []string{
		onSamples("zero-out", "laplace: {noise-multiplier: 0.9}", "with-replacement: {population: 200, batch: 60}", 3),
		onSamples("substitute", "laplace: {noise-multiplier: 2}", "with-replacement: {population: 200, batch: 100}", 4)}, 1e-6, false},
	{"one sample of draws, another record in their place", onSamples("substitute", "gaussian: {noise-multiplier: 2}", "with-replacement: {population: 50, batch: 40}", 1), []string{
		onSamples("substitute", "gaussian: {noise-multiplier: 1.8}", "with-replacement: {population: 50, batch: 40}", 1),
		onSamples("substitute", "gaussian: {noise-multiplier: 2}", "with-replacement: {population: 50, batch: 48}", 1)}, 1e-6, false},
	{"random allocation", onSamples("add-remove", "gaussian: {noise-multiplier: 1}", "random-allocation: {steps: 20}", 3), []string{
		onSamples("add-remove", "gaussian: {noise-multiplier: 0.99}", "random-allocation: {steps: 20}", 3),
		onSamples("add-remove", "gaussian: {noise-multiplier: 1}", "random-allocation: {steps: 19}", 3),
		onSamples("add-remove", "gaussian: {noise-multiplier: 1}", "random-allocation: {steps: 20}", 4)}, 1e-6, false},
	{"random allocation drawn once", onSamples("zero-out", "gaussian: {noise-multiplier: 4}", "random-allocation: {steps: 20, redraw: once, epochs: 9}", 1), []string{
		onSamples("zero-out", "gaussian: {noise-multiplier: 3.9}", "random-allocation: {steps: 20, redraw: once, epochs: 9}", 1),
		onSamples("zero-out", "gaussian: {noise-multiplier: 4}", "random-allocation: {steps: 20, redraw: once, epochs: 10}", 1)}, 1e-6, false},
	{"exponential mechanisms", inFull("add-remove", "exponential: {epsilon: 0.3}", 12), []string{
		inFull("add-remove", "exponential: {epsilon: 0.301}", 12),
		inFull("add-remove", "exponential: {epsilon: 0.3}", 13)}, 1e-6, false},
	{"one exponential mechanism", inFull("substitute", "exponential: {epsilon: 0.3}", 1), []string{
		inFull("substitute", "exponential: {epsilon: 0.3000001}", 1)}, 1e-6, false},
	{"a Toeplitz matrix", inFull("substitute", "matrix: {noise-multiplier: 9, steps: 100, strategy: {square-root: {bands: 100}}, participation: {min-separation: 10, at-most: 5}}", 1), []string{
		inFull("substitute", "matrix: {noise-multiplier: 8.999999, steps: 100, strategy: {square-root: {bands: 100}}, participation: {min-separation: 10, at-most: 5}}", 1),
		inFull("substitute", "matrix: {noise-multiplier: 9, steps: 100, strategy: {square-root: {bands: 100}}, participation: {min-separation: 9, at-most: 5}}", 1),
		inFull("substitute", "matrix: {noise-multiplier: 9, steps: 101, strategy: {square-root: {bands: 101}}, participation: {min-separation: 10, at-most: 5}}", 1)}, 1e-6, false},
	{"a tree", inFull("add-remove", "matrix: {noise-multiplier: 9, steps: 96, strategy: {tree: {completion: false}}, participation: {epochs: 4}}", 2), []string{
		inFull("add-remove", "matrix: {noise-multiplier: 9, steps: 96, strategy: {tree: {completion: true}}, participation: {epochs: 4}}", 2),
		inFull("add-remove", "matrix: {noise-multiplier: 9, steps: 96, strategy: {tree: {completion: false}}, participation: {epochs: 6}}", 2)}, 1e-6, false},
	{"a banded matrix with coins", inFull("zero-out", "matrix: {noise-multiplier: 2, steps: 203, strategy: {square-root: {bands: 4}}, participation: {cyclic-poisson: {cycle: 4, rate: 0.05}}}", 1), []string{
		inFull("zero-out", "matrix: {noise-multiplier: 1.999, steps: 203, strategy: {square-root: {bands: 4}}, participation: {cyclic-poisson: {cycle: 4, rate: 0.05}}}", 1),
		inFull("zero-out", "matrix: {noise-multiplier: 2, steps: 207, strategy: {square-root: {bands: 4}}, participation: {cyclic-poisson: {cycle: 4, rate: 0.05}}}", 1)}, 1e-6, false},
}

func TestKindsOfSteps(t *testing.T) {
	checker := build(t)
	for _, k := range kindsOfSteps {
		if k.slow && !slow.All() {
			continue
		}
		text, answer, err := certify(k.plan, k.delta)
		if err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		t.Setenv("VERIFY_SECONDS", "8")
		if code, said := check(t, checker, text); code != proved {
			t.Errorf("%s: exit %d\n%s\n%s", k.name, code, said, text)
		}
		t.Setenv("VERIFY_SECONDS", "0.5") // of what is neither proved nor refuted
		if *trace {
			t.Log(k.name)
		}
		apart := strings.Contains(text, "\ndirection none\n")
		if apart != (answer.TheoryGap || strings.Contains(text, " adaptive units ")) {
			t.Errorf("%s: a gap is %v, and the lower end claimed is %v", k.name, answer.TheoryGap, !apart)
		}
		upper := float64(answer.Epsilon.Upper) // the claim is a little above it
		refuse := func(what, text string, far bool) {
			if far && !apart { // is to be refuted, which may take its time
				t.Setenv("VERIFY_SECONDS", "8")
				defer t.Setenv("VERIFY_SECONDS", "0.5")
			}
			code, said := check(t, checker, text)
			switch {
			case code == proved, far && !apart && code != refuted:
				t.Errorf("%s, %s: exit %d\n%s\n%s", k.name, what, code, said, text)
			}
		}
		// The upper end a little below what is reached.
		s := sample{certificate: text, answer: answer}
		reached := float64(answer.Epsilon.Lower)
		refuse("a lower upper end", s.claiming(0, reached-1.5*max(0, upper-reached)-1e-9*upper), true)
		if slow.On() {
			refuse("an upper end next below", s.claiming(0, reached*(1-1e-12)), false)
		}
		for i, other := range k.worse {
			if i > 0 && !slow.All() {
				break
			}
			worse, a, err := certify(other, k.delta)
			if err != nil {
				t.Fatalf("%s: %v\n%s", k.name, err, other)
			}
			if float64(a.Epsilon.Lower) <= upper {
				t.Errorf("%s: %v is not surely above %v\n%s", k.name, a.Epsilon.Lower, upper, other)
				continue
			}
			refuse("the claim of another plan", with(with(with(worse, "lower", decimal.Hex(0)), "upper", decimal.Hex(upper)), "delta", decimal.Hex(k.delta)), false)
		}
	}
}

// TestAllocationsAddUp: epochs count for each of two lines with the same words.
func TestAllocationsAddUp(t *testing.T) {
	checker := build(t)
	step := "{mechanism: {gaussian: {noise-multiplier: 2}}, sampling: {random-allocation: {steps: 20, epochs: 4}}}"
	one, _, err := certify("neighbors: add-remove\nsteps: ["+step+"]", 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^step .*\n`).FindString(one)
	if code, said := check(t, checker, seal(strings.Replace(one, line, line+line, 1))); code != refuted {
		t.Errorf("twice the epochs: exit %d\n%s\n%s", code, said, one)
	}
	two, _, err := certify("neighbors: add-remove\nsteps: ["+step+", "+step+"]", 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if code, said := check(t, checker, two); code != proved {
		t.Errorf("exit %d\n%s\n%s", code, said, two)
	}
}

// claimOf reads an end.
func claimOf(t *testing.T, text, key string) float64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+key+" ")
	var x float64
	if _, err := fmt.Sscanf(rest, "%g", &x); !ok || err != nil {
		t.Fatalf("no %s in\n%s", key, text)
	}
	return x
}

// A lower end that an attack reaches is not claimed, and claiming it is not enough.
func TestApartEndIsNotChecked(t *testing.T) {
	checker := build(t)
	text, _, err := certify(onSamples("substitute", "gaussian: {noise-multiplier: 2}", "without-replacement: {population: 1000, batch: 100}", 4), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if code, said := check(t, checker, with(text, "direction", "forward")); code != notChecked || !strings.Contains(said, "lower") {
		t.Errorf("exit %d\n%s", code, said)
	}
}
