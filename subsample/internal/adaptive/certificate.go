// The check behind blocks (§13): that a single pair is the worst for every convex function of a cone, whatever
// the place of the other records.

package adaptive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A nearPair is sampling without replacement at the given rate, with all other records at the substitute: near, and
// its reverse. The means of a record and its substitute are theta apart, in units of the noise.
type nearPair struct{ rate, theta float64 }

// A nearPoint is a profile at one α: its value, its slope in α, and how far rounding may move the value.
type nearPoint struct{ value, slope, err float64 }

// near returns the profile at α = e^z, z ≥ 0.
func (p nearPair) near(z float64) nearPoint {
	a := math.Expm1(z) / p.rate
	t := math.Log1p(a)/p.theta + p.theta/2
	hit, miss := xmath.NormalTail(t-p.theta), xmath.NormalTail(t)
	return p.point((hit-miss)-a*miss, -miss, hit)
}

// reverse returns the profile of the reverse at α = e^z, z ≥ 0.
func (p nearPair) reverse(z float64) nearPoint {
	left := 1 - math.Expm1(z)*(1-p.rate)/p.rate // of the mass at the record, beside the others there
	if !(left > 0) {
		return nearPoint{}
	}
	t := (z-xmath.Log(left))/p.theta + p.theta/2
	hit, miss := xmath.NormalTail(t-p.theta), xmath.NormalTail(t)
	return p.point(left*hit-math.Exp(z)*miss, -((1-p.rate)*hit + p.rate*miss), hit)
}

// point has the rounding of a difference of two terms, of which hit is the larger: tails are known to some u times t²,
// and t is below 40 where they are not 0; or to the least float64.
func (p nearPair) point(value, slope, hit float64) nearPoint {
	return nearPoint{p.rate * value, slope, 1e-12*p.rate*hit + 4*math.SmallestNonzeroFloat64}
}

// A check is the comparison of one θ with a slightly larger one, which the pair near' has, for the cone of λ: that
//
//	∫_z^∞ e^{(λ−1)y}(h_near' − h_c)(e^y) dy ≥ 0
//
// for every z and every configuration c. For z ≥ 0 it holds, since near is the worst at every α ≥ 1; for z < 0 it is
// what the right has to spare against the part of the left that is nearest to 0.
type check struct {
	p      palette // of the nodes, without laws
	lambda float64
	parts  []part // of the stretches between nodes, several each
	beyond float64

	least, sum []float64 // the buffers of holds, by part: on the left, on the right
}

// A part is a stretch within two nodes, on which profiles of near' are replaced by tangents from below
// and chords from above.
type part struct {
	cell         int     // between nodes cell and cell+1
	end, width   float64 // in z
	from, to     float64 // α at the ends
	mid          float64
	up, down     nearPoint // near' and its reverse at the middle
	upFrom, upTo float64   // near' at the ends, from above
	right, left  weight
}

// A weight is an integral of e^{cy} over a part: of 1, and of α less that at the middle.
type weight struct{ one, moment, most float64 }

const (
	leastTheta   = 1e-3 // of smaller ones the nodes, which are some 32/θ looks at profiles to find, are too many
	partsPerCell = 8
	mostNodes    = 600
	mostHalved   = 20   // a cell that is halved so often and fails is a place that fails
	mostChecks   = 2000 // cells
)

// expIntegral returns ∫ e^{cy} dy over [a, b].
func expIntegral(c, a, b float64) float64 {
	if x := c * (b - a); math.Abs(x) > 1e-9 {
		return math.Exp(c*a) * math.Expm1(x) / c
	}
	return math.Exp(c*(a+b)/2) * (b - a)
}

func newWeight(c, a, b, mid float64) weight {
	one := expIntegral(c, a, b)
	return weight{one, expIntegral(c+1, a, b) - mid*one, math.Exp(max(c*a, c*b))}
}

// linear returns the integral of value + slope·(α − mid).
func (w weight) linear(value, slope float64) float64 { return value*w.one + slope*w.moment }

