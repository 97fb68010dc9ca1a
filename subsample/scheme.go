// What a scheme is, and a sampler.

package subsample

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Scheme is a way to draw the subsample that a mechanism runs on. It turns a
// base mechanism into the mechanism that was really run.
type Scheme interface {
	// Name is the scheme's name in plan files.
	Name() string
	// Apply returns b run once on a subsample drawn by the scheme.
	Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error)
}

// A Sampler is a Scheme that can also draw: what a training loop takes its batches from.
type Sampler interface {
	Scheme
	// Batches returns the batches of a run over a population of so many records, without
	// end, one for each step. The law is that of the scheme from the first batch on;
	// schemes with a schedule for each epoch begin one there. Ranging over it again goes
	// on with the next batch. A batch is in ascending order of its records, is the
	// caller's to keep, and must stay secret, its size included unless that is fixed.
	//
	// The source nil is the operating system's; another must be secret and is for this
	// run alone.
	Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error)
}

// A Pick is one record of a batch: its index in [0, population) and how often it
// appears.
type Pick struct {
	Index, Copies int64
}

// A LawMaker is a Scheme whose laws are made for the question: they bound every δ(ε), and are
// sharp near the one that was asked. Who has no question gets from Apply what serves ordinary
// ones.
type LawMaker interface {
	Scheme
	// Laws returns what makes the laws of b under the scheme. Its error is the one that Apply
	// would return; no law is computed.
	Laws(b profiles.Mechanism, r profiles.Relation) (profiles.Laws, error)
}

// A Whole is a LawMaker that may draw no sample: where every record takes part in every run of the
// mechanism it is as often the mechanism itself, whose profiles need no laws.
type Whole interface {
	LawMaker
	// Whole returns how many runs on all records one use of the scheme is, false if it draws.
	Whole() (runs int64, ok bool)
}

// A BatchSetter is a Scheme that draws from a population of known size, and whose
// batch size can be set.
type BatchSetter interface {
	Scheme
	Population() int64
	Batch() int64
	MaxBatch() int64
	WithBatch(batch int64) (Scheme, error)
}

// A substituteMixer is a profiles.Mechanism for which the effect of substituting one record
// that is sampled with some rate is known more exactly than by the envelope.
type substituteMixer interface {
	// SubstituteMixture returns the profile of the pair
	// (rate·M(+1) + (1−rate)·M(0), rate·M(−1) + (1−rate)·M(0)): the attack by two
	// records with opposite contributions, for a rate in (0, 1). dominating says that this
	// pair is proved to dominate every pair of neighbours under Poisson sampling.
	SubstituteMixture(rate float64) (p profiles.Profile, dominating bool, err error)
}

// eitherOrder returns what dominates pair, the Pair of b, whichever of two records or batches is the
// first: pair itself if it is its own reverse. A record that leaves a batch of fixed size is replaced
// by another, as is one that is substituted, and which of the two kinds is which is the adversary's
// choice, at each step and for each record of a person.
func eitherOrder(name string, pair profiles.Profile) (profiles.Profile, error) {
	if profiles.Equal(pair, profiles.Reverse(pair)) {
		return pair, nil
	}
	d, ok := pair.(*profiles.Discrete)
	if !ok {
		return nil, fault.New("mechanism", "%q loses more in one order of two records than in the other, which nothing is proved about", name)
	}
	return profiles.EitherOrder(d)
}

// This file has what a mechanism is whose one run is a list of runs.

// A Sequence is a base mechanism whose run costs what a list of runs of other mechanisms
// costs, fixed in advance. It runs on the whole data set only, as far as its user is
// concerned: its sampling, if any, is its own. Where runs are profiles.Attacked, their
// attacks are reached by the list as a whole, not by each alone: an attack may cost
// more than the pair of the same run, and the list of attacks does not cost more than
// that of pairs.
type Sequence interface {
	profiles.Mechanism
	// Runs returns the list under r. It may take long: once ctx is done, the error is
	// that of ctx.
	Runs(ctx context.Context, r profiles.Relation) ([]Run, error)
}

// A Run is a mechanism, run Count ≥ 1 times on samples of a scheme, nil for the whole data
// set.
type Run struct {
	Mechanism profiles.Mechanism
	Scheme    Scheme
	Count     int64
}

// The scheme Poisson: which theorem is for which relation and mechanism.

// NewPoisson returns Poisson sampling: every record takes part independently
// with probability rate.
func NewPoisson(rate float64) (Poisson, error) {
	if err := noiserange.CheckRate(rate); err != nil {
		return nil, err
	}
	return poissonScheme{rate}, nil
}

// Poisson is Poisson sampling with one rate for all records; see NewPoisson.
type Poisson interface {
	Sampler
	Rate() float64
	WithRate(rate float64) (Scheme, error)
	// Sample draws the records that take part, in ascending order, each of the population in
	// [1, 2^53] independently with the scheme's rate. Time and memory are linear in the size
	// of the sample, which is random, whatever the population. The source nil is the operating
	// system's; neither the sample nor its size is ever to be published.
	//
	// The gaps between records are geometric, drawn by inversion from 64-bit uniform
	// numbers with further bits where they decide: the probability of any sample is
	// exact up to the rounding of a logarithm, about 1e-15 per record relatively.
	Sample(src rand.Source, population int64) ([]Pick, error)
}

// AsPoisson returns s as such a scheme, false if it is none. A Scheme of others that embeds one is
// none: what is proved of it is its own.
func AsPoisson(s Scheme) (Poisson, bool) {
	if p, ok := s.(poissonScheme); ok {
		return p, true
	}
	return nil, false
}

