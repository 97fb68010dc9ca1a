package adaptive

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// severalOf returns blocks of draws with replacement whose cone is taken on trust.
func severalOf(t *testing.T, n, m int64, theta float64) *blocked {
	t.Helper()
	law := copies.WithReplacement(n, m)
	wide, err := newChordPair(t.Context(), repeatedStep(law, widened(theta), 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return &blocked{rate: float64(m) / float64(n), theta: theta, wide: wide, several: true, lambda: 0.5, few: fewSteps}
}

// TestSeveralAtTrainingScale: with replacement the ends lie around the limit of the attack (of another program, where there is one), and are within
// 1.1 % of each other.
func TestSeveralAtTrainingScale(t *testing.T) {
	for _, c := range []struct {
		n, m           int64
		sigma          float64
		steps          int64
		guess          float64
		limit, low, up float64
	}{
		{10000, 200, 4, 1000, 1.4, 1.338083, 1.33789, 1.34917},
		{60000, 256, 1.1, 14063, 16.2, 0, 16.0203, 16.1823},
	} {
		if c.steps > 1000 && !slow.All() {
			continue
		}
		b := severalOf(t, c.n, c.m, 2/c.sigma)
		l, g, err := b.upper(t.Context(), c.steps, c.guess, math.Log(1e-5), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		at, err := b.lower(t.Context(), copies.NewGaussianAttack(copies.WithReplacement(c.n, c.m), 2/c.sigma), c.steps, c.guess, math.Log(1e-5), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		low, up := at.Epsilon(1e-5), crossing(l, g, 1e-5)
		if math.Abs(up/c.up-1) > 1e-4 || math.Abs(low/c.low-1) > 1e-4 || c.limit > 0 && !(low <= c.limit && c.limit <= up) || up > low*1.011 {
			t.Errorf("σ=%v, %d steps: [%v, %v], want [%v, %v] around %v", c.sigma, c.steps, low, up, c.low, c.up, c.limit)
		}
	}
}

// drawsOfLine returns pairs of laws of m draws with replacement from n records on a line, of which one is 1 or −1 and the others are at a few places in
// all shares that are tried, for noise 1 and a distance of theta: in either order.
func drawsOfLine(n, m int, theta float64, x []float64) (laws []nodeLaw) {
	const h = 1. / 64
	at := []float64{-1, -0.4, 0.4, 1}
	for i, a := range at {
		for _, b := range at[i:] {
			for _, share := range []int{0, (n - 1) / 2, n - 1} {
				if a == b && share > 0 {
					continue
				}
				// The means of sums of m draws, and their weights, by convolution.
				sums := func(mine float64) map[float64]float64 {
					one := map[float64]float64{}
					one[mine] += 1 / float64(n)
					one[a] += float64(share) / float64(n)
					one[b] += float64(n-1-share) / float64(n)
					all := map[float64]float64{0: 1}
					for range m {
						next := map[float64]float64{}
						for s, p := range all {
							for v, q := range one {
								next[math.Round((s+v)*1e6)/1e6] += p * q
							}
						}
						all = next
					}
					return all
				}
				p, q := sums(1), sums(-1)
				density := func(of map[float64]float64, y float64) float64 {
					sum := 0.0
					for s, w := range of {
						d := y - s*theta/2
						sum += w * math.Exp(-d*d/2) / math.Sqrt(2*math.Pi)
					}
					return sum
				}
				var ps, qs []float64
				for y := -9 - float64(m)*theta/2; y < 9+float64(m)*theta/2; y += h {
					ps, qs = append(ps, density(p, y)), append(qs, density(q, y))
				}
				var u, v []float64
				for _, z := range x {
					up, down := 0.0, 0.0
					for i := range ps {
						up += h * max(0, ps[i]-math.Exp(z)*qs[i])
						down += h * max(0, qs[i]-math.Exp(z)*ps[i])
					}
					u, v = append(u, up), append(v, down)
				}
				l := newNodeLaw(x, u, v)
				laws = append(laws, l, l.reverse())
			}
		}
	}
	return laws
}

// TestSeveralAboveEveryAdversary: blocks of draws with replacement are above an adversary who at each of up to six steps chooses anew among data sets on
// a line, records at up to two places at a time, by the sums of densities of all draws: at every α ≥ 1. With the first copy alone they would not be.
func TestSeveralAboveEveryAdversary(t *testing.T) {
	slow.Test(t)
	const n, m, theta, step, steps = 10, 2, 1., 1. / 64, 6
	top := int(math.Ceil(4 / step))
	var node []int
	var x []float64
	for i := 0; i <= top; i += max(1, i/48) {
		node, x = append(node, i), append(x, float64(i)*step)
	}
	larger := func(values [][]float64, g []float64) {
		for i := range g {
			g[i] = 0
			for _, v := range values {
				g[i] = max(g[i], v[i])
			}
		}
	}
	r := recursion{step: step, c: 1, upper: true, join: larger}
	for _, l := range drawsOfLine(n, m, theta, x) {
		r.laws = append(r.laws, l.masses(node, x))
	}
	b := severalOf(t, n, m, theta)
	b.few = 1
	one := blocksOf(float64(m)/n*math.Pow(1-1./n, m-1), theta, 0.5) // the law of a single copy
	one.few = 1
	g, below := make([]float64, top+1), 0
	for k := int64(1); k <= steps; k++ {
		run(t, r, g, 1)
		at := func(b *blocked, x float64) float64 { // chords in α
			l, g, err := b.upper(t.Context(), k, 1.5, math.Log(1e-4), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			i := int(x / l.step)
			return g[i] + (g[i+1]-g[i])*math.Expm1(x-float64(i)*l.step)/math.Expm1(l.step)
		}
		for _, i := range []int{0, 1, 3, 10, 30, 60, 100, 140} {
			x := float64(i) * step
			// Chords of the adversary's lattice raise it by less than 2e-4 a step where G is not tiny.
			if v := at(b, x); g[i] > 1e-5 && v < g[i]*(1-2e-4*float64(k)) {
				t.Errorf("%d steps, log α = %v: %v, an adversary has %v", k, x, v, g[i])
			}
			if g[i] > 1e-5 && at(one, x) < g[i]*(1-2e-4*float64(k)) {
				below++
			}
		}
	}
	if below < 5 {
		t.Errorf("blocks of one copy are below the adversary at %d points: the test sees little", below)
	}
}

// TestSeveralCheck: the check passes with replacement, for single steps too, and refuses a pair above that is not of a larger θ.
func TestSeveralCheck(t *testing.T) {
	at := Repeated(copies.WithReplacement(10000, 200), 1, 0)
	b, err := newBlocked(t.Context(), blockedKey{theta: 0.5, scheme: "several"}, at)
	if err != nil || b.lambda != 0.5 || b.cells < 20 {
		t.Errorf("%+v, %v", b, err)
	}
	worst, err := newChordPair(t.Context(), at(0.5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkNodes(worst, worst, 0.02, 0.5, 0.5, false); err == nil {
		t.Error("a pair with nothing to spare passes")
	}
	// What the pair has above is what is proved of a step, and that of several copies is more than of one.
	g := copies.NewGaussianWR(copies.WithReplacement(10000, 200), 0.5)
	for _, z := range []float64{0, 0.003, 0.01, 0.04, 0.2, 1} {
		want := math.Exp(g.Tails(z, 0).P) - math.Exp(z+g.Tails(z, 0).Q)
		if got := worst.near(z).value; got < want*(1-1e-9) || got > want*(1+6e-3) { // chords, which cost most far out
			t.Errorf("at e^%v: %v, want %v", z, got, want)
		}
	}
	if _, err := newBlocked(t.Context(), blockedKey{theta: 0.5, scheme: "several"}, Repeated(copies.WithReplacement(10, 20), 1, 0)); err == nil {
		t.Error("two copies in the mean pass")
	}
}

// TestSeveralTail: what losses at +∞ have of the plateau below the ladder counts as its value at α = 0, and moments are those of the law.
func TestSeveralTail(t *testing.T) {
	b := severalOf(t, 10000, 200, 0.5)
	l, laws, err := b.ladderFor(t.Context(), true, 100, 0.4, math.Log(1e-5), 12, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	f := newStair(l, b)
	f.setMoments(laws[0])
	f.c, f.density = make([]float64, l.top+1), 1
	const pInf, size = 1e-3, 7
	f.tail(size, pInf)
	// ∫ β·β^{−λ−1} dβ up to e^−Y.
	if want := size * pInf * 2 * math.Exp(-0.5*float64(f.low)*f.ladder.step); !(f.inf >= want) {
		t.Errorf("%v is added, want %v", f.inf, want)
	}
	for _, m := range f.moments {
		sum := 0.0
		for i, p := range laws[0].mass {
			sum += p * math.Exp((m.tau-1)*float64(laws[0].index[i])*l.step/float64(l.fine))
		}
		if math.Abs(math.Log(sum)-m.log) > 1e-9*(1+math.Abs(m.log)) {
			t.Errorf("moment %v: %v, want %v", m.tau, m.log, math.Log(sum))
		}
	}
}

// TestRareCopiesAreRefused: where records are so rare that chords end before the pair has fallen off, there is no check. It was
// looked for without end.
func TestRareCopiesAreRefused(t *testing.T) {
	for _, c := range []struct {
		population, batch int64
		theta             float64
	}{{66666666, 2, 0.05}, {10_000_000_000, 2, 0.5}, {256_000_000_000, 256, 0.5}} {
		if _, err := newBlocked(t.Context(), blockedKey{theta: c.theta, scheme: "several"}, Repeated(copies.WithReplacement(c.population, c.batch), 1, 0)); err == nil {
			t.Errorf("%+v has a check", c)
		}
	}
}
