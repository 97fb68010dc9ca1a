package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/decimal"
)

// An output is the form that a command prints in: text, unless another is asked for. The
// root refuses two at once.
type output struct {
	json, csv, markdown, latex bool
	digits                     int // of the ends of intervals in tables; 0 for as many as tell them apart
}

// forms are the flags of the forms.
var forms = []string{"json", "csv", "markdown", "latex"}

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print CSV")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print tables as Markdown")
	cmd.Flags().BoolVar(&o.latex, "latex", false, "print tables as LaTeX, with the rules of booktabs")
	cmd.Flags().IntVar(&o.digits, "digits", 0, "print the ends of intervals in tables with this `number` of digits, rounded outward (default: as many as tell them apart)")
}

// print writes v as JSON or CSV, or else calls text with a styledPage. It returns the first error of writing,
// which text need not look at.
func (o *output) print(w io.Writer, v any, text func(io.Writer)) error {
	out := &checked{Writer: w}
	switch {
	case o.json:
		return printJSON(w, v)
	case o.csv:
		return printCSV(w, v)
	case o.markdown:
		text(&styledPage{w: out, style: markdown, digits: o.digits})
	case o.latex:
		text(&styledPage{w: out, style: latex, digits: o.digits})
	case o.digits > 0:
		text(&styledPage{w: out, digits: o.digits})
	default:
		text(out)
	}
	return out.err
}

// A csvTable is what CSV is written from.
type csvTable struct {
	columns []string
	rows    [][]string
}

// printCSV writes v, the value that --json prints, as CSV with a header. Lists of
// objects make the rows, and what stands next to such a list is repeated in each
// of its rows; keys inside one another are joined by a dash. Numbers are as in
// JSON. The columns come from the type of v, not from which values are there.
func printCSV(w io.Writer, v any) error {
	v = rowsOf(v)
	t, ok := v.(csvTable)
	if !ok {
		var err error
		if t, err = flatten(v); err != nil {
			return err
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(t.columns); err != nil {
		return err
	}
	if err := out.WriteAll(t.rows); err != nil {
		return err
	}
	return out.Error()
}

// A csvRow holds cells by column.
type csvRow map[string]string

func (r csvRow) with(other csvRow) csvRow {
	out := csvRow{}
	for _, from := range []csvRow{r, other} {
		for k, v := range from {
			out[k] = v
		}
	}
	return out
}

// flatten makes a table of a value that can be JSON.
func flatten(v any) (csvTable, error) {
	f := flattener{paths: map[string]string{}}
	base, rows, err := f.walk(reflect.ValueOf(v), nil, nil, true)
	if err != nil {
		return csvTable{}, err
	}
	if len(rows) == 0 && len(base) > 0 {
		rows = []csvRow{{}}
	}
	t := csvTable{columns: f.columns}
	for _, r := range rows {
		r = base.with(r)
		line := make([]string, len(f.columns))
		for i, c := range f.columns {
			line[i] = r[c]
		}
		t.rows = append(t.rows, line)
	}
	return t, nil
}

type flattener struct {
	columns []string
	paths   map[string]string // of each column: where it is in the value
}

// column names the column of a path. Lists leave no trace in the name, unless it
// is another's already.
func (f *flattener) column(path, list []string) string {
	where := strings.Join(path, ".")
	name := strings.Join(path[len(list):], "-")
	if old, ok := f.paths[name]; ok && old != where {
		name = strings.Join(path, "-")
	}
	for f.paths[name] != "" && f.paths[name] != where {
		name += "_"
	}
	if _, ok := f.paths[name]; !ok {
		f.paths[name] = where
		f.columns = append(f.columns, name)
	}
	return name
}

// walk returns the cells of v and the rows of the lists in it. list is the part
// of path that leads to the innermost list. A value that is not there still has
// its columns.
func (f *flattener) walk(v reflect.Value, path, list []string, there bool) (base csvRow, rows []csvRow, err error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			if v.Kind() == reflect.Interface {
				return nil, nil, nil
			}
			v, there = reflect.Zero(v.Type().Elem()), false
			continue
		}
		v = v.Elem()
	}
	scalar := v.Type().Implements(reflect.TypeFor[json.Marshaler]())
	switch {
	case scalar:
	case v.Kind() == reflect.Struct:
		return f.walkStruct(v, path, list, there)
	case v.Kind() == reflect.Map:
		base = csvRow{}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			b, more, err := f.walk(v.MapIndex(k), extend(path, k.String()), list, there)
			if err != nil {
				return nil, nil, err
			}
			base, rows = base.with(b), append(rows, more...)
		}
		return base, rows, nil
	case isList(v.Type()):
		return f.walkList(v, path)
	}
	text := ""
	if there {
		if text, err = cellText(v, scalar); err != nil {
			return nil, nil, err
		}
	}
	return csvRow{f.column(path, list): text}, nil, nil
}

