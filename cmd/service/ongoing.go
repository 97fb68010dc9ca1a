package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/selection"
)

// This file has runs that take several requests: a search, whose candidates another program runs, and
// correlated noise, a vector for each step. They are as private as what one front end holds for one user.

// RunOpenRequest begins a run.
type RunOpenRequest struct {
	Kind string `json:"kind" one:"best,first-above,top,adaptive,sparse-vector,matrix" help:"best, first-above, top, adaptive, sparse-vector or matrix"`
	// Selection is the law of the number of candidates as a step of a plan has it: best, first-above, top.
	Selection        json.RawMessage `json:"selection,omitempty" of:"kind=best!,first-above!,top!"`
	Threshold        *float64        `json:"threshold,omitempty" of:"kind=first-above!" help:"{score} to reach, of first-above"`
	Top              *int            `json:"top,omitempty" of:"kind=top!" in:"[1, 2147483647]" help:"{number} of outcomes that top shows"`
	Hits             *int            `json:"hits,omitempty" of:"kind=adaptive!" help:"{number} of outcomes that adaptive shows"`
	Padding          bool            `json:"padding,omitempty" of:"kind=best,first-above" help:"best and first-above run as many candidates as the law allows, and ignore some"`
	Percentile       *float64        `json:"percentile,omitempty" of:"kind=sparse-vector!" help:"{probability} to reach, of sparse-vector"`
	CandidateEpsilon *float64        `json:"candidate-epsilon,omitempty" of:"kind=best,first-above,top,adaptive,sparse-vector!" help:"{ε} of one candidate; sparse-vector needs it"`
	CandidateDelta   *float64        `json:"candidate-delta,omitempty" of:"kind=best,first-above,top" with:"candidate-epsilon" help:"{δ} of one candidate, if that is not 0"`
	Epsilon          *float64        `json:"epsilon,omitempty" of:"kind=sparse-vector!" help:"{ε} of the whole sparse-vector"`
	Queries          *int            `json:"queries,omitempty" of:"kind=sparse-vector!" in:"[1, 2147483647]" help:"largest {number} of queries of sparse-vector"`
	Delta            *float64        `json:"delta,omitempty" of:"kind=adaptive" help:"{δ} at which adaptive is priced"`
	// Mechanism is matrix as a step of a plan has it, for vectors of a dimension with contributions of norm at most clip.
	Mechanism json.RawMessage `json:"mechanism,omitempty" of:"kind=matrix"`
	Clip      *float64        `json:"clip,omitempty" of:"kind=matrix!" help:"largest {norm} of a contribution"`
	Dimension *int            `json:"dimension,omitempty" of:"kind=matrix!" help:"numbers of a vector"`
	// Plan is that of one candidate of best, by which a ledger is charged, or one of a matrix, in place of mechanism.
	Plan     PlanText `json:"plan,omitempty" of:"kind=best,matrix" not:"candidate-epsilon,mechanism"`
	TestSeed Decimal  `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"{seed}, for tests: who knows it knows the noise"`
	Spend
}

// RunOpened names a run, and what it costs where it is priced by its own keys.
type RunOpened struct {
	Run     string   `json:"run,omitempty"`
	Epsilon *float64 `json:"epsilon,omitempty"`
	Delta   *float64 `json:"delta,omitempty"`
	Charge  string   `json:"charge,omitempty"`
}

// RunHandle names a run.
type RunHandle struct {
	Run string `json:"run"`
}

// RunNextRequest goes on with a run: with the score of the candidate that was asked for (the probability, of a
// sparse vector), for adaptive with the threshold of its call too, for matrix with the sum of clipped contributions.
type RunNextRequest struct {
	RunHandle
	X         []float64 `json:"x,omitempty"`
	Score     *float64  `json:"score,omitempty"`
	Threshold *float64  `json:"threshold,omitempty"`
}

// RunNextAnswer asks for a candidate to be run (try), or has the end: the numbers of the candidates to show, from 0 in
// the order in which they were asked for. How many were asked for must stay secret.
type RunNextAnswer struct {
	Try    bool      `json:"try,omitempty"`
	Found  []int     `json:"found,omitempty"`
	Left   *int      `json:"left,omitempty"` // outcomes that adaptive may still show
	Values []float64 `json:"values,omitempty"`
}

