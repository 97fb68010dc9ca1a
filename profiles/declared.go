// Mechanisms of which only a guarantee is known: the worst pair with that guarantee.

package profiles

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// declared is a mechanism known by its pair alone, whatever the relation.
type declared struct {
	name string
	p    *Discrete
}

func (d declared) Name() string                   { return d.name }
func (d declared) Pair(Relation) (Profile, error) { return d.p, nil }

// randomizedResponse is a declared mechanism that answers for an empty place, too.
type randomizedResponse struct {
	declared
	empty       *Discrete // the pair of a true answer and a uniformly random one
	probability float64   // of a uniformly random answer
	categories  int
}

func (r randomizedResponse) Pair(rel Relation) (Profile, error) {
	if rel == ZeroOut {
		return r.empty, nil
	}
	return r.p, nil
}

const maxEpsilon = 1e6

func checkEpsilon(name string, epsilon float64) error {
	if !(epsilon >= 0 && epsilon <= maxEpsilon) {
		return fault.In(name, fault.New("epsilon", "%v is not in [0, %g]", epsilon, maxEpsilon))
	}
	return nil
}

// NewPure returns the worst mechanism that satisfies pure ε-differential
// privacy: randomized response on one bit.
//
// Source: Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.
func NewPure(epsilon float64) (Mechanism, error) {
	if err := checkEpsilon("pure", epsilon); err != nil {
		return nil, err
	}
	m, err := approximate("pure", epsilon, 0)
	return pure{m.(declared), epsilon}, err
}

// pure is a declared mechanism whose ε can be set.
type pure struct {
	declared
	epsilon float64
}

// Epsilon implements EpsilonSetter.
func (m pure) Epsilon() float64 { return m.epsilon }

// WithEpsilon implements EpsilonSetter.
func (pure) WithEpsilon(epsilon float64) (Mechanism, error) { return NewPure(epsilon) }

// NewApproximate returns the worst mechanism that satisfies
// (ε, δ)-differential privacy: with probability δ the outcome gives the data
// away, else randomized response on one bit.
//
// Source: Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.
func NewApproximate(epsilon, delta float64) (Mechanism, error) {
	if err := checkEpsilon("approximate", epsilon); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta <= 1) {
		return nil, fault.In("approximate", fault.New("delta", "%v is not in [0, 1]", delta))
	}
	return approximate("approximate", epsilon, delta)
}

func approximate(name string, epsilon, delta float64) (Mechanism, error) {
	hi := math.Log1p(-delta) - math.Log1p(math.Exp(-epsilon))
	lo := hi - epsilon
	p, err := NewDiscrete([]Atom{{-epsilon, lo, hi}, {epsilon, hi, lo}}, xmath.Log(delta), xmath.Log(delta), 4*xmath.U, 0)
	return declared{name, p}, err
}

