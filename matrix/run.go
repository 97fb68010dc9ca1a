package matrix

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A Run is one run of a matrix mechanism, with fresh noise: a mechanism of a plan. What it
// costs is found when it is first asked for.
type Run interface {
	profiles.Compound
	profiles.NoiseScaler
	subsample.Sequence
	// Config returns what the run is.
	Config() Config
	// Secret reports whether the participations of a record must stay secret: then persons with
	// several records are not covered, which may be in several groups.
	Secret() bool
	// Sensitivity returns the sensitivity of the matrix under the schema, found once. It takes time for matrices that are
	// given by rows, and for trees: a cancelled ctx ends it. With cyclic Poisson sampling there is none: see Blocks.
	Sensitivity(ctx context.Context) (Sensitivity, error)
	// Blocks returns what a run with cyclic Poisson sampling is made of, the largest first, and
	// the group that costs most: nil for other schemas.
	Blocks(ctx context.Context) ([]Block, int, error)
}

type run struct {
	config Config
	known  *knowledge // the same for every noise multiplier
	// The list of a run with Poisson sampling of every step, which depends on the noise.
	lock  sync.Mutex
	coins []subsample.Run
}

// knowledge is what the matrix and the schema say, found once.
type knowledge struct {
	lock    sync.Mutex
	found   bool
	squares squares // without secret sampling
	blocks  []Block // with cyclic Poisson sampling
	group   int
	below   twoValued // with balls in bins, and
	above   twoValued
	exact   bool
}

// New returns a run, or what is wrong with it as a problem with a field of a plan.
func New(c Config) (Run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &run{config: c, known: &knowledge{}}, nil
}

// Secret implements Run.
func (r *run) Secret() bool { return r.config.Participation.Secret() }

// Name implements profiles.Mechanism.
func (r *run) Name() string { return "matrix" }

// Config implements Run.
func (r *run) Config() Config { return r.config }

// Pair implements profiles.Mechanism; a run is a list of pairs.
func (r *run) Pair(profiles.Relation) (profiles.Profile, error) {
	return nil, fault.New("matrix", "a run is a list of pairs, it has no pair of its own")
}

// Bounds implements profiles.Compound, for runs that are one Gaussian.
func (r *run) Bounds(ctx context.Context, rel profiles.Relation) (profiles.Bounds, error) {
	runs, err := r.Runs(ctx, rel)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if len(runs) != 1 || runs[0].Count != 1 || runs[0].Scheme != nil {
		return profiles.Bounds{}, fault.New("matrix", "the run is a list of runs, which has no profile of its own; ask for the curve of a plan")
	}
	m, err := profiles.Unsampled(ctx, runs[0].Mechanism, rel)
	m.Name = r.Name()
	return m, err
}

