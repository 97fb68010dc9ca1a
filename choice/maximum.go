package choice

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// allOf is the number of partitions up to which every number of new ones is looked at;
// above, at most this many ranges of them, by branch and bound.
const (
	allOf     = 16
	maxRanges = 300
)

// largest encloses the logarithm of the largest h_j at ε, and returns a j that is about
// where it is.
//
// More of the partitions new and more of them old is more of both: coins of b and counts
// of l − a are above every h_j with a ≤ j ≤ b. The range whose bound is the largest is
// halved until an h_j reaches that.
func (t thresholdRelease) largest(eps float64, add bool) (lower, upper float64, j int) {
	lower, upper = math.Inf(-1), math.Inf(-1)
	try := func(i int) {
		lo, hi := t.logDelta(eps, add, i, i)
		if lo > lower {
			lower, j = lo, i
		}
		upper = max(upper, hi)
	}
	if t.partitions <= allOf {
		for i := range t.partitions + 1 {
			try(i)
		}
		return lower, upper, j
	}
	type span struct {
		a, b int
		v    float64
	}
	bound := func(a, b int) span {
		_, hi := t.logDelta(eps, add, a, b)
		return span{a, b, hi}
	}
	try(0)
	try(t.partitions)
	spans := []span{bound(0, t.partitions)}
	for range maxRanges {
		top := 0
		for i, s := range spans {
			if s.v > spans[top].v {
				top = i
			}
		}
		s := spans[top]
		if s.v <= upper+1e-9 {
			break
		}
		if s.b-s.a < 2 { // both ends were tried
			spans[top].v = math.Inf(-1)
			continue
		}
		middle := (s.a + s.b) / 2
		try(middle)
		spans[top] = bound(s.a, middle)
		spans = append(spans, bound(middle, s.b))
	}
	for _, s := range spans {
		if s.b-s.a > 1 {
			upper = max(upper, s.v)
		}
	}
	return lower, upper, j
}

// logDeltaOf returns log δ(ε) of one run in a direction, remove or add, and how far below
// it may be.
func (t thresholdRelease) logDeltaOf(eps float64, add bool) (logDelta, err float64) {
	lower, upper, _ := t.largest(eps, add)
	if math.IsInf(upper, -1) {
		return upper, 0
	}
	return upper, upper - lower
}

// A maximum is one direction of one run: δ in closed form, tails from its chords.
type maximum struct {
	profiles.Profile
	of  thresholdRelease
	add bool
}

// LogDelta implements hook.LogDeltaer.
func (m maximum) LogDelta(eps float64) (logDelta, err float64) { return m.of.logDeltaOf(eps, m.add) }

// Support implements profiles.Profile: of the counts and of the coins, not of the chords.
func (m maximum) Support() profiles.Support {
	far := math.Inf(1)
	if m.of.noise != gaussianNoise {
		far = xmath.Up(max(1/m.of.scale, -m.of.logHidden), 4)
	}
	s := profiles.Support{Min: -far, Max: far, Spike: math.NaN(), LogQInf: math.Inf(-1),
		LogPInf: xmath.Log(-math.Expm1(float64(m.of.partitions)*m.of.logHidden)) + 8*xmath.U}
	if m.add {
		s.LogPInf, s.LogQInf = s.LogQInf, s.LogPInf
	}
	return s
}

// chordNodes is the largest number of ε's between which the profile of a threshold is a chord.
// Over a range of X, n of them cost s·(X/n)²/8 of ε, s = −d log δ/dε.
const chordNodes = 4096

// chordCost is how much of ε the chords may cost where that takes fewer nodes. Laws with fewer
// losses compose faster. It proves nothing.
const chordCost = 1e-5

// nodesTo returns the number of chords up to an ε. The δ of Gaussian noise of mean μ falls by
// about s = ε/μ²; other noise has an end, where s is without bound.
func (t thresholdRelease) nodesTo(end float64) int {
	if t.noise != gaussianNoise {
		return chordNodes
	}
	mu := math.Sqrt(float64(t.partitions)) / t.scale
	n := end * math.Sqrt(end/8/chordCost) / mu
	return int(min(max(256, n), chordNodes))
}

func (t thresholdRelease) chords() (*profiles.Discrete, error) {
	t.cache.once.Do(func() { t.cache.p, t.cache.err = t.newChords() })
	return t.cache.p, t.cache.err
}

