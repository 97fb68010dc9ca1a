package rdp

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawDistribution(t *rapid.T, n int, label string) []float64 {
	w := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n).Draw(t, label)
	s := 0.0
	for _, x := range w {
		s += x
	}
	for i := range w {
		w[i] /= s
	}
	return w
}

func mix(a float64, p, q []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		out[i] = a*p[i] + (1-a)*q[i]
	}
	return out
}

func mustCurve(t testing.TB, c Curve, err error) Curve {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The bound of Poisson sampling must hold for the pair that sampling makes of
// any two distributions, in both directions.
func TestPoissonBoundsFinitePairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(rt, "n")
		p, q := drawDistribution(rt, n, "p"), drawDistribution(rt, n, "q")
		rate := math.Exp(-rapid.Float64Range(0, 12).Draw(rt, "-log rate"))
		alpha := 1 + math.Exp(rapid.Float64Range(-5, 5).Draw(rt, "log(alpha-1)"))
		if rapid.Bool().Draw(rt, "integer") {
			alpha = math.Ceil(alpha)
		}
		base, err := Finite(p, q)
		if err != nil {
			rt.Fatal(err)
		}
		bound, err := Poisson(base, rate)
		if err != nil {
			rt.Fatal(err)
		}
		exact, err := Finite(mix(rate, p, q), q)
		if err != nil {
			rt.Fatal(err)
		}
		if b, e := bound.RDP(alpha), exact.RDP(alpha); !(b >= e*(1-1e-9)) {
			rt.Fatalf("bound %v is below the exact %v", b, e)
		}
	})
}

// For pairs that an involution exchanges the factor 3 drops and integer orders
// are exact.
func TestPoissonOfPureIsExactAtIntegers(t *testing.T) {
	for _, eps := range []float64{0.01, 1, 5} {
		e := math.Exp(eps)
		p, q := []float64{e / (1 + e), 1 / (1 + e)}, []float64{1 / (1 + e), e / (1 + e)}
		pure := mustCurve(t, twoAnswers{eps}, nil)
		for _, rate := range []float64{1e-6, 0.01, 0.5, 0.999} {
			c, err := Poisson(pure, rate)
			mustCurve(t, c, err)
			exact, err := Finite(mix(rate, p, q), q)
			mustCurve(t, exact, err)
			for _, alpha := range []float64{2, 3, 7, 40} {
				got, want := c.RDP(alpha), exact.RDP(alpha)
				// The mixture in float64 is known to u, its distance from q of
				// rate·ε only to u/(rate·ε) relative.
				if tol := 1e-12 + 8e-16/(rate*eps); math.Abs(got/want-1) > tol {
					t.Errorf("eps %v rate %v order %v: %v, want %v", eps, rate, alpha, got, want)
				}
			}
			if got, want := c.RDP(2.5), exact.RDP(2.5); got < want*(1-1e-9) {
				t.Errorf("eps %v rate %v order 2.5: %v below %v", eps, rate, got, want)
			}
		}
	}
}

// The bound of sampling without replacement must hold for the pair of the two
// batches, one with the record and one with its substitute, against any third
// distribution without either.
func TestWithoutReplacementBoundsTriples(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(rt, "n")
		ds := [3][]float64{drawDistribution(rt, n, "p"), drawDistribution(rt, n, "q"), drawDistribution(rt, n, "r")}
		batch := rapid.Int64Range(1, 1000).Draw(rt, "batch")
		gamma := float64(batch) / 1000
		alpha := 1 + math.Exp(rapid.Float64Range(-5, 4).Draw(rt, "log(alpha-1)"))
		if rapid.Bool().Draw(rt, "integer") {
			alpha = math.Ceil(alpha)
		}
		var pairs []Curve
		for i := range ds {
			c, err := Finite(ds[i], ds[(i+1)%3])
			if err != nil {
				rt.Fatal(err)
			}
			pairs = append(pairs, c)
		}
		bound, err := WithoutReplacement(maxOf(pairs...), 1000, batch)
		if err != nil {
			rt.Fatal(err)
		}
		exact, err := Finite(mix(gamma, ds[0], ds[2]), mix(gamma, ds[1], ds[2]))
		if err != nil {
			rt.Fatal(err)
		}
		if b, e := bound.RDP(alpha), exact.RDP(alpha); !(b >= e*(1-1e-9)) {
			rt.Fatalf("bound %v is below the exact %v", b, e)
		}
	})
}

func TestSampledLimits(t *testing.T) {
	g, err := Gaussian(2)
	mustCurve(t, g, err)
	l, err := Laplace(2)
	mustCurve(t, l, err)
	for _, alpha := range []float64{1.5, 2, 17, 5000, math.Inf(1)} {
		for _, base := range []Curve{g, l} {
			none, err := Poisson(base, 0)
			mustCurve(t, none, err)
			all, err := Poisson(base, 1)
			mustCurve(t, all, err)
			some, err := Poisson(base, 0.3)
			mustCurve(t, some, err)
			if v := all.RDP(alpha); v != base.RDP(alpha) {
				t.Errorf("rate 1, order %v: %v", alpha, v)
			}
			if v := some.RDP(alpha); !(v > 0 && v <= base.RDP(alpha)) {
				t.Errorf("rate 0.3, order %v: %v above %v", alpha, v, base.RDP(alpha))
			}
			if v := none.RDP(alpha); alpha <= maxIntegerOrder && v != 0 {
				t.Errorf("rate 0, order %v: %v", alpha, v)
			}
			wor, err := WithoutReplacement(base, 1000, 1000)
			mustCurve(t, wor, err)
			if v := wor.RDP(alpha); v != base.RDP(alpha) {
				t.Errorf("whole batch, order %v: %v", alpha, v)
			}
			empty, err := WithoutReplacement(base, 1000, 0)
			mustCurve(t, empty, err)
			if v := empty.RDP(alpha); alpha <= maxIntegerOrder && v != 0 {
				t.Errorf("empty batch, order %v: %v", alpha, v)
			}
		}
	}
	broken := Func(func(a float64) float64 {
		if a == 3 {
			return -1
		}
		return 1
	})
	p, err := Poisson(broken, 0.1)
	mustCurve(t, p, err)
	w, err := WithoutReplacement(broken, 10, 1)
	mustCurve(t, w, err)
	for _, c := range []Curve{p, w} {
		if v := c.RDP(5); !math.IsNaN(v) {
			t.Errorf("a broken base gave %v", v)
		}
	}
	for want, err := range map[string]error{
		"poisson: rate: ":                    second(Poisson(g, 1.5)),
		"poisson: curve: ":                   second(Poisson(nil, 0.5)),
		"without-replacement: curve: ":       second(WithoutReplacement(nil, 10, 5)),
		"without-replacement: population: 0": second(WithoutReplacement(g, 0, 0)),
		"without-replacement: batch: 11":     second(WithoutReplacement(g, 10, 11)),
		"without-replacement: batch: -1":     second(WithoutReplacement(g, 10, -1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
