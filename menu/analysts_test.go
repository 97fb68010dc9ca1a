package menu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
)

// An outcome of a mechanism has a loss and its masses; a loss of ±Inf is one that only P or only Q has.
type outcome struct{ loss, p, q float64 }

// randomPair returns a pair with two or three finite losses, multiples of step if that is not 0, and at times mass at ±∞.
func randomPair(t *testing.T, rng *rand.Rand, step float64) ([]outcome, profiles.Profile) {
	t.Helper()
	n := 2 + rng.IntN(2)
	out := make([]outcome, n)
	sumP, sumQ := 0.0, 0.0
	for i := range out {
		l := 2 * (rng.Float64() - 0.5)
		if step > 0 {
			l = step * float64(rng.IntN(9)-4)
		}
		m := rng.Float64()
		out[i] = outcome{l, m, m * math.Exp(-l)}
		sumP, sumQ = sumP+out[i].p, sumQ+out[i].q
	}
	scale := 1 / max(sumP, sumQ)
	if rng.IntN(10) < 4 {
		scale *= 0.9
	}
	p, q := 1.0, 1.0
	var atoms []profiles.Atom
	for i := range out {
		out[i].p *= scale
		out[i].q *= scale
		p, q = p-out[i].p, q-out[i].q
		atoms = append(atoms, profiles.Atom{Loss: out[i].loss, LogP: math.Log(out[i].p), LogQ: math.Log(out[i].q)})
	}
	p, q = max(0, p), max(0, q)
	if p < 1e-12 {
		p = 0
	}
	if q < 1e-12 {
		q = 0
	}
	d, err := profiles.NewDiscrete(atoms, math.Log(p), math.Log(q), 1e-12, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, outcome{math.Inf(1), p, 0}, outcome{math.Inf(-1), 0, q}), d
}

// A game is a menu with outcomes that can be enumerated.
type game struct {
	pairs [][]outcome
	cost  []int
}

// price is the recursion itself, for real α, without a lattice.
func (g game) price(units int, alpha float64) float64 {
	best := max(0, 1-alpha)
	for i, c := range g.cost {
		if c <= units {
			best = max(best, g.run(i, units-c, alpha, g.price))
		}
	}
	return best
}

// run is what a type is worth when the rest is worth after.
func (g game) run(i, left int, alpha float64, after func(units int, alpha float64) float64) float64 {
	sum := 0.0
	for _, o := range g.pairs[i] {
		switch {
		case math.IsInf(o.loss, 1):
			sum += o.p
		case !math.IsInf(o.loss, -1):
			sum += o.p * after(left, alpha*math.Exp(-o.loss))
		}
	}
	return sum
}

// transcript sums (P − αQ)₊ over the transcripts of an analyst, whose choices after the outcomes so far are a function of
// them: choose returns a type, or −1 to stop. What is within the budget is checked by before, which is the filter.
func (g game) transcript(units int, alpha float64, choose func(spent int, p, q float64) int, before func(spent, cost, units int) bool) float64 {
	var walk func(spent int, p, q float64) float64
	walk = func(spent int, p, q float64) float64 {
		i := choose(spent, p, q)
		if i < 0 || !before(spent, g.cost[i], units) {
			return max(0, p-alpha*q)
		}
		sum := 0.0
		for _, o := range g.pairs[i] {
			if o.p > 0 || o.q > 0 {
				sum += walk(spent+g.cost[i], p*o.p, q*o.q)
			}
		}
		return sum
	}
	return walk(0, 1, 1)
}

func filter(spent, cost, units int) bool { return spent+cost <= units }

func (g game) types(d [][2]profiles.Profile) []menu.Type {
	var types []menu.Type
	for i, p := range d {
		m := profiles.Bounds{Name: "x", Directions: [2]profiles.Direction{{Upper: p[0], Lower: p[0]}, {Upper: p[1], Lower: p[1]}}}
		types = append(types, menu.Type{Name: string(rune('a' + i)), Cost: g.cost[i], Runs: profiles.Repeat(m, 1)})
	}
	return types
}

// TestRandomAnalysts: no decision tree of depth up to 6 over random menus is above the upper end, with costs whatever they
// are, in either direction; and the policy of Theorem 2 is at or above the lower end. On a lattice the two ends meet.
func TestRandomAnalysts(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for round := range 50 {
		step := 0.25
		if round%2 == 1 {
			step = 0 // losses between lattice points
		}
		g := game{}
		var d [][2]profiles.Profile
		for range 2 + rng.IntN(2) {
			o, p := randomPair(t, rng, step)
			g.pairs, d = append(g.pairs, o), append(d, [2]profiles.Profile{p, p})
			g.cost = append(g.cost, 1+rng.IntN(3))
		}
		units := 3 + rng.IntN(3)
		m, err := menu.New(t.Context(), g.types(d), menu.Options{Units: units, Delta: 0.01, Relative: 5e-2})
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{0, 0.25, 0.6, 1.5} {
			alpha := math.Exp(eps)
			iv, err := m.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			truth := g.price(units, alpha)
			// The policy of Theorem 2 looks at its own loss.
			best := g.transcript(units, alpha, func(spent int, p, q float64) int {
				if p == 0 || q == 0 {
					return -1 // nothing changes what is sure
				}
				at, value := -1, max(0, 1-alpha*q/p)
				for i, c := range g.cost {
					if spent+c <= units {
						if v := g.run(i, units-spent-c, alpha*q/p, g.price); v > value+1e-15 {
							at, value = i, v
						}
					}
				}
				return at
			}, filter)
			if math.Abs(best-truth) > 1e-12 {
				t.Fatalf("round %d, ε = %v: the policy reaches %.15g, not the price %.15g", round, eps, best, truth)
			}
			if !(iv.Lower <= truth*(1+1e-12) && iv.Upper >= truth*(1-1e-12)) {
				t.Errorf("round %d, ε = %v: [%.15g, %.15g] without the truth %.15g", round, eps, iv.Lower, iv.Upper, truth)
			}
			if step > 0 && (eps == 0 || eps == 0.25 || eps == 1.5) && !(iv.Upper-iv.Lower <= 1e-10) {
				t.Errorf("round %d, ε = %v: [%.15g, %.15g] on a lattice", round, eps, iv.Lower, iv.Upper)
			}
			for tree := range 5 {
				seed := rng.Uint64()
				h := g.transcript(units, alpha, func(spent int, p, q float64) int {
					x := rand.New(rand.NewPCG(seed, math.Float64bits(p)^math.Float64bits(q)<<1+uint64(spent)))
					return x.IntN(len(g.cost)+1) - 1
				}, func(spent, cost, units int) bool { return cost > 0 && filter(spent, cost, units) })
				if h > iv.Upper*(1+1e-12) {
					t.Errorf("round %d, ε = %v: analyst %d reaches %.15g, above %.15g", round, eps, tree, h, iv.Upper)
				}
			}
		}
	}
}
