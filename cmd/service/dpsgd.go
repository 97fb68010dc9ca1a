package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// This file answers for training with DP-SGD, and states what the number promises
// and how batches are drawn. Steps and uses are counted in
// exact arithmetic.

// DPSGDRequest describes a training run: its batches by examples and batch size or by a
// sampling rate, its length by epochs or steps, and its noise, or the ε or the limit of membership
// inference that it has to meet.
type DPSGDRequest struct {
	Examples        Decimal  `json:"examples,omitempty" in:"whole [1, 2^53]" help:"number of training examples {N}"`
	BatchSize       Decimal  `json:"batch-size,omitempty" help:"expected size {B} of a batch"`
	SamplingRate    Decimal  `json:"sampling-rate,omitempty" not:"examples,batch-size" in:"(0, 1]" help:"probability {q} of an example to be in a batch, instead of --examples and --batch-size"`
	Epochs          Decimal  `json:"epochs,omitempty" or:"steps" not:"steps" in:"(0, inf)" help:"number of epochs {E}, a fraction is allowed"`
	Steps           Decimal  `json:"steps,omitempty" in:"whole [1, 2^53]" help:"number of steps {T}, instead of --epochs"`
	NoiseMultiplier Decimal  `json:"noise-multiplier,omitempty" or:"target-epsilon,target-advantage,target-tpr,at-fpr" help:"standard deviation {σ} of the noise over the clipping norm (required, or a target)"`
	TargetEpsilon   Decimals `json:"target-epsilon,omitempty" not:"target-advantage,target-tpr,noise-multiplier" in:"[0, inf)" help:"find the smallest noise multiplier for this {ε}, instead of --noise-multiplier; several with commas between them"`
	AttackTarget
	Delta     Decimals `json:"delta" apart:"target-epsilon" in:"(0, 1)" help:"one or several {δ}, with commas between them"`
	Neighbors string   `json:"neighbors,omitempty" one:"add-remove,substitute,zero-out" help:"neighbouring {relation}: add-remove, substitute or zero-out"`
	Batching  string   `json:"batching,omitempty" one:"poisson,random-allocation,shuffle,truncated-poisson,without-replacement,fixed-order" preset:"poisson" help:"{how} batches are drawn: poisson, random-allocation, shuffle, truncated-poisson, without-replacement, fixed-order"`
	Cap       Decimal  `json:"cap,omitempty" help:"largest batch {B} of truncated-poisson batching"`
	// Without it the unit is an example.
	RecordsPerPerson Decimal `json:"records-per-person,omitempty" in:"whole [1, 1048576]" help:"how many training examples {k} a person has at most; the answer is about persons"`
	Limits
}

// DPSGDRun is a training run as it was understood.
type DPSGDRun struct {
	Neighbors       string `json:"neighbors"`
	Examples        int64  `json:"examples,omitempty"`
	BatchSize       int64  `json:"batch-size,omitempty"`
	Epochs          Number `json:"epochs,omitempty"`
	SamplingRate    Number `json:"sampling-rate"`
	Steps           int64  `json:"steps"`
	NoiseMultiplier Number `json:"noise-multiplier"`
}

// DPSGDBatches says how the batches of a run come about.
type DPSGDBatches struct {
	Batching      string `json:"batching"`
	StepsPerEpoch int64  `json:"steps-per-epoch,omitempty"` // of random-allocation and shuffle
	Cap           int64  `json:"cap,omitempty"`
	// RecordsPerPerson is that of the unit; 0 where it is one example.
	RecordsPerPerson int64 `json:"records-per-person,omitempty"`
}

// DPSGDAnswer is the ε of a training run at each δ, and what that promises.
type DPSGDAnswer struct {
	DPSGDRun
	DPSGDBatches
	Results   []EpsilonAt `json:"results" py:"epsilons"`
	AnyOrder  AnyOrder    `json:"any-order" py:"*"`
	Statement string      `json:"statement"`
	// Beside has what other ways to draw the same batches cost; of shuffle only.
	Beside *Beside `json:"beside,omitempty"`
	// Calibration says how the noise multiplier was found for a target.
	Calibration *Solution `json:"calibration,omitempty"`
}

