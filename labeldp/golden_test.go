package labeldp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// The golden values of this package come from two independent routes each
// (50-digit revised simplex with Newton polishing; HiGHS on the direct linear
// program), as recorded in the specification labeldp.md, cited by section.

func seq(a, b int) []float64 {
	var r []float64
	for i := a; i <= b; i++ {
		r = append(r, float64(i))
	}
	return r
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// The priors of labeldp.md §7.
func prior(name string) Prior {
	switch name {
	case "A":
		return must(NewPrior(seq(0, 2), []float64{0.6, 0.25, 0.15}))
	case "B":
		return must(uniform(seq(0, 4)))
	case "C":
		return must(NewPrior([]float64{1, 2, 5, 10}, []float64{0.4, 0.3, 0.2, 0.1}))
	case "D":
		return must(NewPrior(seq(0, 1), []float64{0.7, 0.3}))
	case "Z":
		return must(NewPrior(seq(0, 3), []float64{0.5, 0, 0, 0.5}))
	case "U10":
		return must(uniform(seq(0, 9)))
	case "U52":
		return must(uniform(seq(1, 52)))
	case "H52":
		w := make([]float64, 52)
		for i := range w {
			w[i] = 1.0 / 102
		}
		w[51] = 0.5
		return must(NewPrior(seq(1, 52), w))
	}
	panic(name)
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s: got %.15g, want %.15g, relative difference %.3g above %.3g", what, got, want, math.Abs(got-want)/math.Abs(want), rel)
	}
}

func nearAbs(t *testing.T, what string, got, want, abs float64) {
	t.Helper()
	if !(math.Abs(got-want) <= abs) {
		t.Errorf("%s: got %.15g, want %.15g, difference %.3g above %.3g", what, got, want, math.Abs(got-want), abs)
	}
}

func optimal(t testing.TB, p Prior, eps float64) (Randomizer, Certificate) {
	t.Helper()
	r, c, err := OptimalUnbiased(context.Background(), p, eps)
	if err != nil {
		t.Fatalf("k=%d ε=%v: %v", len(p.labels), eps, err)
	}
	return r, c
}

