package main

import (
	"os"
	"strings"
	"testing"
)

// TestReadme runs the commands of the README, and looks for the output of the
// first one in it. Digits may differ: what is printed there was once printed.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	ran := 0
	for _, line := range strings.Split(readme, "\n") {
		args, ok := strings.CutPrefix(line, "    go run ./cmd/accountant ")
		if !ok {
			continue
		}
		code, stdout, stderr := command("", strings.Fields(args)...)
		if code != 0 || stderr != "" {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
		if ran++; ran > 1 {
			continue
		}
		for _, out := range strings.Split(stdout, "\n") {
			if !strings.Contains(out, "ε = ") && !strings.Contains(out, "≤ ε ≤") && !strings.Contains(readme, out) {
				t.Errorf("README lacks this line of %s:\n%s", args, out)
			}
		}
	}
	if ran < 3 {
		t.Errorf("README has %d commands, want at least 3", ran)
	}
}
