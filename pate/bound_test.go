package pate

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// The golden values of this file are from pate.md §7.1, computed there with at
// least 25 digits.

func TestLogErfc(t *testing.T) {
	// In terms of erfc: log erfc(x) = log 2 + log Φ̄(√2·x). The rounding of √2·x
	// moves the logarithm by 4u·x².
	for _, c := range []struct{ x, want float64 }{
		{-2, 0.690805573646587657}, {0.1, -0.119304973737395598}, {1, -1.84960550993324825},
		{5, -27.2008895455374344}, {26, -679.83119976319423}, {40, -1604.26155665327356}, {1000, -1000007.48012072191},
	} {
		near(t, fmt.Sprintf("log erfc(%v)", c.x), math.Ln2+xmath.LogNormalTail(math.Sqrt2*c.x), c.want, 1e-15)
	}
	for _, c := range []struct{ l, want float64 }{
		{-0.1, 0.0845365898398283995}, {-1, 0.636716137219616554}, {-10, 2.88367138902146749},
		{-745, 27.2235721080026112}, {-1000, 31.5590759124831909}, {-50000, 223.593420734465139},
	} {
		near(t, fmt.Sprintf("log erfc inverse(%v)", c.l), logTailInv(c.l-math.Ln2)/math.Sqrt2, c.want, 4e-15)
	}
	if got := logTailInv(0); !math.IsInf(got, -1) {
		t.Errorf("inverse at 0 = %v", got)
	}
	if got := logTailInv(math.Inf(-1)); !math.IsInf(got, 1) {
		t.Errorf("inverse at -Inf = %v", got)
	}
}

func TestGNMaxBlocks(t *testing.T) {
	orders := []float64{2, 8, 14, 32}
	for _, c := range []struct {
		n         []int64
		sigma     float64
		logQ, q   float64
		want      [4]float64
		tolerance float64
	}{
		{padded(10, 250), 40, -10.019228294289034, 4.45353058136053e-5, [4]float64{1.52735726276239e-5, 2.05891332994361e-5, 3.12015789619115e-5, 2.03454987623508e-4}, 1e-13},
		{padded(10, 127, 62, 31, 15, 8, 4, 2, 1), 40, -1.280853835236971, 0.277800003729444, [4]float64{.00125, .005, .00875, .02}, 1e-14},
		{padded(10, 157, 47, 23, 12, 6, 3, 1, 1), 40, -2.8404806867388503, 0.0583975882704914, [4]float64{.00125, .005, .00875, .02}, 1e-14},
		{padded(10, 181, 35, 17, 9, 4, 2, 1, 1), 40, -4.3843250019028107, 0.0124713033999334, [4]float64{.00125, 0.00327970063370905, 0.00408358180895393, 0.00985589563055605}, 1e-13},
		{padded(5, 1000, 500, 300, 200), 250, -2.1483911044301689, 0.11667171946202, [4]float64{3.2e-5, 1.28e-4, 2.24e-4, 5.12e-4}, 1e-14},
		// log q̃ = −624 is rounded up by 10u·624 = 7e-13, and so is the cost.
		{padded(150, 5000), 100, -624.48124004868617, 6.18362856554141e-272, [4]float64{8.01867138454831e-272, 3.23563056121424e-271, 3.19474375915172e-270, 1.07151879769979e-266}, 2e-12},
		{padded(150, 2540, 1230, 615, 308, 154, 77, 38, 19, 10, 5, 2, 1, 1), 100, -46.058809997216529, 9.92917065721623e-21, [4]float64{2.88693350988883e-21, 3.69464042949442e-21, 5.14395372257375e-21, 2.27140041973406e-20}, 2e-13},
		{[]int64{10, 10, 5}, 2, -0.61887505526108514, 0.538549935871771, [4]float64{.5, 2, 3.5, 8}, 1e-14},
		// log q̃ = −228: 10u·228 = 2.5e-13.
		{[]int64{3, 0, 0}, 0.1, -228.28262515380639, 7.21299417245121e-100, [4]float64{173.897867369325, 800, 1400, 3200}, 1e-12},
	} {
		g := must(NewGNMax(c.sigma))
		l := must(g.LogQ(c.n))
		name := fmt.Sprintf("%v σ=%v", c.n, c.sigma)
		near(t, name+": log q", l, c.logQ, 4e-15)
		near(t, name+": q", math.Exp(l), c.q, 2e-12)
		if slow := newTails(c.sigma, c.n[0]).logQ(c.n); math.Abs(slow-l) > 2*logTailErr(l) {
			t.Errorf("%s: log q = %v by table, %v without", name, slow, l)
		}
		for i, a := range orders {
			near(t, fmt.Sprintf("%s: cost at %v", name, a), must(g.DependentRDP(l, a)), c.want[i], c.tolerance)
		}
	}
}