// An Ongoing run goes on by requests, one at a time. It is one of its parts.
type Ongoing struct {
	mu       sync.Mutex
	stream   *matrix.Stream
	adaptive *selection.AdaptiveSearch[int]
	calls    int // of adaptive
	search   *search
}

// shape checks which keys of a kind go together.
func (q RunOpenRequest) shape() error {
	switch {
	case q.Kind == "matrix" && q.Plan == nil && q.Mechanism == nil:
		return fault.New("mechanism", "is missing; matrix needs it, or a plan of it")
	case q.Kind == "adaptive" && (q.CandidateEpsilon == nil) != (q.Delta == nil):
		return fault.New("delta", "must be given with candidate-epsilon, to price an adaptive search")
	case q.Threshold != nil && math.IsNaN(*q.Threshold):
		return fault.New("threshold", "is NaN")
	}
	return nil
}

// runOpen begins a run.
func (s *Service) runOpen(ctx context.Context, q RunOpenRequest) (out RunOpened, err error) {
	name, err := s.runs.put(func() (r *Ongoing, keep bool, err error) {
		r, out, err = s.paid(ctx, q)
		return r, out.Charge == "", err
	})
	if err != nil {
		return RunOpened{}, err
	}
	out.Run = name
	return out, nil
}

// paid makes a run and spends it from its ledger.
func (s *Service) paid(ctx context.Context, q RunOpenRequest) (r *Ongoing, out RunOpened, err error) {
	if r, err = q.open(ctx, &out); err != nil {
		if q.Kind != "sparse-vector" {
			err = renamed(err, "epsilon", "candidate-epsilon")
		}
		return nil, out, renamed(err, "m", "top", "n", "queries")
	}
	out.Charge, err = s.payRun(ctx, q, out)
	return r, out, err
}

// OpenSearch begins a search that Play runs, and which has no name.
func (s *Service) OpenSearch(ctx context.Context, q RunOpenRequest) (*Ongoing, error) {
	if err := ready(&q); err != nil {
		return nil, err
	}
	r, _, err := s.paid(ctx, q)
	return r, err
}

// Play runs a search to its end and returns what it shows. try runs candidate n, which shows something, and has a score. An
// adaptive search has a threshold, and at most so many calls.
func Play[T any](ctx context.Context, r *Ongoing, calls int, threshold float64, try func(ctx context.Context, n int) (T, float64, error)) (shown []T, err error) {
	n := 0
	var last T
	var failed error
	one := func(ctx context.Context, _ *rand.Rand) (T, float64, error) {
		var score float64
		last, score, failed = try(ctx, n)
		n++
		return last, score, failed
	}
	if r.search != nil {
		shown, err = found(ctx, r.search.searching, one)
		return shown, cmp.Or(failed, err)
	}
	for n < calls && r.adaptive.Left() > 0 {
		hit, err := r.adaptive.Try(ctx, threshold, func(ctx context.Context, rng *rand.Rand) (int, float64, error) {
			_, score, err := one(ctx, rng)
			return n, score, err
		})
		if err != nil {
			return nil, cmp.Or(failed, err)
		}
		if hit.Found {
			shown = append(shown, last)
		}
	}
	return shown, nil
}

// payRun spends what the run costs: the search of its candidate, its mechanism, or its price.
func (s *Service) payRun(ctx context.Context, q RunOpenRequest, out RunOpened) (string, error) {
	text := string(q.Plan)
	if q.Plan != nil && q.Kind != "matrix" { // which is read where nobody pays, too
		var err error
		if text, err = searched(q.Selection, q.Plan); err != nil {
			return "", err
		}
	}
	switch {
	case q.Ledger == "" && q.Charge == "":
		return "", nil
	case q.Plan != nil:
		return s.payPlan(ctx, q.Spend, text)
	case q.Kind == "matrix":
		return s.pay(ctx, q.Spend, fmt.Sprintf(`[{"mechanism": %s}]`, q.Mechanism))
	case out.Epsilon == nil:
		return "", fault.New("candidate-epsilon", "is missing; a ledger is charged by it")
	}
	return s.pay(ctx, q.Spend, guaranteed(*out.Epsilon, *out.Delta))
}

