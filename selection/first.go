// Theorem F, what the first outcome above a threshold costs. It assumes upper ends of the
// candidate's profile in both directions, and returns δ rounded up.
//
// Theorem F. With U(u) as in Theorem U1, g(u) = (1 − f(1−u))/u and every real ε,
//
//	δ_A(ε) ≤ max_u g(u)·δ(ε − ln(g(u)/g(U(u)))) + [f(1−u) − e^ε f(1−U(u))]₊.
//
// Proof. Accepted outcomes have P-mass u and Q-mass v in total and all the same weights,
// g(u) and g(v); "no outcome" has f(1−u) and f(1−v). v ≤ U(u), and both terms rise with v,
// because g and f(1−·) fall.

package selection

import (
	"math"

	"github.com/dpaccountant/accountant/internal/queue"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A firstPrice holds the cells of u.
type firstPrice struct {
	l     Law
	err   float64
	cells []firstCell
}

// A firstCell bounds the terms over a cell: the weights at its two ends, outward.
type firstCell struct {
	c          cellOfU
	g, shift   float64 // g(u), up; ln(g(u)/g(v)), up
	none, less float64 // f(1−u), up; f(1−v), down
	bound      float64 // of δ at the ε asked for
}

func newFirstPrice(l Law, t *tables) *firstPrice {
	p := &firstPrice{l: l, err: l.relErr() + 64*xmath.U*(1+l.relErr()/xmath.U/64)}
	for _, c := range t.cells() {
		for _, s := range split(l, c, 1+min(64, 4096/(1+len(t.sides[1].eps)))) {
			p.cells = append(p.cells, p.cell(s))
		}
	}
	p.cells = append(p.cells, p.cell(cellOfU{1, 1, line{0, 1}}))
	return p
}

func (p *firstPrice) cell(c cellOfU) firstCell {
	v := c.line.at(c.hi)
	g := func(u float64) float64 {
		if u < 1e-300 {
			return math.Exp(p.l.logMean())
		}
		return p.l.Hit(u) / u
	}
	f := firstCell{c: c, g: g(c.lo) * (1 + p.err), none: p.l.PGF(1-c.lo)*(1+p.err) + 2*xmath.U}
	if c.lo == 0 {
		f.none = 1
	}
	f.none = min(1, f.none)
	f.less = max(0, p.l.PGF(1-v)*(1-p.err)-2*xmath.U)
	if l, ok := p.l.(tnb); ok {
		// f(1−u) keeps its digits as a block.
		f.none = min(1, l.block(c.lo, 1-c.lo)*(1+p.err)*(1+8*xmath.U)+tiny)
		f.less = max(0, l.block(v, 1-v)*(1-p.err)*(1-8*xmath.U)-tiny)
	}
	f.shift = xmath.Log(f.g/(g(v)*(1-p.err))) + 16*xmath.U*(1+math.Abs(xmath.Log(f.g)))
	return f
}

func (p *firstPrice) value(f *firstCell, eps float64, one func(float64) float64) float64 {
	d := f.g * one(eps-f.shift-2*xmath.U*(math.Abs(eps)+math.Abs(f.shift)))
	if n := f.none - math.Exp(eps)*f.less*(1-4*xmath.U); n > 0 {
		d += n * (1 + 4*xmath.U)
	}
	return min(1, d*(1+8*xmath.U))
}

// steps is how many cells are cut in two at most.
func (p *firstPrice) steps() int { return max(200, min(20_000, 2_000_000/lawWork(p.l))) }

// delta returns the bound of Theorem F at ε: the largest of the cells', the largest one
// being cut in two until that gains little.
func (p *firstPrice) delta(eps float64, one func(float64) float64) float64 {
	cells := make([]*firstCell, len(p.cells))
	for i, c := range p.cells {
		c.bound = p.value(&c, eps, one)
		cells[i] = &c
	}
	q := queue.New(func(x, y *firstCell) bool { return x.bound > y.bound }, cells...)
	for range p.steps() {
		c := q.First()
		if c.bound == 0 || c.c.hi-c.c.lo <= 1e-6*c.c.hi {
			break
		}
		q.Take()
		mid := c.c.lo + (c.c.hi-c.c.lo)/2
		for _, h := range []cellOfU{{c.c.lo, mid, c.c.line}, {mid, c.c.hi, c.c.line}} {
			n := p.cell(h)
			n.bound = min(c.bound, p.value(&n, eps, one))
			q.Add(&n)
		}
	}
	return q.First().bound
}
