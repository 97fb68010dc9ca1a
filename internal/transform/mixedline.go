// A Mixed on one line: its values from sums over nodes, with a bound of every error, and how it decays.
//
// It assumes nodes whose masses, losses and errors rule.go has found. What LogM returns is within
// its error of log M for 0 ≤ t ≤ tMax; beyond, Decay bounds it.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// mixedLine is the transform on a line Re z = θ ≥ −½.
type mixedLine struct {
	theta  float64
	mirror bool    // the line was −1 − θ of the reverse
	moved  float64 // |θ + 1 + line| as rounding made it
	second bool    // second-order form; else the plain sum over e^shift

	w, l  []float64 // tilted masses (over e^shift) and losses of the nodes kept
	shift float64

	d, slopeD  float64 // second order: D(θ) and D'(θ) with all nodes
	pInf, gap  float64 // p∞ and q∞ − p∞
	pErr       float64 // their errors
	gapErr     float64
	slope      float64
	e          nodeErrors
	top        float64   // log M(θ), rounded up
	atoms      float64   // tilted mass of the atoms, over e^shift
	edges      []float64 // of all pieces, the tilted mass left of some of its points
	fall       []float64 // and the variation right of it
	pieceSizes []int     // the number of these points of each piece
	tMax       float64
	spread     spread
	l2, far    float64 // ΣWL², the largest |L|
}

// nodeErrors holds what bounds the error of the sums over the nodes.
type nodeErrors struct {
	quadrature float64 // at every t up to tMax
	d0, d1     float64 // of what the sums in t leave out
	// Σ over nodes of p, of relative error e, and L, known to δ, with W = pe^{θL}:
	p2, q2, x    float64 // e·pL²max(1,e^{θL}), e·pL²max(1,e^{−L}), p|L|δ·max(e^{θL},e^{−L})
	p0, p1, y, a float64 // e(W+p), e·p(|L|+ex(−L)), δ(W+pe^{−L}), u·W|L|
}

// at bounds the error of the second-order sum at θ + it. An exact node differs from
// τ = p[ex(zL) + z·ex(−L)] by e|τ| + δ|∂τ/∂L|, |τ| ≤ ½pL²[|z|²max(1,e^{θL}) + |z|max(1,e^{−L})]
// and |∂τ/∂L| = p|z||e^{zL} − e^{−L}| ≤ p|z||z+1||L|·max(e^{θL}, e^{−L}); or, better for large
// |zL|, by the sums of the moduli. What is computed are D(θ), 2ΣW·sin²(tL/2), t·D'(θ) and
// ΣW(sin tL − tL), whose rounding counts three times the bound of |τ| at most.
func (e *nodeErrors) at(theta, t float64) float64 {
	z, z1 := math.Hypot(theta, t), math.Hypot(theta+1, t)
	second := 1.5*(z*z*e.p2+z*e.q2) + z*z1*e.x
	first := e.p0 + z*(e.p1+e.y) + 4*t*e.a
	return e.quadrature + e.d0 + e.d1*t + min(second, first)
}

// plain bounds the error of Σ W e^{itL}.
func (e *nodeErrors) plain(theta, t float64) float64 {
	return e.quadrature + e.d0 + e.p0 + math.Hypot(theta, t)*e.y + 4*t*e.a
}

func (v *mixedLine) Terms(n int) float64 { return float64(len(v.w)) * float64(n) }

