package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

// A row is one answer of one accountant.
type row struct {
	Group, Question string
	X               float64 `json:",omitempty"`
	Delta           float64
	Who             string
	said
}

// pictures are those of groups along an axis.
var pictures = []struct{ group, title, axis string }{
	{"accuracy", "1000 runs, rate 0.01, noise multiplier 1", "relative width of the answer"},
	{"runs", "rate 0.01, noise multiplier 1", "runs"},
	{"distinct", "distinct steps of 10 runs each, noise multipliers from 1 to 2", "distinct steps"},
}

// drawAll writes the pictures, and docs/reference/benchmarks.md with the tables, into dir.
func drawAll(dir string, rows []row) {
	groups := map[string][]row{}
	for _, r := range rows {
		groups[r.Group] = append(groups[r.Group], r)
	}
	for _, p := range pictures {
		pic := figure.Picture{Title: p.title, X: figure.Axis{Label: p.axis, Log: true}, Y: figure.Axis{Label: "cost, in FFTs of 65,536 points", Log: true}, LegendUp: true}
		for _, who := range append([]string{ours}, others...) {
			b := figure.Band{Name: who, Method: figure.Named("accountants", who), Dots: true}
			for _, r := range groups[p.group] {
				if r.Who == who && r.Upper != nil {
					b.Add(r.place(groups[p.group]), r.Cost)
				}
			}
			if len(b.X) > 0 {
				pic.Bands = append(pic.Bands, b)
			}
		}
		plots.Save(filepath.Join(dir, "experiments", "benchmarks-"+p.group+".svg"), figure.Size{Width: 16 * vg.Centimeter, Height: 10 * vg.Centimeter}, []figure.Picture{pic})
	}
	text := page(string(try.Must(os.ReadFile("docs/reference/benchmarks.md"))), groups)
	try.Check(os.WriteFile(filepath.Join(dir, "reference", "benchmarks.md"), []byte(text), 0o644))
}

// place returns where a row is on the axis of its picture: for a peer in the picture of accuracy, how wide its answer is, or how far
// its upper end is from the narrowest lower end of this library.
func (r row) place(group []row) float64 {
	if r.X > 0 {
		return r.X
	}
	lower, width := *r.Upper, math.Inf(1)
	for _, o := range group {
		if o.Who == ours && o.Width < width {
			lower, width = *o.Lower, o.Width
		}
	}
	if r.Lower != nil {
		lower = *r.Lower
	}
	return math.Abs(*r.Upper-lower) / lower
}

// shown is a table of a page, between a comment that names its group and one that says end.
var shown = regexp.MustCompile(`(?s)<!-- table: (.*?) -->.*?<!-- end -->`)

// page replaces the tables of a page.
func page(text string, groups map[string][]row) string {
	return shown.ReplaceAllStringFunc(text, func(old string) string {
		group := shown.FindStringSubmatch(old)[1]
		return fmt.Sprintf("<!-- table: %s -->\n%s<!-- end -->", group, table(groups[group]))
	})
}

// table has a row for each question and a column for each accountant; or, where a question is asked at several places of an axis, a
// column for each place.
func table(rows []row) string {
	heads, cells, questions := []string{}, map[[2]string]string{}, []string{}
	var own row
	for _, r := range rows {
		head := r.Who
		if r.X > 0 {
			head = fmt.Sprintf("%g runs", r.X)
		}
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
		if !slices.Contains(questions, r.Question) {
			questions = append(questions, r.Question)
		}
		if r.Who == ours {
			own = r
		}
		cells[[2]string{r.Question, head}] = r.cell(own)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| question | %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for _, q := range questions {
		fmt.Fprintf(&b, "| %s |", q)
		for _, h := range heads {
			fmt.Fprintf(&b, " %s |", cells[[2]string{q, h}])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// cell is what a row costs and answers; own is the answer of this library to the same question.
func (r row) cell(own row) string {
	digits := math.Pow(10, math.Floor(math.Log10(r.Cost))-1)
	cost := strconv.FormatFloat(math.Round(r.Cost/digits)*digits, 'f', int(max(0, math.Round(-math.Log10(digits)))), 64)
	wrong := ""
	switch {
	case strings.HasPrefix(r.Note, "no "): // mechanism, sampling scheme or relation of this question
		return "–"
	case r.Upper == nil:
		return r.Note
	case strings.HasPrefix(r.Group, "many"):
		return cost
	case r.X > 0:
		return fmt.Sprintf("%s (%.0e)", cost, r.Width)
	case *r.Upper < *own.Lower || r.Lower != nil && *r.Lower > *own.Upper:
		wrong = ", **wrong**"
	}
	switch {
	case r.Who != ours && r.Lower == nil:
		return fmt.Sprintf("%s: ≤ %.6g%s %s", cost, *r.Upper, wrong, r.Note)
	case *r.Upper-*r.Lower > 1e-3**r.Upper || r.Who != ours:
		return fmt.Sprintf("%s: [%.5g, %.5g]%s", cost, *r.Lower, *r.Upper, wrong)
	}
	return fmt.Sprintf("%s: %.7g (%.0e)", cost, *r.Upper, r.Width)
}
