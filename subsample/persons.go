// What one run loses about a person with several records: which theorem is for which
// mechanism, scheme and relation; the proofs stand at the end.

package subsample

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// ofPersons returns one run of b on a sample drawn by s, or on the whole data set where s is
// nil, as it is to a person with at most so many records: neighbours differ by that many
// records, added or removed (add-remove), replaced by as many (substitute), or by empty places
// (zero-out). Each record is
// bounded as one is in b, and its part in a run depends on nothing but itself and earlier
// outputs.
//
// Gaussian noise, with Poisson sampling or none, is exact: the binomial mixture of the numbers
// of records that take part (Charles, Ganesh, McMahan and others 2024; the end of this file has the
// proof). So is any noise on the whole data set whose size group is known. Laplace noise and
// noise on whole numbers under Poisson sampling lie between the public choice of that number
// and the attack by equal records. Everything else is a chain of single changes (Dong, Roth
// and Su 2022, Theorem 2.14), and its attack is that by one record.
func ofPersons(ctx context.Context, b profiles.Mechanism, s Scheme, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if err := noiserange.CheckRecords(records); err != nil {
		return profiles.Bounds{}, err
	}
	if name := b.Name(); records > 1 && (name == "threshold" || name == "select-partitions") {
		return profiles.Bounds{}, fault.New("records-per-person", "%d is not for %s, which is about persons already: its partitions limit what one contributes", records, name)
	}
	g := group{b, r, int(records)}
	switch s := s.(type) {
	case nil:
		return g.whole(ctx)
	case poissonScheme:
		if s.rate == 1 {
			return g.whole(ctx)
		}
		return g.coins(s)
	case fixedSize:
		if records > 1 {
			return g.batches(s)
		}
	default:
		if err := CheckChain(s, r, records); err != nil {
			return profiles.Bounds{}, err
		}
	}
	one, err := s.Apply(b, r)
	if err != nil {
		return one, err
	}
	return Chain(one, records)
}

// CheckChain returns an error if nothing is known of a chain of single changes under s: when
// records are removed one after the other, all that s says must hold for each number of them.
func CheckChain(s Scheme, r profiles.Relation, records int64) error {
	// In a random allocation no record's part depends on how many others there are.
	if records > 1 && r == profiles.AddRemove && s.Name() != "random-allocation" {
		return fault.New("sampling", "nothing is proved about %s for persons with several records under %v", s.Name(), r)
	}
	return nil
}

// Chain returns the mechanism for persons of which m is the one for single records: whatever
// m is, as long as it says the same of every pair of neighbours on the way. The attack is that
// by one record.
func Chain(m profiles.Bounds, records int64) (profiles.Bounds, error) {
	if records == 1 {
		return m, nil
	}
	up := [2]profiles.Profile{m.Directions[0].Upper, m.Directions[1].Upper}
	if m.Relation == profiles.Substitute { // the records of a person may be replaced in different orders
		var err error
		if up[0], err = eitherOrder(m.Name, up[0]); err != nil {
			return profiles.Bounds{}, err
		}
		up[1] = up[0]
	}
	return chained(m.Name, m.Relation, [2][]link{{{up[0], int(records)}}, {{up[1], int(records)}}},
		[2]profiles.Profile{m.Directions[0].Lower, m.Directions[1].Lower})
}

// chained returns the mechanism of a chain for each direction, with its attacks.
func chained(name string, r profiles.Relation, links [2][]link, lower [2]profiles.Profile) (profiles.Bounds, error) {
	out := profiles.Bounds{Name: name, Relation: r}
	for d := range links {
		if d == 1 && sameLinks(links[0], links[1]) {
			out.Directions[1] = profiles.Direction{Upper: out.Directions[0].Upper, Lower: lower[1]}
			break
		}
		up, err := shifted(links[d])
		if up == nil && err == nil {
			up, err = chain(links[d], 1)
		}
		if err != nil {
			return out, err
		}
		out.Directions[d] = profiles.Direction{Upper: up, Lower: lower[d]}
	}
	return out, nil
}

