// The judge of planned ledgers: the Fourier accountant on all steps together.

package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
)

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
	now, err := j.spent(ctx)
	if err != nil {
		return err
	}
	err = j.refusal(costOf(iv, j.config.Epsilon), &now)
	if !(lowerOf(iv) > j.config.Epsilon) {
		return err // who has more work may prove another
	}
	if len(j.refused) == maxRefusals {
		j.refused = j.refused[1:]
	}
	j.refused = append(j.refused, refusal{text, slices.Clone(j.counts), num(lowerOf(iv), j.config.Epsilon), err})
	return err
}

// costOf words an interval above the budget. One that is wide was enough to refuse, and is not computed again to be shown.
func costOf(iv accountant.Interval, budget float64) string {
	if narrow(iv, shownAccuracy) {
		return num(iv.Upper, budget)
	}
	return fmt.Sprintf("between %s and %s", num(lowerOf(iv), budget), num(iv.Upper, budget))
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

func (j *planned) spent(ctx context.Context) (Spent, error) {
	if j.base != nil {
		return j.spentOnBase(ctx)
	}
	if j.known == nil {
		iv, err := j.epsilon(ctx, j.counts, false, shownAccuracy, closeAccuracy)
		if err != nil {
			return Spent{}, err
		}
		if cut(ctx) {
			return Spent{Epsilon: iv}, nil
		}
		j.known = &iv
	}
	return Spent{Epsilon: *j.known}, nil
}

func (j *planned) recheck(ctx context.Context) error {
	s, err := j.spent(ctx)
	if err == nil && s.Epsilon.Upper > j.config.Epsilon {
		if _, left := parallel.Work(ctx); left < 0 {
			return parallel.ErrWork
		}
		err = fmt.Errorf("the entries cost ε = %s at δ = %s, above the budget %s",
			num(s.Epsilon.Upper, j.config.Epsilon), num(j.config.Delta, -1), num(j.config.Epsilon, -1))
	}
	return err
}
