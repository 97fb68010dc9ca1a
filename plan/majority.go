package plan

// The mechanism majority in plans. Its noise function is optimised when the plan is asked about, and
// not when it is read; until then it is what its parameters say.

import (
	"context"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// A majority is one release of a private majority. Its noise function takes a
// linear program, so that it is computed when the profile is first asked for,
// not when a plan is read.
type majority struct {
	params  darrm.Params
	answers int     // taken together
	delta   float64 // at which they are priced best
	find    func(ctx context.Context) (darrm.Gamma, error)

	lock  sync.Mutex
	known darrm.Gamma // what find returned, nil so far
}

// gamma returns the noise function, found once.
func (m *majority) gamma(ctx context.Context) (darrm.Gamma, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.known == nil {
		g, err := m.find(ctx)
		if err != nil {
			return nil, err
		}
		m.known = g
	}
	return m.known, nil
}

// readVoters reads what each mechanism is private for, where they are unlike.
func readVoters(v *values, p *darrm.Params) error {
	if !v.has("voter-epsilons") {
		if v.has("voter-deltas") {
			return fault.New("voter-deltas", "is set without voter-epsilons")
		}
		return nil
	}
	epsilons := v.list("voter-epsilons")
	deltas := make([]float64, len(epsilons))
	if v.has("voter-deltas") {
		if deltas = v.list("voter-deltas"); len(deltas) != len(epsilons) {
			return fault.New("voter-deltas", "has %d entries, must have as many as voter-epsilons (%d)", len(deltas), len(epsilons))
		}
	}
	p.Voters = darrm.Group(epsilons, deltas)
	if math.IsNaN(p.OutputDelta) {
		p.OutputDelta = 0
		for _, d := range deltas {
			p.Delta = max(p.Delta, d)
		}
		*p = p.WithDefaultDelta()
	}
	return nil
}

// newMajority returns the majority with the noise function of a name, as the
// command majority computes it. A NaN outputDelta is 1 − (1−Δ)^m.
func newMajority(p darrm.Params, gamma string, answers int, delta float64) (*majority, error) {
	if answers < 1 || answers > 10000 || answers > 1 && p.Classes > 2 {
		return nil, fault.New("answers", "%d is not in [1, 10000], or not 1 with many classes", answers)
	}
	if !(delta >= 1e-100 && delta < 1) {
		return nil, fault.New("answers-delta", "%v is not in [1e-100, 1)", delta)
	}
	if (p.Voters != nil || p.Classes > 2) && (gamma == "subsampling" || gamma == "double") {
		return nil, fault.New("gamma", "%q is not optimal or constant, which unlike voters or many classes take", gamma)
	}
	if math.IsNaN(p.OutputDelta) {
		p.OutputDelta = 0
		p = p.WithDefaultDelta()
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	var find func(ctx context.Context) (darrm.Gamma, error)
	switch gamma {
	case "optimal":
		find = func(ctx context.Context) (darrm.Gamma, error) {
			r, err := darrm.Optimize(ctx, p, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
			if err != nil {
				return nil, err
			}
			return r.Gamma, nil
		}
	case "subsampling", "double":
		votes := darrm.Subsampling
		if gamma == "double" {
			votes = darrm.DoubleSubsampling
		}
		find = func(ctx context.Context) (darrm.Gamma, error) {
			exact, err := votes(p.Mechanisms, int(p.Allowance))
			return darrm.Float64s(exact), err
		}
	case "constant":
		find = func(ctx context.Context) (darrm.Gamma, error) {
			c, _, err := darrm.BestConstant(ctx, p)
			if err != nil {
				return nil, err
			}
			return darrm.Constant(p.Mechanisms, c)
		}
	default:
		return nil, fault.New("gamma", "%s", nearest.Value(gamma, []string{"optimal", "subsampling", "double", "constant"}))
	}
	return &majority{params: p, answers: answers, delta: delta, find: find}, nil
}

// Name implements profiles.Mechanism.
func (m *majority) Name() string { return "majority" }

// Pair implements profiles.Mechanism; no single pair of data sets attains the
// profile.
func (m *majority) Pair(profiles.Relation) (profiles.Profile, error) {
	return nil, fault.New("majority", "has no attained pair, it can only run on the whole data set")
}

// Bounds implements profiles.Compound. Nothing but the noise function counts,
// so that what is charged can be less than the allowance.
func (m *majority) Bounds(ctx context.Context, r profiles.Relation) (profiles.Bounds, error) {
	g, err := m.gamma(ctx)
	if err != nil {
		return profiles.Bounds{}, fault.In("majority", err)
	}
	return m.params.Mechanism(ctx, r, g, m.answers, m.delta)
}
