// Planned ledgers on top of a checkpoint.

package ledger

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

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
