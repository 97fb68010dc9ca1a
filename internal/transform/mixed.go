package transform

// Bounded losses of atoms and of pieces with a density: Laplace noise on a sample, and finite laws. The
// sum is in terms of second order, so that an error is relative to the loss however small that is.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// An Atom is an outcome of positive mass. Q has the mass e^LogMass, P e^(LogMass+Loss)
// and the loss is Loss; reversed, P has e^LogMass, Q e^(LogMass+Loss), and the loss is −Loss.
type Atom struct {
	LogMass, Loss float64
	MassErr       float64 // relative error of e^LogMass
	LossErr       float64 // absolute error of Loss
	Reversed      bool
}

// A Piece is a range of outcomes From < v < To on which Q has the density
// ¼e^{LogWeight − v/2} and the likelihood ratio P/Q is
//
//	g(v) = 1 + Lift + Share·(e^{v−Center} − 1) = Floor + Share·e^{v−Center}:
//
// Laplace noise between the centres that it may have. Reversed exchanges P and Q.
type Piece struct {
	From, To, LogWeight        float64
	Lift, Share, Center, Floor float64
	WeightErr                  float64 // relative error of e^LogWeight
	RatioErr                   float64 // relative error of Lift, Share and Floor
	RateErr                    float64 // relative error of Share that changes Floor as much
	ScaleErr                   float64 // relative error of v and Center: of 1/b
	Reversed                   bool
}

// Mixed is the transform of a bounded loss with atoms and pieces: Laplace noise on a
// sample, and any finite law. It is computed as
//
//	M(z) = 1 − p∞ + z(q∞ − p∞) + ∫ [ex(zL) + z·ex(−L)] dP,   ex(v) = e^v − 1 − v,
//
// in which the terms of first order, that cancel, are absent: an error is relative
// to log M. Pieces are integrated by Gauss–Legendre quadrature.
type Mixed struct {
	atoms      []Atom
	pieces     []Piece
	pInf, qInf float64
	infErr     float64 // of p∞ and of q∞ − p∞
}

// NewMixed returns the transform of the atoms and pieces. With P(L = +∞) = pInf and
// Q(L = −∞) = qInf, known to the relative error infErr, their masses make 1 under P and under Q.
func NewMixed(atoms []Atom, pieces []Piece, pInf, qInf, infErr float64) *Mixed {
	m := &Mixed{pInf: pInf, qInf: qInf, infErr: infErr * (math.Abs(pInf) + math.Abs(qInf))}
	for _, a := range atoms {
		if !math.IsInf(a.LogMass, -1) {
			m.atoms = append(m.atoms, a)
		}
	}
	for _, p := range pieces {
		if !math.IsInf(p.LogWeight, -1) && p.From < p.To {
			m.pieces = append(m.pieces, p)
		}
	}
	return m
}

// Strip implements Transform: the loss is bounded.
func (m *Mixed) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Pieces returns the number of pieces: what a line costs is proportional to it.
func (m *Mixed) Pieces() int { return len(m.pieces) }

// Floor returns about the logarithm of what |M(θ+it)| is not bounded below at any t: the tilted
// mass of the atoms, as they may beat against each other. It proves nothing.
func (m *Mixed) Floor(theta float64) float64 {
	floor := math.Inf(-1)
	for _, a := range m.atoms {
		x := a.LogMass + (1+theta)*a.Loss
		if a.Reversed {
			x = a.LogMass - theta*a.Loss
		}
		floor = xmath.LogAdd(floor, x)
	}
	return floor
}

// Infinite implements Transform.
func (m *Mixed) Infinite() (pInf, qInf float64) { return m.pInf, m.qInf }

// Reverse implements Transform: every part changes its roles.
func (m *Mixed) Reverse() Transform { return m.reversed() }

func (m *Mixed) reversed() *Mixed {
	r := *m
	r.pInf, r.qInf = m.qInf, m.pInf
	r.atoms, r.pieces = slices.Clone(m.atoms), slices.Clone(m.pieces)
	for i := range r.atoms {
		r.atoms[i].Reversed = !r.atoms[i].Reversed
	}
	for i := range r.pieces {
		r.pieces[i].Reversed = !r.pieces[i].Reversed
	}
	return &r
}

// Real implements Transform.
func (m *Mixed) Real(s float64) (k, slope, err float64) {
	v, e := m.line(context.Background(), s, 0, 0, maxRealNodes)
	if e != nil {
		return math.NaN(), math.NaN(), math.Inf(1)
	}
	k, _, err = v.LogM(0)
	slope = v.slope
	if v.mirror {
		slope = -slope
	}
	return k, slope, err
}

// Line implements Transform.
func (m *Mixed) Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	v, err := m.line(ctx, theta, tMax, tol, maxNodes)
	if err != nil {
		return nil, err
	}
	return v, nil
}

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
	infErr     float64
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

