package random

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The Kolmogorov distance of many draws to the law. By Massart's inequality it is
// above 2/√n with probability at most 2e^{−2·2²} = 7e-4; the seed is fixed.
func TestRealsHaveTheirLaw(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(rand.Source) *Real
		cdf  func(float64) float64
	}{
		"uniform":     {Uniform, distuv.Uniform{Min: 0, Max: 1}.CDF},
		"exponential": {Exponential, distuv.Exponential{Rate: 1}.CDF},
		"laplace":     {Laplace, distuv.Laplace{Mu: 0, Scale: 1}.CDF},
		"normal":      {Normal, distuv.UnitNormal.CDF},
	} {
		const n = 300_000
		src := rand.NewPCG(3, 4)
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = c.draw(src).approx()
		}
		slices.Sort(xs)
		worst := 0.0
		for i, x := range xs {
			worst = max(worst, math.Abs(c.cdf(x)-float64(i)/n))
		}
		if worst > 2/math.Sqrt(n) {
			t.Errorf("%s: Kolmogorov distance %v, want at most %v", name, worst, 2/math.Sqrt(n))
		}
	}
}

// The number of whole parts of a normal number, against the normal tail:
// k is 3 or more with probability 2.7e-3.
func TestNormalTail(t *testing.T) {
	const n = 300_000
	src := rand.NewPCG(5, 6)
	var counts [5]float64
	for range n {
		counts[min(Normal(src).whole, 4)]++
	}
	for k, got := range counts {
		p := 2 * (distuv.UnitNormal.Survival(float64(k)) - distuv.UnitNormal.Survival(float64(k)+1))
		if k == 4 {
			p = 2 * distuv.UnitNormal.Survival(4)
		}
		if math.Abs(got-n*p) > 5*math.Sqrt(n*p) {
			t.Errorf("%d ≤ |z| < %d: %v times, want %v", k, k+1, got, n*p)
		}
	}
}

// given is a number with chosen digits.
func given(negative bool, whole uint64, words ...uint64) *Real {
	return &Real{negative, whole, digits{&words64{words[1:]}, words[0], nil}}
}

// Comparisons look at as many digits as decide, and no more.
func TestLessIsExact(t *testing.T) {
	for _, c := range []struct {
		s, t Sum
		want bool
	}{
		{Noisy(1, 0.5, given(false, 2, 0)), Noisy(1, 0.5, given(false, 3, 0)), true},
		{Noisy(1, 0.5, given(false, 2, 7, 1)), Noisy(1, 0.5, given(false, 2, 7, 2)), true},
		{Noisy(1, 0.5, given(false, 2, 7, 2)), Noisy(1, 0.5, given(false, 2, 7, 1)), false},
		{Noisy(1, 0.5, given(true, 2, 7, 1)), Noisy(1, 0.5, given(true, 2, 7, 2)), false},
		{Noisy(1, 0.5, given(false, 0, 7, 9, 9, 1)), Noisy(1, 0.5, given(false, 0, 7, 9, 9, 2)), true},
		// A large value swallows the noise in float64.
		{Noisy(1e30, 1, given(false, 1, 5)), Noisy(1e30, 1, given(false, 2, 5)), true},
		{Noisy(1e300, 1e-300, given(false, 2, 5)), Noisy(1e300, 1e-300, given(false, 1, 5)), false},
		{Noisy(1e300, 5e-324, given(false, 2, 5)), Noisy(1e300, 5e-324, given(true, 1, 5)), false},
		{Noisy(math.Inf(-1), 1, given(false, 2, 5)), Noisy(-1e308, 1e300, given(true, 1e9, 5)), true},
		{Noisy(-1.7e308, 1.7e308, given(true, 9, 5)), Noisy(1.7e308, 1.7e308, given(false, 9, 5)), true},
		{Sum{Fixed: []float64{1}}, Sum{Fixed: []float64{1}}, false},
		{Noisy(1, 0, given(false, 1, 1)), Noisy(1, 0, given(false, 2, 1)), false},
	} {
		if got := c.s.Less(c.t); got != c.want {
			t.Errorf("%v < %v: %v", c.s, c.t, got)
		}
	}
}

