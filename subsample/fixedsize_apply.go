// The mechanism on a batch of fixed size: a row of the table above, an attack below.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// Apply implements Scheme.
//
// Substitute. Upper: the Gaussian has the coupling bounds of
// docs/theory/subsampling.md §4 to §6, any other mechanism Theorem 5 of Zhao and Liu 2023 with its repaired
// proof; both extended below ε = 0 by reflection. Lower: the pair in which all
// other records agree with the substitute (pair B of §7 there). The upper profile
// is proved for adaptive composition with fresh samples; the pair is a fixed
// data set, so it is an attack on a fixed mechanism run again and again, too.
//
// Add-remove: the data set without the record is sampled by the same scheme
// with the same sizes, so the record is replaced in the sample by others, which
// moves the mean by the substitution sensitivity. For the Gaussian this is known
// exactly, but for MUST.OW and MUST.WW (§8 there). Where all records are in the sample or its subset, no data set without
// one of them has such a sample: the answer holds where a record is added to so many.
//
// Zero-out: see zeroOut.
func (s fixedSize) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return profiles.Bounds{}, err
	}
	law := s.Multiplicity()
	if r == profiles.ZeroOut {
		return s.zeroOut(b, pair, law)
	}
	m, err := s.apply(b, pair, law, r)
	if err == nil && r == profiles.Substitute {
		m.Together = s.together(b, pair, law)
	}
	return m, err
}

func (s fixedSize) apply(b profiles.Mechanism, pair profiles.Profile, law copies.Law, r profiles.Relation) (profiles.Bounds, error) {
	if s.kind == withoutReplacement || s.batch == 1 {
		return s.single(b, pair, r)
	}
	x := sampledNoise{s: s, b: b, law: law}
	noise := anyNoise
	switch p := pair.(type) {
	case profiles.Gaussian:
		noise, x.theta = gaussianNoise, 1/p.NoiseMultiplier()
	case profiles.Laplace:
		noise, x.theta = laplaceNoise, 1/p.NoiseMultiplier()
	}
	row := theoremOf(s.kind, r, noise)
	if row.upper == nil { // what is attained
		return profiles.NewBounds(b.Name(), r, copies.NewGaussianAttack(law, x.theta)), nil
	}
	reached, err := profiles.Attained(b, pair, profiles.Substitute)
	if err != nil {
		return profiles.Bounds{}, err
	}
	lower, err := attack(reached, law)
	if err != nil {
		return profiles.Bounds{}, err
	}
	upper, err := row.upper(x)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return between(b.Name(), r, upper, lower, true), nil
}

// subsetRate is b/n, rounded up: the profiles that use it grow with it.
func (s fixedSize) subsetRate() float64 {
	return ratioUp(s.subset, s.population)
}

func ratioUp(a, b int64) float64 {
	q := float64(a) / float64(b)
	if math.FMA(q, float64(b), -float64(a)) < 0 {
		q = math.Nextafter(q, 1)
	}
	return q
}

