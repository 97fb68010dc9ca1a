package accountant

// Which sums answer a question. Profiles of some mechanisms are made for it (profiles.Laws): of
// random allocation for its δ, of repeated choices for their number. Each kind of question then
// has a total of its own, which is kept for the next one like it. What laws are made for proves
// nothing, so that an answer is certified whichever total gave it.

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/profiles"
)

// A running is what was added so far, and its totals. plain is the total until something
// with laws is added, and nil from then on.
type running struct {
	relation profiles.Relation
	opts     settings
	added    []run // each mechanism once
	at       map[*profiles.Bounds]int
	runs     int64
	plain    *total
	totals   map[totalKey]*total
	made     *profiles.Bounds // the first whose laws depend on δ, if any
	scout    *running         // of the same runs, roughly
	past     float64          // work of totals that were replaced
	many     bool             // many questions are expected
	origins  map[*profiles.Bounds]*origin
	open     *simpler // of what was added (openOf)
}

func newRunning(r profiles.Relation, o settings) running {
	return running{relation: r, opts: o, at: map[*profiles.Bounds]int{}, plain: newTotal(r, o), totals: map[totalKey]*total{}, many: o.many, origins: map[*profiles.Bounds]*origin{}}
}

// addRuns adds runs, after checking the total.
func (a *running) addRuns(runs []run) error {
	total := a.runs
	for _, r := range runs {
		if r.count > maxRuns-total {
			return fault.New("count", "%d runs on top of %d are above 2^53", r.count, total)
		}
		total += r.count
	}
	for _, r := range runs {
		if laws := r.m.Laws; laws != nil {
			if a.plain != nil {
				a.past, a.plain = a.spent(), nil
			}
			if a.made == nil && laws.Least() > 0 {
				a.made = r.m
			}
		}
	}
	for _, r := range runs {
		if a.plain != nil {
			if err := a.plain.include(r); err != nil {
				return err
			}
		}
		a.added = counted(a.added, a.at, r)
	}
	a.runs = total
	return nil
}

// A totalKey names the questions that one total answers: those about a δ near 10^exponent, with
// laws so much finer than the accuracy asked of ε. It is zero where no law depends on δ.
type totalKey struct {
	exponent int
	finer    float64
	many     bool // runs of laws are composed, also those that are alone
}

// total returns the sums for a question about this δ, with laws so much finer than the accuracy
// asked of ε.
func (a *running) total(ctx context.Context, delta, finer float64) (*total, error) {
	return a.totalOf(ctx, delta, finer, a.opts.many)
}

// totalOf is total, with single laws for many questions or those of all runs together. What laws are made for proves nothing, so that an answer is certified whichever
// total gave it; and it is determined by what was added and the question alone.
func (a *running) totalOf(ctx context.Context, delta, finer float64, many bool) (*total, error) {
	if a.plain != nil {
		a.plain.opts.Work = a.opts.Work
		a.plain.bound(a)
		return a.plain, nil
	}
	o, key, q := a.question(delta, finer)
	key.many, q.Many = many, many
	t := a.totals[key]
	if t == nil || t.of != a.runs {
		delete(a.totals, key) // unless all goes well
		runs, cut, err := a.standing(ctx, q)
		if err != nil {
			return nil, err
		}
		more, ok := runs, false
		if t != nil {
			if more, ok = t.lacks(runs); !ok {
				a.past += t.spent()
				more = runs
			}
		}
		if !ok {
			t = newTotal(a.relation, o)
			if a.many {
				t.expectMany()
			}
		}
		for _, r := range more {
			if err := t.include(r); err != nil {
				return nil, err
			}
		}
		t.of, t.cut, t.apart, t.about = a.runs, cut, a.apart(), q.Delta
	}
	t.opts.Work, t.opts.report = a.opts.Work, a.opts.report
	t.bound(a)
	a.totals[key] = t
	return t, nil
}

