package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFollowedFile writes a log while it is followed: a line counts when it has its end, and
// what is not the log any more is an error that says what became of it.
func TestFollowedFile(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(path string) error
		want string
	}{
		{"truncated", func(path string) error { return os.Truncate(path, 1) }, "was truncated: it has 1 bytes, 9 were read before"},
		{"written anew", func(path string) error { // at once: os.WriteFile truncates first, and that may be seen
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("uno\ndos\ntres\n")
			return errors.Join(err, f.Close())
		}, "was written anew"},
		{"removed", os.Remove, "was removed or renamed"},
		{"rotated", func(path string) error {
			if err := os.Rename(path, path+".1"); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("new\n"), 0o644)
		}, "is another file than before"},
		{"interrupted", nil, context.Canceled.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte("one\ntw"), 0o644); err != nil {
				t.Fatal(err)
			}
			log, err := openLog(newRootCmd(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer log.r.Close()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			seen, end := make(chan string), make(chan error)
			go func() {
				end <- log.lines(ctx, func(line []byte) error { seen <- string(line); return nil })
			}()
			if line := <-seen; line != "one" {
				t.Fatalf("the first line is %q", line)
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("o\n3"); err != nil { // torn again
				t.Fatal(err)
			}
			f.Close()
			if line := <-seen; line != "two" {
				t.Fatalf("the torn line is %q", line)
			}
			if c.then == nil {
				stop()
			} else if err := c.then(path); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-end:
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("ended with %v, want %s", err, c.want)
				}
			case line := <-seen:
				t.Errorf("%q counts", line)
			}
			if c.then == nil && !log.torn.Load() {
				t.Error("the line without an end is not noticed")
			}
		})
	}
}

// TestFollowIsARunningTotal: what is printed after the last of many lines is what epsilon has for
// the plan of them all, and a line of the log costs a small part of an answer from nothing.
func TestFollowIsARunningTotal(t *testing.T) {
	const plan = "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: %d}]\n"
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, plan, 1), 0o644); err != nil {
		t.Fatal(err)
	}
	// An epoch is 100 steps; what the plan has as its count is not used.
	log := strings.Repeat(`{"epochs": 1}`+"\n"+`{"steps": 50, "note": "half"}`+"\n", 6)
	code, followed, stderr := command(log, "epsilon", "--delta", "1e-5", "--csv", "--follow", "-", file)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	rows := strings.Split(strings.TrimSpace(followed), "\n")
	if len(rows) != 13 || !strings.HasPrefix(rows[12], "12,900,add-remove,1e-5,") {
		t.Fatalf("%d rows, the last %s", len(rows), rows[len(rows)-1])
	}
	_, whole, _ := command(fmt.Sprintf(plan, 900), "epsilon", "--delta", "1e-5", "--csv", "-")
	// The same interval to more digits than any use has: the total grows by other sums.
	upper := func(csv string) string {
		lines := strings.Split(strings.TrimSpace(csv), "\n")
		at := slices.Index(strings.Split(lines[0], ","), "epsilon-upper")
		return strings.Split(lines[len(lines)-1], ",")[at]
	}
	if a, b := upper(followed), upper(whole); a[:10] != b[:10] {
		t.Errorf("ε ≤ %s after the log, %s of the plan", a, b)
	}
}
