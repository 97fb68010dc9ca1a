// Text for a terminal: lines of dots of Braille where it shows Unicode, and of letters where
// it does not.

package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A Screen is what a terminal shows. Rows is the height of the whole picture, apart from
// its legend.
type Screen struct {
	Columns, Rows   int
	Unicode, Colour bool
}

// symbols stand for the lines where colours cannot.
const symbols = "*o+x#@%&=s"

// A raster is the plane between the axes: cells of 2 × 4 dots, each in the colour of the
// last line that went through it.
type raster struct {
	columns, rows int
	dots          []uint8 // of Braille
	owner         []int   // 1 + number of the band; 0: none
}

// set marks the dot at (x, y), both from 0 to 1.
func (r *raster) set(x, y float64, owner int) {
	if !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
		return
	}
	px := min(int(x*float64(2*r.columns)), 2*r.columns-1)
	py := min(int((1-y)*float64(4*r.rows)), 4*r.rows-1)
	cell := py/4*r.columns + px/2
	r.dots[cell] |= [4][2]uint8{{1, 8}, {2, 16}, {4, 32}, {64, 128}}[py%4][px%2]
	r.owner[cell] = owner + 1
}

// line marks the dots between two places.
func (r *raster) line(a, b plotter.XY, owner int) {
	steps := int(max(math.Abs(b.X-a.X)*float64(2*r.columns), math.Abs(b.Y-a.Y)*float64(4*r.rows))) + 1
	for i := range steps + 1 {
		t := float64(i) / float64(steps)
		r.set(a.X+t*(b.X-a.X), a.Y+t*(b.Y-a.Y), owner)
	}
}

