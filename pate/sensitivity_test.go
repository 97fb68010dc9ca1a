package pate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/ballot"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// The golden values of this file are from pate.md §4.3, §7.5 and §7.6. Those
// marked ✓A there agree with the code of the paper's authors.

// unchecked builds a bound even where its conditions fail.
func unchecked(sigma, order float64, classes int, teachers int64) *localBound {
	b, err := newLocalBound(sigma, order, classes, teachers)
	if err != nil && !strings.Contains(err.Error(), ": condition C") {
		panic(err)
	}
	return b
}

func TestCrossings(t *testing.T) {
	for _, c := range []struct {
		sigma, order          float64
		classes               int
		logQ0, logQ1, plateau float64
		mu                    float64
		tolerance, plateauTol float64
	}{
		{.5, 1.5, 3, -4.2911857535717531, -15.937207697830097, 5.97577973940648, 1.02938316391592, 1e-13, 1e-12},
		{1, 2, 3, -2.7187065510781324, -6.7747103816675934, 1.5013174755354, 1.39798494243226, 1e-13, 1e-12},
		{15, 8, 10, -3.0928753024204795, -3.3693540557142382, 0.00592021186383647, 15.2628372890756, 1e-13, 1e-12},
		{30, 25, 10, -2.956020524188087, -3.0911856819929774, 0.00154409777901149, 30.2565063015384, 1e-13, 1e-12},
		{40, 14, 10, -3.4029724173984844, -3.509119876354426, 6.69907243137636e-4, 40.2548965408069, 1e-13, 2e-12},
		{40, 7.5, 10, -3.9415731801608107, -4.0534462982752781, 4.19002274857324e-4, 40.2548965408069, 1e-13, 2e-12},
		{40, 15.5, 2, -3.3266187115520283, -3.4048578517802775, 5.35415411541798e-4, 40.2548965408069, 1e-13, 2e-12},
		{100, 20.5, 150, -3.8638961556005876, -3.9188011298325877, 9.07042795940677e-5, 100.251970878859, 1e-12, 1e-11},
		{200, 50, 150, -3.6889948385702772, -3.7161202389185329, 2.67878525660149e-5, 200.250987505701, 1e-12, 1e-11},
		{250, 10, 5, -5.5058677654519924, -5.5249053822458941, 2.73113623988058e-6, 250.250790336253, 1e-12, 1e-11},
		{1500, 50, 150, -5.6982029100597669, -5.7022594307072408, 8.17186517603423e-8, 1500.25013190742, 1e-11, 1e-9},
		{40, 100, 10, -6.3546400099267311, -6.4895042444181017, 4.59576380151685e-5, 40.2548965408069, 1e-13, 1e-11},
	} {
		name := fmt.Sprintf("σ=%v λ=%v m=%d", c.sigma, c.order, c.classes)
		b := unchecked(c.sigma, c.order, c.classes, 100_000) // enough for σ = 1500 to matter
		near(t, name+" log q0", b.cost.logQ0, c.logQ0, c.tolerance)
		near(t, name+" log q1", b.logQ1, c.logQ1, c.tolerance)
		near(t, name+" plateau", b.plateau, c.plateau, c.plateauTol)
		near(t, name+" μ", 1+c.sigma*monotoneGap(1/c.sigma), c.mu, 1e-13)
	}
}

