package matrix

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/slow"
)

// TestOptimumOfSciPy compares with optima by SciPy (testdata/golden/strategies.py, SciPy 1.10.1). The
// banded problem with one participation or epochs is convex, so that nothing is below; any
// patterns a separation apart are searched with norms that are constant over a block, which
// costs less than a thousandth here. 1 % is the promise.
func TestOptimumOfSciPy(t *testing.T) {
	rate := func(b int) Participation { return must(CyclicPoisson(b, 0.1)) }
	for _, c := range []struct {
		class string
		n, p  int // bands, or buffers
		part  Participation
		max   bool
		want  float64
		slack float64
	}{
		{"banded", 4, 2, rate(2), false, 1.37353636, 1e-6},
		{"banded", 8, 8, Single(), false, 1.49441365, 1e-6},
		{"banded", 16, 4, rate(4), false, 1.90289555, 1e-6},
		{"banded", 16, 4, Single(), false, 1.90289555, 1e-6},
		{"banded", 64, 64, Single(), false, 2.09985647, 1e-6},
		{"banded", 64, 8, rate(8), false, 2.62051697, 1e-6},
		{"banded", 100, 10, rate(10), false, 2.90063540, 1e-6},
		{"banded", 128, 128, Single(), false, 2.31100125, 1e-6},
		{"banded", 256, 16, rate(16), false, 3.58696817, 1e-6},
		{"banded", 256, 64, Single(), false, 2.70955841, 1e-6},
		{"banded", 256, 256, Single(), false, 2.52441442, 1e-6},
		{"banded", 16, 4, must(Epochs(4)), false, 3.69739470, 1e-6},
		{"banded", 64, 16, must(Epochs(4)), false, 4.47603240, 1e-6},
		{"banded", 64, 8, must(Epochs(4)), false, 5.07489576, 1e-6},
		{"banded", 60, 10, must(Epochs(6)), false, 5.79506242, 1e-6},
		{"banded", 256, 64, must(Epochs(4)), false, 5.31919153, 1e-6},
		{"banded", 256, 16, must(Epochs(16)), false, 13.82821330, 1e-6},
		{"banded", 16, 4, separated(4, 4), false, 3.70393707, 1e-3},
		{"banded", 60, 10, separated(10, 6), false, 5.81004489, 1e-3},
		{"banded", 64, 16, separated(16, 4), false, 4.48625777, 1e-3},
		{"banded", 64, 16, separated(16, 2), false, 3.24285208, 1e-3},
		{"banded", 64, 16, separated(16, 3), false, 3.96593748, 1e-3},
		{"banded", 60, 10, separated(10, 4), false, 4.87775298, 1e-3},
		{"banded", 40, 4, separated(8, 4), false, 5.27003192, 1e-3},
		{"toeplitz", 16, 16, Single(), false, 1.75042814, 1e-6},
		{"toeplitz", 64, 64, Single(), false, 2.17904343, 1e-6},
		{"toeplitz", 64, 8, rate(8), false, 2.66397483, 1e-6},
		{"toeplitz", 256, 16, rate(16), false, 3.63757382, 1e-6},
		{"toeplitz", 64, 64, Single(), true, 2.38884811, 1e-6},
		{"blt", 100, 1, Single(), false, 2.38266547, 1e-6},
		{"blt", 100, 2, Single(), false, 2.32078296, 1e-6},
		{"blt", 100, 3, Single(), false, 2.32003524, 1e-6},
		{"blt", 256, 1, separated(64, 4), false, 5.87060671, 1e-6},
		{"blt", 256, 2, separated(64, 4), false, 5.78927259, 1e-6},
		{"blt", 256, 2, must(Epochs(16)), false, 15.46129503, 1e-6},
		{"blt", 200, 2, separated(5, 2), true, 4.83552286, 1e-6},
		{"blt", 500, 3, separated(100, 5), false, 7.16182412, 1e-6},
	} {
		g := Goal{Steps: c.n, Participation: c.part, Class: c.class, Bands: c.p, MaxError: c.max}
		if c.class == "blt" {
			g.Bands, g.Buffers = 0, c.p
		}
		o, err := Optimize(context.Background(), g)
		if err != nil {
			t.Errorf("%+v: %v", g, err)
			continue
		}
		got := o.RMSE
		if c.max {
			got = o.MaxError
		}
		if o.Unfinished != nil || !(got <= c.want*(1+c.slack)) || got < c.want*(1-max(c.slack/2, 1e-6)) {
			t.Errorf("%s, %d steps, %d, %v: %.8f, want %.8f; %v", c.class, c.n, c.p, c.part, got, c.want, o.Unfinished)
		}
		if !o.Sensitivity.Exact {
			t.Errorf("%+v: a sensitivity in [%v, %v]", g, o.Sensitivity.Lower, o.Sensitivity.Upper)
		}
	}
}

