package pate

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pate/ballots"
)

func newVotes(rows ...[]int64) (*ballots.Votes, error) { return ballots.NewVotes(rows, 0) }

// Run A by every price: 1.931 by Theorem 6 in one direction, 1.351 and 1.365 by the best bound
// from q, [.944, .949] and [.959, .963] by the laws.
func TestRunA(t *testing.T) {
	slow.Test(t)
	g := readExact(t).RunA
	v := s1(t, 250, 10, 640)
	ctx := context.Background()
	const delta = 1e-5
	epsilons := func(p Price) (f, r float64, c Cost, l *Ledger) {
		l = must(Account(ctx, v, gnMax{40}, Options{Price: p}))
		c = cost(t, l, Worst, nil)
		f, _, err := c.Epsilon(c.Forward, Improved, delta)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Reverse.Values) > 0 {
			r, _, _ = c.Epsilon(c.Reverse, Improved, delta)
		}
		return f, r, c, l
	}
	f6, r6, c6, _ := epsilons(Theorem6)
	near(t, "Theorem 6", f6, g.Theorem6, 1e-12)
	if r6 != 0 || c6.Reverse.Orders != nil {
		t.Error("Theorem 6 has a reverse direction")
	}
	fb, rb, cb, lb := epsilons(Best)
	near(t, "best, forward", fb, g.Best.Epsilon[0], 2e-6)
	near(t, "best, reverse", rb, g.Best.Epsilon[1], 2e-6)
	fe, re, ce, le := epsilons(Exact)
	near(t, "exact Rényi, forward", fe, 1.051, 5e-4)
	near(t, "exact Rényi, reverse", re, 1.067, 5e-4)
	near(t, "exact, forward", at(t, ce.Forward, g.Exact.Order), g.Exact.Forward, 1e-11)
	near(t, "exact, reverse", at(t, ce.Reverse, g.Exact.Order), g.Exact.Reverse, 1e-11)
	for i, order := range cb.Forward.Orders {
		if cb.Forward.Values[i] > c6.Total.Values[i]*(1+1e-6) {
			t.Errorf("order %v: the best bound %v is above Theorem 6, %v", order, cb.Forward.Values[i], c6.Total.Values[i])
		}
		if ce.Forward.Values[i] > cb.Forward.Values[i] || ce.Reverse.Values[i] > cb.Reverse.Values[i] {
			t.Errorf("order %v: the exact cost is above the best bound", order)
		}
	}
	f, r, err := le.ExactEpsilon(ctx, delta)
	if err != nil {
		t.Fatal(err)
	}
	for d, x := range [][2]float64{f, r} {
		if !(x[0] >= g.Composed.Lower[d] && x[0] < x[1] && x[1] <= g.Composed.Upper[d]) {
			t.Errorf("direction %d: ε in %v, want within [%v, %v]", d, x, g.Composed.Lower[d], g.Composed.Upper[d])
		}
	}
	if f[1] > fe || r[1] > re {
		t.Errorf("composed laws %v, %v are above their Rényi bounds %v, %v", f, r, fe, re)
	}
	// What may be published: a grid of q, outward, costs 0.3%.
	w := g.Published
	p, err := lb.Publish(ctx, Publication{w.Order, w.Beta, w.Noise, w.Confidence}, delta, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][2]float64{{p.Private.Cost, w.Cost}, {p.Private.Smooth, w.Smooth}, {p.Private.Median, w.Median}} {
		if x[0] < x[1]*(1-1e-5) || x[0] > x[1]*1.004 {
			t.Errorf("published %v, want %v and up to 0.4%% more", x[0], x[1])
		}
	}
}

// The neighbour programme against every choice of neighbours, for two queries.
func TestProgrammeByBruteForce(t *testing.T) {
	g := readExact(t).Programme
	var steps []step
	for _, votes := range g.Votes {
		h := newHistogram(votes)
		w, _ := newGaussLaw(h, g.Sigma)
		// The note asks the first query first; run takes the last one first.
		steps = append([]step{{pairs(w, h, h.moves(false, false)), 1}}, steps...)
	}
	for _, mine := range [][]step{steps, directed(steps, true)} {
		p := newProgramme(mine, 3)
		if err := p.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		forward := &mine[0] == &steps[0]
		for k, eps := range g.Epsilon {
			fixed := 0.0
			for _, x := range mine[0].pairs {
				for _, y := range mine[1].pairs {
					d := 0.0
					for i := range x.p {
						for j := range y.p {
							d += max(0, math.Exp(x.p[i]+y.p[j])-math.Exp(eps+x.q[i]+y.q[j]))
						}
					}
					fixed = max(fixed, d)
				}
			}
			at := int(math.Ceil((eps - p.first) / p.step))
			upper := p.value[at-1] // at an ε that is not above eps
			if upper < fixed || p.value[at] > fixed*1.25 {
				t.Errorf("ε = %v: the programme has %v, every choice at most %v", eps, upper, fixed)
			}
			// A teacher that sees the outputs: its next votes depend on the first query's.
			adaptive, here := 0.0, p.first+float64(at-1)*p.step
			for _, x := range mine[1].pairs {
				d := 0.0
				for i := range x.p {
					best := 0.0
					for _, y := range mine[0].pairs {
						e := 0.0
						for j := range y.p {
							e += max(0, math.Exp(y.p[j])-math.Exp(here+x.q[i]-x.p[i]+y.q[j]))
						}
						best = max(best, e)
					}
					d += math.Exp(x.p[i]) * best
				}
				adaptive = max(adaptive, d)
			}
			if upper < adaptive || upper > adaptive*1.001 {
				t.Errorf("ε = %v: the programme has %v, a teacher that adapts %v", here, upper, adaptive)
			}
			if forward {
				near(t, "brute force", fixed, g.Fixed[k], 1e-10)
				near(t, "programme", upper, g.Adaptive[k], 1e-2) // at a slightly smaller ε
			}
			if e := p.epsilon(upper + p.slack); e > eps+1e-12 || e < eps-2*p.step {
				t.Errorf("δ = %v is at ε = %v, not %v", upper, e, eps)
			}
		}
	}
}

