// Command races runs the test binary of one package, each test in a process of its own and for so
// much processor time at most. It fails if a test fails or the race detector reports anything. It is what go test runs for
// .ci/race:
//
//	SLOW=1 go test -race -short -timeout 0 -exec "races -each 2s -log FILE" ./...
//
// Under the detector numeric code is ten times as slow, and goroutines that share something do so
// from the first second on. The detector reports a race when it sees it, so a test that is cut off
// has been looked at for as long as it ran. No test needs to be marked for it, and each is begun. A
// test of children or clocks may take thirty times the limit by the clock.
//
// Races are reported in files, GORACE's log_path. Processes that a test starts inherit it, and it
// outlasts a test that is killed. Each process lasts 20 ms longer than its test, for races of what
// the test has left behind; by itself the detector would sleep for a second. The program appends a line for each test to the log: the test, its
// processor time, and whether it ended.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/lab/xfft"
)

func main() {
	each := flag.Duration("each", 2*time.Second, "processor time that each test may take")
	path := flag.String("log", os.DevNull, "a file for a line about each test")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "races: the path of a test binary is missing")
		os.Exit(2)
	}
	log, err := os.OpenFile(*path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		r := runner{binary: flag.Arg(0), args: flag.Args()[1:], each: *each}
		err = r.all()
		text := new(bytes.Buffer)
		folder, _ := os.Getwd() // that of the package
		for _, t := range r.ended {
			fmt.Fprintf(text, "%s\t%.2f\t%s\t%s\n", t.how, t.cpu.Seconds(), folder, t.name)
		}
		_, wrong := log.Write(text.Bytes()) // one write, as other packages append to it too
		err = errors.Join(err, wrong, log.Close())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

type runner struct {
	binary string
	args   []string // as go test gives them
	each   time.Duration
	ended  []ended
}

// A test that has ended: "ok", "failed", or "cut off".
type ended struct {
	name, how string
	cpu       time.Duration
}

// all runs every test, each in a process of its own.
func (r *runner) all() error {
	reports, err := os.MkdirTemp("", "races")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(reports) }()
	out, err := exec.Command(r.binary, "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		return fmt.Errorf("%s -test.list: %w", r.binary, err)
	}
	for _, name := range strings.Fields(string(out)) {
		err = errors.Join(err, r.one(name, filepath.Join(reports, "race")))
	}
	files, wrong := filepath.Glob(filepath.Join(reports, "*"))
	for _, file := range files {
		text, cannot := os.ReadFile(file)
		err = errors.Join(err, fmt.Errorf("%s", text), cannot)
	}
	return errors.Join(err, wrong)
}

// one runs a test until it has ended or taken too long: then its process is killed, with what it has started.
func (r *runner) one(name, report string) error {
	ctx, cut := context.WithTimeout(context.Background(), 30*r.each)
	defer cut()
	cmd := exec.CommandContext(ctx, r.binary, append(slices.Clone(r.args), "-test.run", "^"+name+"$")...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GORACE=log_path=%s atexit_sleep_ms=20", report))
	cmd.WaitDelay = 10 * time.Second // for what a test leaves behind to let go of the output
	cmd.Cancel = func() error { killGroup(cmd); return nil }
	inGroup(cmd)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			if xfft.ProcessorOf(cmd.Process.Pid) > r.each {
				cut()
			}
		}
	}()
	err := cmd.Wait()
	killGroup(cmd) // what it has left behind
	t := ended{name, "ok", cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	switch {
	case ctx.Err() != nil && cmd.ProcessState.ExitCode() <= 0: // it has not failed by itself
		t.how, err = "cut off", nil
	case err != nil:
		t.how, err = "failed", fmt.Errorf("%s: %s%w", name, said.String(), err)
	}
	r.ended = append(r.ended, t)
	return err
}
