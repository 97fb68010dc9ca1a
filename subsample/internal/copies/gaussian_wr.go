// §4: the coupling of copies, an upper profile for Gaussian noise and draws with
// replacement, under substitution.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianWR is the upper profile of sampling with replacement for the Gaussian
// under substitution: noise 1, shift θ per copy, law p_u of the copies.
//
// docs/theory/subsampling.md §4 (R6), in closed form. For α = e^ε ≥ 1 the optimal coupling
// shares one threshold T among the first copies u ≤ i and leaves every further
// u alone with its own, t_u = uθ/2 + ε/(uθ), where the likelihood ratio r_u of u
// copies is α:
//
//	α = max_i (p_0 + Σ_{1≤u≤i} p_u r_u(T)) / (p_0 + Σ_{1≤u≤i} p_u),
//	P(L > ε) = p_0 Φ̄(T) + Σ_{u≤i} p_u Φ̄(T − uθ) + Σ_{u>i} p_u Φ̄(t_u − uθ),
//	Q(L > ε) = (p_0 + Σ_{1≤u≤i} p_u) Φ̄(T) + Σ_{u>i} p_u Φ̄(t_u).
//
// For ε < 0 it is the reflection; the loss has an atom at 0. It is convex in α
// (a partial minimum of a jointly convex function) and at most Theorem 5, so
// that no minimum or convex minorant is needed. docs/theory/subsampling.md has
// the proof.
//
// What the table of the law leaves out counts as given away.
type GaussianWR struct {
	shifts
	P []float64 // Pr[U = u], for the search of thresholds
}

// Cost implements hook.Costly.
func (p *GaussianWR) Cost() float64 { return p.cost(perOpposite) }

func NewGaussianWR(law Law, theta float64) *GaussianWR {
	c := &GaussianWR{shifts: shifts{law, theta}}
	for _, l := range law.LogP {
		c.P = append(c.P, math.Exp(l))
	}
	return c
}

// average returns the log of the largest average of r_0 = 1, r_1, …, r_i under the
// weights p at T, its slope in T, the i that attains it and the
// size of its rounding error. The averages rise while the next ratio is larger
// than they are, and the ratios rise and then fall.
func (p *GaussianWR) average(t float64) (log, slope float64, i int, size float64) {
	none := p.P[0]
	// In plain numbers, minus 1, while nothing overflows.
	if t*t/2 < 600 && p.LogNone > -600 {
		var a, m, w, e float64 // Σ p(r−1), Σ p, Σ p·uθ·r, error of a
		m = none
		for u := 1; u <= p.Last(); u++ {
			l := p.LogP[u]
			if l < -740 {
				if u > 1 && p.P[u-1] > 0 {
					break
				}
				continue
			}
			s := float64(u) * p.theta
			x := p.Exponent(u, t)
			pu := p.P[u]
			r1 := math.Expm1(x)
			if m > 0 && !(r1*m > a) {
				break
			}
			a += pu * r1
			m += pu
			w += pu * (r1 + 1) * s
			e += pu*math.Abs(r1)*(p.Err[u]+xmath.U*(3-l)) + pu*(r1+1)*xmath.U*4*s*(t+s)
			i = u
		}
		if m == 0 {
			return 0, 0, 0, 0
		}
		y := a / m
		return math.Log1p(y), w / m / (1 + y), i, (e/m+4*xmath.U*math.Abs(y)*(1+p.EtaErr/xmath.U))/(1+y) + xmath.U
	}
	num, den := newLogSum(), newLogSum()
	num.add(p.LogNone, 0)
	den.add(p.LogNone, 0)
	var w, e, top float64
	top = math.Inf(-1)
	for u := 1; u <= p.Last(); u++ {
		x := p.Exponent(u, t)
		if num.s > 0 && x < num.now()-den.now() {
			break
		}
		l := p.LogP[u]
		if math.IsInf(l, -1) {
			continue
		}
		num.add(l+x, 0)
		den.add(l, 0)
		if l+x > top {
			f := math.Exp(top - l - x)
			w, e, top = w*f, e*f, l+x
		}
		s := float64(u) * p.theta
		k := math.Exp(l + x - top)
		w += k * s
		e += k * (p.Err[u] + xmath.U*(4-l+4*s*(t+s)))
		i = u
	}
	f := math.Exp(top - num.now())
	return num.now() - den.now(), w * f, i, e*f + p.EtaErr + xmath.U*(8+4*math.Abs(num.now())+2*math.Abs(den.now()))
}

// threshold solves average(T) = ε ≥ 0: convex and increasing in T, by Newton's
// method from the right.
func (p *GaussianWR) Threshold(eps, tol float64) (t, dt float64, i int) {
	if eps > 0 && tol > 1e-5*min(1, eps) {
		// The slope falls to the left, across blocks: where it may count, look there.
		t, dt, i = p.Threshold(eps, 0)
		low, below := p.theta/2, 0.0
		if eps > tol {
			low, below, _ = p.Threshold(eps-tol, 0)
		}
		high, above, _ := p.Threshold(eps+tol, 0)
		return t, max(t-low, high-t) + dt + below + above, i
	}
	tol *= 1 + 1e-3
	t = math.Inf(1)
	for u := 1; u <= p.Last(); u++ {
		if l := p.LogP[u]; !math.IsInf(l, -1) {
			s := float64(u) * p.theta
			t = min(t, s/2+(eps-l)/s)
		}
	}
	for n := 0; ; n++ {
		a, slope, k, size := p.average(t)
		if slope == 0 { // at or left of the root of one copy, ε = 0
			return max(t, p.theta/2), tol/p.theta + 4*xmath.U*t, max(k, 1)
		}
		step := (a - eps) / slope
		t -= step
		if !(step > 1e-14*(1+t)) || n == 200 {
			return t, math.Abs(step) + (size+tol+xmath.U*eps)/slope + 4*xmath.U*t, k
		}
	}
}