// The answer of the float64s, where they decide, is that of the digits.
func TestLessAgreesWithIntegers(t *testing.T) {
	src := rand.NewPCG(7, 8)
	rng := rand.New(src)
	for range 20_000 {
		scale := math.Exp2(40 * (rng.Float64() - 0.5))
		s := Noisy(rng.NormFloat64(), scale, Laplace(src))
		s.Noise = append(s.Noise, Term{-scale * rng.Float64(), Normal(src)})
		want := false
		for words := 1; ; words++ {
			lo, hi, _ := s.bounds(words, 0)
			if want = lo.Sign() >= 0; want || hi.Sign() <= 0 {
				break
			}
		}
		if got := s.positive(); got != want {
			t.Fatalf("%v positive: %v", s, got)
		}
	}
}

func TestNearestAndFloor(t *testing.T) {
	for _, c := range []struct {
		s       Sum
		unit    float64
		nearest float64
		floor   int64
	}{
		{Noisy(0, 1, given(false, 2, 1<<63, 0, 1)), 1, 3, 2},
		{Noisy(0, 1, given(true, 2, 1<<63, 0, 1)), 1, -3, -3},
		{Noisy(0, 1, given(false, 2, 1<<63-1)), 1, 2, 2},
		{Noisy(-2.5, 0x1p-70, given(false, 0, 1)), 1, -2, -3}, // a whisker above the half
		{Noisy(-2.5, 0x1p-70, given(true, 0, 1)), 1, -3, -3},
		{Noisy(3, 0.25, given(true, 0, 5)), 0x1p-2, 3, 11},
		{Noisy(1e15, 3, given(false, 4, 0)), 0x1p10, 999999999999488 + 512, 976562500000},
		{Sum{Fixed: []float64{0.75}}, 0.5, 1, 1},
		{Sum{Fixed: []float64{5e-324}}, 1, 0, 0},
	} {
		if got := c.s.Nearest(c.unit); got != c.nearest {
			t.Errorf("nearest multiple of %v to %v: %v, want %v", c.unit, c.s, got, c.nearest)
		}
		if got := c.s.Floor(c.unit); got.Cmp(big.NewInt(c.floor)) != 0 {
			t.Errorf("⌊%v/%v⌋: %v, want %v", c.s, c.unit, got, c.floor)
		}
	}
}

// What a float64 cannot do: beyond the end of ExpFloat64 and NormFloat64, and between
// their values, every multiple of the grid is reached. A script of digits stands for luck.
func TestNoGapsAndNoEnd(t *testing.T) {
	a := Noisy(0, 1, given(false, 50, 0, 0)).Nearest(0x1p-60)
	b := Noisy(0, 1, given(false, 50, 16, 0)).Nearest(0x1p-60)
	if a != 50 || b != 50 { // 50 + 2^−60 is no float64, but the integers differ
		t.Errorf("%v and %v, want 50", a, b)
	}
	x := Noisy(0, 1, given(false, 50, 0, 0)).Floor(0x1p-60)
	y := Noisy(0, 1, given(false, 50, 16, 0)).Floor(0x1p-60)
	if x.Sub(y, x).Cmp(one) != 0 {
		t.Errorf("the values differ by %v steps, want 1", x)
	}
	// Noise of a histogram at ε = 1e-6: 2e9 steps are a scale, of which floats of a uniform number leave out most of the tail, and
	// all beyond −log(2^−53) = 36.7.
	const scale, step = 2e6, 0x1p-10
	for _, far := range []uint64{36, 40, 1000} {
		next := uint64(math.Ceil(step / scale * 0x1p64))
		a := Noisy(step/2, scale, given(false, far, 0, 0)).Floor(step)
		b := Noisy(step/2, scale, given(false, far, next, 0)).Floor(step)
		if a.Cmp(new(big.Int).SetUint64(far*2e6<<10)) != 0 || new(big.Int).Sub(b, a).Cmp(one) != 0 {
			t.Errorf("%v and %v, want %v and the next", a, b, far*2e6<<10)
		}
	}
}

