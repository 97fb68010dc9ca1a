// Whole-number noise on a vector of any length: above by its probit step, a Gaussian step; below by single pairs.
//
// Theorem 1 of docs/theory/integer-noise.md: with probit step D, a query of whole numbers with L2 sensitivity Δ is
// D·√⌊Δ²⌋-GDP, in any dimension. It assumes noise that is independent from one coordinate to the next.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// leastDeviation and mostDeviation bound the standard deviation of integer noise, whose steps are looked at one by one,
// mostSquared the squared norm of a change, and mostLeak what the end of a tail may give away.
const (
	leastDeviation = 0.1
	mostDeviation  = 1e4
	mostSquared    = 1e9
	mostClients    = 1e9
	mostLeak       = 1e-9
)

// NewSkellamMechanism returns Skellam noise (the difference of two Poisson variables of one mean) of a standard
// deviation, independent in each coordinate, on a query of any number of whole numbers with an L2 sensitivity.
//
// Its Pair is that of Gaussian noise of multiplier 1/(D·√⌊sensitivity²⌋), D the probit step of the noise (Theorem 1 and
// Lemma 3′ of docs/theory/integer-noise.md), attained up to about one part in 6·variance of ε.
func NewSkellamMechanism(standardDeviation, sensitivity float64) (Mechanism, error) {
	return newIntegerVector(integerVector{name: "skellam", noise: "skellam", clients: 1, deviation: standardDeviation, sensitivity: sensitivity})
}

// newDiscreteGaussianVector is NewDiscreteGaussianMechanism without a list of vectors; see NewSkellamMechanism for the bounds.
func newDiscreteGaussianVector(noiseMultiplier, sensitivity float64) (Mechanism, error) {
	m, err := newIntegerVector(integerVector{name: "discrete-gaussian", noise: "discrete-gaussian", clients: 1, deviation: noiseMultiplier * sensitivity, sensitivity: sensitivity})
	if err != nil && !(noiseMultiplier*sensitivity >= leastDeviation && noiseMultiplier*sensitivity <= mostDeviation) {
		return nil, fault.In("discrete-gaussian", fault.New("noise-multiplier", "%v times sensitivity %v is not in [%v, %v]", noiseMultiplier, sensitivity, leastDeviation, float64(mostDeviation)))
	}
	return m, err
}

// NewSummedNoise returns the noise that the clients of a secure aggregation add together, on a sum of vectors of whole
// numbers with an L2 sensitivity: each adds noise of its own to every coordinate, "skellam" or "discrete-gaussian" of the
// standard deviation (the parameter σ), or "discrete-laplace" of that scale. So many clients are missing: they drop out, add
// none, or tell the adversary theirs.
//
// It is for zero-out (a client takes part, adds its noise and contributes nothing) and substitution. A client that is
// absent does not add its noise either, which may tell more than its values do: there is no Pair under AddRemove.
func NewSummedNoise(noise string, clients, missing int64, standardDeviation, sensitivity float64) (Mechanism, error) {
	const name = "summed-noise"
	switch {
	case noise != "skellam" && noise != "discrete-gaussian" && noise != "discrete-laplace":
		return nil, fault.In(name, fault.New("noise", "%q is not one of skellam, discrete-gaussian, discrete-laplace", noise))
	case clients < 1 || clients > mostClients:
		return nil, fault.In(name, fault.New("clients", "%d is not in [1, %d]", clients, int64(mostClients)))
	case missing < 0 || missing >= clients:
		return nil, fault.In(name, fault.New("missing", "%d is not in [0, %d]: some client must add noise", missing, clients-1))
	}
	return newIntegerVector(integerVector{name: name, noise: noise, clients: clients - missing, deviation: standardDeviation, sensitivity: sensitivity, shared: true})
}

// integerVector is log-concave noise on every coordinate of a vector of whole numbers that a record moves by a squared
// norm of at most norm2.
type integerVector struct {
	name        string
	noise       string
	clients     int64 // whose noise adds up, each of this standard deviation, parameter or scale
	deviation   float64
	sensitivity float64
	norm2       int64
	mu          float64 // rounded up: what one record costs
	leak        float64 // that a run gives everything away
	shared      bool    // each record adds a share of the noise
}

