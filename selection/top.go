// The runs, of which the m best are published.

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Top runs the trial K times, K drawn from the law, and returns the m outcomes of the
// highest scores, best first; fewer where there are fewer runs. Price: [PriceOfTop]. src as in
// [Options]; errors as those of [Best].
func Top[T any](ctx context.Context, l Law, m int, src rand.Source, trial Trial[T]) ([]Result[T], error) {
	if _, _, err := check(l, m); err != nil {
		return nil, err
	}
	if err := checkMean(l); err != nil {
		return nil, err
	}
	return run(ctx, l, m, math.Inf(-1), false, trial, Options{Source: src})
}

// The price of the m best. It assumes pure or approximate candidates and a negative binomial
// number of runs; it returns ε and δ rounded up.
//
// Theorem. For a candidate that is ε-DP the m best of K runs, K negative binomial of shape η
// and stopping probability γ, are (mε + (η+m)t*)-DP, t* = log((e^ε+γ)/(1+γe^ε)); so at most
// (2m+η)ε-DP. Proof. m outcomes of which the worst has probability u above it have the
// density q(y_1)…q(y_m)·f^(m)(1−u), f^(m)(1−u) ∝ (γ+(1−γ)u)^{−(η+m)}; the ratio of γ+(1−γ)u
// between neighbours is at most e^{t*}. Fewer outcomes, j, have j!·Pr[K = j]·q(y_1)…q(y_j).

// PriceOfTop returns the (ε, δ) of the m best under a law when one run is (eps, delta)-DP. δ is
// that no run leaks, as for [Price.Approximate]. Any neighbouring relation that is
// symmetric.
func PriceOfTop(l Law, m int, eps, delta float64) (epsOut, deltaOut float64, err error) {
	eta, gamma, err := check(l, m)
	if err != nil {
		return 0, 0, err
	}
	epsOut, deltaOut, err = PriceOfBest(l).Approximate(eps, delta)
	if err != nil || m == 1 {
		return epsOut, deltaOut, err
	}
	if delta > 0 {
		// The law of K given that no run leaked; a smaller γ only costs more.
		gamma = min(1, (gamma+(1-gamma)*delta)*(1-8*xmath.U))
	}
	wider, err := newNegativeBinomial(eta+float64(m-1), gamma)
	if err != nil {
		return 0, 0, err
	}
	one, err := PriceOfBest(wider).Pure(eps)
	return xmath.RoundUp(float64(m-1)*eps+one, 4), deltaOut, err
}

const maxTop = 1000

func check(l Law, m int) (eta, gamma float64, err error) {
	if m < 1 || m > maxTop {
		return 0, 0, fault.New("m", "%d is not in [1, %d]", m, maxTop)
	}
	if l == nil {
		return 0, 0, fault.New("law", "is missing")
	}
	eta, gamma, ok := l.Family()
	if n, bounded := l.MaxRuns(); !ok || bounded && n > 1 {
		return 0, 0, fault.New("law", "%v is not a negative binomial law without a cap", fmt.Stringer(l))
	}
	return eta, gamma, nil
}