// newCheck returns the check of a step, for near and a near' above it, of configurations whose profiles are at most that of most at
// every α; singly is for single steps.
func newCheck(step stepBound, near, above, most stepPair, lambda float64, singly bool) (*check, error) {
	x, err := checkNodes(near, above, step.copies, step.theta, lambda, singly)
	if err != nil {
		return nil, err
	}
	c := &check{p: palette{bound: step, x: x, known: newKnown()}, lambda: lambda}
	for i, z := range x {
		c.p.ways = append(c.p.ways, c.p.bound.shares(z))
		if i+1 == len(x) {
			last := most.near(z)
			c.beyond = (last.value + last.err) * math.Exp(-lambda*z) / lambda
			break
		}
		for k := range partsPerCell {
			a := z + (x[i+1]-z)*float64(k)/partsPerCell
			b := z + (x[i+1]-z)*float64(k+1)/partsPerCell
			c.parts = append(c.parts, newPart(i, a, b, above, most, lambda))
		}
	}
	c.least, c.sum = make([]float64, len(c.parts)), make([]float64, len(c.parts))
	return c, nil
}

func newPart(cell int, a, b float64, above, most stepPair, lambda float64) part {
	m := a + (b-a)/2
	mid := math.Exp(m)
	from, to := most.near(a), most.near(b)
	return part{
		cell: cell, end: b, width: b - a, from: math.Exp(a), to: math.Exp(b), mid: mid,
		up: above.near(m), down: above.reverse(m), upFrom: from.value + from.err, upTo: to.value + to.err,
		right: newWeight(lambda-1, a, b, mid), left: newWeight(-lambda, a, b, mid),
	}
}

// sparing returns about what a pair has more than another of what the check compares, and what it has.
func sparing(at, above stepPair, rate, theta, lambda float64) (spare, all float64) {
	// Losses are spread over log(1 + rate·e^y): y in steps of θ/8.
	last := 0.0
	for y := -4.0; y < 40*theta; y += theta / 8 {
		z := math.Log1p(rate * math.Exp(y))
		m := (last + z) / 2
		right, left := (z-last)*math.Exp((lambda-1)*m), (z-last)*math.Exp(-lambda*m)
		near, reverse := above.near(m).value, above.reverse(m).value
		all += right*near + left*reverse
		spare += right*(near-at.near(m).value) + left*(reverse-at.reverse(m).value)
		last = z
	}
	return spare, all
}

// lastNode is beyond the losses of which anything is a float64.
const lastNode = 750

// checkNodes chooses where configurations are bounded: where chords of near' and its reverse lose most, until they
// lose together no more than near' has to spare, or three quarters of it if that is to be close at each. Any nodes are right.
func checkNodes(at, above stepPair, rate, theta, lambda float64, close bool) ([]float64, error) {
	spare, _ := sparing(at, above, rate, theta, lambda)
	if !(spare > 0) {
		return nil, fmt.Errorf("the pair above has nothing to spare at the rate %v and a distance of %v", rate, theta)
	}
	end := rate
	for above.near(end).value > 1e-3*lambda*spare {
		if end *= 1.25; end > lastNode { // a pair of chords is constant beyond its last one
			return nil, fmt.Errorf("losses at the rate %v and a distance of %v are too rare for the check", rate, theta)
		}
	}
	type span struct {
		a, b, loss float64
	}
	lossOf := func(a, b float64) span {
		m := (a + b) / 2
		r := math.Expm1(m-a) / math.Expm1(b-a)
		up := (1-r)*above.near(a).value + r*above.near(b).value - above.near(m).value
		down := min((1-r)*above.reverse(a).value+r*above.reverse(b).value, above.near(m).value) - above.reverse(m).value
		return span{a, b, (b - a) * 2 / 3 * (math.Exp((lambda-1)*m)*up + math.Exp(-lambda*m)*max(0, down))}
	}
	most := spare
	if close {
		most *= 0.75
	}
	spans := []span{lossOf(0, end)}
	for total := spans[0].loss; total > most; {
		if len(spans) > mostNodes {
			return nil, fmt.Errorf("the check needs more than %d nodes", mostNodes)
		}
		worst := 0
		for i, s := range spans {
			if s.loss > spans[worst].loss {
				worst = i
			}
		}
		s := spans[worst]
		m := s.a + (s.b-s.a)/2
		if s.a == 0 {
			m = s.b / 4
		}
		one, two := lossOf(s.a, m), lossOf(m, s.b)
		total += one.loss + two.loss - s.loss
		spans[worst] = one
		spans = slices.Insert(spans, worst+1, two)
	}
	x := []float64{0}
	for _, s := range spans {
		x = append(x, s.b)
	}
	return x, nil
}

