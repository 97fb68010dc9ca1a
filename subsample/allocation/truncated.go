package allocation

// Poisson batches with a cap: Theorem 7 of docs/theory/allocation.md.

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// rareOverflow is the largest probability of an overflow of which it hardly matters whether the
// record survives it with the rate q̄ or with q.
const rareOverflow = 1e-5

// maxPopulation keeps counts exact in float64.
const maxPopulation = 1 << 50

// Truncated is Poisson sampling with a cap: each record is sampled independently with
// probability rate, and of a batch with more than cap records a uniform subset of cap stays.
// One run is one step.
type Truncated interface {
	subsample.Sampler
	// Cap returns the largest batch.
	Cap() int64
	// WithCap returns the scheme with another cap.
	WithCap(most int64) (Truncated, error)
	// CapCost returns the cost of the scheme's cap over so many steps of Gaussian noise. All its
	// questions together have the work of one (limits.Work), and each no more points.
	CapCost(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64, limits fourier.Options) (CapCost, error)
	// Parameters returns the parameters by their keys in plan files.
	Parameters() map[string]any
}

type truncatedScheme struct {
	rate            float64
	cap, population int64
}

// NewTruncated returns the scheme for a population of so many records. The population and, under
// add-remove, its two neighbours by one record are covered.
func NewTruncated(rate float64, most, population int64) (Truncated, error) {
	if !(rate >= 0 && rate <= 1) {
		return nil, fault.New("rate", "%v is not in [0, 1]", rate)
	}
	if population < 1 || population > maxPopulation {
		return nil, fault.New("population", "%d is not in [1, %d]", population, int64(maxPopulation))
	}
	if most < 1 || most > population {
		return nil, fault.New("cap", "%d is not in [1, %d], the population", most, population)
	}
	return truncatedScheme{rate, most, population}, nil
}

// Name returns the scheme's name in plan files.
func (truncatedScheme) Name() string { return "truncated-poisson" }

// Unhidden tells what subsample.Unhidden asks. The records that are sampled and stay can be drawn so that an added
// record is in none of the batches, in one more, or in the place of another one.
func (s truncatedScheme) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) {
	if r == profiles.AddRemove {
		return 1, profiles.Substitute
	}
	return 1, r
}

// Rate returns the sampling rate before the cap.
func (s truncatedScheme) Rate() float64 { return s.rate }

// Cap implements Truncated.
func (s truncatedScheme) Cap() int64 { return s.cap }

// WithCap implements Truncated.
func (s truncatedScheme) WithCap(most int64) (Truncated, error) {
	return NewTruncated(s.rate, most, s.population)
}

// overflow is what Theorem 7 needs of a larger data set of n records: τ = Pr[K ≥ B] for
// K ~ Bin(n−1, q), and q̄ = (B/n)·Pr[Bin(n, q) ≥ B+1]/τ, the rate at which a record survives
// then; each between bounds.
type overflow struct{ tauLow, tauHigh, rateLow, rateHigh float64 }

func (s truncatedScheme) overflow(n int64) overflow {
	if s.cap >= n || s.rate == 0 {
		return overflow{} // never more than the cap
	}
	if s.rate == 1 {
		b := float64(s.cap) / float64(n)
		return overflow{tauLow: 1, tauHigh: 1, rateLow: xmath.Down(b, 1), rateHigh: xmath.Up(b, 1)}
	}
	tauLow, tauHigh := xmath.BinomialTail(s.cap, n-1, s.rate, 1-s.rate)
	low, high := xmath.BinomialTail(s.cap+1, n, s.rate, 1-s.rate)
	if !(tauLow > 0x1p-960) { // next to nothing is known of the rate
		return overflow{tauHigh: max(tauHigh, 0x1p-959), rateHigh: s.rate}
	}
	share := float64(s.cap) / float64(n)
	return overflow{tauLow: tauLow, tauHigh: tauHigh, rateLow: xmath.Down(share*(low/tauHigh), 4), rateHigh: min(s.rate, xmath.Up(share*(high/tauLow), 4))}
}

