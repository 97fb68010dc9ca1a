// Package accountant tells what (ε, δ) a sequence of differentially private
// mechanisms costs, as a certified interval: the true value lies between Lower
// and Upper, floating-point error included.
//
//	acct := accountant.New(accountant.AddRemove)
//	err := acct.Add(ctx, step, 14062)
//	iv, err := acct.Epsilon(ctx, 1e-5)
//
// Upper is proved for every pair of neighbouring data sets; Lower is attained by
// a concrete pair. Steps are fixed in advance: no step's parameters may depend
// on outputs of earlier ones. When they do, only the Rényi filter of package rdp
// may be used. That the product of dominating pairs bounds what was run is Zhu,
// Dong and Wang (AISTATS 2022), Theorem 10; each mechanism and each sampling scheme
// names the source of its pair. docs/concepts.md explains the words.
//
// Whatever may take long has a context as its first parameter, and returns soon
// with the context's error when that is cancelled; nothing is changed then.
//
// Do not use it to combine guarantees of different neighbouring relations, or
// for users with several records unless a record is a user.
package accountant

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
)

// The neighbouring relations.
const (
	AddRemove  = profiles.AddRemove
	Substitute = profiles.Substitute
)

// A Step is a mechanism with its sampling, run Count times; or, when Steps is
// set instead of Mechanism, a sub-plan run Count times. With Selection, one run is
// a private selection: the mechanism or the sub-plan is the candidate, run a
// random number of times, of which only the best is shown.
type Step struct {
	Name      string
	Mechanism profiles.Base
	Sampling  subsample.Scheme // nil: the whole data set
	Count     int64            // 0 means 1
	Steps     []Step
	Selection *selection.Config
}

// A Plan is a sequence of steps, fixed in advance, under one neighbouring
// relation.
type Plan struct {
	Neighbors profiles.Relation
	Steps     []Step
}

// A Budget splits the width of an interval by its causes, each in units of the
// quantity asked for.
type Budget struct {
	Discretization float64 `json:"discretization"`
	Quadrature     float64 `json:"quadrature"`
	Truncation     float64 `json:"truncation"`
	Aliasing       float64 `json:"aliasing"`
	RoundOff       float64 `json:"round-off"`
	TheoryGap      float64 `json:"theory-gap"`
}

// A Range is a certified interval without its story.
type Range struct{ Lower, Estimate, Upper float64 }

// An Interval is a certified answer: the true value lies in [Lower, Upper].
type Interval struct {
	// Estimate is the best guess; no guarantee comes with it. With a theory gap
	// it is that of the proved pair.
	Lower, Estimate, Upper float64
	// Loose says that a limit, or rounding, left the interval so wide, by more than
	// a tenth of its upper end, that Estimate is only its middle and says nothing.
	Loose bool
	// Direction is the direction of the relation that Upper comes from.
	Direction string
	Budget    Budget
	// Gap is set when theory leaves a gap: Lower is an attack's, Upper a
	// theorem's, and each has its own numerical interval. With WithRecursion, Lower
	// may be what an adaptive adversary reaches, above Gap.Attack, which is a pair
	// of data sets with a fixed mechanism.
	Gap      *Gap
	Warnings []string // why the interval is wider than asked, if it is
	// Engine is how Upper was computed. fourier.Contour may have taken laws of steps
	// without a transform, which Budget.Discretization then tells.
	Engine fourier.Engine
	// Points is the length of the transforms of a lattice, Frequencies the number of
	// terms of an integral; 0 if there was none.
	Points, Frequencies int
}

// A Gap holds the two pairs between which the truth lies.
type Gap struct{ Proved, Attack Range }

// An Accountant is the running total of the steps added to it. Asking does not
// change the total, and what was computed for earlier questions is kept. It is
// not safe for concurrent use.
type Accountant struct {
	relation profiles.Relation
	opts     settings
	known    map[any]*profiles.Mechanism
	added    []run // each mechanism once
	at       map[*profiles.Mechanism]int
	// Per direction: the sum of upper profiles, and that of lower ones, which is
	// the same while every step is known exactly.
	upper, lower [2]*fourier.Sum
	symmetric    bool
	gap          bool
	runs         int64
}

type run struct {
	m     *profiles.Mechanism
	count int64
}