// holds reports whether every configuration of a cell, with s ≥ t, passes, from bounds of its profiles at the nodes: up for
// α ≥ 1, down the reverse's. What configurations with s < t have to pass follows (§13). flat is from where on, for
// λ = ½, every stretch from 0 to z has on the right what each stretch to −z' with z' ≤ z lacks on the left.
//
// Between nodes a profile is at most the chord of its bounds, and near' at every α (for several copies, the bound of the worst of all). What
// the right spares is nowhere negative; on the left the least of all stretches from 0 counts, within parts too.
func (c *check) holds(up, down []float64) (ok bool, flat float64) {
	right, left, least, size, steep := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, p := range c.parts {
		value, slope := p.chord(c.p.x, down)
		d, ds := p.down.value-p.down.err-value, p.down.slope-slope
		v := p.left.linear(d, ds)
		s := (p.upTo - p.upFrom) / (p.to - p.from)
		e, es := p.down.value-p.down.err-(p.upFrom+s*(p.mid-p.from)), p.down.slope-s
		if w := p.left.linear(e, es); w > v {
			v, d, ds = w, e, es
		}
		within := min(0, d+ds*(p.from-p.mid), d+ds*(p.to-p.mid)) * p.width * p.left.most
		least = min(least, left+within)
		left += v
		least = min(least, left)
		c.least[i], c.sum[i] = least, right // the right only up to where the part begins
		size += p.left.one * (p.down.value + value)
		steep += p.left.one * math.Abs(ds) * p.to
		value, slope = p.chord(c.p.x, up)
		d, ds = p.up.value-p.up.err-value, p.up.slope-slope
		right += max(0, p.right.linear(d, ds))
		size += p.right.one * (p.up.value + value)
		steep += p.right.one * math.Abs(ds) * p.to
	}
	least = min(least, left-c.beyond)
	// At most mostNodes·partsPerCell = 4,800 terms: their sum by floating point is off by 4,800u = 5.4e-13 of that of their sizes,
	// and each has some ten roundings of its own. α is known to 2u of itself in a difference and in a moment, which counts as
	// often as the slope.
	rounding := 1e-12*size + 8*xmath.U*steep
	for i := len(c.parts) - 1; i >= 0; i-- {
		if c.sum[i]+c.least[i] < rounding {
			flat = c.parts[i].end
			break
		}
	}
	return right+least >= rounding, flat
}

// chord returns the chord of values at the nodes around a part: its value at the middle, and its slope.
func (p *part) chord(x, values []float64) (value, slope float64) {
	a, b := math.Exp(x[p.cell]), math.Exp(x[p.cell+1])
	slope = (values[p.cell+1] - values[p.cell]) / (b - a)
	return values[p.cell] + slope*(p.mid-a), slope
}

// pointsOfCheck are places of which some fails where the check does, mostly: on the circle and on the edge.
func pointsOfCheck() (places []cell) {
	for _, t := range []float64{0.02, 0.06, 0.13, 0.26, 0.5, 0.8, 1.1, math.Sqrt2} {
		s := math.Sqrt(4-t*t) * (1 + 16*xmath.U)
		places = append(places, cell{s0: s, s1: s, t0: t, t1: t}, cell{s0: 2, s1: 2, t0: t, t1: t})
	}
	return places
}