// continuous is the simplex method with outputs anywhere: an independent check
// of the interior-point method.
func continuous(t testing.TB, p Prior, eps float64) (primal, dual float64) {
	t.Helper()
	q := newProblem(p, eps)
	s, err := newSimplex(q, nil, -1.1, 1.1)
	if err != nil {
		t.Fatal(err)
	}
	cols, d, err := s.solve(context.Background(), 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	return q.value(cols) * q.sc * q.sc, d.bound(nil) * q.sc * q.sc
}

// labeldp.md §7.1.
var optimalGolden = []struct {
	prior              string
	eps                float64
	n17, n65, gridFree float64
}{
	{"A", 0.5, 7.9667693708764, 7.9308857622733, 7.9287604348805},
	{"A", 1, 1.9429848314888, 1.9342205922413, 1.9336638085537},
	{"A", 2, 0.40609330831878, 0.40609330831878, 0.40511088095933},
	{"A", 4, 0.040691182060251, 0.040691182060251, 0.040691182060251},
	{"B", 0.5, 32.164107618433, 31.950147638400, 31.940807560702},
	{"B", 1, 7.9812097252164, 7.9359690543961, 7.9338085840444},
	{"B", 2, 1.6074867649738, 1.6022346874486, 1.6015510236374},
	{"B", 4, 0.19527603103133, 0.19527603103133, 0.19527603103133},
	{"C", 0.5, 161.43763786173, 160.87553387086, 160.79660841103},
	{"C", 1, 39.549407429532, 39.402833755869, 39.388780088322},
	{"C", 2, 8.2557324854052, 8.1984483854796, 8.1799962909147},
	{"C", 4, 0.87025134523637, 0.85967692712750, 0.85839226509074},
	{"D", 0.5, 1.9588490445164, 1.9588490445164, 1.9588490445164},
	{"D", 1, 0.46033679710390, 0.46033679710390, 0.46033679710390},
	{"D", 2, 0.090507707620789, 0.090507707620789, 0.090507707620789},
	{"D", 4, 0.0095027287297589, 0.0095027287297589, 0.0095027287297589},
	{"Z", 0.5, 17.852249111361, 17.639716748845, 17.629641400647},
	{"Z", 1, 4.1744073224212, 4.1449200600415, 4.1430311739351},
	{"Z", 2, 0.82611430155368, 0.81496043618223, 0.81456936858710},
	{"Z", 4, 0.089597113472006, 0.085649900687084, 0.085524558567830},
	{"A", 0.01, 0, 0, 19999.9270840},
	{"A", 0.1, 0, 0, 199.9271508291726},
	{"A", 3, 0, 0, 0.1195767820763303},
	{"A", 8, 0, 0, 7.134351339339045e-4},
	{"B", 0.1, 0, 0, 799.9336345717397},
	{"B", 3, 0, 0, 0.54586644069397},
	{"B", 8, 0, 0, 3.358567276297941e-3},
	{"C", 0.1, 0, 0, 4048.766273130124},
	{"C", 3, 0, 0, 2.507446183147102},
	{"C", 8, 0, 0, 0.01484345972729415},
	{"U10", 1, 0, 39.81182760888, 39.757276694},
}

// Acceptance check 1.
func TestOptimalValues(t *testing.T) {
	for _, g := range optimalGolden {
		p := prior(g.prior)
		_, c := optimal(t, p, g.eps)
		tol := 1e-9
		if g.eps == 8 {
			tol = 1e-8
		}
		near(t, g.prior+" grid-free", c.Primal, g.gridFree, tol)
		if c.Dual > c.Primal {
			t.Errorf("%s ε=%v: dual %v above primal %v", g.prior, g.eps, c.Dual, c.Primal)
		}
		a, _ := continuous(t, p, g.eps)
		near(t, g.prior+" simplex without grid", a, c.Primal, 1e-9)
		for n, want := range map[int]float64{17: g.n17, 65: g.n65} {
			if want == 0 {
				continue
			}
			r, c, err := OptimalUnbiasedGrid(context.Background(), p, g.eps, must(FeasibleGrid(p.Labels(), g.eps, n)))
			if err != nil {
				t.Errorf("%s ε=%v n=%d: %v", g.prior, g.eps, n, err)
				continue
			}
			near(t, g.prior+" grid", c.Primal, want, 1e-10)
			if k := len(p.labels); len(r.(*randomizer).atoms) > 2*k {
				t.Errorf("%s ε=%v n=%d: %d atoms, want at most %d", g.prior, g.eps, n, len(r.(*randomizer).atoms), 2*k)
			}
		}
	}
	// D by hand: ½[(Φ₀² + Φ₁² + E₁(0.7Φ₀² + 0.3Φ₁²))/(E + 1) − 0.3].
	for _, eps := range []float64{0.5, 1, 2, 4} {
		e1 := math.Expm1(eps)
		f0, f1 := -1/e1, (e1+1)/e1
		want := ((f0*f0+f1*f1+e1*(0.7*f0*f0+0.3*f1*f1))/(e1+2) - 0.3) / 2
		_, c := optimal(t, prior("D"), eps)
		near(t, "D by hand", c.Primal, want, 1e-12)
	}
}

// labeldp.md §7.1, hulls.
func TestHulls(t *testing.T) {
	for _, g := range []struct {
		prior  string
		eps    float64
		lo, hi float64
	}{
		{"A", 0.5, -4.62448224761, 6.62448224761},
		{"A", 1, -1.74593012061, 3.74593012061},
		{"A", 2, -0.469552928249, 2.46955292825},
		{"A", 4, -0.0559720810913, 2.05597208109},
		{"C", 1, -7.14767389617, 22.8034875511},
	} {
		grid := must(FeasibleGrid(prior(g.prior).Labels(), g.eps, 7))
		near(t, "lo", grid[0], g.lo, 1e-11)
		near(t, "hi", grid[6], g.hi, 1e-11)
		rr := must(DebiasedRR(prior(g.prior).Labels(), g.eps)).Outputs()
		near(t, "debiased RR lo", rr[0], g.lo, 1e-11)
		near(t, "debiased RR hi", rr[len(rr)-1], g.hi, 1e-11)
	}
	for _, g := range []struct {
		prior  string
		eps    float64
		lo, hi float64
	}{
		{"A", 0.5, -3.08298816507, 5.08298816507},
		{"A", 1, -1.16395341374, 3.16395341374},
		{"C", 2, -0.408658784747, 11.4086587847},
	} {
		lo, hi := minimalRange(prior(g.prior).Labels(), g.eps)
		near(t, "lo", lo, g.lo, 1e-11)
		near(t, "hi", hi, g.hi, 1e-11)
	}
	got := must(DebiasedRR(prior("C").Labels(), 1)).Outputs()
	for i, want := range []float64{-7.14767389617, -3.81976706869, 6.16395341374, 22.8034875511} {
		near(t, "Φ of C", got[i], want, 1e-11)
	}
}

// labeldp.md §7.3: output, weight, pattern.
func TestOptimalAtoms(t *testing.T) {
	type atom struct {
		out, c float64
		up     string
	}
	mirror := func(half []atom) []atom {
		all := half
		for i := len(half) - 1; i >= 0; i-- {
			m := half[i]
			if m.out == 2 {
				continue
			}
			r := []byte(m.up)
			for a, b := 0, len(r)-1; a < b; a, b = a+1, b-1 {
				r[a], r[b] = r[b], r[a]
			}
			all = append(all, atom{4 - m.out, m.c, string(r)})
		}
		return all
	}
	for _, g := range []struct {
		prior string
		eps   float64
		atoms []atom
	}{
		{"A", 0.5, []atom{{-3.3065413288919, 0.19006485653278, "ULL"}, {-2.8563477281279, 0.18747581226536, "UUL"},
			{4.8038169491042, 0.19006485653278, "LUU"}, {5.3660147404496, 0.18747581226536, "LLU"}}},
		{"A", 1, []atom{{-1.36515094621, 0.137897334840, "ULL"}, {-0.952233799080, 0.131044086530, "UUL"},
			{2.85521130768, 0.137897334840, "LUU"}, {3.48884188987, 0.131044086530, "LLU"}}},
		{"A", 2, []atom{{-0.449390755054, 0.107417694191, "ULL"}, {0.929790932162, 0.0988669374157, "LUL"},
			{1.90854945131, 0.00855075677510, "LUU"}, {2.51290503320, 0.0988669374157, "LLU"}}},
		{"B", 1, mirror([]atom{{-3.60100749273, 0.103905718324, "ULLLL"}, {-2.63753483954, 0.0685455757359, "UULLL"},
			{-1.85282650941, 0.0685455757359, "UUULL"}, {2, 0.103905718324, "LUUUL"}})},
		{"B", 3, mirror([]atom{{-0.592239232637, 0.0260614861229, "ULLLL"}, {0.0291668974401, 0.0188924095833, "UULLL"},
			{1.05970509479, 0.00358453826985, "LULLL"}, {1.47540087285, 0.0224769478531, "LUULL"}})},
		{"C", 2, []atom{{-1.64192642567, 0.0321920429970, "ULLL"}, {-0.573583762442, 0.0757473751316, "UULL"},
			{3.22007139051, 0.0321920429970, "LUUL"}, {4.74466636176, 0.0622981230362, "LLUL"},
			{9.70475191701, 0.0134492520954, "LLUU"}, {12.5074676952, 0.0944901660332, "LLLU"}}},
	} {
		r, _ := optimal(t, prior(g.prior), g.eps)
		if len(r.(*randomizer).atoms) != len(g.atoms) {
			t.Errorf("%s ε=%v: %d atoms, want %d", g.prior, g.eps, len(r.(*randomizer).atoms), len(g.atoms))
			continue
		}
		// Weights and outputs end within about the gap over the slack of the next
		// constraint, 1e-11 over 1e-3 here.
		for i, a := range r.(*randomizer).atoms {
			up := ""
			for _, u := range a.Up {
				up += map[bool]string{true: "U", false: "L"}[u]
			}
			if up != g.atoms[i].up {
				t.Errorf("%s ε=%v atom %d: pattern %s, want %s", g.prior, g.eps, i, up, g.atoms[i].up)
			}
			nearAbs(t, "output", a.Output, g.atoms[i].out, 1e-8*(1+math.Abs(g.atoms[i].out)))
			nearAbs(t, "weight", a.Weight, g.atoms[i].c, 1e-8)
		}
	}
	r, _ := optimal(t, prior("A"), 1)
	for i, want := range []float64{3.74081225890, 4.23087262037, 3.76748071116} {
		_, mse, _ := r.Moments(float64(i))
		near(t, "row variance", mse, want, 1e-8)
	}
	for _, eps := range []float64{4, 8} {
		r, _ := optimal(t, prior("A"), eps)
		rr := must(DebiasedRR(seq(0, 2), eps))
		for i, out := range rr.Outputs() {
			near(t, "A at large ε is debiased RR", r.Outputs()[i], out, 1e-13)
		}
	}
}

// Acceptance check 7.
func TestGridFeasibility(t *testing.T) {
	for _, name := range []string{"A", "B", "C", "D", "Z", "H52"} {
		for _, eps := range []float64{0.1, 1, 4} {
			p := prior(name)
			lo, hi := minimalRange(p.Labels(), eps)
			w := 1e-6 * (hi - lo)
			if _, _, err := OptimalUnbiasedGrid(context.Background(), p, eps, []float64{lo - w, 0.3, hi + w}); err != nil {
				t.Errorf("%s ε=%v: widened hull: %v", name, eps, err)
			}
			for _, grid := range [][]float64{{lo + w, hi - w}, {lo - w, hi - w}, {lo + w, hi + w}} {
				if _, _, err := OptimalUnbiasedGrid(context.Background(), p, eps, grid); !errors.Is(err, ErrInfeasible) {
					t.Errorf("%s ε=%v: shrunk hull: error %v, want ErrInfeasible", name, eps, err)
				}
			}
		}
	}
	lo, hi := minimalRange(seq(0, 2), 1)
	grid := make([]float64, 21)
	for i := range grid {
		grid[i] = lo + (hi-lo)*float64(i)/20
	}
	grid[20] = hi
	_, c, err := OptimalUnbiasedGrid(context.Background(), prior("A"), 1, grid)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "exactly tight hull", c.Primal, 1.9663471884, 1e-10) // labeldp.md §7.1
}

