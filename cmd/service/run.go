package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

// This file runs mechanisms that a plan prices, for programs in other languages. Their inputs are
// private: a front end with many users has no such operation.

// ReleaseRequest runs the mechanism of a step once, on the numbers that it takes: scores of candidates,
// counts of keys, numbers that get noise. A majority takes queries instead.
type ReleaseRequest struct {
	// Mechanism is as a step of a plan has it, such as {"exponential": {"epsilon": 0.1}}; or Plan is a plan of one step.
	Mechanism   json.RawMessage `json:"mechanism,omitempty" not:"plan"`
	Plan        PlanText        `json:"plan,omitempty"`
	Values      []float64       `json:"values,omitempty"`
	Queries     [][]int         `json:"queries,omitempty"` // a row of votes for each
	Sensitivity *float64        `json:"sensitivity,omitempty" help:"{number} by which a score, or the numbers together, can change"`
	Monotone    bool            `json:"monotone,omitempty" help:"all scores change the same way"`
	// TestSeed makes the same noise again, which whoever knows it can do as well.
	TestSeed Decimal `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the noise"`
	Spend
}

// ReleaseAnswer has the index of the candidate that was chosen; or a number for each value, null for a key
// that is not shown; or the answer to each query.
type ReleaseAnswer struct {
	Chosen  *int       `json:"chosen,omitempty"`
	Values  []*float64 `json:"values,omitempty"`
	Answers []int      `json:"answers,omitempty"`
	Charge  string     `json:"charge,omitempty"`
}

// step reads a part of a step by the reader of plans: its text, in the place of %s in the format, is that of the step's keys.
func step(ctx context.Context, format string, text []byte) (accountant.Step, error) {
	p, err := plan.Parse(ctx, fmt.Appendf(nil, `{"neighbors":"zero-out","steps":[{`+format+`}]}`, text))
	if pe := new(plan.Error); errors.As(err, &pe) {
		at := *pe
		at.Line, at.Field = 0, strings.TrimPrefix(at.Field, "steps[0].")
		return accountant.Step{}, &at
	}
	if err != nil {
		return accountant.Step{}, err
	}
	return p.Steps[0], nil
}

// mechanism reads a mechanism as a step of a plan has it.
func mechanism(ctx context.Context, text json.RawMessage) (profiles.Mechanism, error) {
	if len(text) == 0 {
		return nil, fault.New("mechanism", "is missing; must be a mechanism as in a step of a plan")
	}
	s, err := step(ctx, `"mechanism":%s`, text)
	return s.Mechanism, err
}

// testSource is the operating system's randomness, or for tests that of a seed.
func testSource(seed Decimal) rand.Source {
	if seed == "" {
		return random.Source(nil)
	}
	return random.Seeded(uint64(seed.whole()))
}

// release runs a mechanism once.
func (s *Service) release(ctx context.Context, q ReleaseRequest) (out ReleaseAnswer, err error) {
	if q.Plan != nil {
		if q.Mechanism, err = q.Plan.runs(); err != nil {
			return out, err
		}
	}
	m, err := mechanism(ctx, q.Mechanism)
	if err != nil {
		return out, err
	}
	src := testSource(q.TestSeed)
	if _, votes := m.(voting); votes != (len(q.Queries) > 0) || votes == (len(q.Values) > 0) {
		return out, shape("%s or %s: a "+m.Name()+" takes the "+map[bool]string{true: "second", false: "first"}[votes], "values", "queries")
	}
	switch x := m.(type) {
	case voting:
		if err := q.scoreless(m, "which counts votes"); err != nil {
			return out, err
		}
		out.Answers, err = x.Answer(ctx, q.Queries, src)
	case choosing:
		c := choice.Candidates{Scores: q.Values, Sensitivity: 1, Monotone: q.Monotone}
		if q.Sensitivity != nil {
			c.Sensitivity = *q.Sensitivity
		}
		var i int
		i, err = x.Choose(c, src)
		out.Chosen = &i
	default:
		out.Values, err = q.values(ctx, m, src)
	}
	if err != nil {
		return ReleaseAnswer{}, renamed(err, "scores", "values")
	}
	charge := ""
	if q.Plan != nil {
		charge, err = s.payPlan(ctx, q.Spend, string(q.Plan))
	} else {
		charge, err = s.pay(ctx, q.Spend, fmt.Sprintf(`[{"mechanism": %s}]`, q.Mechanism))
	}
	if err != nil || charge != "" {
		return ReleaseAnswer{Charge: charge}, err
	}
	return out, nil
}