func (f *flattener) walkStruct(v reflect.Value, path, list []string, there bool) (base csvRow, rows []csvRow, err error) {
	base = csvRow{}
	// Lists last: what is repeated in each of their rows comes first.
	var order, lists []int
	for i := range v.NumField() {
		if t := v.Type().Field(i).Type; isList(t) {
			lists = append(lists, i)
		} else {
			order = append(order, i)
		}
	}
	for _, i := range append(order, lists...) {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Tag.Get("csv") == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		at := path
		if !field.Anonymous || name != "" {
			if name == "" {
				name = field.Name
			}
			at = extend(path, name)
		}
		x := v.Field(i)
		// What JSON leaves out is an empty cell; false is worth saying.
		absent := strings.Contains(options, "omitempty") && x.IsZero() && x.Kind() != reflect.Bool
		b, more, err := f.walk(x, at, list, there && !absent)
		if err != nil {
			return nil, nil, err
		}
		base, rows = base.with(b), append(rows, more...)
	}
	return base, rows, nil
}

func (f *flattener) walkList(v reflect.Value, path []string) (base csvRow, rows []csvRow, err error) {
	if v.Len() == 0 && element(v.Type()) == reflect.Struct {
		_, _, err := f.walk(reflect.Zero(v.Type().Elem()), path, path, false)
		return nil, nil, err
	}
	for i := range v.Len() {
		b, inner, err := f.walk(v.Index(i), path, path, true)
		if err != nil {
			return nil, nil, err
		}
		if len(inner) == 0 {
			inner = []csvRow{{}}
		}
		for _, r := range inner {
			rows = append(rows, b.with(r))
		}
	}
	return nil, rows, nil
}

func extend(path []string, name string) []string { return append(slices.Clone(path), name) }

// isList reports whether values of the type have objects as elements.
func isList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return false
	}
	k := element(t)
	return k == reflect.Struct || k == reflect.Interface
}

// element is the kind that the elements of a list have.
func element(t reflect.Type) reflect.Kind {
	t = t.Elem()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return reflect.String
	}
	return t.Kind()
}

// cellText writes a scalar as JSON does, without quotes; a list of numbers with
// spaces, one of texts with semicolons.
func cellText(v reflect.Value, scalar bool) (string, error) {
	if !scalar && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) {
		separator := " "
		if element(v.Type()) == reflect.String && v.Type().Elem().Kind() == reflect.String {
			separator = "; "
		}
		var parts []string
		for i := range v.Len() {
			text, err := cellText(v.Index(i), false)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, separator), nil
	}
	data, err := json.Marshal(v.Interface())
	if err != nil || len(data) == 0 || data[0] != '"' {
		return string(data), err
	}
	var text string
	err = json.Unmarshal(data, &text)
	return text, err
}