// Apply returns one step of b under the scheme.
//
// Add-remove: above, the mixture of Theorem 7 for populations of the given size and one more;
// below, Poisson sampling with the rate at which a record takes part. Gaussian bases only.
// Substitute: above, its corrected form; truncation is not free there. Zero-out: above, a
// mixture of the pairs without a cut and with one.
func (s truncatedScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	sigma, ok := noiseOf(b)
	if !ok {
		return profiles.Bounds{}, fault.New("mechanism", "%q has no proved bound for capped batches; gaussian has", b.Name())
	}
	inner := r
	if r == profiles.ZeroOut {
		inner = profiles.AddRemove
	}
	n := s.population
	at := []overflow{s.overflow(n)}
	if r == profiles.AddRemove {
		at = append(at, s.overflow(n+1))
	}
	attack, err := subsample.NewPoisson(s.reached(at[0]))
	if err != nil {
		return profiles.Bounds{}, err
	}
	low, err := attack.Apply(b, inner)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if at[len(at)-1].tauHigh == 0 {
		plain, err := subsample.NewPoisson(s.rate)
		if err != nil {
			return profiles.Bounds{}, err
		}
		m, err := plain.Apply(b, inner)
		m.Relation = r
		return m, err
	}
	// h ≤ (1−τ)h_q + τh_{q̄,2} for each n. What differs between the n is given to h_{q,2}, which
	// is above both.
	tauLow, tauHigh, survive := at[0].tauLow, at[0].tauHigh, at[0].rateHigh
	for _, o := range at[1:] {
		tauLow, tauHigh, survive = min(tauLow, o.tauLow), max(tauHigh, o.tauHigh), max(survive, o.rateHigh)
	}
	single, double := profiles.AddRemove, profiles.AddRemove
	switch r {
	case profiles.Substitute:
		single = profiles.Substitute
	case profiles.ZeroOut:
		double = profiles.Substitute
	}
	first, err1 := sampled(sigma, s.rate, single)
	cut, err2 := sampled(sigma/2, survive, double)
	all, err3 := sampled(sigma/2, s.rate, double)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return profiles.Bounds{}, err
	}
	rest := max(0, xmath.Down(1-tauHigh, 1))
	var up profiles.Profile = copies.NewChoice([]profiles.Profile{first, cut, all}, []float64{rest, tauLow, xmath.Up(tauHigh-tauLow, 1)})
	if tauHigh <= rareOverflow { // h ≤ (1−τ)h_{q,1} + τh_{q,2}, which grows with τ: one part less to compose
		up = copies.NewChoice([]profiles.Profile{first, all}, []float64{rest, tauHigh})
	}
	if r == profiles.Substitute {
		up = copies.Joined{Up: up, Down: up}
	}
	m := between(b.Name(), r, up, nil, false)
	for d := range m.Directions {
		m.Directions[d].Lower = low.Directions[d].Lower
	}
	return m, nil
}

// sampled is the law above Poisson sampling of Gaussian noise: under substitution that of contributions ±1 in opposite directions.
// Where an empty place takes part in the drawing as the record does, the record or its empty place replaces z₁ with
// probability q̄ after a cut: centres f(x) − f(z₁) and −f(z₁), of norm at most 2, which Theorem 2 bounds by contributions ±2. That is a pair for every α, and so is Poisson
// sampling, so that their mixture is one.
func sampled(sigma, rate float64, r profiles.Relation) (profiles.Profile, error) {
	p, err := subsample.NewPoisson(rate)
	if err != nil {
		return nil, err
	}
	b, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		return nil, err
	}
	m, err := p.Apply(b, r)
	return m.Directions[0].Upper, err
}

// reached returns the rate at which a record takes part, rounded down: q·Pr[K < B] + τq̄.
func (s truncatedScheme) reached(o overflow) float64 {
	if o.tauHigh == 0 {
		return s.rate
	}
	return max(0, (s.rate*(1-o.tauHigh)+o.tauLow*o.rateLow)*(1-8*u))
}

// What a cap costs, and which one costs little: hints that steer nothing.

// A CapCost says what a cap costs, in upper ends of ε(δ) of so many steps.
type CapCost struct {
	Capped, Uncapped float64
	// Vacuous says that the capped one is more than double the uncapped one, which is above 0: the
	// bound is then mostly that of the proof, and no attack is known that comes near it.
	Vacuous bool
	// Smallest is, of a vacuous cap, the smallest from the mean of a batch on that costs at most 1 % more
	// than none; or the smallest that was found when the work had been used up.
	Smallest int64
}

// CapCost implements Truncated.
func (s truncatedScheme) CapCost(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64, limits fourier.Options) (CapCost, error) {
	var c CapCost
	var err error
	limits.Relative = 1e-3
	q := newCapQuestion(ctx, b, r, steps, delta, limits)
	if c.Capped, err = q.upper(s, s.cap); err != nil {
		return c, err
	}
	if c.Uncapped, err = q.upper(s, s.population); err != nil {
		return c, err
	}
	if c.Vacuous = c.Uncapped > 0 && c.Capped > 2*c.Uncapped; c.Vacuous {
		c.Smallest, err = q.smallest(s, c.Uncapped*1.01)
	}
	return c, err
}

// A capQuestion is ε(δ) of so many steps, which is asked of several caps.
type capQuestion struct {
	ctx    context.Context
	base   profiles.Mechanism
	r      profiles.Relation
	steps  int64
	delta  float64
	limits fourier.Options
	left   float64 // work for what is still asked
}

