package plots

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

// The format of a picture is the ending of its file.
func TestSave(t *testing.T) {
	size := figure.Size{Width: 5 * vg.Centimeter, Height: 5 * vg.Centimeter}
	file := filepath.Join(t.TempDir(), "a.svg")
	Save(file, size, []figure.Picture{{Title: "a title"}})
	if data, err := os.ReadFile(file); err != nil || !bytes.Contains(data, []byte("<title>a title</title>")) {
		t.Errorf("%v: %s", err, data)
	}
	if err := try.Run(func() { Save(file+".strange", size, []figure.Picture{{}}) }); err == nil {
		t.Error("a strange format is written")
	}
}

func TestNumbers(t *testing.T) {
	got := Numbers("ε", "δ", 3, []figure.Band{{Name: "a, b", X: []float64{1}, Proved: []float64{1. / 3}}, {Name: "c", X: []float64{2}, Proved: []float64{1e-30}}})
	if want := "curve,ε,δ\n\"a, b\",1,0.333\nc,2,1e-30\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
