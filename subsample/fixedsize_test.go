package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

func deltaOf(p profiles.Profile, eps float64) float64 {
	l, _ := profiles.LogDelta(p, eps)
	return math.Exp(l)
}

func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gaussian(sigma float64) profiles.Mechanism { return ok(profiles.NewGaussianMechanism(sigma)) }
func laplace(b float64) profiles.Mechanism      { return ok(profiles.NewLaplaceMechanism(b)) }

// profileSetting is n=1000, m=400, b=500 (must.md §5.1).
func profileSetting() map[string]FixedSize {
	return map[string]FixedSize{
		"WOR": must(NewWithoutReplacement(1000, 400)), "WR": must(NewWithReplacement(1000, 400)),
		"OW": must(NewMustOW(1000, 500, 400)), "WW": must(NewMustWW(1000, 500, 400)), "WO": must(NewMustWO(1000, 500, 400)),
	}
}

func TestTheorem5Golden(t *testing.T) {
	grid := []float64{0.05, 0.5, 1, 2, 3, 4.5}
	schemes := profileSetting()
	for name, want := range map[string][]float64{ // ε', must.md §7.1
		"WOR": {0.02030097226876, 0.2307056927356, 0.5231371636116, 1.268530136416, 2.155732771653, 3.600235450211},
		"WR":  {0.01676854893524, 0.1938856163633, 0.4489801543733, 1.133722240084, 1.987145187682, 3.413096456366},
		"OW":  {0.01402713563931, 0.1644398882319, 0.3875815701774, 1.015333376737, 1.833918117694, 3.239681560322},
		"WW":  {0.01227593776557, 0.1452095806553, 0.3463851817925, 0.9318380908175, 1.722382727961, 3.111063539251},
	} {
		for i, eps := range grid {
			if got := schemes[name].AmplifiedEpsilon(eps); rel(got, want[i]) > 1e-12 {
				t.Errorf("%s: eps'(%v) = %v, want %v", name, eps, got, want[i])
			}
		}
	}
	// δ', must.md §7.1. The noise multiplier is for one record's contribution,
	// half of Δ/σ's: a substitution moves the mean by Δ.
	for _, c := range []struct {
		base   profiles.Mechanism
		what   string
		scheme string
		want   []float64
	}{
		{laplace(8), "Laplace 0.25", "WOR", []float64{0.0380650327856, 0, 0, 0, 0, 0}},
		{laplace(8), "Laplace 0.25", "WR", []float64{0.0387295154517, 0.00101168002944, 7.47262010057e-6, 5.64931911853e-11, 7.44163959172e-17, 1.21804923909e-26}},
		{laplace(8), "Laplace 0.25", "WO", []float64{0.0387295154517, 0.00101168002944, 7.47262010057e-6, 5.64931911853e-11, 7.44163959172e-17, 1.21804923909e-26}},
		{laplace(8), "Laplace 0.25", "OW", []float64{0.0390258259172, 0.00331386922757, 9.17685886829e-5, 1.05573400154e-8, 2.18320955858e-13, 2.2619227743e-21}},
		{laplace(8), "Laplace 0.25", "WW", []float64{0.0388894994205, 0.00611506102078, 0.000606920912376, 4.0452264148e-6, 1.84205526046e-8, 3.44144796693e-12}},
		{laplace(2), "Laplace 1", "WOR", []float64{0.151245977414, 0.0884796867714, 0, 0, 0, 0}},
		{laplace(2), "Laplace 1", "WR", []float64{0.140991695963, 0.0933475156145, 0.0261849971578, 0.00329396427781, 0.000316679426056, 1.4504887875e-5}},
		{laplace(2), "Laplace 1", "OW", []float64{0.131513427833, 0.0951784546727, 0.0439581736718, 0.0104778747688, 0.00194912407984, 0.000182812914738}},
		{laplace(2), "Laplace 1", "WW", []float64{0.123475177197, 0.0938443113299, 0.0520746017642, 0.0182446972613, 0.00590119151231, 0.00126863438598}},
		{gaussian(8), "Gaussian 0.25", "WOR", []float64{0.0313654779313, 0.00108355208733, 1.16970884194e-6, 2.03685235755e-17, 6.4953314953e-35, 5.06372938766e-74}},
		{gaussian(8), "Gaussian 0.25", "WR", []float64{0.0328145034918, 0.00472234214244, 0.000825441504205, 3.58682499733e-5, 2.16751015152e-6, 4.63701568257e-8}},
		{gaussian(8), "Gaussian 0.25", "OW", []float64{0.0338822815708, 0.00808771770806, 0.00209286297301, 0.000178781553083, 1.88861149926e-5, 8.28392289011e-7}},
		{gaussian(8), "Gaussian 0.25", "WW", []float64{0.0344536664793, 0.0108211752625, 0.00377261748347, 0.000621367858299, 0.000131068627115, 1.66001473772e-5}},
		{gaussian(2), "Gaussian 1", "WOR", []float64{0.147022806625, 0.095368683254, 0.0507746950027, 0.00836945432845, 0.00061487414776, 2.34707585991e-6}},
		{gaussian(2), "Gaussian 1", "WR", []float64{0.141662464461, 0.10271949495, 0.0677039326795, 0.0289669364612, 0.0149430523225, 0.00614379719518}},
		{gaussian(2), "Gaussian 1", "OW", []float64{0.135501027833, 0.106152954763, 0.0787938835083, 0.0448110590633, 0.0281789318673, 0.0145187493578}},
		// The row that must.md §5.1 (E9) corrects.
		{gaussian(2), "Gaussian 1", "WW", []float64{0.128819653791, 0.105179112546, 0.0827571879195, 0.0534365100191, 0.0373932312222, 0.0227610761854}},
	} {
		s := schemes[c.scheme]
		p, err := s.Theorem5(c.base)
		if err != nil {
			t.Fatal(err)
		}
		for i, eps := range grid {
			got := deltaOf(p, s.AmplifiedEpsilon(eps))
			if rel(got, c.want[i]) > 1e-10 && math.Abs(got-c.want[i]) > 1e-290 {
				t.Errorf("%s %s: delta' at eps %v = %v, want %v (%.1e)", c.what, c.scheme, eps, got, c.want[i], rel(got, c.want[i]))
			}
		}
	}
}

