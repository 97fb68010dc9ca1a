// Theorem 5 of Zhao and Liu 2023, before sampling: the public choice of the number of
// copies, given that there is one.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GroupMixture returns the public choice of the number of copies, given that there is
// one: Σ_{u≥1} (p_u/η)·δ_u. The hockey-stick divergence of a public choice is the
// weighted sum, for every pair P, Q that mixes pairs with the same weights (joint
// convexity). With what is left out of the law everything is given away. The relation
// says what happens to each copy.
func GroupMixture(b profiles.Mechanism, law Law, r profiles.Relation) (profiles.Profile, error) {
	return MixtureOf(law, func(u int) (profiles.Profile, error) { return Group(b, u, r) })
}

// maxMixedAtoms bounds what the public choice of discrete profiles lists.
const maxMixedAtoms = 1 << 22

// MixtureOf is GroupMixture for the profiles of groups that group has. Where it has one of two
// records but none of u, shifts are beyond what profiles allow, and are given away.
func MixtureOf(law Law, group func(u int) (profiles.Profile, error)) (profiles.Profile, error) {
	logEta := xmath.Log(law.Eta)
	var m publicChoice
	laplace := false
	var discrete []*profiles.Discrete
	atoms := 0
	rest := law.LogAbove[len(law.LogP)]
	shifting := false
	for u := 1; u < len(law.LogP); u++ {
		p, err := group(u)
		if err != nil {
			if u == 1 || u == 2 && !shifting {
				return nil, err
			}
			rest = law.LogAbove[u]
			break
		}
		if u == 1 {
			switch p.(type) {
			case profiles.Gaussian, profiles.Laplace:
				shifting = true // every group has a profile, in range or not
			}
		}
		if math.IsInf(law.LogP[u], -1) {
			continue
		}
		switch p := p.(type) {
		case profiles.Laplace:
			laplace = true
		case *profiles.Discrete:
			discrete = append(discrete, p)
			if atoms += len(p.Atoms()); atoms > maxMixedAtoms {
				return nil, fault.New("mechanism", "a choice of up to %d groups has more than %d outcomes", len(law.LogP)-1, maxMixedAtoms)
			}
		}
		m.items = append(m.items, p)
		m.logW = append(m.logW, law.LogP[u]-logEta)
		m.err = append(m.err, law.Err[u]+law.EtaErr+xmath.U*(2+xmath.FiniteAbs(law.LogP[u])))
	}
	if len(discrete) > 0 {
		return discreteMixture(discrete, m.logW, m.err, rest-logEta)
	}
	m.setRest(rest - logEta)
	if laplace {
		return laplaceChoice{&m}, nil
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

// Group profiles: Theorem 1 of Zhao and Liu 2023 (Gaussian, Laplace), Theorem 2.2 of
// Dwork and Roth 2014 (pure).

// Group returns the profile of base when size records are replaced at once, or
// size copies of one (substitute), or added or removed (add-remove): δ_j of
// docs/theory/subsampling.md.
//
// Gaussian and Laplace noise: the shift is size times the sensitivity (Zhao and
// Liu 2023, Theorem 1). Pure differential privacy: ε grows by size (Dwork and
// Roth 2014, Theorem 2.2). Other mechanisms have no proved group profile here.
func Group(base profiles.Mechanism, size int, r profiles.Relation) (profiles.Profile, error) {
	if size < 1 {
		return nil, fault.In("group", fault.New("size", "%d is not in [1, ∞)", size))
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
	return nil, fault.New("mechanism", "%q is not in [gaussian, laplace, pure], which have proved group profiles", base.Name())
}