func (v *mixedLine) Nodes() int { return len(v.w) }

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
		wrong := v.e.at(v.theta, t) + (1+math.Hypot(v.theta, t))*v.infErr + 4*xmath.U*(v.pInf+math.Hypot(v.theta, t)*math.Abs(v.gap))
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
	return v.shift - v.top + math.Log(sum) + xmath.U*float64(8+len(v.pieceSizes)) + 2*xmath.U*(math.Abs(v.shift)+math.Abs(v.top))
}

var errTooManyNodes = errors.New("nodes: too many are needed")

func (m *Mixed) line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (*mixedLine, error) {
	if err := checkLine(m, theta, tMax); err != nil {
		return nil, err
	}
	if len(m.atoms)+len(m.pieces) == 0 {
		return nil, errors.New("losses: none is finite, so that M is 0")
	}
	if theta < -0.5 {
		v, err := m.reversed().line(ctx, -1-theta, tMax, tol, maxNodes)
		if err != nil {
			return nil, err
		}
		v.mirror = true
		if theta < -2 { // else the difference is exact
			v.moved = xmath.U * math.Abs(theta)
			v.top += v.moved * v.far
		}
		return v, nil
	}
	// A rough pass finds the sizes that errors are compared with.
	r := newRule(m, theta, 0, true)
	if err := r.rough(); err != nil {
		return nil, err
	}
	k, d := r.sizes()
	second := k > -0.3 && k < 2
	r = newRule(m, theta, tMax, second)
	if second {
		// Errors are absolute, and M(θ) is about 1; log M itself needs a few roundings of D.
		r.logTol = math.Log(max(tol/16, 2*xmath.U*d)) - math.Log(8)
	} else {
		r.logTol = math.Log(max(tol/16, 2*xmath.U)) + k - math.Log(8)
		r.shift = k
	}
	r.logTol = max(r.logTol, -700) // at θ = 0 there is nothing to integrate
	if maxNodes <= 0 {
		maxNodes = 1 << 22
	}
	if err := r.fine(ctx, maxNodes); err != nil {
		return nil, err
	}
	return r.line(m, tMax), nil
}

// A rule is a sum over nodes that stands for the integrals on one line.
type rule struct {
	m             *Mixed
	theta, t      float64
	second        bool
	shift, logTol float64
	nodes         []mass
	logQuadrature float64 // of the error of all panels
	panels        []panel
}

// A mass of P with its loss, and their errors.
type mass struct{ logP, l, e, dl float64 }

// A panel is a part of a piece with its nodes; a new piece starts a new group.
type panel struct {
	piece      int
	v0, v1     float64
	from, to   int
	quadrature float64 // logarithm of its error
}

func newRule(m *Mixed, theta, t float64, second bool) *rule {
	return &rule{m: m, theta: theta, t: t, second: second, logQuadrature: math.Inf(-1)}
}

func (r *rule) atoms() {
	for _, a := range r.m.atoms {
		n := mass{logP: a.LogMass, l: -a.Loss, e: a.MassErr, dl: a.LossErr}
		if !a.Reversed {
			n.logP += a.Loss
			n.l = a.Loss
			n.e += a.LossErr * (1 + a.LossErr)
		}
		r.nodes = append(r.nodes, n)
	}
}

// rough puts a few nodes on each piece, without a bound.
func (r *rule) rough() error {
	r.atoms()
	for i := range r.m.pieces {
		p := &r.m.pieces[i]
		n := math.Ceil((p.To - p.From) / 3)
		if !(n <= mostPanels) {
			return fmt.Errorf("%w: a piece is %v long", errTooManyNodes, p.To-p.From)
		}
		for k := range int(n) {
			r.add(i, p.From+(p.To-p.From)*float64(k)/n, p.From+(p.To-p.From)*float64(k+1)/n, 8, 0)
		}
	}
	return nil
}

// mostPanels bounds the length of a piece: noise of a thousandth of the sensitivity.
const mostPanels = 1000

// sizes returns log M(θ) and the size of D(θ), roughly.
func (r *rule) sizes() (k, d float64) {
	top := math.Inf(-1)
	for _, n := range r.nodes {
		top = max(top, n.logP+r.theta*n.l)
	}
	var s float64
	for _, n := range r.nodes {
		s += math.Exp(n.logP + r.theta*n.l - top)
		d += math.Abs(second(n, r.theta))
	}
	k = top + math.Log(s)
	if math.IsNaN(k) || math.IsNaN(d) {
		return 0, 0
	}
	return k, d
}

// second returns p[ex(θL) + θ·ex(−L)].
func second(n mass, theta float64) float64 {
	return weighted(n.logP, theta*n.l) + theta*weighted(n.logP, -n.l)
}

// weighted returns e^x·ex(v).
func weighted(x, v float64) float64 {
	if v > 1 {
		return math.Exp(x+v) - math.Exp(x)*(1+v)
	}
	return math.Exp(x) * ex(v)
}

