package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/lab/plots"
)

// The page in the documentation is what the program writes, with its pictures.
func TestPageIsCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("last digits depend on fused multiplication")
	}
	e := &experiment{dir: t.TempDir(), votes: "../votes/testdata", ctx: t.Context()}
	report := e.report()
	const docs = "../../docs/experiments"
	page, err := os.ReadFile(filepath.Join(docs, "darrm.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, tables := plots.Short(report, "darrm")
	for name, table := range tables {
		if kept, err := os.ReadFile(filepath.Join(docs, name)); err != nil || string(kept) != string(table) {
			t.Errorf("%s is not what the program writes (%v)", name, err)
		}
	}
	got, want := strings.Split(string(text), "\n"), strings.Split(string(page), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d: the program writes\n%s\nthe page has\n%s", i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the program writes %d lines, the page has %d", len(got), len(want))
	}
	for _, line := range got {
		if _, file, ok := strings.Cut(line, "]("); ok && strings.HasPrefix(line, "![") {
			if info, err := os.Stat(filepath.Join(docs, strings.TrimSuffix(file, ")"))); err != nil || info.Size() == 0 {
				t.Errorf("picture: %v", err)
			}
		}
	}
}
