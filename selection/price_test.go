package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Acceptance check 1: the exact laws of §5.1 and §5.5 of selection.md, to 1e-14.
func TestCheck01ExactLaws(t *testing.T) {
	compare := func(t *testing.T, got, want []float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d outcomes, want %d", len(got), len(want))
		}
		sum := 0.0
		for i := range got {
			near(t, fmt.Sprintf("mass %d", i), got[i], want[i], 1e-14)
			sum += got[i]
		}
		near(t, "sum of masses", sum, 1, 1e-14)
	}
	// §5.1
	q, q1 := []float64{.6, .1, .3}, []float64{.35, .05, .6}
	geo := must(newGeometric(0.1))
	a, a1 := bestLaw(geo, q), bestLaw(geo, q1)
	compare(t, a, []float64{0, 3. / 23, 50. / 851, 30. / 37})
	compare(t, a1, []float64{0, 7. / 137, 25. / 2192, 15. / 16})
	near(t, "log-ratio", max(maxDivergence(a, a1), maxDivergence(a1, a)), 1.6393047000544773272, 1e-14)
	for _, c := range []struct {
		l                 Law
		d, d1             []float64 // mid, high, none
		fwd, bwd, n1, n1_ float64
	}{
		{geo, []float64{5. / 23, 15. / 23, 3. / 23}, []float64{10. / 137, 120. / 137, 7. / 137},
			1.0913395293390299, 0.2949548317808607, 2.1739130434782609, 1.4598540145985401},
		{must(newCensoredLaw(0.1, 30)), []float64{0.21739130231052619, 0.65217390693157857, 0.13043479075789524},
			[]float64{0.072992700729926942, 0.87591240875912331, 0.051094890510949749},
			1.0913395199674512, 0.29495484115243938, 2.1739130231052619, 1.4598540145985388},
		{must(newCensoredLaw(0.1, 5)), []float64{0.207409456, 0.622228368, 0.170362176},
			[]float64{0.07276632378125, 0.873195885375, 0.05403779084375},
			1.148242985687879, 0.33885273606150733, math.NaN(), math.NaN()},
		{must(newCensoredLaw(0.1, 2)), []float64{77. / 500, 231. / 500, 48. / 125},
			[]float64{263. / 4000, 789. / 1000, 581. / 4000},
			0.97218615685570625, 0.53520142976413539, math.NaN(), math.NaN()},
	} {
		d, d1 := firstLaw(c.l, q[1:]), firstLaw(c.l, q1[1:])
		compare(t, d, []float64{c.d[2], c.d[0], c.d[1]})
		compare(t, d1, []float64{c.d1[2], c.d1[0], c.d1[1]})
		near(t, "forward", maxDivergence(d, d1), c.fwd, 1e-14)
		near(t, "backward", maxDivergence(d1, d), c.bwd, 1e-14)
		if !math.IsNaN(c.n1) {
			near(t, "E[T]", c.l.Hit(0.4)/0.4, c.n1, 1e-14)
			near(t, "E[T']", c.l.Hit(0.65)/0.65, c.n1_, 1e-14)
		}
	}
	// §5.5
	q, q1 = []float64{1. / 3, 1. / 4, 1. / 4, 1. / 6}, []float64{1. / 6, 3. / 8, 1. / 8, 1. / 3}
	const g = 0.25
	for _, c := range []struct {
		l                  Law
		a, a1              []float64
		fwd, bwd, df, db   float64
		renyiFwd, renyiBwd float64
	}{
		{must(newGeometric(g)), []float64{0, 1. / 9, 4. / 27, 8. / 27, 4. / 9}, []float64{0, 1. / 21, 24. / 133, 2. / 19, 2. / 3},
			1.034896474282002, 0.40546510810816438, 0.1553472632652826, 0, 0.4129057316090188, 0.2449848046783275},
		{must(newCensoredLaw(g, 3)), []float64{0, 1. / 8, 201. / 1024, 351. / 1024, 43. / 128}, []float64{0, 19. / 384, 1887. / 8192, 1121. / 8192, 7. / 12},
			0.92676203174145047, 0.55183364749336774, 0.160583711810877, 0.02946603145750903, 0, 0},
		{must(newConditionedLaw(1, g, 3)), []float64{0, 7. / 37, 525. / 2368, 747. / 2368, 81. / 296}, []float64{0, 73. / 888, 5415. / 18944, 2585. / 18944, 55. / 111},
			0.83802593987012373, 0.59371328357175839, 0.144132544499745, 0.04432514777012259, 0, 0},
		{must(newConditionedLaw(1, 0, 3)), []float64{0, 13. / 81, 41. / 192, 21. / 64, 193. / 648}, []float64{0, 43. / 648, 407. / 1536, 635. / 4608, 43. / 81},
			0.88319078344781024, 0.5779514684685128, 0.1520128520684321, 0.03980986844888159, 0, 0},
		{must(newNegativeBinomial(0, g)), []float64{0, .207518749639421909, .207518749639421909, .292481250360578091, .292481250360578091},
			[]float64{0, .0963225389711979463, .279713704307009307, .123963756721792747, .5},
			0.85841132490605071, 0.53620753513621566, 0.1368092986472282, 0.01777994124954538, 0, 0},
		{must(newNegativeBinomial(0.5, g)), []float64{0, .154700538379251529, .178632794954081804, .299659828522118732, .367006838144547935},
			[]float64{0, .0690449676496975387, .228726401396402767, .116442193326994743, .585786437626904951},
			0.9452529711309593, 0.46757480181512801, 0.1485437391573189, 0, 0, 0},
		{must(newPoisson(3)), []float64{.049787068367863943, .0855482148687487489, .151169513623577408, .320025862852443323, .393469340287366576},
			[]float64{.049787068367863943, .0322979302560348522, .170754597180847683, .115039845366695844, .632120558828557678},
			1.02312326413984, 0.47407698418010668, 0.1626551530743532, 0, 0.4352828743843452, 0.2713487084865537},
		{must(newBinomial(4, 0.5)), []float64{.0625, .135030864197530853, .195267288773148148, .313268590856481481, .293933256172839506},
			[]float64{.0625, .0532889660493827133, .237265692816840278, .129198427553530093, .517746913580246914},
			0.92977408221144207, 0.56613381729609113, 0.1474286075862635, 0.03313290196193668, 0, 0},
	} {
		a, a1 := bestLaw(c.l, q), bestLaw(c.l, q1)
		compare(t, a, c.a)
		compare(t, a1, c.a1)
		near(t, c.l.String()+" forward", maxDivergence(a, a1), c.fwd, 2e-14)
		near(t, c.l.String()+" backward", maxDivergence(a1, a), c.bwd, 2e-14)
		near(t, c.l.String()+" δ(½) forward", hockeyStick(a, a1, 0.5), c.df, 1e-14)
		near(t, c.l.String()+" δ(½) backward", hockeyStick(a1, a, 0.5), c.db, 1e-14)
		if c.renyiFwd > 0 {
			near(t, c.l.String()+" D₂ forward", renyi(a, a1, 2), c.renyiFwd, 1e-14)
			near(t, c.l.String()+" D₂ backward", renyi(a1, a, 2), c.renyiBwd, 1e-14)
		}
	}
	for _, c := range []struct {
		l        Law
		d, d1    []float64 // none, 0.6, 0.8
		fwd, bwd float64
	}{
		{must(newGeometric(g)), []float64{7. / 27, 4. / 9, 8. / 27}, []float64{13. / 57, 4. / 19, 32. / 57}, 0.74721440183022108, 0.63907995928966954},
		{must(newCensoredLaw(g, 3)), []float64{329. / 1024, 417. / 1024, 139. / 512}, []float64{6877. / 24576, 1609. / 8192, 1609. / 3072}, 0.72915961648625417, 0.65713474463363645},
		{must(newConditionedLaw(1, g, 3)), []float64{973. / 2368, 837. / 2368, 279. / 1184}, []float64{20917. / 56832, 3265. / 18944, 3265. / 7104}, 0.71825057045877981, 0.66804379066111081},
	} {
		d, d1 := firstLaw(c.l, []float64{1. / 4, 1. / 6}), firstLaw(c.l, []float64{1. / 8, 1. / 3})
		compare(t, d, c.d)
		compare(t, d1, c.d1)
		near(t, "forward", maxDivergence(d, d1), c.fwd, 1e-14)
		near(t, "backward", maxDivergence(d1, d), c.bwd, 1e-14)
	}
	// The bounds quoted beside them.
	b := exactBound(q, q1)
	near(t, "δ_Q(0)", math.Exp(b(0)), 7./24, 1e-14)
	near(t, "δ_Q(¼)", math.Exp(b(0.25)), 0.2088259201327421, 1e-14)
	near(t, "δ_Q(½)", math.Exp(b(0.5)), 0.102456296045796, 1e-14)
	near(t, "t* from the profile", must(b.root(math.Log1p(-g), math.Log(g))), 0.38299225225610579, 1e-13)
	near(t, "t* pure", pureRoot(math.Ln2, g), math.Log(1.5), 1e-14)
	near(t, "first above", must(must(PriceOfFirstAbove(must(newGeometric(g)))).Pure(math.Ln2)), 1.0986122886681097, 1e-14)
	near(t, "best of geometric", must(PriceOfBest(must(newGeometric(g))).Pure(math.Ln2)), 1.5040773967762741, 1e-14)
	near(t, "ε₀*(¼, 3)", censoringCost(g, 3), 0.22314355131420976, 1e-14)
}

