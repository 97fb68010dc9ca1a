package selection

import (
	"context"
	"math"
	"testing"
)

// sampledPair is a coarse Poisson-sampled Gaussian, whose two directions differ.
func sampledPair() (p, q []float64) {
	sp, sq := 0.0, 0.0
	for x := -5.0; x <= 6; x += 0.05 {
		a := math.Exp(-x * x / 2)
		b := 0.8*a + 0.2*math.Exp(-(x-1.5)*(x-1.5)/2)
		p, q = append(p, b), append(q, a)
		sp, sq = sp+b, sq+a
	}
	for i := range p {
		p[i], q[i] = p[i]/sp, q[i]/sq
	}
	return p, q
}

// TestSabotage: what the two ends rest on, taken away, is noticed: by the attack, or by the
// price.
func TestSabotage(t *testing.T) {
	c := finiteCandidate(sampledPair())
	l := must(newGeometric(0.1))
	tab := must(c.tabulate(context.Background(), fineness{accuracy: 1e-5, floor: -60, deep: -60}))
	pair := tab.reached(tab.samples())
	at := newAttacker(l, pair)
	whole := newMixture(l, tab)
	back := tab.reverse()
	mean := math.Exp(l.logMean())
	steep := whole
	for i, x := range whole.c {
		if x < whole.c[0]*0.8 {
			steep = mixture{w: whole.w[i:], c: whole.c[i:]}
			break
		}
	}
	flat := newMixture(l, &tables{sides: [2]side{tab.sides[0], {eps: []float64{0, 1}, up: []float64{1e-9, 1e-9}}}})
	heavy := *pair
	heavy.p = append([]float64(nil), pair.p...)
	for i := range heavy.p {
		if pair.loss[i] > 1.5 {
			heavy.p[i] *= 1.5
		}
	}
	light := *pair
	light.q = append([]float64(nil), pair.q...)
	for i := range light.q {
		if pair.loss[i] > 1.5 {
			light.q[i] /= 2
		}
	}
	for _, c := range []struct {
		what         string
		above, below func(eps float64) float64
		noticed      bool
	}{
		{"nothing taken away", func(e float64) float64 { return whole.delta(e, tab.delta) }, at.delta, false},
		{"the steepest pieces left out", func(e float64) float64 { return steep.delta(e, tab.delta) }, at.delta, true},
		{"the reverse direction's price", func(e float64) float64 { return newMixture(l, back).delta(e, back.delta) }, at.delta, true},
		{"a mixture without slopes", func(e float64) float64 { return mean * tab.delta(e) }, at.delta, true},
		{"no reverse profile in U", func(e float64) float64 { return flat.delta(e, tab.delta) }, at.delta, true},
		{"a pair with too much mass", func(e float64) float64 { return whole.delta(e, tab.delta) }, newAttacker(l, &heavy).delta, true},
		{"a pair with too little mass", func(e float64) float64 { return whole.delta(e, tab.delta) }, newAttacker(l, &light).delta, true},
	} {
		noticed := false
		for eps := 2.0; eps < 5; eps += 0.1 {
			noticed = noticed || c.below(eps) > c.above(eps)
		}
		if noticed != c.noticed {
			t.Errorf("%s: noticed %v", c.what, noticed)
		}
	}
}
