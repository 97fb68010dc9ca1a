package pate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A quadrature computes exact output probabilities of GNMax,
// Pr[i] = ∫ φ((t−n_i)/σ)/σ ∏_{j≠i} Φ((t−n_j)/σ) dt, by the trapezoid rule in log
// space. The integrand is entire and falls like a Gaussian in a strip: with step
// h = σ/per the error is about exp(−2π²·per²) relative to the peak, below 1e-80
// for per ≥ 3.2. The step divides 1, so that shifts by votes are shifts by
// lattice points and φ and Φ are looked up.
type quadrature struct {
	sigma, h float64
	perVote  int
	lo       int // lattice index of the table's first entry, in steps
	phi, cdf []float64
	cache    map[string][]float64
}

func newQuadrature(sigma float64) *quadrature {
	q := &quadrature{sigma: sigma, perVote: int(math.Ceil(3.2 / sigma)), cache: map[string][]float64{}}
	q.h = 1 / float64(q.perVote)
	const maxVotes = 64
	// Below −40σ and above +14σ of the extremes nothing is left; the lower side
	// is wide because improbable classes win there.
	q.lo = -int(40*sigma/q.h) - maxVotes*q.perVote
	hi := int(14*sigma/q.h) + maxVotes*q.perVote
	for k := q.lo; k <= hi; k++ {
		x := float64(k) * q.h / sigma
		q.phi = append(q.phi, xmath.LogNormalDensity(x))
		q.cdf = append(q.cdf, xmath.LogNormalTail(-x))
	}
	return q
}

// logProbabilities returns log Pr[i] for every class. The entry of the plurality
// is computed from the others, so that it keeps its digits near log 1.
func (q *quadrature) logProbabilities(n []int64) []float64 {
	top := 0
	for i := range n {
		if n[i] > n[top] {
			top = i
		}
	}
	lo := int(slices.Min(n))*q.perVote - int(40*q.sigma/q.h)
	hi := int(slices.Max(n))*q.perVote + int(14*q.sigma/q.h)
	out := make([]float64, len(n))
	var others xmath.Sum
	terms := make([]float64, 0, hi-lo+1)
	for i := range n {
		if i == top {
			continue
		}
		terms = terms[:0]
		largest := math.Inf(-1)
		for k := lo; k <= hi; k++ {
			at := k - int(n[i])*q.perVote - q.lo
			l := q.phi[at]
			for j := range n {
				if j != i {
					l += q.cdf[k-int(n[j])*q.perVote-q.lo]
				}
			}
			terms = append(terms, l)
			largest = max(largest, l)
		}
		var s float64
		for _, l := range terms {
			if d := l - largest; d > -45 {
				s += math.Exp(d)
			}
		}
		out[i] = largest + math.Log(s*q.h/q.sigma)
		others.Add(math.Exp(out[i]))
	}
	out[top] = math.Log1p(-others.Value())
	return out
}

// sorted returns the probabilities of a histogram through a cache of sorted
// ones.
func (q *quadrature) sorted(n []int64) []float64 {
	idx := make([]int, len(n))
	for i := range idx {
		idx[i] = i
	}
	slices.SortStableFunc(idx, func(a, b int) int { return int(n[b] - n[a]) })
	s := make([]int64, len(n))
	for i, k := range idx {
		s[i] = n[k]
	}
	key := fmt.Sprint(s)
	p, ok := q.cache[key]
	if !ok {
		p = q.logProbabilities(s)
		q.cache[key] = p
	}
	out := make([]float64, len(n))
	for i, k := range idx {
		out[k] = p[i]
	}
	return out
}

// divergence returns D_λ of two log-probability vectors; top is the likely
// outcome of the first.
func divergence(p, q []float64, top int, order float64) float64 {
	largest := math.Inf(-1)
	x := make([]float64, len(p))
	for i := range p {
		x[i] = order*p[i] - (order-1)*q[i]
		largest = max(largest, x[i])
	}
	if largest > 30 {
		return xmath.LogSum(x) / (order - 1)
	}
	s := math.Expm1(x[top])
	for i := range x {
		if i != top {
			s += math.Exp(x[i])
		}
	}
	return math.Log1p(s) / (order - 1)
}

