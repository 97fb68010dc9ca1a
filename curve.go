package accountant

import (
	"cmp"
	"context"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A CurvePoint is a certified answer at one place of a curve.
type CurvePoint struct {
	At float64
	Interval
}

// DeltaCurve returns δ(ε) at each ε, negative ones too. Between two grid points
// δ is certified as well: it falls with ε, and as a function of e^ε it is
// convex, so that the chord of the upper ends is above it. All points share the work
// limit of one question (WithWorkLimit): some of a long curve of a hard plan are wider
// than asked, with a warning.
func (a *Accountant) DeltaCurve(ctx context.Context, epsilons []float64) ([]CurvePoint, error) {
	return a.curve(ctx, epsilons, func(x, y float64) int { return cmp.Compare(y, x) }, a.Delta)
}

// EpsilonCurve returns ε(δ) at each δ in [0, 1]. Between two grid points the
// larger of the two upper ends holds, and the smaller of the lower ends. The points
// share the work limit, as those of DeltaCurve.
func (a *Accountant) EpsilonCurve(ctx context.Context, deltas []float64) ([]CurvePoint, error) {
	return a.curve(ctx, deltas, cmp.Compare[float64], a.Epsilon)
}

// curve asks at each place, those where δ is smallest first: what is computed there serves
// the others, and hardly the other way round.
func (a *Accountant) curve(ctx context.Context, at []float64, first func(x, y float64) int, ask func(context.Context, float64) (Interval, error)) ([]CurvePoint, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	if len(at) > 1 {
		a.expectMany()
	}
	points := make([]CurvePoint, len(at))
	limit := a.opts.Work
	defer func() { a.opts.Work = limit }()
	left := a.opts.work()
	progress(a.opts, 0, len(at))
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return first(at[i], at[j]) })
	for n, i := range order {
		x := at[i]
		a.opts.Work = pointWork(left, len(at)-n)
		before := a.spent()
		iv, err := ask(ctx, x)
		if err != nil {
			return nil, err
		}
		left -= a.spent() - before
		points[i] = CurvePoint{x, iv}
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

// spent returns the work of all questions so far.
func (a *Accountant) spent() float64 {
	work := a.past
	for d := range a.upper {
		work += a.upper[d].Spent()
		if a.gap {
			work += a.lower[d].Spent()
		}
	}
	for _, t := range a.totals {
		work += t.acct.spent()
	}
	return work
}

// Scaled returns the plan with part/whole of every count, rounded up, for part
// in [1, whole]. Of counts inside one another only the outermost above 1 is
// scaled, and a step that runs once stays.
func (p *Plan) Scaled(part, whole int64) (*Plan, error) {
	if whole < 1 || part < 1 || part > whole || whole > 1<<20 {
		return nil, fault.New("part", "%d/%d is not a fraction in (0, 1] with a denominator of at most 2^20", part, whole)
	}
	return p.with(scaled(p.Steps, part, whole)), nil
}

func scaled(steps []Step, part, whole int64) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		if s.Count > 1 {
			// count·part/whole without overflow.
			s.Count = s.Count/whole*part + (s.Count%whole*part+whole-1)/whole
		} else if s.Selection == nil {
			s.Steps = scaled(s.Steps, part, whole)
		}
		if len(s.Steps) == 0 {
			s.Steps = nil
		}
		out[i] = s
	}
	return out
}

// runCounts appends the counts of the runs of steps, in the order of flatten.
func runCounts(ctx context.Context, steps []Step, times int64, r profiles.Relation, counts []int64) ([]int64, error) {
	for _, s := range steps {
		n := times * max(s.Count, 1)
		inside := s.Steps
		if s.Selection != nil {
			inside = nil
		}
		if list, ok := s.Mechanism.(subsample.Sequence); ok && s.Selection == nil {
			var err error
			if inside, err = sequenceSteps(ctx, list, s.Sampling, r); err != nil {
				return nil, err
			}
		}
		if inside == nil {
			counts = append(counts, n)
			continue
		}
		var err error
		if counts, err = runCounts(ctx, inside, n, r, counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// A StepsPoint is ε after a part of the plan.
type StepsPoint struct {
	Runs int64 // of mechanisms, in all
	Interval
}

// StepsCurve returns ε(δ) against the length of the plan: of Scaled(i, n) for i
// = 1, …, n. Each point is certified for itself; ε grows with the length. The points
// share the work limit, as those of DeltaCurve.
func (p *Plan) StepsCurve(ctx context.Context, delta float64, n int, opts ...Option) ([]StepsPoint, error) {
	if n < 1 || n > 10000 {
		return nil, fault.New("points", "%d is not in [1, 10000]", n)
	}
	acct := p.Accountant(append(slices.Clone(opts), WithManyQuestions())...)
	runs, err := acct.flattenAll(ctx, p.Steps, 1, nil)
	if err != nil {
		return nil, err
	}
	var points []StepsPoint
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
		counts, err := runCounts(ctx, part.Steps, 1, p.Neighbors, nil)
		if err != nil {
			return nil, err
		}
		for j, count := range counts {
			if count > before[j] {
				more = append(more, run{m: runs[j].m, count: count - before[j], aim: runs[j].aim})
				before[j] = count
			}
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
		points = append(points, StepsPoint{acct.Runs(), iv})
	}
	progress(o, n, n)
	return points, nil
}