func TestSameEpsilonGolden(t *testing.T) {
	// must.md §7.4: δ' at equal ε'; Gaussian, Laplace.
	schemes := profileSetting()
	order := []string{"WOR", "WR", "OW", "WW"}
	for _, c := range []struct {
		noise, eps float64
		g, l       []float64
	}{
		{8, 0, []float64{0.03979057986, 0.03965226369, 0.03948376722, 0.03925937382}, []float64{0.04700123897, 0.0459164193, 0.04486477474, 0.0438773439}},
		{8, 0.05, []float64{0.02150626567, 0.02224461497, 0.02292430222, 0.02341588365}, []float64{0.02505985372, 0.02464660375, 0.02431880487, 0.02392148482}},
		{8, 0.1, []float64{0.01055433701, 0.012355508, 0.01387029376, 0.01503079701}, []float64{0.003299858038, 0.0073965826, 0.01111346905, 0.01264470749}},
		{8, 0.2, []float64{0.001944899165, 0.004476139896, 0.006276236289, 0.007743738423}, []float64{0, 0.0009647958307, 0.002381314185, 0.00365779308}},
		{8, 0.5, []float64{2.159504106e-6, 0.0006146530291, 0.001211360442, 0.002089187903}, []float64{0, 5.124374762e-6, 2.504970092e-5, 0.0001536229965}},
		{8, 1, []float64{4.273124489e-13, 5.970942729e-5, 0.0001877015504, 0.0005306386203}, []float64{0, 9.425181686e-10, 2.048896201e-8, 2.952821898e-6}},
		{8, 2, []float64{1.726123619e-31, 2.086855347e-6, 1.264820864e-5, 8.307441019e-5}, []float64{0, 7.055862712e-17, 6.73719104e-14, 3.714592303e-9}},
		{2, 0, []float64{0.153169969, 0.1462387403, 0.1389095285, 0.131549515}, []float64{0.1573877361, 0.1456537376, 0.1350688496, 0.1263745938}},
		{2, 0.05, []float64{0.1384377599, 0.1331049869, 0.1273539032, 0.1210875078}, []float64{0.1423076573, 0.1318563128, 0.1225581065, 0.1147743224}},
		{2, 0.1, []float64{0.1250180635, 0.1214048661, 0.1172931115, 0.1121646583}, []float64{0.1273522455, 0.1183197838, 0.1104250168, 0.1036321969}},
		{2, 0.2, []float64{0.1016879192, 0.1016333895, 0.1007504816, 0.09784311751}, []float64{0.09760866453, 0.09173416471, 0.08689851065, 0.08224585871}},
		{2, 0.5, []float64{0.05344428075, 0.06270149112, 0.06943779796, 0.07167550191}, []float64{0.00716263161, 0.0246064373, 0.03823512969, 0.04344125598}},
		{2, 1, []float64{0.01661910331, 0.03320537798, 0.04528740878, 0.05150433729}, []float64{0, 0.008137831627, 0.01136021743, 0.01731037631}},
		{2, 2, []float64{0.0010132325, 0.01481820649, 0.02596186844, 0.03362720082}, []float64{0, 0.0003134831324, 0.001700843904, 0.004830725408}},
	} {
		for i, name := range order {
			for _, x := range []struct {
				b    profiles.Mechanism
				want float64
			}{{gaussian(c.noise), c.g[i]}, {laplace(c.noise), c.l[i]}} {
				got := deltaOf(ok(schemes[name].Theorem5(x.b)), c.eps)
				if math.Abs(got-x.want) > 2e-9*x.want { // 10 digits given
					t.Errorf("%s %s noise %v eps' %v: %v, want %v", name, x.b.Name(), c.noise, c.eps, got, x.want)
				}
			}
		}
	}
}

