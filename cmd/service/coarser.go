package service

import (
	"context"
	"slices"

	"github.com/dpaccountant/accountant/labeldp"
)

// This file looks for a coarser set of labels on which a randomizer loses less.

// LabelHint is a set of labels to round to, without bias, and the half-loss there.
type LabelHint struct {
	Labels []float64 `json:"labels"`
	Loss   float64   `json:"loss"`
}

// A LabelDesign is a method for a prior and an ε.
type LabelDesign func(ctx context.Context, p labeldp.Prior, eps float64) (labeldp.Method, error)

// CoarserLabels returns the best of every second, third, … of the labels of p, or nil if
// none has a half-loss 1 % below loss. Fewer labels cost less to estimate a prior of, from n
// examples (0: the prior is given), and methods that know no prior lose less on fewer. What
// it uses of private labels is what p has of them.
//
// With a prior that is given, rounding and then the best randomizer is one of those that
// the optimum has been chosen from: the optimum gets no hint.
func CoarserLabels(ctx context.Context, p labeldp.Prior, eps, loss float64, n int64, design LabelDesign) (*LabelHint, error) {
	labels := p.Labels()
	var best *LabelHint
	last := 0
	for _, step := range []int{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 499} {
		var support []float64
		for i := 0; i < len(labels)-1; i += step {
			support = append(support, labels[i])
		}
		support = append(support, labels[len(labels)-1])
		if len(support) == last || len(support) < 2 || len(support) == len(labels) {
			continue
		}
		last = len(support)
		rest := eps
		if n > 0 {
			var err error
			if _, rest, err = labeldp.SplitBudget(eps, len(support), n); err != nil {
				continue // too few examples even for that
			}
		}
		rounded, err := p.Rounded(support)
		if err != nil {
			return nil, err
		}
		m, err := design(ctx, rounded, rest)
		if err != nil {
			return nil, err
		}
		if r, ok := m.(*labeldp.Randomizer); ok {
			m = labeldp.NewRounder(r)
		}
		if is, err := labeldp.HalfLoss(m, p); err != nil {
			return nil, err
		} else if is < 0.99*loss && (best == nil || is < best.Loss) {
			best = &LabelHint{slices.Clone(support), is}
		}
	}
	return best, nil
}
