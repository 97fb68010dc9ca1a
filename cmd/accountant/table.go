package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// This file prints tables and lists of facts: aligned columns, a block for each row where a terminal is too
// narrow for them, or Markdown or LaTeX. It assumes that the first line of a table is its
// header and that tabs stand between cells.

// A styledPage is where a command prints its text. Prose is left as it is in Markdown, and
// becomes comments in LaTeX.
type styledPage struct {
	w      io.Writer
	style  string // "" for text, markdown or latex
	inLine bool   // the last byte was not the end of a line
	table  bool   // the last that was printed is a table
	last   []byte // the last bytes of prose in Markdown
}

// The styles of a page.
const (
	markdown = "markdown"
	latex    = "latex"
)

func (p *styledPage) Write(text []byte) (int, error) {
	var b bytes.Buffer
	if p.table && p.style == markdown && !bytes.HasPrefix(text, []byte("\n")) {
		b.WriteByte('\n') // a line right after a table is a row of it
	}
	p.table = p.table && len(text) == 0
	if p.style != latex {
		b.Write(text)
		p.last = append(p.last, text...)
		p.last = p.last[max(0, len(p.last)-2):]
		if _, err := p.w.Write(b.Bytes()); err != nil {
			return 0, err
		}
		return len(text), nil
	}
	for line := range bytes.Lines(text) {
		if !p.inLine && len(bytes.TrimSpace(line)) > 0 {
			b.WriteString("% ")
		}
		b.Write(line)
		p.inLine = line[len(line)-1] != '\n'
	}
	if _, err := p.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// A table collects lines with tabs between their cells, and prints them on Flush.
type table struct {
	bytes.Buffer
	w     io.Writer
	pad   int
	flags uint // of package tabwriter
	width int  // of the terminal; 0 if what is wide does no harm
	bare  bool // text has no header
}

// newTable returns a table that is printed to w, with at least pad blanks between columns.
func newTable(w io.Writer, pad int, flags uint) *table {
	t := &table{w: w, pad: pad, flags: flags}
	out := w
	if p, ok := w.(*styledPage); ok {
		out = p.w
	}
	t.width = widthOf(out)
	return t
}

// widthOf returns how wide a terminal is, by COLUMNS if that is set; 0 for what is no terminal.
func widthOf(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, _ := term.GetSize(int(fileOf(w).Fd()))
	return n
}

// headless prints the table as text without its header, whose names say what the lines
// make plain; Markdown, LaTeX and blocks have it.
func (t *table) headless() *table {
	t.bare = true
	return t
}

// facts are lines of a name and a value; in Markdown and LaTeX a table.
type facts struct {
	w     io.Writer
	name  int // how wide names are
	lines [][2]string
}

// newFacts returns an empty list whose names take so many columns in text, indents and the blanks before
// values included.
func newFacts(w io.Writer, name int) *facts { return &facts{w: w, name: name} }

// add adds a line. A name that is empty goes on with the line before.
func (f *facts) add(name, format string, args ...any) {
	f.lines = append(f.lines, [2]string{name, fmt.Sprintf(format, args...)})
}

// Flush prints the lines.
func (f *facts) Flush() error {
	if p, ok := f.w.(*styledPage); ok && p.style != "" {
		t := newTable(f.w, 0, 0)
		fmt.Fprint(t, "quantity\tvalue\n")
		for i, l := range f.lines {
			if l[0] == "" && i > 0 {
				t.Truncate(t.Len() - 1)
				fmt.Fprintf(t, " %s\n", l[1])
				continue
			}
			fmt.Fprintf(t, "%s\t%s\n", strings.TrimSuffix(strings.TrimSpace(l[0]), ":"), l[1])
		}
		return t.Flush()
	}
	var b strings.Builder
	for _, l := range f.lines {
		fmt.Fprintf(&b, "%-*s%s\n", f.name, l[0], l[1])
	}
	_, err := io.WriteString(f.w, b.String())
	return err
}

// Flush prints the table.
func (t *table) Flush() error {
	if p, ok := t.w.(*styledPage); ok && p.style != "" {
		return t.styled(p)
	}
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, t.pad, ' ', t.flags)
	text := t.Bytes()
	if t.bare {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	if _, err := tw.Write(text); err != nil {
		return err
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	widest := 0
	for line := range strings.Lines(b.String()) {
		widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, " \n")))
	}
	if t.width > 0 && widest > t.width {
		return t.blocks()
	}
	_, err := t.w.Write(b.Bytes())
	return err
}

// cells returns the rows, the header first, all of the same length.
func (t *table) cells() [][]string {
	var rows [][]string
	columns := 0
	for line := range strings.Lines(t.String()) {
		line = strings.TrimSuffix(line, "\n")
		if t.flags&tabwriter.AlignRight != 0 {
			line = strings.TrimSuffix(line, "\t") // there, a tab ends the last cell as well
		}
		row := strings.Split(line, "\t")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows, columns = append(rows, row), max(columns, len(row))
	}
	for i := range rows {
		rows[i] = append(rows[i], slices.Repeat([]string{""}, columns-len(rows[i]))...)
	}
	return rows
}

// blocks prints a line for each cell, with the name of its column.
func (t *table) blocks() error {
	rows := t.cells()
	var b strings.Builder
	for _, row := range rows[1:] {
		indent := "  "
		for i, cell := range row {
			if cell == "" {
				continue
			}
			if name := rows[0][i]; name != "" {
				cell = name + ": " + cell
			}
			fmt.Fprintf(&b, "%s%s\n", indent, cell)
			indent = "    "
		}
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// styled prints the table as Markdown or LaTeX.
func (t *table) styled(p *styledPage) error {
	rows := t.cells()
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	if p.style == markdown {
		// A table needs an empty line before it.
		if p.table || len(p.last) > 0 && string(p.last) != "\n\n" {
			b.WriteString("\n")
		}
		for i, row := range rows {
			for j := range row {
				row[j] = strings.ReplaceAll(row[j], "|", `\|`)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
			}
		}
	} else {
		fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\hline\n", strings.Repeat("l", len(rows[0])))
		for i, row := range rows {
			for j := range row {
				row[j] = latexText.Replace(row[j])
			}
			fmt.Fprintf(&b, "%s \\\\\n", strings.Join(row, " & "))
			if i == 0 || i == len(rows)-1 {
				b.WriteString("\\hline\n")
			}
		}
		b.WriteString("\\end{tabular}\n")
	}
	p.table, p.last = true, nil
	_, err := io.WriteString(p.w, b.String())
	return err
}

// latexText writes a cell in LaTeX that needs no package.
var latexText = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	"|", "$|$", "<", "$<$", ">", "$>$", "≤", `$\le$`, "≥", `$\ge$`, "≈", `$\approx$`, "∞", `$\infty$`, "−", "$-$", "–", "--", "…", `\ldots{}`, "·", `$\cdot$`, "×", `$\times$`,
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "η", `$\eta$`, "γ", `$\gamma$`, "μ", `$\mu$`, "ρ", `$\rho$`, "σ", `$\sigma$`,
)