// question returns what laws are asked for a δ, and how their total is to compose them.
func (a *running) question(delta, finer float64) (settings, totalKey, profiles.Question) {
	o, q := a.opts, profiles.Question{Many: a.opts.many, Width: a.opts.Relative}
	if a.made == nil {
		return o, totalKey{}, q
	}
	least := a.made.Laws.Least()
	key := totalKey{exponent: exponentOf(delta, least), finer: finer}
	// Half of the width is that of the laws, half that of their composition.
	o.Relative, o.Absolute = o.Relative/2, o.Absolute/2
	q.Delta, q.Width = math.Pow10(key.exponent), o.Relative/finer
	runs, laws := int64(0), 0
	for _, r := range a.added {
		if r.m.Laws != nil && r.m.Laws.Least() > 0 {
			runs += r.count
			laws++
		}
	}
	// Up to a power of two, so that a total which grows does not need new laws at each step; of very many laws up to an eighth of
	// one, as their work grows with it.
	q.Total = 1 << min(bits.Len64(uint64(runs-1)), 52)
	if part := q.Total / 16; laws > manyLaws && part > 0 {
		q.Total = (runs + part - 1) / part * part
	}
	return o, key, q
}

// standing returns what was added, with what laws make of their runs behind the others.
// cut says that the work did not suffice for some.
func (a *running) standing(ctx context.Context, q profiles.Question) (runs []run, cut bool, err error) {
	made, runs := joined(a.added, func(m *profiles.Bounds) profiles.Laws { return m.Laws })
	q.Alone = len(runs) == 0 && len(made) == 1
	left := a.opts.lawWork(ctx)
	if len(made) > manyLaws {
		ctx = positive.Many(ctx)
	}
	last := lastOf(made)
	for i, r := range made {
		if q.Alone && r.count == 1 && r.m.Directions[0].Upper != nil {
			one := *r.m // whose directions are those of one run, attained at each ε
			one.Laws = nil
			return []run{{m: &one, count: 1, of: r.m}}, false, nil
		}
		q.Runs, q.Last = r.count, i == last
		c, bill, err := lawsWithin(ctx, shareOf(left, len(made)-i), r.m.Laws, q)
		if err != nil {
			return nil, false, err
		}
		left -= bill.work
		cut = cut || bill.cut
		runs = append(runs, stand(r, c)...)
	}
	return runs, cut, nil
}

// manyLaws is from how many different laws on they share what they can, and are no finer than asked.
const manyLaws = 16

// lastOf returns which of some runs with laws an attack has as the last ones; −1 if it does not matter. A plan holds
// in every order of its steps, so that everything else may come before, on the pair of data sets that its attack has: what
// the last ones are asked for may follow what came out, and the composition of what they reach at each ε is reached.
func lastOf(made []run) int {
	last, most := -1, -1.0
	for i, r := range made {
		if l, ok := r.m.Laws.(hook.Adaptive); ok {
			if gain := l.Gain(r.count); gain > most {
				last, most = i, gain
			}
		}
	}
	return last
}

// apart are the names of mechanisms on which more would be reached as the last ones, where another one is.
func (a *running) apart() (names []string) {
	made, _ := joined(a.added, func(m *profiles.Bounds) profiles.Laws { return m.Laws })
	last := lastOf(made)
	for i, r := range made {
		if l, ok := r.m.Laws.(hook.Adaptive); ok && i != last && l.Gain(r.count) > 0 && !slices.Contains(names, r.m.Name) {
			names = append(names, r.m.Name)
		}
	}
	return names
}

// A lawBill is what laws took, and whether their work was cut short.
type lawBill struct {
	work float64
	cut  bool
}

// shareOf is what the next of n laws may take of the work that is left: of very many, the first get more than their part,
// for a part that makes none of them is of no use.
func shareOf(left float64, n int) float64 { return left / float64(min(n, 16)) }

// lawsWithin returns what laws make of a question for so much work. Where that is too little they are made for larger
// widths, for a part of the work each, and at last there is what takes none (trait.Retreat).
func lawsWithin(ctx context.Context, work float64, laws profiles.Laws, q profiles.Question) (c profiles.Composition, bill lawBill, err error) {
	const coarser, widest = 16, 0.5
	for _, try := range []struct{ part, width float64 }{{1, q.Width}, {0.25, coarser * q.Width}, {0.5, widest}} {
		if q.Width = try.width; q.Width > widest {
			continue
		}
		limited := parallel.WithWork(ctx, try.part*work)
		c, err = laws.For(limited, q)
		spent, _ := parallel.Work(limited)
		bill.work += spent
		if !errors.Is(err, parallel.ErrWork) {
			return c, bill, err
		}
	}
	bill.cut = true
	if r, ok := laws.(trait.Retreat); ok {
		c, err = r.Retreat(q)
	} else {
		c, err = laws.For(ctx, q)
	}
	return c, bill, err
}