// newIntegerVector completes b, whose noise and clients have been checked.
func newIntegerVector(b integerVector) (Mechanism, error) {
	if !(b.deviation >= leastDeviation && b.deviation <= mostDeviation) {
		return nil, fault.In(b.name, fault.New("standard-deviation", "%v is not in [%v, %v]", b.deviation, leastDeviation, float64(mostDeviation)))
	}
	if !(b.sensitivity >= 1 && b.sensitivity*b.sensitivity <= mostSquared) {
		return nil, fault.In(b.name, fault.New("sensitivity", "%v is not in [1, %.5g]: a change of whole numbers has a norm of at least 1", b.sensitivity, math.Sqrt(mostSquared)))
	}
	// Rounded up, so that √8 as a float64 admits (2, 2).
	b.norm2 = int64(xmath.Up(b.sensitivity*b.sensitivity, 2))
	l, s, err := b.sum(b.clients, 1e-7)
	if err != nil {
		return nil, fault.In(b.name, err)
	}
	b.mu = xmath.Up(s.step*math.Sqrt(float64(b.norm2)), 4)
	if !s.all && !b.leaks(l) {
		return nil, fault.In(b.name, fault.New("standard-deviation", "%v is too little for a sensitivity of %v: its tail gives everything away with probability %.2g", b.deviation, b.sensitivity, b.leak))
	}
	if _, err := NewGaussian(1 / b.mu); err != nil {
		return nil, fault.In(b.name, fault.New("standard-deviation", "%v is too little for a sensitivity of %v", b.deviation, b.sensitivity))
	}
	return &b, nil
}

// sum returns the law of the noise of so many clients on one number, or of as many numbers of fewer clients, with relative
// errors of a sum of discrete Gaussians of at most most over its deviation unless it is convolved.
func (b *integerVector) sum(clients int64, most float64) (l *integerLaw, s probitStep, err error) {
	switch b.noise {
	case "discrete-gaussian":
		if sd := b.deviation * math.Sqrt(float64(clients)); !(sd <= mostDeviation) {
			return nil, s, errSum(sd, clients)
		}
		return gaussianSum(b.deviation, clients, most)
	case "discrete-laplace":
		return geometricSum(b.deviation, clients)
	}
	v := b.deviation * b.deviation * float64(clients)
	if !(v <= mostDeviation*mostDeviation) {
		return nil, s, errSum(math.Sqrt(v), clients)
	}
	l, s = skellamLaw(v)
	return l, s, nil
}

func errSum(sd float64, clients int64) error {
	return fault.New("standard-deviation", "that of the sum of %d clients, %.5g, is not at most %v", clients, sd, float64(mostDeviation))
}

// leaks sets the probability that a run gives everything away (Theorem 2), and reports whether it is small. With
// T = max P[N ≥ last − w]/w over the moves w ≤ 2√norm2 of a coordinate, at most 100·norm2·T is above what Gaussian noise
// says of at most four laws within 2√norm2 of each other; and of the pair at 2μ at least 2Φ(−μ) is not told.
func (b *integerVector) leaks(l *integerLaw) bool {
	most, last := 2*int(math.Sqrt(float64(b.norm2)))+2, len(l.tail)-1
	worst := math.Inf(-1)
	for w := 1; w <= most; w++ {
		j := max(0, last-w)
		worst = max(worst, l.tail[j]+l.tailErr[j]-xmath.Log(float64(w))*(1-1e-12))
		if j == 0 {
			break
		}
	}
	worst += xmath.Log(100*float64(b.norm2)) - math.Ln2 - xmath.LogNormalTail(b.mu)
	b.leak = xmath.ExpUp(worst + 1e-9)
	return b.leak < mostLeak
}

func (b *integerVector) Name() string { return b.name }

// Above implements trait.GaussianBounded.
func (b *integerVector) Above() (Mechanism, float64) {
	return gaussianBase{newGaussian(b.mu)}, b.leak
}

// absent is why there is nothing about a client that is not there.
func (b *integerVector) absent(r Relation) error {
	if b.shared && r == AddRemove {
		return fault.New("neighbors", "an absent client's noise is absent too, which %s says nothing about; use neighbors: zero-out", b.name)
	}
	return nil
}

// Pair implements Mechanism.
func (b *integerVector) Pair(r Relation) (Profile, error) {
	if err := b.absent(r); err != nil {
		return nil, err
	}
	g := normalLoss{mu: b.mu}
	if r == Substitute {
		g.mu *= 2
	}
	return GivenAway(gaussianLike{g}, b.leak), nil
}

