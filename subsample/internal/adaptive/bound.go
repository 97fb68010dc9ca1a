// §10 from above: the bound on many steps.

package adaptive

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Bound bounds the adaptive composition of many steps of a sampled
// Gaussian mechanism under substitution, by the recursion over data
// configurations. It is tighter than composing the profile of one step, which
// dominates all configurations at once: for sampling 200 of 10,000 without
// replacement at noise multiplier 4, 1000 steps and δ = 1e-5, ε ≤ 1.335 instead
// of 1.534, with 1.332 attained.
//
// Relation: substitute. Mechanism: Gaussian noise on a sum of contributions of
// norm at most 1. Sampling: without replacement, with replacement, MUST.OW and
// MUST.WO, with a fresh sample for every run and public sizes. The adversary may
// choose queries and, by them, the place of the other records at every step from
// earlier outputs.
//
// Theorem: the recursion of docs/theory/subsampling.md §10, on the comparison of
// Gaussian mixtures of §3 (Kahane 1986). It is safe for concurrent use.
type Bound interface {
	profiles.Together
	// Price returns about the least work (of parallel.WithWork) that Upper takes: that of its laws and transforms. How many members
	// dominate all configurations, which may cost as much again, is known only once they are found. The error is one that Upper
	// would have.
	Price(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (float64, error)
}

type bound struct {
	theta    float64
	at       Step
	scheme   any
	inBlocks bool
	attack   profiles.Profile
	palettes kept[float64, *palette] // by logTop
	families kept[familyKey, *family]
}

// NewBound returns the bound for steps of noise 1 in which the means of a record and its
// substitute are theta apart. attack is the pair that is attained in a step. A scheme with several copies for which blocks are proved has a name,
// equal for equal steps; it is nil for others.
func NewBound(theta float64, step Step, attack profiles.Profile, scheme any) Bound {
	return &bound{theta: theta, at: step, scheme: scheme, inBlocks: scheme != nil || step(theta).single, attack: attack}
}

// Upper returns a profile that bounds the composition of k steps, tight for
// losses of about eps, where δ is about e^logDelta. Transforms are of at most
// maxPoints points. A context with a limit of work ends it with parallel.ErrWork.
func (a *bound) Upper(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (profiles.Profile, error) {
	p, c, err := a.prepare(ctx, k, eps, logDelta)
	if err != nil {
		return nil, err
	}
	top, err := latticeTop(eps, c, p.step, p.node[len(p.node)-1], maxPoints)
	if err != nil {
		return nil, err
	}
	reach := p.node[len(p.node)-1]
	size, _ := recursion{step: p.step, c: c}.size(top, reach, reach)
	// A family after which the transforms cannot be paid is of no use.
	_, left := parallel.Work(ctx)
	f, err := a.family(parallel.WithWork(ctx, left-float64(k)*stepPrice(size, len(p.laws))), p, c)
	if err != nil {
		return nil, err
	}
	join := &joint{members: f.members, worst: worst}
	r := recursion{step: f.step, c: c, upper: true, join: join.join, joint: join}
	for _, l := range f.laws {
		r.laws = append(r.laws, l.masses(f.node, f.x))
	}
	g := make([]float64, top+1)
	if err := r.run(ctx, g, k); err != nil {
		return nil, err
	}
	if !(g[0] <= 1) || !(g[top] < math.Exp(logDelta)) {
		return nil, fmt.Errorf("the recursion does not resolve %d steps", k)
	}
	return symmetric(f.step, g)
}

// Price implements Bound.
func (a *bound) Price(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (float64, error) {
	if err := within(k, eps, logDelta); err != nil {
		return 0, err
	}
	g, err := newGrid(ctx, a.at, a.theta, logTop(k, logDelta))
	if err != nil {
		return 0, err
	}
	c, reach, laws := slopeAt(eps, logDelta), g.node[len(g.node)-1], right+1+len(edgeAt)
	top, err := latticeTop(eps, c, g.step, reach, maxPoints)
	if err != nil {
		return 0, err
	}
	size, _ := recursion{step: g.step, c: c}.size(top, reach, reach)
	return perNode*float64(len(g.node)) + float64(k)*stepPrice(size, laws), nil
}

// Attack returns the loss that a concrete adaptive adversary
// reaches in k steps, accurate where Upper is.
func (a *bound) Attack(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (profiles.Reached, error) {
	p, c, err := a.prepare(ctx, k, eps, logDelta)
	if err != nil {
		return nil, err
	}
	// Lower laws lose more by the lattice than chords do: a finer one.
	square := p.bound.theta * p.bound.theta
	step := min(p.step, deviation(p.bound)/(16+8/(1+square*square)))
	most := int(math.Ceil(p.x[len(p.x)-1] / step))
	top, err := latticeTop(eps, c, step, most, maxPoints)
	if err != nil {
		return nil, err
	}
	at := newAttack(a.attack, step, top, min(top, most), c)
	if err := at.run(ctx, k); err != nil {
		return nil, err
	}
	return at, nil
}

// InBlocks reports whether there are the bounds of UpperInBlocks and AttackInBlocks.
func (a *bound) InBlocks() bool { return a.inBlocks }

// UpperInBlocks is as Upper, for any number of steps, of the schemes of InBlocks: a few dozen blocks of steps, each of one law
// (docs/theory/subsampling.md §13), after some hundred single steps where those are proved and the steps are few. It takes a second or
// two after a check of one to three that a process keeps for each rate and θ, and is tight for hundreds of steps or more.
func (a *bound) UpperInBlocks(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (profiles.Profile, error) {
	b, err := a.blocked(ctx, k, eps, logDelta)
	if err != nil {
		return nil, err
	}
	best, err := b.profile(ctx, k, eps, logDelta, pointsInBlocks*maxPoints)
	if err != nil || b.flat == 0 {
		return best, err
	}
	// Where single steps gain nothing, or have no room, blocks alone are the answer.
	alone := *b
	alone.flat = 0
	p, err := alone.profile(ctx, k, eps, logDelta, pointsInBlocks*maxPoints)
	if err != nil {
		return best, ctx.Err()
	}
	one, _ := profiles.LogDelta(p, eps)
	if l, _ := profiles.LogDelta(best, eps); one < l {
		return p, nil
	}
	return best, nil
}

// profile returns the bound on steps.
func (b *blocked) profile(ctx context.Context, steps int64, eps, logDelta float64, maxPoints int) (profiles.Profile, error) {
	l, g, err := b.upper(ctx, steps, eps, logDelta, maxPoints)
	if err != nil {
		return nil, err
	}
	return symmetric(l.step, g)
}

// AttackInBlocks is as Attack: the adversary chooses once for each block of steps.
func (a *bound) AttackInBlocks(ctx context.Context, k int64, eps, logDelta float64, maxPoints int) (profiles.Reached, error) {
	b, err := a.blocked(ctx, k, eps, logDelta)
	if err != nil {
		return nil, err
	}
	at, err := b.lower(ctx, a.attack, k, eps, logDelta, pointsInBlocks*maxPoints)
	if err != nil {
		return nil, err
	}
	return at, nil
}

// pointsInBlocks is how many points of a ladder, of some 90 bytes, take the memory of one of a recursion.
const pointsInBlocks = 4

func (a *bound) blocked(ctx context.Context, k int64, eps, logDelta float64) (*blocked, error) {
	if err := within(k, eps, logDelta); err != nil {
		return nil, err
	}
	if !a.inBlocks {
		return nil, fault.New("sampling", "is not in [without-replacement, with-replacement, must-wo], for which blocks of steps are proved")
	}
	key := blockedKey{theta: a.theta, scheme: a.scheme, singly: singly(a.theta, k)}
	if a.scheme == nil {
		key.rate = a.at(a.theta).p1
	}
	b, err := blockedOf(ctx, key, a.at)
	if err != nil && key.singly && ctx.Err() == nil && err != parallel.ErrWork {
		key.singly = false
		return blockedOf(ctx, key, a.at)
	}
	return b, err
}

// latticeTop returns how many lattice points a question about eps needs, with the tilt c.
func latticeTop(eps, c, step float64, reach, maxPoints int) (int, error) {
	maxPoints = min(maxPoints, gonumfft.MaxLength/4) // with the cut and the reach of one step on top
	points := (eps + 7/c) / step                     // G there is e^−7 of δ, as which it counts beyond
	if !(points+2*float64(reach) <= float64(maxPoints)) {
		return 0, fmt.Errorf("the recursion needs more than %d points", maxPoints)
	}
	return int(math.Ceil(points)), nil
}

// within is an error for a question that has no answer.
func within(k int64, eps, logDelta float64) error {
	switch {
	case k < 1:
		return fault.New("steps", "%d is not in [1, ∞)", k)
	case !(eps > 0 && eps < math.Inf(1)):
		return fault.New("eps", "%v is not in (0, ∞)", eps)
	case !(logDelta < 0 && logDelta > -700):
		return fault.New("log delta", "%v is not in (−700, 0)", logDelta)
	}
	return nil
}

// logTop says from where on losses of a step count as infinite: in k steps that is e^−9 of δ. What is larger than it
// has to be makes every transform longer. A few palettes serve all questions.
func logTop(k int64, logDelta float64) float64 {
	return -2 * math.Ceil((9-logDelta+xmath.Log(float64(k)))/2)
}

// prepare chooses the laws and the tilt.
func (a *bound) prepare(ctx context.Context, k int64, eps, logDelta float64) (p *palette, c float64, err error) {
	if err := within(k, eps, logDelta); err != nil {
		return nil, 0, err
	}
	logTop := logTop(k, logDelta)
	p, err = a.palettes.get(ctx, logTop, func() (*palette, error) { return newPalette(ctx, a.at, a.theta, logTop) })
	if err != nil {
		return nil, 0, err
	}
	return p, p.slope(float64(k), eps, slopeAt(eps, logDelta)), nil
}

// A kept has results that take long, by key, to be used again. What ended by a limit of its question is not kept. It is safe for
// concurrent use.
type kept[K comparable, T any] struct {
	mu sync.Mutex
	of map[K]*result[T]
}

// A result is made by the first that has its turn.
type result[T any] struct {
	value T
	err   error
	made  bool
	turn  chan struct{} // holds something while it is made or read
}

// mostKept bounds how many are kept.
const mostKept = 256

// get returns what is kept of a key, or makes it.
func (k *kept[K, T]) get(ctx context.Context, key K, makeIt func() (T, error)) (none T, err error) {
	k.mu.Lock()
	r := k.of[key]
	if r == nil {
		if k.of == nil || len(k.of) >= mostKept {
			k.of = map[K]*result[T]{}
		}
		r = &result[T]{turn: make(chan struct{}, 1)}
		k.of[key] = r
	}
	k.mu.Unlock()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if !r.made {
		r.value, r.err = makeIt()
		r.made = ctx.Err() == nil && r.err != parallel.ErrWork
	}
	return r.value, r.err
}

// A familyKey names a family by its laws and its tilt, in quarter powers of 2.
type familyKey struct {
	*palette
	tilt int
}

// family returns the members for about the tilt c: what is best at one is good nearby.
func (a *bound) family(ctx context.Context, p *palette, c float64) (*family, error) {
	tilt := int(math.Round(4 * math.Log2(c)))
	return a.families.get(ctx, familyKey{p, tilt}, func() (*family, error) { return newFamily(ctx, p, math.Exp2(float64(tilt)/4)) })
}

// slopeAt estimates −d log δ/dε of a composition whose loss is nearly normal:
// with standard deviation s, ε = s²/2 + zs and δ ≈ Φ̄(z), it is about z/s.
func slopeAt(eps, logDelta float64) float64 {
	z := math.Sqrt(max(1, -2*logDelta-4))
	s := math.Sqrt(z*z+2*eps) - z
	return z / s
}

// symmetric is the symmetric profile with the values g at α = e^{i·step}.
func symmetric(step float64, g []float64) (profiles.Profile, error) {
	xs := make([]float64, len(g))
	for i := range xs {
		xs[i] = float64(i) * step
	}
	return profiles.NewChords(xs, g, g)
}
