package print

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// This file prints tables and lists of facts: aligned columns, a block for each row where a terminal is too
// narrow for them, or Markdown or LaTeX. It assumes that the first line of a table is its
// header and that tabs stand between cells.

// A Page is where a command prints its text. Prose is left as it is in Markdown, and
// becomes comments in LaTeX.
type Page struct {
	W      io.Writer
	Style  string // "" for text, Markdown or LaTeX
	Digits int    // of intervals in tables; 0 leaves them
	inLine bool   // the last byte was not the end of a line
	table  bool   // the last that was printed is a table
	last   []byte // the last bytes of prose
}

// The styles of a page.
const (
	Markdown = "markdown"
	LaTeX    = "latex"
)

// Write implements io.Writer.
func (p *Page) Write(text []byte) (int, error) {
	var b bytes.Buffer
	if p.table && p.Style == Markdown && !bytes.HasPrefix(text, []byte("\n")) {
		b.WriteByte('\n') // a line right after a table is a row of it
	}
	p.table = p.table && len(text) == 0
	for line := range bytes.Lines(text) {
		if p.Style == LaTeX && !p.inLine && len(bytes.TrimSpace(line)) > 0 {
			b.WriteString("% ")
		}
		b.Write(line)
		p.inLine = line[len(line)-1] != '\n'
	}
	p.last = append(p.last, text...)
	p.last = p.last[max(0, len(p.last)-2):]
	if _, err := p.W.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// A Table collects lines with tabs between their cells, and prints them on Flush.
type Table struct {
	bytes.Buffer
	page  *Page
	pad   int
	flags uint // of package tabwriter
	width int  // of the terminal; 0 if what is wide does no harm
	bare  bool // text has no header
}

// NewTable returns a table that is printed to w, with at least pad blanks between columns.
func NewTable(w io.Writer, pad int, flags uint) *Table {
	p := pageOf(w)
	return &Table{page: p, pad: pad, flags: flags, width: widthOf(p.W)}
}

// pageOf returns w where it is a page, and else one of text.
func pageOf(w io.Writer) *Page {
	if p, ok := w.(*Page); ok {
		return p
	}
	return &Page{W: w}
}

// Headless prints the table as text without its header, whose names say what the lines
// make plain; Markdown, LaTeX and blocks have it.
func (t *Table) Headless() *Table {
	t.bare = true
	return t
}

// Facts are lines of a name and a value; in Markdown and LaTeX a table.
type Facts struct {
	page  *Page
	name  int // how wide names are
	lines [][2]string
}

// NewFacts returns an empty list whose names take so many columns in text, indents and the blanks before
// values included.
func NewFacts(w io.Writer, name int) *Facts { return &Facts{page: pageOf(w), name: name} }

// Add adds a line. A name that is empty goes on with the line before.
func (f *Facts) Add(name, format string, args ...any) {
	f.lines = append(f.lines, [2]string{name, fmt.Sprintf(format, args...)})
}

// Flush prints the lines.
func (f *Facts) Flush() {
	if f.page.Style != "" {
		t := NewTable(f.page, 0, 0)
		fmt.Fprint(t, "quantity\tvalue\n")
		for i, l := range f.lines {
			if l[0] == "" && i > 0 {
				t.Truncate(t.Len() - 1)
				fmt.Fprintf(t, " %s\n", l[1])
				continue
			}
			fmt.Fprintf(t, "%s\t%s\n", strings.TrimSuffix(strings.TrimSpace(l[0]), ":"), l[1])
		}
		t.Flush()
		return
	}
	var b strings.Builder
	for _, l := range f.lines {
		fmt.Fprintf(&b, "%-*s%s\n", f.name, l[0], l[1])
	}
	_, _ = io.WriteString(f.page, b.String())
}

// Flush prints the table.
func (t *Table) Flush() {
	p := t.page
	if p.Style != "" {
		t.styled()
		return
	}
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, t.pad, ' ', t.flags)
	text := t.Bytes()
	if t.bare {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	_, _ = tw.Write(text) // to memory
	_ = tw.Flush()
	widest := 0
	for line := range strings.Lines(b.String()) {
		widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, " \n")))
	}
	if t.width > 0 && widest > t.width {
		t.blocks()
		return
	}
	_, _ = p.Write(b.Bytes())
}

// Fewer returns how many digits an interval has in a table that is printed to w, where it would have so many.
func Fewer(w io.Writer, digits int) int {
	if p := pageOf(w); p.Digits > 0 {
		return min(digits, p.Digits)
	}
	return digits
}

// cells returns the rows, the header first, all of the same length.
func (t *Table) cells() [][]string {
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
func (t *Table) blocks() {
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
	_, _ = io.WriteString(t.page, b.String())
}

// styled prints the table as Markdown or LaTeX.
func (t *Table) styled() {
	p, rows := t.page, t.cells()
	if len(rows) == 0 {
		return
	}
	var b strings.Builder
	if p.Style == Markdown {
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
		fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n", strings.Repeat("l", len(rows[0])))
		for i, row := range rows {
			for j := range row {
				row[j] = latexText.Replace(row[j])
			}
			fmt.Fprintf(&b, "%s \\\\\n", strings.Join(row, " & "))
			if i == 0 && len(rows) > 1 {
				b.WriteString("\\midrule\n")
			}
		}
		b.WriteString("\\bottomrule\n\\end{tabular}\n")
	}
	p.table, p.last = true, nil
	_, _ = io.WriteString(p.W, b.String())
}

// latexText writes a cell in LaTeX that needs no package; the rules are of booktabs.
var latexText = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	"|", "$|$", "<", "$<$", ">", "$>$", "≤", `$\le$`, "≥", `$\ge$`, "≈", `$\approx$`, "∞", `$\infty$`, "−", "$-$", "–", "--", "…", `\ldots{}`, "·", `$\cdot$`, "×", `$\times$`,
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "η", `$\eta$`, "γ", `$\gamma$`, "μ", `$\mu$`, "ρ", `$\rho$`, "σ", `$\sigma$`,
)
