package print

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
)

// The same table on a wide and on a narrow terminal, in Markdown and in LaTeX.
func TestTable(t *testing.T) {
	print := func(style string, width int) string {
		var b strings.Builder
		p := &Page{W: &b, Style: style}
		fmt.Fprint(p, "neighbors: ")
		fmt.Fprint(p, "add-remove\n\n")
		tab := NewTable(p, 3, 0)
		tab.width = width
		fmt.Fprintf(tab, "  δ\tcertified\t\n  1e-5\t1 ≤ ε\ta|b_c\n")
		tab.Flush()
		return b.String()
	}
	for _, c := range []struct {
		style string
		width int
		want  string
	}{
		{"", 0, "neighbors: add-remove\n\n  δ      certified   \n  1e-5   1 ≤ ε       a|b_c\n"},
		{"", 26, "neighbors: add-remove\n\n  δ      certified   \n  1e-5   1 ≤ ε       a|b_c\n"},
		{"", 25, "neighbors: add-remove\n\n  δ: 1e-5\n    certified: 1 ≤ ε\n    a|b_c\n"},
		{Markdown, 0, "neighbors: add-remove\n\n| δ | certified |  |\n| --- | --- | --- |\n| 1e-5 | 1 ≤ ε | a\\|b_c |\n"},
		{LaTeX, 0, "% neighbors: add-remove\n\n\\begin{tabular}{lll}\n\\toprule\n$\\delta$ & certified &  \\\\\n\\midrule\n1e-5 & 1 $\\le$ $\\varepsilon$ & a$|$b\\_c \\\\\n\\bottomrule\n\\end{tabular}\n"},
	} {
		if got := print(c.style, c.width); got != c.want {
			t.Errorf("style %q, width %d:\n%s\nwant\n%s", c.style, c.width, got, c.want)
		}
	}
}

// Intervals have fewer digits where a page says so, and never more.
func TestDigits(t *testing.T) {
	for _, c := range []struct{ page, digits, want int }{{3, 9, 3}, {9, 3, 3}, {0, 7, 7}} {
		if got := Fewer(&Page{Digits: c.page}, c.digits); got != c.want {
			t.Errorf("%d digits on a page of %d: %d", c.digits, c.page, got)
		}
	}
	if got := Fewer(&strings.Builder{}, 5); got != 5 {
		t.Errorf("%d digits where there is no page", got)
	}
}

// A line that ends in a tab has no empty last cell.
func TestTableAligned(t *testing.T) {
	var b strings.Builder
	tab := NewTable(&Page{W: &b, Style: Markdown}, 2, tabwriter.AlignRight)
	fmt.Fprint(tab, "law\truns\t\nx\t1\t\n")
	tab.Flush()
	if b.String() != "| law | runs |\n| --- | --- |\n| x | 1 |\n" {
		t.Errorf("%s", b.String())
	}
}

// A list of facts is aligned in text, and a table in Markdown and LaTeX, apart from the prose
// around it; its header is left out where the names say enough.
func TestFacts(t *testing.T) {
	print := func(style string) string {
		var b strings.Builder
		p := &Page{W: &b, Style: style}
		fmt.Fprintln(p, "before:")
		f := NewFacts(p, 9)
		f.Add("  Rényi", "%d", 1)
		f.Add("", "more")
		f.Add("mode:", "x")
		f.Flush()
		fmt.Fprintln(p, "after")
		tab := NewTable(p, 3, 0).Headless()
		fmt.Fprint(tab, "a wide name\tb\n1\t2\n")
		tab.Flush()
		return b.String()
	}
	for style, want := range map[string]string{
		"":       "before:\n  Rényi  1\n         more\nmode:    x\nafter\n1   2\n",
		Markdown: "before:\n\n| quantity | value |\n| --- | --- |\n| Rényi | 1 more |\n| mode | x |\n\nafter\n\n| a wide name | b |\n| --- | --- |\n| 1 | 2 |\n",
		LaTeX: "% before:\n\\begin{tabular}{ll}\n\\toprule\nquantity & value \\\\\n\\midrule\nRényi & 1 more \\\\\nmode & x \\\\\n\\bottomrule\n\\end{tabular}\n% after\n" +
			"\\begin{tabular}{ll}\n\\toprule\na wide name & b \\\\\n\\midrule\n1 & 2 \\\\\n\\bottomrule\n\\end{tabular}\n",
	} {
		if got := print(style); got != want {
			t.Errorf("style %q:\n%s\nwant\n%s", style, got, want)
		}
	}
}