func TestFigure5Golden(t *testing.T) {
	// must.md §7.5: n=1000, ε=1, Δ/σ=1: η; δ'−δ Laplace; Gaussian.
	g, l := gaussian(2), laplace(2)
	baseG := deltaOf(ok(g.Pair(profiles.Substitute)), 1)
	baseL := deltaOf(ok(l.Pair(profiles.Substitute)), 1)
	for _, c := range []struct {
		m, b   int64
		ow, ww [3]float64
	}{
		{100, 150, [3]float64{0.0731591439119, 0.00966701116228, -0.10804398435}, [3]float64{0.0705759476556, 0.0103780725789, -0.107640887199}},
		{100, 200, [3]float64{0.0788459127019, 0.00779296454944, -0.109217588927}, [3]float64{0.0758490842292, 0.00870930595394, -0.108663737903}},
		{125, 175, [3]float64{0.0895055351457, 0.0126963122796, -0.102944062631}, [3]float64{0.0856514359921, 0.0137165897801, -0.102382686955}},
		{150, 150, [3]float64{0.0950025361981, 0.0189024591402, -0.0959631134463}, [3]float64{0.0906659508587, 0.0198012726518, -0.0955865412804}},
		{150, 200, [3]float64{0.105704252516, 0.0157630277842, -0.0978237091112}, [3]float64{0.100349511382, 0.0171364168126, -0.0970879571548}},
	} {
		for _, x := range []struct {
			s    FixedSize
			want [3]float64
		}{{must(NewMustOW(1000, c.b, c.m)), c.ow}, {must(NewMustWW(1000, c.b, c.m)), c.ww}} {
			eps := x.s.AmplifiedEpsilon(1)
			got := [3]float64{x.s.InclusionProbability(), deltaOf(ok(x.s.Theorem5(l)), eps) - baseL, deltaOf(ok(x.s.Theorem5(g)), eps) - baseG}
			for i := range got {
				if math.Abs(got[i]-x.want[i]) > 2e-12 {
					t.Errorf("%v: %v, want %v", x.s, got, x.want)
				}
			}
		}
	}
}

// paperSetting is n=10000, m=200, b=118, σ=4 (must.md §5.2).
func paperSetting() (wor, wr, ow, ww FixedSize, base profiles.Mechanism) {
	return must(NewWithoutReplacement(10000, 200)), must(NewWithReplacement(10000, 200)), must(NewMustOW(10000, 118, 200)), must(NewMustWW(10000, 118, 200)), gaussian(4)
}