// shifted returns the profile of a chain whose links are all the same Gaussian or Laplace pair,
// which are those of a shift: k of them are a shift k times as far. It is nil for other chains.
func shifted(links []link) (profiles.Profile, error) {
	if len(links) != 1 {
		return nil, nil
	}
	switch p := links[0].p.(type) {
	case profiles.Gaussian:
		return profiles.NewGaussian(p.NoiseMultiplier() / float64(links[0].times))
	case profiles.Laplace:
		return profiles.NewLaplace(p.NoiseMultiplier() / float64(links[0].times))
	}
	return nil, nil
}

func sameLinks(a, b []link) bool {
	return slices.EqualFunc(a, b, func(x, y link) bool { return x.times == y.times && profiles.Equal(x.p, y.p) })
}

// A group is a mechanism and the records of a person.
type group struct {
	b    profiles.Mechanism
	r    profiles.Relation
	size int
}

// whole is a run on the whole data set.
func (g group) whole(ctx context.Context) (profiles.Bounds, error) {
	if b, ok := g.b.(trait.Grouper); ok {
		together, err := b.Grouped(g.size)
		var m profiles.Bounds
		if err == nil {
			m, err = profiles.Unsampled(ctx, together, g.r)
		}
		// Where the group's own vectors cannot be listed, the chain is still good.
		if err == nil || b.Name() != "discrete-gaussian" {
			return m, err
		}
	}
	one, err := profiles.Unsampled(ctx, g.b, g.r)
	if err != nil || g.size == 1 {
		return one, err
	}
	up := one.Directions[0].Upper
	if g.b.Name() == "pure" && g.size < maxKinks {
		p, err := pureChain(up.Support().Max, g.size)
		return profiles.NewBounds(g.b.Name(), g.r, p), err
	}
	m, err := Chain(one, int64(g.size))
	if n := g.b.Name(); err != nil || n != "pure" && n != "approximate" || !profiles.Equal(up, profiles.Reverse(up)) {
		return m, err
	}
	// A symmetric roc is that of some noise on a number (Awan and Vadhan 2023), whose shift by
	// a whole number attains the chain.
	below, err := chain([]link{{up, g.size}}, -1)
	for d := range m.Directions {
		m.Directions[d].Lower = below
	}
	m.Numerical = true
	return m, err
}

// coins is a run on the records whose coins say so.
func (g group) coins(s poissonScheme) (profiles.Bounds, error) {
	b, ok := g.b.(trait.Grouper)
	if ok && b.Name() == "discrete-gaussian" && g.size > 1 {
		together, err := b.Grouped(g.size)
		if err == nil {
			_, err = together.Pair(g.r)
		}
		ok = err == nil // else a chain, as in whole
	}
	if !ok || s.rate == 0 || g.size == 1 {
		one, err := s.Apply(g.b, g.r)
		if err != nil {
			return one, err
		}
		return Chain(one, int64(g.size))
	}
	pair, err := b.Pair(profiles.AddRemove)
	if err != nil {
		return profiles.Bounds{}, err
	}
	law := copies.Coins(int64(g.size), s.rate)
	if noise, ok := pair.(profiles.Gaussian); ok {
		return g.gaussian(law, 1/noise.NoiseMultiplier()), nil
	}
	upper, err := g.publicChoice(b, s, law)
	if err != nil {
		return profiles.Bounds{}, err
	}
	lower, err := g.equalRecords(b, s, law)
	return between(b.Name(), g.r, upper, lower, true), err
}

// gaussian is the binomial mixture: against no shift under add-remove, against the opposite
// shifts under substitution. It dominates and is attained (theorems 1 and 2).
func (g group) gaussian(law copies.Law, theta float64) profiles.Bounds {
	opposite := g.r == profiles.Substitute
	var p profiles.Profile = copies.NewGaussianAttack(law, theta)
	if opposite {
		p = copies.NewGaussianOpposite(law, 2*theta)
	}
	m := profiles.NewBounds(g.b.Name(), g.r, p)
	if rest := law.LogAbove[len(law.LogP)]; !math.IsInf(rest, -1) {
		up := copies.GiveRest(p, rest, opposite)
		m.Directions[0].Upper, m.Directions[1].Upper, m.Numerical = up, profiles.Reverse(up), true
	}
	return m
}