func newCapQuestion(ctx context.Context, b profiles.Mechanism, r profiles.Relation, steps int64, delta float64, limits fourier.Options) *capQuestion {
	if limits.Work <= 0 {
		limits.Work = fourier.DefaultWork(limits.Relative)
	}
	return &capQuestion{ctx: ctx, base: b, r: r, steps: steps, delta: delta, limits: limits, left: limits.Work}
}

// A direction of one cap has at most this share of the work, so that a hard one leaves some.
const capShare = 0.1

// leastAsk is the work of a question that is answered in closed form, or ends before its first sum: its tails and a search for a line.
const leastAsk = 5e4

// errNoWork ends a search for a cap with what it has found.
var errNoWork = errors.New("the work limit is reached")

// upper returns the upper end of ε(δ) with a cap.
func (q *capQuestion) upper(s truncatedScheme, most int64) (float64, error) {
	t, err := s.WithCap(most)
	if err != nil {
		return 0, err
	}
	m, err := t.Apply(q.base, q.r)
	if err != nil {
		return 0, err
	}
	worst := math.Inf(-1)
	for d, dir := range m.Directions {
		if d == 1 && q.r == profiles.Substitute {
			break // symmetric
		}
		if q.left <= 0 {
			return 0, errNoWork
		}
		o := q.limits
		o.Work = min(q.left, capShare*q.limits.Work)
		sum := fourier.New(o)
		if err := sum.Add(dir.Upper, q.steps); err != nil {
			return 0, err
		}
		e, err := sum.Epsilon(q.ctx, q.delta)
		if err != nil {
			return 0, err
		}
		q.left -= max(sum.Spent(), leastAsk)
		worst = max(worst, e.Upper)
	}
	return worst, nil
}

// smallest returns the smallest cap, from the mean of a batch on, whose ε is at most so much, as
// that of the whole population is.
func (q *capQuestion) smallest(s truncatedScheme, most float64) (int64, error) {
	// From the mean up, by standard deviations and then by halves.
	mean := s.rate * float64(s.population)
	sd := math.Sqrt(mean*(1-s.rate)) + 1
	lo := int64(max(1, min(mean, float64(s.population))))
	hi := s.population
	for k := 4.0; hi-lo > 1; k += 2 {
		x := int64(math.Ceil(mean + k*sd))
		if x >= hi || k >= 64 {
			x, k = lo+(hi-lo)/2, 64
		}
		e, err := q.upper(s, x)
		if err == errNoWork {
			return hi, nil
		}
		if err != nil {
			return 0, err
		}
		if e <= most {
			hi, k = x, 64
		} else {
			lo = x
		}
	}
	return hi, nil
}

// Proof (docs/theory/allocation.md §5): Theorem 7.
//
// *Proof.* Couple the data sets by the others' batch and, if K ≥ B, a uniformly ordered B-subset (z_1, …, z_B) of it. If
// K < B, the sum moves by f(x) with probability q. If K ≥ B, x survives with probability qB/(K+1) and then replaces z_1,
// which moves the sum by `f(x) − f(z_1)`, of norm ≤ 2. Given K ≥ B the ordered subset is uniform and independent of K,
// so K is averaged: rate q̄. Reveal whether K ≥ B and the subset; joint convexity, and Theorem 1 in each part. Under
// zero-out the empty place is drawn as the record is: if K < B the sum moves by f(x) with probability q, and else the
// record or its empty place replaces z_1 with probability q̄, so that the sum moves to `f(x) − f(z_1)` or to `−f(z_1)`,
// both of norm ≤ 2: Theorem 2. Under substitution x or x' replaces z_1: `P − αQ = q̄N(a) − (α−1)(1−q̄)N(0) − αq̄N(b)`
// with |a|, |b|, |a−b| ≤ 2; for α ≥ 1 the integral of the positive part grows with |a| and |a − b| and falls with |b|
// (Kahane's comparison, as in [subsampling.md](subsampling.md)): largest at |a| = |a−b| = 2, b = 0. ∎ Theorem 2 is used
// there in the form of one Poisson step, `(1−q̄)N(0)+q̄N(a)` against `(1−q̄)N(0)+q̄N(b)` with |a|, |b| ≤ 2, whose proof
// is the same: pad both to norm 2, and the derivative by the angle between them is not positive, so ±2 is the worst at
// every α. As `h_{q,1}` is such a pair with a of norm 1 and b = 0, it lies below, which the code uses where τ is known
// only between two ends.

// Theory (docs/theory/allocation.md §5), as computed.
//
// A population of N has neighbours of both kinds, n = N and N + 1, and the bound is monotone neither in n nor in τ.
// `allocation.Truncated` uses `(1−τ⁺)h_{q,1} + τ⁻h_{q̄⁺,2} + (τ⁺−τ⁻)h_{q,2}`, τ⁻ and τ⁺ the ends over both n and their
// rounding, q̄⁺ the larger rate: `h_{q,2}` is above both others, so this is above both n. Where τ⁺ ≤ 1e-5 the rate q
// takes the place of q̄.
