package tables_test

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/tables"
)

// TestHeader: what is a header and what is a row is told by the cells alone.
func TestHeader(t *testing.T) {
	for line, want := range map[string]bool{
		"cat,dog": true, "class 0,class 1": true, "a,b": true, "_0,_1": true, "ε,δ": true, "answered": true, "score,member": true,
		"x,1": false, "1,x": false, "1e999": false, "3;1;0": false, "3_0": false, "NaN": false, "inf,-inf": false, "NA,na": false, "N/A": false, "None": false,
		"x": false, "l": false, "ab,ab": false, "a,": false, ",a": false, "": false, "-": false, "#": false, "½,⅓": false, "−3,−4": false, "true": false, "a\tb": false,
	} {
		if got := tables.IsHeader(strings.Split(line, ",")); got != want {
			t.Errorf("IsHeader(%q) = %v", line, got)
		}
	}
	if tables.IsHeader(nil) {
		t.Error("nothing is a header")
	}
}

// TestRows: rows as they are returned, with the numbers of their lines, up to the first error.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		text     string
		columns  int
		comments bool
		want     [][]string
		line     int
		err      string
	}{
		{text: "a,b\n1, 2 \n", want: [][]string{{"a", "b"}, {"1", "2"}}, line: 2},
		{text: "\ufeffa\r\n\r\n \t\n1\r\n", want: [][]string{{"a"}, {"1"}}, line: 4},
		{text: "a\n\ufeff1\n", want: [][]string{{"a"}, {"\ufeff1"}}, line: 2},
		{text: "#a\n1", want: [][]string{{"#a"}, {"1"}}, line: 2},
		{text: "#a\n 1 # 2", comments: true, want: [][]string{{"1 # 2"}}, line: 2},
		{text: "\"a, b\", \"c\"\"d\"\n", want: [][]string{{"a, b", "c\"d"}}, line: 1},
		{text: "1,2\n3\n", columns: 2, want: [][]string{{"1", "2"}}, line: 2, err: "wrong number of fields"},
		{text: "1\n\"2\n3\"\n", want: [][]string{{"1"}}, line: 2, err: "column 3: extraneous or missing \" in quoted-field"},
		{text: "1\n2\"\n", want: [][]string{{"1"}}, line: 2, err: "column 2: bare \" in non-quoted-field"},
		{text: "", line: 0},
	} {
		in := tables.NewReader(strings.NewReader(c.text))
		in.Columns, in.Comments = c.columns, c.comments
		var rows [][]string
		var err error
		for {
			var row []string
			if row, err = in.Row(); err != nil {
				break
			}
			rows = append(rows, row)
		}
		got := ""
		if err != io.EOF {
			got = err.Error()
		}
		if !reflect.DeepEqual(rows, c.want) || in.Line() != c.line || got != c.err {
			t.Errorf("%q: %q to line %d, error %q; want %q, %d, %q", c.text, rows, in.Line(), got, c.want, c.line, c.err)
		}
	}
}
