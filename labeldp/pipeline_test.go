package labeldp

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/random"
	_ "github.com/dpaccountant/accountant/internal/steady" // the same draws in every run
	"github.com/dpaccountant/accountant/profiles"
)

// onePrior is the prior of one group.
func onePrior(labels []float64, counts []int64, noise []*big.Int, floor float64) (Prior, error) {
	priors, err := groupPriors(labels, [][]int64{counts}, [][]*big.Int{noise}, 1, floor)
	return priors[0], err
}

// Acceptance check 18; labeldp.md §7.7.
func TestPriorEstimate(t *testing.T) {
	p := must(onePrior(seq(0, 2), []int64{60, 25, 15}, steps(1.5, -30, 2.25), 0))
	for i, want := range []float64{0.780952380952, 0, 0.219047619048} {
		nearAbs(t, "prior", p.Probs()[i], want, 1e-12)
	}
	p = must(onePrior([]float64{2, 0, 1}, []int64{15, 60, 25}, steps(2.25, 1.5, -30), 1e-3))
	for i, want := range []float64{0.780952380952, 0, 0.219047619048} {
		nearAbs(t, "prior with floor, labels unsorted", p.Probs()[i], want*0.999+0.001/3, 1e-12)
	}
	p = must(onePrior(seq(0, 2), []int64{1, 0, 2}, steps(-2, -1, -2), 0))
	for _, x := range p.Probs() {
		near(t, "all noisy counts zero", x, 1.0/3, 1e-15)
	}
	// Noise scale 2/ε: E|Z| = 2/ε and Var = 8/ε², up to the rounding to 2^−10.
	src := testSource(18)
	const n, eps = 200000, 0.5
	abs, sq := 0.0, 0.0
	for _, steps := range drawNoise(src, eps, n) {
		x, _ := steps.Float64()
		z := x / 1024
		abs += math.Abs(z) / n
		sq += z * z / n
	}
	nearAbs(t, "E|Z|", abs, 2/eps, 5*(2/eps)/math.Sqrt(n))                      // sd of |Z| is b
	nearAbs(t, "E Z²", sq, 8/eps/eps, 5*math.Sqrt(20)*(4/eps/eps)/math.Sqrt(n)) // sd of Z² is √20 b²
	if _, err := EstimatePrior(seq(0, 1), []int64{3}, 1, 0, src); err == nil {
		t.Error("no error for a missing count")
	}
	if _, err := EstimatePrior([]float64{1, 1}, []int64{3, 4}, 1, 0, src); err == nil {
		t.Error("no error for a repeated label")
	}

	for _, g := range []struct {
		k    int
		n    int64
		want float64
		tol  float64
	}{{52, 13_000_000, 0.002, 1e-12}, {401, 1_387_543, 0.0170, 1e-6}} {
		e1, e2, err := SplitBudget(1, g.k, g.n)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ε₁", e1, g.want, g.tol)
		near(t, "ε₁ + ε₂", e1+e2, 1, 1e-15)
	}
	if _, _, err := SplitBudget(0.1, 52, 100); err == nil {
		t.Error("no error when the prior would take the whole budget")
	}
}

// χ² of the noise at the sizes that are used, with bins over its whole range.
func TestNoiseLaw(t *testing.T) {
	for _, eps := range []float64{1e-6, 0.1, 1, 28, 4096} {
		scale := 2048 / eps // in steps
		const n, bins = 40_000, 20
		// Bins of |z| from one of edges on, of about equal probability; exactly,
		// |z| ≥ e has probability e^{−r(e−½)}.
		var edges, want, counts [bins + 1]float64
		for j := range edges {
			edges[j] = math.Ceil(-scale * math.Log1p(-float64(j)/bins))
			want[j] = n * math.Exp(-(edges[j]-0.5)/scale)
		}
		want[0], want[bins] = n, 0
		negative := 0.0
		for _, steps := range drawNoise(rand.NewPCG(14, math.Float64bits(eps)), eps, n) {
			z, _ := steps.Float64()
			if z < 0 {
				negative++
			}
			j := 0
			for j < bins-1 && math.Abs(z) >= edges[j+1] {
				j++
			}
			counts[j]++
		}
		chi, df := 0.0, -1.0
		for j := range bins {
			if e := want[j] - want[j+1]; e > 0 { // several edges are one where a step is wide
				chi, df = chi+(counts[j]-e)*(counts[j]-e)/e, df+1
			}
		}
		if limit := (distuv.ChiSquared{K: df}).Quantile(1 - 1e-6); chi > limit {
			t.Errorf("ε=%v: χ² = %v above %v", eps, chi, limit)
		}
		if got, want := negative/n, math.Exp(-0.5/scale)/2; math.Abs(got-want) > 5*0.5/math.Sqrt(n) {
			t.Errorf("ε=%v: %v are negative, want %v", eps, got, want)
		}
	}
}

