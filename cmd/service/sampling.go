package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file compares the schemes of sampling for one mechanism: for a number of steps, under
// substitution, or for a number of epochs.

// SamplingRequest describes the mechanism and its samples. Subset is for the schemes of
// MUST.
type SamplingRequest struct {
	Population      Decimal  `json:"population" in:"whole [1, 1e12]" help:"number of records {N}"`
	Subset          Decimal  `json:"subset,omitempty" in:"whole [1, 1e6]" help:"number {B} of the first stage's records, for the schemes of MUST"`
	Batch           Decimal  `json:"batch" in:"whole [1, 1e6]" help:"number {M} of records in a subsample"`
	Mechanism       string   `json:"mechanism,omitempty" one:"gaussian,laplace" preset:"gaussian" help:"{name} of the noise: gaussian or laplace"`
	NoiseMultiplier Decimal  `json:"noise-multiplier" in:"(0, inf)" help:"noise {σ} over one record's largest contribution"`
	Epsilon         Decimal  `json:"epsilon,omitempty" in:"[0, inf)" preset:"1" help:"{ε} of the unsampled mechanism that ε' and δ' belong to"`
	Steps           Decimal  `json:"steps,omitempty" in:"whole [1, 2^53]" preset:"1000" help:"number of steps {K} of the last column"`
	Delta           Decimals `json:"delta,omitempty" in:"(0, 1)" preset:"1e-5" help:"{δ} of the last column, several with commas between them"`
	// With Epochs, all ways to draw batches are compared for so many epochs, under Neighbors
	// (zero-out if not given, which all of them have), with the noise for TargetEpsilon (that
	// of Poisson sampling if not given). Cap is that of truncated-poisson.
	Epochs        Decimal  `json:"epochs,omitempty" not:"steps" in:"(0, inf)" help:"compare all ways to draw batches for this number {E} of epochs"`
	Neighbors     string   `json:"neighbors,omitempty" with:"epochs" one:"add-remove,substitute,zero-out" help:"neighbouring {relation}: add-remove, substitute or zero-out, for --epochs"`
	TargetEpsilon Decimals `json:"target-epsilon,omitempty" with:"epochs" in:"[0, inf)" help:"with --epochs: the {ε} that the noise is told for, several with commas between them (default that of poisson)"`
	Cap           Decimal  `json:"cap,omitempty" with:"epochs" help:"with --epochs: largest batch {B} of truncated-poisson (default mean + 4.5 standard deviations)"`
	Narrowing
	Limits
}

// SamplingAnswer has a line for each scheme.
type SamplingAnswer struct {
	Mechanism       string   `json:"mechanism"`
	NoiseMultiplier Number   `json:"noise-multiplier"`
	Neighbors       string   `json:"neighbors"`
	Population      int64    `json:"population"`
	Subset          int64    `json:"subset,omitempty"`
	Batch           int64    `json:"batch"`
	BaseEpsilon     Number   `json:"base-epsilon,omitempty"`
	Delta           Number   `json:"delta"`
	Epochs          Number   `json:"epochs,omitempty"`
	Cap             int64    `json:"cap,omitempty"`
	TargetEpsilon   Number   `json:"target-epsilon,omitempty"`
	Schemes         []Scheme `json:"schemes" py:",return"`

	Steps int64 `json:"-"`
}

// Scheme is what one scheme makes of the mechanism. Where it is not applicable, only the
// reason is there.
type Scheme struct {
	Scheme           string   `json:"scheme"`
	NotApplicable    string   `json:"not-applicable,omitempty"`
	Eta              *Number  `json:"eta,omitempty"`
	ExpectedDistinct *Number  `json:"expected-distinct,omitempty"`
	AmplifiedEpsilon *Number  `json:"amplified-epsilon,omitempty"`
	AmplifiedDelta   *Number  `json:"amplified-delta,omitempty"`
	Kind             string   `json:"kind,omitempty"`
	Steps            int64    `json:"steps,omitempty"`
	Epochs           int64    `json:"draws,omitempty"` // of the whole data set: epochs of random-allocation and shuffle
	Epsilon          *Ends    `json:"epsilon,omitempty" py:"*"`
	NumericalWidth   *Number  `json:"numerical-width,omitempty"`
	TheoryGap        bool     `json:"theory-gap,omitempty"`
	Warnings         []string `json:"warnings,omitempty"`
	// NoiseNeeded is the noise multiplier that the scheme needs for the target; of epoch budgets only.
	NoiseNeeded *Number `json:"noise-needed,omitempty"`

	// Aligned is the aligned privacy profile, for pictures; nil for Poisson sampling.
	Aligned []subsample.AlignedPoint `json:"-"`
}

