package xmath_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

var inf = math.Inf(1)

func TestLogEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Log1mExp(0)", xmath.Log1mExp(0), -inf},
		{"Log1mExp(-inf)", xmath.Log1mExp(-inf), 0},
		{"Log1mExp(-ln2)", xmath.Log1mExp(-math.Ln2), -math.Ln2},
		{"Log1mExp(-800)", xmath.Log1mExp(-800), 0},
		{"Log1mExp(-1e-300)", xmath.Log1mExp(-1e-300), math.Log(1e-300)},
		{"LogAdd(-inf,-inf)", xmath.LogAdd(-inf, -inf), -inf},
		{"LogAdd(inf,inf)", xmath.LogAdd(inf, inf), inf},
		{"LogAdd(inf,-inf)", xmath.LogAdd(inf, -inf), inf},
		{"LogAdd(-inf,3)", xmath.LogAdd(-inf, 3), 3},
		{"LogAdd(-1e6,-1e6)", xmath.LogAdd(-1e6, -1e6), -1e6 + math.Ln2},
		{"LogSub(1,1)", xmath.LogSub(1, 1), -inf},
		{"LogSub(1,2)", xmath.LogSub(1, 2), -inf},
		{"LogSub(-inf,-inf)", xmath.LogSub(-inf, -inf), -inf},
		{"LogSub(3,-inf)", xmath.LogSub(3, -inf), 3},
		{"LogSum()", xmath.LogSum(nil), -inf},
		{"LogSum(-inf)", xmath.LogSum([]float64{-inf, -inf}), -inf},
		{"LogSum(-800 ×4)", xmath.LogSum([]float64{-800, -800, -800, -800}), -800 + 2*math.Ln2},
		{"Up(1,1)", xmath.Up(1, 1), 1 + 0x1p-52},
		{"Down(1,1)", xmath.Down(1, 1), 1 - 0x1p-53},
		{"Up(-1,1)", xmath.Up(-1, 1), -1 + 0x1p-53},
		{"Up(inf,1)", xmath.Up(inf, 1), inf},
		{"Down(-inf,1)", xmath.Down(-inf, 1), -inf},
		{"Up(0,0)", xmath.Up(0, 0), 0},
	} {
		if !(c.got == c.want || math.Abs(c.got-c.want) <= 2*xmath.U*math.Abs(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestUnion: the logarithm of 1 − Π(1 − p)^n is within its error, however small the p are; an event of probability 1 is certain, and one of
// probability 0 is none.
func TestUnion(t *testing.T) {
	// The logarithms of the probability and of the number cancel to .058.
	for i := range 200 {
		x, n := -33.167-float64(i)/1024, 2.69e14
		var a xmath.Union
		a.Add(x, n, 0)
		hazard := oracle.Mul(oracle.F(n), oracle.Neg(oracle.Log1m(oracle.Exp(oracle.F(x)))))
		want := oracle.Log1m(oracle.Exp(oracle.Neg(hazard)))
		got, err := a.Log()
		if w, _ := want.Float64(); math.Abs(got-w) > err {
			t.Fatalf("p = e^%v, %v times: %v ± %v, want %v", x, n, got, err, w)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var a xmath.Union
		hazard := oracle.New()
		for range rapid.IntRange(1, 9).Draw(t, "events") {
			x := -math.Exp(rapid.Float64Range(-30, 9).Draw(t, "log −log p"))
			n := math.Round(math.Exp(rapid.Float64Range(0, 36).Draw(t, "log n")))
			if rapid.Bool().Draw(t, "about as many as it takes") && x > -36 {
				n = math.Max(1, math.Round(math.Exp(-x+rapid.Float64Range(-3, 3).Draw(t, "log n·p"))))
			}
			a.Add(x, n, 0)
			hazard = oracle.Sub(hazard, oracle.Mul(oracle.F(n), oracle.Log1m(oracle.Exp(oracle.F(x)))))
		}
		if h, _ := hazard.Float64(); h > 600 {
			return // all but certain
		}
		want := oracle.Log(hazard) // to h/2
		if h, _ := hazard.Float64(); h > 1e-20 {
			want = oracle.Log1m(oracle.Exp(oracle.Neg(hazard)))
		}
		got, err := a.Log()
		if w, _ := want.Float64(); math.Abs(got-w) > err+1e-20 || err > 1e-9 {
			t.Fatalf("log p = %v ± %v, want %v", got, err, w)
		}
	})
	var none, one xmath.Union
	none.Add(-inf, 5, 0)
	none.Add(-1, 0, 0)
	one.Add(-2000, 1, 0)
	one.Add(0, 3, 0)
	if p, err := none.Log(); p != -inf || err != 0 {
		t.Errorf("no event: %v ± %v", p, err)
	}
	if p, _ := one.Log(); p != 0 {
		t.Errorf("a certain event: %v", p)
	}
}

func TestLog1mExpAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := -math.Exp(rapid.Float64Range(-80, 6).Draw(t, "log -x"))
		want := oracle.Log1m(oracle.Exp(oracle.F(x)))
		got := xmath.Log1mExp(x)
		w, _ := want.Float64()
		// log and log1p are within 1 u; their argument carries 1 u, worth u absolute
		// in the first branch (where |log| ≥ ln 2), u relative in the second.
		if math.Abs(got-w) > 4*xmath.U*math.Abs(w) {
			t.Fatalf("Log1mExp(%v) = %v, want %v (%.3g u)", x, got, w, oracle.Ulps(got, want))
		}
	})
}

func TestLogAddSubAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-1000, 700).Draw(t, "a")
		b := a - math.Exp(rapid.Float64Range(-30, 5).Draw(t, "log gap"))
		ea, eb := oracle.Exp(oracle.F(a)), oracle.Exp(oracle.F(b))
		sum, diff := oracle.LogF(oracle.Add(ea, eb)), oracle.LogF(oracle.Sub(ea, eb))
		if got := xmath.LogAdd(a, b); math.Abs(got-sum) > 4*xmath.U*(1+math.Abs(a)) {
			t.Fatalf("LogAdd(%v,%v) = %v, want %v", a, b, got, sum)
		}
		if xmath.LogAdd(a, b) != xmath.LogAdd(b, a) {
			t.Fatalf("LogAdd(%v,%v) is not symmetric", a, b)
		}
		if a == b {
			return
		}
		// b − a is exact to u·|a| when it is not tiny, exact below.
		if got := xmath.LogSub(a, b); math.Abs(got-diff) > 4*xmath.U*(2+math.Abs(a)+math.Abs(diff)) {
			t.Fatalf("LogSub(%v,%v) = %v, want %v", a, b, got, diff)
		}
	})
}

func TestSumIsCompensated(t *testing.T) {
	var s xmath.Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if s.Value() != 2 {
		t.Errorf("sum = %v, want 2", s.Value())
	}
	var p xmath.Sum
	p.AddProduct(1+0x1p-30, 1+0x1p-30) // 1 + 2^-29 + 2^-60
	p.Add(-1)
	p.Add(-0x1p-29)
	if p.Value() != 0x1p-60 {
		t.Errorf("sum of the product = %v, want 2^-60", p.Value())
	}
}

func ExampleLog1mExp() {
	fmt.Printf("%.6f\n", xmath.Log1mExp(-1e-20))
	// Output: -46.051702
}

func ExampleLogNormalTail() {
	fmt.Printf("%.6f\n", xmath.LogNormalTail(100))
	// Output: -5005.524209
}

// TestLogOfSubnormals: math.Log on amd64 takes all of them for the least normal number or up to twice that.
func TestLogOfSubnormals(t *testing.T) {
	for _, x := range []float64{5e-324, 1e-323, 1e-320, 8.284057709396e-311, 0x1p-1022, math.Nextafter(0x1p-1022, 0), 0x1p-1000, 1e-300, 0.3, 1, 7} {
		want := oracle.Log(oracle.F(x))
		if u := oracle.Ulps(xmath.Log(x), want); x != 1 && u > 2 {
			t.Errorf("log %v = %v, off by %.2g units", x, xmath.Log(x), u)
		}
	}
	if !math.IsInf(xmath.Log(0), -1) || !math.IsNaN(xmath.Log(-1)) || !math.IsNaN(xmath.Log(math.NaN())) || !math.IsInf(xmath.Log(math.Inf(1)), 1) || xmath.Log(1) != 0 {
		t.Error("ends")
	}
}

// TestSqrtUp: the root of 0 is 0, and all else is rounded up.
func TestSqrtUp(t *testing.T) {
	if got := xmath.SqrtUp(0); got != 0 {
		t.Errorf("of 0: %v", got)
	}
	for _, x := range []float64{1e-300, 1, 2, 1e12} {
		if got := xmath.SqrtUp(x); oracle.Mul(oracle.F(got), oracle.F(got)).Cmp(oracle.F(x)) < 0 || got > math.Sqrt(x)*(1+1e-15) {
			t.Errorf("of %v: %v, want its root rounded up", x, got)
		}
	}
}
