// Curves of mechanisms on batches of fixed size, in which a record may appear several times: from
// the certified profiles, with the tail of the copies by moments.

package rdp

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// copied is the curve of a mechanism on a batch of fixed size.
//
// Theorem: docs/theory/subsampling.md §14. With h the certified profile of a direction and h' that of its
// reverse, e^{(α−1)D} − 1 is at most
//
//	α(α−1)·(∫_0^X e^{(α−1)x} h(x) dx + ∫_0^∞ e^{−αx} h'(x) dx) + e^{−(α−1)s} Σ_u p_u E[r_u^α; log r_u > X+s]
//
// for every X, where r_u is the likelihood ratio of u copies, η the probability of at least one and
// e^s = (1 − e^{−X})/η: beyond X the profile is at most that of Theorem 5 of Zhao and Liu 2023. It is also
// at most the divergence of as many copies as the batch has places.
type copied struct {
	sides [2][2]decay // of both directions: h and h'
	tail  copyTail
	whole Curve
	most  float64 // D_∞
}

// ofCopies returns the curve of b on a batch of fixed size. Conditions: b is Gaussian, Laplace or pure, of which
// groups are known, or no record is drawn twice.
func ofCopies(b profiles.Mechanism, s subsample.FixedSize, r profiles.Relation) (Curve, error) {
	pair, err := b.Pair(profiles.Substitute)
	if err != nil {
		return nil, err
	}
	c := copied{tail: newCopyTail(s), most: math.Inf(1)}
	if r == profiles.AddRemove && s.Name() == "must-ww" { // §8: at the rate of the first stage
		stay := float64(s.Subset()) * math.Log1p(-1/float64(s.Population()))
		c.tail.logEta = min(0, xmath.Log1mExp(stay)+1e-11)
	}
	places := float64(c.tail.blocks[len(c.tail.blocks)-1].copies)
	switch p := pair.(type) {
	case profiles.Gaussian:
		c.tail.theta = xmath.Up(1/p.NoiseMultiplier(), 2)
		c.whole = gaussian{xmath.Down(p.NoiseMultiplier()/places, 4)}
	case profiles.Laplace:
		c.tail.loss = xmath.Up(1/p.NoiseMultiplier(), 2)
		c.whole = laplace{xmath.Up(places*c.tail.loss, 2)}
	default:
		support := pair.Support()
		if b.Name() != "pure" || !math.IsInf(support.LogPInf, -1) {
			return nil, fault.New("sampling", "%s has no Rényi bound for the mechanism %s under %s", s.Name(), b.Name(), r)
		}
		c.tail.loss = xmath.Up(support.Max+support.LossErr, 2)
		c.whole = twoAnswers{xmath.Up(places*c.tail.loss, 2)}
	}
	if c.tail.loss > 0 {
		// Theorem 5 at the largest loss that all copies have: nothing is above log(1 + η(e^m − 1)).
		m := places * c.tail.loss
		if c.most = m; m < 700 {
			c.most = math.Log1p(math.Exp(c.tail.logEta) * math.Expm1(m))
		}
		c.most = xmath.RoundUp(c.most, 64+4*m)
	}
	m, err := s.Apply(b, r)
	if err != nil {
		return nil, err
	}
	ends := [2]float64{math.Inf(1), math.Inf(1)}
	if r == profiles.AddRemove {
		ends[1] = neverDrawn(s)
	}
	c.tail.setAbsent(s, r)
	for i, d := range m.Directions {
		if i > 0 && r != profiles.AddRemove && profiles.Equal(d.Upper, m.Directions[0].Upper) {
			c.sides[i] = c.sides[0]
			continue
		}
		reverse := profiles.Reverse(d.Upper)
		c.sides[i][0] = newDecay(d.Upper, ends[i])
		c.sides[i][1] = c.sides[i][0]
		if !profiles.Equal(reverse, d.Upper) {
			c.sides[i][1] = newDecay(reverse, ends[1-i])
		}
	}
	return c, nil
}

func (c copied) RDP(alpha float64) float64 {
	whole := min(value(c.whole, alpha), c.most)
	if alpha > hugeOrder {
		return whole
	}
	worst := 0.0
	for _, side := range c.sides {
		worst = max(worst, fromMoment(alpha, side[0].momentAbove(alpha, c.tail, side[1].momentBelow(alpha))))
	}
	return min(worst, whole)
}