// Acceptance check 9; excesses of labeldp.md §7.7.
func TestDiscretization(t *testing.T) {
	p := prior("A")
	_, free := optimal(t, p, 0.5)
	for n, want := range map[int]float64{17: 0.0380089360, 33: 0.0060915761, 65: 0.0021253274, 129: 0.0002869327, 257: 0.0001197424, 513: 0.0000253485} {
		grid := must(FeasibleGrid(p.Labels(), 0.5, n))
		_, c, err := OptimalUnbiasedGrid(context.Background(), p, 0.5, grid)
		if err != nil {
			t.Fatal(err)
		}
		excess, d := c.Primal-free.Primal, grid[1]-grid[0]
		nearAbs(t, "excess", excess, want, 1e-9)
		if excess < 0 || excess > d*d/8 {
			t.Errorf("n=%d: excess %v is not in [0, Δ²/8 = %v]", n, excess, d*d/8)
		}
	}
}

// Acceptance check 11.
func TestGridHullMissesOptimum(t *testing.T) {
	p := prior("A")
	grid := must(FeasibleGrid(p.Labels(), 2, 65))
	_, c, err := OptimalUnbiasedGrid(context.Background(), p, 2, grid)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "grid optimum is debiased RR", c.Primal, must(HalfLoss(must(DebiasedRR(p.Labels(), 2)), p)), 1e-12)
	r, free := optimal(t, p, 2)
	if !(free.Primal < c.Primal*(1-1e-3)) {
		t.Errorf("grid-free %v is not below %v", free.Primal, c.Primal)
	}
	near(t, "top output", r.Outputs()[3], 2.5129050332, 1e-8)
	if grid[64] > 2.47 {
		t.Errorf("Algorithm 2 reaches %v", grid[64])
	}
}

