// Base mechanisms that add noise: their checks, and the pair of each relation.

package profiles

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewGaussianMechanism returns Gaussian noise of standard deviation
// noiseMultiplier times the L2 sensitivity. Substituting a record moves the
// mean by twice the sensitivity.
func NewGaussianMechanism(noiseMultiplier float64) (Mechanism, error) {
	g, err := NewGaussian(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	return gaussianBase{g.(gaussianProfile)}, nil
}

type gaussianBase struct{ g gaussianProfile }

func (gaussianBase) Name() string { return "gaussian" }

func (b gaussianBase) Pair(r Relation) (Profile, error) {
	if r == Substitute {
		return newGaussian(2 * b.g.mu), nil
	}
	return b.g, nil
}

// NoiseMultiplier returns σ over the L2 sensitivity.
func (b gaussianBase) NoiseMultiplier() float64 { return b.g.NoiseMultiplier() }

// NoiseRange implements NoiseScaler.
func (gaussianBase) NoiseRange(Relation) (lo, hi float64) { return noiserange.Min, noiserange.Max }

// WithNoiseMultiplier implements NoiseScaler.
func (gaussianBase) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	return NewGaussianMechanism(noiseMultiplier)
}

// SubstituteMixture implements substituteMixer of package subsample: the pair at ±1 dominates, by
// Gaussian comparison (Kahane, Slepian): covariances inside one side are at
// most 1 and across at least −1, all attained by opposite contributions.
func (b gaussianBase) SubstituteMixture(rate float64) (Profile, bool, error) {
	return gaussianPlusMinus{mu: b.g.mu, rate: rate, logRate: xmath.Log(rate), log1m: math.Log1p(-rate)}, true, nil
}

// NewLaplaceMechanism returns Laplace noise of scale noiseMultiplier times the
// L1 sensitivity, independent in each coordinate of a query of any number of
// numbers. One coordinate that takes the whole change is the worst vector
// (docs/theory/pairs.md, "Vectors").
func NewLaplaceMechanism(noiseMultiplier float64) (Mechanism, error) {
	l, err := NewLaplace(noiseMultiplier)
	if err != nil {
		return nil, err
	}
	return laplaceBase{l.(laplaceProfile)}, nil
}

type laplaceBase struct{ l laplaceProfile }

func (laplaceBase) Name() string { return "laplace" }

func (b laplaceBase) Pair(r Relation) (Profile, error) {
	if r == Substitute {
		return newLaplace(2 * b.l.m), nil
	}
	return b.l, nil
}

// NoiseMultiplier returns b over the L1 sensitivity.
func (b laplaceBase) NoiseMultiplier() float64 { return b.l.NoiseMultiplier() }

// NoiseRange implements NoiseScaler.
func (laplaceBase) NoiseRange(Relation) (lo, hi float64) { return noiserange.Min, noiserange.Max }

// WithNoiseMultiplier implements NoiseScaler.
func (laplaceBase) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	return NewLaplaceMechanism(noiseMultiplier)
}

// SubstituteMixture implements substituteMixer of package subsample: the pair at ±1 dominates, by Lemma S
// (docs/theory/pairs.md §5).
func (b laplaceBase) SubstituteMixture(rate float64) (Profile, bool, error) {
	return newLaplacePlusMinus(b.l.m, rate), true, nil
}

// Identical returns the profile of P = Q: a loss that is always 0.
func Identical() *Discrete {
	d, err := NewDiscrete([]Atom{{0, 0, 0}}, math.Inf(-1), math.Inf(-1), 0, 0)
	if err != nil {
		panic(err) // constant input
	}
	return d
}

// gaussianPlusMinus is the pair (1−q)N(0,1) + qN(±μ,1).
type gaussianPlusMinus struct {
	mu, rate, logRate, log1m float64
}

func (g gaussianPlusMinus) SelfReverse() bool { return true }

