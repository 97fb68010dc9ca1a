package accountant

import (
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// SquaredMu returns Σμ² of a plan of Gaussian mechanisms on the whole data set, rounded up:
// the plan is √Σμ²-GDP (Dong, Roth and Su, JRSS-B 2022, corollary 3.3), and each step may be
// chosen in the light of outputs if a gdp.Filter admits it. Relation: the plan's; substituting
// a record doubles μ. Any other mechanism, a sample or a selection is an error that
// names it.
// A person with k records makes μ k times as large.
func (p *Plan) SquaredMu() (float64, error) {
	sum, err := squaredMu(p.Steps, p.Neighbors)
	if k := float64(p.Records()); k > 1 {
		sum = xmath.Up(sum*(k*k), 1) // k² is exact, as k ≤ 2^20
	}
	return sum, err
}

func squaredMu(steps []Step, r profiles.Relation) (float64, error) {
	sum := 0.0
	for i, s := range steps {
		one, err := func() (float64, error) {
			switch {
			case s.Selection != nil:
				return 0, fault.New("selection", "is not a release of Gaussian noise")
			case s.Mechanism == nil:
				return squaredMu(s.Steps, r)
			case s.Sampling != nil:
				return 0, fault.New("sampling", "%s: the loss of a sampled step is not Gaussian", s.Sampling.Name())
			}
			pair, err := s.Mechanism.Pair(r)
			g, ok := pair.(profiles.Gaussian)
			if err != nil || !ok {
				return 0, fault.New("mechanism", "%s is not gaussian", s.Mechanism.Name())
			}
			// The profile keeps 1/σ, so that σ and 1/σ have been rounded three times.
			mu := xmath.Up(1/g.NoiseMultiplier(), 4)
			return xmath.Up(mu*mu, 1), nil
		}()
		if err != nil {
			return 0, fault.In(fmt.Sprintf("steps[%d]", i), err)
		}
		if one > 0 {
			sum = xmath.Up(sum+xmath.Up(one*float64(max(1, s.Count)), 1), 1)
		}
	}
	return sum, nil
}