func (v *mixedLine) LogM(t float64) (re, im, err float64) {
	if t > v.tMax {
		return v.Decay(t), 0, math.Inf(1)
	}
	var c, s xmath.Sum
	if v.second {
		for i, l := range v.l {
			sin2, sinLess := oscillation(t * l)
			c.Add(v.w[i] * sin2)
			s.Add(v.w[i] * sinLess)
		}
		x := v.d - 2*c.Value() - v.pInf + v.theta*v.gap
		y := t*v.slopeD + s.Value() + t*v.gap
		size := math.Hypot(v.theta, t)
		wrong := v.e.at(v.theta, t) + v.pErr + size*v.gapErr + 4*xmath.U*(math.Abs(v.pInf)+size*math.Abs(v.gap))
		re, im, err = logOfSum(x, y, wrong)
	} else {
		for i, l := range v.l {
			sin, cos := math.Sincos(t * l)
			c.Add(v.w[i] * cos)
			s.Add(v.w[i] * sin)
		}
		re, im, err = logOf(c.Value(), s.Value(), v.e.plain(v.theta, t))
		re += v.shift
		err += xmath.U * math.Abs(re)
	}
	if v.mirror {
		im = -im
		// |M'| ≤ |M'(θ)| + t·E[L²e^{θL}], and at most E[|L|e^{θL}].
		if math.IsInf(err, 1) {
			re += v.moved * v.far
		} else if v.moved > 0 {
			most := min(math.Abs(v.slope)+2*t*v.l2*math.Exp(v.shift-v.top), v.far)
			err += 2 * v.moved * most * math.Exp(min(700, v.top-re))
		}
	}
	return re, im, err
}

// Decay implements Line. Near the real axis the spread of the losses bounds M; further out the
// atoms may beat against each other, so that their masses add, and the integral over
// a piece is at most the mass left of some point and, by parts, the variation of the
// density of the loss right of it over t.
func (v *mixedLine) Decay(t float64) float64 {
	if !(t > 0) {
		return v.top
	}
	return min(v.top, v.top+v.spread.bound(t, v.beyond)+4*xmath.U*math.Abs(v.top)+v.moved*v.far)
}

// beyond returns log of the bound from t on, over e^top, by variation.
func (v *mixedLine) beyond(t float64) float64 {
	sum := v.atoms
	at := 0
	for _, n := range v.pieceSizes {
		best := math.Inf(1)
		for i := at; i < at+n; i++ {
			best = min(best, v.edges[i]+v.fall[i]/t)
		}
		sum += best
		at += n
	}
	return v.shift - v.top + xmath.Log(sum) + xmath.U*float64(8+len(v.pieceSizes)) + 2*xmath.U*(math.Abs(v.shift)+math.Abs(v.top))
}

// line turns the nodes into the sums of a line.
func (r *rule) line(m *Mixed, tMax float64) *mixedLine {
	v := &mixedLine{theta: r.theta, second: r.second, shift: r.shift, tMax: tMax,
		pInf: m.pInf, gap: m.gap, pErr: m.pErr, gapErr: m.gapErr,
		w: make([]float64, 0, len(r.nodes)), l: make([]float64, 0, len(r.nodes))}
	theta := r.theta
	v.e.quadrature = math.Exp(r.logQuadrature-r.shift) * (1 + 1e-9)
	var d, slopeD, total, mean xmath.Sum
	small := math.Exp(r.logTol-r.shift) / 64 / float64(len(r.nodes)+1)
	sizes := make([]float64, len(r.nodes)) // W, rounded up
	for i, n := range r.nodes {
		p := math.Exp(n.logP - r.shift)
		a := theta * n.l
		w := math.Exp(n.logP + a - r.shift)
		abs := math.Abs(n.l)
		// The exponents round, and the sums (a dozen operations a term) do.
		e := n.e + xmath.U*(24+4*math.Abs(n.logP)+4*math.Abs(a)+4*math.Abs(r.shift))
		q := math.Exp(n.logP - n.l - r.shift) // the mass under Q
		moves := n.dl * math.Exp((1+math.Abs(theta))*n.dl)
		sizes[i] = w * (1 + e + math.Abs(theta)*n.dl)
		v.e.p0 += e * w
		v.e.a += xmath.U * w * abs
		if r.second {
			v.e.p0 += e * p
			v.e.p1 += e * (p*abs + weighted(n.logP, -n.l))
			v.e.p2 += e * n.l * n.l * max(p, w)
			v.e.q2 += e * n.l * n.l * max(p, q)
			v.e.x += (abs + n.dl) * moves * max(w, q)
			v.e.y += moves * (w + q)
			d.Add(second(n, theta))
			grown := w - p // p·(e^{θL} − 1), where p may be 0 and e^{θL} infinite
			if a < 1 {
				grown = p * math.Expm1(a)
			}
			slopeD.Add(n.l*grown + weighted(n.logP, -n.l))
		} else {
			v.e.y += moves * w
		}
		v.l2 += w * n.l * n.l
		v.far = max(v.far, abs)
		total.Add(w)
		mean.Add(w * n.l)
		if gone := w * (2 + tMax*abs); gone < small && tMax > 0 {
			v.e.d0 += 2 * w
			v.e.d1 += w * abs
			continue
		}
		v.w, v.l = append(v.w, w), append(v.l, n.l)
	}
	v.d, v.slopeD = d.Value(), slopeD.Value()
	if r.second {
		v.slope = (v.slopeD + v.gap) / (1 + v.d - v.pInf + theta*v.gap)
	} else {
		v.slope = mean.Value() / total.Value()
	}
	k, _, err := v.LogM(0)
	v.top = k + err
	if math.IsInf(err, 1) {
		v.top = k
	}
	r.decay(v, sizes)
	if tMax > 0 {
		v.spread = newSpread(m, theta, v.top)
	}
	return v
}

