package subsample

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// What is proved of a record that a batch of fixed size can hold several times: one row
// for each scheme, relation and noise. The lower profile is the attack in which all other
// records agree with the substitute (docs/theory/subsampling.md §7, pair B), whatever the
// row. A batch that holds a record at most once has no row: see FixedSize.single.

// A noise is what is known of the mechanism.
type noise int

const (
	gaussianNoise noise = iota
	laplaceNoise
	anyNoise // what has group profiles: Laplace, declared ones
)

// A theorem is a row: the schemes, relation and noise that it is for, where its proof is,
// and the upper profile. Without one the attack is what is lost, exactly.
type theorem struct {
	schemes  []kind
	relation profiles.Relation
	noises   []noise
	source   string // §: of docs/theory/subsampling.md
	upper    func(x sampledNoise) (profiles.Profile, error)
}

var theorems = []theorem{
	{[]kind{withReplacement, mustWO}, profiles.Substitute, []noise{gaussianNoise}, "§4: coupling of copies", sampledNoise.gaussianWR},
	{[]kind{mustOW}, profiles.Substitute, []noise{gaussianNoise}, "§5: §4 within the subset, amplified", sampledNoise.gaussianOWSubstitute},
	{[]kind{mustWW}, profiles.Substitute, []noise{gaussianNoise}, "§6: §4 for each number of slots, with the best shares", sampledNoise.gaussianWW},
	{[]kind{withReplacement, mustWO}, profiles.AddRemove, []noise{gaussianNoise}, "§8: exact", nil},
	{[]kind{mustWW}, profiles.AddRemove, []noise{gaussianNoise}, "§8: §4 for each number of slots, sampled", sampledNoise.gaussianWWAddRemove},
	{[]kind{mustOW}, profiles.AddRemove, []noise{gaussianNoise}, "§8: §4 within the subset, sampled", sampledNoise.gaussianOWAddRemove},
	{[]kind{withReplacement, mustWO, mustOW, mustWW}, profiles.Substitute, []noise{laplaceNoise}, "§4 to §6 with Lemma S", sampledNoise.laplace},
	{[]kind{withReplacement, mustWO, mustOW, mustWW}, profiles.Substitute, []noise{anyNoise}, "§2: Theorem 5 of Zhao and Liu 2023", sampledNoise.groups},
	{[]kind{mustWW}, profiles.AddRemove, []noise{laplaceNoise}, "§8: §4 for each number of slots, sampled", sampledNoise.laplaceWWAddRemove},
	{[]kind{withReplacement, mustWO}, profiles.AddRemove, []noise{laplaceNoise, anyNoise}, "§8: the public choice of the copies, sampled", sampledNoise.groupsAddRemove},
	{[]kind{mustWW}, profiles.AddRemove, []noise{anyNoise}, "§8: the public choice of the copies, sampled with the first stage", sampledNoise.groupsWWAddRemove},
	{[]kind{mustOW}, profiles.AddRemove, []noise{laplaceNoise, anyNoise}, "§8: Theorem 5 within the subset, sampled", sampledNoise.groupsOWAddRemove},
}

// theoremOf returns the row; TestTheoremsCoverEverything says that there is one.
func theoremOf(k kind, r profiles.Relation, n noise) theorem {
	i := slices.IndexFunc(theorems, func(t theorem) bool {
		return t.relation == r && slices.Contains(t.noises, n) && slices.Contains(t.schemes, k)
	})
	return theorems[i]
}

// A sampledNoise is what a row needs.
type sampledNoise struct {
	s     fixedSize
	b     profiles.Mechanism
	law   copies.Law // of the copies
	theta float64    // distance of the means that a copy makes, for Gaussian noise 1
}

func (x sampledNoise) gaussianWR() (profiles.Profile, error) {
	return copies.NewGaussianWR(x.law, x.theta), nil
}

// insideSubset is the second stage of MUST.OW, given that the record is in the subset.
func (s fixedSize) insideSubset() copies.Law { return copies.WithReplacement(s.subset, s.batch) }

func (x sampledNoise) gaussianOWSubstitute() (profiles.Profile, error) {
	return Envelope(copies.NewGaussianWR(x.s.insideSubset(), x.theta), x.s.subsetRate())
}