// What votes, what chooses, what adds whole numbers, what answers with another value, what adds numbers.
type (
	voting interface {
		Answer(ctx context.Context, queries [][]int, src rand.Source) ([]int, error)
	}
	choosing interface {
		Choose(c choice.Candidates, src rand.Source) (int, error)
	}
	drawing interface {
		Draw(src rand.Source, count int) ([]int64, error)
	}
	responding interface {
		Categories() int
		Respond(value int, src rand.Source) int
	}
	scaled interface{ NoiseMultiplier() float64 }
	// A realNoise is noise of which Draw is hidden.
	realNoise struct {
		profiles.Mechanism
		scaled
	}
)

// eachWhole checks that values are whole numbers in a range.
func eachWhole(values []float64, in string) error {
	r := spanOf(in)
	for i, x := range values {
		if x != math.Trunc(x) || !r.contains(x) {
			return fault.New(fmt.Sprintf("values[%d]", i), "%v is not a whole number in %s", x, in)
		}
	}
	return nil
}

// scoreless is an error for keys that go with scores alone.
func (q ReleaseRequest) scoreless(m profiles.Mechanism, why string) error {
	if q.Monotone || q.Sensitivity != nil {
		return fault.New("sensitivity", "and monotone are of no use to %s, %s", m.Name(), why)
	}
	return nil
}

// A runner runs a mechanism on a value, the next after those before.
type runner func(v float64) (y float64, shown bool, err error)

// runner returns what runs a mechanism. The values are known to be whole numbers in its range, except of real noise.
func (q ReleaseRequest) runner(m profiles.Mechanism, src rand.Source) (runner, error) {
	whole := func(in, why string) error {
		if err := q.scoreless(m, why); err != nil {
			return err
		}
		return eachWhole(q.Values, in)
	}
	if d, ok := m.(drawing); ok && m.Name() == "laplace" { // with both norms
		m = realNoise{m, d.(scaled)}
	}
	switch x := m.(type) {
	case choice.Threshold:
		return func(v float64) (float64, bool, error) {
			shown, y, err := x.Release(int64(v), src)
			return y, shown, err
		}, whole("[0, 2^53]", "whose counts change by 1 for a person")
	case choice.SelectPartitions:
		return func(v float64) (float64, bool, error) {
			shown, err := x.Keep(int64(v), src)
			return 1, shown, err
		}, whole("[0, 2^53]", "whose counts change by 1 for a person")
	case drawing:
		if err := whole("[-2^53, 2^53]", "whose sensitivity is one of its own keys"); err != nil {
			return nil, err
		}
		noise, err := x.Draw(src, len(q.Values))
		return func(v float64) (float64, bool, error) {
			n := noise[0]
			noise = noise[1:]
			return float64(int64(v) + n), true, nil
		}, fault.In("mechanism", err)
	case shuffler.Randomizer:
		if q.scoreless(m, "") != nil || m.Name() != "k-rr" {
			return nil, fault.New("mechanism", "%s answers with a message and without a sensitivity; local-messages draws it, and k-rr is run here", m.Name())
		}
		return func(v float64) (float64, bool, error) {
			message, err := x.Sample(int(v), src)
			return float64(append(message, 0)[0]), true, err
		}, eachWhole(q.Values, "[0, 2147483648]")
	case responding:
		return func(v float64) (float64, bool, error) { return float64(x.Respond(int(v), src)), true, nil },
			whole(fmt.Sprintf("[0, %s]", decimal.Short(float64(x.Categories()-1))), "which takes the value of each record")
	case scaled:
		add := map[string]func(rand.Source, float64, float64, float64) (float64, error){"laplace": profiles.AddLaplace, "gaussian": profiles.AddGaussian}[m.Name()]
		switch {
		case q.Monotone:
			return nil, fault.New("monotone", "is of no use to %s, which has no scores", m.Name())
		case add == nil:
			return nil, fault.New("mechanism", "%s is not gaussian or laplace, whose noise is added to numbers", m.Name())
		}
		scale, err := q.scale(m.Name(), x.NoiseMultiplier())
		grid := math.Ldexp(1, math.Ilogb(scale)-30) // depends on nothing else
		return func(v float64) (float64, bool, error) {
			y, err := add(src, v, scale, grid)
			return y, true, err
		}, err
	}
	return nil, fault.New("mechanism", "%s is not run here; exponential, permute-and-flip, noisy-max, threshold, select-partitions, majority, gaussian, laplace, discrete-gaussian, discrete-laplace, skellam, summed-noise, randomized-response and k-rr are", m.Name())
}