// stand returns the runs that stand for a composition: what dominates beside what attacks where
// they are the same in number, else one after the other.
func stand(r run, c profiles.Composition) []run {
	var runs []run
	add := func(n int64, dirs [2]profiles.Direction) {
		runs = append(runs, run{m: &profiles.Bounds{Name: r.m.Name, Relation: r.m.Relation, Numerical: c.Numerical, Directions: dirs}, count: n, list: r.list, of: r.m})
	}
	paired := len(c.Upper[0]) == len(c.Lower[0])
	for i := 0; paired && i < len(c.Upper[0]); i++ {
		paired = c.Upper[0][i].Count == c.Lower[0][i].Count
	}
	for i, up := range c.Upper[0] {
		dirs := [2]profiles.Direction{{Upper: up.Profile}, {Upper: c.Upper[1][i].Profile}}
		if paired {
			dirs[0].Lower, dirs[1].Lower = c.Lower[0][i].Profile, c.Lower[1][i].Profile
		}
		add(up.Count, dirs)
	}
	for i, low := range c.Lower[0] {
		if !paired {
			add(low.Count, [2]profiles.Direction{{Lower: low.Profile}, {Lower: c.Lower[1][i].Profile}})
		}
	}
	return runs
}

// single returns what was added with the profiles of one run each, those of laws for a δ.
func (a *running) single(ctx context.Context, delta float64) ([]run, error) {
	if a.made == nil {
		return a.added, nil
	}
	_, _, q := a.question(delta, 1)
	q.Many = true
	var runs []run
	left := a.opts.lawWork(ctx)
	for i, r := range a.added {
		if r.m.Directions[0].Upper != nil {
			runs = append(runs, r)
			continue
		}
		q.Runs = r.count
		c, bill, err := lawsWithin(ctx, shareOf(left, len(a.added)-i), r.m.Laws, q)
		if err != nil {
			return nil, err
		}
		left -= bill.work
		runs = append(runs, stand(r, c)...)
	}
	return runs, nil
}

// exponentOf is the power of ten that laws for δ are made for.
func exponentOf(delta, least float64) int {
	if !(delta > least) {
		return int(math.Ceil(math.Log10(least)))
	}
	return int(math.Round(math.Log10(min(delta, 0.5))))
}

// firstAim is the δ that a question about δ begins with, and mostLooks how often it aims anew,
// with laws and a composition that are known to scoutAccuracy only.
const (
	firstAim      = 1e-6
	mostLooks     = 12
	scoutAccuracy = 0.2
	scoutWork     = 2e6
	// δ moves by more than ε, by the slope of log δ times ε: laws for δ are finer.
	fineDelta = 8
)

// about returns the power of ten next to δ(ε), in [least, 0.5].
func (a *running) about(ctx context.Context, eps, least float64) (float64, error) {
	if a.scout == nil || a.scout.runs != a.runs {
		o := a.opts
		o.laws = o.work() / mostLooks // of each look
		o.Relative, o.Absolute, o.Work, o.report = scoutAccuracy, scoutAccuracy*1e-3, scoutWork, nil
		s := newRunning(a.relation, o)
		s.origins = a.origins
		a.scout = &s
		if err := a.scout.addRuns(a.added); err != nil {
			return 0, err
		}
	}
	at, next := math.NaN(), firstAim
	for range mostLooks {
		if at == next {
			break
		}
		at = next
		t, err := a.scout.total(ctx, at, 1)
		if err != nil {
			return 0, err
		}
		iv, err := t.answer(ctx, deltaAt{eps})
		if err != nil {
			return 0, err
		}
		next = math.Pow10(exponentOf(iv.Upper, least))
	}
	return at, nil
}

// expectMany prepares for many questions.
func (a *running) expectMany() {
	a.many = true // for the totals of single δ to come
	if a.plain != nil {
		a.plain.expectMany()
	}
	for _, t := range a.totals {
		t.expectMany()
	}
}

// spent returns the work of all questions so far.
func (a *running) spent() float64 {
	work := a.past
	if a.plain != nil {
		work += a.plain.spent()
	}
	for _, t := range a.totals {
		work += t.spent()
	}
	return work
}

// spread is a δ below all that tests at false-positive rates and priors look at.
func spread(rates ...[]float64) float64 {
	least := 1.0
	for _, list := range rates {
		for _, x := range list {
			least = min(least, x)
		}
	}
	return least / 10
}