// steps returns noise in steps of 2^−10.
func steps(noise ...float64) []*big.Int {
	var out []*big.Int
	for _, z := range noise {
		out = append(out, big.NewInt(int64(z*1024)))
	}
	return out
}

// Acceptance check 19.
func TestSampling(t *testing.T) {
	p := prior("C")
	r, _ := optimal(t, p, 1)
	const n = 1_000_000
	for i, y := range p.Labels() {
		src := random.Seeded(uint64(19 + i))
		counts := make([]float64, len(r.Outputs()))
		sum := 0.0
		for range n {
			j := r.SampleIndex(i, src)
			counts[j]++
			sum += r.Outputs()[j]
		}
		_, mse, _ := r.Moments(y)
		nearAbs(t, "mean", sum/n, y, 5*math.Sqrt(mse/n))
		chi := 0.0
		for j, pr := range r.Row(i) {
			chi += (counts[j] - n*pr) * (counts[j] - n*pr) / (n * pr)
		}
		if limit := (distuv.ChiSquared{K: float64(len(counts) - 1)}).Quantile(1 - 1e-6); chi > limit {
			t.Errorf("label %v: χ² = %v above %v", y, chi, limit)
		}
	}
	from := func(src rand.Source) []float64 {
		var out []float64
		for range 100 {
			out = append(out, must(r.Sample(5, src)))
		}
		return out
	}
	draw := func(seed uint64) []float64 { return from(random.Seeded(seed)) }
	if !slices.Equal(draw(7), draw(7)) {
		t.Error("the same seed gives different labels")
	}
	if slices.Equal(draw(7), draw(8)) {
		t.Error("different seeds give the same labels")
	}
	if slices.Equal(from(nil), from(nil)) {
		t.Error("without a source, the same labels come twice")
	}
}

// Means and variances of the additive samplers within 5 standard errors.
func TestAdditiveSampling(t *testing.T) {
	ys := seq(0, 3)
	for _, noise := range []Noise{{}, {Discrete: true}, {Clipped: true}, {Discrete: true, Clipped: true}, {Staircase: true}, {Discrete: true, Staircase: true}} {
		m := must(NewAdditive(ys, 1, noise))
		src := testSource(20)
		bias, mse, _ := m.Moments(1)
		const n = 200_000
		s1, s2, s4 := 0.0, 0.0, 0.0
		for range n {
			z := must(m.Sample(1, src)) - 1
			s1 += z / n
			s2 += z * z / n
			s4 += z * z * z * z / n
		}
		nearAbs(t, m.Name()+" bias", s1, bias, 5*math.Sqrt(mse/n))
		nearAbs(t, m.Name()+" MSE", s2, mse, 5*math.Sqrt((s4-s2*s2)/n))
	}
}

