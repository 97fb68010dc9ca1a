package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// This file searches strategies of matrix mechanisms, and prices what was found.

// MatrixOptimizeRequest asks for the strategy of least error, and for its noise: as given, for a
// budget, or else an effective noise multiplier of 1.
type MatrixOptimizeRequest struct {
	Strategy        string   `json:"strategy" one:"banded,toeplitz,blt" help:"{class} to search: banded, toeplitz or blt"`
	Steps           Decimal  `json:"steps" in:"whole [1, 4194304]" help:"number of {steps} of a run"`
	Participation   string   `json:"participation" help:"{schema} as in a plan, such as '{min-separation: 100, at-most: 20}'"`
	Bands           Decimal  `json:"bands,omitempty" in:"whole [1, 4194304]" help:"number {p} of bands of banded and toeplitz (default the separation)"`
	Buffers         Decimal  `json:"buffers,omitempty" in:"whole [1, 12]" help:"number {d} of buffers of a blt (default as many as gain)"`
	Error           string   `json:"error,omitempty" one:"rmse,max" preset:"rmse" help:"{error} of prefix sums to make small: rmse, or max for the worst one"`
	NoiseMultiplier Decimal  `json:"noise-multiplier,omitempty" not:"epsilon" in:"(0, inf)" help:"noise {σ} of the run (default the sensitivity)"`
	Epsilon         Decimals `json:"epsilon,omitempty" in:"[0, inf)" help:"search the noise for this {ε} instead; several with commas between them"`
	Delta           Decimals `json:"delta,omitempty" in:"(0, 1)" preset:"1e-5" help:"{δ} of the price, several with commas between them"`
	Neighbors       string   `json:"neighbors,omitempty" one:"add-remove,substitute,zero-out" preset:"add-remove" help:"neighbouring {relation}: add-remove, substitute or zero-out"`
	Limits
}

// MatrixOptimizeAnswer is the strategy, what it does to the prefix sums, and its price.
type MatrixOptimizeAnswer struct {
	Steps         int64  `json:"steps"`
	Participation string `json:"participation"`
	Neighbors     string `json:"neighbors"`
	// Strategy is what the key strategy of a plan has: a matrix.Strategy.
	Strategy any `json:"strategy"`
	// Sensitivity is certified; with secret sampling it is the largest norm of a column.
	Sensitivity Ends `json:"sensitivity" py:"sensitivity_*"`
	// RMSE and MaxError are those of prefix sums in units of the clipping norm, at NoiseMultiplier;
	// they are not certified.
	RMSE            Number   `json:"rmse"`
	MaxError        Number   `json:"max-error"`
	NoiseMultiplier Number   `json:"noise-multiplier"`
	Delta           Number   `json:"delta"`
	Epsilon         Ends     `json:"epsilon" py:"epsilon_*"`
	TheoryGap       bool     `json:"theory-gap,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

// searchWork is the work of a request without a limit, where the frontend allows any: a minute.
const searchWork = "1.5e9"

// goal is what the search is for.
func (q MatrixOptimizeRequest) goal(ctx context.Context) (matrix.Goal, error) {
	g := matrix.Goal{Steps: int(q.Steps.whole()), Class: q.Strategy, MaxError: q.Error == "max", Bands: int(q.Bands.whole()), Buffers: int(q.Buffers.whole())}
	var err error
	if g.Participation, err = plan.ParseParticipation(ctx, []byte(q.Participation)); err != nil {
		wrong := new(plan.Error)
		if errors.As(err, &wrong) {
			field := strings.TrimSuffix("participation."+strings.TrimPrefix(wrong.Field, "plan"), ".")
			return g, fault.New(field, "%s", wrong.Problem)
		}
		return g, err
	}
	return g, nil
}

// matrixOptimize searches a strategy and prices it.
func (s *Service) matrixOptimize(ctx context.Context, q MatrixOptimizeRequest) (_ MatrixOptimizeAnswer, err error) {
	opts := q.options(ctx, Narrowing{})
	neighbors := relation(q.Neighbors)
	goal, err := q.goal(ctx)
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	if goal.Participation.Secret() && neighbors == profiles.Substitute {
		return MatrixOptimizeAnswer{}, fault.New("neighbors", "substitute is not covered for %v; use add-remove", goal.Participation)
	}
	if _, bounded := ctx.Value(mostKey{}).(most); q.Work == "" && !bounded {
		q.Work = searchWork
	}
	ctx, end, err := q.Under(ctx)
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	defer func() { end(&err) }()
	_, left := parallel.Work(ctx)
	found, err := matrix.Optimize(parallel.WithWork(ctx, 0.9*left), goal) // the rest is for the price
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	out := MatrixOptimizeAnswer{Steps: int64(goal.Steps), Participation: goal.Participation.String(), Neighbors: neighbors.String(), Delta: Number(q.Delta.float()), Strategy: found.Strategy,
		Sensitivity: Ends{Lower: Number(found.Sensitivity.Lower), Upper: Number(found.Sensitivity.Upper)}}
	if found.Unfinished != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the search ended early, with a strategy that may be better: %v", found.Unfinished))
	}
	noise := found.Sensitivity.Upper
	if q.NoiseMultiplier != "" {
		noise = q.NoiseMultiplier.float()
	}
	run, err := matrix.New(matrix.Config{NoiseMultiplier: noise, Steps: goal.Steps, Strategy: found.Strategy, Participation: goal.Participation})
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	p := &accountant.Plan{Neighbors: neighbors, Steps: []accountant.Step{{Mechanism: run}}}
	if q.Epsilon != nil {
		c, err := accountant.Calibrate(ctx, p, accountant.Goal{Solve: accountant.NoiseMultiplier, Epsilon: q.Epsilon.float(), Delta: q.Delta.float()}, opts...)
		if err != nil {
			return MatrixOptimizeAnswer{}, err
		}
		noise, p = c.Value, c.Plan
	}
	acct, err := newAccountant(ctx, p, opts)
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	price, err := acct.Epsilon(ctx, q.Delta.float())
	if err != nil {
		return MatrixOptimizeAnswer{}, err
	}
	scale := noise / found.Sensitivity.Upper
	out.NoiseMultiplier, out.RMSE, out.MaxError = Number(noise), Number(found.RMSE*scale), Number(found.MaxError*scale)
	out.Epsilon, out.TheoryGap = Ends{Lower: Number(price.Lower), Upper: Number(price.Upper)}, price.Gap != nil
	out.Warnings = append(out.Warnings, price.Warnings...)
	return out, nil
}