// publicChoice gives the number of records that take part away. Given that it is u, the pair is
// that of u records; that there is one at all has the probability of the law, which is secret.
func (g group) publicChoice(b trait.Grouper, s poissonScheme, law copies.Law) (profiles.Profile, error) {
	groups, err := copies.MixtureOf(law, func(u int) (profiles.Profile, error) {
		together, err := b.Grouped(u)
		if err != nil {
			return nil, err
		}
		return together.Pair(g.r)
	})
	if err != nil {
		return nil, err
	}
	rate := min(1, law.Eta*(1+2*law.EtaErr+4*xmath.U))
	if g.r == profiles.Substitute {
		return Envelope(groups, rate)
	}
	return PoissonProfile(groups, rate)
}

// A groupMixer is a Grouper that knows the attack by equal records, of which a random
// number take part.
type groupMixer interface {
	// GroupMixture returns the profile of Σ_u w_u M(u) against M(0), or, with opposite,
	// against Σ_u w_u M(−u), where u records move the sum by u sensitivities and log w_u
	// is logW[u], up to weightErr·(1 + |logW[u]|). It is nil where that takes too many
	// outcomes.
	GroupMixture(logW []float64, weightErr float64, opposite bool) (profiles.Profile, error)
}

// equalRecords is the attack by records that are all the same, against none or, under
// substitution, against records that contribute the opposite.
func (g group) equalRecords(b trait.Grouper, s poissonScheme, law copies.Law) (profiles.Profile, error) {
	opposite := g.r == profiles.Substitute
	if noise, ok := b.(profiles.NoiseScaler); ok && b.Name() == "laplace" && !opposite {
		return copies.NewLaplaceAttack(law, 1/noise.NoiseMultiplier()), nil
	}
	// Weights that are left out would count as an advantage against the other side.
	if x, ok := b.(groupMixer); ok && math.IsInf(law.LogAbove[len(law.LogP)], -1) {
		if p, err := x.GroupMixture(law.LogP, law.RelErr(), opposite); err != nil || p != nil {
			return p, err
		}
	}
	one, err := s.Apply(g.b, g.r)
	return one.Directions[0].Lower, err
}

// batches is a run on a batch of fixed size.
func (g group) batches(s fixedSize) (m profiles.Bounds, err error) {
	if g.r == profiles.AddRemove {
		m, err = g.shrinking(s)
	} else if m, err = s.Apply(g.b, g.r); err == nil {
		m, err = Chain(m, int64(g.size))
	}
	if err != nil {
		return m, err
	}
	return g.unhidden(m, s), nil
}

// mostGiven is the log-probability of an infinite loss above which a chain says nothing at the δ that are asked for.
const mostGiven = -14

// unhidden replaces the upper profiles of a chain over Gaussian noise that are infinite with more than that, as their rates
// underflow, by those of a person whose places in the batch are known. There are at most as many as the batch has, and without replacement as the
// person has records. Given the places, each moves the sum by its sensitivity, by twice that if another record takes it (as one does where the
// population shrinks), and a divergence of what is drawn is no larger, being jointly convex.
func (g group) unhidden(m profiles.Bounds, s fixedSize) profiles.Bounds {
	noise, ok := g.b.(profiles.NoiseScaler)
	if !ok || g.b.Name() != "gaussian" {
		return m
	}
	places := float64(s.batch)
	if s.kind == withoutReplacement {
		places = min(places, float64(g.size))
	}
	if g.r != profiles.ZeroOut {
		places *= 2
	}
	p, err := profiles.NewGaussian(xmath.Down(noise.NoiseMultiplier()/places, 1))
	for d := range m.Directions {
		if dir := &m.Directions[d]; err == nil && dir.Upper != nil && dir.Upper.Support().LogPInf > mostGiven {
			dir.Upper = p
		}
	}
	return m
}

// maxShrinking bounds the chain over populations, each with a profile of its own.
const maxShrinking = 1 << 10

