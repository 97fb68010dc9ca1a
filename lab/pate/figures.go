package main

// Figures of the costs of queries under each mechanism.

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

const width, height = 16 * vg.Centimeter, 10 * vg.Centimeter

var figures = []struct {
	name string
	draw func() *drawing
}{
	{"gnss", drawGNSS},
	{"cost", drawCost},
	{"epsilon", drawEpsilon},
	{"split", drawSplit},
	{"sensitivity", drawSensitivity},
}

// A drawing is a plot with the curves that it shows.
type drawing struct {
	*plot.Plot
	curves []plots.Curve
}

func newPlot(x, y string) *drawing {
	p := plots.New("", x, y)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs, p.Legend.ThumbnailWidth = vg.Points(2), vg.Points(6), -vg.Points(4), vg.Points(30)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	return &drawing{Plot: p}
}

// line adds a curve with its name, which is in the legend and in the numbers.
func (d *drawing) line(style draw.LineStyle, name string, xy plotter.XYs) {
	l := try.Must(plotter.NewLine(xy))
	l.LineStyle = style
	d.Add(l)
	d.Legend.Add(name, l)
	d.curves = append(d.curves, plots.Curve{Name: name, XY: xy})
}

func drawGNSS() *drawing {
	p := newPlot("λβ", "exact / printed cost")
	const order = 14
	for k, sigma := range []float64{2, 6.23, 20} {
		var xy plotter.XYs
		for x := .02; x < .481; x += .005 {
			printed, _ := try.Must2(pate.GNSS{Order: order, Beta: x / order}.PrintedNotABound(sigma))
			exact := try.Must(pate.GNSS{Order: order, Beta: x / order}.RDP(sigma))
			xy = append(xy, plotter.XY{X: x, Y: exact / printed})
		}
		p.line(plots.Shade(figure.GNMax, k, 3), fmt.Sprintf("σ = %v", sigma), xy)
	}
	p.Add(try.Must(plotter.NewLine(plotter.XYs{{X: .25, Y: 0}, {X: .25, Y: 6}})), try.Must(plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: .48, Y: 1}}))) // guides
	p.X.Min, p.Y.Min = 0, 0
	return p
}

func drawCost() *drawing {
	p := newPlot("log q", "cost / (λ/σ²)")
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = figure.Decades{}
	p.Legend.Left, p.Legend.Top, p.Legend.YOffs, p.Legend.XOffs = false, false, vg.Points(6), -vg.Points(6)
	g := try.Must(pate.NewGNMax(40))
	for k, order := range []float64{2, 8, 14, 32} {
		var xy plotter.XYs
		for l := -20.0; l <= -1; l += .05 {
			v := try.Must(g.DependentRDP(l, order))
			xy = append(xy, plotter.XY{X: l, Y: v / g.RDP(order)})
		}
		p.line(plots.Shade(figure.GNMax, k, 4), fmt.Sprintf("λ = %v", order), xy)
	}
	return p
}

func drawEpsilon() *drawing {
	p := newPlot("queries", "ε")
	run := runs[0]
	l, answered := run.ledger()
	votes := try.Must(ballots.SynthS1(run.teachers, run.classes, run.queries))
	gn := try.Must(pate.Account(context.Background(), votes, try.Must(pate.NewGNMax(run.sigma2)), pate.Options{Price: pate.Theorem6}))
	ln := try.Must(pate.Account(context.Background(), votes, try.Must(pate.NewLNMax(.05)), pate.Options{Price: pate.Theorem6}))
	var cuts []int
	for k := 8; k <= run.queries; k += 8 {
		cuts = append(cuts, k)
	}
	for k, c := range []struct {
		name     string
		method   figure.Method
		l        *pate.Ledger
		r        pate.Report
		answered []bool
	}{
		{"LNMax, γ = 1/20", figure.LNMax, ln, pate.Worst, nil},
		{"GNMax, σ = 40", figure.GNMax, gn, pate.Worst, nil},
		{"Confident, T = 200, σ1 = 150, σ2 = 40, ex post", figure.Confident, l, pate.Realised, answered},
		{"Confident, every query answered", figure.Confident, l, pate.Worst, nil},
		{"the same, data-independent", figure.DataIndependent, l, pate.DataIndependent, nil},
	} {
		costs := try.Must(c.l.Running(context.Background(), c.r, c.answered, cuts))
		var xy plotter.XYs
		for i, x := range costs {
			e, _ := try.Must2(x.Epsilon(x.Total, pate.Classic, run.delta))
			xy = append(xy, plotter.XY{X: float64(cuts[i]), Y: e})
		}
		p.line(c.method.Style(k), c.name, xy)
	}
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, 6
	return p
}

func drawSplit() *drawing {
	p := newPlot("order λ", "Rényi cost")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks{{Value: 2, Label: "2"}, {Value: 5, Label: "5"}, {Value: 10, Label: "10"}, {Value: 20, Label: "20"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}}, figure.Decades{}
	l, _ := runs[1].ledger()
	dep := try.Must(l.Cost(context.Background(), pate.Worst, nil))
	ind := try.Must(l.Cost(context.Background(), pate.DataIndependent, nil))
	for k, c := range []struct {
		name   string
		method figure.Method
		g      rdp.Grid
	}{
		{"checks", figure.Check, dep.Threshold}, {"answers", figure.GNMax, dep.Answer}, {"both", figure.Confident, dep.Total},
		{"both, data-independent", figure.DataIndependent, ind.Total},
	} {
		var xy plotter.XYs
		for i, a := range c.g.Orders {
			xy = append(xy, plotter.XY{X: a, Y: c.g.Values[i]})
		}
		p.line(c.method.Style(k), c.name, xy)
	}
	return p
}

func drawSensitivity() *drawing {
	p := newPlot("distance d", "sensitivity")
	l, _ := runs[0].ledger()
	s := try.Must(l.NewSensitivity(context.Background(), 14, pate.Worst, nil))
	for k, c := range []struct {
		name string
		beta float64
	}{{"local, within d", 0}, {"discounted, β = 0.2/λ", .2 / 14}, {"discounted, β = 0.4/λ", .4 / 14}} {
		var xy plotter.XYs
		for d := range 121 {
			xy = append(xy, plotter.XY{X: float64(d), Y: s.Local[d] * math.Exp(-c.beta*float64(d))})
		}
		p.line(plots.Shade(figure.Confident, k, 3), c.name, xy)
	}
	p.Y.Min, p.Y.Max = 0, .36
	return p
}
