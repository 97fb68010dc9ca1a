package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/rdp"
)

// This file answers for the curves of one or several plans, as numbers. What a picture
// needs beside them, other points of a curve, a front end finds by Curve.More.

// The kinds of curves.
const (
	DeltaKind    = "delta"
	StepsKind    = "steps"
	TradeOffKind = "trade-off"
)

// MaxCurves is how many plans a request may have: as many as a picture has colours.
const MaxCurves = 7

// CurveRequest asks for curves of a kind: δ against ε (delta), ε against the length of
// the plan (steps), or the error rates of the best attacker (trade-off). Plan stands for
// Plans with that one, under the name plan.
type CurveRequest struct {
	Plan     PlanText    `json:"plan,omitempty" not:"plans"`
	Plans    []NamedPlan `json:"plans,omitempty"`
	Kind     string      `json:"kind,omitempty" one:"delta,steps,trade-off" preset:"delta" help:"{kind} of curve: delta, steps or trade-off"`
	Points   Decimal     `json:"points,omitempty" in:"whole [2, 10000]" help:"number of {points} on each curve (default 60; 25 for steps)"`
	MinDelta Decimal     `json:"min-delta,omitempty" of:"kind=delta" in:"[1e-300, 0.5]" preset:"1e-12" help:"kind delta: where the axis of {δ} ends"`
	From     Decimal     `json:"from,omitempty" of:"kind=delta" in:"[-1e4, 1e6]" help:"kind delta: first {ε}, may be negative (default 0)"`
	To       Decimal     `json:"to,omitempty" of:"kind=delta" in:"[-1e4, 1e6]" help:"kind delta: last {ε} (default: where δ is --min-delta)"`
	RDP      bool        `json:"rdp,omitempty" of:"kind=delta" help:"kind delta: draw the upper bounds of Rényi accounting too"`
	Delta    Decimals    `json:"delta,omitempty" of:"kind=steps" in:"(0, 1)" preset:"1e-5" help:"kind steps: ε is told at this {δ}, several with commas between them"`
	Log      bool        `json:"log,omitempty" of:"kind=trade-off" help:"kind trade-off: true-positive against false-positive rate, on logarithmic axes"`
	Limits
}

// NamedPlan is one of several plans.
type NamedPlan struct {
	Name string   `json:"name"`
	Plan PlanText `json:"plan"`
}

