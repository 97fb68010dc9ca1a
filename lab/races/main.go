// Command races runs the test binary of one package, each test for so much processor time at most.
// It fails if a test fails or the race detector reports anything. It is what go test runs for
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
// outlasts a test that is killed. It appends a line for each test to the log: the test, its
// processor time, and whether it ended.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// all runs every test, in one process for all up to one that is cut off.
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
	for left := strings.Fields(string(out)); len(left) > 0; {
		these, failure := r.some(left, filepath.Join(reports, "race"))
		err = errors.Join(err, failure)
		for _, t := range these {
			left = slices.DeleteFunc(left, func(name string) bool { return name == t.name })
		}
		r.ended = append(r.ended, these...)
		if len(these) == 0 { // examples without an output are listed, and not run
			break
		}
	}
	files, wrong := filepath.Glob(filepath.Join(reports, "*"))
	for _, file := range files {
		text, cannot := os.ReadFile(file)
		err = errors.Join(err, fmt.Errorf("%s", text), cannot)
	}
	return errors.Join(err, wrong)
}

// some runs tests in one process, until they have ended or one has taken too long: then the process is killed, with
// what it has started.
func (r *runner) some(names []string, report string) ([]ended, error) {
	cmd := exec.Command(r.binary, append(slices.Clone(r.args), "-test.v", "-test.run", "^("+strings.Join(names, "|")+")$")...)
	cmd.Env = append(os.Environ(), "GORACE=log_path="+report)
	cmd.WaitDelay = 10 * time.Second // for what a test leaves behind to let go of the output
	inGroup(cmd)
	w := &watch{used: func() time.Duration { return xfft.ProcessorOf(cmd.Process.Pid) }}
	w.mu.Lock() // until there is a process
	cmd.Stdout, cmd.Stderr = w, w
	err := cmd.Start()
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if w.exceeds(r.each) {
					killGroup(cmd)
					return
				}
			}
		}
	}()
	err = cmd.Wait()
	close(over)
	killGroup(cmd) // what it has left behind
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cutOff {
		w.ended, err = append(w.ended, ended{w.now, "cut off", r.each}), nil
	}
	if err != nil && w.now != "" { // what ends the process, other than by a panic, is not marked
		w.ended = append(w.ended, ended{w.now, "failed", 0})
	}
	if err == nil && slices.ContainsFunc(w.ended, func(t ended) bool { return t.how == "failed" }) {
		err = errors.New("FAIL")
	}
	if err != nil {
		err = fmt.Errorf("%s%w", w.said.String(), err)
	}
	return w.ended, err
}

// A watch reads what a test binary prints, and knows by it which test is at work. The test within which a process is cut off
// stays the one at work.
type watch struct {
	used func() time.Duration // by the process, until now

	mu     sync.Mutex // of all below
	line   []byte     // the last one, as far as it is here
	now    string     // the test at work, or ""
	base   time.Duration
	since  time.Time
	cutOff bool
	ended  []ended
	said   bytes.Buffer // by tests
}

// A line of testing: what begins, goes on, or has ended. That of a test within a test is indented or has a slash.
var mark = regexp.MustCompile(`^(=== RUN|=== CONT|=== PAUSE|--- PASS:|--- FAIL:|--- SKIP:) +([^/ \n]+)(?: \(.*)?\n`)

func (w *watch) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(text) {
		w.line = append(w.line, line...)
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		w.read(w.line)
		w.line = w.line[:0]
	}
	return len(text), nil
}

func (w *watch) read(line []byte) {
	m := mark.FindSubmatch(line)
	if m == nil || w.cutOff {
		w.said.Write(line)
		return
	}
	name, used := string(m[2]), w.used()
	switch string(m[1]) {
	case "=== RUN", "=== CONT":
		w.now, w.base, w.since = name, used, time.Now()
		return
	case "--- PASS:", "--- SKIP:":
		w.ended = append(w.ended, ended{name, "ok", used - w.base})
	case "--- FAIL:":
		w.ended = append(w.ended, ended{name, "failed", used - w.base})
	}
	w.now = ""
}

// exceeds returns whether the test at work has taken too long, after which it is cut off.
func (w *watch) exceeds(each time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cutOff = w.now != "" && (w.used()-w.base > each || time.Since(w.since) > 30*each)
	return w.cutOff
}
