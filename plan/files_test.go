package plan

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestInline: rows take the place of the file, on its line, in YAML and in JSON.
func TestInline(t *testing.T) {
	open := func(name string) (io.ReadCloser, error) {
		switch name {
		case "c.csv":
			return io.NopCloser(strings.NewReader("1,0\n0.1,2e-3\n")), nil
		case "c.json":
			return io.NopCloser(strings.NewReader(" {\"toeplitz\": {\"coefficients\": [1, 0.5]}}\n")), nil
		case "blt.csv":
			return io.NopCloser(strings.NewReader("scales,0.25\ndecays,0.5\n")), nil
		case "bad.json":
			return io.NopCloser(strings.NewReader("{}")), nil
		case "bad.csv":
			return io.NopCloser(strings.NewReader("1\nx,2\n")), nil
		}
		return nil, errors.New("no such file")
	}
	const rows = "[[1],[0.1,0.002]]"
	for _, c := range []struct{ text, want, problem string }{
		{"file: c.csv", "", ""}, // no plan: left to Parse
		{"a: {banded: {file: c.csv}} # file: c.csv", "a: {banded: {rows: " + rows + "}} # file: c.csv", ""},
		{"a:\n  banded:\n    file: \"c.csv\" # text\nb: 1", "a:\n  banded:\n    rows: " + rows + " # text\nb: 1", ""},
		{`{"a": [{"banded": {"file": "c.csv"}}]}`, `{"a": [{"banded": {"rows": ` + rows + `}}]}`, ""},
		{"a: {file: c.csv}", "", ""}, // not a matrix
		{"strategy: {file: c.json}", `strategy: {toeplitz: {"coefficients":[1,0.5]}}`, ""},
		{"strategy: {file: c.csv}", `strategy: {banded: {"rows":[[1],[0.1,0.002]]}}`, ""},
		{"strategy:\n  file: blt.csv", "strategy:\n  blt: {\"scales\":[0.25],\"decays\":[0.5]}", ""},
		{`{"strategy": {"file": "blt.csv"}}`, `{"strategy": {"blt": {"scales":[0.25],"decays":[0.5]}}}`, ""},
		{"strategy: {file: bad.json}", "", "line 1: strategy.file: line 1: strategy: is empty; must name one of square-root, toeplitz, blt, tree, banded"},
		{"a: {banded: {file: d.csv}}", "", "line 1: a.banded.file: no such file"},
		{"a: 1\nb: {banded: {file: bad.csv}}", "", `line 2: b.banded.file: rows[1]: "x" in column 0 is not a number`},
		{"a:\n  banded:\n    file:\n      c.csv", "", "line 4: a.banded.file: must be a name on the line of its key"},
		{"a: {banded: {file: [1]}}", "", "line 1: a.banded.file: a list is not text"},
	} {
		got, err := Inline([]byte(c.text), open)
		switch {
		case c.problem != "":
			if err == nil || err.Error() != c.problem {
				t.Errorf("%q: %v, want %s", c.text, err, c.problem)
			}
		case err != nil:
			t.Errorf("%q: %v", c.text, err)
		default:
			want := c.want
			if want == "" {
				want = c.text
			}
			if string(got) != want {
				t.Errorf("%q: %q, want %q", c.text, got, want)
			}
		}
	}
	// Parse itself reads no files.
	_, err := Parse(t.Context(), []byte(matrixHead+"        strategy: {banded: {file: c.csv}}\n        participation: {single: true}\n"))
	if err == nil || err.Error() != "line 7: steps[0].mechanism.matrix.strategy.banded.file: is not read here; list the rows instead" {
		t.Error(err)
	}
}
