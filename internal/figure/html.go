// A page of its own: the picture as SVG, what it reads under the pointer or by the keys of a
// slider, and its numbers as tables. It needs no network, and its policy forbids it any: only
// the one script whose hash it names runs. Text of plans is escaped wherever it stands.

package figure

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the script and the style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/color"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant/internal/decimal"
)

//go:embed page.js
var pageScript string

//go:embed page.css
var pageStyle string

// These are what page.js reads.
type (
	pageData struct {
		X     pageAxis   `json:"x"`
		Y     pageAxis   `json:"y"`
		Box   pageBox    `json:"box"`
		Bands []pageBand `json:"bands"`
		// Field has the cells of one, in the order of the slider.
		Field []fieldCell `json:"field,omitempty"`
	}
	pageAxis struct {
		Label string   `json:"label"`
		Min   float64  `json:"min"`
		Max   float64  `json:"max"`
		Log   bool     `json:"log"`
		Whole bool     `json:"whole"`
		Names []string `json:"names,omitempty"`
	}
	pageBand struct {
		Name  string       `json:"name"`
		Bound string       `json:"bound"`
		Marks bool         `json:"marks"`
		Line  [][2]float64 `json:"line"`
	}
)

// bounds are the kinds of lines as page.js knows them.
var bounds = map[Bound]string{NoBound: "", UpperBound: "upper", LowerBound: "lower"}

// A drawing is a picture in pixels.
type drawing struct {
	*Picture
	box           pageBox
	width, height float64
	styles        []draw.LineStyle
	out           bytes.Buffer
}

// page returns the picture as a page as wide as a size, and less in a narrow window.
func (pic *Picture) page(size Size) ([]byte, error) {
	fitted := pic.fit()
	d := drawing{Picture: &fitted, styles: fitted.Styles(), width: size.Width.Points() * 96 / 72, height: size.Height.Points() * 96 / 72}
	gutter := 0.0
	for _, t := range d.Y.Marker().Ticks(d.Y.Min, d.Y.Max) {
		gutter = max(gutter, 7*float64(len([]rune(t.Label))))
	}
	d.box = pageBox{Left: min(gutter+38, d.width/2), Top: 12}
	d.box.Width, d.box.Height = d.width-d.box.Left-22, d.height-d.box.Top-52
	if d.Field != nil {
		d.box.Width = max(d.box.Width-scaleRoom, d.width/4)
	}
	data := pageData{X: pageAxisOf(&d.X), Y: pageAxisOf(&d.Y), Box: d.box}
	for i := range d.Bands {
		b := &d.Bands[i]
		line := [][2]float64{}
		for _, p := range d.Drawn(b) {
			line = append(line, [2]float64{p.X, p.Y})
		}
		data.Bands = append(data.Bands, pageBand{Name: d.Label(b), Bound: bounds[b.Bound], Marks: b.Area != nil || b.Crosses, Line: line})
	}
	if d.Field != nil {
		data.Field = d.field().cells()
	}
	script, err := json.Marshal(data) // which escapes < and >
	if err != nil {
		return nil, err
	}
	style := fmt.Sprintf("%sbody { max-width: %.0fpx; }\n%s", pageStyle, d.width, d.colours())
	w := &d.out
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s; style-src %s\">\n",
		hashOf(pageScript), hashOf(style))
	fmt.Fprintf(w, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>%[1]s</h1>\n", html.EscapeString(d.Title), style)
	d.svg()
	d.reading()
	d.numbers()
	fmt.Fprintf(w, "</main>\n<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n</body>\n</html>\n", script, pageScript)
	return w.Bytes(), nil
}

func pageAxisOf(a *Axis) pageAxis {
	return pageAxis{Label: a.Label, Min: a.Min, Max: a.Max, Log: a.Log, Whole: a.Whole, Names: a.Names}
}

