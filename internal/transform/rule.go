// Nodes for a Mixed on one line: atoms as they are, pieces by Gauss–Legendre quadrature.
//
// It assumes the bound of the quadrature error that legendre.go and ellipses give. It returns nodes
// with the errors of their masses and losses, and the sum of the quadrature errors; or an error
// where too many would be needed.

package transform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

var errTooManyNodes = errors.New("nodes: too many are needed")

// A rule is a sum over nodes that stands for the integrals on one line.
type rule struct {
	m             *Mixed
	theta, t      float64
	second        bool // whether M − 1 is summed
	scale, logTol float64
	nodes         []node
	logQuadrature float64 // of the error of all panels
	panels        []panel
}

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
	r.nodes = slices.Grow(r.nodes, len(r.m.atoms))
	for _, a := range r.m.atoms {
		n := node{logQ: a.LogMass, loss: a.Loss, errQ: a.MassErr, errLoss: a.LossErr}
		if a.Reversed {
			n.reverse()
		}
		n.fill()
		r.nodes = append(r.nodes, n)
	}
}

// reverse exchanges P and Q.
func (n *node) reverse() {
	n.logQ += n.loss
	n.errQ += n.errLoss * (1 + n.errLoss)
	n.loss = -n.loss
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
const mostPanels = 1000 // steers: time

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
	logHalf := xmath.Log(h) + p.LogWeight - 2*math.Ln2
	from := len(r.nodes)
	for j := range x {
		v := mid + h*x[j]
		// The node is off by the rounding of v and of x: this moves g, and it is as if the
		// weight, e^{−v/2}, were wrong.
		dv := xmath.U*(3*math.Abs(v)+8*h) + p.ScaleErr*math.Abs(v)
		l, dl := p.logRatio(v, dv)
		k := node{logQ: logHalf + xmath.Log(w[j]) - v/2, loss: l, errLoss: dl, errQ: p.WeightErr + p.ScaleErr + dv/2 + legendreErr}
		if p.Reversed {
			k.reverse()
		}
		k.fill()
		r.nodes = append(r.nodes, k)
	}
	r.panels = append(r.panels, panel{piece: i, v0: v0, v1: v1, from: from, to: len(r.nodes), quadrature: logErr})
}
