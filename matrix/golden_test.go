package matrix

import (
	"context"
	"math"
	"testing"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func sensitivity(t *testing.T, s Strategy, n int, p Participation) Sensitivity {
	t.Helper()
	got, err := Config{1, n, s, p}.sensitivity(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !(got.Lower <= got.Upper) {
		t.Fatalf("%v, %d steps, %v: [%v, %v]", s, n, p, got.Lower, got.Upper)
	}
	return got
}

func separated(b, k int) Participation { return must(MinSeparation(b, k)) }
func rooted(bands int) Strategy        { return must(SquareRoot(bands)) }

// ones is the matrix of prefix sums.
func ones(n int) Strategy {
	c := make([]float64, n)
	for i := range c {
		c[i] = 1
	}
	return must(Toeplitz(c))
}

// TestGoldenSensitivities has the values of independent programs (numpy; closed form,
// dynamic programme and, for n ≤ 16, brute force agree), to twelve digits.
func TestGoldenSensitivities(t *testing.T) {
	blt := must(BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6}))
	for _, c := range []struct {
		s    Strategy
		n    int
		p    Participation
		want float64
	}{
		{rooted(8), 8, Single(), 1.310869657559},
		{rooted(16), 16, Single(), 1.394230557389},
		{rooted(64), 64, Single(), 1.545589890073},
		{rooted(1024), 1024, Single(), 1.809020218315},
		{rooted(1 << 20), 1 << 20, Single(), 2.340723772762},
		{rooted(12), 12, separated(3, 2), 2.294860660604},
		{rooted(12), 12, separated(3, 3), 3.070536486491},
		{rooted(12), 12, separated(2, 4), 4.028428448655},
		{rooted(12), 12, separated(1, 12), 9.778880294871},
		{rooted(12), 12, separated(6, 2), 2.139456700882},
		{rooted(12), 12, separated(4, 3), 2.899591383735},
		{rooted(1000), 1000, separated(100, 10), 9.154043000233},
		{rooted(2000), 2000, separated(100, 20), 17.190574670512},
		{rooted(2000), 2000, must(Epochs(20)), 17.190574670512},
		{rooted(10000), 10000, separated(100, 100), 81.088619636031},
		{ones(1000), 1000, separated(100, 10), 196.214169},
		{ones(2000), 2000, separated(100, 20), 535.723809},
		{Identity(), 100, separated(10, 7), math.Sqrt(7)},
		{rooted(8), 1000, separated(100, 10), 4.145333833492},
		{rooted(100), 2000, separated(100, 20), 7.115268248823},
		{blt, 12, separated(4, 3), 2.362323190381},
		{blt, 1000, separated(100, 10), 4.191947918607},
		{blt, 2000, separated(342, 5), 2.835328189654},
	} {
		got := sensitivity(t, c.s, c.n, c.p)
		if !got.Exact || math.Abs(got.Upper-c.want) > 6e-13*max(1, c.want) && math.Abs(got.Upper-c.want) > 6e-7 || got.Upper > got.Lower*(1+0x1p-50) {
			t.Errorf("%v, %d steps, %v: %+v, want %v", c.s, c.n, c.p, got, c.want)
		}
		if math.Abs(got.Upper-c.want) > 2e-12*c.want && c.want != 196.214169 && c.want != 535.723809 {
			t.Errorf("%v, %d steps, %v: %.13g, want %.13g", c.s, c.n, c.p, got.Upper, c.want)
		}
	}
}

// TestGoldenTrees: full nodes only, unless with completion.
func TestGoldenTrees(t *testing.T) {
	for _, c := range []struct {
		n          int
		p          Participation
		completion bool
		want       float64
	}{
		{1, Single(), false, 1}, {2, Single(), false, 2}, {3, Single(), false, 2}, {4, Single(), false, 3}, {7, Single(), false, 3},
		{8, Single(), false, 4}, {9, Single(), false, 4}, {16, Single(), false, 5},
		{8, separated(1, 2), false, 14}, {8, separated(4, 2), false, 10}, {8, separated(2, 4), false, 32}, {12, separated(4, 3), false, 13},
		{16, separated(4, 4), false, 36}, {16, separated(3, 4), false, 40}, {1024, must(Epochs(8)), false, 176}, {2048, must(Epochs(16)), false, 608},
		{12, separated(4, 3), true, 23}, {9, Single(), true, 5}, {8, Single(), true, 4},
	} {
		got := sensitivity(t, Tree(c.completion), c.n, c.p)
		if !got.Exact || !(got.Lower*got.Lower <= c.want*(1+1e-15) && c.want*(1-1e-15) <= got.Upper*got.Upper) || got.Upper-got.Lower > 1e-14 {
			t.Errorf("tree of %d steps, %v, completion %v: squared %v, want %v", c.n, c.p, c.completion, got.Upper*got.Upper, c.want)
		}
	}
}

// TestGoldenDense: the worst pattern is not the leftmost.
func TestGoldenDense(t *testing.T) {
	s := must(Rows([][]float64{{1, 0, 0, 0}, {.5, 1, 0, 0}, {.25, .5, .8, 0}, {.1, .2, .3, 1.2}}))
	for _, c := range []struct {
		b, k int
		want float64
	}{{2, 2, 1.791647286717}, {1, 4, 2.982029510250}} {
		got := sensitivity(t, s, 4, separated(c.b, c.k))
		if math.Abs(got.Lower-c.want) > 1e-12 || math.Abs(got.Upper-c.want) > 1e-10 || got.Lower > c.want+5e-13 || got.Upper < c.want-5e-13 {
			t.Errorf("%+v, want %v", got, c.want)
		}
	}
}

// TestVecSens: the bound of two dynamic programmes where it is not the sensitivity (testdata/golden/beyond.json,
// "vecsens": independent programs), which the search that comes after it finds.
func TestVecSens(t *testing.T) {
	for _, c := range []struct {
		s           Strategy
		n, b, k     int
		want, exact float64
	}{
		{rooted(12), 12, 2, 4, 4.048139777, 4.028428448655},
		{must(Rows([][]float64{{1}, {0.5, 1}, {0.25, 0.5, 0.8}, {0.1, 0.2, 0.3, 1.2}})), 4, 2, 2, 1.797915459640, 1.791647286717},
	} {
		rows, g := dense(c.s, c.n), newGram(c.n)
		for j := range c.n {
			for i := range j + 1 {
				for _, r := range rows {
					g.x[j][i] += r[i] * r[j]
				}
			}
		}
		sum, _, err := g.vecSens(t.Context(), c.b, c.k)
		if err != nil || math.Abs(math.Sqrt(sum)-c.want) > 1e-9 {
			t.Errorf("%d steps, (%d, %d): %v, want %v (%v)", c.n, c.k, c.b, math.Sqrt(sum), c.want, err)
		}
		if got := sensitivity(t, c.s, c.n, separated(c.b, c.k)); got.Lower > c.exact*(1+1e-12) || got.Upper < c.exact*(1-1e-12) || got.Upper > c.exact*(1+2e-11) {
			t.Errorf("%d steps, (%d, %d): %+v, want %v", c.n, c.k, c.b, got, c.exact)
		}
	}
}
