// The judge of planned ledgers: the Fourier accountant on all steps together.

package ledger

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
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
	cost   string // ε
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

func (j *planned) restore(text string, p *accountant.Plan, _ bool) error {
	j.add(text, p)
	j.take(text)
	return nil
}

func (j *planned) take(text string) {
	i := j.index[text]
	if j.counts.of(i) == j.proved.of(i) {
		j.unproved++
	}
	for len(j.counts) < len(j.plans) {
		j.counts = append(j.counts, 0)
	}
	j.counts[i]++
	j.entries++
	j.known = nil
	if j.judged.entries == j.entries && j.judged.counts.equal(j.counts) && narrow(j.judged.cost, shownAccuracy) {
		j.known = &j.judged.cost
	}
}

func (j *planned) admits(text string) bool {
	i, ok := j.index[text]
	return ok && j.unproved == 0 && j.counts.of(i) < j.proved.of(i)
}

// add makes a plan known, and reports whether it was not.
func (j *planned) add(text string, p *accountant.Plan) bool {
	if _, ok := j.index[text]; ok {
		return false
	}
	j.index[text] = len(j.plans)
	j.plans = append(j.plans, p)
	return true
}

// maxAhead bounds the look ahead; totals stay far below 2^53.
const maxAhead = 1 << 20

// maxRefusals is how many refusals are remembered.
const maxRefusals = 8

func (j *planned) prepare(ctx context.Context, text string, p *accountant.Plan) error {
	if j.admits(text) {
		return nil
	}
	for _, r := range j.refused {
		if r.text == text && r.counts.below(j.counts) {
			if j.counts.below(r.counts) {
				return r.err
			}
			return j.refusal("at least "+r.cost, nil)
		}
	}
	added := j.add(text, p)
	i := j.index[text]
	want := j.counts.plus(i, len(j.plans))
	var err error
	if j.base != nil {
		err = j.proveOnBase(ctx, want)
	} else {
		err = j.prove(ctx, text, want)
	}
	if err != nil && added {
		j.forget(text)
	}
	return err
}

// mark keeps what was proved since: that does not depend on what was counted.
func (j *planned) mark() (undo func()) {
	counts, entries := slices.Clone(j.counts), j.entries
	return func() {
		j.counts, j.entries, j.known, j.unproved = counts, entries, nil, 0
		for i, n := range counts {
			if n > j.proved.of(i) {
				j.unproved++
			}
		}
	}
}

// foresee proves all of them in one question; where that fails they are asked for one by one.
func (j *planned) foresee(ctx context.Context, all []admission) {
	var added []string
	want := slices.Clone(j.counts)
	for _, a := range all {
		if j.add(a.text, a.plan) {
			added = append(added, a.text)
		}
		want = want.plus(j.index[a.text], len(j.plans))
	}
	if j.unproved == 0 && want.below(j.proved) {
		return
	}
	if j.base != nil {
		if j.proveOnBase(ctx, want) == nil {
			return
		}
	} else if iv, err := j.epsilon(ctx, want, false, roughAccuracy, roughAccuracy); err == nil && iv.Upper <= j.config.Epsilon {
		j.remember(want, want)
		return
	}
	for _, text := range slices.Backward(added) {
		j.forget(text)
	}
}

// forget takes back the plan that was made known last.
func (j *planned) forget(text string) {
	i := j.index[text]
	delete(j.index, text)
	j.plans = j.plans[:i]
	for k, t := range j.totals {
		if t.counts.of(i) > 0 {
			delete(j.totals, k)
		} else if len(t.counts) > i {
			t.counts = t.counts[:i]
		}
	}
}

