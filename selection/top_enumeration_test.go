package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// tops returns the law of the m best of K runs by enumeration over K: q by ascending score, keys are
// how often each outcome is published.
func tops(l Law, q []float64, m int) map[string]float64 {
	out := map[string]float64{}
	counts := make([]int, len(q))
	choose := func(n, k int) float64 {
		c := 1.0
		for i := range k {
			c *= float64(n-i) / float64(i+1)
		}
		return c
	}
	// visit gives left more publications to outcomes 0..i; ways is the probability of those above, of k runs.
	var visit func(i, left, k int, ways, w float64)
	visit = func(i, left, k int, ways, w float64) {
		if left == 0 && k == 0 {
			out[fmt.Sprint(counts)] += w * ways
			return
		}
		if i < 0 || left == 0 {
			return
		}
		below := 0.0
		for _, x := range q[:i] {
			below += x
		}
		for c := range left + 1 {
			counts[i] = c
			if c < left {
				visit(i-1, left-c, k-c, ways*choose(k, c)*math.Pow(q[i], float64(c)), w)
				continue
			}
			// The worst one published: at least c of the k are it, the others are below it or it, too.
			s := 0.0
			for r := c; r <= k; r++ {
				s += choose(k, r) * math.Pow(q[i], float64(r)) * math.Pow(below, float64(k-r))
			}
			out[fmt.Sprint(counts)] += w * ways * s
		}
		counts[i] = 0
	}
	for k := 1; k <= 40; k++ {
		visit(len(q)-1, min(m, k), k, 1, l.PMF(k))
	}
	return out
}

// TestTopsByEnumeration: the three best of candidates with up to four outcomes, of which one may leak: what is
// reached in any ranking is below the price, and some of it near.
func TestTopsByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, c := range []struct{ eta, gamma, eps, delta float64 }{{1, 0.5, 0.5, 0}, {0, 0.6, 1, 0}, {2, 0.6, 0.5, 0.02}, {1, 0.5, 1, 0.1}} {
		l, err := newNegativeBinomial(c.eta, c.gamma)
		if err != nil {
			t.Fatal(err)
		}
		for m := 1; m <= 3; m++ {
			eps, delta, err := PriceOfTop(l, m, c.eps, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			ratio, leaks := 0.0, 0.0
			for range 30 {
				// Ratios e^ε, e^−ε and one in between; the leaks are outcomes of one law only.
				e := math.Exp(c.eps)
				x, y := rng.Float64(), math.Exp(-5*rng.Float64())
				p := []float64{x * y / e, (1 - x) * (1 - y/e), 0}
				q := []float64{x * y, (1 - x) * (1 - y/e) / e, 0}
				p[2], q[2] = 1-p[0]-p[1], 1-q[0]-q[1]
				if r := p[2] / q[2]; !(p[2] > 0 && q[2] > 0 && r <= e && r >= 1/e) {
					continue
				}
				if c.delta > 0 {
					for i := range p {
						p[i], q[i] = p[i]*(1-c.delta), q[i]*(1-c.delta)
					}
					p, q = append(p, c.delta, 0), append(q, 0, c.delta)
				}
				rng.Shuffle(len(p), func(i, j int) { p[i], p[j], q[i], q[j] = p[j], p[i], q[j], q[i] })
				a, b := tops(l, p, m), tops(l, q, m)
				sum, over, under := 0.0, 0.0, 0.0
				for key, x := range a {
					sum += x
					over += max(0, x-math.Exp(eps)*b[key])
					if y := b[key]; x > 1e-12 && y > 1e-12 {
						ratio = max(ratio, math.Abs(math.Log(x/y)))
					}
				}
				for key, y := range b {
					under += max(0, y-math.Exp(eps)*a[key])
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Fatalf("%v %v: %v in all", l, p, sum)
				}
				leaks = max(leaks, over, under)
				if leaks > delta+1e-9 {
					t.Fatalf("%v, %d best, %v %v: δ(%v) = %v is reached, the price is %v", l, m, p, q, eps, leaks, delta)
				}
			}
			if c.delta == 0 && !(ratio <= eps+1e-9 && ratio > 0.8*eps) || c.delta > 0 && !(leaks > 0.99*delta) {
				t.Errorf("%v, %d best at (%v, %v): ε = %v and δ = %v are reached, the price is (%v, %v)", l, m, c.eps, c.delta, ratio, leaks, eps, delta)
			}
		}
	}
}