// Ends are those of an interval.
type Ends struct {
	Lower Number `json:"lower"`
	Upper Number `json:"upper"`
}

type samplingRun struct {
	population, subset, batch, steps int64 // subset is 0 if it was not told
	cap                              int64 // of truncated-poisson
	noise, epsilon, delta            float64
	epochs, target                   float64 // 0: not told
	neighbors                        profiles.Relation
	base                             profiles.Mechanism
	opts                             []accountant.Options
	recursion                        int64 // up to how many runs a row is narrowed
	narrowed                         []accountant.Options
}

func (q SamplingRequest) parse(ctx context.Context) (r samplingRun, err error) {
	r.population, r.subset, r.batch, r.steps = q.Population.whole(), q.Subset.whole(), q.Batch.whole(), q.Steps.whole()
	r.noise, r.epsilon, r.delta = q.NoiseMultiplier.float(), q.Epsilon.float(), q.Delta.float()
	if r.base, err = profiles.NewGaussianMechanism(r.noise); q.Mechanism == "laplace" {
		r.base, err = profiles.NewLaplaceMechanism(r.noise)
	}
	if err != nil {
		return r, renamed(err, q.Mechanism, "")
	}
	if err := r.readEpochs(q); err != nil {
		return r, err
	}
	if r.opts = q.Limits.options(ctx, Narrowing{}); q.Recursion == "" {
		return r, nil
	}
	r.recursion = q.Recursion.whole()
	// The context has the work of recursions: one takes what is left of it, and not a part that is kept for it.
	unlimited := q.Limits
	unlimited.Work = ""
	r.narrowed = unlimited.options(ctx, q.Narrowing)
	return r, nil
}

// readEpochs reads what is for an epoch budget only.
func (r *samplingRun) readEpochs(q SamplingRequest) (err error) {
	if r.neighbors = profiles.Substitute; q.Epochs == "" {
		return nil
	}
	r.epochs, r.target, r.neighbors = q.Epochs.float(), q.TargetEpsilon.float(), relation(cmp.Or(q.Neighbors, "zero-out"))
	if q.Cap != "" {
		r.cap = q.Cap.whole()
		return q.Cap.check("cap", upTo(r.population))
	}
	// 4.5 standard deviations above the mean, where a cap costs next to nothing.
	q0 := float64(r.batch) / float64(r.population)
	r.cap = min(r.population, int64(math.Ceil(float64(r.batch)+4.5*math.Sqrt(float64(r.batch)*max(0, 1-q0)))))
	return nil
}

// alignedGrid is the paper's: ε from 0.01 to 6.
func alignedGrid() []float64 {
	xs := make([]float64, 600)
	for i := range xs {
		xs[i] = float64(i+1) / 100
	}
	return xs
}

// sampling compares the schemes of sampling.
//
// All schemes share the work and the time. First each has its answer without a recursion, and then the recursions have what is
// left (narrow). A scheme for which there is none has a warning in the place of ε.
func (s *Service) sampling(ctx context.Context, q SamplingRequest) (SamplingAnswer, error) {
	// The progress is that of the schemes, not of each.
	r, err := q.parse(WithProgress(ctx, func(Progress) {}))
	if err != nil {
		return SamplingAnswer{}, err
	}
	out := SamplingAnswer{Mechanism: r.base.Name(), NoiseMultiplier: Number(r.noise), Neighbors: "substitute", Population: r.population, Subset: r.subset,
		Batch: r.batch, BaseEpsilon: Number(r.epsilon), Delta: Number(r.delta), Steps: r.steps}
	if r.epochs > 0 {
		out.Neighbors, out.Epochs, out.Cap, out.BaseEpsilon, out.Steps = r.neighbors.String(), Number(r.epochs), r.cap, 0, 0
	}
	rows := r.rows()
	parts := len(rows)
	if r.epochs > 0 {
		rows = r.epochsRows()
		parts = 2 * len(rows) // the noise of each follows
	}
	for i, row := range rows {
		report(ctx, Progress{Done: i, Total: parts})
		ctx := sharing(ctx, parts-i)
		line, err := r.line(ctx, row)
		if err = line.limited(ctx, err); err != nil {
			return SamplingAnswer{}, err
		}
		out.Schemes = append(out.Schemes, line)
	}
	if r.epochs > 0 {
		if r.target == 0 && out.Schemes[0].Epsilon != nil {
			r.target = float64(out.Schemes[0].Epsilon.Upper) // of Poisson sampling
		}
		out.TargetEpsilon = Number(r.target)
		if err := r.noises(ctx, out.Schemes, rows); err != nil {
			return SamplingAnswer{}, err
		}
	}
	return out, r.narrow(ctx, out.Schemes, rows)
}

