package profiles

import (
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestGaussianSteps: answers of integer-noise.md §3 with its errata, at δ(1), above and below; and of the copies of an attack,
// one coordinate each, which the test of the root package composes.
func TestGaussianSteps(t *testing.T) {
	for _, c := range []struct {
		name         string
		m            func() (Mechanism, error)
		above, below float64 // δ(1); below: at least
		copies       int64
	}{
		{"Skellam of variance 16", func() (Mechanism, error) { return NewSkellamMechanism(4, 4) }, 0.130750681314, 0.1262, 16},
		{"discrete Gaussian", func() (Mechanism, error) { return newDiscreteGaussianVector(1, 2) }, 0.130701327999, 0.125103, 4},
		{"sum of 4 Skellams", func() (Mechanism, error) { return NewSummedNoise("skellam", 7, 3, 2, 4) }, 0.130750681314, 0.1262, 16},
	} {
		m, err := c.m()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := m.(*integerVector).Whole(ZeroOut)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range whole.Directions {
			up, _ := LogDelta(d.Upper, 1)
			if got := math.Exp(up); !(got >= c.above*(1-1e-11) && got <= c.above*(1+1e-10)) {
				t.Errorf("%s: δ(1) = %.13g, want %.12g", c.name, got, c.above)
			}
			low, _ := LogDelta(d.Lower, 1)
			if got := math.Exp(low); !(got >= c.below && got <= c.above) || d.Copies.Count != c.copies {
				t.Errorf("%s: an attack reaches δ(1) = %v, want at least %v; %d copies, want %d", c.name, got, c.below, d.Copies.Count, c.copies)
			}
		}
	}
}

// TestRealSensitivity: a change of whole numbers has a whole squared norm, so that 2.9 costs what √8 does (errata, F6); and √8
// as a float64 admits (2, 2).
func TestRealSensitivity(t *testing.T) {
	mus := map[float64]float64{}
	for _, s := range []float64{2.9, math.Sqrt(8), 3, 2.8} {
		m, err := newDiscreteGaussianVector(2/s, s)
		if err != nil {
			t.Fatal(err)
		}
		mus[s] = m.(*integerVector).mu
	}
	if mus[2.9] != mus[math.Sqrt(8)] || !(mus[3] > mus[2.9]*1.06 && mus[2.8] < mus[2.9]) {
		t.Errorf("μ by sensitivity: %v", mus)
	}
}

// marginal returns the masses of noise of a law about centre, for outcomes −reach…reach.
func marginal(l *integerLaw, centre, reach int) []float64 {
	out := make([]float64, 2*reach+1)
	for k := range out {
		if j := max(k-reach-centre, centre+reach-k); j < len(l.mass) {
			out[k] = math.Exp(l.mass[j])
		}
	}
	return out
}

// product returns the masses of independent coordinates about v.
func product(l *integerLaw, v []int, reach int) []float64 {
	out := []float64{1}
	for _, c := range v {
		one := marginal(l, c, reach)
		next := make([]float64, 0, len(out)*len(one))
		for _, x := range out {
			for _, y := range one {
				next = append(next, x*y)
			}
		}
		out = next
	}
	return out
}

// hockey returns ∫ (Σ c·M)₊ for lists of masses.
func hockey(c []float64, m ...[]float64) float64 {
	total := 0.0
	for i := range m[0] {
		x := 0.0
		for k := range c {
			x += c[k] * m[k][i]
		}
		total += max(0, x)
	}
	return total
}

var testLaws = []struct {
	name string
	law  func() (*integerLaw, probitStep)
}{
	{"discrete Gaussian 0.6", func() (*integerLaw, probitStep) { return gaussianLaw(0.6) }},
	{"discrete Gaussian 1", func() (*integerLaw, probitStep) { return gaussianLaw(1) }},
	{"discrete Gaussian 2", func() (*integerLaw, probitStep) { return gaussianLaw(2) }},
	{"Skellam 1", func() (*integerLaw, probitStep) { return skellamLaw(1) }},
	{"Skellam 3", func() (*integerLaw, probitStep) { return skellamLaw(3) }},
	{"geometric 1", func() (*integerLaw, probitStep) { return geometricLaw(1) }},
	{"sum of 3 geometric 0.5", func() (*integerLaw, probitStep) { l, s, _ := geometricSum(0.5, 3); return l, s }},
	{"sum of 4 discrete Gaussian 0.5", func() (*integerLaw, probitStep) { l, s, _ := gaussianSum(0.5, 4, 1e-7); return l, s }},
	{"sum of 3 discrete Gaussian 1", func() (*integerLaw, probitStep) { l, s, _ := gaussianSum(1, 3, 1); return l, s }},
}

// TestVectorBelowGaussian: Theorem 1 against products that are enumerated, in both orders; with a D that is one part in a
// thousand less it fails.
func TestVectorBelowGaussian(t *testing.T) {
	const reach = 26
	closest := math.Inf(-1)
	for _, c := range testLaws {
		l, s := c.law()
		for _, v := range [][]int{{1}, {2}, {3}, {1, 1}, {2, -1}, {2, 1, -1}, {1, 1, 1}, {3, 1}, {2, 2}} {
			norm2 := 0
			for _, x := range v {
				norm2 += x * x
			}
			p, q := product(l, v, reach), product(l, make([]int, len(v)), reach)
			g := normalLoss{mu: s.step * math.Sqrt(float64(norm2))}
			short := normalLoss{mu: g.mu * 0.999}
			for i := range 25 {
				eps := -3 + float64(i)*0.25
				up, _ := LogDelta(g, eps)
				less, _ := LogDelta(short, eps)
				for _, h := range []float64{hockey([]float64{1, -math.Exp(eps)}, p, q), hockey([]float64{1, -math.Exp(eps)}, q, p)} {
					if h > math.Exp(up)+1e-9 {
						t.Errorf("%s, %v, ε = %v: %v is above %v", c.name, v, eps, h, math.Exp(up))
					}
					closest = max(closest, h-math.Exp(less))
				}
			}
		}
	}
	if closest < 1e-5 {
		t.Errorf("a D of .999 of it would do: the test is too weak (%v)", closest)
	}
}

// TestNotLogConcave: laws with full support that are not log-concave, whose finite D bounds nothing (errata, Theorem 1,
// remark e): why only named noise is taken.
func TestNotLogConcave(t *testing.T) {
	g, _ := gaussianLaw(0.5)
	k, _ := skellamLaw(1)
	for _, c := range []struct {
		law             *integerLaw
		gap             int
		d, true_, bound float64
	}{{g, 10, 2.0516166905, 0.7865707, 0.6950181}, {k, 6, 0.7769147501, 0.4576126, 0.3023224}} {
		const reach = 40
		mix := func(centre int) []float64 {
			a, b := marginal(c.law, centre, reach), marginal(c.law, centre+c.gap, reach)
			for i := range a {
				a[i] = (a[i] + b[i]) / 2
			}
			return a
		}
		p, q := mix(1), mix(0)
		step, below := 0.0, 0.0
		last := math.NaN()
		for _, x := range q {
			below += x
			if below < 1e-15 || below > 1-1e-15 {
				last = math.NaN()
				continue
			}
			z, _ := firstProbit(math.Log(min(below, 1-below)), 0)
			if below < 0.5 {
				z = -z
			}
			if z-last > step {
				step = z - last
			}
			last = z
		}
		h := hockey([]float64{1, -1}, p, q)
		bound, _ := LogDelta(normalLoss{mu: c.d}, 0)
		if math.Abs(step-c.d) > 1e-6 || math.Abs(h-c.true_) > 1e-7 || math.Abs(math.Exp(bound)-c.bound) > 1e-7 {
			t.Errorf("D = %.10g, δ(0) = %.7g, by D %.7g, want %v", step, h, math.Exp(bound), c)
		}
	}
}

// TestTailTerm: binomial noise, whose steps grow to the end, is followed to J only. What its tail gives away is needed, and
// enough (Theorem 2).
func TestTailTerm(t *testing.T) {
	const n = 40
	masses := make([]float64, n/2+1)
	for j := range masses {
		a, _ := math.Lgamma(n + 1)
		b, _ := math.Lgamma(float64(n/2 + j + 1))
		c, _ := math.Lgamma(float64(n/2 - j + 1))
		masses[j] = math.Exp(a - b - c - n*math.Ln2)
	}
	noise := func(centre int) []float64 {
		out := make([]float64, 60)
		for k := range out {
			if j := max(k-30-centre, 30+centre-k); j < len(masses) {
				out[k] = masses[j]
			}
		}
		return out
	}
	excess := math.Inf(-1)
	for _, last := range []int{12, 15, 17} {
		l := (&masses1{masses[:last+1]}).law()
		s := l.step()
		for _, v := range []int{1, 2, 3} {
			b := integerVector{norm2: int64(v * v), mu: s.step * float64(v)}
			b.leaks(l)
			p, q := noise(v), noise(0)
			above := GivenAway(normalLoss{mu: b.mu}, min(b.leak, 0.99))
			for i := range 241 {
				eps := -12 + float64(i)*0.1
				h := hockey([]float64{1, -math.Exp(eps)}, p, q)
				up, _ := LogDelta(above, eps)
				if h > math.Exp(up)+1e-12 {
					t.Errorf("J = %d, v = %d, ε = %v: %v is above %v", last, v, eps, h, math.Exp(up))
				}
				without, _ := LogDelta(normalLoss{mu: b.mu}, eps)
				excess = max(excess, h-math.Exp(without))
			}
		}
	}
	if !(excess > 1e-8) {
		t.Errorf("without the tail term nothing is above: %v", excess)
	}
}

// masses1 makes a law of masses that are known to rounding.
type masses1 struct{ w []float64 }

func (m *masses1) law() *integerLaw { return (&masses{w: slices.Clone(m.w), err: 1e-12}).law() }

// TestThreePointsAreNotGaussian: what the recursion over batches of fixed size rests on is false for whole-number noise with
// the multiplier of its pair (errata, F2). It is why such noise goes without.
func TestThreePointsAreNotGaussian(t *testing.T) {
	for _, c := range []struct {
		name         string
		law          func() (*integerLaw, probitStep)
		true_, bound float64
	}{
		{"geometric 1", func() (*integerLaw, probitStep) { return geometricLaw(1) }, 0.159714973, 0.046645},
		{"Skellam 1", func() (*integerLaw, probitStep) { return skellamLaw(1) }, 0.095928398, 0.051021},
	} {
		l, s := c.law()
		const a = 0.7788
		h := hockey([]float64{1, -a, -1}, marginal(l, 0, 60), marginal(l, 1, 60), marginal(l, -1, 60))
		// Of N(0,1), N(D,1) and N(−D,1), by the trapezoidal rule: the integrand has bounded variation.
		g := 0.0
		for x := -12.0; x < 12; x += 1e-4 {
			f := func(x float64) float64 { return math.Exp(xmath.LogNormalDensity(x)) }
			g += 1e-4 * max(0, f(x)-a*f(x-s.step)-f(x+s.step))
		}
		if math.Abs(h-c.true_) > 2e-5 || math.Abs(g-c.bound) > 2e-5 {
			t.Errorf("%s: %.9g and %.6g, want %v and %v", c.name, h, g, c.true_, c.bound)
		}
	}
}

// TestIntegerRefusals: what is out of range is refused by the name of its field.
func TestIntegerRefusals(t *testing.T) {
	for _, c := range []struct {
		want string
		make func() (Mechanism, error)
	}{
		{"skellam: standard-deviation: 0 is not in [0.1, 10000]", func() (Mechanism, error) { return NewSkellamMechanism(0, 1) }},
		{"skellam: standard-deviation: NaN is not in [0.1, 10000]", func() (Mechanism, error) { return NewSkellamMechanism(math.NaN(), 1) }},
		{"skellam: sensitivity: 0.9 is not in [1, 31623]: a change of whole numbers has a norm of at least 1", func() (Mechanism, error) { return NewSkellamMechanism(4, 0.9) }},
		{"skellam: sensitivity: +Inf is not in [1, 31623]: a change of whole numbers has a norm of at least 1", func() (Mechanism, error) { return NewSkellamMechanism(4, math.Inf(1)) }},
		{"summed-noise: clients: 0 is not in [1, 1000000000]", func() (Mechanism, error) { return NewSummedNoise("skellam", 0, 0, 1, 1) }},
		{"summed-noise: missing: 5 is not in [0, 4]: some client must add noise", func() (Mechanism, error) { return NewSummedNoise("skellam", 5, 5, 1, 1) }},
		{`summed-noise: noise: "laplace" is not one of skellam, discrete-gaussian, discrete-laplace`, func() (Mechanism, error) { return NewSummedNoise("laplace", 5, 0, 1, 1) }},
		{"summed-noise: standard-deviation: that of the sum of 1000000000 clients, 31623, is not at most 10000", func() (Mechanism, error) { return NewSummedNoise("skellam", 1e9, 0, 1, 1) }},
		{"summed-noise: standard-deviation: that of the sum, 463.69, is not at most 300", func() (Mechanism, error) { return NewSummedNoise("discrete-gaussian", 1e6, 0, 0.5, 1) }},
	} {
		if _, err := c.make(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	m, err := NewSummedNoise("skellam", 10, 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	const want = "neighbors: an absent client's noise is absent too, which summed-noise says nothing about; use neighbors: zero-out"
	if _, err := m.Pair(AddRemove); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
