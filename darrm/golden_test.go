package darrm

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"
)

// Golden values of this file: darrm.md §11, computed there in 40-50 digits; the
// section stands beside each table.

func near(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g (difference %.2g, tolerance %.2g)", name, got, want, got-want, tol)
	}
}

// pure returns the parameters of a pure problem.
func pure(k int, eps, m float64) Params { return Params{Mechanisms: k, Epsilon: eps, Allowance: m} }

func approx(k int, eps, m, delta float64) Params {
	return Params{Mechanisms: k, Epsilon: eps, Allowance: m, Delta: delta}.WithDefaultDelta()
}

func TestGoldenSubsampling(t *testing.T) {
	// §11.1
	for _, c := range []struct {
		k, m int
		want []string
	}{
		{3, 1, []string{"1/3", "1"}},
		{5, 1, []string{"1/5", "3/5", "1"}},
		{5, 3, []string{"2/5", "1", "1"}},
		{7, 1, []string{"1/7", "3/7", "5/7", "1"}},
		{7, 3, []string{"9/35", "5/7", "1", "1"}},
		{7, 5, []string{"3/7", "1", "1", "1"}},
		{11, 3, []string{"5/33", "73/165", "23/33", "49/55", "1", "1"}},
		{11, 5, []string{"50/231", "20/33", "29/33", "1", "1", "1"}},
		{11, 7, []string{"10/33", "26/33", "1", "1", "1", "1"}},
		{11, 9, []string{"5/11", "1", "1", "1", "1", "1"}},
	} {
		g, err := exactSubsampling(c.k, c.m)
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range c.want {
			want, _ := new(big.Rat).SetString(w)
			if g[half(c.k)+j].Cmp(want) != 0 {
				t.Errorf("K=%d m=%d: γ(%d) = %v, want %v", c.k, c.m, half(c.k)+j, g[half(c.k)+j], w)
			}
		}
	}
	sub, _ := exactSubsampling(101, 19)
	dsub, _ := exactDoubleSubsampling(101, 10)
	for _, exact := range [][]*big.Rat{sub, dsub} {
		g := rounded(exact)
		near(t, "γ(51)", g[51], 0.038508980039194652, 1e-16)
		near(t, "γ(60)", g[60], 0.646429316027597511, 1e-16)
		near(t, "γ(75)", g[75], 0.989952292584242104, 2e-16)
	}
}

func TestGoldenWeights(t *testing.T) {
	// §11.2
	for k, want := range map[int][]float64{
		3:  {9. / 32, 13. / 32},
		5:  {45. / 256, 195. / 512, 121. / 512},
		7:  {945. / 8192, 2457. / 8192, 2541. / 8192, 1093. / 8192},
		11: {56133. / 1048576, 173745. / 1048576, 539055. / 2097152, 541035. / 2097152, 324753. / 2097152, 88573. / 2097152},
	} {
		c, err := Surrogate{0.75}.weights(k)
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range want {
			near(t, fmt.Sprintf("K=%d c[%d]", k, j), c[j], w, 1e-15)
		}
	}
	for k, want := range map[int]float64{3: 0.6875, 5: 0.79296875, 7: 0.85888671875, 11: 0.931344985961914} {
		_, best, _ := objective(Surrogate{0.75}, constant(k, 1))
		near(t, "Σc", best, want, 1e-15)
	}
}

