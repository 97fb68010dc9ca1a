// The integral of one step (§10): three means at given distances, bounded by tangents
// and chords of a log-concave function.

package adaptive

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A triangle is how three Gaussians of noise 1 lie: s from the record x to
// another record z, t from the substitute x' to z, r from x to x'.
type triangle struct{ s, t, r float64 }

// realisable returns g moved to where a triangle with its sides exists, in the
// direction in which excess grows: s and r up, t down (Corollary 2 of
// docs/theory/subsampling.md §3, 10).
func (g triangle) realisable() triangle {
	s := max(g.s, g.r-g.t)
	r := max(g.r, s-g.t)
	return triangle{s, min(g.t, s+r), r}
}

// thin is the height of a triangle, in units of r, below which it is taken as
// flat; excessGoal is about the accuracy that is asked of excess.
const (
	thin       = 4e-3
	excessGoal = 4e-4
)

// excess returns an upper bound of log ∫ [N(x) − a N(z) − b N(x')]₊, at most
// about excessGoal above it, for b ≥ 1 and a ≥ 0 given by their logarithms.
//
// With x at the origin, x' on the first axis and z = (z1, z2), the density ratio
// 1 − a·exp(⟨z,y⟩ − |z|²/2) − b·exp(r·y1 − r²/2) is concave in y, so its positive
// part times the normal density is log-concave, and so is its integral k over y2
// (Prékopa). Tangents of log k are above it and chords below: both are
// integrated in closed form, and intervals halved until they agree.
func (g triangle) excess(logA, logB float64) float64 {
	g = g.realisable()
	if g.r == 0 {
		return math.Inf(-1) // 1 − b ≤ 0
	}
	// Where the integrand is positive N(x) > a·N(z): a bound that always holds, and
	// all there is where rounding spoils the others.
	rough := 0.0
	if !math.IsInf(logA, -1) {
		rough = xmath.LogNormalTail(logA/g.s-g.s/2) + 1e-9
		if math.IsNaN(rough) {
			rough = math.Inf(-1) // z = x
			if logA < 0 {
				rough = 0
			}
		}
		if rough < -300 {
			return rough
		}
	}
	// Without z the integral is known: near α = 1, where z hardly counts, what
	// tangents are above it may be all there is to spare.
	if without, err := profiles.NewGaussian(1 / g.r); err == nil {
		l, e := profiles.LogDelta(without, logB)
		rough = min(rough, l+e)
	}
	f := slice{r: g.r, logA: logA, logB: logB}
	// t down to a right angle at x if it is obtuse there. Where rounding is too
	// much, t down until z is on the axis; or a to 0.
	f.z1 = max(0, (g.s*g.s+(g.r-g.t)*(g.r+g.t))/(2*g.r))
	f.z2 = math.Sqrt(max(0, (g.s-f.z1)*(g.s+f.z1)))
	flat := slice{z1: g.s, z2: 0, r: g.r, logA: logA, logB: logB}
	if f.z2 >= thin*g.r {
		if v, ok := f.integral(); ok {
			return min(v, rough)
		}
	}
	if v, ok := flat.integral(); ok {
		return min(v, rough)
	}
	flat.logA = math.Inf(-1)
	if v, ok := flat.integral(); ok {
		return min(v, rough)
	}
	return rough
}

// A slice is the integral over y2 of a triangle's integrand, a function of y1;
// z1, z2 ≥ 0.
type slice struct{ z1, z2, r, logA, logB float64 }

type slicePoint struct {
	y          float64
	log, slope float64 // of k(y)√2π
	err        float64 // of log
	slopeErr   float64
	zero       bool // k is 0 from here on
}

// ok reports whether rounding left something of the value.
func (p slicePoint) ok() bool { return p.err < 1e-5 && p.slopeErr < 1e-2*(1+math.Abs(p.slope)) }

