package service

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file answers for one run of one mechanism: δ at every ε, in each direction of the
// relation. The parameters are read as those of plan files are.

// ProfileRequest asks for the profile of a mechanism, sampled if there is a rate, at
// some ε or over a range that suits it.
type ProfileRequest struct {
	Mechanism string `json:"mechanism" help:"{name} of the mechanism"`
	Parameters
	SamplingRate Decimal  `json:"sampling-rate,omitempty" in:"[0, 1]" help:"{probability} of each record to take part, independently"`
	Neighbors    string   `json:"neighbors,omitempty" one:"add-remove,substitute,zero-out" preset:"add-remove" help:"neighbouring {relation}: add-remove, substitute or zero-out"`
	At           Decimals `json:"at,omitempty" in:"[-1e6, 1e6]" help:"show these {ε}, with commas between them, may be negative (default: a range that suits the mechanism)"`
	MinDelta     Decimal  `json:"min-delta,omitempty" in:"[1e-300, 0.5]" preset:"1e-12" help:"the default range ends where {δ} is this small"`
	Limits
}

// Parameters are those of mechanisms in plan files; each mechanism has its own.
type Parameters struct {
	Noise             string   `json:"noise,omitempty" help:"{law} of the noise: gumbel, exponential or laplace of noisy-max, gaussian, laplace or discrete-laplace of threshold, skellam, discrete-gaussian or discrete-laplace of summed-noise"`
	NoiseMultiplier   Decimal  `json:"noise-multiplier,omitempty" in:"[-max, max]" help:"gaussian, laplace, discrete-gaussian, discrete-laplace, skellam, gaussian-mixture: {scale} of the noise over the sensitivity"`
	Sensitivity       Decimal  `json:"sensitivity,omitempty" in:"[-max, max]" help:"discrete-gaussian, skellam, summed-noise (L2): a {number} of at least 1; discrete-laplace (L1): a whole one (default 1)"`
	L2Sensitivity     Decimal  `json:"l2-sensitivity,omitempty" in:"[-max, max]" help:"laplace: L2 sensitivity as a {share} of the L1 one; discrete-laplace: the L2 sensitivity"`
	Clients           Decimal  `json:"clients,omitempty" in:"[-max, max]" help:"summed-noise: {number} of clients that add noise"`
	Missing           Decimal  `json:"missing,omitempty" in:"[-max, max]" help:"summed-noise: {number} of clients that drop out, add none or tell theirs (default 0)"`
	Dimension         Decimal  `json:"dimension,omitempty" in:"[-max, max]" help:"discrete-gaussian: 1 says that the query is one whole {number} (default: any number of them)"`
	Probability       Decimal  `json:"probability,omitempty" in:"[-max, max]" help:"randomized-response: {probability} that the answer is random"`
	Categories        Decimal  `json:"categories,omitempty" in:"[-max, max]" help:"randomized-response: {number} of answers"`
	Epsilon           Decimal  `json:"epsilon,omitempty" in:"[-max, max]" help:"pure, approximate, select-partitions: {ε} of the guarantee; exponential, permute-and-flip, noisy-max: twice the sensitivity over the scale of the noise"`
	Delta             Decimal  `json:"delta,omitempty" in:"[-max, max]" help:"approximate, select-partitions: {δ} of the guarantee"`
	P                 Decimals `json:"p,omitempty" in:"[0, 1]" help:"finite: {probabilities} of the outcomes on a data set, with commas between them"`
	Q                 Decimals `json:"q,omitempty" in:"[0, 1]" help:"finite: {probabilities} on its neighbour"`
	Shifts            Decimals `json:"shifts,omitempty" in:"[-max, max]" help:"gaussian-mixture: whole {multiples} of the sensitivity by which the sum moves"`
	Probabilities     Decimals `json:"probabilities,omitempty" in:"[0, 1]" help:"gaussian-mixture: their {probabilities}"`
	StandardDeviation Decimal  `json:"standard-deviation,omitempty" in:"[-max, max]" help:"skellam, threshold with gaussian noise: the standard {deviation} of the noise; summed-noise: that of one client, the parameter or the scale"`
	Scale             Decimal  `json:"scale,omitempty" in:"[-max, max]" help:"threshold with laplace or discrete-laplace noise: its {scale}"`
	Threshold         Decimal  `json:"threshold,omitempty" in:"[-max, max]" help:"threshold: the least noisy {count} that is shown"`
	Partitions        Decimal  `json:"partitions,omitempty" in:"[-max, max]" help:"threshold: {number} of partitions that a person is in at most (default 1)"`
}

