package accountant

// The running total: from steps to runs of mechanisms, and the two questions that all others
// are made of. What is known of a step is asked for once, when it is added; equal steps share it.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
)

// Accountant returns an empty accountant of the plan's relation and unit.
func (p *Plan) Accountant(opts ...Options) *Accountant {
	return New(p.Neighbors, append(slices.Clone(opts), Options{RecordsPerPerson: p.Records()})...)
}

// An Accountant is the running total of the steps added to it. Asking does not
// change the total, and what was computed for earlier questions is kept. It is
// not safe for concurrent use.
type Accountant struct {
	running
	known map[any]*profiles.Bounds // of a mechanism and its sampling
	short bool                     // the work limit cut selections short
	// stretched is how many times what was asked chords of its last table as a candidate cost beyond that, at most, for want of work.
	stretched float64
	// curved: many questions follow one another, and a search has one price for all of them.
	curved  bool
	bests   *bests   // of its selections, or of a search's
	inquiry *inquiry // of the last Candidate

	// Of a plan with disjoint branches: a total for each way of a record through them, and what all branches cost together
	// where a person may be in several. Then there is no other total.
	ways     []*Accountant
	together *Accountant
	choose   *chooser // while runs are made of steps
	addUp    bool     // then: all branches at once
}

// New returns an empty accountant under the relation.
func New(r profiles.Relation, opts ...Options) *Accountant {
	return newAccountant(r, defaults(opts...))
}

func newAccountant(r profiles.Relation, o settings) *Accountant {
	return &Accountant{running: newRunning(r, o), known: map[any]*profiles.Bounds{}, bests: &bests{}}
}

// Relation returns the neighbouring relation.
func (a *Accountant) Relation() profiles.Relation { return a.relation }

// Runs returns the number of runs added so far, of disjoint branches those of the longest way through them.
func (a *Accountant) Runs() int64 {
	runs := a.runs
	for _, w := range a.ways {
		runs = max(runs, w.runs)
	}
	return runs
}

// recordsPerPerson returns how many records a person has at most.
func (a *Accountant) recordsPerPerson() int64 { return max(a.opts.records, 1) }

// Add adds count runs of a step; the step's own Count is a factor. It changes
// nothing when it returns an error, such as that of a cancelled context.
func (a *Accountant) Add(ctx context.Context, s Step, count int64) error {
	if err := a.check(); err != nil {
		return err
	}
	ctx = a.opts.budgeted(ctx)
	return a.addWays(func() ([]run, error) { return a.flatten(ctx, s, count, nil) })
}

// AddPlan adds every step of p, which must have the accountant's relation and unit.
func (a *Accountant) AddPlan(ctx context.Context, p *Plan) error {
	if err := a.check(); err != nil {
		return err
	}
	if p.Neighbors != a.relation {
		return fault.New("neighbors", "%v is not the accountant's relation, %v", p.Neighbors, a.relation)
	}
	if p.Records() != a.recordsPerPerson() {
		return fault.New("records-per-person", "%d is not the accountant's, %d", p.Records(), a.recordsPerPerson())
	}
	ctx = a.opts.budgeted(ctx)
	return a.addWays(func() ([]run, error) { return a.flattenAll(ctx, p.Steps, 1, nil) })
}

// AddBounds adds count runs of a mechanism that is known by its profiles: a
// private selection, a private majority, a label randomizer.
func (a *Accountant) AddBounds(m profiles.Bounds, count int64) error {
	if err := a.check(); err != nil {
		return err
	}
	if m.Relation != a.relation {
		return fault.New("mechanism", "its relation %v is not the accountant's, %v", m.Relation, a.relation)
	}
	for d, dir := range m.Directions {
		if dir.Upper == nil && m.Laws == nil {
			return fault.New("mechanism", "has no profile that bounds its direction %s", a.relation.DirectionNames()[d])
		}
	}
	if err := checkCount(count); err != nil {
		return err
	}
	return a.addWays(func() ([]run, error) { return []run{{m: &m, count: count}}, nil })
}