func TestEnvelopeGolden(t *testing.T) {
	// must.md §7.6, single-step envelope h(ε), negative ε too, and the atom at 0.
	wor, wr, ow, ww, base := paperSetting()
	grid := []float64{-1, -0.1, 0, 0.05, 0.1, 0.5, 1, 2, 5}
	for _, c := range []struct {
		s    FixedSize
		want []float64
		atom float64
	}{
		{wor, []float64{0.632120558828558, 0.0951632336833768, 0.00394825302731695, 3.23855042931794e-5, 7.20261257277689e-7, 8.58404578410936e-15, 2.10896462347221e-21, 6.18463414599499e-33, 1.35319868588263e-72}, 0.19346439833853},
		{wr, []float64{0.632120561547192, 0.095168542693601, 0.00394587201482679, 4.69888596578429e-5, 6.58762496088921e-6, 8.42301898686221e-8, 7.39001325794575e-9, 4.53152337700835e-10, 7.40773991968796e-13}, 0.195317376627823},
		{ow, []float64{0.632151552715483, 0.0956476516798357, 0.00366975601490387, 0.000851023113074605, 0.000536084943136181, 0.000159968474172142, 8.42501196236211e-5, 3.6194190268257e-5, 5.22911501108179e-6}, 0.376657690684935},
		{ww, []float64{0.632152993297516, 0.0956539055072921, 0.00366533978531327, 0.000857551557905415, 0.000542996491367601, 0.000165110667117909, 8.81660275837959e-5, 3.87667664340097e-5, 6.08326275429026e-6}, 0.37802319212244},
	} {
		p := ok(c.s.Theorem5(base))
		for i, eps := range grid {
			if got := deltaOf(p, eps); rel(got, c.want[i]) > 2e-12 {
				t.Errorf("%s: h(%v) = %v, want %v", c.s.Name(), eps, got, c.want[i])
			}
		}
		at := p.Tails(0, 0)
		below := p.Tails(math.Nextafter(0, -1), 0)
		if got := math.Exp(below.P) - math.Exp(at.P); rel(got, c.atom) > 1e-12 {
			t.Errorf("%s: atom at 0 %v, want %v", c.s.Name(), got, c.atom)
		}
	}
}

func TestPairsGolden(t *testing.T) {
	// must.md §7.6, k = 1: δ(0), δ(0.1), δ(0.5), δ(1) and ε(1e-5); 0 where the
	// table has fewer digits.
	wor, wr, ow, ww, base := paperSetting()
	grid := []float64{0, 0.1, 0.5, 1}
	paper := func(s FixedSize) profiles.Profile { return ok(s.PaperPairNotABound(base)) }
	attack := func(s FixedSize) profiles.Profile { return ok(s.Attack(base)) }
	poisson := ok(PoissonProfile(ok(base.Pair(profiles.AddRemove)), 0.02))
	for _, c := range []struct {
		name string
		p    profiles.Profile
		want []float64
		eps  float64
	}{
		{"Poisson remove", poisson, []float64{0.00198952899320452, 1.80141777157765e-16}, 0.0181648181942054},
		{"Poisson add", profiles.Reverse(poisson), []float64{0.00198952899320452}, 0.00907379330975106},
		{"WOR A", paper(wor), []float64{0.00394825302731695, 1.6920754356121e-14}, 0.0291878238591288},
		{"WOR B remove", attack(wor), []float64{0.00394825302731695, 7.20261257277689e-7, 8.58404578410936e-15, 2.10896462347221e-21}, 0.0642885008240174},
		{"WOR B add", profiles.Reverse(attack(wor)), []float64{0.00394825302731695}, 0.0144232337328774},
		{"WR A", paper(wr), []float64{0.00394587201482679, 3.97044600698374e-14}, 0.029320529974554},
		{"WR B remove", attack(wr), []float64{0.00394372333810943, 9.80723483660294e-7, 1.87034413880051e-13, 6.34388851762014e-18}, 0.0663506075059356},
		{"WR C", ok(wr.Theorem5(base)), []float64{0.00394587201482679, 6.58762496088921e-6, 8.42301898686221e-8, 7.39001325794575e-9}, 0.0841451361607879},
		{"OW A", paper(ow), []float64{0.00366975601490387, 1.23329381488226e-6, 1.49537541720243e-9, 4.28930769051926e-11}, 0.0562266360586651},
		{"OW B remove", attack(ow), []float64{0.00354783395194853, 0.000340401868090814, 5.56583433343272e-5, 2.08662939917708e-5}, 1.52638481834883},
		{"OW C", ok(ow.Theorem5(base)), []float64{0.00366975601490387, 0.000536084943136181, 0.000159968474172142, 8.42501196236211e-5}, 3.94089103621116},
		{"WW A", paper(ww), []float64{0.00366533978531327, 1.37064140451825e-6, 2.31089313461973e-9, 9.2663287985831e-11}, 0.0571335540387768},
		{"WW B remove", attack(ww), []float64{0.00354184781571386, 0.000347356830590839, 5.90641777050249e-5, 2.28522769516954e-5}, 1.62814615392647},
		{"WW C", ok(ww.Theorem5(base)), []float64{0.00366533978531327, 0.000542996491367601, 0.000165110667117909, 8.81660275837959e-5}, 4.14097921366392},
	} {
		for i, w := range c.want {
			// δ = P − e^ε Q: where the two agree to 7 digits, 1e-9 is what is left.
			if got := deltaOf(c.p, grid[i]); rel(got, w) > 1e-9 {
				t.Errorf("%s: delta(%v) = %v, want %v (%.1e)", c.name, grid[i], got, w, rel(got, w))
			}
		}
		// δ(ε) crosses 1e-5 at the golden ε.
		if l, r := deltaOf(c.p, c.eps*(1-1e-12)), deltaOf(c.p, c.eps*(1+1e-12)); !(l >= 1e-5 && r <= 1e-5) {
			t.Errorf("%s: delta just around eps %v is %v, %v, want 1e-5 between", c.name, c.eps, l, r)
		}
	}
}

