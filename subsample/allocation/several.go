package allocation

// Several uses of a record in an epoch, k of t: Theorem 4 of docs/theory/allocation.md.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// blocks returns the sizes of the blocks of Theorem 4: long ones of ⌈t/k⌉, short ones of ⌊t/k⌋.
func (s randomScheme) blocks() (long, short, size int64) {
	size = s.steps / s.uses
	long = s.steps % s.uses
	return long, s.uses - long, size
}

// several is k of t: above, blocks (Theorem 4); below, a test.
func (s randomScheme) several(ctx context.Context, b profiles.Mechanism, r profiles.Relation, upper, lower positive.Source) (profiles.Bounds, error) {
	above, err := s.blocksAbove(ctx, upper)
	if err != nil {
		return profiles.Bounds{}, err
	}
	up, err := profileOf(above)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := between(b.Name(), r, up, nil, false)
	for d := range m.Directions {
		if m.Directions[d].Lower, err = s.test(ctx, lower, d == 1); err != nil {
			return profiles.Bounds{}, err
		}
	}
	return m, nil
}

func (s randomScheme) blocksAbove(ctx context.Context, upper positive.Source) (*positive.Law, error) {
	upper, err := s.use(upper)
	if err != nil {
		return nil, err
	}
	p := &positive.Program{}
	a := p.Source(upper)
	long, short, size := s.blocks()
	all := epoch(p, a, size, size)
	all = p.Power(all, short)
	if long > 0 {
		all = p.Multiply(all, p.Power(epoch(p, a, size+1, size+1), long))
	}
	if !s.once {
		p.Power(all, s.epochs)
	}
	up, _, err := p.RunFor(ctx, s.target.positive(), s.target.Runs)
	return up, err
}

// A lattice is a positive measure on lo, lo+1, …, with masses that are too small by a relative
// error of at most err, and by dropped altogether.
type lattice struct {
	lo           int
	mass         []float64
	err, dropped float64
}

// The lattice of the test has so many points in a standard deviation of T; the choice among
// tests has few. Where losses are far beyond that, as of next to no noise, the points are further apart, so that those of one
// g are at most mostCells of the fine one, and fewer of a coarse one: any lattice is a test.
const coarsePoints, finePoints, mostCells = 30.0, 240.0, 1 << 12

// A test whose laws may be this wide is the best of the coarse ones.
const coarseEnough = 0.25

// perProduct is what a product of masses takes of a limit of work, in the unit of parallel.WithWork.
const perProduct = 0.03

// testCut is where masses of the test are dropped, as a share of δ.
const testCut = 1e-24

// trim drops what is below cut at the ends.
func (l lattice) trim(cut float64) lattice {
	from, to := 0, len(l.mass)
	for from < to && l.mass[from] < cut {
		l.dropped += l.mass[from]
		from++
	}
	for to > from && l.mass[to-1] < cut {
		to--
		l.dropped += l.mass[to]
	}
	l.lo += from
	l.mass = l.mass[from:to]
	return l
}

// leastProduct is a mass from which on a product has no error below the normal numbers.
const leastProduct = 0x1p-1000

// least returns the smallest mass that is not 0, 1 if there is none.
func (l lattice) least() float64 {
	m := 1.0
	for _, x := range l.mass {
		if x > 0 {
			m = min(m, x)
		}
	}
	return m
}

// times returns the law of the sum of two.
func (l lattice) times(o lattice, cut float64) lattice {
	r := lattice{lo: l.lo + o.lo, mass: make([]float64, max(0, len(l.mass)+len(o.mass)-1)), dropped: l.dropped + o.dropped}
	for i, x := range l.mass {
		if x == 0 {
			continue
		}
		row := r.mass[i : i+len(o.mass)]
		for j, y := range o.mass {
			row[j] += x * y
		}
	}
	r.err = l.err + o.err + float64(min(len(l.mass), len(o.mass))+4)*u
	if l.least()*o.least() < leastProduct {
		r.dropped += 2 * math.SmallestNonzeroFloat64 * float64(len(l.mass)) * float64(len(o.mass))
	}
	return r.trim(cut)
}

func (l lattice) power(ctx context.Context, n int64, cut float64) (lattice, error) {
	r := lattice{mass: []float64{1}}
	for square := l; ; square = square.times(square, cut) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if err := parallel.Take(ctx, perProduct*float64(len(square.mass))*float64(len(square.mass)+len(r.mass))); err != nil {
			return r, err
		}
		if n&1 == 1 {
			r = r.times(square, cut)
		}
		if n >>= 1; n == 0 {
			return r, nil
		}
	}
}

