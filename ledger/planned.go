package ledger

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// planned is the policy of planned ledgers: the Fourier accountant on all steps together.
//
// More runs never cost less: fewer of them are what more of them release, with
// something left out. So one proof that a larger total is within the budget
// serves every total below it.
//
// The entries before a checkpoint may be known by its bounds alone, the base: they are (ε₁, δ₁)-differentially private for each of its
// points, the others are (ε₂, δ₂), and so all are (ε₁+ε₂, δ₁+δ₂) by basic composition. That is enough to admit a spend; to refuse one it
// is not, as the entries may cost less together.
type planned struct {
	config Config
	base   *sums          // what the entries before a checkpoint cost, which are not in counts; nil if there is none
	index  map[string]int // of plans, by text
	plans  []*admission   // in the order of their first entry or question
	counts tally
	proved tally                // counts that are within the budget
	known  *accountant.Interval // ε of the counts, as closely as it is reported, once that is computed
	totals map[float64]*total   // by accuracy
}

// A tally is a count for each plan, 0 beyond its end.
type tally []int64

func (t tally) of(i int) int64 {
	if i < len(t) {
		return t[i]
	}
	return 0
}

func (t tally) below(u tally) bool {
	for i, n := range t {
		if n > u.of(i) {
			return false
		}
	}
	return true
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

// price has nothing to do: what a spend costs depends on all others.
func (j *planned) price(*admission) error { return nil }

func (j *planned) count(a *admission) error {
	j.add(a)
	for len(j.counts) < len(j.plans) {
		j.counts = append(j.counts, 0)
	}
	j.counts[j.index[a.text]]++
	j.known = nil
	return nil
}

// add makes a plan known.
func (j *planned) add(a *admission) {
	if _, ok := j.index[a.text]; !ok {
		j.index[a.text] = len(j.plans)
		j.plans = append(j.plans, a)
	}
}

// wish returns the counts with n more of each of some plans, and a function that forgets those that were not known.
func (j *planned) wish(n int64, all ...*admission) (want tally, forget func()) {
	first := len(j.plans)
	for _, a := range all {
		j.add(a)
	}
	want = make(tally, len(j.plans))
	copy(want, j.counts)
	for _, a := range all {
		want[j.index[a.text]] += n
	}
	return want, func() {
		for _, a := range j.plans[first:] {
			delete(j.index, a.text)
		}
		j.plans = j.plans[:first]
		maps.DeleteFunc(j.totals, func(_ float64, t *total) bool { return len(t.counts) > first })
	}
}

func (j *planned) admits(all ...*admission) bool {
	want, forget := j.wish(1, all...)
	if want.below(j.proved) {
		return true
	}
	forget()
	return false
}

// fits remembers what it proves, and plans with it: of n runs that fit together each fits in its turn, where an interval of fewer
// might by chance end higher.
func (j *planned) fits(ctx context.Context, n int64, all ...*admission) error {
	want, forget := j.wish(n, all...)
	if want.below(j.proved) {
		return nil
	}
	iv, err := j.epsilon(ctx, want, j.config.Delta, roughAccuracy, closeAccuracy)
	if err == nil && iv.Upper <= j.config.Epsilon {
		j.proved = want
		return nil
	}
	if forget(); err != nil {
		return err
	}
	refused := fmt.Errorf("%w: it would bring ε to %s at δ = %s, where the budget is %s", ErrBudget, costOf(iv, j.config.Epsilon), num(j.config.Delta, -1), num(j.config.Epsilon, -1))
	if n > 1 || len(all) > 1 {
		return refused
	}
	now, left, err := j.spent(ctx)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w, of which %s is spent and %s is left", refused, num(max(0, now.Epsilon.Upper), -1), num(left, -1))
}

// costOf words an interval above the budget. One that is wide was enough to refuse, and is not computed again to be shown.
func costOf(iv accountant.Interval, budget float64) string {
	if narrow(iv, shownAccuracy) {
		return num(iv.Upper, budget)
	}
	return fmt.Sprintf("between %s and %s", num(lowerOf(iv), budget), num(iv.Upper, budget))
}

func (j *planned) spent(ctx context.Context) (s Spent, left float64, err error) {
	iv := j.known
	if iv == nil {
		now, err := j.epsilon(ctx, j.counts, j.config.Delta, shownAccuracy, closeAccuracy)
		if err != nil {
			return s, 0, err
		}
		if iv = &now; !cut(ctx) {
			j.known = iv
		}
	}
	return Spent{Epsilon: *iv}, max(0, j.config.Epsilon-max(0, iv.Upper)), nil
}

// epsilon returns ε of the counts at δ, to a width and to the finest accuracy if it takes that to
// compare it with the budget.
func (j *planned) epsilon(ctx context.Context, counts tally, delta, width, finest float64) (iv accountant.Interval, err error) {
	defer func() {
		if cut(ctx) {
			clear(j.totals)
		}
	}()
	for _, accuracy := range []float64{roughAccuracy, shownAccuracy, closeAccuracy} {
		acct, err := j.total(ctx, accuracy, counts)
		switch {
		case err != nil:
		case j.base != nil:
			iv, err = j.onBase(ctx, acct)
		case acct.Runs() > 0:
			iv, err = acct.Epsilon(ctx, delta)
		}
		if err != nil {
			return iv, err
		}
		clear := iv.Upper <= j.config.Epsilon || lowerOf(iv) > j.config.Epsilon
		if accuracy <= finest || clear && (accuracy <= width || narrow(iv, width)) {
			break
		}
	}
	return iv, nil
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

// total returns the accountant of the counts: that of the last question of its accuracy, to which
// the difference is added, or a new one if some count is smaller now.
func (j *planned) total(ctx context.Context, accuracy float64, counts tally) (*accountant.Accountant, error) {
	t := j.totals[accuracy]
	if t == nil || !t.counts.below(counts) {
		t = &total{acct: accountant.New(j.config.Neighbors, accountant.Options{RecordsPerPerson: j.config.RecordsPerPerson, Accuracy: accuracy, ManyQuestions: true})}
	}
	delete(j.totals, accuracy) // unless all goes well
	for i, n := range counts {
		if n == t.counts.of(i) {
			continue
		}
		if err := t.acct.Add(ctx, accountant.Step{Steps: j.plans[i].plan.Steps}, n-t.counts.of(i)); err != nil {
			return nil, err
		}
	}
	t.counts = append(t.counts[:0], counts...)
	j.totals[accuracy] = t
	return t.acct, nil
}

// shares are the parts of δ at which a checkpoint has points. The rest, which is exact as the parts are not below a half, is
// for the entries after it.
var shares = []float64{1, 0.99, 0.5}

// pointSlack is how much wider a checkpoint's ends are than those that were computed, so that a computation of the same accuracy,
// which may end elsewhere within it, proves them again: each is off by at most closeAccuracy.
const pointSlack = 3 * closeAccuracy

func (j *planned) sums(ctx context.Context) (s sums, err error) {
	for _, share := range shares {
		p := point{Delta: share * j.config.Delta}
		iv, err := j.epsilon(ctx, j.counts, p.Delta, closeAccuracy, closeAccuracy)
		if err != nil {
			return s, err
		}
		if len(s.Epsilon) == 0 {
			s.Lower = max(0, iv.Lower*(1-pointSlack))
		}
		if p.Epsilon = max(0, iv.Upper) * (1 + pointSlack); !math.IsInf(p.Epsilon, 1) && !slices.Contains(s.Epsilon, p) {
			s.Epsilon = append(s.Epsilon, p)
		}
	}
	return s, nil
}

// checkSums returns an error unless s can be of a checkpoint: what its points leave of the ledger's δ, of which the first leaves
// nothing, is exact.
func (j *planned) checkSums(s sums) error {
	bad := func(p point) bool {
		return !(p.Delta >= j.config.Delta/2 && p.Delta <= j.config.Delta && p.Epsilon >= max(0, s.Lower))
	}
	if s.Lower < 0 || len(s.Epsilon) == 0 || s.Epsilon[0].Delta != j.config.Delta || slices.ContainsFunc(s.Epsilon, bad) {
		return errSums
	}
	return nil
}

func (j *planned) resume(s sums) error {
	j.base = &s // nothing is counted so far
	return j.checkSums(s)
}

func (j *planned) covers(ctx context.Context, s sums) error {
	if err := j.checkSums(s); err != nil {
		return err
	}
	for i, p := range s.Epsilon {
		iv, err := j.epsilon(ctx, j.counts, p.Delta, closeAccuracy, closeAccuracy)
		if err != nil {
			return err
		}
		if !(max(0, iv.Upper) <= p.Epsilon) {
			return fault.New("epsilon", "%v at δ = %v is less than what the entries cost, %v", p.Epsilon, p.Delta, iv.Upper)
		}
		if i == 0 && !(s.Lower <= max(0, iv.Lower)) {
			return fault.New("lower", "%v is more than what the entries cost, %v", s.Lower, iv.Lower)
		}
	}
	return nil
}

// onBase returns an interval of ε of an accountant and the base, which is wider than what the entries themselves give.
func (j *planned) onBase(ctx context.Context, acct *accountant.Accountant) (iv accountant.Interval, err error) {
	iv = accountant.Interval{Range: accountant.Range{Lower: j.base.Lower, Estimate: j.base.Epsilon[0].Epsilon, Upper: math.Inf(1)}}
	if acct.Runs() > 0 {
		iv.Warnings = []string{"the entries before the last checkpoint are counted by its bound; ledger check composes all of them, which is tighter"}
	}
	for _, p := range j.base.Epsilon {
		if acct.Runs() > 0 {
			after, err := acct.Epsilon(ctx, j.config.Delta-p.Delta)
			if err != nil {
				return iv, err
			}
			if after.Upper > 0 {
				p.Epsilon = math.Nextafter(p.Epsilon+after.Upper, math.Inf(1))
			}
		}
		iv.Upper = min(iv.Upper, p.Epsilon)
	}
	return iv, nil
}