// threshold returns the output x at which the loss is ε, and the error of x.
// With w = e^{μx} the equation e^ε = (c+sw)/(c+s/w), c = 1−q, s = qe^{−μ²/2}, is
// quadratic; its solution in symmetric form is
// μx = ε/2 + asinh((c/s)·sinh(ε/2)): odd in ε and free of cancellation.
func (g gaussianPlusMinus) threshold(eps, tol float64) (x, dx float64) {
	h := math.Abs(eps) / 2
	logCS := g.log1m - g.logRate + g.mu*g.mu/2 // log(c/s)
	if h == 0 {
		return 0, tol * (0.5 + 0.5*math.Exp(min(700, logCS+tol))) / g.mu
	}
	logSinh := xmath.Log(math.Sinh(min(h, 1)))
	if h >= 1 {
		logSinh = h + math.Log1p(-math.Exp(-2*h)) - math.Ln2
	}
	lz := logCS + logSinh
	a := lz + math.Ln2 // asinh z = log 2z + O(z^-2): below 2e-18 from z = e^20 on
	if lz <= 20 {
		a = math.Asinh(math.Exp(lz))
	}
	v := h + a
	// d asinh(e^lz)/d lz = z/√(1+z²) ≤ min(1, z).
	slope := math.Exp(min(lz, 0))
	dlz := xmath.U * (4*math.Abs(lz) + 2*math.Abs(g.logRate) + 2*math.Abs(g.log1m) + g.mu*g.mu + 2*math.Abs(logSinh) + 4)
	// d asinh((c/s)·sinh h)/dh = (c/s)·cosh h/√(1+z²) ≤ min((c/s)·cosh h, 1/tanh h) anywhere within
	// tol/2 of h: cosh h ≤ e^h grows with h, 1/tanh h falls. ε itself may be as small as tol.
	steep := min(700, logCS+h+tol/2)
	if near := h - tol/2; near > 0 {
		steep = min(steep, -xmath.Log(math.Tanh(near)))
	}
	dv := slope*dlz + 0.5*tol*math.Exp(steep)*(1+4*xmath.U) + 4*xmath.U*v + 0.5*tol
	x, dx = v/g.mu, (dv+2*xmath.U*v)/g.mu
	if eps < 0 {
		x = -x
	}
	return x, dx
}

func (g gaussianPlusMinus) Tails(eps, tol float64) Tails {
	x, dx := g.threshold(eps, tol)
	dx += xmath.U * (math.Abs(x) + g.mu)
	up, lo := xmath.LogNormalTail(x), xmath.LogNormalTail(-x)
	t := Tails{
		P: g.mix(xmath.LogNormalTail(x-g.mu), up), Q: g.mix(xmath.LogNormalTail(x+g.mu), up),
		PC: g.mix(xmath.LogNormalTail(g.mu-x), lo), QC: g.mix(xmath.LogNormalTail(-x-g.mu), lo),
	}
	extra := 4 * xmath.U * (1 + math.Abs(g.logRate))
	t.Err = extra + tailErr(t.P, t.Q, xmath.NormalHazard(x+g.mu+dx)*dx)
	t.ErrC = extra + tailErr(t.PC, t.QC, xmath.NormalHazard(-x+g.mu+dx)*dx)
	return t
}

func (g gaussianPlusMinus) mix(a, b float64) float64 {
	return min(0, xmath.LogAdd(g.logRate+a, g.log1m+b))
}

func (g gaussianPlusMinus) Support() Support {
	return Support{Min: math.Inf(-1), Max: math.Inf(1), LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN()}
}

// laplacePlusMinus is the pair (1−q)Lap(0,b) + qLap(±1,b), m = 1/b. The loss is
// constant outside [−1, 1] (atoms at ±top) and increasing inside.
type laplacePlusMinus struct {
	m, rate, logRate, log1m float64
	logA, top               float64 // log(1−q+qe^{−m}), the largest loss
	lossErr                 float64 // of top and logA together
}

