package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
)

// TestWarningsOnce: whatever asks about a plan that reaches a limit prints each warning once; a width, which is another at each
// point, makes no other warning of it.
func TestWarningsOnce(t *testing.T) {
	var plan strings.Builder
	plan.WriteString("neighbors: add-remove\nsteps:\n")
	for i := range 5 {
		fmt.Fprintf(&plan, "  - {mechanism: {discrete-gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: 0.01}}, count: 10}\n", 1+float64(i)/37)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte(strings.ReplaceAll(plan.String(), "count: 10", "count: 11")), 0o600); err != nil {
		t.Fatal(err)
	}
	warned := 0
	for _, args := range [][]string{
		{"epsilon", "--delta", "1e-5"}, {"delta", "--epsilon", "1"}, {"gdp"}, {"compare", "--delta", "1e-5"},
		{"calibrate", "--epsilon", "1", "--delta", "1e-5", "--solve", "noise-multiplier"}, {"risk"}, {"curve", "--csv"}, {"curve", "--kind", "trade-off", "--csv"},
		{"diff", "--delta", "1e-5", other}, {"gdp", "solve", "--mu", "1", "--solve", "noise-multiplier"},
	} {
		_, _, stderr := command(plan.String(), append(args, "--work", "1e4", "-")...)
		seen := map[string]bool{}
		for line := range strings.Lines(stderr) {
			if !strings.Contains(line, "warning") {
				continue
			}
			warned++
			if text := fourier.Reason(strings.TrimSpace(line)); seen[text] {
				t.Errorf("%s prints twice: %s", args[0], text)
			} else {
				seen[text] = true
			}
		}
	}
	if warned < 3 {
		t.Errorf("%d warnings in all: the plan reaches no limit", warned)
	}
}
