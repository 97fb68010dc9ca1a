// Compositions of discrete mechanisms with so few different total losses that all are listed.
//
// It assumes atoms whose masses and losses carry their errors; these add up with each product.
// It returns a profile like any other, or nil where the list would be long.

package closed

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// maxListed bounds the number of losses of a list, and with it the time that a question to it
// takes. It proves nothing.
const maxListed = 1 << 12 // steers: time

// List returns the exact composition of discrete profiles when it has few
// enough different losses to list them all; nil otherwise.
func (s Steps) List() *profiles.Discrete {
	// The number of sums of T out of k losses is C(T+k−1, k−1) at most.
	size := 0.0
	for _, e := range s {
		d, ok := e.Profile.(*profiles.Discrete)
		if !ok {
			return nil
		}
		k, n := float64(len(d.Atoms())), float64(e.Count)
		if k == 0 {
			continue
		}
		a, _ := math.Lgamma(n + k)
		b, _ := math.Lgamma(n + 1)
		c, _ := math.Lgamma(k)
		size += a - b - c
	}
	if size > xmath.Log(maxListed) {
		return nil
	}
	var total *profiles.Discrete
	for _, e := range s {
		power := e.Profile.(*profiles.Discrete)
		for n := e.Count; n > 0; n >>= 1 {
			if n&1 == 1 {
				if total == nil {
					total = power
				} else if total = convolve(total, power); total == nil {
					return nil
				}
			}
			if n > 1 {
				if power = convolve(power, power); power == nil {
					return nil
				}
			}
		}
	}
	return total
}

// convolve returns the composition of two discrete profiles. A product of masses
// has the sum of the relative errors, and two roundings of the sum of the
// logarithms.
func convolve(a, b *profiles.Discrete) *profiles.Discrete {
	as, bs := a.Atoms(), b.Atoms()
	if len(as)*len(bs) > 16*maxListed {
		return nil
	}
	sum := make([]profiles.Atom, 0, len(as)*len(bs))
	big := 0.0
	for _, x := range as {
		for _, y := range bs {
			l := x.Loss + y.Loss
			big = max(big, math.Abs(l))
			sum = append(sum, profiles.Atom{Loss: l, LogP: x.LogP + y.LogP, LogQ: x.LogQ + y.LogQ})
		}
	}
	sa, sb := a.Support(), b.Support()
	either := func(p, q float64) float64 { return xmath.LogAdd(p, q+xmath.Log1mExp(p)) }
	d, err := profiles.NewDiscrete(sum, either(sa.LogPInf, sb.LogPInf), either(sa.LogQInf, sb.LogQInf),
		a.MassErr()+b.MassErr()+4*xmath.U, sa.LossErr+sb.LossErr+xmath.U*big)
	if err != nil {
		return nil
	}
	return d
}