// TestOptimumOfJAXPrivacy has what the tests of google-deepmind/jax_privacy publish of BLTs for one
// participation (tests/matrix_factorization/buffered_toeplitz_test.py at 8967688): the largest error
// over its bound 1 + ln(n)/π, and the parameters for 100,000 steps.
func TestOptimumOfJAXPrivacy(t *testing.T) {
	for _, c := range []struct {
		n, buffers int
		ratio      float64
	}{
		{10, 1, 1.04}, {100, 2, 1.03}, {100, 3, 1.03}, {1000, 2, 1.04}, {1000, 3, 1.03},
		{10000, 1, 1.45}, {10000, 3, 1.03}, {10000, 4, 1.03}, {100000, 2, 1.16}, {100000, 4, 1.03},
	} {
		if c.n == 100000 && c.buffers == 4 && !slow.On() {
			continue
		}
		o, err := Optimize(context.Background(), Goal{Steps: c.n, Participation: Single(), Class: "blt", Buffers: c.buffers, MaxError: true})
		if err != nil {
			t.Fatal(err)
		}
		bound := 1 + math.Log(float64(c.n))/math.Pi
		if ratio := o.MaxError / bound; !(ratio <= c.ratio) {
			t.Errorf("%d steps, %d buffers: %v, want at most %v", c.n, c.buffers, ratio, c.ratio)
		}
		if c.n == 100000 && c.buffers == 2 {
			published := Config{NoiseMultiplier: 1, Steps: c.n, Participation: Single(),
				Strategy: must(BLT([]float64{0.0122853238, 0.1878393665}, []float64{0.9999528892, 0.9857068667}))}
			sens, err := published.sensitivity(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			_, largest := published.errors()
			if theirs := sens.Upper * math.Sqrt(largest); math.Abs(o.MaxError/theirs-1) > 1e-6 {
				t.Errorf("%v, theirs %v", o.MaxError, theirs)
			}
		}
	}
}

// inverseErrors returns the mean and the largest squared norm of the rows of AC⁻¹, solved row by row.
func inverseErrors(c Config) (mean, largest float64) {
	n := c.Steps
	var entry func(i, j int) float64
	if c.Strategy.kind == banded {
		entry = func(i, j int) float64 {
			r := c.Strategy.rows[i]
			if j < r.from || j >= r.from+len(r.values) {
				return 0
			}
			return r.values[j-r.from]
		}
	} else {
		x, _ := c.Strategy.toeplitzCoefficients(n)
		entry = func(i, j int) float64 {
			if i-j >= len(x) {
				return 0
			}
			return x[i-j].hi
		}
	}
	for t := range n { // w·C = (1, …, 1, 0, …)
		w, total := make([]float64, t+1), 0.0
		for j := t; j >= 0; j-- {
			w[j] = 1
			for i := j + 1; i <= t; i++ {
				w[j] -= w[i] * entry(i, j)
			}
			w[j] /= entry(j, j)
			total += w[j] * w[j]
		}
		mean += total / float64(n)
		largest = max(largest, total)
	}
	return mean, largest
}

// TestErrors: the errors that are reported are those of the inverse.
func TestErrors(t *testing.T) {
	for _, s := range []struct {
		n int
		s Strategy
	}{
		{7, Identity()}, {12, rooted(12)}, {12, rooted(3)}, {20, must(Toeplitz([]float64{2, 1, -0.5, 0.25}))},
		{30, must(BLT([]float64{0.3, 0.1}, []float64{0.5, 0.95}))},
		{3, must(Rows([][]float64{{1}, {0.5, 2}, {0.25, -0.5, 1}}))},
		{5, must(Rows([][]float64{{1}, {0.5, 2}, {0.25, 1}, {0.1, 3}, {0, 1}}))},
	} {
		c := Config{NoiseMultiplier: 1, Steps: s.n, Strategy: s.s, Participation: Single()}
		mean, largest := c.errors()
		m, l := inverseErrors(c)
		if math.Abs(mean/m-1) > 1e-12 || math.Abs(largest/l-1) > 1e-12 {
			t.Errorf("%v: %v and %v, want %v and %v", s.s, mean, largest, m, l)
		}
	}
}

// TestGradients compares gradients with differences.
func TestGradients(t *testing.T) {
	check := func(name string, x []float64, f func(x, out []float64) float64) {
		t.Helper()
		g, none := make([]float64, len(x)), make([]float64, len(x))
		f(x, g)
		for i := range x {
			const h = 1e-5
			kept := x[i]
			x[i] = kept + h
			up := f(x, none)
			x[i] = kept - h
			down := f(x, none)
			x[i] = kept
			if want := (up - down) / (2 * h); math.Abs(g[i]-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, want %v", name, i, g[i], want)
			}
		}
	}
	for _, part := range []Participation{Single(), separated(3, 4), separated(3, 2), must(BallsInBins(3))} {
		g := Goal{Steps: 11, Participation: part}
		check(part.String(), []float64{0.3, 2, -0.4, 0.2}, g.bufferedLoss(2))
	}
	b := newBandWork(9, 3)
	x := make([]float64, 27)
	for i := range x {
		x[i] = 0.3 + 0.1*float64(i*7%5)
		if i%3 == 0 {
			x[i]++
		}
	}
	check("banded", x, func(x, out []float64) float64 {
		copy(b.c, x)
		for i := 9 - 2; i < 9; i++ { // beyond the last row
			clear(b.c[i*3+9-i : i*3+3])
		}
		value := b.inverse(true)
		clear(out)
		b.gradient(out)
		for i := 9 - 2; i < 9; i++ {
			clear(out[i*3+9-i : i*3+3])
		}
		return value
	})
}

// TestOptimizeRefuses: each problem names its field.
func TestOptimizeRefuses(t *testing.T) {
	for _, c := range []struct {
		g    Goal
		want string
	}{
		{Goal{Steps: 8, Class: "blt"}, "participation: is missing"},
		{Goal{Steps: 0, Class: "blt", Participation: Single()}, "steps: 0 is not an integer in [1, 4194304]"},
		{Goal{Steps: 8, Class: "dense", Participation: Single()}, `strategy: "dense" is not banded, toeplitz or blt`},
		{Goal{Steps: 8, Class: "blt", Bands: 2, Participation: Single()}, "bands: 2 is for banded and toeplitz, not for blt"},
		{Goal{Steps: 8, Class: "toeplitz", Buffers: 2, Participation: Single()}, "buffers: 2 is for blt, not for toeplitz"},
		{Goal{Steps: 8, Class: "blt", Buffers: 13, Participation: Single()}, "buffers: 13 is not an integer in [1, 12], or 0"},
		{Goal{Steps: 8, Class: "toeplitz", Bands: 9, Participation: Single()}, "bands: 9 is not in [1, steps], 8 steps"},
		{Goal{Steps: 8, Class: "banded", Bands: 3, Participation: must(Epochs(4))}, "bands: 3 is above the separation of epochs: 4, 2"},
		{Goal{Steps: 8, Class: "toeplitz", Bands: 3, Participation: must(CyclicPoisson(2, 0.5))}, "bands: 3 is above the separation of cyclic-poisson: cycle 2, rate 0.5, 2"},
		{Goal{Steps: 8, Class: "blt", Participation: must(CyclicPoisson(2, 0.5))}, "strategy: a blt has no bands"},
		{Goal{Steps: 8, Class: "banded", MaxError: true, Participation: Single()}, "error: max is searched for toeplitz and blt"},
		{Goal{Steps: 8, Class: "banded", Participation: must(BallsInBins(2))}, "strategy: banded is not searched for balls-in-bins"},
		{Goal{Steps: 20000, Class: "banded", Participation: must(Epochs(1000))}, "steps: 20000 is not in [1, 16384] for banded"},
		{Goal{Steps: 10000, Class: "banded", Participation: Single()}, "bands: 10000 makes steps times (bands + 1)² larger than"},
		{Goal{Steps: 100000, Class: "toeplitz", Participation: Single()}, "bands: 100000 makes steps times bands larger than"},
		{Goal{Steps: 9, Class: "blt", Participation: must(Epochs(2))}, "participation: epochs: 2 does not divide the 9 steps"},
	} {
		if _, err := Optimize(context.Background(), c.g); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.g, err, c.want)
		}
	}
}

