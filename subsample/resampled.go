// Two stages of which the first is kept for several batches: docs/theory/subsampling.md §15.

package subsample

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// Resampled is MUST.OW or MUST.WW whose first stage is drawn once for several batches: the bag of little bootstraps and
// the double bootstrap. One run of it is one subset with all its batches, on each of which the mechanism runs. A record is in
// the subset for all of them or for none, so that they cost more than as many runs of MUST.
type Resampled struct {
	stages    FixedSize
	resamples int64
}

var (
	_ LawMaker    = Resampled{}
	_ Sampler     = Resampled{}
	_ BatchSetter = Resampled{}
)

// maxResamples bounds the batches of a subset.
const maxResamples = 1_000_000

// NewResampled returns stages with so many batches of each subset.
func NewResampled(stages FixedSize, resamples int64) (Resampled, error) {
	s := Resampled{stages, resamples}
	switch {
	case stages.kind != mustOW && stages.kind != mustWW:
		return s, fault.In(stages.Name(), fault.New("resamples", "is for must-ow and must-ww, whose second stage draws with replacement; nothing is proved about %s", stages.Name()))
	case resamples < 1 || resamples > maxResamples:
		return s, fault.In(stages.Name(), fault.New("resamples", "%d is not in [1, %d]", resamples, int64(maxResamples)))
	}
	return s, nil
}

// Name implements Scheme.
func (s Resampled) Name() string { return s.stages.Name() }

// Resamples returns how many batches a subset serves for.
func (s Resampled) Resamples() int64 { return s.resamples }

// Population implements BatchSetter.
func (s Resampled) Population() int64 { return s.stages.population }

// Batch implements BatchSetter.
func (s Resampled) Batch() int64 { return s.stages.batch }

// MaxBatch implements BatchSetter.
func (s Resampled) MaxBatch() int64 { return s.stages.MaxBatch() }

// WithBatch implements BatchSetter.
func (s Resampled) WithBatch(batch int64) (Scheme, error) {
	if _, err := s.stages.WithBatch(batch); err != nil {
		return nil, err
	}
	s.stages.batch = batch
	return s, nil
}

// Batches implements Sampler: each subset serves for as many batches as there are resamples.
func (s Resampled) Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error) {
	if err := s.stages.checkPopulation(population); err != nil {
		return nil, err
	}
	f, left := s.stages, int64(0)
	var slots []int64
	return stateless(src, func(src rand.Source) []Pick {
		r := rand.New(src)
		if left == 0 {
			left = s.resamples
			if f.kind == mustOW {
				slots = choose(r, f.population, f.subset)
			} else {
				slots = draws(r, f.population, f.subset)
			}
		}
		left--
		picks := tally(draws(r, f.subset, f.batch))
		for i := range picks {
			picks[i].Index = slots[picks[i].Index]
		}
		return merge(picks) // slots ascend
	}), nil
}

// Sample draws the first batch of a subset.
func (s Resampled) Sample(src rand.Source, population int64) (batch []Pick, err error) {
	all, err := s.Batches(random.Source(src), population)
	if err != nil {
		return nil, err
	}
	for batch = range all {
		break
	}
	return batch, nil
}

// Apply implements Scheme, for a δ of 1e-6.
func (s Resampled) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	laws, err := s.Laws(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return laws.(*resampledLaws).bounds(context.Background(), 1e-6)
}

// Laws implements LawMaker.
func (s Resampled) Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	l := &resampledLaws{scheme: s, base: b, relation: r, made: map[float64]profiles.Bounds{}}
	switch p := pair.(type) {
	case profiles.Gaussian:
		l.noise, l.theta = copies.GaussianNoise, 1/p.NoiseMultiplier()
	case profiles.Laplace:
		l.noise, l.theta = copies.LaplaceNoise, 1/p.NoiseMultiplier()
	default:
		return nil, fault.New("mechanism", "%q is not in [gaussian, laplace], for which batches of a kept subset are proved", b.Name())
	}
	if r == profiles.AddRemove && s.stages.kind == mustWW {
		return nil, fault.New("resamples", "nothing is proved about batches of a kept subset of must-ww under %v; substitute and zero-out are", r)
	}
	return l, nil
}

