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
// write s² as a sum of squares; which one it is depends on ε. The losses
// (2J − s²)/(2σ²) of all these v lie on one lattice, so the polygon in e^ε through
// the largest δ at each of its points lies above all of them. It is a profile
// (docs/theory/pairs.md §1), and used as the upper one.

import (
	"fmt"
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
// in each coordinate, on a query of any number of whole numbers with an L2
// sensitivity of at least 1.
//
// A vector can cost more than one whole number with the same sensitivity does:
// for σ = 2 and sensitivity 2, δ(1) is 0.1196 for one number that changes by 2
// and 0.1251 for four that change by 1. The profile of one run is the largest
// over all integer vectors of that norm (at the losses that occur; between two
// of them it is their chord), and bounds every adaptive composition; the attack
// is the vector that is worst at the mean loss. With sensitivity 1 there is one
// vector only. Under substitution, vectors of twice the norm. For a sensitivity that
// is not a whole number, and where there are too many vectors, the bounds are those of
// NewSkellamMechanism. For one whole number use NewDiscreteGaussianNumber.
func NewDiscreteGaussianMechanism(noiseMultiplier, sensitivity float64) (Mechanism, error) {
	if sensitivity != math.Trunc(sensitivity) || math.Abs(sensitivity) > 1e6 {
		return newDiscreteGaussianVector(noiseMultiplier, sensitivity)
	}
	m, err := newVectorNoise(noiseMultiplier, int(sensitivity))
	if err != nil { // too much noise to list all vectors, or too little
		if m, err := newDiscreteGaussianVector(noiseMultiplier, sensitivity); err == nil {
			return m, nil
		}
	}
	return m, err
}

func newVectorNoise(noiseMultiplier float64, sensitivity int) (Mechanism, error) {
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
	return newVectorNoise(noiseMultiplier, b.one.shift)
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

// Grouped implements trait.Grouper. The sum of size changes is an integer vector of at most size
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

// SubstituteMixture implements substituteMixer of package subsample: with sensitivity 1 a record moves one coordinate
// by 1, of which Lemma S is (docs/theory/pairs.md §5); otherwise the pair is an attack only.
func (b vectorNoise) SubstituteMixture(rate float64) (Profile, bool, error) {
	a, err := b.Attack(Substitute)
	if err != nil {
		return nil, false, err
	}
	p, _, err := a.(integerNoise).SubstituteMixture(rate)
	return p, b.one.shift*b.size == 1, err
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

// GroupMixture implements groupMixer of package subsample, by the attack on a vector.
func (b vectorNoise) GroupMixture(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	a, err := b.Attack(AddRemove)
	if err != nil {
		return nil, err
	}
	return a.(integerNoise).GroupMixture(logW, weightErr, opposite)
}

// gcdOf returns the greatest common divisor of the numbers that count lists.
func gcdOf(count []int) int {
	g := 0
	for k, n := range count {
		if n > 0 {
			for b := k; b != 0; {
				g, b = b, g%b
			}
		}
	}
	return g
}

// The least profile above finitely many discrete ones, rounded up.

// walkScale keeps masses down to e^{−800} in the range of a float64: they are
// held times e^walkScale.
const walkScale = 400

// A walked is the profile of a vectorLaw at the losses m/(2σ²), m = first,
// first−2, … ≥ 0, which hold all losses of all vectors of one norm.
type walked struct {
	first int
	// By (first − m)/2, times e^walkScale: the mass of the loss under P, δ, and
	// e^ε·Q(L > ε).
	p, delta, above []float64
	// 1 − δ, as a sum of positive terms and not scaled.
	rest []float64
}

// A vectorLaw is the mechanism seen through ⟨v', ·⟩ for one vector v = g·v'.
type vectorLaw struct {
	noise    integerNoise // moved by g·|v'|²
	g, norm2 int          // norm2 is |v|²
}

// walk sums the profile of l from its largest loss down, in positive terms.
func (l vectorLaw) walk(sigma float64) walked {
	top := l.noise.shift + l.noise.w.margin() - 1
	return walkAtoms(2*l.g*top-l.norm2, l.norm2, sigma, func(m int) float64 {
		j := m + l.norm2
		if j%(2*l.g) != 0 {
			return math.Inf(-1)
		}
		if k := j / (2 * l.g); k <= top {
			return l.noise.w.log(k - l.noise.shift)
		}
		return math.Inf(-1)
	})
}

// walkAtoms walks from the loss index top, of the same parity as parity, over
// the masses e^logP(m); the losses below 0 have the mirrored masses.
func walkAtoms(top, parity int, sigma float64, logP func(m int) float64) walked {
	if (top-parity)%2 != 0 {
		top++
	}
	n := top/2 + 1
	w := walked{first: top, p: make([]float64, n), delta: make([]float64, n), above: make([]float64, n), rest: make([]float64, n)}
	h := 1 / (sigma * sigma)
	up, down := math.Expm1(h), math.Exp(-h)
	var d, b float64
	for i := range w.p {
		m := top - 2*i
		if i > 0 {
			b = down * (b + w.p[i-1])
			d += up * b
		}
		w.p[i], w.delta[i], w.above[i] = math.Exp(logP(m)+walkScale), d, b
	}
	// P(L ≤ ε), from the smallest loss up; P(L = −l) = e^{−l}P(L = l).
	below := 0.0
	for i := range w.p {
		if m := top - 2*i; m > 0 {
			below += math.Exp(logP(m) - float64(m)*h/2)
		}
	}
	for i := n - 1; i >= 0; i-- {
		below += math.Exp(logP(top - 2*i))
		w.rest[i] = below + w.above[i]*math.Exp(-walkScale)
	}
	return w
}

// at returns δ, times e^walkScale, and 1 − δ at loss index m.
func (w walked) at(m int) (delta, rest float64) {
	switch i := (w.first - m) / 2; {
	case i < 0:
		return 0, 1
	case i >= len(w.delta):
		return w.delta[len(w.delta)-1], w.rest[len(w.rest)-1]
	default:
		return w.delta[i], w.rest[i]
	}
}

// aboveAt returns e^ε·Q(L > ε), times e^walkScale, at loss index m.
func (w walked) aboveAt(m int) float64 {
	if i := (w.first - m) / 2; i >= 0 {
		return w.above[i]
	}
	return 0
}

// less returns how far the profile of w at m is below that of v (times
// e^walkScale), and that over min(δ, 1−δ).
func (w walked) less(v walked, m int) (by, relative float64) {
	d, r := w.at(m)
	e, s := v.at(m)
	if r < 0.5 {
		by = (r - s) * math.Exp(walkScale)
		d = r * math.Exp(walkScale)
	} else {
		by = e - d
	}
	if d == 0 && e == 0 || r == 0 && s == 0 {
		return 0, -1 // δ, or 1 − δ, is below 1e-307 for both: no float64 δ can tell
	}
	if by == 0 {
		return 0, 0
	}
	return by, by / max(d, 1e-290)
}

// walkErr bounds the relative error of sums of n positive terms whose logarithms
// are below 800 in magnitude.
func walkErr(n int) float64 { return float64(n+1000) * 0x1p-51 }

// largestOf returns a profile that is at least that of every law, and the
// largest of them at every loss m/(2σ²) up to its MassErr: the polygon through
// those points (δ is convex in e^ε, and each law a polygon with these corners).
// It is symmetric, as they are. When one law is the largest everywhere, it is that
// law exactly.
//
// From the largest loss down the polygon follows one law and takes over its
// masses; where another law is larger at the next point, the side in between is
// the chord from the one to the other. It is long because the walk carries the polygon, its
// law and two sums of masses along.
func largestOf(laws []vectorLaw, sigma float64) (Profile, error) {
	ws := make([]walked, len(laws))
	first, long := laws[0].norm2%2, 0
	massErr := 0.0
	for i, l := range laws {
		ws[i] = l.walk(sigma)
		first, long = max(first, ws[i].first), max(long, len(ws[i].p))
		massErr = max(massErr, l.noise.massErr)
	}
	unsure := walkErr(long) + massErr
	tol, over := 4*unsure, 0.0 // over is what may be above the polygon, relatively
	h := 1 / (sigma * sigma)
	masses := make([]float64, first/2+1) // by (first − m)/2, times e^walkScale
	now, only := 0, true
	for i := range masses {
		m := first - 2*i
		best, most := now, tol
		for j := range ws {
			if j == now {
				continue
			}
			_, rel := ws[now].less(ws[j], m)
			if rel > most {
				best, most = j, rel
			}
			if rel > -2*unsure && rel <= tol && m < ws[j].first {
				over = max(over, rel+2*unsure)
			}
		}
		if best != now && i > 0 {
			// The slope falls by the Q-mass that best has above m and now has not. The
			// chord splits it between the two ends as the laws' distances there are.
			left, _ := ws[now].less(ws[best], m)
			right, _ := ws[best].less(ws[now], m+2)
			left, right = max(0, left), max(0, right)
			q := max(0, ws[best].aboveAt(m)-ws[now].aboveAt(m)) // times e^ε at m
			masses[i-1] += q * (left / (left + right)) * math.Exp(h)
			low := q * (right / (left + right))
			if m == 0 {
				low *= 2 // and the mirrored chord's
			}
			masses[i] += low
			only = false
		}
		if best != now && i == 0 {
			only = best == 0 // nothing taken over yet
		}
		now = best
		if k := (ws[now].first - m) / 2; m <= ws[now].first && k < len(ws[now].p) {
			masses[i] += ws[now].p[k]
		}
	}
	if only && now == 0 || len(laws) == 1 {
		return laws[now].noise.pair(laws[now].noise.shift, over)
	}
	logP := func(m int) float64 { return xmath.Log(masses[(first-m)/2]) - walkScale }
	made := walkAtoms(first, first, sigma, logP)
	slack := 0.0
	for m := first; m >= 0; m -= 2 {
		for i := range ws {
			_, rel := made.less(ws[i], m)
			slack = max(slack, rel)
		}
	}
	if slack > 1e-6 {
		return nil, fmt.Errorf("internal error: the profile of all vectors is %v too small; please report the mechanism", slack)
	}
	var atoms []Atom
	for m := first; m >= 0; m -= 2 {
		p, loss := logP(m), float64(m)*h/2
		if math.IsInf(p, -1) {
			continue
		}
		atoms = append(atoms, Atom{loss, p, p - loss})
		if m > 0 {
			atoms = append(atoms, Atom{-loss, p - loss, p})
		}
	}
	out := math.Inf(-1)
	for _, l := range laws {
		out = max(out, l.noise.outside(l.noise.shift))
	}
	return NewDiscrete(atoms, out, out, massErr+2*slack+4*walkErr(len(masses)), 8*xmath.U*float64(first)*h)
}
