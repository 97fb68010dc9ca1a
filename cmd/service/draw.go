package service

import (
	"context"
	"encoding/json"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// This file draws batches for training loops in other languages. Batches are secrets: a door with
// many users has no such operation.

// DrawRequest asks for the first batches of a run.
type DrawRequest struct {
	// Sampling is a scheme as a step of a plan has it, such as {"poisson": {"rate": 0.004}}.
	Sampling   json.RawMessage `json:"sampling"`
	Population Decimal         `json:"population" in:"whole [1, 2^53]" help:"number of records {N}"`
	// Batches is a multiple of those of an epoch where the scheme has epochs; one epoch, or one batch, if not given.
	Batches Decimal `json:"batches,omitempty" in:"whole [1, 33554432]" help:"{number} of batches"`
	// TestSeed makes the same batches again, which whoever knows it can do as well.
	TestSeed Decimal `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"seed, for tests: who knows it knows the batches"`
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
	case subsample.Poisson:
		return 1, 1 + x.Rate()*population
	case subsample.FixedSize:
		return 1, 1 + float64(x.Batch())
	case allocation.Resampled:
		return x.Resamples(), float64(x.Resamples()) * (1 + float64(x.Batch()))
	case allocation.Truncated:
		return 1, 1 + x.Rate()*population
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
	if len(q.Sampling) == 0 {
		return nil, fault.New("sampling", "is missing; must be a sampling scheme as in a step of a plan")
	}
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
