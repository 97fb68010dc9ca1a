package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/xmath"
)

func newCurveCmd() *cobra.Command {
	return question{name: "curve", what: "drawing", picture: "the curves", width: 17, height: 11, alias: true, except: []string{"plan"}, text: printing(printCurves), draw: drawCurves, rows: listing(curveRows), extra: func(a *asking) {
		q, cmd, run := a.request.(*service.CurveRequest), a.cmd, a.cmd.RunE
		cmd.Flags().StringVar(&a.title, "title", "", "`text` above the picture")
		cmd.ValidArgsFunction = completePlans(0, service.MaxCurves-1)
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			first := slices.Index(args, "-")
			switch {
			case len(args) == 0:
				return errors.New("missing the plan file (- reads standard input)")
			case len(args) > service.MaxCurves:
				return fmt.Errorf("%d plans are more than %d in one picture", len(args), service.MaxCurves)
			case first >= 0 && slices.Contains(args[first+1:], "-"):
				return errors.New("- is standard input, which can be read once")
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if a.plot.file == "" && !a.csv && !a.json {
				return usageError{errors.New("missing --plot FILE for the picture, --csv or --json for its numbers")}
			}
			return run(cmd, args)
		}
		a.read = func() error {
			for i, path := range a.args {
				data, _, err := readInput(cmd, path)
				if err != nil {
					return err
				}
				q.Plans = append(q.Plans, service.NamedPlan{Name: curveName(a.args, i), Plan: data})
			}
			return nil
		}
	}}.command()
}

func printCurves(w io.Writer, _ service.Curves, a *asking) {
	fmt.Fprintf(w, "wrote %s\n", printable(a.plot.file))
}

// warnCurves prints the first warnings of each curve.
func warnCurves(w io.Writer, curves []service.Curve) {
	for _, c := range curves {
		for i, text := range c.Warnings {
			if i == mostWarnings && len(c.Warnings) > mostWarnings+1 {
				fmt.Fprintf(w, "%s%s: %d more of its points have warnings; --json lists them\n", warning(w), c.Plan, len(c.Warnings)-i)
				break
			}
			fmt.Fprintf(w, "%s%s: %s\n", warning(w), c.Plan, oneLine(text))
		}
	}
}

// mostWarnings are printed for a curve.
const mostWarnings = 4

// curveName is the file's name, or its path where two plans share one.
func curveName(args []string, i int) string {
	if args[i] == "-" {
		return "standard input"
	}
	base := filepath.Base(args[i])
	for j, a := range args {
		if j != i && filepath.Base(a) == base {
			return printable(args[i])
		}
	}
	return printable(base)
}

// drawCurves returns the picture of the curves. Between their points it asks for others, where
// a line that is a bound would be far from the curve.
func drawCurves(ctx context.Context, answer any, a *asking) (pic figure.Picture, err error) {
	curves, q := answer.(service.Curves), a.request.(*service.CurveRequest)
	log, rdp := q.Log, q.RDP
	pic = curvesPicture(curves, log)
	first := len(pic.Bands) // of the plans' bands
	same := true
	for _, c := range curves.Curves {
		same = same && c.Unit == curves.Curves[0].Unit
	}
	for _, c := range curves.Curves {
		b := figure.Band{Name: c.Plan, Between: map[string]figure.Joint{service.DeltaKind: figure.Convex, service.StepsKind: figure.ToRight, service.TradeOffKind: figure.ToRight}[curves.Kind]}
		if !same {
			b.Name += " (" + c.Unit.Text() + ")"
		}
		points, every, err := drawn(ctx, curves, c, log)
		if err != nil {
			return pic, err
		}
		if every {
			b.Between = figure.Straight // there is no length between these
		}
		for _, p := range points {
			b.X = append(b.X, float64(p.X))
			b.Lower, b.Upper = append(b.Lower, float64(p.Lower)), append(b.Upper, float64(p.Upper))
		}
		b.Proved = b.Upper
		if curves.Y == "false-negative-rate" {
			b.Proved = b.Lower
		}
		if rdp && len(curves.Curves) == 1 {
			b.Name, b.Method = "Fourier, certified", figure.Certified
		}
		pic.Bands = append(pic.Bands, b)
		if rdp {
			pic.Bands = append(pic.Bands, rdpBands(c.Plan, points, b.Between, len(curves.Curves) > 1)...)
		}
	}
	if curves.Kind == service.StepsKind {
		pic.LogWhereNeeded()
	}
	if len(curves.Curves) == 1 {
		pic.Title += ": " + curves.Curves[0].Plan
		if !rdp {
			pic.Bands[first].Name = "certified, " + curves.Curves[0].Unit.Text()
		}
	}
	pic.Title = cmp.Or(a.title, pic.Title)
	return pic, nil
}

