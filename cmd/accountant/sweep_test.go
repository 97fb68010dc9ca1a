package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/slow"
)

// sweepGrid has 90 plans, a third of them with an error.
const sweepGrid = `neighbors: add-remove
steps:
  - mechanism: {gaussian: {noise-multiplier: {values: [1, -1, 2]}}}
    sampling: {poisson: {rate: {linspace: [0.004, 0.01, 3]}}}
    count: {linspace: [100, 1000, 10]}
`

// sweepArgs writes a grid and returns the command line of its sweep into a file of this name.
func sweepArgs(t *testing.T, out string) []string {
	t.Helper()
	grid := filepath.Join(filepath.Dir(out), "grid.yaml")
	if err := os.WriteFile(grid, []byte(sweepGrid), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"sweep", "--delta", "1e-5", "--accuracy", "1e-6", "--out", out, grid}
}

// sweepOnce runs a sweep to its end and returns the file.
func sweepOnce(t *testing.T, args []string, out string, cores int) []byte {
	t.Helper()
	cmd := exec.Command("accountant", args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	text, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitRows || !strings.Contains(string(text), "30 of 90 rows have an error") {
		t.Fatalf("exit status %d, %v\n%s", code, err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out + ".lock"); err == nil {
		t.Error("the lock is left")
	}
	return data
}

// TestSweepKilled: a sweep that is killed ten times at random moments, with SLOW=2 forty times, is in the end the
// same to the byte as one that is not, whatever the number of cores.
func TestSweepKilled(t *testing.T) {
	for _, ending := range []string{"csv", "jsonl"} {
		dir := t.TempDir()
		whole, parts := filepath.Join(dir, "whole."+ending), filepath.Join(dir, "parts."+ending)
		want := sweepOnce(t, sweepArgs(t, whole), whole, 2)
		draw := rand.New(rand.NewPCG(21, 1))
		killed, kills := 0, 10
		if slow.All() {
			kills = 40
		}
		for i := range kills {
			cmd := exec.Command("accountant", sweepArgs(t, parts)...)
			cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+i%2))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(draw.IntN(200)) * time.Millisecond)
			_ = cmd.Process.Kill()
			if cmd.Wait(); cmd.ProcessState.ExitCode() == -1 {
				killed++
			}
			if got, err := os.ReadFile(parts); err == nil && !bytes.HasPrefix(want, got) {
				t.Fatalf("%s: after kill %d the file is no beginning of the whole", ending, i)
			}
		}
		if got := sweepOnce(t, sweepArgs(t, parts), parts, 1); !bytes.Equal(got, want) {
			t.Errorf("%s: another file after %d kills", ending, killed)
		}
		if killed == 0 {
			t.Errorf("%s: nothing was killed: the machine is too fast for this test", ending)
		}
	}
}