func newLaplacePlusMinus(m, rate float64) laplacePlusMinus {
	r := newSampledRatio(rate)
	a, da := r.log(-m, scaleErr*m)
	b, db := r.log(m, scaleErr*m)
	return laplacePlusMinus{m: m, rate: rate, logRate: r.logRate, log1m: r.log1m, logA: a, top: b - a, lossErr: da + db + xmath.U*(b-a)}
}

// A sampledRatio is what sampling with probability q makes of a likelihood ratio e^l: 1 − q + q·e^l.
type sampledRatio struct{ rate, logRate, log1m float64 }

func newSampledRatio(rate float64) sampledRatio {
	return sampledRatio{rate: rate, logRate: xmath.Log(rate), log1m: math.Log1p(-rate)}
}

// log returns log(1 − q + q·e^l), and its error for an l that is known to dl.
//
// With t = q(e^l − 1), known to 3 u of itself, log(1 + t) moves by 3 u·|t|/(1 + t), which is at most 6 u times
// |log(1 + t)| from t = −½ on. Elsewhere the two terms are added in logarithms; each moves the sum by its share.
func (r sampledRatio) log(l, dl float64) (x, err float64) {
	t := r.rate * math.Expm1(l)
	if t >= -0.5 && l <= 700 {
		x = math.Log1p(t)
		err = 8 * xmath.U * math.Abs(x)
	} else {
		x = xmath.LogAdd(r.log1m, r.logRate+l)
		err = 4*xmath.U*(1+math.Abs(x)) + 2*xmath.U*(math.Abs(r.log1m)*math.Exp(r.log1m-x)+(math.Abs(r.logRate)+math.Abs(l))*math.Exp(r.logRate+l-x))
	}
	return x, err + dl*math.Exp(min(0, r.logRate+l-x))*(1+1e-9)
}

func (l laplacePlusMinus) SelfReverse() bool { return true }

func (l laplacePlusMinus) Tails(eps, tol float64) Tails {
	inf := math.Inf(-1)
	switch {
	case eps < -l.top:
		return Tails{P: 0, Q: 0, PC: inf, QC: inf}
	case eps >= l.top:
		return Tails{P: inf, Q: inf, PC: 0, QC: 0}
	case eps > 0:
		// The loss is odd in the output: P(L > ε) = Q(L < −ε).
		t := l.Tails(-eps, tol)
		return Tails{P: t.QC, Q: t.PC, PC: t.Q, QC: t.P, Err: t.ErrC, ErrC: t.Err}
	}
	// On [−1, 0] the loss at output x is logA − log(1−q + qe^{−(2x+1)m}): solve for
	// v = (x+1)m ∈ [0, m].
	// e^{−2v+m} = (Ae^{−ε} − (1−q))/q =: e^r, r in [−m, m]; at v = 0 (ε = −top) this is e^m.
	r, dr := l.logSide(eps)
	v := min(max(0, (l.m-r)/2), l.m)
	if tol > 0 {
		// −dr/dε = Ae^{−ε}/(qe^r) grows with ε: take it at ε + tol.
		rTol, _ := l.logSide(min(0, eps+tol))
		dr += tol * math.Exp(min(700, l.logA-eps-l.logRate-rTol))
	}
	dv := dr/2 + xmath.U*(l.m+math.Abs(v))
	// x ≤ 0: P(X ≤ x) = ½q e^{−2m+v} + ½(1−q)e^{v−m}; Q(X ≤ x) = q(1 − ½e^{−v}) + ½(1−q)e^{v−m}, and
	// Q(X > x) = ½q e^{−v} + (1−q)(1 − ½e^{v−m}).
	pc := xmath.LogAdd(l.logRate+v-2*l.m, l.log1m+v-l.m) - math.Ln2
	qc := xmath.LogAdd(l.logRate+xmath.Log1mExp(-v-math.Ln2), l.log1m+v-l.m-math.Ln2)
	q := xmath.LogAdd(l.logRate-v-math.Ln2, l.log1m+xmath.Log1mExp(v-l.m-math.Ln2))
	e := dv + 4*xmath.U*(2+math.Abs(l.logRate)+2*l.m)
	// P = 1 − PC with PC ≤ ½ moves by no more than PC does.
	return Tails{P: xmath.Log1mExp(pc), Q: q, PC: pc, QC: qc, Err: 2 * e, ErrC: e}
}

