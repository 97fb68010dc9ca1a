package subsample

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

func TestTinyDivergencesGolden(t *testing.T) {
	// must.md §7.3, σ = 1: A, B, B reversed, Theorem 5.
	for _, c := range []struct {
		s    FixedSize
		eps  float64
		want [4]float64
	}{
		{must(NewWithoutReplacement(4, 2)), 0, [4]float64{0.341344746069, 0.341344746069, 0.341344746069, 0.341344746069}},
		{must(NewWithoutReplacement(4, 2)), 0.5, [4]float64{0.194001685692, 0.27014924538, 0.0721700401512, 0.27014924538}},
		{must(NewWithoutReplacement(4, 2)), 1, [4]float64{0.0933579749693, 0.210495594285, 0, 0.210495594285}},
		{must(NewWithoutReplacement(4, 2)), 2, [4]float64{0.0129556227068, 0.117190857941, 0, 0.117190857941}},
		{must(NewWithReplacement(3, 3)), 0, [4]float64{0.552465649119, 0.528072437782, 0.528072437782, 0.552465649119}},
		{must(NewWithReplacement(3, 3)), 0.5, [4]float64{0.441397153401, 0.475160249911, 0.318600119969, 0.499565478986}},
		{must(NewWithReplacement(3, 3)), 1, [4]float64{0.338930431763, 0.426711183229, 0.0703338517756, 0.44850206699}},
		{must(NewWithReplacement(3, 3)), 2, [4]float64{0.182791041098, 0.343230880091, 0, 0.355659377074}},
		{must(NewMustOW(4, 2, 3)), 0, [4]float64{0.369304243041, 0.349873241505, 0.349873241505, 0.369304243041}},
		{must(NewMustOW(4, 2, 3)), 0.5, [4]float64{0.248044075759, 0.317067453675, 0.0310668141744, 0.335230123189}},
		{must(NewMustOW(4, 2, 3)), 1, [4]float64{0.178037273315, 0.29253804772, 0, 0.30720337939}},
		{must(NewMustOW(4, 2, 3)), 2, [4]float64{0.0988048920647, 0.254448744675, 0, 0.261779805871}},
		{must(NewMustWW(3, 2, 3)), 0, [4]float64{0.43908157203, 0.414175462279, 0.414175462279, 0.43908157203}},
		{must(NewMustWW(3, 2, 3)), 0.5, [4]float64{0.329637131604, 0.387347107083, 0.10666690929, 0.411396170772}},
		{must(NewMustWW(3, 2, 3)), 1, [4]float64{0.262702698082, 0.366614770185, 0, 0.387407175815}},
		{must(NewMustWW(3, 2, 3)), 2, [4]float64{0.177018501548, 0.333767038193, 0, 0.346865428243}},
		{must(NewMustWW(4, 3, 3)), 0, [4]float64{0.371198716708, 0.351241196134, 0.351241196134, 0.371198716708}},
		{must(NewMustWW(4, 3, 3)), 0.5, [4]float64{0.248023018702, 0.314358069603, 0.0393686228635, 0.333622727956}},
		{must(NewMustWW(4, 3, 3)), 1, [4]float64{0.176550922347, 0.286648814633, 0, 0.302704675436}},
		{must(NewMustWW(4, 3, 3)), 2, [4]float64{0.098253113846, 0.24467471581, 0, 0.253200869275}},
	} {
		b := gaussian(1)
		attack := ok(c.s.Attack(b))
		got := [4]float64{deltaOf(ok(c.s.PaperPairNotABound(b)), c.eps), deltaOf(attack, c.eps), deltaOf(profiles.Reverse(attack), c.eps), deltaOf(ok(c.s.Theorem5(b)), c.eps)}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 2e-12 {
				t.Errorf("%v eps %v: A, B, B reversed, Theorem 5 = %v, want %v", c.s, c.eps, got, c.want)
				break
			}
		}
		// must.md §8, check 12: nothing is above Theorem 5, which B attains for WOR and A
		// at ε = 0.
		if max(got[0], got[1], got[2]) > got[3]*(1+1e-12) {
			t.Errorf("%v eps %v: Theorem 5 is below one of A, B, B reversed: %v", c.s, c.eps, got)
		}
		if c.s.(fixedSize).kind == withoutReplacement && rel(got[1], got[3]) > 1e-12 || c.eps == 0 && rel(got[0], got[3]) > 1e-12 {
			t.Errorf("%v eps %v: A, B, B reversed, Theorem 5 = %v, want A or B to attain it", c.s, c.eps, got)
		}
	}
}

