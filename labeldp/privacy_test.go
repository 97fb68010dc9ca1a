package labeldp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpaccountant/accountant/profiles"
)

func pairOf(t testing.TB, b profiles.Mechanism) profiles.Profile {
	t.Helper()
	p, err := b.Pair(profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func deltaOf(p profiles.Profile, eps float64) float64 {
	d, _ := profiles.LogDelta(p, eps)
	return math.Exp(d)
}

// bruteDeltaPair is Σ max(0, M_yi − e^ε' M_zi), bruteDelta the largest of it
// over ordered pairs.
func bruteDeltaPair(r Randomizer, y, z int, eps float64) float64 {
	s := 0.0
	a, b := r.Row(y), r.Row(z)
	for i := range a {
		s += max(0, a[i]-math.Exp(eps)*b[i])
	}
	return s
}

func bruteDelta(r Randomizer, eps float64) (worst float64) {
	for y := range r.Labels() {
		for z := range r.Labels() {
			worst = max(worst, bruteDeltaPair(r, y, z, eps))
		}
	}
	return worst
}

// renyiOf is the Rényi divergence of a profile with finitely many losses.
func renyiOf(p profiles.Profile, alpha float64) (sum float64) {
	for _, a := range p.(*profiles.Discrete).Atoms() {
		if alpha == 1 {
			sum += math.Exp(a.LogP) * a.Loss
		} else {
			sum += math.Exp(a.LogP + (alpha-1)*a.Loss)
		}
	}
	if alpha == 1 {
		return sum
	}
	return math.Log(sum) / (alpha - 1)
}

// Acceptance check 16; labeldp.md §7.4.
func TestPrivacyGolden(t *testing.T) {
	for _, g := range []struct {
		prior          string
		eps            float64
		c, tau, rho    float64
		delta          [4]float64 // at 0, ε/4, ε/2, 3ε/4
		kl, rdp2, rdp8 float64
	}{
		{"A", 1, 0.537882842740, 0.268941421370, 1, [4]float64{0.462117157260, 0.385730957991, 0.287649136645, 0.161709585122}, 0.462117157260, 0.735325664056, 0.955248374055},
		{"A", 2, 0.313702325797, 0.107417694191, 0.901133062584, [4]float64{0.686297674203, 0.616613531132, 0.501723802220, 0.312302662378}, 1.37259534841, 1.78812148062, 1.96699567764},
		{"B", 1, 0.585899457915, 0.240996869796, 0.896094281676, [4]float64{0.414100542085, 0.345651305721, 0.257760746477, 0.144907034520}, 0.414100542085, 0.679708739177, 0.939596228003},
		{"B", 2, 0.319520936758, 0.106506978919, 0.893493021081, [4]float64{0.680479063242, 0.611385720540, 0.497470056761, 0.309654878825}, 1.36095812648, 1.78103637273, 1.96577933519},
		{"C", 2, 0.310369002290, 0.107939418129, 0.905509833967, [4]float64{0.689630997710, 0.619608401223, 0.504160656965, 0.313819505353}, 1.37926199542, 1.79215784374, 1.96768784943},
	} {
		r, _ := optimal(t, prior(g.prior), g.eps)
		sum := 0.0
		for _, a := range r.(*randomizer).atoms {
			sum += a.Weight
		}
		// τ is a sum of weights; see TestOptimalAtoms for their accuracy.
		const tol = 1e-9
		near(t, "C", sum, g.c, tol)
		near(t, "τ", r.Tau(), g.tau, tol)
		near(t, "τ = (1 − C)/(e^ε − 1)", (1-sum)/math.Expm1(g.eps), r.Tau(), 1e-12)
		near(t, "ρ", r.Tau()*(1+math.Exp(g.eps)), g.rho, tol)
		p := pairOf(t, r)
		for i, want := range g.delta {
			e := g.eps * float64(i) / 4
			near(t, "δ of the profile", deltaOf(p, e), want, tol)
		}
		for alpha, want := range map[float64]float64{1: g.kl, 2: g.rdp2, 8: g.rdp8} {
			near(t, "Rényi divergence of the profile", renyiOf(p, alpha), want, tol)
		}
	}
}

// Acceptance check 16: the closed forms against the matrix, for every finite
// randomizer.
func TestPrivacyAgainstBruteForce(t *testing.T) {
	rng := testSource(16)
	for i := range 60 {
		p := randomPrior(rng, 2+rng.IntN(6), 0.1)
		eps := 0.1 + 4*rng.Float64()
		opt, _ := optimal(t, p, eps)
		grid, _, err := OptimalUnbiasedGrid(context.Background(), p, eps, must(FeasibleGrid(p.labels, eps, 5+i)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Randomizer{opt, grid, must(RandomizedResponse(p.labels, eps)), must(DebiasedRR(p.labels, eps)),
			must(TwoPoint(p.labels, eps)), must(RROnBins(p, eps)), must(RRWithPrior(p, eps, 0)), must(RRWithPrior(p, eps, 1+i%len(p.labels)))} {
			pair := pairOf(t, r)
			for j := range 11 {
				e := eps * float64(j-3) / 6 // negative ones too, and beyond ε
				want := bruteDelta(r, e)
				if up := deltaOf(pair, e); up < want-1e-13 {
					t.Errorf("%s: profile δ(%v) = %v below %v", r.Name(), e, up, want)
				} else if !r.(*randomizer).shared() {
					nearAbs(t, r.Name()+" profile δ", up, want, 1e-11)
				}
				if r == opt && e >= 0 && e < eps {
					nearAbs(t, "τ(e^ε − e^ε')", want, r.Tau()*(math.Exp(eps)-math.Exp(e)), 1e-13)
					a := bruteDeltaPair(r, 0, len(r.Labels())-1, e)
					nearAbs(t, "extreme labels are worst", a, want, 1e-13)
				}
			}
			if r == opt {
				if y, z := r.WorstPair(); y != p.labels[0] || z != p.labels[len(p.labels)-1] {
					t.Errorf("worst pair %v, %v of labels %v", y, z, p.labels)
				}
			}
			// Masses sum to 1, and E_P e^−L = 1.
			sum, back := 0.0, 0.0
			for _, a := range pair.(*profiles.Discrete).Atoms() {
				sum += math.Exp(a.LogP)
				back += math.Exp(a.LogP - a.Loss)
			}
			near(t, "masses", sum, 1, 1e-12)
			near(t, "E e^−L", back, 1, 1e-12)
			for _, alpha := range []float64{0.5, 1, 1.5, 2, 8} {
				want := 0.0
				y, z := r.(*randomizer).worst[0], r.(*randomizer).worst[1]
				a, b := r.Row(y), r.Row(z)
				for k := range a {
					if alpha == 1 {
						want += a[k] * math.Log(a[k]/b[k])
					} else {
						want += math.Pow(a[k], alpha) * math.Pow(b[k], 1-alpha)
					}
				}
				if alpha != 1 {
					want = math.Log(want) / (alpha - 1)
				}
				if got := renyiOf(pair, alpha); got < want-1e-11 || !r.(*randomizer).shared() && got > want+1e-11 {
					t.Errorf("%s: Rényi divergence of order %v of the profile %v, from the matrix %v", r.Name(), alpha, got, want)
				}
			}
		}
		// Special cases of D8.
		k, e1 := float64(len(p.labels)), math.Expm1(eps)
		near(t, "τ of RR", must(RandomizedResponse(p.labels, eps)).Tau(), 1/(k+e1), 1e-13)
		near(t, "τ of debiased RR", must(DebiasedRR(p.labels, eps)).Tau(), 1/(k+e1), 1e-13)
		near(t, "τ of two-point", must(TwoPoint(p.labels, eps)).Tau(), 1/(2+e1), 1e-12)
		if b := must(RROnBins(p, eps)); len(b.Outputs()) > 1 {
			near(t, "τ of RR-on-bins", b.Tau(), 1/(float64(len(b.Outputs()))+e1), 1e-13)
		} else if b.Tau() != 0 {
			t.Errorf("τ = %v of a constant", b.Tau())
		}
	}
}

// Composition: two labels' rows multiplied out, against the composition of the
// profile's atoms.
func TestProfileComposes(t *testing.T) {
	r, _ := optimal(t, prior("C"), 2)
	s, _ := optimal(t, prior("B"), 1)
	ra, rb := r.Row(r.(*randomizer).worst[0]), r.Row(r.(*randomizer).worst[1])
	sa, sb := s.Row(s.(*randomizer).worst[0]), s.Row(s.(*randomizer).worst[1])
	atoms := func(x Randomizer) []profiles.Atom { return pairOf(t, x).(*profiles.Discrete).Atoms() }
	for _, e := range []float64{0, 0.5, 1, 2.5, 3.5, 4.5, 4.99} {
		want := 0.0
		for i := range ra {
			for j := range ra {
				for k := range sa {
					want += max(0, ra[i]*ra[j]*sa[k]-math.Exp(e)*rb[i]*rb[j]*sb[k])
				}
			}
		}
		got := 0.0
		for _, a := range atoms(r) {
			for _, b := range atoms(r) {
				for _, c := range atoms(s) {
					if l := a.Loss + b.Loss + c.Loss; l > e {
						got += math.Exp(a.LogP+b.LogP+c.LogP) * -math.Expm1(e-l)
					}
				}
			}
		}
		near(t, "composition", got, want, 1e-10)
	}
}

// twoLaplace is δ of two Laplace pairs of loss at most m each, from the law of
// one loss: atoms at ±m and the density between.
func twoLaplace(t testing.TB, p profiles.Profile, m, eps float64) float64 {
	t.Helper()
	one := func(e float64) float64 {
		if e < -m {
			return -math.Expm1(e)
		}
		return deltaOf(p, e)
	}
	// P(L = m) = ½, P(L = −m) = ½e^−m, density ¼e^{(l−m)/2} between.
	density := func(l float64) float64 { return math.Exp((l-m)/2) / 4 * one(eps-l) }
	cuts := []float64{-m, m}
	for _, c := range []float64{eps - m, eps + m} {
		if c > -m && c < m {
			cuts = []float64{-m, c, m}
		}
	}
	sum := one(eps-m)/2 + math.Exp(-m)*one(eps+m)/2
	for i := 1; i < len(cuts); i++ {
		sum += quad.Fixed(density, cuts[i-1], cuts[i], 60, nil, 0)
	}
	return sum
}

// Acceptance check 17; labeldp.md §7.4.
func TestPipelinePrivacy(t *testing.T) {
	for _, g := range []struct {
		eps1 float64
		at   []float64
		want []float64
	}{
		{1, []float64{0, 0.25, 0.5, 0.75}, []float64{0.2418366754, 0.1838439814, 0.1238491190, 0.06234704100}},
		{0.1, []float64{0, 0.025, 0.05, 0.075}, []float64{0.02498983989, 0.01874568695, 0.01249871407, 0.006249838253}},
	} {
		p := pairOf(t, histogram{g.eps1})
		for i, e := range g.at {
			near(t, "histogram δ", twoLaplace(t, p, g.eps1/2, e), g.want[i], 1e-9)
		}
		nearAbs(t, "δ(ε₁)", twoLaplace(t, p, g.eps1/2, g.eps1), 0, 1e-15)
	}
	naive := must(profiles.NewLaplace(2))
	for i, want := range []float64{0.3934693403, 0.3127107212, 0.2211992169, 0.1175030974} {
		e := float64(i) / 4
		// One Laplace pair of sensitivity 2 and scale 2: noise multiplier 1.
		near(t, "naive δ", deltaOf(must(profiles.NewLaplace(1)), e), want, 1e-9)
		if d := twoLaplace(t, naive, 0.5, e); d > want {
			t.Errorf("two half-budget pairs cost %v, more than one of sensitivity 2: %v", d, want)
		}
	}
	// The pipeline: stage two on top.
	hist := pairOf(t, histogram{0.1})
	total := func(second profiles.Profile, e float64) float64 {
		sum := 0.0
		for _, a := range second.(*profiles.Discrete).Atoms() {
			x := e - a.Loss
			d := 0.0
			switch {
			case x < -0.1:
				d = -math.Expm1(x)
			case x < 0.1:
				d = twoLaplace(t, hist, 0.05, x)
			}
			sum += math.Exp(a.LogP) * d
		}
		return sum
	}
	five := must(DebiasedRR(seq(0, 4), 0.9))
	for _, g := range []struct {
		second profiles.Profile
		want   []float64
	}{
		{pairOf(t, worstCase{0.9}), []float64{0.4218990053, 0.2343857993, 0.06765579032, 0.01776651424, 0.008885954552}},
		{pairOf(t, five), []float64{0.2375645383, 0.1255312171, 0.03623476220, 0.009515304095, 0.004759096726}},
	} {
		for i, e := range []float64{0, 0.5, 0.8, 0.9, 0.95} {
			near(t, "pipeline δ", total(g.second, e), g.want[i], 1e-8)
		}
		nearAbs(t, "δ(ε₁ + ε₂)", total(g.second, 1), 0, 1e-15)
	}
	// Whatever the histogram led to is dominated by the worst case that is charged.
	worst := pairOf(t, worstCase{0.9})
	for _, name := range []string{"A", "B", "C", "D", "Z", "U10"} {
		r, _ := optimal(t, prior(name), 0.9)
		for i := range 20 {
			e := 0.9 * float64(i) / 20
			if d := deltaOf(pairOf(t, r), e); d > deltaOf(worst, e)*(1+1e-13) {
				t.Errorf("%s: δ(%v) = %v above the worst case %v", name, e, d, deltaOf(worst, e))
			}
		}
	}
	for _, b := range []profiles.Mechanism{histogram{1}, worstCase{1}, five, must(NewAdditive(seq(0, 2), 1, Noise{}))} {
		if _, err := b.Pair(profiles.AddRemove); err == nil {
			t.Errorf("%s has a pair under add-remove", b.Name())
		}
	}
}

func TestMechanism(t *testing.T) {
	r := must(TwoPoint(seq(0, 4), 1))
	m, err := r.Bounds(t.Context(), profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Directions {
		for _, e := range []float64{0, 0.5, 0.9} {
			lo, up := deltaOf(d.Lower, e), deltaOf(d.Upper, e)
			if lo > up*(1+1e-14) {
				t.Errorf("lower δ(%v) = %v above upper %v", e, lo, up)
			}
			near(t, "two-point is binary randomized response", lo, up, 1e-12)
		}
	}
	opt, _ := optimal(t, prior("B"), 1)
	m, err = opt.Bounds(t.Context(), profiles.Substitute)
	if err != nil {
		t.Fatal(err)
	}
	if m.TheoryGap() {
		t.Error("the optimum's profile is attained")
	}
}
