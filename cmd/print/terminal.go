// Package print writes the answers of commands: tables and facts as text, Markdown or LaTeX, and any value as
// CSV. It knows no command and no answer; JSON is that of the service.
package print

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// A Checked is standard output that remembers its first error, whoever wrote.
type Checked struct {
	io.Writer
	Err error
}

// Write implements io.Writer.
func (c *Checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.Err == nil {
		c.Err = err
	}
	return n, err
}

// fileOf returns the file that w writes to, nil if it is none.
func fileOf(w io.Writer) *os.File {
	for c, ok := w.(*Checked); ok; c, ok = w.(*Checked) {
		w = c.Writer
	}
	f, _ := w.(*os.File)
	return f
}

// IsTerminal reports whether w is a terminal, on which progress can be shown.
func IsTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// widthOf returns how wide a terminal is, by COLUMNS if that is set; 0 for what is no terminal.
func widthOf(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, _ := term.GetSize(int(fileOf(w).Fd()))
	return n
}

// A Colour is the number of an SGR escape sequence.
type Colour string

// The colours of warnings and of refusals.
const (
	Yellow Colour = "33"
	Red    Colour = "31"
)

// Paint colours text that w will show, if w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func Paint(w io.Writer, c Colour, text string) string {
	if !IsTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
