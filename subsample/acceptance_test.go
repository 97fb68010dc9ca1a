package subsample

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// must.md §8, check 1, at the settings of §7: the weights sum to 1 to 1e-15 and
// half as much again for reading them off their logarithms (|log p| roundings).
func TestWeightsAddUp(t *testing.T) {
	for _, c := range [][3]int64{{1000, 500, 400}, {10000, 118, 200}, {300, 50, 30}, {1000, 200, 100}, {30969, 500, 300}, {1000, 100, 50}} {
		for _, s := range []fixedSize{{withoutReplacement, c[0], 0, c[2]}, {withReplacement, c[0], 0, c[2]}, {mustOW, c[0], c[1], c[2]}, {mustWO, c[0], max(c[1], c[2]), c[2]}, {mustWW, c[0], c[1], c[2]}} {
			law := s.Multiplicity()
			var sum xmath.Sum
			sum.Add(-1)
			logs := 0.0
			for _, l := range law.LogP {
				if p := math.Exp(l); p > 0 {
					sum.Add(p)
					logs += p * (1 - l) * xmath.U
				}
			}
			sum.Add(math.Exp(law.LogAbove[len(law.LogP)]))
			if v := sum.Value(); math.Abs(v) > 1e-15+logs {
				t.Errorf("%v: the weights sum to 1 %+.1e", s, v)
			}
		}
	}
}

// must.md §8, check 7: the expected unbiased variance of a sample is τ² times the
// factor of §5.3, by enumeration of all samples.
func TestSampleVariance(t *testing.T) {
	for _, c := range []struct {
		k       kind
		n, b, m int
		factor  float64
	}{
		{withoutReplacement, 5, 0, 3, 1},
		{withReplacement, 5, 0, 3, 4. / 5},
		{mustWO, 5, 4, 3, 4. / 5},
		{mustOW, 5, 3, 3, 2. / 3},
		{mustOW, 6, 2, 3, 1. / 2},
		{mustWW, 5, 3, 3, 2. / 3 * 4 / 5},
		{mustWW, 3, 2, 3, 1. / 2 * 2 / 3},
	} {
		variance := func(counts []int) float64 {
			var n, sum, square float64
			for i, c := range counts {
				x := float64(i * i)
				n, sum, square = n+float64(c), sum+float64(c)*x, square+float64(c)*x*x
			}
			return (square - sum*sum/n) / (n - 1)
		}
		all := make([]int, c.n)
		for i := range all {
			all[i] = 1
		}
		mean := 0.0
		for text, p := range outcomes(c.k, c.n, c.b, c.m) {
			var counts []int
			for _, f := range strings.Fields(strings.Trim(text, "[]")) {
				counts = append(counts, ok(strconv.Atoi(f)))
			}
			mean += p * variance(counts)
		}
		if want := c.factor * variance(all); rel(mean, want) > 1e-12 {
			t.Errorf("%v: the mean variance is %v, want %v", fixedSize{c.k, int64(c.n), int64(c.b), int64(c.m)}, mean, want)
		}
	}
}

// must.md §8, checks 10 and 11: Theorem 5 at ε' = 0 is Σ p_u δ_u(0), approached from
// below as ε' falls to 0; it is its own reflection; and α ↦ h is convex across 1.
func TestTheorem5NearZero(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wor, wr, ow, ww} {
		for _, b := range []profiles.Mechanism{base, laplace(4)} {
			p := ok(s.Theorem5(b))
			law := s.Multiplicity()
			want := 0.0
			for u := 1; u < len(law.LogP) && law.LogP[u] > -50; u++ {
				want += math.Exp(law.LogP[u]) * deltaOf(ok(copies.Group(b, u, profiles.Substitute)), 0)
			}
			if got := deltaOf(p, 0); rel(got, want) > 1e-13 {
				t.Errorf("%s %s: h(0) = %v, want %v", s.Name(), b.Name(), got, want)
			}
			last := want * (1 + 1e-13)
			for eps := 1e-12; eps < 1; eps *= 10 {
				d := deltaOf(p, eps)
				if !(d <= last) {
					t.Errorf("%s %s: delta(%v) is %v, after %v", s.Name(), b.Name(), eps, d, last)
				}
				last = d
			}
			for _, eps := range []float64{1e-3, 0.05, 0.1, 0.5, 1, 2, 5} {
				if got, want := deltaOf(p, -eps), -math.Expm1(-eps)+math.Exp(-eps)*deltaOf(p, eps); math.Abs(got-want) > 1e-15 {
					t.Errorf("%s %s: h(%v) = %v, reflected %v", s.Name(), b.Name(), -eps, got, want)
				}
			}
			const h = 1e-3
			for a := 0.9; a < 1.1; a += h {
				f := func(a float64) float64 { return deltaOf(p, math.Log(a)) }
				if d := f(a-h) - 2*f(a) + f(a+h); d < -1e-15 { // of values of at most 0.1, rounded
					t.Errorf("%s %s: second difference %v at %v", s.Name(), b.Name(), d, a)
				}
			}
		}
	}
}

