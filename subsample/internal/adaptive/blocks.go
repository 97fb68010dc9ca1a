// §13 from above: many steps at once, of a law that is the worst for every function of a cone.

package adaptive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// widened is by how much the θ of near' is larger. The check needs room for the error of triangles' bounds, about excessGoal
// of what a step adds to BC or the variance, which grow with e^{θ²} − 1; ε pays as much for it.
func widened(theta float64) float64 {
	square := theta * theta
	return theta * (1 + max(3e-4, -2.1e-3*math.Expm1(-square)/(2*square)))
}

// A stepPair is a pair of laws, by its profile and that of its reverse at α = e^z, z ≥ 0.
type stepPair interface {
	near(z float64) nearPoint
	reverse(z float64) nearPoint
	cumulant(tau float64) float64 // about log E_Q[(P/Q)^τ]
}

// A blocked is what blocks need of a rate and a θ: the cone for which near' is the worst. The rate is the expected number of copies.
type blocked struct {
	rate, theta float64
	wide        stepPair
	several     bool // copies
	lambda      float64
	cells       int     // of the check
	few         int64   // up to so many steps, the pair that is the worst at every α is tried too
	flat        float64 // how long a stretch around α = 1 single steps have level, 0 if they are not proved
}

// lambdas are tried in this order; the cones shrink, and the bounds widen.
var lambdas = [...]float64{0.5, 0.75, 1, 1.5}

// newBlocked checks the first cone that passes. With singly it is to be proved for single steps too: λ = ½ and a level stretch.
// Of several copies, only cones with λ < 1 have a plateau whose value at α = 0 is finite, which infinite losses need.
func newBlocked(ctx context.Context, key blockedKey, step Step) (*blocked, error) {
	if key.scheme == nil {
		step = Single(key.rate)
	}
	at := step(key.theta)
	if !(at.theta >= leastTheta && at.copies < 1) {
		return nil, fmt.Errorf("no check for a distance of %v and %v copies: it must be at least %v at fewer than 1", at.theta, at.copies, leastTheta)
	}
	near, err := newStepPair(ctx, at)
	if err != nil {
		return nil, err
	}
	b := &blocked{rate: at.copies, theta: at.theta, several: !at.single, few: fewSteps}
	if b.wide, err = newStepPair(ctx, step(widened(at.theta))); err != nil {
		return nil, err
	}
	worst, most, try := b.wide, math.Inf(1), lambdas[:]
	if b.several {
		worst, try = near, lambdas[:2]
	}
	if key.singly {
		most, try = levelStretch(b.rate, b.theta), lambdas[:1]
		if b.several {
			most *= severalStretch
		}
		b.flat = most
	}
	for _, lambda := range try {
		var c *check
		if c, err = newCheck(at, near, b.wide, worst, lambda, key.singly); err == nil {
			if b.cells, err = c.run(ctx, most); err == nil {
				b.lambda = lambda
				return b, nil
			}
		}
		if ctx.Err() != nil || err == parallel.ErrWork {
			break
		}
	}
	return b, err
}

// newStepPair returns the pair for a step in which all other records are at the substitute.
func newStepPair(ctx context.Context, s stepBound) (stepPair, error) {
	if s.single {
		return nearPair{s.p1, s.theta}, nil
	}
	return newChordPair(ctx, s)
}

// levelStretch is how long a stretch is tried for single steps: about twice what exact profiles need, in deviations of a step's loss. A
// check refuses one that is too short.
func levelStretch(rate, theta float64) float64 {
	square := theta * theta
	return rate * math.Sqrt(math.Expm1(min(square, 4))) * (2.7 + 0.4*square*square)
}

// singly reports whether single steps are worth their check. Beyond these steps they gain less than 0.2 %; at smaller θ blocks are as
// narrow, at larger ones jumps are what costs.
func singly(theta float64, steps int64) bool {
	return steps <= mostSingly && theta >= 0.8 && theta <= 1.9
}

// A blockedKey names a check: of sampling without replacement by its rate, of others by what the caller calls them.
type blockedKey struct {
	rate, theta float64
	singly      bool
	scheme      any
}

