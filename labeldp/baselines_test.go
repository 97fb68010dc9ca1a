package labeldp

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpaccountant/accountant/profiles"
)

// Acceptance check 2; labeldp.md §7.2. r is the shape of the discrete staircase,
// d the number of bins; 0: not tabulated.
var baselineGolden = []struct {
	prior                                 string
	eps                                   float64
	lap, clip, dlap, dclip, stair, dstair float64
	r                                     int
	rr, db, two, bins                     float64
	d                                     int
}{
	{"A", 0.5, 16, 0.64722014722927, 15.916926438869, 0.65723913139823, 15.834034430733, 15.885905274667, 1, 0.58239581550504, 10.404286944879, 7.9603961780655, 0.26065381099493, 2},
	{"A", 1, 4, 0.48656568691672, 3.9176980890328, 0.49357665777764, 3.8362070624711, 3.8575720813583, 1, 0.45037580993631, 2.2527911641127, 1.9663471884156, 0.22683758614676, 2},
	{"A", 2, 1, 0.28880808577309, 0.92067359420779, 0.27939366063288, 0.84546569809309, 0.82031679622378, 1, 0.22632733020330, 0.40609330831878, 0.48703083048316, 0.14441981866031, 2},
	{"A", 4, 0.25, 0.12228917866404, 0.18101541524158, 0.092650732630131, 0.12995756497019, 0.093383498562233, 1, 0.037545396779852, 0.040691182060251, 0.16301091491904, 0.035285868273323, 3},
	{"B", 0.5, 64, 2.2895521004357, 63.916731730488, 2.3009654926012, 63.336137722931, 63.351640344198, 2, 1.7703121681486, 74.820040987767, 32.341584712262, 0.95670681320637, 2},
	{"B", 1, 16, 1.7737685822468, 15.916926438869, 1.7846631097050, 15.344828249884, 15.317502895855, 2, 1.4884758120208, 14.287189252155, 8.3653887536623, 0.84491764015459, 2},
	{"B", 2, 4, 1.1124911024058, 3.9176980890328, 1.1099304130466, 3.3818627923724, 3.3522770981100, 2, 0.87803588929015, 2.1776207397945, 2.4481233219326, 0.55981186587923, 3},
	{"B", 4, 1, 0.51350176000643, 0.92067359420779, 0.48478182651471, 0.51983025988078, 0.53136687226852, 1, 0.17065385160357, 0.19527603103133, 1.1520436596761, 0.16337316733679, 5},
	{"C", 0.5, 324, 12.699683351075, 323.91667952517, 12.710182980872, 320.63919722234, 320.66687854499, 5, 9.5079909992847, 301.00203108473, 161.86677260583, 3.6534292026814, 2},
	{"C", 1, 81, 9.6044211425005, 80.916718081806, 9.6130102349165, 77.683193015039, 77.673536416997, 4, 7.7295945400982, 58.915665402794, 40.487280565416, 3.2649207312355, 2},
	{"C", 2, 20.25, 5.7535033947078, 20.166872025463, 5.7474378370637, 17.120680386385, 17.188368134541, 4, 4.2544769783801, 9.3188615137426, 10.531124317284, 2.2527464227306, 2},
	{"C", 4, 5.0625, 2.4644075171511, 4.9799833047905, 2.4347231771672, 2.6316406906464, 2.6278323813531, 2, 0.76738575760794, 0.85876884346170, 3.9697210271105, 0.69548463550315, 4},
	{"D", 1, 1, 0.13212055882856, 0.92067359420779, 0.13447071068500, 0.95905176561776, 0, 0, 0.13447071068500, 0.46033679710390, 0.46033679710390, 0.085498350617758, 2},
	{"Z", 1, 9, 1.1890850294570, 8.9171275962565, 1.1931561773142, 8.6314658905599, 8.6193956812035, 2, 1.2241439316898, 7.4608058214699, 4.1430311739351, 0.88475369958667, 2},
}