// test returns the profile of T = Σ g(y_i) for g = log(1 − q + q·A) rounded to a lattice, whose
// law is G_0^{t−k} * G_1^k with the record and G_0^t without it: what an attacker reaches by
// looking at T alone; or, back, the other way round. Whatever g is, it bounds from below; of a few it
// is the best.
func (s randomScheme) test(ctx context.Context, lower positive.Source, back bool) (profiles.Profile, error) {
	lower, err := s.use(lower)
	if err != nil {
		return nil, err
	}
	rate := float64(s.uses) / float64(s.steps)
	share, top := 0.0, math.Inf(-1)
	var best profiles.Profile
	for _, x := range []float64{1.1, 0.9, 0.75, 0.6} {
		if x*rate >= 1 {
			continue
		}
		d, err := s.testAt(ctx, lower, x*rate, coarsePoints, back)
		if err != nil {
			return nil, err
		}
		if e := epsilonOf(d, s.target.Delta); e > top {
			share, top, best = x, e, d
		}
	}
	if s.target.Relative < coarseEnough {
		// Rounding g costs the square of its step over the spread of one g.
		if best, err = s.testAt(ctx, lower, share*rate, min(max(6*math.Sqrt(float64(s.steps)), 100), finePoints), back); err != nil {
			return nil, err
		}
	}
	if s.once || s.epochs == 1 {
		return best, nil
	}
	return powerBelow(ctx, best, s.epochs, s.target.positive())
}

// powerBelow returns a profile below so many uses of an attack.
func powerBelow(ctx context.Context, attack profiles.Profile, uses int64, t positive.Target) (profiles.Profile, error) {
	p := &positive.Program{}
	p.Power(p.Source(positive.FromProfile{Profile: attack}), uses)
	_, low, err := p.Run(ctx, t)
	if err != nil {
		return nil, err
	}
	return profileOf(low)
}

func (s randomScheme) testAt(ctx context.Context, lower positive.Source, rate, pointsPerSpread float64, back bool) (*profiles.Discrete, error) {
	// The spread of g under Q, from a sketch, sets the lattice.
	sketch := lower.Sketch(400, testCut)
	mean, second := 0.0, 0.0
	for i, x := range sketch.X {
		g := math.Log1p(rate * (x - 1))
		mean += sketch.Mass[i] * g
		second += sketch.Mass[i] * g * g
	}
	from, to := math.Log1p(-min(rate, 1-1e-12)), math.Log1p(rate*(sketch.X[len(sketch.X)-1]-1))
	step := max(math.Sqrt(max(second-mean*mean, 1e-300)*float64(s.steps))/pointsPerSpread, (to-from)/(mostCells*pointsPerSpread/finePoints))
	lo, hi := int(math.Floor(from/step))-1, int(math.Ceil(to/step))+1
	var edges []float64
	first := lo
	for j := lo; j < hi; j++ {
		if a := math.Expm1((float64(j)+0.5)*step)/rate + 1; a > 0 {
			edges = append(edges, a)
		} else {
			first = j + 1
		}
	}
	q, p, relErr, lost := lower.Masses(edges)
	cut := testCut * s.target.Delta / float64(s.steps)
	g0 := lattice{lo: first, mass: q, err: relErr, dropped: lost}.trim(cut)
	g1 := lattice{lo: first, mass: p, err: relErr, dropped: lost}.trim(cut)
	rest, err := g0.power(ctx, s.steps-s.uses, cut)
	if err != nil {
		return nil, err
	}
	uses0, err := g0.power(ctx, s.uses, cut)
	if err != nil {
		return nil, err
	}
	uses1, err := g1.power(ctx, s.uses, cut)
	if err != nil {
		return nil, err
	}
	with, without := rest.times(uses1, cut), rest.times(uses0, cut)
	if back {
		return testProfile(without, with)
	}
	return testProfile(with, without)
}

// testProfile returns the profile of the two laws: P-masses are too small by less than rounding, and
// what was dropped of Q is added to each outcome, as it may have been any. Where nothing was, an outcome without a Q-mass
// is one that Q never has, and its loss is infinite. Where what was added makes more than 1 of Q, both laws are taken by so
// much less often; what Q has where P has nothing, less the errors, is at −∞.
func testProfile(p, q lattice) (*profiles.Discrete, error) {
	var atoms []profiles.Atom
	var infinite []float64
	err := p.err + q.err
	var total xmath.Sum
	for i, m := range p.mass {
		j := i + p.lo - q.lo
		n := q.dropped * (1 + 1e-9)
		if j >= 0 && j < len(q.mass) {
			n += q.mass[j]
		}
		if m <= 0 {
			continue
		}
		if n <= 0 {
			infinite = append(infinite, xmath.Log(m))
			continue
		}
		total.Add(n)
		lp, lq := xmath.Log(m), xmath.Log(n)
		atoms = append(atoms, profiles.Atom{Loss: lp - lq, LogP: lp, LogQ: lq})
	}
	logPInf := xmath.LogSum(infinite)
	if more := xmath.Log(total.Value()); more > 0 {
		logPInf -= more
		for i := range atoms {
			atoms[i].LogP -= more
			atoms[i].LogQ -= more
		}
	}
	if !math.IsInf(logPInf, -1) {
		logPInf -= (err + 8*u) * (1 + math.Abs(logPInf)) // Support has no error of its own
	}
	rest := max(0, 1-total.Value()*(1+(err+8*u)*(1+xmath.Log(float64(len(atoms)+2)))))
	return profiles.NewDiscrete(atoms, logPInf, xmath.Log(rest), err+8*u, 2*err+64*u)
}

// epsilonOf returns about ε(δ) of one run, for choices only.
func epsilonOf(p profiles.Profile, delta float64) float64 {
	eps, _ := xmath.Bisect(0, 700, 50, func(eps float64) bool {
		d, err := profiles.LogDelta(p, eps)
		return d > xmath.Log(delta) && !math.IsInf(err, 1)
	})
	return eps
}
