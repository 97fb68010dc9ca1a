package main

import (
	"bytes"
	"encoding/csv"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

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