func loss(t testing.TB, m Method, p Prior) float64 {
	t.Helper()
	l, err := HalfLoss(m, p)
	if err != nil {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	return l
}

func TestBaselines(t *testing.T) {
	for _, g := range baselineGolden {
		p := prior(g.prior)
		ys := p.Labels()
		lap := must(NewAdditive(ys, g.eps, Noise{}))
		dlap := must(NewAdditive(ys, g.eps, Noise{Discrete: true, Step: 1}))
		dst := must(NewAdditive(ys, g.eps, Noise{Discrete: true, Step: 1, Staircase: true}))
		bins := must(RROnBins(p, g.eps))
		for _, c := range []struct {
			m    Method
			want float64
		}{
			{lap, g.lap}, {must(NewAdditive(ys, g.eps, Noise{Clipped: true})), g.clip}, {dlap, g.dlap}, {must(NewAdditive(ys, g.eps, Noise{Discrete: true, Step: 1, Clipped: true})), g.dclip},
			{must(NewAdditive(ys, g.eps, Noise{Staircase: true})), g.stair}, {dst, g.dstair}, {must(RandomizedResponse(ys, g.eps)), g.rr},
			{must(DebiasedRR(ys, g.eps)), g.db}, {must(TwoPoint(ys, g.eps)), g.two}, {bins, g.bins},
		} {
			if c.want == 0 {
				continue
			}
			// The table has 14 digits: half a unit of the last is 5e-14 relative.
			near(t, g.prior+" "+c.m.Name(), loss(t, c.m, p), c.want, 1e-12)
		}
		if g.r > 0 && dst.(*additive).r != g.r {
			t.Errorf("%s ε=%v: r = %d, want %d", g.prior, g.eps, dst.(*additive).r, g.r)
		}
		if len(bins.Outputs()) != g.d {
			t.Errorf("%s ε=%v: %d bins, want %d", g.prior, g.eps, len(bins.Outputs()), g.d)
		}
		// The closed form of discrete Laplace, q/(1 − q)².
		q := math.Exp(-g.eps / (ys[len(ys)-1] - ys[0]))
		near(t, "q/(1-q)^2", loss(t, dlap, p), q/(1-q)/(1-q), 1e-12)
	}
	// labeldp.md §7.2, last lines.
	for eps, want := range map[float64][2]float64{0.5: {0.458335691802, 7.91701721536634}, 1: {0.416737434929, 1.91810353123553},
		2: {0.335130029679, 0.422732849046547}, 4: {0.195756550159, 0.0649787824850972}} {
		s := must(NewAdditive(seq(0, 1), eps, Noise{Staircase: true}))
		near(t, "γ*", s.(*additive).gamma, want[0], 1e-11)
		_, mse, _ := s.Moments(0)
		near(t, "unit staircase variance at γ*", mse, want[1], 1e-12)
	}
	for _, g := range []struct {
		n, r int
		want float64
	}{{4, 2, 30.6350057917092}, {2, 1, 7.71514416271656}, {9, 3, 157.015678605676}} {
		near(t, "staircase moment", staircaseMoment(g.n, g.r, 1), g.want, 1e-13)
		// Brute force; the tail beyond 200 periods is e^−200.
		b := math.Exp(-1)
		norm := (1 - b) / (2*float64(g.r) + 2*b*float64(g.n-g.r) - (1 - b))
		sum, mass := 0.0, 0.0
		for i := -200 * g.n; i <= 200*g.n; i++ {
			j := max(i, -i)
			p := norm * math.Pow(b, float64(j/g.n))
			if j%g.n >= g.r {
				p *= b
			}
			mass += p
			sum += p * float64(i) * float64(i)
		}
		near(t, "staircase mass", mass, 1, 1e-12)
		near(t, "staircase moment by summation", sum, g.want, 1e-12)
	}
	for _, g := range []struct {
		prior string
		eps   float64
		want  []float64
	}{
		{"A", 0.5, []float64{0.395901979048, 0.719972189443}},
		{"A", 4, []float64{0.0165868037100, 0.968748996297, 1.83959684612}},
		{"C", 1, []float64{2.14195008840, 4.24719847070}},
		{"D", 1, []float64{0.136190471422, 0.538101526224}},
		{"H52", 0.998, []float64{31.4038837, 44.9975792}}, // labeldp.md §7.5
	} {
		for i, v := range must(RROnBins(prior(g.prior), g.eps)).Outputs() {
			near(t, "bin", v, g.want[i], map[bool]float64{true: 1e-8, false: 1e-11}[g.prior == "H52"])
		}
	}
	// labeldp.md §7.5, ε = 0.998.
	u, h := prior("U52"), prior("H52")
	ys := u.Labels()
	dst := must(NewAdditive(ys, 0.998, Noise{Discrete: true, Step: 1, Staircase: true}))
	near(t, "U52 discrete Laplace", loss(t, must(NewAdditive(ys, 0.998, Noise{Discrete: true, Step: 1})), u), 2611.35196370, 1e-11)
	near(t, "U52 discrete staircase", loss(t, dst, u), 2504.90780650, 1e-11)
	if dst.(*additive).r != 22 {
		t.Errorf("r = %d, want 22", dst.(*additive).r)
	}
	for _, g := range []struct {
		p                 Prior
		db, two, rr, bins float64
	}{{u, 110639.531337, 1415.03363262, 218.066996033, 94.6412293373}, {h, 113801.900757, 1310.86696596, 318.911888759, 115.887512085}} {
		near(t, "debiased RR", loss(t, must(DebiasedRR(ys, 0.998)), g.p), g.db, 1e-11)
		near(t, "two-point", loss(t, must(TwoPoint(ys, 0.998)), g.p), g.two, 1e-11)
		near(t, "RR", loss(t, must(RandomizedResponse(ys, 0.998)), g.p), g.rr, 1e-11)
		near(t, "RR-on-bins", loss(t, must(RROnBins(g.p, 0.998)), g.p), g.bins, 1e-11)
	}
}

// Acceptance check 2: clipped Laplace against numerical integration, and
// labeldp.md §7.7.
func TestClippedLaplace(t *testing.T) {
	c := must(NewAdditive(seq(0, 2), 1, Noise{Clipped: true}))
	for y, want := range map[float64]float64{0: 1.05696447063, 1: 0.721632083448} {
		_, mse, err := c.Moments(y)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "MSE", mse, want, 1e-11)
	}
	bias, _, _ := c.Moments(0.5)
	near(t, "bias at 0.5", bias, 0.306434230330, 1e-11)
	for _, eps := range []float64{0.3, 1, 5} {
		c := must(NewAdditive([]float64{-1, 0.5, 3}, eps, Noise{Clipped: true}))
		s := 4 / eps
		for _, y := range []float64{-1, 0.2, 3} {
			f := func(m float64) float64 {
				g := func(z float64) float64 {
					return math.Pow(min(max(y+z, -1), 3)-y, m) * math.Exp(-math.Abs(z)/s) / (2 * s)
				}
				// Pieces without kinks; the tails by their mass.
				up, down := 3-y, y+1
				inside := quad.Fixed(g, 0, up, 60, nil, 0) + quad.Fixed(g, -down, 0, 60, nil, 0)
				return inside + math.Pow(up, m)*math.Exp(-up/s)/2 + math.Pow(-down, m)*math.Exp(-down/s)/2
			}
			bias, mse, _ := c.Moments(y)
			nearAbs(t, "bias", bias, f(1), 1e-12)
			near(t, "MSE", mse, f(2), 1e-12)
		}
	}
}