func TestCoupledGolden(t *testing.T) {
	// must-gap.md §3: R6 after three stages, pair B. Ours is the optimum over all
	// stages: at most that, at least pair B. (The WR row at ε = 8 of that table
	// stops at 12 copies; with all of them pair B is 4.096613508e-40, and with 12
	// the table's 4.09658333e-40.)
	_, wr, ow, _, base := paperSetting()
	for _, c := range []struct {
		s           FixedSize
		eps, r6, pb float64
	}{
		{wr, 0.001, 3.56362667e-3, 3.56280996e-3}, {wr, 0.01, 1.41940691e-3, 1.41940691e-3}, {wr, 0.05, 3.59150349e-5, 3.59150349e-5}, {wr, 0.1, 9.80723484e-7, 9.80723484e-7},
		{wr, 0.5, 1.87034414e-13, 1.87034414e-13}, {wr, 1, 6.34388852e-18, 6.34388852e-18}, {wr, 3, 1.45021551e-27, 1.45021551e-27}, {wr, 8, 4.096613508e-40, 4.096613508e-40},
		{ow, 0.001, 3.382e-3 * 1.001, 3.29229196e-3}, {ow, 0.01, 1.96786240e-3, 1.96084830e-3}, {ow, 0.05, 6.53941050e-4, 6.53911357e-4}, {ow, 0.1, 3.40402975e-4, 3.40401868e-4},
		{ow, 0.5, 5.56583436e-5, 5.56583433e-5}, {ow, 1, 2.08662940e-5, 2.08662940e-5}, {ow, 3, 1.98756381e-6, 1.98756381e-6}, {ow, 8, 2.10501620e-8, 2.10501620e-8},
	} {
		m := ok(c.s.Apply(base, profiles.Substitute)).Directions[0]
		up, lo := deltaOf(m.Upper, c.eps), deltaOf(m.Lower, c.eps)
		if rel(lo, c.pb) > 4e-9 {
			t.Errorf("%s pair B at %v: %v, want %v", c.s.Name(), c.eps, lo, c.pb)
		}
		if !(lo <= up*(1+1e-12) && up <= c.r6*(1+4e-9)) {
			t.Errorf("%s at %v: upper %v, want in [%v, %v]", c.s.Name(), c.eps, up, lo, c.r6)
		}
	}
}