func TestNeighbourQ(t *testing.T) {
	for _, c := range []struct {
		logQ, sigma float64
		classes     int
		down, up    float64
	}{
		{-5, 40, 10, -5.122433205709781, -4.878735136816835},
		{-10.01922829428903, 40, 10, -10.18341441667815, -9.856242235268462},
		{-20, 100, 150, -20.09630062740158, -19.903895378415},
		{-900, 100, 150, -900.6005450011822, -899.3996548881166},
		{-5000, 100, 150, -5001.414381382048, -4998.585818597962},
		{-.7, 40, 10, -0.7719979024115674, -0.6290748760283196},
		{-3, 2, 3, -4.878277837991734, -1.562582069306643},
	} {
		b := unchecked(c.sigma, 2, c.classes, 100)
		name := fmt.Sprintf("log q=%v σ=%v m=%d", c.logQ, c.sigma, c.classes)
		// Moved outward by 32u(1 + |log q − log(m−1)|), 1.4e-14 at log q = −0.63.
		near(t, name+" B_L", b.down(c.logQ), c.down, 3e-14)
		near(t, name+" B_U", b.up(c.logQ), c.up, 3e-14)
		// §7.8 item 4.
		near(t, name+" B_L(B_U)", b.down(b.up(c.logQ)), c.logQ, 6e-14)
	}
}

func TestLocalBound(t *testing.T) {
	for _, c := range []struct {
		sigma, order float64
		classes      int
		logQ, want   float64
		tolerance    float64
	}{
		{40, 14, 10, -5, 2.59710420000312e-4, 2e-12},
		{40, 14, 10, -10, 4.99310792962363e-6, 2e-12},
		{40, 14, 10, -3, 0, 0},
		{40, 14, 10, -200, 1.04671834774e-84, digits(12)},
		{100, 20.5, 150, -5, 4.0632089170561e-5, 1e-11},
		{100, 20.5, 150, -10, 6.04068361851588e-7, 1e-11},
		{1, 2, 3, -10, 1.02786217361266, 1e-13},
		{1, 2, 3, -3, 1.5013174755354, 1e-12},
		{15, 8, 10, -3, 0.00396850107569526, 1e-12},
	} {
		b := unchecked(c.sigma, c.order, c.classes, 5000)
		near(t, fmt.Sprintf("σ=%v λ=%v log q=%v", c.sigma, c.order, c.logQ), b.At(c.logQ), c.want, c.tolerance)
	}
}

// §4.3: where C6 holds and where it fails.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		sigma, order float64
		classes      int
		fails        bool
	}{
		{30, 25, 10, false}, {40, 14, 10, false}, {40, 7.5, 10, false}, {40, 15.5, 2, false},
		{100, 20.5, 150, false}, {100, 50, 150, false}, {200, 50, 150, false}, {4, 2, 2, false},
		{10, 8, 10, false}, {15, 8, 10, false}, {1.5, 2, 3, false},
		{20, 25, 10, true}, {2, 3, 2, true}, {3, 4, 2, true}, {1.5, 3, 4, true}, {40, 100, 10, true},
	} {
		teachers := int64(250)
		if c.classes == 150 {
			teachers = 5000
		}
		_, err := newLocalBound(c.sigma, c.order, c.classes, teachers)
		if got := err != nil && strings.Contains(err.Error(), ": condition C6 "); got != c.fails || (err != nil) != c.fails {
			t.Errorf("σ=%v λ=%v m=%d: %v, want C6 to fail: %v", c.sigma, c.order, c.classes, err, c.fails)
		}
	}
	if _, err := newLocalBound(.5, 1.5, 3, 10); err == nil || !strings.Contains(err.Error(), ": condition C5 ") {
		t.Errorf("σ=.5, where B_U(q0) = 1: %v, want C5 to fail", err)
	}
	// A ledger passes the refusal on.
	l := ledger(t, s1(t, 250, 10, 20), gnMax{20}, nil)
	_, err := l.NewSensitivity(context.Background(), 25, Worst, nil)
	if err == nil || !strings.Contains(err.Error(), ": condition C6 ") {
		t.Errorf("a ledger whose order fails C6 answers %v", err)
	}
	// Where even a unanimous vote is not cheap, the cost is constant.
	b, err := newLocalBound(100, 14, 10, 30)
	if err != nil || !b.flat {
		t.Errorf("30 teachers at σ=100: %v, flat %v", err, b.flat)
	}
	for d, x := range must(b.AtDistance(padded(10, 30))) {
		if x != 0 {
			t.Errorf("flat cost with sensitivity %v at %d", x, d)
		}
	}
}

