package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSoundnessRows: a reviewer can tick the tables row by row. Each names what is claimed, files that are there, its
// proof, its conditions, a test, and a check that gets the truth in another way, which is none of the tests; or "none",
// so that a lack of one is seen. That all tests exist is TestPagesNames.
func TestSoundnessRows(t *testing.T) {
	test := regexp.MustCompile("`Test\\w+`")
	cells := []string{"tick", "what", "code", "proof", "conditions", "tests", "independent check", "not claimed"}
	rows := 0
	for _, line := range page(t, "docs/reference/soundness.md") {
		if line == "## What is not claimed" {
			break
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ✓ |") {
			continue
		}
		rows++
		row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		if len(row) != len(cells) {
			t.Errorf("%d cells, want %d: %.60s", len(row), len(cells), line)
			continue
		}
		for i, cell := range row[:7] {
			if row[i] = strings.TrimSpace(cell); row[i] == "" || i == 5 && !test.MatchString(cell) {
				t.Errorf("the cell %q names nothing: %.60s", cells[i], line)
			}
		}
		for _, code := range codeSpan.FindAllString(row[2], -1) {
			if _, err := os.Stat(filepath.Join(root, strings.Trim(code, "`"))); err != nil {
				t.Errorf("%v: %.60s", err, line)
			}
		}
		independent := test.FindAllString(row[6], -1)
		if len(independent) == 0 && row[6] != "none" {
			t.Errorf("the independent check names no test: %.60s", line)
		}
		for _, name := range independent {
			if strings.Contains(row[5], name) {
				t.Errorf("%s is a test and its own independent check: %.60s", name, line)
			}
		}
	}
	if rows < 110 {
		t.Errorf("%d rows, want at least 110", rows)
	}
}
