// A Mixed on one line: sums over its nodes, and how it decays.
//
// It assumes nodes whose masses, losses and errors rule.go has found.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// mixedLine is the transform on a line Re z = θ ≥ −½.
type mixedLine struct {
	sums
	atoms        float64   // tilted mass of the atoms, over e^scale
	edges        []float64 // of all pieces, the tilted mass left of some of its points
	fall         []float64 // and the variation right of it
	pieceSizes   []int     // the number of these points of each piece
	spread       spread
	wrong, slips float64 // at θ + it the errors of the nodes move Σ W e^{itL} by wrong + slips·t at most
}

// Decay implements Line. Near the real axis the spread of the losses bounds M; further out the
// atoms may beat against each other, so that their masses add, and the integral over
// a piece is at most the mass left of some point and, by parts, the variation of the
// density of the loss right of it over t.
func (v *mixedLine) Decay(t float64) float64 {
	if !(t > 0) {
		return v.kUp
	}
	return min(v.kUp, v.kUp+v.spread.bound(t, v.beyond)+4*u*math.Abs(v.kUp))
}

// beyond returns log of the bound from t on, over e^kUp, by variation.
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
	return v.scale - v.kUp + xmath.Log(sum) + u*float64(8+len(v.pieceSizes)) + 2*u*(math.Abs(v.scale)+math.Abs(v.kUp))
}

// line turns the nodes into the sums of a line.
func (r *rule) line() *mixedLine {
	lo := math.Inf(1)
	if r.second {
		lo = math.Inf(-1)
	}
	v := &mixedLine{sums: newSums(r.nodes, r.theta, 1, lo, math.Inf(1))}
	r.scale = v.scale
	v.own = math.Exp(r.logQuadrature-v.scale) * (1 + 1e-9)
	if m := r.m; r.second {
		v.infinite(m.pInf, m.pErr, m.gap, m.gapErr)
	}
	v.keep(r.nodes, math.Exp(r.logTol-v.scale)/64/float64(len(r.nodes)+1), r.t)
	r.decay(v)
	if r.t > 0 {
		v.spread = newSpread(r.m, r.theta, v.kUp)
	}
	return v
}

// decay collects what Decay needs.
func (r *rule) decay(v *mixedLine) {
	sizes := make([]float64, len(r.nodes)) // W, rounded up
	for i, w := range v.w {
		n := &r.nodes[i]
		sizes[i] = w * raised(n.relative(r.theta)+(r.theta+1)*n.errLoss)
		v.wrong += sizes[i] - w
		v.slips += w * n.errLoss
	}
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
		return math.Exp(g.quadrature - r.scale)
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
			xmath.U*(16+8*math.Abs(v)+4*math.Abs(p.Center)+4*math.Abs(power*l)+2*math.Abs(p.LogWeight)+2*math.Abs(r.scale))
		s := math.Exp(min(0, xmath.Log(p.Share)+v-p.Center-l))
		return math.Exp(x-r.scale) * (1 + 2*err), -1.5 + power*s
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