func (x sampledNoise) gaussianOWAddRemove() (profiles.Profile, error) {
	return PoissonProfile(copies.NewGaussianWR(x.s.insideSubset(), x.theta), x.s.subsetRate())
}

func (x sampledNoise) gaussianWW() (profiles.Profile, error) {
	return x.coupled(copies.GaussianNoise)
}

// coupled is the bound of §4 to §6 for any symmetric log-concave noise.
func (x sampledNoise) coupled(n copies.Noise) (profiles.Profile, error) {
	if x.s.population == 1 { // all draws are the record
		return copies.Group(x.b, int(x.s.batch), profiles.Substitute)
	}
	switch x.s.kind {
	case mustOW:
		p, err := copies.Coupled(n, x.theta, x.s.insideSubset())[0].Profile()
		if err != nil {
			return nil, err
		}
		return Envelope(p, x.s.subsetRate())
	case mustWW:
		return x.staged(n).Curve().Profile()
	}
	return copies.Coupled(n, x.theta, x.law)[0].Profile()
}

// laplace is coupled while losses of single copies are plain numbers.
func (x sampledNoise) laplace() (profiles.Profile, error) {
	if x.theta > 1e3 {
		return x.groups()
	}
	return x.coupled(copies.LaplaceNoise)
}

func (x sampledNoise) groups() (profiles.Profile, error) {
	return amplified(Envelope, x.b, x.law)
}

func (x sampledNoise) groupsAddRemove() (profiles.Profile, error) {
	return amplified(PoissonProfile, x.b, x.law)
}

func (x sampledNoise) gaussianWWAddRemove() (profiles.Profile, error) {
	return x.slotsAddRemove(copies.GaussianNoise)
}

func (x sampledNoise) laplaceWWAddRemove() (profiles.Profile, error) {
	if x.theta > 1e3 {
		return x.groupsWWAddRemove()
	}
	return x.slotsAddRemove(copies.LaplaceNoise)
}

// slotsAddRemove: given how many slots hold the record, if any does, its presence is a substitution in them all.
func (x sampledNoise) slotsAddRemove(n copies.Noise) (profiles.Profile, error) {
	if x.s.population == 1 {
		return copies.Group(x.b, int(x.s.batch), profiles.Substitute)
	}
	return x.staged(n).AddRemove()
}

// staged is the bound of §6 for each number of slots of MUST.WW that hold the record.
func (x sampledNoise) staged(n copies.Noise) copies.Shared {
	return copies.Staged(n, x.theta, x.s.population, x.s.subset, func(j int) copies.Law { return copies.Drawn(x.s.subset, x.s.batch, j) })
}

// groupsWWAddRemove: the batches without the record are those of the data set that lacks it only where no slot holds it,
// so that the rate is that of the first stage.
func (x sampledNoise) groupsWWAddRemove() (profiles.Profile, error) {
	groups, err := copies.GroupMixture(x.b, x.law, profiles.Substitute)
	if err != nil {
		return nil, err
	}
	rate := -math.Expm1(float64(x.s.subset) * math.Log1p(-1/float64(x.s.population)))
	return PoissonProfile(groups, min(1, rate*(1+1e-11)))
}

// groupsOWAddRemove: given the first stage without the record, its presence is a
// substitution in the second with probability b/n.
func (x sampledNoise) groupsOWAddRemove() (profiles.Profile, error) {
	inner, err := amplified(Envelope, x.b, x.s.insideSubset())
	if err != nil {
		return nil, err
	}
	return PoissonProfile(inner, x.s.subsetRate())
}

// amplified samples the public choice of the number of copies, given that there is one,
// with the probability that there is one, rounded up.
func amplified(by func(profiles.Profile, float64) (profiles.Profile, error), b profiles.Mechanism, law copies.Law) (profiles.Profile, error) {
	groups, err := copies.GroupMixture(b, law, profiles.Substitute)
	if err != nil {
		return nil, err
	}
	return by(groups, min(1, law.Eta*(1+2*law.EtaErr+4*xmath.U)))
}
