package plots

import (
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/lab/try"
)

// TestShort: tables of more than five rows become files under the names of page and heading; others stay.
func TestShort(t *testing.T) {
	row := func(n int) string { return strings.Repeat("| a \\| b | **1** |\n", n) }
	table := func(n int) string { return "| x | y |\n|---|---|\n" + row(n-1) + "| | 2 |\n" }
	page := "# Page\n\n" + table(5) + "\n## Table 3: a long one (n = 10)\n\n" + table(6) + "\n" + table(7) + "end\n"
	text, files := Short([]byte(page), "must")
	want := "# Page\n\n" + table(5) + "\n## Table 3: a long one (n = 10)\n\nTable: [6 rows](must-table-3-a-long-table.csv).\n\nTable: [7 rows](must-table-3-a-long-table2.csv).\nend\n"
	if string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if got, want := string(files["must-table-3-a-long-table.csv"]), "x,y\n"+strings.Repeat("a | b,1\n", 5)+"a | b,2\n"; len(files) != 2 || got != want {
		t.Errorf("%d files, %q, want %q", len(files), got, want)
	}
}

// TestPage: a page has its values and the rows that were added, and a value that it lacks is an error by its name.
func TestPage(t *testing.T) {
	v := Values{"n": 3}
	v.Add("rows", "| %d |\n", 1)
	v.Add("rows", "| %.1f %% |\n", 2.)
	const text = "{{.n}} of\n{{.rows}}"
	if got, want := string(v.Page(text)), "3 of\n| 1 |\n| 2.0 % |\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := try.Run(func() { v.Page(text + "{{.forgotten}}") }); err == nil || !strings.Contains(err.Error(), "forgotten") {
		t.Errorf("a value that is not there: %v", err)
	}
}
