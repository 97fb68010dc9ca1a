package selection

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// The acceptance checks of selection-exact.md, section 5, by their numbers. 1 is TestPricesByEnumeration, 2
// TestCertifiedGaussian and TestCertifiedTraining, 4 TestSmallEpsilon.

// TestCheckExact3: pair B1 in one direction, against another program and enumeration.
func TestCheckExact3(t *testing.T) {
	var golden struct {
		P, Q  []float64
		Gamma float64
		C1    float64
		Delta []struct {
			Epsilon, U1, Best float64
			Largest           float64 `json:"largest-ratio"`
		}
		RDP []struct{ Order, Bound float64 }
	}
	if err := json.Unmarshal(must(os.ReadFile("../testdata/golden/selection_exact.json")), &golden); err != nil {
		t.Fatal(err)
	}
	p, q, l := golden.P, golden.Q, must(newGeometric(golden.Gamma))
	tab := must(finiteCandidate(p, q).tabulate(context.Background(), fineness{accuracy: 1e-6, floor: -60, deep: -60}))
	m := newMixture(l, tab)
	relNear(t, "c_1", m.c[0], golden.C1, 1e-9)
	for _, k := range golden.Delta {
		sum := 0.0
		for j, w := range m.w {
			sum += w * tab.delta(k.Epsilon-m.c[j])
		}
		// An upper bound of theirs, printed to 8 digits: pieces gathered on a grid of 1/256 cost a quarter of
		// its square times that of the slope of log δ, which is about 3.
		upper(t, "U1", sum, k.U1, 2e-8, 5e-5)
		upper(t, "by the largest ratio", l.Mean()*tab.delta(k.Epsilon-golden.C1), k.Largest, 2e-7, 2e-7)
		best := 0.0
		permutations(3, func(order []int) {
			x, y := make([]float64, 3), make([]float64, 3)
			for i, o := range order {
				x[i], y[i] = p[o], q[o]
			}
			best = max(best, hockeyStick(bestLaw(l, x), bestLaw(l, y), k.Epsilon))
		})
		relNear(t, "best of six rankings", best, k.Best, 1e-12)
		if best > sum {
			t.Errorf("ε = %v: a ranking reaches %v above U1 %v", k.Epsilon, best, sum)
		}
	}
	// In the direction (P, Q), that is with U from both directions of the pair.
	xs, ys, n := hullOfWeights(l, tab.cells())
	ranks := momentsOf(xs, ys, n)
	for _, k := range golden.RDP {
		got := renyi(p, q, k.Order) + l.logMean()/(k.Order-1) + ranks.ratio(k.Order, l.logMean())
		upper(t, "RDP by rank", got, k.Bound, 5e-6, 1e-5) // printed to 6 digits
	}
}

// TestCheckExact5: with one run the price is the candidate's profile and so is what is attained;
// a Poisson law of vanishing mean costs the mean times δ.
func TestCheckExact5(t *testing.T) {
	g := must(profiles.NewGaussian(1))
	tab := must(gaussianCandidate(1).tabulate(context.Background(), fineness{accuracy: 1e-6, floor: -60, deep: -60}))
	one := must(newGeometric(1))
	m, at := newMixture(one, tab), newAttacker(one, tab.reached(tab.samples()))
	small := newMixture(must(newPoisson(1e-9)), tab)
	for _, eps := range []float64{0, 0.5, 1, 2, 4} {
		d, _ := profiles.LogDelta(g, eps)
		want := math.Exp(d)
		// A chord costs 1e-6 in ε, where log δ has a slope below 6.
		upper(t, "one run, above", m.delta(eps, tab.delta), want, 1e-13, 1e-5)
		upper(t, "one run, below", want, at.delta(eps), 1e-13, 1e-5)
		upper(t, "few runs", small.delta(eps, tab.delta)/1e-9, want, 1e-13, 1e-5)
	}
}

