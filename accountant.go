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
// for persons with several records without WithRecordsPerPerson.
package accountant

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// The neighbouring relations.
const (
	AddRemove  = profiles.AddRemove
	Substitute = profiles.Substitute
	ZeroOut    = profiles.ZeroOut
)

// A Step is a mechanism with its sampling, run Count times; or, when Steps is
// set instead of Mechanism, a sub-plan run Count times. With Selection, one run is
// a private selection: the mechanism or the sub-plan is the candidate, run a
// random number of times, of which only the best is shown.
type Step struct {
	Name      string
	Mechanism profiles.Mechanism
	Sampling  subsample.Scheme // nil: the whole data set
	Count     int64            // 0 means 1
	Steps     []Step
	Selection *selection.Config
}

// A Plan is a sequence of steps, fixed in advance, under one neighbouring
// relation and for one unit of privacy.
type Plan struct {
	Neighbors profiles.Relation
	// RecordsPerPerson is how many records a person has at most: neighbours differ by
	// those of one person. 0 means 1, neighbours that differ by one record.
	RecordsPerPerson int64
	Steps            []Step
}

// Records returns RecordsPerPerson, 1 where it is left out.
func (p *Plan) Records() int64 { return max(p.RecordsPerPerson, 1) }

// Accountant returns an empty accountant of the plan's relation and unit.
func (p *Plan) Accountant(opts ...Option) *Accountant {
	return New(p.Neighbors, append(slices.Clone(opts), WithRecordsPerPerson(p.Records()))...)
}

// An Accountant is the running total of the steps added to it. Asking does not
// change the total, and what was computed for earlier questions is kept. It is
// not safe for concurrent use.
type Accountant struct {
	relation profiles.Relation
	opts     settings
	known    map[any]*profiles.Bounds
	added    []run   // each mechanism once
	summed   []run   // what the sums hold: added, with blocks in place of their runs
	blocks   bool    // some mechanism has a profiles.Block
	stale    bool    // the sums lack what was added (prepare)
	past     float64 // work of sums that were replaced
	at       map[*profiles.Bounds]int
	// Per direction: the sum of upper profiles, and that of lower ones, which is
	// the same while every step is known exactly.
	upper, lower [2]*fourier.Sum
	symmetric    bool
	gap          bool // lower sums are apart
	theory       bool // there is a gap in theory, not only between two laws
	runs         int64
	// Steps whose laws are computed for a question (aimed.go); the sums are without them.
	aims   []*aim
	aimed  []run
	laws   map[lawKey]*profiles.Bounds
	totals map[totalKey]*aimedTotal
	scout  *Accountant // of the same total, roughly
	many   bool        // many questions are expected
	caps   map[*profiles.Bounds]capped
}

// A run has a mechanism or an aim.
type run struct {
	m     *profiles.Bounds
	count int64
	aim   *aim
	// list: of a subsample.Sequence, whose attacks hold as a whole only.
	list bool
}

// New returns an empty accountant under the relation.
func New(r profiles.Relation, opts ...Option) *Accountant {
	a := &Accountant{relation: r, opts: defaults(), known: map[any]*profiles.Bounds{}, at: map[*profiles.Bounds]int{}, symmetric: true}
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

// Relation returns the neighbouring relation.
func (a *Accountant) Relation() profiles.Relation { return a.relation }

// Runs returns the number of runs added so far.
func (a *Accountant) Runs() int64 { return a.runs }

// maxRuns is the largest number of runs: counts must be exact in float64.
const maxRuns = xmath.MaxCount

// Add adds count runs of a step; the step's own Count is a factor. It changes
// nothing when it returns an error, such as that of a cancelled context.
func (a *Accountant) Add(ctx context.Context, s Step, count int64) error {
	runs, err := a.flatten(ctx, s, count, nil)
	if err != nil {
		return err
	}
	return a.addRuns(runs)
}

// Records returns how many records a person has at most.
func (a *Accountant) Records() int64 { return max(a.opts.records, 1) }

// AddPlan adds every step of p, which must have the accountant's relation and unit.
func (a *Accountant) AddPlan(ctx context.Context, p *Plan) error {
	if p.Neighbors != a.relation {
		return fault.New("neighbors", "%v is not the accountant's relation, %v", p.Neighbors, a.relation)
	}
	if p.Records() != a.Records() {
		return fault.New("records-per-person", "%d is not the accountant's, %d", p.Records(), a.Records())
	}
	runs, err := a.flattenAll(ctx, p.Steps, 1, nil)
	if err != nil {
		return err
	}
	return a.addRuns(runs)
}

// AddBounds adds count runs of a mechanism that is known by its profiles: a
// private selection, a private majority, a label randomizer.
func (a *Accountant) AddBounds(m profiles.Bounds, count int64) error {
	if m.Relation != a.relation {
		return fault.New("mechanism", "its relation %v is not the accountant's, %v", m.Relation, a.relation)
	}
	if err := checkCount(count); err != nil {
		return err
	}
	return a.addRuns([]run{{m: &m, count: count}})
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
		return append(runs, run{m: &m, count: count}), nil
	case s.Mechanism != nil && s.Steps != nil:
		return nil, fault.New("steps", "a step has either a mechanism or steps, not both")
	case s.Mechanism == nil && len(s.Steps) == 0:
		return nil, fault.New("mechanism", "is missing")
	case s.Mechanism != nil:
		return a.flattenMechanism(ctx, s, count, runs)
	case s.Sampling != nil:
		return nil, fault.New("sampling", "applies to a mechanism, not to a sub-plan")
	}
	return a.flattenAll(ctx, s.Steps, count, runs)
}