// must.md §8, check 13: where the record's absence is certain, and the reflection
// that carries it to the other direction.
func TestPoissonEnds(t *testing.T) {
	g := ok(gaussian(1).Pair(profiles.AddRemove))
	for _, q := range []float64{1e-4, 0.02, 0.5, 0.99} {
		p := ok(PoissonProfile(g, q))
		edge := math.Log1p(-q)
		for _, x := range []float64{1e-9, 1e-3, 1, 10} {
			if got, want := deltaOf(p, edge-x), -math.Expm1(edge-x); math.Abs(got-want) > 1e-15 {
				t.Errorf("q %v: remove at %v: %v, want %v", q, edge-x, got, want)
			}
			if got := deltaOf(profiles.Reverse(p), -edge+x); got > 1e-300 {
				t.Errorf("q %v: add at %v: %v, want 0", q, -edge+x, got)
			}
		}
		for _, eps := range []float64{-2, -0.01, 0, 1e-5, 0.01, 0.3, 2} {
			add, remove := deltaOf(profiles.Reverse(p), eps), deltaOf(p, -eps)
			if want := -math.Expm1(eps) + math.Exp(eps)*remove; math.Abs(add-want) > 1e-15*(1+math.Exp(eps)) {
				t.Errorf("q %v: add at %v: %v, by reflection %v", q, eps, add, want)
			}
		}
	}
}

// must.md §8, checks 16 and 17: the upper law of one run has P-masses that sum to 1
// and Q-masses that sum to at most 1, but for outward rounding, agrees with the
// profile on the lattice and is above it elsewhere.
func TestOneRunOnTheLattice(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	for _, c := range []struct {
		name  string
		p     profiles.Profile
		reach float64
	}{
		{"WOR", ok(wor.Theorem5(base)), 4}, {"WOR A", ok(wor.PaperPairNotABound(base)), 4}, {"WR", ok(wr.Theorem5(base)), 16},
		{"OW", ok(ow.Theorem5(base)), 16}, {"OW, pair B", ok(ow.Attack(base)), 16}, {"WW", ok(ww.Theorem5(base)), 16},
	} {
		const step = 1e-2
		half := int64(c.reach / step)
		law, _ := pld.Discretize(c.p, pld.Uniform(0, step, -half, half))
		p, q := math.Exp(law.LogPInf), 0.0
		for i, l := range law.LogMass {
			p += math.Exp(l)
			q += math.Exp(l - law.Loss[i])
		}
		if !(p > 1-1e-13 && p < 1+1e-10) || !(q < 1+1e-10) {
			t.Errorf("%s: P-mass 1 %+.1e, Q-mass 1 %+.1e", c.name, p-1, q-1)
		}
		at := func(eps float64) float64 {
			s := math.Exp(law.LogPInf)
			for i, x := range law.Loss {
				if x > eps {
					s += math.Exp(law.LogMass[i]) * -math.Expm1(eps-x)
				}
			}
			return s
		}
		room := raisedDelta(c.p, step, half)
		for i := int64(0); i < min(half, 500); i += 7 {
			eps := float64(i) * step
			if on, want := at(eps), deltaOf(c.p, eps); on < want-1e-15 || on > want+room(i) || room(i) > 2e-11 {
				t.Errorf("%s: delta(%v) is %v on the lattice, %v without: %.1e, want at most %.1e", c.name, eps, on, want, on-want, room(i))
			}
			if off, want := at(eps+0.4*step), deltaOf(c.p, eps+0.4*step); off < want*(1-1e-13)-1e-16 {
				t.Errorf("%s: delta(%v) is %v on the lattice, %v without", c.name, eps+0.4*step, off, want)
			}
		}
	}
}

