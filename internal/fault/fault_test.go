package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"

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