// checked keeps the cones of rates and θ, which take a second each, for all mechanisms of the process.
var checked kept[blockedKey, *blocked]

func blockedOf(ctx context.Context, key blockedKey, step Step) (*blocked, error) {
	return checked.get(ctx, key, func() (*blocked, error) { return newBlocked(ctx, key, step) })
}

// lawOf returns a pair on losses i·step, up to where its profile is e^logTop.
func lawOf(p stepPair, step, logTop float64, most int) (nodeLaw, []int, []float64, error) {
	var x, u, v []float64
	var node []int
	for i := 0; ; i++ {
		_, single := p.(nearPair)
		if i > most && single {
			return nodeLaw{}, nil, nil, fmt.Errorf("the loss of one step spans more than %d lattice steps", most)
		}
		z := float64(i) * step
		near, reverse := p.near(z), p.reverse(z)
		node, x = append(node, i), append(x, z)
		u, v = append(u, near.value+near.err), append(v, reverse.value+reverse.err)
		if i > 0 && xmath.Log(u[i]) < logTop || i >= most && !single { // of several copies losses are rare and large: those above count as infinite
			break
		}
	}
	return newNodeLaw(x, u, v), node, x, nil
}

// cumulant is about log E_Q[(P/Q)^τ] of near: by the trapezoid rule, no bound.
func (p nearPair) cumulant(tau float64) float64 {
	const h = 1. / 16
	// The integrand's second hump is at τ·θ.
	sum, most := 0.0, 0.0
	for pass := range 2 {
		for g := -12.0; g < 12+tau*p.theta; g += h {
			l := tau*math.Log1p(p.rate*math.Expm1(p.theta*g-p.theta*p.theta/2)) - g*g/2
			if pass == 0 {
				most = max(most, l)
			} else {
				sum += math.Exp(l - most)
			}
		}
	}
	return most + xmath.Log(sum*h/math.Sqrt(2*math.Pi))
}

// moment returns the logarithm of E_Q[(P/Q)^n] of near for a whole n, from above: a sum over how many of n factors are of
// the record.
func (p nearPair) moment(n int) float64 {
	log := math.Inf(-1)
	choose := 0.0
	for k := 0; k <= n; k++ {
		log = xmath.LogAdd(log, choose+float64(k)*xmath.Log(p.rate)+float64(n-k)*math.Log1p(-p.rate)+p.theta*p.theta*float64(k)*float64(k-1)/2)
		choose += xmath.Log(float64(n-k)) - xmath.Log(float64(k+1))
	}
	return log + 1e-13*(1+math.Abs(log)+float64(n)*math.Abs(xmath.Log(p.rate)))
}

// saddle is where T·Ψ(τ) − (τ−1)·eps is least.
func saddle(p stepPair, steps, eps float64) float64 {
	lo, hi := 1.0, 2.0
	f := func(tau float64) float64 { return steps*p.cumulant(tau) - (tau-1)*eps }
	for hi < 1e3 && f(hi*1.01) < f(hi) {
		hi *= 2
	}
	least, at := math.Inf(1), lo
	xmath.GoldenSection(func(tau float64) float64 {
		y := f(tau)
		if y < least {
			least, at = y, tau
		}
		return y
	}, lo, hi, 1e-8*hi)
	return at
}

const (
	stageDivision = 4    // steps of a ladder in rate·θ, the size of a loss
	singleShare   = 2e-3 // of a step's variance, what a single step's chords and cells add to it
	singleSteps   = 1000 // so many steps are taken one by one, if that is proved
	kernelShare   = 5e-4 // of a step's variance, what chords of its law add to it
	blockGrowth   = 0.5  // a block, relative to the steps before it
	mostSingly    = 8000 // up to so many steps, single ones are worth their check
	fewSteps      = 256  // up to so many, the pair that is the worst at every α may be better than a cone
	atTop         = 1e-5 // of δ, about what is beyond the top
	infiniteLoss  = 1e-8 // of δ, about what losses have that count as infinite in all steps
)

