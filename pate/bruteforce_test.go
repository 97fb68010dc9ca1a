package pate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/pate/ballots"
)

// everyHistogram calls f with every way in which teachers vote for m classes.
func everyHistogram(teachers int64, m int, f func(n []int64)) {
	n := make([]int64, m)
	var fill func(at int, left int64)
	fill = func(at int, left int64) {
		if at == m-1 {
			n[at] = left
			f(slices.Clone(n))
			return
		}
		for n[at] = 0; n[at] <= left; n[at]++ {
			fill(at+1, left-n[at])
		}
	}
	fill(0, teachers)
}

// For every histogram of few teachers and all its neighbours, abstentions among them: the exact
// price is what another quadrature says, at most the best bound from q, at most λ/σ², and
// forward at most Theorem 6.
func TestPricesByBruteForce(t *testing.T) {
	tried := 0
	for _, c := range []struct {
		teachers int64
		m        int
		sigma    float64
		orders   []float64
	}{{7, 3, 1.5, []float64{1.5, 3, 8}}, {5, 4, 3, []float64{2, 20}}, {9, 2, 1, []float64{1.1, 4, 30}}, {6, 3, 10, []float64{2, 50}}} {
		quad := newQuadrature(c.sigma)
		everyHistogram(c.teachers, c.m, func(n []int64) {
			if !slices.IsSortedFunc(n, func(a, b int64) int { return int(b - a) }) {
				return
			}
			tried++
			// A row with an abstention beside it makes votes leave and arrive.
			rows, teachers := [][]int64{n}, c.teachers
			if n[0] > 1 {
				rows, teachers = append(rows, slices.Clone(n)), c.teachers+1
			}
			v := must(ballots.NewVotes(rows, teachers))
			if teachers == c.teachers && v.Short() > 0 {
				t.Fatal("short rows")
			}
			exact := must(Account(context.Background(), v, gnMax{c.sigma}, Options{Price: Exact, Orders: c.orders}))
			best := must(Account(context.Background(), v, gnMax{c.sigma}, Options{Orders: c.orders}))
			paper := must(Account(context.Background(), v, gnMax{c.sigma}, Options{Price: Theorem6, Orders: c.orders}))
			p := quad.sorted(n)
			for _, order := range c.orders {
				var fwd, rev float64
				try := func(w []int64) {
					top := slices.Index(n, slices.Max(n))
					q := quad.logProbabilities(w)
					fwd = max(fwd, divergence(p, q, top, order))
					top = slices.Index(w, slices.Max(w))
					rev = max(rev, divergence(q, p, top, order))
				}
				neighbours(n, func(w []int64) { try(slices.Clone(w)) })
				if v.Short() > 0 {
					for i := range n {
						w := slices.Clone(n)
						w[i]++
						try(w)
						if n[i] > 0 {
							w[i] -= 2
							try(w)
						}
					}
				}
				var e, b []rate
				e, b = []rate{{}}, []rate{{}}
				exact.exactRates(0, []float64{order}, e)
				best.bestRates(0, []float64{order}, b)
				near(t, "forward", e[0].answer[0], fwd, 1e-7)
				near(t, "reverse", e[0].answer[1], rev, 1e-7)
				_, six, _ := paper.Query(0, order)
				for d := range 2 {
					limit := gnMax{c.sigma}.RDP(order)
					if x := e[0].answer[d]; x > b[0].answer[d] || b[0].answer[d] > limit*(1+1e-12) {
						t.Errorf("%v, order %v, direction %d: exact %v, best %v, at every data set %v", n, order, d, x, b[0].answer[d], limit)
					}
				}
				if b[0].answer[0] > six*(1+2e-6) {
					t.Errorf("%v, order %v: best %v is above Theorem 6, %v", n, order, b[0].answer[0], six)
				}
			}
		})
	}
	if tried < 20 {
		t.Errorf("%d histograms", tried)
	}
}