// shrinking is a run on a batch of fixed size under add-remove. Each record that is removed
// leaves a smaller population, of which the batch is a larger part: link i is the profile at
// population n − i.
func (g group) shrinking(s fixedSize) (profiles.Bounds, error) {
	none := profiles.Bounds{}
	if g.size > maxShrinking {
		return none, fault.New("records-per-person", "%d is not at most %d for %s under %v", g.size, maxShrinking, s.Name(), g.r)
	}
	var links [2][]link
	var lower [2]profiles.Profile
	for i := range g.size {
		at := s
		at.population -= int64(i)
		// What is drawn with replacement needs one record alone.
		if n := at.population; n < 1 || s.kind == withoutReplacement && s.batch > n || s.kind == mustOW && s.subset > n {
			return none, fault.In(s.Name(), fault.New("population", "%d is too small for persons with %d records: without %d of them there are not enough for the batch",
				s.population, g.size, i))
		}
		one, err := at.Apply(g.b, g.r)
		if err != nil {
			return none, err
		}
		if i == 0 {
			lower = [2]profiles.Profile{one.Directions[0].Lower, one.Directions[1].Lower}
		}
		// Removing goes from the largest population down, adding the other way.
		links[0] = append(links[0], link{one.Directions[0].Upper, 1})
		links[1] = append([]link{{one.Directions[1].Upper, 1}}, links[1]...)
	}
	return chained(g.b.Name(), g.r, links, lower)
}

// Awan and Vadhan 2023: pure ε-differential privacy of k records in closed form, the noise
// whose shifts attain the chain of package subsample's Theorem 2.14.

// pureChain returns the profile of k links of pure ε, which is that of two-sided geometric noise
// of ratio e^−ε shifted by k: a shift by one has the likelihood ratios e^{±ε} alone and the corner
// (1/(1+e^ε), e^ε/(1+e^ε)), so that its roc is that of a link, and k of them are the shift by k.
// Rates are logarithms, so that it does not end where those of a chain underflow (k·ε > 624).
func pureChain(epsilon float64, k int) (profiles.Profile, error) {
	atoms := make([]profiles.Atom, 0, k+1)
	// Noise z under P, z − k under Q: −log(1 + e^−ε) is the mass beyond 0 with 0 itself.
	side := -math.Log1p(math.Exp(-epsilon))
	inner := xmath.Log1mExp(-epsilon) + side
	for j := range k + 1 {
		z := float64(k - j) // the loss rises as z falls from k to 0
		a := profiles.Atom{Loss: epsilon * (float64(k) - 2*z), LogP: inner - epsilon*z, LogQ: inner - epsilon*(float64(k)-z)}
		switch j {
		case 0:
			a.LogP, a.LogQ = side-epsilon*float64(k), side
		case k:
			a.LogP, a.LogQ = side, side-epsilon*float64(k)
		}
		atoms = append(atoms, a)
	}
	// A product and three sums round; losses are products of whole numbers and ε.
	return profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 8*xmath.U, xmath.U*epsilon*float64(k))
}

// Laws that are made for a question (profiles.Laws), for persons with several records.

// personsLaws returns one run of b on a sample drawn by s as it is to a person with at most so
// many records, with laws that are made for each question: of single records, or chains of
// them (Chain). Where s draws no sample (Whole) they are what the mechanism is on all records.
func personsLaws(b profiles.Mechanism, s LawMaker, r profiles.Relation, records int64) (profiles.Bounds, error) {
	if err := CheckChain(s, r, records); err != nil {
		return profiles.Bounds{}, err
	}
	l, err := s.Laws(b, r)
	if w, ok := s.(Whole); ok && err == nil {
		if runs, ok := w.Whole(); ok {
			return profiles.Bounds{Name: s.Name(), Relation: r, Laws: &wholeLaws{base: b, relation: r, records: records, runs: runs}}, nil
		}
	}
	if records > 1 {
		l = chainedLaws{Laws: l, name: s.Name(), relation: r, records: records}
	}
	return profiles.Bounds{Name: s.Name(), Relation: r, Laws: l}, err
}

// wholeLaws are those of runs on all records: what one run is, so often.
type wholeLaws struct {
	base          profiles.Mechanism
	relation      profiles.Relation
	records, runs int64 // runs of the base in one of the scheme
}

// Least implements profiles.Laws: they are the same at every δ.
func (*wholeLaws) Least() float64 { return 0 }

// For implements profiles.Laws.
func (l *wholeLaws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	if q.Runs > xmath.MaxCount/l.runs {
		return profiles.Composition{}, fault.New("count", "%d times %d runs are above 2^53", q.Runs, l.runs)
	}
	one, err := ofPersons(ctx, l.base, nil, l.relation, l.records)
	if err != nil {
		return profiles.Composition{}, err
	}
	return profiles.Repeat(one, l.runs*q.Runs), nil
}

