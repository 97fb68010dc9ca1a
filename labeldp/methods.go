// Everything that can be compared at one ε.

package labeldp

import "context"

// Methods returns everything that can be compared at one ε on a prior: the
// optimal unbiased randomizer and its certificate, then the baselines of
// arXiv:2312.05659 and [RPWithPrior], unbiased ones first. Discrete noise is left out if the
// labels have no common step. Once ctx is done, the error is that of ctx.
func Methods(ctx context.Context, p Prior, eps float64) ([]Method, Certificate, error) {
	opt, cert, err := OptimalUnbiased(ctx, p, eps)
	if err != nil {
		return nil, cert, err
	}
	ms := []Method{opt}
	add := func(m Method, e error) {
		if err == nil && e == nil {
			ms = append(ms, m)
		} else if err == nil {
			err = e
		}
	}
	ys := p.labels
	add(DebiasedRR(ys, eps))
	add(TwoPoint(ys, eps))
	lap, e := NewLaplace(ys, eps)
	add(lap, e)
	add(NewStaircase(ys, eps))
	clipped := []*Additive{lap}
	if step, ok := latticeStep(ys); ok {
		discrete, e := NewDiscreteLaplace(ys, eps, step)
		add(discrete, e)
		add(NewDiscreteStaircase(ys, eps, step))
		clipped = append(clipped, discrete)
	}
	if err != nil {
		return nil, cert, err
	}
	for _, a := range clipped {
		add(a.Clipped())
	}
	add(RandomizedResponse(ys, eps))
	add(RROnBins(p, eps))
	add(RPWithPrior(p, eps, 0))
	if err != nil {
		return nil, cert, err
	}
	return ms, cert, nil
}
