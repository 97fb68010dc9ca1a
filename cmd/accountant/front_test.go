package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLoaderTable: the table at the top of the README is what dpsgd answers, rounded outward.
func TestLoaderTable(t *testing.T) {
	found := 0
	for _, line := range page(t, "README.md") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[1], "`") || cells[1] == "`--batching`" {
			continue
		}
		found++
		code, stdout, stderr := command("", "dpsgd", "--examples", "60000", "--batch-size", "256", "--epochs", "60", "--noise-multiplier", "1.1",
			"--delta", "1e-5", "--batching", strings.Trim(cells[1], "`"))
		ends := regexp.MustCompile(`(\S+) ≤ ε ≤ (\S+)`).FindStringSubmatch(stdout)
		if code != 0 || ends == nil {
			t.Fatalf("%s: %d %s%s", line, code, stdout, stderr)
		}
		shown := strings.Split(cells[2], " … ")
		value := func(text string) float64 {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		lower, upper := value(ends[1]), value(ends[2])
		last := value(shown[len(shown)-1])
		if !(last >= upper && last-upper < 0.001*upper) {
			t.Errorf("%s: the upper end is %v", line, upper)
		}
		if len(shown) == 1 && !(upper-lower < 0.001) || len(shown) == 2 && !(value(shown[0]) <= lower && lower-value(shown[0]) < 0.001*lower) {
			t.Errorf("%s: the lower end is %v", line, lower)
		}
	}
	if found != 3 {
		t.Errorf("%d lines found", found)
	}
}

// TestFrontPage: the README is at most 150 lines long, and what its commands and those of the first page write is no file
// that the repository keeps.
func TestFrontPage(t *testing.T) {
	if n := len(page(t, "README.md")); n > 150 {
		t.Errorf("README.md has %d lines", n)
	}
	pages := []string{"README.md", "docs/guide/start.md"}
	text, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skip("NOTE: WHAT THE README'S COMMANDS WRITE IS NOT COMPARED WITH THE REPOSITORY: GIT CANNOT BE ASKED")
	}
	tracked := strings.Split(string(text), "\n")
	written := 0
	for _, path := range pages {
		for _, c := range commandsOf(page(t, path)) {
			for i, arg := range c.args {
				if i > 0 && slices.Contains([]string{"--plot", "--out", "-o"}, c.args[i-1]) {
					if written++; slices.Contains(tracked, arg) {
						t.Errorf("%s:%d: the command overwrites %s", path, c.line+1, arg)
					}
				}
			}
		}
	}
	if written == 0 {
		t.Error("no command of the pages writes a file: the test sees none")
	}
}
