package accountant

// The warning about a cap on Poisson batches that is too low: the bound is then mostly that of
// its proof, and no attack comes near it.

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// A capped is a mechanism on Poisson batches with a cap.
type capped struct {
	base   profiles.Mechanism
	scheme allocation.Truncated
}

// capTooLow is how many times above the attack the proved end of ε is, at least, where a cap is
// looked into: that takes some twenty questions.
const capTooLow = 1.5

// warnOfCap adds the warning to an answer, if a step has such a cap, with the smallest cap that
// costs at most 1 %.
func (a *Accountant) warnOfCap(ctx context.Context, iv *Interval, delta float64) error {
	if iv.Gap == nil || a.opts.quiet || !(delta > 0 && delta < 1) || !(iv.Gap.Proved.Upper > capTooLow*iv.Gap.Attack.Lower) {
		return nil
	}
	for _, r := range a.added {
		c, ok := a.caps[r.m]
		if !ok {
			continue
		}
		cost, err := c.scheme.CapCost(ctx, c.base, a.relation, r.count, delta)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue // a hint, no more
		}
		if cost.Vacuous {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("cap: %d is so low that what is proved is more than double of what Poisson sampling costs (ε ≤ %.4g against %.4g); %d costs at most 1 %% more",
				c.scheme.Cap(), cost.Capped, cost.Uncapped, cost.Smallest))
		}
	}
	return nil
}
