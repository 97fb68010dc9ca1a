package positive

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Program is a list of operations on independent copies of sources: the last node is the
// result. A node that is used twice stands for two independent copies.
type Program struct {
	nodes []node
}

type node struct {
	source       Source // leaf
	op           operation
	a, b         int // operands; affine: a only
	affine       bool
	scale, shift float64
	err          float64 // relative error of scale and shift
	mean         float64
}

// Source adds a leaf of mean 1.
func (p *Program) Source(s Source) int { return p.SourceOf(s, 1) }

// SourceOf adds a leaf of about this mean, which steers.
func (p *Program) SourceOf(s Source, mean float64) int { return p.push(node{source: s, mean: mean}) }

// Add returns the sum of two nodes.
func (p *Program) Add(a, b int) int {
	return p.push(node{op: add, a: a, b: b, mean: p.nodes[a].mean + p.nodes[b].mean})
}

// Multiply returns the product of two nodes.
func (p *Program) Multiply(a, b int) int {
	return p.push(node{op: multiply, a: a, b: b, mean: p.nodes[a].mean * p.nodes[b].mean})
}

// Affine returns scale·a + shift, scale > 0 and shift ≥ 0 known to the relative error err.
func (p *Program) Affine(a int, scale, shift, err float64) int {
	return p.push(node{affine: true, a: a, scale: scale, shift: shift, err: err, mean: scale*p.nodes[a].mean + shift})
}

// Sum returns the sum of n copies of a node, n ≥ 1, Power the product.
func (p *Program) Sum(a int, n int64) int   { return p.chain(a, n, p.Add) }
func (p *Program) Power(a int, n int64) int { return p.chain(a, n, p.Multiply) }

func (p *Program) chain(a int, n int64, join func(a, b int) int) int {
	bit := int64(1)
	for bit<<1 <= n {
		bit <<= 1
	}
	r := a
	for bit >>= 1; bit > 0; bit >>= 1 {
		r = join(r, r)
		if n&bit != 0 {
			r = join(r, a)
		}
	}
	return r
}

