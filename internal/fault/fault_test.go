package fault

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestError(t *testing.T) {
	inner := New("rate", "%v is not in [0, 1]: %w", 2, io.EOF)
	for _, c := range []struct {
		err  error
		want string
		path []string
	}{
		{inner, "rate: 2 is not in [0, 1]: EOF", []string{"rate"}},
		{In("poisson", inner), "poisson: rate: 2 is not in [0, 1]: EOF", []string{"poisson", "rate"}},
		{In("file", io.EOF), "file: EOF", []string{"file"}},
		// Text around an Error is part of the problem: no name gets lost.
		{In("file", fmt.Errorf("line 3: %w", inner)), "file: line 3: rate: 2 is not in [0, 1]: EOF", []string{"file"}},
		{Rename(In("poisson", inner), func(s string) string {
			return map[string]string{"rate": "--sampling-rate"}[s]
		}), "--sampling-rate: 2 is not in [0, 1]: EOF", []string{"--sampling-rate"}},
		{Rename(io.EOF, func(string) string { return "x" }), "EOF", nil},
	} {
		if c.err.Error() != c.want {
			t.Errorf("error %q, want %q", c.err, c.want)
		}
		if !errors.Is(c.err, io.EOF) {
			t.Errorf("%q does not wrap what it is made of", c.err)
		}
		if got := Of(c.err).Path; !cmp.Equal(got, c.path) {
			t.Errorf("path of %q: %q, want %q", c.err, got, c.path)
		}
	}
	if In("x", nil) != nil {
		t.Error("In of no error is one")
	}
	if got := Of(inner).Field(); got != "rate" {
		t.Errorf("field %q", got)
	}
	if got := Of(io.EOF).Field(); got != "" {
		t.Errorf("field %q", got)
	}
}

// TestParts: a problem of the form "VALUE is not ALLOWED" has both apart, wherever it is handed on;
// one of another form, or a value that reads as such a text, has not.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		err            error
		value, allowed string
	}{
		{New("delta", "%v is not in [%d, %d)", 2, 0, 1), "2", "[0, 1)"},
		{New("n", "%s is not a whole number in [%d, %d]", "x", 1, 9), "x", "a whole number in [1, 9]"},
		{New("kind", "%q is not one of a, b; did you mean %q?", "c", "a"), "c", "one of a, b"},
		{New("delta", "is missing; must be in %v", "(0, 1)"), "", "(0, 1)"},
		{NotOneOf("kind", `"c"`, "a or b", "; did you mean a?"), "c", "a or b"},
		{New("ledger", "%q is not open", "x"), "", ""},
		{New("a", "%s", "1 is not in [0, 1]"), "", ""},
		{New("a", "%d values are more than %d", 3, 2), "", ""},
		{New("a", "%d of %d is not a number of any kind", 3, 2), "", ""},
	} {
		for _, err := range []error{c.err, In("outer", c.err), Rename(c.err, func(n string) string { return "--" + n })} {
			if f := Of(err); f.Value != c.value || f.Allowed != c.allowed {
				t.Errorf("%v: %q, %q", err, f.Value, f.Allowed)
			}
		}
	}
}

// TestLongTexts: whatever somebody sends, an error does not repeat all of it.
func TestLongTexts(t *testing.T) {
	type mode string
	long := strings.Repeat("größer", 200_000)
	for _, err := range []error{
		New("mode", "%q is not one of a, b", long),
		New("mode", "%q is not one of a, b", mode(long)),
		New("mode", "is %s", long),
		New(long, "is missing"),
		NotOneOf("mode", strconv.Quote(long), "one of a, b", ""),
	} {
		var e *Error
		if !errors.As(err, &e) || len(err.Error()) > 300 || len(e.Value) > 300 || !utf8.ValidString(err.Error()) || !strings.Contains(err.Error(), "grö") {
			t.Errorf("%.300s", err)
		}
	}
}
