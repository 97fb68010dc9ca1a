package choice

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Theorem 4 of docs/choice.md. A person adds 1 to each of at most l partitions. The
// partition is shown, as its key or with its noisy count, if at least one person is in it
// and count + noise ≥ τ. With j of the person's partitions new (nobody else in them) and
// π = Pr[1 + noise ≥ τ], the pair is that of j coins that give away the person with
// probability π and of l − j noisy counts:
//
//	remove: h_j(α) = 1 − (1−π)^j + (1−π)^j·h_M(α/(1−π)^j)
//	add:    h_j(α) = h_{rev M}(α(1−π)^j)
//
// with M the noise of l − j counts, and the profile is the largest over j.

// Limits of a threshold.
const (
	MaxPartitions = 1_000_000
	maxThreshold  = 1e15
	minScale      = 1e-6 // of noise; the largest is profiles' own, 1e15
)

// Threshold is the release of keys with noisy counts that pass a threshold. It is a
// profiles.Base; Release runs it.
//
// Which partitions a person is in, at most Partitions of them, is decided from that
// person's data and coins alone, and each adds exactly 1 to the count. Relation:
// add-remove of one person.
type Threshold struct {
	noise            Noise
	scale, threshold float64
	partitions       int
	logHidden        float64 // log(1 − π), π rounded up
	shownErr         float64 // relative error of log(1 − π); +Inf: only an upper bound is known
	cache            *chordCache
}

// NewThreshold returns the release with noise "gaussian", of standard deviation scale, or
// "laplace" or "discrete-laplace" of that scale, for threshold > 1 and persons in at most
// so many partitions. Noise other than Gaussian is for one partition; l of them are
// bounded by l runs.
func NewThreshold(noise string, scale, threshold float64, partitions int) (Threshold, error) {
	t := Threshold{scale: scale, threshold: threshold, partitions: partitions}
	var err error
	if t.noise, err = parseNoise(noise, GaussianNoise, LaplaceNoise, DiscreteLaplaceNoise); err != nil {
		return Threshold{}, fault.In("threshold", err)
	}
	what := "scale"
	if t.noise == GaussianNoise {
		what = "standard-deviation"
	}
	switch {
	case !(scale >= minScale && scale <= 1e12):
		err = fault.New(what, "%v is not in [%v, 1e+12]", scale, minScale)
	case !(threshold > 1 && threshold <= maxThreshold):
		err = fault.New("threshold", "%v is not in (1, %g]", threshold, maxThreshold)
	case partitions < 1 || partitions > MaxPartitions:
		err = fault.New("partitions", "%d is not an integer in [1, %d]", partitions, MaxPartitions)
	case t.noise == DiscreteLaplaceNoise && math.Ceil(threshold)-1 < 1:
		err = fault.New("threshold", "%v is not in (1, %g]", threshold, maxThreshold)
	case partitions > 1 && t.noise != GaussianNoise:
		err = fault.New("partitions", "%d is not 1, for %v noise; a bound for more of them is as many runs (count: %d)", partitions, t.noise, partitions)
	}
	if err != nil {
		return Threshold{}, fault.In("threshold", err)
	}
	t.logHidden, t.shownErr = t.hidden()
	t.cache = &chordCache{}
	return t, nil
}

// LogShown returns the logarithm of π, the probability that a partition of one person is
// shown, and a bound on its error. A count of exactly τ is shown.
func (t Threshold) LogShown() (log, err float64) {
	switch t.noise {
	case GaussianNoise:
		x := (t.threshold - 1) / t.scale
		log = xmath.LogNormalTail(x)
		// The argument rounds twice, and the tail falls at its hazard, at most x + 1.
		return log, 2*xmath.U*x*(x+1) + 5*xmath.U*(1+math.Abs(log))
	case LaplaceNoise:
		x := (t.threshold - 1) / t.scale
		return -x - math.Ln2, 4 * xmath.U * (1 + x)
	}
	// Pr[Z ≥ z], z the least integer that is at least τ − 1, itself included.
	x := math.Ceil(t.threshold-1) / t.scale
	log = -x - math.Log1p(math.Exp(-1/t.scale))
	return log, 4 * xmath.U * (2 + x)
}

// hidden returns log(1 − π) and its relative error: π is rounded up.
func (t Threshold) hidden() (log, err float64) {
	s, e := t.LogShown()
	up := s + e
	if up < -690 { // out of range: a little more is counted
		return -math.Exp(-690), math.Inf(1)
	}
	up = min(up, -0x1p-52) // π is at most ½
	log = xmath.Log1mExp(up)
	// d log(1 − π) = π/(1 − π) times the relative error of π.
	return log, 2*e*math.Exp(up-log)/max(-log, 1e-300) + 4*xmath.U
}

// Name implements profiles.Base.
func (Threshold) Name() string { return "threshold" }

