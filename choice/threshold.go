package choice

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Theorem 4. A person adds 1 to each of at most l partitions. The
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
// profiles.Mechanism; Release runs it.
//
// Which partitions a person is in, at most Partitions of them, is decided from that
// person's data and coins alone, and each adds exactly 1 to the count. Relation:
// add-remove of one person.
type Threshold interface {
	profiles.Mechanism
	// Release decides whether a partition of so many persons is shown, and with what count:
	// the noisy one, on a grid of a power of two below 1/1000 of the noise (of whole numbers
	// for discrete-laplace noise). A partition without persons is never shown. The counts of
	// the partitions of a data set are released one by one.
	Release(count int64, src rand.Source) (shown bool, noisy float64, err error)
}

type thresholdRelease struct {
	noise            string
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
	t := thresholdRelease{noise: noise, scale: scale, threshold: threshold, partitions: partitions}
	err := checkNoise(noise, gaussianNoise, laplaceNoise, discreteLaplaceNoise)
	if err != nil {
		return nil, fault.In("threshold", err)
	}
	what := "scale"
	if t.noise == gaussianNoise {
		what = "standard-deviation"
	}
	switch {
	case !(scale >= minScale && scale <= 1e12):
		err = fault.New(what, "%v is not in [%v, 1e+12]", scale, minScale)
	case !(threshold > 1 && threshold <= maxThreshold):
		err = fault.New("threshold", "%v is not in (1, %g]", threshold, maxThreshold)
	case partitions < 1 || partitions > MaxPartitions:
		err = fault.New("partitions", "%d is not an integer in [1, %d]", partitions, MaxPartitions)
	case t.noise == discreteLaplaceNoise && math.Ceil(threshold)-1 < 1:
		err = fault.New("threshold", "%v is not in (1, %g]", threshold, maxThreshold)
	case partitions > 1 && t.noise != gaussianNoise:
		err = fault.New("partitions", "%d is not 1, for %v noise; a bound for more of them is as many runs (count: %d)", partitions, t.noise, partitions)
	}
	if err != nil {
		return nil, fault.In("threshold", err)
	}
	t.logHidden, t.shownErr = t.hidden()
	t.cache = &chordCache{}
	return t, nil
}

// logShown returns the logarithm of π, the probability that a partition of one person is
// shown, and a bound on its error. A count of exactly τ is shown.
func (t thresholdRelease) logShown() (log, err float64) {
	switch t.noise {
	case gaussianNoise:
		x := (t.threshold - 1) / t.scale
		log = xmath.LogNormalTail(x)
		// The argument rounds twice, and the tail falls at its hazard, at most x + 1.
		return log, 2*xmath.U*x*(x+1) + 5*xmath.U*(1+math.Abs(log))
	case laplaceNoise:
		x := (t.threshold - 1) / t.scale
		return -x - math.Ln2, 4 * xmath.U * (1 + x)
	}
	// Pr[Z ≥ z], z the least integer that is at least τ − 1, itself included.
	x := math.Ceil(t.threshold-1) / t.scale
	log = -x - math.Log1p(math.Exp(-1/t.scale))
	return log, 4 * xmath.U * (2 + x)
}

// hidden returns log(1 − π) and its relative error: π is rounded up.
func (t thresholdRelease) hidden() (log, err float64) {
	s, e := t.logShown()
	up := s + e
	if up < -690 { // out of range: a little more is counted
		return -math.Exp(-690), math.Inf(1)
	}
	up = min(up, -0x1p-52) // π is at most ½
	log = xmath.Log1mExp(up)
	// d log(1 − π) = π/(1 − π) times the relative error of π.
	return log, 2*e*math.Exp(up-log)/max(-log, 1e-300) + 4*xmath.U
}

// Name implements profiles.Mechanism.
func (thresholdRelease) Name() string { return "threshold" }