// know finds what the price depends on.
func (r *run) know(ctx context.Context) (*knowledge, error) {
	k := r.known
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.found {
		return k, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	switch r.config.Participation.kind {
	case cyclicPoisson:
		k.blocks, k.group = r.config.blocks()
	case poisson, bMinSep: // all depends on the noise, or is soon found
	case ballsInBins:
		k.below, k.above, k.exact, err = r.config.balls(ctx)
	default:
		k.squares, err = r.config.squared(ctx)
	}
	if err != nil {
		return nil, err
	}
	k.found = true
	return k, nil
}

// Sensitivity implements Run.
func (r *run) Sensitivity(ctx context.Context) (Sensitivity, error) {
	if r.config.Participation.Secret() {
		return r.config.sensitivity(ctx)
	}
	k, err := r.know(ctx)
	if err != nil {
		return Sensitivity{}, err
	}
	return k.squares.root(), nil
}

// Blocks implements Run.
func (r *run) Blocks(ctx context.Context) ([]Block, int, error) {
	if r.config.Participation.kind != cyclicPoisson {
		return nil, 0, nil
	}
	k, err := r.know(ctx)
	if err != nil {
		return nil, 0, err
	}
	return append([]Block(nil), k.blocks...), k.group, nil
}

// Runs implements subsample.Sequence: Theorems M1, M2, M4, M5 and M6. Without
// secret sampling the run is the Gaussian whose noise multiplier is that of the run over the
// sensitivity, under every relation. Secret sampling is not covered under substitute.
// Balls in bins have a theory gap, unless noise is independent: the list above is a bound,
// and so is the list of attacks, each as a whole.
func (r *run) Runs(ctx context.Context, rel profiles.Relation) ([]subsample.Run, error) {
	p, sigma := r.config.Participation, r.config.NoiseMultiplier
	switch {
	case p.kind == cyclicPoisson && rel == profiles.Substitute:
		return nil, fault.In("participation", fault.New("cyclic-poisson", "the substitute may belong to another group, whose blocks overlap: not covered; use add-remove"))
	case p.Secret() && rel == profiles.Substitute:
		return nil, fault.New("participation", "%v is not covered under %v; use add-remove", p, rel)
	}
	k, err := r.know(ctx)
	if err != nil {
		return nil, err
	}
	switch p.kind {
	case cyclicPoisson:
		return blockRuns(sigma, p.rate, k.blocks)
	case poisson:
		r.lock.Lock()
		defer r.lock.Unlock()
		if r.coins == nil {
			r.coins, err = r.config.coins(ctx)
		}
		return r.coins, err
	case bMinSep:
		return r.config.separatedRuns()
	case ballsInBins:
		return ballRuns(sigma, p.separation, k.below, k.above, k.exact)
	}
	if r.config.independent() {
		// k Gaussians, the same as the one with √k of the shift.
		b, err := gaussian(sigma, exactly(double{1, 0}))
		_, times := p.over(r.config.Steps)
		return []subsample.Run{{Mechanism: b, Count: int64(times)}}, err
	}
	b, err := gaussian(sigma, k.squares)
	return []subsample.Run{{Mechanism: b, Count: 1}}, err
}

// independent reports whether C = I.
func (c Config) independent() bool { return c.Strategy.kind == squareRoot && c.Strategy.bands == 1 }

// NoiseMultiplier implements profiles.NoiseScaler.
func (r *run) NoiseMultiplier() float64 { return r.config.NoiseMultiplier }

// NoiseRange implements profiles.NoiseScaler. Where the matrix leaves no noise multiplier,
// or the sensitivity cannot be found, the range is that of the run as it is.
func (r *run) NoiseRange(profiles.Relation) (lo, hi float64) {
	k, err := r.know(context.Background())
	if err != nil {
		return r.config.NoiseMultiplier, r.config.NoiseMultiplier
	}
	var all []double // squares of the norms that divide the noise multiplier
	switch r.config.Participation.kind {
	case cyclicPoisson:
		for _, b := range k.blocks {
			all = append(all, b.squares.upper)
		}
	case ballsInBins:
		all = slices.DeleteFunc([]double{k.above.rest, k.above.diagonal.sub(k.above.rest)}, func(x double) bool { return !(x.hi > 0) })
	case bMinSep:
		least, most := r.config.columnRange()
		all = []double{least, most}
	case poisson:
		c, _ := r.config.Strategy.toeplitzCoefficients(r.config.Steps)
		all = []double{normSquared(c, r.config.Steps)}
	default:
		all = []double{k.squares.upper}
		if r.config.independent() {
			all = []double{{1, 0}}
		}
	}
	lo, hi = 0, math.Inf(1)
	for _, x := range all {
		norm := x.sqrt().hi
		lo, hi = max(lo, minEffective*norm*(1+1e-12)), min(hi, maxEffective*norm*(1-1e-12))
	}
	return lo, hi
}

// WithNoiseMultiplier implements profiles.NoiseScaler.
func (r *run) WithNoiseMultiplier(noiseMultiplier float64) (profiles.Mechanism, error) {
	c := r.config
	c.NoiseMultiplier = noiseMultiplier
	if err := c.check(); err != nil {
		return nil, err
	}
	return &run{config: c, known: r.known}, nil
}

// This file has the Gaussians that runs are made of.

// effective returns σ over a norm, whose double is known to 2^-62: within an ulp of it.
func effective(sigma float64, norm double) float64 {
	return (double{sigma, 0}).over(norm).hi
}

// The range of noise multipliers of a Gaussian.
const minEffective, maxEffective = 1e-6, 1e15

// gaussian returns the Gaussian whose record moves the mean by the root of s. If that is
// exact, its noise multiplier is known to one rounding, which profiles.Gaussian counts.
func gaussian(sigma float64, s squares) (profiles.Mechanism, error) {
	upper := effective(sigma, s.upper.sqrt())
	if !s.exact {
		upper = xmath.Down(upper, 1)
	}
	if !(upper >= minEffective && upper <= maxEffective) {
		return nil, fault.New("noise-multiplier", "%v over a sensitivity of %v is %v, not in [%g, %g]", sigma, s.upper.sqrt().hi, upper, minEffective, maxEffective)
	}
	g, err := profiles.NewGaussianMechanism(upper)
	if err != nil || s.exact {
		return g, err
	}
	attack := nothing()
	if lower := xmath.Up(effective(sigma, s.lower.sqrt()), 1); s.lower.hi > 0 && lower <= maxEffective {
		if attack, err = profiles.NewGaussianMechanism(lower); err != nil {
			return nil, err
		}
	}
	return certain{g, attack}, nil
}

// certain is a Gaussian that dominates, and one that is reached.
type certain struct {
	profiles.Mechanism
	attack profiles.Mechanism
}

// Attack implements profiles.Attacked.
func (b certain) Attack(profiles.Relation) (profiles.Mechanism, error) { return b.attack, nil }

// nothing is what an attack without a block sees.
func nothing() profiles.Mechanism { return pairOf{profiles.Identical()} }

// pairOf is a mechanism that is known by its pair.
type pairOf struct{ pair profiles.Profile }

func (pairOf) Name() string { return "matrix" }

func (p pairOf) Pair(profiles.Relation) (profiles.Profile, error) { return p.pair, nil }

// A Config is a run: what its price depends on.
type Config struct {
	// NoiseMultiplier is the standard deviation of the seed noise z over the clipping
	// norm of one contribution, for C as it is given: nothing is normalised.
	NoiseMultiplier float64
	Steps           int
	Strategy        Strategy
	Participation   Participation
}

// The range of noise multipliers. What one participation sees of it, over the norm of its
// column, must be in the range of package profiles as well.
const minNoise, maxNoise = 1e-66, 1e75

// check returns what is wrong, as a problem with a field of a plan.
func (c Config) check() error {
	if !(c.NoiseMultiplier >= minNoise && c.NoiseMultiplier <= maxNoise) {
		return fault.New("noise-multiplier", "%v is not in [%g, %g]", c.NoiseMultiplier, minNoise, maxNoise)
	}
	if c.Strategy.kind == noStrategy {
		return fault.New("strategy", "is missing")
	}
	if err := c.checkSteps(); err != nil {
		return err
	}
	p := c.Participation
	if b, k := p.over(c.Steps); c.Strategy.kind == banded && c.Steps > maxGram && (p.kind == ballsInBins || !p.Secret() && k > 1 && b < c.Strategy.bands) {
		return fault.New("steps", "%d rows of which columns overlap under %v are more than %d", c.Steps, p, maxGram)
	}
	switch p.kind {
	case noParticipation:
		return fault.New("participation", "is missing")
	case epochs:
		if c.Steps%p.times != 0 {
			return fault.In("participation", fault.New("epochs", "%d does not divide the %d steps", p.times, c.Steps))
		}
	case minSeparation:
		if b, k := p.over(c.Steps); c.Strategy.kind == banded && float64(c.Steps)*float64(c.Steps)*float64(k) > maxWork && b < c.Strategy.bands {
			return fault.In("participation", fault.New("at-most", "%d participations make steps² times participations larger than %g", k, float64(maxWork)))
		}
	case cyclicPoisson:
		return c.checkCyclic("cyclic-poisson", "cycle")
	case bMinSep:
		return c.checkCyclic("b-min-sep", "separation")
	case ballsInBins:
		return c.checkBalls()
	case poisson:
		return c.checkCoins()
	}
	return nil
}

// maxCoins bounds the steps of Theorem M5: the quantiles take steps² terms, each a few times.
const maxCoins = 8192

// checkCoins has the conditions of the theorem of coins.go.
func (c Config) checkCoins() error {
	fail := func(format string, args ...any) error {
		return fault.In("participation", fault.New("poisson", format, args...))
	}
	switch {
	case !c.Strategy.isToeplitz():
		return fail("is covered for Toeplitz matrices alone (square-root, toeplitz, blt); cyclic-poisson is for banded ones")
	case c.Steps > maxCoins:
		return fail("is covered for at most %d steps, not for %d", maxCoins, c.Steps)
	case negative(c.Strategy.coefficients):
		return fail("is not covered for matrices with negative entries")
	}
	return nil
}

// checkBalls has the conditions of the theorem of balls.go.
func (c Config) checkBalls() error {
	s, bins := c.Strategy, c.Participation.separation
	switch {
	case bins > c.Steps:
		return fault.In("participation", fault.New("balls-in-bins", "%d is not in [1, steps], %d steps", bins, c.Steps))
	case float64(c.Steps)*float64(bins) > maxWork:
		return fault.In("participation", fault.New("balls-in-bins", "%d bins make steps times bins larger than %g", bins, float64(maxWork)))
	case s.kind == tree:
		return fault.In("participation", fault.New("balls-in-bins", "is not covered for trees"))
	}
	if negative(s.coefficients) || slices.ContainsFunc(s.rows, func(r row) bool { return negative(r.values) }) {
		return fault.In("participation", fault.New("balls-in-bins", "is not covered for matrices with negative entries"))
	}
	return nil
}

// maxWork bounds the dynamic programme over patterns: about a minute.
const maxWork = 1e10

func (c Config) checkSteps() error {
	most := maxSteps
	switch c.Strategy.kind {
	case tree:
		most = maxTree
	case banded:
		if n := len(c.Strategy.rows); c.Steps != n {
			return fault.New("steps", "%d is not the number of rows of the matrix, %d", c.Steps, n)
		}
	}
	if c.Steps < 1 || c.Steps > most {
		return fault.New("steps", "%d is not an integer in [1, %d]", c.Steps, most)
	}
	bands := c.Strategy.bands
	if bands > c.Steps {
		switch c.Strategy.kind {
		case toeplitz:
			return fault.In("strategy", fault.In("toeplitz", fault.New("coefficients", "has %d numbers for %d steps", bands, c.Steps)))
		case squareRoot:
			return fault.In("strategy", fault.In("square-root", fault.New("bands", "%d is not in [1, %d], the number of steps", bands, c.Steps)))
		}
	}
	return nil
}

// checkCyclic has the conditions of Theorems M2 and M6 that are about the matrix, for a schema and
// the key of its separation.
func (c Config) checkCyclic(schema, key string) error {
	fail := func(format string, args ...any) error {
		return fault.In("participation", fault.In(schema, fault.New(key, format, args...)))
	}
	cycle, bands := c.Participation.separation, c.Strategy.bands
	switch c.Strategy.kind {
	case tree:
		return fail("a tree has no bands; blocks overlap: not covered")
	case blt:
		bands = c.Steps
	}
	if cycle < bands {
		return fail("%d is below the %d bands of the matrix; blocks overlap: not covered", cycle, bands)
	}
	if cycle > c.Steps {
		return fail("%d is not in [1, steps], %d steps", cycle, c.Steps)
	}
	return nil
}
