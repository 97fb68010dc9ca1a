package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerated: what is written now is what stands in the files.
func TestGenerated(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		was, now := strings.Split(string(got), "\n"), strings.Split(want, "\n")
		for i := range max(len(was), len(now)) {
			if i >= len(was) || i >= len(now) || was[i] != now[i] {
				t.Errorf("%s is stale from line %d on: go generate ./cmd/service", name, i+1)
				break
			}
		}
	}
}