// An Option configures New.
type Option func(*settings)

type settings struct {
	fourier.Options
	recursion int64         // runs of one mechanism that the recursion takes on
	time      time.Duration // 0: no limit
	many      bool          // many questions are expected
}

// sums returns the options of the sums of a question that asks n of them, which
// share its work.
func (o settings) sums(n float64) fourier.Options {
	o.Work = o.work() / n
	return o.Options
}

func (o settings) work() float64 {
	if o.Work > 0 {
		return o.Work
	}
	return fourier.DefaultWork(o.Relative)
}

// within returns a context that ends with the time limit, if there is one.
func (o settings) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.time <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, o.time, fourier.ErrTimeLimit)
}

// WithAccuracy asks for intervals of at most this width relative to ε (default
// 1e-3), or to δ when δ is asked. It must be in (0, 1).
func WithAccuracy(relative float64) Option {
	return func(o *settings) {
		o.Relative = relative
		o.Absolute = min(o.Absolute, 1e-3*relative)
	}
}

// WithMemory limits the memory that questions take to this many bytes (default 1
// GiB), of which up to 24 MiB are left for the program itself. An answer that needs
// more is wider than asked and carries a warning. The garbage collector may let the
// process have more for a while; debug.SetMemoryLimit with the same number prevents
// that.
func WithMemory(bytes int64) Option {
	return func(o *settings) { o.MaxPoints = pointsIn(bytes) }
}

const defaultMemory = 1 << 30

// pointsIn is how many points of transforms fit into so many bytes when an upper
// sum and that of an attack are asked together.
func pointsIn(bytes int64) int {
	bytes -= min(24<<20, bytes/4)
	return int(max(bytes/(3*fourier.BytesPerPoint/2), 256))
}

// WithWorkLimit limits the work of a question: one ε or δ, or all points of a curve.
// It is counted in terms of a sum, about 40 ns each on a machine of today, and not
// in time, so that the answer is the same everywhere. The default is 2.5e8 at an
// accuracy of 1e-3 or finer, about 10 s, where ordinary questions take milliseconds,
// and less at coarser ones, with the fourth root. An answer that needs more is wider
// than asked and carries a warning with the width reached.
func WithWorkLimit(work float64) Option {
	return func(o *settings) { o.Work = max(work, 1) }
}

// WithTimeLimit limits the time of a call, such as Epsilon or a whole DeltaCurve.
// What is proved by then is the answer, with a warning. Unlike WithWorkLimit, it
// makes answers depend on the machine and what else runs on it.
func WithTimeLimit(d time.Duration) Option {
	return func(o *settings) { o.time = d }
}

// WithManyQuestions says that the accountant will be asked again and again, while its
// total grows or at many δ: what is computed for one question then reaches a little
// further, to serve the next. The answers are the same to their certified digits.
func WithManyQuestions() Option {
	return func(o *settings) { o.many = true }
}

// WithTransform selects the Fourier transform of lattices (default fourier.Gonum), and
// with it the lattices.
func WithTransform(t fourier.Transform) Option {
	return func(o *settings) { o.Transform, o.Engine = t, fourier.Lattice }
}

// WithEngine lets only one engine answer where there is no closed form: to compare the
// two, which share no theorem. Without it, an integral of transforms (fourier.Contour)
// is tried first, and lattices (fourier.Lattice) for what it does not serve. In mixed plans
// the integral takes lattice laws of the steps that have no transform.
func WithEngine(e fourier.Engine) Option {
	return func(o *settings) { o.Engine = e }
}

// New returns an empty accountant under the relation.
func New(r profiles.Relation, opts ...Option) *Accountant {
	a := &Accountant{relation: r, opts: defaults(), known: map[any]*profiles.Mechanism{}, at: map[*profiles.Mechanism]int{}, symmetric: true}
	for _, o := range opts {
		o(&a.opts)
	}
	for i := range a.upper {
		a.upper[i] = fourier.New(a.opts.Options)
		a.lower[i] = a.upper[i]
	}
	if a.opts.many {
		a.expectMany()
	}
	return a
}

func defaults() settings {
	o := settings{Options: fourier.DefaultOptions()}
	o.MaxPoints = pointsIn(defaultMemory)
	return o
}

// Relation returns the neighbouring relation.
func (a *Accountant) Relation() profiles.Relation { return a.relation }