// A decay holds a bound on log δ at losses that ascend from 0: δ is convex in e^x, so that chords between them
// bound it. The last is −∞ where nothing is lost beyond.
type decay struct{ x, logDelta []float64 }

// How finely a decay is read: so much may log δ fall from one loss to the next, a chord then being at most an
// eighth of the square too high; more of it further down; not below −760, which is no float64. It trades width for time.
const (
	finestFall, fallGrows, widestFall = 0.1, 50, 0.5
	lowestDelta                       = -760
	longestDecay                      = 1 << 14
	quickDelta                        = 2000
)

// newDecay reads p up to the loss beyond which, as is known, nothing is lost; +Inf if none is.
func newDecay(p profiles.Profile, end float64) decay {
	support := p.Support()
	if hook.Cost(p) > quickDelta {
		p = struct{ profiles.Profile }{p} // its tails have a table, its δ has not
	}
	at := func(x float64) float64 {
		// Atoms may lie up to LossErr higher than delivered.
		eps := math.Nextafter(x-support.LossErr, math.Inf(-1))
		l, err := profiles.LogDelta(p, eps)
		if y := l + err; y <= 0 {
			return y
		}
		t := p.Tails(eps, 0)
		return min(0, t.P+t.Err)
	}
	d := decay{[]float64{0}, []float64{at(0)}}
	for h := 1e-2; len(d.x) < longestDecay; {
		n := len(d.x) - 1
		x, y := d.x[n], d.logDelta[n]
		if y < lowestDelta || x >= end {
			break
		}
		fall := min(widestFall, finestFall*(1-y/fallGrows))
		next := min(x+h, end)
		v := min(y, at(next))
		for y-v > 2*fall && h > 1e-13*(1+x) {
			h /= 2
			next = min(x+h, end)
			v = min(y, at(next))
		}
		d.x, d.logDelta = append(d.x, next), append(d.logDelta, v)
		switch {
		case y-v > fall:
			h *= 0.7
		case y-v < fall/2:
			h = min(1.5*h, 0.01+0.005*x) // so that stretch(h) is small
		}
		if x > 1e7 {
			break
		}
	}
	if !math.IsInf(end, 1) {
		n := len(d.x) - 1
		if d.x[n] < end {
			d.x, d.logDelta = append(d.x, end), append(d.logDelta, 0)
			n++
		}
		d.logDelta[n] = math.Inf(-1)
	}
	return d
}

// momentBelow returns the log of α(α−1)∫ e^{−αx} δ(x) dx, rounded up.
func (d decay) momentBelow(alpha float64) float64 {
	terms := make([]float64, 0, 2*len(d.x)+1)
	for i := range d.x[1:] {
		h := xmath.Up(d.x[i+1]-d.x[i], 1)
		left, right := weights(alpha, h)
		terms = append(terms, d.term(i, -alpha*d.x[i], left*stretch(h)), d.term(i+1, -alpha*d.x[i], right))
	}
	n := len(d.x) - 1 // beyond the last δ does not grow
	terms = append(terms, d.term(n, -alpha*d.x[n], 1/alpha))
	return scaled(alpha, logSumUp(terms))
}

// momentAbove returns the log of the whole moment, given that below 0, for the best of some ends X.
func (d decay) momentAbove(alpha float64, tail copyTail, below float64) float64 {
	const ends = 32
	a, n := alpha-1, len(d.x)-1
	best, so := math.Inf(1), math.Inf(-1)
	var terms []float64
	for i := 0; i <= n; i++ {
		if i == n || i%(n/ends+1) == 0 {
			so = logSumUp(append(terms, so))
			terms = terms[:0]
			rest := math.Inf(-1)
			if !math.IsInf(d.logDelta[i], -1) {
				rest = tail.moment(alpha, d.x[i])
			}
			best = min(best, logSumUp([]float64{scaled(alpha, so), below, rest}))
		}
		if i < n {
			// Seen from the right end, so that no power grows.
			h := xmath.Up(d.x[i+1]-d.x[i], 1)
			right, left := weights(a, h)
			terms = append(terms, d.term(i, a*d.x[i+1], left*stretch(h)), d.term(i+1, a*d.x[i+1], right))
		}
	}
	return best
}

