package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	for _, text := range []string{"first, and longer", "second"} {
		if err := writeFileAtomic(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("read %q, %v; want %q", got, err, text)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFileAtomic(path, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("after overwriting: %v, %v; want an empty file of mode 600", info, err)
	}

	// What cannot be written leaves nothing behind.
	if err := writeFileAtomic(filepath.Join(dir, "missing", "out"), []byte("x")); err == nil {
		t.Error("no error for a missing directory")
	}
	if err := writeFileAtomic(dir, []byte("x")); err == nil {
		t.Error("no error for a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the directory: %v, %v; want one file", entries, err)
	}
}
