package allocation

// Shuffled batches: what is and is not proved. Theorem 5 of docs/theory/allocation.md.

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/positive"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Shuffle is a uniformly random permutation of the data set cut into batches of one size, drawn
// for each epoch or once. One run of its mechanism is all the epochs together.
//
// Between an attack and no amplification at all lies what nobody knows: use Random instead, which
// costs a loader the same work.
type Shuffle interface {
	subsample.Sampler
	subsample.LawMaker
	// WithEpochs returns the scheme for so many epochs together, for each of which the data set is shuffled anew.
	WithEpochs(epochs int64) (Shuffle, error)
	// WithOneDraw returns the scheme for so many epochs together, for which the data set is shuffled once.
	WithOneDraw(epochs int64) (Shuffle, error)
	// WithUnused returns the scheme in which a record is left out of an epoch with this probability:
	// loaders that drop a short last batch. A short batch that is kept needs nothing: the number of
	// batches then counts it.
	WithUnused(probability float64) (Shuffle, error)
	// Bounds is Apply as a call that can be cancelled.
	Bounds(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error)
	// Parameters returns the parameters by their keys in plan files.
	Parameters() map[string]any
}

type shuffleScheme struct {
	batches, epochs int64
	once            bool // the data set is shuffled once, for all epochs
	unused          float64
	target          target
}

// NewShuffle returns shuffling into so many batches, for one epoch.
func NewShuffle(batches int64) (Shuffle, error) {
	if batches < 1 || batches > maxSteps {
		return nil, fault.New("batches", "%d is not in [1, %d]", batches, int64(maxSteps))
	}
	return shuffleScheme{batches: batches, epochs: 1, target: defaultTarget}, nil
}

// WithEpochs implements Shuffle.
func (s shuffleScheme) WithEpochs(epochs int64) (Shuffle, error) {
	s.epochs, s.once = epochs, false
	return s, checkEpochs(epochs)
}

// WithOneDraw implements Shuffle.
func (s shuffleScheme) WithOneDraw(epochs int64) (Shuffle, error) {
	s.epochs, s.once = epochs, true
	return s, checkEpochs(epochs)
}

// WithUnused implements Shuffle.
func (s shuffleScheme) WithUnused(probability float64) (Shuffle, error) {
	if !(probability >= 0 && probability < 1) {
		return nil, fault.New("unused", "%v is not in [0, 1)", probability)
	}
	s.unused = probability
	return s, nil
}

// Name returns the scheme's name in plan files.
func (shuffleScheme) Name() string { return "shuffle" }

// Apply returns all epochs of b, as a call that cannot be cancelled.
func (s shuffleScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	return s.Bounds(context.Background(), b, r)
}

// Bounds returns all epochs of Gaussian noise under the scheme: above, every use of the record
// with nothing hidden; below, an attack on this batching.
//
// Zero-out: the others' contributions are opposite to the record's, which moves one batch from
// 1 to 2 noise-free units: avg N(2e_i) against avg N(e_i). Substitute: avg N(2e_i) against
// N(0), where the substitute looks like the others; above, 2√E/σ. Add-remove, where the data set
// is shuffled and cut without the record: below, random allocation (the others contribute
// nothing), above, √(5E)/σ, as another record moves up. It assumes a public number of steps.
func (s shuffleScheme) Bounds(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if err := s.check(b, r); err != nil {
		return profiles.Bounds{}, err
	}
	sigma, _ := noiseOf(b)
	runs, _ := s.Unhidden(r) // Theorem 5: √E/σ, 2√E/σ and √(5E)/σ
	up, err := unhidden(b, r, runs)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.Bounds{Name: b.Name(), Relation: r}
	m.Directions[0].Upper, m.Directions[1].Upper = up, up
	var attacks []profiles.Profile
	// Others that contribute nothing: random allocation, but for the epochs that leave it out.
	if s.unused == 0 {
		ra := randomScheme{steps: s.batches, uses: 1, part: s.batches, epochs: s.epochs, once: s.once, target: s.target}
		x, err := ra.Bounds(ctx, b, profiles.AddRemove)
		if err != nil {
			return profiles.Bounds{}, err
		}
		attacks = append(attacks, x.Directions[0].Lower)
	}
	if r != profiles.AddRemove {
		q := 1.0
		if r == profiles.Substitute {
			q = 0
		}
		x, err := s.attacks(ctx, sigma, 2, q)
		if err != nil {
			return profiles.Bounds{}, err
		}
		attacks = append(attacks, x...)
	}
	rank := make([]profiles.Profile, len(attacks))
	for i, a := range attacks {
		if rank[i], err = s.composed(ctx, a); err != nil {
			return profiles.Bounds{}, err
		}
	}
	for d := range m.Directions {
		top := math.Inf(-1)
		for i, a := range attacks {
			seen := rank[i]
			if d == 1 {
				a, seen = profiles.Reverse(a), profiles.Reverse(seen)
			}
			if e := epsilonOf(seen, s.target.Delta); e > top {
				m.Directions[d].Lower, top = a, e
			}
		}
	}
	return m, nil
}