// Attack implements Attacked: one number that moves by ⌊√norm2⌋, or the sum of norm2 numbers that move by 1 each, whichever
// loses more about the mean loss.
func (b *integerVector) Attack(r Relation) (Mechanism, error) {
	if err := b.absent(r); err != nil {
		return nil, err
	}
	best, _ := b.attack(r)
	return best, nil
}

// attack also reports whether numbers that move by 1 each are that attack, or are more than can be listed as one sum.
func (b *integerVector) attack(r Relation) (best Mechanism, spread bool) {
	best, spread = unknownAttack{b.name}, true
	worst := math.Inf(-1)
	for i, c := range []struct{ coordinates, shift int64 }{{b.norm2, b.norm2}, {1, root(b.norm2)}} {
		if i == 1 && b.norm2 == 1 {
			break
		}
		l, _, err := b.sum(b.clients*c.coordinates, 1e-4)
		if err != nil {
			continue // it is too long to list
		}
		a := integerAttack{name: b.name, law: l, shift: int(c.shift)}
		p, err := a.Pair(r)
		if err != nil {
			continue
		}
		if d, _ := LogDelta(p, b.mu*b.mu/2+b.mu); d > worst {
			spread = i == 0 || best == unknownAttack{b.name}
			best, worst = a, d
		}
	}
	return best, spread
}

// root returns ⌊√n⌋.
func root(n int64) int64 {
	r := int64(math.Sqrt(float64(n)))
	for r*r > n {
		r--
	}
	return r
}

// Whole implements trait.GaussianBounded: below also by norm2 numbers that move by 1 each, as they are and not by their sum.
func (b *integerVector) Whole(r Relation) (Bounds, error) {
	p, err := b.Pair(r)
	if err != nil {
		return Bounds{}, err
	}
	if g, ok := p.(gaussianLike); ok {
		p = gaussianProfile(g) // nothing is asked about samples of it
	}
	m := NewBounds(b.name, r, p)
	attack, spread := b.attack(r)
	low, err := attack.Pair(r)
	if err != nil {
		return m, err
	}
	m.Directions[0].Lower, m.Directions[1].Lower = low, Reverse(low)
	if b.norm2 == 1 || !spread {
		return m, nil
	}
	one, _, err := b.sum(b.clients, 1e-7)
	if err != nil || len(one.mass) > mostCopied && attack != (unknownAttack{b.name}) {
		return m, err
	}
	if low, err = (integerAttack{name: b.name, law: one, shift: 1}).Pair(r); err != nil {
		return m, err
	}
	m.Directions[0].Copies, m.Directions[1].Copies = Repeated{low, b.norm2}, Repeated{Reverse(low), b.norm2}
	return m, nil
}

// mostCopied bounds the outcomes of an attack that is composed with itself, where that of the sum is known. The loss of
// longer ones is nearly that of their sum.
const mostCopied = 1 << 9

// An unknownAttack is that of noise of which none is listed.
type unknownAttack struct{ name string }

func (a unknownAttack) Name() string                   { return a.name }
func (a unknownAttack) Pair(Relation) (Profile, error) { return Identical(), nil }

// NoiseMultiplier returns the standard deviation, that of one client or the parameter or scale, over the sensitivity.
func (b *integerVector) NoiseMultiplier() float64 { return b.deviation / b.sensitivity }

// NoiseRange implements NoiseScaler.
func (b *integerVector) NoiseRange(Relation) (lo, hi float64) {
	hi = mostDeviation / math.Sqrt(float64(b.clients)) * (1 - 1e-12)
	for lo = leastDeviation; lo < hi; lo *= 2 {
		if _, err := b.WithNoiseMultiplier(lo / b.sensitivity); err == nil {
			break
		}
	}
	for ; lo < hi; hi /= 2 {
		if _, err := b.WithNoiseMultiplier(hi / b.sensitivity); err == nil {
			break
		}
	}
	return lo / b.sensitivity * (1 + 1e-15), hi / b.sensitivity
}

// WithNoiseMultiplier implements NoiseScaler.
func (b *integerVector) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	other := *b
	other.deviation, other.leak = noiseMultiplier*b.sensitivity, 0
	return newIntegerVector(other)
}

// An integerAttack is noise on one whole number that a record moves by shift.
type integerAttack struct {
	name  string
	law   *integerLaw
	shift int
}

func (a integerAttack) Name() string { return a.name }

// Pair implements Mechanism.
func (a integerAttack) Pair(r Relation) (Profile, error) {
	return a.mixed([]float64{math.Inf(-1), 0}, 0, r == Substitute)
}

