package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// TestCoverage: the table of coverage in docs/reference/cli.md is what the constructors do.
func TestCoverage(t *testing.T) {
	mechanisms := map[string]string{
		"gaussian":            "{noise-multiplier: 3}",
		"laplace":             "{noise-multiplier: 3}",
		"discrete-gaussian":   "{noise-multiplier: 3}",
		"discrete-laplace":    "{noise-multiplier: 3}",
		"skellam":             "{standard-deviation: 4, sensitivity: 2}",
		"summed-noise":        "{noise: skellam, clients: 10, missing: 1, standard-deviation: 4}",
		"randomized-response": "{probability: 0.5, categories: 3}",
		"pure":                "{epsilon: 0.3}",
		"approximate":         "{epsilon: 0.3, delta: 1e-9}",
		"finite":              "{p: [0.6, 0.4], q: [0.4, 0.6]}",
		"density":             "{p: [0.6, 0.4], q: [0.4, 0.6], low: [0.3, -0.5], high: [0.5, -0.3]}",
		"matrix":              "{noise-multiplier: 3, steps: 12, strategy: {square-root: {}}, participation: {epochs: 3}}",
		"gaussian-mixture":    "{noise-multiplier: 3, shifts: [0, 1], probabilities: [0.5, 0.5]}",
		"exponential":         "{epsilon: 0.3}",
		"permute-and-flip":    "{epsilon: 0.3}",
		"noisy-max":           "{noise: laplace, epsilon: 0.3}",
		"threshold":           "{noise: gaussian, standard-deviation: 4, threshold: 20}",
		"select-partitions":   "{epsilon: 1, delta: 1e-5}",
		"majority":            "{mechanisms: 11, epsilon: 0.1, allowance: 3}",
	}
	schemes := map[string]string{
		"poisson":             "{poisson: {rate: 0.02}}",
		"without-replacement": "{without-replacement: {population: 1000, batch: 20}}",
		"with-replacement":    "{with-replacement: {population: 1000, batch: 20}}",
		"must-wo":             "{must-wo: {population: 1000, subset: 100, batch: 20}}",
		"must-ww":             "{must-ww: {population: 1000, subset: 100, batch: 20}}",
		"must-ow":             "{must-ow: {population: 1000, subset: 100, batch: 20}}",
	}
	var columns [][]string // the schemes of each column
	seen := map[string]bool{}
	for _, line := range page(t, "docs/reference/cli.md") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if strings.HasPrefix(line, "| mechanism | no sampling |") {
			for _, head := range cells[1:] {
				var names []string
				for _, m := range quoted.FindAllStringSubmatch(head, -1) {
					names = append(names, m[1])
				}
				columns = append(columns, names)
			}
			continue
		}
		if columns == nil || len(cells) != len(columns)+1 {
			if len(seen) > 0 {
				break
			}
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			seen[m[1]] = true
			for i, cell := range cells[1:] {
				names := columns[i]
				if names == nil {
					names = []string{"none"}
				}
				for _, name := range names {
					sampling := schemes[name]
					if name == "none" {
						sampling = "none"
					}
					if got := coverage(t, m[1]+": "+mechanisms[m[1]], sampling); got != cell {
						t.Errorf("%s, %s: the page says %s, it is %s", m[1], name, cell, got)
					}
				}
			}
		}
	}
	if len(columns) != 6 || len(seen) != len(mechanisms) {
		t.Errorf("the table has %d columns, and of the mechanisms %v", len(columns), seen)
	}
}

// coverage returns what is known of a mechanism on a sample, under add-remove,
// substitute and zero-out, or one word for all three.
func coverage(t *testing.T, mechanism, sampling string) string {
	var cells []string
	for _, r := range []string{"add-remove", "substitute", "zero-out"} {
		plan, err := plan.Parse(t.Context(), []byte(fmt.Sprintf("neighbors: %s\nsteps:\n  - mechanism: {%s}\n    sampling: %s\n", r, mechanism, sampling)))
		if err != nil {
			cells = append(cells, "–")
			continue
		}
		step := plan.Steps[0]
		var m profiles.Bounds
		m, err = subsample.Of(t.Context(), step.Mechanism, step.Sampling, plan.Neighbors, 1)
		switch {
		case err != nil:
			cells = append(cells, "–")
		case m.TheoryGap():
			cells = append(cells, "gap")
		default:
			cells = append(cells, "exact")
		}
	}
	if len(slices.Compact(slices.Clone(cells))) == 1 {
		return cells[0]
	}
	return strings.Join(cells, ", ")
}
