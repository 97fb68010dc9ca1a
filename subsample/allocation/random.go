package allocation

// Random allocation: Theorems 1, 3 and 4 of docs/theory/allocation.md.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// maxSteps bounds steps and epochs: errors of masses add up over the steps.
const maxSteps = 1 << 30

// Random is random allocation: in each epoch of so many steps every record takes part in one of
// them, or in uses of them, that it draws uniformly and independently of all other records, of
// the data and of the noise. One run of its mechanism is all the epochs together.
type Random interface {
	subsample.Sampler
	subsample.LawMaker
	// WithUses returns the scheme with so many different steps for each record and epoch.
	WithUses(uses int64) (Random, error)
	// WithEpochs returns the scheme for so many epochs together, for each of which records draw anew.
	WithEpochs(epochs int64) (Random, error)
	// WithOneDraw returns the scheme for so many epochs together, for which every record draws once; libraries for
	// DP-FTRL call that balls in bins.
	WithOneDraw(epochs int64) (Random, error)
	// First returns the scheme stopped after so many steps of each epoch: a last epoch that is cut
	// short. Where it is cut must not depend on the outputs.
	First(steps int64) (Random, error)
	// Bounds is Apply as a call that can be cancelled.
	Bounds(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error)
	// Parameters returns the parameters by their keys in plan files.
	Parameters() map[string]any
}

type randomScheme struct {
	steps, uses, part, epochs int64
	once                      bool // records draw once, for all epochs
	target                    target
}

// NewRandom returns random allocation to one of so many steps, for one epoch.
func NewRandom(steps int64) (Random, error) {
	if steps < 1 || steps > maxSteps {
		return nil, fault.New("steps", "%d is not in [1, %d]", steps, int64(maxSteps))
	}
	return randomScheme{steps: steps, uses: 1, part: steps, epochs: 1, target: defaultTarget}, nil
}

// WithUses implements Random.
func (s randomScheme) WithUses(uses int64) (Random, error) {
	if uses < 1 || uses > s.steps {
		return nil, fault.New("uses", "%d is not in [1, %d], the number of steps", uses, s.steps)
	}
	if uses > 1 && s.part != s.steps {
		return nil, fault.New("uses", "%d uses in a part of an epoch have no proved bound", uses)
	}
	s.uses = uses
	return s, nil
}

func checkEpochs(epochs int64) error {
	if epochs < 1 || epochs > maxSteps {
		return fault.New("epochs", "%d is not in [1, %d]", epochs, int64(maxSteps))
	}
	return nil
}

// WithEpochs implements Random.
func (s randomScheme) WithEpochs(epochs int64) (Random, error) {
	s.epochs, s.once = epochs, false
	return s, checkEpochs(epochs)
}

// WithOneDraw implements Random.
func (s randomScheme) WithOneDraw(epochs int64) (Random, error) {
	s.epochs, s.once = epochs, true
	return s, checkEpochs(epochs)
}

// First implements Random.
func (s randomScheme) First(steps int64) (Random, error) {
	if steps < 0 || steps > s.steps {
		return nil, fault.New("first", "%d is not in [0, %d], the number of steps", steps, s.steps)
	}
	if s.uses > 1 && steps != s.steps {
		return nil, fault.New("first", "%d steps of an epoch with %d uses have no proved bound", steps, s.uses)
	}
	s.part = steps
	return s, nil
}

// Name returns the scheme's name in plan files.
func (randomScheme) Name() string { return "random-allocation" }

// Apply returns all epochs of b, as a call that cannot be cancelled.
func (s randomScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	return s.Bounds(context.Background(), b, r)
}

