package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// TestPipe: a pipe is read as a file is, also when its writer comes later, and one
// that stays silent ends with an error.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	old := patience
	patience = time.Minute
	defer func() { patience = old }()
	path := filepath.Join(dir, "plan")
	makePipe(t, path)
	wrote := make(chan error)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(okPlan)
			f.Close()
		}
		wrote <- err
	}()
	if code, _, stderr := command("", "epsilon", "--delta", "1e-5", path); code != 0 {
		t.Error(stderr)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	patience = time.Millisecond
	const want = ": nothing was written to this pipe for 1ms\n"
	for _, args := range [][]string{
		{"epsilon", "--delta", "1e-5"},
		{"label", "--epsilon", "1", "--prior"},
		{"pate", "analyze", "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5", "--votes"},
	} {
		if code, _, stderr := command("", append(args, path)...); code != 1 || !strings.HasSuffix(stderr, want) {
			t.Errorf("%v: %d, %q", args, code, stderr)
		}
	}
	// One that is open and silent.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if code, _, stderr := command("", "epsilon", "--delta", "1e-5", path); code != 1 || !strings.HasSuffix(stderr, want) {
		t.Errorf("%d, %q", code, stderr)
	}
}

// TestGrowingFile: a file that grows while it is read is an error, not without end.
func TestGrowingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := openInput(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var text strings.Builder
	for i := range 1000 {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprint(f, i)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 10)
		n, err := in.Read(b)
		text.Write(b[:n])
		if err != nil {
			if err.Error() != "grew while it was read" {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("read %q without an end", text.String())
}
