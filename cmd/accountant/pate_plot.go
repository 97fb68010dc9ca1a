package main

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/rdp"
)

// patePicture draws ε against the number of answered queries: the report's, what its
// checks alone cost, and the data-independent one. What more queries cost is an upper
// bound for fewer.
func patePicture(ctx context.Context, answer any, _ *asking) (pic figure.Picture, err error) {
	a := answer.(service.PateAnswer)
	r, delta := a.Run, a.Delta
	n := r.Votes.Queries()
	points := min(n, mostPoints)
	cuts := make([]int, points)
	for i := range cuts {
		cuts[i] = (i + 1) * n / points
	}
	between := figure.ToRight
	if points == n {
		between = figure.Straight // there is nothing between whole numbers of queries
	}
	costs, err := r.Running(ctx, r.Report, cuts)
	if err != nil {
		return pic, err
	}
	independent, err := r.Running(ctx, pate.DataIndependent, cuts)
	if err != nil {
		return pic, err
	}
	pic = figure.Picture{Title: fmt.Sprintf("%v, δ = %s", r.Aggregator, short(delta)), X: figure.Axis{Label: "answered queries"}, Y: figure.Axis{Label: "ε"}, LegendLeft: true, LegendUp: true}
	switch r.Report {
	case pate.Worst:
		pic.X.Label = "queries, all of them charged as answered"
	case pate.ExpectedNotABound:
		pic.X.Label = "expected number of answered queries"
	}
	line := func(name string, method figure.Method, costs []pate.Cost, part func(pate.Cost) rdp.Grid) error {
		b := figure.Band{Name: name, Method: method, Between: between}
		for i, x := range costs {
			eps, _, err := r.EpsilonOf(x, part(x), delta)
			if err != nil {
				return err
			}
			at := x.Answered
			if x.Report != r.Report && r.Report == pate.ExpectedNotABound {
				at = float64(cuts[i])
			}
			if x.Report == pate.ExpectedNotABound {
				b.Between = figure.Straight
			}
			b.X, b.Proved = append(b.X, at), append(b.Proved, eps)
			pic.X.Max, pic.Y.Max = max(pic.X.Max, at), max(pic.Y.Max, 1.05*eps)
		}
		pic.Bands = append(pic.Bands, b)
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
		if err := line(name, pateMethod(r.Aggregator), costs, total); err != nil {
			return pic, err
		}
		if costs[len(costs)-1].Threshold.Values[0] > 0 {
			check := func(c pate.Cost) rdp.Grid { return c.Threshold }
			if err := line("checks alone", figure.Check, costs, check); err != nil {
				return pic, err
			}
		}
	}
	flat := "data-independent"
	if r.Report == pate.ExpectedNotABound || costs[0].ExPost {
		flat += ", every query answered"
	}
	err = line(flat, figure.DataIndependent, independent, total)
	pic.LogWhereNeeded()
	return pic, err
}

// pateMethod is how an aggregator is drawn.
func pateMethod(a pate.Aggregator) figure.Method {
	switch a.(type) {
	case pate.LNMax:
		return figure.LNMax
	case pate.GNMax:
		return figure.GNMax
	}
	return figure.Confident
}