// Clipped discrete Laplace, and discrete noise in general, against summation.
func TestDiscreteNoise(t *testing.T) {
	ys := []float64{-4, 0, 2, 6} // step 2
	step, ok := latticeStep(ys)
	if !ok || step != 2 {
		t.Fatalf("step %v, %v; want 2", step, ok)
	}
	if s, ok := latticeStep([]float64{0, 0.1, 0.25}); !ok || math.Abs(s-0.05) > 1e-12 {
		t.Errorf("step %v, %v; want 0.05", s, ok)
	}
	if s, ok := latticeStep([]float64{0, 1, math.Pi}); ok {
		t.Errorf("step %v of incommensurable labels", s)
	}
	a := must(NewAdditive(ys, 0.7, Noise{Discrete: true, Step: step}))
	if d := cmp.Diff(a, must(NewAdditive(ys, 0.7, Noise{Discrete: true})), cmp.AllowUnexported(additive{})); d != "" {
		t.Errorf("a step of 0 is not the largest (-2 +0):\n%s", d)
	}
	if _, err := NewAdditive([]float64{0, 1, math.Pi}, 0.7, Noise{Discrete: true}); err == nil {
		t.Error("incommensurable labels have no largest step")
	}
	c := must(NewAdditive(ys, 0.7, Noise{Discrete: true, Step: step, Clipped: true}))
	q := math.Exp(-0.7 / 5)
	for _, y := range ys {
		var b1, m0, m1 float64
		for z := -2000; z <= 2000; z++ {
			p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(z)))
			d := 2 * float64(z)
			m0 += p * d * d
			d = min(max(y+d, -4), 6) - y
			b1 += p * d
			m1 += p * d * d
		}
		_, v, _ := a.Moments(y)
		near(t, "MSE", v, m0, 1e-11)
		b, v, _ := c.Moments(y)
		nearAbs(t, "clipped bias", b, b1, 1e-12)
		near(t, "clipped MSE", v, m1, 1e-12)
	}
}