// A samplingRow is a way to draw samples, with its steps.
type samplingRow struct {
	name  string
	steps []accountant.Step
	// aligned has the aligned profile that is told; nil for none.
	aligned subsample.FixedSize
	err     error // why there are no steps
}

// A fixedScheme makes samples of a fixed size.
type fixedScheme struct {
	name string
	make func(population, subset, batch int64) (subsample.FixedSize, error)
}

// mustSchemes are those of MUST, which need a subset.
var mustSchemes = []fixedScheme{{"must-ow", subsample.NewMustOW}, {"must-wo", subsample.NewMustWO}, {"must-ww", subsample.NewMustWW}}

// again is so many runs on samples of a scheme.
func (r samplingRun) again(name string, s subsample.Scheme, count int64) []accountant.Step {
	return []accountant.Step{{Name: name, Mechanism: r.base, Sampling: s, Count: count}}
}

// rows returns the rows for a number of steps. The aligned profile of Poisson sampling is that of sampling without replacement at
// the same rate.
func (r samplingRun) rows() []samplingRow {
	var rows []samplingRow
	for i, c := range append([]fixedScheme{
		{"without-replacement", func(n, _, b int64) (subsample.FixedSize, error) { return subsample.NewWithoutReplacement(n, b) }},
		{"with-replacement", func(n, _, b int64) (subsample.FixedSize, error) { return subsample.NewWithReplacement(n, b) }},
	}, mustSchemes...) {
		if i >= 2 && r.subset == 0 {
			rows = append(rows, samplingRow{name: c.name, err: &fault.Error{Problem: "needs a subset"}})
			continue
		}
		s, err := c.make(r.population, r.subset, r.batch)
		if err != nil {
			err = &fault.Error{Problem: renamed(err, c.name, "").Error()}
		}
		rows = append(rows, samplingRow{name: c.name, steps: r.again(c.name, s, r.steps), aligned: s, err: err})
	}
	poisson := samplingRow{name: Poisson, aligned: rows[0].aligned}
	if r.batch > r.population {
		poisson.err = fault.New("batch", "the batch, %d, is above the population, %d", r.batch, r.population)
	} else {
		s, err := subsample.NewPoisson(float64(r.batch) / float64(r.population))
		poisson.steps, poisson.err = r.again(Poisson, s, r.steps), err
	}
	return append([]samplingRow{poisson}, rows...)
}

// line returns what a way to draw samples costs, no ε if it is not applicable.
func (r samplingRun) line(ctx context.Context, row samplingRow) (Scheme, error) {
	line, err := Scheme{Scheme: row.name}, row.err
	if err == nil && row.aligned != nil {
		if err := line.align(row.aligned, r.base, r.epsilon); err != nil {
			return line, err
		}
	}
	if wrong := reached(ctx); wrong != nil && err == nil {
		return line, wrong
	}
	var acct *accountant.Accountant
	if err == nil {
		acct, err = newAccountant(ctx, &accountant.Plan{Neighbors: r.neighbors, Steps: row.steps}, r.opts)
	}
	if err != nil {
		if ctx.Err() != nil {
			return line, ctx.Err()
		}
		if f := new(fault.Error); errors.As(err, &f) {
			line.NotApplicable = f.Problem // the scheme has no bound here
			err = nil
		}
		return line, err
	}
	iv, err := acct.Epsilon(ctx, r.delta)
	if err != nil {
		return line, err
	}
	if line.Steps = acct.Runs(); row.name == RandomAllocation || row.name == Shuffle {
		line.Steps, line.Epochs = 0, acct.Runs()
	}
	line.Warnings = iv.Warnings
	if line.found(iv); r.epochs > 0 {
		line.NumericalWidth = nil
	}
	return line, nil
}