// SubstituteMixture implements substituteMixer of package subsample: an attack.
func (a integerAttack) SubstituteMixture(rate float64) (Profile, bool, error) {
	p, err := a.mixed([]float64{math.Log1p(-rate), xmath.Log(rate)}, 2*xmath.U, true)
	return p, false, err
}

// Grouped implements trait.Grouper.
func (a integerAttack) Grouped(size int) (Mechanism, error) {
	if size > len(a.law.mass)/a.shift {
		return nil, fault.New("sensitivity", "the noise does not reach %d times %d", size, a.shift)
	}
	a.shift *= size
	return a, nil
}

// GroupMixture implements groupMixer of package subsample.
func (a integerAttack) GroupMixture(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	if float64(len(logW))*float64(len(a.law.mass)) > maxMixed {
		return nil, nil
	}
	return a.mixed(logW, weightErr, opposite)
}

// mixed returns the pair of noise about u·shift, u with the probability e^logW[u], against noise about 0, or about
// −u·shift. Outcomes beyond those listed are taken for the last ones: a test on the output.
func (a integerAttack) mixed(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	reach := a.shift * (len(logW) - 1)
	n := len(a.law.mass) - 1 - reach
	deepest := float64(deepestListed)
	if n > longAttack {
		deepest = deepestLong
	}
	if a.law.continued { // where it still is the law of the noise
		deepest = max(deepest, a.law.tail[len(a.law.tail)-1]+45)
	}
	for n > 0 && a.law.tail[n+reach] < deepest {
		n--
	}
	if n <= reach {
		return nil, fault.New("sensitivity", "the noise does not reach %d", reach)
	}
	// at returns the mass of outcome k with noise about centre.
	at := func(k, centre int) (log, err float64) {
		switch {
		case k == n:
			return a.law.tail[n-centre], a.law.tailErr[n-centre]
		case k == -n:
			return a.law.tail[n+centre], a.law.tailErr[n+centre]
		}
		j := max(k-centre, centre-k)
		return a.law.mass[j], a.law.massErr[j]
	}
	about := func(k, sign int) (log, err float64) {
		if sign == 0 {
			return at(k, 0)
		}
		log = math.Inf(-1)
		for u, l := range logW {
			if !math.IsInf(l, -1) {
				x, e := at(k, sign*u*a.shift)
				log, err = xmath.LogAdd(log, l+x), max(err, e+weightErr*(1+math.Abs(l))+4*xmath.U*(1+math.Abs(l)+math.Abs(x)))
			}
		}
		return log, err + 4*xmath.U*float64(len(logW))*(1+math.Abs(log))
	}
	other := 0
	if opposite {
		other = -1
	}
	atoms := make([]Atom, 0, 2*n+1)
	massErr, lossErr := 0.0, 0.0
	for k := -n; k <= n; k++ {
		lp, ep := about(k, 1)
		lq, eq := about(k, other)
		massErr = max(massErr, ep/(1+math.Abs(lp)), eq/(1+math.Abs(lq)))
		lossErr = max(lossErr, ep+eq+2*xmath.U*math.Abs(lp-lq))
		atoms = append(atoms, Atom{Loss: lp - lq, LogP: lp, LogQ: lq})
	}
	return NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), massErr, lossErr)
}

// deepestListed is the log of the mass that an attack follows tails to, and deepestLong that of long ones.
const (
	deepestListed = -600
	deepestLong   = -150
	longAttack    = 1 << 13
)