type poissonScheme struct{ rate float64 }

// Name implements Scheme.
func (poissonScheme) Name() string { return "poisson" }

// Rate returns the sampling rate.
func (s poissonScheme) Rate() float64 { return s.rate }

// WithRate implements Poisson.
func (poissonScheme) WithRate(rate float64) (Scheme, error) {
	return NewPoisson(rate)
}

// Apply implements Scheme.
//
// Under add-remove the result is exact (PoissonProfile), and the same under
// zero-out: a batch with an empty place and one without the place have outputs of
// one law, and the other places are drawn independently. Under substitute noise that is
// symmetric and log-concave is exact (the pair at ±1 dominates: docs/theory/pairs.md §5), but for
// discrete Gaussian noise on vectors of sensitivity 2 and more; any other
// mechanism has the Envelope above, and below the pair with opposite
// contributions, or, for a mechanism declared by its pair alone, the pair in
// which the absence of the record looks like its substitute.
func (s poissonScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	pair, err := b.Pair(r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	name := b.Name()
	reached, err := profiles.Attained(b, pair, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if r != profiles.Substitute || s.rate == 0 || s.rate == 1 {
		upper, err := PoissonProfile(pair, s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		lower, err := PoissonProfile(reached, s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		return between(name, r, upper, lower, false), nil
	}
	if m, ok := b.(substituteMixer); ok {
		p, dominating, err := m.SubstituteMixture(s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		if dominating {
			return profiles.NewBounds(name, r, p), nil
		}
		return s.bounds(name, pair, p)
	}
	attack, err := PoissonProfile(reached, s.rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return s.bounds(name, pair, attack)
}

// bounds returns the mechanism between an attack and the envelope of pair, in either order.
func (s poissonScheme) bounds(name string, pair, attack profiles.Profile) (profiles.Bounds, error) {
	dominates, err := eitherOrder(name, pair)
	if err != nil {
		return profiles.Bounds{}, err
	}
	e, err := Envelope(dominates, s.rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return between(name, profiles.Substitute, e, attack, false), nil
}

// Sampled profiles whose rate is known to one rounding only.

// inexact widens the errors of a Poisson profile whose rate q is known to one
// rounding only: log(1 − q + q e^y) moves by (1 − e^{−l})·dq/q, the weights q and
// 1 − q by dq/q and dq/(1 − q).
func inexact(p profiles.Profile, rate float64) profiles.Profile {
	if rate == 0 || rate == 1 {
		return p
	}
	d := 2 * xmath.U * max(1, rate/(1-rate))
	if x, ok := p.(*profiles.Discrete); ok {
		s := x.Support()
		move := 0.0
		for _, a := range x.Atoms() {
			move = max(move, math.Abs(math.Expm1(-a.Loss))*2*xmath.U)
		}
		y, err := profiles.NewDiscrete(x.Atoms(), s.LogPInf, s.LogQInf, x.MassErr()+d, s.LossErr+move)
		if err != nil {
			return p
		}
		return y
	}
	return rounded{p, d}
}

type rounded struct {
	profiles.Profile
	d float64
}

func (r rounded) Tails(eps, tol float64) profiles.Tails {
	t := r.Profile.Tails(eps, tol+2*xmath.U*math.Abs(math.Expm1(-max(eps, -700))))
	t.Err += r.d
	t.ErrC += r.d
	return t
}

// Cost implements hook.Costly.
func (r rounded) Cost() float64 { return hook.Cost(r.Profile) }

func (r rounded) Support() profiles.Support {
	s := r.Profile.Support()
	for _, a := range s.Atoms {
		s.LossErr = max(s.LossErr, 2*xmath.U*math.Abs(math.Expm1(-a)))
	}
	return s
}

// Poisson samples.

// Batches implements Sampler: independent samples of [Poisson.Sample].
func (s poissonScheme) Batches(src rand.Source, population int64) (iter.Seq[[]Pick], error) {
	if err := checkPoissonPopulation(population); err != nil {
		return nil, err
	}
	return stateless(src, func(src rand.Source) []Pick { return s.draw(src, population) }), nil
}

// Sample implements Poisson.
func (s poissonScheme) Sample(src rand.Source, population int64) ([]Pick, error) {
	if err := checkPoissonPopulation(population); err != nil {
		return nil, err
	}
	return s.draw(random.Source(src), population), nil
}

func checkPoissonPopulation(population int64) error {
	if population < 1 || population > xmath.MaxCount {
		return fault.In("poisson", fault.New("population", "%d is not in [1, %d]", population, int64(1)<<53))
	}
	return nil
}

func (s poissonScheme) draw(src rand.Source, population int64) []Pick {
	if s.rate == 0 {
		return nil
	}
	n := float64(population)
	out := make([]Pick, 0, int64(min(n, s.rate*n+4*math.Sqrt(s.rate*n)+16)))
	if s.rate == 1 {
		for i := range population {
			out = append(out, Pick{i, 1})
		}
		return out
	}
	// Pr[gap ≥ g] = (1−rate)^g: the gap is ⌊E/λ⌋ with E exponential and
	// λ = −log(1−rate).
	lambda := -math.Log1p(-s.rate)
	for at := int64(0); ; at++ {
		gap := random.Exponential64(src) / lambda
		if !(gap < float64(population-at)) {
			return out
		}
		at += int64(gap)
		out = append(out, Pick{at, 1})
	}
}
