// Theorem 5 of Zhao and Liu 2023, before sampling: the public choice of the number of
// copies, given that there is one.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GroupMixture returns the public choice of the number of copies, given that there is
// one: Σ_{u≥1} (p_u/η)·δ_u. The hockey-stick divergence of a public choice is the
// weighted sum, for every pair P, Q that mixes pairs with the same weights (joint
// convexity). With what is left out of the law everything is given away. The relation
// says what happens to each copy.
func GroupMixture(b profiles.Base, law Law, r profiles.Relation) (profiles.Profile, error) {
	logEta := math.Log(law.Eta)
	var m publicChoice
	var laplace []float64 // largest losses
	var discrete []*profiles.Discrete
	rest := law.LogAbove[len(law.LogP)]
	for u := 1; u < len(law.LogP); u++ {
		p, err := Group(b, u, r)
		if err != nil {
			if u == 1 || !inRange(b, u, r) {
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
			one, _ := b.Pair(r)
			laplace = append(laplace, float64(u)*one.Support().Max)
		case *profiles.Discrete:
			discrete = append(discrete, p)
		}
		m.items = append(m.items, p)
		m.logW = append(m.logW, law.LogP[u]-logEta)
		m.err = append(m.err, law.Err[u]+law.EtaErr+xmath.U*(2+xmath.FiniteAbs(law.LogP[u])))
	}
	switch {
	case len(laplace) > 0:
		return newLaplaceMixture(laplace, m.logW, m.err, rest-logEta), nil
	case len(discrete) > 0:
		return discreteMixture(discrete, m.logW, m.err, rest-logEta)
	}
	m.setRest(rest - logEta)
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
func inRange(b profiles.Base, u int, r profiles.Relation) bool {
	p, err := b.Pair(r)
	if err != nil {
		return false
	}
	switch p.(type) {
	case profiles.Gaussian, profiles.Laplace:
		return true
	}
	_, err = Group(b, 2, r)
	return err == nil && u > 2
}