func smooth(local []float64, beta float64) (float64, int) {
	s := Sensitivity{Local: local}
	ss, d, err := s.Smooth(beta)
	if err != nil {
		panic(err)
	}
	return ss, d
}

func TestArrays(t *testing.T) {
	// tail marks "the plateau from here on".
	for _, c := range []struct {
		n            []int64
		sigma, order float64
		head         []float64
		plateau      float64
		ss           map[float64]float64 // by β
		tolerance    float64
	}{
		{[]int64{12, 0, 0}, 1.5, 2, []float64{6.3092213908e-4, .011815889785, .12960236561, .5132293145}, 0.64873959341197, map[float64]float64{.2: 0.29149748948963}, digits(10)},
		{[]int64{9, 3, 0}, 1.5, 2, []float64{.5132293145}, 0.64873959341197, map[float64]float64{.2: .53114305586569}, digits(10)},
		{[]int64{8, 3, 1}, 1.5, 2, nil, 0.64873959341197, map[float64]float64{.2: 0.64873959341197}, digits(10)},
		{[]int64{6, 5, 1}, 1.5, 2, []float64{.10812159971, .62725495682}, 0.64873959341197, map[float64]float64{.2: .51355292316589}, digits(11)},
		{[]int64{5, 4, 3}, 1.5, 2, []float64{0, .43585544719}, 0.64873959341197, map[float64]float64{.2: .43486315412105}, digits(11)},
		{[]int64{16, 0, 0}, 2.5, 2, []float64{.0014540125298, .006643748668, .027153082369, .084144663016, .18257519361}, 0.19815154281013, map[float64]float64{.2: .082036322616288}, digits(10)},
		{[]int64{9, 6, 1}, 2.5, 2, []float64{0, .16063912024}, 0.19815154281013, map[float64]float64{.2: .13282495129852}, digits(11)},
		{[]int64{6, 5, 5}, 2.5, 2, []float64{0, 0, 0, .098463825831}, 0.19815154281013, map[float64]float64{.2: .089035227469103}, digits(11)},
		{[]int64{10, 0, 0}, .5, 1.5, []float64{3.135036461044e-17, 1.601782803109e-8, .005906817858504, 3.395893523723}, 5.975779739406, nil, digits(13)},
	} {
		name := fmt.Sprintf("%v σ=%v", c.n, c.sigma)
		// At σ = .5 the goldens are those of the algorithm: B_U(q0) = 1 there,
		// which breaks C5.
		b := unchecked(c.sigma, c.order, len(c.n), sum(c.n))
		l := must(b.AtDistance(c.n))
		for d, x := range l {
			want, tol := c.plateau, 1e-12
			if c.plateau == 5.975779739406 {
				tol = digits(13)
			}
			if d < len(c.head) {
				want, tol = c.head[d], c.tolerance
			}
			near(t, fmt.Sprintf("%s L[%d]", name, d), x, want, tol)
		}
		for beta, want := range c.ss {
			ss, _ := smooth(l, beta)
			near(t, fmt.Sprintf("%s SS(%v)", name, beta), ss, want, digits(14))
		}
	}
}

