package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/race"
)

// The runner is shown this test binary: the tests below do something only if TestRunner has asked for it.
func shown(name string) bool { return strings.Contains(os.Getenv("RACES_SHOWN"), name) }

func burn() {
	for begun, i := time.Now(), 0; time.Since(begun) < time.Minute; i++ {
		_ = i
	}
}

func TestShownFails(t *testing.T) {
	if shown("fails") {
		t.Error("a reason")
	}
}

func TestShownBurns(t *testing.T) {
	if shown("burns") {
		t.Run("within", func(*testing.T) { burn() })
	}
}

// A race of a process that the test has started, which goes on and on.
func TestShownRaces(*testing.T) {
	if !shown("races") {
		return
	}
	if shown("child") {
		n, done := 0, make(chan struct{})
		go func() { n++; close(done) }()
		n++
		<-done
		burn()
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestShownRaces$")
	child.Env = append(os.Environ(), "RACES_SHOWN=races in a child")
	_ = child.Run()
}

func TestShownExits(*testing.T) {
	if shown("exits") {
		os.Exit(3)
	}
}

func TestShownQuick(*testing.T) {}

func TestRunner(t *testing.T) {
	if os.Getenv("RACES_SHOWN") != "" {
		return // shows the tests above
	}
	for _, c := range []struct {
		show, err string
		how       map[string]string
	}{
		{"quick", "", map[string]string{"TestShownBurns": "ok", "TestShownQuick": "ok"}},
		// What comes after a test that is cut off is run as well, and what failed before it is not forgotten.
		{"burns quick", "", map[string]string{"TestShownBurns": "cut off", "TestShownQuick": "ok"}},
		{"fails", "a reason", map[string]string{"TestShownBurns": "ok", "TestShownFails": "failed"}},
		{"fails burns", "a reason", map[string]string{"TestShownFails": "failed"}},
		{"exits", "exit status 3", map[string]string{"TestShownExits": "failed", "TestShownQuick": "ok"}},
		{"races", "WARNING: DATA RACE", map[string]string{"TestShownRaces": "cut off"}},
	} {
		if c.show == "races" && !race.Enabled {
			continue // .ci/race shows it
		}
		t.Run(c.show, func(t *testing.T) {
			t.Setenv("RACES_SHOWN", c.show)
			r := runner{binary: os.Args[0], each: 200 * time.Millisecond}
			if c.show == "quick" { // nobody has to be quick
				r.each = time.Minute
			}
			err := r.all()
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want one with %q", err, c.err)
			}
			how := map[string]string{}
			for _, e := range r.ended {
				how[e.name] = e.how
			}
			for name, want := range c.how {
				if how[name] != want {
					t.Errorf("%s: %q, want %q", name, how[name], want)
				}
			}
		})
	}
}