// Acceptance check 4: the root t* (golden values: selection.md §5.3, §5.5, §5.8).
func TestCheck04Root(t *testing.T) {
	for _, c := range []struct{ eps, gamma, t float64 }{
		{0.1, 0.5, 0.0333086625354478288}, {0.1, 0.1, 0.0817956422850398151}, {0.1, 0.01, 0.0980165976194561534},
		{0.5, 0.1, 0.406273499563501256}, {1, 0.5, 0.310550090126199993}, {1, 0.1, 0.79567203915954553},
		{1, 0.01, 0.97685211713178878}, {1, 0.001, 0.997653217808152304}, {2, 0.1, 1.46018681256651003},
		{2, 0.001, 1.99277343536692592}, {math.Ln2, 0.1, 0.5596157879354227},
	} {
		upper(t, "closed form", pureRoot(c.eps, c.gamma), c.t, 1e-15, 1e-14)
		b := must(FromApproximate(c.eps, 0))
		upper(t, "root", must(b.root(math.Log1p(-c.gamma), math.Log(c.gamma))), c.t, 1e-15, 1e-13)
	}
	// Monotone in γ, with the right limits; and the inequality holds at the value
	// returned, in 100-bit arithmetic's stead with a margin of 1e-14.
	for _, sigma := range []float64{0.5, 2, 20} {
		b := gaussianBound(sigma)
		last := math.Inf(1)
		for _, gamma := range []float64{1e-12, 1e-6, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9} {
			r := must(b.root(math.Log1p(-gamma), math.Log(gamma)))
			if r > last {
				t.Errorf("σ = %v: t* rises to %v at γ = %v", sigma, r, gamma)
			}
			last = r
			if left, right := (1-gamma)*math.Exp(b(r)), gamma*math.Expm1(r); left > right*(1+1e-14) {
				t.Errorf("σ = %v, γ = %v: (1−γ)δ(t) = %v above γ(e^t−1) = %v", sigma, gamma, left, right)
			}
			if r > 0 {
				below := r * (1 - 1e-9)
				if left, right := (1-gamma)*math.Exp(b(below)), gamma*math.Expm1(below); left < right*(1-1e-14) {
					t.Errorf("σ = %v, γ = %v: t* is not tight", sigma, gamma)
				}
			}
		}
		if last > 1e-8 {
			t.Errorf("t* = %v at γ → 1, want 0", last)
		}
	}
	near(t, "t* → ε as γ → 0", pureRoot(1, 1e-200), 1, 1e-14)
	if pureRoot(1, 1) != 0 {
		t.Error("t* at γ = 1 must be 0")
	}
}

