package service

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// This file answers for one run of one mechanism: δ at every ε, in each direction of the
// relation. The parameters are read as those of plan files are.

// ProfileRequest asks for the profile of a mechanism, sampled if there is a rate, at
// some ε or over a range that suits it.
type ProfileRequest struct {
	Mechanism string `json:"mechanism"`
	Parameters
	SamplingRate Decimal  `json:"sampling-rate,omitempty"`
	Neighbors    string   `json:"neighbors,omitempty"`
	At           Decimals `json:"at,omitempty"`
	MinDelta     Decimal  `json:"min-delta,omitempty"` // where the range of its own ends
	Limits
}

// Parameters are those of mechanisms in plan files; each mechanism has its own.
type Parameters struct {
	NoiseMultiplier Decimal  `json:"noise-multiplier,omitempty"`
	Sensitivity     Decimal  `json:"sensitivity,omitempty"`
	Dimension       Decimal  `json:"dimension,omitempty"`
	Probability     Decimal  `json:"probability,omitempty"`
	Categories      Decimal  `json:"categories,omitempty"`
	Epsilon         Decimal  `json:"epsilon,omitempty"`
	Delta           Decimal  `json:"delta,omitempty"`
	P               Decimals `json:"p,omitempty"`
	Q               Decimals `json:"q,omitempty"`
	Shifts          Decimals `json:"shifts,omitempty"`
	Probabilities   Decimals `json:"probabilities,omitempty"`

	Noise             string  `json:"noise,omitempty"` // the name of a law
	StandardDeviation Decimal `json:"standard-deviation,omitempty"`
	Scale             Decimal `json:"scale,omitempty"`
	Threshold         Decimal `json:"threshold,omitempty"`
	Partitions        Decimal `json:"partitions,omitempty"`
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

// given returns the parameters that are there, checked to be numbers but for a name.
func (p Parameters) given() (all []Parameter, err error) {
	finite := span{lo: -math.MaxFloat64, hi: math.MaxFloat64}
	if p.Noise != "" {
		all = append(all, Parameter{"noise", p.Noise})
	}
	for _, x := range []struct {
		name  string
		value Decimal
		list  Decimals
	}{
		{"noise-multiplier", p.NoiseMultiplier, nil}, {"sensitivity", p.Sensitivity, nil}, {"dimension", p.Dimension, nil},
		{"probability", p.Probability, nil}, {"categories", p.Categories, nil}, {"epsilon", p.Epsilon, nil}, {"delta", p.Delta, nil},
		{"p", "", p.P}, {"q", "", p.Q}, {"shifts", "", p.Shifts}, {"probabilities", "", p.Probabilities},
		{"standard-deviation", p.StandardDeviation, nil}, {"scale", p.Scale, nil}, {"threshold", p.Threshold, nil}, {"partitions", p.Partitions, nil},
	} {
		switch {
		case x.list != nil:
			in := span{lo: 0, hi: 1}
			if x.name == "shifts" {
				in = finite // whole numbers, as the mechanism says
			}
			if _, err := x.list.in(x.name, in); err != nil {
				return nil, err
			}
			var texts []string
			for _, d := range x.list {
				texts = append(texts, strings.TrimSpace(string(d)))
			}
			all = append(all, Parameter{x.name, strings.Join(texts, ",")})
		case x.value != "":
			if _, err := x.value.in(x.name, finite); err != nil {
				return nil, err
			}
			all = append(all, Parameter{x.name, strings.TrimSpace(string(x.value))})
		}
	}
	return all, nil
}

// A profileQuestion is a checked ProfileRequest.
type profileQuestion struct {
	plan  *accountant.Plan
	given []Parameter
	at    []float64 // nil for a range
	floor float64

	accuracy float64 // 0 for the default
}

// plan returns the plan of one step that the request describes. Plans are read
// strictly, so that requests are as well.
func (q ProfileRequest) parse() (p profileQuestion, err error) {
	r, err := relation(q.Neighbors)
	if err != nil {
		return p, err
	}
	if q.Mechanism == "" {
		return p, fault.New("mechanism", "is missing; must be the name of a mechanism")
	}
	if p.given, err = q.given(); err != nil {
		return p, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "neighbors: %v\nsteps:\n  - mechanism:\n      %s: {", r, quoteYAML(q.Mechanism))
	has := map[string]bool{}
	for i, g := range p.given {
		has[g.Name] = true
		value := g.Value
		switch g.Name {
		case "p", "q", "shifts", "probabilities":
			value = "[" + value + "]"
		}
		if g.Name == "noise" {
			value = quoteYAML(value)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", g.Name, value)
	}
	b.WriteString("}\n")
	if q.SamplingRate != "" {
		if _, err := q.SamplingRate.in("sampling-rate", span{lo: 0, hi: 1}); err != nil {
			return p, err
		}
		fmt.Fprintf(&b, "    sampling: {poisson: {rate: %s}}\n", strings.TrimSpace(string(q.SamplingRate)))
	}
	if p.plan, err = parsePlan(context.Background(), []byte(b.String())); err != nil {
		return p, q.planFault(err, has)
	}
	if p.at, err = q.At.in("at", span{lo: -1e6, hi: 1e6}); err != nil {
		return p, err
	}
	if p.floor, err = q.MinDelta.or(1e-12, "min-delta", floorSpan); err != nil {
		return p, err
	}
	if p.accuracy, err = q.Accuracy.or(0, "accuracy", accuracySpan); err != nil {
		return p, err
	}
	return p, q.Caps.Check()
}

// planFault puts an error about the plan into the words of the request.
func (q ProfileRequest) planFault(err error, has map[string]bool) error {
	where, problem, ok := planField(err)
	if !ok {
		return err
	}
	field := strings.TrimPrefix(strings.TrimPrefix(where, "steps[0]."), "mechanism.")
	field = strings.TrimPrefix(strings.TrimPrefix(field, q.Mechanism), ".")
	switch name, _, _ := strings.Cut(field, "["); {
	case where == "steps[0].mechanism":
		return fault.New("mechanism", "%s", problem)
	case field == "sampling.poisson.rate":
		return fault.New("sampling-rate", "%s", problem)
	case !has[name]:
		return fault.New("mechanism "+q.Mechanism, "%s", problem)
	}
	return fault.New(field, "%s", problem)
}

// quoteYAML quotes what a mechanism could be called by mistake.
func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Check reports what is wrong with the request.
func (q ProfileRequest) Check() error {
	_, err := q.parse()
	return err
}

// Profile returns the privacy profile of a mechanism.
func (s *Service) Profile(ctx context.Context, q ProfileRequest) (_ Profile, err error) {
	p, err := q.parse()
	if err != nil {
		return Profile{}, err
	}
	ctx, end, err := q.Under(ctx)
	if err != nil {
		return Profile{}, err
	}
	defer func() { end(&err) }()
	step := p.plan.Steps[0]
	m, err := subsample.Of(ctx, step.Mechanism, step.Sampling, p.plan.Neighbors, 1)
	if err != nil {
		return Profile{}, err
	}
	sums, err := sumsOf(m, p.accuracy)
	if err != nil {
		return Profile{}, err
	}
	same := profiles.Equal(m.Directions[0].Upper, m.Directions[1].Upper)
	out := Profile{Mechanism: q.Mechanism, Parameters: map[string]string{}, SamplingRate: string(q.SamplingRate), Neighbors: m.Relation.String(),
		Given: p.given, Same: same && !m.TheoryGap(), SameUpper: same, TheoryGap: m.TheoryGap(), Floor: p.floor, More: sums.ask}
	for _, g := range p.given {
		out.Parameters[g.Name] = g.Value
	}
	if out.Reach, err = sums.reach(ctx, p.floor); err != nil {
		return Profile{}, err
	}
	at := p.at
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