func (p *Program) push(n node) int {
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

// A Target is what the grids are made for: E(M − α)₊ and E(1 − αM)₊ of about Delta, known to the
// relative error Relative of log α; or, with At > 0, E(M − At)₊ to the relative error Relative
// of itself, when it is above Delta or so. Grids prove nothing.
type Target struct{ Delta, Relative, At float64 }

// maxPoints bounds the points of a law: a sum of two takes the square of it in time. Laws that
// would need more are wider than asked.
const maxPoints = 1 << 13

// What a program takes of a limit of work, measured, in the unit of parallel.WithWork: a pair of points of two
// operands, and a node's sketch beside its pairs.
const perPair, perSketch = 0.035, 1.2e4

// pairs returns the work of combining two laws. A law with itself has half the pairs (cells.square).
func pairs(a, b *Law) float64 {
	n := float64(len(a.X)) * float64(len(b.X))
	if a == b {
		n /= 2
	}
	return perPair * n
}

// RunFor is Run of one copy of the result, of which so many will be multiplied: its grids are
// made for the product.
func (p *Program) RunFor(ctx context.Context, t Target, copies int64) (upper, lower *Law, err error) {
	result := len(p.nodes) - 1
	if copies <= 1 || p.nodes[result].source != nil {
		return p.Run(ctx, t)
	}
	whole := &Program{nodes: slices.Clone(p.nodes)}
	whole.Power(result, copies)
	m, first, err := whole.manner(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	grids := whole.affordable(ctx, m.shapes, m.aim, result+1)
	if m.many {
		last := result
		if p.nodes[last].affine {
			last = p.nodes[last].a
		}
		grids[last] = m.shapes[last].grid(fewerAtoms * float64(len(grids[last])))
	}
	if upper, err = p.run(ctx, grids, true); err != nil {
		return nil, nil, err
	}
	if lower, err = p.run(ctx, grids, false); err == nil && first {
		m.learn(result, lower, upper)
	}
	return upper, lower, err
}

// Run returns laws above and below the program's result. A context with a limit of work ends it with parallel.ErrWork, or
// with wider laws than asked if there are any by then.
func (p *Program) Run(ctx context.Context, t Target) (upper, lower *Law, err error) {
	if last := p.nodes[len(p.nodes)-1]; last.source != nil {
		// One copy: as fine as is cheap.
		s, err := p.sketch(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		g := uniform(s[len(s)-1], last.mean, t, singlePoints)
		return last.source.Round(g, true).within(true), last.source.Round(g, false).within(false), nil
	}
	shapes, err := p.shapes(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	width := firstAim
	if t.At > 0 {
		width /= 2
	}
	for range 4 {
		grids := p.affordable(ctx, shapes, width, len(p.nodes))
		up, err := p.run(ctx, grids, true)
		if err != nil {
			return reached(upper, lower, err)
		}
		low, err := p.run(ctx, grids, false)
		if err != nil {
			return reached(upper, lower, err)
		}
		upper, lower = up, low
		w := spread(lower, upper, t)
		if w <= 1 || math.IsNaN(w) || len(grids[0]) >= maxPoints || p.price(grids) > workLeft(ctx)/2 {
			break
		}
		width *= 0.8 / w
	}
	return upper, lower, nil
}

// fewestPoints is where grids are no longer made coarser to fit into a limit of work.
const fewestPoints = 32

func workLeft(ctx context.Context) float64 {
	_, left := parallel.Work(ctx)
	return left
}

// price is about the work of the laws above and below on the grids of the first nodes.
func (p *Program) price(grids [][]float64) float64 {
	sum, points := 0.0, make([]float64, len(grids))
	for i, n := range p.nodes[:len(grids)] {
		if points[i] = float64(len(grids[i])); n.affine {
			points[i] = points[n.a]
		} else if n.source == nil {
			pairs := points[n.a] * points[n.b]
			if n.a == n.b {
				pairs /= 2
			}
			sum += pairs
		}
	}
	return 2 * perPair * sum
}

// affordable returns grids of the first nodes for this width, or coarser ones where the work that is left does not pay for them: the
// coarsest, if it does not pay for any.
func (p *Program) affordable(ctx context.Context, shapes []shape, width float64, nodes int) [][]float64 {
	if coarsest := p.grids(shapes, math.Inf(1))[:nodes]; p.price(coarsest) > workLeft(ctx) {
		return coarsest // they have points where nothing is asked, too
	}
	for {
		grids := p.grids(shapes, width)[:nodes]
		if p.price(grids) <= workLeft(ctx) || len(grids[0]) <= fewestPoints {
			return grids
		}
		width *= 2
	}
}

// reached returns the laws that were there when a limit of work ended a finer computation, or its error.
func reached(upper, lower *Law, err error) (*Law, *Law, error) {
	if upper != nil && err == parallel.ErrWork {
		return upper, lower, nil
	}
	return nil, nil, err
}

// run returns the result's law above or below, on the grids.
func (p *Program) run(ctx context.Context, grids [][]float64, above bool) (*Law, error) {
	laws := make([]*Law, len(p.nodes))
	for i, n := range p.nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case n.source != nil:
			laws[i] = n.source.Round(grids[i], above)
		case n.affine:
			laws[i] = laws[n.a].Affine(n.scale, n.shift, n.err, above)
		default:
			a, b := laws[n.a], laws[n.b]
			if err := parallel.Take(ctx, pairs(a, b)); err != nil {
				return nil, err
			}
			laws[i] = combine(n.op, a, b, grids[i], above)
		}
		laws[i] = laws[i].within(above)
	}
	return laws[len(laws)-1], nil
}

// spread returns the width of log α between the laws where E(M − α)₊ = δ and where
// E(1 − αM)₊ = δ, in units of what is asked; the larger.
func spread(lower, upper *Law, t Target) float64 {
	if t.At > 0 {
		a, b := lower.Above(t.At), upper.Above(t.At)
		return (b - a) / (max(a, t.Delta) * t.Relative)
	}
	if len(lower.X) == 0 || len(upper.X) == 0 {
		return math.NaN()
	}
	near, _ := lower.right(t.Delta)
	far, _ := upper.right(t.Delta)
	right := math.Abs(xmath.Log(far))
	w := xmath.Log(far/near) / (t.Relative * max(right, leastEps))
	near, _, _ = lower.left(t.Delta)
	far, _, _ = upper.left(t.Delta)
	return max(w, xmath.Log(near/far)/(t.Relative*max(math.Abs(xmath.Log(far)), right/4, leastEps)))
}

// right returns K with E(X − K)₊ = δ, and the mass above it; the least value and 0 if there is none.
func (l *Law) right(delta float64) (k, mass float64) {
	v := l.Top
	for i := len(l.X) - 1; i > 0; i-- {
		mass += l.Mass[i]
		next := v + mass*(l.X[i]-l.X[i-1])
		if next >= delta {
			return l.X[i] - (delta-v)/mass, mass
		}
		v = next
	}
	return l.X[0], 0
}

// left returns K with E(K − X)₊ = δK, and the mass and the mean below it; the largest value, 0 and 0 if there is none.
func (l *Law) left(delta float64) (k, mass, mean float64) {
	v := 0.0
	for i := 0; i+1 < len(l.X); i++ {
		mass += l.Mass[i]
		mean += l.Mass[i] * l.X[i]
		v += mass * (l.X[i+1] - l.X[i])
		if v >= delta*l.X[i+1] {
			return mean / (mass - delta), mass, mean // E(K − X)₊ = mass·K − mean
		}
	}
	return l.X[len(l.X)-1], 0, 0
}

// singlePoints is the size of the law of a source alone.
const singlePoints = 4000

// sketch returns a coarse law of every node. It pays for the pairs of pull (twice), too.
func (p *Program) sketch(ctx context.Context, t Target) ([]*Law, error) {
	cut := max(cutShare*t.Delta, 1e-290)
	laws := make([]*Law, len(p.nodes))
	for i, n := range p.nodes {
		work := perSketch
		if n.source == nil && !n.affine {
			work += 3 * pairs(laws[n.a], laws[n.b])
		}
		if err := parallel.Take(ctx, work); err != nil {
			return nil, err
		}
		switch {
		case n.source != nil:
			s := n.source.Sketch(600, cut).within(false)
			laws[i] = s.thinned(n.mean, t)
		case n.affine:
			laws[i] = laws[n.a].Affine(n.scale, n.shift, 0, false).within(false)
		default:
			a, b := laws[n.a], laws[n.b]
			laws[i] = combine(n.op, a, b, broad(n.op, a, b), false).within(false).thinned(n.mean, t)
		}
	}
	return laws, nil
}

// shapes returns where the points of each node's grid are to be. Spreading the values of a cell of width w over it moves
// E φ by w²/24 (mean) to w²/12 (ends) times the integral of φ” over the law in the cell. With
// ψ = E φ” given the node's value, for the two questions of t, a node's grid has
// w ∝ (density·ψ)^{−1/3}, the minimum of the error for its number of points N; N ∝ I^{3/4} with
// I = ∫(density·ψ)^{1/3} divides the work best. That is what these grids are.
func (p *Program) shapes(ctx context.Context, t Target) ([]shape, error) {
	laws, err := p.sketch(ctx, t)
	if err != nil {
		return nil, err
	}
	last := len(p.nodes) - 1
	psi := make([][]float64, len(p.nodes))
	for i, l := range laws {
		psi[i] = make([]float64, len(l.X))
	}
	curvature(laws[last], psi[last], t)
	for i := last; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch n := p.nodes[i]; {
		case n.source != nil:
		case n.affine:
			for j, x := range psi[i] {
				psi[n.a][j] += x * n.scale * n.scale
			}
		default:
			pull(n.op, laws[n.a], psi[n.a], laws[n.b], laws[i], psi[i])
			pull(n.op, laws[n.b], psi[n.b], laws[n.a], laws[i], psi[i])
		}
	}
	shapes := make([]shape, len(p.nodes))
	for i, n := range p.nodes {
		if shapes[i] = (shape{x: laws[i].X, psi: psi[i]}); !n.affine {
			shapes[i] = newShape(laws[i], psi[i], n.mean, t)
		}
	}
	return shapes, nil
}

// grids returns the grid of each node, for a width between above and below of about so much in
// units of what is asked: Σ I³/(8N²) with N = c·I^{3/4}.
func (p *Program) grids(shapes []shape, width float64) [][]float64 {
	total := 0.0
	last := len(shapes) - 1
	for _, s := range shapes[:last] {
		total += math.Pow(s.size, 1.5)
	}
	c := math.Sqrt(total / (8 * width))
	for _, s := range shapes[:last] {
		c = min(c, maxPoints/math.Pow(max(s.size, 1e-300), 0.75))
	}
	grids := make([][]float64, len(shapes))
	most := 0.0
	for i, s := range shapes {
		if p.nodes[i].affine {
			continue
		}
		points := c * math.Pow(s.size, 0.75)
		if i == last || i == last-1 && p.nodes[last].affine {
			points = min(max(lastShare*most, lastPoints), maxPoints)
		}
		most = max(most, points)
		grids[i] = s.grid(points)
	}
	return grids
}

const (
	// firstAim is the width that is tried first, in units of what is asked: near a normal law
	// the estimate is four times too large.
	firstAim = 1.5
	// lastPoints and lastShare: the result's grid costs nothing more however fine.
	lastPoints, lastShare = 600, 3.0
	leastEps              = 1e-6 // of log α: below it an absolute error counts
)