func TestGoldenRows(t *testing.T) {
	// §11.2: K=5, m=2; rows there are e^{mε} times those of a program.
	multiset := func(corner, n int) counts {
		var c counts
		c[corner], c[cornerAB] = n, 5-n
		return c
	}
	for _, c := range []struct {
		p    Params
		c    counts
		want [3]float64
		r    float64
	}{
		{pure(5, 0.1, 2), multiset(corner00, 2), [3]float64{0.0550747414867528278, 0.124331573238238337, 0.069533814178555083}, 0.221402758160169834},
		{pure(5, 0.1, 2), multiset(corner11, 2), [3]float64{-0.054797759059683254, -0.0413060561150646208, 0.0137686853716882069}, 0.221402758160169834},
		{approx(5, 0.1, 2, 1e-5), multiset(cornerD0, 2), [3]float64{0.055080371810829751, 0.124347206832984925, 0.0695439705074091585}, 0.221442757960169834},
		{approx(5, 0.1, 2, 1e-5), multiset(corner11mD, 2), [3]float64{-0.0547905494805110744, -0.0412885251884356231, 0.0137791586724590669}, 0.221442757960169834},
	} {
		pr := newProgram(context.Background(), c.p, true)
		row, side := pr.row(c.c)
		for j, v := range row {
			near(t, fmt.Sprintf("A[%d]", j), v/pr.s, c.want[j], 1e-15)
		}
		near(t, "R", c.p.BudgetF(), c.r, 1e-15)
		near(t, "R", side/pr.s, c.r, 1e-15)
	}
	pr := newProgram(context.Background(), pure(5, 0.1, 2), true)
	alpha := []float64{0.107185963092455984, 0.355376427707136186, 0.392751692871539717, 0.144685916328868113, 0, 0}
	for l, v := range poissonBinomial(votes(pr.table.(*cornerTable).pairs(), multiset(corner00, 2), 0)) {
		near(t, "α", v, alpha[l], 1e-15)
	}
	near(t, "a", pr.table.(*cornerTable).a.p, 0.524979187478939986, 1e-16)
	near(t, "b", pr.table.(*cornerTable).a.q, 0.475020812521060014, 1e-16)
	d := newCornerTable(5, 0.1, 1e-5, true)
	near(t, "a", d.a.p, 0.524983937687065197, 1e-16)
	near(t, "b", d.a.q, 0.475016062312934803, 1e-16)
}