// Runs returns the number of runs added so far.
func (a *Accountant) Runs() int64 { return a.runs }

// maxRuns is the largest number of runs: counts must be exact in float64.
const maxRuns = 1 << 53

// Add adds count runs of a step; the step's own Count is a factor. It changes
// nothing when it returns an error, such as that of a cancelled context.
func (a *Accountant) Add(ctx context.Context, s Step, count int64) error {
	runs, err := a.flatten(ctx, s, count, nil)
	if err != nil {
		return err
	}
	return a.addRuns(runs)
}

// AddPlan adds every step of p, which must have the accountant's relation.
func (a *Accountant) AddPlan(ctx context.Context, p *Plan) error {
	if p.Neighbors != a.relation {
		return fault.New("neighbors", "%v is not the accountant's relation, %v", p.Neighbors, a.relation)
	}
	runs, err := a.flattenAll(ctx, p.Steps, 1, nil)
	if err != nil {
		return err
	}
	return a.addRuns(runs)
}

// AddMechanism adds count runs of a mechanism that is known by its profiles: a
// private selection, a private majority, a label randomizer.
func (a *Accountant) AddMechanism(m profiles.Mechanism, count int64) error {
	if m.Relation != a.relation {
		return fault.New("mechanism", "its relation %v is not the accountant's, %v", m.Relation, a.relation)
	}
	if err := checkCount(count); err != nil {
		return err
	}
	return a.addRuns([]run{{&m, count}})
}

func checkCount(count int64) error {
	if count < 1 || count > maxRuns {
		return fault.New("count", "%d is not an integer in [1, 2^53]", count)
	}
	return nil
}

// flatten appends the runs of a step, sub-plans multiplied out.
func (a *Accountant) flatten(ctx context.Context, s Step, count int64, runs []run) ([]run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Count == 0 {
		s.Count = 1
	}
	for _, n := range []int64{s.Count, count} {
		if err := checkCount(n); err != nil {
			return nil, err
		}
	}
	if s.Count > maxRuns/count {
		return nil, fault.New("count", "%d times %d is above 2^53", s.Count, count)
	}
	count *= s.Count
	switch {
	case s.Selection != nil:
		m, err := a.selected(ctx, s)
		if err != nil {
			return nil, err
		}
		return append(runs, run{&m, count}), nil
	case s.Mechanism != nil && s.Steps != nil:
		return nil, fault.New("steps", "a step has either a mechanism or steps, not both")
	case s.Mechanism == nil && len(s.Steps) == 0:
		return nil, fault.New("mechanism", "is missing")
	case s.Mechanism != nil:
		m, err := a.mechanism(ctx, s)
		if err != nil {
			return nil, err
		}
		return append(runs, run{m, count}), nil
	case s.Sampling != nil:
		return nil, fault.New("sampling", "applies to a mechanism, not to a sub-plan")
	}
	return a.flattenAll(ctx, s.Steps, count, runs)
}

// flattenAll appends the runs of steps.
func (a *Accountant) flattenAll(ctx context.Context, steps []Step, count int64, runs []run) ([]run, error) {
	for i, s := range steps {
		var err error
		if runs, err = a.flatten(ctx, s, count, runs); err != nil {
			return nil, fault.In(fmt.Sprintf("steps[%d]", i), err)
		}
	}
	return runs, nil
}

// mechanism returns the profiles of a step, built once.
func (a *Accountant) mechanism(ctx context.Context, s Step) (*profiles.Mechanism, error) {
	type key struct {
		b profiles.Base
		s subsample.Scheme
	}
	k := key{s.Mechanism, s.Sampling}
	cacheable := reflect.ValueOf(k).Comparable()
	if cacheable {
		if m, ok := a.known[k]; ok {
			return m, nil
		}
	}
	var m profiles.Mechanism
	var err error
	if s.Sampling == nil {
		m, err = profiles.Unsampled(ctx, s.Mechanism, a.relation)
	} else if err = profiles.CheckSampled(s.Mechanism); err == nil {
		m, err = s.Sampling.Apply(s.Mechanism, a.relation)
	}
	if err == nil && cacheable {
		a.known[k] = &m
	}
	return &m, err
}

