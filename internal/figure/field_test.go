package figure

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// fieldOf returns the picture of a function on places, both axes from 0 on.
func fieldOf(n int, log bool, f func(x, y float64) float64) Picture {
	field := &Field{Label: "ε", Log: log, Bound: UpperBound}
	for i := range n {
		field.X, field.Y = append(field.X, float64(i)/float64(n-1)), append(field.Y, float64(i)/float64(n-1))
	}
	for _, x := range field.X {
		var column []float64
		for _, y := range field.Y {
			column = append(column, f(x, y))
		}
		field.Values = append(field.Values, column)
	}
	pic := Picture{Title: "a <field>", X: Axis{Label: "across"}, Y: Axis{Label: "up"}, Field: field}
	return pic.fit()
}

// TestContourPlane: the contours of a plane, and of the exponential of one on a logarithmic scale, are
// its straight lines, from end to end, and each is one line.
func TestContourPlane(t *testing.T) {
	for _, log := range []bool{false, true} {
		pic := fieldOf(6, log, func(x, y float64) float64 {
			if v := 3*x + y; !log {
				return v
			} else {
				return math.Exp(v)
			}
		})
		pic.Field.Levels = []float64{0.7, 1.3, 3.2}
		if log {
			pic.Field.Levels = []float64{math.Exp(0.7), math.Exp(1.3), math.Exp(3.2)}
		}
		lines := pic.Field.contours(&pic.X, &pic.Y)
		if len(lines) != 3 {
			t.Fatalf("%d lines, want one for each level", len(lines))
		}
		for i, line := range lines {
			want := []float64{0.7, 1.3, 3.2}[i]
			least, most := math.Inf(1), math.Inf(-1)
			for _, p := range line.line {
				x, y := pic.X.at(p.X), pic.Y.at(p.Y)
				// Shares of an axis and logarithms cost some 1e-15 each.
				if got := 3*x + y; math.Abs(got-want) > 1e-13 {
					t.Errorf("logarithmic %v: %v on the line of %v", log, got, want)
				}
				least, most = min(least, y), max(most, y)
			}
			low, high := max(0, want-3), min(1, want)
			if math.Abs(least-low) > 1e-13 || math.Abs(most-high) > 1e-13 {
				t.Errorf("logarithmic %v: the line of %v goes from %v to %v, want %v to %v", log, want, least, most, low, high)
			}
		}
	}
}

// TestContourShapes: a hill has a closed line around it; a saddle has two lines that do not cross; where
// values are missing or infinite lines end; what is flat has none.
func TestContourShapes(t *testing.T) {
	hill := fieldOf(21, false, func(x, y float64) float64 { return 1 - math.Hypot(x-0.5, y-0.5) })
	hill.Field.Levels = []float64{0.7}
	lines := hill.Field.contours(&hill.X, &hill.Y)
	if len(lines) != 1 || lines[0].line[0] != lines[0].line[len(lines[0].line)-1] || len(lines[0].line) < 20 {
		t.Errorf("the lines around a hill: %v", lines)
	}
	for _, p := range lines[0].line {
		// Straight between neighbours 0.05 apart, on a circle of radius 0.3: 0.05²/(8·0.3) off, twice.
		if r := math.Hypot(hill.X.at(p.X)-0.5, hill.Y.at(p.Y)-0.5); math.Abs(r-0.3) > 0.0025 {
			t.Errorf("a place of the circle has radius %v", r)
		}
	}
	saddle := fieldOf(2, false, func(x, y float64) float64 { return math.Abs(x - y) })
	for level, first := range map[float64]float64{0.4: 1, 0.6: 0} {
		saddle.Field.Levels = []float64{level}
		lines := saddle.Field.contours(&saddle.X, &saddle.Y)
		if len(lines) != 2 {
			t.Fatalf("a saddle has %d lines at %v", len(lines), level)
		}
		// Below the value in the middle, the corners (0, 0) and (1, 1) are cut off; above it the others.
		for _, line := range lines {
			var mean plotter.XY
			for _, p := range line.line {
				mean.X, mean.Y = mean.X+saddle.X.at(p.X)/2, mean.Y+saddle.Y.at(p.Y)/2
			}
			if low := (mean.X < 0.5) == (mean.Y < 0.5); low != (first == 1) {
				t.Errorf("level %v cuts off the corner near %v", level, mean)
			}
		}
	}
	for _, hole := range []float64{math.NaN(), math.Inf(1)} {
		pic := fieldOf(3, false, func(x, y float64) float64 {
			if x == 0.5 && y == 0.5 {
				return hole
			}
			return x
		})
		pic.Field.Levels = []float64{0.25}
		if lines := pic.Field.contours(&pic.X, &pic.Y); len(lines) != 0 {
			t.Errorf("lines through %v: %v", hole, lines)
		}
	}
	flat := fieldOf(3, true, func(x, y float64) float64 { return 2 })
	if lines := flat.Field.contours(&flat.X, &flat.Y); len(lines) != 0 {
		t.Errorf("lines on a plain: %v", lines)
	}
}

