package pate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// repairedGNSS is the printed formula with the last line of its proof set
// right: looser than the exact cost.
func repairedGNSS(order, beta, sigma float64) float64 {
	return order*math.Exp(2*beta)/(2*sigma*sigma*(1-2*order*beta)) + (beta*order-0.5*math.Log1p(-2*order*beta))/(order-1)
}

// pate.md §7.7 and §5.4(a).
func TestGNSS(t *testing.T) {
	for _, c := range []struct{ beta, sigma, order, printed, repaired, exact float64 }{
		{.0329, 6.23, 14, 0.518392939947616, 2.57755564725243, 1.607055840916411},
		{.01, 5, 8, 0.3503468136046174, 0.2182064495630567, 0.1872421255059782},
		{.02, 10, 20, 0.2715684156920066, 0.5838116479497231, 0.4645467642402438},
		{.05, 3, 4, 0.6429913453279529, 0.561126832877905, 0.3378359004550109},
		{.0533, 4.88, 7.5, 0.535473182915, 0, 0.633527830042},
		{.0310, 7.92, 15.5, 0.407916972234, 0, 1.76255772444},
		{.0205, 11.9, 20.5, 0.219443261217, 0, 0.416549946531},
		{.009, 26.4, 50, 0.105722582544, 0, 0.339571431397},
		{.008, 38.7, 50, 0.0585092990523, 0, 0.0875431626400},
	} {
		name := fmt.Sprintf("β=%v σ=%v λ=%v", c.beta, c.sigma, c.order)
		exact := must(GNSS{c.order, c.beta}.RDP(c.sigma))
		tol := 1e-13
		if c.repaired == 0 {
			tol = digits(11)
		}
		near(t, name+" exact", exact, c.exact, tol)
		printed, proved, err := GNSS{c.order, c.beta}.PrintedNotABound(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" printed", printed, c.printed, tol)
		if proved != (c.beta*c.order <= .25) {
			t.Errorf("%s: proved = %v", name, proved)
		}
		r := repairedGNSS(c.order, c.beta, c.sigma)
		if c.repaired > 0 {
			near(t, name+" repaired", r, c.repaired, 1e-13)
		}
		if r < exact {
			t.Errorf("%s: the repaired form %v is below the exact %v", name, r, exact)
		}
	}
}

func TestGNSSSigma(t *testing.T) {
	// Table 2's column σ_SS (§5.4(a)).
	for _, c := range []struct{ order, beta, ss, want float64 }{
		{14, .0329, .0618, 6.231205}, {7.5, .0533, .0717, 4.882167}, {15.5, .0310, .0332, 7.919662},
		{20.5, .0205, .0128, 11.860873}, {50, .009, .00278, 26.358104}, {50, .008, .00088, 38.649631},
	} {
		near(t, "printed σ", must(GNSS{c.order, c.beta}.PrintedSigma(c.ss)), c.want, 1e-7)
	}
	for _, c := range []struct{ order, beta, ss, sigma, cost, std float64 }{
		{14, .0329, .0618, 9.92574, .66342, .61341}, {7.5, .0533, .0717, 5.79451, .463221, .415466},
		{15.5, .0310, .0332, 14.7633, .549608, .490141}, {20.5, .0205, .0128, 16.3301, .231948, .209026},
		{50, .009, .00278, 43.3992, .134172, .12065}, {50, .008, .00088, 51.3598, .0531365, .0451966},
	} {
		s := must(GNSS{c.order, c.beta}.OptimalSigma(c.ss))
		near(t, "exact σ", s, c.sigma, 1e-5)
		near(t, "cost", must(GNSS{c.order, c.beta}.RDP(s)), c.cost, 1e-5)
		near(t, "std", s*c.ss, c.std, 1e-5)
	}
}

// gaussianDivergence integrates D_λ(N(f, s²) ‖ N(g, r²)) numerically.
func gaussianDivergence(f, s, g, r, order float64) float64 {
	logRatio := func(x float64) float64 {
		a, b := (x-f)/s, (x-g)/r
		return -order*(a*a/2+math.Log(s)) + (order-1)*(b*b/2+math.Log(r))
	}
	// The integrand is a Gaussian again, of curvature k around m.
	k := order/(s*s) - (order-1)/(r*r)
	m := (order*f/(s*s) - (order-1)*g/(r*r)) / k
	w := 1 / math.Sqrt(k)
	top := logRatio(m)
	var sum float64
	const h = 1.0 / 16
	for i := -200; i <= 200; i++ {
		sum += math.Exp(logRatio(m+float64(i)*h*w) - top)
	}
	return (top + math.Log(sum*h*w/math.Sqrt(2*math.Pi))) / (order - 1)
}

// §7.8 item 9: the cost is at least the divergence of every pair that
// β-smoothness allows, with equality at the worst; the printed formula is at
// least the exact one wherever λβ ≤ ¼, but not beyond (E1).
func TestGNSSIsTheSupremum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		order := 1.1 + 40*r.Float64()
		beta := (.001 + .48*r.Float64()) / order
		sigma := 0.5 + 20*r.Float64()
		exact := must(GNSS{order, beta}.RDP(sigma))
		tau := beta * (2*r.Float64() - 1)
		d := min(1, math.Exp(tau)) * (2*r.Float64() - 1)
		if x := gaussianDivergence(0, sigma, d, sigma*math.Exp(tau), order); !(x <= exact*(1+1e-9)+1e-12) {
			t.Fatalf("λ=%v β=%v σ=%v: divergence %v at τ=%v, Δ=%v is above %v", order, beta, sigma, x, tau, d, exact)
		}
		near(t, fmt.Sprintf("λ=%v β=%v σ=%v at τ=−β", order, beta, sigma),
			gaussianDivergence(0, sigma, math.Exp(-beta), sigma*math.Exp(-beta), order), exact, 1e-8)
		printed, proved, err := GNSS{order, beta}.PrintedNotABound(sigma)
		if err != nil {
			t.Fatal(err)
		}
		if proved && printed < exact {
			t.Fatalf("λ=%v β=%v σ=%v: printed %v is below exact %v with λβ ≤ ¼", order, beta, sigma, printed, exact)
		}
	}
	// E1: the printed cost of the paper's MNIST row against an actual divergence.
	x := gaussianDivergence(0, 6.23, math.Exp(-.0329), 6.23*math.Exp(-.0329), 14)
	near(t, "E1", x, 1.60705584091641, 1e-12)
	if printed, _, _ := (GNSS{14, .0329}).PrintedNotABound(6.23); printed > x {
		t.Errorf("printed %v is a bound after all", printed)
	}
}

