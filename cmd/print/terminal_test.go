package print

import (
	"bytes"
	"os"
	"testing"
)

// TestPaint: what is no terminal gets no escape sequences.
func TestPaint(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := Paint(&bytes.Buffer{}, Red, "x"); got != "x" {
		t.Errorf("in a buffer: %q", got)
	}
	for _, f := range []*os.File{r, w, null, file} {
		if IsTerminal(f) {
			t.Errorf("%s is a terminal", f.Name())
		}
		if got := Paint(f, Red, "x"); got != "x" {
			t.Errorf("in %s: %q", f.Name(), got)
		}
	}
}

// TestPaintTerminal needs a terminal to look at.
func TestPaintTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	defer tty.Close()
	for _, c := range []struct{ noColor, term, want string }{
		{"", "xterm", "\x1b[31mx\x1b[0m"},
		{"1", "xterm", "x"},
		{"", "dumb", "x"},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got := Paint(tty, Red, "x"); got != c.want {
			t.Errorf("NO_COLOR=%s TERM=%s: %q, want %q", c.noColor, c.term, got, c.want)
		}
	}
}