// Curves are the curves of plans, X and Y the names of their axes.
type Curves struct {
	Kind   string  `json:"kind"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	Curves []Curve `json:"curves"`

	// From and To are the ends of the axis of ε, Floor where that of δ ends, of the
	// kind delta.
	From, To, Floor float64 `json:"-"`
}

// Curve is the curve of a plan, of the kind steps at a δ.
type Curve struct {
	Plan string `json:"plan"`
	Unit
	Delta    Number       `json:"delta,omitempty"`
	Points   []CurvePoint `json:"points"`
	Warnings []string     `json:"warnings,omitempty"`

	// More finds other points, of the kinds delta and trade-off.
	More func(ctx context.Context, at []float64) ([]CurvePoint, error) `json:"-"`
	// Lengths finds more points of the kind steps, at so many lengths of the plan; every reports that there
	// are no others.
	Lengths func(ctx context.Context, n int) (points []CurvePoint, every bool, err error) `json:"-"`
}

// CurvePoint is a certified point of a curve, and what Rényi accounting says there.
type CurvePoint struct {
	X Number `json:"x"`
	Bounds
	WorstDirection string    `json:"worst-direction"`
	RDP            *RDPBound `json:"rdp,omitempty" py:"-"`
	// Warnings say why the interval of this point is wide.
	Warnings []string `json:"-"`
}

// RDPBound has upper bounds by Rényi accounting.
type RDPBound struct {
	Upper        Number `json:"upper"`
	ClassicUpper Number `json:"classic-upper"`
}

// A curveQuestion is a checked CurveRequest.
type curveQuestion struct {
	CurveRequest
	n    int // points
	opts []accountant.Options
}

// curve returns the curves of one or several plans, of the kind delta over one range.
func (s *Service) curve(ctx context.Context, q CurveRequest) (_ Curves, err error) {
	c := curveQuestion{CurveRequest: q, n: 60, opts: q.options(ctx, Narrowing{})}
	if q.Kind == StepsKind {
		c.n = 25
	}
	if q.Points != "" {
		c.n = int(q.Points.whole())
	}
	if from, to := q.From.float(), q.To.float(); q.To != "" && to <= from {
		return Curves{}, fault.New("to", "%s is not above %s, where the curve begins", decimal.Short(to), decimal.Short(from))
	}
	named := q.Plans
	switch {
	case q.Plan != nil || q.Plans == nil:
		named = []NamedPlan{{"plan", q.Plan}}
	case len(named) == 0 || len(named) > MaxCurves:
		return Curves{}, fault.New("plans", "%d are not in [1, %d]", len(named), MaxCurves)
	}
	deltas := []float64{0} // of no use
	if c.Kind == StepsKind {
		deltas = c.Delta.floats()
	}
	if n := len(named) * len(deltas); n > MaxCurves {
		return Curves{}, fault.New("delta", "makes %d curves, more than %d", n, MaxCurves)
	}
	out := Curves{Kind: c.Kind, From: c.From.float(), Floor: c.MinDelta.float()}
	var plans []*accountant.Plan
	for i, p := range named {
		plan, err := p.Plan.parse(ctx)
		if err != nil {
			if q.Plans != nil {
				err = &PlanError{i, fmt.Sprintf("plans[%d]", i), err}
			}
			return Curves{}, err
		}
		if c.RDP { // before anything that takes long
			if _, err := plan.RDP(); err != nil {
				return Curves{}, fault.New("rdp", "%s: %w", p.Name, err)
			}
		}
		for _, delta := range deltas {
			plans = append(plans, plan)
			out.Curves = append(out.Curves, Curve{Plan: p.Name, Unit: unitOf(plan), Delta: Number(delta)})
		}
	}
	switch c.Kind {
	case DeltaKind:
		out.X, out.Y = "epsilon", "delta"
		err = c.deltas(ctx, &out, plans)
	case StepsKind:
		out.X, out.Y = "runs", "epsilon"
		err = c.steps(ctx, &out, plans)
	case TradeOffKind:
		out.X, out.Y = "false-positive-rate", "false-negative-rate"
		if c.Log {
			out.Y = "true-positive-rate"
		}
		err = c.tradeOffs(ctx, &out, plans)
	}
	for i := range out.Curves {
		out.Curves[i].warn()
	}
	return out, err
}

// A PlanError is what is wrong with one of several plans.
type PlanError struct {
	Index int
	Key   string // that of the request
	Err   error
}

// Error has the key before the problem.
func (e *PlanError) Error() string { return fmt.Sprintf("%s: %v", e.Key, e.Err) }

// Unwrap returns what is wrong.
func (e *PlanError) Unwrap() error { return e.Err }

// warn lists the warnings of all points, the first of those that differ in a width alone. At the last point, which is where δ falls to
// nothing, rounding leaves few digits of most closed forms, and its interval shows it.
func (c *Curve) warn() {
	seen := map[string]bool{}
	for i, p := range c.Points {
		for _, w := range p.Warnings {
			if reason := fourier.Reason(w); !seen[reason] && !(i == len(c.Points)-1 && strings.HasPrefix(w, "rounding ")) {
				seen[reason] = true
				c.Warnings = append(c.Warnings, w)
			}
		}
	}
}

// part has the progress of one of several computations of equal length.
func part(ctx context.Context, i, parts int) accountant.Options {
	return accountant.Options{Progress: func(done, total int) { report(ctx, Progress{Done: i*total + done, Total: parts * total}) }}
}

// accountants returns one for each plan.
func (c curveQuestion) accountants(ctx context.Context, out *Curves, plans []*accountant.Plan) ([]*accountant.Accountant, error) {
	accts := make([]*accountant.Accountant, len(plans))
	for i, p := range plans {
		var err error
		if accts[i], err = newAccountant(ctx, p, append(c.opts[:len(c.opts):len(c.opts)], part(ctx, i, len(plans)))); err != nil {
			return nil, fmt.Errorf("%s: %w", out.Curves[i].Plan, err)
		}
	}
	return accts, nil
}

// deltas fills in δ against ε.
func (c curveQuestion) deltas(ctx context.Context, out *Curves, plans []*accountant.Plan) error {
	accts, err := c.accountants(ctx, out, plans)
	if err != nil {
		return err
	}
	if out.To = c.To.float(); c.To == "" {
		out.To = out.From
		for _, a := range accts {
			reach, err := lastEpsilon(out.Floor, func(delta float64) (float64, error) {
				iv, err := a.Epsilon(ctx, delta)
				return iv.Upper, err
			})
			if err != nil {
				return err
			}
			out.To = max(out.To, reach)
		}
		if out.To == out.From {
			out.To++
		}
	}
	grid := make([]float64, c.n)
	for i := range grid {
		grid[i] = out.From + (out.To-out.From)*float64(i)/float64(c.n-1)
	}
	return out.fill(ctx, grid, func(ctx context.Context, i int, at []float64) (points []CurvePoint, err error) {
		found, err := accts[i].DeltaCurve(ctx, at)
		for _, p := range found {
			points = append(points, pointOf(p.At, p.Interval))
		}
		if err == nil && c.RDP {
			err = addRDP(points, plans[i])
		}
		return points, err
	})
}

// fill finds the points of each curve, and lets more be found.
func (out *Curves) fill(ctx context.Context, grid []float64, find func(ctx context.Context, curve int, at []float64) ([]CurvePoint, error)) (err error) {
	for i := range out.Curves {
		c := &out.Curves[i]
		c.More = func(ctx context.Context, at []float64) ([]CurvePoint, error) { return find(ctx, i, at) }
		if c.Points, err = c.More(ctx, grid); err != nil {
			return err
		}
	}
	return nil
}

// pointOf is a point of a curve.
func pointOf(x float64, iv accountant.Interval) CurvePoint {
	return CurvePoint{X: Number(x), Bounds: rangeOf(iv.Range), WorstDirection: iv.Direction, Warnings: iv.Warnings}
}

// addRDP adds what Rényi accounting says at each point from 0 on.
func addRDP(points []CurvePoint, plan *accountant.Plan) error {
	curve, err := plan.RDP()
	if err != nil {
		return fault.New("rdp", "%w", err)
	}
	for i := range points {
		eps := float64(points[i].X)
		if eps < 0 {
			continue
		}
		improved, _, err := rdp.Delta(curve, eps)
		if err != nil {
			return err
		}
		classic, _, err := rdp.DeltaClassic(curve, eps)
		if err != nil {
			return err
		}
		points[i].RDP = &RDPBound{Number(improved), Number(classic)}
	}
	return nil
}

// lastEpsilon returns where δ has come down to the floor, or to its own limit.
func lastEpsilon(floor float64, epsilon func(delta float64) (float64, error)) (float64, error) {
	for delta := floor; delta < 1; delta *= 10 {
		eps, err := epsilon(delta)
		if err != nil {
			return 0, err
		}
		if !math.IsInf(eps, 0) {
			if delta > floor {
				eps *= 1.25 // show the δ that no ε gets below
			}
			return eps, nil
		}
	}
	return 1, nil
}

// steps fills in ε against the number of runs.
func (c curveQuestion) steps(ctx context.Context, out *Curves, plans []*accountant.Plan) error {
	for i, p := range plans {
		curve := func(ctx context.Context, p *accountant.Plan, n int) (found []CurvePoint, err error) {
			points, err := p.StepsCurve(ctx, float64(out.Curves[i].Delta), n, append(c.opts[:len(c.opts):len(c.opts)], part(ctx, i, len(plans)))...)
			for _, s := range points {
				found = append(found, pointOf(s.At, fromZero(s.Interval)))
			}
			return found, err
		}
		var err error
		if out.Curves[i].Points, err = curve(ctx, p, c.n); err != nil {
			return fmt.Errorf("%s: %w", out.Curves[i].Plan, err)
		}
		out.Curves[i].Lengths = func(ctx context.Context, n int) ([]CurvePoint, bool, error) {
			// ε grows like a root or a line: half as many points do for the first quarter. It is one of the
			// parts of the plan, which contain each other, so that ε grows from its points to those beyond.
			points := out.Curves[i].Points
			for p, runs := p, int(points[len(points)-1].X); ; n, runs = n/2, runs/4+len(p.Steps) {
				found, err := curve(ctx, p, min(n, runs))
				if err != nil {
					return nil, false, err
				}
				if last := found[len(found)-1].X; p != plans[i] {
					points = slices.DeleteFunc(slices.Clone(points), func(a CurvePoint) bool { return a.X <= last })
				}
				points = growing(append(found, points...))
				if len(found) < n || n < 50 {
					return points, p == plans[i] && len(found) < n, nil
				}
				if p, err = p.Scaled(1, 4); err != nil {
					return nil, false, err
				}
			}
		}
	}
	return nil
}

// growing returns the points of a curve that grows, in order, each with what its neighbours prove of it:
// the least upper end from it on, and the largest lower end up to it.
func growing(points []CurvePoint) []CurvePoint {
	slices.SortStableFunc(points, func(a, b CurvePoint) int { return cmp.Compare(a.X, b.X) })
	for i := len(points) - 2; i >= 0; i-- {
		points[i].Upper = min(points[i].Upper, points[i+1].Upper)
	}
	for i := 1; i < len(points); i++ {
		points[i].Lower = max(points[i].Lower, points[i-1].Lower)
		if points[i].X == points[i-1].X {
			points[i-1].Lower = points[i].Lower
		}
	}
	return slices.CompactFunc(points, func(a, b CurvePoint) bool { return a.X == b.X })
}

// tradeOffs fills in the error rates of the best attacker.
func (c curveQuestion) tradeOffs(ctx context.Context, out *Curves, plans []*accountant.Plan) error {
	alphas := make([]float64, c.n)
	for i := range alphas {
		t := (float64(i) + 0.5) / float64(c.n)
		// Denser towards the ends, where the curve bends.
		alphas[i] = t * t * (3 - 2*t)
		if c.Log {
			alphas[i] = math.Pow(10, -6*(1-float64(i)/float64(c.n)))
		}
	}
	accts, err := c.accountants(ctx, out, plans)
	if err != nil {
		return err
	}
	return out.fill(ctx, alphas, func(ctx context.Context, i int, at []float64) (points []CurvePoint, err error) {
		found, err := accts[i].TradeOff(ctx, at)
		for _, t := range found {
			r := t.TypeII
			if c.Log {
				r = t.Power
			}
			points = append(points, CurvePoint{X: Number(t.Alpha), Bounds: rangeOf(r), WorstDirection: t.Direction, Warnings: t.Warnings})
		}
		return points, err
	})
}
