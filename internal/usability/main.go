// Command usability measures the times of docs/usability.md: from a fresh clone, with empty caches, to
// the first answer, and from the start of the built command to its answer.
//
//	go run ./internal/usability
//
// It is run in the root of a clone and needs git, Go, and whatever go.mod names, which it fetches
// again. Wall time depends on what else runs: the load is printed, and so is the time on all
// cores together, which hardly depends on it. Nothing is tested: a timed test fails on a slow day.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The question that is asked: the one of the README.
var question = strings.Fields("dpsgd --examples 60000 --batch-size 256 --epochs 60 --noise-multiplier 1.1 --delta 1e-5")

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "usability")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "accountant")
	program := filepath.Join(clone, "first-answer.exe") // a name that every system runs
	env := append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"), "GOMODCACHE="+filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw")

	fmt.Printf("%d cores, load before: %s\n", runtime.GOMAXPROCS(0), load())
	start := time.Now()
	cpu := time.Duration(0)
	for _, c := range []struct {
		name, dir string
		args      []string
	}{
		{"clone", ".", []string{"git", "clone", "--quiet", ".", clone}},
		{"build", clone, []string{"go", "build", "-o", program, "./cmd/accountant"}},
		{"answer", clone, append([]string{program}, question...)},
	} {
		took, busy, err := once(c.dir, env, c.args)
		if err != nil {
			return err
		}
		cpu += busy
		fmt.Printf("  %-6s %8.3f s, %8.3f s on all cores together\n", c.name, took.Seconds(), busy.Seconds())
	}
	fmt.Printf("fresh clone to first answer: %.1f s, %.1f s on all cores together; load after: %s\n", time.Since(start).Seconds(), cpu.Seconds(), load())

	var times []time.Duration
	for range 41 {
		took, _, err := once(clone, env, append([]string{program}, question...))
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	fmt.Printf("start of the command to its answer, of %d: %.1f ms at best, %.1f ms in the middle\n",
		len(times), 1e3*times[0].Seconds(), 1e3*times[len(times)/2].Seconds())
	return nil
}

// once runs a command and returns how long it took, and how long on all cores together.
func once(dir string, env, args []string) (took, busy time.Duration, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// load is the mean number of processes that want a core, in the last minute, where the system says it.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
