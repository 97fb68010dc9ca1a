// Two stages of which the first is kept for several batches: docs/theory/subsampling.md §15.

package allocation

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// Resampled is MUST.OW or MUST.WW whose first stage is drawn once for several batches: the bag of little bootstraps and
// the double bootstrap. One run of it is one subset with all its batches, on each of which the mechanism runs. A record is in
// the subset for all of them or for none, so that they cost more than as many runs of MUST.
type Resampled interface {
	subsample.LawMaker
	subsample.Sampler
	subsample.BatchSetter
	// Resamples returns how many batches a subset serves for.
	Resamples() int64
}

type resampledScheme struct {
	stages    subsample.FixedSize
	resamples int64
}

// maxResamples bounds the batches of a subset.
const maxResamples = 1_000_000

// NewResampled returns stages with so many batches of each subset.
func NewResampled(stages subsample.FixedSize, resamples int64) (Resampled, error) {
	switch {
	case stages.Name() != "must-ow" && stages.Name() != "must-ww":
		return nil, fault.In(stages.Name(), fault.New("resamples", "is for must-ow and must-ww, whose second stage draws with replacement; nothing is proved about %s", stages.Name()))
	case resamples < 1 || resamples > maxResamples:
		return nil, fault.In(stages.Name(), fault.New("resamples", "%d is not in [1, %d]", resamples, int64(maxResamples)))
	}
	return resampledScheme{stages: stages, resamples: resamples}, nil
}

// Name implements Scheme.
func (s resampledScheme) Name() string { return s.stages.Name() }

// withoutReplacement reports whether a subset has a record at most once.
func (s resampledScheme) withoutReplacement() bool { return s.stages.Name() == "must-ow" }

// Resamples implements Resampled.
func (s resampledScheme) Resamples() int64 { return s.resamples }

// Population implements BatchSetter.
func (s resampledScheme) Population() int64 { return s.stages.Population() }

// Batch implements BatchSetter.
func (s resampledScheme) Batch() int64 { return s.stages.Batch() }

// MaxBatch implements BatchSetter.
func (s resampledScheme) MaxBatch() int64 { return s.stages.MaxBatch() }

// WithBatch implements BatchSetter.
func (s resampledScheme) WithBatch(batch int64) (subsample.Scheme, error) {
	x, err := s.stages.WithBatch(batch)
	if err != nil {
		return nil, err
	}
	s.stages = x.(subsample.FixedSize)
	return s, nil
}

// Batches implements Sampler: each subset serves for as many batches as there are resamples.
func (s resampledScheme) Batches(src rand.Source, population int64) (iter.Seq[[]subsample.Pick], error) {
	return s.stages.KeptBatches(src, population, s.resamples)
}

// Sample draws the first batch of a subset.
func (s resampledScheme) Sample(src rand.Source, population int64) (batch []subsample.Pick, err error) {
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
func (s resampledScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	laws, err := s.Laws(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return laws.(*resampledLaws).bounds(context.Background(), 1e-6)
}

// Laws implements LawMaker.
func (s resampledScheme) Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error) {
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
	if r == profiles.AddRemove && !s.withoutReplacement() {
		return nil, fault.New("resamples", "nothing is proved about batches of a kept subset of must-ww under %v; substitute and zero-out are", r)
	}
	return l, nil
}

// resampledLaws are the laws of a mechanism on the batches of a kept subset, by the δ that they are for.
type resampledLaws struct {
	scheme   resampledScheme
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
	m := between(l.base.Name(), l.relation, upper, lower, false)
	if l.relation == profiles.Substitute { // the two records change places
		m.Directions[1] = m.Directions[0]
	}
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
	if l.scheme.withoutReplacement() {
		c, err := l.given(ctx, copies.WithReplacement(f.Subset(), f.Batch()), rare, points)
		if err != nil {
			return nil, err
		}
		p, err := c.Profile()
		if err != nil {
			return nil, err
		}
		rate := min(1, xmath.Up(float64(f.Subset())/float64(f.Population()), 1)) // the profiles that use it grow with it
		if l.relation == profiles.AddRemove {
			return subsample.PoissonProfile(p, rate)
		}
		return subsample.Envelope(p, rate)
	}
	shared := copies.FirstStage(f.Population(), f.Subset(), rare)
	for i, j := range shared.Slots {
		c, err := l.given(ctx, copies.Drawn(f.Subset(), f.Batch(), j), rare, max(16, points/(i+1)))
		if err != nil {
			return nil, err
		}
		shared.Curves = append(shared.Curves, c)
	}
	return shared.Curve().Profile()
}

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
	o := fourier.DefaultOptions()
	o.Laws = true // points so close together are what lattices are quick at
	sum := fourier.New(o)
	if err := sum.Add(p, l.scheme.resamples); err != nil {
		return out, err
	}
	end, err := sum.Epsilon(ctx, min(rare, 0.5))
	if err != nil {
		return out, err
	}
	// Chords cost like their length near 0, where most of the loss is.
	for i := range points + 1 {
		share := float64(i) / float64(points)
		x := end.Upper * share * (0.1 + 0.9*share*share)
		d, err := sum.Delta(ctx, x)
		if err != nil {
			return out, err
		}
		out.X, out.H = append(out.X, x), append(out.H, d.Upper)
		if x == 0 && end.Upper == 0 {
			break
		}
	}
	return out.Convex(), nil
}

// lower is the attack on the sum of the batches, which is one of all their draws with the noise of all, where that is
// Gaussian; else on one of them.
func (l *resampledLaws) lower() (profiles.Profile, error) {
	f, theta := l.scheme.stages, l.theta
	if all := float64(f.Batch()) * float64(l.scheme.resamples); l.noise == copies.GaussianNoise && all <= float64(f.MaxBatch()) && all <= 1000*float64(f.Population()) {
		x, err := f.WithBatch(int64(all))
		if err != nil {
			return nil, err
		}
		f, theta = x.(subsample.FixedSize), xmath.Down(theta/math.Sqrt(float64(l.scheme.resamples)), 2)
	}
	if l.relation == profiles.ZeroOut { // all other places are empty
		theta /= 2
	}
	if l.noise == copies.LaplaceNoise {
		return copies.NewLaplaceAttack(f.Multiplicity(), theta), nil
	}
	return copies.NewGaussianAttack(f.Multiplicity(), theta), nil
}

// Theory (docs/theory/subsampling.md §15), as computed.
//
// Between points of ε h_j is below chords; the rarest numbers of slots are given away, and neighbours above 32 count
// as the larger one: where fewer slots change, a coin for each position drops it from both of the nested sets of §4.