// raisedDelta bounds by how much outward rounding raises δ of the upper law at a
// lattice point: as in package fourier's raised, a P-tail is raised by at most the
// error of the mass that moves up over 1 − e^{−Δ}, and δ(ε) is the sum of the tails
// above, times (1 − e^{−Δ})e^{ε−x}. All P-mass beyond the lattice is at +∞: e^ε times
// its Q-mass more.
func raisedDelta(p profiles.Profile, step float64, half int64) func(i int64) float64 {
	above := make([]float64, half+1)
	for i := half - 1; i >= 0; i-- {
		x := float64(i) * step
		a, b := p.Tails(x, 2*xmath.U*x), p.Tails(x+step, 2*xmath.U*(x+step))
		cell := math.Exp(a.P) - math.Exp(b.P)
		small, err := math.Exp(min(a.P, b.PC)), max(a.Err, b.Err)
		if b.PC < a.P {
			err = max(a.ErrC, b.ErrC)
		}
		above[i] = math.Exp(-step)*above[i+1] + 4*(small*err+10*xmath.U*cell) + step*small*(err+8*xmath.U)
	}
	beyond := p.Tails(float64(half)*step, 0).Q
	return func(i int64) float64 { return above[i] + math.Exp(float64(i)*step+beyond)*(1+1e-9) + 1e-15 }
}

// must-gap.md §7, test 1: pair B ≤ R6 ≤ min(R1, R2) for WR, ≤ R4 for OW, on random
// schemes; and test 2: where the first block of §3 is everything, R6 is pair B.
func TestCoupledBelowRefined(t *testing.T) {
	tried, equal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		n, b, m := rapid.Int64Range(2, 60).Draw(t, "n"), rapid.Int64Range(2, 12).Draw(t, "b"), rapid.Int64Range(2, 12).Draw(t, "m")
		s := must(NewWithReplacement(n, m))
		alphaOf, law := func(eps float64) float64 { return math.Exp(eps) }, s.Multiplicity()
		if rapid.Bool().Draw(t, "ow") {
			b = min(b, n)
			s = must(NewMustOW(n, b, m))
			alphaOf, law = func(eps float64) float64 { return 1 + math.Expm1(eps)*float64(n)/float64(b) }, copies.Drawn(s.Subset(), s.Batch(), 1)
		}
		theta := rapid.Float64Range(0.2, 2).Draw(t, "theta")
		eps := math.Exp(rapid.Float64Range(-7, 1).Draw(t, "log eps"))
		d := ok(s.Apply(gaussian(2/theta), profiles.Substitute)).Directions[0]
		attack, e1 := profiles.LogDelta(d.Lower, eps)
		ours, e2 := profiles.LogDelta(d.Upper, eps)
		if attack > ours+e1+e2 {
			t.Fatalf("%v: attack %v, upper %v", s, attack, ours)
		}
		for i, r := range refined(s, theta)(eps) {
			// As in TestRefinedSingleStep, but with masses that leave little after subtraction.
			if math.Exp(ours-e2) > r*(1+1e-9)+1e-15 {
				t.Fatalf("%v eps %v: upper %v, refinement %d %v", s, eps, math.Exp(ours), i, r)
			}
		}
		if allOneBlock(weightsAbove(law, 0), theta, alphaOf(eps)) {
			equal++
			if math.Abs(ours-attack) > 1e-13+e1+e2 {
				t.Fatalf("%v theta %v eps %v: upper %v, attack %v: off by %v, errors %v", s, theta, eps, ours, attack, ours-attack, e1+e2)
			}
		}
	})
	if equal*10 < tried { // a hundred, and a fifth of them with -short
		t.Errorf("pair B was exact %d times of %d only", equal, tried)
	}
}