// composed returns an attack as often as it will run, roughly: which attack is best after many
// runs need not be the best in one.
func (s shuffleScheme) composed(ctx context.Context, attack profiles.Profile) (profiles.Profile, error) {
	if s.target.Runs <= 1 {
		return attack, nil
	}
	t := s.target.positive()
	t.Relative = max(t.Relative, 0.05)
	return powerBelow(ctx, attack, s.target.Runs, t)
}

// attacks returns the profiles of two statistics of all steps in the pair avg N(pe_i) against
// avg N(qe_i), in units of the noise-free contribution: Σ (A_p − A_q)(y_i), rounded at random
// after each sum, and the largest y_i, which serves where there is little noise.
func (s shuffleScheme) attacks(ctx context.Context, sigma, p, q float64) ([]profiles.Profile, error) {
	shift := 1 / sigma
	epochs := s.epochs
	if s.once {
		shift *= math.Sqrt(float64(s.epochs))
		epochs = 1
	}
	shift = xmath.Down(shift, 6) // less is a weaker attack
	var ones []*profiles.Discrete
	const statisticMost = 4 // beyond, A_p has no useful grid
	if shift <= statisticMost {
		d, err := s.sum(ctx, shift, p, q)
		if err != nil {
			return nil, err
		}
		ones = append(ones, d)
	}
	if shift > 1 {
		d, err := s.largest(shift, p, q)
		if err != nil {
			return nil, err
		}
		ones = append(ones, d)
	}
	var out []profiles.Profile
	for _, d := range ones {
		if epochs == 1 {
			out = append(out, d)
			continue
		}
		x, err := powerBelow(ctx, d, epochs, s.target.positive())
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// largest returns the pair of laws of the largest y_i: Pr[≤ c] = Φ(c − r)Φ(c)^{t−1} with one of t
// at r.
func (s shuffleScheme) largest(shift, p, q float64) (*profiles.Discrete, error) {
	t := float64(s.batches)
	above := func(c, r float64) float64 {
		l := xmath.LogNormalTail(-c)
		none := -math.Expm1(t * l)
		one := -math.Expm1(xmath.LogNormalTail(r-c) + (t-1)*l)
		return (1-s.unused)*one + s.unused*none
	}
	reach := math.Sqrt(-2*xmath.Log(s.cut())) + 0.5
	from, to := -2.0, min(reach+p*shift, 37)
	const cells = 4000
	var atoms []profiles.Atom
	// A tail of t events has the relative error of one, 16 u with its hazard, and a difference
	// that of the tails over itself. A cell in which that is large is joined to the next one: both
	// laws keep all their mass, as composition takes what a law lacks for an infinite loss.
	const tailErr = 64 * u
	worst := tailErr
	a, b := 1.0, 1.0 // the first cell has no lower end
	for i := 0; i <= cells; i++ {
		c := from + (to-from)*float64(i)/cells
		a2, b2 := above(c, p*shift), above(c, q*shift)
		if i == cells {
			a2, b2 = 0, 0 // the last has no upper one, so that it is always known well
		}
		x, y := a-a2, b-b2
		e := (tailErr*(1+max(c*c, from*from)))*(a/x+b/y) + 4*u
		if x > 0 && y > 0 && (e < 1e-9 || i == cells) {
			worst = max(worst, e)
			atoms = append(atoms, profiles.Atom{Loss: xmath.Log(x) - xmath.Log(y), LogP: xmath.Log(x), LogQ: xmath.Log(y)})
			a, b = a2, b2
		}
	}
	return profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), worst, 2*worst+64*u)
}