// logSide returns log((Ae^{−ε} − (1−q))/q) for ε ≤ 0, and its error. The two
// terms of (1−q)(e^{−ε} − 1) + qe^{−m−ε} are positive.
func (l laplacePlusMinus) logSide(eps float64) (r, dr float64) {
	grow := math.Inf(-1) // log(e^{−ε} − 1)
	if eps < 0 {
		grow = -eps + xmath.Log1mExp(eps)
	}
	r = xmath.LogAdd(l.log1m-l.logRate+grow, -l.m-eps)
	size := math.Abs(l.log1m) + math.Abs(l.logRate) + math.Abs(eps) + l.m + math.Abs(r)
	if !math.IsInf(grow, -1) {
		size += math.Abs(grow)
	}
	return r, 3 * xmath.U * (2 + size)
}

func (l laplacePlusMinus) Support() Support {
	return Support{Min: -l.top, Max: l.top, LogPInf: math.Inf(-1), LogQInf: math.Inf(-1),
		Atoms: []float64{-l.top, l.top}, Spike: math.NaN(), LossErr: l.lossErr}
}

// maxDiscreteScale bounds the number of listed outcomes of a discrete Gaussian.
const maxDiscreteScale = 2e4

// newIntegerGaussian returns discrete Gaussian noise on one whole number.
func newIntegerGaussian(noiseMultiplier float64, sensitivity int) (integerNoise, error) {
	const name = "discrete-gaussian"
	if err := noiserange.CheckDiscrete(name, noiseMultiplier, sensitivity); err != nil {
		return integerNoise{}, err
	}
	sigma := noiseMultiplier * float64(sensitivity)
	if sigma > maxDiscreteScale {
		return integerNoise{}, fault.In(name, fault.New("noise-multiplier", "%v times sensitivity %d is not at most %g", noiseMultiplier, sensitivity, maxDiscreteScale))
	}
	return integerNoise{name: name, w: newGaussianWeights(sigma), shift: sensitivity, noise: noiseMultiplier}, nil
}

// NewDiscreteLaplaceMechanism returns discrete Laplace (two-sided geometric)
// noise of scale noiseMultiplier × sensitivity, independent in each coordinate,
// on a query of any number of whole numbers with that L1 sensitivity.
//
// One coordinate that takes the whole change is the worst vector: a change by 1
// has the likelihood ratios e^{±1/b}, whose worst test turns a false-positive
// rate x into g(x) = min(e^{1/b}x, 1 − e^{−1/b}(1−x)); a vector of L1 norm s is a
// chain of s such changes, so no test does better than g iterated s times, which
// one coordinate shifted by s attains (docs/theory/pairs.md, "Vectors").
func NewDiscreteLaplaceMechanism(noiseMultiplier float64, sensitivity int) (Mechanism, error) {
	const name = "discrete-laplace"
	if err := noiserange.CheckDiscrete(name, noiseMultiplier, sensitivity); err != nil {
		return nil, err
	}
	return integerNoise{name: name, w: laplaceWeights{1 / (noiseMultiplier * float64(sensitivity))}, shift: sensitivity, noise: noiseMultiplier}, nil
}

// A weights is a symmetric noise on the integers, as log probabilities.
type weights interface {
	// log returns the log probability of k, tail (a bound of) that of all noise
	// ≥ k ≥ 0.
	log(k int) float64
	tail(k int) float64
	// margin is how far beyond the centres outcomes are listed.
	margin() int
	// lump says that all outcomes beyond share one loss, so that they are one
	// atom. Else their mass, below 1e-345, counts as loss +∞ under P and −∞ under
	// Q: no float64 δ can tell.
	lump() bool
	// loss returns log(weight(k−s)/weight(k)) without cancellation.
	loss(k, s int) float64
}