// A check and its answer as one law: at most the rates of Best, at least each part, and the
// same for Interactive, whose neighbours are enumerated by class.
func TestJointByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for k := range 60 {
		n := []int64{r.Int64N(8) + 1, r.Int64N(5), r.Int64N(4)}
		total := sum(n)
		scores := [][]float64{{0.25, 0.5, 0.25}}
		check := confident{float64(total) * 0.6, 1 + 3*r.Float64(), 1 + 2*r.Float64()}
		var a Aggregator = check
		statistic := func(n []int64) float64 { return float64(slices.Max(n)) }
		o := Options{Orders: []float64{4}}
		if k%2 == 1 {
			i := interactive{check, 1, k%4 == 1}
			a, o.Scores = i, must(ballots.NewScores(scores, total, false))
			statistic = func(n []int64) float64 { return i.statistic(n, o.Scores.Row(0), total) }
		}
		v := must(newVotes(n))
		quad := newQuadrature(check.sigma2)
		law := func(n []int64) []float64 {
			x := (statistic(n) - check.threshold) / check.sigma1
			out := []float64{cdf(-x)}
			for _, l := range quad.logProbabilities(n) {
				out = append(out, cdf(x)*math.Exp(l))
			}
			return out
		}
		renyi := func(p, q []float64) float64 {
			s := 0.0
			for i := range p {
				s += math.Pow(p[i], 4) * math.Pow(q[i], -3)
			}
			return math.Log(s) / 3
		}
		var want [2]float64
		neighbours(n, func(w []int64) {
			want[0] = max(want[0], renyi(law(n), law(w)))
			want[1] = max(want[1], renyi(law(w), law(n)))
		})
		o.Price = Exact
		exact := must(Account(context.Background(), v, a, o))
		got := cost(t, exact, Joint, nil)
		near(t, "forward", got.Forward.Values[0], want[0], 1e-6)
		near(t, "reverse", got.Reverse.Values[0], want[1], 1e-6)
		o.Price = Best
		best := must(Account(context.Background(), v, a, o))
		bound := cost(t, best, Joint, nil)
		worst := cost(t, best, Worst, nil)
		if got.Forward.Values[0] > bound.Forward.Values[0] || got.Reverse.Values[0] > bound.Reverse.Values[0] || bound.Total.Values[0] > worst.Total.Values[0]*(1+1e-12) {
			t.Errorf("%v %v: exact %v %v, best %v %v, worst %v", a, n, got.Forward.Values, got.Reverse.Values, bound.Forward.Values, bound.Reverse.Values, worst.Total.Values)
		}
	}
}

// In reverse the tails' part falls towards the right end of a cell: the corner of the forward
// direction would be below the maximum (the note's errata, A3).
func TestTwoTailsNeedsItsCorners(t *testing.T) {
	c := newTailCost(math.Log(0.2), 2)
	truth, _ := c.direction(3, true, 1e-9)
	o := &tailOrder{tailCost: c, order: 3, logC: 1.5, reverse: true}
	right, wrong := 0.0, 0.0
	for k := range 16 {
		at := func(k int) float64 { return math.Log(float64(k) / float64(16-k)) }
		lo, hi := o.at(at(k)), o.at(at(k+1))
		right = max(right, hi.likely+lo.tails)
		wrong = max(wrong, lo.likely+hi.tails)
	}
	right, wrong = math.Log1p(right)/2, math.Log1p(wrong)/2
	if right < truth*(1-1e-8) || wrong >= truth {
		t.Errorf("R* is %v; by the right corners %v, by the wrong ones %v", truth, right, wrong)
	}
}

// The smooth bound is at least the exact cost at every data set within the distance, and its
// logarithm moves by at most β between neighbours, for every histogram of few teachers.
func TestSmoothBoundByBruteForce(t *testing.T) {
	const beta = 0.1
	for _, c := range []struct {
		a        Aggregator
		teachers int64
		m        int
		order    float64
	}{{gnMax{1.5}, 10, 3, 2}, {gnMax{3}, 8, 4, 8}, {confident{6, 3, 1.5}, 8, 3, 2}, {confident{25, 3, 1}, 10, 2, 4}, {confident{4, 2, 1}, 9, 3, 2.5}, {lnMax{0.4}, 9, 3, 4}} {
		var ledgers []*Ledger
		var all [][]int64
		everyHistogram(c.teachers, c.m, func(n []int64) {
			if slices.IsSortedFunc(n, func(a, b int64) int { return int(b - a) }) {
				all = append(all, n)
				ledgers = append(ledgers, must(Account(context.Background(), must(newVotes(n)), c.a, Options{Price: Exact, Orders: []float64{c.order}})))
			}
		})
		f := must(newFar(ledgers[0], c.order))
		smooth, rows, exact := make([]float64, len(all)), make([][]float64, len(all)), make([]float64, len(all))
		for i, l := range ledgers {
			sum, err := f.within(context.Background(), l, beta)
			if err != nil {
				t.Fatal(err)
			}
			v := 0
			if l.q.check != nil {
				v = int(l.q.statistic[0])
			}
			s, _ := discounted(sum, beta)
			first := sum[0]
			smooth[i], rows[i] = s, f.row(slices.Clone(all[i]), v, int(c.teachers))
			exact[i] = cost(t, l, Joint, nil).Total.Values[0]
			if first < exact[i] || s < first {
				t.Errorf("%v %v: exact %v, F(0) %v, S %v", c.a, all[i], exact[i], first, s)
			}
		}
		worst := 0.0
		for i := range all {
			for j := range all {
				d := 0
				for k, x := range all[i] {
					d += int(max(x-all[j][k], all[j][k]-x))
				}
				d /= 2 // of sorted histograms: no more than that of any order
				if rows[i][d] < exact[j] {
					t.Errorf("%v: F(%d) at %v is %v, the cost at %v is %v", c.a, d, all[i], rows[i][d], all[j], exact[j])
				}
				if d == 1 {
					worst = max(worst, math.Abs(math.Log(smooth[i]/smooth[j])))
				}
			}
		}
		if worst > beta+2*f.eta {
			t.Errorf("%v: log S moves by %v, β = %v", c.a, worst, beta)
		}
	}
}

