// Whole-number noise on a vector of any length: above by its probit step, a Gaussian step; below by single pairs.
//
// Theorem 1 of docs/theory/integer-noise.md: with probit step D, a query of whole numbers with L2 sensitivity Δ is
// D·√⌊Δ²⌋-GDP, in any dimension. It assumes noise that is independent from one coordinate to the next.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A GaussianBounded is a Mechanism that Gaussian noise bounds: whatever is proved of that noise by its pair alone, or by
// one law next to two others (Lemma S of docs/theory/integer-noise.md), bounds the mechanism. What is proved by more than
// that, such as the recursion over batches of fixed size, does not.
type GaussianBounded interface {
	Attacked
	// Above returns the Gaussian noise, and the probability that a run gives everything away in place of it.
	Above() (gaussian Mechanism, leak float64)
}

// mostDeviation bounds the standard deviation of integer noise, whose steps are looked at one by one, and
// mostSquared the squared norm of a change.
const (
	mostDeviation = 1e5
	mostSquared   = 1e9
)

// NewSkellamMechanism returns Skellam noise (the difference of two Poisson variables of one mean) of a standard
// deviation, independent in each coordinate, on a query of any number of whole numbers with an L2 sensitivity.
//
// Its Pair is that of Gaussian noise of multiplier 1/(D·√⌊sensitivity²⌋), D the probit step of the noise (Theorem 1 and
// Lemma 3′ of docs/theory/integer-noise.md), attained up to about one part in 6·variance of ε.
func NewSkellamMechanism(standardDeviation, sensitivity float64) (Mechanism, error) {
	b, err := newIntegerVector("skellam", standardDeviation, sensitivity)
	if err != nil {
		return nil, err
	}
	v := standardDeviation * standardDeviation
	b.law = func(coordinates int64) (*integerLaw, error) { return skellamOf(v * float64(coordinates)) }
	l, s := skellamLaw(v)
	return b.settled(l, s)
}

// NewDiscreteGaussianVector returns discrete Gaussian noise with parameter sigma, independent in each coordinate, on a
// query of any number of whole numbers with any L2 sensitivity of at least 1. NewDiscreteGaussianMechanism is closer
// where it serves; see NewSkellamMechanism for the bounds.
func NewDiscreteGaussianVector(sigma, sensitivity float64) (Mechanism, error) {
	b, err := newIntegerVector("discrete-gaussian", sigma, sensitivity)
	if err != nil {
		return nil, err
	}
	l, s := gaussianLaw(sigma)
	b.law = l.sumOf
	return b.settled(l, s)
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
	b, err := newIntegerVector(name, standardDeviation, sensitivity)
	switch {
	case err != nil:
		return nil, err
	case clients < 1 || clients > 1e9:
		return nil, fault.In(name, fault.New("clients", "%d is not in [1, 1e9]", clients))
	case missing < 0 || missing >= clients:
		return nil, fault.In(name, fault.New("missing", "%d is not in [0, %d]: some client must add noise", missing, clients-1))
	}
	b.shared = true
	n := clients - missing
	var one *integerLaw
	switch noise {
	case "skellam":
		v := standardDeviation * standardDeviation * float64(n)
		if !(v <= mostDeviation*mostDeviation) {
			return nil, fault.In(name, fault.New("standard-deviation", "that of the sum of %d clients, %v, is not at most %g", n, math.Sqrt(v), float64(mostDeviation)))
		}
		b.law = func(coordinates int64) (*integerLaw, error) { return skellamOf(v * float64(coordinates)) }
		l, s := skellamLaw(v)
		return b.settled(l, s)
	case "discrete-gaussian":
		one, _ = gaussianLaw(standardDeviation)
	case "discrete-laplace":
		one, _ = geometricLaw(standardDeviation)
	default:
		return nil, fault.In(name, fault.New("noise", "%q is not one of skellam, discrete-gaussian, discrete-laplace", noise))
	}
	sum, err := one.sumOf(n)
	if err != nil {
		return nil, fault.In(name, err)
	}
	b.law = sum.sumOf
	return b.settled(sum, sum.step())
}

func skellamOf(v float64) (*integerLaw, error) {
	l, _ := skellamLaw(v)
	return l, nil
}

// integerVector is log-concave noise on every coordinate of a vector of whole numbers that a record moves by a squared
// norm of at most norm2.
type integerVector struct {
	name        string
	deviation   float64
	sensitivity float64
	norm2       int64
	mu          float64                                      // rounded up: what one record costs
	leak        float64                                      // that a run gives everything away
	shared      bool                                         // each record adds a share of the noise
	law         func(coordinates int64) (*integerLaw, error) // of the sum of the noise of so many coordinates
}

func newIntegerVector(name string, deviation, sensitivity float64) (*integerVector, error) {
	if !(deviation > 0.1 && deviation <= mostDeviation) {
		return nil, fault.In(name, fault.New("standard-deviation", "%v is not in (0.1, %g]", deviation, float64(mostDeviation)))
	}
	if !(sensitivity >= 1 && sensitivity*sensitivity <= mostSquared) {
		return nil, fault.In(name, fault.New("sensitivity", "%v is not in [1, %.5g]: a change of whole numbers has a norm of at least 1", sensitivity, math.Sqrt(mostSquared)))
	}
	// Rounded up, so that √8 as a float64 admits (2, 2).
	return &integerVector{name: name, deviation: deviation, sensitivity: sensitivity, norm2: int64(xmath.Up(sensitivity*sensitivity, 2))}, nil
}

