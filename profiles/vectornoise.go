package profiles

// Discrete Gaussian noise on a vector of whole numbers.
//
// Under Q the noise is X, with independent coordinates N_Z(0, σ²), and under P
// it is v + X, v the change of the query. The privacy loss is
// (2J − |v|²)/(2σ²), J = ⟨v, output⟩: a function of one whole number. With
// v = g·v', v' of greatest common divisor 1 and n = |v'|²,
//
//	P[⟨v', X⟩ = k] = C·e^{−k²/(2σ²n)}·θ(k mod n),                        (1)
//
// because the x ∈ Z^d with ⟨v', x⟩ = k are k·v'/n + y, y in a translate of the
// lattice Λ = v'^⊥ ∩ Z^d that depends on k mod n alone (k → k+n moves x by v'),
// |x|² = k²/n + |y|², and θ is the sum of e^{−|y|²/(2σ²)} over the translate.
//
// θ is constant up to 1 ± η by Poisson summation, η = Σ e^{−2π²σ²|w|²} over the
// non-zero w of the dual lattice Λ*, which is the projection of Z^d onto v'^⊥:
// |w|² ≥ 1/n. With the part λ of the exponent summed over Λ* by Poisson summation
// again (over Λ ⊂ Z^d, σ²λ = 4, d ≤ n),
//
//	η ≤ e^{−2π²(σ²−4)/n}·√n·2√(2π)·(1 + 2.1e^{−8π²})^n.                  (2)
//
// Every v with |v|² ≤ s² is a projection of one with |v|² = ⌊s²⌋: add coordinates
// that change by 1. So the mechanism's profile is the largest over the ways to
// write s² as a sum of squares; which one it is depends on ε.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
)

const (
	// maxListedNorm is the largest |v|² of which all sums of squares are listed:
	// 220 of them.
	maxListedNorm = 64
	// maxTheta is the largest η of (2) at which θ counts as constant. It is carried
	// as an error of the masses.
	maxTheta = 1e-11
	// maxVectorScale bounds σ·|v| where there are several laws: with more losses
	// than this the largest of them is lost in rounding.
	maxVectorScale = 1e4
)

// NewDiscreteGaussianMechanism returns discrete Gaussian noise (Canonne, Kamath
// and Steinke, NeurIPS 2020) with σ = noiseMultiplier × sensitivity, independent
// in each coordinate, on a query of any number of whole numbers whose L2
// sensitivity is the whole number sensitivity.
//
// A vector can cost more than one whole number with the same sensitivity does:
// for σ = 2 and sensitivity 2, δ(1) is 0.1196 for one number that changes by 2
// and 0.1251 for four that change by 1. The profile of one run is the largest
// over all integer vectors of that norm (at the losses that occur; between two
// of them it is their chord), and bounds every adaptive composition; the attack
// is the vector that is worst at the mean loss. With sensitivity 1 there is one
// vector only. Under substitution, vectors of twice the norm. For one whole
// number use NewDiscreteGaussianNumber.
func NewDiscreteGaussianMechanism(noiseMultiplier float64, sensitivity int) (Mechanism, error) {
	one, err := newIntegerGaussian(noiseMultiplier, sensitivity)
	if err != nil {
		return nil, err
	}
	b := vectorNoise{one, 1}
	if err := b.check(AddRemove); err != nil {
		return nil, err
	}
	return b, nil
}

// vectorNoise adds independent integer noise to every coordinate of a vector; one
// is the mechanism on one number. A group of size records changes the vector, 1 unless
// it is Grouped.
type vectorNoise struct {
	one  integerNoise
	size int
}

func (b vectorNoise) Name() string { return b.one.name }

func (b vectorNoise) sigma() float64 { return b.one.noise * float64(b.one.shift) }

// NoiseMultiplier returns σ over the sensitivity.
func (b vectorNoise) NoiseMultiplier() float64 { return b.one.noise }

// NoiseRange implements NoiseScaler.
func (b vectorNoise) NoiseRange(r Relation) (lo, hi float64) {
	s, n := float64(b.one.shift), b.norm2(r)
	lo, hi = noiserange.Min, maxDiscreteScale/s
	if s > 1 {
		hi = min(hi, maxVectorScale/(s*math.Sqrt(float64(n))))
	}
	if n > maxListedNorm {
		lo = max(lo, leastSigma(n)/s)
	}
	return lo, hi
}

// WithNoiseMultiplier implements NoiseScaler.
func (b vectorNoise) WithNoiseMultiplier(noiseMultiplier float64) (Mechanism, error) {
	return NewDiscreteGaussianMechanism(noiseMultiplier, b.one.shift)
}

// norm2 returns the largest |v|² of two neighbours.
func (b vectorNoise) norm2(r Relation) int {
	s := b.one.shift * b.size
	if r == Substitute {
		s *= 2
	}
	return s * s
}

// check returns an error if the vectors cannot be listed under r.
func (b vectorNoise) check(r Relation) error {
	const hint = "for a vector of whole numbers; if the query is one whole number, set dimension: 1"
	n, s := b.norm2(r), b.one.shift*b.size
	if s > 1 && b.sigma()*math.Sqrt(float64(n)) > maxVectorScale*(1+1e-12) {
		return fault.In(b.one.name, fault.New("noise-multiplier", "%v is not at most %.4g under %v with sensitivity %d, %s", b.one.noise, maxVectorScale/math.Sqrt(float64(n))/float64(b.one.shift), r, s, hint))
	}
	if n > maxListedNorm && thetaBound(n, b.sigma()) > maxTheta {
		return fault.In(b.one.name, fault.New("noise-multiplier", "%v is not at least %.4g under %v with sensitivity %d, %s", b.one.noise, leastSigma(n)/float64(b.one.shift)+5e-5, r, s, hint))
	}
	return nil
}