// ladderFor returns the lattice for a number of steps, tilted to where δ is asked, and the laws of a step on it: of
// near', and of the pair that is the worst at every α. Chords on the way to a coarser lattice are for upper bounds only.
func (b *blocked) ladderFor(ctx context.Context, upper bool, steps int64, eps, logDelta, below float64, maxPoints int) (*ladder, [2]massLaw, error) {
	var laws [2]massLaw
	// The chords of a law of step h add h²/6 to its variance, rate²(e^{θ²} − 1), and cells h²/4.
	deviation := math.Sqrt(math.Expm1(min(b.theta*b.theta, 4)))
	division := float64(stageDivision)
	if b.flat > 0 && upper {
		division = max(division, b.theta*math.Sqrt((1./6+1./4)/singleShare)/deviation)
	}
	step := b.rate * b.theta / division
	points := b.theta / math.Sqrt(6*kernelShare) / deviation / division
	fine := 1
	for float64(fine) < points {
		fine *= 2
	}
	if 3*fine/4 >= int(math.Ceil(points)) {
		fine = 3 * fine / 4
	}
	if !upper {
		step, fine = step/float64(fine), 1
	}
	tau := saddle(b.wide, float64(steps), eps)
	above := (float64(steps)*b.wide.cumulant(tau) - logDelta - xmath.Log(atTop)) / (tau - 1)
	l, err := newLadder(step, fine, below, above, tau, maxPoints)
	if err == nil {
		err = cmp.Or(ctx.Err(), parallel.Spend(ctx, l.price())) // for the laws and their transforms
	}
	if err != nil {
		return nil, laws, err
	}
	logTop := logDelta - xmath.Log(float64(steps)) + xmath.Log(infiniteLoss)
	law, node, x, err := lawOf(b.wide, step/float64(fine), logTop, l.n*fine/2-1)
	if err != nil {
		return nil, laws, err
	}
	return l, [2]massLaw{law.masses(node, x), law.worse().masses(node, x)}, nil
}