func TestGNMaxCost(t *testing.T) {
	for _, c := range []struct{ logQ, sigma, order, want, tolerance float64 }{
		{-3.5, 40, 14, 0.0081358248577593525, 1e-14},
		{-5, 40, 14, 0.0024735810687194315, 1e-13},
		{-10, 40, 14, 3.174479854224072e-5, 1e-13},
		{-20, 40, 14, 3.2814248016138577e-9, 1e-13},
		{-20, 40, 40, 3.3233019221750008e-7, 1e-13},
		{-100, 40, 14, 1.940128099223249e-42, 1e-13},
		{-600, 100, 50, 1.4470436553966437e-252, 5e-13},
		{-5, 2, 3, 0.36044158395453837, 1e-14},
		{-9, .5, 1.5, 0.97152408663817582, 1e-13},
		{-2, 40, 14, .00875, 1e-14}, {-3, 40, 14, .00875, 1e-14}, // valid, but above λ/σ²
		{-12, 2, 8, 2, 1e-15}, // invalid
	} {
		got := must(gnMax{c.sigma}.DependentRDP(c.logQ, c.order))
		near(t, fmt.Sprintf("cost(%v; σ=%v, λ=%v)", c.logQ, c.sigma, c.order), got, c.want, c.tolerance)
	}
	// The closed form where it is valid but not the smaller.
	for _, c := range []struct{ logQ, want float64 }{{-2, 0.022814648467857363}, {-3, 0.011748890679733472}} {
		v, _ := gnMax{40}.cost(14).dependent(c.logQ)
		near(t, fmt.Sprintf("closed form(%v)", c.logQ), v, c.want, 1e-14)
	}
	got := thresholdCost(150)(20.5).upper(-7)
	near(t, "cost(-7; σ=150√2, λ=20.5)", got, 5.2319318523072292e-5, 1e-13)
}

func TestTheorem6(t *testing.T) {
	near(t, "Theorem 6", must(theorem6(-10, 8, .5, 6, .4, 4)), 0.0051625385865703184, 1e-13)
	near(t, "Theorem 6", must(theorem6(-6, 20, .02, 15, .015, 8)), 0.0045648994067659676, 1e-13)
	if v := must(theorem6(math.Inf(-1), 8, .5, 6, .4, 4)); v != 0 {
		t.Errorf("at q = 0: %v", v)
	}
}

// The closed form is Theorem 6 at the orders of Proposition 10, and its three
// conditions are that theorem's (pate.md §3.6, §7.8 items 1 and 2).
func TestClosedFormIsTheorem6(t *testing.T) {
	valid, invalid := 0, 0
	for _, sigma := range []float64{.5, 1, 2, 5, 15, 40, 100, 250, 1500} {
		for _, order := range []float64{1.1, 1.5, 2, 3.5, 8, 14, 32, 64, 100} {
			for l := -0.05; l > -500; l *= 1.17 {
				c := gnMax{sigma}.cost(order)
				s, tt := math.Sqrt(-l), 1/sigma
				mu2 := s / tt
				mu1 := mu2 + 1
				want, err := math.Inf(1), error(nil)
				if mu2 > 1 && mu1 >= order && mu1 <= maxOrder {
					want, err = theorem6(l, mu1, mu1/(sigma*sigma), mu2, mu2/(sigma*sigma), order)
				}
				holds := s > tt && s >= (order-1)*tt && math.Log((s+tt)/(s-tt)) <= 2*s*tt-tt*tt
				if (!math.IsInf(want, 1) && err == nil) != holds {
					t.Errorf("σ=%v λ=%v log q=%v: conditions %v, Theorem 6 says %v %v", sigma, order, l, holds, want, err)
					continue
				}
				if !holds {
					invalid++
					if l <= c.logQ0 {
						t.Errorf("σ=%v λ=%v: q0 = e^%v, but log q=%v is not valid", sigma, order, c.logQ0, l)
					}
					continue
				}
				valid++
				v, e := c.dependent(l)
				// Theorem 6 in its own form loses up to mu2·u of −q + e^b; both
				// sides carry error bounds, which must cover the difference.
				if v-e > want || math.Abs(v-want) > e+1e-9*want {
					t.Errorf("σ=%v λ=%v log q=%v: closed form %v ± %v, Theorem 6 %v", sigma, order, l, v, e, want)
				}
				if e > 1e-8*v && sigma <= 250 {
					t.Errorf("σ=%v λ=%v log q=%v: error %v of %v", sigma, order, l, e, v)
				}
			}
		}
	}
	if valid < 1500 || invalid < 300 {
		t.Errorf("only %d valid and %d invalid points", valid, invalid)
	}
}