// Acceptance check 5: the pure prices (selection.md §5.3).
func TestCheck05Pure(t *testing.T) {
	for _, c := range []struct{ eps, gamma, zero, half, one, two float64 }{
		{0.1, 0.5, 0.133308662535448, 0.149962993803172, 0.166617325070896, 0.199925987606343},
		{0.1, 0.1, 0.18179564228504, 0.22269346342756, 0.26359128457008, 0.345386926855119},
		{0.1, 0.01, 0.198016597619456, 0.247024896429184, 0.296033195238912, 0.394049792858368},
		{0.5, 0.1, 0.906273499563501, 1.10941024934525, 1.312546999127, 1.7188204986905},
		{1, 0.5, 1.3105500901262, 1.4658251351893, 1.6211001802524, 1.9316502703786},
		{1, 0.1, 1.79567203915955, 2.19350805873932, 2.59134407831909, 3.38701611747864},
		{1, 0.01, 1.97685211713179, 2.46527817569768, 2.95370423426358, 3.93055635139537},
		{1, 0.001, 1.99765321780815, 2.49647982671223, 2.9953064356163, 3.99295965342446},
		{2, 0.1, 3.46018681256651, 4.19028021884977, 4.92037362513302, 6.38056043769953},
		{2, 0.001, 3.99277343536693, 4.98916015305039, 5.98554687073385, 7.97832030610078},
	} {
		for shape, want := range map[float64]float64{0: c.zero, 0.5: c.half, 1: c.one, 2: c.two} {
			got := must(PriceOfBest(must(newNegativeBinomial(shape, c.gamma))).Pure(c.eps))
			upper(t, fmt.Sprintf("best, ε=%v γ=%v η=%v", c.eps, c.gamma, shape), got, want, 5e-15, 1e-13)
			if simple := must(PapernotSteinkePure(c.eps, shape)); got > simple {
				t.Errorf("%v is above the simple bound %v", got, simple)
			}
		}
		got := must(must(PriceOfFirstAbove(must(newGeometric(c.gamma)))).Pure(c.eps))
		upper(t, "first above", got, c.zero, 5e-15, 1e-13)
	}
	for _, c := range []struct{ eps, mu, want float64 }{
		{0.1, 10, 0.599583749578799722}, {1, 1, 1.46211715726000976}, {1, 10, 5.62117157260009759}, {0.01, 100, 0.509995833374999578},
	} {
		upper(t, "Poisson", must(PriceOfBest(must(newPoisson(c.mu))).Pure(c.eps)), c.want, 1e-15, 1e-13)
	}
	for _, c := range []struct {
		eps     float64
		n       int
		p, want float64
	}{{1, 10, 0.3, 2.4711686571453472}, {0.1, 20, 0.5, 0.732864588173508747}, {0.5, 5, 1, 2.5}} {
		upper(t, "binomial", must(PriceOfBest(must(newBinomial(c.n, c.p))).Pure(c.eps)), c.want, 1e-15, 1e-13)
	}
	// A pair that nearly attains 1 + 2t*: the formula is not only a bound.
	a := 1e-6
	h := (1 - a) / (1 + math.E)
	geo := must(newGeometric(0.1))
	p, p1 := bestLaw(geo, []float64{1 - h - a, a, h}), bestLaw(geo, []float64{1 - h*math.E - a/math.E, a / math.E, h * math.E})
	near(t, "near-tight witness", math.Log(p[2]/p1[2]), 2.59134156308315144, 1e-9) // the middle mass is a difference of masses of 1e-6
	if price := must(PriceOfBest(geo).Pure(1)); price-math.Log(p[2]/p1[2]) > 3e-6 {
		t.Errorf("the witness is %v below the price", price-math.Log(p[2]/p1[2]))
	}

	// Censored against conditioned: exact suprema.
	for _, c := range []struct {
		eps, gamma            float64
		n                     int
		censored, conditioned float64
	}{
		{1, 0.1, 2, 1.88546160854333, 1.44499586916596}, {1, 0.1, 5, 3.01226050433551, 2.18859530073564},
		{1, 0.1, 10, 2.7534121958082, 2.52177785280097}, {0.1, 0.1, 5, 0.331428483792533, 0.230788270364937},
		{0.1, 0.01, 10, 0.543138061566704, 0.290990629587375}, {0.1, 0.01, 50, 0.339750462066788, 0.29603319523876},
	} {
		what := fmt.Sprintf("ε=%v γ=%v T=%v", c.eps, c.gamma, c.n)
		upper(t, "censored "+what, must(PriceOfBest(must(newCensoredLaw(c.gamma, c.n))).Pure(c.eps)), c.censored, 1e-13, 1e-11)
		upper(t, "conditioned "+what, must(PriceOfBest(must(newConditionedLaw(1, c.gamma, c.n))).Pure(c.eps)), c.conditioned, 1e-13, 1e-11)
	}
	upper(t, "uniform on 1..10", must(PriceOfBest(must(newConditionedLaw(1, 0, 10))).Pure(1)), 2.82462498962245, 1e-13, 1e-11)
	upper(t, "uniform on 1..100", must(PriceOfBest(must(newConditionedLaw(1, 0, 100))).Pure(0.1)), 0.3, 1e-3, 1e-14)
	// "No outcome" under censoring, and the bound 2ε + ε₀*.
	for _, c := range []struct {
		n            int
		exact, bound float64
	}{{2, 1.79567203915955, 3.1069110914828}, {5, 2.14738703761352, 2.39455878849666}, {30, 1.79568496751623, 2.00527271287506}} {
		l := must(newCensoredLaw(0.1, c.n))
		upper(t, fmt.Sprintf("no outcome, T=%d", c.n), series(l.(*capped).pmf).ratio(1, 1e-15), c.exact, 1e-13, 1e-11)
		upper(t, fmt.Sprintf("2ε+ε₀*, T=%d", c.n), 2+censoringCost(0.1, c.n), c.bound, 1e-14, 1e-13)
		if got := must(must(PriceOfFirstAbove(l)).Pure(1)); !(got >= c.exact*(1-1e-13) && got <= c.bound) {
			t.Errorf("first above, T=%d: %v", c.n, got)
		}
	}
}

