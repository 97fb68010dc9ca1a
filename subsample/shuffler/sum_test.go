package shuffler

import (
	"math"
	"math/big"
	"math/cmplx"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestSumByAnyRule: what a rule leaves out is counted, whatever it is: frequencies beyond the last one, terms that are left out, shifts of the
// test. The games have few outcomes, so that the truth is known; each rule is so coarse that one of the terms decides.
func TestSumByAnyRule(t *testing.T) {
	ten, hundred := must(New(10)), must(New(100))
	games := []game{
		gameOf(ten.(shufflerScheme), pure(1), profiles.Substitute, false),
		gameOf(hundred.(shufflerScheme), pure(2), profiles.Substitute, false),
		gameOf(must(ten.WithCohortRate(0.5)).(shufflerScheme), must(NewKRR(1, 2)).(randomizer), profiles.AddRemove, false),
		gameOf(must(hundred.WithCohort(20)).(shufflerScheme), must(NewKRR(1, 3)).(randomizer), profiles.Substitute, true),
	}
	games = append(games, games[2].reverse())
	wide := map[string]int{} // rules that say something else than the fine one
	for i, g := range games {
		d := must(g.exact())
		for _, x := range []float64{0, 0.1, 0.3} {
			tt := newTilt(g, math.Exp(x))
			theta, sd, _ := tt.saddle()
			fine := rule{theta: theta, tau: 0.05 * sd, shift: max(40/theta, 14*sd), deep: deepest}
			fine.last = math.Ceil(9 / fine.tau * fine.shift / (2 * math.Pi))
			truth := deltaAt(d, x)
			check := func(name string, r rule) {
				v := tt.sum(r)
				if !(v.above >= truth*(1-1e-12)) || !(v.below <= truth*(1+1e-12)) {
					t.Errorf("game %d, ε %v, %s: %v is not in [%v, %v]", i, x, name, truth, v.below, v.above)
				}
				for _, y := range []float64{-0.2, -0.05, 0.05, 0.2} {
					if line, h := v.below-v.slope*math.Expm1(y), deltaAt(d, x+y); line > h*(1+1e-12) {
						t.Errorf("game %d, ε %v, %s: the line is %v at %v, above %v", i, x, name, line, x+y, h)
					}
				}
				if f := tt.sum(fine); math.Abs(v.above-f.above) > 1e-6*truth || math.Abs(v.below-f.below) > 1e-6*truth {
					wide[name]++
				}
			}
			for _, part := range []float64{0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01} {
				r := fine
				r.last = math.Ceil(r.last * part)
				check("few frequencies", r)
				r = fine
				r.deep = deepest * part
				check("few terms", r)
				r = fine
				r.shift *= part
				r.last = math.Ceil(9 / r.tau * r.shift / (2 * math.Pi))
				check("short shifts", r)
				r = fine
				r.theta *= part * 3
				check("another tilt", r)
				r = fine
				r.tau *= part * 20
				check("much smoothing", r)
			}
		}
	}
	for _, name := range []string{"few frequencies", "few terms", "short shifts", "much smoothing"} {
		if wide[name] == 0 {
			t.Errorf("%s changed nothing: this test notices nothing", name)
		}
	}
}

// TestNodeError: of slots that are all alike, Φ(s) = s·(nv + k) is known; what is off in it is at most the error of a node, and more than 0.
func TestNodeError(t *testing.T) {
	worst := 0.0
	for _, n := range []int64{7, 1000, 1e6, 1e10} {
		for _, v := range []float64{0.3, -0.7, 1.1} {
			g := game{n: n, slots: []slot{{1, v / float64(n), 0}}, ka: -v * (1 - 1e-6)}
			exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(g.slots[0].a), new(big.Float).SetInt64(n))
			sum, _ := exact.Add(exact, big.NewFloat(g.ka)).Float64()
			line := newTilt(g, 1).lean(50, 0)
			for _, freq := range []float64{0, 0.7, 90, 1300} {
				y := line.at(freq)
				arg := math.Remainder(y.im-freq*sum, 2*math.Pi)
				if off := max(math.Abs(y.re-50*sum), math.Abs(arg)); off > y.err {
					t.Errorf("%d slots of %v at %v: off by %v, more than %v", n, v, freq, off, y.err)
				} else {
					worst = max(worst, off)
				}
			}
		}
	}
	if worst == 0 {
		t.Error("nothing was rounded: this test notices nothing")
	}
}

// TestMostUsers: rounding leaves something of a lower end for the most users, and every tilt, with roundings of its own, has the truth between its ends.
func TestMostUsers(t *testing.T) {
	g := gameOf(must(New(maxUsers)).(shufflerScheme), pure(1), profiles.Substitute, false)
	tt := newTilt(g, math.Exp(4*g.spread()))
	theta, sd, _ := tt.saddle()
	r := rule{theta: theta, tau: 1e-3 * sd, shift: max(40/theta, 14*sd), deep: deepest}
	r.last = math.Ceil(9 / r.tau * r.shift / (2 * math.Pi))
	lo, hi := 0.0, 1.0
	for range 10 {
		r.theta *= 1 + 1e-3
		v := tt.sum(r)
		lo, hi = max(lo, v.below), min(hi, v.above)
	}
	if lo > hi || hi > 1.01*lo {
		t.Errorf("the largest lower end is %v, the smallest upper end %v", lo, hi)
	}
}

