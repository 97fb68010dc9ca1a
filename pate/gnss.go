// The cost of publishing a number with noise in proportion to its smooth sensitivity. It
// assumes a β-smooth bound of the local sensitivity, and returns Rényi costs at one order.

package pate

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// GNSS is the Gaussian noise, in proportion to a β-smooth bound on the local sensitivity,
// with which a number that depends on the votes is published, at one Rényi order.
type GNSS struct {
	Order float64 // λ, above 1
	Beta  float64 // β, positive; how large it may be depends on the order
}

// RDP returns the cost at one order of publishing f(D) + SS_β(D)·N(0, σ²),
// where SS_β is a β-smooth upper bound on the local sensitivity of f:
//
//	λe^{−2β}/(2σ²s) − (λβ + ½·log s)/(λ−1),  s = 1 − λ(1 − e^{−2β}).
//
// It is the exact supremum of the Rényi divergence of two such Gaussians over
// all pairs that β-smoothness allows, in both directions, rounded up.
//
// Condition: s > 0. It replaces Theorem 23 of PATE 2018, see
// [GNSS.PrintedNotABound]. Relation: the one of SS_β.
func (g GNSS) RDP(sigma float64) (float64, error) {
	order, beta := g.Order, g.Beta
	s, err := gnssSlack(order, beta)
	if err != nil {
		return 0, err
	}
	if err := checkRange("sigma-ss", sigma, minSigma, maxSigma); err != nil {
		return 0, err
	}
	a := order * math.Exp(-2*beta) / (2 * sigma * sigma * s)
	// log s from its small part: λβ and ½·log s nearly cancel for small β.
	b := (order*beta + 0.5*math.Log1p(order*math.Expm1(-2*beta))) / (order - 1)
	v := a - b
	// s is good to 4u(1 + λ·2β)/s relative, and so is a; log1p adds the same
	// absolutely.
	e := 8 * u * (1 + 2*order*beta) / s
	v += a*e + (e+8*u*order*beta)/(order-1)
	return max(0, v), nil
}

// gnssSlack returns 1 − λ(1 − e^{−2β}).
func gnssSlack(order, beta float64) (float64, error) {
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	limit := -0.5 * math.Log1p(-1/order)
	if !(beta > 0 && beta < limit*(1-1e-9)) {
		return 0, fault.New("beta", "%v is not in (0, %v) at order %v", beta, limit, order)
	}
	return 1 + order*math.Expm1(-2*beta), nil
}

// PrintedNotABound returns the cost as Theorem 23 of PATE 2018 prints it,
// λe^{2β}/σ² + (βλ − ½·log(1 − 2λβ))/(λ−1), to reproduce that paper's tables.
// The last step of its proof needs λβ ≤ ¼; proved tells whether that holds.
// Otherwise the value can be too small: 0.518 at the paper's λ=14, β=0.0329,
// σ=6.23, where the divergence is 1.607. Use [GNSS.RDP].
func (g GNSS) PrintedNotABound(sigma float64) (value float64, proved bool, err error) {
	order, beta := g.Order, g.Beta
	if err := checkOrder("order", order); err != nil {
		return 0, false, err
	}
	if !(beta > 0 && beta < 1/(2*order)) {
		return 0, false, fault.New("beta", "%v is not in (0, %v) at order %v", beta, 1/(2*order), order)
	}
	if err := checkRange("sigma-ss", sigma, minSigma, maxSigma); err != nil {
		return 0, false, err
	}
	v := order*math.Exp(2*beta)/(sigma*sigma) + (beta*order-0.5*math.Log1p(-2*order*beta))/(order-1)
	return v, order*beta <= 0.25, nil
}

// OptimalSigma returns the noise scale that minimises the cost by RDP
// plus twice the standard deviation ss·σ of the published number,
// (λe^{−2β}/(2·s·ss))^{1/3}. A scale chosen by looking at a data-dependent ss
// leaks: choose it on public votes.
func (g GNSS) OptimalSigma(ss float64) (float64, error) {
	order, beta := g.Order, g.Beta
	s, err := gnssSlack(order, beta)
	if err != nil {
		return 0, err
	}
	if !(ss > 0 && !math.IsInf(ss, 1)) {
		return 0, fault.New("smooth-sensitivity", "%v is not in (0, +Inf)", ss)
	}
	return min(max(math.Cbrt(order*math.Exp(-2*beta)/(s*2*ss)), minSigma), maxSigma), nil
}

// PrintedSigma is OptimalSigma for the cost as printed:
// (λe^{2β}/ss)^{1/3}, which gives Table 2's column σ_SS.
func (g GNSS) PrintedSigma(ss float64) (float64, error) {
	order, beta := g.Order, g.Beta
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	if !(beta > 0 && beta < 1/(2*order)) {
		return 0, fault.New("beta", "%v is not in (0, %v) at order %v", beta, 1/(2*order), order)
	}
	if !(ss > 0 && !math.IsInf(ss, 1)) {
		return 0, fault.New("smooth-sensitivity", "%v is not in (0, +Inf)", ss)
	}
	return min(max(math.Cbrt(order*math.Exp(2*beta)/ss), minSigma), maxSigma), nil
}
