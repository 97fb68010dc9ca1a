package accountant

// Many answers of one total: along ε, δ, or the length of a plan. Each point is certified for
// itself; the points share the work of one question, the hard ones taking what easy ones leave.

import (
	"cmp"
	"context"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Point is what is certified at one place: of a curve, or of a search for the value of a quantity.
type Point struct {
	At float64
	Interval
}

// DeltaCurve returns δ(ε) at each ε, negative ones too. Between two grid points
// δ is certified as well: it falls with ε, and as a function of e^ε it is
// convex, so that the chord of the upper ends is above it. All points share the work
// limit of one question (Options.WorkLimit): some of a long curve of a hard plan are wider
// than asked, with a warning.
func (a *Accountant) DeltaCurve(ctx context.Context, epsilons []float64) ([]Point, error) {
	order := ascending(epsilons)
	slices.Reverse(order)
	return a.curve(ctx, epsilons, order, a.Delta)
}

// EpsilonCurve returns ε(δ) at each δ in [0, 1]. Between two grid points the
// larger of the two upper ends holds, and the smaller of the lower ends. The points
// share the work limit, as those of DeltaCurve.
func (a *Accountant) EpsilonCurve(ctx context.Context, deltas []float64) ([]Point, error) {
	return a.curve(ctx, deltas, ascending(deltas), a.Epsilon)
}

// ascending returns the places of numbers in their order.
func ascending(numbers []float64) []int {
	return xmath.Order(len(numbers), func(i, j int) int { return cmp.Compare(numbers[i], numbers[j]) })
}

// curve asks at each place in an order in which δ should grow: what is computed where it is smallest serves
// the others, and hardly the other way round.
func (a *Accountant) curve(ctx context.Context, at []float64, order []int, ask func(context.Context, float64) (Interval, error)) ([]Point, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if len(at) > 1 {
		a.expectMany()
		a.each(func(w *Accountant) { w.curved = true })
		a.curved = true
		defer func() {
			a.each(func(w *Accountant) { w.curved = false })
			a.curved = false
		}()
	}
	points := make([]Point, len(at))
	limit := a.opts.Work
	defer func() { a.opts.Work = limit }()
	left := a.opts.work()
	progress(a.opts, 0, len(at))
	for n, i := range order {
		x := at[i]
		a.opts.Work = pointWork(left, len(at)-n)
		before := a.spent()
		iv, err := ask(ctx, x)
		if err != nil {
			return nil, err
		}
		left -= a.spent() - before
		points[i] = Point{x, iv}
		progress(a.opts, n+1, len(at))
	}
	return points, nil
}

// pointWork returns what the next of so many points of a curve may take of the work
// that is left: twice its share, so that hard points get what easy ones leave, but
// never more than there is. Each point keeps something, with which a bound is found.
func pointWork(left float64, points int) float64 {
	return max(2*left/float64(points+1), 1)
}

// StepsCurve returns ε(δ) against the number of runs of mechanisms: of Scaled(i, n) for i
// = 1, …, n. Each point is certified for itself; ε grows with the length. The points
// share the work limit, as those of DeltaCurve.
func (p *Plan) StepsCurve(ctx context.Context, delta float64, n int, opts ...Options) ([]Point, error) {
	if n < 1 || n > 10000 {
		return nil, fault.New("points", "%d is not in [1, 10000]", n)
	}
	acct := p.Accountant(append(slices.Clone(opts), Options{ManyQuestions: true})...)
	if err := acct.check(); err != nil {
		return nil, err
	}
	runs, err := acct.flattenAll(ctx, p.Steps, 1, nil)
	if err != nil {
		return nil, err
	}
	var points []Point
	o := acct.opts
	ctx, stop := o.within(ctx)
	defer stop()
	left := o.work()
	before := make([]int64, len(runs))
	for i := range n {
		progress(o, i, n)
		part, err := p.Scaled(int64(i+1), int64(n))
		if err != nil {
			return nil, err
		}
		// Counts grow: what is more than before is added to the same total.
		var more []run
		j := 0 // in the order of flatten
		err = eachRun(ctx, part.Steps, 1, p.Neighbors, func(_ Step, count int64) error {
			if count > before[j] {
				more = append(more, run{m: runs[j].m, count: count - before[j]})
				before[j] = count
			}
			j++
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(more) == 0 && i > 0 {
			continue // the plan is shorter than n
		}
		if err := acct.addRuns(more); err != nil {
			return nil, err
		}
		acct.opts.Work = pointWork(left, n-i)
		spent := acct.spent()
		iv, err := acct.Epsilon(ctx, delta)
		if err != nil {
			return nil, err
		}
		left -= acct.spent() - spent
		points = append(points, Point{float64(acct.Runs()), iv})
	}
	progress(o, n, n)
	return points, nil
}