// Acceptance check 15; table of labeldp.md §7.6 (HiGHS).
func TestBiasLimited(t *testing.T) {
	p := prior("A")
	betas := []float64{0, 0.05, 0.1, 0.25, 0.5, 1, math.Inf(1)}
	for eps, want := range map[float64][]float64{
		0.5: {7.930885762, 7.158608879, 6.4276651, 4.485779069, 2.077071777, 0.3364566747, 0.2634162511},
		1:   {1.934220592, 1.746670961, 1.57055669, 1.111415826, 0.5775534557, 0.2572076489, 0.2275153658},
		2:   {0.4060933083, 0.3647301225, 0.3290165387, 0.2492204079, 0.189315611, 0.1444793263, 0.1444793263},
	} {
		grid := must(FeasibleGrid(p.Labels(), eps, 65))
		var got []float64
		for i, beta := range betas {
			r, c, err := BiasLimited(context.Background(), p, eps, beta, grid)
			if err != nil {
				t.Fatalf("ε=%v β=%v: %v", eps, beta, err)
			}
			near(t, "bias-limited", c.Primal, want[i], 1e-8)
			for _, y := range p.Labels() {
				if b, _, _ := r.Moments(y); math.Abs(b) > beta+1e-12 {
					t.Errorf("ε=%v β=%v: bias %v at %v", eps, beta, b, y)
				}
			}
			got = append(got, c.Primal)
		}
		for i := 1; i < len(got); i++ {
			if got[i] > got[i-1]*(1+1e-12) {
				t.Errorf("ε=%v: loss grows from β=%v to %v", eps, betas[i-1], betas[i])
			}
			if i+1 < len(got)-1 { // finite β: convex
				s0 := (got[i] - got[i-1]) / (betas[i] - betas[i-1])
				s1 := (got[i+1] - got[i]) / (betas[i+1] - betas[i])
				if s0 > s1+1e-9 {
					t.Errorf("ε=%v: not convex at β=%v", eps, betas[i])
				}
			}
		}
	}
	// Too narrow for an unbiased randomizer, wide enough for a biased one, and not.
	if _, _, err := BiasLimited(context.Background(), p, 1, 0.8, []float64{0, 1, 2}); err != nil {
		t.Error(err)
	}
	if _, _, err := BiasLimited(context.Background(), p, 1, 0.1, []float64{0, 1, 2}); !errors.Is(err, ErrInfeasible) {
		t.Errorf("error %v, want ErrInfeasible", err)
	}
}

