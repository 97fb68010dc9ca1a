// What the entries of a planned ledger cost: how many there are of each plan, and accountants that keep what they have computed.

package ledger

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// planned judges by the Fourier accountant.
//
// More runs never cost less: fewer of them are what more of them release, with
// something left out. So one proof that a larger total is within the budget
// serves every total below it, and where a proof takes long a loop pays for one only
// now and then. A refusal serves every total above it.
type planned struct {
	config   Config
	base     *sums              // what the entries before a checkpoint cost, which are not in counts; nil if there is none
	index    map[string]int     // of plans, by text
	plans    []*accountant.Plan // in the order of their first entry or question
	counts   tally
	entries  int64 // the sum of counts
	proved   tally // counts that are within the budget
	unproved int   // plans whose count is above that
	before   tally // counts at the last proof
	slow     bool  // the last proof took lattices
	ahead    int64 // how far beyond the wish to prove
	known    *accountant.Interval
	judged   judgement // the last wish that was proved
	refused  []refusal
	totals   map[purpose]*total
}

// A tally is a count for each plan, 0 beyond its end.
type tally []int64

func (t tally) of(i int) int64 {
	if i < len(t) {
		return t[i]
	}
	return 0
}

// plus returns a copy with n plans and one more of plan i.
func (t tally) plus(i, n int) tally {
	more := make(tally, max(n, len(t)))
	copy(more, t)
	if i >= 0 {
		more[i]++
	}
	return more
}

func (t tally) below(u tally) bool {
	for i, n := range t {
		if n > u.of(i) {
			return false
		}
	}
	return true
}

func (t tally) equal(u tally) bool { return t.below(u) && u.below(t) }

// A judgement is what counts were found to cost.
type judgement struct {
	counts  tally
	entries int64 // their sum
	cost    accountant.Interval
}

// A refusal is of a plan on top of counts, which together are above the budget.
type refusal struct {
	text   string
	counts tally
	cost   string // ε is no less
	err    error
}

// A purpose is what a total is for: an accuracy, and whether it looks ahead. The one that
// looks ahead has runs that may never come, and must not be asked what there is.
type purpose struct {
	accuracy float64
	ahead    bool
}

// A total is the accountant of some counts, which keeps what it has computed.
type total struct {
	acct   *accountant.Accountant
	counts tally
}

// The accuracies of questions, each only asked where the one before does not do. The first
// is enough for most spends, and where an integral answers it is as narrow as the others.
const (
	roughAccuracy = 0.2
	shownAccuracy = 1e-3 // of what is reported
	closeAccuracy = 1e-6 // next to the budget
)

func newPlanned(c Config) *planned {
	return &planned{config: c, index: map[string]int{}, totals: map[purpose]*total{}}
}

// remember remembers that counts are within the budget.
func (j *planned) remember(counts, want tally) {
	j.proved, j.before, j.unproved = counts, want, 0
}

// epsilon returns ε of the counts, to a width and to the finest accuracy if it takes that to
// compare it with the budget. ahead says that the counts may never come.
func (j *planned) epsilon(ctx context.Context, counts tally, ahead bool, width, finest float64) (accountant.Interval, error) {
	return j.epsilonAt(ctx, counts, j.config.Delta, ahead, width, finest)
}

func (j *planned) epsilonAt(ctx context.Context, counts tally, delta float64, ahead bool, width, finest float64) (accountant.Interval, error) {
	defer func() {
		if cut(ctx) {
			clear(j.totals)
		}
	}()
	for _, accuracy := range []float64{roughAccuracy, shownAccuracy, closeAccuracy} {
		acct, err := j.total(ctx, purpose{accuracy, ahead}, counts)
		if err != nil {
			return accountant.Interval{}, err
		}
		if acct.Runs() == 0 {
			return accountant.Interval{}, nil
		}
		iv, err := acct.Epsilon(ctx, delta)
		if err != nil {
			return iv, err
		}
		clear := iv.Upper <= j.config.Epsilon || lowerOf(iv) > j.config.Epsilon
		if accuracy <= finest || clear && (accuracy <= width || narrow(iv, width)) {
			return iv, nil
		}
	}
	panic("unreachable: the last accuracy is the finest")
}

// cut reports whether a limit of the caller has ended a question early: what was found is not kept for others.
func cut(ctx context.Context) bool {
	_, left := parallel.Work(ctx)
	return left < 0 || context.Cause(ctx) == parallel.ErrTimeLimit
}

// lowerOf is the lower end of an interval that more work could raise: what lies below it is a gap between the pairs, not a width of the numbers.
func lowerOf(iv accountant.Interval) float64 {
	if iv.Gap != nil {
		return iv.Gap.Proved.Lower
	}
	return iv.Lower
}

// narrow reports whether the ends of an interval, or those of both of its pairs, are within a
// relative width.
func narrow(iv accountant.Interval, width float64) bool {
	near := func(lower, upper float64) bool {
		return upper-lower <= width*min(math.Abs(lower), math.Abs(upper)) || lower == upper
	}
	if iv.Gap != nil {
		return near(iv.Gap.Proved.Lower, iv.Gap.Proved.Upper) && near(iv.Gap.Attack.Lower, iv.Gap.Attack.Upper)
	}
	return near(iv.Lower, iv.Upper)
}

// total returns the accountant of the counts: that of the last question of its kind, to which
// the difference is added, or a new one if some count is smaller now.
func (j *planned) total(ctx context.Context, what purpose, counts tally) (*accountant.Accountant, error) {
	t := j.totals[what]
	if t == nil || !t.counts.below(counts) {
		t = &total{acct: accountant.New(j.config.Neighbors, accountant.WithRecordsPerPerson(j.config.RecordsPerPerson), accountant.WithAccuracy(what.accuracy), accountant.WithManyQuestions())}
	}
	delete(j.totals, what) // unless all goes well
	for i, n := range counts {
		if n == t.counts.of(i) {
			continue
		}
		if err := t.acct.Add(ctx, accountant.Step{Steps: j.plans[i].Steps}, n-t.counts.of(i)); err != nil {
			return nil, err
		}
	}
	t.counts = append(t.counts[:0], counts...)
	j.totals[what] = t
	return t.acct, nil
}
