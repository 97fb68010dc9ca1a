package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/service"
)

func newCurveCmd() *cobra.Command {
	var in curveFlags
	q := &in.q
	cmd := &cobra.Command{
		Use:   "curve plan.yaml [other.yaml …] --out curve.svg",
		Short: "Draw the privacy curves of one or several plans",
		Long: `curve draws, for one or several plans in one picture,

  --kind delta      δ against ε, down to --min-delta (the default)
  --kind steps      ε at --delta against the length of the plan, all counts
                    scaled alike
  --kind trade-off  the false-negative rate of the best attacker against the
                    false-positive rate; with --log, the true-positive rate on
                    logarithmic axes

The line is the proved end of the certified interval, and holds between its points
too: more are computed where it bends. The area next to it, often thinner than the
line, reaches to the other end. The picture is SVG, PNG or PDF,
by the ending of --out; --csv and --json print the numbers.`,
		Example: `  accountant curve examples/dpsgd.yaml --out curve.svg
  accountant curve examples/dpsgd.yaml examples/mixed.yaml --kind trade-off --out compare.png
  accountant curve examples/dpsgd.yaml --kind steps --delta 1e-6 --csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("missing the plan file (- reads standard input)")
			case len(args) > service.MaxCurves:
				return fmt.Errorf("%d plans are more than %d in one picture", len(args), service.MaxCurves)
			}
			stdin := 0
			for _, a := range args {
				if a == "-" {
					stdin++
				}
			}
			if stdin > 1 {
				return errors.New("- is standard input, which can be read once")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return in.run(cmd, args) },
	}
	cmd.ValidArgsFunction = completePlans(0, service.MaxCurves-1)
	fs := cmd.Flags()
	fs.StringVar(&in.out, "out", "", "write the picture to this `file` (.svg, .png or .pdf)")
	q.Kind = service.DeltaKind
	addChoice(cmd, &q.Kind, "kind", "`kind` of curve: delta, steps or trade-off", service.DeltaKind, service.StepsKind, service.TradeOffKind)
	number(fs, &q.Points, "points", "", "number of `points` on each curve (default 60; 25 for steps)")
	number(fs, &in.minDelta, "min-delta", "1e-12", "kind delta: where the axis of `δ` ends")
	number(fs, &q.From, "from", "", "kind delta: first `ε`, may be negative (default 0)")
	number(fs, &q.To, "to", "", "kind delta: last `ε` (default: where δ is --min-delta)")
	fs.BoolVar(&q.RDP, "rdp", false, "kind delta: draw the upper bounds of Rényi accounting too")
	number(fs, &in.delta, "delta", "1e-5", "kind steps: ε is told at this `δ`")
	fs.BoolVar(&q.Log, "log", false, "kind trade-off: true-positive against false-positive rate, on logarithmic axes")
	fs.StringVar(&in.title, "title", "", "`text` above the picture")
	in.registerPlain(cmd)
	_ = cmd.MarkFlagFilename("out", pictures...)
	return cmd
}

type curveFlags struct {
	answerFlags
	q               service.CurveRequest
	minDelta, delta service.Decimal // with presets, which are not for every kind
	out, title      string
}

func (f *curveFlags) run(cmd *cobra.Command, args []string) error {
	if f.out == "" && !f.csv && !f.json {
		return usageError{errors.New("missing --out (or --csv, or --json)")}
	}
	if f.out != "" {
		if err := pictureFormat("out", f.out); err != nil {
			return err
		}
	}
	q := f.q
	q.Limits = f.limits()
	if cmd.Flags().Changed("min-delta") {
		q.MinDelta = f.minDelta
	}
	if cmd.Flags().Changed("delta") {
		q.Delta = f.delta
	}
	if err := q.Check(); err != nil {
		return flagged(cmd, err)
	}
	for i, path := range args {
		data, _, err := readInput(cmd, path)
		if err != nil {
			return err
		}
		q.Plans = append(q.Plans, service.NamedPlan{Name: curveName(args, i), Plan: data})
	}
	var pic picture
	curves, err := measured(cmd, "drawing", func(m *meter) (service.Curves, error) {
		ctx := service.WithProgress(cmd.Context(), m.show)
		curves, err := service.New(nil).Curve(ctx, q)
		if err == nil && f.out != "" {
			pic, err = f.draw(ctx, curves, q.Log)
		}
		return curves, err
	})
	var pe *service.PlanError
	if errors.As(err, &pe) {
		return planProblem(inputName(args[pe.Index]), args[pe.Index], pe.Err)
	} else if err != nil {
		return flagged(cmd, err)
	}
	for _, c := range curves.Curves {
		for i, w := range c.Warnings {
			if i == mostWarnings && len(c.Warnings) > mostWarnings+1 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %d more of its points have warnings; --json lists them\n", warning(cmd.ErrOrStderr()), c.Plan, len(c.Warnings)-i)
				break
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %s\n", warning(cmd.ErrOrStderr()), c.Plan, oneLine(w))
		}
	}
	if f.out != "" {
		if err := pic.save(f.out); err != nil {
			return pathProblem("--out", err)
		}
	}
	return f.print(cmd.OutOrStdout(), curves, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s\n", printable(f.out))
		return err
	})
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

// draw returns the picture of the curves. Between their points it asks for others, where
// a line that is a bound would be far from the curve.
func (f *curveFlags) draw(ctx context.Context, curves service.Curves, log bool) (pic picture, err error) {
	pic = curvesPicture(curves, log)
	first := len(pic.bands) // of the plans' bands
	same := true
	for _, c := range curves.Curves {
		same = same && unitOf(c) == unitOf(curves.Curves[0])
	}
	rdp := f.q.RDP
	for _, c := range curves.Curves {
		b := band{name: c.Plan, between: map[string]joint{service.DeltaKind: convex, service.StepsKind: toRight, service.TradeOffKind: toRight}[curves.Kind]}
		if !same {
			b.name += " (" + unitOf(c) + ")"
		}
		points, err := drawn(ctx, curves, c, log)
		if err != nil {
			return pic, err
		}
		for _, p := range points {
			b.x = append(b.x, float64(p.X))
			b.lower, b.upper = append(b.lower, float64(p.Lower)), append(b.upper, float64(p.Upper))
		}
		b.proved = b.upper
		if curves.Y == "false-negative-rate" {
			b.proved = b.lower
		}
		if rdp && len(curves.Curves) == 1 {
			b.name = "Fourier, certified"
		}
		pic.bands = append(pic.bands, b)
		if rdp {
			pic.bands = append(pic.bands, rdpBands(c, b.between, len(curves.Curves) > 1)...)
		}
	}
	if len(curves.Curves) == 1 {
		pic.title += ": " + curves.Curves[0].Plan
		if !rdp {
			pic.bands[first].name = "certified, " + unitOf(curves.Curves[0])
		}
	}
	if f.title != "" {
		pic.title = f.title
	}
	return pic, nil
}

// unitOf returns the relation of a curve, with its unit.
func unitOf(c service.Curve) string { return ofUnit(c.Neighbors, c.RecordsPerPerson) }

// rdpBands returns the lines of Rényi accounting.
func rdpBands(c service.Curve, between joint, several bool) (bands []band) {
	for j, name := range []string{"Rényi", "Rényi, classic conversion"} {
		r := band{name: name, between: between, muted: true, dashes: [][]vg.Length{{vg.Points(6), vg.Points(3)}, {vg.Points(1.5), vg.Points(2.5)}}[j]}
		if several {
			r.name = c.Plan + ": " + name
		}
		for _, p := range c.Points {
			v := math.NaN()
			if p.RDP != nil {
				v = float64([]service.Number{p.RDP.Upper, p.RDP.ClassicUpper}[j])
			}
			r.x, r.proved = append(r.x, float64(p.X)), append(r.proved, v)
		}
		bands = append(bands, r)
	}
	return bands
}

// curvesPicture returns the axes of a kind of curve, and what is known without one.
func curvesPicture(c service.Curves, log bool) picture {
	switch c.Kind {
	case service.StepsKind:
		pic := picture{title: "ε at δ = " + short(c.At), x: "runs", y: "ε", legendLeft: true, legendUp: true, whole: true}
		for _, curve := range c.Curves {
			for _, p := range curve.Points {
				pic.xMax = max(pic.xMax, float64(p.X))
				if upper := float64(p.Upper); !math.IsInf(upper, 0) {
					pic.yMax, pic.yMin = max(pic.yMax, 1.05*upper), min(pic.yMin, 1.05*upper)
				}
			}
		}
		if pic.yMax == pic.yMin {
			pic.yMax = 1 // ε is 0, or infinite, everywhere
		}
		return pic
	case service.TradeOffKind:
		chance := band{name: "no information", muted: true, dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
		pic := picture{title: "Trade-off of the best attack", x: "false-positive rate", y: "false-negative rate", xMax: 1, yMax: 1, legendUp: true}
		chance.x, chance.proved = []float64{0, 1}, []float64{1, 0}
		if log {
			first := float64(c.Curves[0].Points[0].X)
			pic = picture{title: "Power of the best attack", x: "false-positive rate", y: "true-positive rate", logX: true, logY: true,
				xMin: first, xMax: 1, yMin: first, yMax: 1}
			chance.x, chance.proved = []float64{first, 1}, []float64{first, 1}
		}
		pic.bands = []band{chance}
		return pic
	}
	return picture{title: "Privacy profile", x: "ε", y: "δ", logY: true, xMin: c.From, xMax: c.To, yMin: c.Floor, yMax: 1, legendUp: true}
}

// drawn returns the points of a curve and the others that its line needs, but none where
// a limit was reached: more points there only take longer.
func drawn(ctx context.Context, all service.Curves, c service.Curve, log bool) ([]service.CurvePoint, error) {
	if c.More == nil {
		return c.Points, nil
	}
	middle := func(a, b service.CurvePoint) (float64, bool) { return middleOfRates(all, a, b, log) }
	if all.Kind == service.DeltaKind {
		middle = func(a, b service.CurvePoint) (float64, bool) { return middleOfDeltas(all, a, b) }
	}
	return finer(c.Points, func(a, b service.CurvePoint) (float64, bool) {
		if len(a.Warnings)+len(b.Warnings) > 0 {
			return 0, false
		}
		return middle(a, b)
	}, func(at []float64) ([]service.CurvePoint, error) { return c.More(ctx, at) })
}

// middleOfDeltas returns a place between two points of the kind delta where another one
// is needed: at bends and jumps the line is far above the chord of the two.
func middleOfDeltas(all service.Curves, a, b service.CurvePoint) (float64, bool) {
	ax, bx, upper := float64(a.X), float64(b.X), float64(a.Upper)
	if upper <= all.Floor || (bx-ax)/(all.To-all.From) < lineStep {
		return 0, false
	}
	last := max(float64(b.Upper), all.Floor)
	for _, c := range tangents(plotter.XY{X: ax, Y: upper}, plotter.XY{X: bx, Y: float64(b.Upper)}, true, all.Floor) {
		share := (c.X - ax) / (bx - ax)
		if chord := math.Log(upper) + share*math.Log(last/upper); math.Log(c.Y)-chord > -math.Log(all.Floor)*lineStep {
			return ax + (bx-ax)/2, true
		}
	}
	return 0, false
}

// middleOfRates is middleOfDeltas for the kind trade-off, whose line goes in steps.
func middleOfRates(all service.Curves, a, b service.CurvePoint, log bool) (float64, bool) {
	ax, bx := float64(a.X), float64(b.X)
	if log {
		whole := -math.Log(float64(all.Curves[0].Points[0].X)) * lineStep
		return math.Sqrt(ax * bx), math.Log(bx/ax) > whole && math.Log(float64(b.Upper/a.Upper)) > whole
	}
	return ax + (bx-ax)/2, bx-ax > lineStep && float64(a.Lower-b.Lower) > lineStep
}
