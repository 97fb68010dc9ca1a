package choice

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A block is the adaptive composition of k runs of one mechanism. Implementations are comparable.
// width is the relative width of ε that is asked for, a wish and not a promise.
type block interface {
	// Upper returns profiles of which the composition dominates every adaptive composition of
	// k runs, in each direction.
	Upper(ctx context.Context, k int64, width float64) ([2][]profiles.Repeated, error)
	// Reached returns profiles of whose composition each δ(ε) is reached by some adaptive
	// adversary of k runs, not the same at all ε. exact says that nothing but the accuracy of a
	// computation is between them and Upper.
	Reached(ctx context.Context, k int64, width float64) (reached [2][]profiles.Repeated, exact bool, err error)
	// Attack returns the pair of one run on concrete data sets.
	Attack() (directions [2]profiles.Profile, err error)
	// Gain is about how much more of ε at gainAt is in Reached than in k runs of Attack.
	Gain(k int64) float64
}

// gainAt is the logarithm of the δ at which blocks are compared. It steers, and proves nothing.
const gainAt = -14

// boundedGain is the gain where one run has a largest loss of its own, and a smaller one on fixed data: up to as many deviations
// of their sum as δ leaves.
func boundedGain(k int64, largest, fixed float64) float64 {
	n := float64(k)
	reach := n*largest*largest/8 + math.Sqrt(-2*gainAt*n)*largest/2
	return min(n*largest, reach) - min(n*fixed, reach)
}

// singleGain is the gain of one run, in the worst direction of each; of more, Reached is Attack.
func singleGain(k int64, one, attack [2]profiles.Profile) float64 {
	if k > 1 {
		return 0
	}
	at := max(gainAt, one[0].Support().LogPInf+2, one[1].Support().LogPInf+2) // where ε is finite
	var most, fixed float64
	for d, p := range one {
		most, fixed = max(most, aboutEpsilon(p, at)), max(fixed, aboutEpsilon(attack[d], at))
	}
	return max(most-fixed, leastGain)
}

// leastGain stands for what is gained at another δ.
const leastGain = 1e-6

// aboutEpsilon is about ε at the logarithm of a δ, up to 100.
func aboutEpsilon(p profiles.Profile, logDelta float64) float64 {
	lo, _ := xmath.Bisect(0, 100, 20, func(eps float64) bool {
		l, _ := profiles.LogDelta(p, eps)
		return l > logDelta
	})
	return lo
}

// laws are those of a block, for an accountant.
//
// A block is an interactive mechanism that its profile dominates. What else runs may come
// before, after or in between: the product of dominating pairs covers concurrent composition
// (Vadhan and Zhang, STOC 2023, arXiv:2207.08335). From below, one block may come last: its adversary
// knows the loss of what ran before, and for what is left of ε takes the best scores. Of other blocks,
// one pair of data sets with fixed scores is the attack.
type laws struct{ block }

// Least implements profiles.Laws: a block is the same at every δ.
func (laws) Least() float64 { return 0 }

// For implements profiles.Laws.
func (l laws) For(ctx context.Context, q profiles.Question) (c profiles.Composition, err error) {
	if c.Upper, err = l.Upper(ctx, q.Runs, q.Width); err != nil {
		return c, err
	}
	if q.Last {
		if c.Lower, c.Numerical, err = l.Reached(ctx, q.Runs, q.Width); !errors.Is(err, parallel.ErrWork) {
			return c, err
		}
		c.Numerical = false // the attack by one pair of data sets takes no work
	}
	c.Lower, err = l.fixed(q.Runs)
	return c, err
}

// fixed returns k runs on one pair of data sets.
func (l laws) fixed(k int64) ([2][]profiles.Repeated, error) {
	if s, ok := l.block.(selections); ok {
		k *= int64(s.one.partitions)
	}
	attack, err := l.Attack()
	return repeat(attack, k), err
}

// Retreat implements trait.Retreat: each run is a block of its own, and its attack one pair of data sets.
func (l laws) Retreat(q profiles.Question) (c profiles.Composition, err error) {
	if c.Upper, err = l.Upper(context.Background(), 1, q.Width); err != nil {
		return c, err
	}
	for d := range c.Upper {
		c.Upper[d][0].Count *= q.Runs
	}
	c.Lower, err = l.fixed(q.Runs)
	return c, err
}

// composed is the block of exponential mechanisms of one ε. It is a value: two of the same
// ε are the same mechanism.
type composed struct{ epsilon float64 }

// work is how many nodes of the upper recursion, and of the lower one, a block may take:
// about a second each. More runs are several blocks, a composition of their profiles.
const (
	upperWork = 1 << 20
	lowerWork = 1 << 26
)

// cells returns the number of cells of [0, ε] for a relative width of ε, a power of two.
//
// A chord adds a variance of at most h²/4 to the loss at each of k steps, which moves ε by
// about s·k·h²/8, s = −d log δ/dε. With s·ε(δ) about 40 and ε(δ) about min(k, 3√k) times
// the range that is 5/min(k, 9) over m², relative to ε(δ). Where ε(δ) is near the end k·ε of the
// losses, δ falls to 0 within a few cells of it: a cell is then at most the width times k·ε. It
// steers, and proves nothing.
func cells(k int64, width float64) int {
	if !(width > 0) {
		width = 1e-3
	}
	want := max(math.Sqrt(5/float64(min(k, 9))/width), 1/(width*float64(k)))
	m := 16
	for float64(m) < want && m < 4096 {
		m *= 2
	}
	return m
}

