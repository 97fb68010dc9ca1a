// Package fault is the one type of error for bad input: a problem with a field. Whoever
// hands on somebody else's input puts its own name in front or another in place, by the
// type and never by the text, so that a reworded message changes no line number.
//
// The text of an Error is "field: problem", or "outer: field: problem".
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// An Error is a problem with the field at the end of Path, which leads there from the
// outermost name: {"gaussian", "noise-multiplier"}. A field of a list is "field[2]".
// Path is empty where the problem is that of the whole.
type Error struct {
	Path    []string
	Problem string
	Err     error // what the problem wraps, or nil
}

// Error returns the path and the problem, with colons between.
func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return e.Problem
	}
	return strings.Join(e.Path, ": ") + ": " + e.Problem
}

// Unwrap returns what the problem wraps.
func (e *Error) Unwrap() error { return e.Err }

// Field returns the last name of the path, "" without one.
func (e *Error) Field() string {
	if len(e.Path) == 0 {
		return ""
	}
	return e.Path[len(e.Path)-1]
}

// New returns a problem with a field. The format is that of fmt.Errorf, %w included.
func New(field, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Path: []string{field}, Problem: err.Error(), Err: errors.Unwrap(err)}
}

// In returns err as a problem inside of name, nil if err is nil. An error that is no
// *Error becomes the problem of name.
func In(name string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) || e.Error() != err.Error() {
		return &Error{Path: []string{name}, Problem: err.Error(), Err: err}
	}
	return &Error{Path: append([]string{name}, e.Path...), Problem: e.Problem, Err: e.Err}
}

// Rename returns err with the names of its path replaced as rename has them; a name that
// becomes "" is left out. An error that is no *Error is returned as it is.
func Rename(err error, rename func(name string) string) error {
	var e *Error
	if !errors.As(err, &e) || e.Error() != err.Error() {
		return err
	}
	var path []string
	for _, name := range e.Path {
		if name = rename(name); name != "" {
			path = append(path, name)
		}
	}
	return &Error{Path: path, Problem: e.Problem, Err: e.Err}
}

// Of returns err as an *Error, with an empty path if it is none.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) && e.Error() == err.Error() {
		return e
	}
	return &Error{Problem: err.Error(), Err: err}
}
