package choice

// Threshold as a mechanism: its pair, its attack, and many runs of it. One run is the largest of
// its profiles over the number of new partitions; more are the composition of chords above that.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// Pair implements profiles.Mechanism: the profile of one run with chords between ε's.
func (t thresholdRelease) Pair(r profiles.Relation) (profiles.Profile, error) {
	if r != profiles.AddRemove {
		return nil, fault.In("threshold", fault.New("neighbors", "%v is not add-remove; thresholds are proved for one person added or removed", r))
	}
	return t.chords()
}

// Attack implements profiles.Attacked: all partitions of the person are old and far above
// the threshold. Noise below what a profile is known for is replaced by more, which is a garbling.
func (t thresholdRelease) Attack(r profiles.Relation) (profiles.Mechanism, error) {
	switch t.noise {
	case gaussianNoise:
		return profiles.NewGaussianMechanism(max(t.scale/math.Sqrt(float64(t.partitions)), minScale))
	case laplaceNoise:
		return profiles.NewLaplaceMechanism(t.scale)
	}
	return profiles.NewDiscreteLaplaceMechanism(t.scale, 1)
}

// Once implements blocker: one run has the largest h_j at every ε.
func (t thresholdRelease) Once(r profiles.Relation) (profiles.Bounds, error) {
	if _, err := t.Pair(r); err != nil {
		return profiles.Bounds{}, err
	}
	both, err := t.once()
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.Bounds{Name: t.Name(), Relation: r, Laws: laws{thresholds{t}}}
	low, err := t.reached(both)
	for d := range both {
		m.Directions[d] = profiles.Direction{Upper: both[d], Lower: low[d]}
	}
	return m, err
}

// reached returns what one run attains. That is its profile, both, but where π is out of range: the
// infinite loss of that is more than there is, and old partitions alone are what is certain.
func (t thresholdRelease) reached(both [2]profiles.Profile) ([2]profiles.Profile, error) {
	if math.IsInf(t.shownErr, 1) {
		return bothOf(t.Attack(profiles.AddRemove))
	}
	return both, nil
}

// thresholds are several runs of a threshold: a block.
type thresholds struct{ one thresholdRelease }

// Upper implements block: the composition of the profile of one run, with chords, as
// only one run by itself needs the closed form (Once).
func (t thresholds) Upper(_ context.Context, k int64, _ float64) ([2][]profiles.Repeated, error) {
	d, err := t.one.chords()
	if err != nil {
		return [2][]profiles.Repeated{}, err
	}
	return repeat([2]profiles.Profile{d, profiles.Reverse(d)}, k), nil
}

// Reached implements block.
func (t thresholds) Reached(_ context.Context, k int64, _ float64) ([2][]profiles.Repeated, bool, error) {
	if k == 1 {
		both, err := t.one.below()
		if err == nil {
			both, err = t.one.reached(both)
		}
		return repeat(both, 1), true, err
	}
	both, err := t.Attack()
	return repeat(both, k), false, err
}

// Attack implements block: noisy counts of old partitions.
func (t thresholds) Attack() ([2]profiles.Profile, error) {
	return bothOf(t.one.Attack(profiles.AddRemove))
}

// Gain implements block.
func (t thresholds) Gain(k int64) float64 {
	one, err := t.one.once()
	attack, err2 := t.Attack()
	if err != nil || err2 != nil {
		return 0
	}
	return singleGain(k, one, attack)
}