// TestSweepTorn: a file that ends anywhere, in the head, in a line or behind one, is gone on with.
func TestSweepTorn(t *testing.T) {
	for _, ending := range []string{"csv", "jsonl"} {
		out := filepath.Join(t.TempDir(), "out."+ending)
		args := sweepArgs(t, out)
		want := sweepOnce(t, args, out, 1)
		draw := rand.New(rand.NewPCG(21, 2))
		first := bytes.IndexByte(want, '\n')
		for _, size := range []int{0, 1, first, first + 1, draw.IntN(len(want)), draw.IntN(len(want)), len(want) - 1, len(want)} {
			if err := os.WriteFile(out, want[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			if got := sweepOnce(t, args, out, 1); !bytes.Equal(got, want) {
				t.Errorf("%s: another file after %d bytes", ending, size)
			}
		}
	}
}

// TestSweepRefuses: files that are not a beginning of this sweep stay as they are.
func TestSweepRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.csv")
	args := sweepArgs(t, out)
	want := string(sweepOnce(t, args, out, 1))
	lines := strings.SplitAfter(want, "\n")
	for _, c := range []struct{ text, problem string }{
		{"a,b\n1,2\n", "is there already and is not the result of a sweep"},
		{strings.ReplaceAll(want, "accountant-sweep-", "accountant-sweep-0"), "is of another sweep"},
		{strings.Replace(want, "epsilon-lower", "epsilon", 1), "is of another sweep"},
		{strings.Join(lines[:5], "") + lines[6], "row 4 is not that of this sweep"},
		{want + lines[4], "row 90 is not that of this sweep"},
	} {
		if err := os.WriteFile(out, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := exec.Command("accountant", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(text), c.problem) {
			t.Errorf("%v, %s; want %s", err, text, c.problem)
		}
		if left, _ := os.ReadFile(out); string(left) != c.text {
			t.Errorf("%s: the file was changed", c.problem)
		}
	}
	// The same of JSON lines, which have no head.
	lined := strings.TrimSuffix(out, "csv") + "jsonl"
	args[6] = lined
	rows := sweepOnce(t, args, lined, 1)
	for _, c := range []struct{ text, problem string }{
		{"no line feed", "is there already and is not the result of a sweep"},
		{"{}\n", "is there already and is not the result of a sweep"},
		{strings.ReplaceAll(string(rows), "accountant-sweep-", "accountant-sweep-0"), "is of another sweep"},
	} {
		if err := os.WriteFile(lined, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := exec.Command("accountant", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(text), c.problem) {
			t.Errorf("%v, %s; want %s", err, text, c.problem)
		}
		if left, _ := os.ReadFile(lined); string(left) != c.text {
			t.Errorf("%s: the file was changed", c.problem)
		}
	}
	args[6] = out
	// Another question about the same plans is another sweep.
	if err := os.WriteFile(out, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	args[2] = "1e-6"
	if text, err := exec.Command("accountant", args...).CombinedOutput(); err == nil || !strings.Contains(string(text), "is of another sweep") {
		t.Errorf("%v, %s", err, text)
	}
}

// TestSweepFullDisk: where there is no room the sweep ends with an error, and goes on when there is.
func TestSweepFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("/dev/full and ulimit are those of linux; this is %s: full disks are NOT tested", runtime.GOOS)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	args := sweepArgs(t, out)
	want := sweepOnce(t, args, out, 1)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("sh", append([]string{"-c", `ulimit -f 4; exec accountant "$@"`, "sh"}, args...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(text), "out.csv: file too large") {
		t.Errorf("%v, %s", err, text)
	}
	if got, _ := os.ReadFile(out); len(got) == 0 || len(got) >= len(want) || !bytes.HasPrefix(want, got) {
		t.Errorf("%d bytes are left, which are no beginning of %d", len(got), len(want))
	}
	if got := sweepOnce(t, args, out, 1); !bytes.Equal(got, want) {
		t.Error("another file after a full disk")
	}
	for i, a := range args {
		if a == out {
			args[i] = "/dev/full"
		}
	}
	if text, err := exec.Command("accountant", args...).CombinedOutput(); err == nil || !strings.Contains(string(text), "/dev/full: no space left on device") {
		t.Errorf("%v, %s", err, text)
	}
}

// TestSweepLarge: what a sweep holds does not grow with its grid of 10^5 plans, with SLOW=2 of 10^6.
func TestSweepLarge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("the memory of a process is measured on linux; this is %s: NOT tested", runtime.GOOS)
	}
	grid := filepath.Join(t.TempDir(), "grid.yaml")
	const text = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: {linspace: [1, 2, N]}}}, count: {linspace: [1, 100, 100]}}]\n"
	peak := func(n string) int64 {
		if err := os.WriteFile(grid, []byte(strings.Replace(text, "N", n, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("accountant", "sweep", "--delta", "1e-5", "--dry-run", grid)
		cmd.Env = append(os.Environ(), "GOGC=50")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "plans: ") {
			t.Fatalf("%v, %s", err, out)
		}
		return maxMemory(cmd.ProcessState)
	}
	many := "1000"
	if slow.All() {
		many = "10000"
	}
	if few, most := peak("10"), peak(many); most > few+8<<10 {
		t.Errorf("%d KB for %s00 plans, %d KB for 1000", most, many, few)
	}
}
