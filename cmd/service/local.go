package service

import (
	"cmp"
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

// This file draws the messages of users, and estimates what they say together. A message is drawn on the user's device: a door
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
	TestSeed Decimal `json:"test-seed,omitempty" in:"whole [0, 2^53]" help:"seed, for tests: who knows it knows the messages"`
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
	case "local-hash":
		r, err = shuffler.NewLocalHash(epsilon, cmp.Or(size, 4), true)
	default:
		return r, oneOf("mechanism", q.Mechanism, "k-rr", "unary", "subset-selection", "hadamard", "local-hash")
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
