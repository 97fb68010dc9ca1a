// The ROC minorant: from lower ends of δ to one pair of discrete laws that the candidate
// can be turned into. It assumes that the lower ends are those of one pair of data sets.
//
// Lemma. Let ℓ ≤ δ, as functions of α = e^t > 0, where δ is the profile of a pair (P, Q).
// The greatest convex function below ℓ and above nothing but (1−α)₊, with value 1 at 0, is
// the profile of a pair of discrete laws; that profile is nowhere above δ, so by Blackwell's
// theorem the pair is a post-processing of (P, Q): a randomised score that a run can have.
// Where its slope rises by q at α, Q has mass q and P mass αq at the loss log α.

package selection

import (
	"math"
	"math/big"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A pair is two discrete laws on blocks of outcomes, by ascending loss: masses p and q of
// the finite losses, qNeg of Q where P has none, pInf of P where Q has none. Every mass is
// within the relative error rel of that of a pair that the candidate can be turned into.
type pair struct {
	loss, p, q []float64
	qNeg, pInf float64
	rel        float64
}

// vertex is a point (α, ℓ) with the logarithm of α.
type vertex struct {
	t        float64
	alpha, v *big.Float
}

// reached returns the pair that the first direction of the tables reaches; pts are its samples.
func (t *tables) reached(pts []sample) *pair {
	if t.sides[0].low == nil {
		return nil
	}
	// Between two samples a convex function is above the lines through the two samples on
	// either side; where these two lines cross, ℓ is least.
	first := pts[0]
	pts = append([]sample{{t: math.Inf(-1), alpha: first.zero(), low: first.one(), lowUp: first.one(), up: first.one(), prec: first.prec}}, pts...)
	var vs []vertex
	for i, s := range pts {
		vs = append(vs, vertex{s.t, s.alpha, s.low})
		if i+1 == len(pts) || t.linear {
			continue
		}
		if v, ok := crossing2(pts, i, t.sides[1].inf); ok {
			vs = append(vs, v)
		}
	}
	if n := len(pts); !t.linear {
		if n == 2 { // what falls from there on is not known
			return nil
		}
		inf := pts[n-1].num(t.sides[0].inf)
		// To the right of all samples: the line through the last two, down to what is
		// reached at infinity.
		a, b := pts[n-2], pts[n-1]
		fall := a.sub(a.lowUp, b.low) // of the line, over b.alpha − a.alpha
		if d := a.sub(b.low, inf); fall.Sign() > 0 && d.Sign() > 0 {
			x := a.fresh().Quo(d, fall)
			x.Mul(x, a.sub(b.alpha, a.alpha))
			x.Add(x, b.alpha)
			vs = append(vs, vertex{bigLog(x), x, inf})
		}
	}
	return pairOf(vs, false)
}

// above returns, from the samples of a direction, a pair that can be turned into the candidate: that of the lower hull of the
// upper ends, which is the profile of a pair, above the candidate's.
func above(pts []sample) *pair {
	vs := []vertex{{math.Inf(-1), nil, nil}}
	for _, s := range pts {
		vs = append(vs, vertex{s.t, s.alpha, s.up})
	}
	vs[0].alpha, vs[0].v = new(big.Float).SetPrec(vs[1].alpha.Prec()), new(big.Float).SetPrec(vs[1].alpha.Prec()).SetInt64(1)
	return pairOf(vs, true)
}

// A sample is a point of the tables on either side of α = 1, exactly.
type sample struct {
	t                     float64
	alpha, low, lowUp, up *big.Float
	prec                  uint
}

func (s sample) fresh() *big.Float              { return new(big.Float).SetPrec(s.prec) }
func (s sample) num(x float64) *big.Float       { return s.fresh().SetFloat64(x) }
func (s sample) zero() *big.Float               { return s.fresh() }
func (s sample) one() *big.Float                { return s.num(1) }
func (s sample) sub(x, y *big.Float) *big.Float { return s.fresh().Sub(x, y) }

// samples returns the points of both sides by ascending α. At α = 1/β < 1 the profile is
// 1 − α + α·δ_rev(log β).
func (t *tables) samples() []sample {
	forward, back := t.sides[0], t.sides[1]
	wide := max(forward.eps[len(forward.eps)-1], back.eps[len(back.eps)-1])
	prec := uint(256 + 3*wide/math.Ln2)
	var out []sample
	for i := len(back.eps) - 1; i > 0; i-- {
		s := sample{t: -back.eps[i], prec: prec}
		s.alpha = s.fresh().Quo(s.one(), bigExpPrec(back.eps[i], prec))
		mirror := func(v float64) *big.Float {
			x := s.fresh().Mul(s.alpha, s.num(v))
			return x.Add(x, s.sub(s.one(), s.alpha))
		}
		s.up = mirror(back.up[i])
		if back.low != nil {
			s.low, s.lowUp = mirror(back.low[i]), mirror(back.lowUp[i])
		}
		out = append(out, s)
	}
	for i, e := range forward.eps {
		s := sample{t: e, prec: prec, alpha: bigExpPrec(e, prec)}
		s.up = s.num(forward.up[i])
		if forward.low != nil {
			s.low, s.lowUp = s.num(forward.low[i]), s.num(forward.lowUp[i])
		}
		out = append(out, s)
	}
	return out
}

// crossing2 returns the point above the gap after sample i where the lines through the
// two samples before it and the two after it cross: for the lower ends of both, the nearer
// sample is taken low and the further one high. At the left end, (0, 1), the line is 1 − α + α
// times what is reached at infinity from the other side; before the last sample δ does not rise.
func crossing2(pts []sample, i int, inf float64) (vertex, bool) {
	a, b, c := pts[max(0, i-1)], pts[i], pts[i+1]
	// Slopes of the two lines, of the least function: left is the steeper one.
	left, right := a.sub(a.num(inf), a.one()), a.zero()
	if i > 0 {
		left = a.sub(b.low, a.lowUp)
		left.Quo(left, a.sub(b.alpha, a.alpha))
	}
	if i+2 < len(pts) {
		d := pts[i+2]
		right = a.sub(d.lowUp, c.low)
		right.Quo(right, a.sub(d.alpha, c.alpha))
	}
	bend := a.sub(right, left)
	if bend.Sign() <= 0 {
		return vertex{}, false
	}
	// b.low + left·x = c.low − right·(w − x), x = α − b.α, w the width of the gap.
	w := a.sub(c.alpha, b.alpha)
	x := a.fresh().Mul(right, w)
	x.Sub(c.low, x)
	x.Sub(x, b.low)
	x.Neg(x.Quo(x, bend))
	if x.Sign() <= 0 || x.Cmp(w) >= 0 {
		return vertex{}, false
	}
	v := a.fresh().Mul(left, x)
	v.Add(v, b.low)
	x.Add(x, b.alpha)
	return vertex{bigLog(x), x, v}, true
}

// pairOf returns the pair of the lower hull of vertices by ascending α, of which the first
// is (0, 1) and the last the value that is kept for ever. Blocks too small for float64, or of
// which rounding left nothing, are told apart completely (outward), or join the next one,
// which is post-processing.
func pairOf(vs []vertex, outward bool) *pair {
	hull, falls := lowerHull(vs)
	out := &pair{rel: 64 * xmath.U}
	out.pInf, _ = hull[len(hull)-1].v.Float64()
	one := big.NewFloat(1)
	rest := new(big.Float).SetPrec(falls[0].Prec()).Sub(one, falls[0])
	out.qNeg, _ = rest.Float64()
	p0, q0 := 0.0, 0.0 // of what joins the next block
	if out.qNeg < 1e-40 && !outward {
		q0, out.qNeg = max(0, out.qNeg), 0
	}
	for i, v := range hull[1:] {
		p, q := hullMasses(v, falls, i)
		qf, _ := q.Float64()
		pf, _ := p.Float64()
		p0, q0 = p0+pf, q0+qf
		if p0 < 1e-290 || q0 < 1e-290 || q.MantExp(nil) < falls[i].MantExp(nil)-150 {
			if outward {
				out.pInf, out.qNeg = out.pInf+max(0, p0), out.qNeg+max(0, q0)
				p0, q0 = 0, 0
			}
			continue
		}
		out.loss = append(out.loss, v.t)
		out.p, out.q = append(out.p, p0), append(out.q, q0)
		p0, q0 = 0, 0
	}
	if n := len(out.p); n > 0 && !outward {
		out.p[n-1], out.q[n-1] = out.p[n-1]+p0, out.q[n-1]+q0
	}
	return out
}

// hullMasses returns what the two laws have at v, the vertex i+1 of a hull.
func hullMasses(v vertex, falls []*big.Float, i int) (p, q *big.Float) {
	q = new(big.Float).SetPrec(v.alpha.Prec()).Sub(falls[i], falls[i+1])
	return new(big.Float).SetPrec(v.alpha.Prec()).Mul(q, v.alpha), q
}

// lowerHull returns the vertices of the lower hull of vertices by ascending α, of which the
// first is (0, 1), and by how much each segment falls; falls[i] is left of hull[i+1], and
// the last is 0, of the value that is kept for ever.
func lowerHull(vs []vertex) (hull []vertex, falls []*big.Float) {
	fresh := func() *big.Float { return new(big.Float).SetPrec(vs[1].alpha.Prec()) }
	one := fresh().SetInt64(1)
	for i := range vs {
		// No pair is below (1−α)₊.
		if floor := fresh().Sub(one, vs[i].alpha); vs[i].v.Cmp(floor) < 0 {
			vs[i].v = floor
		}
		if vs[i].v.Sign() < 0 {
			vs[i].v = fresh()
		}
	}
	fall := func(l, r vertex) *big.Float {
		n := fresh().Sub(l.v, r.v)
		return n.Quo(n, fresh().Sub(r.alpha, l.alpha))
	}
	hull = vs[:1:1]
	for _, v := range vs[1:] {
		for n := len(hull); n > 1 && v.v.Cmp(hull[n-1].v) > 0; n = len(hull) {
			v.v = hull[n-1].v // a profile does not rise
		}
		// Of two at one α the lower one counts, and the first at 0 is (0, 1) whatever else is there.
		if n := len(hull); v.alpha.Cmp(hull[n-1].alpha) <= 0 {
			if n == 1 || v.v.Cmp(hull[n-1].v) >= 0 {
				continue
			}
			hull, falls = hull[:n-1], falls[:n-2]
		}
		for {
			f := fall(hull[len(hull)-1], v)
			if n := len(falls); n == 0 || f.Cmp(falls[n-1]) < 0 {
				hull, falls = append(hull, v), append(falls, f)
				break
			}
			hull, falls = hull[:len(hull)-1], falls[:len(falls)-1]
		}
	}
	return hull, append(falls, fresh())
}

// bigExpPrec returns e^x within a relative 2^−200, which no rounding outward leaves
// unused: the Taylor series of x·2^−j, squared j times.
func bigExpPrec(x float64, prec uint) *big.Float {
	const work = 320
	_, j := math.Frexp(x)
	j = max(0, j+8)
	r := new(big.Float).SetPrec(work).SetFloat64(math.Ldexp(x, -j))
	sum := new(big.Float).SetPrec(work).SetInt64(1)
	term := new(big.Float).SetPrec(work).SetInt64(1)
	for k := int64(1); k <= 32; k++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetPrec(work).SetInt64(k))
		sum.Add(sum, term)
	}
	for range j {
		sum.Mul(sum, sum)
	}
	return new(big.Float).SetPrec(max(prec, work)).Set(sum)
}

// bigLog returns log x within 2 u(1+|log x|).
func bigLog(x *big.Float) float64 {
	m := new(big.Float)
	k := x.MantExp(m)
	f, _ := m.Float64()
	return xmath.Log(f) + float64(k)*math.Ln2
}

// reverse returns the pair seen from the other side.
func (p *pair) reverse() *pair {
	n := len(p.loss)
	r := &pair{loss: make([]float64, n), p: make([]float64, n), q: make([]float64, n), qNeg: p.pInf, pInf: p.qNeg, rel: p.rel}
	for i := range n {
		r.loss[n-1-i], r.p[n-1-i], r.q[n-1-i] = -p.loss[i], p.q[i], p.p[i]
	}
	return r
}
