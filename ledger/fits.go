// How much more a ledger has room for: questions that spend nothing.

package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/rdp"
)

// Fits returns how many times in a row a plan could be spent now, at most limit times. It
// spends nothing and reserves nothing: what others spend in between is not there any more.
// A count below limit comes with the refusal of one more, which wraps ErrBudget.
//
// The count rests on the same intervals as a spend, and so may be too small where one
// is wide. It never is too large.
func (l *Ledger) Fits(ctx context.Context, plan []byte, limit int64) (count int64, refusal, err error) {
	if limit < 1 {
		return 0, nil, fault.New("limit", "%d is not in [1, 2^53]", limit)
	}
	if err := l.begin(ctx); err != nil {
		return 0, nil, err
	}
	defer l.end()
	if _, err := l.load(ctx, nil); err != nil {
		return 0, nil, err
	}
	if l.state.config.Mode == Planned { // a bound may be enough to admit, and not to count
		if err := l.whole(ctx); err != nil {
			return 0, nil, err
		}
	}
	a, err := l.state.admission(entry{Plan: storedPlan(plan)})
	if err != nil {
		return 0, nil, err
	}
	if each := runs(a.plan.Steps); each > 0 {
		limit = min(limit, (maxRuns-l.state.runs)/each)
	}
	fits := func(n int64) (bool, error) {
		err := l.state.judge.fits(ctx, a.text, a.plan, n)
		if errors.Is(err, ErrBudget) {
			refusal = err
			return false, nil
		}
		return err == nil, err
	}
	// count fits; above, if it is not 0, does not.
	var above int64
	for n := int64(1); count < limit && above != count+1; {
		ok, err := fits(n)
		if err != nil {
			return 0, nil, err
		}
		if ok {
			count = n
		} else {
			above = n
		}
		switch {
		case above == 0:
			n = min(limit, 2*max(count, 1))
		default:
			n = count + (above-count)/2
		}
	}
	if count == limit {
		return count, nil, nil
	}
	return count, refusal, nil
}

// fits adds n runs of a plan to a copy of the counts. What it proves is remembered, and the plan with it: of n runs that fit
// together each fits in its turn, where an interval of fewer might by chance end higher.
func (j *planned) fits(ctx context.Context, text string, p *accountant.Plan, n int64) error {
	added := j.add(text, p)
	i := j.index[text]
	want := j.counts.plus(i, len(j.plans))
	want[i] += n - 1
	if j.unproved == 0 && want.below(j.proved) {
		return nil
	}
	iv, err := j.epsilon(ctx, want, true, roughAccuracy, closeAccuracy)
	if err == nil && iv.Upper > j.config.Epsilon {
		err = j.refusal(costOf(iv, j.config.Epsilon), nil)
	}
	if err == nil {
		j.remember(want, j.before)
	} else if added {
		j.forget(text)
	}
	return err
}

// fits multiplies the curve of a plan, with room for the rounding of a filter that adds the
// runs one by one.
func (j *adaptive) fits(ctx context.Context, text string, p *accountant.Plan, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.curve(text, p)
	if err != nil {
		return err
	}
	budget := j.filter.Budget()
	times := rdp.OnOrders(rdp.Func(func(alpha float64) float64 {
		return repeated(c.RDP(alpha), budget.Values[slices.Index(j.orders, alpha)], n)
	}), j.orders)
	return j.refusal(times, j.filter.Fits(times))
}

// fits multiplies the square of a plan, as for a Rényi filter.
func (j *gaussian) fits(ctx context.Context, text string, p *accountant.Plan, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x, err := j.square(text, p)
	if err != nil {
		return err
	}
	return j.filter.Fits(repeated(x, j.filter.Budget(), n))
}

// repeated is n·x, and as much more as the rounding of n additions can come to. Each of them
// rounds a total within the budget to the nearest float64 and then up by one more: by less
// than 2^-51 of the budget together.
func repeated(x, budget float64, n int64) float64 {
	if n == 1 || x == 0 {
		return x
	}
	return float64(n)*x*(1+0x1p-50) + float64(n)*0x1p-51*budget
}