// term returns the log of weight·e^exponent·δ_i, rounded up.
func (d decay) term(i int, exponent, weight float64) float64 {
	l, w := d.logDelta[i], xmath.Log(weight)
	if math.IsInf(l, -1) || math.IsInf(w, -1) {
		return math.Inf(-1)
	}
	return exponent + l + w + 8*xmath.U*(1+math.Abs(exponent)+math.Abs(l)+math.Abs(w))
}

func scaled(alpha, l float64) float64 {
	if math.IsInf(l, 0) {
		return l
	}
	return l + xmath.Log(alpha) + xmath.Log(alpha-1) + 8*xmath.U*(1+math.Abs(l)+math.Abs(xmath.Log(alpha-1)))
}

// weights bounds ∫_0^h e^{−ks}(1 − s/h) ds and ∫_0^h e^{−ks} s/h ds from above. Of the chord in e^x, the part
// that grows with x lies below the straight line, and what is left of it is at most stretch(h) times the other one.
func weights(k, h float64) (near, far float64) {
	z := k * h
	if z < 1e-2 { // series that alternate
		near, far = 0.5-z/6+z*z/24, 0.5-z/3+z*z/8
	} else {
		one := -math.Expm1(-z) / z
		far = (one - math.Exp(-z)) / z // half of one at most; at z = 0.01 it loses eight bits
		near = one - far
	}
	return xmath.RoundUp(h*near, 1<<10), xmath.RoundUp(h*far, 1<<10)
}

// stretch is h/(1 − e^{−h}): (1 − e^{−v})/(1 − e^{−h}) ≤ stretch(h)·v/h.
func stretch(h float64) float64 { return xmath.RoundUp(h/-math.Expm1(-h), 8) }

// neverDrawn returns the largest loss of adding a record: of the data set with it, the outputs of samples whose
// first stage does not hold it are those of the data set without it.
func neverDrawn(s subsample.FixedSize) float64 {
	n, m, b := float64(s.Population()), float64(s.Batch()), float64(s.Subset())
	l := 0.0
	switch s.Name() {
	case "without-replacement":
		l = math.Log1p(-m / n)
	case "must-ow":
		l = math.Log1p(-b / n)
	case "must-ww":
		l = b * math.Log1p(-1/n)
	default:
		l = m * math.Log1p(-1/n)
	}
	if math.IsInf(l, -1) || l < -40 { // nor is it worth anything
		return math.Inf(1)
	}
	return xmath.RoundUp(-l*(1+8*xmath.U*math.Exp(-l)), 8) // an error of m/n counts 1/(1 − m/n) times
}

// A copyTail bounds what large numbers of copies add to a moment.
type copyTail struct {
	blocks []copyBlock
	logEta float64 // rounded up
	// A copy moves Gaussian noise by theta, or any other mechanism's loss by at most loss.
	theta, loss float64
	// The profile at α is at most E[(Σ p_u r_u − c·(α−1))₊]: logAbsent is a lower bound of log c, −Inf if nothing is
	// known; from the loss pairB on c is 1.
	logAbsent, pairB float64
}

// A copyBlock is at most so many copies, with a bound on the log of its probability.
type copyBlock struct {
	copies int64
	logP   float64
}

func newCopyTail(s subsample.FixedSize) copyTail {
	law := s.Multiplicity()
	t := copyTail{logEta: min(0, xmath.Log(law.Eta)+2*law.EtaErr+4*xmath.U)}
	n := int64(len(law.LogP))
	most := s.MostCopies()
	for u := int64(1); u < n && u <= most; u++ {
		t.blocks = append(t.blocks, copyBlock{u, law.LogP[u] + law.Err[u]})
	}
	for u := n - 1; u < most; {
		next := min(most, u+1+u/200)
		t.blocks = append(t.blocks, copyBlock{next, s.LogAtLeast(u + 1)})
		u = next
	}
	return t
}