// one looks at a cell as a whole.
func (c *check) one(ctx context.Context, at cell) (ok bool, flat float64, err error) {
	up, err := c.bounds(ctx, at.worst())
	if err != nil {
		return false, 0, err
	}
	down, err := c.bounds(ctx, at.mirror().worst())
	if err != nil {
		return false, 0, err
	}
	ok, flat = c.holds(up, down)
	return ok, flat, nil
}

// run checks all configurations, cell by cell, and returns how many cells it took. None has flat above most, which is +∞ for blocks.
func (c *check) run(ctx context.Context, most float64) (cells int, err error) {
	type part struct {
		cell
		halved int
	}
	queue := []part{{cell{s0: 0, s1: 2, t0: 0, t1: 2}, 0}}
	for _, at := range pointsOfCheck() {
		queue = append(queue, part{at, mostHalved})
	}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if at.empty() {
			continue
		}
		ok, flat, err := c.one(ctx, at.cell)
		if err != nil {
			return 0, err
		}
		if ok && flat <= most {
			if at.s1 > at.s0 {
				cells++
			}
			continue
		}
		if at.halved == mostHalved || cells+len(queue) > mostChecks {
			return 0, fmt.Errorf("near is not shown to be the worst for λ = %v: not where the others are %.4g to %.4g from the record and %.4g to %.4g from its substitute", c.lambda, at.s0, at.s1, at.t0, at.t1)
		}
		for _, half := range at.split() {
			queue = append(queue, part{half, at.halved + 1})
		}
	}
	return cells, nil
}

// bounds returns the bounds of a triangle at the nodes.
func (c *check) bounds(ctx context.Context, g triangle) ([]float64, error) {
	if row := c.p.known.of[g]; row != nil {
		return row, nil
	}
	if err := parallel.Spend(ctx, perBound*float64(len(c.p.x))); err != nil {
		return nil, err
	}
	row := make([]float64, len(c.p.x))
	parallel.Do(2, func(half int) {
		for i := half; i < len(row); i += 2 {
			row[i] = c.p.bound.at(c.p.ways[i], g)
		}
	})
	c.p.known.of[g] = row
	return row, nil
}

// perBound is what the bound of a triangle at a node takes, measured, in the unit of parallel.WithWork.
const perBound = 1200

// Proof (docs/theory/subsampling.md §13): the check.
//
// The check (`certificate.go`). On a rectangle of (s, t), `h_c` and `h_c~` are bounded at nodes by the triangles of §10,
// between nodes by chords, and everywhere by near'. near' and its reverse are taken from below by tangents on eight
// parts of each stretch. The right counts where it is positive; on the left the least of the sums up to every point
// counts, within parts by the larger weight and the lower end, and beyond the last node `near'·e^{−λz}/λ` is taken off.
// Rectangles that fail are halved. A place that fails for good refuses the λ, and the next of ½, ¾, 1, 3/2 is tried.

// Proof (docs/theory/subsampling.md §13): which configurations.
//
// Which configurations. Only the lens of §10 counts, as growing h_c makes `M_c` smaller, and only s ≥ t: then `f =
// e^{−z/2}(h_c − h_c~)(e^z)`, c~ being the mirror image, is odd and ≥ 0 for z > 0, so that for λ ≥ ½ `M_c~(z) − M_c(z) =
// ∫_z^∞ e^{(λ−½)y} f(y) dy ≥ ∫_{|z|}^∞ e^{(λ−½)y} f(y) dy ≥ 0`. For z ≥ 0 nothing is to be checked, since near is the
// worst at every α ≥ 1 (Theorem C). For z < 0, `M_c(−z) = ∫_0^∞ e^{(λ−1)y}(h_near − h_c)(e^y)dy + ∫_0^z e^{−λy}(h_rev −
// h_c~)(e^y)dy`, rev being near's reverse.