// check returns why the accountant is about nothing: a relation that is none, or a unit.
func (a *Accountant) check() error {
	if !slices.Contains(profiles.Relations(), a.relation) {
		return fault.New("neighbors", "%v is not one of add-remove, substitute, zero-out", a.relation)
	}
	if a.opts.records == 0 {
		return nil
	}
	return noiserange.CheckRecords(a.opts.records)
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
		m, from, err := a.selected(ctx, s)
		if err != nil {
			return nil, err
		}
		if from != nil {
			a.origins[&m] = from
		}
		return append(runs, run{m: &m, count: count}), nil
	case s.Disjoint != nil || s.Partition != "":
		return a.flattenDisjoint(ctx, s, count, runs)
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
		if (step.Sampling != nil || own != nil && own.Secret()) && a.recordsPerPerson() > 1 {
			return nil, fault.In(list.Name(), fault.New("records-per-person", "%d is not covered where its runs are sampled: the records of a person may be in different groups", a.recordsPerPerson()))
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
	if part, ok := s.Mechanism.(*adaptive); ok && s.Sampling == nil {
		m, err = part.persons(ctx, a.relation, a.recordsPerPerson(), a.opts.Relative)
	} else {
		m, err = subsample.Of(ctx, s.Mechanism, s.Sampling, a.relation, a.recordsPerPerson())
	}
	if s.Sampling != nil {
		a.origins[&m] = &origin{step: s}
	}
	if err == nil && cacheable {
		a.known[k] = &m
	}
	return &m, err
}

// selectionShare: so many parts of the work of a question go to each δ of a selection's candidate.
const selectionShare = 20

// candidateAccuracy is the relative accuracy of δ(ε) of a selection's candidate. It steers: where δ is small, as on the tail of a Gaussian,
// ε moves by about 1/(2 ln(1/δ)) of it.
const candidateAccuracy = 3e-3

// selected returns the mechanism of a selection step, the best of a random
// number of runs of the candidate (selection.PriceOfBest).
func (a *Accountant) selected(ctx context.Context, s Step) (profiles.Bounds, *origin, error) {
	law, err := s.Selection.Build()
	if err != nil {
		return profiles.Bounds{}, nil, fault.Rename(err, func(field string) string { return "selection." + field })
	}
	// The price is of two data sets, whatever makes them neighbours.
	candidate := New(a.relation, Options{RecordsPerPerson: a.recordsPerPerson(), Accuracy: candidateAccuracy})
	candidate.opts.Options = a.opts.sums(selectionShare)
	asked := bestAsked{step: s, relation: a.relation, records: a.recordsPerPerson(), sums: candidate.opts.Options}
	asked.step.Name, asked.step.Count = "", 1
	if m, from, ok := a.bests.of(asked); ok {
		a.short = a.short || from != nil && from.short
		return m, from, nil
	}
	s.Selection, s.Count = nil, 1
	// Half of what is left, so that there is some for the next one; a coarse price is made for as much again.
	_, left := parallel.Work(ctx)
	if left < -a.opts.work() {
		a.short = true
		m, err := certainLoss(a.relation)
		return m, nil, err
	}
	own := parallel.WithWork(ctx, max(0, left/2))
	m, err := candidate.best(own, law, s)
	_, rest := parallel.Work(own)
	parallel.Spend(ctx, perSelection)
	short := (rest < 0 || candidate.short) && ctx.Err() == nil
	if short {
		a.short = true
		if err != nil { // such as of a candidate of which nothing is known by then
			m, err = certainLoss(a.relation)
		}
	}
	var from *origin
	if candidate.runs > 0 { // its simpler releases are known without a price
		from = &origin{candidate: candidate, law: law, short: short, stretched: max(candidate.stretched, candidate.mostStretched())}
	}
	if err == nil && ctx.Err() == nil {
		a.bests.keep(asked, m, from)
	}
	return m, from, err
}

// perSelection is what a price takes besides its levels and its candidate, measured.
const perSelection = 3e6

// best returns the best of so many runs of a step, which the accountant is to hold alone.
func (a *Accountant) best(ctx context.Context, law selection.Law, s Step) (profiles.Bounds, error) {
	if err := a.Add(ctx, s, 1); err != nil {
		return profiles.Bounds{}, err
	}
	one, err := a.Candidate(ctx)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return selection.PriceOfBest(law).Bounds(ctx, "selection", a.relation, one, selectionAccuracy, selectionFloor)
}

// certainLoss is a mechanism of which nothing is known.
func certainLoss(r profiles.Relation) (profiles.Bounds, error) {
	p, err := profiles.NewDiscrete(nil, 0, 0, 0, 0)
	m := profiles.NewBounds("selection", r, p)
	for d := range m.Directions {
		m.Directions[d].Lower = profiles.Identical()
	}
	return m, err
}

// perDelta is what a δ takes besides what its sum spends.
const perDelta = 500

// seen are values of δ(ε), which falls with ε: they bound those that there is no work for.
type seen struct {
	eps, lo, hi []float64
	far         bool    // farDeltas were asked for
	end         float64 // an ε beyond which no question is asked
	asked       float64 // questions
	price       float64 // the mean work of one, without that of the first one, which makes laws
}

// farDeltas bound a candidate far out, where each δ takes long, or the work does not suffice for all of its ε.
var farDeltas = []float64{1e-4, 1e-8, 1e-12, 1e-14, 1e-16, 1e-18, 1e-22, 1e-26}

const (
	deep          = 1e-12 // δ that have a part in next to no answer
	perQuestion   = 256   // one δ may take such a part of the work that is left
	leastQuestion = 2e5   // work of one δ, where there is as much
	manyPoints    = 2000  // of a table that is as fine as asked
	mostStretch   = 640   // makes it 25 times shorter
	lastPart      = 0.4   // of the work
	keptForLower  = 0.25  // of the work, for what is reached, where the upper ends would take all
	keptForAttack = 0.2
)

func (s *seen) add(eps, lo, hi float64) {
	s.eps, s.lo, s.hi = append(s.eps, eps), append(s.lo, lo), append(s.hi, hi)
}

func (s *seen) upper(eps float64) float64 {
	least := 1.0
	for i, e := range s.eps {
		if e <= eps {
			least = min(least, s.hi[i])
		}
	}
	return least
}

func (s *seen) lower(eps float64) float64 {
	most := max(0, -math.Expm1(eps))
	most = max(0, xmath.Down(most, 2))
	for i, e := range s.eps {
		if e >= eps {
			most = max(most, s.lo[i])
		}
	}
	return most
}

// Candidate returns everything added so far as the candidate of a private selection: what
// is proved of each direction, and what a pair of data sets is known to reach. It asks for
// many δ, each of which may take the work limit of one question. As long as nothing is added it is the same
// candidate, which asks under the last context; after that it has no more values.
func (a *Accountant) Candidate(ctx context.Context) (*selection.Candidate, error) {
	t := a.plain
	if t == nil || a.ways != nil {
		// Known as a whole only, the worst of both directions.
		var known seen
		bound := selection.FromDelta(func(eps float64) (float64, error) {
			if _, left := parallel.Work(ctx); left < 0 {
				return known.upper(eps), nil
			}
			iv, err := a.Delta(ctx, eps)
			known.add(eps, iv.Lower, iv.Upper)
			parallel.Spend(ctx, a.opts.lawWork(context.Background())/selectionShare)
			return iv.Upper, err
		})
		return bound.Candidate(bound, [2]func(float64) (float64, float64){}, nil), nil
	}
	t.bound(&a.running)
	if len(a.added) == 1 && a.runs == 1 && !a.searches() {
		return selection.CandidateOf(*a.added[0].m), nil
	}
	t.opts.Work = a.opts.Work
	if q := a.inquiry; q != nil && q.runs == a.runs {
		q.under(ctx)
		return q.candidate, nil
	}
	a.expectMany()
	low, attacked := t.onePair()
	q := &inquiry{a: a, t: t, runs: a.runs, known: map[*fourier.Sum]*seen{}}
	q.under(ctx)
	var upper [2]selection.Bound
	var lower [2]func(float64) (float64, float64)
	for d := range 2 {
		sum, low := t.upper[d], low[d]
		if t.symmetric {
			sum = t.upper[0]
		}
		q.includes(sum)
		upper[d] = selection.FromDelta(func(eps float64) (float64, error) {
			r, err := q.delta(sum, eps)
			return min(1, r.Upper), err
		})
		if attacked {
			q.includes(low)
			lower[d] = func(eps float64) (float64, float64) {
				r, err := q.delta(low, eps)
				if err != nil {
					return math.NaN(), math.NaN()
				}
				// Outward, past the rounding of the logarithm.
				l, u := xmath.Log(max(0, r.Lower)), xmath.Log(max(r.Upper, math.SmallestNonzeroFloat64))
				return l - 2e-16*(1+math.Abs(l)), min(0, u+2e-16*(1+math.Abs(u)))
			}
		}
	}
	q.candidate, a.inquiry = upper[0].Candidate(upper[1], lower, q.stretch), q
	return q.candidate, nil
}

// An inquiry asks the sums of a candidate for δ(ε) at many ε, within the work of a context. Where that does not suffice,
// and far out, δ is between what it is known to be at other ε.
type inquiry struct {
	a         *Accountant
	t         *total
	runs      int64 // of the accountant
	candidate *selection.Candidate

	lock   sync.Mutex
	ctx    context.Context
	fresh  bool                // nothing was tabulated under ctx
	chords map[float64]float64 // stretches under ctx, so that directions that are alike are asked at the same ε
	work   float64             // of ctx, at the beginning
	sums   []*fourier.Sum
	known  map[*fourier.Sum]*seen
	// Under ctx: the sum of the table that is being made, and those before it.
	last      *fourier.Sum
	tabulated []*fourier.Sum
}

// includes has a sum among those that are asked.
func (q *inquiry) includes(s *fourier.Sum) {
	if q.known[s] == nil {
		q.sums, q.known[s] = append(q.sums, s), &seen{end: math.Inf(1)}
	}
}

// under has the questions to come asked under a context.
func (q *inquiry) under(ctx context.Context) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.ctx, q.fresh, q.chords = ctx, true, map[float64]float64{}
	q.last, q.tabulated = nil, nil
	_, q.work = parallel.Work(ctx)
}