// Beside is the ε of the run if its batches came about in another way.
type Beside struct {
	Poisson          []EpsilonAt `json:"poisson"`
	RandomAllocation []EpsilonAt `json:"random-allocation"`
}

// AnyOrder is the ε of the same steps without relying on sampling.
type AnyOrder struct {
	Uses    int64       `json:"uses-per-example"`
	Results []EpsilonAt `json:"results" py:"any_order"`
}

// shape checks which keys are there.
func (q DPSGDRequest) shape() error {
	if q.SamplingRate == "" && (q.Examples == "" || q.BatchSize == "") {
		return shape("missing %s and %s (or %s)", "examples", "batch-size", "sampling-rate")
	}
	return nil
}

// A dpsgdRun is a training run.
type dpsgdRun struct {
	schedule
	neighbors profiles.Relation
	records   int64 // of a person, 0: the unit is an example
	noise     float64
	epochs    float64 // 0: not told
	deltas    []float64
	goal      accountant.Goal         // of the noise, if it is to be found
	found     *accountant.Calibration // of the noise; nil if it was given
	byEpsilon bool                    // it was found for an ε at the one δ
	gaussian  profiles.Mechanism
}

func (q DPSGDRequest) parse() (r dpsgdRun, err error) {
	r.neighbors = relation(q.Neighbors)
	rate, err := r.readRate(q)
	if err != nil {
		return r, err
	}
	if err := r.readBatching(q); err != nil {
		return r, err
	}
	if q.Neighbors == "" {
		r.neighbors = r.relation()
	}
	r.epochs = q.Epochs.float()
	if err := r.fill(rate, q.Steps.whole(), q.Epochs); err != nil {
		return r, err
	}
	r.records, r.deltas = q.RecordsPerPerson.whole(), q.Delta.floats()
	r.noise = 1 // where the search starts
	if q.NoiseMultiplier != "" {
		r.noise = q.NoiseMultiplier.float()
	}
	if q.AttackTarget.read(&r.goal); q.TargetEpsilon != nil {
		r.goal.Epsilon, r.goal.Delta = q.TargetEpsilon.float(), r.deltas[0]
	}
	if r.gaussian, err = profiles.NewGaussianMechanism(r.noise); err != nil {
		return r, renamed(err, "gaussian", "")
	}
	return r, r.checkScheme()
}

// checkScheme returns what is not known of the batches under the relation.
func (r dpsgdRun) checkScheme() error {
	switch {
	case r.name == FixedOrder && r.neighbors == profiles.AddRemove:
		return fault.New("neighbors", "add-remove is not for a fixed order: without one example all later ones move up, into other batches; zero-out or substitute keep its place")
	case r.name == RandomAllocation && r.neighbors == profiles.Substitute && r.part > 0:
		return fault.New("batching", "random-allocation has no proved bound under substitute for a last epoch of %d of %d steps; whole epochs have", r.part, r.each)
	}
	_, err := r.plan(r.gaussian)
	return renamed(err, r.name, "", "rate", "sampling-rate", "batch", "batch-size", "population", "examples")
}

// exact is the number itself, which was checked.
func (d Decimal) exact(key string) (*big.Rat, error) {
	x, err := decimal.Exact(strings.TrimSpace(string(d)))
	if err != nil {
		return nil, fault.New(key, "%s %w", decimal.Show(string(d)), err)
	}
	return x, nil
}