// fine puts nodes on all pieces so that the quadrature is good enough.
func (r *rule) fine(ctx context.Context, maxNodes int) error {
	r.atoms()
	for i := range r.m.pieces {
		p := &r.m.pieces[i]
		n := math.Ceil((p.To - p.From) / 4)
		for k := range int(n) {
			if err := r.split(ctx, i, p.From+(p.To-p.From)*float64(k)/n, p.From+(p.To-p.From)*float64(k+1)/n, 0, maxNodes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rule) split(ctx context.Context, i int, v0, v1 float64, depth, maxNodes int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(r.nodes) > maxNodes {
		return fmt.Errorf("%w: more than %d", errTooManyNodes, maxNodes)
	}
	n, logErr, ok := r.enough(&r.m.pieces[i], v0, v1)
	if mid := v0 + (v1-v0)/2; !ok && depth < 40 && mid > v0 && mid < v1 {
		if err := r.split(ctx, i, v0, mid, depth+1, maxNodes); err != nil {
			return err
		}
		return r.split(ctx, i, mid, v1, depth+1, maxNodes)
	}
	r.add(i, v0, v1, n, logErr)
	r.logQuadrature = xmath.LogAdd(r.logQuadrature, logErr)
	return nil
}

// add puts n nodes on [v0, v1] of piece i.
func (r *rule) add(i int, v0, v1 float64, n int, logErr float64) {
	p := &r.m.pieces[i]
	x, w := legendre(n)
	h, mid := (v1-v0)/2, v0+(v1-v0)/2
	logHalf := math.Log(h) + p.LogWeight - 2*math.Ln2
	from := len(r.nodes)
	for j := range x {
		v := mid + h*x[j]
		// The node is off by the rounding of v and of x: this moves g, and it is as if the
		// weight, e^{−v/2}, were wrong.
		dv := xmath.U*(3*math.Abs(v)+8*h) + p.ScaleErr*math.Abs(v)
		l, dl := p.logRatio(v, dv)
		k := mass{logP: logHalf + logWeight(w[j]) - v/2, l: -l, dl: dl}
		k.e = p.WeightErr + p.ScaleErr + dv/2 + legendreErr
		if !p.Reversed {
			k.logP += l
			k.l = l
			k.e += dl * (1 + dl)
		}
		r.nodes = append(r.nodes, k)
	}
	r.panels = append(r.panels, panel{i, v0, v1, from, len(r.nodes), logErr})
}

func logWeight(w float64) float64 { return math.Log(w) }

// logRatio returns log g(v), v known to dv, and its error.
func (p *Piece) logRatio(v, dv float64) (l, dl float64) {
	e := v - p.Center
	de := dv + xmath.U*math.Abs(e) + p.ScaleErr*math.Abs(p.Center)
	if e > 36 && p.Share > 0 {
		// The floor is at most e^−36 of the rest, or g is its sum with something larger.
		top := math.Log(p.Share) + e
		if math.Log(p.Floor)-top < -36 {
			l = top + p.Floor*math.Exp(-top)
			return l, de + p.RatioErr + p.RateErr + xmath.U*(4+4*math.Abs(e)+4*math.Abs(l))
		}
	}
	grow := math.Expm1(e)
	rho := p.Lift + p.Share*grow
	jump := p.Share * math.Exp(e) // dg/dv
	if rho > -0.5 {
		size := p.Lift + p.Share*math.Abs(grow)
		d := (6*xmath.U+p.RatioErr+p.RateErr)*size + jump*de
		return logOnePlus(rho, d)
	}
	g := p.Floor + jump
	d := (6*xmath.U+p.RatioErr)*g + p.RateErr*p.Share*math.Abs(grow) + jump*de
	l = math.Log(g)
	return l, d/g*(1+d/g) + 2*xmath.U*math.Abs(l)
}

// logOnePlus returns log(1 + rho) for a rho known to d, and its error.
func logOnePlus(rho, d float64) (l, dl float64) {
	l = math.Log1p(rho)
	x := d / (1 + rho)
	return l, x*(1+x) + 2*xmath.U*math.Abs(l)
}

// line turns the nodes into the sums of a line.
func (r *rule) line(m *Mixed, tMax float64) *mixedLine {
	v := &mixedLine{theta: r.theta, second: r.second, shift: r.shift, tMax: tMax,
		pInf: m.pInf, gap: m.qInf - m.pInf, infErr: m.infErr}
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
			slopeD.Add(p*n.l*math.Expm1(a) + weighted(n.logP, -n.l))
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
		x := p.LogWeight - 2*math.Ln2 - 1.5*v + p.Center - math.Log(p.Share) + power*l
		err := math.Abs(power)*dl + p.WeightErr + p.RatioErr + p.ScaleErr*(1.5*v+math.Abs(p.Center)) +
			xmath.U*(16+8*math.Abs(v)+4*math.Abs(p.Center)+4*math.Abs(power*l)+2*math.Abs(p.LogWeight)+2*math.Abs(r.shift))
		s := math.Exp(min(0, math.Log(p.Share)+v-p.Center-l))
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