func (q *inquiry) delta(s *fourier.Sum, eps float64) (fourier.Result, error) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if s != q.last {
		q.tabulated, q.last = append(q.tabulated, q.last), s
	}
	return q.ask(s, eps)
}

// ask asks a sum. A question that finds next to nothing within its part of the work is asked once more, with a larger part; if that
// does not help, nothing is asked further out.
func (q *inquiry) ask(s *fourier.Sum, eps float64) (fourier.Result, error) {
	if q.runs != q.a.runs { // the sums are of more by now
		return fourier.Result{}, fault.New("candidate", "is of an accountant to which something was added since")
	}
	k := q.known[s]
	keep := keptForAttack
	if slices.Contains(q.t.upper[:], s) {
		keep = keptForLower
	}
	_, left := parallel.Work(q.ctx)
	if left < lastPart*q.work {
		if err := q.askFar(s, k); err != nil {
			return fourier.Result{}, err
		}
	}
	short := (left < keep*q.work || eps > k.end) && !slices.Contains(k.eps, eps)
	q.a.short = q.a.short || short && k.upper(eps) >= deep
	if short || slices.Contains(k.eps, eps) || k.far && k.upper(eps) < deep {
		return fourier.Result{Lower: k.lower(eps), Upper: k.upper(eps)}, nil
	}
	var r fourier.Result
	var err error
	for _, work := range []float64{max(leastQuestion, left/perQuestion), left / 16} {
		s.LimitWork(min(q.t.opts.work()/q.t.asked(), max(1, left/16), work))
		if r, err = s.Delta(q.ctx, eps); err != nil {
			return r, err
		}
		if r.Upper < deep || r.Lower >= r.Upper/2 {
			break
		}
	}
	k.add(eps, r.Lower, r.Upper)
	parallel.Spend(q.ctx, perDelta)
	_, rest := parallel.Work(q.ctx)
	k.price += (left - rest - k.price) / max(1, k.asked) // of use where the work is limited
	k.asked++
	if r.Lower < r.Upper/2 {
		if r.Upper >= deep {
			k.end = min(k.end, eps)
		}
		err = q.askFar(s, k)
	}
	return r, err
}