// Terminal returns the picture as lines of text, none wider than the screen.
func (pic *Picture) Terminal(s Screen) string {
	fitted := pic.fit()
	pic = &fitted
	ticks := map[int]string{}
	gutter := 0
	yTicks := pic.Y.Marker().Ticks(pic.Y.Min, pic.Y.Max)
	for _, t := range yTicks {
		gutter = max(gutter, utf8.RuneCountInString(s.text(t.Label)))
	}
	gutter = min(gutter, s.Columns/2)
	r := raster{columns: max(s.Columns-gutter-2, 10), rows: max(s.Rows-5, 5)}
	r.dots, r.owner = make([]uint8, r.columns*r.rows), make([]int, r.columns*r.rows)
	for _, t := range yTicks {
		if at := int(math.Round((1 - pic.Y.place(t.Value)) * float64(r.rows-1))); t.Label != "" && at >= 0 && at < r.rows && ticks[at] == "" {
			ticks[at] = cut(s.text(t.Label), gutter)
		}
	}
	for i := len(pic.Bands) - 1; i >= 0; i-- { // the first is on top
		pic.rasterize(&r, i)
	}
	var b strings.Builder
	if pic.Title != "" {
		title := cut(s.text(pic.Title), s.Columns)
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", max(0, (s.Columns-utf8.RuneCountInString(title))/2)), title)
	}
	fmt.Fprintln(&b, cut(s.text(pic.Y.Label), s.Columns))
	edge, corner, floor, notch := "│", "└", "─", "┬"
	if !s.Unicode {
		edge, corner, floor, notch = "|", "+", "-", "+"
	}
	colours := pic.colours()
	for row := range r.rows {
		fmt.Fprintf(&b, "%*s%s", gutter+1, ticks[row]+" ", edge)
		line := r.row(row, s, colours, len(pic.Bands) > 1)
		if pic.Field != nil {
			line = pic.fieldRow(row, &r, s)
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	pic.base(&b, s, gutter, r.columns, corner, floor, notch)
	if pic.Field != nil {
		pic.fieldKey(&b, s)
	}
	for i := range pic.Bands {
		if name := pic.Label(&pic.Bands[i]); name != "" {
			fmt.Fprintf(&b, "  %s %s\n", s.key(i, colours, len(pic.Bands) > 1), cut(s.text(name), s.Columns-6))
		}
	}
	return b.String()
}

// rasterize marks band i. Rows that have names need no symbols of their own.
func (pic *Picture) rasterize(r *raster, i int) {
	b := &pic.Bands[i]
	if pic.Y.Names != nil {
		i = 0
	}
	var last plotter.XY
	for k, p := range pic.Drawn(b) {
		at := plotter.XY{X: pic.X.place(p.X), Y: pic.Y.place(p.Y)}
		if k == 0 || b.Area != nil || b.Crosses {
			last = at
		}
		r.line(last, at, i)
		last = at
	}
}

// row writes one row of cells.
func (r *raster) row(row int, s Screen, colours []int, several bool) string {
	var b strings.Builder
	for c := range r.columns {
		cell := row*r.columns + c
		owner := r.owner[cell] - 1
		switch {
		case owner < 0:
			b.WriteByte(' ')
		case s.Colour:
			fmt.Fprintf(&b, "\x1b[38;5;%dm%c\x1b[0m", colours[owner], 0x2800+rune(r.dots[cell]))
		case s.Unicode && !several:
			b.WriteRune(0x2800 + rune(r.dots[cell]))
		default:
			b.WriteByte(symbols[owner%len(symbols)])
		}
	}
	return b.String()
}

// steps are the signs of a field between its levels, from the least on.
const steps = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// fieldRow writes one row of cells of a field: the number of levels below its value, in its colour where
// there are colours; a blank where there is no value and ! where it is infinite.
func (pic *Picture) fieldRow(row int, r *raster, s Screen) string {
	f := pic.Field
	levels, scale := f.levels(), f.axis()
	xs, ys := edges(f.X, pic.X.Log), edges(f.Y, pic.Y.Log)
	k := cellAt(ys, pic.Y.at(1-(float64(row)+0.5)/float64(r.rows)))
	var b strings.Builder
	for c := range r.columns {
		i := cellAt(xs, pic.X.at((float64(c)+0.5)/float64(r.columns)))
		v := f.Values[i][k]
		shade, ok := f.shade(&scale, v)
		sign := byte(' ')
		switch {
		case math.IsInf(v, 1):
			sign = '!'
		case ok:
			sign = steps[stepOf(levels, v)]
		}
		if !s.Colour || !ok {
			b.WriteByte(sign)
			continue
		}
		ink := 16 // black
		if y := 299*int(shade.R) + 587*int(shade.G) + 114*int(shade.B); y < 128000 {
			ink = 231
		}
		fmt.Fprintf(&b, "\x1b[38;5;%d;48;5;%dm%c\x1b[0m", ink, terminalColour(shade), sign)
	}
	return b.String()
}

// stepOf returns how many levels are not above a value.
func stepOf(levels []plot.Tick, v float64) int {
	n := 0
	for n < min(len(levels), len(steps)-1) && levels[n].Value <= v {
		n++
	}
	return n
}

// fieldKey is the legend of a field.
func (pic *Picture) fieldKey(b *strings.Builder, s Screen) {
	f := pic.Field
	levels := f.levels()
	label := s.text(f.Label)
	for n := range min(len(levels), len(steps)-1) + 1 {
		var text string
		switch {
		case len(levels) == 0:
			text = "all values"
		case n == 0:
			text = label + " < " + s.text(levels[0].Label)
		case n == len(levels):
			text = s.text(levels[n-1].Label) + s.text(" ≤ ") + label
		default:
			text = s.text(levels[n-1].Label) + s.text(" ≤ ") + label + " < " + s.text(levels[n].Label)
		}
		fmt.Fprintf(b, "  %c %s\n", steps[n], cut(text, s.Columns-4))
	}
	for _, column := range f.Values {
		if slices.ContainsFunc(column, func(v float64) bool { return math.IsInf(v, 1) }) {
			fmt.Fprintf(b, "  ! %s\n", cut(s.text(f.Label+" = ∞"), s.Columns-4))
			return
		}
	}
}

// base writes the axis of x.
func (pic *Picture) base(b *strings.Builder, s Screen, gutter, columns int, corner, floor, notch string) {
	line := make([]string, columns)
	for i := range line {
		line[i] = floor
	}
	labels := []rune(strings.Repeat(" ", gutter+2+columns))
	free := 0
	for _, t := range pic.X.Marker().Ticks(pic.X.Min, pic.X.Max) {
		at := min(int(pic.X.place(t.Value)*float64(columns)), columns-1)
		if t.Label == "" || at < 0 {
			continue
		}
		line[at] = notch
		text := []rune(s.text(t.Label))
		from := min(max(gutter+2+at-len(text)/2, free), len(labels)-len(text))
		if from < free {
			continue
		}
		copy(labels[from:], text)
		free = from + len(text) + 1
	}
	fmt.Fprintf(b, "%s%s%s\n%s\n", strings.Repeat(" ", gutter+1), corner, strings.Join(line, ""), strings.TrimRight(string(labels), " "))
	label := cut(s.text(pic.X.Label), s.Columns)
	fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", max(0, min(gutter+2+(columns-utf8.RuneCountInString(label))/2, s.Columns-utf8.RuneCountInString(label)))), label)
}

// key is what a band looks like, in the legend.
func (s Screen) key(i int, colours []int, several bool) string {
	switch {
	case s.Colour:
		return fmt.Sprintf("\x1b[38;5;%dm⠒⠒⠒\x1b[0m", colours[i])
	case s.Unicode && !several:
		return "⠒⠒⠒"
	}
	return strings.Repeat(string(symbols[i%len(symbols)]), 3)
}

// colours are those of the bands, as a terminal numbers them; black is that of text.
func (pic *Picture) colours() []int {
	var out []int
	for _, style := range pic.Styles() {
		n := terminalColour(color.RGBAModel.Convert(style.Color).(color.RGBA))
		if n == 16 {
			n = 7 // black on what may be black
		}
		out = append(out, n)
	}
	return out
}

// terminalColour is the nearest of the 216 colours of a terminal.
func terminalColour(c color.RGBA) int {
	n := 16
	for k, v := range []uint8{c.R, c.G, c.B} {
		n += []int{36, 6, 1}[k] * int(math.Round(float64(v)/51))
	}
	return n
}

// plain are words for signs that an ASCII terminal lacks.
var plain = strings.NewReplacer("ε", "epsilon", "δ", "delta", "γ", "gamma", "σ", "sigma", "μ", "mu", "λ", "lambda", "∞", "inf", "≤", "<=", "≥", ">=", "×", "x", "·", "*", "−", "-", "–", "-", "é", "e", "′", "'", "½", "1/2", "…", "...",
	"⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")

// text is what a terminal shows of a text: nothing that moves its cursor, and only ASCII
// where it has nothing else.
func (s Screen) text(t string) string {
	if !s.Unicode {
		t = powersToE(t)
		t = plain.Replace(t)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff:
			return '?'
		case !s.Unicode && r > '~':
			return '?'
		}
		return r
	}, t)
}

// powersToE writes 10⁻⁵ as 1e-5 and 2·10⁶ as 2e6.
func powersToE(t string) string {
	for _, up := range raised {
		e := "1e" + string(up)
		t = strings.ReplaceAll(t, "10"+string(up), e)
	}
	return strings.ReplaceAll(t, "·1e", "e")
}

// cut shortens a text to a number of signs.
func cut(t string, most int) string {
	if utf8.RuneCountInString(t) <= most {
		return t
	}
	r := []rune(t)
	return string(r[:max(most-1, 0)]) + "~"
}
