package darrm

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

func deltaOf(t *testing.T, p profiles.Profile, eps float64) float64 {
	t.Helper()
	ld, _ := profiles.LogDelta(p, eps)
	return math.Exp(ld)
}

func TestGoldenMajority(t *testing.T) {
	// §11.4: max f, its multiset as (number at (0,0), number at (a,b)), δ(mε).
	for _, c := range []struct {
		k          int
		m          float64
		f          float64
		zeros, ab  int
		deltaAtEps float64
	}{
		{3, 1, 0.157625132261959726, 1, 2, 0.02622710709315605},
		{5, 1, 0.196867604937596717, 1, 4, 0.04584834343097455},
		{5, 2, 0.248940128903546248, 2, 3, 0.01376868537168821},
		{7, 1, 0.229488046415023768, 0, 7, 0.06215856416968807},
		{7, 2, 0.276408770796773464, 1, 6, 0.02750300631830181},
		{7, 3, 0.364315354094167187, 3, 4, 0.007228273259082042},
		{11, 1, 0.283520222716158489, 1, 10, 0.08917465232025543},
		{11, 2, 0.326011586166432146, 1, 10, 0.05230441400313116},
		{11, 3, 0.401220558029770087, 2, 9, 0.02568087522688349},
		{11, 4, 0.510769749922297811, 4, 7, 0.009472526140513747},
		{11, 5, 0.652705540419421327, 5, 6, 0.00199213485964659},
	} {
		name := fmt.Sprintf("K=%d m=%g", c.k, c.m)
		cert, err := Certify(context.Background(), pure(c.k, 0.1, c.m), constant(c.k, 1))
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" max f", cert.MaxF, c.f, 1e-13)
		// The printed multiset attains it (ties are common).
		ct := newCornerTable(c.k, 0.1, 0, true)
		var k counts
		k[corner00], k[cornerAB] = c.zeros, c.ab
		side := func(i int) (v float64) {
			for _, d := range differences(poissonBinomial(votes(ct.pairs(), k, i))) {
				v += d
			}
			return v
		}
		near(t, name+" f at its multiset", side(0)-math.Exp(c.m*0.1)*side(1), c.f, 1e-13)
		p, err := privacyProfile(context.Background(), c.k, 0.1, 0, constant(c.k, 1))
		if err != nil {
			t.Fatal(err)
		}
		// δ is a difference of probabilities below 1, each to 1e-14.
		if d := deltaOf(t, p, c.m*0.1); math.Abs(d-c.deltaAtEps) > 1e-13 {
			t.Errorf("%s: δ = %.17g, want %.17g", name, d, c.deltaAtEps)
		}
	}
	for k, want := range map[int]float64{3: 0.07487521840081566, 5: 0.09351620965653224, 7: 0.1090115982719353, 11: 0.1346780065607815} {
		p, _ := privacyProfile(context.Background(), k, 0.1, 0, constant(k, 1))
		near(t, fmt.Sprintf("K=%d δ(0)", k), deltaOf(t, p, 0), want, 1e-13)
		if top, bound := p.Support().Max, float64(half(k))*0.1; top < bound-1e-15 || top > bound+1e-12 {
			t.Errorf("K=%d: the largest loss is %v, want (K+1)/2·ε = %v", k, top, bound)
		}
	}
	for k, want := range map[int][]float64{
		5: {0.09353393411292801, 0.04586699993604608, 0.01378812672191555, 2.9999700001e-5},
		7: {0.1090322251842894, 0.06218027575769679, 0.02752569651373047, 0.007248548571443165, 3.9999400004e-5},
	} {
		for _, monotone := range []bool{true, false} {
			g := constant(k, 1)
			h := &hull{points: []point{{}}}
			ct := newCornerTable(k, 0.1, 1e-5, monotone)
			ct.visit(context.Background(), g, func(r *run) {
				for i, p := range r.P {
					if p > r.Q[i] && p+r.Q[i] <= 1+1e-13 {
						h.add(p, r.Q[i])
					}
				}
			})
			h.merge()
			p, err := h.profile()
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if d := deltaOf(t, p, float64(i)*0.1); math.Abs(d-w) > 1e-14 {
					t.Errorf("K=%d Δ=1e-5 monotone=%v: δ(%dε) = %.15g, want %.15g", k, monotone, i, d, w)
				}
			}
		}
	}
}