// prove shows that the counts, of which those of one plan are new, are within the budget.
func (j *planned) prove(ctx context.Context, text string, want tally) error {
	i := j.index[text]
	switch {
	case !j.slow:
		j.ahead = 0
	case j.ahead > 0:
		// What came again comes again: this one twice as often each time, others as
		// often as since the last proof. What is new is not expected again.
		far := j.proved.plus(-1, len(want))
		for k, n := range want {
			if before := j.before.of(k); before > 0 {
				n += min(max(0, n-before), maxAhead)
			}
			far[k] = max(far[k], n)
		}
		again := j.counts.of(i) > 0
		if again {
			far[i] = max(far[i], want[i]+j.ahead)
		}
		if iv, err := j.epsilon(ctx, far, true, roughAccuracy, shownAccuracy); err == nil && iv.Upper <= j.config.Epsilon {
			j.remember(far, want)
			if again {
				j.ahead = min(2*j.ahead, maxAhead)
			}
			return nil
		}
		j.ahead = 0
	default:
		j.ahead = 1
	}
	iv, err := j.epsilon(ctx, want, false, roughAccuracy, closeAccuracy)
	if err != nil {
		return err
	}
	if j.slow = iv.Engine == fourier.Lattice; iv.Upper <= j.config.Epsilon {
		j.remember(want, want)
		j.judged = judgement{want, j.entries + 1, iv}
		return nil
	}
	j.ahead = 0
	if iv, err = j.epsilon(ctx, want, false, shownAccuracy, closeAccuracy); err != nil { // for the message
		return err
	}
	now, err := j.spent(ctx)
	if err != nil {
		return err
	}
	cost := num(iv.Upper, j.config.Epsilon)
	err = j.refusal(cost, &now)
	if len(j.refused) == maxRefusals {
		j.refused = j.refused[1:]
	}
	j.refused = append(j.refused, refusal{text, slices.Clone(j.counts), cost, err})
	return err
}

// remember remembers that counts are within the budget.
func (j *planned) remember(counts, want tally) {
	j.proved, j.before, j.unproved = counts, want, 0
}

// refusal words what a spend would cost.
func (j *planned) refusal(cost string, now *Spent) error {
	b := j.config.Epsilon
	text := fmt.Sprintf("it would bring ε to %s at δ = %s, where the budget is %s", cost, num(j.config.Delta, -1), num(b, -1))
	if now != nil {
		used := max(0, now.Epsilon.Upper)
		text += fmt.Sprintf(", of which %s is spent and %s is left", num(used, -1), num(max(0, b-used), -1))
	}
	return fmt.Errorf("%w: %s", ErrBudget, text)
}

// epsilon returns ε of the counts, to a width and to the finest accuracy if it takes that to
// compare it with the budget. ahead says that the counts may never come.
func (j *planned) epsilon(ctx context.Context, counts tally, ahead bool, width, finest float64) (accountant.Interval, error) {
	return j.epsilonAt(ctx, counts, j.config.Delta, ahead, width, finest)
}

func (j *planned) epsilonAt(ctx context.Context, counts tally, delta float64, ahead bool, width, finest float64) (accountant.Interval, error) {
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
		lower := iv.Lower
		if iv.Gap != nil {
			lower = iv.Gap.Proved.Lower // no computation closes the gap below
		}
		clear := iv.Upper <= j.config.Epsilon || lower > j.config.Epsilon
		if accuracy <= finest || clear && (accuracy <= width || narrow(iv, width)) {
			return iv, nil
		}
	}
	panic("unreachable: the last accuracy is the finest")
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

func (j *planned) spent(ctx context.Context) (Spent, error) {
	if j.base != nil {
		return j.spentOnBase(ctx)
	}
	if j.known == nil {
		iv, err := j.epsilon(ctx, j.counts, false, shownAccuracy, closeAccuracy)
		if err != nil {
			return Spent{}, err
		}
		j.known = &iv
	}
	return Spent{Epsilon: *j.known}, nil
}

func (j *planned) recheck(ctx context.Context) error {
	s, err := j.spent(ctx)
	if err == nil && s.Epsilon.Upper > j.config.Epsilon {
		err = fmt.Errorf("the entries cost ε = %s at δ = %s, above the budget %s",
			num(s.Epsilon.Upper, j.config.Epsilon), num(j.config.Delta, -1), num(j.config.Epsilon, -1))
	}
	return err
}