// The profiles of additive noise against direct sums of max(0, P − e^ε' Q), at
// the worst pair and at others.
func TestAdditiveProfiles(t *testing.T) {
	const eps = 1.3
	for _, n := range []int{1, 2, 3, 5, 8} {
		ys := seq(0, n)
		for _, a := range []Method{must(NewAdditive(ys, eps, Noise{Discrete: true, Step: 1})), must(NewAdditive(ys, eps, Noise{Discrete: true, Step: 1, Staircase: true}))} {
			pair, err := a.Pair(profiles.Substitute)
			if err != nil {
				t.Fatal(err)
			}
			pmf := func(z int) float64 {
				j := max(z, -z)
				if !a.(*additive).staircase {
					q := math.Exp(-eps / float64(n))
					return (1 - q) / (1 + q) * math.Pow(q, float64(j))
				}
				b := math.Exp(-eps)
				norm := (1 - b) / (2*float64(a.(*additive).r) + 2*b*float64(n-a.(*additive).r) - (1 - b))
				v := norm * math.Pow(b, float64(j/n))
				if j%n >= a.(*additive).r {
					v *= b
				}
				return v
			}
			for _, e := range []float64{0, 0.2, 0.65, 1.1} {
				got, _ := profiles.LogDelta(pair, e)
				for d := 1; d <= n; d++ {
					want := 0.0
					for z := -60 * n; z <= 60*n; z++ {
						want += max(0, pmf(z)-math.Exp(e)*pmf(z-d))
					}
					if d == n {
						near(t, a.Name(), math.Exp(got), want, 1e-11)
					} else if want > math.Exp(got)+1e-12 {
						t.Errorf("%s n=%d: labels %d apart have δ(%v) = %v above %v", a.Name(), n, d, e, want, math.Exp(got))
					}
				}
			}
		}
	}
	// Continuous staircase with R = 1: constant between multiples of γ and 1.
	s := must(NewAdditive(seq(0, 1), eps, Noise{Staircase: true}))
	pair, err := s.Pair(profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	b := math.Exp(-eps)
	h := func(x float64) float64 {
		x = math.Abs(x)
		m := math.Floor(x)
		v := (1 - b) / (2 * (s.(*additive).gamma + b*(1-s.(*additive).gamma))) * math.Pow(b, m)
		if x-m >= s.(*additive).gamma {
			v *= b
		}
		return v
	}
	for _, e := range []float64{0, 0.5, 1} {
		var cuts []float64
		for m := -40.0; m <= 40; m++ {
			cuts = append(cuts, m, m+min(s.(*additive).gamma, 1-s.(*additive).gamma), m+max(s.(*additive).gamma, 1-s.(*additive).gamma))
		}
		want := 0.0
		for i := 1; i < len(cuts); i++ {
			x := (cuts[i] + cuts[i-1]) / 2
			want += (cuts[i] - cuts[i-1]) * max(0, h(x)-math.Exp(e)*h(x-1))
		}
		got, _ := profiles.LogDelta(pair, e)
		near(t, "staircase δ", math.Exp(got), want, 1e-11)
	}
	lap, err := must(NewAdditive([]float64{2, 5, 9}, 0.8, Noise{})).Pair(profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := profiles.LogDelta(lap, 0.3)
	near(t, "Laplace δ", math.Exp(got), -math.Expm1(-0.25), 1e-12) // 1 − e^{(ε'−ε)/2}
}

// Acceptance check 3: the example of arXiv:2312.05659, Table 1, with the losses
// corrected (labeldp.md §5: the printed ones are ten times too large).
func TestTableOne(t *testing.T) {
	joint := [2][3]float64{{0.35, 0.10, 0.05}, {0.25, 0.15, 0.10}}
	r := must(RROnBins(prior("A"), 0.5))
	near(t, "Φ(0)", r.Outputs()[0], 0.3959019790, 1e-9)
	near(t, "Φ(1)", r.Outputs()[1], 0.7199721894, 1e-9)
	bayes := func(m Randomizer) (f [2]float64, loss float64) {
		for x := range joint {
			mass := 0.0
			for y, p := range joint[x] {
				mass += p
				b, _, _ := m.Moments(float64(y))
				f[x] += p * (float64(y) + b)
			}
			f[x] /= mass
			for y, p := range joint[x] {
				loss += p * (f[x] - float64(y)) * (f[x] - float64(y)) / 2
			}
		}
		return f, loss
	}
	f, l := bayes(r)
	near(t, "f(a), RR-on-bins", f[0], 0.5420629158, 1e-9)
	near(t, "f(b), RR-on-bins", f[1], 0.5579370842, 1e-9)
	near(t, "loss, RR-on-bins", l, 0.2725909360, 1e-9)
	opt, _ := optimal(t, prior("A"), 0.5)
	f, l = bayes(opt)
	near(t, "f(a), optimal", f[0], 0.4, 1e-12)
	near(t, "f(b), optimal", f[1], 0.7, 1e-12)
	near(t, "loss, optimal", l, 0.2625, 1e-12)
}

// Acceptance check 14.
func TestRROnBinsBruteForce(t *testing.T) {
	rng := testSource(14)
	for range 60 {
		p := randomPrior(rng, 1+rng.IntN(8), 0)
		eps := math.Exp(rng.Float64()*5 - 3)
		e1, k := math.Expm1(eps), len(p.labels)
		best := math.Inf(1)
		for mask := range 1 << (k - 1) {
			total, d := 0.0, 0
			for i := 0; i < k; {
				j := i + 1
				for j < k && mask>>(j-1)&1 == 0 {
					j++
				}
				// The best value of the bin, and its cost, from their definitions.
				w, s := 0.0, 0.0
				for y := range k {
					f := p.probs[y]
					if y >= i && y < j {
						f *= 1 + e1
					}
					w += f
					s += f * p.labels[y]
				}
				for y := range k {
					f := p.probs[y]
					if y >= i && y < j {
						f *= 1 + e1
					}
					total += f * (p.labels[y] - s/w) * (p.labels[y] - s/w) / 2
				}
				d++
				i = j
			}
			best = min(best, total/(float64(d)+e1))
		}
		r := must(RROnBins(p, eps))
		nearAbs(t, "RR-on-bins", loss(t, r, p), best, 1e-12*max(best, 1))
		if k < 2 || k > 5 {
			continue
		}
		// The linear program without unbiasedness, on a grid with the bins' values.
		grid := append(append([]float64{}, r.Outputs()...), p.labels...)
		_, c, err := BiasLimited(context.Background(), p, eps, math.Inf(1), grid)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "linear program without a bias bound", c.Primal, best, 1e-9)
	}
}