// must.md §4.5, WR with n = m = 2, σ = 1: the pair that switches the data set (B)
// is below Theorem 5, which A attains at ε = 0: B dominates nothing.
func TestSwitchingDoesNotDominate(t *testing.T) {
	s, b := must(NewWithReplacement(2, 2)), gaussian(1)
	for _, c := range []struct{ eps, a, b, bound float64 }{
		{0, 0.579969680094, 0.557133635283, 0.579969680094},
		{0.25, 0.526876070384, 0.528554099267, 0.551641748652},
		{1, 0.369343997503, 0.447577295126, 0.467576507779},
		{3, 0.0894163328773, 0.278072555476, 0.280101786985},
	} {
		got := [3]float64{deltaOf(ok(s.PaperPairNotABound(b)), c.eps), deltaOf(ok(s.Attack(b)), c.eps), deltaOf(ok(s.Theorem5(b)), c.eps)}
		for i, want := range [3]float64{c.a, c.b, c.bound} {
			if math.Abs(got[i]-want) > 2e-12 {
				t.Errorf("eps %v: A, B, Theorem 5 = %v, want %+v", c.eps, got, c)
				break
			}
		}
		if upper := deltaOf(ok(s.Apply(b, profiles.Substitute)).Directions[0].Upper, c.eps); !(upper >= max(c.a, c.b)*(1-1e-12)) {
			t.Errorf("eps %v: the upper profile has %v, below a data set", c.eps, upper)
		}
	}
}

// hockey integrates [p − αq]₊ of two densities by the trapezoid rule.
func hockey(p, q func(float64) float64, alpha, lo, hi float64) float64 {
	return hockeyOf(valuesOf(p, lo, hi), valuesOf(q, lo, hi), alpha, lo, hi)
}

// valuesOf are those of a density at the nodes of the rule, for several α.
func valuesOf(p func(float64) float64, lo, hi float64) []float64 {
	const n = 8000
	values := make([]float64, n+1)
	for i := range values {
		values[i] = p(lo + float64(i)*(hi-lo)/n)
	}
	return values
}

// hockeyOf is the rule, from values at its nodes.
func hockeyOf(p, q []float64, alpha, lo, hi float64) float64 {
	h := (hi - lo) / float64(len(p)-1)
	s := 0.0
	for i := range p {
		s += max(0, p[i]-alpha*q[i]) * h
	}
	return s
}

// Every data set of others in {−1, 0, 1}, every order: the divergence of the
// whole procedure by enumeration and quadrature is at most the upper profile,
// for Gaussian and Laplace noise, at positive and negative ε.
func TestUpperHoldsForEveryTinyDataSet(t *testing.T) {
	for _, s := range []fixedSize{{withoutReplacement, 3, 0, 2}, {withReplacement, 3, 0, 2}, {mustOW, 3, 2, 2}, {mustOW, 3, 2, 3}, {mustWO, 3, 3, 2}, {mustWW, 3, 2, 2}, {mustWW, 3, 2, 3}} {
		// The law of the whole sample, as counts per record.
		law := outcomes(s.kind, int(s.population), int(s.subset), int(s.batch))
		for _, noise := range []float64{1, 3} {
			bases := []struct {
				b       profiles.Mechanism
				density func(x, c float64) float64
			}{
				{gaussian(noise), func(x, c float64) float64 {
					z := (x - c) / noise
					return math.Exp(-z*z/2) / (noise * math.Sqrt(2*math.Pi))
				}},
				{laplace(noise), func(x, c float64) float64 { return math.Exp(-math.Abs(x-c)/noise) / (2 * noise) }},
			}
			for _, base := range bases {
				up := ok(s.Apply(base.b, profiles.Substitute)).Directions[0]
				reach := 4 + 12*noise
				var pairs [][2][]float64 // of densities, one for each data set of others
				for _, others := range [][2]float64{{0, 0}, {1, 1}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}} {
					mix := func(x0 float64) []float64 {
						weight := map[float64]float64{}
						for text, p := range law {
							var a, b, c int
							fmt.Sscanf(text, "[%d %d %d]", &a, &b, &c)
							weight[float64(a)*x0+float64(b)*others[0]+float64(c)*others[1]] += p
						}
						return valuesOf(func(x float64) float64 {
							d := 0.0
							for c, p := range weight {
								d += p * base.density(x, c)
							}
							return d
						}, -reach, reach)
					}
					pairs = append(pairs, [2][]float64{mix(1), mix(-1)})
				}
				for _, eps := range []float64{-0.3, 0.05, 0.5, 2} {
					bound := deltaOf(up.Upper, eps)
					best := 0.0
					for _, p := range pairs {
						best = max(best, hockeyOf(p[0], p[1], math.Exp(eps), -reach, reach))
					}
					// Quadrature with step 2·reach/8000 = 0.01: kinks cost h²/8·slope < 7e-6,
					// the cut tails of Lap(3) 2e-6.
					if best > bound+1e-5 {
						t.Errorf("%v %s noise %v eps %v: a data set has %v, the bound is %v", s, base.b.Name(), noise, eps, best, bound)
					}
					if lo := deltaOf(up.Lower, eps); lo > best+1e-5 {
						t.Errorf("%v %s noise %v eps %v: the attack claims %v, the best data set has %v", s, base.b.Name(), noise, eps, lo, best)
					}
				}
			}
		}
	}
}

