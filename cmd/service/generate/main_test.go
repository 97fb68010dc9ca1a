package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClient: what the Python client has of the operations is what is written now.
func TestClient(t *testing.T) {
	want, err := client("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", output))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		was, now := strings.Split(string(got), "\n"), strings.Split(want, "\n")
		for i := range min(len(was), len(now)) {
			if was[i] != now[i] {
				t.Fatalf("go generate ./cmd/service: line %d of %s is\n%s\nand should be\n%s", i+1, output, was[i], now[i])
			}
		}
		t.Fatalf("go generate ./cmd/service: %s has %d lines and should have %d", output, len(was), len(now))
	}
}