func TestArraysOfPaper(t *testing.T) {
	b := must(newLocalBound(250, 10, 5, 2000))
	l := must(b.AtDistance([]int64{1000, 500, 300, 200, 0}))
	for d, x := range l {
		want := 0.0
		switch {
		case d == 298:
			want = 2.776934505457e-7
		case d == 299:
			want = 2.108539795479e-6
		case d >= 300:
			want = 2.731136239881e-6
		}
		// A difference of costs near 3e-4, each rounded up by some 100u: 1e-17.
		near(t, fmt.Sprintf("L[%d]", d), x, want, 1e-10)
	}
	ss, _ := smooth(l, .01)
	near(t, "SS(.01)", ss, 1.359752666969e-7, 1e-11)
	ss, _ = smooth(l, .04)
	near(t, "SS(.04)", ss, 1.67806810237e-11, 1e-11)

	type row struct {
		n            []int64
		sigma, order float64
		at           map[int]float64
		plateauAt    int
		beta1, ss1   float64
		ss2          float64 // at β = .1
	}
	for _, c := range []row{
		{padded(10, 250), 40, 14, map[int]float64{0: 4.912975446198e-6, 1: 5.303783105771e-6, 2: 5.726442339201e-6, 5: 7.214131215977e-6, 10: 1.063958034796e-5, 20: 2.346178513609e-5}, 70, .4 / 14, 9.2314271631576e-5, 4.91297544619818e-6},
		{padded(10, 200, 20, 10, 10, 4, 3, 2, 1), 40, 14, map[int]float64{0: 1.405048560431e-4, 1: 1.491080457937e-4, 2: 1.582007590157e-4, 5: 1.886355328356e-4, 10: 2.511784447496e-4, 20: 4.283898481696e-4}, 30, .4 / 14, 2.84290443109919e-4, 1.40504856043095e-4},
		{padded(10, 120, 60, 40, 20, 6, 2, 1, 1), 40, 14, map[int]float64{0: 0, 20: 0}, 45, .4 / 14, 1.85197898324612e-4, 7.44199724495945e-6},
		{padded(10, 100, 90, 30, 20, 5, 5), 40, 14, map[int]float64{0: 0, 20: 0}, 65, .4 / 14, 1.04584609341659e-4, 1.00716480499268e-6},
		{padded(10, 100, 90, 30, 20, 5, 5), 30, 25, map[int]float64{0: 0}, 34, .4 / 25, 8.96228190058413e-4, 5.15315920240902e-5},
	} {
		name := fmt.Sprintf("%v σ=%v", c.n, c.sigma)
		b := must(newLocalBound(c.sigma, c.order, 10, 250))
		l := must(b.AtDistance(c.n))
		for d, want := range c.at {
			near(t, fmt.Sprintf("%s L[%d]", name, d), l[d], want, 1e-11)
		}
		if at := slices.Index(l, b.plateau); at != c.plateauAt {
			t.Errorf("%s: plateau from %d, want %d", name, at, c.plateauAt)
		}
		ss, _ := smooth(l, c.beta1)
		near(t, name+" SS", ss, c.ss1, 1e-11)
		ss, _ = smooth(l, .1)
		near(t, name+" SS(.1)", ss, c.ss2, 1e-11)
	}
}

// exactDistance returns the local sensitivity at distance exactly d: what the
// authors' code uses for the check, and what must not be added up.
func exactDistance(ls []float64, v int) []float64 {
	l := make([]float64, len(ls))
	for d := range l {
		if v-d >= 0 {
			l[d] = max(l[d], ls[v-d])
		}
		if v+d < len(ls) {
			l[d] = max(l[d], ls[v+d])
		}
	}
	return l
}