// noise bounds the rounding error of a divergence: logarithms of probabilities
// that quadrature gives to 1e-12 relative, and their cancellation in Σe^x − 1.
func noise(p, q []float64, top int, order float64) float64 {
	s := order*math.Abs(p[top]) + (order-1)*math.Abs(q[top])
	for i := range p {
		if i != top {
			s += math.Exp(order*p[i] - (order-1)*q[i])
		}
	}
	return 1e-11*s/(order-1) + 1e-300
}

// neighbours calls f with every histogram one moved vote away.
func neighbours(n []int64, f func(m []int64)) {
	for i := range n {
		for j := range n {
			if i != j && n[j] > 0 {
				m := slices.Clone(n)
				m[i]++
				m[j]--
				f(m)
			}
		}
	}
}

// The data-dependent bound holds: at least 10,000 generated histograms, all
// their neighbours, seven orders, exact divergences by quadrature (pate.md §7.2).
func TestBoundIsAboveExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	orders := []float64{1.5, 2, 3, 5, 8, 16, 32}
	histograms, triples, dependent := 0, 0, 0
	tightest := 0.0
	for _, sigma := range []float64{.5, 1, 2, 3, 5} {
		q := newQuadrature(sigma)
		g := gnMax{sigma}
		costs := make([]gaussianCost, len(orders))
		for i, a := range orders {
			costs[i] = g.cost(a)
		}
		seen := map[string]bool{}
		for len(seen) < 2050 {
			// Histograms of 2 to 4 classes and up to 40 votes, from unanimous to
			// tied.
			m := 2 + r.IntN(3)
			n := make([]int64, m)
			left := 1 + r.Int64N(40)
			for i := range m - 1 {
				n[i] = int64(math.Round(float64(left) * math.Pow(r.Float64(), []float64{.1, .5, 1}[r.IntN(3)])))
				left -= n[i]
			}
			n[m-1] = left
			slices.SortFunc(n, func(a, b int64) int { return int(b - a) })
			key := fmt.Sprint(n)
			if seen[key] {
				continue
			}
			seen[key] = true
			histograms++
			logQ := must(g.LogQ(n))
			p := q.sorted(n)
			if miss := xmath.LogSum(p[1:]); miss > logQ+1e-9 {
				t.Fatalf("σ=%v %v: Pr[≠ plurality] = e^%v is above q̃ = e^%v", sigma, n, miss, logQ)
			}
			neighbours(n, func(m []int64) {
				pm := q.sorted(m)
				for i, a := range orders {
					bound := costs[i].upper(logQ)
					exact := divergence(p, pm, 0, a)
					triples++
					if bound < costs[i].ind*(1-1e-12) && bound > 1e-300 {
						dependent++
						tightest = max(tightest, exact/bound)
					}
					if !(exact <= bound*(1+1e-9)+noise(p, pm, 0, a)) {
						t.Fatalf("σ=%v λ=%v: D(%v ‖ %v) = %v is above the bound %v", sigma, a, n, m, exact, bound)
					}
				}
			})
		}
	}
	t.Logf("%d histograms, %d triples, %d of them below λ/σ², tightest ratio %.4f", histograms, triples, dependent, tightest)
	if histograms < 10_000 || dependent < 10_000 || !(tightest > 0.9) {
		t.Errorf("the test is too weak: %d histograms, %d data-dependent triples, tightest ratio %v", histograms, dependent, tightest)
	}
}

