package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// screen returns what a terminal of one line shows after these bytes.
func screen(b []byte) string {
	var line []rune
	at := 0
	for _, r := range string(b) {
		if r == '\r' {
			at = 0
			continue
		}
		if at == len(line) {
			line = append(line, r)
		} else {
			line[at] = r
		}
		at++
	}
	return strings.TrimSpace(string(line))
}

func TestMeter(t *testing.T) {
	clock := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	start := func() *meter {
		b.Reset()
		return newMeter(&b, "calibrating", func() time.Time { return clock }, meterDelay)
	}

	// Quick work is not worth a bar.
	m := start()
	m.show(service.Progress{Done: 0, Total: 4})
	m.show(service.Progress{Done: 1, Total: 4})
	clock = clock.Add(meterDelay - 1)
	m.show(service.Progress{Done: 2, Total: 4})
	m.draw()
	m.stop()
	if b.Len() != 0 {
		t.Errorf("%q within the first second", b.String())
	}

	// A bar with the parts done and the time left.
	m = start()
	m.show(service.Progress{Done: 0, Total: 4})
	clock = clock.Add(10 * time.Second)
	m.show(service.Progress{Done: 1, Total: 4})
	if s := screen(b.Bytes()); !strings.HasPrefix(s, "25% |") || !strings.HasSuffix(s, "| (1/4) calibrating, 30s left") {
		t.Errorf("the screen shows %q", s)
	}
	clock = clock.Add(20 * time.Second)
	m.draw()
	if s := screen(b.Bytes()); !strings.HasSuffix(s, "| (1/4) calibrating, 10s left") {
		t.Errorf("the screen shows %q", s)
	}
	clock = clock.Add(time.Minute)
	m.show(service.Progress{Note: "nearly there"})
	m.show(service.Progress{Done: 3, Total: 4})
	if s := screen(b.Bytes()); !strings.HasPrefix(s, "75% |") || !strings.HasSuffix(s, "| (3/4) calibrating, nearly there, 30s left") {
		t.Errorf("the screen shows %q", s)
	}
	m.stop()
	if s := screen(b.Bytes()); s != "" {
		t.Errorf("%q is left behind", s)
	}
	n := b.Len()
	m.show(service.Progress{Done: 4, Total: 4})
	if b.Len() != n {
		t.Errorf("%q after the end", b.Bytes()[n:])
	}

	// A spinner where the number of parts is not known, then a bar.
	m = start()
	clock = clock.Add(meterDelay)
	m.draw()
	if s := screen(b.Bytes()); !strings.HasSuffix(s, " calibrating, 1s") || strings.Contains(s, "%") {
		t.Errorf("the screen shows %q", s)
	}
	m.show(service.Progress{Done: 3, Total: 0})
	m.draw()
	if s := screen(b.Bytes()); !strings.HasSuffix(s, " calibrating, step 3, 1s") {
		t.Errorf("the screen shows %q", s)
	}
	m.show(service.Progress{Done: 0, Total: 1})
	if s := screen(b.Bytes()); !strings.HasSuffix(s, " calibrating, 1s") {
		t.Errorf("the screen shows %q", s)
	}
	m.show(service.Progress{Done: 15, Total: 20})
	if s := screen(b.Bytes()); !strings.HasPrefix(s, "75% |") {
		t.Errorf("the screen shows %q", s)
	}
	m.stop()
	if s := screen(b.Bytes()); s != "" {
		t.Errorf("%q is left behind", s)
	}
}

// TestMeasured: what is no terminal gets no meter, and a meter of nothing works.
func TestMeasured(t *testing.T) {
	var b bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&b)
	m := startMeter(cmd, "auto", "computing")
	if m != nil {
		t.Error("a meter without a terminal")
	}
	m.show(service.Progress{Done: 1, Total: 2})
	m.show(service.Progress{Note: "more"})
	m.show(service.Progress{Done: 1, Total: 1})
	m.inBytes()
	m.stop()
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}

// TestMeasuredTerminal needs a terminal to look at: standard error is one for a meter.
func TestMeasuredTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	defer tty.Close()
	for _, c := range []struct {
		out, err io.Writer
		progress string
		want     bool
	}{
		{tty, tty, "auto", true},
		{tty, tty, "off", false},
		{&bytes.Buffer{}, tty, "auto", true},
		{tty, &bytes.Buffer{}, "auto", false},
		{&bytes.Buffer{}, &bytes.Buffer{}, "on", true},
	} {
		cmd := &cobra.Command{}
		cmd.SetOut(c.out)
		cmd.SetErr(c.err)
		m := startMeter(cmd, c.progress, "computing")
		got := m != nil
		m.stop()
		if got != c.want {
			t.Errorf("%T and %T, %s: meter %v, want %v", c.out, c.err, c.progress, got, c.want)
		}
	}
}