// sum returns the pair of laws of Σ (A_p − A_q)(y_i) of one epoch.
func (s shuffleScheme) sum(ctx context.Context, shift, p, q float64) (*profiles.Discrete, error) {
	one := s.oneStep(shift, p, q)
	all := one
	bit := int64(1)
	for bit<<1 <= s.batches {
		bit <<= 1
	}
	join := func(a, b *positive.Hypotheses) *positive.Hypotheses {
		alo, ahi := a.Reach(s.cut())
		blo, bhi := b.Reach(s.cut())
		ma, wa := a.Middle()
		mb, wb := b.Middle()
		return a.Join(b, positive.Spaced(alo+blo, ahi+bhi, ma+mb, math.Hypot(wa, wb), attackPoints))
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all = join(all, all)
		if s.batches&bit != 0 {
			all = join(all, one)
		}
	}
	return s.pair(all)
}

const (
	attackPoints = 700
	attackCells  = 3000
)

// cut is where the attack's grids end: what lies beyond is clamped.
func (s shuffleScheme) cut() float64 {
	return s.target.Delta * 1e-6 / float64(s.epochs) / float64(max(1, s.target.Runs))
}

// oneStep returns the law of A_p − A_q at one step, from cells of the noise.
func (s shuffleScheme) oneStep(shift, p, q float64) *positive.Hypotheses {
	reach := math.Sqrt(-2*xmath.Log(s.cut())) + 0.5
	from, to := -reach, reach+p*shift
	zs := make([]float64, attackCells+1)
	for i := range zs {
		zs[i] = from + (to-from)*float64(i)/attackCells
	}
	a, b := p*shift, q*shift
	var values, none, mp, mq []float64
	worst := 0.0
	for i := 0; i <= len(zs); i++ {
		lo, hi := math.Inf(-1), math.Inf(1)
		mid := from
		if i > 0 {
			lo, mid = zs[i-1], zs[i-1]
		}
		if i < len(zs) {
			hi = zs[i]
			if i > 0 {
				mid = (lo + hi) / 2
			}
		}
		values = append(values, math.Exp(min(690, a*(mid-a/2)))-math.Exp(min(690, b*(mid-b/2))))
		x, ex := positive.NormalBetween(lo, hi, 0)
		y, ey := positive.NormalBetween(lo, hi, a)
		z, ez := positive.NormalBetween(lo, hi, b)
		none, mp, mq = append(none, x), append(mp, y), append(mq, z)
		worst = max(worst, ex, ey, ez)
	}
	lo, hi := slices.Min(values), slices.Max(values)
	// The middle of A_p − A_q is narrow where its tail is long.
	return positive.NewHypotheses(values, none, mp, mq, worst, positive.Spaced(lo, hi, 0, (hi-lo)*1e-6+0.1*shift, attackPoints))
}

// pair returns the profile of the two laws; a record that is left out with some probability is
// no special step.
func (s shuffleScheme) pair(h *positive.Hypotheses) (*profiles.Discrete, error) {
	var atoms []profiles.Atom
	for i := range h.X {
		p := (1-s.unused)*h.P[i] + s.unused*h.None[i]
		q := (1-s.unused)*h.Q[i] + s.unused*h.None[i]
		// An outcome that an attacker does not look at costs nothing, in either direction:
		// below 1e-250 sums may have lost something.
		if p > 1e-250 && q > 1e-250 {
			lp, lq := xmath.Log(p), xmath.Log(q)
			atoms = append(atoms, profiles.Atom{Loss: lp - lq, LogP: lp, LogQ: lq})
		}
	}
	err := h.MassErr + 16*u
	return profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), err, 2*err+64*u)
}

// Proof (docs/theory/allocation.md §4): the attack's law.
//
// The attack's law. Post-processing: the attacker adds up `(A_2 − A_1)(y_i)` and after each sum rounds it at random to a
// neighbour on a grid, with the same probabilities whatever is true. Three laws go along: no step special (S), a uniform
// one special under P and under Q. Two blocks of m and n steps: `P_{m+n} = (m·P_m * S_n + n·S_m * P_n)/(m + n)`. Both
// terms are needed where m ≠ n, for the rounded laws are different (`TestOddStepsMixBothPlaces`: with the second alone,
// a "lower bound" was 5.8 % above the truth). Nothing is left out at the ends. With little noise, the largest y_i does
// better.
