// Poisson-sampled Gaussian noise as a mixture of two means.
//
// It assumes a rate and a σ with relative errors, and returns the mixture of that pair.

package transform

// Gaussian noise under Poisson sampling, as the mixture that it is.

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewPoissonGaussian returns the transform of the pair ((1−q)·N(0,σ²) + q·N(1,σ²), N(0,σ²)):
// the remove direction of the Gaussian mechanism with Poisson sampling. Its Reverse
// is the add direction. rateErr and sigmaErr bound the relative errors of q and σ.
func NewPoissonGaussian(rate, rateErr, sigma, sigmaErr float64) (Transform, error) {
	if !(rate > 0 && rate <= 1) {
		return nil, fmt.Errorf("rate: %v is not in (0, 1]", rate)
	}
	if rate == 1 && rateErr == 0 {
		return NewGaussian(sigma, sigmaErr)
	}
	if !(sigma > 0 && sigma < math.Inf(1)) {
		return nil, fmt.Errorf("sigma: %v is not in (0, ∞)", sigma)
	}
	rest := 1 - rate // exact for rate ≥ ½
	restErr := u
	if rate >= 0.5 {
		restErr = 0
	}
	restErr += rateErr * rate / rest
	t, err := NewGaussianMixture(Pair{Sigma: sigma, SigmaErr: sigmaErr,
		Components: []Component{{Mean: 1, LogP: xmath.Log(rate), LogQ: math.Inf(-1)}},
		LogP0:      math.Log1p(-rate), LogQ0: 0, Err0: restErr})
	if err != nil {
		return nil, err
	}
	for _, m := range []*mixture{t.(*mixture), t.(*mixture).rev} {
		for _, s := range []*side{&m.p, &m.q} {
			if len(s.w) == 2 {
				s.w[1], s.err[1] = rate, rateErr // of no logarithm
			}
		}
	}
	return t, nil
}
