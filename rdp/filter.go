// Filters: steps chosen in the light of earlier outputs, within a budget. A step is
// admitted before it runs.

package rdp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Filter admits the steps of an interactive analysis as long as they stay
// within a budget that was fixed before the first output was seen. It is the
// only accountant here that may be used when a step's parameters (its noise,
// its sampling rate, whether it is run at all) depend on earlier outputs: Compose
// and the Fourier accountant assume that the plan does not depend on them.
//
// A step must be asked for with Spend before it is run, with a curve that holds
// for every data set given the outputs so far (not a data-dependent bound),
// and may run only if Spend returns nil.
//
// Theorem, one order: Feldman and Zrnic, "Individual privacy accounting via a
// Rényi filter" (NeurIPS 2021), Theorem 3.1; Lécuyer, "Practical privacy
// filters and odometers with Rényi differential privacy" (2021). At
// order α, exp((α−1)(L_t − Σ_{s≤t} ρ_s(α))), with L_t the privacy loss of the
// first t outputs, is a supermartingale, so E[exp((α−1)(L − B)); Σρ ≤ B] ≤ 1.
// Relation: that of the curves.
//
// A Filter is safe for use by several goroutines.
type Filter struct {
	mu            sync.Mutex
	orders        []float64 // ascending
	budget, spent []float64
}

// ErrBudget is wrapped by the error of a step that would pass the budget.
var ErrBudget = errors.New("the privacy budget does not allow this step")

// NewFilter returns a filter that keeps the whole interaction within a Rényi
// divergence of budget at the order: (order, budget)-RDP.
func NewFilter(order, budget float64) (*Filter, error) {
	if !(order > 1 && !math.IsInf(order, 1)) {
		return nil, fault.New("order", "%v is not in (1, +Inf)", order)
	}
	if !(budget >= 0 && !math.IsInf(budget, 1)) {
		return nil, fault.New("budget", "%v is not in [0, +Inf)", budget)
	}
	return &Filter{orders: []float64{order}, budget: []float64{budget}, spent: []float64{0}}, nil
}

// NewFilterFor returns a filter that keeps the whole interaction
// (epsilon, delta)-differentially private. It admits a step as long as at
// least one of the k orders stays within its budget; which order survives depends
// on the outputs, so each order gets delta/k.
//
// Proof of the union: call α(ω) an order that is within its budget when the
// interaction ω ends. By the supermartingale and the conversion of Epsilon, the
// part of δ on {α(ω) = a} is at most delta/k for each a; the k parts sum to
// delta. Few orders are best (a handful around 1 + 2·log(1/δ)/ε): many orders
// cost log(k)/(α−1) in ε.
func NewFilterFor(epsilon, delta float64, orders ...float64) (*Filter, error) {
	if err := cmp.Or(checkEpsilon(epsilon), checkDelta(delta)); err != nil {
		return nil, err
	}
	if len(orders) == 0 {
		return nil, fault.New("orders", "is empty, must list at least one order")
	}
	for i, a := range orders {
		if !(a > 1 && !math.IsInf(a, 1)) {
			return nil, fault.New(fmt.Sprintf("orders[%d]", i), "%v is not in (1, +Inf)", a)
		}
	}
	f := &Filter{}
	logDelta := xmath.Log(delta) - xmath.Log(float64(len(orders)))
	for _, a := range sortOrders(orders) {
		if b := budgetAt(a, epsilon, logDelta); b >= 0 {
			f.orders, f.budget = append(f.orders, a), append(f.budget, b)
		}
	}
	if len(f.orders) == 0 {
		return nil, fault.New("orders", "none of %v leaves a budget at epsilon %v and delta %v, must include a larger order", orders, epsilon, delta)
	}
	f.spent = make([]float64, len(f.orders))
	return f, nil
}

// budgetAt returns a lower bound on the largest v with logDeltaAt(alpha, v, eps)
// ≤ logDelta.
func budgetAt(alpha, eps, logDelta float64) float64 {
	t := alpha - 1
	s := alpha * logShrink(alpha)
	mag := eps + (math.Abs(logDelta)+math.Abs(xmath.Log(t))-s)/t
	return eps + (logDelta+xmath.Log(t)-s)/t - 16*xmath.U*mag
}

// Spend charges a step with the curve to the budget, or returns an error that
// wraps ErrBudget and charges nothing; a smaller step may then still fit. A
// curve with a negative or undefined value is refused.
func (f *Filter) Spend(c Curve) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, err := f.with(c)
	if err == nil {
		f.spent = next
	}
	return err
}

// with returns what would be spent after one more step.
func (f *Filter) with(c Curve) ([]float64, error) {
	next := make([]float64, len(f.orders))
	fits := false
	for i, a := range f.orders {
		v, err := checkValue(c, a)
		if err != nil {
			return nil, err
		}
		next[i] = f.spent[i]
		if v != 0 {
			next[i] = math.Nextafter(f.spent[i]+v, math.Inf(1))
		}
		fits = fits || next[i] <= f.budget[i]
	}
	if !fits {
		i := f.best()
		return nil, fault.New("curve", "the value %v at order %v exceeds what is left of it, %v: %w", value(c, f.orders[i]), f.orders[i], max(0, f.budget[i]-f.spent[i]), ErrBudget)
	}
	return next, nil
}

// best is the order with the largest share of its budget left.
func (f *Filter) best() int {
	best, share := 0, math.Inf(-1)
	for i := range f.orders {
		if s := (f.budget[i] - f.spent[i]) / max(f.budget[i], math.SmallestNonzeroFloat64); s > share {
			best, share = i, s
		}
	}
	return best
}

