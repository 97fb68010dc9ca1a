// The proof that a noise function keeps a budget, by all worst corners. It is
// independent of the solver, and rounds against the claim.

package darrm

import (
	"cmp"
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Certificate says whether a noise function keeps a budget, and how tightly.
type Certificate struct {
	// MaxF is the largest f = Φ(p) − e^{mε}Φ(p') over all K-tuples of (ε, Δ)-DP
	// mechanisms, rounded up; BudgetF is R = e^{mε} − 1 + 2δ, what it may be
	// (Lemma 3.4 of the paper: f ≤ R is necessary and sufficient).
	MaxF, BudgetF float64
	// Excess is the largest P − e^{mε}P' − δ, rounded up: what is decided on.
	// f ≤ R is the same as Excess ≤ 0 but for rounding.
	Excess float64
	// Attained is what f certainly attains: MaxF but for rounding where the mechanisms
	// are alike. Voters of which only a profile is known, or of too many kinds, and
	// (ε, Δ) with many classes leave a gap, MaxF − Attained.
	Attained float64
	// Certified says that the budget is kept, with all rounding accounted for.
	Certified bool
}

// Certify computes the exact worst case of a noise function over all
// independent (ε, Δ)-DP mechanisms, rounded outward: Lemma 3.4 with Lemma 5.1 of
// the paper, over three corners if g is monotone (corners.go, Theorem 3), over
// four or eight if not. It does not depend on how g was found.
//
// It costs O(K²) for a monotone g and Δ = 0, O(K³) for a monotone g and Δ > 0,
// and one step for each of C(K+3, 3) or C(K+5, 5) multisets for others. Once
// ctx is done, the error is that of ctx.
func Certify(ctx context.Context, p Params, g Gamma) (Certificate, error) {
	if err := p.checkWith(g); err != nil {
		return Certificate{}, err
	}
	return newChecker(ctx, p, g.monotone()).certify(g)
}

func (p Params) checkWith(g Gamma) error {
	if err := cmp.Or(p.Check(), g.check()); err != nil {
		return err
	}
	if len(g) != p.Mechanisms+1 {
		return fault.New("gamma", "has %d entries, must have mechanisms + 1 = %d", len(g), p.Mechanisms+1)
	}
	if !g.monotone() {
		return p.checkFree()
	}
	return nil
}

// A checker evaluates the privacy condition of one problem, divided by e^{mε} so
// that no budget overflows: with s = e^{−mε} it is s·P − P' ≤ s·δ for every
// corner multiset.
type checker struct {
	Params
	ctx      context.Context
	table    worlds
	whole    Params      // which were decided by Params, see purified
	lost     float64     // and by how much, in δ
	inner    *panelTable // of families that exist for certain, nil if those of table do
	monotone bool
	s        float64
	rel      float64 // relative error of s·P and of P'
	abs      float64 // and absolute
}

func newChecker(ctx context.Context, p Params, monotone bool) *checker {
	c := &checker{Params: p, whole: p, ctx: ctx, monotone: monotone, s: math.Exp(-p.budget())}
	switch {
	case p.Classes > 2:
		c.Params, c.lost = p.purified(), p.labelLoss()
		c.table = newLabelTable(c.Params, c.s)
	case p.Voters != nil:
		// Check has found no error in them.
		c.table, _ = newPanel(p.Voters, false)
		c.inner, _ = newPanel(p.Voters, true)
	default:
		c.table = newCornerTable(p.Mechanisms, p.Epsilon, p.Delta, monotone)
	}
	// s has the error of the product mε, of exp and of one more product.
	c.rel = c.table.tableError() + (3+p.budget())*xmath.U
	c.abs = c.table.underflow()
	return c
}

// A violation is a multiset with the excess of its two sides.
type violation struct {
	counts counts
	// excess bounds s·P − P' − s·δ from above.
	excess float64
}

// worst returns the multiset of largest excess, rounded up.
func (c *checker) worst(g Gamma) (violation, error) {
	v := violation{excess: math.Inf(-1)}
	up, down := c.s*(1+c.rel), 1-c.rel
	err := c.table.visit(c.ctx, g, func(r *run) {
		for i, p := range r.P {
			if e := up*p - down*r.Q[i]; e > v.excess {
				v.excess, v.counts = e, r.counts(i)
			}
		}
	})
	// The roundings of the difference itself are within the slack of c.rel,
	// because its sides have the sign of their errors; then s·δ rounded down.
	sd := c.s * c.OutputDelta
	e := v.excess
	e += c.abs
	if sd > 0 {
		e += 4*xmath.U*math.Abs(e) - sd*(1-(8+c.budget())*xmath.U)
	}
	v.excess = e
	return v, err
}

func (c *checker) certify(g Gamma) (Certificate, error) {
	w, err := c.worst(g)
	if err != nil {
		return Certificate{}, err
	}
	out := Certificate{BudgetF: c.whole.BudgetF(), Certified: w.excess <= 0}
	out.Excess = w.excess / c.s * (1 - c.lost)
	out.MaxF = out.BudgetF + 2*out.Excess
	out.Attained, err = c.attained(g, out.MaxF)
	return out, err
}

// attained returns the largest f of families that exist for certain, rounded down.
func (c *checker) attained(g Gamma, most float64) (float64, error) {
	if c.inner == nil {
		// ε-DP mechanisms are (ε, Δ)-DP; they lack what purified adds.
		return most - 4*(c.rel/c.s+c.abs/c.s) - 2*c.lost, nil
	}
	f := math.Inf(-1)
	rel := c.inner.tableError() + (3+c.budget())*xmath.U
	err := c.inner.visit(c.ctx, g, func(r *run) {
		f = max(f, r.P[0]*(1-rel)-r.Q[0]/c.s*(1+rel)-c.inner.underflow()/c.s)
	})
	return min(most, c.BudgetF()+2*(f-c.OutputDelta)-4*xmath.U*(1+1/c.s)), err
}

// repair scales g down until it keeps the budget. The condition is linear in
// γ: s·Φ(p) − Φ(p') = 2(sP − P') + 1 − s must not exceed R·s, and scaling γ scales
// the left side.
func (c *checker) repair(g Gamma) (Gamma, error) {
	for try := range 40 {
		w, err := c.worst(g)
		if err != nil {
			return nil, err
		}
		e := w.excess
		if e <= 0 {
			return g, nil
		}
		_, rest := c.table.row(w.counts, c.s)
		r := -2*rest*math.Expm1(-c.budget()) + 2*c.s*c.OutputDelta
		// Rounding is not scaled with γ: take off a little more each time.
		f := r / (r + 2*e) * (1 - float64(uint64(1)<<min(try, 36))*4*xmath.U)
		scaled := make(Gamma, len(g))
		for l, v := range g {
			scaled[l] = v * f
		}
		g = scaled
	}
	return nil, fault.New("epsilon", "%v is too small for %d mechanisms to be certified in float64", c.Epsilon, c.Mechanisms)
}

// A BestConstant is the largest c for which γ ≡ c keeps the budget: R/max f(1),
// because f is linear in γ. The result is certified. Once ctx is done, the error is
// that of ctx.
func BestConstant(ctx context.Context, p Params) (float64, Certificate, error) {
	if err := p.Check(); err != nil {
		return 0, Certificate{}, err
	}
	if p.majorityIsPrivate() {
		g := constant(p.Mechanisms, 1)
		cert, err := newChecker(ctx, p, true).certify(g)
		return 1, p.byTheorem(cert), err
	}
	c := newChecker(ctx, p, true)
	g, err := c.repair(constant(p.Mechanisms, 1))
	if err != nil {
		return 0, Certificate{}, err
	}
	cert, err := c.certify(g)
	return g[0], cert, err
}

// majorityIsPrivate reports that the noise-free majority keeps the budget by
// Theorems 1 and 2 of gamma.go: m ≥ ⌈K/2⌉ and δ ≥ 1 − (1−Δ)^⌈K/2⌉.
func (p Params) majorityIsPrivate() bool {
	t := float64(free(p.Mechanisms))
	if p.Allowance < t || p.Voters != nil || p.Classes > 2 {
		return false
	}
	// An upper bound: log1p, the product and expm1 cost 2 u each.
	return p.Delta == 0 || p.OutputDelta >= -math.Expm1(t*math.Log1p(-p.Delta))*(1+8*xmath.U)
}

// byTheorem certifies what a theorem proves; the computation, which sees the
// budget kept with equality, can only confirm it up to its own rounding.
func (p Params) byTheorem(c Certificate) Certificate {
	c.Certified, c.Excess, c.MaxF = true, min(c.Excess, 0), min(c.MaxF, c.BudgetF)
	return c
}

// Why a certificate holds in floating point.
//
// The certificate does not know the solver. It works on P and P' instead of f: with h = ½(1 ± γ) ≥ 0 every table
// entry is an average of non-negative numbers, each step adds at most 10 units of round-off relative to the entry
// (two roundings and 8 for a coin), and so P and P' are known to a relative 12(K+1)·2⁻⁵³. It passes when P(1+η) −
// e^{mε}P'(1−η) ≤ δ for every corner multiset, everything divided by e^{mε}. Sure outcomes (P = P' = 0) are exact,
// which is what lets a pure budget pass. The solver's γ is scaled down until it does, by a factor of the order of
// that rounding: the condition is linear in γ. Release samples without rounding, comparing the float γ with as
// many random bits as it has.
