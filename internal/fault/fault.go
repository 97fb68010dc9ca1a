// Package fault is the one type of error for bad input: a problem with a field. Whoever hands on
// somebody else's input puts its own name in front, or another in place. That goes by the type and
// never by the text, so a reworded message changes no line number.
//
// The text of an Error is "field: problem", or "outer: field: problem".
package fault

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An Error is a problem with the field at the end of Path, which leads there from the
// outermost name: {"gaussian", "noise-multiplier"}. A field of a list is "field[2]".
// Path is empty where the problem is that of the whole.
type Error struct {
	Path    []string
	Problem string
	Err     error // what the problem wraps, or nil
	// Value is what the field has, and Allowed what it may have, where New was given a problem
	// of the form "VALUE is not ALLOWED" or "is missing; must be ALLOWED"; else they are "".
	Value, Allowed string
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

// maxText is how long a text is that a problem repeats; a line of a table of what is allowed is shorter.
const maxText = 1000

// brief is a text as a problem repeats it: the beginning of a long one, which may be all that somebody has sent.
func brief(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:60], "\uFFFD") + "…"
}

// New returns a problem with a field. The format is that of fmt.Errorf, %w included; texts are cut that have more than a thousand
// bytes.
func New(field, format string, args ...any) error {
	field = brief(field)
	args = slices.Clone(args)
	for i, a := range args {
		if v := reflect.ValueOf(a); v.Kind() == reflect.String && v.Len() > maxText {
			args[i] = brief(v.String())
		}
	}
	err := fmt.Errorf(format, args...)
	e := &Error{Path: []string{field}, Problem: err.Error(), Err: errors.Unwrap(err)}
	e.Value, e.Allowed = parts(format, args)
	return e
}

// NotOneOf returns a problem with a field whose value is none of what it may be; more is what
// follows in the text, such as a suggestion.
func NotOneOf(field, value, allowed, more string) error {
	value = brief(value)
	return &Error{Path: []string{brief(field)}, Problem: value + " is not " + allowed + more, Value: unquoted(value), Allowed: allowed}
}

// parts returns the value of a problem and what is allowed, by the format of the problem: a value
// may have any text in it.
func parts(format string, args []any) (value, allowed string) {
	before, after, ok := strings.Cut(format, " is not ")
	if !ok {
		if before, after, ok = strings.Cut(format, "is missing; must be "); !ok || before != "" {
			return "", ""
		}
	}
	n := strings.Count(before, "%")
	if !ok || strings.Contains(format, "%[") || strings.Contains(format, "%%") || n > 1 || n > len(args) || n == 1 && !strings.HasPrefix(before, "%") {
		return "", ""
	}
	after, _, _ = strings.Cut(after, ";")
	rest := args[n:]
	if m := strings.Count(after, "%"); m <= len(rest) {
		rest = rest[:m]
	} else {
		return "", ""
	}
	if n == 1 {
		if verb := before[1:]; strings.ContainsAny(verb, " ") {
			return "", "" // more than the value
		}
		value = fmt.Sprintf(before, args[0])
	}
	if allowed = strings.TrimPrefix(fmt.Sprintf(after, rest...), "in "); !strings.Contains(allowed, " ") {
		return "", "" // a word such as open is no range
	}
	return unquoted(value), allowed
}

// unquoted is a value without the quotes that a message puts around it.
func unquoted(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
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
	return &Error{Path: append([]string{name}, e.Path...), Problem: e.Problem, Err: e.Err, Value: e.Value, Allowed: e.Allowed}
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
	return &Error{Path: path, Problem: e.Problem, Err: e.Err, Value: e.Value, Allowed: e.Allowed}
}

// Of returns err as an *Error, with an empty path if it is none.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) && e.Error() == err.Error() {
		return e
	}
	return &Error{Problem: err.Error(), Err: err}
}

// Line is text as a message has it: on one line, and without characters that a
// terminal may act on.
func Line(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// A Panic is what a panic was raised with, and the stack of the goroutine that raised it. It survives being raised
// again in another goroutine.
type Panic struct {
	Value any
	Stack string
}

// Caught returns the panic of what recover returned, nil for nil. It is called in the deferred function, while the
// stack is still there; a Panic is returned as it is.
func Caught(r any) *Panic {
	switch r := r.(type) {
	case nil:
		return nil
	case *Panic:
		return r
	}
	return &Panic{r, string(debug.Stack())}
}

// Error returns the value with the stack, which a program that nobody recovers prints.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }
