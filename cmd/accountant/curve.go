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

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/rdp"
)

// The kinds of curves.
const (
	deltaKind    = "delta"
	stepsKind    = "steps"
	tradeOffKind = "trade-off"
)

// maxCurves is how many plans go into one picture: as many as there are colours.
const maxCurves = 7

func newCurveCmd() *cobra.Command {
	var in curveFlags
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
			case len(args) > maxCurves:
				return fmt.Errorf("%d plans are more than %d in one picture", len(args), maxCurves)
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
		RunE: func(cmd *cobra.Command, args []string) error {
			in.cmd = cmd
			return in.run(cmd, args)
		},
	}
	cmd.ValidArgsFunction = completePlans(0, maxCurves-1)
	fs := cmd.Flags()
	fs.StringVar(&in.out, "out", "", "write the picture to this `file` (.svg, .png or .pdf)")
	in.kind = deltaKind
	addChoice(cmd, &in.kind, "kind", "`kind` of curve: delta, steps or trade-off", deltaKind, stepsKind, tradeOffKind)
	fs.StringVar(&in.points, "points", "", "number of `points` on each curve (default 60; 25 for steps)")
	fs.StringVar(&in.minDelta, "min-delta", "1e-12", "kind delta: where the axis of `δ` ends")
	fs.StringVar(&in.from, "from", "", "kind delta: first `ε`, may be negative (default 0)")
	fs.StringVar(&in.to, "to", "", "kind delta: last `ε` (default: where δ is --min-delta)")
	fs.BoolVar(&in.rdp, "rdp", false, "kind delta: draw the upper bounds of Rényi accounting too")
	fs.StringVar(&in.delta, "delta", "1e-5", "kind steps: ε is told at this `δ`")
	fs.BoolVar(&in.log, "log", false, "kind trade-off: true-positive against false-positive rate, on logarithmic axes")
	fs.StringVar(&in.title, "title", "", "`text` above the picture")
	in.registerPlain(cmd)
	_ = cmd.MarkFlagFilename("out", pictures...)
	return cmd
}

type curveFlags struct {
	answerFlags
	out, kind, points, minDelta, from, to, delta, title string
	rdp, log                                            bool
	cmd                                                 *cobra.Command // to show progress; may be nil
}

// A curvePoint is a point of any kind of curve: y is told at x.
type curvePoint struct {
	x float64
	accountant.Range
	direction string
	warnings  []string
}

// A planCurve is the curve of a plan; rdp holds the bounds of Rényi accounting at
// the same x, by the improved and by the classic conversion.
type planCurve struct {
	name, neighbors string
	points          []curvePoint
	drawn           []curvePoint // those and, in a picture, others between them
	rdp             [][2]float64
}

// A curveShape names the axes of a kind in JSON and CSV.
type curveShape struct{ x, y string }

func (f *curveFlags) run(cmd *cobra.Command, args []string) error {
	if f.out == "" && !f.csv && !f.json {
		return usageError{errors.New("missing --out (or --csv, or --json)")}
	}
	if f.out != "" {
		if err := pictureFormat("out", f.out); err != nil {
			return err
		}
	}
	n, err := f.count(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	var plans []*accountant.Plan
	for _, path := range args {
		plan, err := readPlan(cmd, path)
		if err != nil {
			return err
		}
		plans = append(plans, plan)
	}
	curves, shape, pic, err := f.build(cmd.Context(), plans, args, n, opts)
	if err != nil {
		return err
	}
	for _, c := range curves {
		texts := c.warnings()
		for i, w := range texts {
			if i == mostWarnings && len(texts) > mostWarnings+1 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %d more of its points have warnings; --json lists them\n", warning(cmd.ErrOrStderr()), c.name, len(texts)-i)
				break
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %s\n", warning(cmd.ErrOrStderr()), c.name, oneLine(w))
		}
	}
	if f.out != "" {
		if err := pic.save(f.out); err != nil {
			return pathProblem("--out", err)
		}
	}
	return f.print(cmd.OutOrStdout(), newCurvesJSON(f.kind, shape, curves), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s\n", printable(f.out))
		return err
	})
}

// count checks which flags belong to the kind, given being what was said, and
// returns the number of points.
func (f *curveFlags) count(given func(name string) bool) (int, error) {
	own := map[string][]string{deltaKind: {"min-delta", "from", "to", "rdp"}, stepsKind: {"delta"}, tradeOffKind: {"log"}}
	if own[f.kind] == nil {
		return 0, wrongFlag("kind", "%s is not delta, steps or trade-off", show(f.kind))
	}
	for _, kind := range []string{deltaKind, stepsKind, tradeOffKind} {
		for _, name := range own[kind] {
			if kind != f.kind && given(name) {
				return 0, usageError{wrongFlag(name, "belongs to the kind %s", kind)}
			}
		}
	}
	n := map[string]int64{deltaKind: 60, stepsKind: 25, tradeOffKind: 60}[f.kind]
	if f.points != "" {
		var err error
		if n, err = parseWhole("points", f.points, maxValues); err != nil {
			return 0, err
		}
		if n < 2 {
			return 0, wrongFlag("points", "%d is not in [2, %d]", n, maxValues)
		}
	}
	return int(n), nil
}

func (f *curveFlags) build(ctx context.Context, plans []*accountant.Plan, args []string, n int, opts []accountant.Option) ([]planCurve, curveShape, picture, error) {
	var pic picture
	var shape curveShape
	m := startMeter(f.cmd, "auto", "drawing")
	defer m.stop()
	curves := make([]planCurve, len(plans))
	for i, p := range plans {
		curves[i] = planCurve{name: curveName(args, i), neighbors: p.Neighbors.String()}
		if f.rdp { // before anything that takes long
			if _, err := p.RDP(); err != nil {
				return nil, shape, pic, wrongFlag("rdp", "%s: %w", curves[i].name, err)
			}
		}
	}
	var err error
	switch f.kind {
	case deltaKind:
		shape = curveShape{"epsilon", "delta"}
		pic, err = f.deltas(ctx, curves, plans, n, opts, m)
	case stepsKind:
		shape = curveShape{"runs", "epsilon"}
		pic, err = f.steps(ctx, curves, plans, n, opts, m)
	case tradeOffKind:
		shape = curveShape{"false-positive-rate", "false-negative-rate"}
		if f.log {
			shape.y = "true-positive-rate"
		}
		pic, err = f.tradeOffs(ctx, curves, plans, n, opts, m)
	}
	if err != nil {
		return nil, shape, pic, err
	}
	same := true
	for _, c := range curves {
		same = same && c.neighbors == curves[0].neighbors
	}
	for _, c := range curves {
		b := band{name: c.name, between: map[string]joint{deltaKind: convex, stepsKind: toRight, tradeOffKind: toRight}[f.kind]}
		if !same {
			b.name += " (" + c.neighbors + ")"
		}
		for _, p := range c.drawn {
			b.x = append(b.x, p.x)
			b.lower, b.upper = append(b.lower, p.Lower), append(b.upper, p.Upper)
		}
		b.proved = b.upper
		if shape.y == "false-negative-rate" {
			b.proved = b.lower
		}
		if f.rdp && len(curves) == 1 {
			b.name = "Fourier, certified"
		}
		pic.bands = append(pic.bands, b)
		for j, name := range []string{"Rényi", "Rényi, classic conversion"} {
			if c.rdp == nil {
				break
			}
			r := band{name: name, between: b.between, muted: true, dashes: [][]vg.Length{{vg.Points(6), vg.Points(3)}, {vg.Points(1.5), vg.Points(2.5)}}[j]}
			if len(curves) > 1 {
				r.name = c.name + ": " + name
			}
			for i, v := range c.rdp {
				r.x, r.proved = append(r.x, c.points[i].x), append(r.proved, v[j])
			}
			pic.bands = append(pic.bands, r)
		}
	}
	first := 0 // of the plans' bands
	if f.kind == tradeOffKind {
		first = 1
	}
	if len(curves) == 1 {
		pic.title += ": " + curves[0].name
		if !f.rdp {
			pic.bands[first].name = "certified, " + curves[0].neighbors
		}
	}
	if f.title != "" {
		pic.title = f.title
	}
	return curves, shape, pic, nil
}

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

// deltas fills in δ against ε.
func (f *curveFlags) deltas(ctx context.Context, curves []planCurve, plans []*accountant.Plan, n int, opts []accountant.Option, m *meter) (pic picture, err error) {
	floor, err := parseNumber("min-delta", f.minDelta, interval{lo: 1e-300, hi: 0.5})
	if err != nil {
		return pic, err
	}
	whole := interval{lo: -1e4, hi: 1e6}
	from := 0.0
	if f.from != "" {
		if from, err = parseNumber("from", f.from, whole); err != nil {
			return pic, err
		}
	}
	accts := make([]*accountant.Accountant, len(plans))
	for i, p := range plans {
		if accts[i], err = newAccountant(ctx, p, append(opts, accountant.WithProgress(m.part(i, len(plans))))); err != nil {
			return pic, fmt.Errorf("%s: %w", curves[i].name, err)
		}
	}
	to := from
	if f.to != "" {
		if to, err = parseNumber("to", f.to, whole); err != nil {
			return pic, err
		}
		if to <= from {
			return pic, wrongFlag("to", "%s is not above %s, where the curve begins", short(to), short(from))
		}
	} else {
		for _, a := range accts {
			reach, err := lastEpsilon(ctx, a, floor)
			if err != nil {
				return pic, err
			}
			to = max(to, reach)
		}
		if to == from {
			to = from + 1
		}
	}
	grid := make([]float64, n)
	for i := range grid {
		grid[i] = from + (to-from)*float64(i)/float64(n-1)
	}
	for i, a := range accts {
		ask := func(epsilons []float64) (points []curvePoint, err error) {
			found, err := a.DeltaCurve(ctx, epsilons)
			for _, p := range found {
				points = append(points, curvePoint{p.At, accountant.Range{Lower: p.Lower, Estimate: p.Estimate, Upper: p.Upper}, p.Direction, p.Warnings})
			}
			return points, err
		}
		if curves[i].points, err = ask(grid); err != nil {
			return pic, err
		}
		// At bends and jumps the line is far above the chord of two points.
		err = f.refine(&curves[i], func(a, b curvePoint) (float64, bool) {
			if a.Upper <= floor || (b.x-a.x)/(to-from) < lineStep {
				return 0, false
			}
			last := plotter.XY{X: b.x, Y: max(b.Upper, floor)}
			for _, c := range tangents(plotter.XY{X: a.x, Y: a.Upper}, plotter.XY{X: b.x, Y: b.Upper}, true, floor) {
				share := (c.X - a.x) / (b.x - a.x)
				if chord := math.Log(a.Upper) + share*math.Log(last.Y/a.Upper); math.Log(c.Y)-chord > -math.Log(floor)*lineStep {
					return a.x + (b.x-a.x)/2, true
				}
			}
			return 0, false
		}, ask)
		if err != nil {
			return pic, err
		}
		if !f.rdp {
			continue
		}
		c, err := plans[i].RDP()
		if err != nil {
			return pic, wrongFlag("rdp", "%s: %w", curves[i].name, err)
		}
		for _, eps := range grid {
			v := [2]float64{math.NaN(), math.NaN()}
			if eps >= 0 {
				for j, ask := range []func(rdp.Curve, float64) (float64, float64, error){rdp.Delta, rdp.DeltaClassic} {
					if v[j], _, err = ask(c, eps); err != nil {
						return pic, err
					}
				}
			}
			curves[i].rdp = append(curves[i].rdp, v)
		}
	}
	return picture{title: "Privacy profile", x: "ε", y: "δ", logY: true, xMin: from, xMax: to,
		yMin: floor, yMax: 1, legendUp: true}, nil
}

// mostWarnings are printed for a curve.
const mostWarnings = 4

// warnings returns the warnings of all points, each once.
func (c *planCurve) warnings() (texts []string) {
	seen := map[string]bool{}
	for _, p := range c.points {
		for _, w := range p.warnings {
			if !seen[w] {
				seen[w] = true
				texts = append(texts, w)
			}
		}
	}
	return texts
}

// refine finds the points that a picture needs between those of a curve, but not
// where a limit was reached: more points there only take longer.
func (f *curveFlags) refine(c *planCurve, middle func(a, b curvePoint) (float64, bool), ask func([]float64) ([]curvePoint, error)) (err error) {
	if f.out != "" {
		c.drawn, err = finer(c.points, func(a, b curvePoint) (float64, bool) {
			if len(a.warnings)+len(b.warnings) > 0 {
				return 0, false
			}
			return middle(a, b)
		}, ask)
	}
	return err
}

// lastEpsilon returns where δ has come down to the floor, or to its own limit.
func lastEpsilon(ctx context.Context, a *accountant.Accountant, floor float64) (float64, error) {
	for delta := floor; delta < 1; delta *= 10 {
		iv, err := a.Epsilon(ctx, delta)
		if err != nil {
			return 0, err
		}
		if !math.IsInf(iv.Upper, 0) {
			if delta > floor {
				iv.Upper *= 1.25 // show the δ that no ε gets below
			}
			return iv.Upper, nil
		}
	}
	return 1, nil
}

// steps fills in ε against the number of runs.
func (f *curveFlags) steps(ctx context.Context, curves []planCurve, plans []*accountant.Plan, n int, opts []accountant.Option, m *meter) (pic picture, err error) {
	delta, err := parseNumber("delta", f.delta, openUnit)
	if err != nil {
		return pic, err
	}
	pic = picture{title: "ε at δ = " + short(delta), x: "runs", y: "ε", legendLeft: true, legendUp: true, whole: true}
	for i, p := range plans {
		points, err := p.StepsCurve(ctx, delta, n, append(opts, accountant.WithProgress(m.part(i, len(plans))))...)
		if err != nil {
			return pic, fmt.Errorf("%s: %w", curves[i].name, err)
		}
		for _, s := range points {
			s.Interval = fromZero(s.Interval)
			curves[i].points = append(curves[i].points,
				curvePoint{float64(s.Runs), accountant.Range{Lower: s.Lower, Estimate: s.Estimate, Upper: s.Upper}, s.Direction, s.Warnings})
			pic.xMax = max(pic.xMax, float64(s.Runs))
			if !math.IsInf(s.Upper, 0) {
				pic.yMax, pic.yMin = max(pic.yMax, 1.05*s.Upper), min(pic.yMin, 1.05*s.Upper)
			}
		}
	}
	for i := range curves {
		curves[i].drawn = curves[i].points
	}
	if pic.yMax == pic.yMin {
		pic.yMax = 1 // ε is 0, or infinite, everywhere
	}
	return pic, nil
}

// tradeOffs fills in the error rates of the best attacker.
func (f *curveFlags) tradeOffs(ctx context.Context, curves []planCurve, plans []*accountant.Plan, n int, opts []accountant.Option, m *meter) (pic picture, err error) {
	alphas := make([]float64, n)
	for i := range alphas {
		t := (float64(i) + 0.5) / float64(n)
		// Denser towards the ends, where the curve bends.
		alphas[i] = t * t * (3 - 2*t)
		if f.log {
			alphas[i] = math.Pow(10, -6*(1-float64(i)/float64(n)))
		}
	}
	chance := band{name: "no information", muted: true, dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	pic = picture{title: "Trade-off of the best attack", x: "false-positive rate", y: "false-negative rate", xMax: 1, yMax: 1, legendUp: true}
	chance.x, chance.proved = []float64{0, 1}, []float64{1, 0}
	if f.log {
		pic = picture{title: "Power of the best attack", x: "false-positive rate", y: "true-positive rate", logX: true, logY: true,
			xMin: alphas[0], xMax: 1, yMin: alphas[0], yMax: 1}
		chance.x, chance.proved = []float64{alphas[0], 1}, []float64{alphas[0], 1}
	}
	pic.bands = []band{chance}
	for i, p := range plans {
		a, err := newAccountant(ctx, p, append(opts, accountant.WithProgress(m.part(i, len(plans)))))
		if err != nil {
			return pic, fmt.Errorf("%s: %w", curves[i].name, err)
		}
		ask := func(alphas []float64) (points []curvePoint, err error) {
			found, err := a.TradeOff(ctx, alphas)
			for _, t := range found {
				r := t.TypeII
				if f.log {
					r = t.Power
				}
				points = append(points, curvePoint{t.Alpha, r, t.Direction, t.Warnings})
			}
			return points, err
		}
		if curves[i].points, err = ask(alphas); err != nil {
			return pic, err
		}
		err = f.refine(&curves[i], func(a, b curvePoint) (float64, bool) {
			if f.log {
				all := -math.Log(alphas[0]) * lineStep
				return math.Sqrt(a.x * b.x), math.Log(b.x/a.x) > all && math.Log(b.Upper/a.Upper) > all
			}
			return a.x + (b.x-a.x)/2, b.x-a.x > lineStep && a.Lower-b.Lower > lineStep
		}, ask)
		if err != nil {
			return pic, err
		}
	}
	return pic, nil
}

type (
	curvesJSON struct {
		Kind   string      `json:"kind"`
		X      string      `json:"x"`
		Y      string      `json:"y"`
		Curves []curveJSON `json:"curves"`
	}
	curveJSON struct {
		Plan      string           `json:"plan"`
		Neighbors string           `json:"neighbors"`
		Points    []curvePointJSON `json:"points"`
		Warnings  []string         `json:"warnings,omitempty"`
	}
	curvePointJSON struct {
		X number `json:"x"`
		boundsJSON
		WorstDirection string        `json:"worst-direction"`
		RDP            *rdpCurveJSON `json:"rdp,omitempty"`
	}
	rdpCurveJSON struct {
		Upper        number `json:"upper"`
		ClassicUpper number `json:"classic-upper"`
	}
)

func newCurvesJSON(kind string, shape curveShape, curves []planCurve) curvesJSON {
	out := curvesJSON{kind, shape.x, shape.y, nil}
	for _, c := range curves {
		j := curveJSON{Plan: c.name, Neighbors: c.neighbors}
		j.Warnings = c.warnings()
		for i, p := range c.points {
			point := curvePointJSON{number(p.x), boundsJSON{number(p.Lower), number(p.Estimate), number(p.Upper)}, p.direction, nil}
			if c.rdp != nil && !math.IsNaN(c.rdp[i][0]) {
				point.RDP = &rdpCurveJSON{number(c.rdp[i][0]), number(c.rdp[i][1])}
			}
			j.Points = append(j.Points, point)
		}
		out.Curves = append(out.Curves, j)
	}
	return out
}

// rows has one row for each point, its columns named after the axes.
func (c curvesJSON) rows() any {
	t := csvTable{columns: []string{"plan", "neighbors", c.X, c.Y + "-lower", c.Y + "-estimate", c.Y + "-upper", "worst-direction"}}
	rdp := false
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			rdp = rdp || p.RDP != nil
		}
	}
	if rdp {
		t.columns = append(t.columns, "rdp-upper", "rdp-classic-upper")
	}
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			row := []string{curve.Plan, curve.Neighbors, p.X.String(), p.Lower.String(), p.Estimate.String(), p.Upper.String(), p.WorstDirection}
			switch {
			case p.RDP != nil:
				row = append(row, p.RDP.Upper.String(), p.RDP.ClassicUpper.String())
			case rdp:
				row = append(row, "", "")
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}