// values runs a mechanism on each of the values.
func (q ReleaseRequest) values(ctx context.Context, m profiles.Mechanism, src rand.Source) ([]*float64, error) {
	one, err := q.runner(m, src)
	if err != nil {
		return nil, err
	}
	out := make([]*float64, len(q.Values))
	for i, v := range q.Values {
		y, shown, err := one(v)
		if err != nil {
			return nil, fault.In(fmt.Sprintf("values[%d]", i), err)
		}
		if shown {
			out[i] = &y
		}
	}
	return out, ctx.Err()
}

// scale is that of the noise, rounded up: the multiplier times the sensitivity, or what a mechanism says that has the bounds of
// contributions.
func (q ReleaseRequest) scale(name string, multiplier float64) (float64, error) {
	key := map[string]string{"gaussian": "standard-deviation", "laplace": "scale"}[name]
	scale, ok := plan.Number(fmt.Appendf(nil, `{"mechanism": %s}`, q.Mechanism), "mechanism."+name+"."+key)
	switch {
	case ok && q.Sensitivity != nil:
		return 0, fault.New("sensitivity", "is of no use to %s with a %s, whose bounds of contributions have it", name, key)
	case ok:
		scale = xmath.Up(scale, 1)
	case !strings.Contains(string(q.Mechanism), "noise-multiplier"):
		return 0, fault.New("mechanism", "the %s of %s is not written as a number, must be one", key, name)
	case q.Sensitivity == nil:
		return 0, fault.New("sensitivity", "is missing; must be the L2 (gaussian) or L1 (laplace) norm by which the values can change together")
	case !(*q.Sensitivity > 0 && *q.Sensitivity <= 1e300):
		return 0, fault.New("sensitivity", "%v is not in (0, 1e+300]", *q.Sensitivity)
	default:
		scale = xmath.Up(multiplier**q.Sensitivity, 1)
	}
	if !(scale >= 0x1p-900 && scale <= 0x1p900) {
		return 0, fault.New("sensitivity", "makes a noise of scale %v, which is not in [2^-900, 2^900]", scale)
	}
	return scale, nil
}

// PateAnswerRequest labels queries by the noisy votes of teachers. Its keys are those of the cost; confidence is for interactive.
type PateAnswerRequest struct {
	PateMechanism
	Confidence *float64 `json:"confidence,omitempty" of:"mechanism=interactive!" help:"a student whose top {score} exceeds this is told that it is right"`
	TestSeed   Decimal  `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the noise"`
	Spend
}

// PateLabels has a class for each query, -1 where there is none, and whether the teachers have answered, which is
// what the cost takes as answered.
type PateLabels struct {
	Labels   []int  `json:"labels,omitempty"`
	Answered []bool `json:"answered,omitempty"`
	Charge   string `json:"charge,omitempty"`
}

// pateAnswer labels queries. After the largest number of answers no more are given.
func (s *Service) pateAnswer(ctx context.Context, q PateAnswerRequest) (PateLabels, error) {
	a, err := q.aggregator(orZero(q.Confidence))
	if err != nil {
		return PateLabels{}, err
	}
	v, err := q.read(nil)
	if err != nil {
		return PateLabels{}, err
	}
	if q.Baseline != nil {
		if len(q.Baseline) != v.Queries() {
			return PateLabels{}, fault.New("baseline", "%d rows are not one for each of %d queries", len(q.Baseline), v.Queries())
		}
		if _, err := ballots.NewScores(q.Baseline, v.Teachers(), false); err != nil {
			return PateLabels{}, err
		}
	}
	src, given := testSource(q.TestSeed), 0
	out := PateLabels{Labels: make([]int, v.Queries()), Answered: make([]bool, v.Queries())}
	for i := range out.Labels {
		if err := ctx.Err(); err != nil {
			return PateLabels{}, err
		}
		x := pate.Answer{Class: -1}
		if q.MaxAnswers == nil || given < *q.MaxAnswers {
			var scores []float64
			if q.Baseline != nil {
				scores = q.Baseline[i]
			}
			if x, err = a.Label(v.Row(i), v.Teachers(), scores, src); err != nil {
				return PateLabels{}, fault.In(fmt.Sprintf("votes[%d]", i), err)
			}
		}
		out.Labels[i], out.Answered[i] = x.Class, x.Answered
		if x.Answered {
			given++
		}
	}
	charge, err := s.pay(ctx, q.Spend, q.steps(v.Queries()))
	if err != nil || charge != "" {
		return PateLabels{Charge: charge}, err
	}
	return out, nil
}