// stretch returns by how much a chord may cost more than asked: as much relative to ε where that is above 1, and so much that the
// work suffices for all points.
func (q *inquiry) stretch(eps float64) float64 {
	q.lock.Lock()
	defer q.lock.Unlock()
	_, left := parallel.Work(q.ctx)
	if math.IsInf(left, 1) {
		return 1
	}
	by, ok := q.chords[eps]
	if !ok {
		price := 0.0 // of a point of all tables to come
		for _, s := range q.sums {
			if slices.Contains(q.tabulated, s) {
				continue
			}
			k := q.known[s]
			for i := len(k.eps); i < 2; i++ {
				q.ask(s, float64(i)/64) // an error, such as that of a context that has ended, is the table's as well
			}
			price += k.price
		}
		short := manyPoints * price / ((1 - keptForLower) * max(left, 1))
		by = min(max(1, short*short), mostStretch)
		q.chords[eps] = by
	}
	if q.fresh { // a table that was made under an earlier context is as it was
		q.a.stretched, q.fresh = 0, false
	}
	if k := q.known[q.t.upper[0]]; k.upper(eps) >= deep {
		q.a.stretched = max(q.a.stretched, by-1)
	}
	return max(1, eps) * by
}

// askFar asks a sum, once, where it has the smallest δ.
func (q *inquiry) askFar(s *fourier.Sum, k *seen) error {
	if k.far {
		return nil
	}
	for _, delta := range farDeltas {
		_, left := parallel.Work(q.ctx)
		if left < 1 {
			return nil
		}
		if slices.ContainsFunc(k.hi, func(hi float64) bool { return hi < delta }) {
			continue
		}
		s.LimitWork(left / 16)
		r, err := s.Epsilon(q.ctx, delta)
		if err != nil {
			return err
		}
		if !math.IsInf(r.Lower, 1) {
			k.add(r.Lower, xmath.Down(delta, 2), 1)
		}
		if !math.IsInf(r.Upper, 1) {
			k.add(r.Upper, 0, delta)
		}
		parallel.Spend(q.ctx, perDelta)
	}
	k.far = true
	return nil
}