type laplaceWeights struct{ a float64 }

func (w laplaceWeights) log(k int) float64 {
	return xmath.Log1mExp(-w.a) - math.Log1p(math.Exp(-w.a)) - w.a*math.Abs(float64(k))
}

func (w laplaceWeights) tail(k int) float64 {
	return -w.a*float64(k) - math.Log1p(math.Exp(-w.a))
}

func (w laplaceWeights) margin() int { return 0 }
func (w laplaceWeights) lump() bool  { return true }

func (w laplaceWeights) loss(k, s int) float64 {
	return w.a * (math.Abs(float64(k)) - math.Abs(float64(k-s)))
}

type gaussianWeights struct{ sigma, logZ float64 }

func newGaussianWeights(sigma float64) gaussianWeights {
	w := gaussianWeights{sigma: sigma}
	ws := make([]float64, w.margin()+1)
	for k := range ws {
		ws[k] = w.log(k)
	}
	half := suffixSums(ws, math.Inf(-1))
	w.logZ = xmath.LogAdd(half[0], half[1])
	return w
}

func (w gaussianWeights) log(k int) float64 {
	return -float64(k)*float64(k)/(2*w.sigma*w.sigma) - w.logZ
}

// tail bounds the tail by the geometric series of its first ratio.
func (w gaussianWeights) tail(k int) float64 {
	return w.log(k) - xmath.Log1mExp(-(2*float64(k)+1)/(2*w.sigma*w.sigma))
}

// margin reaches e^{−800}: a mass below 1e-345.
func (w gaussianWeights) margin() int { return int(40*w.sigma) + 3 }
func (w gaussianWeights) lump() bool  { return false }

func (w gaussianWeights) loss(k, s int) float64 {
	return float64(s) * (2*float64(k) - float64(s)) / (2 * w.sigma * w.sigma)
}

// integerNoise adds noise with the given weights to an integer query of
// sensitivity shift.
type integerNoise struct {
	name  string
	w     weights
	shift int
	noise float64 // the noise multiplier

	massErr float64 // relative error of w on top of rounding
}

func (b integerNoise) Name() string { return b.name }

// NoiseMultiplier returns the noise scale over the sensitivity.
func (b integerNoise) NoiseMultiplier() float64 { return b.noise }

// NoiseRange implements NoiseScaler.
func (b integerNoise) NoiseRange(Relation) (lo, hi float64) {
	if _, ok := b.w.(gaussianWeights); ok {
		return noiserange.Min, maxDiscreteScale / float64(b.shift)
	}
	return noiserange.Min, noiserange.Max
}

// NewDiscreteGaussianNumber returns discrete Gaussian noise with σ =
// noiseMultiplier × sensitivity on a query whose answer is one whole number with
// that sensitivity ("dimension: 1" in a plan). Its pair does not dominate a
// vector with the same L2 sensitivity.
func NewDiscreteGaussianNumber(noiseMultiplier float64, sensitivity int) (Mechanism, error) {
	b, err := newIntegerGaussian(noiseMultiplier, sensitivity)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// WithNoiseMultiplier implements NoiseScaler.
func (b integerNoise) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	if _, ok := b.w.(gaussianWeights); ok {
		return NewDiscreteGaussianNumber(noiseMultiplier, b.shift)
	}
	return NewDiscreteLaplaceMechanism(noiseMultiplier, b.shift)
}

func (b integerNoise) Pair(r Relation) (Profile, error) {
	s := b.shift
	if r == Substitute {
		s *= 2
	}
	return b.pair(s, 0)
}