// at evaluates log k and its slope.
func (f *slice) at(y float64) slicePoint {
	none := slicePoint{y: y, log: math.Inf(-1), err: math.Inf(1)}
	eb := f.logB + f.r*(y-f.r/2)
	if !(eb < 0) {
		none.zero = y > f.end()
		return none
	}
	rem := -math.Expm1(eb)
	b := 1 - rem                    // to 2u, which is what it is known to
	remSlope := -f.r * b / rem      // of log rem
	bErr := 4 * xmath.U * f.r / rem // of remSlope
	remErr := xmath.U*(f.logB+3*math.Abs(f.r*(y-f.r/2))+2)*(b+2*xmath.U)/rem + 2*xmath.U
	if math.IsInf(f.logA, -1) {
		e := remErr + xmath.U*(4+2*y*y)
		return slicePoint{y: y, log: -y*y/2 + xmath.Log(rem), slope: remSlope - y, err: e, slopeErr: e*(math.Abs(remSlope)+math.Abs(y)) + bErr}
	}
	logA := f.logA + f.z1*(y-f.z1/2)
	logRem := xmath.Log(rem)
	x := logRem - logA // log of the ratio of the positive to the negative part
	var value, kappa, slope float64
	if f.z2 == 0 {
		if !(x > 0) {
			none.zero = x < -1e-9*(1+math.Abs(logA))
			return none
		}
		d := -math.Expm1(-x)
		value = xmath.Log(d)
		kappa = 1 / d
		slope = (remSlope - f.z1*math.Exp(-x)) / d
	} else {
		// E(rem − A e^{z2 Y − z2²/2})₊ = rem·Φ(c) − A·Φ(c − z2), and at this c
		// rem·φ(c) = A·φ(c − z2).
		c := x/f.z2 + f.z2/2
		p, q, scale := 0.0, 0.0, 0.0
		if c > 0 {
			p, q = xmath.NormalTail(-c), math.Exp(-x)*xmath.NormalTail(f.z2-c)
		} else {
			p, q, scale = xmath.Mills(-c), xmath.Mills(f.z2-c), xmath.LogNormalDensity(c)
		}
		d := p - q
		value = scale + xmath.Log(d)
		slope = (remSlope*p - f.z1*q) / d
		kappa = p / d * (1 + c*c/8)
	}
	if !(kappa > 0) || math.IsInf(kappa, 0) {
		return none
	}
	err := 1.5 * kappa * (remErr + xmath.U*(12+math.Abs(f.logA)+3*math.Abs(f.z1*(y-f.z1/2))+math.Abs(x)+math.Abs(logRem)))
	err += xmath.U * (4 + y*y + 4*math.Abs(logRem) + 4*math.Abs(value))
	return slicePoint{y: y, log: -y*y/2 + logRem + value, slope: slope - y, err: err, slopeErr: err*kappa*(math.Abs(remSlope)+math.Abs(f.z1)) + 2*xmath.U*math.Abs(y) + 2*kappa*bErr}
}

// integral bounds log ∫ k from above, unless rounding is in the way.
// It is long because it is one loop over the pieces, with the bounds that decide what is split.
func (f *slice) integral() (log float64, ok bool) {
	if f.z1 == 0 && f.z2 == 0 && f.logA >= 0 {
		return math.Inf(-1), true // a ≥ 1 at z = x
	}
	mode, ok := f.mode()
	if !ok {
		return 0, false
	}
	const deep = 12 // e^−12 of the largest value is where the tails begin
	var left, right []slicePoint
	for w, p := 0.5, mode; p.log > mode.log-deep; w *= 1.5 {
		if p = f.at(p.y - w); !p.ok() {
			break
		}
		left = append(left, p)
	}
	end := f.end()
	for w, p := 0.5, mode; p.log > mode.log-deep && end-p.y > 1e-6; {
		q := f.at(min(p.y+w, p.y+(end-p.y)/2))
		switch {
		case q.zero:
			end = q.y
		case q.ok():
			right = append(right, q)
			p = q
			w *= 1.5
			continue
		}
		if w = (q.y - p.y) / 2; w < 1e-6 {
			break
		}
	}
	pts := make([]slicePoint, 0, 128)
	for i := len(left) - 1; i >= 0; i-- {
		pts = append(pts, left[i])
	}
	pts = append(pts, mode)
	pts = append(pts, right...)

	// The tails: tangents outwards.
	top := mode.log
	tails := 0.0
	if a := pts[0]; a.slope > a.slopeErr {
		tails += math.Exp(a.log-top+a.err) / (a.slope - a.slopeErr)
	} else {
		return 0, false
	}
	b := pts[len(pts)-1]
	tails += math.Exp(b.err+b.slopeErr*(end-b.y)) * expArea(b.log-top, b.slope, end-b.y)

	// The gap steers only: it is about how far a chord is below the tangents, a triangle over the piece.
	type piece struct{ up, gap float64 }
	between := func(a, b slicePoint) piece {
		d := b.y - a.y
		up, m := tangents(a, b, top)
		return piece{up, up * -math.Expm1(-(a.slope-(b.log-a.log)/d)*m/2)}
	}
	ps := make([]piece, len(pts)-1, 128)
	for i := range ps {
		ps[i] = between(pts[i], pts[i+1])
	}
	var total, gap float64
	for range 12 {
		gap = 0
		total = tails
		for _, p := range ps {
			total += p.up
			gap += p.gap
		}
		if gap <= 3*excessGoal*total { // the chords are about twice as far off as the tangents
			break
		}
		least := 1.5 * excessGoal * total / float64(len(ps))
		np, nq := make([]slicePoint, 0, 2*len(pts)), make([]piece, 0, 2*len(pts))
		for i, p := range ps {
			np = append(np, pts[i])
			if !(p.gap > least) {
				nq = append(nq, p)
				continue
			}
			m := f.at(pts[i].y + (pts[i+1].y-pts[i].y)/2)
			if !m.ok() || !(m.y > pts[i].y && m.y < pts[i+1].y) {
				nq = append(nq, p)
				continue
			}
			np = append(np, m)
			nq = append(nq, between(pts[i], m), between(m, pts[i+1]))
		}
		np = append(np, pts[len(pts)-1])
		pts, ps = np, nq
	}
	if !(gap < 0.01*total) || math.IsInf(total, 1) {
		return 0, false
	}
	return top + xmath.Log(total) + xmath.Log(1/math.Sqrt(2*math.Pi)) + 1e-12*(1+math.Abs(top)), true
}