// Epsilon returns ε(δ) = inf{ε : δ(ε) ≤ δ} of everything added so far, the worst
// over the two directions, for δ in [0, 1]. It can be negative.
//
// The error of a cancelled context comes alone. Where the deadline of ctx is over before the interval is as narrow as asked, its
// error comes with what is proved by then.
func (a *Accountant) Epsilon(ctx context.Context, delta float64) (Interval, error) {
	return a.answer(ctx, a.opts.Absolute, func(ctx context.Context) (Interval, error) { return a.epsilon(ctx, delta) })
}

func (a *Accountant) epsilon(ctx context.Context, delta float64) (Interval, error) {
	if a.ways != nil {
		return a.worstWay(func(w *Accountant) (Interval, error) { return w.epsilon(ctx, delta) })
	}
	q := epsilonAt{delta}
	t, err := a.total(ctx, delta, 1)
	if err != nil {
		if outOfTime(ctx, err) && delta >= 0 && delta <= 1 {
			return a.trivial(ctx, math.Log1p(-delta), math.Inf(1), q) // δ(ε) ≥ 1 − e^ε
		}
		return Interval{}, err
	}
	iv, err := t.answer(ctx, q)
	if err != nil {
		return iv, err
	}
	if _, err := a.narrowed(ctx, &iv, &t, delta, 1, true, q); err != nil {
		return iv, err
	}
	few := a.oneSearch(ctx, &iv, delta, false)
	if delta > 0 && delta < 1 {
		a.oneMenu(ctx, &iv, q)
	}
	if a.made != nil {
		if least := a.made.Laws.Least(); delta < least && delta > 0 {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("δ = %v is below %v, which laws of %s are made for: the upper end is that of batches that anybody may know", delta, least, a.made.Name))
		}
	}
	a.tooWide(&iv, t, a.opts.Absolute, few)
	return iv, a.warnOfCap(ctx, &iv, delta)
}

// Delta returns δ(ε) of everything added so far, the worst over the two
// directions, for any finite ε. Its errors of contexts are those of Epsilon.
func (a *Accountant) Delta(ctx context.Context, eps float64) (Interval, error) {
	return a.answer(ctx, 0, func(ctx context.Context) (Interval, error) { return a.delta(ctx, eps) })
}

func (a *Accountant) delta(ctx context.Context, eps float64) (Interval, error) {
	if a.ways != nil {
		return a.worstWay(func(w *Accountant) (Interval, error) { return w.delta(ctx, eps) })
	}
	q := deltaAt{eps}
	at, least := 0.0, 0.0
	if a.made != nil {
		least = a.made.Laws.Least()
		var err error
		if at, err = a.about(ctx, eps, least); err != nil {
			return a.trivialDelta(ctx, eps, err)
		}
	}
	t, err := a.total(ctx, at, fineDelta)
	if err != nil {
		return a.trivialDelta(ctx, eps, err)
	}
	iv, err := t.answer(ctx, q)
	if err != nil {
		return iv, err
	}
	for range mostAgain {
		// The laws were made for another δ, where next to no work led to it.
		again := at
		if a.made != nil {
			again = math.Pow10(exponentOf(iv.Upper, least))
		}
		if again == at {
			break
		}
		at = again
		if better, err := a.narrowed(ctx, &iv, &t, at, fineDelta, a.opts.many, q); err != nil {
			return iv, err
		} else if !better {
			break
		}
	}
	if _, err := a.narrowed(ctx, &iv, &t, at, fineDelta, true, q); err != nil {
		return iv, err
	}
	few := a.oneSearch(ctx, &iv, eps, true)
	if eps >= 0 {
		a.oneMenu(ctx, &iv, q)
	}
	if a.made != nil {
		if iv.Upper < least && iv.Upper > 0 {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("δ is below %v, which laws of %s are made for: %s", least, a.made.Name, parallel.Wider))
		}
	}
	a.tooWide(&iv, t, 0, few)
	return iv, nil
}