// Acceptance check 5, search: random extremal pairs never exceed the price, and
// check 6 on the same pairs for Theorems 3.2 and 3.5 of the paper.
func TestCheck05Search(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	laws := []Law{
		must(newGeometric(0.1)), must(newGeometric(0.6)), must(newNegativeBinomial(0, 0.02)), must(newNegativeBinomial(2, 0.2)),
		must(newNegativeBinomial(-0.5, 0.05)), must(newPoisson(4)), must(newPoisson(0.5)), must(newBinomial(10, 0.3)),
		must(newConditionedLaw(1, 0.1, 7)), must(newConditionedLaw(0, 0.3, 4)), must(newConditionedLaw(2, 0, 6)),
		must(newCensoredLaw(0.1, 5)), must(newCensoredLaw(0.02, 20)), must(newFixed(4)),
	}
	type key struct {
		law int
		eps float64
	}
	price := map[key]float64{}
	for i, l := range laws {
		for _, e := range []float64{0.1, 1, 2.5} {
			price[key{i, e}] = must(PriceOfBest(l).Pure(e))
		}
	}
	for trial := range 12000 {
		eps := []float64{0.1, 1, 2.5}[trial%3]
		p, q := extremalPair(rng, eps)
		if e := max(maxDivergence(p, q), maxDivergence(q, p)); e > eps+1e-9 || e < eps-1e-9 {
			t.Fatalf("the pair is %v-close, want %v", e, eps)
		}
		i := trial % len(laws)
		a, b := bestLaw(laws[i], p), bestLaw(laws[i], q)
		if d := max(ratioAbove(a, b), ratioAbove(b, a)); d > price[key{i, eps}]+1e-9 {
			t.Fatalf("%v, ε=%v: %v and %v give %v above %v", laws[i], eps, p, q, d, price[key{i, eps}])
		}
	}
}

