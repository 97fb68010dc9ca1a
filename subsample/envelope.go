// Theorem 2 of Balle, Barthe and Gaboardi 2018, extended below ε = 0: substitution.

package subsample

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// Envelope returns the profile that bounds the effect of substituting one
// record when the record takes part with probability rate:
//
//	δ(ε) = rate·δ_base(log(1 + (e^ε − 1)/rate))   for ε ≥ 0,
//
// and for ε < 0 its reflection, with the reverse of base. It is the advanced
// joint convexity bound (Balle, Barthe and Gaboardi, NeurIPS 2018, Theorem 2)
// extended to negative ε by the symmetry of the relation (docs/theory/pairs.md §5).
// Relation: substitute. Condition: base dominates the mechanism both when the
// record is substituted and when it is removed.
//
// Its loss has an atom at 0. It is convex there for every base: with h(1) =
// rate·δ_base(0) ≤ δ_base(0), the slopes satisfy Q(L>0) + P(L<0) ≤ 1 − h(1).
func Envelope(base profiles.Profile, rate float64) (profiles.Profile, error) {
	if err := noiserange.CheckRate(rate); err != nil {
		return nil, err
	}
	switch rate {
	case 0:
		return profiles.Identical(), nil
	case 1:
		return base, nil
	}
	up := newPoisson(base, rate)
	if d, ok := base.(*profiles.Discrete); ok {
		return envelopeDiscrete(d, up)
	}
	return envelope{copies.Joined{Up: up, Down: newPoisson(profiles.Reverse(base), rate)}}, nil
}

// An envelope has halves that are the same sampling of a profile and of its reverse.
type envelope struct{ copies.Joined }

// SelfReverse implements hook.SelfReverser.
func (e envelope) SelfReverse() bool {
	return profiles.Equal(e.Up.(poisson).base, e.Down.(poisson).base)
}

// envelopeDiscrete lists the atoms of the envelope of a discrete base.
func envelopeDiscrete(d *profiles.Discrete, up poisson) (*profiles.Discrete, error) {
	sup := d.Support()
	var atoms []profiles.Atom
	big := 0.0
	zero := math.Inf(-1) // P-mass of the base at loss 0
	for _, a := range d.Atoms() {
		f := forward(math.Abs(a.Loss), up.rate)
		big = max(big, f)
		switch {
		case a.Loss > 0:
			atoms = append(atoms, profiles.Atom{Loss: f, LogP: up.mix(a.LogP, a.LogQ), LogQ: a.LogQ})
		case a.Loss < 0:
			atoms = append(atoms, profiles.Atom{Loss: -f, LogP: a.LogP, LogQ: up.mix(a.LogQ, a.LogP)})
		default:
			zero = a.LogP
		}
	}
	// The atom at 0 has what is left of P: P(L=0) + (1−rate)·δ_base(0).
	massErr := d.MassErr() + 4*xmath.U*(1+math.Abs(up.logRate))
	if delta0, err := logVariation(d); !math.IsInf(delta0, -1) {
		zero = xmath.LogAdd(zero, up.log1m+delta0)
		massErr += err
	}
	atoms = append(atoms, profiles.Atom{Loss: 0, LogP: zero, LogQ: zero})
	return profiles.NewDiscrete(atoms, up.logRate+sup.LogPInf, up.logRate+sup.LogQInf, massErr, forwardErr(sup.LossErr, max(sup.Max, -sup.Min), up.rate)+8*xmath.U*big)
}

// logVariation returns log δ(0) of d and its error, from the sum of P(1 − e^{−L})
// over L > 0: unlike P(L > 0) − Q(L > 0) it does not cancel.
func logVariation(d *profiles.Discrete) (logDelta, err float64) {
	sup := d.Support()
	terms, moved := []float64{sup.LogPInf}, []float64{math.Inf(-1)}
	for _, a := range d.Atoms() {
		if a.Loss > 0 {
			terms = append(terms, a.LogP+xmath.Log1mExp(-a.Loss))
			moved = append(moved, a.LogP-a.Loss) // how fast the term grows with the loss
		}
	}
	logDelta = xmath.LogSum(terms)
	if math.IsInf(logDelta, -1) {
		return logDelta, 0
	}
	// Relative errors c(1 + |log m|) of n masses: see Discrete; 8 u for the sum.
	n := float64(len(terms) + 1)
	err = (d.MassErr()+8*xmath.U)*(1+math.Abs(logDelta)+xmath.Log(n)) + sup.LossErr*math.Exp(xmath.LogSum(moved)-logDelta)
	return logDelta, err
}

// What a sampled run is above, whoever sees its sample: the same mechanism on all records, as often as a
// record can take part.

// An unhider is a Scheme of which it is known how often a record takes part at most.
type unhider interface {
	Scheme
	// Unhidden returns how many runs of a mechanism on all records dominate one use of the scheme under
	// r, each under the relation inner; 0 if nothing is known.
	Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation)
}

// Unhidden implements unhider: given the coins, neighbours run on batches that are neighbours or the
// same, and divergences are jointly convex.
func (poissonScheme) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) { return 1, r }

// Unhidden implements unhider. Of a batch without replacement, a record that is removed leaves its place to
// another one; the batches can be drawn so that nothing else differs. With replacement a batch may
// hold a record any number of times.
func (s fixedSize) Unhidden(r profiles.Relation) (runs int64, inner profiles.Relation) {
	switch {
	case s.kind != withoutReplacement:
		return 0, r
	case r == profiles.AddRemove:
		return 1, profiles.Substitute
	}
	return 1, r
}

// Unhidden returns what dominates one run of b on a sample drawn by s, for persons with at most so
// many records, even if the sample is public: so many runs of one, which need no work to compose where they are
// Gaussian or bounded. It is no runs where nothing is known.
//
// Given the draws of a person's k records, run t holds u_t ≤ k of them. Where there is but one run to
// be in, it is at most the group of all k. In an allocation to several, with Σ u_t ≤ k·runs, they are at
// most so many runs of that group where the noise is Gaussian: Σ u_t² ≤ k·Σ u_t.
func Unhidden(ctx context.Context, b profiles.Mechanism, s Scheme, r profiles.Relation, records int64) (one [2]profiles.Profile, runs int64, err error) {
	u, ok := s.(unhider)
	if !ok {
		return one, 0, nil
	}
	runs, inner := u.Unhidden(r)
	if runs == 0 || runs > xmath.MaxCount {
		return one, 0, nil
	}
	m, err := ofPersons(ctx, b, nil, inner, records)
	if err != nil && records > 1 && b.Name() == "gaussian" && runs <= xmath.MaxCount/(records*records) {
		// The noise of the group is below what a Gaussian may have: k² runs of one record move as far as k records do.
		runs *= records * records
		m, err = profiles.Unsampled(ctx, b, inner)
	}
	if err != nil {
		return one, 0, err
	}
	for d := range one {
		if one[d] = m.Directions[d].Upper; one[d] == nil {
			return one, 0, nil
		}
	}
	_, gaussian := one[0].(profiles.Gaussian)
	_, several := s.(LawMaker)
	if records > 1 && several && !gaussian || inner != r && !profiles.Equal(one[0], one[1]) {
		return one, 0, nil // a removal may be seen as a substitution in either order
	}
	return one, runs, nil
}
