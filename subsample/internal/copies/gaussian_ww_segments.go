// The pieces between two nodes of the table of §6.

package copies

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A span is α_{ju} of one class and u between two nodes.
type span struct {
	u         int
	last      bool    // of the last class
	log, rise float64 // log α_{ju} at the left node, and its relative growth to the right one
	logW, err float64
	logC      float64 // log |c_{ju}|; c_{ju} < 0, of what weighs little, if rise is
	logA      float64 // log |a_{ju}|
	negative  bool    // a_{ju} < 0
}

// A spanValue is a span in plain numbers: α_{ju} at the left node, a_{ju}, c_{ju},
// and bounds over the segment: of the rounding of Q_u and P_u and of products with
// a_{ju} and c_{ju}, in units of these, and of what λ moves P and Q by, in units of
// φ of the threshold.
type spanValue struct {
	s, perS, log, rise, alpha, weight, a, c float64
	err, cErr, farErr, nearErr              float64
	movesP, movesQ                          float64
}

// A spanShare is what a span adds to P and Q at most, and its largest threshold.
type spanShare struct {
	spanValue
	p, q, x float64
}

type segment struct {
	lo, hi   node
	growth   float64 // e^{hi−lo} − 1
	spans    []span
	values   []spanValue // nil if they leave the range
	mLo, mHi float64     // what rounding makes of the slopes at both ends, over Q
}

// part returns the segments of the k-th base interval.
func (t *GaussianWWTable) part(k int) []segment {
	if k < 0 || t.start+float64(k)*nodeSpacing > nodeEnd {
		return nil
	}
	if p, ok := t.parts[k]; ok {
		return p
	}
	left, right := t.start+float64(k)*nodeSpacing, t.start+float64(k+1)*nodeSpacing
	var more []float64
	for i, x := range []float64{left, right} { // ends are those of two intervals
		if _, ok := t.ends[k+i]; !ok {
			more = append(more, x)
		}
	}
	found := t.nodes(append(more, left+(right-left)/2)...)
	for i := range 2 {
		if _, ok := t.ends[k+i]; !ok {
			t.ends[k+i], found = found[0], found[1:]
		}
	}
	var out []segment
	ok := true
	var split func(a, m, b node, depth int)
	split = func(a, m, b node, depth int) {
		if ok = ok && a.ok && b.ok && m.ok && a.eps < m.eps && m.eps < b.eps; !ok {
			return
		}
		lambda := math.Expm1(m.eps-a.eps) / math.Expm1(b.eps-a.eps)
		between := func(k, u int) float64 {
			l := a.log[k][u]
			if math.IsInf(l, 1) || math.IsInf(b.log[k][u], 1) {
				return math.Inf(1)
			}
			return l + math.Log1p(lambda*math.Expm1(b.log[k][u]-l))
		}
		tol := nodeTol
		if m.logValue < nodeFar {
			tol = farTol
		}
		if depth > 0 && !(t.value(between)-m.logValue < tol) {
			mid := t.nodes(a.t+(m.t-a.t)/2, m.t+(b.t-m.t)/2)
			split(a, mid[0], m, depth-1)
			split(m, mid[1], b, depth-1)
			return
		}
		out = append(out, t.segment(a, m), t.segment(m, b))
	}
	split(t.ends[k], found[0], t.ends[k+1], nodeDepth)
	if !ok {
		out = nil
	}
	t.parts[k] = out
	return out
}