// counts returns the pair of i noisy counts of old partitions.
func (t Threshold) counts(i int) (profiles.Profile, error) {
	switch {
	case i == 0:
		return profiles.Identical(), nil
	case t.noise == GaussianNoise:
		return profiles.NewGaussian(t.scale / math.Sqrt(float64(i)))
	case t.noise == LaplaceNoise:
		return profiles.NewLaplace(t.scale)
	}
	b, err := profiles.NewDiscreteLaplaceMechanism(t.scale, 1)
	if err != nil {
		return nil, err
	}
	return b.Pair(profiles.AddRemove)
}

// logDelta bounds log h of at least a of the partitions new, and of at most b of them: the
// coins of b and the counts of l − a; for a = b it is h_a. In the add direction likewise.
func (t Threshold) logDelta(eps float64, add bool, a, b int) (logDelta, err float64) {
	m, e := t.counts(t.partitions - a)
	if e != nil {
		return 0, 0
	}
	r := -float64(b) * t.logHidden // −log (1−π)^b
	coins := t.shownErr
	if math.IsInf(coins, 1) {
		coins = 0 // what the coins give is left out below
	}
	dr := r*coins + 2*xmath.U*r
	if add {
		at := eps - r
		d, err := profiles.LogDelta(profiles.Reverse(m), at)
		return d, err + slopeErr(profiles.Reverse(m), at, d, dr+xmath.U*math.Abs(at))
	}
	at := eps + r
	d, err := profiles.LogDelta(m, at)
	err += slopeErr(m, at, d, dr+xmath.U*math.Abs(at))
	given := xmath.Log1mExp(-r)
	if r == 0 {
		given = math.Inf(-1)
	}
	v := xmath.LogAdd(given, d-r)
	// Of the two positive terms each has its own error: 1 − e^{−r} that of r relatively.
	err = max(coins+8*xmath.U, err+dr) + 4*xmath.U*(1+math.Abs(v))
	if math.IsInf(t.shownErr, 1) && r > 0 {
		err += v - (d - r)
	}
	return v, err
}

// slopeErr bounds what an error of ε does to log δ: −dδ/dε = e^ε·Q(L > ε).
func slopeErr(p profiles.Profile, eps, logDelta, err float64) float64 {
	if err == 0 || math.IsInf(logDelta, -1) {
		return 0
	}
	t := p.Tails(eps, 0)
	return 2 * err * math.Exp(min(700, eps+t.Q+t.Err-logDelta))
}

// LogDelta returns log δ(ε) of one run in a direction, remove or add, and a bound on its
// error.
func (t Threshold) LogDelta(eps float64, add bool) (logDelta, err float64) {
	v, e, _ := t.largest(eps, add)
	return v, e
}

// Pair implements profiles.Base: the profile of one run with chords between ε's.
func (t Threshold) Pair(r profiles.Relation) (profiles.Profile, error) {
	if r != profiles.AddRemove {
		return nil, fault.In("threshold", fault.New("neighbors", "%v is not add-remove; thresholds are proved for one person added or removed", r))
	}
	return t.chords()
}

// Attack implements profiles.Attacked: all partitions of the person are old and far above
// the threshold.
func (t Threshold) Attack(r profiles.Relation) (profiles.Base, error) {
	switch t.noise {
	case GaussianNoise:
		return profiles.NewGaussianMechanism(t.scale / math.Sqrt(float64(t.partitions)))
	case LaplaceNoise:
		return profiles.NewLaplaceMechanism(t.scale)
	}
	return profiles.NewDiscreteLaplaceMechanism(t.scale, 1)
}

// Once implements profiles.Blocker: one run has the largest h_j at every ε.
func (t Threshold) Once(r profiles.Relation) (profiles.Mechanism, error) {
	if _, err := t.Pair(r); err != nil {
		return profiles.Mechanism{}, err
	}
	p, err := t.once()
	if err != nil {
		return profiles.Mechanism{}, err
	}
	return profiles.Mechanism{Name: t.Name(), Relation: r, Block: thresholds{t},
		Directions: [2]profiles.Direction{profiles.Exact(p[0]), profiles.Exact(p[1])}}, nil
}

// thresholds are several runs of a threshold: a profiles.Block.
type thresholds struct{ one Threshold }

// Upper implements profiles.Block: the composition of the profile of one run.
func (t thresholds) Upper(_ context.Context, k int64, _ float64) ([2][]profiles.Repeated, error) {
	if k == 1 {
		both, err := t.one.once()
		return repeat(both, 1), err
	}
	d, err := t.one.chords()
	if err != nil {
		return [2][]profiles.Repeated{}, err
	}
	return repeat([2]profiles.Profile{d, profiles.Reverse(d)}, k), nil
}

// Reached implements profiles.Block.
func (t thresholds) Reached(ctx context.Context, k int64, width float64) (reached [2][]profiles.Repeated, exact bool, err error) {
	if k == 1 {
		reached, err = t.Upper(ctx, k, width)
		return reached, true, err
	}
	both, err := t.Attack()
	return repeat(both, k), false, err
}

// Attack implements profiles.Block: noisy counts of old partitions.
func (t thresholds) Attack() (both [2]profiles.Profile, err error) {
	b, err := t.one.Attack(profiles.AddRemove)
	if err != nil {
		return both, err
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		return both, err
	}
	return [2]profiles.Profile{p, profiles.Reverse(p)}, nil
}
