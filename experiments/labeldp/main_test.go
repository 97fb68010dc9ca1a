package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The page in the documentation is what the program writes: with SLOW_GOLDEN=1 all of it, else
// what is above the regression, whose tens of millions of exact draws take minutes.
func TestPageIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("9 s")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("last digits depend on fused multiplication")
	}
	dir := t.TempDir()
	whole := os.Getenv("SLOW_GOLDEN") != ""
	if !whole {
		t.Log("the regression of the page is NOT made again: set SLOW_GOLDEN=1")
	}
	if err := run(dir, whole); err != nil {
		t.Fatal(err)
	}
	const docs = "../../docs/experiments"
	want, err := os.ReadFile(filepath.Join(docs, "labeldp.md"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "labeldp.md"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d: the program writes\n%s\nthe page has\n%s", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) && (whole || len(a) < 100 || len(a) > len(b)) {
		t.Errorf("the program writes %d lines, the page has %d", len(a), len(b))
	}
	for _, line := range a {
		if _, file, ok := strings.Cut(line, "]("); ok && strings.HasPrefix(line, "![") {
			name := strings.TrimSuffix(file, ")")
			for _, d := range []string{dir, docs} {
				if info, err := os.Stat(filepath.Join(d, name)); err != nil || info.Size() == 0 {
					t.Errorf("picture %s: %v", filepath.Join(d, name), err)
				}
			}
		}
	}
}
