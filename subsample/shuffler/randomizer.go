package shuffler

// Local randomizers: what one user sends. A message counts by its type: its probabilities under
// two values, relative to a law that every other value has a part of, or to that of a third value.

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

const u = xmath.U

// maxEpsilon bounds the local ε. e^50 is far from the end of float64, and no message of a larger ε is private.
const maxEpsilon = 50

// maxOutcomes bounds the rows and columns of a matrix.
const maxOutcomes = 64

// A kind is a type of message: its density under the victim's value x, under the value x′ of the neighbour,
// and under the message of an absent user (zero-out), relative to a base law that has it with probability w.
type kind struct{ a, b, o, w float64 }

// A part is what the messages of the other users have in common: with probability gamma a message is drawn
// from the base law of the kinds, else it says nothing about the victim. outA and outB are masses of the
// victim's messages that the base law does not have.
type part struct {
	gamma      float64
	kinds      []kind
	outA, outB float64
	ratio      float64 // a ≤ ratio·b and b ≤ ratio·a for all kinds
	both       bool    // some message outside is sent for both values of the victim
}

// A Randomizer is a local randomizer, a mechanism on the value of one user. It is a value that can be
// compared.
type Randomizer interface {
	profiles.EpsilonSetter
	// Sample draws the message of a value in [0, categories). Coins are exact at probabilities that are rounded towards the more private side; those of
	// finite are conditional probabilities, to a rounding each. The source nil is the operating system's; another must be secret.
	Sample(value int, src rand.Source) (Message, error)
	// Estimates returns how many of those who sent messages hold each value below values. Messages count for a value with one probability where it is true
	// and another where it is not; the estimate solves for the number (Wang, Blocki, Li and Jha, USENIX Security 2017).
	Estimates(messages []Message, values int) ([]Estimate, error)
}

type randomizer struct {
	name      string
	epsilon   float64
	k, s      int     // categories, and the size of a subset; of a hash, its range
	keep, lie float64 // of unary: the probability of a 1 for a 1 and for a 0
	pairwise  bool    // hashes of two values are independent
	matrix    *matrix // of a finite randomizer
}

// A matrix has a row of probabilities for each value.
type matrix struct{ rows [][]float64 }

func checkEpsilon(name string, epsilon float64) error {
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return fault.In(name, fault.New("epsilon", "%v is not in (0, %d]", epsilon, maxEpsilon))
	}
	return nil
}

func checkCategories(name string, categories, least int) error {
	if categories < least || categories > 1e9 {
		return fault.In(name, fault.New("categories", "%d is not an integer in [%d, 1000000000]", categories, least))
	}
	return nil
}

// NewKRR returns randomized response over a number of categories: the true one is e^ε times likelier than each other.
func NewKRR(epsilon float64, categories int) (Randomizer, error) {
	const name = "k-rr"
	return randomizer{name: name, epsilon: epsilon, k: categories}, cmp.Or(checkEpsilon(name, epsilon), checkCategories(name, categories, 2))
}

// NewUnary returns unary encoding: a bit for each category, of which the true one is sent as 1 with probability keepOne
// and each other with probability keepZero (RAPPOR, optimised unary encoding). The number of categories may be 0, for any from 3 up.
func NewUnary(keepOne, keepZero float64, categories int) (Randomizer, error) {
	const name = "unary"
	switch {
	case !(keepZero > 0 && keepZero < 1):
		return nil, fault.In(name, fault.New("keep-zero", "%v is not in (0, 1); else it is not local differential privacy", keepZero))
	case !(keepOne > keepZero && keepOne < 1):
		return nil, fault.In(name, fault.New("keep-one", "%v is not in (keep-zero, 1) = (%v, 1)", keepOne, keepZero))
	}
	if categories != 0 {
		if err := checkCategories(name, categories, 2); err != nil {
			return nil, err
		}
	}
	eps := xmath.Log(keepOne/keepZero) + xmath.Log((1-keepZero)/(1-keepOne))
	return randomizer{name: name, epsilon: eps, k: categories, keep: keepOne, lie: keepZero}, checkEpsilon(name, eps)
}

// NewOptimizedUnary returns unary encoding with keepOne = ½ and keepZero = 1/(e^ε + 1), of least variance.
func NewOptimizedUnary(epsilon float64, categories int) (Randomizer, error) {
	if err := checkEpsilon("unary", epsilon); err != nil {
		return nil, err
	}
	return NewUnary(0.5, 1/(math.Exp(epsilon)+1), categories)
}

