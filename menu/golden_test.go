package menu_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// response returns randomized response with loss ±x.
func response(t testing.TB, x float64) profiles.Profile {
	t.Helper()
	p := math.Exp(x) / (1 + math.Exp(x))
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: x, LogP: math.Log(p), LogQ: math.Log1p(-p)}, {Loss: -x, LogP: math.Log1p(-p), LogQ: math.Log(p)}},
		math.Inf(-1), math.Inf(-1), 1e-15, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pair returns the type of a pair that is attained, and of its reverse in the other direction.
func pair(name string, cost int, p profiles.Profile, count int64) menu.Type {
	m := profiles.NewBounds(name, profiles.AddRemove, p)
	return menu.Type{Name: name, Cost: cost, Runs: profiles.Repeat(m, count)}
}

// lattice is the menu of the golden table: RR(0.1), RR(0.2), RR(0.3).
func lattice(t testing.TB) []menu.Type {
	return []menu.Type{pair("a", 1, response(t, 0.1), 1), pair("b", 4, response(t, 0.2), 1), pair("c", 9, response(t, 0.3), 1)}
}

// TestLatticeGame has the exact values of a game on a lattice: mpmath with 40 digits, a recursion with memory, which
// was checked against all 678 decision trees of 4 units.
func TestLatticeGame(t *testing.T) {
	for _, c := range []struct {
		units int
		eps   []float64
		want  []float64
		tol   float64
	}{
		{1, []float64{0, .1, .3, .5}, []float64{0.04995837495788, 0, 0, 0}, 1e-12},
		{4, []float64{0, .1, .3, .5}, []float64{0.0996679946249558, 0.0523236228358647, 0.00722827325908204, 0}, 1e-12},
		{9, []float64{0, .1, .3, .5}, []float64{0.148885033623318, 0.104128762422438, 0.034163506901067, 0.00645830389385242}, 1e-12},
		{12, []float64{0, .1, .3, .5}, []float64{0.156208730402931, 0.113400350076686, 0.0504727435277684, 0.016455912269955}, 1e-12},
		{20, []float64{0, .1, .3, .5}, []float64{0.191253376597883, 0.153946260851351, 0.0918427268634463, 0.0462326595521273}, 1e-12},
		{36, []float64{0, .1, .3, .5}, []float64{0.247770050356232, 0.213167220986352, 0.150059719965833, 0.0960970988904786}, 1e-12},
		{40, []float64{0, .1, .3, .5}, []float64{0.260015735376, 0.225928311076, 0.161025301718, 0.108341055652}, 1e-12},
		{144, []float64{1, 2, 3}, []float64{0.207857933301, 0.0594590559537, 0.00982015978551}, 1e-12},
	} {
		m, err := menu.New(t.Context(), lattice(t), menu.Options{Units: c.units, Delta: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		for i, eps := range c.eps {
			iv, err := m.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			if !(iv.Lower <= c.want[i]+1e-12 && iv.Upper >= c.want[i]-1e-12 && iv.Upper-iv.Lower <= c.tol) {
				t.Errorf("%d units, ε = %v: [%.15g, %.15g], want %.15g", c.units, eps, iv.Lower, iv.Upper, c.want[i])
			}
		}
	}
}

// training is the menu of the golden table of training: blocks of DP-SGD steps.
func training(t testing.TB) []menu.Type {
	var types []menu.Type
	s, err := subsample.NewPoisson(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		sigma float64
		count int64
	}{{"loud", 1, 29}, {"middle", 1.5, 104}, {"quiet", 2.5, 340}} {
		g, err := profiles.NewGaussianMechanism(x.sigma)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Apply(g, profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, menu.Type{Name: x.name, Cost: 1, Runs: profiles.Repeat(b, x.count)})
	}
	return types
}

// TestTrainingMenu has enclosures, not equalities: an own prototype with laws of single steps by chords at 2e-5, whose values
// at steps of 1e-3 and 5e-4 agree to 2e-5. Hence ± 3e-5.
func TestTrainingMenu(t *testing.T) {
	ctx := parallel.WithWork(t.Context(), 1e9)
	near := func(what string, iv fourier.Result, want float64) {
		t.Helper()
		if !(iv.Lower <= want+3e-5 && iv.Upper >= want-3e-5 && iv.Upper-iv.Lower <= 6e-5*want) {
			t.Errorf("%s: [%.7g, %.7g], want %v", what, iv.Lower, iv.Upper, want)
		}
	}
	m, err := menu.New(ctx, training(t), menu.Options{Units: 40, Delta: 1e-5, Relative: 5e-5})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Odometer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	near("10 stages", rows[10].Epsilon, 1.06288)
	near("20 stages", rows[20].Epsilon, 1.43372)
	near("39 stages", rows[39].Epsilon, 1.97567)
	near("40 stages", rows[40].Epsilon, 2.00108)
	d, err := m.Delta(ctx, 2)
	if err != nil || !(d.Lower <= 1.0082e-5 && d.Upper >= 1.0080e-5 && d.Upper < 1.0084e-5) {
		t.Errorf("δ(2) of 40 stages: [%v, %v] (%v), want 1.0081e-5", d.Lower, d.Upper, err)
	}
	// Of a fixed plan of one type, by the recursion and by the accountant's sum.
	for i, want := range []float64{1.96517, 1.96289, 1.94297} {
		m, err := menu.New(ctx, training(t)[i:i+1], menu.Options{Units: 40, Delta: 1e-5, Relative: 5e-5})
		if err != nil {
			t.Fatal(err)
		}
		iv, err := m.Epsilon(ctx, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		near("one type", iv, want)
		sum := fourier.New(fourier.Options{Relative: 1e-6})
		for _, r := range training(t)[i].Runs.Upper[0] {
			if err := sum.Add(r.Profile, 40*r.Count); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := sum.Epsilon(ctx, 1e-5)
		if err != nil || !(plan.Upper >= iv.Lower && plan.Lower <= iv.Upper) {
			t.Errorf("type %d: [%v, %v] as a menu, [%v, %v] as a plan (%v)", i, iv.Lower, iv.Upper, plan.Lower, plan.Upper, err)
		}
	}
	// The largest budget, and how often each type alone may run.
	types := training(t)
	m, err = menu.New(ctx, types, menu.Options{Epsilon: 2, Delta: 1e-5})
	if err != nil || m.Options.Units != 39 {
		t.Fatalf("%d units within (2, 1e-5), want 39 (%v)", m.Options.Units, err)
	}
	for i, n := range m.Alone {
		if want := []float64{41.4, 41.5, 42.4}[i]; math.Abs(n-want) > 0.5 {
			t.Errorf("type %d alone: %v, want about %v", i, n, want)
		}
	}
}

// TestAutoCosts pins the costs that New chooses.
func TestAutoCosts(t *testing.T) {
	types := training(t)
	for i := range types {
		types[i].Cost = 0
	}
	types[1].Runs = profiles.Composition{Upper: [2][]profiles.Repeated{{{Profile: types[1].Runs.Upper[0][0].Profile, Count: 31}}, {{Profile: types[1].Runs.Upper[1][0].Profile, Count: 31}}}}
	m, err := menu.New(t.Context(), types, menu.Options{Epsilon: 2, Delta: 1e-5, Relative: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{10, 3, 10} {
		if got := m.Types[i].Cost; got != want {
			t.Errorf("type %d: cost %d, want %d", i, got, want)
		}
	}
}

// TestGaussianMenu: types of μ = √c at cost c have the price of μ = √B, for every B with a type of cost 1.
func TestGaussianMenu(t *testing.T) {
	var types []menu.Type
	for _, c := range []int{1, 4, 9} {
		g, err := profiles.NewGaussian(4 / math.Sqrt(float64(c)))
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, pair(string(rune('0'+c)), c, g, 1))
	}
	for _, units := range []int{1, 11, 20} {
		m, err := menu.New(parallel.WithWork(t.Context(), 1e9), types, menu.Options{Units: units, Delta: 1e-5, Relative: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		g, _ := profiles.NewGaussian(4 / math.Sqrt(float64(units)))
		for _, eps := range []float64{0, 0.5, 1, 2} {
			iv, err := m.Delta(t.Context(), eps)
			l, _ := profiles.LogDelta(g, eps)
			if want := math.Exp(l); err != nil || !(iv.Lower <= want && iv.Upper >= want) {
				t.Errorf("%d units, ε = %v: [%v, %v] without %v (%v)", units, eps, iv.Lower, iv.Upper, want, err)
			}
		}
		sum := fourier.New(fourier.Options{Relative: 1e-9})
		sum.Add(g, 1)
		want, err := sum.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		iv, err := m.Epsilon(t.Context(), 1e-5)
		if err != nil || !(iv.Lower <= want.Upper && iv.Upper >= want.Lower && iv.Upper-iv.Lower <= 2e-4*want.Upper) {
			t.Errorf("%d units: ε in [%v, %v], want %v (%v)", units, iv.Lower, iv.Upper, want.Upper, err)
		}
	}
}

// TestOneSidedType: a pair that has the profile of Gaussian noise with μ = 1 at every α ≥ 1 only, its losses below 0 merged into one.
// Two runs of it have 0.332045 at α = 2, two of the noise 0.354673: a type must dominate for every α > 0, as the recursion
// reads α below 1.
func TestOneSidedType(t *testing.T) {
	g, err := profiles.NewGaussian(1)
	if err != nil {
		t.Fatal(err)
	}
	const n, h = 4000, 2e-3
	var atoms []profiles.Atom
	p, q := 1.0, 1.0
	for i := range n {
		a, b := g.Tails(float64(i)*h, 0), g.Tails(float64(i+1)*h, 0)
		dp, dq := math.Exp(a.P)-math.Exp(b.P), math.Exp(a.Q)-math.Exp(b.Q)
		if i == n-1 {
			dp, dq = math.Exp(a.P), math.Exp(a.Q)
		}
		p, q = p-dp, q-dq
		atoms = append(atoms, profiles.Atom{Loss: math.Log(dp / dq), LogP: math.Log(dp), LogQ: math.Log(dq)})
	}
	atoms = append(atoms, profiles.Atom{Loss: math.Log(p / q), LogP: math.Log(p), LogQ: math.Log(q)})
	merged, err := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), 1e-9, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    profiles.Profile
		want float64
	}{{merged, 0.332045}, {g, 0.354673}} {
		m := profiles.Bounds{Directions: [2]profiles.Direction{{Upper: c.p, Lower: c.p}, {Upper: c.p, Lower: c.p}}}
		x, err := menu.New(t.Context(), []menu.Type{{Name: "a", Cost: 1, Runs: profiles.Repeat(m, 1)}}, menu.Options{Units: 2, Delta: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		iv, err := x.Delta(t.Context(), math.Ln2)
		if err != nil || !(iv.Lower <= c.want+1e-5 && iv.Upper >= c.want-1e-5 && iv.Upper-iv.Lower < 5e-3) {
			t.Errorf("[%v, %v], want %v (%v)", iv.Lower, iv.Upper, c.want, err)
		}
	}
}

// TestDoubling: Theorem 3 with b = b′ = 20 and c = 9, by the profile of 20 units composed twice. Golden: the recursion in
// mpmath, composed exactly.
func TestDoubling(t *testing.T) {
	m, err := menu.New(t.Context(), lattice(t), menu.Options{Units: 20, Delta: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	// The golden values are of the polygon through the points of the lattice; Profile has more points.
	var x, up []float64
	for k := range 61 {
		iv, err := m.Delta(t.Context(), float64(k)/10)
		if err != nil {
			t.Fatal(err)
		}
		x, up = append(x, float64(k)/10), append(up, iv.Upper)
	}
	polygon, err := profiles.NewChords(x, up, up)
	if err != nil {
		t.Fatal(err)
	}
	sum, finer := fourier.New(fourier.Options{Relative: 1e-10}), fourier.New(fourier.Options{Relative: 1e-6})
	if err := sum.Add(polygon, 2); err != nil {
		t.Fatal(err)
	}
	both, _, err := m.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := finer.Add(both[0], 2); err != nil {
		t.Fatal(err)
	}
	whole, err := menu.New(t.Context(), lattice(t), menu.Options{Units: 32, Delta: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	for i, eps := range []float64{0, .1, .3, .5} {
		twice := []float64{0.267535671348, 0.232034164006, 0.167553745113, 0.11405129441}[i]
		r32 := []float64{0.235401806405, 0.200421511339, 0.135486405342, 0.0840940433532}[i]
		d, err := sum.Delta(t.Context(), eps)
		if err != nil || math.Abs(d.Upper-twice) > 1e-9 {
			t.Errorf("ε = %v: twice 20 units have %.12g, want %v (%v)", eps, d.Upper, twice, err)
		}
		f, err := finer.Delta(t.Context(), eps)
		if r40 := []float64{0.260015735376, 0.225928311076, 0.161025301718, 0.108341055652}[i]; err != nil || !(f.Upper > r40 && f.Upper < twice+1e-9) {
			t.Errorf("ε = %v: the profile twice has %v, not between %v and %v (%v)", eps, f.Upper, r40, twice, err)
		}
		iv, err := whole.Delta(t.Context(), eps)
		if err != nil || math.Abs(iv.Upper-r32) > 1e-12 {
			t.Errorf("ε = %v: 32 units have %.13g, want %v (%v)", eps, iv.Upper, r32, err)
		}
	}
}

// TestLong: a long horizon in blocks is at most a few per cent above the best plan that is fixed, and not below it.
func TestLong(t *testing.T) {
	types := training(t)[:2]
	for i, n := range []int64{1, 4} {
		for d := range 2 {
			types[i].Runs.Upper[d] = []profiles.Repeated{{Profile: types[i].Runs.Upper[d][0].Profile, Count: n}}
			types[i].Runs.Lower[d] = types[i].Runs.Upper[d]
		}
	}
	m, err := menu.New(t.Context(), types, menu.Options{Units: 1200, Delta: 1e-5, Relative: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	iv, err := m.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	var fixed fourier.Result
	for _, x := range types {
		sum := fourier.New(fourier.Options{})
		sum.Add(x.Runs.Upper[0][0].Profile, 1200*x.Runs.Upper[0][0].Count)
		r, err := sum.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if r.Upper > fixed.Upper {
			fixed = r
		}
	}
	// The lower end is that of the best fixed plan, so not above it.
	if !(iv.Upper >= fixed.Lower && iv.Lower >= fixed.Lower*0.98 && iv.Lower <= fixed.Upper && iv.Upper <= fixed.Upper*1.08) {
		t.Errorf("[%v, %v], where a fixed plan has %v", iv.Lower, iv.Upper, fixed.Upper)
	}
	t.Log(iv.Lower, iv.Upper, fixed.Upper)
	rows, err := m.Odometer(t.Context())
	if err != nil || rows[len(rows)-1].Units < 1200 {
		t.Errorf("rows %v (%v)", rows, err)
	}
}

// TestSmallDelta: a budget of units needs no δ, and a δ below 1e-200 is refused.
func TestSmallDelta(t *testing.T) {
	types := training(t)[:1]
	if _, err := menu.New(t.Context(), types, menu.Options{Units: 2, Relative: 1e-2}); err != nil {
		t.Errorf("without a δ: %v", err)
	}
	if _, err := menu.New(t.Context(), types, menu.Options{Units: 2, Delta: 1e-201, Relative: 1e-2}); err == nil || !strings.Contains(err.Error(), "delta: 1e-201 is not in [1e-200, 1)") {
		t.Errorf("a δ of 1e-201: %v", err)
	}
}