// Parameter is one that was given, as it was written.
type Parameter struct{ Name, Value string }

// Profile is the privacy profile of a mechanism.
type Profile struct {
	Mechanism    string            `json:"mechanism"`
	Parameters   map[string]string `json:"parameters"`
	SamplingRate string            `json:"sampling-rate,omitempty"`
	Neighbors    string            `json:"neighbors"`
	Results      []ProfileAt       `json:"results"`
	Warnings     []string          `json:"warnings,omitempty"`

	// Given lists the parameters in their order; Same says that both directions are
	// one and without a gap, and SameUpper that their proved ends are.
	Given           []Parameter `json:"-"`
	Same, SameUpper bool        `json:"-"`
	TheoryGap       bool        `json:"-"`
	// Reach is the ε where δ has come down to Floor.
	Reach, Floor float64 `json:"-"`
	// More finds another point.
	More func(ctx context.Context, eps float64) (ProfileAt, error) `json:"-"`
}

// ProfileAt has δ at an ε.
type ProfileAt struct {
	Epsilon    Number         `json:"epsilon"`
	Directions []ProfileDelta `json:"directions"`
}

// ProfileDelta is δ in one direction; Attack is there where a gap of theory is.
type ProfileDelta struct {
	Direction string  `json:"direction"`
	Delta     Bounds  `json:"delta"`
	Attack    *Bounds `json:"attack,omitempty"`
}

// given returns the parameters that are there, in the order of their fields.
func (p Parameters) given() (all []Parameter) {
	for _, k := range Keys(&p) {
		var texts []string
		switch f := k.Field(&p).(type) {
		case *string:
			texts = []string{*f}
		case *Decimal:
			texts = []string{strings.TrimSpace(string(*f))}
		case *Decimals:
			for _, d := range *f {
				texts = append(texts, strings.TrimSpace(string(d)))
			}
		}
		if text := strings.Join(texts, ","); text != "" {
			all = append(all, Parameter{k.Name, text})
		}
	}
	return all
}

// plan returns the plan of one step that the request describes. Plans are read
// strictly, so that requests are as well.
func (q ProfileRequest) plan() (*accountant.Plan, error) {
	step := map[string]any{"mechanism": map[string]any{q.Mechanism: q.Parameters}}
	if q.SamplingRate != "" {
		step["sampling"] = map[string]any{"poisson": map[string]any{"rate": q.SamplingRate}}
	}
	text, err := Marshal(map[string]any{"neighbors": q.Neighbors, "steps": []any{step}})
	if err != nil {
		return nil, err
	}
	p, err := plan.Parse(context.Background(), text)
	return p, q.planFault(err)
}

// planFault puts an error about the plan into the words of the request.
func (q ProfileRequest) planFault(err error) error {
	wrong := new(plan.Error)
	if !errors.As(err, &wrong) {
		return err
	}
	where, problem := wrong.Field, wrong.Problem
	field := strings.TrimPrefix(strings.TrimPrefix(where, "steps[0]."), "mechanism.")
	field = strings.TrimPrefix(strings.TrimPrefix(field, q.Mechanism), ".")
	switch name, _, _ := strings.Cut(field, "["); {
	case where == "steps[0].mechanism":
		return fault.New("mechanism", "%s", problem)
	case field == "sampling.poisson.rate":
		return fault.New("sampling-rate", "%s", problem)
	case !slices.ContainsFunc(q.given(), func(p Parameter) bool { return p.Name == name }):
		return fault.New("mechanism "+q.Mechanism, "%s", problem)
	}
	return fault.New(field, "%s", problem)
}

