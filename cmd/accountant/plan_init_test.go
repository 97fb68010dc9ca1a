package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/plan"
)

// Every way through the interview makes a plan; wrong answers are asked again.
func TestPlanInit(t *testing.T) {
	for answers, want := range map[string]string{
		"\n\n\n\n\n\n":                                      "sampling: {poisson: {rate: 256/60000}}",
		"training\n1000\n10\n2.5\nshuffle\n2\n":             "sampling: {shuffle: {batches: ceil(1000/10)}}",
		"training\n1e3\n10\n3\nrandom-allocation\n2":        "count: ceil(3) # epochs",
		"stat\nstatistics\nsubstitute\nlaplace\n-1\n5\n3\n": "mechanism: {laplace: {noise-multiplier: 5}}",
		"statistics\n\ndiscrete-gaussian\n30\n\n":           "neighbors: add-remove",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"plan", "init"}, strings.NewReader(answers), &out, &errs)
		if _, err := plan.Parse(t.Context(), []byte(out.String())); code != 0 || err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %d, %v\n%s\n%s", answers, code, err, out.String(), errs.String())
		}
	}
	for answers, want := range map[string]string{
		"":                      "standard input ended before the question",
		"x\ny\nz\n":             "no answer to",
		"training\n0\n0\n1/2\n": "no answer to",
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"plan", "init"}, strings.NewReader(answers), &out, &errs); code != 1 || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: %d, %s, %s", answers, code, out.String(), errs.String())
		}
	}
	path := filepath.Join(t.TempDir(), "plan.yaml")
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"plan", "init", path}, strings.NewReader("\n\n\n\n\n\n"), &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	before, _ := os.ReadFile(path)
	errs.Reset()
	code := run(t.Context(), []string{"plan", "init", path}, strings.NewReader("statistics\n\n\n\n\n"), &out, &errs)
	if after, _ := os.ReadFile(path); code != 1 || string(after) != string(before) || !strings.Contains(errs.String(), "is there already") {
		t.Errorf("%d, %s\n%s", code, errs.String(), after)
	}
	// Nothing is asked for a plan that cannot be written.
	errs.Reset()
	if code := run(t.Context(), []string{"plan", "init", filepath.Join(path, "plan.yaml")}, strings.NewReader("\n\n\n\n\n\n"), &out, &errs); code != 1 || strings.Contains(errs.String(), "What runs?") {
		t.Errorf("%d, %s", code, errs.String())
	}
}