// Acceptance check 20; labeldp.md §7.3.
func TestRounding(t *testing.T) {
	r, _ := optimal(t, prior("A"), 1)
	u := NewRounder(r)
	bias, mse, err := u.Moments(0.3)
	if err != nil {
		t.Fatal(err)
	}
	nearAbs(t, "bias", bias, 0, 1e-14)
	near(t, "MSE at 0.3", mse, 4.09783036734, 1e-8) // accuracy of the atoms, see TestOptimalAtoms
	_, v0, _ := r.Moments(0)
	_, v1, _ := r.Moments(1)
	near(t, "MSE formula", mse, 0.7*v0+0.3*v1+0.3*0.7, 1e-13)
	for _, e := range []float64{0, 0.5} {
		if a, b := deltaOf(pairOf(t, u), e), deltaOf(pairOf(t, r), e); a != b {
			t.Errorf("rounding changes δ(%v) from %v to %v", e, b, a)
		}
	}
	src := testSource(200)
	const n = 300_000
	sum := 0.0
	for range n {
		sum += must(u.Sample(0.3, src)) / n
	}
	nearAbs(t, "mean", sum, 0.3, 5*math.Sqrt(mse/n))
	// A mixture of rows is no easier to tell apart.
	for _, pair := range [][2]float64{{0.3, 2}, {0, 1.7}, {0.2, 1.1}} {
		row := func(y float64) []float64 {
			i, j, up, _ := neighbours(r.Labels(), y)
			a, b := r.Row(i), r.Row(j)
			for k := range a {
				a[k] = (1-up)*a[k] + up*b[k]
			}
			return a
		}
		p := must(profiles.NewFinite(row(pair[0]), row(pair[1])))
		for _, e := range []float64{0, 0.3, 0.8} {
			if d, lim := deltaOf(p, e), deltaOf(pairOf(t, u), e); d > lim {
				t.Errorf("δ(%v) = %v of %v above %v", e, d, pair, lim)
			}
		}
	}
	rp := must(must(NewPrior([]float64{0, 0.5, 1, 1.75}, []float64{0.1, 0.2, 0.3, 0.4})).Rounded(seq(0, 2)))
	for i, want := range []float64{0.2, 0.5, 0.3} {
		near(t, "rounded prior", rp.Probs()[i], want, 1e-14)
	}
	if _, _, err := u.Moments(2.1); err == nil {
		t.Error("no error for a label outside the range")
	}
}

// Acceptance check 23: arXiv:2312.05659, Table 1, as a regression.
func TestSyntheticRegression(t *testing.T) {
	joint := [2][3]float64{{0.35, 0.10, 0.05}, {0.25, 0.15, 0.10}}
	opt, _ := optimal(t, prior("A"), 0.5)
	for _, g := range []struct {
		r    Randomizer
		want [2]float64
	}{{opt, [2]float64{0.4, 0.7}}, {must(RROnBins(prior("A"), 0.5)), [2]float64{0.5420629158, 0.5579370842}}} {
		src := testSource(23)
		var n, sum, sq [2]float64
		for range 1_000_000 {
			u := rand.New(src).Float64()
			x, y := 0, 0
			for u >= joint[x][y] && !(x == 1 && y == 2) {
				u -= joint[x][y]
				if y++; y == 3 {
					x, y = 1, 0
				}
			}
			out := g.r.Outputs()[g.r.SampleIndex(y, src)]
			n[x]++
			sum[x] += out
			sq[x] += out * out
		}
		for x := range n {
			m := sum[x] / n[x]
			nearAbs(t, "mean noisy label", m, g.want[x], 5*math.Sqrt((sq[x]/n[x]-m*m)/n[x]))
		}
	}
}