// setAbsent sets logAbsent for Gaussian noise: under substitution, in the coupling of §4, the sample without the
// record is as near as can be to those with any number of copies, so that c is the probability of no copy; in the
// second stage alone for MUST.OW (§5). An empty place is a case of it. Under add-remove c is 1 where §8 is exact. Under
// substitution it is 1 where all copies have one threshold T, which is so where their ratios at T ascend: T ≥ mθ.
func (t *copyTail) setAbsent(s subsample.FixedSize, r profiles.Relation) {
	t.logAbsent, t.pairB = math.Inf(-1), math.Inf(1)
	law := s.Multiplicity()
	switch {
	case t.theta == 0:
	case s.Name() == "must-ow":
		l := float64(s.Batch()) * math.Log1p(-1/float64(s.Subset()))
		t.logAbsent = xmath.RoundUp(l, 8)
		t.pairB = t.oneThreshold()
	case s.Name() == "must-ww":
	case r == profiles.AddRemove:
		t.logAbsent = 0
	default:
		t.logAbsent = law.LogNone - law.EtaErr - 8*xmath.U*(1+math.Abs(law.LogNone))
		t.pairB = t.oneThreshold()
	}
}

// oneThreshold bounds log Σ p_u r_u(mθ) from above.
func (t copyTail) oneThreshold() float64 {
	terms := []float64{0}
	most := float64(t.blocks[len(t.blocks)-1].copies) * t.theta
	for _, b := range t.blocks {
		mu := float64(b.copies) * t.theta
		terms = append(terms, b.logP+mu*(most-mu/2)+8*xmath.U*(math.Abs(b.logP)+mu*most))
	}
	return logSumUp(terms)
}

// moment returns the log of the smaller bound on α(α−1)∫_x^∞ e^{(α−1)y} δ(y) dy, rounded up.
func (t copyTail) moment(alpha, x float64) float64 {
	v := t.chosen(alpha, x)
	if !math.IsInf(t.logAbsent, -1) && x > 0 {
		v = min(v, t.mixed(alpha, x))
	}
	return v
}

// chosen is the bound by Theorem 5: e^{−(α−1)s}Σ p_u E[r_u^α; log r_u > x+s].
func (t copyTail) chosen(alpha, x float64) float64 {
	a := alpha - 1
	s := xmath.Log1mExp(-x) - t.logEta
	if s -= 8 * xmath.U * (1 + math.Abs(s) + math.Abs(t.logEta)); !(s > 0) {
		s = 0
	}
	y := xmath.Down(x+s, 1)
	terms := make([]float64, 0, len(t.blocks))
	for _, b := range t.blocks {
		u := float64(b.copies)
		if t.loss > 0 {
			if m := xmath.Up(u*t.loss, 1); m > y {
				terms = append(terms, b.logP+a*m+8*xmath.U*(1+a*m+math.Abs(b.logP)))
			}
			continue
		}
		mu := u * t.theta
		terms = append(terms, b.logP+xmath.U*2*math.Abs(b.logP)+partialMoment(alpha, mu, y/mu+mu/2))
	}
	return shifted(logSumUp(terms), a*s)
}

// mixed is the bound by the mixture of all copies: c^{1−α}(1 − e^{−x})^{1−α} times
//
//	E[(Σ p_k r_k)^α; y > from] ≤ (Σ p_k E[r_k^α; y > from]^{1/α})^α
//
// (Minkowski), where the outputs y with Σ p_k r_k > c(e^x − 1) are beyond the least one at which some p_k r_k is more
// than its share of the right side; the shares are 1/k² over their sum π²/6.
func (t copyTail) mixed(alpha, x float64) float64 {
	const logShares = 0.4977003024707453 // log(π²/6)
	c := xmath.Log1mExp(-x)
	if x < t.pairB {
		c += t.logAbsent
	}
	c -= 4 * xmath.U * (1 + math.Abs(t.logAbsent) + math.Abs(c))
	top := c + x - logShares
	top -= 4 * xmath.U * (1 + math.Abs(c) + x)
	from := math.Inf(1)
	for k, b := range t.blocks {
		mu := float64(b.copies) * t.theta
		v := top - 2*xmath.Log(float64(k+1)) - b.logP
		v -= 8 * xmath.U * (1 + math.Abs(top) + math.Abs(b.logP))
		from = min(from, v/mu+mu/2-8*xmath.U*(math.Abs(v)/mu+mu))
	}
	terms := make([]float64, 0, len(t.blocks))
	for _, b := range t.blocks {
		l := partialMoment(alpha, float64(b.copies)*t.theta, from) / alpha
		terms = append(terms, b.logP+l+4*xmath.U*(math.Abs(b.logP)+xmath.FiniteAbs(l)))
	}
	norm := logSumUp(terms)
	return shifted(alpha*norm+2*xmath.U*alpha*xmath.FiniteAbs(norm), (alpha-1)*c)
}

