// Sampled profiles whose rate is known to one rounding only.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// inexact widens the errors of a Poisson profile whose rate q is known to one
// rounding only: log(1 − q + q e^y) moves by (1 − e^{−l})·dq/q, the weights q and
// 1 − q by dq/q and dq/(1 − q).
func inexact(p profiles.Profile, rate float64) profiles.Profile {
	if rate == 0 || rate == 1 {
		return p
	}
	d := 2 * xmath.U * max(1, rate/(1-rate))
	if x, ok := p.(*profiles.Discrete); ok {
		s := x.Support()
		move := 0.0
		for _, a := range x.Atoms() {
			move = max(move, math.Abs(math.Expm1(-a.Loss))*2*xmath.U)
		}
		y, err := profiles.NewDiscrete(x.Atoms(), s.LogPInf, s.LogQInf, x.MassErr()+d, s.LossErr+move)
		if err != nil {
			return p
		}
		return y
	}
	return rounded{p, d}
}

type rounded struct {
	profiles.Profile
	d float64
}

func (r rounded) Tails(eps, tol float64) profiles.Tails {
	t := r.Profile.Tails(eps, tol+2*xmath.U*math.Abs(math.Expm1(-max(eps, -700))))
	t.Err += r.d
	t.ErrC += r.d
	return t
}

// Cost implements profiles.Costly.
func (r rounded) Cost() float64 { return profiles.Cost(r.Profile) }

func (r rounded) Support() profiles.Support {
	s := r.Profile.Support()
	for _, a := range s.Atoms {
		s.LossErr = max(s.LossErr, 2*xmath.U*math.Abs(math.Expm1(-a)))
	}
	return s
}
