// The factors of the integral: a transform for each kind of step, and the compositions of them.
//
// It assumes transforms as profiles hands them over, one above and one below a profile, or
// laws that were made for it (laws.go). It returns two compositions, which are one while every
// transform is exact, and by how much their answers are to be moved so that they are bounds.

package fourier

import (
	"errors"
	"math"
	"reflect"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// A lawTarget is what the laws of a mixed plan are made for.
type lawTarget struct {
	theta    float64 // the saddle where the answer is, about
	logDelta float64 // the tails are followed to what matters there
	cell     float64 // T times the tilted mass of a cell times the square of its width
	above    float64 // log-probability, of one run, from which tails are cut
}

// serves reports whether laws made for w are good for v.
func (w *lawTarget) serves(v *lawTarget) bool {
	const near = 1.25
	ratio := (1 + w.theta) / (1 + v.theta)
	return w.cell <= v.cell && w.above <= v.above && ratio < near && ratio > 1/near
}

// A lawPair is a factor's laws, above and below it, and their transforms.
type lawPair struct {
	laws   [2]*pld.Law
	points [2]*transform.Mixed
}

// Terms of the displacement of δ and ε by laws: 1, except in the tests that prove
// that each of them is needed.
type lawTerms struct {
	excess, lossErr float64
	exchanged       bool
}

// A factor is a step as it was added: equal profiles together, and Gaussians of
// different noise apart, whose transforms are closed forms.
type factor struct {
	profile profiles.Profile
	count   int64

	// Of a factor without a transform.
	lacks bool
	laws  *lawPair // nil: none were made for the target of now
}

// factors are the factors of the integral.
//
// Invariants: the first known ones were looked at, of which without have no transform. upper and
// lower are nil, or have the first factors of the list with some earlier count; they are one and
// the same while every transform is exact. Laws of factors belong to target.
type factors struct {
	list           []factor
	at             map[any]int // where a profile is that can be a key
	known, without int
	decays         bool // some factor with a transform is no finite law: the product decays
	target         *lawTarget
	terms          lawTerms
	upper, lower   *contour.Composition
	mass           float64 // that hook.TransformsOf was given
	most           float64 // the largest loss of the bump that finite laws are asked with; 0: none
	before         bool    // a question was asked
	grew           bool    // factors were added after a question
	many           bool    // many questions are expected
	// Relative widths that ε and log δ are worth asking for, where it is more than
	// integralAccuracy: what rounding has allowed lately.
	epsilonWidth, deltaWidth float64
}

func newFactors() factors { return factors{terms: lawTerms{excess: 1, lossErr: 1}} }

// add returns the index of the part.
func (p *factors) add(profile profiles.Profile, count int64) int {
	p.grew = p.grew || p.before
	key := any(nil)
	if reflect.ValueOf(profile).Comparable() {
		key = profile
		if i, ok := p.at[key]; ok {
			p.list[i].count += count
			return i
		}
	} else {
		for i := range p.list {
			if profiles.Equal(p.list[i].profile, profile) {
				p.list[i].count += count
				return i
			}
		}
	}
	if key != nil {
		if p.at == nil {
			p.at = map[any]int{}
		}
		p.at[key] = len(p.list)
	}
	p.list = append(p.list, factor{profile: profile, count: count})
	return len(p.list) - 1
}

// update brings the compositions up to date, and reports whether the engine serves them.
// Losses that have no exact transform have those of losses above and below, whose δ(ε)
// is within mass of their own.
func (p *factors) update(mass float64) (bool, error) {
	if !p.decays && p.most == 0 || p.without > 0 && p.target == nil {
		return false, nil
	}
	if p.upper == nil || p.upper != p.lower && p.mass > mass {
		c, err := contour.New()
		if err != nil {
			return false, err
		}
		if p.most > 0 {
			c.Smooth(transform.NewBump(p.most))
		}
		p.upper, p.lower, p.mass = c, c, mass
	}
	for i, x := range p.list {
		if i < p.upper.Len() {
			for _, c := range p.ends() {
				if err := c.SetCount(i, x.count); err != nil {
					return false, err
				}
			}
			continue
		}
		above, below, err := p.transforms(x)
		if err != nil {
			return false, err
		}
		if !same(above, below) && p.upper == p.lower {
			// From here on there are two.
			c, err := contour.New()
			if err != nil {
				return false, err
			}
			for _, y := range p.list[:i] {
				_, lower, err := p.transforms(y)
				if err != nil {
					return false, err
				}
				if _, err := c.Add(contour.Factor{Transform: lower, Count: y.count}); err != nil {
					return false, err
				}
			}
			p.lower = c
		}
		for j, c := range p.ends() {
			if _, err := c.Add(contour.Factor{Transform: [2]transform.Transform{above, below}[j], Count: x.count}); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// same reports whether a profile has one exact transform. Types that cannot be compared
// count as two, which is sound.
func same(a, b transform.Transform) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// ends returns the different compositions, the upper one first.
func (p *factors) ends() []*contour.Composition {
	if p.upper == p.lower {
		return []*contour.Composition{p.upper}
	}
	return []*contour.Composition{p.upper, p.lower}
}

// asked returns the compositions that are asked for the two ends, one if it answers both.
func (p *factors) asked() []*contour.Composition {
	if p.most > 0 {
		return []*contour.Composition{p.upper, p.lower}
	}
	return p.ends()
}

// mixed reports whether some part has no transform, and another one decays.
func (p *factors) mixed() bool { return p.without > 0 && p.decays }

// classify finds out which parts have transforms.
func (p *factors) classify(mass float64) {
	for ; p.known < len(p.list); p.known++ {
		x := &p.list[p.known]
		above, below := hook.TransformsOf(x.profile, mass)
		if x.lacks = above == nil || below == nil; x.lacks {
			p.without++
			continue
		}
		if _, finite := x.profile.(*profiles.Discrete); !finite && !p.decays {
			p.decays = true
			p.most, p.upper, p.lower = 0, nil, nil
		}
	}
}

// transforms returns those of a part above and below it.
func (p *factors) transforms(x factor) (above, below transform.Transform, err error) {
	if x.lacks {
		if x.laws == nil {
			return nil, nil, errNoLaw
		}
		if p.terms.exchanged {
			return x.laws.points[1], x.laws.points[0], nil
		}
		return x.laws.points[0], x.laws.points[1], nil
	}
	if above, below = hook.TransformsOf(x.profile, p.mass); above == nil || below == nil {
		return nil, nil, errNoLaw
	}
	return above, below, nil
}

// moved returns by what the laws of one end move the answer: the composition's δ(ε) lies on the
// safe side of e^excess·δ'(ε ∓ loss), δ' that of the integral. end 0 is the upper one.
func (p *factors) moved(end int) (excess, loss float64) {
	sign := 1 - 2*float64(end)
	var x xmath.Sum
	abs, wrong := 0.0, 0.0
	loss = float64(end) * p.most // one more mechanism costs no more than its largest loss, and no less than nothing
	for i := range p.list {
		l := p.list[i].laws
		if l == nil {
			continue
		}
		if p.terms.exchanged {
			end = 1 - end
		}
		n := float64(p.list[i].count)
		e, err := l.points[end].Excess()
		x.AddProduct(n, p.terms.excess*e)
		abs += n * math.Abs(e)
		wrong += n * err
		loss += n * p.terms.lossErr * l.laws[end].LossErr
		if p.terms.exchanged {
			end = 1 - end
		}
	}
	// One rounding for a count above 2^53; plain sums of up to 2^30 terms.
	return x.Value() + sign*p.terms.excess*(wrong+4*xmath.U*abs)*(1+1e-6), loss * (1 + 1e-6)
}

// share adds what laws have of the width of a mixed plan: all that the integral has not,
// with the estimate between the ends. unit is the answer's for a logarithm.
func (p *factors) share(r *Result, unit float64) {
	if p.without == 0 && p.most == 0 {
		return
	}
	b := &r.Budget
	rest := b.Aliasing + b.Truncation + b.Quadrature + b.RoundOff
	if w := r.Upper - r.Lower; !math.IsInf(w, 1) {
		b.Discretization = max(0, w-rest*unit)
		r.Estimate = r.Lower + w/3 // docs/theory/accuracy.md §4
	}
}

var errNoLaw = errors.New("internal error: a part has neither a transform nor a law")

// Proof (docs/theory/contour.md, Theorem 7): laws as factors.
//
//  1. The error of masses. All rounding of masses was moved to the safe side when the law was made, so that h_{m_i}
//     lies above (below) the profile of part i with its losses moved by at most κ_i. The parts with transforms are
//     measures, too: P's law of their loss. h of a convolution is a mixture of h's with positive weights (accuracy.md §1,
//     fact 1), so one factor after the other may be replaced by its law. Nothing else about a law's masses enters, whether
//     they make 1 or not.
//  2. The error of losses. Moving all losses of a run by at most κ_i moves the sum by at most κ, and with it ε; masses
//     stay (fact 3).
//  3. The total mass. The hockey stick of a measure is linear in it, and a convolution in each factor: dividing each
//     m_i by e^{x_i} divides h by e^X. Afterwards P has total mass 1, as Theorems 1 to 3 want. Q need not: they use m₀ =
//     M(0) and m₁ = M(−1) as numbers, and M(−1) = Σm·e^{−l} may be above 1 for a law below (`q∞` is then negative). It
//     enters only through the closed series of Theorem 2, with its sign.
//  4. The mass at infinity. δ* = (1 − m₀) + I_s for s > 0, with 1 − m₀ = 1 − Π(1 − p∞,i)^{T_i} of the divided laws,
//     whose errors are those of p∞ alone: relative to it, however small it is. For the upper end 1 − m₀ is rounded up, for
//     the lower end down. ∎
//
// In floating point x_i is known to 4u + 2u|x_i|; X is rounded up for the upper end and down for the lower one, and so
// is κ.
