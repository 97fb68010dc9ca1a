package main

// Figures: losses, biases, the regression and the law of a randomizer.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/labeldp"
)

// style is the look of a method; a clipped or discrete one has the colour of what it is
// made of, and one that is biased has dashes.
func style(name string) figure.Method {
	m := figure.Named("labels", strings.TrimPrefix(strings.TrimPrefix(name, "clipped-"), "discrete-"))
	if strings.HasPrefix(name, "clipped") {
		return m.Dashed(1)
	}
	return m
}

// A curve is numbers of a method, over what all curves of a picture are over, and bars about them, if any.
type curve struct {
	name     string
	ys, bars []float64
}

// bands returns curves. Where the axis is logarithmic they have no points that are not above zero.
func bands(log bool, xs []float64, curves []curve) (out []figure.Band) {
	for _, c := range curves {
		b := figure.Band{Name: c.name, Method: style(c.name), Wide: strings.HasPrefix(c.name, "optimal") || c.name == "clean labels"}
		for j, y := range c.ys {
			if !log || y > 0 {
				b.Add(xs[j], y)
				if c.bars != nil {
					b.Errors = append(b.Errors, c.bars[j])
				}
			}
		}
		if b.X != nil {
			out = append(out, b)
		}
	}
	return out
}

// draw writes a picture of curves and, as CSV beside it, their numbers: x and a column for each. If the picture has its bands already,
// only the numbers are of the curves.
func (r *report) draw(name string, pic figure.Picture, x string, xs []float64, curves []curve) {
	if pic.Bands == nil {
		pic.Bands = bands(pic.Y.Log, xs, curves)
	}
	var b strings.Builder
	b.WriteString(x)
	for _, c := range curves {
		b.WriteString("," + c.name)
	}
	for i, v := range xs {
		fmt.Fprintf(&b, "\n%.9g", v)
		for _, c := range curves {
			fmt.Fprintf(&b, ",%.9g", c.ys[i])
		}
	}
	try.Check(os.WriteFile(filepath.Join(r.dir, name+".csv"), []byte(b.String()+"\n"), 0o644))
	r.save(name, pic)
}

func (r *report) save(name string, pic figure.Picture) {
	plots.Save(filepath.Join(r.dir, name+".png"), figure.Size{Width: 18 * vg.Centimeter, Height: 11 * vg.Centimeter}, []figure.Picture{pic})
}

func (r *report) drawLosses(name, prior string, eps []float64, curves []curve) {
	pic := figure.Picture{Title: "Noisy label loss, prior: " + prior, X: figure.Axis{Label: "ε", Log: true, At: []float64{0.1, 0.2, 0.5, 1, 2, 4, 8}}, Y: figure.Axis{Label: "half-loss", Log: true}}
	shown := slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return strings.Contains(c.name, "discrete") }) // on top of the continuous ones
	pic.Bands = bands(true, eps, shown)
	r.draw(name, pic, "epsilon", eps, curves)
}

// drawLaw draws the output law of each label.
func (r *report) drawLaw(name string, m labeldp.Randomizer) {
	pic := figure.Law(m.Labels(), m.Outputs(), m.Row)
	pic.Title = fmt.Sprintf("Output law per label, ε = %v", m.Epsilon())
	pic.X.Label = "output (area of a disc: its probability; ×: the label, which is the mean)"
	var rows []curve
	for i, y := range m.Labels() {
		rows = append(rows, curve{name: fmt.Sprintf("P(·|%v)", y), ys: m.Row(i)})
	}
	r.draw(name, pic, "output", m.Outputs(), rows)
}