// end ends a search, which waits for a score.
func (r *Ongoing) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.search != nil && r.search.stop != nil {
		r.search.stop()
	}
}

// open makes the run, and fills in its price.
func (q RunOpenRequest) open(ctx context.Context, out *RunOpened) (_ *Ongoing, err error) {
	src := testSource(q.TestSeed)
	switch q.Kind {
	case "matrix":
		if q.Plan != nil {
			if q.Mechanism, err = q.Plan.runs(); err != nil {
				return nil, err
			}
		}
		m, err := mechanism(ctx, q.Mechanism)
		if err != nil {
			return nil, err
		}
		run, ok := m.(matrix.Run)
		if !ok {
			return nil, fault.New("mechanism", "%s is not matrix", m.Name())
		}
		stream, err := matrix.NewStream(run.Config(), *q.Clip, *q.Dimension, src)
		return &Ongoing{stream: stream}, err
	case "adaptive":
		a, err := selection.NewAdaptiveSearch[int](*q.Hits, src)
		if err == nil && q.CandidateEpsilon != nil {
			var eps float64
			eps, _, err = selection.AdaptiveCost(*q.CandidateEpsilon, *q.Hits, *q.Delta)
			out.Epsilon, out.Delta = &eps, q.Delta
		}
		return &Ongoing{adaptive: a}, err
	case "sparse-vector":
		v := selection.SparseVector{Percentile: *q.Percentile, CandidateEpsilon: *q.CandidateEpsilon, Epsilon: *q.Epsilon}
		if _, err := v.Run(ctx, src, 0, nil); err != nil {
			return nil, err
		}
		out.Epsilon, out.Delta = q.Epsilon, new(float64)
		return &Ongoing{search: &search{searching: searching{RunOpenRequest: q, vector: v, src: src}}}, nil
	}
	s, err := step(ctx, `"selection":%s,"steps":[{"mechanism":{"pure":{"epsilon":1}}}]`, q.Selection)
	if err != nil {
		return nil, err
	}
	law, err := s.Selection.Build()
	if err != nil {
		return nil, err
	}
	if err := q.price(law, out); err != nil {
		return nil, err
	}
	if _, bounded := law.MaxRuns(); q.Padding && !bounded {
		return nil, fault.New("padding", "law %v has no largest number of runs; set max", law)
	}
	return &Ongoing{search: &search{searching: searching{RunOpenRequest: q, law: law, src: src}}}, nil
}

// price fills in what a selection of candidates with a guarantee costs.
func (q RunOpenRequest) price(law selection.Law, out *RunOpened) (err error) {
	p := selection.PriceOfBest(law)
	if q.Kind == "first-above" {
		if p, err = selection.PriceOfFirstAbove(law); err != nil {
			return err
		}
	}
	if q.CandidateEpsilon == nil {
		return nil
	}
	var eps float64
	delta := orZero(q.CandidateDelta)
	switch {
	case q.Kind == "top":
		eps, delta, err = selection.PriceOfTop(law, *q.Top, *q.CandidateEpsilon, delta)
	case delta == 0:
		eps, err = p.Pure(*q.CandidateEpsilon)
	default:
		eps, delta, err = p.Approximate(*q.CandidateEpsilon, delta)
	}
	out.Epsilon, out.Delta = &eps, &delta
	return err
}

// A searching is a search whose price is known.
type searching struct {
	RunOpenRequest
	law    selection.Law
	vector selection.SparseVector
	src    rand.Source
}

// found runs a search, of which try runs the candidates, and returns what it shows.
func found[T any](ctx context.Context, s searching, try selection.Trial[T]) (shown []T, err error) {
	options := selection.Options{Source: s.src, Padding: s.Padding}
	results := make([]selection.Result[T], 1)
	switch s.Kind {
	case "sparse-vector":
		var i int
		i, err = s.vector.Run(ctx, s.src, *s.Queries, func(ctx context.Context, _ int) (p float64, err error) {
			results[0].Payload, p, err = try(ctx, nil)
			return p, err
		})
		results[0].Found = i >= 0 && err == nil // it ends with the query that it shows
	case "best":
		results[0], err = selection.Best(ctx, s.law, try, options)
	case "first-above":
		results[0], err = selection.FirstAbove(ctx, s.law, *s.Threshold, try, options)
	case "top":
		results, err = selection.Top(ctx, s.law, *s.Top, s.src, try)
	}
	for _, r := range results {
		if r.Found {
			shown = append(shown, r.Payload)
		}
	}
	return shown, err
}