// TestCheckExact6: Theorem S. Where those that win and those that they are steered with are
// apart, the ends are no further from each other than −ln ρ and what a factor ρ of δ is in ε.
func TestCheckExact6(t *testing.T) {
	slow.Test(t)
	checked := 0
	for _, sigma := range []float64{0.5, 10} {
		normal := must(profiles.NewGaussian(sigma))
		tab := must(gaussianCandidate(sigma).tabulate(context.Background(), fineness{accuracy: 1e-5, floor: -60, deep: -60}))
		pair := tab.reached(tab.samples())
		for _, l := range []Law{must(withMean(1, 2)), must(withMean(1, 1000)), must(withMean(0, 30)), must(newPoisson(30))} {
			m, at := newMixture(l, tab), newAttacker(l, pair)
			for _, delta := range []float64{1e-3, 1e-6, 1e-12} {
				hi, _ := crossing(func(eps float64) float64 { return math.Log(m.delta(eps, tab.delta) / delta) }, 100)
				start := hi - at.logR
				if at.pair.loss[len(at.a)-1] >= start {
					continue // T and S overlap
				}
				checked++
				pi := math.Exp(normal.Tails(start, 0).P)
				rho := -l.Mean() * pi
				if f, ok := l.(tnb); ok {
					rho = -(1 + f.eta) * math.Log1p(pi*(1-f.gamma)/f.gamma)
				}
				slope := 1e3 * math.Log(m.delta(hi-1e-3, tab.delta)/m.delta(hi, tab.delta))
				lo := reachedEpsilon(context.Background(), at.delta, delta, 0, hi)
				// Tables: a chord above costs 1e-5, and where the lines on either side of it meet below three
				// times that; pieces gathered on 1/256; and places between
				// which the weights change by a step: the best one is missed by half of it, which is of second order.
				step := 0.0
				for i := range len(at.a) - 1 {
					step = max(step, math.Log(at.b[i]/at.b[i+1]))
				}
				if gap, grid := hi-lo, 4e-5+slope/(4*256*256)+step*step/slope; !(lo <= hi && gap <= -rho*(1+1/slope)+grid) {
					t.Errorf("σ = %v, %v, δ = %g: [%v, %v], −ln ρ = %g, slope %v, grid %g", sigma, l, delta, lo, hi, -rho, slope, grid)
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("%d cases of 24 have T and S apart", checked)
	}
}

// TestCheckExact7: the pair of lower ends of δ at a spacing is a post-processing of that at a finer one, and
// that one of the pair of tails themselves; all are below the price. What is known to be
// less reaches no more.
func TestCheckExact7(t *testing.T) {
	slow.Test(t)
	ctx := context.Background()
	const eps, sigma = 3.0, 2.0
	l := must(withMean(1, 10))
	normal := must(profiles.NewGaussian(sigma))
	table := func(h, less float64) *tables {
		var s side
		for i := range int(4/h) + 1 {
			e := float64(i) * h
			d, _ := profiles.LogDelta(normal, e)
			s.eps = append(s.eps, e)
			s.up, s.low = append(s.up, math.Exp(d)*(1+1e-13)), append(s.low, math.Exp(d)*(1-1e-13)*less)
			s.lowUp = append(s.lowUp, math.Exp(d)*(1+1e-13))
		}
		return &tables{sides: [2]side{s, s}}
	}
	value := func(t *tables) float64 { return newAttacker(l, t.reached(t.samples())).delta(eps) }
	coarse, fine, less := value(table(0.01, 1)), value(table(1e-3, 1)), value(table(1e-3, 0.999))
	// By tails: blocks of loss 2e-4 wide.
	tails := &pair{rel: 1e-9}
	cut := func(x float64) (p, q float64) { tl := normal.Tails(x, 0); return math.Exp(tl.P), math.Exp(tl.Q) }
	p0, q0 := 1.0, 1.0
	for x := -4.0; ; x += 2e-4 {
		p1, q1 := cut(x)
		if x > 4.2 {
			p1, q1 = 0, 0
		}
		tails.loss = append(tails.loss, math.Log((p0-p1)/(q0-q1)))
		tails.p, tails.q = append(tails.p, p0-p1), append(tails.q, q0-q1)
		if p0, q0 = p1, q1; p0 == 0 {
			break
		}
	}
	best := newAttacker(l, tails).delta(eps)
	tab := must(gaussianCandidate(sigma).tabulate(ctx, fineness{accuracy: 1e-6, floor: -60, deep: -60}))
	table6, price := value(tab), newMixture(l, tab).delta(eps, tab.delta)
	t.Logf("h = .01 %.6g, 1e-3 %.6g (.1 %% less: %.6g), tails %.6g, tables of 1e-6 %.6g, U1 %.6g", coarse, fine, less, best, table6, price)
	if !(0 < coarse && coarse < fine && fine <= best*(1+1e-6) && best <= price && less < fine && table6 <= price) {
		t.Error("the order is another one")
	}
	// Tables as they are made leave nothing for the tails to win.
	if !(table6 > best*(1-1e-4)) {
		t.Errorf("tables reach %v, tails %v", table6, best)
	}
}

// TestCheckExact8: the interleaved ranking as scores of Best: the blocks' frequencies are what the attack
// says they are, under both laws. SLOW=2 for a million searches.
func TestCheckExact8(t *testing.T) {
	trials := repeats(15_000, 1_000_000)
	tab := must(gaussianCandidate(2).tabulate(context.Background(), fineness{accuracy: 1e-3, floor: -20, deep: -20}))
	for _, l := range []Law{must(withMean(1, 4)), must(newConditionedLaw(1, 0.2, 6))} {
		at := newAttacker(l, tab.reached(tab.samples()).coarse(24))
		blocks, wins := at.ranking(1, len(at.a)-1), 0
		for _, b := range at.reachOf(blocks) {
			if b.p > math.E*b.q {
				wins++
			}
		}
		if wins < 3 {
			t.Fatalf("%d of %d blocks win", wins, len(blocks))
		}
		w := at.winner(blocks)
		for side := range 2 {
			mass := func(b block) float64 { return []float64{b.p, b.q}[side] }
			seen := make([]float64, len(blocks))
			src := rand.NewPCG(8, uint64(side))
			for range trials {
				r, err := Best(context.Background(), l, func(_ context.Context, rng *rand.Rand) (int, float64, error) {
					x := rng.Float64() * mass(w.below[0])
					i := 0
					for ; i < len(blocks)-1 && x >= mass(blocks[i]); i++ {
						x -= mass(blocks[i])
					}
					return i, -float64(i), nil
				}, Options{Source: src})
				if err != nil {
					t.Fatal(err)
				}
				seen[r.Payload]++
			}
			total := 0.0
			for i := range blocks {
				a, b, _ := w.mass(i, i+1)
				want := []float64{a, b}[side]
				total += want
				// Five standard errors, and two searches for blocks that are hardly ever seen.
				if d := math.Abs(seen[i] - want*float64(trials)); d > 5*math.Sqrt(want*float64(trials))+2 {
					t.Errorf("%v, law %d: block %d won %v times of %d, the attack says %v", l, side, i, seen[i], trials, want)
				}
			}
			near(t, "all blocks", total, 1-l.PMF(0), 1e-12)
		}
	}
}

// TestMomentsByEnumeration: on small finite candidates no ranking has a larger Rényi divergence than the
// curve with the moments by rank says, in either direction, laws without a largest ratio included; and some are near.
func TestMomentsByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 2))
	cases, near, better := 0, 0, 0
	for range repeats(30, 200) {
		n := 2 + rng.IntN(3)
		p, q := brutePair(rng, n)
		if zero(p) || zero(q) {
			continue // D is infinite
		}
		curve, bound := exactCurve(p, q), exactBound(p, q)
		for _, l := range bruteLaws(rng) {
			price := PriceOfBest(l)
			c, err := price.Curve(context.Background(), curve, bound)
			if err != nil {
				t.Fatalf("%v: %v", l, err)
			}
			largest, _ := price.largestRatio(context.Background(), curve, bound)
			for _, lambda := range []float64{1.1, 2, 5, 30} {
				worst := 0.0
				permutations(n, func(order []int) {
					pp, qq := make([]float64, n), make([]float64, n)
					for i, o := range order {
						pp[i], qq[i] = p[o], q[o]
					}
					// From the bottom, so that nothing is a difference.
					a, b := massesFromBottom(l, pp), massesFromBottom(l, qq)
					worst = max(worst, logRenyi(a, b, lambda), logRenyi(b, a, lambda))
				})
				got := c.RDP(lambda)
				cases++
				if worst > got*(1+1e-9)+1e-9 {
					t.Fatalf("%v %v %v: D_%v = %v is reached, the curve says %v", l, p, q, lambda, worst, got)
				}
				if worst > 0.8*got {
					near++
				}
				if old := selectionRDP(lambda, curve.RDP(lambda)+largest, l.logMean(), math.Log(l.PMF(0))); got < 0.99*old {
					better++
				}
			}
		}
	}
	t.Logf("%d cases, %d within a fifth, %d better than the largest ratio", cases, near, better)
	if near < cases/20 || better < cases/5 {
		t.Errorf("%d cases: %d within a fifth, %d better than the largest ratio: the test says little", cases, near, better)
	}
}

// logRenyi is renyi where the powers overflow.
func logRenyi(p, q []float64, lambda float64) float64 {
	var xs []float64
	for i := range p {
		if p[i] > 0 {
			xs = append(xs, lambda*math.Log(p[i])+(1-lambda)*math.Log(q[i]))
		}
	}
	return xmath.LogSum(xs) / (lambda - 1)
}

func zero(p []float64) bool {
	for _, x := range p {
		if x == 0 {
			return true
		}
	}
	return false
}

// massesFromBottom is bestLaw with blocks in place of differences.
func massesFromBottom(l Law, q []float64) []float64 {
	out := []float64{l.PMF(0)}
	rest := xmath.Sum{}
	above := make([]float64, len(q))
	for i := len(q) - 1; i >= 0; i-- {
		above[i] = rest.Value()
		rest.Add(q[i])
	}
	below := 0.0
	for i, x := range q {
		if b, ok := l.(fromBelow); ok {
			out = append(out, b.below(below, x))
		} else {
			u, x := within(above[i], x)
			out = append(out, l.block(u, x))
		}
		below += x
	}
	return out
}
