package rdp

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run
)

func gaussianCurve(sigma float64) Func {
	return func(a float64) float64 { return a / (2 * sigma * sigma) }
}

// Source of the values: pate.md §5.4(b), the columns "ε on G" and "CKS on G".
func TestConversionOnGrid(t *testing.T) {
	var g []float64
	for a := 3; a <= 200; a++ {
		g = append(g, float64(a)/2)
	}
	for _, tc := range []struct {
		c, delta           float64
		classic, classicAt float64
		tight, tightAt     float64
	}{
		{640/(2*150.*150) + 286/1600., 1e-5, 3.17532061755, 8.5, 2.75788694562, 8},
		{640/(2*150.*150) + 283/1600., 1e-5, 3.15899068312, 9, 2.74288694562, 8},
		{8500/(2*200.*200) + 3098/1600., 1e-6, 12.6749542232, 3.5, 11.8373767992, 3.5},
		{1500/(2*200.*200) + 524/1600., 1e-5, 4.34257091083, 7, 3.83650242226, 6.5},
		{12000/(2*500.*500) + 10762/10000., 1e-8, 10.106170186, 5, 9.48066715657, 5},
	} {
		grid := OnOrders(Func(func(a float64) float64 { return tc.c * a }), g)
		eps, at, err := EpsilonClassic(grid, tc.delta)
		if err != nil || math.Abs(eps-tc.classic) > 1e-10*tc.classic || at != tc.classicAt {
			t.Errorf("classic c=%v: %v at %v, %v; want %v at %v", tc.c, eps, at, err, tc.classic, tc.classicAt)
		}
		eps, at, err = Epsilon(grid, tc.delta)
		if err != nil || math.Abs(eps-tc.tight) > 1e-10*tc.tight || at != tc.tightAt {
			t.Errorf("improved c=%v: %v at %v, %v; want %v at %v", tc.c, eps, at, err, tc.tight, tc.tightAt)
		}
		// The continuous optimum of the classic conversion is c + 2√(c·log(1/δ)).
		want := tc.c + 2*math.Sqrt(tc.c*math.Log(1/tc.delta))
		eps, _, err = EpsilonClassic(Func(func(a float64) float64 { return tc.c * a }), tc.delta)
		if err != nil || math.Abs(eps-want) > 1e-12*want {
			t.Errorf("continuous c=%v: %v, %v; want %v", tc.c, eps, err, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Exp(rapid.Float64Range(-5, 8).Draw(t, "log sigma"))
		delta := math.Exp(-rapid.Float64Range(1, 700).Draw(t, "-log delta"))
		c := gaussianCurve(sigma)
		eps, at, err := Epsilon(c, delta)
		if err != nil || !(eps >= 0) {
			t.Fatalf("epsilon: %v %v", eps, err)
		}
		if eps == 0 {
			return
		}
		d, _, err := Delta(c, eps)
		if err != nil || !(d <= delta*(1+1e-7)) {
			t.Fatalf("delta(epsilon(%v)) = %v at %v, %v", delta, d, at, err)
		}
		classic, _, err := EpsilonClassic(c, delta)
		if err != nil || !(eps <= classic) {
			t.Fatalf("improved %v is above classic %v", eps, classic)
		}
		if dc, _, err := DeltaClassic(c, classic); err != nil || !(dc <= delta*(1+1e-7)) || !(dc >= delta*(1-1e-7)) {
			t.Fatalf("classic delta %v, %v; want %v", dc, err, delta)
		}
	})
}

func TestBrokenCurvesAreRefused(t *testing.T) {
	bad := map[string]Curve{
		"nan":               Func(func(float64) float64 { return math.NaN() }),
		"negative":          Func(func(float64) float64 { return -1e-300 }),
		"negative count":    Repeat(gaussianCurve(1), -1),
		"nil":               nil,
		"composed nan":      Compose(gaussianCurve(1), Func(func(float64) float64 { return math.NaN() })),
		"composed negative": Compose(Func(func(float64) float64 { return math.Inf(1) }), Func(func(float64) float64 { return -1 })),
		"composed nil":      Compose(nil),
		"repeated negative": Repeat(Func(func(float64) float64 { return -1 }), 0),
		"grid nan":          Grid{[]float64{2}, []float64{math.NaN()}},
		"grid negative":     OnOrders(Func(func(float64) float64 { return -1 }), []float64{2, 3}),
		"grid unsorted":     Grid{[]float64{3, 2}, []float64{1, 1}},
		"grid short":        Grid{[]float64{3, 4}, []float64{1}},
		"grid empty":        Grid{},
	}
	for name, c := range bad {
		if eps, _, err := Epsilon(c, 1e-5); err == nil {
			t.Errorf("%s: Epsilon gave %v", name, eps)
		}
		if eps, _, err := EpsilonClassic(c, 1e-5); err == nil {
			t.Errorf("%s: EpsilonClassic gave %v", name, eps)
		}
		if d, _, err := Delta(c, 1); err == nil {
			t.Errorf("%s: Delta gave %v", name, d)
		}
		if d, _, err := DeltaClassic(c, 1); err == nil {
			t.Errorf("%s: DeltaClassic gave %v", name, d)
		}
		f, _ := NewFilter(2, 10)
		if name == "grid unsorted" || name == "grid empty" {
			continue
		}
		if err := f.Spend(c); err == nil {
			t.Errorf("%s: Spend accepted it", name)
		}
	}
	for _, d := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
		if _, _, err := Epsilon(gaussianCurve(1), d); err == nil || !strings.Contains(err.Error(), "delta: ") {
			t.Errorf("delta %v: %v", d, err)
		}
	}
	for _, e := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, _, err := Delta(gaussianCurve(1), e); err == nil || !strings.Contains(err.Error(), "epsilon: ") {
			t.Errorf("epsilon %v: %v", e, err)
		}
	}
}