// selectionAccuracy and selectionFloor say how finely the price of a selection
// is turned into a profile: chords cost at most this much ε, and log δ is
// followed down to this; what is left counts as +∞.
const (
	selectionAccuracy = 1e-3
	selectionFloor    = -60
	selectionShare    = 20 // of the work of a question goes to each δ of the candidate
)

// selected returns the mechanism of a selection step, the best of a random
// number of runs of the candidate (selection.PriceOfBest).
func (a *Accountant) selected(ctx context.Context, s Step) (profiles.Mechanism, error) {
	law, err := s.Selection.Build()
	if err != nil {
		return profiles.Mechanism{}, fault.Rename(err, func(field string) string { return "selection." + field })
	}
	candidate := New(a.relation)
	candidate.opts.Options = a.opts.sums(selectionShare)
	s.Selection, s.Count = nil, 1
	if err := candidate.Add(ctx, s, 1); err != nil {
		return profiles.Mechanism{}, err
	}
	bound := selection.FromDelta(func(eps float64) (float64, error) {
		iv, err := candidate.Delta(ctx, eps)
		return iv.Upper, err
	})
	if len(candidate.added) == 1 && candidate.runs == 1 {
		bound = selection.FromMechanism(*candidate.added[0].m)
	}
	return selection.PriceOfBest(law).Mechanism(ctx, "selection", a.relation, bound, selectionAccuracy, selectionFloor)
}

// addRuns adds runs to the sums, after checking the total.
func (a *Accountant) addRuns(runs []run) error {
	total := a.runs
	for _, r := range runs {
		if r.count > maxRuns-total {
			return fault.New("count", "%d runs on top of %d are above 2^53", r.count, total)
		}
		total += r.count
	}
	for _, r := range runs {
		if r.m.TheoryGap() && !a.gap {
			// From here on attacks are composed apart.
			a.gap = true
			for d := range a.lower {
				a.lower[d] = fourier.New(a.opts.Options)
				if a.opts.many {
					a.lower[d].ExpectMany()
				}
				for _, old := range a.added {
					if err := a.lower[d].Add(old.m.Directions[d].Upper, old.count); err != nil {
						return err
					}
				}
			}
		}
		for d, dir := range r.m.Directions {
			if err := a.upper[d].Add(dir.Upper, r.count); err != nil {
				return err
			}
			if a.gap && dir.Lower != nil {
				if err := a.lower[d].Add(dir.Lower, r.count); err != nil {
					return err
				}
			}
		}
		if i, ok := a.at[r.m]; ok {
			a.added[i].count += r.count
			continue
		}
		f, b := r.m.Directions[0], r.m.Directions[1]
		a.symmetric = a.symmetric && profiles.Equal(f.Upper, b.Upper) &&
			(f.Lower == nil && b.Lower == nil || f.Lower != nil && b.Lower != nil && profiles.Equal(f.Lower, b.Lower))
		a.at[r.m] = len(a.added)
		a.added = append(a.added, r)
	}
	a.runs = total
	return nil
}

// Epsilon returns ε(δ) = inf{ε : δ(ε) ≤ δ} of everything added so far, the worst
// over the two directions, for δ in [0, 1]. It can be negative.
func (a *Accountant) Epsilon(ctx context.Context, delta float64) (Interval, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	ask := func(s *fourier.Sum) (fourier.Result, error) { return s.Epsilon(ctx, delta) }
	iv, err := a.worst(ctx, ask, func(s *fourier.Sum, eps float64) bool { return s.Proves(eps, delta) })
	if err == nil && a.gap && a.opts.recursion > 0 {
		err = a.narrow(ctx, &iv, ask, iv.Upper, delta, func(at profiles.Reached) float64 { return at.Epsilon(delta) })
	}
	return iv, err
}

// Delta returns δ(ε) of everything added so far, the worst over the two
// directions, for any finite ε.
func (a *Accountant) Delta(ctx context.Context, eps float64) (Interval, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	ask := func(s *fourier.Sum) (fourier.Result, error) { return s.Delta(ctx, eps) }
	iv, err := a.worst(ctx, ask, func(s *fourier.Sum, delta float64) bool { return s.Proves(eps, delta) })
	if err == nil && a.gap && a.opts.recursion > 0 {
		err = a.narrow(ctx, &iv, ask, eps, iv.Upper, func(at profiles.Reached) float64 { return at.Delta(eps) })
	}
	return iv, err
}

