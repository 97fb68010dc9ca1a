// Zero-out in batches of fixed size: docs/theory/subsampling.md §12.

package subsample

import (
	"context"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// zeroOut is Apply under zero-out: the batch is drawn from n places, one of which is empty in
// one of the data sets. The place is drawn as any other, so that another record does not
// move up into it; but where it is not drawn another record is in the batch instead, so that
// Poisson's formula is no bound.
//
// Gaussian: above ε = 0 the others oppose the record, below they agree with it, for each
// number of copies; one step without replacement is exact, but no data set is the worst at
// every ε. Any other mechanism: the bound of substitution, of which an empty place is a
// case. Lower: the others oppose the record (remove), agree with it (add), or all other
// places are empty.
func (s fixedSize) zeroOut(b profiles.Mechanism, substituted profiles.Profile, law copies.Law) (profiles.Bounds, error) {
	one := s.kind == withoutReplacement || s.batch == 1 // a record is there at most once
	rate := ratioUp(s.batch, s.population)
	if one && rate == 1 {
		return profiles.Unsampled(context.Background(), b, profiles.ZeroOut)
	}
	pair, err := b.Pair(profiles.ZeroOut)
	if err != nil {
		return profiles.Bounds{}, err
	}
	if g, ok := pair.(profiles.Gaussian); ok {
		return s.zeroOutGaussian(b, g, law, one)
	}
	m, err := s.apply(b, substituted, law, profiles.Substitute)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m.Relation = profiles.ZeroOut
	reached, err := profiles.Attained(b, pair, profiles.ZeroOut)
	if err != nil {
		return profiles.Bounds{}, err
	}
	var lower profiles.Profile
	if one {
		if lower, err = PoissonProfile(reached, rate); err == nil {
			lower = inexact(lower, rate)
		}
	} else {
		lower, err = attack(reached, law)
	}
	m.Directions[0].Lower = lower
	if err == nil {
		m.Directions[1].Lower = profiles.Reverse(lower)
	}
	return m, err
}

// zeroOutGaussian is zeroOut for Gaussian noise. one says that there is at most one copy.
func (s fixedSize) zeroOutGaussian(b profiles.Mechanism, g profiles.Gaussian, law copies.Law, one bool) (profiles.Bounds, error) {
	theta := 1 / g.NoiseMultiplier()
	oppose, err := copies.NewGaussianOpposed(law, theta)
	if err != nil {
		return profiles.Bounds{}, err
	}
	var up, down, agree profiles.Profile
	if one {
		rate := ratioUp(s.batch, s.population)
		up = copies.NewDisplaced(theta, rate)
		if down, err = PoissonProfile(g, rate); err != nil {
			return profiles.Bounds{}, err
		}
		agree = inexact(down, rate)
	} else {
		rate := min(1, law.Eta*(1+2*law.EtaErr+4*xmath.U))
		if up, err = copies.DisplacedMixture(b, law, rate); err != nil {
			return profiles.Bounds{}, err
		}
		groups, err := copies.GroupMixture(b, law, profiles.ZeroOut)
		if err != nil {
			return profiles.Bounds{}, err
		}
		if down, err = PoissonProfile(groups, rate); err != nil {
			return profiles.Bounds{}, err
		}
		agree = copies.NewGaussianAttack(law, theta)
	}
	upper := copies.Joined{Up: up, Down: down}
	return profiles.Bounds{Name: b.Name(), Relation: profiles.ZeroOut, Directions: [2]profiles.Direction{
		{Upper: upper, Lower: oppose},
		{Upper: profiles.Reverse(upper), Lower: agree},
	}}, nil
}

// Proof (docs/theory/subsampling.md §12): attacks.
//
// Attacks. Remove: all others −x, `(Σ p_u N(2uθ), Σ p_u N(uθ))`, whose likelihood ratio is not monotone (it falls below
// 1 between); the output is told apart by cells only, which lowers the divergence. Add: all others x, `(Σ p_u N(uθ),
// N(0))`. One data set is not the worst at every α, so a gap remains under composition.

// Proof (docs/theory/subsampling.md §12): several copies.
//
// Several copies (Gaussian). `P − αQ = Σ_{u≥1} p_u[N(Y_u) − αN(Y°_u)] − (α−1)p_0N(Y_0)`. In the couplings of §2 (for OW
// and WW those of the proof of Theorem 5) a sample with u copies and one without differ in these u places only, so that
// Y_u, Y°_u, Y_0 are a triangle of Theorem Z enlarged u times: |Y_u − Y_0| ≤ 2u, |Y_u − Y°_u| ≤ u, |Y°_u − Y_0| ≤ u.
// Give each u the part p_u/η of Q_0:
//
//	h(α) ≤ Σ_{u≥1} (p_u/η)·h_Z(α; rate η, distance uθ),
//
// in both directions: the public choice of the number of copies, each at the rate η. (The best shares, as in §4, would
// be a little less.) Adaptive composition is covered, as each step's bound holds for every history.

// Proof (docs/theory/subsampling.md §12): Theorem Z.
//
// Joint convexity reduces both to the worst (x, z), |x|, |z| ≤ 1, and for α ≥ 1 the divergence is qΦ of §10 with the
// empty place as x'. Remove: s = |x−z|, t = |z|, r = |x|; Φ grows in s and r and falls in t (Theorem C (D)), and s ≤ r
// + t ≤ 1 + t. So the triangle is at most the flat one with r = 1 and s = 1 + t: centres 1, −t and 0 on a line. There
// the likelihood ratios of N(1) to N(−t) and to N(0) both grow, so that the positive part is a half line y > y₀, and
// the derivative in t is `aφ(y₀ + t) > 0` (in units of σ): the largest t, 1, is the worst, which is A. Add: s = |z| ≤
// 1, r = |x| ≤ 1, t = |x − z| ≥ 0, and z = x attains all three: the divergence of N(0) from `(a + b)N(1)` at a + b = 1
// + (α−1)/q, which is B. As the largest of the profiles of all (x, z), the two halves together are convex. ∎
