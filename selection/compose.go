// A search as a mechanism that composes: above, the convex envelope of its price in each
// direction; below, the pair of laws that one ranking makes of what the candidate reaches.

package selection

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Bounds returns the search as a mechanism, to compose with others. Upper is the price of
// [Price.Epsilon] per direction, read at points chosen so that a chord costs about accuracy
// in ε, down to where log δ falls below logFloor (0 stands for 1e-4 and −60); what is left
// there counts as +∞. Lower is an attack, one ranking per direction; nil where the
// candidate has none. One ranking serves all ε, and which one is best depends on what the
// search is composed with: the interval of a composition stays open by a few percent.
//
// The candidate may be a whole plan. Once ctx is done, the error is that of ctx.
func (p Price) Bounds(ctx context.Context, name string, r profiles.Relation, c *Candidate, accuracy, logFloor float64) (profiles.Bounds, error) {
	if accuracy == 0 {
		accuracy = 1e-4
	}
	if logFloor == 0 {
		logFloor = -60
	}
	if err := cmp.Or(p.ready(), checkChords(accuracy, logFloor)); err != nil {
		return profiles.Bounds{}, err
	}
	both, err := p.certify(ctx, c, p.fineness(max(1e-9, min(accuracy/10, 1e-5)), logFloor, leastAsked), fewStrips)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.Bounds{Name: name, Relation: r}
	for d := range 2 { // before the envelope, which takes what work there is
		low, err := p.attack(ctx, both[d])
		if err != nil {
			return profiles.Bounds{}, err
		}
		if low != nil {
			m.Directions[d].Lower = low
		}
	}
	upper, err := envelopeOf(ctx, both, accuracy, logFloor)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m.Directions[0].Upper, m.Directions[1].Upper = upper, profiles.Reverse(upper)
	return m, nil
}