func TestSource(t *testing.T) {
	if a, b := Source(nil).Uint64(), Source(nil).Uint64(); a == b {
		t.Error("two sources of the operating system are the same")
	}
	if a, b := Seeded(7).Uint64(), Seeded(7).Uint64(); a != b {
		t.Error("a seed does not fix the source")
	}
	src := Seeded(7)
	if a, b := Split(src).Uint64(), Split(src).Uint64(); a == b {
		t.Error("split sources are the same")
	}
}

func BenchmarkDraws(b *testing.B) {
	for name, draw := range map[string]func(rand.Source) *Real{"laplace": Laplace, "normal": Normal} {
		b.Run(name, func(b *testing.B) {
			src := Source(nil)
			for range b.N {
				draw(src)
			}
		})
		b.Run(name+"/nearest", func(b *testing.B) {
			src := Source(nil)
			for range b.N {
				Noisy(1, 3, draw(src)).Nearest(0x1p-30)
			}
		})
	}
}

// TestQuickFloor: what the first digits decide is what all of them do, also where the sum
// is next to a multiple of the unit; a slack of none is noticed.
func TestQuickFloor(t *testing.T) {
	src := Seeded(91)
	r := rand.New(src)
	decided, wrong := 0, 0
	for i := range 200000 {
		unit := math.Ldexp(1, r.IntN(60)-50)
		if i%3 == 0 {
			unit *= 1 + r.Float64()
		}
		s := Noisy(unit*float64(r.IntN(1000)), unit*math.Ldexp(1, r.IntN(40)-8), Laplace(src))
		if i%2 == 0 { // next to a multiple: the fixed number cancels nearly all of the noise
			z := s.Noise[0].Z.approx() * s.Noise[0].Scale
			s.Fixed[0] = unit*float64(r.IntN(50)) - z
		}
		want := slowFloor(s, unit)
		if n, ok := s.quickFloor(unit); ok {
			decided++
			if big.NewInt(int64(n)).Cmp(want) != 0 {
				t.Fatalf("%v by %v: %v, exactly %v", s, unit, n, want)
			}
		}
		if total, _ := s.approx(); big.NewInt(int64(math.Floor(total/unit))).Cmp(want) != 0 {
			wrong++
		}
		if got := s.Floor(unit); got.Cmp(want) != 0 {
			t.Fatalf("%v by %v: floor %v, exactly %v", s, unit, got, want)
		}
	}
	if decided < 80000 || wrong < 1000 {
		t.Errorf("%d decided, %d wrong without a slack", decided, wrong)
	}
}

// slowFloor is Floor with as many digits as it takes.
func slowFloor(s Sum, unit float64) *big.Int {
	for words := 1; ; words++ {
		lo, hi, e := s.bounds(words, exponent(unit))
		u := fixedPoint(unit, e)
		u.Lsh(u, uint(64*words))
		n := new(big.Int).Div(lo, u)
		if lo.Cmp(hi) != 0 {
			hi.Sub(hi, one)
		}
		if m := new(big.Int).Div(hi, u); n.Cmp(m) == 0 {
			return n
		}
	}
}

// The quotient of a small negative number and a large unit underflows to −0, whose floor is 0.
func TestFloorOfWhatUnderflows(t *testing.T) {
	for _, x := range []float64{-1e-290, -1e-20} {
		s := Noisy(x, 0x1p-1074, Uniform(Seeded(7)))
		if got := s.Floor(1e305); got.Cmp(big.NewInt(-1)) != 0 {
			t.Errorf("⌊%v/1e305⌋ is %v, want −1", x, got)
		}
	}
}

func BenchmarkLaplaceNearest(b *testing.B) {
	src := Seeded(1)
	for b.Loop() {
		Noisy(17, 140, Laplace(src)).Nearest(0x1p-33)
	}
}