// NewRandomizedResponse returns randomized response over a number of
// categories: with the given probability the answer is replaced by a uniformly
// random category. It is about one answer: a record that answers several
// questions is as many runs.
//
// Under ZeroOut an empty place answers with a uniformly random category, so that
// nobody sees that it is empty, and the pair is that of a true answer and such a one;
// so does, on a Poisson sample, whoever is not in it. (Google's dp_accounting has the
// same under REPLACE_SPECIAL.)
func NewRandomizedResponse(probability float64, categories int) (Mechanism, error) {
	const name = "randomized-response"
	if !(probability >= 0 && probability <= 1) {
		return nil, fault.In(name, fault.New("probability", "%v is not in [0, 1]", probability))
	}
	if categories < 2 || categories > 1e9 {
		return nil, fault.In(name, fault.New("categories", "%d is not an integer in [2, 1000000000]", categories))
	}
	k := float64(categories)
	if probability == 0 {
		p, err := NewDiscrete(nil, 0, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		// The answer is the truth, or the truth by chance.
		empty, err := NewDiscrete([]Atom{{xmath.Log(k), 0, -xmath.Log(k)}}, math.Inf(-1), math.Log1p(-1/k), 4*xmath.U, 2*xmath.U*xmath.Log(k))
		return randomizedResponse{declared: declared{name, p}, empty: empty, probability: probability, categories: categories}, err
	}
	loss := math.Log1p((1 - probability) * k / probability)
	lie := xmath.Log(probability) - xmath.Log(k)
	truth := math.Log1p(-probability * (1 - 1/k))
	if probability > 0.5 {
		truth = xmath.Log((1 - probability) + probability/k) // both terms positive, 1 − probability exact
	}
	atoms := []Atom{{-loss, lie, truth}, {loss, truth, lie}}
	if categories > 2 {
		rest := lie + xmath.Log(k-2)
		atoms = append(atoms, Atom{0, rest, rest})
	}
	none := math.Inf(-1)
	p, err := NewDiscrete(atoms, none, none, 4*xmath.U, 4*xmath.U*(1+loss))
	if err != nil {
		return nil, err
	}
	// Against the uniform 1/k: log(1 + (1 − probability)(k − 1)) for the truth, log(probability) else.
	uniform, lied := -xmath.Log(k), xmath.Log(probability)
	told := math.Log1p((1 - probability) * (k - 1))
	empty, err := NewDiscrete([]Atom{{lied, lie + xmath.Log(k-1), math.Log1p(-1 / k)}, {told, truth, uniform}}, none, none, 4*xmath.U, 4*xmath.U*(1+told-lied))
	return randomizedResponse{declared: declared{name, p}, empty: empty, probability: probability, categories: categories}, err
}

// NewFiniteMechanism returns the mechanism with output distributions p on one
// data set and q on its neighbour; see NewFinite. Nothing is known of other
// neighbours: that this pair is the worst is the caller's claim.
func NewFiniteMechanism(p, q []float64) (Mechanism, error) {
	d, err := NewFinite(p, q)
	if err != nil {
		return nil, err
	}
	return declared{"finite", d}, nil
}

// Base mechanisms: what runs on a sample, before any question of sampling.

// A Mechanism is what is run on a sample, before any question of
// sampling. It knows its dominating pair under each neighbouring relation.
type Mechanism interface {
	// Name is the mechanism's name in plan files.
	Name() string
	// Pair returns the profile of the first direction of one run on the whole
	// data set; the second direction is its Reverse. The pair dominates, and is
	// attained unless the mechanism is Attacked.
	//
	// A mechanism that is declared by its guarantee alone (pure, approximate,
	// finite, randomized response) has that guarantee under whichever relation
	// it is used with. Under ZeroOut the pair is that of AddRemove, but for
	// randomized response, which answers for an empty place.
	Pair(Relation) (Profile, error)
}

// An Attacked is a Mechanism whose Pair dominates all pairs of neighbouring data sets
// without being the profile of one of them at every ε.
type Attacked interface {
	Mechanism
	// Attack returns the mechanism on a concrete pair of data sets, whose Pair is
	// attained under r.
	Attack(r Relation) (Mechanism, error)
}

// A Compound is a Mechanism that no attained pair describes: it has its own upper and
// lower profiles. It runs on the whole data set only; its Pair may be an error.
type Compound interface {
	Mechanism
	// Bounds returns one run under r. It may take long: once ctx is done, the error is
	// that of ctx.
	Bounds(ctx context.Context, r Relation) (Bounds, error)
}

// A blocker is a Mechanism of which a run on the whole data set is known better than by its
// Pair and its Attack: many runs have Laws.
type blocker interface {
	Mechanism
	// Once returns one run under r, with its Laws.
	Once(r Relation) (Bounds, error)
}

// An EpsilonSetter is a Mechanism with a parameter ε, such as a local randomizer, which can be set.
type EpsilonSetter interface {
	Mechanism
	Epsilon() float64
	WithEpsilon(epsilon float64) (Mechanism, error)
}

// A NoiseScaler is a Mechanism whose noise can be set: what calibration turns.
type NoiseScaler interface {
	Mechanism
	// NoiseMultiplier returns the noise scale over the sensitivity.
	NoiseMultiplier() float64
	// NoiseRange returns the smallest and the largest noise multiplier for which
	// there is a Pair under r.
	NoiseRange(r Relation) (lo, hi float64)
	// WithNoiseMultiplier returns the same mechanism with other noise.
	WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error)
}

// Attained returns pair, the Pair of b under r, or what is attained in its place.
func Attained(b Mechanism, pair Profile, r Relation) (Profile, error) {
	a, ok := b.(Attacked)
	if !ok {
		return pair, nil
	}
	attack, err := a.Attack(r)
	if err != nil {
		return nil, err
	}
	return attack.Pair(r)
}