// printJSON writes v as the service does, with indents and an end of line.
func printJSON(w io.Writer, v any) error {
	data, err := service.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// This file prints tables and lists of facts: aligned columns, a block for each row where a terminal is too
// narrow for them, or Markdown or LaTeX. It assumes that the first line of a table is its
// header and that tabs stand between cells.

// A styledPage is where a command prints its text. Prose is left as it is in Markdown, and
// becomes comments in LaTeX.
type styledPage struct {
	w      io.Writer
	style  string // "" for text, markdown or latex
	digits int    // of intervals in tables; 0 leaves them
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
func (f *facts) Flush() {
	if p, ok := f.w.(*styledPage); ok {
		for i := range f.lines {
			f.lines[i][1] = fewer(f.lines[i][1], p.digits)
		}
	}
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
		t.Flush()
		return
	}
	var b strings.Builder
	for _, l := range f.lines {
		fmt.Fprintf(&b, "%-*s%s\n", f.name, l[0], l[1])
	}
	_, _ = io.WriteString(f.w, b.String())
}

// Flush prints the table.
func (t *table) Flush() {
	if p, ok := t.w.(*styledPage); ok && p.digits > 0 {
		lines := strings.SplitAfter(t.String(), "\n")
		at := slices.Index(strings.Split(strings.TrimSpace(lines[0]), "\t"), "estimate")
		t.Reset()
		for _, line := range lines {
			cells := strings.Split(fewer(line, p.digits), "\t")
			if at >= 0 && at < len(cells) {
				if x, err := strconv.ParseFloat(cells[at], 64); err == nil {
					cells[at] = rounded(x, p.digits, near)
				}
			}
			t.WriteString(strings.Join(cells, "\t"))
		}
	}
	if p, ok := t.w.(*styledPage); ok && p.style != "" {
		t.styled(p)
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
	_, _ = t.w.Write(b.Bytes())
}

// anInterval is how intervals stand in tables: a number, what it bounds, and a number.
var anInterval = regexp.MustCompile(`([-+.\de]*\d)( ≤ [^ \t\n\d]+ ≤ |, )([-+.\de]*\d)`)

// fewer writes the intervals of a text with fewer digits, 0 for all, rounded outward.
func fewer(text string, digits int) string {
	if digits == 0 {
		return text
	}
	return anInterval.ReplaceAllStringFunc(text, func(s string) string {
		part := anInterval.FindStringSubmatch(s)
		return outward(part[1], digits, down) + part[2] + outward(part[3], digits, up)
	})
}

// outward writes a number with fewer digits, in a direction. It stays as it is where a float64 is not exact enough to tell.
func outward(number string, digits int, dir decimal.Direction) string {
	x, err := strconv.ParseFloat(number, 64)
	exact, ok := new(big.Rat).SetString(number)
	if err != nil || !ok {
		return number
	}
	short := rounded(x, digits, dir)
	if y, ok := new(big.Rat).SetString(short); !ok || y.Cmp(exact)*int(dir) < 0 {
		return number
	}
	return short
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
func (t *table) blocks() {
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
	_, _ = io.WriteString(t.w, b.String())
}

// styled prints the table as Markdown or LaTeX.
func (t *table) styled(p *styledPage) {
	rows := t.cells()
	if len(rows) == 0 {
		return
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
	_, _ = io.WriteString(p.w, b.String())
}

// latexText writes a cell in LaTeX that needs no package; the rules are of booktabs.
var latexText = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	"|", "$|$", "<", "$<$", ">", "$>$", "≤", `$\le$`, "≥", `$\ge$`, "≈", `$\approx$`, "∞", `$\infty$`, "−", "$-$", "–", "--", "…", `\ldots{}`, "·", `$\cdot$`, "×", `$\times$`,
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "η", `$\eta$`, "γ", `$\gamma$`, "μ", `$\mu$`, "ρ", `$\rho$`, "σ", `$\sigma$`,
)

// What follows has the rows of CSV, for answers that suit it better in another order than
// that of their JSON.

// rowsOf returns the rows of an answer, or v itself.
func rowsOf(v any) any {
	switch v := v.(type) {
	case list:
		all := v.All()
		for i := range all {
			all[i] = rowsOf(all[i])
		}
		return all
	case service.EpsilonAnswer: // a row for each δ; what matrices are made of is no column
		return struct {
			Neighbors string              `json:"neighbors"`
			Results   []service.EpsilonAt `json:"results"`
		}{v.Neighbors, v.Results}
	case service.DeltaAnswer:
		return struct {
			Neighbors string            `json:"neighbors"`
			Results   []service.DeltaAt `json:"results"`
		}{v.Neighbors, v.Results}
	case service.DPSGDAnswer:
		return dpsgdRows(v)
	case service.ShuffleAnswer:
		return v.Results
	case service.RiskAnswer:
		return riskRows(v)
	case service.Curves:
		return curveRows(v)
	case *service.MajorityAnswer:
		return majorityRows(v)
	case service.PateAnswer:
		return pateRows(v)
	case *service.LabelAnswer:
		return labelRows(v)
	}
	return v
}

// dpsgdRows has a row for each δ, and another for the same run in any order.
func dpsgdRows(d service.DPSGDAnswer) any {
	type row struct {
		service.DPSGDRun
		Sampling string `json:"sampling"`
		service.EpsilonAt
	}
	var rows []row
	for _, e := range d.Results {
		rows = append(rows, row{d.DPSGDRun, d.Batching, e})
	}
	for _, e := range d.AnyOrder.Results {
		rows = append(rows, row{d.DPSGDRun, "any-order", e})
	}
	return rows
}

// riskRows has a row for each measure, and at says of which rate or prior.
func riskRows(r service.RiskAnswer) any {
	type row struct {
		Neighbors string          `json:"neighbors"`
		Measure   string          `json:"measure"`
		At        *service.Number `json:"at"`
		service.RiskValue
		TheoryGap bool `json:"theory-gap"`
	}
	rows := []row{{r.Neighbors, "advantage", nil, r.Advantage, r.TheoryGap}}
	for _, v := range r.TruePositive {
		rows = append(rows, row{r.Neighbors, "true-positive-rate", &v.FalsePositive, v.RiskValue, r.TheoryGap})
	}
	for _, v := range r.Bayes {
		rows = append(rows, row{r.Neighbors, "bayes-success", &v.Prior, v.RiskValue, r.TheoryGap})
	}
	return rows
}

// curveRows has one row for each point, its columns named after the axes.
func curveRows(c service.Curves) any {
	t := csvTable{columns: []string{"plan", "neighbors", c.X, c.Y + "-lower", c.Y + "-estimate", c.Y + "-upper", "worst-direction"}}
	rdp := false
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			rdp = rdp || p.RDP != nil
		}
	}
	if rdp {
		t.columns = append(t.columns, "rdp-upper", "rdp-classic-upper")
	}
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			row := []string{curve.Plan, curve.Neighbors, p.X.String(), p.Lower.String(), p.Estimate.String(), p.Upper.String(), p.WorstDirection}
			switch {
			case p.RDP != nil:
				row = append(row, p.RDP.Upper.String(), p.RDP.ClassicUpper.String())
			case rdp:
				row = append(row, "", "")
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// majorityRows has a row for each number of votes.
func majorityRows(a *service.MajorityAnswer) any {
	type row struct {
		Votes int     `json:"votes"`
		Gamma float64 `json:"gamma"`
	}
	var t struct {
		Objective float64            `json:"objective"`
		MaxF      float64            `json:"max-f"`
		BudgetF   float64            `json:"budget-f"`
		Certified bool               `json:"certified"`
		Error     map[string]float64 `json:"error"`
		Rows      []row
	}
	t.Objective, t.MaxF, t.BudgetF, t.Certified, t.Error = a.Objective, a.MaxF, a.BudgetF, a.Certified, a.Error
	for votes, gamma := range a.Gamma {
		t.Rows = append(t.Rows, row{votes, gamma})
	}
	return t
}

// pateRows has a row for each Rényi order.
func pateRows(a service.PateAnswer) any {
	type row struct {
		Delta       float64 `json:"delta"`
		Report      string  `json:"report"`
		Bound       bool    `json:"bound"`
		Epsilon     float64 `json:"epsilon"`
		Order       float64 `json:"order"`
		Independent float64 `json:"data-independent-epsilon"`
		Answered    float64 `json:"answered"`
		At          float64 `json:"rdp-order"`
		RDP         float64 `json:"rdp"`
		Threshold   float64 `json:"threshold-rdp"`
		Answer      float64 `json:"answer-rdp"`
		Guarantee   string  `json:"guarantee"`
	}
	rows := make([]row, len(a.Orders))
	for i, order := range a.Orders {
		rows[i] = row{a.Delta, a.Report, a.Bound, a.Epsilon, a.Order, a.Independent, a.Answered, order, a.RDP[i], a.Threshold[i], a.Answer[i], a.Guarantee}
	}
	return rows
}

// labelRows has a row for each label and output: the law itself.
func labelRows(a *service.LabelAnswer) any {
	type row struct {
		Epsilon     float64 `json:"epsilon"`
		Label       float64 `json:"label"`
		Prior       float64 `json:"prior"`
		Output      float64 `json:"output"`
		Probability float64 `json:"probability"`
	}
	rows := []row{}
	for i, label := range a.Labels {
		for j, output := range a.Outputs {
			rows = append(rows, row{a.Epsilon, label, a.Prior[i], output, a.Probabilities[i][j]})
		}
	}
	return rows
}

// What follows prints the tables of certified intervals.

// An answer is an interval for ε at a δ, or for δ at an ε.
type answer struct {
	asked, told string // "δ" and "ε", or "ε" and "δ"
	at          service.Number
	service.Bounds
	service.Basis
}

func epsilonAnswers(results []service.EpsilonAt) (answers []answer) {
	for _, r := range results {
		answers = append(answers, answer{"δ", "ε", r.Delta, r.Epsilon, r.Basis})
	}
	return answers
}

func deltaAnswers(results []service.DeltaAt) (answers []answer) {
	for _, r := range results {
		answers = append(answers, answer{"ε", "δ", r.Epsilon, r.Delta, r.Basis})
	}
	return answers
}

// warn prints the warnings of all answers.
func warn(w io.Writer, answers []answer) {
	var texts []string
	for _, a := range answers {
		for _, text := range a.Warnings {
			texts = append(texts, fmt.Sprintf("at %s = %s: %s", a.asked, short(a.at), text))
		}
	}
	warnAll(w, texts)
}

// warnAll prints warnings, the first of those that differ in the width of an interval alone.
func warnAll(w io.Writer, texts []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if reason := fourier.Reason(text); !seen[reason] {
			seen[reason] = true
			fmt.Fprintf(w, "%s%s\n", warning(w), oneLine(text))
		}
	}
}

// gapSeen is the part of an upper end below which a gap in theory is not told of: the finest accuracy that can be
// asked for.
const gapSeen = 1e-12

// gapNote says what the ends of an interval mean where theory leaves a gap.
const gapNote = `
The upper end is proved; the lower end is what known attacks reach. Between the
two nothing is proved.
`

// noteGap prints gapNote, and which steps the attacks of an answer leave out.
func noteGap(w io.Writer, a answer) {
	fmt.Fprint(w, gapNote)
	if len(a.Unattacked) > 0 {
		fmt.Fprintf(w, "%s: no attack is known here, so that its runs count as nothing in the lower end.\n", strings.Join(a.Unattacked, ", "))
	}
	if len(a.Apart) > 0 {
		fmt.Fprintf(w, "%s: in a plan without other steps that choose, better attacks may be known than the one used here.\n", strings.Join(a.Apart, ", "))
	}
}

// titleOf returns what stands above intervals, or behind one: that both ends are proved, or that one has no upper end.
func titleOf(all ...service.Bounds) string {
	for _, b := range all {
		if math.IsInf(float64(b.Upper), 1) && !math.IsInf(float64(b.Lower), 1) {
			return "not bounded from above"
		}
	}
	return "certified"
}

// printTable prints one line for each answer, and what each width is made of.
func printTable(w io.Writer, answers []answer, verbose bool) {
	tw := newTable(w, 3, 0)
	gap := -1
	var all []service.Bounds
	for _, a := range answers {
		all = append(all, a.Bounds)
	}
	for i, a := range answers {
		if i == 0 {
			fmt.Fprintf(tw, "  %s\t%s\testimate\tworst direction\n", a.asked, titleOf(all...))
		}
		d := digitsFor(a.Bounds)
		certified := fmt.Sprintf("%s ≤ %s ≤ %s", rounded(a.Lower, d, down), a.told, rounded(a.Upper, d, up))
		if a.Lower == a.Upper && (a.Lower == 0 || math.IsInf(float64(a.Lower), 0)) {
			certified = a.told + " = " + short(a.Lower)
		}
		estimate := rounded(a.Estimate, d+1, near)
		if a.Loose {
			estimate = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", short(a.at), certified, estimate, a.WorstDirection)
		if a.TheoryGap && (math.IsInf(float64(a.Upper), 1) || float64(a.Upper-a.Lower) > gapSeen*float64(a.Upper)) {
			gap = i
		}
	}
	tw.Flush()
	if gap >= 0 {
		noteGap(w, answers[gap])
	}
	if !verbose {
		return
	}
	for _, a := range answers {
		b := a.ErrorBudget
		fmt.Fprintf(w, "\nwidth of the interval at %s = %s: %s (engine: %s)\n", a.asked, short(a.at), rounded(a.Upper-a.Lower, 3, up), a.Engine)
		f := newFacts(w, 18)
		for _, part := range []struct {
			name string
			x    service.Number
		}{
			{"discretization", b.Discretization}, {"quadrature", b.Quadrature}, {"truncation", b.Truncation}, {"aliasing", b.Aliasing},
			{"round-off", b.RoundOff}, {"theory gap", b.TheoryGap},
		} {
			f.add("  "+part.name, "%s", rounded(part.x, 3, up))
		}
		f.Flush()
	}
}

// A colour is the number of an SGR escape sequence.
type colour string

const (
	yellow colour = "33"
	red    colour = "31"
)

// paint colours text that w will show, if w is a terminal and NO_COLOR is not set
// (https://no-color.org).
func paint(w io.Writer, c colour, text string) string {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// warning starts a line of warning on standard error.
func warning(w io.Writer) string { return "accountant: " + paint(w, yellow, "warning") + ": " }