// NewSubsetSelection returns subset selection: the user sends a set of so many categories, of which each that holds the true one
// is e^ε times likelier than each that does not.
func NewSubsetSelection(epsilon float64, categories, size int) (Randomizer, error) {
	const name = "subset-selection"
	if err := cmp.Or(checkEpsilon(name, epsilon), checkCategories(name, categories, 3)); err != nil {
		return nil, err
	}
	if size < 1 || size >= categories {
		return nil, fault.In(name, fault.New("size", "%d is not in [1, %d], below the number of categories", size, categories-1))
	}
	return randomizer{name: name, epsilon: epsilon, k: categories, s: size}, nil
}

// NewHadamard returns the Hadamard response with one bit: the user draws a row of a Hadamard matrix, and sends it with the entry of the
// column of the value, flipped with probability 1/(e^ε + 1). The column of the constant entries stands for no value.
func NewHadamard(epsilon float64, categories int) (Randomizer, error) {
	const name = "hadamard"
	return randomizer{name: name, epsilon: epsilon, k: categories}, cmp.Or(checkEpsilon(name, epsilon), checkCategories(name, categories, 3))
}

// NewLocalHash returns local hashing: the user draws a hash function into [0, size), fresh for each message, and sends it with the
// hashed value under randomized response. Nothing is assumed of the functions but that they do not depend on the
// value, unless pairwise says that hashes of two (and three) different values are independent and uniform: then fewer users are as safe.
func NewLocalHash(epsilon float64, size int, pairwise bool) (Randomizer, error) {
	const name = "local-hash"
	if err := checkEpsilon(name, epsilon); err != nil {
		return nil, err
	}
	if size < 2 || size > 1e9 {
		return nil, fault.In(name, fault.New("size", "%d is not an integer in [2, 1000000000]", size))
	}
	return randomizer{name: name, epsilon: epsilon, k: size, pairwise: pairwise}, nil
}

// NewMatrix returns the randomizer with rows[v][y], the probability of message y for the value v.
func NewMatrix(rows [][]float64) (Randomizer, error) {
	const name = "finite"
	fail := func(format string, args ...any) (Randomizer, error) {
		return nil, fault.In(name, fault.New("rows", format, args...))
	}
	if len(rows) < 2 || len(rows) > maxOutcomes {
		return fail("has %d rows, must have 2 to %d, one for each value", len(rows), maxOutcomes)
	}
	m := &matrix{}
	for i, row := range rows {
		if len(row) < 2 || len(row) > maxOutcomes || len(row) != len(rows[0]) {
			return fail("row %d has %d probabilities, must have 2 to %d, as many as the first", i, len(row), maxOutcomes)
		}
		var sum xmath.Sum
		for _, p := range row {
			if !(p >= 0 && p <= 1) {
				return fail("row %d has the probability %v, which is not in [0, 1]", i, p)
			}
			sum.Add(p)
		}
		if total := sum.Value(); math.Abs(total-1) > 1e-9 {
			return fail("row %d adds up to %v, must add up to 1", i, total)
		}
		normal := make([]float64, len(row))
		for y, p := range row {
			normal[y] = p / sum.Value()
		}
		m.rows = append(m.rows, normal)
	}
	return randomizer{name: name, matrix: m, epsilon: math.Inf(1)}, nil
}

// Name implements profiles.Mechanism.
func (r randomizer) Name() string { return r.name }

// SampledBy reports whether something is proved about the randomizer under a scheme.
func (r randomizer) SampledBy(scheme string) bool { return scheme == "shuffler" }

// Epsilon returns the local ε; +Inf where a matrix has a message that some values never send.
func (r randomizer) Epsilon() float64 {
	if r.matrix == nil {
		return r.epsilon
	}
	worst := 0.0
	for _, p := range r.matrix.rows {
		for _, q := range r.matrix.rows {
			for y := range p {
				if p[y] > 0 {
					worst = max(worst, xmath.Log(p[y]/q[y]))
				}
			}
		}
	}
	return worst
}

