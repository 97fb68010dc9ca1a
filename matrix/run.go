package matrix

import (
	"context"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A Run is one run of a matrix mechanism, with fresh noise: a mechanism of a plan. What it
// costs is found when it is first asked for.
type Run struct {
	config Config
	known  *knowledge // the same for every noise multiplier
}

// knowledge is what the matrix and the schema say, found once.
type knowledge struct {
	lock    sync.Mutex
	found   bool
	squares squares // without secret sampling
	blocks  []Block // with it
	group   int
}

// New returns a run, or what is wrong with it as a problem with a field of a plan.
func New(c Config) (*Run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Run{c, &knowledge{}}, nil
}

// Name implements profiles.Base.
func (r *Run) Name() string { return "matrix" }

// Config returns what the run is.
func (r *Run) Config() Config { return r.config }

// Pair implements profiles.Base; a run is a list of pairs.
func (r *Run) Pair(profiles.Relation) (profiles.Profile, error) {
	return nil, fault.New("matrix", "a run is a list of pairs, it has no pair of its own")
}

// Mechanism implements profiles.Compound, for runs that are one Gaussian.
func (r *Run) Mechanism(ctx context.Context, rel profiles.Relation) (profiles.Mechanism, error) {
	runs, err := r.Runs(ctx, rel)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	if len(runs) != 1 || runs[0].Count != 1 || runs[0].Scheme != nil {
		return profiles.Mechanism{}, fault.New("matrix", "the run is a list of runs, which has no profile of its own; ask for the curve of a plan")
	}
	m, err := profiles.Unsampled(ctx, runs[0].Mechanism, rel)
	m.Name = r.Name()
	return m, err
}

// know finds what the price depends on.
func (r *Run) know(ctx context.Context) (*knowledge, error) {
	k := r.known
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.found {
		return k, nil
	}
	if r.config.Participation.Secret() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k.blocks, k.group = r.config.blocks()
	} else {
		var err error
		if k.squares, err = r.config.squared(ctx); err != nil {
			return nil, err
		}
	}
	k.found = true
	return k, nil
}

// Sensitivity returns [Config.Sensitivity], found once.
func (r *Run) Sensitivity(ctx context.Context) (Sensitivity, error) {
	if r.config.Participation.Secret() {
		return r.config.Sensitivity(ctx)
	}
	k, err := r.know(ctx)
	if err != nil {
		return Sensitivity{}, err
	}
	return k.squares.root(), nil
}

// Blocks returns what a run with cyclic Poisson sampling is made of, the largest first, and
// the group that costs most: nil without secret sampling.
func (r *Run) Blocks(ctx context.Context) ([]Block, int, error) {
	if !r.config.Participation.Secret() {
		return nil, 0, nil
	}
	k, err := r.know(ctx)
	if err != nil {
		return nil, 0, err
	}
	return append([]Block(nil), k.blocks...), k.group, nil
}

// Runs implements subsample.Sequence: Theorems M1 and M2 of docs/matrix.md. Without secret
// sampling the run is the Gaussian whose noise multiplier is that of the run over the
// sensitivity, under either relation. Cyclic Poisson sampling is covered under add-remove
// only: a substitute may be in another group, whose blocks overlap those of the record.
func (r *Run) Runs(ctx context.Context, rel profiles.Relation) ([]subsample.Run, error) {
	p := r.config.Participation
	if p.Secret() && rel != profiles.AddRemove {
		return nil, fault.In("participation", fault.New("cyclic-poisson", "the substitute may belong to another group, whose blocks overlap: not covered; use add-remove"))
	}
	k, err := r.know(ctx)
	if err != nil {
		return nil, err
	}
	if !p.Secret() {
		if r.config.Strategy.kind == squareRoot && r.config.Strategy.bands == 1 {
			// Independent noise: k Gaussians, the same as the one with √k of the shift.
			b, err := gaussian(r.config.NoiseMultiplier, exactly(double{1, 0}))
			_, times := p.over(r.config.Steps)
			return []subsample.Run{{Mechanism: b, Count: int64(times)}}, err
		}
		b, err := gaussian(r.config.NoiseMultiplier, k.squares)
		return []subsample.Run{{Mechanism: b, Count: 1}}, err
	}
	scheme, err := subsample.NewPoisson(p.rate)
	if err != nil {
		return nil, err
	}
	var runs []subsample.Run
	for _, block := range k.blocks {
		b, err := gaussian(r.config.NoiseMultiplier, block.squares)
		if err != nil {
			return nil, err
		}
		runs = append(runs, subsample.Run{Mechanism: b, Scheme: scheme, Count: block.Count})
	}
	return runs, nil
}

// The range of noise multipliers of a Gaussian.
const minEffective, maxEffective = 1e-6, 1e15

// gaussian returns the Gaussian whose record moves the mean by the root of s. If that is
// exact, its noise multiplier is known to one rounding, which profiles.Gaussian counts.
func gaussian(sigma float64, s squares) (profiles.Base, error) {
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
	var attack profiles.Base = nothing{}
	if lower := xmath.Up(effective(sigma, s.lower.sqrt()), 1); s.lower.hi > 0 && lower <= maxEffective {
		if attack, err = profiles.NewGaussianMechanism(lower); err != nil {
			return nil, err
		}
	}
	return certain{g, attack}, nil
}

// certain is a Gaussian that dominates, and one that is reached.
type certain struct {
	profiles.Base
	attack profiles.Base
}

// Attack implements profiles.Attacked.
func (b certain) Attack(profiles.Relation) (profiles.Base, error) { return b.attack, nil }

// nothing is what an attack without a block sees.
type nothing struct{}

func (nothing) Name() string { return "matrix" }

func (nothing) Pair(profiles.Relation) (profiles.Profile, error) { return profiles.Identical(), nil }

// NoiseMultiplier implements profiles.NoiseScaler.
func (r *Run) NoiseMultiplier() float64 { return r.config.NoiseMultiplier }

// NoiseRange implements profiles.NoiseScaler. Where the matrix leaves no noise multiplier,
// or the sensitivity cannot be found, the range is that of the run as it is.
func (r *Run) NoiseRange(profiles.Relation) (lo, hi float64) {
	k, err := r.know(context.Background())
	if err != nil {
		return r.config.NoiseMultiplier, r.config.NoiseMultiplier
	}
	all := k.blocks
	if !r.config.Participation.Secret() {
		all = []Block{{squares: k.squares}}
		if r.config.Strategy.bands == 1 && r.config.Strategy.kind == squareRoot {
			all = []Block{{squares: exactly(double{1, 0})}}
		}
	}
	lo, hi = 0, math.Inf(1)
	for _, b := range all {
		norm := b.squares.upper.sqrt().hi
		lo, hi = max(lo, minEffective*norm*(1+1e-12)), min(hi, maxEffective*norm*(1-1e-12))
	}
	return lo, hi
}

// WithNoiseMultiplier implements profiles.NoiseScaler.
func (r *Run) WithNoiseMultiplier(noiseMultiplier float64) (profiles.Base, error) {
	c := r.config
	c.NoiseMultiplier = noiseMultiplier
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Run{c, r.known}, nil
}
