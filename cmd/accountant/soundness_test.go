package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSoundnessRows: a reviewer can tick the table row by row. Each names what is claimed, files that are there, its
// proof, its conditions, a test, and a check that gets the truth in another way, which is none of the tests; or "none",
// so that a lack of one is seen. That all tests exist is TestPagesNames.
func TestSoundnessRows(t *testing.T) {
	test := regexp.MustCompile("`Test\\w+`")
	cells := []string{"part", "what", "code", "proof", "conditions", "tests", "independent check", "not claimed"}
	table, err := csv.NewReader(strings.NewReader(strings.Join(page(t, soundness), "\n"))).ReadAll()
	if err != nil || !slices.Equal(table[0], cells) {
		t.Fatalf("%v: the columns are not %q", err, cells)
	}
	rows := 0
	for _, row := range table[1:] {
		rows++
		line := row[1]
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
