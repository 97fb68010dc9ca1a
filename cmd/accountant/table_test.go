package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/dpaccountant/accountant/cmd/service"
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

// A list of facts is aligned in text, and a table in Markdown and LaTeX, apart from the prose
// around it; its header is left out where the names say enough.
func TestFacts(t *testing.T) {
	print := func(style string) string {
		var b strings.Builder
		p := &styledPage{w: &b, style: style}
		fmt.Fprintln(p, "before:")
		f := newFacts(p, 9)
		f.add("  Rényi", "%d", 1)
		f.add("", "more")
		f.add("mode:", "x")
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(p, "after")
		tab := newTable(p, 3, 0).headless()
		fmt.Fprint(tab, "a wide name\tb\n1\t2\n")
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for style, want := range map[string]string{
		"":       "before:\n  Rényi  1\n         more\nmode:    x\nafter\n1   2\n",
		markdown: "before:\n\n| quantity | value |\n| --- | --- |\n| Rényi | 1 more |\n| mode | x |\n\nafter\n\n| a wide name | b |\n| --- | --- |\n| 1 | 2 |\n",
		latex: "% before:\n\\begin{tabular}{ll}\n\\hline\nquantity & value \\\\\n\\hline\nRényi & 1 more \\\\\nmode & x \\\\\n\\hline\n\\end{tabular}\n% after\n" +
			"\\begin{tabular}{ll}\n\\hline\na wide name & b \\\\\n\\hline\n1 & 2 \\\\\n\\hline\n\\end{tabular}\n",
	} {
		if got := print(style); got != want {
			t.Errorf("style %q:\n%s\nwant\n%s", style, got, want)
		}
	}
}

// failing is an output that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullOutput: an answer that could not be written is no success, whichever command wrote it.
func TestFullOutput(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte("neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}, count: 10}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"--help", "--version", "version", "help epsilon", "epsilon --help", "explain", "explain risk",
		"epsilon --delta 1e-5 " + plan, "calibrate --epsilon 2 --delta 0 --solve noise-multiplier " + plan,
		"majority --mechanisms 5 --epsilon 0.1 --allowance 3", "plan schema", "plan check " + plan, "risk " + plan,
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(line), strings.NewReader(""), failing{}, &stderr)
		if code != exitInput || stderr.String() != "accountant: no space left on device\n" {
			t.Errorf("%s: exit status %d, %s", line, code, stderr.String())
		}
	}
}

// TestCertifiedTitle: a column is headed certified where both ends of every row are proved, and the gap below a
// bound is told of where it is one.
func TestCertifiedTitle(t *testing.T) {
	inf := service.Number(math.Inf(1))
	for _, c := range []struct {
		lower, upper service.Number
		gap          bool
		title, note  bool
	}{
		{1, 2, true, true, true},
		{1, 2, false, true, false},
		{1, 1 + 1e-13, true, true, false},
		{1, 1 + 1e-11, true, true, true},
		{0, 0, true, true, false},
		{inf, inf, false, true, false},
		{2.7365, inf, false, false, false},
		{2.7365, inf, true, false, true},
	} {
		var b bytes.Buffer
		a := answer{"δ", "ε", 1e-5, service.Bounds{Lower: c.lower, Estimate: c.lower, Upper: c.upper}, service.Basis{TheoryGap: c.gap, Warnings: []string{"wide"}}}
		if err := printTable(&b, []answer{a}, false); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "certified") != c.title || strings.Contains(b.String(), "not bounded from above") == c.title || strings.Contains(b.String(), "two nothing is proved") != c.note {
			t.Errorf("[%v, %v], gap %v:\n%s", c.lower, c.upper, c.gap, b.String())
		}
	}
}