// narrowed has another total answer where laws leave iv, that of t, wider than wideLaws: laws for another δ, or for single
// runs where many is set. It keeps the one whose upper end is smaller, and reports whether that is the new one.
func (a *Accountant) narrowed(ctx context.Context, iv *Interval, t **total, delta, finer float64, many bool, q query) (bool, error) {
	if a.made == nil || ctx.Err() != nil || iv.Upper-iv.Lower <= max(wideLaws*math.Abs(iv.Upper), a.opts.Relative*math.Abs(iv.Upper)) {
		return false, nil
	}
	own := ctx
	if (*t).cut { // the laws have had their work; others may be cheaper
		own = parallel.WithWork(ctx, a.opts.work()/4)
	}
	other, err := a.totalOf(own, delta, finer, many)
	if outOfTime(ctx, err) || other == *t {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x, err := other.answer(ctx, q)
	if err != nil || !(x.Upper < iv.Upper) {
		return false, err
	}
	x.Lower = max(x.Lower, iv.Lower)
	*t, *iv = other, x
	return true, nil
}

// wideLaws is the relative width from which laws are made again. It steers, and proves nothing.
const wideLaws = 0.1

// mostAgain is how often δ(ε) is asked with new laws where those that the scout had them made for leave it wide.
const mostAgain = 3

// narrow reports whether the ends of a range are as near to each other as asked.
func (a *Accountant) narrow(r Range, absolute float64) bool {
	return !math.IsInf(r.Upper, 1) && r.Upper-r.Lower <= max(a.opts.Relative*math.Abs(r.Upper), absolute)
}

// answer has a question answered within the time limit and the deadline of ctx. Where a limit left a sum wide, but not the
// interval that another direction, way or theorem narrowed, or not the attack's, there is no warning that the interval is wide.
func (a *Accountant) answer(ctx context.Context, absolute float64, ask func(context.Context) (Interval, error)) (Interval, error) {
	own, stop := a.opts.within(ctx)
	defer stop()
	own, end := untilDeadline(own)
	defer end()
	iv, err := ask(own)
	if err == nil {
		whole := a.narrow(iv.Range, absolute)
		attack := iv.Gap != nil && a.narrow(iv.Gap.Attack, absolute)
		iv.Warnings = slices.DeleteFunc(slices.Clone(iv.Warnings), func(w string) bool {
			return strings.Contains(w, parallel.Wider) && (whole || attack && strings.HasPrefix(w, ofAttack))
		})
	}
	if err == nil && len(iv.Warnings) > 0 && ctx.Err() != nil && context.Cause(ctx) != fourier.ErrTimeLimit {
		return iv, ctx.Err()
	}
	return iv, err
}

// untilDeadline returns a context whose deadline is that of ctx, and ends a question without making it fail; if ctx is
// cancelled, so is that.
func untilDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || errors.Is(ctx.Err(), context.Canceled) || context.Cause(ctx) == fourier.ErrTimeLimit {
		return ctx, func() {}
	}
	own, stop := context.WithDeadlineCause(context.WithoutCancel(ctx), deadline, fourier.ErrTimeLimit)
	own, cancel := context.WithCancelCause(own)
	unhook := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel(context.Cause(ctx))
		}
	})
	return own, func() {
		unhook()
		cancel(nil)
		stop()
	}
}

// outOfTime reports whether an error is that of the time limit, with which laws were not made in time.
func outOfTime(ctx context.Context, err error) bool {
	return ctx.Err() != nil && context.Cause(ctx) == fourier.ErrTimeLimit && errors.Is(err, ctx.Err())
}

