package subsample

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Group returns the profile of base when size records are replaced at once, or
// size copies of one (substitute), or added or removed (add-remove): δ_j of
// docs/theory/subsampling.md.
//
// Gaussian and Laplace noise: the shift is size times the sensitivity (Zhao and
// Liu 2023, Theorem 1). Pure differential privacy: ε grows by size (Dwork and
// Roth 2014, Theorem 2.2). Other mechanisms have no proved group profile here.
func Group(base profiles.Base, size int, r profiles.Relation) (profiles.Profile, error) {
	if size < 1 {
		return nil, fmt.Errorf("group: size: %d is not in [1, ∞)", size)
	}
	p, err := base.Pair(r)
	if err != nil || size == 1 {
		return p, err
	}
	switch p := p.(type) {
	case profiles.Gaussian:
		return profiles.NewGaussian(p.NoiseMultiplier() / float64(size))
	case profiles.Laplace:
		return profiles.NewLaplace(p.NoiseMultiplier() / float64(size))
	case *profiles.Discrete:
		if base.Name() == "pure" {
			as := p.Atoms()
			b, err := profiles.NewPure(as[len(as)-1].Loss * float64(size))
			if err != nil {
				return nil, err
			}
			return b.Pair(r)
		}
	}
	return nil, fmt.Errorf("mechanism: %q is not in [gaussian, laplace, pure], which have proved group profiles", base.Name())
}

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
// exactly, but for MUST.OW (§8 there).
func (s FixedSize) Apply(b profiles.Base, r profiles.Relation) (profiles.Mechanism, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	law := s.Multiplicity()
	m, err := s.apply(b, pair, law, r)
	if err == nil && r == profiles.Substitute {
		if t, err := s.adaptiveBound(b, pair, law); err == nil {
			m.Together = t
		}
	}
	return m, err
}

func (s FixedSize) apply(b profiles.Base, pair profiles.Profile, law Law, r profiles.Relation) (profiles.Mechanism, error) {
	fail := func(err error) (profiles.Mechanism, error) { return profiles.Mechanism{}, err }
	if s.kind == withoutReplacement || s.batch == 1 {
		return s.single(b, pair, r)
	}
	g, isGaussian := pair.(profiles.Gaussian)
	if isGaussian && r == profiles.AddRemove && s.kind != mustOW {
		return profiles.NewMechanism(b.Name(), r, NewGaussianAttack(law, 1/g.NoiseMultiplier())), nil
	}
	reached, err := attained(b, pair, profiles.Substitute)
	if err != nil {
		return fail(err)
	}
	lower, err := attack(reached, law)
	if err != nil {
		return fail(err)
	}
	if !isGaussian {
		groups, err := GroupMixture(b, law)
		if err != nil {
			return fail(err)
		}
		eta := min(1, law.Eta*(1+2*law.EtaErr+4*xmath.U))
		if r == profiles.AddRemove && s.kind == mustOW {
			// Given the first stage without the record, its presence is a
			// substitution in the second with probability b/n.
			in := Binomial(s.batch, 1/float64(s.subset), float64(s.subset-1)/float64(s.subset))
			if groups, err = GroupMixture(b, in); err != nil {
				return fail(err)
			}
			inner, err := Envelope(groups, min(1, in.Eta*(1+2*in.EtaErr+4*xmath.U)))
			if err != nil {
				return fail(err)
			}
			p, err := PoissonProfile(inner, s.subsetRate())
			if err != nil {
				return fail(err)
			}
			return between(b.Name(), r, p, lower, true), nil
		}
		amplify := Envelope
		if r == profiles.AddRemove {
			amplify = PoissonProfile
		}
		p, err := amplify(groups, eta)
		if err != nil {
			return fail(err)
		}
		return between(b.Name(), r, p, lower, true), nil
	}
	theta := 1 / g.NoiseMultiplier()
	var upper profiles.Profile
	switch s.kind {
	case mustOW:
		in := NewGaussianWR(Binomial(s.batch, 1/float64(s.subset), float64(s.subset-1)/float64(s.subset)), theta)
		if r == profiles.AddRemove {
			upper, err = PoissonProfile(in, s.subsetRate())
		} else {
			upper, err = Envelope(in, s.subsetRate())
		}
	case mustWW:
		upper = newGaussianWWTable(s.stagedProfile(law, theta))
	default:
		upper = NewGaussianWR(law, theta)
	}
	if err != nil {
		return fail(err)
	}
	return between(b.Name(), r, upper, lower, true), nil
}

