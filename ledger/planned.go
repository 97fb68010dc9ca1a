package ledger

import (
	"context"
	"fmt"
	"maps"

	"github.com/dpaccountant/accountant"
)

// planned judges by the Fourier accountant.
//
// More runs never cost less: fewer of them are what more of them release, with
// something left out. So one proof that a larger total is within the budget
// serves every total below it, and a loop pays for a proof only now and then. A
// refusal serves every total above it.
type planned struct {
	config   Config
	plans    map[string]*accountant.Plan
	keys     []string // of plans, in the order of their first entry
	counts   map[string]int64
	proved   map[string]int64 // counts that are within the budget
	unproved int              // keys whose count is above that
	before   map[string]int64 // counts at the last proof
	ahead    int64            // how far beyond the wish to prove
	known    *accountant.Interval
	refused  []refusal
	totals   map[float64]*total // by accuracy
}

// A refusal is of counts that are above the budget.
type refusal struct {
	counts map[string]int64
	cost   string // ε
	err    error
}

// A total is the accountant of some counts, which keeps what it has computed.
type total struct {
	acct   *accountant.Accountant
	counts map[string]int64
}

func newPlanned(c Config) *planned {
	return &planned{config: c, plans: map[string]*accountant.Plan{}, counts: map[string]int64{},
		proved: map[string]int64{}, before: map[string]int64{}, totals: map[float64]*total{}}
}

func (j *planned) restore(text string, p *accountant.Plan, _ bool) error {
	j.add(text, p)
	j.take(text)
	return nil
}

func (j *planned) take(text string) {
	if j.counts[text] == j.proved[text] {
		j.unproved++
	}
	j.counts[text]++
	j.known = nil
}

func (j *planned) admits(text string) bool {
	return j.unproved == 0 && j.counts[text] < j.proved[text]
}

// add makes a plan known, and reports whether it was not.
func (j *planned) add(text string, p *accountant.Plan) bool {
	if j.plans[text] != nil {
		return false
	}
	j.plans[text] = p
	j.keys = append(j.keys, text)
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
	want := maps.Clone(j.counts)
	want[text]++
	for _, r := range j.refused {
		if maps.Equal(r.counts, want) {
			return r.err
		}
		if below(r.counts, want) {
			return j.refusal("at least "+r.cost, nil)
		}
	}
	added := j.add(text, p)
	err := j.prove(ctx, text, want)
	if err != nil && added {
		delete(j.plans, text)
		j.keys = j.keys[:len(j.keys)-1]
		for accuracy, t := range j.totals {
			if t.counts[text] > 0 {
				delete(j.totals, accuracy)
			}
		}
	}
	return err
}

// prove shows that the counts are within the budget.
func (j *planned) prove(ctx context.Context, text string, want map[string]int64) error {
	if j.ahead > 0 {
		// What came again comes again: this one twice as often each time, others as
		// often as since the last proof. What is new is not expected again.
		far := maps.Clone(j.proved)
		for k, n := range want {
			if j.before[k] > 0 {
				n += min(max(0, n-j.before[k]), maxAhead)
			}
			far[k] = max(far[k], n)
		}
		if j.counts[text] > 0 {
			far[text] = max(far[text], want[text]+j.ahead)
		}
		if iv, err := j.epsilon(ctx, far, 0.2, 1e-3); err == nil && iv.Upper <= j.config.Epsilon {
			j.remember(far, want)
			if j.counts[text] > 0 {
				j.ahead = min(2*j.ahead, maxAhead)
			}
			return nil
		}
		j.ahead = 0
	} else {
		j.ahead = 1
	}
	iv, err := j.epsilon(ctx, want, 0.2, 1e-3, 1e-6)
	if err != nil {
		return err
	}
	if iv.Upper <= j.config.Epsilon {
		j.remember(want, want)
		return nil
	}
	j.ahead = 0
	if iv, err = j.epsilon(ctx, want, 1e-3, 1e-6); err != nil { // for the message
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
	j.refused = append(j.refused, refusal{want, cost, err})
	return err
}

// remember remembers that counts are within the budget.
func (j *planned) remember(counts, want map[string]int64) {
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

func below(a, b map[string]int64) bool {
	for k, n := range a {
		if n > b[k] {
			return false
		}
	}
	return true
}

// epsilon returns ε of the counts, to the accuracies in turn until it can be
// compared with the budget.
func (j *planned) epsilon(ctx context.Context, counts map[string]int64, accuracies ...float64) (accountant.Interval, error) {
	var iv accountant.Interval
	for _, accuracy := range accuracies {
		acct, err := j.total(ctx, accuracy, counts)
		if err != nil {
			return iv, err
		}
		if acct.Runs() == 0 {
			return accountant.Interval{}, nil
		}
		if iv, err = acct.Epsilon(ctx, j.config.Delta); err != nil {
			return iv, err
		}
		lower := iv.Lower
		if iv.Gap != nil {
			lower = iv.Gap.Proved.Lower // no computation closes the gap below
		}
		if iv.Upper <= j.config.Epsilon || lower > j.config.Epsilon {
			break
		}
	}
	return iv, nil
}

// total returns the accountant of the counts: that of the last question, to which
// the difference is added, or a new one if some count is smaller now.
func (j *planned) total(ctx context.Context, accuracy float64, counts map[string]int64) (*accountant.Accountant, error) {
	t := j.totals[accuracy]
	if t == nil || !below(t.counts, counts) {
		t = &total{accountant.New(j.config.Neighbors, accountant.WithAccuracy(accuracy)), map[string]int64{}}
	}
	delete(j.totals, accuracy) // unless all goes well
	for _, k := range j.keys {
		n := counts[k] - t.counts[k]
		if n == 0 {
			continue
		}
		if err := t.acct.Add(ctx, accountant.Step{Steps: j.plans[k].Steps}, n); err != nil {
			return nil, err
		}
		t.counts[k] += n
	}
	j.totals[accuracy] = t
	return t.acct, nil
}

func (j *planned) spent(ctx context.Context) (Spent, error) {
	if j.known == nil {
		iv, err := j.epsilon(ctx, j.counts, 1e-3, 1e-6)
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
