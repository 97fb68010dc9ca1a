// Package plots has what only the experiments write: pictures, the numbers that they show, and pages.
package plots

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

// Save writes rows of pictures of one size to a file in the format of its extension.
func Save(path string, size figure.Size, rows ...[]figure.Picture) {
	data := try.Must(figure.Tiles(strings.TrimPrefix(filepath.Ext(path), "."), size, rows...))
	try.Check(os.WriteFile(path, data, 0o644))
}

// Numbers returns the points of curves as a table of comma-separated values: of each its
// curve, and x and y under their names, with so many digits.
func Numbers(x, y string, digits int, curves []figure.Band) []byte {
	rows := [][]string{{"curve", x, y}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	for _, c := range curves {
		for i, at := range c.X {
			rows = append(rows, []string{c.Name, number(at), number(c.Proved[i])})
		}
	}
	var b bytes.Buffer
	try.Check(csv.NewWriter(&b).WriteAll(rows))
	return b.Bytes()
}

// OutFlag adds the flag -out, the folder that a program writes its pages and pictures into, and returns what
// returns that folder once flags are parsed. Without the flag it is a new temporary folder, whose name is
// printed: tracked, the folder whose pages are kept, is overwritten only where the flag names it.
func OutFlag(tracked string) func() string {
	out := flag.String("out", "", "`folder` to write into, such as "+tracked+" (default: a new temporary one)")
	return func() string {
		if *out == "" {
			folder, err := os.MkdirTemp("", filepath.Base(os.Args[0])+"-")
			if err != nil {
				log.Fatal(err)
			}
			log.Printf("written into %s; -out %s writes the pages that are kept", folder, tracked)
			*out = folder
		}
		return *out
	}
}

// mostRows is how many rows a table of a page has at most; longer ones are files beside it.
const mostRows = 5

// part is a heading of a page, or a table.
var part = regexp.MustCompile(`(?m)^#.*\n|(^\|.*\n)+`)

// Short takes the long tables out of a page in Markdown: each becomes a line with a link to a file of comma-separated
// values, which is named for the page and the heading above it. An empty first cell repeats the one above.
func Short(page []byte, name string) (text []byte, files map[string][]byte) {
	files = map[string][]byte{}
	heading := ""
	text = part.ReplaceAllFunc(page, func(found []byte) []byte {
		if found[0] == '#' {
			heading = string(found)
			return found
		}
		lines := strings.Split(strings.TrimSpace(string(found)), "\n")
		rows := slices.Delete(lines, 1, 2) // the one below the head
		if len(rows)-1 <= mostRows {
			return found
		}
		file := fmt.Sprintf("%s-%s-table.csv", name, slug(heading))
		for n := 2; files[file] != nil; n++ {
			file = fmt.Sprintf("%s-%s-table%d.csv", name, slug(heading), n)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		first := ""
		for _, row := range rows {
			cells := strings.Split(strings.ReplaceAll(strings.Trim(strings.TrimSpace(row), "|"), `\|`, "¦"), "|")
			for k := range cells {
				cells[k] = strings.ReplaceAll(strings.Trim(strings.TrimSpace(cells[k]), "*`"), "¦", "|")
			}
			if cells[0] == "" {
				cells[0] = first
			}
			first = cells[0]
			try.Check(w.Write(cells))
		}
		w.Flush()
		files[file] = b.Bytes()
		return fmt.Appendf(nil, "Table: [%d rows](%s).\n", len(rows)-1, file)
	})
	return text, files
}

// slug returns the first words of a heading as a file's name.
func slug(heading string) string {
	heading, _, _ = strings.Cut(strings.TrimSpace(strings.TrimLeft(heading, "#")), "(")
	words := strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words[:min(4, len(words))], "-")
}

// Values are what stands in the text of a page, by their names there.
type Values map[string]any

// Add adds text to a value, such as a row to a table.
func (v Values) Add(name, format string, args ...any) {
	text, _ := v[name].(string)
	v[name] = text + fmt.Sprintf(format, args...)
}

// Page returns the page of a template (package text/template).
func (v Values) Page(text string) []byte {
	var b bytes.Buffer
	page := try.Must(template.New("page").Option("missingkey=error").Parse(text))
	try.Check(page.Execute(&b, v))
	return b.Bytes()
}

// WritePage writes a page and its long tables into a folder.
func WritePage(dir, name string, page []byte) {
	text, files := Short(page, name)
	files[name+".md"] = text
	for file, data := range files {
		try.Check(os.WriteFile(filepath.Join(dir, file), data, 0o644))
	}
}

// Mean returns the mean of numbers and its standard error.
func Mean(xs []float64) (mean, se float64) {
	mean, sd := stat.MeanStdDev(xs, nil)
	return mean, stat.StdErr(sd, float64(len(xs)))
}
