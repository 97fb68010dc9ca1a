package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/race"
)

// TestMemoryLimit: under a limit of the operating system a little above --memory, a
// question that would like gigabytes ends with an answer and a warning.
func TestMemoryLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("ulimit -d bounds the heap on linux only; this is %s: the memory limit is NOT tested", runtime.GOOS)
	}
	if race.Enabled {
		t.Skip("the race detector needs gigabytes of addresses: the memory limit is tested without it")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh: the memory limit is NOT tested")
	}
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	text := "neighbors: add-remove\nsteps: [{mechanism: {finite: {p: [0.7, 0.2, 0.1], q: [0.55, 0.25, 0.2]}}, count: 47}]\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// The runtime maps some more than it uses; the stacks of C threads, of 8 MB each, count too.
	script := `ulimit -s 256 && ulimit -d 120000 && exec "$0" epsilon --memory 64 --accuracy 1e-9 --delta 1e-5 "$1"`
	cmd := exec.Command(shell, "-c", script, linkedProgram(t), plan)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if !strings.Contains(string(out), "13.65272") || !strings.Contains(errs.String(), "the memory limit was reached") {
		t.Errorf("%s%s: want an interval about 13.65272 and a warning", out, errs.String())
	}
}