// The end-to-end report of §7.7.
func TestSanitize(t *testing.T) {
	v := s1(t, 250, 10, 640)
	answered, _ := noiseFree(v, 200)
	l := ledger(t, v, confident{200, 150, 40}, nil)
	s := sensitivity(t, l, 14, Realised, answered)
	if _, err := Sanitize(1e-5, Classic, rand.NewPCG(1, 1), Round{s, .02, 5}); err == nil || s.Bound {
		t.Error("the cost of a transcript is sanitized")
	}
	// The golden values are of a transcript as if it had been fixed in advance.
	s.Bound = true
	near(t, "GNMax part", s.Cost-0.1991111111111111, 0.07504682482406881, 1e-13)
	for _, c := range []struct{ beta, ss, sigma, cost, fixed, std, printedSigma, printedCost, exactThere, printedFixed float64 }{
		{.2 / 14, 0.111384484122637, 4.65455984895509, 0.522347135783576, 1.68211472287031, 0.518445747594, 5.05712766363594, 0.598317310716635, 0.443091668264027, 1.75808489780337},
		{.4 / 14, 0.0443078042522871, 8.75394665638363, 0.414912470048754, 1.57468005713549, 0.387868154886, 6.94205758103497, 0.400258017348376, 0.643803310976494, 1.56002560443511},
	} {
		ss, _, err := s.Smooth(c.beta)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "SS", ss, c.ss, 1e-11)
		sigma := must(GNSS{14, c.beta}.OptimalSigma(ss))
		near(t, "σ", sigma, c.sigma, 1e-11)
		rep, err := Sanitize(1e-5, Classic, rand.NewPCG(1, 1), Round{s, c.beta, sigma})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "GNSS", rep.Private.GNSS, c.cost, 1e-11)
		near(t, "fixed", rep.Private.Fixed, c.fixed, 1e-11)
		near(t, "std", rep.Private.StdDev, c.std, digits(11))
		printedSigma := must(GNSS{14, c.beta}.PrintedSigma(ss))
		near(t, "printed σ", printedSigma, c.printedSigma, 1e-11)
		printed, _, _ := GNSS{14, c.beta}.PrintedNotABound(printedSigma)
		near(t, "printed cost", printed, c.printedCost, 1e-11)
		near(t, "exact cost there", must(GNSS{14, c.beta}.RDP(printedSigma)), c.exactThere, 1e-11)
		near(t, "printed fixed", must(Classic.epsilonAt(14, s.Cost+printed, 1e-5)), c.printedFixed, 1e-11)
	}
	// The noise has the promised spread, and is centred.
	const n = 20_000
	src := rand.NewPCG(9, 9)
	var mean, square float64
	p := must(Sanitize(1e-5, Improved, src, Round{s, .02, 5}, Round{s, .03, 4})).Private
	for range n {
		rep := must(Sanitize(1e-5, Improved, src, Round{s, .02, 5}, Round{s, .03, 4}))
		p = rep.Private
		z := (rep.Epsilon - p.Fixed) / p.StdDev
		mean += z / n
		square += z * z / n
	}
	// Five standard errors: 5/√n and 5·√(2/n).
	if math.Abs(mean) > 5/math.Sqrt(n) || math.Abs(square-1) > 5*math.Sqrt(2.0/n) {
		t.Errorf("noise: mean %v, variance %v in units of the promised", mean, square)
	}
	near(t, "two rounds", p.Cost, 2*s.Cost, 1e-15)
	near(t, "two GNSS", p.GNSS, must(GNSS{14, .02}.RDP(5))+must(GNSS{14, .03}.RDP(4)), 1e-15)
}

// What is published is a multiple of a power of two that no vote has a say in: the
// low bits of a float are those of the private cost and noise.
func TestSanitizeGrid(t *testing.T) {
	for _, c := range []struct{ order, delta, grid float64 }{{14, 1e-5, 0x1p-13}, {2, 1e-5, 0x1p-9}, {1000, 1e-5, 0x1p-19}, {14, 1e-300, 0x1p-7}} {
		for seed := range uint64(200) {
			// Sensitivities and costs over many orders of magnitude.
			cost := math.Exp(float64(seed%20) - 10)
			s := &Sensitivity{Order: c.order, Cost: cost, Local: []float64{cost / 3, cost / 2}, Bound: true}
			rep, err := Sanitize(c.delta, Improved, rand.NewPCG(seed, 1), Round{s, 0.1 / c.order, 5})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Grid != c.grid {
				t.Fatalf("order %v, δ=%v: grid %v, want %v", c.order, c.delta, rep.Grid, c.grid)
			}
			if n := rep.Epsilon / rep.Grid; n != math.Round(n) {
				t.Errorf("order %v, δ=%v: %v is not a multiple of %v", c.order, c.delta, rep.Epsilon, rep.Grid)
			}
		}
	}
}