// counts returns the pair of i noisy counts of old partitions, at least one.
func (t thresholdRelease) counts(i int) (profiles.Profile, error) {
	switch {
	case t.noise == gaussianNoise:
		return profiles.NewGaussian(t.scale / math.Sqrt(float64(i)))
	case t.noise == laplaceNoise:
		return profiles.NewLaplace(t.scale)
	}
	b, err := profiles.NewDiscreteLaplaceMechanism(t.scale, 1)
	if err != nil {
		return nil, err
	}
	return b.Pair(profiles.AddRemove)
}

// logDelta encloses the logarithm of δ(ε) of the coins of b new partitions and the counts
// of l − a old ones, in a direction; for a = b it is h_a.
func (t thresholdRelease) logDelta(eps float64, add bool, a, b int) (lower, upper float64) {
	r := -float64(b) * t.logHidden // −log (1−π)^b
	rel := t.shownErr + 2*xmath.U
	if math.IsInf(rel, 1) {
		rel = 1 // r is at most that: anything from 0 on
	}
	dr := r * rel
	at := eps + r
	if add {
		at = eps - r
	}
	lo, hi, err := t.countsDelta(t.partitions-a, add, at, dr+xmath.U*(math.Abs(at)+math.Abs(eps)))
	if err != nil {
		return math.Inf(-1), 0
	}
	if add || r == 0 {
		return lo, hi
	}
	given := xmath.Log1mExp(-r)
	hi = xmath.LogAdd(given+8*xmath.U, hi-r+dr)
	lo = xmath.LogAdd(given+math.Log1p(-min(rel, 1))-8*xmath.U, lo-r-dr)
	round := 4 * xmath.U * (1 + math.Abs(hi))
	return lo - round, min(0, hi+round)
}

// countsDelta encloses log δ of i noisy counts at every point within tol of ε. Of no count it is
// log(1 − e^ε) below 0, which tails leave no digit of next to 0.
func (t thresholdRelease) countsDelta(i int, add bool, eps, tol float64) (lower, upper float64, err error) {
	if i == 0 {
		at := func(x, round float64) float64 {
			if !(x < 0) {
				return math.Inf(-1)
			}
			l := xmath.Log1mExp(x)
			return l + round*4*xmath.U*(1+math.Abs(l))
		}
		return at(eps+tol, -1), at(eps-tol, 1), nil
	}
	m, err := t.counts(i)
	if err != nil {
		return 0, 0, err
	}
	if add {
		m = profiles.Reverse(m)
	}
	lower, upper = enclose(m, eps, tol)
	return lower, upper, nil
}

// enclose returns log δ of p at every point within tol of ε, from below and from above.
func enclose(p profiles.Profile, eps, tol float64) (lower, upper float64) {
	at := func(eps float64) (lo, hi float64) {
		v, err := profiles.LogDelta(p, eps)
		if math.IsInf(err, 1) { // no correct digit: δ ≤ P(L > ε)
			t := p.Tails(eps, 0)
			return math.Inf(-1), t.P + t.Err
		}
		return v - err, v + err
	}
	if tol == 0 {
		return at(eps)
	}
	lower, _ = at(eps + tol)
	_, upper = at(eps - tol)
	return lower, upper
}

// A chordCache keeps the chords of a threshold, and the tangents.
type chordCache struct {
	once, onceBelow sync.Once
	p, below        *profiles.Discrete
	err, errBelow   error
}

// Proof of Theorem 4.
//
// The outputs of different partitions are independent. A partition where the person is alone is hidden for sure on
// one side: a coin that gives the person away with probability π, and has loss log(1 − π) else. In the others
// thresholding is post-processing of n + Z. A product of j such coins with M has the profile above. Attained: old
// partitions far above τ are always shown. ∎ π includes equality, which matters for whole numbers
// (TestThresholdIncludesEquality; opendp#2922). With many partitions the largest j is found by branch and bound:
// coins of b and counts of l − a are above every j between a and b. Where π is below e^−690 the upper end counts
// e^−690 in its place, and the lower end has old partitions only.
//
// Beside other mechanisms the lower end has lines that touch the largest h_j at the nodes where chords meet. Several
// runs compose that largest profile, which is an upper bound; the attack has only old partitions. Laplace and
// discrete noise is for one partition: write l partitions as count: l, which bounds them.
