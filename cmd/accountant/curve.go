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
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/xmath"
)

func newCurveCmd() *cobra.Command {
	return question{name: "curve", what: "drawing", picture: "the curves", width: 17, height: 11, alias: true, except: []string{"plan"}, text: printing(printCurves), draw: drawCurves, rows: listing(curveRows), extra: func(a *asking) {
		q, cmd := a.request.(*service.CurveRequest), a.cmd
		cmd.Flags().StringVar(&a.title, "title", "", "`text` above the picture")
		cmd.ValidArgsFunction = completePlans(0, service.MaxCurves-1)
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			first := slices.Index(args, "-")
			switch {
			case len(args) == 0:
				return errors.New("missing the " + ofPlan)
			case len(args) > service.MaxCurves:
				return fmt.Errorf("%d plans are more than %d in one picture", len(args), service.MaxCurves)
			case first >= 0 && slices.Contains(args[first+1:], "-"):
				return errors.New("- is standard input, which can be read once")
			}
			return nil
		}
		a.read = func() error {
			if a.plot.file == "" && !a.csv && !a.json {
				return usageError{errors.New("missing --plot FILE for the picture, --csv or --json for its numbers")}
			}
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

// atDelta is the δ of a curve where others have another.
func atDelta(all []service.Curve, c service.Curve) string {
	if !slices.ContainsFunc(all, func(other service.Curve) bool { return other.Delta != c.Delta }) {
		return ""
	}
	return " at δ = " + short(c.Delta)
}

// warnCurves prints the first warnings of each curve.
func warnCurves(w io.Writer, curves []service.Curve) {
	for _, c := range curves {
		name := c.Plan + atDelta(curves, c)
		for i, text := range c.Warnings {
			if i == mostWarnings && len(c.Warnings) > mostWarnings+1 {
				fmt.Fprintf(w, "%s%s: %d more of its points have warnings; --json lists them\n", warning(w), name, len(c.Warnings)-i)
				break
			}
			fmt.Fprintf(w, "%s%s: %s\n", warning(w), name, oneLine(text))
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

// drawCurves returns the picture of the curves.
func drawCurves(ctx context.Context, answer any, a *asking) (figure.Picture, error) {
	curves, q := answer.(service.Curves), a.request.(*service.CurveRequest)
	pic := curvesPicture(curves, q.Log)
	first := len(pic.Bands) // of the plans' bands
	if err := addBands(ctx, &pic, curves, q.Log, q.RDP); err != nil {
		return pic, err
	}
	if curves.Kind == service.StepsKind {
		pic.LogWhereNeeded()
	}
	if one := &pic.Bands[first]; len(curves.Curves) == 1 {
		pic.Title += ": " + one.Name
		if one.Name = "certified, " + curves.Curves[0].Unit.Text(); q.RDP {
			one.Name, one.Method = "Fourier, certified", figure.Certified
		}
	}
	pic.Title = cmp.Or(a.title, pic.Title)
	return pic, nil
}

// addBands adds curves to a picture. Between their points it asks for others, where a line that is a bound would be far from
// the curve.
func addBands(ctx context.Context, pic *figure.Picture, curves service.Curves, log, rdp bool) error {
	for _, c := range curves.Curves {
		b := figure.Band{Name: c.Plan, Between: figure.ToRight}
		if slices.ContainsFunc(curves.Curves, func(other service.Curve) bool { return other.Unit != c.Unit }) {
			b.Name += " (" + c.Unit.Text() + ")"
		}
		b.Name += atDelta(curves.Curves, c)
		points, every, err := drawn(ctx, curves, c, log)
		switch {
		case err != nil:
			return err
		case every:
			b.Between = figure.Straight // there is no length between these
		case curves.Kind == service.DeltaKind:
			b.Between = figure.Convex
		}
		for _, p := range points {
			b.X = append(b.X, float64(p.X))
			b.Lower, b.Upper = append(b.Lower, float64(p.Lower)), append(b.Upper, float64(p.Upper))
		}
		b.Proved = b.Upper
		if curves.Y == "false-negative-rate" {
			b.Proved = b.Lower
		}
		pic.Bands = append(pic.Bands, b)
		if rdp {
			pic.Bands = append(pic.Bands, rdpBands(c.Plan, points, b.Between, len(curves.Curves) > 1)...)
		}
	}
	return nil
}

// rdpBands returns the lines of Rényi accounting: of one plan in the colours of the
// methods, of several in grey beside the colours of the plans.
func rdpBands(plan string, points []service.CurvePoint, between figure.Joint, several bool) (bands []figure.Band) {
	for j, m := range []figure.Method{figure.Renyi, figure.RenyiClassic} {
		r := figure.Band{Name: m.Name, Method: m, Between: between}
		if several {
			r.Name, r.Muted = plan+": "+r.Name, true
		}
		for _, p := range points {
			if p.RDP != nil {
				v := float64([]service.Number{p.RDP.Upper, p.RDP.ClassicUpper}[j])
				r.Add(float64(p.X), v)
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
		var deltas []string
		for _, curve := range c.Curves {
			if delta := short(curve.Delta); !slices.Contains(deltas, delta) {
				deltas = append(deltas, delta)
			}
		}
		pic := figure.Picture{Title: "ε at δ = " + service.Listing(deltas, "and"), X: figure.Axis{Label: "runs", Whole: true}, Y: figure.Axis{Label: "ε"}, LegendLeft: true, LegendUp: true}
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

// drawn returns the points of a curve and the others that its line needs, up to twice mostPoints, but none where
// a limit was reached: more points there only take longer. It reports whether there are points at
// every length that the plan can have.
func drawn(ctx context.Context, all service.Curves, c service.Curve, log bool) (points []service.CurvePoint, every bool, err error) {
	limited := func(p service.CurvePoint) bool { return len(p.Warnings) > 0 }
	middle := middleOfRates
	switch {
	case all.Kind == service.StepsKind && slices.ContainsFunc(c.Points, limited):
		return c.Points, false, nil
	case all.Kind == service.StepsKind:
		return c.Lengths(ctx, max(mostPoints, len(c.Points)))
	case all.Kind == service.DeltaKind:
		middle = middleOfDeltas
	}
	points = c.Points
	for most := max(2*mostPoints, 4*len(points)); len(points) < most; {
		var at []float64
		for i := 1; i < len(points) && len(points)+len(at) < most; i++ {
			a, b := points[i-1], points[i]
			if x, wanted := middle(all, a, b, log); wanted && x > float64(a.X) && x < float64(b.X) && !limited(a) && !limited(b) {
				at = append(at, x)
			}
		}
		if len(at) == 0 {
			break
		}
		more, err := c.More(ctx, at)
		if err != nil {
			return nil, false, err
		}
		points = append(slices.Clip(points), more...)
		slices.SortFunc(points, func(a, b service.CurvePoint) int { return cmp.Compare(a.X, b.X) })
	}
	return points, false, nil
}

// middleOfDeltas returns a place between two points of the kind delta where another one
// is needed: at bends and jumps the line is far above the chord of the two.
func middleOfDeltas(all service.Curves, a, b service.CurvePoint, _ bool) (float64, bool) {
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

// lineStep is how far a line may be from the curve that it bounds, as a share of the
// picture: half a pixel of the 650 or so that the axis of a curve has at the default resolution.
const lineStep = 1.0 / 1300

func newProfileCmd() *cobra.Command {
	return question{name: "profile", what: "computing", under: true, picture: "the profile", width: 17, height: 11, alias: true, except: []string{"mechanism"}, text: printing(printProfile), draw: profilePicture, extra: func(a *asking) {
		addChoice(a.cmd, &a.request.(*service.ProfileRequest).Mechanism, "mechanism", "`name` of the mechanism (required)",
			"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "skellam", "summed-noise", "randomized-response", "pure", "approximate", "finite", "gaussian-mixture",
			"exponential", "permute-and-flip", "noisy-max", "threshold", "select-partitions")
		required(a.cmd, "mechanism")
	}}.command()
}

// profileTitle names the mechanism with its parameters.
func profileTitle(a service.Profile) string {
	var parts []string
	for _, p := range a.Given {
		parts = append(parts, strings.ReplaceAll(p.Name, "-", " ")+" "+p.Value)
	}
	if a.SamplingRate != "" {
		parts = append(parts, "sampling rate "+a.SamplingRate)
	}
	return a.Mechanism + ", " + strings.Join(parts, ", ")
}

// profilePicture draws δ against ε in each direction, with more points where it bends.
func profilePicture(ctx context.Context, answer any, _ *asking) (figure.Picture, error) {
	const n = 60
	p := answer.(service.Profile)
	all := service.Curves{Kind: service.DeltaKind, From: -p.Reach / 8, To: p.Reach, Floor: p.Floor}
	pic := curvesPicture(all, false)
	pic.Title = profileTitle(p)
	var first []float64
	for i := range n {
		first = append(first, all.From+(all.To-all.From)*float64(i)/(n-1))
	}
	for d, direction := range p.Results[0].Directions {
		more := func(ctx context.Context, at []float64) (points []service.CurvePoint, err error) {
			for _, eps := range at {
				row, err := p.More(ctx, eps)
				if err != nil {
					return nil, err
				}
				x := row.Directions[d]
				low := x.Delta.Lower
				if x.Attack != nil {
					low = x.Attack.Lower
				}
				points = append(points, service.CurvePoint{X: service.Number(eps), Bounds: service.Bounds{Lower: low, Upper: x.Delta.Upper}})
			}
			return points, nil
		}
		points, err := more(ctx, first)
		if err != nil {
			return pic, err
		}
		c := service.Curve{Plan: direction.Direction, Points: points, More: more}
		if p.SameUpper {
			c.Plan = "both directions, " + p.Neighbors
			all.Curves = []service.Curve{c}
			break
		}
		all.Curves = append(all.Curves, c)
	}
	err := addBands(ctx, &pic, all, false, false)
	return pic, err
}

func printProfile(w io.Writer, a service.Profile, of *asking) {
	fmt.Fprintf(w, "%s; neighbors: %s\n\n", profileTitle(a), a.Neighbors)
	tw := print.NewTable(w, 3, 0)
	if a.Same {
		fmt.Fprintf(tw, "  ε\tδ, either direction\n")
	} else {
		fmt.Fprintf(tw, "  ε\tδ, %s\tδ, %s\n", a.Results[0].Directions[0].Direction, a.Results[0].Directions[1].Direction)
	}
	for _, r := range a.Results {
		fmt.Fprintf(tw, "  %s", short(r.Epsilon))
		for d, p := range r.Directions {
			if d == 1 && a.Same {
				break
			}
			text := certifiedDelta(p.Delta.Lower, p.Delta.Upper)
			if p.Attack != nil {
				text = certifiedDelta(p.Attack.Lower, p.Delta.Upper)
			}
			fmt.Fprintf(tw, "\t%s", text)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if a.TheoryGap {
		fmt.Fprintln(w, "\nThe larger end is proved; the smaller one is what a known attack reaches.")
	}
	if of.plot.file != "" {
		fmt.Fprintf(w, "\nwrote %s\n", printable(of.plot.file))
	}
}

// certifiedDelta writes one number where rounding to seven digits hides the width.
func certifiedDelta(lower, upper service.Number) string {
	if upper == 0 {
		return "0"
	}
	if lo, hi := rounded(lower, 7, near), rounded(upper, 7, near); lo == hi {
		return lo
	}
	return ends(lower, upper, 5, " … ")
}
