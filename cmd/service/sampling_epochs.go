package service

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file compares all ways to draw batches for the same number of epochs over the data:
// what each costs with the same noise, and the noise that it needs for the same ε.

// noiseAccuracy is that of the noise which a scheme needs.
const noiseAccuracy = 1e-3

// An epochsRow is a way to draw batches, with its steps.
type epochsRow struct {
	name string
	plan func(profiles.Mechanism) ([]accountant.Step, error)
	err  error // why there is none
}

// epochsRows returns the rows of a table; of truncated-poisson with the cap that was asked for.
func (r samplingRun) epochsRows() []epochsRow {
	var rows []epochsRow
	for _, name := range Batchings {
		s := schedule{examples: r.population, batch: r.batch, rate: float64(r.batch) / float64(r.population), cap: r.cap, name: name}
		rows = append(rows, epochsRow{name, s.plan, r.schedule(&s)})
	}
	if r.subset == 0 {
		return rows
	}
	for _, c := range []struct {
		name string
		make func(population, subset, batch int64) (subsample.FixedSize, error)
	}{{"must-ow", subsample.NewMustOW}, {"must-wo", subsample.NewMustWO}, {"must-ww", subsample.NewMustWW}} {
		s := schedule{examples: r.population, batch: r.batch, name: Poisson}
		err := r.schedule(&s)
		rows = append(rows, epochsRow{c.name, func(b profiles.Mechanism) ([]accountant.Step, error) {
			f, err := c.make(r.population, r.subset, r.batch)
			return []accountant.Step{{Mechanism: b, Sampling: f, Count: s.steps}}, renamed(err, c.name, "")
		}, err})
	}
	return rows
}

// schedule fills in the steps of an epoch budget.
func (r samplingRun) schedule(s *schedule) (err error) {
	if r.batch > r.population {
		return fault.New("batch", "%d is above the population, %d", r.batch, r.population)
	}
	rate := big.NewRat(r.batch, r.population)
	epochs := new(big.Rat).SetFloat64(r.epochs)
	var ok bool
	if s.steps, ok = ceil(new(big.Rat).Quo(epochs, rate)); !ok {
		return fault.New("epochs", "makes more than 2^53 steps")
	}
	s.uses, _ = ceil(epochs)
	if s.byEpochs() {
		s.each, _ = ceil(new(big.Rat).Inv(rate))
		return s.cut(epochs)
	}
	return nil
}

// byEpochs answers for an epoch budget.
func (s *Service) byEpochs(ctx context.Context, r samplingRun, out SamplingAnswer) (SamplingAnswer, error) {
	rows := r.epochsRows()
	plans := make([][]accountant.Step, len(rows))
	report(ctx, Progress{Total: 2 * len(rows)})
	for i, row := range rows {
		ctx := sharing(ctx, 2*len(rows)-i)
		line, err := r.epochsLine(ctx, row)
		if err = line.limited(ctx, err); err != nil {
			return SamplingAnswer{}, err
		}
		if i == 0 && r.target == 0 && line.Epsilon != nil {
			r.target = float64(line.Epsilon.Upper) // of Poisson sampling
		}
		out.Schemes = append(out.Schemes, line)
		report(ctx, Progress{Done: i + 1, Total: 2 * len(rows)})
	}
	for i, row := range rows {
		if line := &out.Schemes[i]; line.Epsilon != nil {
			var err error
			if plans[i], err = row.plan(r.base); err != nil {
				return SamplingAnswer{}, err
			}
			ctx := sharing(ctx, len(rows)-i)
			if r.target > 0 {
				if err := line.limited(ctx, r.noiseFor(ctx, plans[i], line)); err != nil {
					return SamplingAnswer{}, err
				}
			}
		}
		report(ctx, Progress{Done: len(rows) + i + 1, Total: 2 * len(rows)})
	}
	out.TargetEpsilon = Number(r.target)
	return out, r.narrow(ctx, out.Schemes, plans)
}

// epochsLine returns what the scheme costs with the noise that was given.
func (r samplingRun) epochsLine(ctx context.Context, row epochsRow) (Scheme, error) {
	line := Scheme{Scheme: row.name}
	if err := reached(ctx); err != nil && row.err == nil {
		return line, err
	}
	steps, err := []accountant.Step(nil), row.err
	if err == nil {
		steps, err = row.plan(r.base)
	}
	var acct *accountant.Accountant
	if err == nil {
		acct, err = newAccountant(ctx, &accountant.Plan{Neighbors: r.neighbors, Steps: steps}, r.opts)
	}
	if err != nil {
		if ctx.Err() != nil {
			return line, ctx.Err()
		}
		var f *fault.Error
		if errors.As(err, &f) {
			line.NotApplicable = f.Problem // the scheme has no bound here
			return line, nil
		}
		return line, err
	}
	iv, err := acct.Epsilon(ctx, r.delta)
	if err != nil {
		return line, err
	}
	line.Steps = acct.Runs()
	if row.name == RandomAllocation || row.name == Shuffle {
		line.Epochs = acct.Runs()
		line.Steps = 0
	}
	line.Epsilon, line.TheoryGap, line.Warnings = &Ends{Number(iv.Lower), Number(iv.Upper)}, iv.Gap != nil, iv.Warnings
	return line, nil
}

// noiseFor fills in the noise with which the scheme is proved to cost the target.
func (r samplingRun) noiseFor(ctx context.Context, steps []accountant.Step, line *Scheme) error {
	goal := accountant.Goal{Epsilon: r.target, Delta: r.delta, Solve: accountant.NoiseMultiplier}
	c, err := accountant.Calibrate(ctx, &accountant.Plan{Neighbors: r.neighbors, Steps: steps}, goal, append(slices.Clip(r.opts), accountant.WithAccuracy(noiseAccuracy))...)
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
