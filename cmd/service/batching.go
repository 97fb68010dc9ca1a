package service

import (
	"math/big"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// This file turns "so many examples, such batches, so many epochs" into the steps of a plan,
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

// read fills in the schedule of a request. rate is the number itself.
func (s *schedule) read(q DPSGDRequest, rate *big.Rat) error {
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
		if err := q.Cap.check("cap", upTo(s.examples)); err != nil {
			return err
		}
	}
	if !s.byEpochs() {
		return nil
	}
	var ok bool
	if s.each, ok = ceil(unrounded(new(big.Rat).Inv(rate))); !ok || s.each > 1<<30 {
		return fault.New("batching", "%s has more than 2^30 steps in an epoch", s.name)
	}
	return nil
}

// cut splits the length into epochs: t = ⌈n/b⌉ steps each, and a last one of some.
func (s *schedule) cut(epochs *big.Rat) error {
	t := big.NewInt(s.each)
	if epochs == nil {
		s.whole, s.part = s.steps/s.each, s.steps%s.each
	} else {
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
func (s schedule) plan(b profiles.Mechanism) ([]accountant.Step, error) {
	one := func(scheme subsample.Scheme, err error, count int64) ([]accountant.Step, error) {
		if err != nil {
			return nil, err
		}
		return []accountant.Step{{Name: "DP-SGD", Mechanism: b, Sampling: scheme, Count: count}}, nil
	}
	switch s.name {
	case Poisson:
		p, err := subsample.NewPoisson(s.rate)
		return one(p, err, s.steps)
	case TruncatedPoisson:
		p, err := allocation.NewTruncated(s.rate, s.cap, s.examples)
		return one(p, err, s.steps)
	case WithoutReplacement:
		p, err := subsample.NewWithoutReplacement(s.examples, s.batch)
		return one(p, err, s.steps)
	case FixedOrder:
		p, err := allocation.NewFixed(1)
		return one(p, err, s.uses)
	}
	var steps []accountant.Step
	add := func(name string, scheme subsample.Scheme, err error, count int64) error {
		if err == nil && count > 0 {
			steps = append(steps, accountant.Step{Name: name, Mechanism: b, Sampling: scheme, Count: count})
		}
		return err
	}
	if s.name == RandomAllocation {
		p, err := allocation.NewRandom(s.each)
		if err := add("DP-SGD", p, err, s.whole); err != nil {
			return nil, err
		}
		p, err = p.First(s.part)
		return steps, add("last epoch", p, err, min(s.part, 1))
	}
	p, err := allocation.NewShuffle(s.each)
	if err := add("DP-SGD", p, err, s.whole); err != nil || s.part == 0 {
		return steps, err
	}
	// Of a permuted data set the first batches: each example is in them with probability
	// part/each, and then in one of them alike.
	if p, err = allocation.NewShuffle(s.part); err == nil {
		p, err = p.WithUnused(float64(s.each-s.part) / float64(s.each))
	}
	return steps, add("last epoch", p, err, 1)
}