// settled puts in what the law of one coordinate costs. Without a lemma for the tails, steps up to one far out count, and
// what is beyond them gives everything away (Theorem 2): P[N > J − w] for a coordinate that moves by w ≤ √norm2.
func (b *integerVector) settled(l *integerLaw, s probitStep) (Mechanism, error) {
	root := math.Sqrt(float64(b.norm2))
	b.mu = xmath.Up(s.step*root, 4)
	if !s.all {
		most := int(root) + 1
		if s.last <= 2*most {
			return nil, fault.In(b.name, fault.New("standard-deviation", "the noise of all is too little for a sensitivity of %v: it must reach several times as far", b.sensitivity))
		}
		for w := 1; w <= most; w++ {
			j := s.last - w + 1
			b.leak = max(b.leak, xmath.ExpUp(l.tail[j]+l.tailErr[j])/float64(w))
		}
		b.leak = xmath.Up(float64(b.norm2)*b.leak, 4)
		if !(b.leak < 1e-9) {
			return nil, fault.In(b.name, fault.New("standard-deviation", "the noise of all is too little for a sensitivity of %v: its tail gives away everything with probability %.2g", b.sensitivity, b.leak))
		}
	}
	if _, err := NewGaussian(1 / b.mu); err != nil {
		return nil, fault.In(b.name, fault.New("standard-deviation", "%v is too little for a sensitivity of %v", b.deviation, b.sensitivity))
	}
	return b, nil
}

func (b *integerVector) Name() string { return b.name }

// Above implements GaussianBounded.
func (b *integerVector) Above() (Mechanism, float64) {
	return gaussianBase{Gaussian{mu: b.mu}}, b.leak
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
	g, leak := b.Above()
	p, err := g.Pair(r)
	if err != nil || leak == 0 {
		return p, err
	}
	return GivenAway(p, leak), nil
}

// Attack implements Attacked: one number that moves by ⌊√norm2⌋, or the sum of norm2 numbers that move by 1 each, whichever
// loses more about the mean loss.
func (b *integerVector) Attack(r Relation) (Mechanism, error) {
	if err := b.absent(r); err != nil {
		return nil, err
	}
	shift := int(math.Sqrt(float64(b.norm2) * (1 + 1e-15)))
	var best Mechanism
	worst := math.Inf(-1)
	for _, c := range []struct{ coordinates, shift int64 }{{1, int64(shift)}, {b.norm2, b.norm2}} {
		if c.coordinates > 1 && float64(c.coordinates)*b.deviation*b.deviation > mostListed*mostListed {
			continue
		}
		l, err := b.law(c.coordinates)
		if err != nil {
			continue // it is too long to list
		}
		a := integerAttack{name: b.name, law: l, shift: int(c.shift)}
		p, err := a.Pair(r)
		if err != nil {
			continue
		}
		if d, _ := LogDelta(p, b.mu*b.mu/2+b.mu); d > worst || best == nil {
			best, worst = a, d
		}
	}
	if best == nil {
		return nil, fault.New("sensitivity", "%v: no attack on %s could be listed", b.sensitivity, b.name)
	}
	return best, nil
}

// mostListed bounds the standard deviation of the noise of an attack, whose outcomes are listed.
const mostListed = 2e3

// NoiseMultiplier returns the standard deviation over the sensitivity.
func (b *integerVector) NoiseMultiplier() float64 { return b.deviation / b.sensitivity }

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

// SubstituteMixture implements SubstituteMixer: an attack.
func (a integerAttack) SubstituteMixture(rate float64) (Profile, bool, error) {
	if rate == 0 {
		return Identical(), true, nil
	}
	p, err := a.mixed([]float64{math.Log1p(-rate), xmath.Log(rate)}, 2*xmath.U, true)
	return p, false, err
}

// Grouped implements Grouper.
func (a integerAttack) Grouped(size int) (Mechanism, error) {
	if size > len(a.law.mass)/a.shift {
		return nil, fault.New("sensitivity", "the noise does not reach %d times %d", size, a.shift)
	}
	a.shift *= size
	return a, nil
}

// GroupMixture implements GroupMixer.
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
	for n > 0 && a.law.tail[n+reach] < deepestListed {
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

// deepestListed is the log of the mass that an attack follows tails to.
const deepestListed = -600

// GivenAway returns the profile of p, but for a probability of leak that the outcome gives everything away. It
// dominates p, and assumes that p has no infinite losses.
func GivenAway(p Profile, leak float64) Profile {
	if leak == 0 {
		return p
	}
	return givenAway{p, leak, xmath.Log(leak), math.Log1p(-leak)}
}

type givenAway struct {
	base               Profile
	leak, log, logRest float64
}

// SelfReverse implements SelfReverser.
func (g givenAway) SelfReverse() bool {
	s, ok := g.base.(SelfReverser)
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

// Transform implements Transformer.
func (g givenAway) Transform() Transform {
	return transform.NewBothGivenAway(TransformOf(g.base), g.leak)
}
