// Group profiles: Theorem 1 of Zhao and Liu 2023 (Gaussian, Laplace), Theorem 2.2 of
// Dwork and Roth 2014 (pure).

package copies

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

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