// readRate reads how likely an example is in a batch, and returns the number itself.
func (r *dpsgdRun) readRate(q DPSGDRequest) (rate *big.Rat, err error) {
	if q.SamplingRate != "" {
		r.rate = q.SamplingRate.float()
		return q.SamplingRate.exact("sampling-rate")
	}
	r.examples, r.batch = q.Examples.whole(), q.BatchSize.whole()
	if err := q.BatchSize.check("batch-size", upTo(r.examples)); err != nil {
		return nil, err
	}
	r.rate = float64(r.batch) / float64(r.examples)
	return big.NewRat(r.batch, r.examples), nil
}

// relation is the neighbouring relation of a name that was checked; add-remove if none is given.
func relation(name string) profiles.Relation {
	r, _ := profiles.ParseRelation(cmp.Or(name, "add-remove"))
	return r
}

// dpsgd returns the ε of a training run and states what it promises.
func (s *Service) dpsgd(ctx context.Context, q DPSGDRequest) (DPSGDAnswer, error) {
	r, err := q.parse()
	if err != nil {
		return DPSGDAnswer{}, err
	}
	opts := q.options(ctx, Narrowing{})
	if q.NoiseMultiplier == "" {
		if err := r.calibrate(ctx, q, opts); err != nil {
			return DPSGDAnswer{}, err
		}
	} else {
		opts = append(opts, accountant.Options{Recursion: stepByStep})
	}
	sampled, anyOrder, err := r.ask(ctx, opts)
	if err != nil {
		return DPSGDAnswer{}, err
	}
	var beside *Beside
	if r.name == Shuffle {
		if beside, err = r.beside(ctx, opts); err != nil {
			return DPSGDAnswer{}, err
		}
	}
	out := DPSGDAnswer{DPSGDRun: DPSGDRun{Neighbors: r.neighbors.String(), Examples: r.examples, BatchSize: r.batch, Epochs: Number(r.epochs), SamplingRate: Number(r.rate), Steps: r.steps, NoiseMultiplier: Number(r.noise)}, DPSGDBatches: DPSGDBatches{Batching: r.name, StepsPerEpoch: r.each, Cap: r.cap, RecordsPerPerson: r.records},
		Results: sampled, AnyOrder: AnyOrder{r.uses, anyOrder}, Statement: r.statement(sampled, anyOrder, beside), Beside: beside}
	if r.found != nil {
		c := solution(r.found, r.goal, r.neighbors)
		q.put(&c, r.goal)
		out.Calibration = &c
	}
	return out, nil
}

// stepByStep is up to how many steps a gap in theory is narrowed step by step, in a second or two; more are in blocks, which take no longer.
const stepByStep = 100

// calibrate sets the noise to the smallest that meets the target.
func (r *dpsgdRun) calibrate(ctx context.Context, q DPSGDRequest, opts []accountant.Options) (err error) {
	steps, err := r.plan(r.gaussian)
	if err != nil {
		return err
	}
	plan := &accountant.Plan{Neighbors: r.neighbors, RecordsPerPerson: r.records, Steps: steps}
	r.goal.Solve = accountant.NoiseMultiplier
	if r.found, err = accountant.Calibrate(ctx, plan, r.goal, opts...); err != nil {
		return fault.In(given(&q, "target-epsilon", "target-advantage", "target-tpr")[0], err)
	}
	r.byEpsilon = q.TargetEpsilon != nil
	// A last epoch that is cut short is a step of its own: the factor on both multipliers, which
	// start at 1, is the multiplier.
	r.found.Factor = false
	r.noise, r.gaussian = r.found.Value, r.found.Plan.Steps[0].Mechanism
	return nil
}

// unrounded returns the whole number that x, a multiple of a rate, is but for the
// rounding of the rate to 64 bits: 0.004273504273504274 is written for 1/234, and
// 14040 times that are 60. A float64 is within half a unit in the last place of the
// rate that was meant, and a decimal that reads back as the float64 within another
// half: together a relative 2^-52 at most.
func unrounded(x *big.Rat) *big.Rat {
	up := new(big.Rat).Add(x, big.NewRat(1, 2))
	whole := new(big.Rat).SetInt(new(big.Int).Quo(up.Num(), up.Denom()))
	off := new(big.Rat).Sub(x, whole)
	if off.Abs(off).Cmp(new(big.Rat).Mul(x, big.NewRat(1, 1<<52))) <= 0 {
		return whole
	}
	return x
}

