package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/race"
)

// TestMemoryLimit: under a limit of the operating system a little above --memory, a
// question that would like gigabytes ends with an answer and a warning.
func TestMemoryLimit(t *testing.T) {
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
	// The runtime maps arenas of 64 MB as a whole, of which 62 MB of heap take two, and the stacks of C threads, of 8 MB each, count
	// too: what is used is looked at below.
	script := `ulimit -s 256 && ulimit -d 190000 && exec "$0" epsilon --memory 64 --accuracy 1e-9 --delta 1e-5 "$1"`
	cmd := exec.Command(shell, "-c", script, linkedProgram(t), plan)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	// What the kernel tells at the end (Maxrss) counts the process that started it, too: a test of 100 MB.
	used := 0
	for end := false; !end; {
		if kb := mostResident(cmd.Process.Pid); kb > 0 {
			used = kb
		}
		select {
		case err := <-done:
			if end = true; err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
		case <-time.After(time.Millisecond):
		}
	}
	if used < 8<<10 || used > 80<<10 {
		t.Errorf("%d KB were used; 64 MB was the limit, and the program itself has 16 MB", used)
	}
	if !strings.Contains(out.String(), "13.65272") || !strings.Contains(errs.String(), "the memory limit was reached") {
		t.Errorf("%s%s: want an interval about 13.65272 and a warning", out.String(), errs.String())
	}
}

// mostResident returns how many KB of a process have been in memory at most, 0 if that is not known (any more).
func mostResident(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, text, _ = bytes.Cut(text, []byte("VmHWM:"))
	if fields := bytes.Fields(text); len(fields) > 0 {
		kb, _ := strconv.Atoi(string(fields[0]))
		return kb
	}
	return 0
}
