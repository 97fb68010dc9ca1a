package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	text "github.com/dpaccountant/accountant/plan"
)

// TestCompletions: what can stand at the mark | of a plan, under node.
func TestCompletions(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("COMPLETION IS NOT TESTED: there is no node")
	}
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, text.Schema(), 0o666); err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[string]string{
		"nei|":              "neighbors: ",
		"# a plan: nei|":    "",
		"neighbors: add|":   "add-remove",
		"neighbors: x\nst|": "steps: ",
		"steps:\n  - mech|": "mechanism: ",
		"steps:\n  - name: a\n    mechanism: {gauss|":                                          "gaussian: |gaussian-mixture: ",
		"steps:\n  - mechanism: {gaussian: {noise|":                                            "noise-multiplier: ",
		"steps:\n  - mechanism: {gaussian: {noise-multiplier: 1}}\n    sampling: {poisson: {|": "rate: ",
		"steps:\n  - mechanism:\n      laplace:\n        noi|":                                 "noise-multiplier: ",
		"steps:\n  - mechanism: {gaussian: {noise-multiplier: 1}}\n    cou|":                   "count: ",
		"steps:\n  - steps:\n    - mechanism: {pure: {epsilon: 1}}\n    cou|":                  "count: ",
		"steps:\n  - mechanism: {gaussian: {noise-multiplier: 1, sta|":                         "standard-deviation: ",
		"steps:\n  - mechanism: {gaussian: {noise-multiplier: 1|":                              "",
		"steps:\n  - mechanism: {nothing: {|":                                                  "",
	} {
		const program = `process.stdout.write(require("../complete.js").completions(process.argv[1], JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"))).words.join("|"))`
		out, err := exec.Command("node", "-e", program, strings.TrimSuffix(plan, "|"), schema).CombinedOutput()
		if got := string(out); err != nil || got != want {
			t.Errorf("%q: %q, want %q (%v)", plan, got, want, err)
		}
	}
}