// TestCountsOfTheCut: what is cut off a binomial law is counted, and masses are within their errors.
func TestCountsOfTheCut(t *testing.T) {
	for _, width := range []float64{0.5, 1, 2, 4} {
		full := newBinary(1, 300, 40, 40)
		cut := newBinary(1, 300, 40, width)
		if total := cut.ones.tail[0] + cut.ones.lost; total < 1-1e-12 {
			t.Errorf("width %v: %v of the mass is left", width, total)
		}
		for _, x := range []float64{0, 0.05, 0.2, 0.5} {
			alpha := math.Exp(x)
			want, got := full.price(alpha), cut.price(alpha)
			if got.above < want.below || got.below > want.above {
				t.Errorf("width %v, ε %v: [%v, %v] is not around %v", width, x, got.below, got.above, want)
			}
			for _, y := range []float64{-0.1, 0.1} {
				if line := got.below - got.slope*math.Expm1(y); line > full.price(math.Exp(x+y)).above && x+y >= 0 {
					t.Errorf("width %v, ε %v: a line above δ", width, x)
				}
			}
		}
	}
}

// TestSizesOfNodes: what a rounding is multiplied by is at least what it stands for, constants of a cohort included.
func TestSizesOfNodes(t *testing.T) {
	g := gameOf(must(must(New(20)).WithCohort(7)).(shufflerScheme), pure(1), profiles.Substitute, false)
	if !(g.ka > 0 && g.kb > 0) {
		t.Fatalf("the constants are %v and %v", g.ka, g.kb)
	}
	line := newTilt(g, 1.1).lean(0.3, 0.1)
	for _, freq := range []float64{0, 0.2, 3} {
		if y := line.at(freq); cmplx.Abs(y.a) > y.sizeA*(1+1e-12) || cmplx.Abs(y.b) > y.sizeB*(1+1e-12) {
			t.Errorf("at %v: %v and %v, sizes %v and %v", freq, y.a, y.b, y.sizeA, y.sizeB)
		}
	}
}

// TestPriceCountsErrors: masses that are known to a hundredth make the probability of a test larger by as much, each term of it.
func TestPriceCountsErrors(t *testing.T) {
	const alpha, off = 1.2, 0.01
	b := newBinary(1, 30, 10, 9)
	at := b.threshold(b.truth-alpha*b.lie, alpha*b.truth-b.lie)
	before, _ := b.masses(at)
	want := alpha * (b.atLeast(at) + b.lie*before) * (1 + off)
	b.ones.err = off
	if got := b.price(alpha).slope; got < want {
		t.Errorf("α·Q is %v, want at least %v", got, want)
	}
}

// TestNobodyHonestIsLeft: where all of a cohort may collude, nothing is proved below.
func TestNobodyHonestIsLeft(t *testing.T) {
	s := must(must(must(New(10)).WithCohort(3)).WithColluding(8))
	if fewer, share := s.(shufflerScheme).withFewer(); share != 0 {
		t.Errorf("a share of %v has %+v", share, fewer)
	}
}

// TestRoundingOfASum: terms that cancel in the sum, as n slots that are all alike and a constant do, lose digits, which every end counts:
// the test's two probabilities and the mean of the positive part, in closed form, lie within.
func TestRoundingOfASum(t *testing.T) {
	lost := 0 // sums of which rounding shows
	for i := range 40 {
		n, large := int64(1e9), 1e5*(1+float64(i)/40)
		g := game{n: n, slots: []slot{{1, (large + 0.4) / float64(n), 0.4 / float64(n)}}, ka: 0.5 - large}
		tt := newTilt(g, 1)
		exact := func(x float64) *big.Float {
			return new(big.Float).SetPrec(200).Mul(big.NewFloat(x), new(big.Float).SetInt64(n))
		}
		a, _ := exact(g.slots[0].a).Add(exact(g.slots[0].a), big.NewFloat(g.ka)).Float64()
		v, _ := new(big.Float).Add(exact(tt.v[0]), big.NewFloat(tt.k)).Float64()
		b, _ := exact(g.slots[0].b).Float64()
		const tau = 0.3
		p := 0.5 * math.Erfc(-v/tau/math.Sqrt2) // of v + G > 0
		up := v*p + tau*math.Exp(-v*v/2/tau/tau)/math.Sqrt(2*math.Pi)
		r := rule{theta: 3, tau: tau, shift: 60, deep: deepest, last: 300}
		got := tt.sum(r)
		if got.slope < b*p || got.below+got.slope > a*p*(1+1e-14) || got.above < up {
			t.Errorf("%v: the sum has P ≥ %v, αQ ≤ %v and δ ≤ %v; they are %v, %v and %v", large, got.below+got.slope, got.slope, got.above, a*p, b*p, up)
		}
		if !(got.below > 0) {
			t.Errorf("%v: nothing is left below", large)
		}
		if y := tt.lean(1, 1).at(0); math.Abs(y.re-v-0.5) > 1e-12 {
			lost++
		}
	}
	if lost < 20 {
		t.Errorf("only %d of 40 sums were rounded: this test notices little", lost)
	}
}