// Spent returns what the steps so far have cost at the filter's orders, and the budget there. A
// published value of what is spent reveals which steps were chosen; it is for steering, not a
// guarantee in itself.
func (f *Filter) Spent() (spent, budget Grid) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Grid{slices.Clone(f.orders), slices.Clone(f.spent)}, Grid{slices.Clone(f.orders), slices.Clone(f.budget)}
}

// A GaussianFilter admits the steps of an interactive analysis, each a μ_t-GDP release, as long as Σμ_t² is at most μ², where μ was fixed before the first output was seen.
// Then the whole transcript is μ-GDP, however each step was chosen in the light of earlier
// outputs, and nothing is lost against a plan that was fixed in advance.
//
// A step is a release that is μ_t-GDP for all neighbours given the outputs so far, such as q(D) + N(0, σ²I) with μ_t = Δ/σ, Δ
// a bound on the change of q, or whole-number noise with its μ (profiles.Mu); q, Δ and σ may depend on earlier outputs and on
// public data, not on D in any other way. It must be asked for with Spend before it is run, and may run only if Spend
// returns nil: a step that is refused releases nothing, and smaller ones may still be asked
// for. Sampled steps, which are μ-GDP for no μ below that of the whole data set, are outside of the theorem.
//
// Theorem: docs/theory/pairs.md, "Adaptive Gaussian noise"; the statement is that of Smith
// and Thakurta 2022 (arXiv:2210.17520) and of Koskela, Tobaben and Honkela 2023. What is
// certified is the budget μ. What is spent depends on the outputs and certifies nothing.
// Relation: that of the Δ.
//
// A GaussianFilter is safe for use by several goroutines.
type GaussianFilter struct {
	at2 *Filter // of order 2, at which the curve αμ²/2 of a step is μ²
}

// NewGaussianFilter returns a filter that keeps the whole interaction μ-GDP.
func NewGaussianFilter(mu float64) (*GaussianFilter, error) {
	if !(mu >= 0 && mu <= 1e6) {
		return nil, fault.New("mu", "%v is not in [0, 1e+06]", mu)
	}
	f, err := NewFilter(2, max(0, xmath.Down(mu*mu, 1)))
	return &GaussianFilter{f}, err
}

// Spend counts a step with this μ², rounded up, before it runs; on an error, which wraps ErrBudget where the budget is
// too small, nothing is counted and the step must not run.
func (f *GaussianFilter) Spend(square float64) error {
	if !(square >= 0) {
		return fault.New("square", "%v is not in [0, +Inf]", square)
	}
	err := f.at2.Spend(Func(func(float64) float64 { return square }))
	if errors.Is(err, ErrBudget) {
		spent, budget := f.Spent()
		err = fmt.Errorf("%w: it would bring Σμ² to %.7g, where the budget is %.7g, of which %.7g is spent", ErrBudget, spent+square, budget, spent)
	}
	return err
}

// Spent returns Σμ² of what was admitted, which is for steering, and the guarantee: μ² of the μ that was fixed.
func (f *GaussianFilter) Spent() (spent, budget float64) {
	s, b := f.at2.Spent()
	return s.Values[0], b.Values[0]
}

// MuWithin returns a μ, near the largest, for which every μ-GDP mechanism is (epsilon,
// delta)-differentially private: the δ of the Gaussian mechanism at epsilon (Balle and Wang,
// ICML 2018, Theorem 8), with its error, is at most delta. Epsilon is in [0, 1e6], delta in
// (0, 1).
func MuWithin(epsilon, delta float64) (float64, error) {
	if !(epsilon >= 0 && epsilon <= 1e6) {
		return 0, fault.New("epsilon", "%v is not in [0, 1e+06]", epsilon)
	}
	if !(delta > 0 && delta < 1) {
		return 0, fault.New("delta", "%v is not in (0, 1): no Gaussian noise has less", delta)
	}
	want := xmath.Log(delta)
	want -= 0x1p-50 * math.Abs(want) // the logarithm has been rounded, and what it is compared with
	holds := func(x float64) bool {
		g, err := profiles.NewGaussian(1 / x)
		if err != nil {
			return false
		}
		// 1/μ has been rounded: a μ that is larger by two roundings covers it.
		l, e := g.LogDelta(epsilon)
		return l+e <= want
	}
	low, high := 1e-12, 4e3 // √(2·1e6) and a little
	if !holds(low) {
		return 0, fault.New("epsilon", "%v with delta %v is too small a budget", epsilon, delta)
	}
	low, _ = xmath.BisectLog(low, high, 200, holds)
	return low * (1 - 0x1p-50), nil
}

// Proof (docs/theory/pairs.md §8): Theorem 8.
//
// Let P be the law of the transcript on D, Q that on D′. Under Q the innovations z_t = (output − q_t(D′))/σ_t are
// independent standard normal vectors, and with a_t = (q_t(D) − q_t(D′))/σ_t, which depends on earlier outputs only
// and has |a_t| ≤ μ_t, the loss is L = log dP/dQ = Σ_t (⟨a_t, z_t⟩ − |a_t|²/2). Σ|a_t|² ≤ μ² on every path, because a
// step that would pass it is not run. Add one last release of one number, z + √(μ² − Σ|a_t|²) under P and z under Q:
// without it the transcript is a post-processing. Now Σ|a_t|² = μ² on every path, so that exp(iθ·Σ⟨a_t, z_t⟩ +
// θ²·Σ_{s≤t}|a_s|²/2) is a martingale under Q with the same last factor on every path, and E_Q exp(iθ·Σ⟨a_t, z_t⟩) =
// e^{−θ²μ²/2}: the sum is N(0, μ²) under Q, and L is N(−μ²/2, μ²). That is the loss of N(μ, 1) against N(0, 1); the
// profile follows from the law of L, and with D and D′ exchanged it is the same. ∎
