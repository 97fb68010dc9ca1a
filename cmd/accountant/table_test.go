package main

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
		p := &styledPage{w: &b, style: style}
		fmt.Fprint(p, "neighbors: ")
		fmt.Fprint(p, "add-remove\n\n")
		tab := newTable(p, 3, 0)
		tab.width = width
		fmt.Fprintf(tab, "  δ\tcertified\t\n  1e-5\t1 ≤ ε\ta|b_c\n")
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
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
		{markdown, 0, "neighbors: add-remove\n\n| δ | certified |  |\n| --- | --- | --- |\n| 1e-5 | 1 ≤ ε | a\\|b_c |\n"},
		{latex, 0, "% neighbors: add-remove\n\n\\begin{tabular}{lll}\n\\hline\n$\\delta$ & certified &  \\\\\n\\hline\n1e-5 & 1 $\\le$ $\\varepsilon$ & a$|$b\\_c \\\\\n\\hline\n\\end{tabular}\n"},
	} {
		if got := print(c.style, c.width); got != c.want {
			t.Errorf("style %q, width %d:\n%s\nwant\n%s", c.style, c.width, got, c.want)
		}
	}
}

// A line that ends in a tab has no empty last cell.
func TestTableAligned(t *testing.T) {
	var b strings.Builder
	tab := newTable(&styledPage{w: &b, style: markdown}, 2, tabwriter.AlignRight)
	fmt.Fprint(tab, "law\truns\t\nx\t1\t\n")
	if err := tab.Flush(); err != nil || b.String() != "| law | runs |\n| --- | --- |\n| x | 1 |\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
}