func TestGoldenSubsamplingDelta(t *testing.T) {
	// §11.4: δ* of Subsampling and DoubleSubsampling at budget mε.
	for _, c := range []struct {
		k          int
		eps, delta float64
		double     bool
		firstM     int
		want       []float64
		tol        float64
	}{
		{5, 0.1, 1e-5, false, 1, []float64{1e-5, 1e-5, 1.20000599992e-5, 1.20000599992e-5, 2.9999700001e-5}, 1e-14},
		{7, 0.1, 1e-5, false, 1, []float64{1e-5, 1e-5, 8.57155714171429e-6, 8.57155714171429e-6, 1.428585714e-5, 1.428585714e-5, 3.9999400004e-5}, 2e-14},
		{5, 0.1, 0.01, true, 2, []float64{0.0120592, 0.029701}, 1e-13},
		{5, 0.1, 0.2, true, 2, []float64{0.29586886492797, 0.488}, 1e-13},
		{7, 1, 0.01, true, 2, []float64{0.011084434058132, 0.016267942023365, 0.03940399}, 1e-13},
	} {
		for i, want := range c.want {
			m := c.firstM + i
			exact, err := exactSubsampling(c.k, m)
			if c.double {
				exact, err = exactDoubleSubsampling(c.k, m)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := privacyProfile(context.Background(), c.k, c.eps, c.delta, rounded(exact))
			if err != nil {
				t.Fatal(err)
			}
			if d := deltaOf(t, p, float64(m)*c.eps); math.Abs(d-want) > c.tol {
				t.Errorf("K=%d ε=%g Δ=%g double=%v m=%d: δ = %.15g, want %.15g", c.k, c.eps, c.delta, c.double, m, d, want)
			}
		}
	}
}

func TestGoldenConstants(t *testing.T) {
	// §11.5
	for _, c := range []struct {
		k, m              int
		paper, half, best float64
	}{
		{3, 1, 0.335550012933305511, 0.501247919614216064, 0.667221759413736102},
		{5, 1, 0.203979453699333065, 0.335550012933305511, 0.534221555186719539},
		{5, 2, 0.406943242490313437, 0.669429238113467997, 0.88938155184274859},
		{7, 1, 0.148519640619081489, 0.253113585330494786, 0.458284950866017996},
		{7, 2, 0.296299764662143992, 0.504966854576280111, 0.800997586009865798},
		{7, 3, 0.442615511532111026, 0.7543244690048755, 0.960318591144452845},
		{11, 1, 0.0998129023383074613, 0.171494033634337899, 0.370946795498738458},
		{11, 3, 0.29746058259919198, 0.511083376618508262, 0.87198624440885206},
		{11, 5, 0.48932821677928541, 0.840741704736209022, 0.993895762372825987},
	} {
		name := fmt.Sprintf("K=%d m=%d", c.k, c.m)
		v, err := RRConstant(0.1, float64(c.m), float64(c.k), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" τ=K", v, c.paper, 1e-14)
		near(t, name+" tanh form", v, math.Tanh(float64(c.m)*0.05)/math.Tanh(float64(c.k)*0.05), 1e-14)
		v, _ = RRConstant(0.1, float64(c.m), float64(half(c.k)), 0, 0)
		near(t, name+" τ=(K+1)/2", v, c.half, 1e-14)
		v, cert, err := BestConstant(context.Background(), pure(c.k, 0.1, float64(c.m)))
		if err != nil || !cert.Certified {
			t.Errorf("%s: best constant: %v %v", name, cert, err)
		}
		near(t, name+" best", v, c.best, 1e-12)
	}
	// Figure 2's budget.
	for m, want := range map[float64]float64{1: 0.0998209264929633, 3: 0.297478942880139, 5: 0.489349931011425, 7: 0.672070908503447} {
		p := approx(11, 0.1, m, 1e-5)
		v, _ := RRConstant(0.1, m, 11, -math.Expm1(11*math.Log1p(-1e-5)), p.OutputDelta)
		near(t, fmt.Sprintf("Fig. 2 m=%g", m), v, want, 1e-13)
	}
	// m > τ: the limit of §3.5 is 1 when λ ≤ δ.
	if v, _ := RRConstant(0.1, 5, 3, 0.01, 0.01); v != 1-16*0x1p-53 && v != 1 {
		t.Errorf("m > τ with λ = δ: %v, want 1", v)
	}
}

func TestGoldenErrors(t *testing.T) {
	// §11.6: K=11, ε=0.1, Δ=0; Sub, DSub, opt-U, opt-U mono, opt-P, RR (τ=K).
	gammas := func(m int) []Gamma {
		sub, _ := exactSubsampling(11, m)
		dsub, _ := exactDoubleSubsampling(11, m)
		rr, _ := RRConstant(0.1, float64(m), 11, 0, 0)
		out := []Gamma{rounded(sub), rounded(dsub)}
		for _, c := range []struct {
			mean float64
			free bool
		}{{0.75, true}, {0.75, false}, {0.85, true}} {
			r, err := Optimize(context.Background(), pure(11, 0.1, float64(m)), Surrogate{c.mean}, Options{Free: c.free})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Gamma)
		}
		return append(out, constant(11, rr))
	}
	at := map[int][]Gamma{3: gammas(3), 5: gammas(5)}
	for _, c := range []struct {
		m    int
		p    float64
		want [6]float64
	}{
		{3, 0.6, [6]float64{0.10549813248, 0.07093813248, 0.04061429892951, 0.04071041022568, 0.04729026233839, 0.1780924303047}},
		{3, 0.7, [6]float64{0.13777520904, 0.08485520904, 0.04976462150337, 0.04993859586447, 0.05569088579846, 0.2963137096331}},
		{3, 0.9, [6]float64{0.02770429392, 0.00826429392, 0.008021765932673, 0.005226828511318, 0.004929018700197, 0.3510619635232}},
		{5, 0.6, [6]float64{0.07093813248, 0.02006581248, 0.001365060133866, 0.001592651913249, 0.003685899904959, 0.1294543433567}},
		{5, 0.7, [6]float64{0.08485520904, 0.02058386904, 0.002367483336998, 0.002606210559167, 0.004491787932211, 0.2153886981187}},
		{5, 0.9, [6]float64{0.00826429392, 0.00059521392, 0.0009788749964508, 0.002169043996501, 0.0003491052657208, 0.2551848828592}},
		{3, 0.05, [6]float64{0.007244198654941, 0.001152323654941, 0.004065126315186, 0.0007269772913587, 0.000653295443336, 0.3512656330268}},
		{5, 0.05, [6]float64{0.001152323654941, 2.742086197266e-5, 0.0002798475335293, 0.001364161528527, 3.189605082979e-5, 0.2553329290271}},
		{3, 0.5, [6]float64{}},
	} {
		for i, g := range at[c.m] {
			e, err := Error(g, repeat(c.p, 11))
			if err != nil {
				t.Fatal(err)
			}
			// 13 printed digits, and the certificate's margin in γ.
			if math.Abs(e-c.want[i]) > 1e-12 {
				t.Errorf("m=%d p=%g noise function %d: error %.14g, want %.14g", c.m, c.p, i, e, c.want[i])
			}
		}
	}
	for i, want := range []float64{0.30859375, 0.25, 0.08750830780575, 0.1189038292832, 0.1750979926109, 0.3512697087004} {
		d, err := Disagreement(at[3][i], repeat(0.5, 11))
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("disagreement %d", i), d, want, 1e-12)
	}
}