// pair returns the profile of a change by s. The masses have the relative error
// massErr on top of b's.
func (b integerNoise) pair(s int, massErr float64) (Profile, error) {
	lo, hi := -b.w.margin(), s+b.w.margin()
	atoms := make([]Atom, 0, hi-lo+1)
	for k := lo + 1; k < hi; k++ {
		atoms = append(atoms, Atom{b.w.loss(k, s), b.w.log(k - s), b.w.log(k)})
	}
	if b.w.lump() {
		far, near := b.w.tail(hi), b.w.tail(hi-s)
		atoms = append(atoms, Atom{b.w.loss(lo, s), far, near}, Atom{b.w.loss(hi, s), near, far})
	}
	out := b.outside(s)
	top := math.Abs(b.w.loss(hi, s))
	// Three roundings in the scale, σ² or the product; the quotient; and those of
	// the sum with the normaliser.
	return NewDiscrete(atoms, out, out, b.massErr+massErr+8*xmath.U, 5*xmath.U*top)
}

// outside returns the logarithm of the mass that pair counts as loss ±∞.
func (b integerNoise) outside(s int) float64 {
	if b.w.lump() {
		return math.Inf(-1)
	}
	hi := s + b.w.margin()
	return xmath.LogAdd(b.w.tail(hi-s), b.w.tail(hi))
}

// SubstituteMixture implements substituteMixer of package subsample: the pair at ±1 dominates, by Lemma S
// (docs/theory/pairs.md §5).
func (b integerNoise) SubstituteMixture(rate float64) (Profile, bool, error) {
	s, r := b.shift, newSampledRatio(rate)
	lo, hi := -s-b.w.margin(), s+b.w.margin()
	atoms := make([]Atom, 0, hi-lo+1)
	lossErr := 0.0
	// put adds outcomes with k's loss and the noise mass(0), moved to mass(±s) under the record.
	put := func(k int, mass func(move int) float64) {
		// The loss is that of M₁ against M₀ after sampling, less that of M₁′: each of 5 u as in pair.
		up, down := b.w.loss(k, s), b.w.loss(k, -s)
		x, dx := r.log(up, 5*xmath.U*math.Abs(up))
		y, dy := r.log(down, 5*xmath.U*math.Abs(down))
		lossErr = max(lossErr, dx+dy+xmath.U*math.Abs(x-y))
		none := r.log1m + mass(0)
		atoms = append(atoms, Atom{x - y, xmath.LogAdd(r.logRate+mass(s), none), xmath.LogAdd(r.logRate+mass(-s), none)})
	}
	for k := lo + 1; k < hi; k++ {
		put(k, func(move int) float64 { return b.w.log(k - move) })
	}
	out := math.Inf(-1)
	if b.w.lump() {
		put(hi, func(move int) float64 { return b.w.tail(hi - move) })
		put(lo, func(move int) float64 { return b.w.tail(-lo + move) })
	} else {
		// The mass beyond counts as loss ±∞, as in pair: it is on both sides of each of the two centres.
		out = xmath.LogAdd(math.Ln2+r.log1m+b.w.tail(hi),
			r.logRate+xmath.LogAdd(b.w.tail(hi-s), b.w.tail(hi+s)))
	}
	// Each mass: 8 u of the two noises and 4 u of the mixture.
	p, err := NewDiscrete(atoms, out, out, b.massErr+b.massErr+12*xmath.U, lossErr)
	return p, true, err
}

// Masses of discrete Gaussian noise by theta functions, with a bound of the relative
// error.

// thetaListErr bounds the relative error of a mass (1) of vectornoise.go with θ
// as thetas computes it. What thetas leaves out is below e^{−45} of each sum; the
// sums have positive terms, at most 64 factors of 4 u and as many additions in
// logarithms below 1e4.
const thetaListErr = 1e-11

// thetaWeights are the masses (1) of vectornoise.go.
type thetaWeights struct {
	gaussianWeights
	theta []float64 // log θ by k mod len(theta)
	most  float64   // the largest of them
}