// The table of pate.md §7.2: the exact worst neighbour and the bound.
func TestExactTable(t *testing.T) {
	for _, c := range []struct {
		n            []int64
		sigma, order float64
		miss         float64
		exact        float64
		at           []int64
		bound        float64
	}{
		{[]int64{8, 2}, 2, 1.5, 0.0169474267623446, 0.04607186930837, []int64{7, 3}, 0.1535371233659181},
		{[]int64{8, 2}, 2, 2, 0.0169474267623446, 0.08751526674378, []int64{9, 1}, 0.2127020264344246},
		{[]int64{8, 2}, 2, 4, 0.0169474267623446, 0.6666235200125, []int64{9, 1}, 0.9367946237708192},
		{[]int64{8, 2}, 2, 8, 0.0169474267623446, 1.397936405123, []int64{9, 1}, 2},
		{[]int64{20, 0}, 3, 4, 1.21423373648792e-6, 9.426867911581e-6, []int64{19, 1}, 0.0009169582228594637},
		{[]int64{20, 0}, 3, 8, 1.21423373648792e-6, 9.657612990818e-6, []int64{19, 1}, 0.6274545309163365},
		{[]int64{19, 1}, .5, 2, 3.0411846159082e-143, 3.428107567446e-110, []int64{20, 0}, 4.892667885211177e-110},
		{[]int64{19, 1}, .5, 8, 3.0411846159082e-143, 29.22543773484, []int64{20, 0}, 29.58083168366258},
		{[]int64{12, 5, 3}, 2, 2, 0.0072520644171879, 0.04767299010244, []int64{13, 4, 3}, 0.1197074918220558},
		{[]int64{12, 5, 3}, 2, 4, 0.0072520644171879, 0.5975667543916, []int64{13, 4, 3}, 0.8597227767425506},
		{[]int64{7, 2, 1}, 1.5, 2, 0.011123706642995, 0.1487028229938, []int64{8, 1, 1}, 0.347901998430368},
		{[]int64{7, 2, 1}, 1.5, 4, 0.011123706642995, 1.385345171114, []int64{8, 1, 1}, 1.775891448834765},
		{[]int64{20, 0, 0}, 3, 4, 2.4226455676619e-6, 1.153558023003e-5, []int64{19, 1, 0}, 0.001517093698553335},
		{[]int64{9, 4, 2, 1}, 2, 2, 0.044223941452539, 0.144944095129, []int64{10, 3, 2, 1}, 0.4061840432288463},
	} {
		q := newQuadrature(c.sigma)
		name := fmt.Sprintf("%v σ=%v λ=%v", c.n, c.sigma, c.order)
		p := q.sorted(c.n)
		var miss float64
		for _, l := range p[1:] {
			miss += math.Exp(l)
		}
		near(t, name+" Pr[≠]", miss, c.miss, 1e-12)
		var worst float64
		var at []int64
		neighbours(c.n, func(m []int64) {
			if d := divergence(p, q.sorted(m), 0, c.order); d > worst {
				worst, at = d, m
			}
		})
		// For small divergences Σe^x − 1 cancels to a few u of 1, except that
		// log1p and expm1 keep it relative to the terms.
		near(t, name+" exact", worst, c.exact, 1e-10)
		if !slices.Equal(at, c.at) {
			t.Errorf("%s: worst neighbour %v, want %v", name, at, c.at)
		}
		g := gnMax{c.sigma}
		near(t, name+" bound", must(g.DependentRDP(must(g.LogQ(c.n)), c.order)), c.bound, 1e-12)
	}
	for _, c := range []struct{ threshold, sigma1, v, order, exact, bound float64 }{
		{16, 2, 26, 4, 3.281384988671e-4, 5.26627998925356e-4},
		{170, 20, 231, 8, 1.884535186879e-4, 6.626130289120799e-4},
		{10, 1, 16, 3, 2.930588400183e-4, 5.26245506042828e-4},
	} {
		worst := 0.0
		for _, w := range []float64{c.v - 1, c.v + 1} {
			worst = max(worst, thresholdDivergence(c.threshold, c.sigma1, c.v, w, c.order))
		}
		name := fmt.Sprintf("check T=%v v=%v", c.threshold, c.v)
		near(t, name+" exact", worst, c.exact, 1e-10)
		near(t, name+" bound", must(thresholdRDP(c.threshold, c.sigma1, c.v, c.order)), c.bound, 1e-12)
	}
}

func thresholdDivergence(threshold, sigma1, v, w, order float64) float64 {
	p1, p0 := thresholdLogs(threshold, sigma1, v)
	q1, q0 := thresholdLogs(threshold, sigma1, w)
	top := 0
	if p0 > p1 {
		top = 1
	}
	return divergence([]float64{p1, p0}, []float64{q1, q0}, top, order)
}

func TestThresholdBoundIsAboveExact(t *testing.T) {
	n := 0
	for _, sigma1 := range []float64{.5, 1, 2, 5, 20} {
		for d := -30.0; d <= 30; d++ {
			for _, order := range []float64{1.5, 2, 3, 5, 8, 16, 32} {
				bound := must(thresholdRDP(d, sigma1, 0, order))
				for _, w := range []float64{-1, -.5, .25, 1} {
					n++
					if x := thresholdDivergence(d, sigma1, 0, w, order); !(x <= bound*(1+1e-9)+1e-14) {
						t.Errorf("T−v=%v σ1=%v λ=%v: exact %v is above the bound %v", d, sigma1, order, x, bound)
					}
				}
			}
		}
	}
	// §6.1 E3: where the fail tail, as 1 − Pr[pass], rounds to nothing.
	if x := thresholdDivergence(0, .5, 20, 21, 16); x < 28 || x > must(thresholdRDP(0, .5, 20, 16)) {
		t.Errorf("T=0, v=20: exact %v, bound %v", x, must(thresholdRDP(0, .5, 20, 16)))
	} else {
		near(t, "E3 exact", x, 28.4081694, digits(9))
	}
	t.Logf("%d triples", n)
}