// ratioAbove is the max-divergence without the outcomes whose masses, being
// differences of a generating function, have lost their digits.
func ratioAbove(p, q []float64) float64 {
	d := 0.0
	for i := range p {
		if p[i] > 1e-6 && q[i] > 1e-6 {
			d = max(d, math.Log(p[i]/q[i]))
		}
	}
	return d
}

// extremalPair draws two distributions with likelihood ratios e^ε, e^−ε or,
// for one outcome, whatever makes the masses add up.
func extremalPair(rng *rand.Rand, eps float64) (p, q []float64) {
	n := 3 + rng.IntN(4)
	p, q = make([]float64, n), make([]float64, n)
	var sp, sq float64
	for i := range p {
		w := rng.ExpFloat64()
		if rng.IntN(3) == 0 {
			w *= 1e-2
		}
		p[i], q[i] = w, w*math.Exp(eps)
		if rng.IntN(2) == 0 {
			p[i], q[i] = q[i], p[i]
		}
		sp, sq = sp+p[i], sq+q[i]
	}
	// Make the sums equal by one more outcome on each side's scale.
	x, y := 0.0, 0.0
	switch d := sp - sq; {
	case d > 0: // add (a, a·e^ε) with a(e^ε−1) = d
		x = d / math.Expm1(eps)
		y = x * math.Exp(eps)
	default:
		y = -d / math.Expm1(eps)
		x = y * math.Exp(eps)
	}
	k := rng.IntN(n + 1)
	p = append(p[:k], append([]float64{x}, p[k:]...)...)
	q = append(q[:k], append([]float64{y}, q[k:]...)...)
	total := sp + x
	for i := range p {
		p[i] /= total
		q[i] /= total
	}
	return p, q
}