// A search asks for its candidates one by one, in turns with who runs them.
type search struct {
	searching

	resume func() (struct{}, bool) // until the next candidate, false behind the last one; nil before the first
	stop   func()
	yield  func(struct{}) bool // to who runs candidates

	tried       int
	score       float64 // of the latest candidate
	asked, over bool
	found       []int
	err         error
}

// begin starts the turns.
func (s *search) begin() {
	s.resume, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		s.found, s.err = found(context.Background(), s.searching, s.try)
	})
}

// try has a candidate run, and returns its number and its score.
func (s *search) try(context.Context, *rand.Rand) (int, float64, error) {
	if !s.yield(struct{}{}) {
		return 0, 0, errOver
	}
	s.tried++
	return s.tried - 1, s.score, nil
}

// next goes on with the score of the candidate that was asked for, nil at the beginning.
func (s *search) next(score *float64) (RunNextAnswer, error) {
	switch {
	case s.over:
		return RunNextAnswer{}, errOver
	case s.asked && score == nil:
		return RunNextAnswer{}, fault.New("score", "is missing; a candidate was asked for")
	case !s.asked && score != nil:
		return RunNextAnswer{}, fault.New("score", "is given, no candidate was asked for")
	}
	if s.resume == nil {
		s.begin()
	}
	s.score = orZero(score)
	if _, s.asked = s.resume(); s.asked {
		return RunNextAnswer{Try: true}, nil
	}
	s.over = true
	return RunNextAnswer{Found: s.found}, s.err
}

// errOver is what a run says that has ended.
var errOver = fault.New("run", "has ended; another one has its own cost")

// running returns an open run.
func (s *Service) running(name string) (*Ongoing, error) {
	if r, ok := s.runs.get(name); ok {
		return r, nil
	}
	return nil, fault.New("run", "%q is not open", name)
}

// RunNext goes on with a run.
func (s *Service) RunNext(ctx context.Context, q RunNextRequest) (RunNextAnswer, error) {
	r, err := s.running(q.Run)
	if err != nil {
		return RunNextAnswer{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next(ctx, q)
}

// next goes on with the keys that are for its part.
func (r *Ongoing) next(ctx context.Context, q RunNextRequest) (out RunNextAnswer, err error) {
	switch {
	case (q.X != nil) != (r.stream != nil):
		return out, fault.New("x", "must be given to a matrix, and to nothing else")
	case r.adaptive == nil && q.Threshold != nil:
		return out, fault.New("threshold", "is for adaptive alone")
	case r.stream != nil && q.Score != nil:
		return out, fault.New("score", "is of no use to a matrix")
	case r.stream != nil:
		out.Values, err = r.stream.Next(q.X)
		return out, err
	case r.search != nil:
		return r.search.next(q.Score)
	case q.Score == nil || q.Threshold == nil:
		return out, fault.New("score", "is missing, or the threshold; adaptive takes both")
	}
	found, err := r.adaptive.Try(ctx, *q.Threshold, func(context.Context, *rand.Rand) (int, float64, error) { return r.calls, *q.Score, nil })
	if errors.Is(err, selection.ErrSpent) {
		return out, errOver
	}
	left := r.adaptive.Left()
	if out.Left = &left; found.Found {
		out.Found = []int{r.calls}
	}
	r.calls++
	return out, err
}

// RunClose ends a run. One that has not shown anything must not be said to have been without an outcome.
func (s *Service) RunClose(_ context.Context, q RunHandle) (RunHandle, error) {
	r, err := s.running(q.Run)
	if err != nil {
		return q, err
	}
	r.end()
	s.runs.drop(q.Run)
	return q, nil
}