// TestRamp: each colour is darker than the one before by eye, also without one kind of cone.
func TestRamp(t *testing.T) {
	identity := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	protan, deutan := [3][3]float64{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}, [3][3]float64{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}
	light := func(m [3][3]float64, at float64) float64 {
		c := seen(m, Shade(at))
		return 0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2]
	}
	for _, m := range [][3][3]float64{identity, protan, deutan} {
		for i := range 16 {
			a, b := float64(i)/16, float64(i+1)/16
			if light(m, b) >= light(m, a) {
				t.Errorf("%v of the scale is not darker than %v", b, a)
			}
			if d := distance(seen(m, Shade(a)), seen(m, Shade(b))); d < 2.3 {
				t.Errorf("%v and %v of the scale are %.1f apart", a, b, d)
			}
		}
	}
}

// TestRoundLevels: contours on a logarithmic scale are few, and inside of it.
func TestRoundLevels(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0.3, 70, "0.5 1 2 5 10 20 50"}, {1.1, 1.9, ""}, {1e-12, 1, "10⁻¹¹ 10⁻¹⁰ 10⁻⁹ 10⁻⁸ 10⁻⁷ 10⁻⁶ 10⁻⁵ 10⁻⁴ 0.001 0.01 0.1"},
	} {
		var labels []string
		for _, l := range roundLevels(c.lo, c.hi) {
			labels = append(labels, l.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	if n := len(roundLevels(5e-324, 1e308)); n == 0 || n > mostLevels {
		t.Errorf("%d levels over all numbers", n)
	}
}

// TestTicksApart: labels beside the scale do not overlap.
func TestTicksApart(t *testing.T) {
	pic := fieldOf(5, false, func(x, y float64) float64 { return 10 * x })
	pic.Field.Levels = []float64{0.1, 0.5, 0.6, 3, 3.05, 9}
	var labels []string
	for _, tick := range pic.Field.ticks(0.04) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "9 3.05 0.6 0.1" {
		t.Errorf("labels %s", got)
	}
}

// TestField: every format draws fields with values of any size, or of none; what comes from a plan is text.
func TestField(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	small := Size{Width: 6 * vg.Centimeter, Height: 5 * vg.Centimeter, DPI: 48} // a PNG is dear
	for name, f := range map[string]func(x, y float64) float64{
		"plane": func(x, y float64) float64 { return 1 + x + y }, "one value": func(x, y float64) float64 { return 7 },
		"tiny": func(x, y float64) float64 { return 1e-300 * (1 + x) }, "missing": func(x, y float64) float64 { return nan },
		"infinite": func(x, y float64) float64 {
			if x > y {
				return inf
			}
			return 1 + x
		},
	} {
		for _, log := range []bool{false, true} {
			for _, n := range []int{2, 5} {
				pic := fieldOf(n, log, f)
				for _, format := range Formats {
					data, err := pic.Encode(format, small)
					if err != nil || len(data) < 500 || bytes.Contains(data, []byte("NaN")) {
						t.Fatalf("%s, logarithmic %v, %s: %d bytes, %v", name, log, format, len(data), err)
					}
					if format == "svg" {
						for d := xml.NewDecoder(bytes.NewReader(data)); ; {
							if _, err := d.Token(); err == io.EOF {
								break
							} else if err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				for _, s := range []Screen{{Columns: 40, Rows: 10}, {Columns: 80, Rows: 24, Unicode: true}} {
					out := pic.Terminal(s)
					for _, line := range strings.Split(out, "\n") {
						if utf8.RuneCountInString(line) > s.Columns {
							t.Errorf("%s: %q is wider than %d columns", name, line, s.Columns)
						}
					}
					if name == "infinite" && !strings.Contains(out, "!!!") {
						t.Errorf("what is infinite is not shown:\n%s", out)
					}
				}
			}
		}
	}
	// The rows of a terminal are from the top down: a field that grows upwards has its largest step there.
	pic := fieldOf(5, false, func(x, y float64) float64 { return y })
	rows := strings.Split(pic.Terminal(Screen{Columns: 40, Rows: 15}), "\n")
	if top, bottom := rows[2], rows[11]; !strings.Contains(top, "444") || !strings.Contains(bottom, "000") {
		t.Errorf("top row %q, bottom row %q", top, bottom)
	}
	page, err := pic.Encode("html", size)
	if err != nil || !bytes.Contains(page, []byte("across 0, up 1: ε ≤ 1\"")) || bytes.Contains(page, []byte("a <field>")) {
		t.Errorf("%v: the page lacks a cell, or has a title that is markup", err)
	}
}