// NewLabelMethod returns the randomizer of labels that a frontend knows by a name, for a prior.
func NewLabelMethod(ctx context.Context, name string, p labeldp.Prior, eps float64) (labeldp.Method, error) {
	switch name {
	case "optimal":
		r, _, err := labeldp.OptimalUnbiased(ctx, p, eps)
		return r, err
	case "debiased-rr":
		return labeldp.DebiasedRR(p.Labels(), eps)
	case "two-point":
		return labeldp.TwoPoint(p.Labels(), eps)
	case "randomized-response":
		return labeldp.RandomizedResponse(p.Labels(), eps)
	case "rr-on-bins":
		return labeldp.RROnBins(p, eps)
	case "rp-with-prior":
		return labeldp.RPWithPrior(p, eps, 0)
	case "rr-with-prior":
		return labeldp.RRWithPrior(p, eps, 0)
	}
	return nil, fault.New("method", "%.100q is unknown", name)
}

// LabelApplyRequest makes a column of labels private, by the optimal unbiased randomizer. Without a public prior, by
// weights, a part of ε estimates one.
type LabelApplyRequest struct {
	Column       []float64 `json:"column"`
	Epsilon      float64   `json:"epsilon" help:"{ε}, the whole budget"`
	Labels       []float64 `json:"labels"` // the public set
	Weights      []float64 `json:"weights,omitempty" not:"prior-epsilon,floor,groups"`
	PriorEpsilon float64   `json:"prior-epsilon,omitempty" help:"{part} of the budget for the prior (0: sqrt(labels/rows))"`
	Floor        *float64  `json:"floor,omitempty" in:"[0, 1]" help:"{share} of the uniform prior mixed into an estimated one"`
	Groups       []int     `json:"groups,omitempty"` // the public group of each row: 0, 1, …; each has a prior
	Classes      bool      `json:"classes,omitempty" with:"weights" help:"labels are numbers of classes: keep as many as can be"`
	TestSeed     Decimal   `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the noise"`
	Spend
}

// LabelApplied has the private labels.
type LabelApplied struct {
	Column  []float64 `json:"column,omitempty"`
	Outputs []float64 `json:"outputs,omitempty"` // of all randomizers
	Charge  string    `json:"charge,omitempty"`
}

// shape reports which keys do not go together.
func (q LabelApplyRequest) shape() error {
	switch {
	case len(q.Column) == 0:
		return fault.New("column", "is missing; must be a list of labels")
	case len(q.Labels) == 0:
		return fault.New("labels", "is missing; must be the public set of labels")
	}
	return nil
}

// labelApply randomizes a column. A ledger must be under substitute, under which labels are private.
func (s *Service) labelApply(ctx context.Context, q LabelApplyRequest) (LabelApplied, error) {
	a, err := q.apply(ctx, testSource(q.TestSeed))
	if err != nil {
		return LabelApplied{}, err
	}
	charge, err := s.PayLabels(ctx, q.Spend, q.Epsilon)
	if err != nil || charge != "" {
		return LabelApplied{Charge: charge}, err
	}
	return a, nil
}

func (q LabelApplyRequest) apply(ctx context.Context, src rand.Source) (a LabelApplied, err error) {
	if q.Weights == nil {
		p := labeldp.Plan{Labels: q.Labels, Epsilon: q.Epsilon, PriorEpsilon: q.PriorEpsilon, Floor: 1e-3}
		if q.Floor != nil {
			p.Floor = *q.Floor
		}
		var rs []labeldp.Randomizer
		a.Column, rs, err = p.RandomizeColumn(ctx, q.Column, q.Groups, src)
		for _, r := range rs {
			a.Outputs = append(a.Outputs, r.Outputs()...)
		}
		return a, err
	}
	prior, err := labeldp.NewPrior(q.Labels, q.Weights)
	if err != nil {
		return a, err
	}
	m, err := NewLabelMethod(ctx, map[bool]string{false: "optimal", true: "rr-with-prior"}[q.Classes], prior, q.Epsilon)
	if err != nil {
		return a, err
	}
	r := m.(labeldp.Randomizer)
	a.Outputs, a.Column = r.Outputs(), make([]float64, len(q.Column))
	for i, y := range q.Column {
		if a.Column[i], err = r.Sample(y, src); err != nil {
			return LabelApplied{}, fault.In(fmt.Sprintf("column[%d]", i), err)
		}
	}
	return a, nil
}

