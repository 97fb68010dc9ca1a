package service

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// This file answers for training with DP-SGD, and states what the number promises
// (statement.go). How batches are drawn is in batching.go. Steps and uses are counted in
// exact arithmetic.

// DPSGDRequest describes a training run: its batches by examples and batch size or by a
// sampling rate, its length by epochs or steps, and its noise, or the ε or the limit of membership
// inference that it has to meet.
type DPSGDRequest struct {
	Examples        Decimal `json:"examples,omitempty" in:"whole [1, 2^53]" help:"number of training examples {N}"`
	BatchSize       Decimal `json:"batch-size,omitempty" help:"expected size {B} of a batch"`
	SamplingRate    Decimal `json:"sampling-rate,omitempty" in:"(0, 1]" help:"probability {q} of an example to be in a batch, instead of --examples and --batch-size"`
	Epochs          Decimal `json:"epochs,omitempty" not:"steps" in:"(0, inf)" help:"number of epochs {E}, a fraction is allowed"`
	Steps           Decimal `json:"steps,omitempty" in:"whole [1, 2^53]" help:"number of steps {T}, instead of --epochs"`
	NoiseMultiplier Decimal `json:"noise-multiplier,omitempty" help:"standard deviation {σ} of the noise over the clipping norm (required, or a target)"`
	TargetEpsilon   Decimal `json:"target-epsilon,omitempty" not:"target-advantage,target-tpr,noise-multiplier" in:"[0, inf)" help:"find the smallest noise multiplier for this {ε}, instead of --noise-multiplier"`
	AttackTarget
	Delta     Decimals `json:"delta" in:"(0, 1)" help:"one or several {δ}, with commas between them"`
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
	switch {
	case given(&q, "target-epsilon", "target-advantage", "target-tpr", "at-fpr", "noise-multiplier") == nil:
		return shape("missing %s (or %s)", "noise-multiplier", "target-epsilon")
	case q.SamplingRate != "" && (q.Examples != "" || q.BatchSize != ""):
		return shape("%s excludes %s and %s", "sampling-rate", "examples", "batch-size")
	case q.SamplingRate == "" && (q.Examples == "" || q.BatchSize == ""):
		return shape("missing %s and %s (or %s)", "examples", "batch-size", "sampling-rate")
	case q.Epochs == "" && q.Steps == "":
		return shape("missing %s (or %s)", "epochs", "steps")
	case q.TargetEpsilon != "" && len(q.Delta) > 1:
		return fault.New("delta", "%d values are more than the one that a target has", len(q.Delta))
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
	if r.neighbors, err = relation(q.Neighbors); err != nil {
		return r, err
	}
	rate, err := r.readRate(q)
	if err != nil {
		return r, err
	}
	if err := r.schedule.read(q, rate); err != nil {
		return r, err
	}
	if q.Neighbors == "" {
		r.neighbors = r.relation()
	}
	if err := r.readLength(q, rate); err != nil {
		return r, err
	}
	r.records, r.deltas = q.RecordsPerPerson.whole(), q.Delta.floats()
	r.noise = 1 // where the search starts
	if q.NoiseMultiplier != "" {
		r.noise = q.NoiseMultiplier.float()
	}
	if q.AttackTarget.read(&r.goal); q.TargetEpsilon != "" {
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

// readLength reads the number of steps, and how often they use an example.
func (r *dpsgdRun) readLength(q DPSGDRequest, rate *big.Rat) (err error) {
	if q.Steps != "" {
		r.steps = q.Steps.whole()
		// Batches of fixed size in any order use an example this often.
		r.uses, _ = ceil(unrounded(new(big.Rat).Mul(rate, new(big.Rat).SetInt64(r.steps))))
		if r.byEpochs() {
			return r.cut(nil)
		}
		return nil
	}
	r.epochs = q.Epochs.float()
	epochs, err := q.Epochs.exact("epochs")
	if err != nil {
		return err
	}
	var ok bool
	if r.steps, ok = ceil(unrounded(new(big.Rat).Quo(epochs, rate))); !ok {
		return fault.New("epochs", "%s makes more than 2^53 steps", q.Epochs)
	}
	r.uses, _ = ceil(epochs)
	if r.byEpochs() {
		return r.cut(epochs)
	}
	return nil
}

// relation reads the neighbouring relation of a request; add-remove if none is given.
func relation(name string) (profiles.Relation, error) {
	if name == "" {
		return profiles.AddRemove, nil
	}
	r, err := profiles.ParseRelation(name)
	return r, err
}

// dpsgd returns the ε of a training run and states what it promises.
func (s *Service) dpsgd(ctx context.Context, q DPSGDRequest) (DPSGDAnswer, error) {
	r, err := q.parse()
	if err != nil {
		return DPSGDAnswer{}, err
	}
	opts, err := q.options(ctx, Narrowing{})
	if err != nil {
		return DPSGDAnswer{}, err
	}
	if q.NoiseMultiplier == "" {
		if err := r.calibrate(ctx, q, opts); err != nil {
			return DPSGDAnswer{}, err
		}
	} else {
		opts = append(opts, accountant.WithRecursion(stepByStep))
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
	out := DPSGDAnswer{DPSGDRun{r.neighbors.String(), r.examples, r.batch, Number(r.epochs), Number(r.rate), r.steps, Number(r.noise)}, DPSGDBatches{r.name, r.each, r.cap, r.records},
		sampled, AnyOrder{r.uses, anyOrder}, r.statement(sampled, anyOrder, beside), beside, nil}
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
func (r *dpsgdRun) calibrate(ctx context.Context, q DPSGDRequest, opts []accountant.Option) (err error) {
	steps, err := r.plan(r.gaussian)
	if err != nil {
		return err
	}
	plan := &accountant.Plan{Neighbors: r.neighbors, RecordsPerPerson: r.records, Steps: steps}
	r.goal.Solve = accountant.NoiseMultiplier
	if r.found, err = accountant.Calibrate(ctx, plan, r.goal, opts...); err != nil {
		key := "target-epsilon"
		switch {
		case q.Advantage != "":
			key = "target-advantage"
		case q.TPR != "":
			key = "target-tpr"
		}
		return fault.In(key, err)
	}
	r.byEpsilon = q.TargetEpsilon != ""
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
func (r dpsgdRun) ask(ctx context.Context, opts []accountant.Option) (sampled, anyOrder []EpsilonAt, err error) {
	steps, err := r.plan(r.gaussian)
	if err != nil {
		return nil, nil, err
	}
	if r.byEpsilon && r.found.Asked == "epsilon" {
		sampled = []EpsilonAt{epsilonAt(r.goal.Delta, r.found.Meets.Interval)} // as certain as was needed to decide
	} else {
		if r.byEpsilon {
			// The budget was met by δ: ε with the same accuracy.
			opts = append(slices.Clip(opts), accountant.WithAccuracy(min(r.found.Accuracy, 1e-3)))
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
func (r dpsgdRun) cost(ctx context.Context, relation profiles.Relation, steps []accountant.Step, opts []accountant.Option) ([]EpsilonAt, error) {
	acct, err := newAccountant(ctx, &accountant.Plan{Neighbors: relation, RecordsPerPerson: r.records, Steps: steps}, opts)
	if err != nil {
		return nil, err
	}
	return epsilons(ctx, acct, r.deltas)
}

// besideAccuracy is that of what is told beside an answer.
const besideAccuracy = 1e-3

// beside returns what other ways to draw the batches cost.
func (r dpsgdRun) beside(ctx context.Context, opts []accountant.Option) (*Beside, error) {
	opts = append(slices.Clip(opts), accountant.WithAccuracy(besideAccuracy))
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