// WithEpsilon implements profiles.EpsilonSetter. Unary encoding becomes the optimised one.
func (r randomizer) WithEpsilon(epsilon float64) (profiles.Mechanism, error) {
	var err error
	switch r.name {
	case "finite":
		err = fault.New("epsilon", "%v is not a parameter of finite", epsilon)
	case "unary":
		return NewOptimizedUnary(epsilon, r.k)
	default:
		r.epsilon, err = epsilon, checkEpsilon(r.name, epsilon)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Attack implements profiles.Attacked: of a matrix, the pair of values with the largest total variation alone.
func (r randomizer) Attack(rel profiles.Relation) (profiles.Mechanism, error) {
	if r.matrix == nil {
		return r, nil
	}
	most, p, q := -1.0, 0, 1
	for i, x := range r.matrix.rows {
		for j, y := range r.matrix.rows[:i] {
			d := 0.0
			for k := range x {
				d += math.Abs(x[k] - y[k])
			}
			if d > most {
				most, p, q = d, i, j
			}
		}
	}
	return profiles.NewFiniteMechanism(r.matrix.rows[p], r.matrix.rows[q])
}

// An agreement is what a message of any randomizer but a matrix says of a value: whether it agrees with it. Under a value it has the density
// lo·ratio relative to a neutral law if it agrees, else lo.
type agreement struct {
	lo, ratio float64
	// Under the neutral law a message agrees with a uniformly random set of size values of all; where size is 0, with each value by itself,
	// with the probability share.
	all, size int
	share     float64
}

// agreement returns that of the randomizer; a matrix has none.
func (r randomizer) agreement() (a agreement, ok bool) {
	k := float64(r.k)
	a.ratio = math.Exp(r.epsilon)
	switch r.name {
	case "k-rr":
		a.all, a.size, a.share = r.k, 1, 1/k
	case "subset-selection":
		a.all, a.size, a.share = r.k, r.s, float64(r.s)/k
	case "hadamard":
		a.share = 0.5
	case "local-hash":
		// Families without collisions are among those allowed, on as many values as hashes: randomized response over size categories.
		if a.share = 1 / k; !r.pairwise {
			a.all, a.size = r.k, 1
		}
	case "unary":
		a.lo, a.share = (1-r.keep)/(1-r.lie), r.lie
		a.ratio = r.keep / r.lie / a.lo
		return a, true
	default:
		return a, false
	}
	a.lo = 1 / (a.share*a.ratio + 1 - a.share)
	return a, true
}

// chance returns the probability under the neutral law that a message agrees with so many certain ones of n values, and with no other of them.
func (a agreement) chance(ones, n int) float64 {
	p := 1.0
	for i := range n {
		yes, no := a.share, 1-a.share
		if a.size > 0 { // of what is left
			in, left := float64(a.size-min(i, ones)), float64(a.all-i)
			yes, no = in/left, (left-in)/left
		}
		if i < ones {
			p *= yes
		} else {
			p *= no
		}
	}
	return p
}

// blanket is what all values have in common: the neutral law as far as lo, and more of the messages that agree with all values, which have
// this probability.
func (a agreement) blanket(every float64) part {
	g := a.lo * (1 + (a.ratio-1)*every)
	s, top := a.lo/g, g*a.ratio
	one := s * a.chance(1, 2)
	return part{gamma: g, ratio: a.ratio, kinds: possible([]kind{{top, g, 1, one}, {g, top, 1, one}, {top, top, 1, s * (a.chance(2, 2) - every)},
		{g, g, 1, s * a.chance(0, 2)}, {g, g, 1, s * a.ratio * every}})}
}

// attack is the part of others who hold the value in the place z among n: that of the victim, its neighbour's or a third one.
func (a agreement) attack(z, n int) part {
	p := part{gamma: 1, ratio: a.ratio}
	v := [2]float64{1, a.ratio}
	for m := range 1 << n {
		bit := func(i int) int { return m >> i & 1 }
		base := v[bit(z)]
		p.kinds = append(p.kinds, kind{a: v[bit(0)] / base, b: v[bit(1)] / base, o: 1 / (a.lo * base), w: a.lo * base * a.chance(bits.OnesCount(uint(m)), n)})
	}
	p.kinds = possible(p.kinds)
	return p
}

// possible returns the kinds that are sent at all.
func possible(kinds []kind) []kind {
	return slices.DeleteFunc(kinds, func(k kind) bool { return !(k.w > 0) })
}

// blankets returns what the other users have in common whatever their values (Theorem A), one part for each kind of pair of values of the
// victim. Under zero-out the base law is that of an absent user's message. Tests hold each row to enumeration.
func (r randomizer) blankets(rel profiles.Relation) ([]part, error) {
	a, ok := r.agreement()
	switch {
	case ok && r.name == "unary" && r.k > 0 && rel != profiles.ZeroOut:
		return []part{a.blanket(math.Pow(r.lie, float64(r.k)))}, nil
	case ok:
		return []part{a.blanket(0)}, nil
	case r.matrix == nil:
		return nil, fault.New("mechanism", "%q is not a local randomizer", r.name)
	case rel == profiles.ZeroOut:
		return nil, fault.New("mechanism", "%q has no message of an absent user, which zero-out needs", r.name)
	}
	return r.matrix.blankets(), nil
}

// attacks returns data sets of which the price is known exactly (Theorem B): all others hold one value. The base law is that of it.
func (r randomizer) attacks() []part {
	a, ok := r.agreement()
	switch {
	case !ok && r.matrix == nil:
		return nil
	case !ok:
		return r.matrix.attacks()
	case a.all == 2:
		return []part{a.attack(0, 2), a.attack(1, 2)}
	case r.name == "unary" && r.k == 2:
		return []part{a.attack(0, 2)}
	case a.size == 1:
		return []part{a.attack(2, 3), a.attack(0, 2)}
	}
	return []part{a.attack(2, 3)}
}

func (m *matrix) blankets() []part {
	least := make([]float64, len(m.rows[0]))
	gamma := 0.0
	for y := range least {
		least[y] = math.Inf(1)
		for _, row := range m.rows {
			least[y] = min(least[y], row[y])
		}
		gamma += least[y]
	}
	return m.pairs([]base{{gamma, least}})
}

// A base is a law of the messages of others, with mass gamma.
type base struct {
	gamma float64
	mass  []float64
}

func (m *matrix) attacks() []part {
	var bases []base
	for _, row := range m.rows {
		bases = append(bases, base{1, row})
	}
	// Where z never sends a message that both values of the victim do, what it tells is not just that it is there: another z attacks.
	return slices.DeleteFunc(m.pairs(bases), func(p part) bool { return p.both })
}

// pairs returns the parts of all pairs of values, relative to each base.
func (m *matrix) pairs(bases []base) []part {
	var parts []part
	for _, z := range bases {
		for i, x := range m.rows {
			for j, other := range m.rows {
				if i == j {
					continue
				}
				p := part{gamma: min(1, z.gamma), ratio: 1}
				for y, w := range z.mass {
					if w == 0 {
						p.both = p.both || x[y] > 0 && other[y] > 0
						p.outA, p.outB = p.outA+x[y], p.outB+other[y]
						continue
					}
					w /= z.gamma
					p.kinds = append(p.kinds, kind{a: x[y] / w, b: other[y] / w, o: math.NaN(), w: w})
				}
				for y := range x {
					switch {
					case x[y] == 0 && other[y] == 0:
					case x[y] == 0 || other[y] == 0:
						p.ratio = math.Inf(1)
					default:
						p.ratio = max(p.ratio, x[y]/other[y], other[y]/x[y])
					}
				}
				if z.gamma == 0 {
					p.outA, p.outB = 1, 1
				}
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// Pair implements profiles.Mechanism: one message without a shuffler. A matrix has several pairs of values, and needs a shuffler
// or the mechanism finite with one pair.
func (r randomizer) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if r.name == "k-rr" {
		// b = 1/(e^ε + k − 1): the answer is replaced with probability k·b.
		k := float64(r.k)
		m, err := profiles.NewRandomizedResponse(k/(math.Exp(r.epsilon)+k-1), r.k)
		if err != nil {
			return nil, err
		}
		return m.Pair(rel)
	}
	parts, err := r.blankets(rel)
	if err != nil {
		return nil, err
	}
	var games []game
	for _, p := range parts {
		games = append(games, game{n: 1, slots: slotsOf(p, rel, 1), outA: p.outA, outB: p.outB})
	}
	if len(games) > 2 { // pairs of values of a matrix, each of which is attained
		return worst(games)
	}
	return games[0].exact()
}

// BestSize returns the size of the sets of subset selection with about the least variance, k/(e^ε + 1).
func BestSize(epsilon float64, categories int) int {
	return min(max(1, int(math.Round(float64(categories)/(math.Exp(epsilon)+1)))), max(1, categories-1))
}

// Proof (docs/theory/shuffler.md §2): Theorem C.
//
// R_z ≥ max(R_x, R_{x′})/E. In (A), drawn user by user, H ≤ (1/n)E(ΣU_i)₊ over n slots with U = E(a−αb)/max(a,b) at
// density max(a,b)/E, else 0. Replace the law of one slot at a time: with φ convex, Eφ(U) − φ(0) = E_{R_{x′}}ψ(r), r =
// a/b of mean 1, where ψ is convex on [1/E, 1] and on [1, E]. Moving r to the ends of its half raises it, so r ∈ {1/E,
// 1, E}; r = 1 is below randomized response in convex order, as E(U−k)₊ shows for each k. α > E gives 0, and α < 1
// exchanges the pair. ∎