// hashOf is the source of a script or a style, as a policy names it.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// colours are the rules for the lines of the bands, lighter on dark paper.
func (d *drawing) colours() string {
	var light, dark strings.Builder
	for i, s := range d.styles {
		c := color.RGBAModel.Convert(s.Color).(color.RGBA)
		dashes := ""
		for _, l := range s.Dashes {
			dashes += fmt.Sprintf(" %.4g", l.Points()*96/72)
		}
		if dashes != "" {
			dashes = " stroke-dasharray:" + dashes + ";"
		}
		fmt.Fprintf(&light, ".b%d { --c: #%02x%02x%02x; } .b%[1]d .line {%[5]s }\n", i, c.R, c.G, c.B, dashes)
		mix := func(v uint8) uint8 {
			if c.R == 0 && c.G == 0 && c.B == 0 {
				return 240
			}
			return uint8(float64(v) + 0.35*(255-float64(v)))
		}
		fmt.Fprintf(&dark, ".b%d { --c: #%02x%02x%02x; } ", i, mix(c.R), mix(c.G), mix(c.B))
	}
	return light.String() + "@media screen and (prefers-color-scheme: dark) { " + dark.String() + "}\n"
}

// px returns where a point is.
func (d *drawing) px(p plotter.XY) (x, y float64) {
	return d.box.Left + d.X.place(p.X)*d.box.Width, d.box.Top + (1-d.Y.place(p.Y))*d.box.Height
}

// field is the field of the picture, which it has.
func (d *drawing) field() fieldPage { return fieldPage{d.Picture, d.px} }

func (d *drawing) path(xy plotter.XYs) string {
	var b strings.Builder
	for i, p := range xy {
		x, y := d.px(p)
		fmt.Fprintf(&b, "%c%.2f %.2f", "ML"[min(i, 1)], x, y)
	}
	return b.String()
}

// svg draws the axes and the bands.
func (d *drawing) svg() {
	w, box := &d.out, d.box
	fmt.Fprintf(w, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s: %s against %s\">\n", d.width, d.height, html.EscapeString(d.Title), html.EscapeString(d.Y.Label), html.EscapeString(d.X.Label))
	text := func(x, y float64, anchor, t string) {
		fmt.Fprintf(w, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, html.EscapeString(t))
	}
	for _, t := range d.X.Marker().Ticks(d.X.Min, d.X.Max) {
		if x, _ := d.px(plotter.XY{X: t.Value, Y: d.Y.Min}); t.Label != "" {
			fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.2f %.2fv%.2f\"/>\n", x, box.Top, box.Height)
			text(x, box.Top+box.Height+19, "middle", t.Label)
		}
	}
	for _, t := range d.Y.Marker().Ticks(d.Y.Min, d.Y.Max) {
		if _, y := d.px(plotter.XY{X: d.X.Min, Y: t.Value}); t.Label != "" {
			fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.2f %.2fh%.2f\"/>\n", box.Left, y, box.Width)
			text(box.Left-7, y+4.5, "end", t.Label)
		}
	}
	if d.Field != nil {
		d.field().svg(w, box)
	}
	fmt.Fprintf(w, "<path class=\"axis\" fill=\"none\" d=\"M%.2f %.2fv%.2fh%.2f\"/>\n", box.Left, box.Top, box.Height, box.Width)
	text(box.Left+box.Width/2, d.height-8, "middle", d.X.Label)
	fmt.Fprintf(w, "<text transform=\"translate(15 %.2f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", box.Top+box.Height/2, html.EscapeString(d.Y.Label))
	for i := range d.Bands {
		d.band(i)
	}
	if d.Field != nil {
		w.WriteString("<rect class=\"cursor\" fill=\"none\"/>\n</svg>\n")
		return
	}
	w.WriteString("<line class=\"cursor\"/>\n</svg>\n")
}