// sharing returns a context for the first of so many rows, with its part of the work that is left.
func sharing(ctx context.Context, rows int) context.Context {
	_, left := parallel.Work(ctx)
	return parallel.WithWork(ctx, max(left, 0)/float64(rows))
}

// limited has one warning for whatever a limit of the request took from a row; err is that of filling it in.
func (row *Scheme) limited(ctx context.Context, err error) error {
	names := func(why error) func(string) bool {
		return func(text string) bool { return strings.Contains(text, why.Error()) }
	}
	why := reached(ctx)
	if why == nil && (errors.Is(err, parallel.ErrWork) || slices.ContainsFunc(row.Warnings, names(parallel.ErrWork))) {
		why = parallel.ErrWork
	}
	if why == nil || err != nil && !errors.Is(err, why) && !(why == fourier.ErrTimeLimit && errors.Is(err, ctx.Err())) {
		return err
	}
	said := len(row.Warnings)
	row.Warnings = slices.DeleteFunc(row.Warnings, names(why))
	if err != nil || len(row.Warnings) < said {
		row.Warnings = append(row.Warnings, fmt.Sprintf("%v: what is asked for is wider, or missing", why))
	}
	return nil
}

// narrow narrows the rows that have a theory gap by the recursion with the work that is left, the cheapest first. One whose
// price is above what is left is not begun: its row stays as it is, with the warning of limited. The price is not all that one
// takes, so that what was begun ends at twice the limit of the request at the latest.
func (r samplingRun) narrow(ctx context.Context, rows []Scheme, ways []samplingRow) error {
	type job struct {
		row   *Scheme
		steps []accountant.Step
		price float64
	}
	var jobs []job
	for i := range rows {
		if !rows[i].TheoryGap || r.recursion == 0 {
			continue
		}
		if price, ok := r.price(ctx, *rows[i].Epsilon, ways[i].steps); ok {
			jobs = append(jobs, job{&rows[i], ways[i].steps, price})
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(a.price, b.price) })
	for _, j := range jobs {
		err := reached(ctx)
		spent, left := parallel.Work(ctx)
		if err == nil && j.price > left {
			err = parallel.ErrWork
		}
		ctx := parallel.WithWork(ctx, 2*left+spent)
		var iv accountant.Interval
		if err == nil {
			var acct *accountant.Accountant
			if acct, err = newAccountant(ctx, &accountant.Plan{Neighbors: r.neighbors, Steps: j.steps}, r.narrowed); err == nil {
				iv, err = acct.Epsilon(ctx, r.delta)
			}
		}
		if err == nil {
			j.row.Warnings = append(j.row.Warnings, iv.Warnings...)
			// Both answers are proved.
			if had := *j.row.Epsilon; iv.Upper-iv.Lower <= float64(had.Upper-had.Lower) {
				j.row.found(iv)
			}
		}
		if err := j.row.limited(ctx, err); err != nil {
			return err
		}
		slices.Sort(j.row.Warnings)
		j.row.Warnings = slices.Compact(j.row.Warnings)
	}
	return nil
}

// price is about the least work of the recursion of a row with these ends, 0 where it refuses at once or blocks answer; false if there is none.
func (r samplingRun) price(ctx context.Context, ends Ends, steps []accountant.Step) (sum float64, ok bool) {
	at := float64(ends.Lower + (ends.Upper-ends.Lower)/8) // about where the recursion's end will be
	for _, s := range steps {
		f, fixed := subsample.AsFixedSize(s.Sampling)
		if !fixed {
			continue
		}
		b, err := f.NewAdaptiveBound(s.Mechanism)
		if err != nil {
			continue
		}
		if ok = true; s.Count <= r.recursion && !(b.InBlocks() && s.Count > r.recursion/10) {
			price, _ := b.Price(ctx, s.Count, at, xmath.Log(r.delta), math.MaxInt)
			sum += price
		}
	}
	return sum, ok
}