// allOneBlock reports whether t_i of must-gap.md §3 is least for the last i, clearly.
func allOneBlock(p []float64, theta, alpha float64) bool {
	c, least, last := (alpha-1)*p[0], math.Inf(1), 0.0
	for i := 1; i < len(p); i++ {
		c += alpha * p[i]
		lo, hi := -50.0, 80.0
		for range 100 {
			mid, s := (lo+hi)/2, 0.0
			for u := 1; u <= i; u++ {
				x := float64(u) * theta
				s += p[u] * math.Exp(x*mid-x*x/2)
			}
			if s > c {
				hi = mid
			} else {
				lo = mid
			}
		}
		least, last = min(least, last), hi
		if i == 1 {
			least = math.Inf(1)
		}
	}
	return last < least-1e-9
}

// must-gap.md §7, test 4: the recursion's bound grows with the number of steps, is
// at least what the attack reaches and at least (1−α)₊, falls in ε, and from two
// steps on lies below the single-step profile composed.
func TestAdaptiveBoundShape(t *testing.T) {
	slow.Test(t)
	s, sigma := small()
	a := boundOf(t, s, sigma)
	one := ok(s.Apply(gaussian(sigma), profiles.Substitute)).Directions[0].Upper
	envelope, _ := newComposers(one, 1e-2, 12)
	grid := []float64{-0.5, 0, 0.2, 0.5, 1, 1.5, 2, 3}
	before := make([]float64, len(grid))
	for _, k := range []int64{1, 2, 5} {
		p, err := a.Upper(t.Context(), k, 2, math.Log(1e-3), 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		at, err := a.Attack(t.Context(), k, 2, math.Log(1e-3), 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		composed := envelope.deltaOf(int(k))
		last := 1.0
		for i, eps := range grid {
			d := deltaOf(p, eps)
			if !(d >= before[i]) || !(d <= last) || d < at.Delta(eps) || d < -math.Expm1(eps) {
				t.Errorf("k=%d ε=%v: %v, with fewer steps %v, at a smaller ε %v, attack %v", k, eps, d, before[i], last, at.Delta(eps))
			}
			if k > 1 && eps >= 0 && d > composed(eps) {
				t.Errorf("k=%d ε=%v: %v is above the composed profile's %v", k, eps, d, composed(eps))
			}
			before[i], last = d, d
		}
	}
}

// must.md §7.6, figure S2: δ(1) of 200 to 1000 runs, exactly: the paper's pair A and
// pairs B and C of MUST.OW, pair A of MUST.WW. The last of each is in
// composedGolden, too.
func TestFigureS2(t *testing.T) {
	slow.Long(t)
	_, _, ow, ww, base := paperSetting()
	for _, c := range []struct {
		name        string
		p           profiles.Profile
		reach, step float64
		want        [5]float64
	}{
		{"OW A", ok(ow.PaperPairNotABound(base)), 10, 5e-4, [5]float64{1.408312940562e-8, 1.113360753121e-7, 3.743793350119e-6, 3.563571231694e-5, 1.517840748925e-4}},
		{"WW A", ok(ww.PaperPairNotABound(base)), 10, 5e-4, [5]float64{2.777564381342e-8, 1.560770308859e-7, 3.936532670912e-6, 3.643841643022e-5, 1.541014691264e-4}},
		{"OW B", ok(ow.Attack(base)), 30, 2.5e-3, [5]float64{0.004857659492617, 0.01121889662999, 0.01904348414706, 0.02808982003232, 0.03807131043794}},
		{"OW C", ok(ow.Theorem5(base)), 40, 5e-3, [5]float64{0.01960773446749, 0.04505792662809, 0.07529721589932, 0.1082930173054, 0.1423364800064}},
	} {
		coarse, _ := newComposers(c.p, 2*c.step, c.reach)
		upper, lower := newComposers(c.p, c.step, c.reach)
		for i, want := range c.want {
			k := 200 * (i + 1)
			a, b, l := coarse.deltaOf(k)(1), upper.deltaOf(k)(1), lower.deltaOf(k)(1)
			// As in checkComposition.
			r := (a - b) / 3 / want
			if !(l <= want*(1+1e-6) && b >= want*(1-1e-6)) || math.Abs((4*b-a)/3/want-1) > 2*r*r+0.1*r+1e-6 {
				t.Errorf("%s: delta(1) of %d runs is in [%v, %v], about %v, want %v", c.name, k, l, b, (4*b-a)/3, want)
			}
		}
	}
}