// upper returns a ladder and upper bounds of G at its nodes 0..top, after a number of steps.
//
// The stages are the same for every number of steps but for the last, so that more steps never cost less.
func (b *blocked) upper(ctx context.Context, steps int64, eps, logDelta float64, maxPoints int) (*ladder, []float64, error) {
	below := 12 + 4*(b.lambda-0.5)
	if b.several {
		below = 2 * below
	}
	l, laws, err := b.ladderFor(ctx, true, steps, eps, logDelta, below, maxPoints)
	if err != nil {
		return nil, nil, err
	}
	var kernels [2]*kernel
	for i, law := range laws {
		if kernels[i], err = l.kernel(law, true); err != nil {
			return nil, nil, err
		}
	}
	near, either := kernels[0], kernels[1]
	f := newStair(l, b)
	f.setMoments(laws[0])
	// G_0 = (1 − α)₊ is an atom at β = 1.
	atom := make([]float64, len(l.beta))
	atom[l.low] = 1
	fromStart := func(t int64) error {
		f.inf = float64(t) * either.inf
		sum, off := l.raise(either, t)
		return f.step(ctx, atom, sum, off)
	}
	if err := fromStart(1); err != nil {
		return nil, nil, err
	}
	t := int64(1)
	// often keeps the lower of G and the pair's bound, for few steps.
	often := func() error {
		g := f.values()
		if err := fromStart(t); err != nil {
			return err
		}
		if !numbers(g) || !numbers(f.values()) {
			return fmt.Errorf("blocks do not resolve %d steps", t)
		}
		f.below(g)
		return nil
	}
	if b.flat > 0 {
		one, err := l.one(b, logDelta-xmath.Log(float64(steps))+xmath.Log(infiniteLoss))
		if err != nil {
			return nil, nil, err
		}
		k := int(math.Ceil(b.flat / l.step))
		if k >= min(f.low, f.top) {
			return nil, nil, fmt.Errorf("a level stretch of %v reaches beyond the losses that are kept", b.flat)
		}
		for t < min(singleSteps, steps) {
			f.ladder = one.ladder
			if err := f.step(ctx, f.level(k, one.inf), one.sum, one.off); err != nil {
				return nil, nil, err
			}
			f.ladder = l
			if t++; t <= b.few && (t&(t-1) == 0 || t == steps) {
				if err := often(); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	for t < steps {
		size := min(max(1, int64(blockGrowth*float64(t))), steps-t)
		sum, off := l.raise(near, size)
		d := f.majorant(t, size, near.inf)
		if err := f.step(ctx, d, sum, off); err != nil {
			return nil, nil, err
		}
		f.tail(size, near.inf)
		if t += size; t <= b.few {
			if err := often(); err != nil {
				return nil, nil, err
			}
		}
	}
	g := f.values()
	if !numbers(g) || !(g[l.top] < math.Exp(logDelta)) {
		return nil, nil, fmt.Errorf("blocks do not resolve %d steps", steps)
	}
	for i := range g {
		g[i] = min(g[i], 1)
	}
	return l, g, nil
}

// A single is a step of near' on the nodes of a ladder, without a finer lattice.
type single struct {
	*ladder
	sum, off, inf float64
}

func (l *ladder) one(b *blocked, logTop float64) (*single, error) {
	one := *l
	one.fine, one.dense = 1, l.coarse
	one.out, one.power, one.product = make([]float64, l.n), make([]complex128, l.n/2+1), make([]complex128, l.n/2+1)
	law, node, x, err := lawOf(b.wide, l.step, logTop, l.n/2-1)
	if err != nil {
		return nil, err
	}
	k, err := one.kernel(law.masses(node, x), true)
	if err != nil {
		return nil, err
	}
	sum, off := one.raise(k, 1)
	return &single{ladder: &one, sum: sum, off: off, inf: k.inf}, nil
}

// numbers reports whether values are finite.
func numbers(g []float64) bool {
	return !slices.ContainsFunc(g, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// below keeps the lower of two bounds: G is convex, so that the chords of the lower values are above it.
func (f *stair) below(g []float64) {
	x := make([]float64, f.top+1)
	for i, v := range f.values() {
		x[i] = float64(i) * f.ladder.step
		g[i] = min(g[i], v)
	}
	mass, _, inf := xmath.Chords(x, g, false)
	for j := range mass {
		f.c[j] = mass[j] * math.Exp(-x[j]) * (1 + f.rounding)
	}
	f.c[0], f.inf = 0, inf
}

// A stair is an upper bound of G: Σ_{j>0} c_j (β_j − α)₊ + inf for α ≥ 1, and for α < 1 what symmetry says.
type stair struct {
	*ladder
	of      *blocked
	c       []float64 // by node 0..top; c_0 is not used
	inf     float64
	density float64    // of the plateau of the last majorant: of n, per unit of log β
	spread  [3]float64 // of an atom over its cell, on the nodes −1, 0 and 1
	falls   []float64  // β^−λ by node
	moments []moment   // of a step
}

func newStair(l *ladder, b *blocked) *stair {
	f := &stair{ladder: l, of: b, spread: spread(b.lambda, l.step)}
	for i := range l.beta {
		f.falls = append(f.falls, math.Exp(-b.lambda*float64(i-l.low)*l.step))
	}
	return f
}

// spread returns the masses at −1, 0 and 1 of an atom that is spread over a cell of width h on which n is constant: γ is
// e^{−λy}dy, shifted so that mass and mean are kept, and then joined by chords. The shift is the same for all
// atoms, so that cells meet. The outer masses are rounded up, by what keeps the mean.
func spread(lambda, h float64) [3]float64 {
	sinhc := func(x float64) float64 {
		if math.Abs(x) < 1e-4 {
			return 1 + x*x/6
		}
		return math.Sinh(x) / x
	}
	shift := xmath.Log(sinhc(lambda*h/2) / sinhc((1-lambda)*h/2))
	end := shift + h/2
	// ∫ (e^s − 1) e^{−λs} ds over [0, end], by its series at 0, of which two more terms are below 1e-3 of the last.
	over := 0.0
	a, b := 1-lambda, -lambda
	term, pa, pb := end*end/2, a, b
	for k := 1; k < 20; k++ {
		over += (pa - pb) * term // (a^k − b^k)·end^{k+1}/(k+1)!
		pa *= a
		pb *= b
		term *= end / float64(k+2)
	}
	mass := expIntegral(b, shift-h/2, end)
	up := over / mass / math.Expm1(h) * (1 + 1e-9)
	down := up * math.Exp(h)
	return [3]float64{down, 1 - up - down, up}
}

// step applies power, of a kernel of this sum and error, to masses by node, and keeps what is above α = 1.
func (f *stair) step(ctx context.Context, masses []float64, sum, off float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := parallel.Spend(ctx, f.price()); err != nil {
		return err
	}
	tilted := make([]float64, len(masses))
	total := 0.0
	for i, m := range masses {
		tilted[i] = m * f.weight[i]
		total += tilted[i]
	}
	out, err := f.apply(tilted, sum, off)
	f.c = f.gather(out, err)
	for i := range f.c {
		f.c[i] *= 1 + f.rounding
	}
	// What is above the top counts as β, wherever α is.
	f.inf += total * sum * math.Exp(-(f.tilt-1)*float64(f.top)*f.ladder.step) * (1 + f.rounding)
	return nil
}

// values returns G at the nodes 0..top, inf included, rounded up.
func (f *stair) values() []float64 {
	g := make([]float64, f.top+1)
	f.fill(g)
	for i := range g {
		g[i] += f.inf
	}
	return g
}

// fill sets g to Σ_{j>i} c_j (β_j − β_i), from above. All terms are positive.
func (f *stair) fill(g []float64) {
	sum := 0.0
	g[f.top] = 0
	for i := f.top - 1; i >= 0; i-- {
		sum += f.c[i+1]
		g[i] = g[i+1] + sum*(f.beta[i+1+f.low]-f.beta[i+f.low])
	}
	for i := range g {
		g[i] *= 1 + f.rounding
	}
}

// candidates is how many lengths of a plateau are compared.
const candidates = 24

// majorant returns the masses of a function D of the cone that is at least G everywhere, for a block of so many steps after t,
// each of which has P-mass pInf at +∞.
//
// Above a node k, n = c·β^λ is the least falling one; below, it is constant, as large as it takes for D to be
// at least G at all nodes, those below α = 1 too, and 1 at α = 0: G is convex, and D linear from there to the lowest node. Any k is
// right; the one is taken whose D has least at the tilt of what the block brings above α = 1.
func (f *stair) majorant(t, size int64, pInf float64) []float64 {
	low, top := f.low, f.top
	g := make([]float64, low+top+1)
	f.fill(g[low:])
	for i := 1; i <= low; i++ { // G(α) = 1 − α + αG(1/α)
		x, mirror := -float64(i)*f.ladder.step, 0.0
		if i <= top {
			mirror = g[low+i]
		}
		g[low-i] = (-math.Expm1(x) + math.Exp(x)*mirror) * (1 + 8*xmath.U)
	}
	reach := f.reach()
	// Sums over the nodes above one, of the part of D that falls: its n, Σ d_j, D itself, Σ d_j β_j, and what it has more than G
	// at the tilt.
	n, mass, value, first, more := make([]float64, top+2), make([]float64, top+1), make([]float64, top+1), make([]float64, top+1), make([]float64, top+1)
	for j := top; j >= 1; j-- {
		i := j + low
		n[j] = max(n[j+1], f.c[j]/f.falls[i]*(1+f.rounding))
		d := n[j] * f.falls[i]
		mass[j-1] = mass[j] + d
		value[j-1] = value[j] + mass[j-1]*(f.beta[i]-f.beta[i-1])
		first[j-1] = first[j] + d*f.beta[i]
		more[j-1] = more[j] + (d-f.c[j])*f.weight[i]
	}
	deviation := f.of.rate * math.Sqrt(float64(t)*math.Expm1(min(f.of.theta*f.of.theta, 4)))
	widest := min(float64(top-1), 6*deviation/f.ladder.step+8)
	bestK, bestN, best := -1, 0.0, math.Inf(1)
	for q := range candidates {
		k := int(math.Round(math.Pow(widest+1, float64(q)/(candidates-1)) - 1))
		if k == bestK {
			continue
		}
		height := f.plateau(g, k, n[k+1], mass[k], value[k], first[k])
		cost := more[k]
		for i := 0; i <= k+low; i++ {
			var c float64
			switch j := i - low; {
			case j > 0:
				c = f.c[j]
			case j < 0 && -j <= top:
				c = f.c[-j] * f.beta[low-j]
			}
			cost += (height*f.falls[i] - c) * f.weight[i] * reach[i]
		}
		if cost < best {
			bestK, bestN, best = k, height, cost
		}
	}
	d := make([]float64, low+top+1)
	atZero := 0.0 // D(0)
	for i := range d {
		m := bestN
		if j := i - low; j > bestK {
			m = n[j]
		}
		atZero += f.put(d, i, m)
	}
	// An atom's cell has the mass of the atom, so that n is that over the integral of e^{−λy} there.
	f.density = bestN / f.ladder.step * (1 + f.of.lambda*f.ladder.step) * (1 + f.rounding)
	// At +∞, which a step reaches with pInf, D counts as D(0). What the cell at the top has above the last node has its mean.
	f.inf += (float64(size)*pInf*atZero + f.overTop(n[top])) * (1 + f.rounding)
	return d
}

// put spreads a density over the cell of node i, and returns what D(0) has of it.
func (f *stair) put(d []float64, i int, density float64) float64 {
	m := density * (f.falls[i] * (1 + f.rounding))
	d[max(i-1, 0)] += m * f.spread[0] // a higher node at the bottom only adds
	d[i] += m * f.spread[1]
	d[min(i+1, f.low+f.top)] += m * f.spread[2]
	return m * f.beta[i]
}

// overTop is the mean of what the cell at the top has above the last node, for a density there.
func (f *stair) overTop(density float64) float64 {
	last := f.low + f.top
	return density * f.falls[last] * f.beta[last] * f.spread[2] * math.Exp(f.ladder.step)
}

// plateau returns the least n of a plateau up to node k below a part with these sums, least or more.
func (f *stair) plateau(g []float64, k int, least, mass, value, first float64) float64 {
	height := least
	sum, sumBeta, at := 0.0, 0.0, 0.0
	for i := k + f.low - 1; i >= 0; i-- {
		sum += f.falls[i+1]
		sumBeta += f.falls[i+1] * f.beta[i+1]
		at += sum * (f.beta[i+1] - f.beta[i])
		above := value + mass*(f.beta[k+f.low]-f.beta[i])
		height = max(height, (g[i]*(1+f.rounding)-above*(1-f.rounding))/at)
	}
	sumBeta += f.falls[0] * f.beta[0]
	return max(height, (1+f.rounding-first*(1-f.rounding))/sumBeta) * (1 + 2*f.rounding)
}

// reach returns by node the probability that a block brings it above α = 1, under its tilted law: about, from the
// lower frequencies of its transform.
func (f *stair) reach() []float64 {
	z := make([]complex128, f.n/2+1)
	copy(z, f.power)
	law := f.coarse.Sequence(nil, z)
	total := 0.0
	for _, v := range law {
		total += v
	}
	out := make([]float64, len(f.beta))
	sum, i := 0.0, 0
	for j := f.n / 2; j > -f.n/2; j-- {
		sum += law[(j+f.n)%f.n]
		for ; i < len(out) && i-f.low <= -j; i++ {
			out[i] = min(max(sum/total, 0), 1)
		}
	}
	for ; i < len(out); i++ {
		out[i] = 1
	}
	return out
}

// mostMoment is the largest τ' that is tried for what is below a ladder.
const mostMoment = 32

// A moment is the logarithm of E_Q[(P/Q)^tau], from above; of several copies without what is at +∞.
type moment struct{ tau, log float64 }

// severalMoments are those of several copies, most of whose moments are of rare large losses.
var severalMoments = [...]float64{1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.75, 2, 2.5, 3, 4, 6, 8, 12, 16, 24, 32}

// setMoments sets the moments: of the pair, or of its law above.
func (f *stair) setMoments(law massLaw) {
	if one, ok := f.of.wide.(nearPair); ok {
		for n := 2; n <= mostMoment; n++ {
			f.moments = append(f.moments, moment{float64(n), one.moment(n)})
		}
		return
	}
	for _, tau := range severalMoments {
		log := math.Inf(-1)
		for i, m := range law.mass {
			log = xmath.LogAdd(log, xmath.Log(m)+(tau-1)*float64(law.index[i])*f.ladder.step/float64(f.fine))
		}
		off := 16 * xmath.U * float64(len(law.mass)+8) * (1 + math.Abs(log)) // of as many additions of logarithms
		f.moments = append(f.moments, moment{tau, log + off + f.rounding*tau})
	}
}

// tail adds what the plateau of the last majorant has below the ladder, after a block of steps each of which has P-mass pInf at +∞.
//
// For τ' > λ its part at β is at α at most β^{τ'}·M·α^{1−τ'}, M being the block's E_Q[(P/Q)^τ'], since (x − α)₊ ≤ x^τ'·α^{1−τ'}. In
// all that is density·M·α^{1−τ'}·e^{−(τ'−λ)Y}/(τ'−λ), from −Y down: a convex function of α, whose chords are added. Moments of
// several copies are without what is at +∞, where the plateau is its value at α = 0.
func (f *stair) tail(size int64, pInf float64) {
	h := f.ladder.step
	y := float64(f.low-1) * h // the lowest cell ends above
	if one := 1 - f.of.lambda; f.of.several {
		f.inf += float64(size) * pInf * f.density * math.Exp(-one*y) / one * (1 + f.rounding)
	}
	tau, log := 0.0, math.Inf(1)
	for _, m := range f.moments {
		gap := m.tau - f.of.lambda
		if gap <= 0 {
			continue
		}
		if v := float64(size)*m.log - gap*y - xmath.Log(gap); v < log {
			tau, log = m.tau, v
		}
	}
	scale := f.density * math.Exp(log) * (1 + 1e-9)
	// The slopes of chords of α^{1−τ'} are α^{−τ'} times a constant, and their differences the masses.
	slopes := -math.Expm1((1-tau)*h) / math.Expm1(h) * math.Expm1(tau*h) * (1 + 1e-9)
	for j := 1; j < f.top; j++ {
		f.c[j] += scale * slopes * math.Exp(-tau*float64(j)*h)
	}
	// From the last node on there is no slope to take off.
	f.c[f.top] += scale * slopes * math.Exp(-tau*float64(f.top-1)*h) / math.Expm1(tau*h) * (1 + 1e-9)
	f.inf += scale * math.Exp((1-tau)*float64(f.top)*h)
}

// Proof (docs/theory/subsampling.md §13): a block.
//
// A block (`blocks.go`). G is kept as masses c_j at β = e^{jh}, j > 0, from which symmetry gives the values at α < 1.
//
//   1. *Majorant.* n = cβ^λ is replaced above a node k by the least falling one, below it by a constant: the least for
//      which D is at least G at every node, those below α = 1 included (losses lead there; without them the README's
//      "upper end" is below an attack), and D(0) ≥ 1 = G(0), which does for what is below the lowest node. k is chosen
//      by what the block costs; any is right.
//   2. *Cells.* Atoms are not in a cone. Each is spread over a cell of width h on which n is constant, `γ ~
//      e^{−λy}dy`, shifted by log((sinh(λh/2)/λ)/(sinh((1−λ)h/2)/(1−λ))), about (2λ − 1)h²/24, so that mass and mean
//      stay: all shifts are the same, so cells meet. Chords bring it back to the nodes, with the masses `c_1 = F/(e^h
//      − 1)`, `c_{−1} = c_1e^h`, F the cell's `∫(e^s − 1)₊`. (1/8, 3/4, 1/8 with the mean kept is too little by a
//      factor e^{−h/2}.)
//   3. *Power.* The law of a step is the chords of near' on a lattice 3 to 16 times finer, so that its bias, h²/6 of
//      variance, is small in every step; the power of its transform is taken there, and only the result goes to the
//      stage's lattice. With an error e of the transform relative to its largest value and 3u of a product, a power of
//      B steps is off by `(1 + e + 6u)^B − 1`: a squaring doubles the error it is given, so that this grows with B and
//      not with log B.
//   4. *Infinite losses.* Each step has p of them, and D counts there as D(0), some tens and not 1: `B·p·D(0)` is
//      added. What the block brings above the top is at most `e^{−(τ−1)Y}` times the tilted mass.
//   5. *Below the ladder* the plateau goes on to β = 0. From −Y down it has, for any τ' > max(λ, 1) and with ν the
//      density of n, at most `ν·E_Q[(P/Q)^τ']^B·α^{1−τ'}·e^{−(τ'−λ)Y}/(τ'−λ)`, since `(x − α)₊ ≤ x^τ'α^{1−τ'}`. Chords
//      of this function are added; τ' is a whole number, so that the moment is a finite sum.
//
// Blocks grow by half of the steps before. They are the same for every number of steps but for the last, so that more
// steps never cost less: E_near grows by Jensen, and each majorant is above what it replaces. Up to 256 steps the pair
// that is the worst at every α, composed from the start, is looked at too, and the lower chords are kept.

// Open (docs/theory/subsampling.md §11): why these have no blocks, or no recursion.
//
//   * Blocks (§13) for MUST.OW. Its public choice between two triangles holds for the bound of each, joined by chords
//     or not; the check of §13 takes, for each triangle and stretch, the smaller of the chord and the worst bound, and
//     a mixture of such choices is above no pair's profile. With chords alone the check fails next to near.
//   * Blocks for zero-out. Enlarged until its longest side from the empty place is 1, and with z moved to the circle
//     (§10), every configuration is dominated by one with |x| = |z| = 1: only the angle is left. But no one of them is
//     the worst for a cone in the direction "add": B of Theorem Z is the worst at every α ≥ 1, while at small rates
//     the opposed z has the larger variance, `q²(e^{4θ²} − 2e^{2θ²} + e^{θ²})` against `q²(e^{θ²} − 1)`. So `M_c ≥ 0`
//     fails there for z → −∞, for every λ ≤ 2. What is needed is a pair above both.
//   * The recursion for MUST.WW. Its mass of "no slot" would have to be shared among the numbers of slots in
//     proportions that do not depend on α, for the two places of another record to keep theirs; and those are far from
//     the best shares (ε ≤ 3.88 at n=1000, b=100, m=50, σ=5, k=1000, where the product has 3.617).

// Theory (docs/theory/accuracy.md §12): what blocks of steps count besides the errors of the recursion.
//
//   - the check's integrals: tangents of near' from below and chords of the cell's bounds from above on eight parts of
//     each stretch; the least partial sum within parts too; 1e-12 of the sum of all terms to spare.
//   - the power of a transform: (1 + e + 6u)^B − 1 of its largest value, e the error of the kernel's own transform, of
//     all but its mass at 0.
//   - transforms, weights, sums over nodes: as above, added to each mass, or taken from it.
//   - the majorant: values of G rounded up, its own down, in units of a rounding of all nodes.
//   - infinite losses, the top, the plateau below the ladder: added to G in every block.
//
// The attack's lower end uses lower laws and subtracts the same errors.

// Proof (docs/theory/subsampling.md §13): Theorem B.
//
// n is a mixture of indicators of β < β₀, and for one of them, with r = α/β,
// `(E_near − E_c)[G](α) = α^{1−λ} ∫_{α/β₀}^∞ r^{λ−2} (h_near − h_c)(r) dr = α^{1−λ} M_c(log(α/β₀)) ≥ 0`. `E_near`
// multiplies β by an independent factor, the law of P/Q under Q: n becomes a mixture with positive weights of
// `n(·/r)`, which falls. Then `G_{t+1} = sup_c E_c[G_t] ≤ sup_c E_c[D] ≤ E_near[D]`, which is in K_λ again and above
// G_{t+1} everywhere. ∎