// rdpBands returns the lines of Rényi accounting: of one plan in the colours of the
// methods, of several in grey beside the colours of the plans.
func rdpBands(plan string, points []service.CurvePoint, between figure.Joint, several bool) (bands []figure.Band) {
	for j, m := range []figure.Method{figure.Renyi, figure.RenyiClassic} {
		r := figure.Band{Name: m.Name, Method: m, Between: between}
		if several {
			r.Name, r.Muted, r.Dashes = plan+": "+r.Name, true, m.Line().Dashes
		}
		for _, p := range points {
			if p.RDP != nil {
				v := float64([]service.Number{p.RDP.Upper, p.RDP.ClassicUpper}[j])
				r.X, r.Proved = append(r.X, float64(p.X)), append(r.Proved, v)
			}
		}
		bands = append(bands, r)
	}
	return bands
}

// curvesPicture returns the axes of a kind of curve, and what is known without one.
func curvesPicture(c service.Curves, log bool) figure.Picture {
	switch c.Kind {
	case service.StepsKind:
		pic := figure.Picture{Title: "ε at δ = " + short(c.At), X: figure.Axis{Label: "runs", Whole: true}, Y: figure.Axis{Label: "ε"}, LegendLeft: true, LegendUp: true}
		for _, curve := range c.Curves {
			for _, p := range curve.Points {
				pic.X.Max = max(pic.X.Max, float64(p.X))
				if upper := float64(p.Upper); !math.IsInf(upper, 0) {
					pic.Y.Max, pic.Y.Min = max(pic.Y.Max, 1.05*upper), min(pic.Y.Min, 1.05*upper)
				}
			}
		}
		if pic.Y.Max == pic.Y.Min {
			pic.Y.Max = 1 // ε is 0, or infinite, everywhere
		}
		return pic
	case service.TradeOffKind:
		chance := figure.Band{Name: "no information", Muted: true}
		pic := figure.Picture{Title: "Trade-off of the best attack", X: figure.Axis{Label: "false-positive rate", Max: 1}, Y: figure.Axis{Label: "false-negative rate", Max: 1}, LegendUp: true}
		chance.X, chance.Proved = []float64{0, 1}, []float64{1, 0}
		if log {
			first := float64(c.Curves[0].Points[0].X)
			pic.Title, pic.Y.Label = "Power of the best attack", "true-positive rate"
			for _, a := range []*figure.Axis{&pic.X, &pic.Y} {
				a.Log, a.Min = true, first
			}
			chance.X, chance.Proved = []float64{first, 1}, []float64{first, 1}
		}
		pic.Bands = []figure.Band{chance}
		return pic
	}
	return figure.Picture{Title: "Privacy profile", X: figure.Axis{Label: "ε", Min: c.From, Max: c.To}, Y: figure.Axis{Label: "δ", Log: true, Min: c.Floor, Max: 1}, LegendUp: true}
}

