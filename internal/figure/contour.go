// The lines along which a field has a value, and where their labels stand.
//
// Between four neighbouring values the field is taken to be bilinear on the scales of the picture, and a
// line to be straight: marching squares. That claims nothing; what is certified are the values themselves.

package figure

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A contour is a line of one level. Places are shares of the picture's axes, from 0 to 1.
type contour struct {
	plot.Tick
	line plotter.XYs
}

// A crossing is an edge between two neighbouring places of a field: to the right of (i, k), or above it.
type crossing struct {
	i, k int
	up   bool
}

// contours returns the lines of all levels, given the axes of the picture.
func (f *Field) contours(x, y *Axis) (lines []contour) {
	for _, level := range f.levels() {
		for _, line := range f.contour(x, y, level.Value) {
			lines = append(lines, contour{level, line})
		}
	}
	return lines
}

// height is a value on the scale of interpolation, NaN for what is infinite or missing: lines end there.
func (f *Field) height(v float64) float64 {
	switch {
	case !f.finite(v):
		return math.NaN()
	case f.Log:
		return xmath.Log(v)
	}
	return v
}

// contour returns the lines of one level.
func (f *Field) contour(x, y *Axis, value float64) []plotter.XYs {
	level := f.height(value)
	h := func(i, k int) float64 { return f.height(f.Values[i][k]) }
	// A value on the level counts as above it, so that a line never goes through a corner.
	above := func(i, k int) bool { return h(i, k) >= level }
	where := func(c crossing) plotter.XY {
		i, k := c.i+1, c.k
		if c.up {
			i, k = c.i, c.k+1
		}
		a, b := h(c.i, c.k), h(i, k)
		t := (level - a) / (b - a)
		from := plotter.XY{X: x.place(f.X[c.i]), Y: y.place(f.Y[c.k])}
		to := plotter.XY{X: x.place(f.X[i]), Y: y.place(f.Y[k])}
		return plotter.XY{X: from.X + t*(to.X-from.X), Y: from.Y + t*(to.Y-from.Y)}
	}
	next := map[crossing][]crossing{}
	var order []crossing
	join := func(a, b crossing) {
		for _, c := range []crossing{a, b} {
			if next[c] == nil {
				order = append(order, c)
			}
		}
		next[a], next[b] = append(next[a], b), append(next[b], a)
	}
	for i := 0; i+1 < len(f.X); i++ {
		for k := 0; k+1 < len(f.Y); k++ {
			mean := (h(i, k) + h(i+1, k) + h(i, k+1) + h(i+1, k+1)) / 4
			if math.IsNaN(mean) {
				continue
			}
			// The edges of the square that the line crosses, around it.
			var cut []crossing
			for _, e := range []struct {
				c              crossing
				i1, k1, i2, k2 int
			}{
				{crossing{i, k, false}, i, k, i + 1, k}, {crossing{i + 1, k, true}, i + 1, k, i + 1, k + 1},
				{crossing{i, k + 1, false}, i, k + 1, i + 1, k + 1}, {crossing{i, k, true}, i, k, i, k + 1},
			} {
				if above(e.i1, e.k1) != above(e.i2, e.k2) {
					cut = append(cut, e.c)
				}
			}
			switch {
			case len(cut) == 2:
				join(cut[0], cut[1])
			case len(cut) == 4 && (mean >= level) == above(i, k): // a saddle: the middle decides
				join(cut[0], cut[1])
				join(cut[2], cut[3])
			case len(cut) == 4:
				join(cut[0], cut[3])
				join(cut[1], cut[2])
			}
		}
	}
	return chain(order, next, where)
}

// chain joins crossings to lines: first those with an end, then the closed ones.
func chain(order []crossing, next map[crossing][]crossing, where func(crossing) plotter.XY) (lines []plotter.XYs) {
	used := map[crossing]bool{}
	for _, closed := range []bool{false, true} {
		for _, first := range order {
			if used[first] || !closed && len(next[first]) != 1 {
				continue
			}
			var line plotter.XYs
			for at, more := first, true; more; {
				used[at] = true
				line = append(line, where(at))
				more = false
				for _, c := range next[at] {
					if !used[c] {
						at, more = c, true
						break
					}
				}
			}
			if closed {
				line = append(line, line[0])
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// labels returns where the lines have their labels: on the longest line of each level, where it is the
// farthest from the ends of the axes and from other labels. A level of short lines has none there.
// width and height are those of a label, as shares of the axes.
func labels(lines []contour, width, height float64) (at []plotter.XY, texts []string) {
	longest := map[float64]contour{}
	var levels []float64
	for _, c := range lines {
		if _, ok := longest[c.Value]; !ok {
			levels = append(levels, c.Value)
		}
		if length(c.line) > length(longest[c.Value].line) {
			longest[c.Value] = c
		}
	}
	for _, v := range levels {
		c := longest[v]
		if length(c.line) < 1.5*width {
			continue
		}
		best, where := 0.0, plotter.XY{}
		for i := 1; i < len(c.line); i++ {
			a, b := c.line[i-1], c.line[i]
			for _, t := range []float64{0, 0.25, 0.5, 0.75} {
				p := plotter.XY{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}
				room := min(p.X/width, (1-p.X)/width, p.Y/height, (1-p.Y)/height)
				for _, other := range at {
					room = min(room, math.Hypot((p.X-other.X)/width, (p.Y-other.Y)/height)/2)
				}
				if room = min(room, 3); room > best+1e-9 {
					best, where = room, p
				}
			}
		}
		if best > 0.55 { // half a label, and a little
			at, texts = append(at, where), append(texts, c.Label)
		}
	}
	return at, texts
}

// length is that of a line, in shares of the axes.
func length(line plotter.XYs) (l float64) {
	for i := 1; i < len(line); i++ {
		l += math.Hypot(line[i].X-line[i-1].X, line[i].Y-line[i-1].Y)
	}
	return l
}
