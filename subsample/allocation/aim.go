package allocation

// Aiming: an accountant that is asked for ε at some δ has the laws made for that question
// (subsample.Aimed). What laws are aimed at proves nothing; they bound every δ(ε).

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

var _, _ subsample.Aimed = Random{}, Shuffle{}

// leastRelative is the finest width that laws are made for on behalf of an accountant: their
// time grows with one over it.
const leastRelative = 1e-5

// aimedAt is the target nearest to a question.
func aimedAt(delta, relative float64, runs int64) Target {
	return Target{Delta: min(max(delta, minDelta), 0.5), Relative: min(max(relative, leastRelative), 0.5), Runs: min(max(runs, 1), 1<<53)}
}

// Least implements subsample.Aimed.
func (Random) Least() float64 { return minDelta }

// Least implements subsample.Aimed.
func (Shuffle) Least() float64 { return minDelta }

// Aim implements subsample.Aimed.
func (s Random) Aim(delta, relative float64, runs int64) subsample.Aimed {
	s.target = aimedAt(delta, relative, runs)
	return s
}

// Aim implements subsample.Aimed. The attack on one of several runs is one at a smaller δ.
func (s Shuffle) Aim(delta, relative float64, runs int64) subsample.Aimed {
	s.target = aimedAt(delta, relative, runs)
	return s
}

// Repeated implements subsample.Aimed.
func (s Random) Repeated(runs int64) (subsample.Aimed, bool) {
	if runs > maxSteps/max(1, s.epochs) || s.redraw == Once && s.epochs > 1 {
		return s, runs == 1
	}
	s.epochs *= runs
	s.redraw = EachEpoch
	return s, true
}

// Repeated implements subsample.Aimed.
func (s Shuffle) Repeated(runs int64) (subsample.Aimed, bool) {
	if runs > maxSteps/max(1, s.epochs) || s.redraw == Once && s.epochs > 1 {
		return s, runs == 1
	}
	s.epochs *= runs
	s.redraw = EachEpoch
	return s, true
}

// Check implements subsample.Aimed.
func (s Random) Check(b profiles.Mechanism, r profiles.Relation) error {
	if s.steps == 0 {
		return fault.New("steps", "0 is not in [1, %d]", int64(maxSteps))
	}
	_, gaussian := noiseOf(b)
	if r == profiles.Substitute {
		return s.checkSubstitute(b, gaussian)
	}
	if s.redraw == Once && s.epochs > 1 && !gaussian {
		return fault.New("redraw", "once is for Gaussian noise only")
	}
	_, _, err := source(b, r)
	return err
}

// checkSubstitute returns what is not proved under substitution.
func (s Random) checkSubstitute(b profiles.Mechanism, gaussian bool) error {
	every := s.uses == s.steps && s.part == s.steps
	switch {
	case every && s.uses == 1 && s.epochs == 1:
		return nil
	case !gaussian:
		return fault.New("mechanism", "%q has no proved bound for random allocation under substitute; gaussian has", b.Name())
	case every:
		return nil
	case s.uses > 1:
		return fault.New("uses", "%d of %d steps have no proved bound under substitute", s.uses, s.steps)
	case s.part < s.steps && s.part > 0:
		return fault.New("first", "%d of %d steps have no proved bound under substitute", s.part, s.steps)
	}
	return nil
}

// Check implements subsample.Aimed.
func (s Shuffle) Check(b profiles.Mechanism, r profiles.Relation) error {
	if s.batches == 0 {
		return fault.New("batches", "0 is not in [1, %d]", int64(maxSteps))
	}
	if _, ok := noiseOf(b); !ok {
		return fault.New("mechanism", "%q has no proved bound for shuffled batches; gaussian has", b.Name())
	}
	return nil
}

// Public implements subsample.Aimed: every use of the record, with nothing hidden. Conditioned on
// the draw it is that, and divergences are jointly convex.
func (s Random) Public(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	if s.part == 0 {
		return profiles.NewBounds(b.Name(), r, profiles.Identical()), nil
	}
	if _, gaussian := noiseOf(b); !gaussian && s.uses*s.epochs == 1 {
		return profiles.Unsampled(ctx, b, r)
	}
	s.redraw = EachEpoch // the uses are the same
	return s.whole(ctx, b, r)
}

// Public implements subsample.Aimed.
func (s Shuffle) Public(ctx context.Context, b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	m := profiles.Bounds{Name: b.Name(), Relation: r}
	up, err := s.upper(b, r)
	if err != nil {
		return m, err
	}
	m.Directions[0].Upper, m.Directions[1].Upper = up, up
	return m, nil
}

// upper is the law above shuffled batches: all uses of a record with nothing hidden, rounded
// up. Theorem 5: √E/σ, 2√E/σ and √(5E)/σ.
func (s Shuffle) upper(b profiles.Mechanism, r profiles.Relation) (profiles.Profile, error) {
	sigma, ok := noiseOf(b)
	if !ok {
		return nil, s.Check(b, r)
	}
	move := map[profiles.Relation]float64{profiles.ZeroOut: 1, profiles.Substitute: 2, profiles.AddRemove: math.Sqrt(5)}[r]
	if move == 0 {
		return nil, fault.New("neighbors", "%v is not in [add-remove, substitute, zero-out]", r)
	}
	return downGaussian(sigma / (move * math.Sqrt(float64(s.epochs))))
}
