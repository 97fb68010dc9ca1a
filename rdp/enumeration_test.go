package rdp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// divergence returns the Rényi divergence of two laws on a few outcomes, from its definition.
func divergence(p, q []float64, alpha float64) float64 {
	excess := 0.0 // Σ p((p/q)^{α−1} − 1), so that nothing cancels where it is small
	for i := range p {
		excess += p[i] * math.Expm1((alpha-1)*math.Log(p[i]/q[i]))
	}
	return math.Log1p(excess) / (alpha - 1)
}

// TestConversionsByEnumeration: two outcomes, one of loss ε + log(α/(α−1)), are what a divergence of one order α allows at
// ε. Every conversion is at least their δ at ε, and their ε at δ; and the better ones are no more, where the other outcome
// hardly counts.
func TestConversionsByEnumeration(t *testing.T) {
	near := 0
	for _, eps := range []float64{0, 0.1, 1, 5, 30} {
		for _, alpha := range []float64{1.2, 2, 4, 20} {
			for _, p := range []float64{1e-12, 1e-6, 1e-2, 0.3} {
				x := math.Log(alpha / (alpha - 1))
				q := p * math.Exp(-eps-x)
				small := math.Log1p(-p) - math.Log1p(-q) // of the other outcome
				excess := p*math.Expm1((alpha-1)*(eps+x)) + (1-p)*math.Expm1((alpha-1)*small)
				// Of terms of 1e-12 or more, each right to a few units, and of a difference of two at small α.
				d := math.Log1p(excess)/(alpha-1)*(1+1e-12) + 1e-28
				truth := p * -math.Expm1(-x)
				for _, c := range []Curve{Grid{[]float64{alpha}, []float64{d}}, maxOf(Grid{[]float64{alpha}, []float64{d}}, Func(func(float64) float64 { return 0 }))} {
					delta, _, err := Delta(c, eps)
					classic, _, err2 := DeltaClassic(c, eps)
					if err != nil || err2 != nil || !(delta >= truth*(1-1e-12)) || !(classic >= truth*(1-1e-12)) {
						t.Errorf("order %v, δ(%v) = %v of two outcomes: %v, classic %v (%v, %v)", alpha, eps, truth, delta, classic, err, err2)
					}
					back, _, err := Epsilon(c, truth)
					old, _, err2 := EpsilonClassic(c, truth)
					if err != nil || err2 != nil || !(back >= eps*(1-1e-11)-1e-11) || !(old >= eps*(1-1e-11)-1e-11) {
						t.Errorf("order %v, ε(%v) = %v of two outcomes: %v, classic %v (%v, %v)", alpha, truth, eps, back, old, err, err2)
					}
					if excess > 1000 {
						near++
						if delta > truth*1.01 || back > eps+0.01 {
							t.Errorf("order %v, ε = %v, δ = %v: conversions have δ = %v, ε = %v", alpha, eps, truth, delta, back)
						}
					}
				}
			}
		}
	}
	if near < 20 {
		t.Errorf("only %d conversions are near to the truth", near)
	}
}

// TestCurvesByEnumeration: the divergence of two runs of one random pair and one of another, over all lists of outcomes, is
// what is composed at the orders of the grid, and at most that between them; so for the larger of curves.
func TestCurvesByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	law := func() []float64 {
		p, sum := make([]float64, 3), 0.0
		for i := range p {
			p[i] = math.Exp(3 * r.NormFloat64())
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	orders := []float64{1.1, 1.5, 2, 3, 6, 20}
	for range 60 {
		p, q, v, w := law(), law(), law(), law()
		var all, none []float64
		for i := range 27 {
			all = append(all, p[i%3]*p[i/3%3]*v[i/9])
			none = append(none, q[i%3]*q[i/3%3]*w[i/9])
		}
		a := OnOrders(Func(func(alpha float64) float64 { return divergence(p, q, alpha) }), orders)
		b := OnOrders(Func(func(alpha float64) float64 { return divergence(v, w, alpha) }), orders)
		composed, larger := Compose(Repeat(a, 2), b), maxOf(a, b)
		for alpha := 1.1; alpha < 20; alpha *= 1.03 {
			one, two, three := divergence(p, q, alpha), divergence(v, w, alpha), divergence(all, none, alpha)
			// Sums of a few terms, each right to some units, over α − 1.
			const rounding = 1e-12
			if x := composed.RDP(alpha); !(x >= three*(1-rounding)-rounding) {
				t.Fatalf("order %v: composed %v, all lists have %v", alpha, x, three)
			}
			if x := larger.RDP(alpha); !(x >= max(one, two)*(1-rounding)-rounding) {
				t.Fatalf("order %v: the larger is %v of %v and %v", alpha, x, one, two)
			}
		}
		for _, alpha := range orders {
			if x, want := composed.RDP(alpha), divergence(all, none, alpha); !(math.Abs(x-want) <= 1e-11*(1+want)) {
				t.Fatalf("order %v: composed %v, all lists have %v", alpha, x, want)
			}
		}
	}
}
