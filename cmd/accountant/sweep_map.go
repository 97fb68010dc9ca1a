package main

import (
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file draws the result of a sweep against two columns, as a map with contours. The values are
// those of the result; the contours between them claim nothing.

// mostMapCells bounds a map, whose cells are elements of an SVG.
const mostMapCells = 20000

// drawMap collects the cells of the rows.
func (p *sweepPlot) drawMap(r *sweepResult) (figure.Picture, error) {
	type place struct{ x, y float64 }
	cells := map[place]sweepPoint{}
	f := &figure.Field{Bound: figure.UpperBound}
	if r.columns[r.value] == "value" {
		f.Bound = figure.NoBound
	}
	title := ""
	err := r.rows(func(at sweepPoint) error {
		if first, twice := cells[place{at.x, at.y}]; twice {
			return fault.New("--where", "is needed: there are several rows with %s %s and %s %s, of %s and of %s",
				p.x, decimal.Short(at.x), p.y, decimal.Short(at.y), show(first.others), show(at.others))
		}
		if cells[place{at.x, at.y}] = at; len(cells) > mostMapCells {
			return fault.New("--where", "is needed: there are more than %d rows", mostMapCells)
		}
		f.X, f.Y = append(f.X, at.x), append(f.Y, at.y)
		f.Label, title = at.label, at.label+": "+at.fixed
		return nil
	})
	if err != nil {
		return figure.Picture{}, err
	}
	if len(cells) == 0 {
		return figure.Picture{}, errNoRow
	}
	for _, axis := range []*[]float64{&f.X, &f.Y} {
		slices.Sort(*axis)
		*axis = slices.Compact(*axis)
	}
	if len(f.X)*len(f.Y) > mostMapCells {
		return figure.Picture{}, fault.New("--where", "is needed: %d and %d values make more than %d cells", len(f.X), len(f.Y), mostMapCells)
	}
	least, most := math.Inf(1), 0.0
	for _, x := range f.X {
		column := make([]float64, len(f.Y))
		for k, y := range f.Y {
			column[k] = math.NaN()
			if at, ok := cells[place{x, y}]; ok {
				column[k] = at.value
				if !math.IsInf(at.value, 0) {
					least, most = min(least, at.value), max(most, at.value)
				}
			}
		}
		f.Values = append(f.Values, column)
	}
	f.Log = least > 0 && (p.log || most > 20*least)
	for i, d := range p.levels {
		v, err := decimal.Parse(string(d))
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || f.Log && v <= 0 {
			return figure.Picture{}, fault.New("--levels", "%s is not a number that the map can have", show(string(d)))
		}
		if i > 0 && v <= f.Levels[i-1] {
			return figure.Picture{}, fault.New("--levels", "%s is not above the one before it", show(string(d)))
		}
		f.Levels = append(f.Levels, v)
	}
	return figure.Picture{Title: strings.TrimSuffix(title, ": "), Field: f, X: figure.Axis{Label: p.x, Log: p.logarithmic(f.X)}, Y: figure.Axis{Label: p.y, Log: p.logarithmic(f.Y)}}, nil
}

// logarithmic reports whether an axis is to be logarithmic: where that was asked for and can be, and where its values
// have ratios that differ less than their differences do.
func (p *sweepPlot) logarithmic(at []float64) bool {
	if !(at[0] > 0) || len(at) < 3 {
		return p.log && at[0] > 0
	}
	spread := func(step func(i int) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(at); i++ {
			least, most = min(least, step(i)), max(most, step(i))
		}
		return most / least
	}
	return p.log || spread(func(i int) float64 { return xmath.Log(at[i] / at[i-1]) }) < spread(func(i int) float64 { return at[i] - at[i-1] })
}
