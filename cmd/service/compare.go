package service

import (
	"context"

	"github.com/dpaccountant/accountant"
)

// This file compares the methods of accounting for a plan.

// CompareRequest asks for the ε of a plan at a δ by every method.
type CompareRequest struct {
	Plan  PlanText `json:"plan"`
	Delta Decimals `json:"delta" in:"(0, 1)" help:"one or several {δ} to compare at, with commas between them"`
	Narrowing
	Limits
}

// CompareAnswer has a line for each method.
type CompareAnswer struct {
	Unit
	Delta   Number     `json:"delta"`
	Methods []Compared `json:"methods" py:",return"`
}

// Compared is the ε by one method; Epsilon is nil where it does not apply, and Lower
// where it has no lower end.
type Compared struct {
	Method  string  `json:"method"`
	Kind    string  `json:"kind"`
	Lower   *Number `json:"lower,omitempty"`
	Epsilon *Number `json:"epsilon,omitempty"`
	Theorem string  `json:"theorem"`
	Note    string  `json:"note,omitempty"`
	// Of is the kind as the library has it.
	Of accountant.Kind `json:"-"`
}

// compare returns the ε of a plan by the methods of the literature.
func (s *Service) compare(ctx context.Context, q CompareRequest) (out CompareAnswer, err error) {
	delta := q.Delta.float()
	plan, opts, err := q.planned(ctx, q.Plan, q.Narrowing)
	if err != nil {
		return out, err
	}
	rows, err := plan.Compare(ctx, delta, opts...)
	if err != nil {
		return out, err
	}
	out = CompareAnswer{Unit: unitOf(plan), Delta: Number(delta)}
	for _, r := range rows {
		c := Compared{Method: r.Method, Kind: r.Kind.String(), Theorem: r.Theorem, Note: r.Note, Of: r.Kind}
		eps, lower := Number(r.Epsilon), Number(r.Lower)
		if r.Kind != accountant.NotApplicable {
			c.Epsilon = &eps
		}
		if r.Kind == accountant.Certified {
			c.Lower = &lower
		}
		out.Methods = append(out.Methods, c)
	}
	return out, nil
}