// What follows draws batches for training loops in other languages. Batches are secrets: a front end with
// many users has no such operation.

// DrawRequest asks for the first batches of a run.
type DrawRequest struct {
	// Sampling is a scheme as a step of a plan has it, such as {"poisson": {"rate": 0.004}}.
	Sampling   json.RawMessage `json:"sampling"`
	Population Decimal         `json:"population" in:"whole [1, 2^53]" help:"number of records {N}"`
	// Batches is a multiple of those of an epoch where the scheme has epochs; one epoch, or one batch, if not given.
	Batches Decimal `json:"batches,omitempty" in:"whole [1, 33554432]" help:"{number} of batches"`
	// TestSeed makes the same batches again, which whoever knows it can do as well.
	TestSeed Decimal `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the batches"`
}

// DrawAnswer lists, for each batch, the indices of its records in ascending order, each as often as it is in the batch.
type DrawAnswer struct {
	Batches [][]int64 `json:"batches" py:",return"`
}

// mostDrawn bounds the batches and the records of one answer, which takes some 16 bytes for each.
const mostDrawn = 1 << 25

// perDraw returns how many batches a scheme draws together, and how many batches and records it holds then, on average.
func perDraw(s subsample.Sampler, population float64) (batches int64, held float64) {
	switch x := s.(type) {
	case interface{ Rate() float64 }:
		return 1, 1 + x.Rate()*population
	case subsample.FixedSize:
		return 1, 1 + float64(x.Batch())
	case allocation.Resampled:
		return x.Resamples(), float64(x.Resamples()) * (1 + float64(x.Batch()))
	case allocation.Random:
		p := x.Parameters()
		steps := p["steps"].(int64)
		uses, _ := p["uses"].(int64)
		batches, held = steps, float64(steps)+population*float64(max(uses, 1))
		if first, ok := p["first"].(int64); ok {
			batches = first
		}
		return batches, held
	case allocation.Shuffle:
		batches = x.Parameters()["batches"].(int64)
		return batches, float64(batches) + population
	}
	return 1, 1 + population
}

// scheme reads the scheme by the reader of plans.
func (q DrawRequest) scheme(ctx context.Context) (subsample.Sampler, error) {
	of, err := step(ctx, `"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":%s`, q.Sampling)
	if err != nil {
		return nil, err
	}
	switch s := of.Sampling.(type) {
	case allocation.Shuffle:
		if _, ok := s.Parameters()["unused"]; ok {
			return nil, fault.New("sampling.shuffle.unused", "is for batches that are drawn elsewhere; here a short last batch is kept")
		}
		return s, nil
	case subsample.Sampler:
		return s, nil
	case nil:
		return nil, fault.New("sampling", "none draws nothing: every record takes part")
	default:
		return nil, fault.New("sampling", "%s draws nothing: its batches may be public", s.Name())
	}
}

// draw returns the first batches of a run, by the randomness of the operating system. Another request begins another
// run: where a scheme has epochs, with an epoch.
func (s *Service) draw(ctx context.Context, q DrawRequest) (DrawAnswer, error) {
	scheme, err := q.scheme(ctx)
	if err != nil {
		return DrawAnswer{}, err
	}
	population := q.Population.whole()
	count, held := perDraw(scheme, float64(population))
	if count == 0 {
		return DrawAnswer{}, fault.New("sampling.random-allocation.first", "0 draws nothing")
	}
	if q.Batches != "" {
		each := count
		if count = q.Batches.whole(); count%each != 0 {
			return DrawAnswer{}, fault.New("batches", "%d is not a multiple of %d, the batches of an epoch", count, each)
		}
		held *= float64(count / each)
	}
	if held > mostDrawn {
		return DrawAnswer{}, fault.New("batches", "%d are about %s batches and records, more than %d", count, decimal.Short(held), mostDrawn)
	}
	batches, err := scheme.Batches(testSource(q.TestSeed), population)
	if err != nil {
		return DrawAnswer{}, err
	}
	out := make([][]int64, 0, count)
	for picks := range batches {
		batch := make([]int64, 0, len(picks))
		for _, p := range picks {
			for range p.Copies {
				batch = append(batch, p.Index)
			}
		}
		if out = append(out, batch); int64(len(out)) == count {
			break
		}
		if err := ctx.Err(); err != nil {
			return DrawAnswer{}, err
		}
	}
	return DrawAnswer{Batches: out}, nil
}