// thetaBound returns the bound (2) of η, rounded up; +Inf where it is not proved.
func thetaBound(norm2 int, sigma float64) float64 {
	if sigma < 2 {
		return math.Inf(1)
	}
	n := float64(norm2)
	// 5.0133 ≥ 2√(2π); 2.1e^{−8π²} < 1.1e-34, so the last factor is below 1 + 1e-20.
	return 5.0134 * math.Sqrt(n) * math.Exp(-2*math.Pi*math.Pi*(sigma*sigma-4)/n*(1-1e-12))
}

// leastSigma returns where thetaBound is maxTheta.
func leastSigma(norm2 int) float64 {
	n := float64(norm2)
	return math.Sqrt(4 + n*xmath.Log(5.0135*math.Sqrt(n)/maxTheta)/(2*math.Pi*math.Pi))
}

// Grouped implements Grouper. The sum of size changes is an integer vector of at most size
// times the norm, though not every such vector is a sum of that many: the Attack has equal
// ones only.
func (b vectorNoise) Grouped(size int) (Mechanism, error) {
	if size > maxGroupShift/b.one.shift {
		return nil, fault.In(b.one.name, fault.New("sensitivity", "%d is not at most %g for %d records together", b.one.shift, maxGroupShift, size))
	}
	b.size *= size
	return b, b.check(AddRemove)
}

// Pair returns the profile that dominates all vectors. It is attained at each
// single loss, though not by one vector at all of them: see Attack.
func (b vectorNoise) Pair(r Relation) (Profile, error) {
	laws, err := b.laws(r)
	if err != nil {
		return nil, err
	}
	return largestOf(laws, b.sigma())
}

// Attack implements Attacked: the vector that is worst at the mean loss |v|²/2σ²,
// or all ones with so much noise that this is one of the worst everywhere.
// Under substitution the two data sets move the query by v and by −v.
func (b vectorNoise) Attack(r Relation) (Mechanism, error) {
	if b.size > 1 {
		one, err := vectorNoise{b.one, 1}.Attack(r)
		if err != nil {
			return nil, err
		}
		return one.(integerNoise).Grouped(b.size)
	}
	if b.one.shift == 1 {
		return b.one, nil
	}
	laws, err := b.laws(AddRemove)
	if err != nil {
		return nil, err
	}
	if thetaBound(b.norm2(AddRemove), b.sigma()) <= maxTheta {
		return laws[0].noise, nil // all ones, which has the most losses
	}
	best, worst := 0, math.Inf(-1)
	for i, l := range laws {
		if d, _ := l.walk(b.sigma()).at(l.norm2); d > worst*(1+1e-9) {
			best, worst = i, d
		}
	}
	return laws[best].noise, nil
}

// SubstituteMixture implements SubstituteMixer; the pair is an attack only.
func (b vectorNoise) SubstituteMixture(rate float64) (Profile, bool, error) {
	if rate == 1 {
		p, err := b.Pair(Substitute)
		return p, true, err
	}
	a, err := b.Attack(Substitute)
	if err != nil {
		return nil, false, err
	}
	p, _, err := a.(integerNoise).SubstituteMixture(rate)
	return p, rate == 0, err
}

// laws lists the vectors of two neighbours under r.
func (b vectorNoise) laws(r Relation) ([]vectorLaw, error) {
	if err := b.check(r); err != nil {
		return nil, err
	}
	n, sigma := b.norm2(r), b.sigma()
	if b.one.shift*b.size == 1 && r == Substitute {
		// The difference of two integer vectors of norm at most 1 is ±2e_i or
		// ±e_i ± e_j, or a projection of one.
		var theta []float64
		if thetaBound(2, sigma) > maxTheta {
			theta = thetas(sigma, []int{0, 2})
		}
		return []vectorLaw{b.law(2, 1, 4, nil), b.law(1, 2, 2, theta)}, nil
	}
	s := b.one.shift * b.size
	if r == Substitute {
		s *= 2
	}
	var out []vectorLaw
	if thetaBound(n, sigma) <= maxTheta {
		// θ is constant: only the greatest common divisor matters, a divisor of |v|
		// because |v'|² = |v|²/g² is whole.
		for g := 1; g <= s; g++ {
			if s%g == 0 {
				out = append(out, b.law(g, n/g/g, n, nil))
			}
		}
		return out, nil
	}
	eachTheta(sigma, n, func(g int, theta []float64) { out = append(out, b.law(g, n/g/g, n, theta)) })
	return out, nil
}

// law returns the law of a vector v = g·v', |v'|² = primitive2.
func (b vectorNoise) law(g, primitive2, norm2 int, theta []float64) vectorLaw {
	sigma := b.sigma() * math.Sqrt(float64(primitive2))
	l := vectorLaw{noise: b.one, g: g, norm2: norm2}
	l.noise.shift = g * primitive2
	switch {
	case primitive2 == 1:
		l.noise.w = newGaussianWeights(b.sigma())
	case theta == nil:
		l.noise.w = newGaussianWeights(sigma)
		// (1 + η)/(1 − η) for the mass, and as much for the normaliser.
		l.noise.massErr = 4.1 * maxTheta
	default:
		l.noise.w = newThetaWeights(sigma, theta)
		l.noise.massErr = thetaListErr
	}
	return l
}

// GroupMixture implements GroupMixer: by the attack on a vector.
func (b vectorNoise) GroupMixture(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	a, err := b.Attack(AddRemove)
	if err != nil {
		return nil, err
	}
	return a.(integerNoise).GroupMixture(logW, weightErr, opposite)
}