// nodes returns about how many nodes k steps of a recursion with m cells have: j·m after j
// steps, until masses underflow at 18.6·√j standard deviations of at most ε/2 each.
func nodes(k int64, m int) float64 {
	x, n := float64(k), float64(m)
	if x < 346 {
		return n * x * x / 2
	}
	return n * (346*346/2 + 12.4*(x*math.Sqrt(x)-346*math.Sqrt(346)))
}

// Upper implements block: Theorem 2, rounded up. Where there are too many runs for
// one recursion, they are as many blocks as it takes, of which each dominates its runs.
func (c composed) Upper(ctx context.Context, k int64, width float64) ([2][]profiles.Repeated, error) {
	if k == 1 {
		return c.one()
	}
	m, count := c.split(k, width)
	size := k / count
	more := k % count // blocks with one run more
	g := newGrid(c.epsilon, m)
	var both []profiles.Repeated
	add := func(w []float64, count int64) error {
		if count == 0 {
			return nil
		}
		x := g.nodes(len(w))
		p, err := profiles.NewChords(x, w, w)
		both = append(both, profiles.Repeated{Profile: p, Count: count})
		return err
	}
	w, err := g.upper(ctx, size, nil)
	if err == nil {
		err = add(w, count-more)
	}
	if err == nil && more > 0 {
		if w, err = g.upper(ctx, 1, w); err == nil {
			err = add(w, more)
		}
	}
	return [2][]profiles.Repeated{both, both}, err
}

// split returns the number of cells and into how many blocks k runs are divided.
func (c composed) split(k int64, width float64) (m int, count int64) {
	m = cells(k, width)
	for nodes(k, m) > upperWork && m > 16 && nodes(k, 16) <= upperWork {
		m /= 2
	}
	size := k
	for nodes(size, m) > upperWork {
		size = size/2 + size%2
	}
	return m, (k + size - 1) / size
}

// Reached implements block: what adversaries reach whose losses are on a grid.
func (c composed) Reached(ctx context.Context, k int64, width float64) (reached [2][]profiles.Repeated, exact bool, err error) {
	if k == 1 {
		reached, err = c.one()
		return reached, true, err
	}
	m := 8 * cells(k, width)
	for nodes(k, m) > lowerWork && m > 16 {
		m /= 2
	}
	if nodes(k, m) > lowerWork {
		both, err := c.Attack()
		return repeat(both, k), false, err
	}
	g := newGrid(c.epsilon, m)
	w, q, err := g.lower(ctx, g.turns(), nearStrides, k)
	if err != nil {
		return reached, false, err
	}
	p, err := tangents(g.nodes(len(w)), w, q)
	_, count := c.split(k, width)
	return repeat([2]profiles.Profile{p, p}, 1), count == 1, err
}

// tangents returns the symmetric profile below one of which these lines are known.
func tangents(x, w, q []float64) (*profiles.Discrete, error) {
	l := profiles.Lines{W: w, Q: q}
	return profiles.NewTangents(x, l, l)
}

// one returns the profile of a single run, which is attained at every ε.
func (c composed) one() ([2][]profiles.Repeated, error) {
	p, err := profiles.NewExponential(c.epsilon)
	return repeat([2]profiles.Profile{p, p}, 1), err
}

func repeat(both [2]profiles.Profile, k int64) (out [2][]profiles.Repeated) {
	for d, p := range both {
		out[d] = []profiles.Repeated{{Profile: p, Count: k}}
	}
	return out
}

// reachedOnce is block's Reached of what is exact in one run, and has one attack for more.
func reachedOnce(ctx context.Context, b block, k int64, width float64) (reached [2][]profiles.Repeated, exact bool, err error) {
	if k == 1 {
		reached, err = b.Upper(ctx, k, width)
		return reached, true, err
	}
	both, err := b.Attack()
	return repeat(both, k), false, err
}

// bothOf returns the pair of a base mechanism that attacks, in both directions of add-remove.
func bothOf(b profiles.Mechanism, err error) ([2]profiles.Profile, error) {
	if err != nil {
		return [2]profiles.Profile{}, err
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		return [2]profiles.Profile{}, err
	}
	return [2]profiles.Profile{p, profiles.Reverse(p)}, nil
}

// Gain implements block.
func (c composed) Gain(k int64) float64 { return boundedGain(k, c.epsilon, c.epsilon/2) }

// Attack implements block: two candidates whose scores differ by half of what
// they can move, in one direction on one data set and in the other on its neighbour. The
// losses are ±ε/2: randomized response.
func (c composed) Attack() ([2]profiles.Profile, error) { return response(c.epsilon / 2) }

// response returns the pair of randomized response of a loss, in both directions.
func response(loss float64) ([2]profiles.Profile, error) {
	b, err := profiles.NewPure(loss)
	if err != nil {
		return [2]profiles.Profile{}, err
	}
	p, err := b.Pair(profiles.AddRemove)
	return [2]profiles.Profile{p, p}, err
}