func newThetaWeights(sigma float64, theta []float64) thetaWeights {
	w := thetaWeights{gaussianWeights: gaussianWeights{sigma: sigma}, theta: theta, most: slices.Max(theta)}
	all := make([]float64, 0, 2*w.margin()+1)
	for k := -w.margin(); k <= w.margin(); k++ {
		all = append(all, w.log(k))
	}
	w.logZ = prefixSums(all, math.Inf(-1))[len(all)]
	return w
}

func (w thetaWeights) log(k int) float64 {
	n := len(w.theta)
	return w.gaussianWeights.log(k) + w.theta[((k%n)+n)%n]
}

func (w thetaWeights) tail(k int) float64 { return w.gaussianWeights.tail(k) + w.most }

// thetas returns log θ(k), k mod |v'|², for the vector v' that count lists.
func thetas(sigma float64, count []int) []float64 {
	n := 0
	for k, c := range count {
		n += c * k * k
	}
	sums := newPartialSums(sigma, n)
	for k, c := range count {
		for ; c > 0; c-- {
			sums.grow(k)
		}
	}
	return sums.theta(1)
}

// eachTheta calls f with the greatest common divisor and log θ of every vector
// of positive whole numbers with |v|² = norm2, up to order.
func eachTheta(sigma float64, norm2 int, f func(g int, theta []float64)) {
	sums := newPartialSums(sigma, norm2)
	eachSumOfSquares(norm2, sums.grow, sums.shrink, func(count []int) {
		g := gcdOf(count)
		f(g, sums.theta(g))
	})
}

// partialSums is a stack of the weights Σ e^{−|x|²/(2σ²)} over the x with
// ⟨v, x⟩ = j, one for each beginning of a vector v.
//
// An x of weight that counts is close to the line of v: |y_i| is at most the
// covering radius of Λ, which is below |v|, plus 9.5σ, beyond which what is left
// out weighs e^{−45} of what is kept.
type partialSums struct {
	sigma     float64
	norm2     int
	reach     int // of a coordinate
	wide      int // of a partial sum
	logarithm bool
	stack     [][]float64
}

func newPartialSums(sigma float64, norm2 int) *partialSums {
	norm := math.Sqrt(float64(norm2))
	s := &partialSums{sigma: sigma, norm2: norm2,
		reach: int(math.Ceil(norm + 9.5*sigma)), wide: int(math.Ceil(norm*(norm+9.5*sigma))) + 1,
		logarithm: sigma < 0.7} // else no weight in reach underflows: (|v|+9.5σ)²/2σ² < 250
	first := make([]float64, 2*s.wide+1)
	for i := range first {
		first[i] = s.number(math.Inf(-1))
	}
	first[s.wide] = s.number(0)
	s.stack = append(s.stack, first)
	return s
}

// number returns e^x in the representation of the stack.
func (s *partialSums) number(x float64) float64 {
	if s.logarithm {
		return x
	}
	return math.Exp(x)
}

// grow adds a coordinate that changes by v.
func (s *partialSums) grow(v int) {
	last := s.stack[len(s.stack)-1]
	next := make([]float64, len(last))
	if s.logarithm {
		for i := range next {
			next[i] = math.Inf(-1)
		}
	}
	for x := -s.reach; x <= s.reach; x++ {
		w := s.number(-float64(x) * float64(x) / (2 * s.sigma * s.sigma))
		for i := max(0, x*v); i < min(len(next), len(next)+x*v); i++ {
			switch from := last[i-x*v]; {
			case s.logarithm && math.IsInf(from, -1):
			case s.logarithm:
				next[i] = xmath.LogAdd(next[i], from+w)
			default:
				next[i] += from * w
			}
		}
	}
	s.stack = append(s.stack, next)
}

func (s *partialSums) shrink() { s.stack = s.stack[:len(s.stack)-1] }