func TestPlan(t *testing.T) {
	src := random.Seeded(3)
	column := make([]float64, 20000)
	for i := range column {
		column[i] = []float64{5, 1, 2, 10}[i%7%4]
	}
	pl := Plan{Labels: []float64{10, 1, 2, 5}, Epsilon: 1, Floor: 1e-3}
	noisy, rs, err := pl.RandomizeColumn(context.Background(), column, nil, src)
	if err != nil {
		t.Fatal(err)
	}
	r := rs[0]
	near(t, "ε₂", r.Epsilon(), 1-math.Sqrt(4.0/20000), 1e-14)
	sum, want, variance := 0.0, 0.0, 0.0
	for i, y := range column {
		_, v, _ := r.Moments(y)
		sum, want, variance = sum+noisy[i], want+y, variance+v
	}
	nearAbs(t, "sum of noisy labels", sum, want, 5*math.Sqrt(variance))
	counts, _, err := count(pl.Labels, column)
	if err != nil {
		t.Fatal(err)
	}
	_, cs, ps, stages, err := pl.Design(context.Background(), [][]int64{counts}, src)
	if err != nil {
		t.Fatal(err)
	}
	c, p := cs[0], ps[0]
	if c.RelGap > 1e-9 {
		t.Errorf("gap %v", c.RelGap)
	}
	// The noise has scale 2/ε₁ = 141 on counts of thousands.
	for i, y := range p.Labels() {
		j := slices.Index(pl.Labels, y)
		nearAbs(t, "estimated prior", p.Probs()[i], float64(counts[j])/20000, 20*141.0/20000)
	}
	if len(stages) != 2 || stages[0].Count != 2 || stages[0].Epsilon+stages[1].Epsilon != 1 {
		t.Errorf("stages %+v", stages)
	}
	for _, bad := range []Plan{
		{Labels: []float64{1, 2}, Epsilon: 1}, {Labels: pl.Labels, Epsilon: 0.001},
		{Labels: pl.Labels, Epsilon: math.NaN()}, {Labels: pl.Labels, Epsilon: 1, PriorEpsilon: 1},
		{Labels: pl.Labels, Epsilon: 1, PriorEpsilon: -0.1}, {Labels: pl.Labels, Epsilon: 1, Floor: 2},
	} {
		if _, _, err := bad.RandomizeColumn(context.Background(), column, nil, src); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// What is wrong with counts is told by their own names.
func TestDesignNamesCounts(t *testing.T) {
	pl := Plan{Labels: []float64{1, 2}, Epsilon: 1}
	for _, c := range []struct {
		counts []int64
		want   string
	}{{[]int64{1}, "counts[0]: has 1 entries, must have as many as labels (2)"}, {[]int64{5, -1}, "counts[0][1]: -1 is not in [0, 2^53]"}} {
		if _, _, _, _, err := pl.Design(context.Background(), [][]int64{c.counts}, nil); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.counts, err, c.want)
		}
	}
}

// Acceptance check 24.
func TestOddLabels(t *testing.T) {
	_, c := optimal(t, prior("C"), 1)
	r, c2 := optimal(t, must(NewPrior([]float64{10, 2, 1, 5, 2}, []float64{0.1, 0.1, 0.4, 0.2, 0.2})), 1)
	near(t, "unsorted and repeated labels", c2.Primal, c.Primal, 1e-11)
	if !slices.Equal(r.Labels(), []float64{1, 2, 5, 10}) {
		t.Errorf("labels %v", r.Labels())
	}
	for _, s := range []float64{1e12, 1e-12, -3} {
		ys := []float64{1 * s, 2 * s, 5 * s, 10 * s}
		r, c2 := optimal(t, must(NewPrior(ys, []float64{0.4, 0.3, 0.2, 0.1})), 1)
		near(t, "scaled labels", c2.Primal, s*s*c.Primal, 1e-10)
		for _, y := range r.Labels() {
			b, _, _ := r.Moments(y)
			nearAbs(t, "mean", b, 0, 1e-12*9*math.Abs(s)/math.Tanh(0.5))
		}
	}
	one, c1 := optimal(t, must(NewPrior([]float64{7}, []float64{1})), 1)
	if y, err := one.Sample(7, testSource(1)); y != 7 || err != nil || c1.Primal != 0 {
		t.Errorf("one label: %v, %v, loss %v", y, err, c1.Primal)
	}
	for _, m := range []Randomizer{one, must(RandomizedResponse([]float64{7}, 1)), must(DebiasedRR([]float64{7}, 1)), must(TwoPoint([]float64{7}, 1)),
		must(RROnBins(must(uniform([]float64{7})), 1))} {
		for _, e := range []float64{0, 0.1, 1, 5} {
			if d := deltaOf(pairOf(t, m), e); d != 0 {
				t.Errorf("%s with one label: δ(%v) = %v", m.Name(), e, d)
			}
		}
	}
	lap := must(NewAdditive([]float64{7}, 1, Noise{}))
	if y, err := lap.Sample(7, testSource(1)); y != 7 || err != nil {
		t.Errorf("Laplace noise of range 0: %v, %v", y, err)
	}
}