// envelopeOf returns the first direction of the price as a profile, the second being its
// reverse: both halves of one convex polygon, that below α = 1 mirrored from the reverse.
func envelopeOf(ctx context.Context, both [2]certified, accuracy, logFloor float64) (*profiles.Discrete, error) {
	var pts [2][]gridPoint
	for d := range 2 {
		above := both[d].above
		var err error
		pts[d], err = Bound(func(eps float64) float64 { return xmath.Log(above(eps)) }).until(ctx).grid(fineness{accuracy: accuracy, floor: logFloor, deep: leastAsked}, nil)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	return hullProfile(pts[0], pts[1])
}

// hullProfile returns the profile of the chords above points of both directions.
func hullProfile(forward, back []gridPoint) (*profiles.Discrete, error) {
	var x []float64
	for _, g := range slices.Concat(forward, back) {
		x = append(x, g.eps)
	}
	slices.Sort(x)
	x = slices.Compact(x)
	return profiles.NewChords(x, valuesAt(forward, x), valuesAt(back, x))
}

// valuesAt returns the values of points at losses among which are theirs: between two of them that of the first, as a profile falls,
// which is above their chord.
func valuesAt(pts []gridPoint, x []float64) []float64 {
	out, i := make([]float64, len(x)), 0
	for k := range x {
		for i+1 < len(pts) && pts[i+1].eps <= x[k] {
			i++
		}
		out[k] = pts[i].val
	}
	return out
}

// perAttack is what the search for a ranking takes of a limit of work, in the unit of parallel.WithWork, measured.
const perAttack = 4e5

// attack returns one ranking's pair in a direction; nil where the candidate has none, or where there is no work left for it.
func (p Price) attack(ctx context.Context, c certified) (*profiles.Discrete, error) {
	if parallel.Spend(ctx, perAttack) != nil {
		return nil, nil
	}
	switch {
	case c.best != nil:
		return c.best.compose(ctx, c.above)
	case c.first != nil:
		return c.first.compose(c.quick)
	}
	return nil, nil
}

// steerDeltas are the δ about which rankings are steered: one of several steps of a plan has
// to be good at a larger δ than the plan is asked for. They steer and prove nothing.
var steerDeltas = [...]float64{1e-4, 1e-5, 1e-6}

// steerAt returns where a price is steerDeltas.
func steerAt(above func(float64) float64) (out [len(steerDeltas)]float64) {
	for i, delta := range steerDeltas {
		out[i], _ = crossingTo(func(eps float64) float64 { return above(eps) - delta }, maxExact-1, 1e-3)
	}
	return out
}

// reachedBy is the sum of the ε at which atoms reach steerDeltas: what rankings are chosen by.
func reachedBy(atoms []profiles.Atom) float64 {
	sum := 0.0
	for _, delta := range steerDeltas {
		e, ok := crossingTo(func(eps float64) float64 {
			d := 0.0
			for _, a := range atoms {
				if a.Loss > eps {
					d -= math.Exp(a.LogP) * math.Expm1(eps-a.Loss)
				}
			}
			return d - delta
		}, maxExact, 1e-3)
		if !ok { // at every ε that counts
			e = maxExact
		}
		sum += e
	}
	return sum
}

// compose returns the pair of the ranking that reaches most, of some, at steerDeltas.
func (at *attacker) compose(ctx context.Context, above func(float64) float64) (*profiles.Discrete, error) {
	var best []profiles.Atom
	var bestErr float64
	value := math.Inf(-1)
	try := func(blocks []block) {
		if !affords(ctx, at.l, 3*len(blocks)) {
			return
		}
		atoms, err := at.atoms(blocks)
		if v := reachedBy(atoms); v > value {
			value, best, bestErr = v, atoms, err
		}
	}
	peak := len(at.a) - 1
	for _, e := range steerAt(above) {
		for _, f := range []float64{0.7, 1, 1.4} {
			if affords(ctx, at.l, 4*len(at.pair.loss)) {
				try(at.ranking(f*e, peak))
			}
		}
		if blocks := at.merge(ctx, e, fewStrips); blocks != nil {
			try(blocks)
		}
	}
	// Two blocks: T of 21 sizes, by its P-mass.
	for k := -16; k <= 4 && ctx.Err() == nil; k++ {
		size := at.low[peak].p * math.Exp2(float64(k)/2)
		i := sort.Search(len(at.low), func(i int) bool { return at.low[i].p >= size })
		try(at.twoBlocks(min(i, len(at.pair.loss))))
	}
	if ctx.Err() != nil || best == nil {
		return nil, ctx.Err()
	}
	return profiles.NewDiscrete(best, math.Inf(-1), math.Inf(-1), bestErr, 2*bestErr+64*xmath.U*(1+math.Abs(best[0].Loss)+math.Abs(best[len(best)-1].Loss)))
}

// twoBlocks ranks {L < loss[i]} on top, by ascending loss, and the others by descending loss.
func (at *attacker) twoBlocks(i int) []block {
	out := at.pair.blocks()
	slices.Reverse(out[i+1:])
	return slices.DeleteFunc(out, func(b block) bool { return !(b.p > 0 || b.q > 0) })
}

// composeStep is the width of loss within which blocks of a ranking are put together, which
// is post-processing.
const composeStep = 1.0 / 2048

// atoms returns the winner's law on the blocks of a ranking, neighbours in loss put
// together, and a bound of the relative error of its masses.
func (at *attacker) atoms(blocks []block) (atoms []profiles.Atom, relErr float64) {
	type mass struct{ a, b float64 }
	var all []mass
	if f0 := at.l.PMF(0); f0 > 0 {
		all = append(all, mass{f0, f0})
	}
	w := at.winner(blocks)
	certain := 0.0
	for i := range blocks {
		a, b, err := w.mass(i, i+1)
		rest := err > 1e-9 // all that is left is one block
		if rest {
			a, b, err = w.mass(i, len(blocks))
		}
		relErr = max(relErr, err)
		if b == 0 && a > 1e-17 && !slices.ContainsFunc(blocks[i:], func(x block) bool { return rest && x.q > 0 }) {
			certain += a // of a loss of 700 at least, which a float64 of b shows
		} else {
			all = append(all, mass{a, b})
		}
		if rest {
			break
		}
	}
	slices.SortStableFunc(all, func(x, y mass) int {
		switch d := x.a*y.b - y.a*x.b; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	var a, b xmath.Sum
	start := math.Inf(-1)
	flush := func() {
		if x, y := a.Value(), b.Value(); x > 1e-280 && y > 1e-280 {
			atoms = append(atoms, profiles.Atom{Loss: xmath.Log(x) - xmath.Log(y), LogP: xmath.Log(x), LogQ: xmath.Log(y)})
			a, b = xmath.Sum{}, xmath.Sum{}
		}
	}
	for _, m := range all {
		if l := xmath.Log(m.a / m.b); l > start+composeStep {
			flush()
			start = l
		}
		a.Add(m.a)
		b.Add(m.b)
	}
	flush()
	if x, y := a.Value(), b.Value(); (x > 0 || y > 0) && len(atoms) > 0 { // too small to stand alone
		l := &atoms[len(atoms)-1]
		l.LogP, l.LogQ = xmath.Log(math.Exp(l.LogP)+x), xmath.Log(math.Exp(l.LogQ)+y)
		l.Loss = l.LogP - l.LogQ
	}
	if certain > 0 {
		const loss = 700 // a smaller loss than there is proves less
		atoms = append(atoms, profiles.Atom{Loss: loss, LogP: xmath.Log(certain), LogQ: xmath.Log(certain) - loss})
	}
	return atoms, relErr + 32*xmath.U
}

// compose returns the pair of the set of accepted outcomes that reaches most at steerDeltas.
func (at *firstAttack) compose(above func(float64) float64) (*profiles.Discrete, error) {
	targets := steerAt(above)
	var best outcomes
	value := math.Inf(-1)
	n := len(at.pair.loss)
	lnM := at.l.logMean()
	for i := 0; i <= n; i += 1 + n/400 {
		for _, e := range targets {
			j := n
			if v := at.low[i].q; v > 1e-300 {
				j = max(i, sort.SearchFloat64s(at.pair.loss, e-lnM+xmath.Log(at.l.Hit(v)/v)))
			}
			if o := at.outcomes(i, j); o.atoms != nil {
				if v := reachedBy(o.atoms); v > value {
					value, best = v, o
				}
			}
		}
	}
	if best.atoms == nil {
		return nil, nil
	}
	// f(1−u) moves by u/(1−u) times what u moves, for each run that a law can have.
	runs := 1.0
	if k, bounded := at.l.MaxRuns(); bounded {
		runs = float64(k)
	}
	mass := 2*at.l.relErr() + 200*(1+runs)*at.pair.rel + 256*xmath.U
	// What only one of the two has, no more than it is.
	alone := func(x float64) float64 {
		x = xmath.Log(x)
		return x - mass*(1+math.Abs(xmath.Finite(x)))
	}
	return profiles.NewDiscrete(best.atoms, alone(best.p), alone(best.q), mass, 2*mass)
}

// outcomes are those of a search that accepts a set: with finite losses, and the masses of P and of Q where the other has none.
type outcomes struct {
	atoms []profiles.Atom
	p, q  float64
}

// atoms returns the law of the first of {L < loss[i]} and {L ≥ loss[j]}: two blocks of the
// accepted outcomes, and "no outcome".
func (at *firstAttack) outcomes(i, j int) (o outcomes) {
	low, high := at.low[i], at.high[j]
	u, v := min(1, low.p+high.p), min(1, low.q+high.q)
	if !(u > 1e-250 && v > 1e-250 && u < 0.99 && v < 0.99) {
		return o
	}
	gu, gv := at.l.Hit(u)/u, at.l.Hit(v)/v
	add := func(x, y float64) {
		switch {
		case x > 1e-280 && y > 1e-280:
			o.atoms = append(o.atoms, profiles.Atom{Loss: xmath.Log(x) - xmath.Log(y), LogP: xmath.Log(x), LogQ: xmath.Log(y)})
		case y == 0:
			o.p += x
		case x == 0:
			o.q += y
		}
	}
	add(gu*low.p, gv*low.q)
	add(gu*high.p, gv*high.q)
	add(at.l.PGF(1-u), at.l.PGF(1-v))
	return o
}