// shifted returns sum − by, rounded up.
func shifted(sum, by float64) float64 {
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return sum
	}
	return sum - by + 8*xmath.U*(math.Abs(sum)+math.Abs(by))
}

// partialMoment returns log E[r^α; y > from], rounded up, for outputs y of N(0,1) and r the ratio of N(μ,1) to it:
// α(α−1)μ²/2 + log Φ̄(from − αμ).
func partialMoment(alpha, mu, from float64) float64 {
	e := alpha * (alpha - 1) * mu * mu / 2
	z := from - alpha*mu
	tail := xmath.LogNormalTail(z)
	// |d log Φ̄/dz| ≤ |z| + 1.
	return e + tail + 8*xmath.U*(1+e+xmath.FiniteAbs(tail)) + (math.Abs(z)+1)*8*xmath.U*(math.Abs(from)+alpha*mu)
}

// Proof (docs/theory/subsampling.md §14): the tail.
//
// The tail. Certified profiles end at masses of e^−760, and with large orders it is what lies beyond that decides: m
// copies of one record, each with its Gaussian tail. Two bounds hold from any X on, and the best of both and of some X
// is taken.
//
//   * *Theorem 5.* `δ(x) ≤ Σ p_u δ_u(x + s)` for x ≥ X, `e^s = (1 − e^{−X})/η`, as `1 + (e^x − 1)/η ≥ e^{x+s}`. Since
//     `α(α−1)∫_Y^∞ e^{(α−1)y} E(r − e^y)₊ dy ≤ E[r^α; r > e^Y]`, what is beyond X is at most `e^{−(α−1)s} Σ p_u
//     E[r_u^α; log r_u > X + s]`. It holds for zero-out (a case of substitution, or by the triangle of §12) and for
//     both directions of add-remove: of Q against P = (1−η)Q + ηR advanced joint convexity leaves ηβH(Q‖R).
//   * *The mixture* (Gaussian). In §4 all mass of P may be shared with v = 0, where Q has (α−1)p_0: `δ(x) ≤ E[(Σ_{u≥1}
//     p_u r_u − c(e^x − 1))₊]` with c = p_0; within the subset for MUST.OW (c = s_0, as `(b/n)R[s](1 + (α−1)n/b)`).
//     With T ≥ 2m/σ the ratios r_u(T) ascend in u, so do the averages A_i(T), all copies have the one threshold T, and
//     c = 1: from `x ≥ log Σ p_u r_u(2m/σ)` on. Under add-remove c = 1 always where §8 is exact. Then `e^x c' ≤ c(e^x
//     − 1)` for c' = c(1 − e^{−X}), and the part beyond X is at most `c'^{1−α} E[(Σ p_u r_u)^α; y > y_X] ≤ c'^{1−α}(Σ
//     p_u E[r_u^α; y > y_X]^{1/α})^α` (Minkowski), y_X being where the sum may reach c'e^X. `E[r_u^α; y > y_X] =
//     e^{α(α−1)μ²/2}Φ̄(y_X − αμ)`, μ = 2u/σ. For MUST.WW under substitution Theorem 5 stays: its empty slots are
//     shared among the numbers of slots.
//
// What the table of copies leaves out (below e^−800) has `Pr[U ≥ u] ≤ C(m,u)·E[(J/b)^u]` or its like. Adding a record
// has a largest loss, minus the logarithm of the probability that the first stage leaves it out. All orders are at most
// those of m copies at once, `α(2m/σ)²/2`; this is the ρ of zero-concentrated privacy, and no smaller one holds, since
// `D_α ≥ α/(α−1)·log p_m + α(2m/σ)²/2`.