func (t *GaussianWWTable) segment(a, b node) segment {
	g := segment{lo: a, hi: b, growth: math.Expm1(b.eps - a.eps)}
	copies := 0
	for _, ws := range t.weights {
		copies = max(copies, len(ws))
	}
	g.spans = t.spans[:0]
	for u := range copies {
		first := len(g.spans)
	classes:
		for k, ws := range t.weights {
			if u >= len(ws) || math.IsInf(ws[u].log, -1) {
				continue
			}
			if ws[u].log < b.logValue-50 {
				continue // see nearby
			}
			l, d := a.log[k][u], b.log[k][u]-a.log[k][u]
			if math.IsInf(l, 1) || math.IsInf(b.log[k][u], 1) {
				l, d = a.eps, b.eps-a.eps // no share
			}
			w := ws[u]
			c := span{u: u + 1, last: k == t.classes, log: l, rise: math.Expm1(d), logW: w.log, err: w.err}
			for i := first; i < len(g.spans); i++ {
				if e := &g.spans[i]; e.log == c.log && e.rise == c.rise {
					e.last = e.last && c.last
					e.logW = xmath.LogAdd(e.logW, w.log)
					e.err = max(e.err, w.err) + 4*xmath.U*(1+math.Abs(e.logW))
					continue classes
				}
			}
			// a_{ju} = α_{ju}(1 − rise/growth), c_{ju} = α_{ju}/α·rise/growth.
			r := (g.growth - c.rise) / g.growth
			c.negative = r < 0
			c.logA = l + xmath.Log(math.Abs(r))
			c.logC = l - a.eps + xmath.Log(math.Abs(c.rise)/g.growth)
			g.spans = append(g.spans, c)
		}
	}
	t.spans, g.spans = g.spans, slices.Clone(g.spans)
	g.values = t.values(g)
	g.mLo, g.mHi = t.unequal(g, a, 0), t.unequal(g, b, 1)
	return g
}

// values returns the spans that count, in plain numbers; nil if these do not do.
func (t *GaussianWWTable) values(g segment) []spanValue {
	if t.logGiven > -700 || g.hi.eps > 600 {
		return nil
	}
	parts := t.shares[:0]
	var p, q float64 // at the right end, where they are least
	perAlpha := math.Exp(-g.lo.eps)
	// tails returns Q_u and P_u at log α_{ju} = l.
	tails := func(v *spanValue, l, alpha float64) (far, near float64) {
		x := v.s/2 + l*v.perS
		f := xmath.NormalDensity(x)
		far, near = f*t.ratio.At(x), f*alpha*t.ratio.At(math.Abs(x-v.s))
		if x < v.s {
			near = 1 - near
		}
		return far, near
	}
	for i := range g.spans {
		c := &g.spans[i]
		if !(math.Abs(c.log) < 600) {
			return nil
		}
		s := float64(c.u) * t.whole.theta
		v := spanValue{s: s, perS: 1 / s, log: c.log, rise: c.rise, alpha: math.Exp(c.log), weight: math.Exp(c.logW), err: c.err}
		v.a, v.c = v.alpha*((g.growth-c.rise)/g.growth), v.alpha*perAlpha*(c.rise/g.growth)
		l := c.log + math.Log1p(c.rise)
		low, high := min(c.log, l), max(c.log, l)
		x, y := s/2+high*v.perS, max(math.Abs(low*v.perS-s/2), math.Abs(high*v.perS-s/2))
		// Rounding moves the threshold by at most off, so the density by x·off of itself
		// and Mills' ratio by off. The densities, ratios and factors are good to 20 u.
		off := 4*xmath.U*(1+max(math.Abs(low), high))*v.perS + 4*xmath.U*x
		v.farErr = (x+1)*off + 20*xmath.U
		v.nearErr = v.farErr + xmath.U*(2*s+y)
		v.cErr = 8 * xmath.U * (2 + xmath.FiniteAbs(c.logC))
		move := math.Abs(c.rise) * v.perS / min(1, 1+c.rise) * 1.01
		v.movesP = v.weight * (v.alpha*(1+max(0, c.rise)) + math.Abs(v.a)) * move
		v.movesQ = v.weight * math.Abs(v.c) * move
		if s/2+low*v.perS < 0 { // a likelihood ratio this small is no share of α ≥ 1
			return nil
		}
		far, near := tails(&v, l, v.alpha*(1+c.rise))
		p += v.weight * (near - v.a*far)
		q += v.weight * v.c * far
		if c.rise > 0 {
			far, near = tails(&v, c.log, v.alpha)
		}
		parts = append(parts, spanShare{v, v.weight * (near + max(0, -v.a)*far), v.weight * math.Abs(v.c) * far, x})
	}
	if !(p > 1e-280 && q > 1e-280) {
		return nil
	}
	t.shares = parts
	out := make([]spanValue, 0, len(parts)/2)
	for i := range parts {
		a := &parts[i]
		if (a.p/p+a.q/q)*float64(len(parts)) < math.Exp(-nearby) {
			continue
		}
		if a.x > fastReach {
			return nil
		}
		out = append(out, a.spanValue)
	}
	return out
}