func TestGridBetweenOrders(t *testing.T) {
	c := gaussianCurve(2)
	g := OnOrders(c, []float64{1.5, 2, 4, 8, 8, 1, math.NaN()})
	if err := g.Check(); err != nil || len(g.Orders) != 4 {
		t.Fatalf("%v %v", g, err)
	}
	for a := 1.01; a < 8; a += 0.07 {
		if v := g.RDP(a); v < c.RDP(a) || v > g.RDP(8) {
			t.Errorf("order %v: %v, curve %v", a, v, c.RDP(a))
		}
	}
	// Convexity at 3, half-way between 2 and 4: K = (1·D₂ + 3·D₄)/2, D = K/2.
	if got, want := g.RDP(3), (c.RDP(2)+3*c.RDP(4))/4; math.Abs(got-want) > 1e-14 {
		t.Errorf("convexity at 3: %v, want %v", got, want)
	}
	if v := g.RDP(8.0001); !math.IsInf(v, 1) {
		t.Errorf("above the grid: %v", v)
	}
	// A grid that is not monotone still gives the smaller bound.
	if v := (Grid{[]float64{2, 4}, []float64{5, 1}}).RDP(3); v != 1 {
		t.Errorf("non-monotone: %v", v)
	}
}

func TestComposeAdds(t *testing.T) {
	a, b := gaussianCurve(1), gaussianCurve(3)
	sum := Compose(Repeat(a, 7), b, Repeat(b, 0), Compose())
	for _, alpha := range []float64{1.1, 2, 33} {
		want := 7*a(alpha) + b(alpha)
		if got := sum.RDP(alpha); got < want || got > want*(1+1e-14) {
			t.Errorf("order %v: %v, want %v", alpha, got, want)
		}
	}
	// With a grid among the parts only its orders are used.
	g := OnOrders(a, []float64{2, 5})
	if _, at, err := Epsilon(Compose(g, Repeat(b, 3)), 1e-5); err != nil || at != 5 {
		t.Errorf("order %v, %v; want 5", at, err)
	}
	if eps, _, err := Epsilon(Repeat(a, 1e18), 1e-5); err != nil || math.IsNaN(eps) || eps < 4e17 {
		t.Errorf("1e18 runs: %v, %v", eps, err)
	}
}