// ceil rounds up; false beyond 2^53.
func ceil(r *big.Rat) (int64, bool) {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), q.IsInt64() && q.Int64() <= decimal.MaxWhole
}

// ask returns ε of the run itself and of the same steps without relying on
// sampling.
func (r dpsgdRun) ask(ctx context.Context, opts []accountant.Options) (sampled, anyOrder []EpsilonAt, err error) {
	steps, err := r.plan(r.gaussian)
	if err != nil {
		return nil, nil, err
	}
	if r.byEpsilon && r.found.Asked == "epsilon" {
		sampled = []EpsilonAt{epsilonAt(r.goal.Delta, r.found.Meets.Interval)} // as certain as was needed to decide
	} else {
		if r.byEpsilon {
			// The budget was met by δ: ε with the same accuracy.
			opts = append(slices.Clip(opts), accountant.Options{Accuracy: min(r.found.Accuracy, 1e-3)})
		}
		if sampled, err = r.cost(ctx, r.neighbors, steps, opts); err != nil {
			return nil, nil, err
		}
	}
	anyOrder, err = r.cost(ctx, r.neighbors, []accountant.Step{{Name: "DP-SGD", Mechanism: r.gaussian, Count: r.uses}}, opts)
	if err != nil {
		return nil, nil, err
	}
	if r.byEpsilon {
		// That δ at the target is at most the budget's is proved: so ε is at most the
		// target, whatever width its own interval has.
		e := &sampled[0].Epsilon
		e.Upper, e.Estimate = min(e.Upper, Number(r.goal.Epsilon)), min(e.Estimate, Number(r.goal.Epsilon))
	}
	return sampled, anyOrder, nil
}

// cost returns ε of steps at each δ.
func (r dpsgdRun) cost(ctx context.Context, relation profiles.Relation, steps []accountant.Step, opts []accountant.Options) ([]EpsilonAt, error) {
	acct, err := newAccountant(ctx, &accountant.Plan{Neighbors: relation, RecordsPerPerson: r.records, Steps: steps}, opts)
	if err != nil {
		return nil, err
	}
	return epsilons(ctx, acct, r.deltas)
}

// besideAccuracy is that of what is told beside an answer.
const besideAccuracy = 1e-3