// flattenMechanism appends the runs of a step that is no sub-plan.
func (a *Accountant) flattenMechanism(ctx context.Context, s Step, count int64, runs []run) ([]run, error) {
	if scheme, ok := s.Sampling.(subsample.Aimed); ok {
		if err := profiles.CheckSampled(s.Mechanism, s.Sampling.Name()); err != nil {
			return nil, err
		}
		if err := subsample.CheckChain(scheme, a.relation, a.Records()); err != nil {
			return nil, err
		}
		x, err := a.aim(s, scheme)
		if err != nil {
			return nil, err
		}
		return append(runs, run{aim: x, count: count}), nil
	}
	list, ok := s.Mechanism.(subsample.Sequence)
	if !ok {
		m, err := a.mechanism(ctx, s)
		if err != nil {
			return nil, err
		}
		return append(runs, run{m: m, count: count}), nil
	}
	steps, err := sequenceSteps(ctx, list, s.Sampling, a.relation)
	if err != nil {
		return nil, err
	}
	first := len(runs)
	own, _ := list.(interface{ Secret() bool }) // its sampling, without a scheme of the steps
	for _, step := range steps {
		if (step.Sampling != nil || own != nil && own.Secret()) && a.Records() > 1 {
			return nil, fault.In(list.Name(), fault.New("records-per-person", "%d is not covered where its runs are sampled: the records of a person may be in different groups", a.Records()))
		}
		if runs, err = a.flatten(ctx, step, count, runs); err != nil {
			return nil, fault.In(list.Name(), err)
		}
	}
	for i := range runs[first:] {
		runs[first+i].list = true
	}
	return runs, nil
}

// sequenceSteps returns the steps that one run of a list of runs stands for.
func sequenceSteps(ctx context.Context, list subsample.Sequence, sampling subsample.Scheme, r profiles.Relation) ([]Step, error) {
	if sampling != nil {
		return nil, fault.New("sampling", "must be left out; %s has its own", list.Name())
	}
	runs, err := list.Runs(ctx, r)
	if err != nil {
		return nil, fault.In(list.Name(), err)
	}
	steps := make([]Step, len(runs))
	for i, x := range runs {
		steps[i] = Step{Mechanism: x.Mechanism, Sampling: x.Scheme, Count: x.Count}
	}
	return steps, nil
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
func (a *Accountant) mechanism(ctx context.Context, s Step) (*profiles.Bounds, error) {
	type key struct {
		b profiles.Mechanism
		s subsample.Scheme
	}
	k := key{s.Mechanism, s.Sampling}
	cacheable := reflect.ValueOf(k).Comparable()
	if cacheable {
		if m, ok := a.known[k]; ok {
			return m, nil
		}
	}
	var m profiles.Bounds
	var err error
	switch {
	case a.Records() != 1:
		if s.Sampling != nil {
			err = profiles.CheckSampled(s.Mechanism, s.Sampling.Name())
		}
		if err == nil {
			m, err = subsample.Persons(ctx, s.Mechanism, s.Sampling, a.relation, a.Records())
		}
	case s.Sampling == nil:
		m, err = profiles.Unsampled(ctx, s.Mechanism, a.relation)
	default:
		if err = profiles.CheckSampled(s.Mechanism, s.Sampling.Name()); err == nil {
			m, err = s.Sampling.Apply(s.Mechanism, a.relation)
		}
	}
	if t, ok := s.Sampling.(allocation.Truncated); ok && err == nil {
		if a.caps == nil {
			a.caps = map[*profiles.Bounds]capped{}
		}
		a.caps[&m] = capped{s.Mechanism, t}
	}
	if err == nil && cacheable {
		a.known[k] = &m
	}
	return &m, err
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
		a.blocks = a.blocks || r.aim == nil && r.m.Block != nil
	}
	for _, r := range runs {
		if r.aim != nil {
			a.addAimed(r)
			continue
		}
		if !a.blocks {
			if err := a.include(r); err != nil {
				return err
			}
		}
		if i, ok := a.at[r.m]; ok {
			a.added[i].count += r.count
		} else {
			a.at[r.m] = len(a.added)
			a.added = append(a.added, r)
		}
		if !a.blocks {
			a.summed = a.added
		}
	}
	a.stale = a.blocks
	a.runs = total
	return nil
}