func TestMax(t *testing.T) {
	a, b := must2(Gaussian(1)), must2(Pure(1)) // the Gaussian is larger above order 2
	for _, alpha := range []float64{1.1, 2, 50} {
		x, y := a.RDP(alpha), b.RDP(alpha)
		if maxOf(a, b).RDP(alpha) != max(x, y) {
			t.Errorf("order %v: max %v of %v and %v", alpha, maxOf(a, b).RDP(alpha), x, y)
		}
	}
	g := OnOrders(a, []float64{2, 5})
	for _, c := range []Curve{maxOf(g, b), maxOf(b, g)} {
		if len(ordersOf(c)) == 0 {
			t.Errorf("%T forgets the orders of its grid", c)
		}
	}
	broken := Func(func(float64) float64 { return -1 })
	for _, c := range []Curve{maxOf(a, broken), maxOf(broken, a), maxOf(a, nil)} {
		if v := c.RDP(2); !math.IsNaN(v) {
			t.Errorf("a broken part gave %v", v)
		}
	}
}

func TestFilter(t *testing.T) {
	step := gaussianCurve(10) // D_8 = 0.04
	f, err := NewFilter(8, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := f.Spend(step); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if err := f.Spend(step); !errors.Is(err, ErrBudget) {
		t.Fatalf("third step: %v", err)
	}
	if spent, _ := f.Spent(); spent.RDP(8) < 0.08 || spent.RDP(8) > 0.08*(1+1e-14) {
		t.Fatalf("a refused step was charged: %v", spent)
	}
	if err := f.Spend(gaussianCurve(20)); err != nil { // D_8 = 0.01 still fits
		t.Fatalf("smaller step: %v", err)
	}

	// The steps that NewFilterFor admits cost at most (ε, δ) by the plain
	// conversion at δ/k, and one more step would not.
	g, err := NewFilterFor(1, 1e-6, 16, 24, 32, 48)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for g.Spend(step) == nil {
		n++
	}
	cost := func(n int64) float64 {
		e, _, err := Epsilon(OnOrders(Repeat(step, n), []float64{16, 24, 32, 48}), 1e-6/4)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if n == 0 || cost(n) > 1+1e-12 || cost(n+1) <= 1 {
		t.Errorf("%d steps cost %v, one more %v", n, cost(n), cost(n+1))
	}
	for name, err := range map[string]error{
		"order: ":   second(NewFilter(1, 1)),
		"budget: ":  second(NewFilter(2, -1)),
		"epsilon: ": second(NewFilterFor(-1, 1e-5, 2)),
		"delta: ":   second(NewFilterFor(1, 0, 2)),
		"orders: ":  second(NewFilterFor(1, 1e-5)),
		"orders[1]": second(NewFilterFor(1, 1e-5, 20, 1)),
		"larger":    second(NewFilterFor(0.1, 1e-9, 2)),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestHighOrdersOfRareSamples: at whole orders up to 65536 the sum knows the curve, also where its terms are next to the end of float64 and the
// transform proves nothing: at the rate q = 1e-300, D_α is about α/(2σ²) − log(1/q)·α/(α−1), if that is above 0.
func TestHighOrdersOfRareSamples(t *testing.T) {
	for _, c := range []struct{ sigma, alpha, most float64 }{{1, 2049, 334}, {3, 10000, 1e-9}, {30, 65536, 1e-9}} {
		curve, err := newPoissonGaussian(1e-300, c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		if got := curve.RDP(c.alpha); !(got >= 0 && got <= c.most) {
			t.Errorf("σ = %v, α = %v: %v, above %v", c.sigma, c.alpha, got, c.most)
		}
	}
}