// §7.8 item 3: at most λ/σ², monotone, continuous at q0.
func TestCostIsMonotone(t *testing.T) {
	for _, sigma := range []float64{.1, .5, 1, 2, 15, 40, 250, 1e4} {
		for _, order := range []float64{1.001, 1.5, 2, 8, 20.5, 100} {
			c := gnMax{sigma}.cost(order)
			if lo := c.upper(c.logQ0 * (1 + 1e-12)); lo < c.ind*(1-1e-6) {
				// Near s = t the cost is steep: it jumps in a relative 1e-12 of log q.
				if sigma >= 1 {
					t.Errorf("σ=%v λ=%v: cost at q0 is %v of λ/σ²", sigma, order, lo/c.ind)
				}
			}
			last := math.Inf(1)
			for l := -1e-3; l > -740; l *= 1.03 {
				v, e := c.at(l)
				if v-e > last {
					t.Fatalf("σ=%v λ=%v: cost grows to %v as q falls to e^%v", sigma, order, v, l)
				}
				if v+e > c.ind*(1+1e-14) || v < 0 || math.IsNaN(v+e) {
					t.Fatalf("σ=%v λ=%v log q=%v: cost %v ± %v, λ/σ² = %v", sigma, order, l, v, e, c.ind)
				}
				last = v + e
			}
			if v := c.upper(math.Inf(-1)); v != 0 {
				t.Errorf("cost at q = 0 is %v", v)
			}
		}
	}
}

func TestThresholdBlocks(t *testing.T) {
	orders := []float64{2, 8, 16, 32}
	for _, c := range []struct {
		threshold, sigma1, v, pass, fail float64
		want                             [4]float64
	}{
		{170, 20, 250, -3.167174337748926e-5, -10.36010148652729, [4]float64{1.61890384474485e-5, 2.59714018058298e-5, 7.12661135776257e-5, 0.00121498199852177}},
		{16, 2, 30, -1.279812543886654e-12, -27.38430749881108, [4]float64{1.01810562246566e-10, 0.0621311180140085, 2, 4}},
		// The fail tail as log(1−Pr[pass]) would be 0 here, and so would the cost.
		{0, .5, 20, 0, -804.6084420137538, [4]float64{1.91845145678307e-314, 5.03987219370421e-101, 28.5895284124803, 64}},
		{200, 150, 250, -0.4611490909211131, -0.9957633057792302, [4]float64{2. / 45000, 8. / 45000, 16. / 45000, 32. / 45000}},
		{3500, 1500, 5000, -0.1727537790234499, -1.841021645009264, [4]float64{2 / 4.5e6, 8 / 4.5e6, 16 / 4.5e6, 32 / 4.5e6}},
	} {
		name := fmt.Sprintf("T=%v σ1=%v v=%v", c.threshold, c.sigma1, c.v)
		pass, fail, err := checkedThresholdLogs(c.threshold, c.sigma1, c.v)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" pass", pass, c.pass, 2e-15)
		near(t, name+" fail", fail, c.fail, 2e-15)
		for i, a := range orders {
			tol := 1e-13
			if fail < -800 {
				// 10u·805 = 9e-13, twice or so; and the first value is subnormal,
				// where a few times 4e-323 is added to 2e-314.
				tol = 3e-12
				if c.want[i] < 1e-307 {
					tol = 2e-8
				}
			}
			near(t, fmt.Sprintf("%s λ=%v", name, a), must(thresholdRDP(c.threshold, c.sigma1, c.v, a)), c.want[i], tol)
		}
	}
}

