// Command pate reproduces what can be reproduced, without its votes, of the tables of Papernot et
// al., "Scalable Private Learning with PATE" (ICLR 2018). It shows the rest on synthetic votes and
// on the votes of teachers on real digits (lab/digits). It writes docs/experiments/pate.md and
// pate-digits.md, their figures and their numbers.
//
//	go run ./lab/pate -out docs/experiments [-only paper|digits]
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

func main() {
	out := plots.OutFlag("docs/experiments")
	only := flag.String("only", "", "page to write: paper or digits (default both)")
	from := flag.String("votes", "lab/votes/testdata", "`directory` of the votes on digits")
	flag.Parse()
	try.Main(func() {
		if *only != "digits" {
			run(out())
		}
		if *only != "paper" {
			digits(*from, out())
		}
	})
}

func run(out string) {
	plots.WritePage(out, "pate", page())
	for _, f := range figures {
		p := f.draw()
		name := filepath.Join(out, "pate-"+f.name)
		plots.Save(name+".svg", size, []figure.Picture{p})
		named := slices.DeleteFunc(p.Bands, func(b figure.Band) bool { return b.Name == "" })
		try.Check(os.WriteFile(name+".csv", plots.Numbers(p.X.Label, p.Y.Label, 6, named), 0o644))
	}
}

// Figures of the costs of queries under each mechanism.

var size = figure.Size{Width: 16 * vg.Centimeter, Height: 10 * vg.Centimeter}

var figures = []struct {
	name string
	draw func() figure.Picture
}{
	{"gnss", drawGNSS},
	{"cost", drawCost},
	{"epsilon", drawEpsilon},
	{"split", drawSplit},
	{"sensitivity", drawSensitivity},
}

func newPicture(x, y string) figure.Picture {
	return figure.Picture{X: figure.Axis{Label: x}, Y: figure.Axis{Label: y}, LegendUp: true, LegendLeft: true}
}

func drawGNSS() figure.Picture {
	p := newPicture("λβ", "exact / printed cost")
	const order = 14
	for k, sigma := range []float64{2, 6.23, 20} {
		b := figure.Band{Name: fmt.Sprintf("σ = %v", sigma), Method: figure.GNMax.Shade(k, 3)}
		for x := .02; x < .481; x += .005 {
			printed, _ := try.Must2(pate.GNSS{Order: order, Beta: x / order}.PrintedNotABound(sigma))
			exact := try.Must(pate.GNSS{Order: order, Beta: x / order}.RDP(sigma))
			b.Add(x, exact/printed)
		}
		p.Bands = append(p.Bands, b)
	}
	p.Bands = append(p.Bands, figure.Band{Muted: true, X: []float64{.25, .25}, Proved: []float64{0, 6}}, figure.Band{Muted: true, X: []float64{0, .48}, Proved: []float64{1, 1}})
	return p
}

func drawCost() figure.Picture {
	p := newPicture("log q", "cost / (λ/σ²)")
	p.Y.Log, p.LegendLeft, p.LegendUp = true, false, false
	g := try.Must(pate.NewGNMax(40))
	for k, order := range []float64{2, 8, 14, 32} {
		b := figure.Band{Name: fmt.Sprintf("λ = %v", order), Method: figure.GNMax.Shade(k, 4)}
		for l := -20.0; l <= -1; l += .05 {
			b.Add(l, try.Must(g.DependentRDP(l, order))/g.RDP(order))
		}
		p.Bands = append(p.Bands, b)
	}
	return p
}

func drawEpsilon() figure.Picture {
	p := newPicture("queries", "ε")
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
		b := figure.Band{Name: c.name, Method: c.method.Dashed(k)}
		for i, x := range try.Must(c.l.Running(context.Background(), c.r, c.answered, cuts)) {
			e, _ := try.Must2(x.Epsilon(x.Total, pate.Classic, run.delta))
			b.Add(float64(cuts[i]), e)
		}
		p.Bands = append(p.Bands, b)
	}
	p.Y.Max = 6
	return p
}

func drawSplit() figure.Picture {
	p := newPicture("order λ", "Rényi cost")
	p.X.Log, p.Y.Log, p.X.At = true, true, []float64{2, 5, 10, 20, 50, 100}
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
		p.Bands = append(p.Bands, figure.Band{Name: c.name, Method: c.method.Dashed(k), X: c.g.Orders, Proved: c.g.Values})
	}
	return p
}

func drawSensitivity() figure.Picture {
	p := newPicture("distance d", "sensitivity")
	l, _ := runs[0].ledger()
	s := try.Must(l.NewSensitivity(context.Background(), 14, pate.Worst, nil))
	for k, c := range []struct {
		name string
		beta float64
	}{{"local, within d", 0}, {"discounted, β = 0.2/λ", .2 / 14}, {"discounted, β = 0.4/λ", .4 / 14}} {
		b := figure.Band{Name: c.name, Method: figure.Confident.Shade(k, 3)}
		for d := range 121 {
			b.Add(float64(d), s.Local[d]*math.Exp(-c.beta*float64(d)))
		}
		p.Bands = append(p.Bands, b)
	}
	return p
}
