// Bounds on what one run of a candidate costs. A bound is assumed to hold in both
// directions of the relation; it returns logarithms of δ, rounded up.

package selection

import (
	"context"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Bound is a certified upper bound on the privacy profile of a mechanism, in
// both directions of the neighbouring relation: it returns a number at least
// log δ(ε), for ε ≥ 0. It need not be the profile of any pair, nor monotone.
//
// Whatever can bound δ(ε) can be a candidate: a closed form, an accountant's
// answer for a whole training run, the price of another selection.
type Bound func(eps float64) float64

func logDeltaUpper(p profiles.Profile, eps float64) float64 {
	// Atoms may lie up to LossErr higher than delivered.
	eps -= p.Support().LossErr
	d, err := profiles.LogDelta(p, eps)
	if list, ok := p.(*profiles.Discrete); ok && err > 1e-6 {
		return discreteUpper(list, eps)
	}
	if !math.IsInf(err, 1) {
		return min(0, d+err)
	}
	// No digit of the difference is left: the tail itself bounds it.
	t := p.Tails(eps, 0)
	return min(0, t.P+t.Err)
}

// discreteUpper is log Σ P(l)(1 − e^{ε−l}) over the losses l above ε, rounded up. No term is a difference: next
// to a loss, where the tails nearly cancel, it keeps its digits.
func discreteUpper(d *profiles.Discrete, eps float64) float64 {
	v := d.Support().LogPInf
	v += d.MassErr() * xmath.Finite(1+math.Abs(v))
	for _, a := range d.Atoms() {
		if a.Loss > eps && !math.IsInf(a.LogP, -1) {
			v = xmath.LogAdd(v, a.LogP+d.MassErr()*(1+math.Abs(a.LogP))+xmath.Log1mExp(eps-a.Loss))
		}
	}
	if math.IsInf(v, -1) {
		return v
	}
	return min(0, v+8*xmath.U*float64(4+len(d.Atoms()))*(1+math.Abs(v)))
}

// FromApproximate returns the profile of (ε, δ)-DP, δ + (1−δ)(e^ε − e^t)₊/(1+e^ε)
// (Kairouz, Oh and Viswanath, ICML 2015).
func FromApproximate(eps, delta float64) (Bound, error) {
	if err := checkApprox(eps, delta); err != nil {
		return nil, err
	}
	logD := xmath.Log(delta)
	return func(t float64) float64 {
		// (e^ε − e^t)/(1+e^ε) = (1 − e^{t−ε})/(1+e^−ε).
		pure := xmath.Log1mExp(t-eps) - math.Log1p(math.Exp(-eps)) + math.Log1p(-delta)
		if t >= eps {
			pure = math.Inf(-1)
		}
		d := xmath.LogAdd(logD, pure)
		// t−ε is off by one rounding, and so is 1 − e^{t−ε} relatively.
		if math.IsInf(d, -1) {
			return d
		}
		return min(0, d+8*xmath.U*(1+math.Abs(d)))
	}, nil
}

func checkApprox(eps, delta float64) error {
	if !(eps >= 0 && eps <= 1e6) {
		return fault.New("epsilon", "%v is not in [0, 1e6]", eps)
	}
	if !(delta >= 0 && delta < 1) {
		return fault.New("delta", "%v is not in [0, 1)", delta)
	}
	return nil
}

// FromDelta returns the bound of an accountant that tells an upper bound on δ(ε)
// itself, such as the upper end of its certified interval. A bound of 0 counts
// as the smallest positive number, so that underflow cannot pass for a proof.
func FromDelta(delta func(eps float64) (upper float64, err error)) Bound {
	return func(eps float64) float64 {
		d, err := delta(eps)
		if err != nil || !(d >= 0) {
			return math.NaN()
		}
		l := xmath.Log(max(d, math.SmallestNonzeroFloat64))
		return min(0, l+xmath.U*(1-l))
	}
}

// Interpolated returns a bound that evaluates b on a geometric grid of ε only,
// each point once, and interpolates: the true profile is convex in e^ε, so it
// lies below a chord between upper bounds. It is for bounds that are slow to
// evaluate: [Price.Curve] of a Poisson law asks at hundreds of ε.
func (b Bound) Interpolated() Bound {
	const first, perOctave = 1e-3, 8
	known := map[int]float64{}
	var lock sync.Mutex
	at := func(i int) float64 {
		lock.Lock()
		defer lock.Unlock()
		d, ok := known[i]
		if !ok {
			d = b(gridEps(i, first, perOctave))
			known[i] = d
		}
		return d
	}
	return func(eps float64) float64 {
		eps = min(eps, 700)
		i := 0
		if eps >= first {
			i = 1 + int(perOctave*math.Log2(eps/first))
		}
		for i > 0 && gridEps(i, first, perOctave) > eps {
			i--
		}
		left := at(i)
		if eps == 0 || eps > 8 {
			return left
		}
		lo, hi := gridEps(i, first, perOctave), gridEps(i+1, first, perOctave)
		// Share of the right end: (e^ε − e^lo)/(e^hi − e^lo), rounded down.
		w := max(0, math.Expm1(eps-lo)/math.Expm1(hi-lo)*(1-1e-9)-1e-12)
		v := xmath.LogAdd(math.Log1p(-w)+left, xmath.Log(w)+min(left, at(i+1)))
		if math.IsInf(v, -1) {
			return v
		}
		return min(left, v+8*xmath.U*(1+math.Abs(v)))
	}
}

func gridEps(i int, first, perOctave float64) float64 {
	if i == 0 {
		return 0
	}
	return first * math.Exp2(float64(i-1)/perOctave)
}

// at extends b to negative ε by δ(t) = 1 − e^t + e^t δ(−t), valid because b
// bounds both directions.
func (b Bound) at(eps float64) float64 {
	if eps >= 0 {
		return min(0, b(eps))
	}
	if eps < -40 {
		return 0 // 1 is within e^−40 of it, and costs no question to b
	}
	d := xmath.LogAdd(xmath.Log1mExp(eps), eps+b(-eps))
	return min(0, d+8*xmath.U*(1+math.Abs(d)))
}

// until returns b as long as ctx lasts, and NaN afterwards, at which every search
// on a bound ends.
func (b Bound) until(ctx context.Context) Bound {
	return func(eps float64) float64 {
		if ctx.Err() != nil {
			return math.NaN()
		}
		return b(eps)
	}
}

// Epsilon returns an ε at which b certifies δ, within about 1e-13 of the
// smallest one when b is monotone; +Inf when there is none below 1e6. It asks b
// some dozens of times, and none any more once ctx is done: then the error is
// that of ctx. (One question to b takes the time it takes; a slow b should watch
// the same context.)
func (b Bound) Epsilon(ctx context.Context, delta float64) (float64, error) {
	if !(delta > 0 && delta < 1) {
		return 0, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	b = b.until(ctx)
	logD := xmath.Log(delta) - 2*xmath.U*(1-xmath.Log(delta))
	broken := false
	eps, ok := crossing(func(e float64) float64 {
		d := b(e)
		broken = broken || math.IsNaN(d)
		return d - logD
	}, 1e6)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case broken:
		return 0, fault.New("candidate", "its bound is NaN where ε is searched")
	case !ok:
		return math.Inf(1), nil
	}
	return eps, nil
}

// root bounds from above the root t of (1−γ)δ(t) = γ(e^t − 1), given log(1−γ)
// and log γ: the t returned satisfies (1−γ)δ(t) ≤ γ(e^t−1).
func (b Bound) root(log1mGamma, logGamma float64) (float64, error) {
	if math.IsInf(log1mGamma, -1) {
		return 0, nil
	}
	// At t = −log γ the right side is 1−γ, and δ ≤ 1.
	top := -logGamma
	c := logGamma - log1mGamma
	slack := 8 * xmath.U * (1 + math.Abs(logGamma) + math.Abs(log1mGamma))
	g := func(t float64) float64 {
		d := b(t)
		if math.IsInf(d, -1) {
			return d
		}
		return d - c - xmath.Log(math.Expm1(t)) + slack + 4*xmath.U*math.Abs(d)
	}
	if math.IsNaN(b(0)) {
		return 0, fault.New("candidate", "its bound is NaN at 0")
	}
	if math.IsInf(b(0), -1) {
		return 0, nil
	}
	t, ok := crossing(g, top)
	if !ok {
		return xmath.RoundUp(top, 16), nil
	}
	return t, nil
}

// crossing returns a point of [0, top] where f ≤ 0, within about 1e-14 relatively
// of a sign change of f, which should be decreasing; false when f(top) > 0. The
// value of f at the point returned has been seen to be ≤ 0.
func crossing(f func(float64) float64, top float64) (float64, bool) { return crossingTo(f, top, 8e-15) }

// crossingTo is crossing to a relative width.
func crossingTo(f func(float64) float64, top, width float64) (float64, bool) {
	if f(0) <= 0 {
		return 0, true
	}
	lo, hi := 0.0, min(1, top)
	flo, fhi := math.Inf(1), f(hi)
	for !(fhi <= 0) {
		if hi >= top {
			return 0, false
		}
		lo, flo = hi, fhi
		hi = min(top, 2*hi)
		fhi = f(hi)
	}
	for lo == 0 && hi > 1e-300 {
		if v := f(hi / 16); v <= 0 {
			hi, fhi = hi/16, v
		} else {
			lo, flo = hi/16, v
		}
	}
	// Method ITP (Oliveira and Takahashi, ACM TOMS 2021): as few steps as false
	// position, never more than bisection and one.
	tol := width / 2 * hi
	k1 := 0.2 / (hi - lo)
	budget := math.Ceil(math.Log2((hi-lo)/(2*tol))) + 1
	for j := 0.0; hi-lo > 2*tol && j < 200; j++ {
		mid := lo + (hi-lo)/2
		x := mid
		if !math.IsInf(flo, 0) && !math.IsInf(fhi, 0) {
			r := max(0, tol*math.Exp2(budget-j)-(hi-lo)/2)
			xf := (hi*flo - lo*fhi) / (flo - fhi)
			step := k1 * (hi - lo) * (hi - lo)
			if xt := xf + math.Copysign(step, mid-xf); step <= math.Abs(mid-xf) {
				x = xt
			}
			if math.Abs(x-mid) > r {
				x = mid - math.Copysign(r, mid-xf)
			}
		}
		if !(x > lo && x < hi) {
			x = mid
		}
		if x <= lo || x >= hi {
			break
		}
		if v := f(x); v <= 0 {
			hi, fhi = x, v
		} else {
			lo, flo = x, v
		}
	}
	return hi, true
}