// Unsampled returns one run of b on the whole data set. Where that takes long, ctx can
// cancel it.
func Unsampled(ctx context.Context, b Mechanism, r Relation) (Bounds, error) {
	if c, ok := b.(Compound); ok {
		return c.Bounds(ctx, r)
	}
	if c, ok := b.(blocker); ok {
		return c.Once(r)
	}
	p, err := b.Pair(r)
	if err != nil {
		return Bounds{}, err
	}
	m := NewBounds(b.Name(), r, p)
	if p, err = Attained(b, p, r); err != nil {
		return Bounds{}, err
	}
	m.Directions[0].Lower, m.Directions[1].Lower = p, Reverse(p)
	if b, ok := b.(bothNorms); ok {
		c, err := b.copied(r)
		if err != nil {
			return Bounds{}, err
		}
		m.Directions[0].Copies, m.Directions[1].Copies = c, Repeated{Reverse(c.Profile), c.Count}
	}
	return m, nil
}

// CheckSampled returns an error if nothing is known about b on a sample of the scheme of a
// name.
func CheckSampled(b Mechanism, scheme string) error {
	if _, ok := b.(Compound); ok {
		return fault.New("sampling", "nothing is proved about %s on a sample; it runs on the whole data set", b.Name())
	}
	if l, ok := b.(interface{ SampledBy(scheme string) bool }); ok && !l.SampledBy(scheme) {
		return fault.New("sampling", "nothing is proved about %s on samples of %s; a local randomizer runs on the whole data set or behind a shuffler", b.Name(), scheme)
	}
	if _, ok := b.(blocker); ok && scheme != "poisson" {
		return fault.New("sampling", "nothing is proved about %s on samples of %s; it runs on the whole data set or a poisson sample", b.Name(), scheme)
	}
	return nil
}

// NewBounds returns the mechanism whose first direction is p and whose
// second is the reverse of p, both attained.
func NewBounds(name string, r Relation, p Profile) Bounds {
	return Bounds{Name: name, Relation: r, Directions: [2]Direction{exact(p), exact(Reverse(p))}}
}

// The profile of one run of the exponential mechanism, in closed form.
//
// It assumes nothing but that the loss of every pair of neighbours has a range of length
// at most ε ("bounded range"), and is attained at each α = e^l by some pair with two
// candidates, not by one pair at all of them. So it is exact for one run and an upper
// bound under composition: package choice has the exact composition of many runs.

// Exponential is the dominating pair of the exponential mechanism whose privacy loss has
// a range of length ε: with l = log α,
//
//	h(α) = (1 − e^{(l−ε)/2})²/(1 − e^{−ε}) for |l| ≤ ε.
//
// Its loss has the density e^{l/2}/(4 sinh(ε/2)) on [−ε, ε] under P, and no atoms. It is
// its own reverse.
//
// Source: Dong, Durfee and Rogers, "Optimal differential privacy composition for
// exponential mechanisms" (ICML 2020), Lemma 3.2, maximised over the place of the range;
// proof in choice/scores.go, Theorem 1. Relation: that of the sensitivity of the scores.
type Exponential interface {
	Profile
	// Epsilon returns the length of the range of the loss.
	Epsilon() float64
	isExponential()
}

type exponential struct{ epsilon float64 }

func (exponential) isExponential() {}

// NewExponential returns the pair for an ε in (0, 100]: twice the sensitivity of the
// scores over the scale of the noise, or once where all scores move the same way.
func NewExponential(epsilon float64) (Exponential, error) {
	if !(epsilon >= 1e-9 && epsilon <= noiserange.MaxExponential) {
		return nil, fault.New("epsilon", "%v is not in [1e-09, %d]", epsilon, noiserange.MaxExponential)
	}
	return exponential{epsilon}, nil
}

// Epsilon implements Exponential.
func (e exponential) Epsilon() float64 { return e.epsilon }

// SelfReverse implements hook.SelfReverser: the class of pairs is closed under exchange.
func (e exponential) SelfReverse() bool { return true }

