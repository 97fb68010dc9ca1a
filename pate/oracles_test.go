package pate

import (
	"cmp"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// theorem6 returns a bound on D_λ(M(D) ‖ M(D')) over the neighbours D' of D,
// for a mechanism that is (μ1, ε1)- and (μ2, ε2)-RDP and whose output on D
// differs from some fixed outcome with probability at most e^logQ.
//
// Theorem: PATE 2018, Theorem 6. Relation: the one of the two RDP guarantees.
// Conditions, all checked: 1 < λ ≤ μ1, μ2 > 1, q·e^ε2 < 1 and
// q ≤ e^{(μ2−1)ε2}/(μ1/(μ1−1)·μ2/(μ2−1))^μ2. The bound holds at D only, and only
// in this direction. Take the smaller of it and of a data-independent bound.
func theorem6(logQ, mu1, eps1, mu2, eps2, order float64) (float64, error) {
	if math.IsNaN(logQ) || logQ > 0 {
		return 0, fault.New("log-q", "%v is not in [-Inf, 0]", logQ)
	}
	if err := checkOrder("order", order); err != nil {
		return 0, err
	}
	if !(mu1 >= order && mu1 <= maxOrder) {
		return 0, fault.New("mu1", "%v is not in [%v, %g]", mu1, order, float64(maxOrder))
	}
	if err := checkOrder("mu2", mu2); err != nil {
		return 0, err
	}
	for _, e := range []struct {
		field string
		v     float64
	}{{"eps1", eps1}, {"eps2", eps2}} {
		if err := checkRange(e.field, e.v, 0, 1e12); err != nil {
			return 0, err
		}
	}
	if math.IsInf(logQ, -1) {
		return 0, nil
	}
	// 1/(1−1/μ) = μ/(μ−1); the limit is lowered by its own rounding error.
	l1, l2 := -math.Log1p(-1/mu1), -math.Log1p(-1/mu2)
	limit := (mu2-1)*eps2 - mu2*(l1+l2)
	limit -= 8 * u * ((mu2-1)*eps2 + mu2*(l1+l2))
	limit = min(limit, xmath.Down(-eps2, 1))
	if logQ > limit {
		return 0, fault.New("log-q", "%v is not in [-Inf, %v]: the condition of Theorem 6 fails", logQ, limit)
	}
	k := (mu2 - 1) / mu2
	c := (logQ + eps2) * k
	ec := u * (4*math.Abs(c) + math.Abs(logQ) + eps2)
	a, ea := logSurvivors(order, logQ, c, ec)
	b := logQ*(1-(order-1)/(mu1-1)) + (order-1)*eps1
	eb := 6 * u * (math.Abs(logQ)*(1+(order-1)/(mu1-1)) + (order-1)*eps1)
	v, err := logSumExp(a, ea, b, eb)
	return (max(0, v+err)+underflow)/(order-1)*(1+2*u) + underflow, nil
}

// checkedThresholdLogs returns log Pr[v + N(0, σ1²) ≥ T] and log Pr[… < T], each from
// its own tail, so that neither rounds to log 1 minus nothing.
func checkedThresholdLogs(threshold, sigma1, v float64) (pass, fail float64, err error) {
	if err := cmp.Or(checkThreshold(threshold), checkSigma("sigma1", sigma1), checkRange("v", v, -maxThreshold, maxThreshold)); err != nil {
		return 0, 0, err
	}
	pass, fail = thresholdLogs(threshold, sigma1, v)
	return pass, fail, nil
}

// thresholdRDP returns the cost at one order of comparing v + N(0, σ1²) with T,
// where v changes by at most 1 between neighbours: the data-dependent bound
// where it applies, and never more than λ/(2σ1²).
//
// Theorem: PATE 2018, Theorem 6 with ε_k = μ_k/(2σ1²), the check being a
// mechanism with two outcomes whose unlikely one has exactly the probability q;
// Proposition 10 with σ = √2·σ1. It bounds D_λ(M(D) ‖ M(D')) at the v of D.
func thresholdRDP(threshold, sigma1, v, order float64) (float64, error) {
	if err := cmp.Or(checkThreshold(threshold), checkSigma("sigma1", sigma1),
		checkRange("v", v, -maxThreshold, maxThreshold), checkOrder("order", order)); err != nil {
		return 0, err
	}
	return thresholdCost(sigma1)(order).upper(thresholdLogQ(threshold, sigma1, v)), nil
}
