package xmath_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// core.md §9.3, 18 digits each.
func TestLogNormalTailGolden(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{-5, -2.86651612963763593e-7},
		{-1, -0.17275377902344989},
		{0, -0.693147180559945309},
		{1, -1.84102164500926351},
		{5, -15.0649983939887257},
		{10, -53.2312851505124706},
		{26, -342.178508929927832},
		{37, -689.030585576890594},
		{38.5, -745.695270290411081},
		{100, -5005.52420869420509},
		{1e4, -50000010.1292789152},
		{1e8, -5000000000000019.34},
	} {
		got := xmath.LogNormalTail(c.x)
		// 4 u of the function, 1 u of the literal, ½ unit of its last digit.
		if math.Abs(got-c.want) > 5*xmath.U*math.Abs(c.want)+0.006*b2f(c.x == 1e8) {
			t.Errorf("log tail(%v) = %.18g, want %.18g", c.x, got, c.want)
		}
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// grid returns n points from lo to hi, off the round numbers.
func grid(lo, hi float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = lo + (hi-lo)*(float64(i)+0.37)/float64(n)
	}
	return out
}

// The accuracy that the comments claim: what profiles.tailErr counts on.
func TestNormalAccuracy(t *testing.T) {
	type fn struct {
		name string
		f    func(float64) float64
		want func(*big.Float) *big.Float
		ulps func(x float64) float64 // claimed
	}
	tail := fn{"NormalTail", xmath.NormalTail, oracle.NormalTail, func(float64) float64 { return 5 }}
	logTail := fn{"LogNormalTail", xmath.LogNormalTail, oracle.LogNormalTail, func(x float64) float64 { return 5 }}
	mills := fn{"Mills", xmath.Mills, oracle.Mills, func(x float64) float64 { return 10 + x*x/2*b2f(x < 12) }}
	slope := fn{"MillsSlope", xmath.MillsSlope, func(x *big.Float) *big.Float {
		return oracle.Sub(oracle.F(1), oracle.Mul(x, oracle.Mills(x)))
	}, func(x float64) float64 { return 40 + 4*x*x }} // Gaussian.LogDelta relies on 40 + 4x²
	for _, c := range []struct {
		fn
		lo, hi float64
		n      int
	}{
		{tail, -3, 37, 400}, // core.md §7.2
		{tail, -40, -3, 40},
		{logTail, -8, 45, 500}, // core.md §7.2
		{logTail, 45, 1e7, 30},
		{logTail, -30, -8, 30},
		{mills, -8, 11.9, 150},
		{mills, 12, 60, 50},
		{slope, -8, 11.99, 200},
		{slope, 12, 50, 60},
		{slope, 50, 1e5, 20},
	} {
		worst, at := 0.0, 0.0
		for _, x := range grid(c.lo, c.hi, c.n) {
			e := oracle.Ulps(c.f(x), c.want(oracle.F(x)))
			if !(e <= c.ulps(x)) {
				t.Errorf("%s(%v) = %v is off by %.3g u, claimed %.3g", c.name, x, c.f(x), e, c.ulps(x))
			}
			if e > worst {
				worst, at = e, x
			}
		}
		t.Logf("%s on [%g, %g]: worst %.3g u at %.6g", c.name, c.lo, c.hi, worst, at)
	}
}

func TestNormalEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"tail(+inf)", xmath.NormalTail(inf), 0},
		{"tail(-inf)", xmath.NormalTail(-inf), 1},
		{"log tail(+inf)", xmath.LogNormalTail(inf), -inf},
		{"log tail(-inf)", xmath.LogNormalTail(-inf), 0},
		{"log tail(1e200)", xmath.LogNormalTail(1e200), -inf},
		{"log tail(-1e200)", xmath.LogNormalTail(-1e200), 0},
		{"tail(40)", xmath.NormalTail(40), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The seams of the piecewise definitions keep the order.
func TestLogNormalTailMonotone(t *testing.T) {
	for _, at := range []float64{-1, 0, 12, 37} {
		x := xmath.Down(at, 3)
		for range 6 {
			y := math.Nextafter(x, 50)
			// One step of x moves the logarithm by ~ x·ulp: less than its error of 5 u;
			// a seam must not show beyond that.
			if a, b := xmath.LogNormalTail(x), xmath.LogNormalTail(y); b > a+10*xmath.U*math.Abs(a) {
				t.Errorf("log tail rises from %v at %v to %v at %v", a, x, b, y)
			}
			x = y
		}
	}
}

// NormalHazard is an upper bound of φ/Φ̄ everywhere.
func TestNormalHazardBounds(t *testing.T) {
	check := func(x float64) {
		want, _ := oracle.Div(oracle.F(1), oracle.Mills(oracle.F(x))).Float64()
		if got := xmath.NormalHazard(x); !(got >= want*(1-4*xmath.U)) {
			t.Errorf("NormalHazard(%v) = %v is below %v", x, got, want)
		}
	}
	for _, x := range grid(-39, 60, 300) {
		check(x)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1e-300, -1e-300, 1e6, -1, 1} {
		check(x)
	}
	if got := xmath.NormalHazard(-1e10); !(got > 0 && got < 1e-300) {
		t.Errorf("NormalHazard(-1e10) = %v", got)
	}
	if got := xmath.NormalHazard(1e200); !(got >= 1e200) {
		t.Errorf("NormalHazard(1e200) = %v", got)
	}
}

func TestLogNormalTailSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-40, 40).Draw(t, "x")
		s := xmath.LogAdd(xmath.LogNormalTail(x), xmath.LogNormalTail(-x))
		if math.Abs(s) > 8*xmath.U {
			t.Fatalf("tails at %v sum to e^%g", x, s)
		}
	})
}

// TestHazardAndExpAreOnTheirSide: the bounds of the hazard and of e^x hold where they are tightest: far out, and where e^x overflows.
func TestHazardAndExpAreOnTheirSide(t *testing.T) {
	for _, x := range []float64{36048.49492305686, 1e4 / 3, 100, 12.3, 0, -0.5, -30} {
		exact := oracle.Div(oracle.F(1), oracle.Mills(oracle.F(x)))
		if got := oracle.F(xmath.NormalHazard(x)); got.Cmp(exact) < 0 {
			t.Errorf("hazard at %v: %.20g is below %.20g", x, got, exact)
		}
	}
	if x := xmath.ExpDown(800); x != math.MaxFloat64 || !math.IsInf(xmath.ExpUp(800), 1) || !math.IsInf(xmath.ExpDown(math.Inf(1)), 1) {
		t.Errorf("e^800 is at least %v", x)
	}
}