// drawMechanism draws a scheme with a base for which everything is defined.
func drawMechanism(t *rapid.T) (FixedSize, profiles.Mechanism) {
	s := drawScheme(t, kind(rapid.IntRange(0, 4).Draw(t, "kind")))
	noise := math.Exp(rapid.Float64Range(-1, 3).Draw(t, "log noise"))
	if rapid.Bool().Draw(t, "laplace") {
		return s, laplace(noise)
	}
	return s, gaussian(noise)
}

// Attack ≤ upper ≤ Theorem 5 at every ε; the upper profile is its own reflection
// h(ε) = 1 − e^ε + e^ε h(−ε), is at least (1−e^ε)₊, falls in ε, and its tails
// agree with their complements.
func TestProfileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, b := drawMechanism(t)
		if s.(fixedSize).kind == mustWW && s.Subset()*s.Batch() > 2500 {
			t.Skip("slow law")
		}
		d := ok(s.Apply(b, profiles.Substitute)).Directions[0]
		t5 := ok(s.Theorem5(b))
		below := true // upper ≤ Theorem 5 is proved, but for MUST.WW only if one slot is drawn as often as any
		if s.(fixedSize).kind == mustWW {
			below = copies.Drawn(s.Subset(), s.Batch(), 1).Eta >= s.InclusionProbability()
		}
		chords := 0.0
		if _, ok := d.Upper.(*profiles.Discrete); ok {
			chords = 1
		}
		last := 1.0
		for _, eps := range []float64{-3, -1, -0.1, -1e-3, 0, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1, 3, 8} {
			up, lo, bound := deltaOf(d.Upper, eps), deltaOf(d.Lower, eps), deltaOf(t5, eps)
			// Chords between outputs (Laplace noise, MUST.WW) are above by (0.005·t)²/8 of what they join, t ≤ 6 for δ > 1e-9.
			if math.IsNaN(up+lo+bound) || lo > up+1e-12 || lo > bound+1e-12 || below && up > bound*(1+1.2e-4*chords)+1e-12+1e-11*chords /* η is rounded up in upper only */ {
				t.Fatalf("%v %s eps %v: attack %v, upper %v, Theorem 5 %v", s, b.Name(), eps, lo, up, bound)
			}
			if r := -math.Expm1(eps) + math.Exp(eps)*deltaOf(d.Upper, -eps); math.Abs(r-up) > 1e-13*(1+math.Exp(eps)) {
				t.Fatalf("%v %s eps %v: %v, reflected %v", s, b.Name(), eps, up, r)
			}
			if up > last+1e-14 || up < -math.Expm1(eps)-1e-14 {
				t.Fatalf("%v %s eps %v: %v after %v", s, b.Name(), eps, up, last)
			}
			last = up
			for _, p := range []profiles.Profile{d.Upper, d.Lower, t5} {
				x := p.Tails(eps, 0)
				if e := math.Abs(math.Exp(x.P)+math.Exp(x.PC)-1) + math.Abs(math.Exp(x.Q)+math.Exp(x.QC)-1); e > 1e-12 {
					t.Fatalf("%v %s eps %v: tails %v do not add up by %v", s, b.Name(), eps, x, e)
				}
			}
		}
	})
}