// up returns log P(L > ε) and log Q(L > ε) for ε ≥ 0 with a bound on the error
// of both; the mass given away is in P.
func (p *GaussianWR) up(eps, tol float64) (logP, logQ, err float64) {
	t, dt, i := p.Threshold(eps, tol)
	logP, logQ, err = p.tails(t, dt+xmath.U*2*t, i, eps, tol)
	if rest := p.LogAbove[len(p.LogP)]; rest > logP-far {
		logP = min(0, xmath.LogAdd(logP, rest))
		err += 4 * xmath.U * (1 + math.Abs(logP))
	}
	return logP, logQ, err + leftOut
}

// tails is up for a threshold t, known to d, of the first i copies.
func (p *GaussianWR) tails(t, d float64, i int, eps, tol float64) (logP, logQ, err float64) {
	none := xmath.LogNormalTail(t)
	e0 := normalErr(none, t, d)
	ps, qs := newLogSum(), newLogSum()
	ps.add(p.LogNone+none, p.EtaErr+e0)
	qs.add(p.LogNone+none, p.EtaErr+e0)
	n := 1
	for u := 1; u <= p.Last(); u++ {
		if w := p.LogAbove[u] + far; w < ps.now() && w-eps < qs.now() {
			break
		}
		s := float64(u) * p.theta
		x, dx, q, eq := t, d, none, e0
		if u > i {
			x = s/2 + eps/s
			dx = joined(xmath.U*4*x+tol/s, x, t, d)
			q = xmath.LogNormalTail(x)
			eq = normalErr(q, x, dx)
		}
		y := x - s
		dx += xmath.U * (2*s + math.Abs(y))
		l := xmath.LogNormalTail(y)
		ps.add(p.LogP[u]+l, p.Err[u]+normalErr(l, y, dx))
		qs.add(p.LogP[u]+q, p.Err[u]+eq)
		n++
	}
	logP, e1 := ps.value(n)
	logQ, e2 := qs.value(n)
	return logP, logQ, max(e1, e2) + leftOut
}

// joined is by how much a threshold x beyond the block moves: by d as the others do if
// it joins the block before the block's own t has moved by d.
func joined(dx, x, t, d float64) float64 {
	if x < t+d {
		return max(dx, d)
	}
	return dx
}

// SelfReverse implements hook.SelfReverser.
func (p *GaussianWR) SelfReverse() bool { return true }

// Tails implements profiles.Profile.
func (p *GaussianWR) Tails(eps, tol float64) profiles.Tails {
	return Joined{aboveZero{p}, aboveZero{p}}.Tails(eps, tol)
}

// aboveZero has the tails above losses ε ≥ 0 alone.
type aboveZero struct{ *GaussianWR }

func (p aboveZero) Tails(eps, tol float64) (t profiles.Tails) {
	t.P, t.Q, t.Err = p.up(eps, tol)
	return t
}

func (p *GaussianWR) Support() profiles.Support {
	rest := p.LogAbove[len(p.LogP)]
	return profiles.Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: rest, LogQInf: rest, Atoms: []float64{0}, Spike: math.NaN()}
}

// Proof (docs/theory/subsampling.md §4): the minimum over the shares.
//
// J is convex in its weights with derivative the normal tail beyond its threshold, so the optimum lets P-mass flow to
// lower v until thresholds are equal or the flow is blocked: this is isotonic regression over u. Put
// `F_i(t) = Q_0 + Σ_{1≤v≤i} p_v(α − r_v(t))`. The first block has threshold `T = min_i {root of F_i}`, that is,
// `min_i F_i(T) = 0`. The summand `α − r_v(T)` is negative exactly for v between the two solutions v₋ < v₊ of
// `r_v(T) = α`, so F_i falls only there, and (F_0 ≥ 0) its minimum is at `i = ⌊v₊⌋`. Beyond it, the roots
// `t_v = v + σ²ε/(2v)` of `r_v = α` increase and are at least T. So there is one block, u ≤ i, and singletons beyond.
//
// The equation for T says `min_i F_i(T) = 0` once more: `F_i(T) ≥ 0` is `α ≥ A_i(T)`. Hall's condition, that the
// sharing exists, is `F_{i'}(T) ≥ 0` for the i' ≤ i. log max_i A_i is convex and increasing in T, so Newton's method
// from the right of the root is monotone.
//
// Below Theorem 5: Sharing a part β of p_u with v = u and the rest with v = 0, β from advanced joint convexity, and
// separating the copies in the second part, gives Theorem 5; the minimum is no larger.