// expArea returns ∫_0^d e^{a + bx} dx.
func expArea(a, b, d float64) float64 {
	switch x := b * d; {
	case math.Abs(x) < 0.125: // the first term that is left out is below 1e-16
		return math.Exp(a) * d * (1 + x/2*(1+x/3*(1+x/4*(1+x/5*(1+x/6*(1+x/7*(1+x/8*(1+x/9*(1+x/10)))))))))
	case x > 0:
		return math.Exp(a+x) * -math.Expm1(-x) / b
	default:
		return math.Exp(a) * math.Expm1(x) / b
	}
}

// tangents returns the area below the tangents at a and b, the one at a up to
// where they meet.
func tangents(a, b slicePoint, top float64) (area, meet float64) {
	d := b.y - a.y
	m := d / 2
	if k := a.slope - b.slope; k > 0 {
		m = min(max((b.log-a.log-b.slope*d)/k, 0), d)
	}
	return expUp(a.err+a.slopeErr*m)*expArea(a.log-top, a.slope, m) +
		expUp(b.err+b.slopeErr*(d-m))*expArea(b.log-top, -b.slope, d-m), m
}

// expUp is at least e^x for x ≥ 0, a little more for small x.
func expUp(x float64) float64 {
	if x < 1 {
		return 1 + 2*x
	}
	return math.Exp(x)
}

// end is where the integrand's positive part ends.
func (f *slice) end() float64 { return f.r/2 - f.logB/f.r + 1e-12*(1+f.r+f.logB/f.r) }

// mode returns a point near the largest k.
func (f *slice) mode() (best slicePoint, ok bool) {
	hi := f.end()
	lo := min(hi, 0) - 1
	for n := range 60 {
		p := f.at(lo)
		if p.ok() && p.slope > 0 {
			best, ok = p, true
			break
		}
		hi = lo
		lo -= math.Ldexp(1, n)
	}
	for range 40 {
		p := f.at(lo + (hi-lo)/2)
		if !p.ok() || p.slope <= 0 {
			hi = p.y
		} else {
			lo = p.y
		}
		if p.ok() && (!ok || p.log > best.log) {
			best, ok = p, true
			if math.Abs(p.slope)*(hi-lo) < 0.1 {
				break
			}
		}
	}
	return best, ok
}

// estimate is excess as a plain number, by the trapezoid rule: no bound.
func (g triangle) estimate(logA, logB float64) float64 {
	f := slice{r: g.r, logA: logA, logB: logB}
	f.z1 = (g.s*g.s + (g.r-g.t)*(g.r+g.t)) / (2 * g.r)
	f.z2 = math.Sqrt(max(0, (g.s-f.z1)*(g.s+f.z1)))
	const h = 1. / 64
	sum := 0.0
	for i := -20 / h; i < 20/h; i++ {
		if p := f.at(i * h); p.ok() {
			sum += math.Exp(p.log)
		}
	}
	return sum * h / math.Sqrt(2*math.Pi)
}

// Proof (docs/theory/subsampling.md §10): Φ from above.
//
// Φ from above. Put x at the origin, x' at (r,0) and z at (z1,z2), z1 ≥ 0. (If the angle at x is obtuse, t is reduced
// until it is right.) Relative to N(x) the integrand is the positive part of `1 − b·e^{r·y1 − r²/2} − a·e^{z1·y1 + z2·y2
// − s²/2}`, a concave function of y. So integrand times density is log-concave in the plane, and its integral over y2,
//
//	k(y1) = φ(y1)·[ρ Φ̄(−c) − A Φ̄(z2−c)], ρ = 1 − b·e^{r·y1 − r²/2}, A = a·e^{z1·y1 − z1²/2}, c = log(ρ/A)/z2 + z2/2,
//
// is log-concave in y1 (Prékopa). Tangents of log k lie above it and are integrated in closed form, chords give the
// matching lower sum, and intervals are halved until both agree to 1.2e-3. Floating-point errors of k and of its slope
// raise the tangents. Very flat triangles are made flat by reducing t.