// beside returns what other ways to draw the batches cost.
func (r dpsgdRun) beside(ctx context.Context, opts []accountant.Options) (*Beside, error) {
	opts = append(slices.Clip(opts), accountant.Options{Accuracy: besideAccuracy})
	var out Beside
	for _, c := range []struct {
		name string
		to   *[]EpsilonAt
	}{{Poisson, &out.Poisson}, {RandomAllocation, &out.RandomAllocation}} {
		other := r
		other.name = c.name
		if r.neighbors == profiles.Substitute && other.part > 0 {
			other.whole, other.part = other.whole+1, 0 // a whole epoch is not less
		}
		steps, err := other.plan(r.gaussian)
		if err != nil {
			return nil, err
		}
		if *c.to, err = r.cost(ctx, r.neighbors, steps, opts); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// What follows turns "so many examples, such batches, so many epochs" into the steps of a plan,
// for each way to draw batches. It assumes nothing about the mechanism; the laws are those
// of subsample and subsample/allocation.

// The ways to draw batches.
const (
	Poisson            = "poisson"
	RandomAllocation   = "random-allocation"
	Shuffle            = "shuffle"
	TruncatedPoisson   = "truncated-poisson"
	WithoutReplacement = "without-replacement"
	FixedOrder         = "fixed-order"
)

// Batchings lists them.
var Batchings = []string{Poisson, RandomAllocation, Shuffle, TruncatedPoisson, WithoutReplacement, FixedOrder}

// A schedule is a way to draw batches, for a number of steps.
type schedule struct {
	name            string
	examples, batch int64 // 0: not told
	rate            float64
	cap             int64 // of truncated-poisson
	steps           int64
	// Of random-allocation and shuffle: steps of an epoch, whole epochs, and the steps of a
	// last epoch that is cut short.
	each, whole, part int64
	uses              int64 // at most, of an example, if each epoch uses each example once
}

// byEpochs reports whether batches are drawn for an epoch.
func (s schedule) byEpochs() bool { return s.name == RandomAllocation || s.name == Shuffle }

// relation is what the scheme is accounted for under if nobody asks for another: where
// examples have places, that of an empty place.
func (s schedule) relation() profiles.Relation {
	if s.name == Shuffle || s.name == FixedOrder {
		return profiles.ZeroOut
	}
	return profiles.AddRemove
}

// readBatching reads how batches are drawn.
func (s *schedule) readBatching(q DPSGDRequest) error {
	s.name = q.Batching
	switch {
	case q.Cap != "" && s.name != TruncatedPoisson:
		return fault.New("cap", "is for truncated-poisson batching only, not for %s", s.name)
	case q.Cap == "" && s.name == TruncatedPoisson:
		return fault.New("cap", "is missing; must be the largest batch, best 4.5 standard deviations above the mean")
	case s.examples == 0 && (s.name == TruncatedPoisson || s.name == WithoutReplacement):
		return fault.New("examples", "is missing; %s batching needs the population, by examples and batch-size in place of sampling-rate", s.name)
	}
	if q.Cap != "" {
		s.cap = q.Cap.whole()
		return q.Cap.check("cap", upTo(s.examples))
	}
	return nil
}

// fill fills in the length: of so many steps, or where there are none of so many epochs. rate is the number itself. Schemes
// that draw batches for an epoch have t = ⌈n/b⌉ steps in each, and a last one of some.
func (s *schedule) fill(rate *big.Rat, steps int64, given Decimal) error {
	var ok bool
	if s.byEpochs() {
		if s.each, ok = ceil(unrounded(new(big.Rat).Inv(rate))); !ok || s.each > 1<<30 {
			return fault.New("batching", "%s has more than 2^30 steps in an epoch", s.name)
		}
	}
	var epochs *big.Rat
	if s.steps = steps; steps > 0 {
		// Batches of fixed size in any order use an example this often.
		s.uses, _ = ceil(unrounded(new(big.Rat).Mul(rate, new(big.Rat).SetInt64(steps))))
	} else {
		var err error
		if epochs, err = given.exact("epochs"); err != nil {
			return err
		}
		if s.steps, ok = ceil(unrounded(new(big.Rat).Quo(epochs, rate))); !ok {
			return fault.New("epochs", "%s makes more than 2^53 steps", given)
		}
		s.uses, _ = ceil(epochs)
	}
	switch t := big.NewInt(s.each); {
	case !s.byEpochs():
		return nil
	case epochs == nil:
		s.whole, s.part = s.steps/s.each, s.steps%s.each
	default:
		whole := new(big.Int).Quo(epochs.Num(), epochs.Denom())
		rest := new(big.Rat).Sub(epochs, new(big.Rat).SetInt(whole))
		part, _ := ceil(unrounded(rest.Mul(rest, new(big.Rat).SetInt(t))))
		if steps := new(big.Int).Mul(whole, t); !steps.IsInt64() || steps.Int64() > decimal.MaxWhole-part {
			return fault.New("epochs", "makes more than 2^53 steps")
		}
		if s.whole, s.part = whole.Int64(), part; part == s.each {
			s.whole, s.part = s.whole+1, 0
		}
	}
	s.steps = s.whole*s.each + s.part
	s.uses = s.whole + min(s.part, 1)
	return nil
}

// plan returns the steps of the plan.
func (s schedule) plan(b profiles.Mechanism) (steps []accountant.Step, err error) {
	add := func(name string, scheme subsample.Scheme, wrong error, count int64) {
		if err = cmp.Or(err, wrong); err == nil && count > 0 {
			steps = append(steps, accountant.Step{Name: name, Mechanism: b, Sampling: scheme, Count: count})
		}
	}
	const name, last = "DP-SGD", "last epoch"
	switch s.name {
	case Poisson:
		p, err := subsample.NewPoisson(s.rate)
		add(name, p, err, s.steps)
	case TruncatedPoisson:
		p, err := allocation.NewTruncated(s.rate, s.cap, s.examples)
		add(name, p, err, s.steps)
	case WithoutReplacement:
		p, err := subsample.NewWithoutReplacement(s.examples, s.batch)
		add(name, p, err, s.steps)
	case FixedOrder:
		p, err := allocation.NewFixed(1)
		add(name, p, err, s.uses)
	case RandomAllocation:
		p, err := allocation.NewRandom(s.each)
		add(name, p, err, s.whole)
		if err == nil {
			p, err = p.First(s.part)
		}
		add(last, p, err, min(s.part, 1))
	case Shuffle:
		p, err := allocation.NewShuffle(s.each)
		add(name, p, err, s.whole)
		if s.part == 0 {
			break
		}
		// Of a permuted data set the first batches: each example is in them with probability
		// part/each, and then in one of them alike.
		if p, err = allocation.NewShuffle(s.part); err == nil {
			p, err = p.WithUnused(float64(s.each-s.part) / float64(s.each))
		}
		add(last, p, err, 1)
	}
	return steps, err
}

// What follows states in plain words what an ε promises. It assumes certified intervals and
// rounds them up, and returns lines of at most 79 characters.

// statement says in plain words what the numbers of a DP-SGD run promise, what
// they assume and what they leave out.
func (r dpsgdRun) statement(sampled, anyOrder []EpsilonAt, beside *Beside) string {
	var b strings.Builder
	changes := map[profiles.Relation][2]string{ // of an example, and of a person
		profiles.AddRemove:  {"adding or removing one training example", "adding or removing one person with at most " + examples(r.records)},
		profiles.Substitute: {"replacing one training example by another", fmt.Sprintf("replacing one person's training examples by another's, at most %d by as many", r.records)},
		profiles.ZeroOut: {"replacing one training example by an empty place, which adds nothing to any sum",
			fmt.Sprintf("replacing one person's training examples, at most %d, by empty places, which add nothing to any sum", r.records)},
	}[r.neighbors]
	batch := "a constant,"
	if r.batch > 0 {
		batch = fmt.Sprintf("a constant, such as %d,", r.batch)
	}
	fmt.Fprint(&b, "PRIVACY STATEMENT\n\n")
	paragraph(&b, "", "", fmt.Sprintf("The training is %s, with respect to %s.", private(sampled), changes[min(r.records, 1)]))

	if beside != nil {
		b.WriteString("\n")
		paragraph(&b, "", "", r.unknown(sampled, beside))
	}

	if all := r.doubts(sampled); len(all) > 0 {
		section(&b, "Warning", all...)
	}
	section(&b, "Assumed", r.drawn(),
		fmt.Sprintf("At each step each example's gradient is clipped to some norm C, the clipped gradients are added up, and fresh Gaussian noise "+
			"of standard deviation %s·C is added to every coordinate of the sum. It is divided by %s not by the random size of the batch.", decimal.Short(r.noise), batch),
		batchingTexts[r.name].constants+" were fixed beforehand, without a look at the data, and the noise is exact: "+
			"weak random numbers and rounding of the noise are outside of this account.")

	covered := []string{"The final model, every checkpoint on the way, and whatever is computed from them alone. " + batchingTexts[r.name].secret}
	persons := "Persons. The promise is about one example; someone who contributed several is protected less, and without a limit on " +
		"examples per person there is no promise about persons."
	if r.records > 0 {
		covered = append(covered, fmt.Sprintf("Persons, each with all that they contributed: at most %s.", examples(r.records)))
		persons = fmt.Sprintf("Persons with more than %s, unless theirs were cut to %d beforehand, without a look at those of others.", examples(r.records), r.records)
	}

	section(&b, "Covered", covered...)
	section(&b, "Not covered", persons, "Other looks at the same data: tuning hyper-parameters over several runs, choosing the best checkpoint, statistics for "+
		"normalization, reported accuracies. Each needs an account of its own.")

	if r.name == FixedOrder {
		return b.String()
	}
	place := "; there, an example that is removed leaves its place empty"
	if r.neighbors != profiles.AddRemove {
		place = ""
	}
	without := map[bool]string{true: "Without Poisson sampling", false: "Without secret batches"}[r.name == Poisson]
	section(&b, without, fmt.Sprintf("If instead each example is used at most %s, in batches that do not depend on the data and in an order that may be public, "+
		"the training is %s%s.", counted(r.uses, "once", "%d times"), private(anyOrder), place))
	return b.String()
}

// examples counts training examples.
func examples(n int64) string { return counted(n, "one training example", "%d training examples") }

// counted says how many there are.
func counted(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// drawn says how batches must come about.
func (r dpsgdRun) drawn() string {
	last := ""
	if r.part > 0 {
		last = fmt.Sprintf(" The last epoch ends after %d steps.", r.part)
	}
	return strings.NewReplacer("{each}", fmt.Sprint(r.each), "{last}", last, "{steps}", fmt.Sprint(r.steps), "{rate}", decimal.Short(r.rate), "{cap}", fmt.Sprint(r.cap),
		"{batch}", fmt.Sprint(r.batch), "{examples}", fmt.Sprint(r.examples), "{uses}", counted(r.uses, "once", "%d times")).Replace(batchingTexts[r.name].drawn)
}

// batchingTexts are how batches must come about, what must not be computed from the data, and what must not be published.
var batchingTexts = map[string]struct{ drawn, constants, secret string }{
	Poisson: {"Poisson sampling: at each of the {steps} steps, each example is in the batch with probability {rate}, independently of all else. " +
		"Batches of a fixed size from a shuffled data set are something else, and can cost more.",
		"Noise multiplier, sampling rate and number of steps", "Batches, and gradients before the noise, must stay secret."},
	RandomAllocation: {"Random allocation: at the start of each epoch, each example draws one of its {each} steps, with secret randomness, all alike and independently " +
		"of the other examples.{last} A shuffled data set that is cut into batches is something else, and can cost many times as much.",
		"Noise multiplier, number of epochs and the number of steps in each", "Batches, their sizes, and gradients before the noise must stay secret."},
	Shuffle: {"Shuffled batches: for each epoch the data set is put into a uniformly random order, anew and in secret, and cut into {each} batches of one size; " +
		"if the last is shorter, it is used as well.{last}",
		"Noise multiplier, number of epochs and the number of steps in each", "Batches, and gradients before the noise, must stay secret; but nobody has proved that secret batches help."},
	TruncatedPoisson: {"Poisson sampling with a cap: at each of the {steps} steps, each example is sampled with probability {rate}, independently of all else; " +
		"if more than {cap} are, a uniformly random part of exactly {cap} of them is the batch. There are {examples} examples, or one more where one is added.",
		"Noise multiplier, sampling rate, cap and number of steps", "Batches, their sizes, and gradients before the noise must stay secret."},
	WithoutReplacement: {"Sampling without replacement: at each of the {steps} steps the batch is a uniformly random set of {batch} of the {examples} examples, drawn afresh and " +
		"independently of all else. Cutting a shuffled data set into batches is something else, and can cost more.",
		"Noise multiplier, batch size and number of steps", "Batches, and gradients before the noise, must stay secret."},
	FixedOrder: {"A fixed order: each example is used at most {uses}, in batches that do not depend on the data. The order may be public. " +
		"Where an example is left out, its place stays empty: the others do not move up.",
		"Noise multiplier, batches and their number", "Gradients before the noise must stay secret; the batches need not."},
}

// unknown says what lies between the ends of shuffled batches, and what the same batches would
// cost if they were drawn in another way.
func (r dpsgdRun) unknown(sampled []EpsilonAt, beside *Beside) string {
	var parts []string
	for i, a := range sampled {
		parts = append(parts, fmt.Sprintf("At δ = %s, an attack on this batching reaches ε = %s, and nothing better than ε = %s, that of batches which anybody may know, is proved. "+
			"Poisson sampling would be %s, random allocation (balls in bins) %s.", a.Delta,
			decimal.Rounded(max(0, float64(a.Epsilon.Lower)), 4, decimal.Down), decimal.Rounded(max(0, float64(a.Epsilon.Upper)), 4, decimal.Up),
			decimal.Rounded(max(0, float64(beside.Poisson[i].Epsilon.Upper)), 4, decimal.Up), decimal.Rounded(max(0, float64(beside.RandomAllocation[i].Epsilon.Upper)), 4, decimal.Up)))
	}
	return strings.Join(parts, " ")
}

// stated writes an upper end of an ε with no more digits than are known.
func stated(a EpsilonAt, upper Number) string {
	e := a.Epsilon
	return decimal.Rounded(float64(upper), min(6, decimal.Apart(float64(e.Lower), float64(e.Upper))), decimal.Up)
}

// largeEpsilon is where an ε says little: odds may change by a factor above 22,000.
const largeEpsilon = 10

// doubts are what makes a promise that is kept worth little.
func (r dpsgdRun) doubts(sampled []EpsilonAt) (all []string) {
	for _, a := range sampled {
		if r.examples > 0 && float64(a.Delta)*float64(r.examples) >= 1 {
			all = append(all, fmt.Sprintf("δ = %s is not below 1/%d, one over the number of examples. Publishing an example picked at random keeps "+
				"the promise (ε = 0, δ = 1/%d): a δ of this size protects nobody.", a.Delta, r.examples, r.examples))
		}
		if a.Epsilon.Upper > largeEpsilon {
			odds := "beyond all bounds"
			if x := math.Exp(float64(a.Epsilon.Upper)); !math.IsInf(x, 0) {
				odds = "by a factor of up to " + decimal.Rounded(x, 2, decimal.Up)
			}
			all = append(all, fmt.Sprintf("ε = %s is above %d: what is released may change an attacker's odds %s. That promises little.",
				stated(a, a.Epsilon.Upper), largeEpsilon, odds))
		}
	}
	if len(all) > 0 {
		all = append(all, "What the best attacker can do with such a release is told by accountant risk, of a plan with these steps.")
	}
	if r.rate == 1 {
		all = append(all, "The sampling rate is 1: every example is in every batch, and sampling protects nobody.")
	}
	return all
}

// glue is a space at which no line ends.
const glue = "\u00a0"

// section writes a list of paragraphs under a title.
func section(b *strings.Builder, title string, items ...string) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, item := range items {
		paragraph(b, "  - ", "    ", item)
	}
}

// private says for which ε and δ something is private.
func private(answers []EpsilonAt) string {
	var parts []string
	for _, a := range answers {
		parts = append(parts, strings.ReplaceAll(fmt.Sprintf("(ε = %s, δ = %s)-differentially", stated(a, max(0, a.Epsilon.Upper)), a.Delta), " ", glue))
	}
	return strings.Join(parts, " and ") + " private"
}

// paragraph writes text in lines of at most 79 characters.
func paragraph(b *strings.Builder, first, indent, text string) {
	line := first
	for i, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, glue, " ")
		switch {
		case i > 0 && len([]rune(line))+1+len([]rune(word)) > 79:
			b.WriteString(line + "\n")
			line = indent
		case i > 0:
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
