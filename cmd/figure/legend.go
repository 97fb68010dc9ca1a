// Where the legend hides no curve.

package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// placeLegend looks for a place at the left or the right side of a picture of a size where
// no curve runs, from where the picture would like it; where every place is taken, for the
// one that hides least.
func (pic *Picture) placeLegend(l *plot.Legend, size Size) {
	// In points: about the size of the plane between the axes, and of the text.
	const row, margin, thumbnail = 13.0, 8.0, 26.0
	plane, height := max(size.Width.Points()-72, 72), max(size.Height.Points()-82, 50)
	longest, rows := vg.Length(0), 0
	for i := range pic.Bands {
		if name := pic.Label(&pic.Bands[i]); name != "" {
			longest = max(longest, l.TextStyle.Width(name))
			rows++
		}
	}
	w := min((thumbnail+longest.Points()+3*margin)/plane, 1)
	h := min((row*float64(rows)+2*margin)/height, 1)
	best, least, bestLeft := 0.0, math.MaxInt, pic.LegendLeft
	marks := pic.marks()
	for i := range 82 {
		down, left := (1-h)*float64(i/2)/40, pic.LegendLeft == (i%2 == 0) // of the upper edge
		if !pic.LegendUp {
			down = 1 - h - down
		}
		hits := 0
		for _, m := range marks {
			if !left {
				m.X = 1 - m.X
			}
			if m.X < w && m.Y < 1-down && m.Y > 1-down-h {
				hits++
			}
		}
		if hits < least {
			best, bestLeft, least = down, left, hits
		}
	}
	// The text is always to the right of its line.
	l.Top, l.Left = true, true
	l.YOffs = vg.Points(-margin - best*height)
	l.XOffs = vg.Points(margin)
	if !bestLeft {
		l.XOffs = vg.Points(max(margin, (1-w)*plane+2*margin))
	}
}

// marks are points along all curves, the axes running from 0 to 1.
func (pic *Picture) marks() plotter.XYs {
	var marks plotter.XYs
	for _, b := range pic.Bands {
		for _, ys := range [][]float64{b.Proved, b.Lower, b.Upper} {
			var last plotter.XY
			for i, y := range ys {
				if math.IsNaN(y) || math.IsInf(y, 0) || y <= 0 && pic.Y.Log {
					continue
				}
				m := plotter.XY{X: pic.X.place(b.X[i]), Y: pic.Y.place(y)}
				if i == 0 || b.Area != nil || b.Crosses {
					last = m
				}
				for k := 1; k <= 20; k++ {
					t := float64(k) / 20
					marks = append(marks, plotter.XY{X: last.X + t*(m.X-last.X), Y: last.Y + t*(m.Y-last.Y)})
				}
				last = m
			}
		}
	}
	return marks
}
