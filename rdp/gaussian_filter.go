package rdp

import (
	"fmt"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A GaussianFilter admits the steps of an interactive analysis, each a μ_t-GDP release of Gaussian
// noise, as long as Σμ_t² is at most μ², where μ was fixed before the first output was seen.
// Then the whole transcript is μ-GDP, however each step was chosen in the light of earlier
// outputs, and nothing is lost against a plan that was fixed in advance.
//
// A step is a release q(D) + N(0, σ²I) with μ_t = Δ/σ, Δ a bound on the change of q over all
// neighbours; q, Δ and σ may depend on earlier outputs and on public data, not on D in any
// other way. It must be asked for with Spend before it is run, and may run only if Spend
// returns nil: a step that is refused releases nothing, and smaller ones may still be asked
// for. Sampled steps, discrete noise or any other mechanism are outside of the theorem.
//
// Theorem and proof: docs/theory.md, "Adaptive Gaussian noise"; the statement is that of Smith
// and Thakurta 2022 (arXiv:2203.05481) and of Koskela, Tobaben and Honkela 2023. What is
// certified is the budget μ. What is spent depends on the outputs and certifies nothing.
// Relation: that of the Δ.
//
// A GaussianFilter is safe for use by several goroutines.
type GaussianFilter struct {
	mu            sync.Mutex
	budget, spent float64 // squares; budget rounded down, spent up
}

// NewGaussianFilter returns a filter that keeps the whole interaction μ-GDP.
func NewGaussianFilter(mu float64) (*GaussianFilter, error) {
	if !(mu >= 0 && mu <= 1e6) {
		return nil, fault.New("mu", "%v is not in [0, 1e+06]", mu)
	}
	return &GaussianFilter{budget: max(0, xmath.Down(mu*mu, 1))}, nil
}

// Fits reports whether a step with this μ², rounded up, may run: nil or an error that wraps
// ErrBudget.
func (f *GaussianFilter) Fits(square float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.with(square)
	return err
}

// Spend counts a step with this μ², rounded up, before it runs; on an error nothing is
// counted and the step must not run.
func (f *GaussianFilter) Spend(square float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum, err := f.with(square)
	if err == nil {
		f.spent = sum
	}
	return err
}

func (f *GaussianFilter) with(square float64) (float64, error) {
	if !(square >= 0) {
		return 0, fault.New("square", "%v is not in [0, +Inf]", square)
	}
	sum := f.spent + square
	if sum != f.spent || square > 0 {
		sum = xmath.Up(sum, 1)
	}
	if !(sum <= f.budget) {
		return 0, fmt.Errorf("%w: it would bring Σμ² to %.7g, where the budget is %.7g, of which %.7g is spent", ErrBudget, sum, f.budget, f.spent)
	}
	return sum, nil
}

// Spent returns Σμ² of what was admitted, and Budget the square of the budget. Spent is for
// steering; the guarantee is the budget.
func (f *GaussianFilter) Spent() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.spent
}

// Budget returns μ², of the μ that was fixed.
func (f *GaussianFilter) Budget() float64 { return f.budget }

// MuOfSquare returns the square root of Σμ², rounded up.
func MuOfSquare(square float64) float64 {
	if square == 0 {
		return 0
	}
	return xmath.Up(math.Sqrt(square), 1)
}
