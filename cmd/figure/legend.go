// Where the legend hides no curve.

package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// placeLegend looks for a place at the left or the right side of a picture of a size where
// no curve runs, from where the picture would like it; where every place is taken, for the
// one that hides least.
func (pic *Picture) placeLegend(l *plot.Legend, size Size) {
	// In points: about the size of the plane between the axes.
	const margin = 8.0
	plane, height := max(size.Width.Points()-72, 72), max(size.Height.Points()-82, 50)
	box := l.Rectangle(draw.Canvas{}).Size()
	w, h := min((box.X.Points()+2.5*margin)/plane, 1), min((box.Y.Points()+2*margin)/height, 1)
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
func (pic *Picture) marks() (marks plotter.XYs) {
	for _, b := range pic.Bands {
		for _, ys := range [][]float64{b.Proved, b.Lower, b.Upper} {
			line := pic.line(b.X, ys, Straight)
			for i, to := range line {
				from := line[max(i-1, 0)]
				if b.Area != nil || b.Crosses {
					from = to
				}
				for k := range 20 {
					t := float64(k+1) / 20
					x, y := pic.X.place(from.X), pic.Y.place(from.Y)
					marks = append(marks, plotter.XY{X: x + t*(pic.X.place(to.X)-x), Y: y + t*(pic.Y.place(to.Y)-y)})
				}
			}
		}
	}
	return marks
}
