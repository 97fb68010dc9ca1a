// Must regenerates the privacy tables and figures of Zhao and Liu
// (arXiv:2312.13389) and its utility experiments.
//
//	go run ./lab/must -adult adult_processed2.csv -out docs/experiments
//
// It writes must.md, must-adult.md and must-bags.md, the pictures beside them and the
// numbers of each picture. The seeds are fixed: the same program gives the same files,
// whatever the number of cores. The Adult data are the file of that name of the authors'
// repository, github.com/zhao-xingyuan/MUST (MIT); without -adult, must-adult.md is left out.
package main

import (
	"bytes"
	"embed"
	"encoding/csv"
	"flag"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

//go:embed *.tmpl
var texts embed.FS

// pages are what the program writes, each with its parts.
var pages = []struct {
	name     string
	sections []func(*report)
}{
	{"must", []func(*report){
		profilesTable, alignedFigure, profilesFigure, equalFigure, sizesFigure,
		compositionTable, historicTable, table8CompositionTable, laplaceTable,
		bootstrap, regression, distinctTable,
	}},
	{"must-adult", []func(*report){adultPage}},
	{"must-bags", []func(*report){bagsPage}},
}

func main() {
	out := plots.OutFlag("docs/experiments")
	adult := flag.String("adult", "", "the authors' adult_processed2.csv; without it must-adult is left out")
	only := flag.String("pages", "must,must-adult,must-bags", "pages to write")
	quick := flag.Bool("quick", false, "few repetitions and few steps, for a look")
	flag.Parse()
	try.Main(func() {
		for _, p := range pages {
			if !slices.Contains(strings.Split(*only, ","), p.name) || p.name == "must-adult" && *adult == "" {
				continue
			}
			r := &report{dir: out(), quick: *quick, adult: *adult, page: plots.Values{}}
			for _, section := range p.sections {
				section(r)
			}
			plots.WritePage(out(), p.name, r.page.Page(string(try.Must(texts.ReadFile(p.name+".tmpl")))))
		}
	})
}

// A report collects a page.
type report struct {
	dir   string // of the pictures; none are drawn if it is empty
	quick bool
	adult string // the file of the Adult data
	page  plots.Values
}

// pick returns the number of repetitions.
func (r *report) pick(full, quick int) int {
	if r.quick {
		return quick
	}
	return full
}

// styles are the looks of the schemes, the same in all figures: those that all pictures share.
var styles = map[string]figure.Method{
	"no noise": {Colour: color.RGBA{R: 150, G: 150, B: 150, A: 255}},
	"Poisson":  figure.Poisson,
	"WOR":      figure.WithoutReplacement,
	"WR":       figure.WithReplacement,
	"MUST.OW":  figure.MustOW,
	"MUST.WW":  figure.MustWW,
}

// panel returns a picture without curves. The name of a curve is for its numbers; what a legend says are bands without points.
func panel(title, x, y string) figure.Picture {
	return figure.Picture{Title: title, X: figure.Axis{Label: x}, Y: figure.Axis{Label: y}, LegendUp: true}
}

// schemeEntries are lines of a legend.
func schemeEntries(names ...string) (entries []figure.Band) {
	for _, n := range names {
		entries = append(entries, figure.Band{Name: n, Method: styles[n]})
	}
	return entries
}

// figure draws rows of panels of a height, at a width that a page shows without scaling down much. The numbers go into a
// file beside it: panel, curve, x, y, and the ends of a bar. A curve without a name is a guide and has none.
func (r *report) figure(name string, height vg.Length, rows ...[]figure.Picture) {
	if r.dir == "" {
		return
	}
	table := [][]string{{"panel", "curve", "x", "y", "low", "high"}}
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, row := range rows {
		for _, p := range row {
			for i := range p.Bands {
				b := &p.Bands[i]
				for k, x := range b.X {
					low, high, y := "", "", b.Proved[k]
					if b.Errors != nil {
						low, high = f(y-b.Errors[k]), f(y+b.Errors[k])
					}
					if b.Name != "" {
						table = append(table, []string{p.Title, b.Name, f(x), f(y), low, high})
					}
				}
				if b.X != nil {
					b.Name = ""
				}
			}
		}
	}
	var numbers bytes.Buffer
	try.Check(csv.NewWriter(&numbers).WriteAll(table))
	try.Check(os.WriteFile(filepath.Join(r.dir, name+".csv"), numbers.Bytes(), 0o644))
	plots.Save(filepath.Join(r.dir, name+".png"), figure.Size{Width: 18 * vg.Centimeter / vg.Length(len(rows[0])), Height: height}, rows...)
}
