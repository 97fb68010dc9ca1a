package main

import (
	"context"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/service"
)

// plotPate draws ε against the number of answered queries: the report's, what its
// checks alone cost, and the data-independent one. It is long because the curves, the
// legend and the axes follow one another and share what is drawn so far.
func plotPate(ctx context.Context, a service.PateAnswer, path string) error {
	r, delta := a.Run, a.Delta
	n := r.Votes.Queries()
	points := min(n, 100)
	cuts := make([]int, points)
	for i := range cuts {
		cuts[i] = (i + 1) * n / points
	}
	costs, err := r.Running(ctx, r.Report, cuts)
	if err != nil {
		return err
	}
	independent, err := r.Running(ctx, pate.DataIndependent, cuts)
	if err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%v, δ = %s", r.Aggregator, short(delta))
	p.X.Label.Text = "answered queries"
	switch r.Report {
	case pate.Worst:
		p.X.Label.Text = "queries, all of them charged as answered"
	case pate.ExpectedNotABound:
		p.X.Label.Text = "expected number of answered queries"
	}
	p.Title.Padding = vg.Points(8)
	p.Y.Label.Text = "ε"
	p.Y.Min, p.X.Min = 0, 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.Padding = vg.Points(6), vg.Points(2)
	p.Add(plotter.NewGrid())
	line := func(name string, costs []pate.Cost, part func(pate.Cost) rdp.Grid, c color.Color, dashes ...vg.Length) error {
		xy := make(plotter.XYs, 0, len(costs))
		for i, x := range costs {
			eps, _, err := r.EpsilonOf(x, part(x), delta)
			if err != nil {
				return err
			}
			at := x.Answered
			if x.Report != r.Report && r.Report == pate.ExpectedNotABound {
				at = float64(cuts[i])
			}
			xy = append(xy, plotter.XY{X: at, Y: eps})
		}
		g, err := plotter.NewLine(xy)
		if err != nil {
			return err
		}
		g.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.6), Dashes: dashes}
		p.Add(g)
		p.Legend.Add(name, g)
		return nil
	}
	total := func(c pate.Cost) rdp.Grid { return c.Total }
	name := r.Report.String()
	switch {
	case r.Report == pate.ExpectedNotABound:
		name += " (not a bound)"
	case costs[0].ExPost:
		name += " (ex post)"
	}
	if r.Report != pate.DataIndependent {
		if err := line(name, costs, total, color.RGBA{0, 90, 170, 255}); err != nil {
			return err
		}
		if costs[len(costs)-1].Threshold.Values[0] > 0 {
			check := func(c pate.Cost) rdp.Grid { return c.Threshold }
			if err := line("checks alone", costs, check, color.RGBA{0, 130, 80, 255}, vg.Points(5), vg.Points(3)); err != nil {
				return err
			}
		}
	}
	flat := "data-independent"
	if r.Report == pate.ExpectedNotABound || costs[0].ExPost {
		flat += ", every query answered"
	}
	if err := line(flat, independent, total, color.RGBA{200, 80, 0, 255}, vg.Points(1.5), vg.Points(2)); err != nil {
		return err
	}
	return savePicture(p, 16*vg.Centimeter, 10*vg.Centimeter, path)
}