// Mu returns a μ, rounded up, for which one run of b on the whole data set is μ-GDP: its pair is dominated by N(0, 1) and
// N(μ, 1) (docs/theory/integer-noise.md; for Laplace noise remark d of Theorem 1). It is an error if none is known.
func Mu(b Mechanism, r Relation) (float64, error) {
	mu := 0.0
	switch b := b.(type) {
	case gaussianBase:
		// The profile keeps 1/σ, so that σ and 1/σ have been rounded three times.
		mu = xmath.Up(1/b.g.NoiseMultiplier(), 4)
	case laplaceBase:
		mu = xmath.Up(b.l.m*laplaceMu, 4) // the L2 norm is at most the L1 norm
	case bothNorms:
		mu = b.mu
	case *integerVector:
		if err := b.absent(r); err != nil {
			return 0, err
		}
		if !(b.leak <= leastLeak*b.mu*b.mu) {
			return 0, fault.New("mechanism", "the tail of %s gives everything away with probability %.2g, above 1e-200·μ²", b.name, b.leak)
		}
		mu = b.mu
	case vectorNoise:
		m, err := newDiscreteGaussianVector(b.one.noise, float64(b.one.shift*b.size))
		if err != nil {
			return 0, err
		}
		return Mu(m, r)
	case integerNoise:
		if _, ok := b.w.(laplaceWeights); ok {
			_, s := geometricLaw(b.noise * float64(b.shift))
			mu = xmath.Up(s.step*float64(b.shift), 1)
			break
		}
		m, err := newDiscreteGaussianVector(b.noise, float64(b.shift))
		if err != nil {
			return 0, err
		}
		return Mu(m, r)
	default:
		return 0, fault.New("mechanism", "%s has no known μ: take gaussian, laplace, discrete-gaussian, discrete-laplace, skellam or summed-noise", b.Name())
	}
	if r == Substitute {
		mu *= 2
	}
	return mu, nil
}

// laplaceMu is √(π/2), rounded up: what a shift of Laplace noise of scale 1 costs.
const laplaceMu = 1.2533141373155004

// leastLeak is what a step may give away, over its μ², in Mu: all steps within a budget of Σμ² ≤ 10¹² together give away less
// than 1e-188.
const leastLeak = 1e-200

// GivenAway returns the profile of p, but for a probability of leak that the outcome gives everything away. It
// dominates p, and assumes that p has no infinite losses.
func GivenAway(p Profile, leak float64) Profile {
	if leak == 0 {
		return p
	}
	return givenAway{base: p, leak: leak, log: xmath.Log(leak), logRest: math.Log1p(-leak)}
}

type givenAway struct {
	base               Profile
	leak, log, logRest float64
}

// SelfReverse implements hook.SelfReverser.
func (g givenAway) SelfReverse() bool {
	s, ok := g.base.(hook.SelfReverser)
	return ok && s.SelfReverse()
}

// Tails implements Profile.
func (g givenAway) Tails(eps, tol float64) Tails {
	t := g.base.Tails(eps, tol)
	extra := func(x float64) float64 { return 4 * xmath.U * (1 + math.Abs(xmath.Finite(x)) + math.Abs(g.log)) }
	t.Err += extra(max(t.P, t.Q))
	t.ErrC += extra(max(t.PC, t.QC))
	t.P, t.Q = xmath.LogAdd(g.logRest+t.P, g.log), g.logRest+t.Q
	t.PC, t.QC = g.logRest+t.PC, xmath.LogAdd(g.logRest+t.QC, g.log)
	return t
}

// Support implements Profile.
func (g givenAway) Support() Support {
	s := g.base.Support()
	s.LogPInf, s.LogQInf = g.log, g.log
	return s
}

// Transform implements hook.Transformer.
func (g givenAway) Transform() transform.Transform {
	return transform.NewBothGivenAway(hook.TransformOf(g.base), g.leak)
}

// Proof (docs/theory/integer-noise.md §1): Theorem 1.
//
// One coordinate, v > 0: f(y−v)/f(y) does not decrease, so the best tests are y ≥ j, randomized at one j. Their errors
// are (α, β) = (1 − F(j−1), F(j−1−v)); g(j−1) − g(j−1−v) is a sum of v steps, so β = Φ(g(j−1−v)) ≥ Φ(z(1−α) − vD):
// each vertex of the trade-off curve is on or above that of GDP, which is convex. v < 0 is the reflection. Products of
// dominated pairs are dominated by the product (docs/theory/pairs.md §2). ‖v‖² is a whole number. ∎

// Proof (docs/theory/integer-noise.md §2): Theorem 2.
//
// f ≤ Z·f̃ everywhere, with equality up to J. On the event E that each M_j with a negative coefficient has its noise
// within J in the m ≤ 12⌊Δ²⌋ coordinates where the vectors differ, M_j = Z^m M̃_j; everywhere M_i ≤ Z^m M̃_i. So the
// positive part of a sum is at most Z^m times that of the M̃, plus the mass of the positive ones outside of E. Z^m − 1
// ≤ 27⌊Δ²⌋T. A coordinate in which M_i and M_j differ by w leaves E with at most 2P[N > J − w], of which the sum is at
// most 8⌊Δ²⌋T as |w| ≤ w²; the others add 24⌊Δ²⌋T; there are at most two negative ones. ∎
