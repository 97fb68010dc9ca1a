package plots

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"gonum.org/v1/gonum/stat"

	"github.com/dpaccountant/accountant/lab/try"
)

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
