// How much more a ledger has room for: questions that spend nothing.

package ledger

import (
	"context"
	"errors"

	"github.com/dpaccountant/accountant/internal/fault"
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
	if err := l.load(ctx); err != nil {
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
	above := limit + 1
	for n := int64(1); above-count > 1; {
		switch err := l.state.policy.fits(ctx, a, n); {
		case err == nil:
			count = n
		case errors.Is(err, ErrBudget):
			above, refusal = n, err
		default:
			return 0, nil, err
		}
		if n = count + (above-count)/2; above > limit {
			n = min(limit, 2*max(count, 1))
		}
	}
	return count, refusal, nil
}