// Acceptance check 6: the paper's own bounds (selection.md §5.1, §5.2).
func TestCheck06Paper(t *testing.T) {
	for _, c := range []struct{ gamma, slack, runs, paper, cost, conditioned, censored float64 }{
		{0.1, 0.1, 30, 0.0995741367357, 0.00527271287506, 8.67196845638359, 9.57608841724784},
		{0.02, 0.1, 150, 0.0995741367357, 0.00592460426189, 42.3879658504857, 47.5851989378256},
		{0.01, 1, 70, 0.993170607583, 0.232643651806, 31.4304096497153, 50.5161340399793},
		{0.001, 0.01, 5299, 0.00999317599489, 0.000345939033458, 973.460930940073, 995.016641749168},
		{0.5, 0.5, 3, 0.446260320297, 0.0363676441709, 1.57142857142857, 1.75},
	} {
		_, _, runs, err := liuTalwarFirstAbove(1, 0, c.gamma, c.slack)
		if err != nil || runs != c.runs {
			t.Errorf("Theorem 3.1, γ=%v slack=%v: T = %v (%v), want %v", c.gamma, c.slack, runs, err, c.runs)
		}
		n := int(c.runs)
		relNear(t, "ε₀(T)", 2*math.Exp(-c.gamma*c.runs), c.paper, 1e-11)
		upper(t, "ε₀*", censoringCost(c.gamma, n), c.cost, 1e-11, 1e-11)
		relNear(t, "E[K | K ≤ T]", must(newConditionedLaw(1, c.gamma, n)).Mean(), c.conditioned, 1e-12)
		relNear(t, "E min(G, T)", must(newCensoredLaw(c.gamma, n)).Mean(), c.censored, 1e-12)
	}
	for _, c := range []struct{ gamma, slack, runs float64 }{
		{0.1, 0.1, 99}, {0.01, 0.1, 1473}, {0.05, 0.2, 211}, {0.1, 0.01, 125}, {0.5, 0.25, 12},
	} {
		eps, runs, err := liuTalwarCensoredBest(1, c.gamma, c.slack)
		if err != nil || runs != c.runs {
			t.Errorf("Theorem 3.5, γ=%v slack=%v: T = %v (%v), want %v", c.gamma, c.slack, runs, err, c.runs)
		}
		if got := must(PriceOfBest(must(newCensoredLaw(c.gamma, int(runs)))).Pure(1)); got > eps {
			t.Errorf("the exact price %v is above the paper's %v", got, eps)
		} else if full := must(PriceOfBest(must(newGeometric(c.gamma))).Pure(1)); c.gamma < 0.5 && !(math.Abs(got-full) < 1e-11) {
			// Not for γ = ½, T = 12, where 30-digit arithmetic gives 1.62112635948879
			// against 1.62110018025240.
			t.Errorf("at the paper's T censoring costs %v, want the geometric %v", got, full)
		}
		if left, right := runs*math.Pow(1-c.gamma, runs), c.slack*c.gamma/((1+c.gamma)*(1+c.gamma)); left > right {
			t.Errorf("T(1−γ)^T = %v above %v", left, right)
		}
	}
	for _, c := range []struct{ gamma, p, exact, bound float64 }{
		{0.01, 0.1, 0.0825688073394495, 0.1}, {0.001, 0.05, 0.0186457311089303, 0.02}, {0.1, 0.5, 0.0909090909090909, 0.2},
	} {
		relNear(t, "γ/p", c.gamma/c.p, c.bound, 1e-13)
		relNear(t, "f(1−p)", must(newGeometric(c.gamma)).PGF(1-c.p), c.exact, 1e-13)
	}
	// Theorem 3.1 (b), (d), (e) on B1 and random pairs, T as the theorem asks.
	rng := rand.New(rand.NewPCG(8, 8))
	for trial := range 2000 {
		eps, gamma, slack := 0.2+2*rng.Float64(), 0.02+0.9*rng.Float64(), 0.05+0.9*rng.Float64()
		p, q := extremalPair(rng, eps)
		if trial == 0 {
			eps, gamma, slack = math.Ln2, 0.1, 0.1
			p, q = []float64{.6, .1, .3}, []float64{.35, .05, .6}
		}
		epsOut, _, runs, err := liuTalwarFirstAbove(eps, 0, gamma, slack)
		if err != nil {
			t.Fatal(err)
		}
		l := must(newCensoredLaw(gamma, int(runs)))
		k := 1 + rng.IntN(len(p)-1)
		a, b := firstLaw(l, p[k:]), firstLaw(l, q[k:])
		ours := must(must(PriceOfFirstAbove(l)).Pure(eps))
		if d := max(maxDivergence(a, b), maxDivergence(b, a)); d > ours+1e-12 || ours > epsOut {
			t.Fatalf("ε=%v γ=%v T=%v: divergence %v, ours %v, Theorem 3.1 %v", eps, gamma, runs, d, ours, epsOut)
		}
		p1 := 0.0
		for _, x := range p[k:] {
			p1 += x
		}
		if a[0] > (1-p1)*(1+slack/2)*gamma/p1+1e-15 {
			t.Fatalf("(e): Pr[no outcome] = %v", a[0])
		}
		if mean := l.Hit(p1) / p1; mean > 1/(p1*(1-gamma)+gamma)+1e-12 {
			t.Fatalf("(d): E[T] = %v", mean)
		}
	}
	// Censoring at a small T breaks 3ε; conditioning never does.
	got := must(PriceOfBest(must(newCensoredLaw(0.1, 5))).Pure(1))
	upper(t, "censored at 5", got, 3.01226050433551, 1e-14, 1e-11)
	if got <= 3 {
		t.Error("the price of censoring at 5 must exceed 3ε")
	}
}