// trivial is what holds where time was over before any law was made: below, what holds of every
// mechanism; above, what the same steps cost with nothing hidden but the noise.
func (a *Accountant) trivial(ctx context.Context, lower, upper float64, q query) (Interval, error) {
	names := a.relation.DirectionNames()
	iv := Interval{Range: Range{Lower: xmath.Down(lower, 2)}, Direction: names[0], LowerDirection: names[0], Engine: fourier.ClosedForm,
		Warnings: []string{fmt.Sprintf("%v before any law was made: %s", fourier.ErrTimeLimit, parallel.Wider)}}
	most := math.Inf(-1)
	for d, sum := range a.openOf(ctx).sums {
		r := fourier.Result{Upper: upper}
		if sum != nil {
			var err error
			if r, err = q.ask(ctx, sum); err != nil {
				return Interval{}, err
			}
		}
		if x := min(r.Upper, upper); x > most {
			most, iv.Direction = x, names[d]
		}
	}
	iv.Upper, iv.Lower = most, min(most, iv.Lower)
	iv.Estimate = most
	return iv, nil
}

// trivialDelta is the trivial answer to δ(ε) where err is that of the time limit.
func (a *Accountant) trivialDelta(ctx context.Context, eps float64, err error) (Interval, error) {
	if !outOfTime(ctx, err) || math.IsNaN(eps) || math.IsInf(eps, 0) {
		return Interval{}, err
	}
	iv, err := a.trivial(ctx, -math.Expm1(eps), 1, deltaAt{eps})
	iv.Lower = max(0, iv.Lower)
	return iv, err
}

// tooWide warns of an interval that laws leave wider than asked: those of a question, or those
// above and below one run, or searches whose candidates were read at few ε.
func (a *Accountant) tooWide(iv *Interval, t *total, absolute float64, few bool) {
	lower, upper := iv.Lower, iv.Upper
	if lower == upper || len(iv.Warnings) > 0 {
		return // there is no width, or a reason already
	}
	narrow := a.narrow(iv.Range, absolute)
	if (t.cut || a.short || few) && !narrow {
		iv.Warnings = append(iv.Warnings, fmt.Sprintf("%v before all laws of its steps were made: %s", parallel.ErrWork, parallel.Wider))
		return
	}
	if math.IsInf(upper, 1) {
		iv.Warnings = append(iv.Warnings, "no finite upper end is proved: what dominates the steps has a loss above every ε with a probability of more than δ")
	}
	if iv.Gap != nil || math.IsInf(upper, 1) {
		return // theory's gap
	}
	if !narrow {
		name := "its steps"
		if a.made != nil {
			name = a.made.Name
		}
		iv.Warnings = append(iv.Warnings, fmt.Sprintf("the laws of %s are no narrower: %s (%.2g)", name, parallel.Wider, upper-lower))
	}
}

// capTooLow is how many times above the attack the proved end of ε is, at least, where a cap is
// looked into: that takes some twenty questions. They have as much work as the answer had.
const capTooLow = 1.5

// warnOfCap adds the warning to an answer, if a step has such a cap, with the smallest cap that
// costs at most 1 %. It is about an ε above 0, of which costs are shares.
func (a *Accountant) warnOfCap(ctx context.Context, iv *Interval, delta float64) error {
	if iv.Gap == nil || a.opts.quiet || !(delta > 0 && delta < 1) {
		return nil
	}
	if proved := iv.Gap.Proved.Upper; !(proved > 0 && proved > capTooLow*iv.Gap.Attack.Lower) {
		return nil
	}
	capped := 0.0
	for _, o := range a.origins {
		if _, ok := o.batches(); ok {
			capped++
		}
	}
	for _, r := range a.added {
		o := a.origins[r.m]
		scheme, ok := o.batches()
		if !ok {
			continue
		}
		cost, err := scheme.CapCost(ctx, o.step.Mechanism, a.relation, r.count, delta, a.opts.sums(capped))
		if err != nil {
			if ctx.Err() != nil && context.Cause(ctx) != fourier.ErrTimeLimit {
				return err
			}
			continue // a hint, no more
		}
		if cost.Vacuous {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("cap: %d is so low that what is proved is more than double of what Poisson sampling costs (ε ≤ %.4g against %.4g); %d costs at most 1 %% more",
				scheme.Cap(), cost.Capped, cost.Uncapped, cost.Smallest))
		}
	}
	return nil
}