// band draws band i.
func (d *drawing) band(i int) {
	w, b := &d.out, &d.Bands[i]
	xy := d.Drawn(b)
	fmt.Fprintf(w, "<g class=\"b%d\">\n", i)
	defer w.WriteString("</g>\n")
	switch {
	case b.Area != nil:
		radius := d.discs(b, d.width, d.height)
		for k, p := range xy {
			x, y := d.px(p)
			fmt.Fprintf(w, "<circle class=\"disc\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"/>\n", x, y, radius[k])
		}
		return
	case b.Crosses:
		for _, p := range xy {
			x, y := d.px(p)
			fmt.Fprintf(w, "<path class=\"cross\" d=\"M%.2f %.2fl8 8m0 -8l-8 8\"/>\n", x-4, y-4)
		}
		return
	}
	if ring := d.ring(b); ring != nil {
		fmt.Fprintf(w, "<path class=\"area\" d=\"%sz\"/>\n", d.path(ring))
	}
	if len(xy) > 1 {
		fmt.Fprintf(w, "<path class=\"line\" d=\"%s\"/>\n", d.path(xy))
	}
	if b.Dots || len(xy) == 1 {
		for k := range b.X {
			for _, p := range d.line(b.X[k:k+1], b.Proved[k:k+1], Straight) {
				x, y := d.px(p)
				fmt.Fprintf(w, "<circle class=\"dot\" cx=\"%.2f\" cy=\"%.2f\" r=\"%v\"/>\n", x, y, 3.4)
			}
		}
	}
}

// reading is the slider, the legend and what it says.
func (d *drawing) reading() {
	w := &d.out
	steps, label := 1000, d.X.Label
	if d.Field != nil {
		steps, label = len(d.Field.X)*len(d.Field.Y)-1, "cell"
	} else if d.Y.Names != nil {
		steps, label = len(d.Y.Names)-1, "row"
	} else if d.X.Whole && d.X.Max-d.X.Min < 1e4 {
		steps = int(d.X.Max - d.X.Min)
	}
	fmt.Fprintf(w, "<p class=\"control\"><label for=\"at\">%s</label><input id=\"at\" type=\"range\" min=\"0\" max=\"%d\" value=\"%d\"></p>\n", html.EscapeString("Read at "+label), max(steps, 1), steps/2)
	fmt.Fprint(w, "<p id=\"where\" class=\"control\"></p>\n")
	if d.Y.Names != nil || d.Field != nil {
		return
	}
	fmt.Fprintf(w, "<table>\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">curve</th><th scope=\"col\">%s</th></tr></thead>\n<tbody>\n", html.EscapeString(d.Y.Label))
	for i := range d.Bands {
		b := &d.Bands[i]
		key := "<path class=\"line\" d=\"M0 7h44\"/>"
		switch {
		case b.Area != nil:
			key = "<circle class=\"disc\" cx=\"22\" cy=\"7\" r=\"6\"/>"
		case b.Crosses:
			key = "<path class=\"cross\" d=\"M18 3l8 8m0 -8l-8 8\"/>"
		}
		fmt.Fprintf(w, "<tr><td><svg class=\"key b%d\" viewBox=\"0 0 44 14\" aria-hidden=\"true\">%s</svg></td><th scope=\"row\">%s</th><td class=\"value\"></td></tr>\n", i, key, html.EscapeString(d.Label(b)))
	}
	fmt.Fprint(w, "</tbody>\n</table>\n")
}

// numbers are the points of the bands, upper ends rounded up and lower ends down.
func (d *drawing) numbers() {
	w := &d.out
	fmt.Fprint(w, "<details>\n<summary>Numbers</summary>\n")
	if d.Field != nil {
		d.field().numbers(w)
	}
	for i := range d.Bands {
		b := &d.Bands[i]
		name := d.Label(b)
		if d.Y.Names != nil && len(b.Proved) > 0 {
			name = d.Y.Names[int(b.Proved[0])]
		}
		fmt.Fprintf(w, "<table>\n<caption>%s</caption>\n<thead><tr><th scope=\"col\">%s</th>", html.EscapeString(name), html.EscapeString(d.X.Label))
		if d.Y.Names == nil {
			fmt.Fprintf(w, "<th scope=\"col\">%s</th>", html.EscapeString(d.Y.Label))
		}
		fmt.Fprint(w, "</tr></thead>\n<tbody>\n")
		for k, x := range b.X {
			cells := []string{numberText(x, decimal.Near)}
			switch {
			case d.Y.Names != nil:
				dir := decimal.Up
				if k == 0 && len(b.X) > 1 {
					dir = decimal.Down
				}
				cells[0] = numberText(x, dir)
			case b.Lower != nil:
				cells = append(cells, numberText(b.Lower[k], decimal.Down)+" … "+numberText(b.Upper[k], decimal.Up))
			default:
				cells = append(cells, numberText(b.Proved[k], boundDirection[b.Bound]))
			}
			if b.Area != nil {
				cells[1] += ", probability " + numberText(b.Area[k], decimal.Near)
			}
			fmt.Fprintf(w, "<tr><td>%s</td></tr>\n", strings.Join(cells, "</td><td>"))
		}
		fmt.Fprint(w, "</tbody>\n</table>\n")
	}
	fmt.Fprint(w, "</details>\n")
}
