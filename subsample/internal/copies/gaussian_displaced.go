// §12: zero-out in a batch of fixed size. What is lost above ε = 0 when the other records
// oppose the one whose place is emptied.

package copies

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Displaced is the pair ((1−q)N(0,1) + qN(2θ,1), (1−q)N(0,1) + qN(θ,1)) at losses ε ≥ 0: with
// probability q the batch holds a record, or its empty place at distance θ, and else another
// record at distance 2θ from the first and θ from the empty place
// (docs/theory/subsampling.md §12). Its tails below 0 are those at 0.
//
// Invariants: 0 < q ≤ 1, θ > 0. The profile grows with q.
type Displaced struct{ theta, rate, logRate, log1m float64 }

// NewDisplaced returns the pair with rate q and distance theta.
func NewDisplaced(theta, rate float64) Displaced {
	return Displaced{theta: theta, rate: rate, logRate: xmath.Log(rate), log1m: math.Log1p(-rate)}
}

// root returns log v and log S of the output y = (log v)/θ + θ at which the loss is ε ≥ 0.
//
// In v the likelihood ratio is ((1−q) + qv²)/((1−q) + qe^{θ²/2}v), so that it is above α = e^ε
// where v² − 2Bv − C > 0 with B = αe^{θ²/2}/2 and C = (α−1)(1−q)/q: right of the one positive
// root v = B + S, S = √(B² + C). All terms are positive.
func (d Displaced) root(eps float64) (logV, logS, size float64) {
	logB := eps + d.theta*d.theta/2 - math.Ln2
	logC := math.Inf(-1)
	if eps > 0 {
		logC = eps + xmath.Log1mExp(-eps) + d.log1m - d.logRate
	}
	logS = xmath.LogAdd(2*logB, logC) / 2
	logV = xmath.LogAdd(logB, logS)
	size = 2 + eps + d.theta*d.theta + xmath.FiniteAbs(d.log1m) + math.Abs(d.logRate) + xmath.FiniteAbs(logC) + math.Abs(logS) + math.Abs(logV)
	return logV, logS, size
}

// near returns log v of root for losses near 0, with a relative error of at most 32 u; ok is
// false where it does not apply.
//
// With v = 1 + w, a = αe^{θ²/2} − 1 and c = a + (α−1)(1−q)/q the root is that of
// w² + (1−a)w − c = 0. For a < 1/2 no operation loses digits: about 12 of at most 2 u each,
// that of 1 − a being the worst.
func (d Displaced) near(eps float64) (logV float64, ok bool) {
	if eps > 0.5 || d.theta > 1 {
		return 0, false
	}
	a := math.Expm1(eps + d.theta*d.theta/2)
	if a >= 0.5 {
		return 0, false
	}
	c := a + math.Expm1(eps)*((1-d.rate)/d.rate)
	return math.Log1p(2 * c / (1 - a + math.Sqrt((1-a)*(1-a)+4*c))), true
}

// threshold returns the output at which the loss is ε, and its error.
func (d Displaced) threshold(eps, tol float64) (y, dy float64) {
	logV, _, size := d.root(eps)
	// Each of the few operations of root rounds something of at most the given size, and
	// the logarithms of sums of positive terms do not enlarge errors of their terms.
	e := 6 * xmath.U * size
	if tol > 0 {
		// d log v/dε ≤ 1 + α(1−q)/(2qSv), which falls with ε (α²/(Sv) is at most 2, and
		// Sv/α grows): take it at ε − tol.
		at := max(0, eps-tol)
		v, s, _ := d.root(at)
		e += tol * (1 + math.Exp(min(700, at+d.log1m-d.logRate-s-v))/2*(1+1e-9))
	}
	if v, ok := d.near(eps); ok {
		e += 32*xmath.U*v - 6*xmath.U*size
		logV = v
	}
	y = logV/d.theta + d.theta
	return y, e/d.theta + 4*xmath.U*(math.Abs(y)+d.theta+math.Abs(logV)/d.theta)
}

// Tails implements profiles.Profile, for ε ≥ 0.
func (d Displaced) Tails(eps, tol float64) profiles.Tails {
	y, dy := d.threshold(max(0, eps), tol)
	var t profiles.Tails
	var e1, e2 float64
	t.P, e1 = d.mixed(y, dy, 2, 1)
	t.Q, e2 = d.mixed(y, dy, 1, 1)
	t.Err = max(e1, e2)
	t.PC, e1 = d.mixed(y, dy, 2, -1)
	t.QC, e2 = d.mixed(y, dy, 1, -1)
	t.ErrC = max(e1, e2)
	return t
}

// mixed returns the logarithm of the mass right (side 1) or left (side −1) of y under
// (1−q)N(0) + qN(move·θ), and its error.
func (d Displaced) mixed(y, dy, move, side float64) (log, err float64) {
	x := y - move*d.theta
	dx := dy + 2*xmath.U*(math.Abs(y)+math.Abs(x)+d.theta)
	a, b := xmath.LogNormalTail(side*y), xmath.LogNormalTail(side*x)
	log = xmath.LogAdd(d.log1m+a, d.logRate+b)
	err = max(normalErr(a, side*y, dx), normalErr(b, side*x, dx))
	return min(0, log), err + 4*xmath.U*(1+xmath.FiniteAbs(d.log1m)+math.Abs(d.logRate)+xmath.FiniteAbs(log))
}

// LogTailDifference implements hook.TailDifferencer: the tails differ by
// q(Φ̄(y−2θ) − Φ̄(y−θ)).
func (d Displaced) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	y, dy := d.threshold(max(0, eps), tol)
	m := y - 1.5*d.theta
	dm := dy + 4*xmath.U*(math.Abs(y)+2*d.theta)
	if !(dm < 1) {
		return 0, math.Inf(1)
	}
	between, err := xmath.LogNormalBetween(m, d.theta)
	// φ changes by at most e^{(|m|+θ/2+dm)dm} when the interval moves by dm; its width is
	// known to an ulp.
	return d.logRate + between, err + (math.Abs(m)+d.theta/2+dm)*dm + 4*xmath.U*(1+math.Abs(d.logRate)+math.Abs(between)+d.theta*(math.Abs(m)+d.theta))
}

// Support implements profiles.Profile.
func (d Displaced) Support() profiles.Support {
	return profiles.Support{Min: 0, Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}

// DisplacedMixture is the public choice of the number u of copies, given that there is one,
// each with the pair Displaced at u times the distance, at losses ε ≥ 0. b is a Gaussian.
func DisplacedMixture(b profiles.Mechanism, law Law, rate float64) (profiles.Profile, error) {
	groups, err := GroupMixture(b, law, profiles.ZeroOut)
	if err != nil {
		return nil, err
	}
	m, ok := groups.(*publicChoice)
	if !ok {
		return nil, notGaussian(b)
	}
	for u, item := range m.items {
		g, ok := item.(profiles.Gaussian)
		if !ok {
			return nil, notGaussian(b)
		}
		m.items[u] = NewDisplaced(1/g.NoiseMultiplier(), rate)
	}
	// What is given away is so when a copy is drawn.
	m.setRest(m.logRest() + xmath.Log(rate))
	return m, nil
}