// profile returns the privacy profile of a mechanism.
func (s *Service) profile(ctx context.Context, q ProfileRequest) (_ Profile, err error) {
	plan, err := q.plan()
	if err != nil {
		return Profile{}, err
	}
	step := plan.Steps[0]
	m, err := subsample.Of(ctx, step.Mechanism, step.Sampling, plan.Neighbors, 1)
	if err != nil {
		return Profile{}, err
	}
	sums, err := sumsOf(m, q.Accuracy.float())
	if err != nil {
		return Profile{}, err
	}
	same := profiles.Equal(m.Directions[0].Upper, m.Directions[1].Upper)
	out := Profile{Mechanism: q.Mechanism, Parameters: map[string]string{}, SamplingRate: string(q.SamplingRate), Neighbors: m.Relation.String(),
		Given: q.given(), Same: same && !m.TheoryGap(), SameUpper: same, TheoryGap: m.TheoryGap(), Floor: q.MinDelta.float(), More: sums.ask}
	for _, g := range out.Given {
		out.Parameters[g.Name] = g.Value
	}
	if out.Reach, err = sums.reach(ctx, out.Floor); err != nil {
		return Profile{}, err
	}
	at := q.At.floats()
	if at == nil {
		at = roundGrid(out.Reach)
	}
	for i, eps := range at {
		report(ctx, Progress{Done: i, Total: len(at)})
		row, err := sums.ask(ctx, eps)
		if err != nil {
			return Profile{}, err
		}
		out.Results = append(out.Results, row)
	}
	out.Warnings = sums.warnings
	return out, nil
}

// A profileSums holds a sum of one run for each direction, proved and attacked; there is
// no attack where it is the same.
type profileSums struct {
	names        [2]string
	upper, lower [2]*fourier.Sum
	warnings     []string // each once
}

func sumsOf(m profiles.Bounds, accuracy float64) (*profileSums, error) {
	s := &profileSums{names: m.Relation.DirectionNames()}
	one := func(p profiles.Profile) (*fourier.Sum, error) {
		sum := fourier.New(fourier.Options{Relative: accuracy})
		return sum, sum.Add(p, 1)
	}
	for d, dir := range m.Directions {
		var err error
		if s.upper[d], err = one(dir.Upper); err != nil {
			return nil, err
		}
		if dir.Lower != nil && !profiles.Equal(dir.Lower, dir.Upper) {
			if s.lower[d], err = one(dir.Lower); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// shownWidth is a width of δ that no table shows: rounding that leaves no more needs no warning.
const shownWidth = 1e-9

func (s *profileSums) ask(ctx context.Context, eps float64) (ProfileAt, error) {
	row := ProfileAt{Epsilon: Number(eps)}
	delta := func(sum *fourier.Sum) (fourier.Result, error) {
		r, err := sum.Delta(ctx, eps)
		for _, text := range r.Warnings {
			if r.Upper-r.Lower <= shownWidth {
				break
			}
			if text = fourier.Reason(text); !slices.Contains(s.warnings, text) {
				s.warnings = append(s.warnings, text)
			}
		}
		return r, err
	}
	for d := range s.upper {
		r, err := delta(s.upper[d])
		if err != nil {
			return row, err
		}
		x := ProfileDelta{Direction: s.names[d], Delta: boundsOf(r.Lower, r.Estimate, r.Upper)}
		if s.lower[d] != nil {
			r, err := delta(s.lower[d])
			if err != nil {
				return row, err
			}
			attack := boundsOf(r.Lower, r.Estimate, r.Upper)
			x.Attack = &attack
		}
		row.Directions = append(row.Directions, x)
	}
	return row, nil
}

// reach returns the ε where δ has come down to the floor in both directions.
func (s *profileSums) reach(ctx context.Context, floor float64) (float64, error) {
	reach, found := 0.0, false
	for _, sum := range s.upper {
		finite := false
		r, err := lastEpsilon(floor, func(delta float64) (float64, error) {
			r, err := sum.Epsilon(ctx, delta)
			finite = !math.IsInf(r.Upper, 0)
			return r.Upper, err
		})
		if err != nil {
			return 0, err
		}
		if finite {
			reach, found = max(reach, r), true
		}
	}
	if !found || reach == 0 {
		return 1, nil
	}
	return reach, nil
}

// roundGrid returns some sixteen ε with a round step.
func roundGrid(reach float64) (at []float64) {
	by := math.Pow(10, math.Floor(math.Log10(reach/16)))
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if by*k*16 >= reach {
			by *= k
			break
		}
	}
	for i := -2; float64(i-1)*by < reach; i++ {
		at = append(at, math.Round(float64(i)*by*1e12)/1e12)
	}
	return at
}