func TestGoldenLarge(t *testing.T) {
	// §11.3: K=101, float64 from another solver, to be trusted to 1e-8.
	for _, c := range []struct{ m, mono, full float64 }{
		{10, 0.99875511, 0.99878790}, {20, 0.99999493, 0.99999516}, {30, 0.99999984, 0.99999984}, {40, 0.99999993, 0.99999993},
	} {
		for _, free := range []bool{false, true} {
			if free && c.m > 20 {
				continue // as the monotone one, and slower
			}
			r, err := Optimize(context.Background(), pure(101, 0.1, c.m), Surrogate{0.75}, Options{Free: free})
			if err != nil {
				t.Fatal(err)
			}
			want := c.mono
			if free {
				want = c.full
			}
			if math.Abs(r.Value-want) > 1.5e-8 {
				t.Errorf("m=%g free=%v: V = %.10f, want %.8f", c.m, free, r.Value, want)
			}
			if c.m == 10 && !free {
				near(t, "γ(51)", r.Gamma[51], 0.75519304, 1e-7)
			}
		}
	}
	for _, m := range []float64{60, 80} {
		r, err := Optimize(context.Background(), pure(101, 0.1, m), Surrogate{0.75}, Options{})
		if err != nil || r.Gamma[51] != 1 || !r.Certificate.Certified {
			t.Errorf("m=%g: γ(51) = %v, want 1 (%v)", m, r.Gamma[51], err)
		}
	}
	for m, want := range map[int]float64{10: 0.982193441392, 20: 0.999252714807} {
		exact, _ := exactDoubleSubsampling(101, m)
		v, _, _ := objective(Surrogate{0.75}, rounded(exact))
		near(t, "V(DSub)", v, want, 1e-12)
	}
	exact, _ := exactSubsampling(101, 10)
	v, _, _ := objective(Surrogate{0.75}, rounded(exact))
	near(t, "V(Sub)", v, 0.902145385742, 1e-12)
}