// subsetRate is b/n, rounded up: the profiles that use it grow with it.
func (s FixedSize) subsetRate() float64 {
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
// probability m/n, and another record takes its place otherwise.
func (s FixedSize) single(b profiles.Base, pair profiles.Profile, r profiles.Relation) (profiles.Mechanism, error) {
	rate := ratioUp(s.batch, s.population)
	attack, err := PoissonProfile(pair, rate)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	attack = inexact(attack, rate)
	reached, err := attained(b, pair, profiles.Substitute)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	if !profiles.Equal(reached, pair) { // attack dominates under add-remove, but is not one
		below, err := PoissonProfile(reached, rate)
		if err != nil {
			return profiles.Mechanism{}, err
		}
		upper := attack
		attack = inexact(below, rate)
		if r == profiles.AddRemove || rate == 1 {
			return between(b.Name(), r, upper, attack, true), nil
		}
	}
	if r == profiles.AddRemove || rate == 1 {
		return profiles.NewMechanism(b.Name(), r, attack), nil
	}
	upper, err := Envelope(pair, rate)
	if err != nil {
		return profiles.Mechanism{}, err
	}
	return between(b.Name(), r, upper, attack, profiles.Equal(pair, profiles.Reverse(pair))), nil
}

// between returns the mechanism between an attack and an upper profile. Under
// substitution both orders of two data sets are neighbours, so that a pair is an
// attack in either direction; symmetric says that upper is its own reverse.
func between(name string, r profiles.Relation, upper, lower profiles.Profile, symmetric bool) profiles.Mechanism {
	one := profiles.Direction{Upper: upper, Lower: lower}
	two := profiles.Direction{Upper: profiles.Reverse(upper), Lower: profiles.Reverse(lower)}
	if r == profiles.Substitute && symmetric {
		two = one
	}
	return profiles.Mechanism{Name: name, Relation: r, Directions: [2]profiles.Direction{one, two}}
}

// groupMixture is the public choice of the number of copies, given that there is
// one: Σ_{u≥1} (p_u/η)·δ_u. The hockey-stick divergence of a public choice is the
// weighted sum, for every pair P, Q that mixes pairs with the same weights (joint
// convexity). With what is left out of the law everything is given away.
func GroupMixture(b profiles.Base, law Law) (profiles.Profile, error) {
	logEta := math.Log(law.Eta)
	var m publicChoice
	var laplace []float64 // largest losses
	var discrete []*profiles.Discrete
	rest := law.LogAbove[len(law.LogP)]
	for u := 1; u < len(law.LogP); u++ {
		p, err := Group(b, u, profiles.Substitute)
		if err != nil {
			if u == 1 || !inRange(b, u) {
				return nil, err
			}
			rest = law.LogAbove[u] // shifts beyond what profiles allow count as given away
			break
		}
		if math.IsInf(law.LogP[u], -1) {
			continue
		}
		switch p := p.(type) {
		case profiles.Laplace:
			one, _ := b.Pair(profiles.Substitute)
			laplace = append(laplace, float64(u)*one.Support().Max)
		case *profiles.Discrete:
			discrete = append(discrete, p)
		}
		m.items = append(m.items, p)
		m.logW = append(m.logW, law.LogP[u]-logEta)
		m.err = append(m.err, law.Err[u]+law.EtaErr+xmath.U*(2+xmath.FiniteAbs(law.LogP[u])))
	}
	n := len(m.items)
	switch {
	case len(laplace) > 0:
		return newLaplaceMixture(laplace, m.logW, m.err, rest-logEta), nil
	case len(discrete) > 0:
		return discreteMixture(discrete, m.logW, m.err, rest-logEta)
	}
	m.above = make([]float64, n+1)
	m.above[n] = rest - logEta
	for u := n - 1; u >= 0; u-- {
		m.above[u] = xmath.LogAdd(m.above[u+1], m.logW[u])
	}
	return &m, nil
}

// discreteMixture lists the atoms of the public choice of item i with probability
// e^logW[i], known to errs[i]; with e^rest everything is given away.
func discreteMixture(items []*profiles.Discrete, logW, errs []float64, rest float64) (profiles.Profile, error) {
	var atoms []profiles.Atom
	logPInf, logQInf, massErr, lossErr := rest, rest, 0.0, 0.0
	for i, d := range items {
		s, w := d.Support(), logW[i]
		for _, a := range d.Atoms() {
			atoms = append(atoms, profiles.Atom{Loss: a.Loss, LogP: w + a.LogP, LogQ: w + a.LogQ})
		}
		logPInf, logQInf = xmath.LogAdd(logPInf, w+s.LogPInf), xmath.LogAdd(logQInf, w+s.LogQInf)
		// The logarithm x of a mass is at least as far from 0 as each part of it.
		massErr = max(massErr, d.MassErr()+errs[i]/(1+math.Abs(w))+4*xmath.U)
		lossErr = max(lossErr, s.LossErr)
	}
	return profiles.NewDiscrete(atoms, logPInf, logQInf, massErr, lossErr)
}

// inRange reports whether base has group profiles at all, so that size u fails
// only because the shift is too large.
func inRange(b profiles.Base, u int) bool {
	_, err := Group(b, 2, profiles.Substitute)
	return err == nil && u > 2
}

// Theorem5 returns the single-step bound of Theorem 5 of Zhao and Liu 2023 as a
// profile: δ'(ε') = Σ_u p_u δ_u(ε) at ε' = log(1 + η(e^ε − 1)), reflected below
// 0. Relation: substitute. Apply is tighter for the Gaussian.
func (s FixedSize) Theorem5(b profiles.Base) (profiles.Profile, error) {
	law := s.Multiplicity()
	m, err := GroupMixture(b, law)
	if err != nil {
		return nil, err
	}
	return Envelope(m, min(1, law.Eta))
}

// Attack returns the pair of outputs on two concrete data sets that differ by
// one substitution: all other records agree with the substitute and are as far
// from the record as the sensitivity allows (docs/theory/subsampling.md §7, pair B). It is legal
// for a fixed mechanism, and a lower bound on the privacy profile at every ε.
func (s FixedSize) Attack(b profiles.Base) (profiles.Profile, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	if pair, err = attained(b, pair, profiles.Substitute); err != nil {
		return nil, err
	}
	return attack(pair, s.Multiplicity())
}

// attack is Attack on the pair of the mechanism and the law of the copies.
func attack(pair profiles.Profile, law Law) (profiles.Profile, error) {
	switch p := pair.(type) {
	case profiles.Gaussian:
		return NewGaussianAttack(law, 1/p.NoiseMultiplier()), nil
	case profiles.Laplace:
		return NewLaplaceAttack(law, 1/p.NoiseMultiplier()), nil
	}
	// A declared mechanism may tell whether the record is there, however often.
	return PoissonProfile(pair, law.Eta)
}

// PaperPairNotABound returns the pair that Zhao and Liu 2023 (equations 6–8)
// compose: mixtures at +u and at −u. It is the pair of two data sets whose other
// records contribute nothing, and not a dominating pair: other data sets lose
// far more privacy (docs/theory/must-composition.md). Only for reproduction.
// Relation: substitute; the mechanism must be Gaussian.
func (s FixedSize) PaperPairNotABound(b profiles.Base) (profiles.Profile, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	g, ok := pair.(profiles.Gaussian)
	if !ok {
		return nil, fmt.Errorf("mechanism: %q is not in [gaussian], the only one the paper composes", b.Name())
	}
	return NewGaussianOpposite(s.Multiplicity(), 1/g.NoiseMultiplier()), nil
}

// inexact widens the errors of a Poisson profile whose rate q is known to one
// rounding only: log(1 − q + q e^y) moves by (1 − e^{−l})·dq/q, the weights q and
// 1 − q by dq/q and dq/(1 − q).
func inexact(p profiles.Profile, rate float64) profiles.Profile {
	if rate == 0 || rate == 1 {
		return p
	}
	d := 2 * xmath.U * max(1, rate/(1-rate))
	if x, ok := p.(*profiles.Discrete); ok {
		s := x.Support()
		move := 0.0
		for _, a := range x.Atoms() {
			move = max(move, math.Abs(math.Expm1(-a.Loss))*2*xmath.U)
		}
		y, err := profiles.NewDiscrete(x.Atoms(), s.LogPInf, s.LogQInf, x.MassErr()+d, s.LossErr+move)
		if err != nil {
			return p
		}
		return y
	}
	return rounded{p, d}
}

type rounded struct {
	profiles.Profile
	d float64
}

func (r rounded) Tails(eps, tol float64) profiles.Tails {
	t := r.Profile.Tails(eps, tol+2*xmath.U*math.Abs(math.Expm1(-max(eps, -700))))
	t.Err += r.d
	t.ErrC += r.d
	return t
}

func (r rounded) Support() profiles.Support {
	s := r.Profile.Support()
	for _, a := range s.Atoms {
		s.LossErr = max(s.LossErr, 2*xmath.U*math.Abs(math.Expm1(-a)))
	}
	return s
}