// once returns the two directions of one run.
func (t thresholdRelease) once() (both [2]profiles.Profile, err error) {
	d, err := t.chords()
	if err != nil {
		return both, err
	}
	return [2]profiles.Profile{maximum{d, t, false}, maximum{profiles.Reverse(d), t, true}}, nil
}

// newChords returns the profile through values from ε = 0 to where hardly anything but the
// infinite loss is left.
func (t thresholdRelease) newChords() (*profiles.Discrete, error) {
	x := t.nodes()
	remove, add := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		remove[i], add[i] = t.up(x[i], false), t.up(x[i], true)
	}
	return profiles.NewChords(x, remove, add)
}

// up returns δ(ε) of one run in a direction, rounded up.
func (t thresholdRelease) up(eps float64, add bool) float64 {
	_, v, _ := t.largest(eps, add)
	return min(1, math.Exp(v)*(1+8*xmath.U*(1+math.Abs(min(0, max(v, -800)))))+1e-300)
}

// nodes returns the ε's between which the profile is a chord.
func (t thresholdRelease) nodes() []float64 {
	inf := max(-math.Expm1(float64(t.partitions)*t.logHidden), 1e-290)
	end := 1 / t.scale
	for range 80 {
		if t.up(end, false) <= inf*(1+1e-7) && t.up(end, true) <= 1e-6*inf {
			break
		}
		end *= 1.3
	}
	n := t.nodesTo(end)
	x := make([]float64, n+1)
	for i := range x {
		x[i] = end * float64(i) / float64(n)
	}
	return x
}

// below returns the two directions of a profile that one run attains, at every ε with some number of new partitions: lines
// that touch the h_j which is the largest at a node.
func (t thresholdRelease) below() (both [2]profiles.Profile, err error) {
	t.cache.onceBelow.Do(func() { t.cache.below, t.cache.errBelow = t.newTangents() })
	d, err := t.cache.below, t.cache.errBelow
	if err != nil {
		return both, err
	}
	return [2]profiles.Profile{d, profiles.Reverse(d)}, nil
}

func (t thresholdRelease) newTangents() (*profiles.Discrete, error) {
	x := t.nodes()
	_, _, same := t.largest(0, false) // one law has the lines of both directions at 0
	var halves [2]profiles.Lines
	for d, add := range []bool{false, true} {
		l := &halves[d]
		if !add { // all partitions new: nothing but the infinite loss is above this ε
			l.Inf = t.down(t.logDelta(1e6, false, t.partitions, t.partitions))
		}
		for i, eps := range x {
			j := same
			if i > 0 {
				_, _, j = t.largest(eps, add)
			}
			// A line that is too steep is below on the right, and on the left where it starts lower by as much.
			least, most := t.slope(eps, add, j)
			w := t.down(t.logDelta(eps, add, j, j)) - (most - least)
			if !(w > 0) {
				w, most = 0, 0
			}
			l.W, l.Q = append(l.W, w), append(l.Q, most)
		}
	}
	return profiles.NewTangents(x, halves[0], halves[1])
}

// down returns a number whose logarithm is at least lower, rounded down.
func (thresholdRelease) down(lower, _ float64) float64 {
	return math.Exp(lower) * (1 - 8*xmath.U*(1+math.Abs(max(lower, -800))))
}

// slope encloses −α·dh_j/dα at α = e^ε.
func (t thresholdRelease) slope(eps float64, add bool, j int) (least, most float64) {
	r := -float64(j) * t.logHidden
	at, factor := eps+r, eps
	if add {
		at, factor = eps-r, eps-r
	}
	tol := r*(t.shownErr+2*xmath.U) + xmath.U*(math.Abs(at)+math.Abs(eps))
	tail := func(x, round float64) float64 { // log Q(L > x)
		m, err := t.counts(max(1, t.partitions-j))
		switch {
		case err != nil:
			return math.Inf(int(round)) // of no use
		case j == t.partitions:
			if x < 0 {
				return 0
			}
			return math.Inf(-1)
		case add:
			m = profiles.Reverse(m)
		}
		v := m.Tails(x, 0)
		return v.Q + round*v.Err
	}
	lo, hi := factor+tail(at+tol, -1), factor+tail(at-tol, 1)
	round := 8*xmath.U*(1+math.Abs(factor)) + tol
	return math.Exp(lo) * (1 - round - 4*xmath.U*math.Abs(xmath.Finite(lo))), math.Exp(hi) * (1 + round + 4*xmath.U*math.Abs(xmath.Finite(hi)))
}