// TestOptimizeEnds: a cancelled context is an error; a limit of work leaves the best so far.
func TestOptimizeEnds(t *testing.T) {
	for _, class := range []string{"banded", "toeplitz", "blt"} {
		g := Goal{Steps: 64, Participation: must(Epochs(4)), Class: class}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Optimize(ctx, g); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", class, err)
		}
		whole, err := Optimize(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := Optimize(parallel.WithWork(context.Background(), 1), g); err != nil || !errors.Is(o.Unfinished, parallel.ErrWork) {
			t.Errorf("%s: %+v, %v", class, o, err)
		}
		o, err := Optimize(parallel.WithWork(context.Background(), 600), g)
		if err != nil || !errors.Is(o.Unfinished, parallel.ErrWork) || o.RMSE < whole.RMSE || o.RMSE > 2*whole.RMSE {
			t.Errorf("%s: %+v, %v", class, o, err)
		}
	}
}

// TestOptimizeLong: 10,000 steps.
func TestOptimizeLong(t *testing.T) {
	for _, c := range []struct {
		g    Goal
		run  bool
		most float64
	}{
		{Goal{Steps: 10000, Participation: Single(), Class: "blt"}, true, 3.786},
		{Goal{Steps: 10000, Participation: must(Epochs(10)), Class: "toeplitz"}, true, 13.884},
		{Goal{Steps: 10000, Participation: Single(), Class: "toeplitz"}, slow.All(), 3.782}, // as the one before
		{Goal{Steps: 10000, Participation: separated(32, 1000), Class: "banded"}, slow.On(), 221.9},
	} {
		if !c.run {
			continue
		}
		o, err := Optimize(context.Background(), c.g)
		if err != nil || o.Unfinished != nil || o.RMSE > c.most || !o.Sensitivity.Exact {
			t.Errorf("%+v: %v, %v, %v, at most %v", c.g, o.RMSE, o.Unfinished, err, c.most)
		}
	}
}
