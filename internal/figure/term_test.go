package figure

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// fall is a picture with two bounds that fall over twelve decades.
func fall() Picture {
	pic := Picture{Title: "a title, 10⁻⁵", X: Axis{Label: "ε", Max: 4}, Y: Axis{Label: "δ", Log: true, Min: 1e-12, Max: 1}}
	for k := range 2 {
		b := Band{Name: []string{"one", "two\x1b[31m\u202e"}[k], Between: Convex, Bound: UpperBound}
		for i := range 9 {
			x := float64(i) / 2
			b.X, b.Proved = append(b.X, x), append(b.Proved, math.Exp(-float64(3+4*k)*x))
		}
		pic.Bands = append(pic.Bands, b)
	}
	return pic
}

// Text for a terminal is as wide as it, has nothing that moves its cursor, and is ASCII where
// it must be; in colours and without them the lines are where the values are.
func TestTerminal(t *testing.T) {
	pic := fall()
	for _, s := range []Screen{{Columns: 40, Rows: 10}, {Columns: 80, Rows: 24, Unicode: true}, {Columns: 120, Rows: 30, Unicode: true, Colour: true}} {
		out := pic.Terminal(s)
		if !s.Colour && strings.Contains(out, "\x1b") || strings.Contains(out, "\u202e") || strings.Contains(out, "\x1b[31m") {
			t.Errorf("%+v: the terminal would obey\n%q", s, out)
		}
		for _, line := range strings.Split(out, "\n") {
			if n := utf8.RuneCountInString(line); n > s.Columns && !s.Colour {
				t.Errorf("%+v: %d columns: %q", s, n, line)
			}
			if !s.Unicode && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("%+v: %q is not ASCII", s, line)
			}
		}
		if rows := strings.Count(out, "\n"); rows != s.Rows+2 {
			t.Errorf("%+v: %d lines and a legend of 2", s, rows-2)
		}
	}
	// The row at half the height is δ = 1e-6, where exp(−3ε) is at ε = 4.6, beyond the axis,
	// and exp(−7ε) at ε = 1.97, half of the axis.
	lines := strings.Split(pic.Terminal(Screen{Columns: 67, Rows: 26}), "\n")
	row := lines[2+10][7:]
	if at := strings.IndexByte(row, 'o'); at < 27 || at > 32 || strings.Contains(row, "*") {
		t.Errorf("exp(−7ε) is at column %d of 60 where it is 1e-6: %q", at, row)
	}
	// A picture without any value has axes.
	empty := Picture{X: Axis{Log: true}, Y: Axis{}, Bands: []Band{{Name: "nothing", X: []float64{1}, Proved: []float64{math.Inf(1)}}}}
	if out := empty.Terminal(Screen{Columns: 40, Rows: 10}); !strings.Contains(out, "nothing") {
		t.Errorf("%q", out)
	}
}