// Bounds returns all epochs of b under the scheme, between laws above and below.
//
// Add-remove and zero-out: with one use, the pair dominates and is attained, in both directions
// and against adaptive mechanisms, over any base with one dominating pair (Theorems 1 and 3).
// With several, what dominates is a product of blocks, and what is attained a test (Theorem 4).
// Substitute: Gaussian bases only, exact with one use (Theorem 2).
func (s randomScheme) Bounds(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if s.part == 0 {
		return profiles.NewBounds(b.Name(), r, profiles.Identical()), nil
	}
	if runs, ok := s.Whole(); ok {
		if runs == 1 {
			return profiles.Unsampled(ctx, b, r)
		}
		return s.whole(ctx, b, r)
	}
	m, err := s.hidden(ctx, b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	// With next to no noise the laws run out of points. Uses that hide nothing are above, too.
	every, err := unhidden(b, r, s.uses*s.epochs)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if every != nil && better(every, m.Directions[0].Upper, s.target.Delta) {
		m.Directions[0].Upper, m.Directions[1].Upper = every, profiles.Reverse(every)
	}
	return m, nil
}

// hidden returns all epochs of b between laws.
func (s randomScheme) hidden(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if r == profiles.Substitute {
		return s.substitute(ctx, b)
	}
	upper, lower, err := source(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if s.uses > 1 {
		return s.several(ctx, b, r, upper, lower)
	}
	up, low, err := s.laws(ctx, upper, lower)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return twoSided(b.Name(), r, up, low)
}

// better reports whether p is the better one of two bounds at δ = delta, for choices only: which has the smaller ε, or
// a finite one.
func better(p, q profiles.Profile, delta float64) bool {
	inf := q.Support().LogPInf
	return epsilonOf(p, delta) < epsilonOf(q, delta) || inf > xmath.Log(delta) && p.Support().LogPInf < inf
}

// unhidden returns a profile above so many uses of a record of which each is known: conditioned on the draw
// all are, and divergences are jointly convex. Of several runs of what is no Gaussian noise it has the largest
// loss alone, and it is nil where that is none.
func unhidden(b profiles.Mechanism, r profiles.Relation, uses int64) (profiles.Profile, error) {
	if uses == 0 {
		return profiles.Identical(), nil
	}
	pair, err := b.Pair(r)
	if err != nil {
		return nil, err
	}
	if g, ok := pair.(profiles.Gaussian); ok {
		return g.Repeat(uses, nil), nil
	}
	if uses == 1 {
		return pair, nil
	}
	s := pair.Support()
	most := xmath.Up((max(s.Max, -s.Min)+s.LossErr)*float64(uses), 2)
	if s.LogPInf > math.Inf(-1) || s.LogQInf > math.Inf(-1) {
		return nil, nil
	}
	pure, err := profiles.NewPure(most)
	if err != nil { // too large, or infinite: nothing is known
		return nil, nil
	}
	return pure.Pair(r)
}

// whole is the case of a use in every step: a product of so many uses.
func (s randomScheme) whole(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if sigma, ok := noiseOf(b); ok {
		g, err := profiles.NewGaussian(sigma)
		if err != nil {
			return profiles.Bounds{}, err
		}
		if r == profiles.Substitute {
			p, err := b.Pair(r)
			if err != nil {
				return profiles.Bounds{}, err
			}
			g = p.(profiles.Gaussian)
		}
		return profiles.NewBounds(b.Name(), r, g.Repeat(s.uses*s.epochs, nil)), nil
	}
	upper, lower, err := source(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	up, low, err := pairOf(ctx, s.target, upper, lower, func(p *positive.Program, a int) int { return p.Power(a, s.uses*s.epochs) })
	if err != nil {
		return profiles.Bounds{}, err
	}
	return twoSided(b.Name(), r, up, low)
}

// laws returns laws above and below the likelihood ratio of all epochs with one use.
func (s randomScheme) laws(ctx context.Context, upper, lower positive.Source) (up, low *positive.Law, err error) {
	if upper, err = s.use(upper); err != nil {
		return nil, nil, err
	}
	if lower, err = s.use(lower); err != nil {
		return nil, nil, err
	}
	return pairOf(ctx, s.target, upper, lower, func(p *positive.Program, a int) int {
		a = epoch(p, a, s.steps, s.part)
		if !s.once {
			a = p.Power(a, s.epochs)
		}
		return a
	})
}

// use returns the likelihood ratio of all uses of one bin: with bins drawn once, those of each
// epoch multiply (σ/√E for Gaussian noise).
func (s randomScheme) use(a positive.Source) (positive.Source, error) {
	if !s.once || s.epochs == 1 {
		return a, nil
	}
	g, ok := a.(positive.LogNormal)
	if !ok {
		return nil, fault.New("redraw", "once is for Gaussian noise only")
	}
	return positive.LogNormal{S: g.S * math.Sqrt(float64(s.epochs)), Ulps: g.Ulps + 2}, nil
}

// epoch returns the average over the bins, of which those after part have not been used yet:
// M = (t − r)/t + S_r/t.
func epoch(p *positive.Program, a int, steps, part int64) int {
	if steps == 1 {
		return a
	}
	t := float64(steps)
	return p.Affine(p.Sum(a, part), 1/t, float64(steps-part)/t, u)
}

// pairOf runs a program on the sources above and below.
func pairOf(ctx context.Context, t target, upper, lower positive.Source, build func(p *positive.Program, source int) int) (up, low *positive.Law, err error) {
	run := func(s positive.Source) (up, low *positive.Law, err error) {
		p := &positive.Program{}
		build(p, p.Source(s))
		return p.RunFor(ctx, t.positive(), t.Runs)
	}
	if up, low, err = run(upper); err != nil || equalSources(upper, lower) {
		return up, low, err
	}
	_, low, err = run(lower)
	return up, low, err
}

func equalSources(a, b positive.Source) bool {
	x, ok := a.(positive.LogNormal)
	y, ok2 := b.(positive.LogNormal)
	if ok && ok2 {
		return x == y
	}
	p, ok := a.(positive.FromProfile)
	q, ok2 := b.(positive.FromProfile)
	return ok && ok2 && profiles.Equal(p.Profile, q.Profile)
}

// A fixed public order: consequence 6 of Theorem 1 in docs/theory/allocation.md.

type fixedScheme struct {
	uses   int64
	target target
}

// NewFixed returns a partition into batches that is public or independent of the data: each record
// is used so many times, and nothing is amplified. One run is all the uses.
func NewFixed(uses int64) (subsample.Scheme, error) {
	if uses < 1 || uses > maxSteps {
		return nil, fault.New("uses", "%d is not in [1, %d]", uses, int64(maxSteps))
	}
	return fixedScheme{uses, defaultTarget}, nil
}

// Name returns the scheme's name in plan files.
func (fixedScheme) Name() string { return "fixed-order" }

// Apply returns all uses of b. Zero-out and substitute only: a list that is cut into batches again
// after a removal moves a record out of every batch, up to √(4(t−1)+1) in place of 1.
func (s fixedScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	switch {
	case r == profiles.AddRemove:
		return profiles.Bounds{}, fault.New("neighbors", "add-remove is not for a fixed order: without one record all later ones move up, into other batches; zero-out or substitute keep its place")
	case r != profiles.ZeroOut && r != profiles.Substitute:
		return profiles.Bounds{}, fault.New("neighbors", "%v is not in [zero-out, substitute]", r)
	}
	if s.uses == 1 {
		return profiles.Unsampled(context.Background(), b, r)
	}
	return randomScheme{steps: s.uses, uses: s.uses, part: s.uses, epochs: 1, target: s.target}.whole(context.Background(), b, r)
}

// Proof (docs/theory/allocation.md §2): Theorem 1.
//
// Fix the others' batches (their law is common; joint convexity) and take their sums, functions of the history, off
// the outputs. Give each step one more output coordinate, `√(1 − |v_i|²)·1[i ∈ S]` plus noise, with `v_i` the
// contribution of x there: leaving it out again is post-processing, and with it every contribution has norm 1. Under Q
// the projections `g_i = ⟨v_i, y_i⟩/σ` are standard normal given the history, so independent, and
// `M = dP/dQ = E_S exp Σ_{i∈S}(s g_i − s²/2)` has the law of the stated pair. It determines `h(α) = E(M − α)₊` and the
// other order, `E(1 − αM)₊`. A constant unit contribution of x with none of the others attains it. ∎
