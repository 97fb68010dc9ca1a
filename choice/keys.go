package choice

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Theorem 5 (Desfontaines, Voss, Gipson and Mandayam, PoPETS 2022,
// Theorem 1): the largest probabilities with which a key of n persons may be kept,
//
//	π_0 = 0, π_{n+1} = min(e^ε·π_n + δ, 1 − e^{−ε}(1 − π_n − δ), 1).

// SelectPartitions keeps keys and hides their counts, by truncated geometric selection. It
// is a profiles.Mechanism; Keep runs it, with the very probabilities that are priced.
type SelectPartitions interface {
	profiles.EpsilonSetter
	// Keep is true with the probability that a key of so many persons is kept with; the
	// probability is a float64, and the coin is exact.
	Keep(count int64, src rand.Source) (bool, error)
}

type selectPartitions struct {
	t          *keepTable
	partitions int
}

// keepTable has π_n for n = 1, 2, … while it is at most ½, and then 1 − π_n: both in full
// relative accuracy. Each is rounded to a float64 such that the inequalities of the theorem
// hold for the table itself.
type keepTable struct {
	epsilon, delta float64
	keep, hide     []float64
	linear         int // the last n whose successor is e^ε·π_n + δ
}

// maxTable is the largest number of counts that are kept with a probability below 1.
const maxTable = 1_000_000

// NewSelectPartitions returns the selection with ε in (0, 100] and δ in (0, 1) of one partition, for persons
// in at most so many partitions: that of l is the composition of l runs, which is priced. Relation: add-remove of one person,
// who counts once in a partition.
func NewSelectPartitions(epsilon, delta float64, partitions int) (SelectPartitions, error) {
	const name = "select-partitions"
	switch {
	case !(epsilon >= 1e-9 && epsilon <= noiserange.MaxExponential):
		return nil, fault.In(name, fault.New("epsilon", "%v is not in [1e-09, %d]", epsilon, noiserange.MaxExponential))
	case !(delta >= 1e-290 && delta < 1):
		return nil, fault.In(name, fault.New("delta", "%v is not in [1e-290, 1)", delta))
	case partitions < 1 || partitions > MaxPartitions:
		return nil, fault.In(name, fault.New("partitions", "%d is not an integer in [1, %d]", partitions, MaxPartitions))
	}
	t, err := newKeepTable(epsilon, delta)
	if err != nil {
		return nil, fault.In(name, err)
	}
	return selectPartitions{t, partitions}, nil
}

func newKeepTable(epsilon, delta float64) (*keepTable, error) {
	// About log(ε/δ)/ε counts up to ½, and as many again.
	if n := 2 * (xmath.Log(math.Expm1(epsilon)+2*delta) - xmath.Log(2*delta)) / epsilon; n > maxTable {
		return nil, fault.New("epsilon", "%v is too small for δ = %v: keys of up to %.2g persons are kept at random, more than %d", epsilon, delta, n, maxTable)
	}
	t := &keepTable{epsilon: epsilon, delta: delta}
	// e^ε and e^{−ε} and each operation round by a unit or two.
	rise, fall := math.Exp(epsilon)*(1-2*xmath.U), math.Exp(-epsilon)*(1+2*xmath.U)
	keep, hide := 0.0, 1.0
	for n := 0; hide > 0; n++ {
		if n > 2*maxTable {
			return nil, fmt.Errorf("internal error: the table of %v, %v does not end", epsilon, delta)
		}
		a := (rise*keep + delta) * (1 - 8*xmath.U)
		if n == 0 {
			a = delta
		}
		b := 0.0 // 1 minus the other line
		if hide > delta {
			b = fall * (hide - delta) * (1 + 4*xmath.U)
			if hide >= 0.5 { // which is rounded itself
				b += 2 * xmath.U
			}
		}
		// The smaller of a and 1 − b. Where a number is at least ½, one minus it is exact.
		linear := a < 1 && 1-a >= b
		if a <= 0.5 {
			linear = b <= 0.5 || a <= 1-b
		}
		if linear {
			keep, hide, t.linear = a, 1-a, n
		} else {
			keep, hide = 1-b, b
		}
		if keep <= 0.5 {
			t.keep = append(t.keep, keep)
		} else {
			t.hide = append(t.hide, hide)
		}
	}
	return t, nil
}

// at returns π_n and 1 − π_n, of which the smaller one is exact and the other rounded.
func (t *keepTable) at(n int) (keep, hide float64) {
	switch {
	case n <= 0:
		return 0, 1
	case n <= len(t.keep):
		return t.keep[n-1], 1 - t.keep[n-1]
	case n <= len(t.keep)+len(t.hide):
		h := t.hide[n-1-len(t.keep)]
		return 1 - h, h
	}
	return 1, 0
}

// Epsilon implements profiles.EpsilonSetter.
func (s selectPartitions) Epsilon() float64 { return s.t.epsilon }

// Chooses implements hook.Chooser.
func (selectPartitions) Chooses() {}

// WithEpsilon implements profiles.EpsilonSetter; δ stays.
func (s selectPartitions) WithEpsilon(epsilon float64) (profiles.Mechanism, error) {
	return NewSelectPartitions(epsilon, s.t.delta, s.partitions)
}

// Name implements profiles.Mechanism.
func (selectPartitions) Name() string { return "select-partitions" }

// Pair implements profiles.Mechanism: the largest over n of the pairs of two coins π_{n+1} and
// π_n. The points (π_n, π_{n+1}) of a test's two error rates lie on two lines, of slopes e^ε
// and e^{−ε}; those at the ends of each line are the corners of their concave hull.
func (s selectPartitions) Pair(r profiles.Relation) (profiles.Profile, error) {
	if r != profiles.AddRemove {
		return nil, fault.In(s.Name(), fault.New("neighbors", "%v is not add-remove; selection is proved for one person added or removed", r))
	}
	if s.partitions > 1 {
		return nil, fault.In(s.Name(), fault.New("partitions", "%d is not 1; nothing is proved of more on a sample", s.partitions))
	}
	return s.one()
}

// one returns the profile of a single partition.
func (s selectPartitions) one() (profiles.Profile, error) {
	t := s.t
	var atoms []profiles.Atom
	edge := func(p, q, loss float64) {
		if p > 0 && q > 0 {
			if math.IsNaN(loss) {
				loss = xmath.Log(p / q)
			}
			atoms = append(atoms, profiles.Atom{Loss: loss, LogP: xmath.Log(p), LogQ: xmath.Log(q)})
		}
	}
	a, last := t.linear, len(t.keep)+len(t.hide)-1 // points 0..a and a+1..last, where π_{last+1} = 1
	x, _ := t.at(a)
	edge(x*math.Exp(t.epsilon), x, t.epsilon)
	if last > a {
		edge(t.between(a+1, a+2), t.between(a, a+1), math.NaN())
	}
	if last > a+1 {
		q := t.between(a+1, last-1)
		edge(q*math.Exp(-t.epsilon), q, -t.epsilon)
		edge(t.between(last, last+1), t.between(last-1, last), math.NaN())
	}
	_, never := t.at(last) // a key that only the larger data set is sure to show
	return profiles.NewDiscrete(atoms, xmath.Log(t.delta), xmath.Log(never), 64*xmath.U, 64*xmath.U*(1+t.epsilon))
}

// between returns π_m − π_n, n ≤ m, to a relative 2u: of numbers that are kept as they are, and across the
// middle as the sum of what each is away from ½.
func (t *keepTable) between(n, m int) float64 {
	k0, h0 := t.at(n)
	k1, h1 := t.at(m)
	switch middle := len(t.keep); {
	case n > middle:
		return h0 - h1
	case m <= middle:
		return k1 - k0
	}
	return (0.5 - k0) + (0.5 - h1)
}

// Attack implements profiles.Attacked: a key of as many persons as make the largest
// difference, which is where the two lines meet or one more.
func (s selectPartitions) Attack(profiles.Relation) (profiles.Mechanism, error) {
	n := s.t.linear
	if s.t.between(n+1, n+2) > s.t.between(n, n+1) {
		n++
	}
	k0, h0 := s.t.at(n)
	k1, h1 := s.t.at(n + 1)
	return profiles.NewFiniteMechanism([]float64{k1, h1}, []float64{k0, h0})
}

// Once implements blocker: at every ε some number of persons attains the pair of one partition.
func (s selectPartitions) Once(r profiles.Relation) (profiles.Bounds, error) {
	if s.partitions > 1 && r == profiles.AddRemove {
		return profiles.Bounds{Name: s.Name(), Relation: r, Laws: laws{selections{s}}}, nil
	}
	p, err := s.Pair(r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m := profiles.NewBounds(s.Name(), r, p)
	m.Laws = laws{selections{s}}
	return m, nil
}

// selections are several runs of a selection: a block of as many runs of one partition as there are partitions in all.
type selections struct{ one selectPartitions }

// Upper implements block: the composition of the pair of one run.
func (s selections) Upper(_ context.Context, k int64, _ float64) ([2][]profiles.Repeated, error) {
	p, err := s.one.one()
	if err != nil {
		return [2][]profiles.Repeated{}, err
	}
	if k > xmath.MaxCount/int64(s.one.partitions) {
		return [2][]profiles.Repeated{}, fault.In(s.one.Name(), fault.New("partitions", "%d in each of %d runs are more than 2^53", s.one.partitions, k))
	}
	return repeat([2]profiles.Profile{p, profiles.Reverse(p)}, k*int64(s.one.partitions)), nil
}

// Reached implements block.
func (s selections) Reached(ctx context.Context, k int64, width float64) ([2][]profiles.Repeated, bool, error) {
	if s.one.partitions > 1 {
		fixed, err := laws{s}.fixed(k)
		return fixed, false, err
	}
	return reachedOnce(ctx, s, k, width)
}

// Attack implements block: one partition.
func (s selections) Attack() ([2]profiles.Profile, error) {
	return bothOf(s.one.Attack(profiles.AddRemove))
}

// Gain implements block.
func (s selections) Gain(k int64) float64 {
	if s.one.partitions > 1 {
		return leastGain
	}
	one, err := s.Upper(context.Background(), 1, 0)
	attack, err2 := s.Attack()
	if err != nil || err2 != nil {
		return 0
	}
	return singleGain(k, [2]profiles.Profile{one[0][0].Profile, one[1][0].Profile}, attack)
}

// Proof of Theorem 5.
//
// The points (π_n, π_{n+1}) lie on the two lines of the minimum, so that their concave hull, the trade-off curve,
// has at most four inner corners: the pair has one loss ε, one −ε, two in between, and δ that gives everything away.
// epsilon and delta are those of one partition. The attack on several runs is the key whose probability moves
// most: at (1, 0.01) two runs of it reach δ(0) = 0.466028, the best of all fixed counts, counts that adapt to the
// first answer 0.468523, and the bound is within 3 % of that (TestTwoSelectionsGolden).