// What follows draws the messages of users, and estimates what they say together. A message is drawn on the user's device: a front end
// with many users has no such operation.

// LocalKind names a randomizer.
type LocalKind struct {
	Mechanism  string  `json:"mechanism" one:"k-rr,unary,subset-selection,hadamard,local-hash" help:"one of k-rr, unary, subset-selection, hadamard, local-hash"`
	Epsilon    Decimal `json:"epsilon" in:"(0, 50]" help:"local {ε} of each message"`
	Categories Decimal `json:"categories" in:"whole [2, 10000]" help:"number {k} of values, which are 0 to k − 1"`
	Size       Decimal `json:"size,omitempty" in:"whole [1, 65536]" help:"{size} of the sets of subset-selection (default: k/(e^ε + 1), at least 1), or of the hashes of local-hash (default 4)"`
}

// LocalMessagesRequest asks for a message of each value.
type LocalMessagesRequest struct {
	LocalKind
	Values []int `json:"values"`
	// TestSeed makes the same messages again, which whoever knows it can do as well.
	TestSeed Decimal `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the messages"`
}

// LocalMessages has a message for each value.
type LocalMessages struct {
	Messages [][]int `json:"messages" py:",return"`
}

// LocalEstimatesRequest asks what messages say of the number of users with each value.
type LocalEstimatesRequest struct {
	LocalKind
	Messages [][]int `json:"messages"`
}

// LocalEstimates has an estimate for each value that can be sent.
type LocalEstimates struct {
	Estimates []LocalEstimate `json:"estimates" py:",return"`
}

// LocalEstimate is how many users hold a value, without bias, and its standard deviation.
type LocalEstimate struct {
	Value     int    `json:"value"`
	Count     Number `json:"count"`
	Deviation Number `json:"deviation"`
}

// randomizer returns the randomizer; without a size the one that estimates best, or 4 for hashes.
func (q LocalKind) randomizer() (r shuffler.Randomizer, err error) {
	epsilon, categories, size := q.Epsilon.float(), int(q.Categories.whole()), int(q.Size.whole())
	switch q.Mechanism {
	case "k-rr":
		r, err = shuffler.NewKRR(epsilon, categories)
	case "unary":
		r, err = shuffler.NewOptimizedUnary(epsilon, categories)
	case "subset-selection":
		if size == 0 {
			size = shuffler.BestSize(epsilon, categories)
		}
		r, err = shuffler.NewSubsetSelection(epsilon, categories, size)
	case "hadamard":
		r, err = shuffler.NewHadamard(epsilon, categories)
	default:
		r, err = shuffler.NewLocalHash(epsilon, cmp.Or(size, 4), true)
	}
	return r, renamed(err, q.Mechanism, "")
}

// localMessages draws messages, by the randomness of the operating system.
func (s *Service) localMessages(ctx context.Context, q LocalMessagesRequest) (out LocalMessages, err error) {
	r, err := q.randomizer()
	if err != nil {
		return out, err
	}
	src := testSource(q.TestSeed)
	out.Messages = make([][]int, len(q.Values))
	for i, v := range q.Values {
		if err := ctx.Err(); err != nil {
			return LocalMessages{}, err
		}
		if most := q.Categories.whole() - 1; int64(v) > most {
			return LocalMessages{}, fault.New("values", "%d is not in [0, %d]", v, most)
		}
		m, err := r.Sample(v, src)
		if err != nil {
			return LocalMessages{}, err
		}
		out.Messages[i] = append([]int{}, m...) // also of a set without a member
	}
	return out, nil
}

// localEstimates counts what messages say.
func (s *Service) localEstimates(ctx context.Context, q LocalEstimatesRequest) (out LocalEstimates, err error) {
	r, err := q.randomizer()
	if err != nil {
		return out, err
	}
	messages := make([]shuffler.Message, len(q.Messages))
	for i, m := range q.Messages {
		messages[i] = m
	}
	found, err := r.Estimates(messages, int(q.Categories.whole()))
	if err != nil {
		return out, err
	}
	for v, e := range found {
		out.Estimates = append(out.Estimates, LocalEstimate{Value: v, Count: Number(e.Count), Deviation: Number(e.Deviation)})
	}
	return out, ctx.Err()
}