// chainedLaws are the laws of a chain of single changes.
type chainedLaws struct {
	profiles.Laws // of one change
	name          string
	relation      profiles.Relation
	records       int64
}

// For implements profiles.Laws. Laws of batches are one for each direction, and as often above
// as below.
func (l chainedLaws) For(ctx context.Context, q profiles.Question) (profiles.Composition, error) {
	c, err := l.Laws.For(ctx, q)
	if err != nil {
		return c, err
	}
	return l.chained(c)
}

// Retreat implements trait.Retreat.
func (l chainedLaws) Retreat(q profiles.Question) (profiles.Composition, error) {
	inner, ok := l.Laws.(trait.Retreat)
	if !ok {
		return l.For(context.Background(), q)
	}
	c, err := inner.Retreat(q)
	if err != nil {
		return c, err
	}
	return l.chained(c)
}

func (l chainedLaws) chained(c profiles.Composition) (profiles.Composition, error) {
	one := profiles.Bounds{Name: l.name, Relation: l.relation}
	for d := range one.Directions {
		one.Directions[d] = profiles.Direction{Upper: c.Upper[d][0].Profile, Lower: c.Lower[d][0].Profile}
	}
	all, err := Chain(one, l.records)
	return profiles.Repeat(all, c.Upper[0][0].Count), err
}

// Theorem 1: add or remove k records, Poisson, Gaussian.
//
// Conditions. At each step one independent coin of probability q for each record; a record's contribution is a
// function of that record and of earlier outputs, of norm at most C; noise N(0, σ²C²I) on the sum; the divisor is a
// constant. Then at each step, whatever the earlier outputs, (data with the person, data without) is dominated in
// both directions by P = Σ_u Bin(u; k, q)·N(u, σ²), Q = N(0, σ²), and k equal records of norm C attain it. Over
// steps the pairs compose, as they do not depend on the past. (The same pair: Charles, Ganesh, McMahan and others,
// arXiv:2407.07737.)
//
// Lemma (Kahane). Let a_1, …, a_m be real, X and Y centred Gaussian vectors with covariances K and K', a_S a_T
// (K'_ST − K_ST) ≥ 0 for all S and T, and F convex of at most linear growth. Then E F(Σ a_S e^{X_S − K_SS/2}) ≤ E
// F(Σ a_S e^{Y_S − K'_SS/2}). Take X and Y independent and Z_t = √(1−t)·X + √t·Y. Differentiate E F along t and
// integrate by parts: what F' contributes through the diagonal second derivatives is what the normalisation K_SS/2
// takes away, and there remains ½ Σ_ST (K'_ST − K_ST) a_S a_T E[F''·e_S e_T] ≥ 0.
//
// Proof. Fix the coins of all other records; they have the same law on both sides, hockey-stick divergences are
// jointly convex, and their sum shifts both sides alike, so it can be 0. With S the set of the person's records that
// are drawn, v_S their sum over C and w_S = q^|S|(1−q)^{k−|S|}, dP/dQ at z ~ N(0, σ²I) is Σ_S w_S exp(⟨v_S, z⟩/σ² −
// |v_S|²/2σ²). The exponents have covariances ⟨v_S, v_T⟩/σ² ≤ |S||T|/σ², which are those of the scalar pair. All w_S
// are positive: apply the lemma to F(x) = (x − α)₊ and (1 − αx)₊. Fewer records are records that contribute 0. ∎
//
// Theorem 2: replace k records.
//
// Under the same conditions (Σ_u Bin(u; k, q)·N(u, σ²), Σ_u Bin(u; k, q)·N(−u, σ²)) dominates the substitution of k
// records by k others, and is attained. Proof. The divergence is E[(R_P − αR_Q)₊] over N(0, σ²I): the lemma with
// weights w_S on one side and −αw_T on the other. On one side covariances are at most |S||T|/σ², across they are at
// least −|S||T|/σ²; opposite contributions attain all of these. ∎
//
// Laplace noise and whole numbers on Poisson samples.
//
// Given that u of the person's records are drawn, the pair is that of u records. Giving u away, when there is one,
// can only help a test; that there is one at all stays secret and has probability 1 − (1−q)^k: Poisson's theorem
// under add-remove and zero-out, the envelope under substitution. The attack is by equal records: the mixture of
// shifts by u against none, or, under substitution, against the opposite shifts.