// A lpCase is an optimum of §11.3.
type lpCase struct {
	k     int
	m     float64
	shape string // full, mono or both
	gamma []float64
	value float64
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func join(parts ...[]float64) []float64 {
	var out []float64
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// §11.3, Δ = 0, ε = 0.1, prior mean 3/4.
var lpPure = []lpCase{
	{3, 1, "both", []float64{1. / 3, 1}, 0.5},
	{5, 1, "both", []float64{1. / 5, 3. / 5, 1}, 0.5},
	{7, 1, "both", []float64{1. / 7, 3. / 7, 5. / 7, 1}, 0.5},
	{11, 1, "both", []float64{1. / 11, 3. / 11, 5. / 11, 7. / 11, 9. / 11, 1}, 0.5},
	{5, 3, "both", repeat(1, 3), 0.79296875},
	{7, 4, "both", repeat(1, 4), 0.85888671875},
	{11, 6, "both", repeat(1, 6), 0.931344985961914},
	{5, 2, "full", []float64{1, 0.778516670977768504, 1}, 0.708614747735673551},
	{5, 2, "mono", []float64{0.846508352921757671, 0.846508352921757671, 1}, 0.707529063638087766},
	{7, 2, "both", []float64{0.474424945813687217, 0.754262509031052131, 1, 1}, 0.724554999814847352},
	{7, 2.5, "both", []float64{0.715212294420135571, 0.866641133893810564, 1, 1}, 0.786036729028823324},
	{7, 3, "full", []float64{1, 0.934085583286119697, 0.959922792180947686, 1}, 0.826686046516819356},
	{7, 3, "mono", join(repeat(0.953768574747168626, 3), repeat(1, 1)), 0.825347490200491107},
	{11, 2, "full", []float64{0.994799454226472382, 0.0615611252807323178, 1, 0.843593520880122053, 1, 1}, 0.735220266113933399},
	{11, 2, "mono", join(repeat(0.441452935990795861, 2), []float64{0.779839514192836396, 0.953965859874542404, 0.964882953694279939, 1}), 0.734990872488453535},
	{11, 3, "full", []float64{0.939702612174768737, 0.54209008687448299, 1, 1, 0.9773318291363528, 1}, 0.848732939364406901},
	{11, 3, "mono", join(repeat(0.707815009560151016, 2), []float64{0.926639212462703159, 1, 1, 1}), 0.848432873825749989},
	{11, 4, "full", []float64{1, 0.988180199559518055, 0.893981933770806074, 1, 1, 1}, 0.902135452677611731},
	{11, 4, "mono", join(repeat(0.936061831135113765, 3), repeat(1, 3)), 0.900893141564318712},
	{11, 5, "full", []float64{1, 1, 0.984442835059117695, 0.995997824025636592, 1, 1}, 0.926313645922900669},
	{11, 5, "mono", join(repeat(0.993672548570531247, 5), repeat(1, 1)), 0.925719185062438961},
	// Larger K.
	{21, 3, "mono", join(repeat(0.521728259542068561, 3), repeat(0.774082887157443191, 1), repeat(0.912469154399944563, 2), repeat(0.969641832832963481, 1), repeat(0.998228172049472939, 4)), 0.863972232031912299},
	{21, 5, "mono", join(repeat(0.798835205184225582, 3), repeat(0.943999793762875764, 1), repeat(0.997919912520862119, 4), repeat(1, 3)), 0.955120774282851254},
	{21, 8, "mono", join(repeat(0.993444808288156812, 5), repeat(1, 6)), 0.984397688564482133},
}

// §11.3, Δ = 1e-5, δ = 1 − (1−Δ)^m.
var lpDelta = []lpCase{
	{3, 1, "both", []float64{1. / 3, 1}, 0.5},
	{5, 1, "both", []float64{1. / 5, 3. / 5, 1}, 0.5},
	{7, 1, "both", []float64{1. / 7, 3. / 7, 5. / 7, 1}, 0.5},
	{11, 1, "both", []float64{1. / 11, 3. / 11, 5. / 11, 7. / 11, 9. / 11, 1}, 0.5},
	{5, 3, "both", repeat(1, 3), 0.79296875},
	{11, 6, "both", repeat(1, 6), 0.931344985961914},
	{5, 2, "full", []float64{0.999889720943400342, 0.778662362584627523, 1}, 0.708650850759586715},
	{5, 2, "mono", join(repeat(0.846574359420510475, 2), repeat(1, 1)), 0.707565805536807589},
	{7, 2, "both", []float64{0.474106953351488901, 0.754478657867704459, 1, 1}, 0.724583146154554061},
	{7, 3, "full", []float64{0.999937208535634906, 0.934060008057868852, 0.96019119696185761, 1}, 0.826754386394584832},
	{7, 3, "mono", join(repeat(0.953875514550375551, 3), repeat(1, 1)), 0.825425071163681873},
	{11, 2, "full", []float64{0.995095495439311295, 0.0615386311352191583, 0.999820539035175327, 0.843875194855648496, 1, 1}, 0.735258925696611045},
	{11, 2, "mono", join(repeat(0.441440540016957628, 2), []float64{0.77987483561860754, 0.953962837210397294, 0.965098369647836095, 1}), 0.73502981228771013},
	{11, 3, "full", []float64{0.939240576181272933, 0.542340427214781297, 1, 1, 0.977695588275994299, 1}, 0.848806015471375044},
	{11, 3, "mono", join(repeat(0.707668303478060201, 2), []float64{0.926965021850913519, 1, 1, 1}), 0.848484458154536835},
	{11, 4, "full", []float64{0.999917487260494833, 0.987927967903731707, 0.894454021774455975, 1, 1, 1}, 0.902210587930337815},
	{11, 4, "mono", join(repeat(0.936230837629713949, 3), repeat(1, 3)), 0.900973634321104154},
	{11, 5, "full", []float64{0.999969173484088012, 1, 0.984491422220239252, 0.996348716796626781, 1, 1}, 0.926415009893111546},
	{11, 5, "mono", join(repeat(0.993806212111457961, 5), repeat(1, 1)), 0.92583802666512127},
	{35, 5, "mono", join(repeat(0.667207653492778445, 4), repeat(0.819428864697298659, 1), repeat(0.955016204262676498, 3), repeat(0.979959527224300633, 1), repeat(0.999017049994746955, 8), repeat(1, 1)), 0.96297236965740014},
}

// §11.3, ε = 1, Δ = 0.
var lpEpsilonOne = []lpCase{
	{5, 2, "full", []float64{1, 1, 0.765379144347603275}, 0.73752124309777343},
	{5, 2, "mono", repeat(0.928235767934743333, 3), 0.736061956604503502},
	{7, 2, "full", []float64{1, 1, 0.664918280827970077, 1}, 0.754950848582015621},
	{7, 2, "mono", repeat(0.878646025171286997, 4), 0.754657401502096595},
	{7, 3, "full", []float64{1, 1, 1, 0.913872864827344314}, 0.847395390778355388},
	{7, 3, "mono", repeat(0.981430769405901493, 4), 0.84293785321532262},
}

// §11.3, prior mean 0.85.
var lpPeaked = []lpCase{
	{11, 3, "both", []float64{0.430337696102960172, 0.742985307833909256, 0.935746326958477314, 1, 1, 1}, 0.965041366667616081},
	{11, 5, "full", []float64{1, 0.955703334195553701, 1, 1, 1, 1}, 0.992326940107701293},
	{11, 5, "mono", join(repeat(0.961649181120816799, 2), repeat(1, 4)), 0.992225734839420761},
}

func TestGoldenOptima(t *testing.T) {
	for _, table := range []struct {
		name       string
		cases      []lpCase
		eps, delta float64
		mean       []float64
	}{
		{"pure", lpPure, 0.1, 0, []float64{0.75}},
		{"delta", lpDelta, 0.1, 1e-5, []float64{0.75}},
		{"epsilon 1", lpEpsilonOne, 1, 0, []float64{0.75}},
		// The left-endpoint mean 0.847 has the same optimal γ (§11.3).
		{"peaked", lpPeaked, 0.1, 0, []float64{0.85, 0.847}},
	} {
		for _, c := range table.cases {
			for _, free := range []bool{true, false} {
				if free && c.shape == "mono" || !free && c.shape == "full" {
					continue
				}
				for i, mean := range table.mean {
					name := fmt.Sprintf("%s K=%d m=%g free=%v mean=%g", table.name, c.k, c.m, free, mean)
					p := approx(c.k, table.eps, c.m, table.delta)
					r, err := Optimize(context.Background(), p, Surrogate{mean}, Options{Free: free})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					if !r.Certificate.Certified {
						t.Errorf("%s: not certified, excess %g", name, r.Certificate.Excess)
					}
					for j, want := range c.gamma {
						// The certificate's margin and the conditioning of the vertex; the
						// optimum itself is asked for to 1e-9.
						near(t, fmt.Sprintf("%s γ(%d)", name, half(c.k)+j), r.Gamma.right()[j], want, 2e-10)
					}
					if i == 0 {
						near(t, name+" V", r.Value, c.value, 2e-12)
					}
				}
			}
		}
	}
	// The exact vertices of K=5, m=2 from the row of §11.2.
	p := pure(5, 0.1, 2)
	var c counts
	c[corner00], c[cornerAB] = 2, 3
	pr := newProgram(context.Background(), p, true)
	a, r := pr.row(c)
	near(t, "full γ(4)", (r-a[0]-a[2])/a[1], 0.778516670977768504, 1e-14)
	near(t, "mono γ(3)", (r-a[2])/(a[0]+a[1]), 0.846508352921757671, 1e-14)
}
