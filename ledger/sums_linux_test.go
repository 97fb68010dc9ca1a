package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain runs the other process of TestProgramThatWasReplaced.
func TestMain(m *testing.M) {
	if os.Getenv("LEDGER_TEST_PROGRAM") != "" {
		fmt.Scanln()
		fmt.Print(program())
		return
	}
	os.Exit(m.Run())
}

// TestProgramThatWasReplaced: a program whose name was given to another file while it ran, as an upgrade does, is not named after that
// file, which would believe its checkpoints.
func TestProgramThatWasReplaced(t *testing.T) {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	name, newer := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "new")
	for path, text := range map[string][]byte{name: data, newer: []byte("a newer program")} {
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(name)
	cmd.Env = append(os.Environ(), "LEDGER_TEST_PROGRAM=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(newer, name); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if got, want := out.String(), "sha256:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the old program is called %q, want %q", got, want)
	}
}