// Tails implements Profile, with a = (ε−l)/2 and b = (ε+l)/2:
//
//	P(L > l) = (1−e^{−a})/(1−e^{−ε}),  P(L ≤ l) = (e^b−1)/(e^ε−1),
//	Q(L > l) = (e^a−1)/(e^ε−1),        Q(L ≤ l) = (1−e^{−b})/(1−e^{−ε}).
func (e exponential) Tails(eps, tol float64) Tails {
	inf := math.Inf(-1)
	switch {
	case eps < -e.epsilon:
		return Tails{P: 0, Q: 0, PC: inf, QC: inf}
	case eps >= e.epsilon:
		return Tails{P: inf, Q: inf, PC: 0, QC: 0}
	}
	a, b := (e.epsilon-eps)/2, (e.epsilon+eps)/2
	rise, fall := xmath.Log(math.Expm1(e.epsilon)), xmath.Log(-math.Expm1(-e.epsilon))
	t := Tails{P: xmath.Log(-math.Expm1(-a)) - fall, Q: xmath.Log(math.Expm1(a)) - rise,
		PC: xmath.Log(math.Expm1(b)) - rise, QC: xmath.Log(-math.Expm1(-b)) - fall}
	t.P, t.Q, t.PC, t.QC = min(t.P, 0), min(t.Q, 0), min(t.PC, 0), min(t.QC, 0)
	if tol > 0 { // a caller's l ± tol rounds as well
		tol += 2 * xmath.U * e.epsilon
	}
	t.Err = e.tailErr(a, tol/2, t.P, t.Q)
	t.ErrC = e.tailErr(b, tol/2, t.PC, t.QC)
	return t
}

// tailErr bounds the errors of the logarithms of two masses with the argument x, which is
// within tol and one rounding of its exact value. A factor 1 + η of x multiplies e^x − 1
// by at most 1 + (1+x)η, and 1 − e^{−x} by less; each logarithm and expm1 rounds by an
// ulp, and so do the differences. Where x falls by tol, e^x − 1 falls by at most the factor
// e^tol·x/(x − tol), as (1 − e^{−x})/x falls with x.
func (e exponential) tailErr(x, tol, p, q float64) float64 {
	err := xmath.U * (12 + 3*x + 3*e.epsilon + 2*math.Abs(xmath.Finite(p)) + 2*math.Abs(xmath.Finite(q)) + 4*math.Abs(xmath.Log(e.epsilon)))
	switch {
	case tol == 0:
		return err
	case tol < x:
		return err + tol - math.Log1p(-tol/x)
	}
	return math.Inf(1)
}

// LogDelta implements hook.LogDeltaer.
func (e exponential) LogDelta(eps float64) (logDelta, err float64) {
	switch {
	case eps <= -e.epsilon:
		v := xmath.Log1mExp(eps)
		return v, 4 * xmath.U * (1 + math.Abs(v))
	case eps >= e.epsilon:
		return math.Inf(-1), 0
	}
	a := (e.epsilon - eps) / 2
	x := xmath.Log(-math.Expm1(-a))
	fall := xmath.Log(-math.Expm1(-e.epsilon))
	// a rounds by one unit, which moves 1 − e^{−a} by no more; expm1 and log by one each,
	// the square doubles that, and the difference rounds.
	v := min(2*x-fall, 0)
	return v, xmath.U * (16 + 4*math.Abs(x) + 4*math.Abs(fall))
}

// Support implements Profile.
func (e exponential) Support() Support {
	return Support{Min: -e.epsilon, Max: e.epsilon, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}

// Transform implements hook.Transformer: M(z) = sinh((2z+1)ε/2)/((2z+1)·sinh(ε/2)), one piece
// of the kind that Laplace noise has between its centres, where Q has the density
// ¼e^{−l/2}/sinh(ε/2) and the likelihood ratio is e^l.
func (e exponential) Transform() transform.Transform {
	// log sinh(ε/2) = ε/2 + log(1 − e^{−ε}) − log 2.
	sinh := e.epsilon/2 + xmath.Log(-math.Expm1(-e.epsilon)) - math.Ln2
	return transform.NewMixed(nil, []transform.Piece{{From: -e.epsilon, To: e.epsilon, LogWeight: -sinh,
		Share: 1, WeightErr: xmath.U * (8 + 2*e.epsilon + 2*math.Abs(sinh))}}, 0, 0, 0)
}