// greedy is R6 as must-gap.md §3 words it, stage by stage, on plain float64:
// an independent check of the closed form of copies.GaussianWR.
func greedy(p []float64, theta, alpha float64) float64 {
	phi := func(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }
	sum, done := 0.0, 0
	for first := true; done < len(p)-1; first = false {
		best, at, cBest := math.Inf(1), 0, 0.0
		c := 0.0
		if first {
			c = (alpha - 1) * p[0]
		}
		for i := done + 1; i < len(p); i++ {
			c += alpha * p[i]
			f := func(t float64) float64 {
				s := 0.0
				for u := done + 1; u <= i; u++ {
					x := float64(u) * theta
					s += p[u] * math.Exp(x*t-x*x/2)
				}
				return s - c
			}
			lo, hi := -50.0, 50.0
			for range 200 {
				if mid := (lo + hi) / 2; f(mid) > 0 {
					hi = mid
				} else {
					lo = mid
				}
			}
			if hi <= best*(1+1e-13) {
				best, at, cBest = hi, i, c
			}
		}
		for u := done + 1; u <= at; u++ {
			sum += p[u] * phi(best-float64(u)*theta)
		}
		sum -= cBest * phi(best)
		done = at
	}
	return sum
}

func TestCoupledIsTheOptimalCoupling(t *testing.T) {
	for _, n := range []int64{2, 3, 4, 10} {
		for _, m := range []int64{2, 3, 6} {
			for _, theta := range []float64{2, 2. / 3, 0.4} {
				law := must(NewWithReplacement(n, m)).Multiplicity()
				p := make([]float64, len(law.LogP))
				for u := range p {
					p[u] = math.Exp(law.LogP[u])
				}
				c := copies.NewGaussianWR(law, theta)
				for _, eps := range []float64{0, 1e-3, 0.05, 0.1, 0.25, 0.5, 1, 2, 3} {
					if want, got := greedy(p, theta, math.Exp(eps)), deltaOf(c, eps); math.Abs(got-want) > 1e-12+1e-10*want {
						t.Errorf("WR(%d,%d) theta %v eps %v: %v, stage by stage %v", n, m, theta, eps, got, want)
					}
				}
			}
		}
	}
}

// The best way of sharing "no slot holds the record" between one and two slots,
// by trying a hundred ways; each way uses the coupling stage by stage.
func TestStagedSharesBest(t *testing.T) {
	weights := func(j int) []float64 {
		var p []float64
		for _, l := range copies.Drawn(2, 3, j).LogP {
			p = append(p, math.Exp(l))
		}
		return p
	}
	one, two := weights(1), weights(2)
	for _, c := range []struct{ theta, eps float64 }{{2, .5}, {2. / 3, .05}, {2. / 3, 1}, {0.4, 0.3}} {
		a := math.Exp(c.eps)
		best := math.Inf(1)
		for i := range 101 {
			l := float64(i) / 100
			best = min(best, 4./9*greedy(one, c.theta, a+(a-1)*l)+1./9*greedy(two, c.theta, a+(a-1)*4*(1-l)))
		}
		// The hundredth step is within 1e-6 of the minimum of a convex function.
		// Chords between outputs at a distance of 0.005 are above it by (0.005·6)²/8 of it; on the other side half the step.
		p := must(copies.Staged(copies.GaussianNoise, c.theta, 3, 2, func(j int) copies.Law { return copies.Drawn(2, 3, j) }).Curve().Profile())
		if got := deltaOf(p, c.eps); got > best*(1+1.2e-4) || got < best-1e-6 {
			t.Errorf("theta %v eps %v: %v, brute force %v", c.theta, c.eps, got, best)
		}
	}
}

// A sample of the whole population exists in the larger of two data sets only: what is answered under add-remove for n records
// is above what is attained where a record is added to n.
func TestWholePopulationCoversOneMore(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(1.5)
	if err != nil {
		t.Fatal(err)
	}
	of := func(s FixedSize, err error) profiles.Bounds {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Apply(b, profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, m := range map[string][2]profiles.Bounds{
		"without-replacement": {of(NewWithoutReplacement(10, 10)), of(NewWithoutReplacement(11, 10))},
		"must-ow":             {of(NewMustOW(10, 10, 4)), of(NewMustOW(11, 10, 4))},
	} {
		for d := range 2 {
			for _, eps := range []float64{-1, 0, 0.5, 2, 5} {
				lower := m[1].Directions[d].Lower
				if lower == nil {
					lower = m[1].Directions[d].Upper // exact
				}
				above, e := profiles.LogDelta(m[0].Directions[d].Upper, eps)
				reached, f := profiles.LogDelta(lower, eps)
				if above+e < reached-f {
					t.Errorf("%s, direction %d, ε = %v: log δ %v for 10 records, %v reached where one is added", name, d, eps, above, reached)
				}
			}
		}
	}
}
