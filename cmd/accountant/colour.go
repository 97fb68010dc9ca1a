package main

import (
	"io"
	"os"
)

// A colour is the number of an SGR escape sequence.
type colour string

const (
	yellow colour = "33"
	red    colour = "31"
)

// paint colours text that w will show, if w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func paint(w io.Writer, c colour, text string) string {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// warning starts a line of warning on standard error.
func warning(w io.Writer) string { return "accountant: " + paint(w, yellow, "warning") + ": " }