// include adds runs to the sums.
func (a *Accountant) include(r run) error {
	a.theory = a.theory || r.m.TheoryGap() && !r.m.Numerical
	if r.m.TheoryGap() && !a.gap {
		// From here on attacks are composed apart.
		a.gap = true
		for d := range a.lower {
			a.lower[d] = fourier.New(a.opts.Options)
			if a.opts.many {
				a.lower[d].ExpectMany()
			}
			for _, old := range a.summed {
				if err := a.lower[d].Add(old.m.Directions[d].Upper, old.count); err != nil {
					return err
				}
			}
		}
	}
	for d, dir := range r.m.Directions {
		if dir.Upper != nil { // what only attacks hold has none
			if err := a.upper[d].Add(dir.Upper, r.count); err != nil {
				return err
			}
		}
		if a.gap && dir.Lower != nil {
			if err := a.lower[d].Add(dir.Lower, r.count); err != nil {
				return err
			}
		}
	}
	f, b := r.m.Directions[0], r.m.Directions[1]
	a.symmetric = a.symmetric && sameProfile(f.Upper, b.Upper) && sameProfile(f.Lower, b.Lower)
	return nil
}

// sameProfile reports whether p and q are the same, or both missing.
func sameProfile(p, q profiles.Profile) bool {
	return p == nil && q == nil || p != nil && q != nil && profiles.Equal(p, q)
}

// Epsilon returns ε(δ) = inf{ε : δ(ε) ≤ δ} of everything added so far, the worst
// over the two directions, for δ in [0, 1]. It can be negative.
func (a *Accountant) Epsilon(ctx context.Context, delta float64) (Interval, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if len(a.aimed) > 0 {
		return a.aimedEpsilon(ctx, delta)
	}
	if err := a.prepare(ctx); err != nil {
		return Interval{}, err
	}
	ask := func(s *fourier.Sum) (fourier.Result, error) { return s.Epsilon(ctx, delta) }
	iv, err := a.worst(ask, func(s *fourier.Sum, eps float64) bool { return s.Proves(eps, delta) })
	if err == nil && a.theory && a.opts.recursion > 0 {
		err = a.narrow(ctx, &iv, ask, iv.Upper, delta, func(at profiles.Reached) float64 { return at.Epsilon(delta) })
	}
	if err == nil {
		err = a.warnOfCap(ctx, &iv, delta)
	}
	return iv, err
}

// Delta returns δ(ε) of everything added so far, the worst over the two
// directions, for any finite ε.
func (a *Accountant) Delta(ctx context.Context, eps float64) (Interval, error) {
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if len(a.aimed) > 0 {
		return a.aimedDelta(ctx, eps)
	}
	if err := a.prepare(ctx); err != nil {
		return Interval{}, err
	}
	ask := func(s *fourier.Sum) (fourier.Result, error) { return s.Delta(ctx, eps) }
	iv, err := a.worst(ask, func(s *fourier.Sum, delta float64) bool { return s.Proves(eps, delta) })
	if err == nil && a.theory && a.opts.recursion > 0 {
		err = a.narrow(ctx, &iv, ask, eps, iv.Upper, func(at profiles.Reached) float64 { return at.Delta(eps) })
	}
	return iv, err
}

// expectMany prepares the sums for many questions.
func (a *Accountant) expectMany() {
	a.many = true // for the accountants of single δ to come
	for _, t := range a.totals {
		t.acct.expectMany()
	}
	for d := range a.upper {
		a.upper[d].ExpectMany()
		a.lower[d].ExpectMany()
	}
}