func TestGoldenTable3(t *testing.T) {
	// §7.1 and §7.3: K=35, ε=0.1, Δ=1e-5, δ'=0.1.
	const k, eps, delta = 35, 0.1, 1e-5
	tauEps, lambda, err := GeneralComposition(eps, delta, k, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "τ", tauEps/eps, 14.0327803606, 1e-11)
	near(t, "λ", lambda, 0.100314946456, 1e-11)
	for _, c := range []struct {
		count                      int
		m, delta, constant, max, r float64
	}{
		{10, 6.4521494292, 0.10008999595, 0.590300582608, 0.988675349, 1.106576744},
		{13, 7.57423062018, 0.10011699298, 0.659705479600, 1.183963526, 1.333007095},
		{15, 8.27083555068, 0.10013499055, 0.701421600973, 1.323147620, 1.486910127},
		{20, 9.88229594859, 0.100179982901, 0.793540497914, 1.701168962, 1.886834077},
	} {
		out, outDelta, _ := GeneralComposition(eps, delta, c.count, 0.1)
		near(t, "m", out/eps, c.m, 1e-11)
		near(t, "δ", outDelta, c.delta, 1e-10)
		v, _ := RRConstant(eps, out/eps, tauEps/eps, lambda, outDelta)
		near(t, "constant", v, c.constant, 1e-11)
		p := Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: out / eps, OutputDelta: outDelta}
		near(t, "R", p.BudgetF(), c.r, 1e-9)
		r, err := Optimize(context.Background(), p, Surrogate{0.75}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "max f", r.Certificate.MaxF, c.max, 1e-9)
		if r.Rounds != 0 || r.Gamma[18] != 1 || !r.Certificate.Certified {
			t.Errorf("M=%d: γ(18) = %v after %d rounds, want the noise-free majority", c.count, r.Gamma[18], r.Rounds)
		}
	}
}

func TestGoldenComposition(t *testing.T) {
	// §7.2, Tables 2, 5, 7, 9: recomputed values of MNIST and Fashion-MNIST.
	for _, c := range []struct {
		m     float64
		each  [2]float64 // ε per teacher
		q     int
		eps   [2]float64
		delta float64
	}{
		{1, [2]float64{0.0892, 0.0852}, 20, [2]float64{1.70403289, 1.61992169}, .0020979013},
		{1, [2]float64{0.0892, 0.0852}, 50, [2]float64{2.837342, 2.69499}, .0050872708},
		{1, [2]float64{0.0892, 0.0852}, 100, [2]float64{4.20220847, 3.98758773}, .010049666},
		{3, [2]float64{0.0892, 0.0852}, 20, [2]float64{5.352, 5.112}, .0060823324},
		{3, [2]float64{0.0892, 0.0852}, 50, [2]float64{9.9009067, 9.38153714}, .014988788},
		{3, [2]float64{0.0892, 0.0852}, 100, [2]float64{15.0444836, 14.2190776}, .029655878},
		{5, [2]float64{0.0892, 0.0852}, 20, [2]float64{8.92, 8.52}, .010051647},
		{5, [2]float64{0.0892, 0.0852}, 50, [2]float64{18.4275249, 17.3979903}, .024793716},
		{5, [2]float64{0.0892, 0.0852}, 100, [2]float64{28.9261668, 27.2226528}, .048877592},
		{7, [2]float64{0.0892, 0.0852}, 20, [2]float64{12.488, 11.928}, .014005899},
		{7, [2]float64{0.0892, 0.0852}, 50, [2]float64{28.3917192, 26.7376663}, .034502977},
		{7, [2]float64{0.0892, 0.0852}, 100, [2]float64{45.6830022, 42.8726737}, .067722271},
	} {
		for i, each := range c.each {
			eps, delta, err := GeneralComposition(c.m*each, c.m*1e-4, c.q, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("m=%g Q=%d ε=%g", c.m, c.q, each)
			near(t, name+" ε", eps, c.eps[i], 1e-8)
			near(t, name+" δ", delta, c.delta, 5e-9)
		}
	}
	if _, _, err := GeneralComposition(0.1, 0, 3, 0); err == nil {
		t.Error("slack 0 is accepted")
	}
}

// newMechanism returns one answer of mechanisms that are alike.
func newMechanism(ctx context.Context, r profiles.Relation, mechanisms int, epsilon, delta float64, g Gamma) (profiles.Bounds, error) {
	p := Params{Mechanisms: mechanisms, Epsilon: epsilon, Delta: delta, Allowance: 1, OutputDelta: delta}
	return p.Mechanism(ctx, r, g, 1, 1e-5)
}

func exactDoubleSubsampling(mechanisms, m int) ([]*big.Rat, error) {
	return exactSubsampling(mechanisms, min(2*m-1, mechanisms))
}
