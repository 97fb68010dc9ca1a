package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// classicalSigma is what the paper calibrates with, at any ε (its tables use it
// beyond ε = 1, where it is not proved).
func classicalSigma(eps, delta, sensitivity float64) float64 {
	return sensitivity * math.Sqrt(2*math.Log(1.25/delta)) / eps
}

// must.md §7.7: the paper's calibration recomputed. The noise is chosen for base ε
// and the printed sensitivity, and δ' is Theorem 5 with that noise.
func TestCalibrationTables(t *testing.T) {
	near := func(got, want, digits float64) bool { return math.Abs(got-want) <= digits*want }
	// delta2 is δ' of noise sigma against sensitivity s: a substitution is one shift
	// of s, half of it is one record's contribution.
	delta2 := func(s FixedSize, sigma, sensitivity, eps2 float64) float64 {
		return deltaOf(ok(s.Theorem5(gaussian(2*sigma/sensitivity))), eps2)
	}
	base := func(s FixedSize, eps2 float64) float64 {
		return math.Log1p(math.Expm1(eps2) / s.InclusionProbability())
	}

	// Table 4: n = 300, m = 30, ε' = 0.1, δ = 1/n, range 8; the printed
	// sensitivities of mean and variance are 8/n and 64/n.
	for _, c := range []struct {
		s                               FixedSize
		eta, eps, mean, variance, delta float64
	}{
		{must(NewWithoutReplacement(300, 30)), 0.1, 0.718673192487, 0.127751803, 1.022014424, 2.180253624e-6},
		{must(NewWithReplacement(300, 30)), 0.0953137115429, 0.743563905561, 0.1234753266, 0.987802613, 5.72786476e-5},
		{must(NewMustOW(300, 10, 30)), 0.0319202947242, 1.4574044854, 0.06299678437, 0.5039742749, 0.00639392583},
		{must(NewMustOW(300, 50, 30)), 0.0757526134363, 0.870601519559, 0.1054578863, 0.8436630908, 0.0005191657544},
		{must(NewMustOW(300, 70, 30)), 0.0817999545306, 0.826676155511, 0.1110613818, 0.8884910541, 0.0003246996269},
		{must(NewMustWW(300, 10, 30)), 0.0314659409098, 1.46842102235, 0.06252416351, 0.5001933081, 0.006541535321},
		{must(NewMustWW(300, 50, 30)), 0.0730545066901, 0.891843350794, 0.1029461015, 0.8235688119, 0.0006531901233},
	} {
		eps := base(c.s, 0.1)
		mean, variance := classicalSigma(eps, 1./300, 8./300), classicalSigma(eps, 1./300, 64./300)
		if !near(c.s.InclusionProbability(), c.eta, 2e-12) || !near(eps, c.eps, 4e-12) || !near(mean, c.mean, 1e-8) || !near(variance, c.variance, 1e-8) {
			t.Errorf("%v: eta %v, eps %v, sigma %v and %v, want %+v", c.s, c.s.InclusionProbability(), eps, mean, variance, c)
		}
		for _, d := range []float64{delta2(c.s, mean, 8./300, 0.1), delta2(c.s, variance, 64./300, 0.1)} {
			if !near(d, c.delta, 2e-9) {
				t.Errorf("%v: delta' %v, want %v", c.s, d, c.delta)
			}
		}
	}

	// Table 6: n = 1000, b = 200, m = 100, C = 3, δ = 1/n, printed sensitivity C/n;
	// δ' as corrected in E15 (the paper's 0.095, 0.079, 0.076 are of θ = C/σ).
	for _, c := range []struct {
		s                      FixedSize
		eta, sigma, finer      float64 // at ε' = 0.01 and 0.001
		delta, deltaOfTheFiner float64 // 0 is not given
	}{
		{must(NewWithoutReplacement(1000, 100)), 0.1, 0.1183031766, 1.138032803, 0, 0},
		{must(NewWithReplacement(1000, 100)), 0.0952078528863, 0.1128967161, 1.083767137, 3.553411503e-6, 3.540044316e-7},
		{must(NewMustOW(1000, 200, 100)), 0.0788459127019, 0.09443357507, 0.8984861756, 2.866258672e-5, 2.857078605e-6},
		{must(NewMustWW(1000, 200, 100)), 0.0758490842292, 0.09105107984, 0.8645502975, 3.885804441e-5, 3.874192904e-6},
	} {
		if !near(c.s.InclusionProbability(), c.eta, 2e-12) {
			t.Errorf("%v: eta %v, want %v", c.s, c.s.InclusionProbability(), c.eta)
		}
		for _, x := range []struct{ eps2, sigma, delta float64 }{{0.01, c.sigma, c.delta}, {0.001, c.finer, c.deltaOfTheFiner}} {
			sigma := classicalSigma(base(c.s, x.eps2), 1./1000, 3./1000)
			if !near(sigma, x.sigma, 1e-9) {
				t.Errorf("%v: sigma %v at %v, want %v", c.s, sigma, x.eps2, x.sigma)
			}
			if d := delta2(c.s, sigma, 3./1000, x.eps2); x.delta != 0 && !near(d, x.delta, 2e-9) {
				t.Errorf("%v: delta' %v at %v, want %v", c.s, d, x.eps2, x.delta)
			}
		}
	}

	// Table 8: n = 30969, b = 500, m = 300, C = 3, ε' = 0.0005: σ·m.
	for _, c := range []struct {
		s          FixedSize
		eta, sigma float64
	}{
		{must(NewWithoutReplacement(30969, 300)), 0.0096871064613, 2.65359453412},
		{must(NewWithReplacement(30969, 300)), 0.0096404924813205, 2.64114159364},
		{must(NewMustOW(30969, 500, 300)), 0.0072898380891586, 2.01312109228},
		{must(NewMustWW(30969, 500, 300)), 0.0072634311994323, 2.00606538198},
	} {
		sigma := 300 * classicalSigma(base(c.s, 0.0005), 1./30969, 3./30969)
		if !near(c.s.InclusionProbability(), c.eta, 1e-11) || !near(sigma, c.sigma, 2e-12) {
			t.Errorf("%v: eta %v, sigma·m %v, want %v, %v", c.s, c.s.InclusionProbability(), sigma, c.eta, c.sigma)
		}
	}
}