// What entries cost of which a part is known by a checkpoint alone: the part is (ε₁, δ₁)-differentially private for each of its
// points, the others are (ε₂, δ₂), and so all are (ε₁+ε₂, δ₁+δ₂) by basic composition. That is enough to admit a spend; to refuse one it
// is not, as the entries may cost less together.

// shares are the parts of δ at which a checkpoint has points. The rest, which is exact as the parts are not below a half, is
// for the entries after it.
var shares = []float64{1, 0.99, 0.5}

// pointSlack is how much wider a checkpoint's ends are than those that were computed, so that a computation of the same accuracy,
// which may end elsewhere within it, proves them again: each is off by at most closeAccuracy.
const pointSlack = 3 * closeAccuracy

func (j *planned) sums(ctx context.Context) (s sums, err error) {
	if j.base != nil {
		return s, errWhole
	}
	for _, share := range shares {
		p := point{Delta: share * j.config.Delta}
		iv, err := j.epsilonAt(ctx, j.counts, p.Delta, false, closeAccuracy, closeAccuracy)
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

// checkSums returns an error unless s can be of a checkpoint: the first point is at the ledger's δ, and what others leave of
// δ is exact.
func (j *planned) checkSums(s sums) error {
	ok := len(s.Epsilon) > 0 && s.Epsilon[0].Delta == j.config.Delta && s.Lower >= 0 && s.Lower <= s.Epsilon[0].Epsilon
	for _, p := range s.Epsilon {
		ok = ok && p.Delta >= j.config.Delta/2 && p.Delta <= j.config.Delta && p.Epsilon >= 0
	}
	if !ok {
		return errSums
	}
	return nil
}

func (j *planned) resume(s sums) error {
	if err := j.checkSums(s); err != nil {
		return err
	}
	*j = *newPlanned(j.config)
	j.base = &s
	return nil
}

func (j *planned) covers(ctx context.Context, s sums) error {
	if err := j.checkSums(s); err != nil {
		return err
	}
	for i, p := range s.Epsilon {
		iv, err := j.epsilonAt(ctx, j.counts, p.Delta, false, closeAccuracy, closeAccuracy)
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

// onBase returns an upper bound of ε of the counts and the base, at an accuracy.
func (j *planned) onBase(ctx context.Context, counts tally, accuracy float64) (float64, error) {
	best := math.Inf(1)
	acct, err := j.total(ctx, purpose{accuracy, false}, counts)
	if err != nil {
		return best, err
	}
	for _, p := range j.base.Epsilon {
		upper := 0.0
		if acct.Runs() > 0 {
			iv, err := acct.Epsilon(ctx, j.config.Delta-p.Delta)
			if err != nil {
				return best, err
			}
			upper = max(0, iv.Upper)
		}
		sum := p.Epsilon
		if upper > 0 {
			sum = math.Nextafter(sum+upper, math.Inf(1))
		}
		best = min(best, sum)
	}
	return best, nil
}

// proveOnBase shows that the counts and the base are within the budget, or returns errWhole.
func (j *planned) proveOnBase(ctx context.Context, want tally) error {
	for _, accuracy := range []float64{roughAccuracy, closeAccuracy} {
		upper, err := j.onBase(ctx, want, accuracy)
		if err != nil {
			return err
		}
		if upper <= j.config.Epsilon {
			j.remember(want, want)
			return nil
		}
	}
	return errWhole
}

// spentOnBase is spent with a base: right, and wider than what the entries themselves give.
func (j *planned) spentOnBase(ctx context.Context) (Spent, error) {
	if j.known == nil {
		upper, err := j.onBase(ctx, j.counts, closeAccuracy)
		if err != nil {
			return Spent{}, err
		}
		j.known = &accountant.Interval{Lower: j.base.Lower, Estimate: j.base.Epsilon[0].Epsilon, Upper: upper}
		if j.entries > 0 {
			j.known.Warnings = []string{"the entries before the last checkpoint are counted by its bound; ledger check composes all of them, which is tighter"}
		}
	}
	return Spent{Epsilon: *j.known}, nil
}
