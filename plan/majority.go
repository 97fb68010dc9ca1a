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
	params darrm.Params
	find   func(ctx context.Context) (darrm.Gamma, error)

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

// newMajority returns the majority with the noise function of a name, as the
// command majority computes it. A NaN outputDelta is 1 − (1−Δ)^m.
func newMajority(p darrm.Params, gamma string) (*majority, error) {
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
	return &majority{params: p, find: find}, nil
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
	p := m.params
	return darrm.NewMechanism(ctx, r, p.Mechanisms, p.Epsilon, p.Delta, g)
}