// unequal bounds, over Q, by how much −h̃' at an end of a segment is on the wrong
// side of the node's own slope. With exact shares −h̃' is Σ_j π_j c_j Q_j with
// Σ_j π_j c_j = 1, Q_j = κ for those with a share and Q_j ≤ κ for the others, whose
// c_j is at most 1 on the left and at least 1 on the right of the node: hence at
// least Σ_j π_j Q_j + κ(1 − Σ_j π_j), the second sums over the others, on the left,
// and at most that on the right. Within j the same holds for the copies that keep
// α_j. The last class, where numbers of slots have the least of their shares,
// counts in full.
func (t *GaussianWWTable) unequal(g segment, v node, lambda float64) float64 {
	sum := math.Exp(v.logKappa-v.logQ) * (2*v.uneven + (v.rest+16*xmath.U)*(1+1/g.growth))
	for _, c := range g.spans {
		if !c.last {
			continue
		}
		l := c.log + math.Log1p(lambda*c.rise)
		s := float64(c.u) * t.whole.theta
		q := xmath.LogNormalTail(s/2 + l/s)
		d := math.Expm1(q - v.logKappa)
		if math.Abs(l-v.eps) > 1e-13*(1+l) {
			d = math.Abs(d)
		}
		sum += math.Exp(c.logW+c.logC+v.logKappa-v.logQ) * max(0, d)
	}
	return sum
}

// plainUp is up in plain numbers: with x the threshold of a span, φ(x − s) is α_{ju}
// times φ(x).
func (t *GaussianWWTable) plainUp(values []spanValue, lambda, dLambda float64) (logP, logQ, err float64, ok bool) {
	var p, q, pErr, qErr, pMoves, qMoves float64
	for i := range values {
		c := &values[i]
		grown := 1 + lambda*c.rise
		l := (c.log + xmath.Log(grown)) * c.perS
		x, y := c.s/2+l, l-c.s/2
		f := xmath.NormalDensity(x)
		beyond, near := f*t.ratio.At(x), f*c.alpha*grown*t.ratio.At(math.Abs(y))
		nearErr := near * c.nearErr
		if y < 0 {
			near = 1 - near
		}
		a := math.Abs(c.a) * beyond
		left := near - c.a*beyond
		p += c.weight * left
		pErr += c.weight * (nearErr + a*c.farErr + left*c.err + 16*xmath.U*(near+a))
		pMoves += c.movesP * f
		q += c.weight * c.c * beyond
		qErr += c.weight * math.Abs(c.c) * beyond * (c.farErr + c.err + c.cErr)
		qMoves += c.movesQ * f
	}
	if !(p > 1e-280 && q > 1e-280) {
		return 0, 0, 0, false
	}
	logP, logQ = min(0, xmath.Log(p)), min(0, xmath.Log(q))
	size := xmath.U * float64(len(values)+8)
	e := max((pErr+pMoves*dLambda)/p-2*xmath.U*logP, (qErr+qMoves*dLambda)/q-2*xmath.U*logQ) + size
	return logP, logQ, relative(e) + math.Exp(-nearby)*(1+1e-9), true
}
