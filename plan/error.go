package plan

// What is wrong with a plan, and where: line and path beside the field and its problem.

import (
	"fmt"
	"strings"
)

// An Error is what is wrong with a plan, and where. It wraps what a constructor had
// against a value, an accountant.FieldError, if one had.
type Error struct {
	Line    int    // 1 is the first; 0 if the problem has no line
	Field   string // such as steps[0].mechanism.gaussian.noise-multiplier; "" for the whole plan
	Problem string
	err     error
}

// Error returns "line 4: steps[0].count: 0 is not …", on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Message())
	return b.String()
}

// Message returns the error without its line.
func (e *Error) Message() string {
	if e.Field == "" {
		return "plan: " + e.Problem
	}
	return e.Field + ": " + e.Problem
}

// Unwrap returns what a constructor had against the value, or nil.
func (e *Error) Unwrap() error { return e.err }