// decay collects what Decay needs.
func (r *rule) decay(v *mixedLine, sizes []float64) {
	first := len(sizes)
	if len(r.panels) > 0 {
		first = r.panels[0].from
	}
	for _, w := range sizes[:first] {
		v.atoms += w
	}
	v.atoms *= 1 + xmath.U*float64(first+4)
	for at := 0; at < len(r.panels); {
		p := &r.m.pieces[r.panels[at].piece]
		end := at
		left := 0.0
		for ; end < len(r.panels) && r.panels[end].piece == r.panels[at].piece; end++ {
			g := r.panels[end]
			v.edges = append(v.edges, left)
			v.fall = append(v.fall, r.variation(p, g.v0, p.To))
			for _, w := range sizes[g.from:g.to] {
				left += w * (1 + 8*xmath.U)
			}
			// In the second-order form the plain masses have another error: that of p and of W.
			left += r.massError(p, g)
		}
		v.edges, v.fall = append(v.edges, left), append(v.fall, 0)
		v.pieceSizes = append(v.pieceSizes, end-at+1)
		at = end
	}
}

// massError bounds the quadrature error of the tilted mass of a panel, over e^shift.
func (r *rule) massError(p *Piece, g panel) float64 {
	if !r.second {
		return math.Exp(g.quadrature - r.shift)
	}
	plain := *r
	plain.second, plain.t = false, 0
	n := float64(g.to - g.from)
	best := math.Inf(1)
	ellipses((g.v1-g.v0)/2, func(y float64) {
		b, logRho := plain.ellipse(p, g.v0, g.v1, y)
		best = min(best, b-2*n*logRho)
	})
	return math.Exp(best + 1e-9)
}

// variation bounds the variation, over the real line, of the tilted density of the loss
// on [v0, v1] of p, over e^shift. In v the density over dL/dv has the logarithm
//
//	const − 3v/2 + (θ+2)·log g, or reversed const − 3v/2 + (1−θ)·log g,
//
// the first convex, the second falling for θ ≥ −½: it is at most twice the sum of its
// ends, or twice the one end from which it falls all the way.
func (r *rule) variation(p *Piece, v0, v1 float64) float64 {
	power := r.theta + 2
	if p.Reversed {
		power = 1 - r.theta
	}
	at := func(v float64) (size, slope float64) {
		l, dl := p.logRatio(v, 0)
		x := p.LogWeight - 2*math.Ln2 - 1.5*v + p.Center - xmath.Log(p.Share) + power*l
		err := math.Abs(power)*dl + p.WeightErr + p.RatioErr + p.ScaleErr*(1.5*v+math.Abs(p.Center)) +
			xmath.U*(16+8*math.Abs(v)+4*math.Abs(p.Center)+4*math.Abs(power*l)+2*math.Abs(p.LogWeight)+2*math.Abs(r.shift))
		s := math.Exp(min(0, xmath.Log(p.Share)+v-p.Center-l))
		return math.Exp(x-r.shift) * (1 + 2*err), -1.5 + power*s
	}
	a, da := at(v0)
	b, db := at(v1)
	switch {
	case db <= 1e-9:
		return 2 * a * (1 + 1e-8*(v1-v0))
	case da >= -1e-9:
		return 2 * b * (1 + 1e-8*(v1-v0))
	}
	return 2 * (a + b)
}