// theta returns log θ of v/g, v the vector of the whole stack.
func (s *partialSums) theta(g int) []float64 {
	last := s.stack[len(s.stack)-1]
	n := s.norm2 / g / g
	out := make([]float64, n)
	for k := range out {
		j := k
		if 2*j > n {
			j -= n
		}
		x := last[s.wide+g*j]
		if !s.logarithm {
			x = xmath.Log(x)
		}
		out[k] = x + float64(j)*float64(j)/(2*s.sigma*s.sigma*float64(n))
	}
	return out
}

// This file adds Gaussian and Laplace noise to numbers that are to be released, so that floating point takes nothing
// from the privacy that was accounted for. Noise drawn and added as float64 gives the value away by the low bits
// of the sum, by values that cannot occur, and by the end of the tail (Mironov, CCS 2012). Here the noise is an exact
// draw of the real-valued law, the sum is one of real numbers, and the result is the nearest multiple of a grid:
// post-processing of the mechanism, as long as the grid does not depend on the data. A grid of a millionth of the
// noise costs nothing in accuracy. A draw takes a few microseconds, and its time is not hidden.

// AddGaussian returns value plus Gaussian noise of standard deviation sigma ≥ 0, rounded to
// the nearest multiple of grid. The source nil is the operating system's; another must be
// secret. The noise multiplier is sigma over the L2 sensitivity of value, in which the
// caller counts the rounding errors of value itself.
func AddGaussian(src rand.Source, value, sigma, grid float64) (float64, error) {
	if err := checkNoise("sigma", value, sigma, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, sigma, random.Normal(random.Source(src))).Nearest(grid), nil
}

// AddLaplace is [AddGaussian] for Laplace noise of the given scale ≥ 0.
func AddLaplace(src rand.Source, value, scale, grid float64) (float64, error) {
	if err := checkNoise("scale", value, scale, grid); err != nil {
		return 0, err
	}
	return random.Noisy(value, scale, random.Laplace(random.Source(src))).Nearest(grid), nil
}

// The range of a grid keeps half of it exact.
const minGrid, maxGrid = 0x1p-1000, 0x1p1000

func checkNoise(field string, value, scale, grid float64) error {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return fault.New("value", "%v is not finite", value)
	case !(scale >= 0 && scale <= math.MaxFloat64):
		return fault.New(field, "%v is not in [0, %v]", scale, math.MaxFloat64)
	case !(grid >= minGrid && grid <= maxGrid):
		return fault.New("grid", "%v is not in [2^-1000, 2^1000]", grid)
	}
	return nil
}

// Proof (docs/theory/pairs.md §6): one coordinate takes the whole change.
//
// Laplace noise of scale b, ‖v‖₁ ≤ s. Let P_t be the output for the query moved by tv/‖v‖₁, 0 ≤ t ≤ s. |∂ₜ log p_t| ≤
// 1/b, and for a set S the function f(t) = P_t(S) has the derivative E_t[1_S·∂ₜ log p_t]; as ∂ₜ log p_t has mean 0,
// |f′| ≤ min(f, 1 − f)/b. The solution of f′ = min(f, 1 − f)/b from f(0) = x is what the best test of one number that
// moves by s reaches. So one coordinate that takes the whole change is the worst.
//
// Discrete Laplace noise, whole v with ‖v‖₁ ≤ s. A move of one coordinate by 1 has likelihood ratios e^{±1/b} only, so
// a test of false-positive rate x has power at most g(x) = min(e^{1/b}x, 1 − e^{−1/b}(1 − x)). v is a chain of s such
// moves, which gives at most g iterated s times. One coordinate moved by s attains that: its curve has kinks at the
// tails Pr[Z ≥ j], 1 ≤ j ≤ s, where the iterate's are, and the same slopes.
//
// A smaller change is never worse: the noise is log-concave, so the best test against the change v is a threshold on a
// statistic that does not decrease in any coordinate (signs taken so that v ≥ 0), and against a w ≥ v, coordinate by
// coordinate, it has at least the same power.