// Without the statistic's range [0, N] the bound is not smooth (the note's errata, A1).
func TestSmoothBoundNeedsItsRange(t *testing.T) {
	l := must(Account(context.Background(), must(newVotes([]int64{10, 0})), confident{25, 3, 40}, Options{Orders: []float64{4}}))
	f := must(newFar(l, 4))
	g := must(newFar(must(Account(context.Background(), must(newVotes([]int64{40, 0})), confident{25, 3, 40}, Options{Orders: []float64{4}})), 4))
	f.ind, g.ind = 0, 0 // of the check alone
	clear(f.cost)
	clear(g.cost)
	const beta = 0.02
	smooth := func(f *far, v, most int) (s float64) {
		for d, x := range f.row([]int64{10, 0}, v, 10) {
			s = max(s, x*math.Exp(-beta*float64(d)))
		}
		return s
	}
	if d := math.Log(smooth(f, 10, 10) / smooth(f, 9, 10)); math.Abs(d) > beta*(1+1e-9) {
		t.Errorf("log S moves by %v, β = %v", d, beta)
	}
	if d := math.Log(smooth(g, 10, 10) / smooth(g, 9, 10)); d <= 2*beta {
		t.Errorf("without the range log S moves by %v only", d)
	}
}

// What is published is below the smooth bound as often as its confidence says, and ends at what
// holds at every data set; with a check as without.
func TestPublishCoverage(t *testing.T) {
	slow.Test(t)
	v := s1(t, 250, 10, 8)
	check := confident{200, 150, 40}
	l := must(Account(context.Background(), v, gnMax{40}, Options{Orders: []float64{12}}))
	checked := must(Account(context.Background(), v, check, Options{Orders: []float64{12}}))
	src := random.Seeded(7)
	draws := 600.0
	if slow.All() {
		draws = 30_000
	}
	for i, confidence := range []float64{0.5, 0.95, 0.5, 0.95} {
		p, l, limit := Publication{12, 0.02, 0.15, confidence}, l, 8*12/1600.0
		if i >= 2 {
			l, limit = checked, limit+8*12/(2*150*150.0)
		}
		below := 0
		for range int(draws) {
			x := must(l.Publish(context.Background(), p, 1e-5, src))
			if x.RDP-x.NoiseCost < x.Private.Smooth {
				below++
			}
			if x.RDP > limit+x.NoiseCost*1.0001 {
				t.Fatalf("%v is above what holds at every data set", x.RDP)
			}
		}
		want := (1 - confidence) * draws
		if d := math.Abs(float64(below) - want); d > 5*math.Sqrt(want*confidence)+1 {
			t.Errorf("confidence %v: below in %d of %v", confidence, below, draws)
		}
	}
	for _, bad := range []Publication{{1, .1, .1, .9}, {2, 0, .1, .9}, {2, .1, math.NaN(), .9}, {2, .1, .1, 1}, {2, .1, .1, .3}} {
		if _, err := l.Publish(context.Background(), bad, 1e-5, src); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	short := must(Account(context.Background(), must(ballots.NewVotes([][]int64{{3, 1}}, 5)), gnMax{2}, Options{}))
	if _, err := short.Publish(context.Background(), Publication{2, .1, .1, .9}, 1e-5, src); err == nil {
		t.Error("short rows are taken")
	}
}

// Edges: prices are finite, ordered and at most what holds at every data set.
func TestPricesAtTheEdges(t *testing.T) {
	for _, sigma := range []float64{1e-4, 0.05, 0.5, 3, 1e4, 1e9} {
		for _, votes := range [][]int64{{1000000, 0}, {5, 5, 5}, {500000000, 499999999, 1}, {1, 0, 0, 0}} {
			v := must(newVotes(votes))
			orders := []float64{1 + 1e-6, 1.5, 30, 1e6}
			var before []float64
			for _, p := range []Price{Exact, Best} {
				l := must(Account(context.Background(), v, gnMax{sigma}, Options{Price: p, Orders: orders}))
				c := cost(t, l, Worst, nil)
				for i, x := range c.Total.Values {
					limit := gnMax{sigma}.RDP(orders[i])
					if !(x >= 0 && x <= limit*(1+1e-12)) {
						t.Errorf("%v σ=%v %v order %v: %v, limit %v", p, sigma, votes, orders[i], x, limit)
					}
					if p == Best && x+1e-300 < before[i]*(1-1e-9) {
						t.Errorf("σ=%v %v order %v: best %v is below exact %v", sigma, votes, orders[i], x, before[i])
					}
				}
				before = c.Total.Values
			}
		}
	}
}
