package service

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
)

// This file answers for the ε of persons with several records from the curve of one record alone.

// GroupMethod is the name of the bound.
const GroupMethod = "group privacy of one record's curve"

// GroupEpsilons are upper bounds of ε by the iterate of the curve of one record.
type GroupEpsilons struct {
	Neighbors        string           `json:"neighbors"`
	RecordsPerPerson int64            `json:"records-per-person"`
	Method           string           `json:"method"`
	Results          []GroupEpsilonAt `json:"results"`
}

// GroupEpsilonAt is an upper bound of ε at a δ.
type GroupEpsilonAt struct {
	Delta   Number `json:"delta"`
	Epsilon Upper  `json:"epsilon"`
}

// checkGroup refuses what is for other answers.
func (q EpsilonRequest) checkGroup() error {
	if q.Accountant == RDPAccountant {
		return fault.New("group-black-box", "true is for the fourier accountant, not for %q", q.Accountant)
	}
	if q.Certificate {
		return fault.New("group-black-box", "true has no certificate: its bound is no integral")
	}
	if q.Transform != "" {
		return fault.New("group-black-box", "true goes with no transform of lattices")
	}
	return nil
}

// EpsilonGroup returns upper bounds of ε for persons, from the curve of one record of a plan.
func (s *Service) EpsilonGroup(ctx context.Context, q EpsilonRequest) (GroupEpsilons, error) {
	out := GroupEpsilons{Method: GroupMethod}
	if err := q.Check(); err != nil {
		return out, err
	}
	at, err := q.Delta.in("delta", openUnit)
	if err != nil {
		return out, err
	}
	opts, err := accountantOptions(ctx, q.Limits, q.Narrowing)
	if err != nil {
		return out, err
	}
	plan, err := q.Plan.parse(ctx)
	if err != nil {
		return out, err
	}
	out.Neighbors, out.RecordsPerPerson = plan.Neighbors.String(), plan.Records()
	for _, delta := range at {
		eps, err := plan.GroupEpsilon(ctx, delta, opts...)
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, GroupEpsilonAt{Number(delta), Upper{Number(eps)}})
	}
	return out, nil
}