// Acceptance check 21; labeldp.md §7.5.
func TestLarge(t *testing.T) {
	slow.Test(t)
	for _, g := range []struct {
		prior string
		eps   float64
		n     int
		want  float64
		tol   float64
	}{
		{"U52", 0.998, 52, 1309.583675217, 1e-10},
		{"U52", 0.998, 416, 1272.247829155, 1e-10},
		{"U52", 0.998, 1664, 1271.665562215, 1e-10},
		{"U52", 0.998, 0, 1271.6234419, 1e-10},
		{"H52", 0.998, 52, 1322.470479137, 1e-10},
		{"H52", 0.998, 416, 1282.800717641, 1e-10},
		{"H52", 0.998, 1664, 1282.192962398, 1e-10},
		{"H52", 0.998, 0, 1282.1539578, 1e-10},
		{"U52", 0.1, 0, 130049.95576, 1e-10},
		{"H52", 0.1, 0, 130022.91178, 1e-10},
		{"H52", 4, 0, 37.467749126, 1e-10},
		{"H52", 8, 0, 1.769038165, 1e-9},
	} {
		p := prior(g.prior)
		if g.n == 0 {
			_, c := optimal(t, p, g.eps)
			near(t, g.prior, c.Primal, g.want, g.tol)
			continue
		}
		_, c, err := OptimalUnbiasedGrid(context.Background(), p, g.eps, must(FeasibleGrid(p.Labels(), g.eps, g.n)))
		if err != nil {
			t.Errorf("%s n=%d: %v", g.prior, g.n, err)
		}
		near(t, g.prior, c.Primal, g.want, g.tol)
	}
	_, c := optimal(t, must(uniform(seq(0, 100))), 0.998)
	near(t, "{0..100}", c.Primal, 4883.8944072, 1e-10)
	r, c := optimal(t, must(uniform(seq(0, 200))), 2)
	near(t, "{0..200}", c.Primal, 3887.9695865, 1e-10)
	if len(r.(*randomizer).atoms) > 401 {
		t.Errorf("{0..200}: %d atoms", len(r.(*randomizer).atoms))
	}
	for _, name := range []string{"A", "B", "C"} {
		for _, eps := range []float64{0.01, 16} {
			if _, c := optimal(t, prior(name), eps); c.RelGap > 1e-9 {
				t.Errorf("%s ε=%v: gap %v", name, eps, c.RelGap)
			}
		}
	}
}

func exponential400() Prior {
	w := make([]float64, 401)
	for i := range w {
		w[i] = math.Exp(-float64(i) / 40)
	}
	return must(NewPrior(seq(0, 400), w))
}

// Acceptance check 21, k = 401; labeldp.md §7.5. The other cases of that size
// are in the benchmarks.
func TestLargest(t *testing.T) {
	slow.Long(t) // half of the labels, and of the atoms, are in TestLarge
	r, c := optimal(t, exponential400(), 1)
	near(t, "{0..400} exponential", c.Primal, 76143.08539, 1e-9)
	if len(r.(*randomizer).atoms) > 801 {
		t.Errorf("%d atoms", len(r.(*randomizer).atoms))
	}
}