// α ↦ h is convex: second differences on a fine grid across α = 1.
func TestUpperIsConvex(t *testing.T) {
	_, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wr, ow, ww, must(NewMustWW(3, 2, 3)), must(NewWithReplacement(3, 3))} {
		for _, b := range []profiles.Mechanism{base, gaussian(1)} {
			p := ok(s.Apply(b, profiles.Substitute)).Directions[0].Upper
			const h = 0.01
			for a := 0.5; a < 3; a += h {
				f := func(a float64) float64 { return deltaOf(p, math.Log(a)) }
				if d := f(a-h) - 2*f(a) + f(a+h); d < -1e-13 {
					t.Errorf("%v: second difference %v at %v", s, d, a)
				}
			}
		}
	}
}

// Under add-remove the Gaussian is exact but for MUST.OW and MUST.WW, and the direction
// remove is the attack's own pair (must-gap.md §2).
func TestAddRemove(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wor, wr, ow, ww} {
		m := ok(s.Apply(base, profiles.AddRemove))
		if gap := m.TheoryGap(); gap != (s.(fixedSize).kind == mustOW || s.(fixedSize).kind == mustWW) {
			t.Errorf("%s: theory gap %v", s.Name(), gap)
		}
		for _, eps := range []float64{0, 0.1, 1} {
			up, lo := deltaOf(m.Directions[0].Upper, eps), deltaOf(m.Directions[0].Lower, eps)
			if want := deltaOf(ok(s.Attack(base)), eps); rel(lo, want) > 1e-9 || up < lo*(1-1e-9) {
				t.Errorf("%s: remove at %v: [%v, %v], attack %v", s.Name(), eps, lo, up, want)
			}
		}
	}
	for _, s := range []FixedSize{wr, ow, ww} {
		m := ok(s.Apply(laplace(4), profiles.AddRemove))
		for _, eps := range []float64{0, 0.1, 1} {
			if up, lo := deltaOf(m.Directions[0].Upper, eps), deltaOf(m.Directions[0].Lower, eps); lo > up*(1+1e-9) {
				t.Errorf("%s laplace: remove at %v: attack %v above %v", s.Name(), eps, lo, up)
			}
		}
	}
}

// Two draws from two slots, of three records 0, 1 and −1 of which the last is added: with little noise the sum 1 has
// probability 1/4 without it and 1/9 with it, a loss of log 9/4, though no copy has probability 5/9. So pair B, whose
// largest loss is log 9/5, is no bound: where all draws are one slot all are the record or none.
func TestPairBIsNoBoundForAddingToMustWW(t *testing.T) {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	for _, b := range []profiles.Mechanism{gaussian(0.1), laplace(0.04), ok(profiles.NewPure(30))} {
		got := deltaOf(ok(must(NewMustWW(3, 2, 2)).Apply(b, profiles.AddRemove)).Directions[1].Upper, 0.7)
		// The sum is told from others where it is off by less than a half: 5 standard deviations, 12.5 scales.
		least := 0.25 - math.Exp(0.7)/9 - 4*tail(5)
		if !(got >= least) {
			t.Errorf("%s: bound %v, these data sets have %v", b.Name(), got, least)
		}
	}
}