// must.md §7.7 and E22: δ(2) after 1000 runs with the noise of table 8. The paper
// takes σ·m for a noise multiplier although C = 3 (second column: its pair with
// unit shifts). First column: the true multiplier σ·m/3, the paper's pair and the
// legal data set.
func TestTable8Compositions(t *testing.T) {
	for _, c := range []struct {
		s            FixedSize
		noise        float64
		pair, attack float64 // σ·m/3
		mistaken     float64 // σ·m, the paper's pair
		digits       float64 // of the last, as given
	}{
		{must(NewWithoutReplacement(30969, 300)), 2.65359453412, 3.148e-3, 0.3734, 2.0440e-19, 5e-5},
		{must(NewWithReplacement(30969, 300)), 2.64114159364, 3.620e-3, 0.3924, 2.9829e-19, 5e-5},
		{must(NewMustOW(30969, 500, 300)), 2.01312109228, 0.4135, 0.9005, 8.7618369e-7, 1e-7},
		{must(NewMustWW(30969, 500, 300)), 2.00606538198, 0.4221, 0.9021, 1.4394554e-6, 1e-7},
	} {
		if c.s.(fixedSize).kind != mustOW && !slow.All() {
			continue // the others take seconds
		}
		for _, x := range []struct {
			name         string
			p            profiles.Profile
			want, digits float64 // half a unit of the last digit, relatively
		}{
			{"pair", ok(c.s.PaperPairNotABound(gaussian(c.noise / 3))), c.pair, 2e-4},
			{"attack", ok(c.s.Attack(gaussian(c.noise / 3))), c.attack, 2e-4},
			{"mistaken pair", ok(c.s.PaperPairNotABound(gaussian(c.noise))), c.mistaken, c.digits},
		} {
			o := fourier.DefaultOptions()
			o.Relative = 2e-3
			if x.want < 1e-10 {
				o.Relative = 0.05
			}
			sum := fourier.New(o)
			if err := sum.Add(x.p, 1000); err != nil {
				t.Fatal(err)
			}
			r, err := sum.Delta(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			if !(r.Lower <= x.want*(1+x.digits) && r.Upper >= x.want*(1-x.digits) && r.Upper-r.Lower <= 0.06*r.Upper) {
				t.Errorf("%v %s: delta(2) of 1000 runs is in [%v, %v], want %v", c.s, x.name, r.Lower, r.Upper, x.want)
			}
		}
	}
}