// drawn returns the points of a curve and the others that its line needs, but none where
// a limit was reached: more points there only take longer. It reports whether there are points at
// every length that the plan can have.
func drawn(ctx context.Context, all service.Curves, c service.Curve, log bool) (points []service.CurvePoint, every bool, err error) {
	limited := func(p service.CurvePoint) bool { return len(p.Warnings) > 0 }
	switch {
	case all.Kind != service.StepsKind:
	case slices.ContainsFunc(c.Points, limited):
		return c.Points, false, nil
	default:
		return c.Lengths(ctx, max(mostPoints, len(c.Points)))
	}
	middle := func(a, b service.CurvePoint) (float64, bool) { return middleOfRates(all, a, b, log) }
	if all.Kind == service.DeltaKind {
		middle = func(a, b service.CurvePoint) (float64, bool) { return middleOfDeltas(all, a, b) }
	}
	points, err = finer(c.Points, func(a, b service.CurvePoint) (float64, bool) {
		if limited(a) || limited(b) {
			return 0, false
		}
		return middle(a, b)
	}, func(at []float64) ([]service.CurvePoint, error) { return c.More(ctx, at) })
	return points, false, err
}

// middleOfDeltas returns a place between two points of the kind delta where another one
// is needed: at bends and jumps the line is far above the chord of the two.
func middleOfDeltas(all service.Curves, a, b service.CurvePoint) (float64, bool) {
	ax, bx := float64(a.X), float64(b.X)
	if (bx-ax)/(all.To-all.From) < lineStep {
		return 0, false
	}
	lines := [][2]service.Number{{a.Upper, b.Upper}}
	if a.RDP != nil && b.RDP != nil {
		lines = append(lines, [2]service.Number{a.RDP.Upper, b.RDP.Upper}, [2]service.Number{a.RDP.ClassicUpper, b.RDP.ClassicUpper})
	}
	for _, line := range lines {
		upper, lower := float64(line[0]), float64(line[1])
		if upper <= all.Floor {
			continue
		}
		last := max(lower, all.Floor)
		for _, c := range figure.Tangents(plotter.XY{X: ax, Y: upper}, plotter.XY{X: bx, Y: lower}, true, all.Floor) {
			share := (c.X - ax) / (bx - ax)
			if chord := xmath.Log(upper) + share*xmath.Log(last/upper); xmath.Log(c.Y)-chord > -xmath.Log(all.Floor)*lineStep {
				return ax + (bx-ax)/2, true
			}
		}
	}
	return 0, false
}

// middleOfRates is middleOfDeltas for the kind trade-off, whose line goes in steps.
func middleOfRates(all service.Curves, a, b service.CurvePoint, log bool) (float64, bool) {
	ax, bx := float64(a.X), float64(b.X)
	if log {
		whole := -xmath.Log(float64(all.Curves[0].Points[0].X)) * lineStep
		return math.Sqrt(ax * bx), xmath.Log(bx/ax) > whole && xmath.Log(float64(b.Upper/a.Upper)) > whole
	}
	return ax + (bx-ax)/2, bx-ax > lineStep/1000 && float64(a.Lower-b.Lower) > lineStep
}

// mostPoints is how many steps of lineStep a picture has. A line has up to twice as many points, since halving
// makes some steps half as high, or four times those that were asked for.
const mostPoints = 1 / lineStep

// finer returns the points of a curve with others between them, up to twice mostPoints, found by
// ask where middle returns a place between two of them.
func finer(points []service.CurvePoint, middle func(a, b service.CurvePoint) (x float64, wanted bool), ask func([]float64) ([]service.CurvePoint, error)) ([]service.CurvePoint, error) {
	for most := max(2*mostPoints, 4*len(points)); len(points) < most; {
		var at []float64
		for i := 1; i < len(points) && len(points)+len(at) < most; i++ {
			if x, wanted := middle(points[i-1], points[i]); wanted && x > float64(points[i-1].X) && x < float64(points[i].X) {
				at = append(at, x)
			}
		}
		if len(at) == 0 {
			break
		}
		more, err := ask(at)
		if err != nil {
			return nil, err
		}
		points = append(slices.Clip(points), more...)
		slices.SortFunc(points, func(a, b service.CurvePoint) int {
			if a.X < b.X {
				return -1
			}
			return 1
		})
	}
	return points, nil
}

// lineStep is how far a line may be from the curve that it bounds, as a share of the
// picture: half a pixel of the 650 or so that the axis of a curve has at the default resolution.
const lineStep = 1.0 / 1300