func TestThresholdArrays(t *testing.T) {
	for _, c := range []struct {
		threshold float64
		want      []float64
	}{
		{16, []float64{0, 0, 0, 1.48454128752e-4, .0147826870386, .0394153241086, .064577569672, .0901543265957, .116054000336, .142180452357, .142180452357, 1.48454128752e-4, .0147826870386, .0394153241086, .064577569672, .0901543265957, .116054000336, .142180452357, .168302106325, .193127860442, .193127860442}},
		{2, []float64{.160212079128, .207021132472, .207021132472, .193127860442, .168302106325, .142180452357, .116054000336, .0901543265957, .064577569672, .0394153241086, .0147826870386, 1.48454128752e-4, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{50, []float64{1.35750725752e-19, 1.88990500499e-17, 2.05403154065e-15, 1.74298153642e-13, 1.15489723995e-11, 5.97584949325e-10, 2.41486826748e-8, 7.62150641922e-7, 1.87846248741e-5, 3.60973025976e-4, 3.60973025976e-4, 2.76377015215e-50}},
	} {
		a := confident{c.threshold, 2, 40}
		exact := exactDistance(thresholdLocal(a.table(10, 30)), 20)
		got := thresholdAtDistance(thresholdLocal(a.table(10, 30)), 20)
		top := 0.0
		for d, want := range c.want {
			// T=2 at distance 9 and up mixes sides: the list is the exact distance.
			near(t, fmt.Sprintf("T=%v exact distance %d", c.threshold, d), exact[d], want, 3e-11)
			top = max(top, want)
			near(t, fmt.Sprintf("T=%v L[%d]", c.threshold, d), got[d], top, 3e-11)
		}
	}
	for v, want := range map[int][5]float64{
		250: {5.51162441678e-6, 6.58829157375e-6, 1.31044886559e-5, 1.18379752641e-4, 8.29705259657e-4},
		231: {1.04178722729e-4, 1.18379752641e-4, 1.9193573012e-4, 7.74837554514e-4, 8.29705259657e-4},
		200: {0, 0, 0, 8.29705259657e-4, 8.29705259657e-4},
		101: {3.39747379105e-5, 3.94530701574e-5, 6.98429610645e-5, 4.00439929604e-4, 8.29705259657e-4},
	} {
		l := thresholdAtDistance(thresholdLocal(confident{170, 20, 40}.table(8, 250)), v)
		for i, d := range []int{0, 1, 5, 20, 60} {
			near(t, fmt.Sprintf("v=%d L[%d]", v, d), l[d], want[i], digits(12))
		}
	}
}

// checkSum compares a table's arrays with goldens: L(0), L(10), L(50) and SS at
// several β.
func checkSum(t *testing.T, name string, local []float64, l0, l10, l50 float64, ss map[float64]float64, distance map[float64]int) {
	t.Helper()
	for d, want := range map[int]float64{0: l0, 10: l10, 50: l50} {
		near(t, fmt.Sprintf("%s L(%d)", name, d), local[d], want, 1e-11)
	}
	for beta, want := range ss {
		got, at := smooth(local, beta)
		near(t, fmt.Sprintf("%s SS(%v)", name, beta), got, want, 1e-11)
		if d, ok := distance[beta]; ok && d != at {
			t.Errorf("%s SS(%v) is reached at %d, want %d", name, beta, at, d)
		}
	}
}

func sensitivity(t *testing.T, l *Ledger, order float64, r Report, answered []bool) *Sensitivity {
	t.Helper()
	s, err := l.NewSensitivity(context.Background(), order, r, answered)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSmoothSumsA(t *testing.T) {
	v := s1(t, 250, 10, 640)
	five := sensitivity(t, ledger(t, must(v.First(5)), gnMax{40}, nil), 14, Worst, nil)
	for beta, want := range map[float64]struct {
		ss float64
		d  int
	}{.4 / 14: {0.00117507004628472, 9}, .2 / 14: {0.00161336601727017, 38}, .1: {6.1783775819795e-4, 9}} {
		ss, d := smooth(five.Local, beta)
		near(t, fmt.Sprintf("five rows SS(%v)", beta), ss, want.ss, 1e-11)
		if d != want.d {
			t.Errorf("five rows SS(%v) is reached at %d, want %d", beta, d, want.d)
		}
	}
	all := sensitivity(t, ledger(t, v, gnMax{40}, nil), 14, Worst, nil)
	checkSum(t, "all", all.Local, 0.041387631801463, 0.078482434527859, 0.29551696015002,
		map[float64]float64{.4 / 14: 0.0718214402962358, .01: 0.214911051735117, .1: 0.0413876318014635}, map[float64]int{.4 / 14: 40, .01: 68, .1: 0})
	near(t, "cost", all.Cost, 1.373132484880996, 1e-13)
	answered, _ := noiseFree(v, 200)
	l := ledger(t, v, confident{200, 150, 40}, nil)
	realised := sensitivity(t, l, 14, Realised, answered)
	checkSum(t, "answered", realised.Local, 0.0098048323755551, 0.019439955039269, 0.17723150905578,
		map[float64]float64{.4 / 14: 0.0443078042522871, .01: 0.149438577759966, .1: 0.00980483237555513}, map[float64]int{.4 / 14: 59, .01: 69, .1: 0})
	near(t, "cost", realised.Cost, 0.2741579359351799, 1e-13)
	expected := sensitivity(t, l, 14, ExpectedNotABound, nil)
	checkSum(t, "expected", expected.Local, 0.019458153010252, 0.036507426791805, 0.15052032387083,
		map[float64]float64{.4 / 14: 0.0360723516211958, .01: 0.114717551511992, .1: 0.0194581530102516}, map[float64]int{.4 / 14: 50, .01: 69, .1: 0})
	// The data-independent cost is constant.
	if ss, _ := smooth(sensitivity(t, l, 14, DataIndependent, nil).Local, .1); ss != 0 {
		t.Errorf("data-independent cost with sensitivity %v", ss)
	}
	// How the rows of the table walk to the plateau (§7.6).
	b := must(newLocalBound(40, 14, 10, 250))
	raise, lower, flat := 0, 0, 0
	for i := range 640 {
		switch q := all0(b, v.Row(i)); {
		case q < b.logQ1:
			raise++
		case q > b.cost.logQ0:
			lower++
		default:
			flat++
		}
	}
	if raise != 526 || lower != 112 || flat != 2 {
		t.Errorf("raise %d, lower %d, flat %d; want 526, 112, 2", raise, lower, flat)
	}
}

func all0(b *localBound, row []int64) float64 { return b.tails.logQ(row) }

func TestSmoothSumsA2(t *testing.T) {
	v := s1(t, 250, 10, 640)
	answered, _ := noiseFree(v, 170)
	b := must(newLocalBound(40, 8, 10, 250))
	near(t, "log q0", b.cost.logQ0, -3.881654499654474, 1e-13)
	near(t, "log q1", b.logQ1, -3.992903423256988, 1e-13)
	near(t, "plateau", b.plateau, 4.4151411147222e-4, digits(13))
	g := ledger(t, v, gnMax{40}, nil)
	checkSum(t, "all", sensitivity(t, g, 8, Worst, nil).Local, 0.025155047533572, 0.050954515457659, 0.20735844046757,
		map[float64]float64{.05: 0.0309300985454592, .01: 0.147917536241496, .1: 0.0251550475335723}, nil)
	var rows [][]int64
	for i, a := range answered {
		if a {
			rows = append(rows, v.Row(i))
		}
	}
	checkSum(t, "answered", sensitivity(t, ledger(t, must(ballots.NewVotes(rows, 0)), gnMax{40}, nil), 8, Worst, nil).Local,
		0.025155047533572, 0.04422263230488, 0.16813379402764,
		map[float64]float64{.05: 0.0282697056199146, .01: 0.122255624162678, .1: 0.0251550475335723}, nil)
	c := confident{170, 20, 40}
	l := ledger(t, v, c, nil)
	checks := make([]float64, 251)
	l.addChecks(context.Background(), checks, 8)
	checkSum(t, "threshold", checks, 0.061264467286207, 0.15823570067616, 0.53101136618054,
		map[float64]float64{.05: 0.10040594420438, .01: 0.355947563423586, .1: 0.0669558800476974}, map[float64]int{.05: 17, .01: 40, .1: 4})
	ls := thresholdLocal(c.table(8, 250))
	exact := make([]float64, 251)
	for _, x := range l.q.statistic {
		for d, y := range exactDistance(ls, int(x)) {
			exact[d] += y
		}
	}
	checkSum(t, "threshold at exact distances", exact, 0.061264467286207, 0.1220462375714, 0.036002054861257,
		map[float64]float64{.05: 0.0794998169468419, .01: 0.142132597732047, .1: 0.0651476630598667}, nil)
	checkSum(t, "realised", sensitivity(t, l, 8, Realised, answered).Local, 0.086419514819779, 0.20245833298104, 0.69914516020818,
		map[float64]float64{.05: 0.125576758454275, .01: 0.438719053944981, .1: 0.0910798356659424}, map[float64]int{.05: 14, .01: 40, .1: 3})
	checkSum(t, "expected", sensitivity(t, l, 8, ExpectedNotABound, nil).Local, 0.081661823823486, 0.19726869074235, 0.69669513373126,
		map[float64]float64{.05: 0.123411017929673, .01: 0.437020061555352, .1: 0.0860186874485569}, map[float64]int{.05: 15, .01: 40, .1: 3})
}

// §6.2 E2: with sensitivities at distance exactly d the sum is not smooth; with
// running maxima it is.
func TestSumsOfChecksAreSmooth(t *testing.T) {
	c := confident{16, 2, 40}
	ls := thresholdLocal(c.table(10, 30))
	const beta = .1
	ss := func(array func([]float64, int) []float64, v, w int) float64 {
		a := slices.Clone(array(ls, v))
		for d, x := range array(ls, w) {
			a[d] += x
		}
		s, _ := smooth(a, beta)
		return s
	}
	x, y := ss(exactDistance, 8, 28), ss(exactDistance, 9, 29)
	near(t, "exact distance", x, 0.169279, 1e-5)
	near(t, "exact distance, neighbour", y, 0.142329, 1e-5)
	if x/y < math.Exp(beta) {
		t.Errorf("the ratio %v at exact distances should break β-smoothness", x/y)
	}
	worst := 0.0
	for v := range 31 {
		for w := range 31 {
			a := ss(thresholdAtDistance, v, w)
			for dv := -1; dv <= 1; dv++ {
				for dw := -1; dw <= 1; dw++ {
					if v+dv >= 0 && v+dv <= 30 && w+dw >= 0 && w+dw <= 30 {
						b := ss(thresholdAtDistance, v+dv, w+dw)
						worst = max(worst, a/b)
					}
				}
			}
		}
	}
	near(t, "worst ratio", worst, math.Exp(beta), 1e-9)
}

// §7.8 item 7: by brute force over all histograms of 12 votes in 3 classes the
// array is the maximum of the local bound within distance d, the local bound
// bounds the cost's change, and SS is smooth.
func TestArraysByBruteForce(t *testing.T) {
	const total = 12
	const sigma, order = 1.5, 2.0
	b := must(newLocalBound(sigma, order, 3, total))
	var all [][]int64
	for i := int64(0); i <= total; i++ {
		for j := int64(0); i+j <= total; j++ {
			all = append(all, []int64{i, j, total - i - j})
		}
	}
	distance := func(n, m []int64) (d int64) {
		for i := range n {
			d += max(0, n[i]-m[i])
		}
		return d
	}
	arrays := make([][]float64, len(all))
	for k, n := range all {
		arrays[k] = must(b.AtDistance(n))
	}
	cost := func(n []int64) float64 { v, _ := b.cost.at(b.tails.logQ(n)); return v }
	for k, n := range all {
		want := make([]float64, total+1)
		for j, m := range all {
			d := distance(n, m)
			want[d] = max(want[d], b.At(b.tails.logQ(m)))
			if d == 1 {
				if change := math.Abs(cost(n) - cost(m)); change > arrays[k][0] {
					t.Fatalf("%v → %v: the cost changes by %v, more than %v", n, m, change, arrays[k][0])
				}
				for _, beta := range []float64{.05, .2, .5} {
					x, _ := smooth(arrays[k], beta)
					y, _ := smooth(arrays[j], beta)
					if x > y*math.Exp(beta)*(1+1e-12) {
						t.Fatalf("%v → %v: SS falls from %v to %v, more than e^%v", n, m, x, y, beta)
					}
				}
			}
		}
		for d := range want {
			if d > 0 {
				want[d] = max(want[d], want[d-1])
			}
			near(t, fmt.Sprintf("%v L[%d]", n, d), arrays[k][d], want[d], 1e-12)
		}
	}
}

// E16: one definition of the cost serves the ledger and the sensitivities.
func TestOneDefinitionOfCost(t *testing.T) {
	near(t, "σ=.5", must(gnMax{.5}.DependentRDP(-6, 1.5)), 3.13156627, digits(9))
	near(t, "σ=1", must(gnMax{1}.DependentRDP(-3.1, 2)), 1.82752218, digits(9))
}

// E18: votes whose q underflows.
func TestUnderflow(t *testing.T) {
	b := must(newLocalBound(100, 14, 3, 6000))
	l := must(b.AtDistance([]int64{6000, 0, 0}))
	if l[0] != 0 && l[0] > 1e-300 || math.IsNaN(l[0]) || !(l[6000] > 0) {
		t.Errorf("L[0] = %v, L[N] = %v", l[0], l[6000])
	}
	g := gnMax{100}
	logQ := must(g.LogQ([]int64{6000, 0, 0}))
	near(t, "log q", logQ, math.Ln2+xmath.LogNormalTail(6000/(100*math.Sqrt2)), 1e-13)
}

// The arrays do not depend on the number of equal rows or on their order.
func TestSensitivityAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	v := s1(t, 250, 10, 30)
	var rows [][]int64
	want := make([]float64, 251)
	b := must(newLocalBound(40, 14, 10, 250))
	for range 100 {
		n := slices.Clone(v.Row(r.IntN(30)))
		r.Shuffle(10, func(i, j int) { n[i], n[j] = n[j], n[i] })
		rows = append(rows, n)
		for d, x := range must(b.AtDistance(n)) {
			want[d] += x
		}
	}
	got := sensitivity(t, ledger(t, must(ballots.NewVotes(rows, 0)), gnMax{40}, nil), 14, Worst, nil)
	for d := range want {
		near(t, fmt.Sprintf("L[%d]", d), got.Local[d], want[d], 1e-13)
	}
}

// At returns the bound at log q, rounded up.
func (b *localBound) At(logQ float64) float64 {
	return b.within(logQ, b.up(logQ), b.down(logQ))
}

// AtDistance returns the array L[0 … N]: L[d] bounds the local sensitivity at
// every histogram within d moved votes of the given one, which must hold the
// votes of all N teachers.
//
// Theorem: PATE 2018, Theorem 20 (Algorithms 4 and 5), with the sum of
// Algorithm 4's line 19 over all classes.
func (b *localBound) AtDistance(votes []int64) ([]float64, error) {
	if len(votes) != b.classes {
		return nil, fault.New("votes", "%d classes are not %d", len(votes), b.classes)
	}
	if err := ballot.CheckVotes(votes); err != nil {
		return nil, err
	}
	if n := sum(votes); n != b.teachers {
		return nil, fault.New("votes", "%d votes are not the %d of all teachers, which smooth sensitivity needs", n, b.teachers)
	}
	w := append([]int64(nil), votes...)
	sort.Slice(w, func(i, j int) bool { return w[i] > w[j] })
	prefix, err := b.atDistance(w)
	if err != nil {
		return nil, err
	}
	return fill(prefix, int(b.teachers)+1), nil
}

// fill repeats the last value up to length n.
func fill(prefix []float64, n int) []float64 {
	l := make([]float64, n)
	k := copy(l, prefix)
	for ; k < n; k++ {
		l[k] = prefix[len(prefix)-1]
	}
	return l
}