// single is the case of at most one copy, for any mechanism: it takes part with
// probability m/n, and another record takes its place otherwise. The attack is that on the
// pair in its own order, what dominates is for either order.
func (s fixedSize) single(b profiles.Mechanism, pair profiles.Profile, r profiles.Relation) (profiles.Bounds, error) {
	rate := ratioUp(s.batch, s.population)
	reached, err := profiles.Attained(b, pair, profiles.Substitute)
	if err != nil {
		return profiles.Bounds{}, err
	}
	attack, err := PoissonProfile(reached, rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	attack = inexact(attack, rate)
	dominates := pair
	if r == profiles.AddRemove || rate < 1 { // else there is no sampling
		if dominates, err = eitherOrder(b.Name(), pair); err != nil {
			return profiles.Bounds{}, err
		}
		if r != profiles.AddRemove {
			upper, err := Envelope(dominates, rate)
			if err != nil {
				return profiles.Bounds{}, err
			}
			return between(b.Name(), r, upper, attack, profiles.Equal(pair, dominates)), nil
		}
	}
	if profiles.Equal(reached, dominates) {
		return profiles.NewBounds(b.Name(), r, attack), nil
	}
	upper, err := PoissonProfile(dominates, rate)
	if err != nil {
		return profiles.Bounds{}, err
	}
	return between(b.Name(), r, inexact(upper, rate), attack, true), nil
}

// between returns the mechanism between an attack and an upper profile. Under
// substitution both orders of two data sets are neighbours, so that a pair is an
// attack in either direction; symmetric says that both directions may have it.
func between(name string, r profiles.Relation, upper, lower profiles.Profile, symmetric bool) profiles.Bounds {
	one := profiles.Direction{Upper: upper, Lower: lower}
	two := profiles.Direction{Upper: profiles.Reverse(upper), Lower: profiles.Reverse(lower)}
	if r == profiles.Substitute && symmetric {
		two = one
	}
	return profiles.Bounds{Name: name, Relation: r, Directions: [2]profiles.Direction{one, two}}
}

// Theorem5 implements FixedSize.
func (s fixedSize) Theorem5(b profiles.Mechanism) (profiles.Profile, error) {
	law := s.Multiplicity()
	m, err := copies.GroupMixture(b, law, profiles.Substitute)
	if err != nil {
		return nil, err
	}
	return Envelope(m, min(1, law.Eta))
}

// Attack implements FixedSize.
func (s fixedSize) Attack(b profiles.Mechanism) (profiles.Profile, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	if pair, err = profiles.Attained(b, pair, profiles.Substitute); err != nil {
		return nil, err
	}
	return attack(pair, s.Multiplicity())
}

// attack is Attack on the pair of the mechanism and the law of the copies.
func attack(pair profiles.Profile, law copies.Law) (profiles.Profile, error) {
	switch p := pair.(type) {
	case profiles.Gaussian:
		return copies.NewGaussianAttack(law, 1/p.NoiseMultiplier()), nil
	case profiles.Laplace:
		return copies.NewLaplaceAttack(law, 1/p.NoiseMultiplier()), nil
	}
	// A declared mechanism may tell whether the record is there, however often.
	return PoissonProfile(pair, law.Eta)
}

// PaperPairNotABound implements FixedSize.
func (s fixedSize) PaperPairNotABound(b profiles.Mechanism) (profiles.Profile, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	g, ok := pair.(profiles.Gaussian)
	if !ok {
		return nil, fault.New("mechanism", "%q is not in [gaussian], the only one the paper composes", b.Name())
	}
	return copies.NewGaussianOpposite(s.Multiplicity(), 1/g.NoiseMultiplier()), nil
}

// Proof (docs/theory/subsampling.md §2): Theorem 5.
//
// Write `M(X) = (1−η)μ_0 + ημ_1`, where μ_0 is the output given U = 0, the same for X and X', and μ_1, μ_1' the
// outputs given U ≥ 1. By advanced joint convexity (Balle, Barthe, Gaboardi 2018, Theorem 2), with `α = e^ε`,
// `α' = e^ε'`, `β = α'/α`, `H_α'(M(X)‖M(X')) ≤ η[(1−β)H_α(μ_1‖μ_0) + βH_α(μ_1‖μ_1')]`. Each divergence is at most
// `Σ (p_u/η)δ_u(ε)` if samples given U ≥ 1 can be coupled with samples of the other kind such that a sample with u
// copies differs in at most u positions.
//
//   - μ_1 against μ_1': replace x by x'.
//   - μ_1 against μ_0, WR: replace the copies by independent other records.
//   - OW: without x in the subset, let z be a uniformly chosen member of it and V the number of times z was drawn, the
//     other members being W. Given V ≥ 1, V has the law of U given U ≥ 1, and turning z into x gives a sample with that
//     many copies. Given V = 0 the sample is drawn from W alone: turn copies of x into draws from W. If x is in the subset
//     but not drawn, the same.
//   - WW: let j slots hold x in one sample and j' in the other. The law of j given U ≥ 1 dominates that given U = 0 in
//     likelihood ratio, so they can be coupled with j' ≤ j. Draws from the j − j' slots that change are Bin(m,
//     (j−j')/(b−j')), stochastically below U given j because (j−j')/(b−j') ≤ j/b. ∎