// Acceptance check 24: any labels and weights give an optimum or an error that
// names the field.
func TestFuzzDesign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 6).Draw(t, "k")
		label := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64(), rapid.Map(rapid.IntRange(-3, 3), func(i int) float64 { return float64(i) }))
		ys := rapid.SliceOfN(label, k, k).Draw(t, "labels")
		ws := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(-1, 1e9), rapid.Just(0.0), rapid.Just(math.NaN())), k, k).Draw(t, "weights")
		eps := rapid.OneOf(rapid.Float64Range(0.01, 10), rapid.Float64()).Draw(t, "eps")
		p, err := NewPrior(ys, ws)
		if err == nil {
			var r Randomizer
			var c Certificate
			if r, c, err = OptimalUnbiased(context.Background(), p, eps); err == nil {
				span := p.labels[len(p.labels)-1] - p.labels[0]
				if c.RelGap > 1e-9 && eps < 10 || c.RowResidual > 1e-13 || c.RealisedEps > eps*(1+1e-13) ||
					c.MeanResidual > 1e-12*span/math.Tanh(eps/2)+4e-16*math.Abs(r.Outputs()[0]) {
					t.Fatalf("certificate %+v", c)
				}
				if _, err := r.Sample(p.labels[0], rand.NewPCG(1, 2)); err != nil {
					t.Fatal(err)
				}
				pair, err := r.Pair(profiles.Substitute)
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := profiles.LogDelta(pair, 0); !(d <= 0) {
					t.Fatalf("log δ(0) = %v", d)
				}
				return
			}
		}
		if !strings.Contains(err.Error(), ": ") {
			t.Fatalf("error without a field: %v", err)
		}
	})
}

func TestErrors(t *testing.T) {
	p := prior("A")
	inf, nan := math.Inf(1), math.NaN()
	src := testSource(1)
	drop := func(_ any, err error) error { return err }
	opt := func(p Prior, eps float64) error {
		_, _, err := OptimalUnbiased(context.Background(), p, eps)
		return err
	}
	grid := func(eps float64, g []float64) error {
		_, _, err := OptimalUnbiasedGrid(context.Background(), p, eps, g)
		return err
	}
	r, _ := optimal(t, p, 1)
	for what, err := range map[string]error{
		"epsilon 0":        opt(p, 0),
		"epsilon negative": opt(p, -1),
		"epsilon NaN":      opt(p, nan),
		"epsilon Inf":      opt(p, inf),
		"zero prior":       opt(Prior{}, 1),
		"no labels":        drop(NewPrior(nil, nil)),
		"NaN label":        drop(NewPrior([]float64{nan}, []float64{1})),
		"infinite label":   drop(NewPrior([]float64{1, inf}, []float64{0.5, 0.5})),
		"negative":         drop(NewPrior(seq(0, 1), []float64{-0.5, 1.5})),
		"NaN prob":         drop(NewPrior(seq(0, 1), []float64{nan, 1})),
		"lengths":          drop(NewPrior(seq(0, 1), []float64{1})),
		"zero weights":     drop(NewPrior(seq(0, 1), []float64{0, 0})),
		"too many":         drop(uniform(seq(0, 500))),
		"no grid":          grid(1, nil),
		"NaN grid":         grid(1, []float64{nan, 1}),
		"huge grid":        grid(1, []float64{-1e50, 1e50}),
		"short grid":       grid(1, []float64{0, 1, 2}),
		"n":                drop(FeasibleGrid(seq(0, 2), 1, 1)),
		"step":             drop(NewAdditive(seq(0, 2), 1, Noise{Discrete: true, Step: -1})),
		"off lattice":      drop(NewAdditive([]float64{0, 0.5, 1.2}, 1, Noise{Discrete: true, Step: 0.5})),
		"clip staircase":   drop(NewAdditive(seq(0, 2), 1, Noise{Staircase: true, Clipped: true})),
		"sample":           drop(r.Sample(0.5, src)),
		"sample NaN":       drop(r.Sample(nan, src)),
		"rounded NaN":      drop(NewRounder(r).Sample(nan, src)),
		"laplace NaN":      drop(must(NewAdditive(seq(0, 2), 1, Noise{})).Sample(nan, src)),
		"split n":          func() error { _, _, err := SplitBudget(1, 3, 0); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if _, _, err := BiasLimited(context.Background(), p, 1, nan, seq(0, 2)); err == nil {
		t.Error("no error for bias NaN")
	}
}