// align fills in the aligned profile of a scheme, at the ε of the unsampled mechanism and, for pictures, all over.
func (row *Scheme) align(s subsample.FixedSize, base profiles.Mechanism, epsilon float64) error {
	points, err := s.Aligned(base, append(alignedGrid(), epsilon))
	if err != nil {
		return err
	}
	last := len(points) - 1
	if row.Scheme != Poisson {
		row.Aligned = points[:last]
	}
	at := points[last]
	row.Eta, row.ExpectedDistinct = pointer(s.InclusionProbability()), pointer(s.ExpectedDistinct())
	row.AmplifiedEpsilon, row.AmplifiedDelta, row.Kind = pointer(at.Epsilon2), pointer(at.Delta2), at.Kind
	return nil
}

func pointer(x float64) *Number {
	n := Number(x)
	return &n
}

// found fills in the interval of ε.
func (row *Scheme) found(iv accountant.Interval) {
	row.Epsilon, row.TheoryGap = &Ends{Number(iv.Lower), Number(iv.Upper)}, iv.Gap != nil
	numerical := iv.Upper - iv.Lower
	if iv.Gap != nil {
		numerical = max(iv.Gap.Proved.Upper-iv.Gap.Proved.Lower, iv.Gap.Attack.Upper-iv.Gap.Attack.Lower)
	}
	row.NumericalWidth = pointer(numerical)
}

// What follows compares all ways to draw batches for the same number of epochs over the data:
// what each costs with the same noise, and the noise that it needs for the same ε.

// noiseAccuracy is that of the noise which a scheme needs.
const noiseAccuracy = 1e-3

// epochsRows returns the rows of a table for epochs; of truncated-poisson with the cap that was asked for.
func (r samplingRun) epochsRows() (rows []samplingRow) {
	for _, name := range Batchings {
		s := schedule{examples: r.population, batch: r.batch, rate: float64(r.batch) / float64(r.population), cap: r.cap, name: name}
		row := samplingRow{name: name, err: r.schedule(&s)}
		if row.err == nil {
			row.steps, row.err = s.plan(r.base)
		}
		rows = append(rows, row)
	}
	if r.subset == 0 {
		return rows
	}
	for _, c := range mustSchemes {
		s := schedule{examples: r.population, batch: r.batch, name: Poisson}
		err := r.schedule(&s)
		var f subsample.FixedSize
		if err == nil {
			f, err = c.make(r.population, r.subset, r.batch)
		}
		rows = append(rows, samplingRow{name: c.name, steps: r.again("", f, s.steps), err: renamed(err, c.name, "")})
	}
	return rows
}

// schedule fills in the steps of an epoch budget.
func (r samplingRun) schedule(s *schedule) (err error) {
	if r.batch > r.population {
		return fault.New("batch", "%d is above the population, %d", r.batch, r.population)
	}
	return s.fill(big.NewRat(r.batch, r.population), 0, Float(r.epochs))
}

// noises fills in the noise that each row needs for the target.
func (r samplingRun) noises(ctx context.Context, rows []Scheme, ways []samplingRow) error {
	for i := range rows {
		report(ctx, Progress{Done: len(rows) + i, Total: 2 * len(rows)})
		if line := &rows[i]; line.Epsilon != nil && r.target > 0 {
			ctx := sharing(ctx, len(rows)-i)
			if err := line.limited(ctx, r.noiseFor(ctx, ways[i].steps, line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// noiseFor fills in the noise with which the scheme is proved to cost the target.
func (r samplingRun) noiseFor(ctx context.Context, steps []accountant.Step, line *Scheme) error {
	goal := accountant.Goal{Epsilon: r.target, Delta: r.delta, Solve: accountant.NoiseMultiplier}
	c, err := accountant.Calibrate(ctx, &accountant.Plan{Neighbors: r.neighbors, Steps: steps}, goal, append(slices.Clip(r.opts), accountant.Options{Accuracy: noiseAccuracy})...)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, parallel.ErrWork):
		return err
	case err != nil:
		line.Warnings = append(line.Warnings, fmt.Sprintf("no noise was found for ε = %v: %v", r.target, err))
		return nil
	}
	noise := c.Value
	if c.Factor { // of a last epoch that is cut short
		noise *= r.noise
	}
	if !math.IsInf(noise, 1) {
		line.NoiseNeeded = pointer(noise)
	}
	return nil
}