// Acceptance check 7: approximate candidates (selection.md §5.4).
func TestCheck07Approximate(t *testing.T) {
	for _, c := range []struct{ eps, delta, gamma, out, sharp float64 }{
		{1, 1e-6, 0.1, 9.99991000080999e-6, 2.59134086986481},
		{0.5, 1e-5, 0.02, 4.99755119991204e-4, 1.45921085177152},
		{1, 1e-3, 0.1, 0.00991080277502478, 2.58813921387797},
		{1, 1e-3, 0.01, 0.0909918107370337, math.NaN()},
	} {
		l := must(newGeometric(c.gamma))
		eps, delta, err := PriceOfBest(l).Approximate(c.eps, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		upper(t, "δ", delta, c.out, 1e-14, 1e-13)
		if !math.IsNaN(c.sharp) {
			upper(t, "ε", eps, c.sharp, 5e-15, 1e-13)
		}
		// Attained: every order of the outcomes of the extremal pair.
		e := math.Exp(c.eps)
		p := []float64{c.delta, (1 - c.delta) * e / (1 + e), (1 - c.delta) / (1 + e), 0}
		q := []float64{0, p[2], p[1], c.delta}
		worst := 0.0
		permutations(4, func(order []int) {
			pp, qq := make([]float64, 4), make([]float64, 4)
			for i, j := range order {
				pp[i], qq[i] = p[j], q[j]
			}
			worst = max(worst, hockeyStick(bestLaw(l, pp), bestLaw(l, qq), 3*c.eps))
		})
		near(t, "worst order", worst, delta, 1e-13)
		first := must(PriceOfFirstAbove(l))
		_, fd, _ := first.Approximate(c.eps, c.delta)
		a := firstLaw(l, []float64{c.delta})
		b := []float64{1, 0}
		near(t, "first above", hockeyStick(a, b, 2*c.eps), fd, 1e-13)
	}
	last := 0.0
	for _, d := range []float64{0, 1e-300, 1e-20, 1e-9, 0.1, 0.5, 0.999} {
		_, out, err := PriceOfBest(must(newNegativeBinomial(0, 0.02))).Approximate(1, d)
		if err != nil || out < last || out < d {
			t.Errorf("δ=%v gives %v after %v (%v)", d, out, last, err)
		}
		last = out
	}
	// Theorem 3.1 (c) and the statement of Theorem 3.4.
	_, d, _, err := liuTalwarFirstAbove(1, 1e-6, 0.1, 0)
	if err != nil {
		t.Fatal(err)
	}
	relNear(t, "3.1 (c)", d, 2.2167168296792e-4, 1e-12)
	_, d, _, _ = liuTalwarFirstAbove(1, 1e-6, 0.1, 0.1)
	relNear(t, "3.1 (c), slack", d, 2.4498509737703e-4, 1e-12)
	_, d, _, _ = liuTalwarFirstAbove(0.5, 1e-5, 0.02, 0)
	relNear(t, "3.1 (c)", d, 4.07742274268857e-3, 1e-12)
	_, d, _, _ = liuTalwarFirstAbove(0.5, 1e-5, 0.02, 0.1)
	relNear(t, "3.1 (c), slack", d, 4.50624903591965e-3, 1e-12)
	for _, c := range []struct {
		gamma, delta1, eps float64
		n                  int
		want               float64
	}{{0.1, 1e-6, 1, 30, 9.57601495027637e-6}, {0.02, 1e-5, 0.5, 150, 4.75655113416521e-4}} {
		_, got, _ := must(PriceOfFirstAbove(must(newCensoredLaw(c.gamma, c.n)))).Approximate(c.eps, c.delta1)
		upper(t, "censored first above δ", got, c.want, 1e-13, 1e-11)
	}
	e, d, n, err := LiuTalwarApproximateUnproved(1, 1e-6, 0.1, 1e-6)
	if err != nil || n != 139 {
		t.Errorf("3.4: T = %v, %v", n, err)
	}
	relNear(t, "3.4 ε", e, 3.00424264068712, 1e-14)
	relNear(t, "3.4 δ", d, 0.19657668516986, 1e-13)
	if _, d, n, err = LiuTalwarApproximateUnproved(0.5, 1e-5, 0.02, 1e-6); err == nil || n != 691 {
		t.Errorf("3.4 must refuse δ = %v", d)
	}
	relNear(t, "3.4 δ, empty", d, 3.09024694490471, 1e-13)
	_, d, _, _ = LiuTalwarApproximateUnproved(1, 1e-3, 0.1, 1e-6)
	relNear(t, "3.4 δ, empty", d, 6.21626997744942, 1e-13)
}

func permutations(n int, visit func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			visit(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}

// Acceptance check 10: the δ of the candidate is multiplied, at every ε
// (selection.md §5.4; a published accountant reports 0.001 here).
func TestCheck10DeltaIsMultiplied(t *testing.T) {
	l := must(withMean(1, 100))
	eps, delta, err := PriceOfBest(l).Approximate(1, 1e-3)
	if err != nil || eps > 5 {
		t.Fatal(eps, err)
	}
	upper(t, "δ at ε=5", delta, 0.0909918107370337, 1e-12, 1e-11)
	b := must(PriceOfBest(l).Profile(context.Background(), must(FromApproximate(1, 1e-3))))
	if d := math.Exp(b(5)); d < 0.0909918107370337 {
		t.Errorf("δ(5) = %v from the profile", d)
	}
}

// Acceptance check 16: what constructors refuse, and one run.
func TestCheck16Validation(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s must be refused", what)
		}
	}
	for _, x := range []float64{nan, inf, -inf, -0.1, 0, 1.5} {
		_, err := newGeometric(x)
		bad(fmt.Sprint("gamma ", x), err)
		_, err = newBinomial(3, x)
		bad(fmt.Sprint("p ", x), err)
	}
	for _, x := range []float64{nan, inf, -1, -2, 1e7} {
		_, err := newNegativeBinomial(x, 0.5)
		bad(fmt.Sprint("shape ", x), err)
		_, err = withMean(x, 10)
		bad(fmt.Sprint("shape ", x), err)
		_, err = newConditionedLaw(x, 0.5, 3)
		bad(fmt.Sprint("shape ", x), err)
	}
	for _, x := range []float64{nan, inf, -1, 0, 1e300} {
		_, err := newPoisson(x)
		bad(fmt.Sprint("mean ", x), err)
		_, err = withMean(1, x)
		bad(fmt.Sprint("mean ", x), err)
	}
	_, err := withMean(1, 0.999)
	bad("mean 0.999", err)
	for _, n := range []int{0, -1, math.MaxInt} {
		_, err := newConditionedLaw(1, 0.1, n)
		bad(fmt.Sprint("max ", n), err)
		_, err = newCensoredLaw(0.1, n)
		bad(fmt.Sprint("max ", n), err)
		_, err = newFixed(n)
		bad(fmt.Sprint("n ", n), err)
		_, err = newBinomial(n, 0.5)
		bad(fmt.Sprint("n ", n), err)
	}
	p := PriceOfBest(must(newGeometric(0.1)))
	for _, x := range []float64{nan, inf, -1} {
		_, err := p.Pure(x)
		bad(fmt.Sprint("epsilon ", x), err)
		_, _, err = p.Approximate(x, 0.1)
		bad(fmt.Sprint("epsilon ", x), err)
	}
	for _, x := range []float64{nan, inf, -1, 1} {
		_, _, err := p.Approximate(1, x)
		bad(fmt.Sprint("delta ", x), err)
	}
	_, err = PriceOfFirstAbove(must(newNegativeBinomial(0, 0.1)))
	bad("a logarithmic threshold search", err)
	_, err = PriceOfBest(must(newCensoredLaw(0.1, 5))).Profile(context.Background(), gaussianBound(2))
	bad("a censored law with a Gaussian candidate", err)
	_, err = PriceOfBest(must(newConditionedLaw(1, 0, 5))).Profile(context.Background(), gaussianBound(2))
	bad("γ = 0 with a Gaussian candidate", err)
	for _, c := range []Config{{}, {Law: "normal"}, {Law: "geometric"}, {Law: "geometric", Mean: 3, Gamma: 0.3},
		{Law: "geometric", Mean: 3, Shape: 2}, {Law: "logarithmic", Mean: 3, Max: 4, Cap: "censor"},
		{Law: "poisson", Mean: 3, Max: 4}, {Law: "binomial", Mean: 30, Max: 20}, {Law: "fixed", Mean: 3}, {Law: "geometric", Mean: 3, Cap: "no"},
		{Law: "geometric", Mean: 3, Cap: "condition"}, {Law: "poisson", Mean: 3, Gamma: 0.1}} {
		_, err := c.Build()
		bad(fmt.Sprintf("%+v", c), err)
	}
	for _, c := range []Config{{Law: "geometric", Mean: 3}, {Law: "geometric", Gamma: 0.3, Max: 5, Cap: "censor"}, {Law: "geometric", Max: 5},
		{Law: "negative-binomial", Shape: -0.5, Mean: 3, Max: 10}, {Law: "binomial", Mean: 3, Max: 20}, {Law: "fixed", Max: 3}, {Law: "poisson", Mean: 1}} {
		if _, err := c.Build(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}

	// γ = 1 is exactly one run: nothing changes.
	one := must(newGeometric(1))
	if n, bounded := one.MaxRuns(); n != 1 || !bounded {
		t.Error("γ = 1 must be one run")
	}
	for _, p := range []Price{PriceOfBest(one), must(PriceOfFirstAbove(one))} {
		upper(t, "ε", must(p.Pure(1)), 1, 0, 1e-14)
		e, d, _ := p.Approximate(1, 1e-9)
		upper(t, "ε", e, 1, 0, 1e-14)
		upper(t, "δ", d, 1e-9, 0, 1e-13)
		b := must(p.Profile(context.Background(), gaussianBound(2)))
		near(t, "profile", b(1), gaussianBound(2)(1), 1e-13)
		c := must(p.Curve(context.Background(), gaussianCurve(2), gaussianBound(2)))
		for _, lambda := range []float64{1.1, 2, 64} { // 8 u/(λ−1) is the curve's own rounding
			upper(t, "curve", c.RDP(lambda), lambda/8, 0, 1e-12)
		}
	}
}