func TestApplyChecksTheBase(t *testing.T) {
	rr := ok(profiles.NewRandomizedResponse(0.5, 3))
	_, err := must(NewWithReplacement(100, 5)).Apply(rr, profiles.Substitute)
	if want := `mechanism: "randomized-response" is not in [gaussian, laplace, pure], which have proved group profiles`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// One copy at most needs no group.
	if _, err := must(NewWithoutReplacement(100, 5)).Apply(rr, profiles.Substitute); err != nil {
		t.Error(err)
	}
	m, err := must(NewWithReplacement(100, 5)).Apply(ok(profiles.NewPure(0.3)), profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	if up, lo := deltaOf(m.Directions[0].Upper, 0.01), deltaOf(m.Directions[0].Lower, 0.01); !(lo > 0 && lo <= up) {
		t.Errorf("pure: [%v, %v]", lo, up)
	}
}

func TestGroup(t *testing.T) {
	// δ_j is the profile at j times the shift (must.md §1.3), both relations.
	for _, c := range []struct {
		b    profiles.Mechanism
		size int
		r    profiles.Relation
		eps  float64
		want float64
	}{
		{gaussian(4), 3, profiles.AddRemove, 0.2, 0.5*math.Erfc((0.2/0.75-0.375)/math.Sqrt2) - math.Exp(0.2)*0.5*math.Erfc((0.2/0.75+0.375)/math.Sqrt2)},
		{gaussian(4), 3, profiles.Substitute, 0.2, 0.5*math.Erfc((0.2/1.5-0.75)/math.Sqrt2) - math.Exp(0.2)*0.5*math.Erfc((0.2/1.5+0.75)/math.Sqrt2)},
		{laplace(4), 3, profiles.AddRemove, 0.2, -math.Expm1((0.2 - 0.75) / 2)},
		{laplace(4), 3, profiles.Substitute, 0.2, -math.Expm1((0.2 - 1.5) / 2)},
		{laplace(4), 3, profiles.Substitute, -1.6, -math.Expm1(-1.6)},
	} {
		if got := deltaOf(ok(copies.Group(c.b, c.size, c.r)), c.eps); rel(got, c.want) > 1e-13 {
			t.Errorf("%s group of %d %v at %v: %v, want %v", c.b.Name(), c.size, c.r, c.eps, got, c.want)
		}
	}
}

// Both orders of a substitution are the same question: one answer serves both.
func TestSubstituteDirectionsAgree(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wor, wr, ow, ww} {
		for _, b := range []profiles.Mechanism{base, laplace(3), ok(profiles.NewPure(0.5))} {
			m := ok(s.Apply(b, profiles.Substitute))
			if m.Directions[0] != m.Directions[1] {
				t.Errorf("%s %s: directions differ", s.Name(), b.Name())
			}
			for _, eps := range []float64{-0.2, 0, 0.1, 0.7} {
				p := m.Directions[0].Upper
				if x, y := deltaOf(p, eps), deltaOf(profiles.Reverse(p), eps); math.Abs(x-y) > 1e-13 {
					t.Errorf("%s %s: upper %v, reversed %v at %v", s.Name(), b.Name(), x, y, eps)
				}
			}
		}
	}
	// A base that is not symmetric has an attack for each direction, and one bound for both.
	b := ok(profiles.NewFiniteMechanism([]float64{0.5, 0.3, 0.2}, []float64{0.2, 0.2, 0.6}))
	m := ok(wor.Apply(b, profiles.Substitute))
	if profiles.Equal(m.Directions[0].Lower, m.Directions[1].Lower) {
		t.Error("an asymmetric base has equal attacks")
	}
	for _, eps := range []float64{-0.2, 0, 0.1, 0.7} {
		if x, y := deltaOf(m.Directions[0].Upper, eps), deltaOf(m.Directions[1].Upper, eps); math.Abs(x-y) > 1e-13 {
			t.Errorf("an asymmetric base has δ(%v) ≤ %v in one direction and %v in the other", eps, x, y)
		}
	}
}

// Laplace noise, all other records at 0 (the paper's pair A): it attains Theorem 5
// at ε = 0, where pair B does not, and is far below B from small ε on
// (docs/theory/must-composition.md).
func TestLaplaceOthersAtZero(t *testing.T) {
	_, _, ow, ww, _ := paperSetting()
	const noise = 4.0
	for _, s := range []FixedSize{ow, ww} {
		law := s.Multiplicity()
		mix := func(sign float64) func(float64) float64 {
			return func(x float64) float64 {
				d := 0.0
				for u, l := range law.LogP[:30] {
					d += math.Exp(l-math.Abs(x-sign*float64(u))/noise) / (2 * noise)
				}
				return d
			}
		}
		attack, bound := ok(s.Attack(laplace(noise))), ok(s.Theorem5(laplace(noise)))
		for _, c := range []struct{ eps, least, most float64 }{{0, 1.04, 1.06}, {0.01, 0, 0.2}} {
			a := hockey(mix(1), mix(-1), math.Exp(c.eps), -100, 100)
			// The trapezoid rule with step 0.025 is good to 1e-5 of the density's scale.
			if b := deltaOf(attack, c.eps); !(a/b >= c.least && a/b <= c.most) {
				t.Errorf("%s at %v: A %v, B %v", s.Name(), c.eps, a, b)
			}
			if u := deltaOf(bound, c.eps); c.eps == 0 && math.Abs(a/u-1) > 1e-4 {
				t.Errorf("%s: A %v, Theorem 5 %v", s.Name(), a, u)
			}
		}
	}
}
