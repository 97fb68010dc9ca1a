package main

// The way that Flink and Spark are reached: a job server that is another process, and workers that are others again. The job server
// is Prism, and workers come from a pool as in Beam's EXTERNAL environment; a cluster has the same protocols, and containers
// around its workers.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/pool"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// part plays the job server, the pool or what starts a worker, instead of the tests.
func part(name string) {
	ctx := context.Background()
	args := os.Args[1:]
	port := func() int {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			panic(err)
		}
		return n
	}
	switch name {
	case "job-server":
		if _, err := prism.CreateJobServer(ctx, prism.Options{Port: port()}); err != nil {
			panic(err)
		}
		select {}
	case "pool":
		os.Setenv(partVariable, "boot")
		self, err := os.Executable()
		if err != nil {
			panic(err)
		}
		p, err := pool.New(ctx, port(), self)
		if err != nil {
			panic(err)
		}
		panic(p.ServeAndWait())
	case "boot": // Beam's own fetches the program that was staged, which is this one
		worker := []string{os.Args[0], "--worker=true"}
		for _, arg := range args {
			if !strings.HasPrefix(arg, "--artifact_endpoint") && !strings.HasPrefix(arg, "--provision_endpoint") {
				worker = append(worker, arg)
			}
		}
		os.Setenv(partVariable, "main")
		panic(syscall.Exec("/proc/self/exe", worker, os.Environ()))
	}
}

// cluster starts a job server and a pool, and returns the flags for them and the workers that there are.
func cluster(t *testing.T) (flags []string, workers func() []int) {
	t.Helper()
	start := func(name string) (address string, process int) {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		l.Close()
		_, port, _ := net.SplitHostPort(address)
		cmd := exec.Command(os.Args[0], port)
		cmd.Env = append(os.Environ(), partVariable+"="+name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for _, id := range children(cmd.Process.Pid) {
				syscall.Kill(id, syscall.SIGKILL)
			}
			cmd.Process.Kill()
			cmd.Wait()
		})
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if c, err := net.Dial("tcp", address); err == nil {
				c.Close()
				return address, cmd.Process.Pid
			}
			if time.Now().After(deadline) {
				t.Fatalf("the %s does not answer at %s", name, address)
			}
		}
	}
	server, _ := start("job-server")
	address, id := start("pool")
	// Beam takes no program with tests for a worker and would build another.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--worker_binary=" + self, "--endpoint=" + server, "--environment_type=EXTERNAL", "--environment_config=" + address}, func() []int { return children(id) }
}

// children are the processes that a process has started.
func children(parent int) (ids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, name := range tasks {
		more, _ := os.ReadFile(name)
		text = append(append(text, ' '), more...)
	}
	for _, word := range strings.Fields(string(text)) {
		if id, err := strconv.Atoi(word); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// A run by way of a job server writes the bytes of one within this program; so does the run after one whose worker was killed
// with SIGKILL, which ends with an error and no part of a file. Prism starts no other worker, which Flink does.
func TestJobServer(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("NOT RUN: processes are found in /proc")
	}
	dir := t.TempDir()
	key, data := labelFile(t, dir, 1500)
	args := func(out string, flags ...string) []string {
		return append([]string{"labels", "--in", data, "--label_set", "0..10", "--id_column", "id", "--epsilon", "1", "--key_file", key, "--shards", "2", "--out", filepath.Join(dir, out)}, flags...)
	}
	whole := func(out string) string {
		return labelsOut(t, dir, out, 2)
	}
	mustRun(t, args("whole")...)
	want := whole("whole")
	flags, workers := cluster(t)
	mustRun(t, args("flink", append(flags, "--runner=flink")...)...)
	if whole("flink") != want {
		t.Error("by way of a job server other bytes are written")
	}

	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	cmd := commandContext(ctx, args("killed", append(flags, "--runner=spark")...)...)
	before := map[int]bool{}
	for _, id := range workers() {
		before[id] = true
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	killed := 0
	for killed == 0 && ctx.Err() == nil {
		for _, id := range workers() {
			if !before[id] {
				time.Sleep(50 * time.Millisecond) // it is at work by then, or about to be
				if syscall.Kill(id, syscall.SIGKILL) == nil {
					killed = id
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
	if killed == 0 {
		t.Fatal("no worker was there to be killed")
	}
	// The runner may wait for its worker forever: that the run does not succeed is what counts.
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("a run whose worker was killed ended with %v", err)
		}
	case <-time.After(3 * time.Second):
		cmd.Process.Kill()
		<-ended
	}
	there, _ := filepath.Glob(filepath.Join(dir, "killed-*.csv"))
	for _, name := range there {
		if read(t, name) != read(t, strings.Replace(name, "killed-", "whole-", 1)) {
			t.Errorf("%s is not what an undisturbed run writes", name)
		}
	}
	mustRun(t, args("killed", append(flags, "--runner=universal")...)...)
	if whole("killed") != want {
		t.Error("the run after one whose worker was killed writes other bytes")
	}
}