// §6.1 E20: the bound is one-directional.
func TestBoundHoldsInOneDirection(t *testing.T) {
	q := newQuadrature(.5)
	n, m := []int64{15, 5}, []int64{14, 6}
	near(t, "forward", divergence(q.sorted(n), q.sorted(m), 0, 3), 5.612148586491e-30, 1e-10)
	near(t, "reverse", divergence(q.sorted(m), q.sorted(n), 0, 3), 2.547182514116, 1e-11)
	g := gnMax{.5}
	near(t, "bound", must(g.DependentRDP(must(g.LogQ(n)), 3)), 3.55581009462e-7, digits(12))
	near(t, "bound at the neighbour", must(g.DependentRDP(must(g.LogQ(m)), 3)), 3.15206222858, digits(12))
}

// LNMax: exact probabilities of two classes, from the difference of two
// Laplace variables.
func TestLNMaxBoundIsAboveExact(t *testing.T) {
	miss := func(gamma, gap float64) float64 { // log Pr[the other class wins]
		x := gamma * gap
		if gap < 0 {
			return math.Log1p(-(2 - x) / 4 * math.Exp(x))
		}
		return math.Log((2+x)/4) - x
	}
	tightest := 0.0
	for _, gamma := range []float64{.05, .2, .5, 1, 2} {
		for gap := int64(1); gap <= 40; gap++ {
			n := []int64{gap, 0}
			l := lnMax{gamma}
			logQ := must(l.LogQ(n))
			for _, order := range []float64{1.5, 2, 3, 5, 8, 16, 32} {
				bound := l.upper(logQ, order)
				for _, g2 := range []float64{float64(gap) - 2, float64(gap) + 2} {
					q, p := miss(gamma, g2), miss(gamma, float64(gap))
					x := divergence([]float64{xmath.Log1mExp(p), p}, []float64{xmath.Log1mExp(q), q}, 0, order)
					tightest = max(tightest, x/bound)
					if !(x <= bound*(1+1e-9)+1e-14) {
						t.Errorf("γ=%v gap=%v λ=%v: exact %v is above the bound %v", gamma, gap, order, x, bound)
					}
				}
			}
		}
	}
	if !(tightest > .5) {
		t.Errorf("tightest ratio %v: the test is too weak", tightest)
	}
}

// General Theorem 6 on random pairs of distributions on 2 to 4 points, with the
// exact divergences of the pair as its two guarantees.
func TestTheorem6Random(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	applied := 0
	for range 20_000 {
		m := 2 + r.IntN(3)
		p, q := randomLogs(r, m), randomLogs(r, m)
		order := 1 + 6*r.Float64()
		mu1, mu2 := order*(1+3*r.Float64()), 1+10*r.Float64()
		both := func(mu float64) float64 { return max(divergence(p, q, 0, mu), divergence(q, p, 0, mu)) * (1 + 1e-12) }
		miss := xmath.LogSum(p[1:])
		bound, err := theorem6(miss, mu1, both(mu1), mu2, both(mu2), order)
		if err != nil {
			continue
		}
		applied++
		if x := divergence(p, q, 0, order); !(x <= bound*(1+1e-9)+1e-13) {
			t.Fatalf("p=%v q=%v λ=%v μ1=%v μ2=%v: exact %v is above the bound %v", p, q, order, mu1, mu2, x, bound)
		}
	}
	if applied < 3000 {
		t.Errorf("the theorem applied only %d times", applied)
	}
}

func randomLogs(r *rand.Rand, m int) []float64 {
	p := make([]float64, m)
	for i := range p {
		p[i] = -r.ExpFloat64() * 3
		if i > 0 {
			p[i] -= 12 * r.Float64()
		}
	}
	s := xmath.LogSum(p)
	for i := range p {
		p[i] -= s
	}
	return p
}