// worst asks both directions and joins the answers. below reports whether a
// quick bound already shows that a sum's answer is at most a number.
func (a *Accountant) worst(ctx context.Context, ask func(*fourier.Sum) (fourier.Result, error), below func(*fourier.Sum, float64) bool) (Interval, error) {
	var attacks [2]*fourier.Sum // nil: not asked
	sums := a.asked()
	if a.gap {
		attacks = a.lower
	}
	for d := range a.upper {
		a.upper[d].LimitWork(a.opts.work() / sums)
		a.lower[d].LimitWork(a.opts.work() / sums)
	}
	proved, attack, err := both(ask, a.upper[0], attacks[0])
	if err != nil {
		return Interval{}, err
	}
	direction := 0
	if !a.symmetric {
		u, l := a.upper[1], attacks[1]
		if below(u, proved.Lower) {
			u = nil
		}
		if l != nil && below(l, attack.Lower) {
			l = nil
		}
		p, q, err := both(ask, u, l)
		if err != nil {
			return Interval{}, err
		}
		if u != nil {
			if larger(p, proved) {
				direction = 1
			}
			proved = join(proved, p)
		}
		if l != nil {
			attack = join(attack, q)
		}
	}
	out := Interval{Lower: proved.Lower, Estimate: proved.Estimate, Upper: proved.Upper, Loose: proved.Loose,
		Direction: a.relation.DirectionNames()[direction], Engine: proved.Engine, Points: proved.Points, Frequencies: proved.Frequencies, Warnings: proved.Warnings,
		Budget: Budget{Discretization: proved.Budget.Discretization, Quadrature: proved.Budget.Quadrature, Truncation: proved.Budget.Truncation,
			Aliasing: proved.Budget.Aliasing, RoundOff: proved.Budget.RoundOff}}
	if a.gap {
		out.Lower = attack.Lower
		if proved.Lower > attack.Upper { // both may be infinite
			out.Budget.TheoryGap = proved.Lower - attack.Upper
		}
		out.Gap = &Gap{Range{proved.Lower, proved.Estimate, proved.Upper}, Range{attack.Lower, attack.Estimate, attack.Upper}}
		for _, w := range attack.Warnings {
			out.Warnings = append(out.Warnings, "attack: "+w)
		}
	}
	if !(out.Lower <= out.Upper) {
		return Interval{}, fmt.Errorf("internal error: the interval [%v, %v] is empty; please report the plan", out.Lower, out.Upper)
	}
	out.Estimate = min(max(out.Estimate, out.Lower), out.Upper)
	return out, nil
}

// expectMany prepares the sums for many questions.
func (a *Accountant) expectMany() {
	for d := range a.upper {
		a.upper[d].ExpectMany()
		a.lower[d].ExpectMany()
	}
}

// asked is the number of sums that a question asks.
func (a *Accountant) asked() float64 {
	sums := 1.0
	if !a.symmetric {
		sums *= 2
	}
	if a.gap {
		sums *= 2
	}
	return sums
}

// larger reports whether a is above b, or as high and more likely so.
func larger(a, b fourier.Result) bool {
	return a.Upper > b.Upper || a.Upper == b.Upper && a.Estimate > b.Estimate
}

// join returns the maximum of two answers; what else it says is about the larger one.
func join(a, b fourier.Result) fourier.Result {
	if larger(b, a) {
		a, b = b, a
	}
	a.Lower = max(a.Lower, b.Lower)
	a.Estimate = min(max(a.Estimate, b.Estimate, a.Lower), a.Upper)
	if a.Loose = a.Loose && a.Upper-a.Lower > 0.1*math.Abs(a.Upper); a.Loose {
		a.Estimate = a.Lower + (a.Upper-a.Lower)/2
	}
	return a.Narrowed()
}

// both asks two sums at the same time; nil is not asked.
func both(ask func(*fourier.Sum) (fourier.Result, error), a, b *fourier.Sum) (p, q fourier.Result, err error) {
	var errQ error
	parallel.Both(func() {
		if a != nil {
			p, err = ask(a)
		}
	}, func() {
		if b != nil {
			q, errQ = ask(b)
		}
	})
	return p, q, cmp.Or(err, errQ)
}