// A chord that takes too little of its upper end is noticed: δ falls below brute force.
func TestProgrammeNeedsItsChords(t *testing.T) {
	h := newHistogram([]int64{6, 4, 2})
	w, _ := newGaussLaw(h, 3)
	x := pairs(w, h, h.moves(false, false))[:1]
	const at = 2083 // of 4096: an ε of about 0.05
	exact := 0.0
	value := func(sabotage bool) float64 {
		p := newProgramme([]step{{x, 1}}, 3)
		eps := p.first + at*p.step
		exact = 0
		for i := range x[0].p {
			exact += max(0, math.Exp(x[0].p[i])-math.Exp(eps+x[0].q[i]))
		}
		for _, n := range p.queries[0].neighbours {
			for i := range n {
				if sabotage { // always the lower of the two points
					n[i].left, n[i].right = 0, n[i].left+n[i].right
				}
			}
		}
		if err := p.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return p.value[at]
	}
	if value(false) < exact || value(true) >= exact {
		t.Errorf("δ is %v, with chords %v, without %v", exact, value(false), value(true))
	}
}

// TestAdaptiveVotes keeps what the composed ε does not hold against: its queries are put in the order that makes it
// smallest, which is any order for neighbours that are fixed beforehand, and is not for a teacher whose next votes
// depend on earlier outputs. The test fails if no case is found: then the sentence is wrong, and stronger ones hold.
func TestAdaptiveVotes(t *testing.T) {
	tables := [][]int64{{6, 4, 2}, {5, 5, 2}, {9, 2, 1}, {4, 4, 4}, {7, 5, 0}, {12, 0, 0}, {8, 4, 0}}
	const sigma = 2.5
	const delta = 0.02
	exceeded, cases := 0, 0
	for i, a := range tables {
		for _, b := range tables[i+1:] {
			v := must(ballots.NewVotes([][]int64{a, b}, 0))
			l, err := Account(t.Context(), v, must(NewGNMax(sigma)), Options{Price: Exact})
			if err != nil {
				t.Fatal(err)
			}
			forward, _, err := l.ExactEpsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			law := func(votes []int64) []pair {
				h := newHistogram(votes)
				w, _ := newGaussLaw(h, sigma)
				return pairs(w, h, h.moves(false, false))
			}
			x, y := law(a), law(b)
			fixed := 0.0
			for _, p := range x {
				for _, q := range y {
					fixed = max(fixed, deltaOfTwo(p, []pair{q}, forward[1]))
				}
			}
			if fixed > delta*(1+1e-9) {
				t.Errorf("%v, %v: δ of fixed neighbours is %v at ε = %v", a, b, fixed, forward[1])
			}
			adaptive := 0.0
			for _, order := range [][2][]pair{{x, y}, {y, x}} {
				for _, first := range order[0] {
					adaptive = max(adaptive, deltaOfTwo(first, order[1], forward[1]))
				}
			}
			if cases++; adaptive > delta*(1+1e-9) {
				exceeded++
			}
		}
	}
	if t.Logf("%d of %d", exceeded, cases); exceeded == 0 {
		t.Errorf("votes that adapt to outputs exceed the composed ε in none of %d cases", cases)
	}
}

// deltaOfTwo is δ at ε of a first query and, by its outcome, the worst of some second ones.
func deltaOfTwo(first pair, second []pair, eps float64) (d float64) {
	for i := range first.p {
		best := 0.0
		for _, y := range second {
			e := 0.0
			for j := range y.p {
				e += max(0, math.Exp(first.p[i]+y.p[j])-math.Exp(eps+first.q[i]+y.q[j]))
			}
			best = max(best, e)
		}
		d += best
	}
	return d
}
