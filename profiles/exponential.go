package profiles

// The profile of one run of the exponential mechanism, in closed form.
//
// It assumes nothing but that the loss of every pair of neighbours has a range of length
// at most ε ("bounded range"), and is attained at each α = e^l by some pair with two
// candidates, not by one pair at all of them. So it is exact for one run and an upper
// bound under composition: package choice has the exact composition of many runs.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// MaxExponential is the largest ε of NewExponential: e^ε and its square are in range.
const MaxExponential = 100

// Exponential is the dominating pair of the exponential mechanism whose privacy loss has
// a range of length ε: with l = log α,
//
//	h(α) = (1 − e^{(l−ε)/2})²/(1 − e^{−ε}) for |l| ≤ ε.
//
// Its loss has the density e^{l/2}/(4 sinh(ε/2)) on [−ε, ε] under P, and no atoms. It is
// its own reverse.
//
// Source: Dong, Durfee and Rogers, "Optimal differential privacy composition for
// exponential mechanisms" (ICML 2020), Lemma 3.2, maximised over the place of the range;
// proof in docs/choice.md, Theorem 1. Relation: that of the sensitivity of the scores.
type Exponential struct{ epsilon float64 }

// NewExponential returns the pair for an ε in (0, 100]: twice the sensitivity of the
// scores over the scale of the noise, or once where all scores move the same way.
func NewExponential(epsilon float64) (Exponential, error) {
	if !(epsilon >= 1e-9 && epsilon <= MaxExponential) {
		return Exponential{}, fault.New("epsilon", "%v is not in [1e-09, %d]", epsilon, MaxExponential)
	}
	return Exponential{epsilon}, nil
}

// Epsilon returns the length of the range of the loss.
func (e Exponential) Epsilon() float64 { return e.epsilon }

// SelfReverse implements SelfReverser: the class of pairs is closed under exchange.
func (e Exponential) SelfReverse() bool { return true }

// Tails implements Profile, with a = (ε−l)/2 and b = (ε+l)/2:
//
//	P(L > l) = (1−e^{−a})/(1−e^{−ε}),  P(L ≤ l) = (e^b−1)/(e^ε−1),
//	Q(L > l) = (e^a−1)/(e^ε−1),        Q(L ≤ l) = (1−e^{−b})/(1−e^{−ε}).
func (e Exponential) Tails(eps, tol float64) Tails {
	inf := math.Inf(-1)
	switch {
	case eps < -e.epsilon:
		return Tails{P: 0, Q: 0, PC: inf, QC: inf}
	case eps >= e.epsilon:
		return Tails{P: inf, Q: inf, PC: 0, QC: 0}
	}
	a, b := (e.epsilon-eps)/2, (e.epsilon+eps)/2
	rise, fall := xmath.Log(math.Expm1(e.epsilon)), xmath.Log(-math.Expm1(-e.epsilon))
	t := Tails{P: xmath.Log(-math.Expm1(-a)) - fall, Q: xmath.Log(math.Expm1(a)) - rise,
		PC: xmath.Log(math.Expm1(b)) - rise, QC: xmath.Log(-math.Expm1(-b)) - fall}
	t.P, t.Q, t.PC, t.QC = min(t.P, 0), min(t.Q, 0), min(t.PC, 0), min(t.QC, 0)
	if tol > 0 { // a caller's l ± tol rounds as well
		tol += 2 * xmath.U * e.epsilon
	}
	t.Err = e.tailErr(a, tol/2, t.P, t.Q)
	t.ErrC = e.tailErr(b, tol/2, t.PC, t.QC)
	return t
}

// tailErr bounds the errors of the logarithms of two masses with the argument x, which is
// within tol and one rounding of its exact value. A factor 1 + η of x multiplies e^x − 1
// by at most 1 + (1+x)η, and 1 − e^{−x} by less; each logarithm and expm1 rounds by an
// ulp, and so do the differences. Where x falls by tol, e^x − 1 falls by at most the factor
// e^tol·x/(x − tol), as (1 − e^{−x})/x falls with x.
func (e Exponential) tailErr(x, tol, p, q float64) float64 {
	err := xmath.U * (12 + 3*x + 3*e.epsilon + 2*math.Abs(finiteLog(p)) + 2*math.Abs(finiteLog(q)) + 4*math.Abs(xmath.Log(e.epsilon)))
	switch {
	case tol == 0:
		return err
	case tol < x:
		return err + tol - math.Log1p(-tol/x)
	}
	return math.Inf(1)
}

func finiteLog(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}

// LogDelta implements LogDeltaer.
func (e Exponential) LogDelta(eps float64) (logDelta, err float64) {
	switch {
	case eps <= -e.epsilon:
		v := xmath.Log1mExp(eps)
		return v, 4 * xmath.U * (1 + math.Abs(v))
	case eps >= e.epsilon:
		return math.Inf(-1), 0
	}
	a := (e.epsilon - eps) / 2
	x := xmath.Log(-math.Expm1(-a))
	fall := xmath.Log(-math.Expm1(-e.epsilon))
	// a rounds by one unit, which moves 1 − e^{−a} by no more; expm1 and log by one each,
	// the square doubles that, and the difference rounds.
	v := min(2*x-fall, 0)
	return v, xmath.U * (16 + 4*math.Abs(x) + 4*math.Abs(fall))
}

// Support implements Profile.
func (e Exponential) Support() Support {
	return Support{Min: -e.epsilon, Max: e.epsilon, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}

// Transform implements Transformer: M(z) = sinh((2z+1)ε/2)/((2z+1)·sinh(ε/2)), one piece
// of the kind that Laplace noise has between its centres, where Q has the density
// ¼e^{−l/2}/sinh(ε/2) and the likelihood ratio is e^l.
func (e Exponential) Transform() Transform {
	// log sinh(ε/2) = ε/2 + log(1 − e^{−ε}) − log 2.
	sinh := e.epsilon/2 + xmath.Log(-math.Expm1(-e.epsilon)) - math.Ln2
	return transform.NewMixed(nil, []transform.Piece{{From: -e.epsilon, To: e.epsilon, LogWeight: -sinh,
		Share: 1, WeightErr: xmath.U * (8 + 2*e.epsilon + 2*math.Abs(sinh))}}, 0, 0, 0)
}