func TestIndependent(t *testing.T) {
	near(t, "GNMax(40) at 14", must(NewGNMax(40)).RDP(14), .00875, 1e-15)
	near(t, "check(150) at 14", thresholdCost(150)(14).upper(0), 14./45000, 2e-15)
}

func TestConversions(t *testing.T) {
	for _, c := range []struct{ cost, order, delta, classic, improved float64 }{
		{1.18, 14, 1e-5, 2.065609651151556, 1.78849726902743},
		{.5, 8, 1e-6, 2.473644365423468, 2.043049895416111},
		{.01, 50, 1e-8, 0.3859322600806605, 0.2858923485707299},
		{2, 2, 1e-5, 13.51292546497023, 12.12663110385034},
	} {
		near(t, "classic", must(Classic.epsilonAt(c.order, c.cost, c.delta)), c.classic, 1e-14)
		near(t, "improved", must(Improved.epsilonAt(c.order, c.cost, c.delta)), c.improved, 1e-14)
	}
	g := rdp.Grid{Orders: []float64{8}, Values: []float64{.5}}
	d, _, err := rdp.DeltaClassic(g, 2)
	near(t, "δ classic", d, 2.7536449349747e-5, digits(14))
	if err != nil {
		t.Error(err)
	}
	d, _, err = rdp.Delta(g, 2)
	near(t, "δ improved", d, 1.3516813580298e-6, digits(14))
	if err != nil {
		t.Error(err)
	}
}

func TestLNMaxBlocks(t *testing.T) {
	orders := []float64{2, 5, 9, 20}
	for _, c := range []struct {
		n           []int64
		gamma, logQ float64
		want        [4]float64
	}{
		{[]int64{40, 7, 3}, 1. / 20, -1.119061003202195, [4]float64{.01, .025, .045, 0.0730199179874537}},
		{padded(10, 200, 20, 10, 10, 4, 3, 2, 1), 1. / 20, -6.404633458571558, [4]float64{3.47849186800724e-4, 3.77085256940132e-4, 4.26708634167054e-4, 6.64959799939784e-4}},
		{padded(10, 90, 80, 30, 20, 10, 10, 5, 5), 1. / 20, -0.4805166396042144, [4]float64{.01, .025, .045, .1}},
		{[]int64{3000, 900, 500, 300, 200, 100}, 1. / 50, -39.60169928410209, [4]float64{5.16422738248384e-19, 5.32663890813199e-19, 5.56474138855278e-19, 6.37259700500233e-19}},
	} {
		l := lnMax{c.gamma}
		q := must(l.LogQ(c.n))
		near(t, fmt.Sprintf("%v log q", c.n), q, c.logQ, 5e-15)
		for i, a := range orders {
			near(t, fmt.Sprintf("%v at %v", c.n, a), l.upper(q, a), c.want[i], 2e-13)
		}
	}
}

func TestPureCurve(t *testing.T) {
	for _, c := range []struct{ eps, order, want float64 }{
		{.1, 2, 0.009958584394956224}, {.1, 8, 0.03671665970131164}, {.1, 64, 0.08977153001662432},
		{1, 4, 0.8958832596451838}, {2, 16, 1.991538132597135},
	} {
		p := must(rdp.Pure(c.eps))
		near(t, fmt.Sprintf("tight pure curve ε=%v λ=%v", c.eps, c.order), p.RDP(c.order), c.want, 1e-13)
		if l := (lnMax{c.eps / 2}).RDP(c.order); l < p.RDP(c.order)*(1-1e-13) {
			t.Errorf("min(ε, ε²λ/2) = %v is below the tight curve %v", l, p.RDP(c.order))
		}
	}
}

// §7.8 items 5 and 6.
func TestLogQInvariance(t *testing.T) {
	g := gnMax{3}
	base := must(g.LogQ([]int64{12, 5, 3, 0}))
	for _, n := range [][]int64{{0, 3, 5, 12}, {5, 12, 0, 3}, {112, 105, 103, 100}} {
		near(t, fmt.Sprint(n), must(g.LogQ(n)), base, 2e-15)
	}
	// Two classes: the union bound is exact; log q is rounded up by 30u.
	near(t, "two classes", math.Exp(must(g.LogQ([]int64{9, 4}))), 0.5*math.Erfc(5./6), 4e-15)
}
