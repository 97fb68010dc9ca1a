// The picture of a list of intervals and bounds: a row for each.

package figure

import (
	"cmp"
	"math"
)

// A Row is an interval by its name, or an upper bound where Lower is NaN. An Estimate is
// neither.
type Row struct {
	Name         string
	Lower, Upper float64
	Estimate     bool
	Method       Method
}

// Rows returns the picture of rows, the first at the top. What is infinite or missing has
// its name and no mark. The axis is logarithmic if the values are far apart.
func Rows(title, axis string, rows []Row) Picture {
	pic := Picture{Title: title, X: Axis{Label: axis}, Y: Axis{Min: -0.6, Max: float64(len(rows)) - 0.4, Names: make([]string, len(rows))}}
	least, most := math.Inf(1), 0.0
	for i, r := range rows {
		y := float64(len(rows) - 1 - i)
		b := Band{Method: cmp.Or(r.Method, Certified), Dots: true, Between: Straight}
		name := r.Name
		for _, v := range []float64{r.Lower, r.Upper} {
			if math.IsInf(v, 1) {
				name += ": ∞"
				break
			}
			if math.IsNaN(v) {
				continue
			}
			b.X, b.Proved = append(b.X, v), append(b.Proved, y)
			most = max(most, v)
			if v > 0 {
				least = min(least, v)
			}
		}
		if r.Estimate {
			name += " (no bound)"
		}
		pic.Y.Names[int(y)] = name
		pic.Bands = append(pic.Bands, b)
	}
	switch {
	case most > 20*least:
		pic.X.Log, pic.X.Min, pic.X.Max = true, least/1.5, most*1.5
		for i := range pic.Bands { // nothing on a logarithmic axis is 0
			for k, v := range pic.Bands[i].X {
				pic.Bands[i].X[k] = max(v, pic.X.Min)
			}
		}
	case most > 0:
		pic.X.Max = 1.08 * most
	}
	return pic
}