// resampledLaws are the laws of a mechanism on the batches of a kept subset, by the δ that they are for.
type resampledLaws struct {
	scheme   Resampled
	base     profiles.Mechanism
	relation profiles.Relation
	noise    copies.Noise
	theta    float64 // what a copy moves noise of scale 1 by
	mu       sync.Mutex
	made     map[float64]profiles.Bounds
}

// Least implements profiles.Laws.
func (*resampledLaws) Least() float64 { return 1e-200 }

// For implements profiles.Laws. Subsets are drawn afresh, so that they compose.
func (l *resampledLaws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	// One law serves δ of about the same size.
	delta := math.Pow(10, math.Floor(math.Log10(min(max(q.Delta, l.Least()), 0.1)/float64(max(1, q.Total)))))
	m, err := l.bounds(ctx, delta)
	if err != nil {
		return profiles.Composition{}, err
	}
	return profiles.Repeat(m, q.Runs), nil
}

// bounds returns one subset with its batches. What is rarer than a thousandth of delta is given away.
func (l *resampledLaws) bounds(ctx context.Context, delta float64) (profiles.Bounds, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.made[delta]; ok {
		return m, nil
	}
	upper, err := l.upper(ctx, delta/1000)
	if err != nil {
		return profiles.Bounds{}, err
	}
	lower, err := l.lower()
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := between(l.base.Name(), l.relation, upper, lower, true)
	if l.relation == profiles.ZeroOut { // either data set may be the one with the empty place
		m.Directions[1].Upper = upper
	}
	l.made[delta] = m
	return m, nil
}

// upper shares the mass of subsets without the record among the numbers of slots that hold it. Given that number, batches
// compose.
func (l *resampledLaws) upper(ctx context.Context, rare float64) (profiles.Profile, error) {
	f := l.scheme.stages
	if f.kind == mustOW {
		c, err := l.given(ctx, f.insideSubset(), rare, points)
		if err != nil {
			return nil, err
		}
		p, err := c.Profile()
		if err != nil {
			return nil, err
		}
		if l.relation == profiles.AddRemove {
			return PoissonProfile(p, f.subsetRate())
		}
		return Envelope(p, f.subsetRate())
	}
	shared := copies.FirstStage(f.population, f.subset, rare)
	for i, j := range shared.Slots {
		c, err := l.given(ctx, copies.Drawn(f.subset, f.batch, j), rare, max(16, points/(i+1)))
		if err != nil {
			return nil, err
		}
		shared.Curves = append(shared.Curves, c)
	}
	return shared.Curve().Profile()
}

// Composed is fourier.Curve, which package accountant puts here: the tests of package fourier are about schemes of this one.
var Composed func(ctx context.Context, p profiles.Profile, runs int64, rare float64, points int) (x, up []float64, err error)

// points is how many values of δ a curve has: more cost time and prove a little less ε.
const points = 200

// given is the curve of all batches of a subset of which so many slots hold the record that law is that of its copies.
func (l *resampledLaws) given(ctx context.Context, law copies.Law, rare float64, points int) (out copies.Curve, err error) {
	one := copies.Coupled(l.noise, l.theta, law)[0]
	if l.scheme.resamples == 1 {
		return one, nil
	}
	p, err := one.Profile()
	if err != nil {
		return out, err
	}
	if Composed == nil {
		return out, fault.New("resamples", "needs package accountant, which composes")
	}
	if out.X, out.H, err = Composed(ctx, p, l.scheme.resamples, rare, points); err != nil {
		return out, err
	}
	return out.Convex(), nil
}

// lower is the attack on the sum of the batches, which is one of all their draws with the noise of all, where that is
// Gaussian; else on one of them.
func (l *resampledLaws) lower() (profiles.Profile, error) {
	f, theta := l.scheme.stages, l.theta
	if all := float64(f.batch) * float64(l.scheme.resamples); l.noise == copies.GaussianNoise && all <= maxBatch && all <= 1000*float64(f.population) {
		f.batch, theta = int64(all), xmath.Down(theta/math.Sqrt(float64(l.scheme.resamples)), 2)
	}
	if l.relation == profiles.ZeroOut { // all other places are empty
		theta /= 2
	}
	if l.noise == copies.LaplaceNoise {
		return copies.NewLaplaceAttack(f.Multiplicity(), theta), nil
	}
	return copies.NewGaussianAttack(f.Multiplicity(), theta), nil
}
