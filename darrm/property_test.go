package darrm

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// The numbers in the names are those of the list of properties, darrm.md §10.

func randomCoins(rng *rand.Rand, k int) []float64 {
	p := make([]float64, k)
	for i := range p {
		p[i] = rng.Float64()
	}
	return p
}

func randomGamma(rng *rand.Rand, k int, monotone bool) Gamma {
	x := randomCoins(rng, free(k))
	if monotone {
		for j := 1; j < len(x); j++ {
			x[j] = x[j-1] + (1-x[j-1])*x[j]
		}
	}
	return fromRight(k, x)
}

func TestProperty1PoissonBinomial(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		k := 1 + rng.IntN(40)
		p := randomCoins(rng, k)
		a, err := PoissonBinomial(p)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		flip := make([]float64, k)
		for i := range p {
			flip[i] = 1 - p[i]
		}
		b, _ := PoissonBinomial(flip)
		same, _ := PoissonBinomial(repeat(p[0], k))
		bin := binomial(k, coin{p[0], 1 - p[0]})
		for l, v := range a {
			sum += v
			near(t, "reversal", b[k-l], v, 1e-13)
			near(t, "binomial", same[l], bin[l], 1e-13)
		}
		near(t, "sum", sum, 1, 1e-14)
	}
	// A large one against its logarithms.
	lk, _ := math.Lgamma(1002)
	for l, v := range binomial(1001, coin{0.3, 0.7}) {
		a, _ := math.Lgamma(float64(l) + 1)
		b, _ := math.Lgamma(float64(1001-l) + 1)
		if want := math.Exp(lk - a - b + float64(l)*math.Log(0.3) + float64(1001-l)*math.Log(0.7)); math.Abs(v-want) > 1e-11*want+1e-307 {
			t.Errorf("Bin(1001, 0.3)(%d) = %v, want %v", l, v, want)
		}
	}
}

// signedF is f by equation (3.2), term by term.
func signedF(g Gamma, a, b []float64, budget float64) float64 {
	f := 0.0
	for l := range g {
		if l < half(len(g)-1) {
			f += (math.Exp(budget)*b[l] - a[l]) * g[l]
		} else {
			f += (a[l] - math.Exp(budget)*b[l]) * g[l]
		}
	}
	return f
}

func answersOne(g Gamma, a []float64) float64 {
	p := 0.0
	for l, v := range a {
		s := -1.0
		if l >= half(len(g)-1) {
			s = 1
		}
		p += v * (1 + s*g[l]) / 2
	}
	return p
}

func TestProperty2PrivacyCondition(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		k := 1 + 2*rng.IntN(15)
		g, budget := randomGamma(rng, k, false), 3*rng.Float64()
		a, _ := PoissonBinomial(randomCoins(rng, k))
		b, _ := PoissonBinomial(randomCoins(rng, k))
		want := 2*(answersOne(g, a)-math.Exp(budget)*answersOne(g, b)) + math.Expm1(budget)
		if f := signedF(g, a, b, budget); math.Abs(f-want) > 1e-13*math.Exp(budget) {
			t.Fatalf("K=%d: f = %v, want %v", k, f, want)
		}
	}
}

func TestProperty3SubsamplingIsMajorityOfSubset(t *testing.T) {
	for _, k := range []int{3, 5, 7} {
		for m := 1; m <= k; m++ {
			g, _ := exactSubsampling(k, m)
			for votes := range uint(1) << k {
				// Twice the number of subsets whose majority is 1, ties once.
				ones, subsets := int64(0), int64(0)
				for set := range uint(1) << k {
					if bits.OnesCount(set) != m {
						continue
					}
					subsets++
					switch c := 2 * bits.OnesCount(set&votes); {
					case c > m:
						ones += 2
					case c == m:
						ones++
					}
				}
				l := bits.OnesCount(votes)
				want := new(big.Rat).SetInt64(1)
				if l < half(k) {
					want.Sub(want, g[l])
				} else {
					want.Add(want, g[l])
				}
				if new(big.Rat).SetFrac64(ones, subsets).Cmp(want) != 0 {
					t.Fatalf("K=%d m=%d votes %b: %d/%d, want %v", k, m, votes, ones, 2*subsets, want)
				}
			}
		}
	}
}

func TestProperty4ShapesOfSubsampling(t *testing.T) {
	for k := 1; k <= 41; k += 4 {
		var prev []*big.Rat
		for m := 1; m <= k; m++ {
			g, err := exactSubsampling(k, m)
			if err != nil {
				t.Fatal(err)
			}
			d, _ := exactDoubleSubsampling(k, m)
			f := rounded(g)
			if err := f.check(); err != nil || !f.monotone() {
				t.Fatalf("K=%d m=%d: %v, monotone %v", k, m, err, f.monotone())
			}
			for l := range g {
				if d[l].Cmp(g[l]) < 0 {
					t.Errorf("K=%d m=%d: DSub(%d) below Sub", k, m, l)
				}
				if m == 1 && g[l].Cmp(big.NewRat(int64(max(2*l-k, k-2*l)), int64(k))) != 0 {
					t.Errorf("K=%d m=1: γ(%d) = %v", k, l, g[l])
				}
				if m == k && g[l].Cmp(big.NewRat(1, 1)) != 0 {
					t.Errorf("K=m=%d: γ(%d) = %v, want 1", k, l, g[l])
				}
				if m%2 == 0 && g[l].Cmp(prev[l]) != 0 {
					t.Errorf("K=%d m=%d: γ(%d) is not that of m−1", k, m, l)
				}
				// The definition at l ≤ (K−1)/2: 1 − 2 Pr[Hypergeometric > m/2] − tie.
				if l < half(k) {
					sum := new(big.Int)
					for j := 0; j <= m; j++ {
						w := int64(0)
						if 2*j > m {
							w = 2
						} else if 2*j == m {
							w = 1
						}
						if j <= l && m-j <= k-l {
							term := new(big.Int).Binomial(int64(l), int64(j))
							term.Mul(term, new(big.Int).Binomial(int64(k-l), int64(m-j)))
							sum.Add(sum, term.Mul(term, big.NewInt(w)))
						}
					}
					want := new(big.Rat).SetFrac(sum, new(big.Int).Binomial(int64(k), int64(m)))
					if want.Sub(big.NewRat(1, 1), want); want.Cmp(g[l]) != 0 {
						t.Errorf("K=%d m=%d: γ(%d) = %v, want %v", k, m, l, g[l], want)
					}
				}
			}
			prev = g
		}
	}
}

// randomPair returns a point of the polygon of one mechanism.
func randomPair(rng *rand.Rand, eps, delta float64) (p, q float64) {
	for {
		p, q = rng.Float64(), rng.Float64()
		if p <= math.Exp(eps)*q+delta && q <= math.Exp(eps)*p+delta &&
			1-p <= math.Exp(eps)*(1-q)+delta && 1-q <= math.Exp(eps)*(1-p)+delta {
			return p, q
		}
	}
}

func TestProperty5CornersDecide(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		k          int
		eps, delta float64
	}{{3, 0.1, 0}, {5, 0.5, 0}, {3, 0.4, 0.05}, {3, 1, 0.3}} {
		p := Params{Mechanisms: c.k, Epsilon: c.eps, Delta: c.delta, Allowance: 1.3, OutputDelta: c.delta}
		for range 10 {
			g := randomGamma(rng, c.k, false)
			ch := newChecker(context.Background(), p, false)
			got := certificate(ch, g).MaxF
			value := func(a, b []float64) float64 {
				x, _ := PoissonBinomial(a)
				y, _ := PoissonBinomial(b)
				return signedF(g, x, y, p.budget())
			}
			// Every ordered tuple of corners.
			pairs := ch.table.(*cornerTable).pairs()
			want := math.Inf(-1)
			a, b := make([]float64, c.k), make([]float64, c.k)
			total := 1
			for range c.k {
				total *= corners
			}
			for tuple := range total {
				for i, x := 0, tuple; i < c.k; i, x = i+1, x/corners {
					a[i], b[i] = pairs[x%corners][0].p, pairs[x%corners][1].p
				}
				want = max(want, value(a, b))
			}
			near(t, "max f", got, want, 1e-12)
			for range 180 {
				for i := range a {
					a[i], b[i] = randomPair(rng, c.eps, c.delta)
				}
				if f := value(a, b); f > got {
					t.Fatalf("%+v: f = %v inside, above the corners' %v", c, f, got)
				}
			}
		}
	}
}

// A sweep for a free γ is over some of the multisets; the worst of all of them, one by one,
// is the same, and the family that is named attains it.
func TestFreeSweepFindsTheWorst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		k := 3 + rng.IntN(4)
		delta := []float64{0, 1e-3, 0.1, 0.7}[rng.IntN(4)]
		p := Params{Mechanisms: k, Epsilon: math.Exp(2 - 4*rng.Float64()), Delta: delta, Allowance: 1 + rng.Float64(), OutputDelta: delta}
		g := randomGamma(rng, k, false)
		for j := k / 2; j >= 0; j-- {
			if rng.IntN(3) == 0 {
				g[j], g[k-j] = 0, 0
			}
		}
		ch := newChecker(context.Background(), p, false)
		pairs := ch.table.(*cornerTable).pairs()
		excess := func(c counts) float64 {
			return ch.s*answersOne(g, poissonBinomial(votes(pairs, c, 0))) - answersOne(g, poissonBinomial(votes(pairs, c, 1))) - ch.s*p.OutputDelta
		}
		want := math.Inf(-1)
		var place func(corner, left int, c counts)
		place = func(corner, left int, c counts) {
			if c[corner] = left; corner == corners-1 {
				want = max(want, excess(c))
				return
			}
			for c[corner] = range left + 1 {
				place(corner+1, left-c[corner], c)
			}
		}
		place(0, k, counts{})
		w, err := ch.worst(g)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range w.counts {
			sum += n
		}
		if math.Abs(w.excess-want) > 1e-13 || math.Abs(excess(w.counts)-want) > 1e-13 || sum != k {
			t.Errorf("%+v, γ %v: the worst is %v of %v at %v, want %v", p, g, w.excess, excess(w.counts), w.counts[:corners], want)
		}
	}
}

// K = 41 with Δ > 0 has 73,629,072 multisets of eight corners; C(K+5, 5) pairs decide.
func TestFreeSweepIsShort(t *testing.T) {
	pairs := 0
	err := newCornerTable(41, 0.1, 1e-5, false).visit(context.Background(), constant(41, 0.5), func(r *run) { pairs += len(r.P) })
	if err != nil || pairs != 1370754 {
		t.Errorf("%d pairs (error %v), want 46 choose 5 = 1370754", pairs, err)
	}
}

func TestProperty6CostOfSubsampling(t *testing.T) {
	for _, k := range []int{3, 5, 7} {
		for m := 1; m <= k; m += 2 {
			exact, _ := exactSubsampling(k, m)
			g := rounded(exact)
			for _, eps := range []float64{0.1, 1, 3} {
				budget := float64((m + 1) / 2)
				at := func(a float64) Certificate {
					p := pure(k, eps, a)
					return certificate(newChecker(context.Background(), p, true), g)
				}
				c := at(budget)
				near(t, "max f", c.MaxF, math.Expm1(budget*eps), 1e-12)
				if c := at(0.99 * budget); c.MaxF <= c.BudgetF*(1+1e-6) {
					t.Errorf("K=%d m=%d ε=%g: max f = %v keeps 0.99 of the budget", k, m, eps, c.MaxF)
				}
			}
		}
		for _, delta := range []float64{1e-5, 0.01, 0.2} {
			for _, eps := range []float64{0.1, 1} {
				for m := 1; m <= half(k); m++ {
					exact, _ := exactDoubleSubsampling(k, m)
					p, err := privacyProfile(context.Background(), k, eps, delta, rounded(exact))
					if err != nil {
						t.Fatal(err)
					}
					got, bound := deltaOf(t, p, float64(m)*eps), -math.Expm1(float64(m)*math.Log1p(-delta))
					if got > bound+1e-13 {
						t.Errorf("K=%d Δ=%g ε=%g m=%d: δ = %v above %v", k, delta, eps, m, got, bound)
					}
					if (m == 1 || m == half(k)) && math.Abs(got-bound) > 1e-13 {
						t.Errorf("K=%d Δ=%g ε=%g m=%d: δ = %v, want %v", k, delta, eps, m, got, bound)
					}
				}
			}
		}
	}
}

func TestProperty7ThreeCorners(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		k := 3 + 2*rng.IntN(3)
		p := Params{Mechanisms: k, Epsilon: 0.05 + rng.Float64(), Allowance: 1 + rng.Float64(), OutputDelta: 0.3}
		if rng.IntN(2) == 1 {
			p.Delta = 0.2 * rng.Float64()
		}
		for _, monotone := range []bool{true, false} {
			g := randomGamma(rng, k, monotone)
			three, all := certificate(newChecker(context.Background(), p, true), g).MaxF, certificate(newChecker(context.Background(), p, false), g).MaxF
			if monotone {
				near(t, "three corners", three, all, 1e-12)
			} else if three > all+1e-12 {
				t.Errorf("%+v: three corners %v above all %v", p, three, all)
			}
		}
	}
}

// incompleteBeta is I_p(m, m) = Pr[Bin(2m−1, p) ≥ m].
func incompleteBeta(p float64, m int) float64 {
	s := 0.0
	for l, v := range binomial(2*m-1, coin{p, 1 - p}) {
		if l >= m {
			s += v
		}
	}
	return s
}

func TestProperty8IdenticalVotes(t *testing.T) {
	for _, k := range []int{5, 9, 21} {
		for m := 1; 2*m-1 <= k; m++ {
			exact, _ := exactDoubleSubsampling(k, m)
			g := rounded(exact)
			for _, p := range []float64{0.03, 0.4, 0.5, 0.77} {
				near(t, "Pr[1]", answersOne(g, binomial(k, coin{p, 1 - p})), incompleteBeta(p, m), 1e-13)
				// Lemma B.10.
				h := func(l int) float64 {
					if l < half(k) {
						return (1 - g[l]) / 2
					}
					return (1 + g[l]) / 2
				}
				mean := 0.0
				for x, v := range binomial(k-1, coin{p, 1 - p}) {
					mean += v * (h(x+1) - h(x))
				}
				c, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(2*m-2), int64(m-1))).Float64()
				near(t, "B.10", mean, float64(2*m-1)/float64(k)*c*math.Pow(p*(1-p), float64(m-1)), 1e-13)
			}
		}
	}
	// Lemma B.9: E[C(X, i) C(K−X, m−i)]/C(K, m) = C(m, i) p^i (1−p)^{m−i}.
	const k, m, p = 9, 4, 0.3
	choose := func(n, r int) float64 {
		return float64(new(big.Int).Binomial(int64(n), int64(r)).Int64())
	}
	for i := 0; i <= m; i++ {
		mean := 0.0
		for x, v := range binomial(k, coin{p, 1 - p}) {
			if x >= i && k-x >= m-i {
				mean += v * choose(x, i) * choose(k-x, m-i)
			}
		}
		near(t, "B.9", mean/choose(k, m), choose(m, i)*math.Pow(p, float64(i))*math.Pow(1-p, float64(m-i)), 1e-13)
	}
}

func TestProperty9ObjectiveOfSubsampling(t *testing.T) {
	for _, k := range []int{7, 21} {
		for _, mean := range []float64{0.6, 0.75, 0.85} {
			for m := 1; 2*m-1 <= k; m++ {
				exact, _ := exactDoubleSubsampling(k, m)
				v, _, err := objective(Surrogate{mean}, rounded(exact))
				if err != nil {
					t.Fatal(err)
				}
				near(t, "V(DSub)", v, 2*incompleteBeta(mean, m)-1, 1e-12)
				if m == 1 {
					near(t, "V(Sub, 1)", v, 2*mean-1, 1e-13)
				}
			}
		}
	}
}

func TestProperty10And11Optimum(t *testing.T) {
	for _, delta := range []float64{0, 1e-5, 0.01} {
		for _, k := range []int{5, 7, 9} {
			last := [2]float64{}
			for m := 1; m <= half(k); m++ {
				p := approx(k, 0.2, float64(m), delta)
				value := [2]float64{}
				for i, free := range []bool{false, true} {
					r, err := Optimize(context.Background(), p, Surrogate{0.75}, Options{Free: free})
					if err != nil {
						t.Fatal(err)
					}
					value[i] = r.Value
					if !r.Certificate.Certified {
						t.Errorf("%+v free=%v: not certified", p, free)
					}
					if r.Value < last[i]-1e-11 {
						t.Errorf("%+v free=%v: V = %v fell from %v", p, free, r.Value, last[i])
					}
					last[i] = r.Value
					if m == half(k) {
						if r.Gamma[half(k)] != 1 {
							t.Errorf("%+v: γ = %v, want the noise-free majority", p, r.Gamma)
						}
						continue
					}
					more := p
					more.OutputDelta += 0.01
					if r, err := Optimize(context.Background(), more, Surrogate{0.75}, Options{Free: free}); err != nil || r.Value < value[i]-1e-11 {
						t.Errorf("%+v: V falls with δ (%v)", p, err)
					}
					// One tight constraint over all of γ: a smaller R is violated.
					less := p
					less.Allowance *= 1 - 1e-6
					if c := certificate(newChecker(context.Background(), less, r.Gamma.monotone()), r.Gamma); delta == 0 && c.Certified {
						t.Errorf("%+v: the certificate also passes at 1−1e-6 of the budget", p)
					}
					if up := scaleUp(r.Gamma, 1+1e-6); up != nil {
						if c := certificate(newChecker(context.Background(), p, up.monotone()), up); c.Certified {
							t.Errorf("%+v: the certificate passes after γ·(1+1e-6)", p)
						}
					}
				}
				sub, _ := exactSubsampling(k, m)
				dsub, _ := exactDoubleSubsampling(k, m)
				vs, _, _ := objective(Surrogate{0.75}, rounded(sub))
				vd, _, _ := objective(Surrogate{0.75}, rounded(dsub))
				if !(value[1] >= value[0]-1e-11 && value[0] >= vd-1e-11 && vd >= vs-1e-15) {
					t.Errorf("%+v: V = %v ≥ %v ≥ %v ≥ %v does not hold", p, value[1], value[0], vd, vs)
				}
				if m == 1 {
					near(t, "m = 1", value[1], vs, 1e-11)
				}
			}
		}
	}
}

// scaleUp multiplies g, or returns nil if that leaves [0, 1].
func scaleUp(g Gamma, f float64) Gamma {
	out := make(Gamma, len(g))
	for l, v := range g {
		if out[l] = v * f; out[l] > 1 {
			return nil
		}
	}
	return out
}

func TestProperty12Release(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	source := rand.NewChaCha8([32]byte{12})
	const k, n = 7, 40000
	exact, _ := exactSubsampling(k, 3)
	g := rounded(exact)
	p := randomCoins(rng, k)
	a, _ := PoissonBinomial(p)
	want := answersOne(g, a)
	votes := make([]bool, k)
	ones := 0
	for range n {
		for i := range votes {
			votes[i] = rng.Float64() < p[i]
		}
		b, err := Release(g, votes, source)
		if err != nil {
			t.Fatal(err)
		}
		if b {
			ones++
		}
	}
	// Five standard errors.
	if d := math.Abs(float64(ones)/n - want); d > 5*math.Sqrt(want*(1-want)/n) {
		t.Errorf("Pr[1] = %v, want %v", float64(ones)/n, want)
	}
	if _, err := Release(g, votes, nil); err != nil {
		t.Errorf("the operating system: %v", err)
	}
	if _, err := Release(g, votes[:3], source); err == nil {
		t.Error("too few votes are not an error")
	}
	if b, err := Release(constant(3, 1), []bool{true, true, false}, source); err != nil || !b {
		t.Error("γ = 1 does not answer with the majority")
	}
}

// The profile is the maximum of P − e^ε P' over all families, found here by
// brute force over corner tuples, at positive and negative ε.
func TestProfileIsTheWorstCase(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	for _, delta := range []float64{0, 0.02} {
		for _, monotone := range []bool{true, false} {
			const k, eps = 3, 0.4
			g := randomGamma(rng, k, monotone)
			p, err := privacyProfile(context.Background(), k, eps, delta, g)
			if err != nil {
				t.Fatal(err)
			}
			pairs := newCornerTable(k, eps, delta, false).pairs()
			for _, e := range []float64{-1.5, -0.3, 0, 0.1, 0.4, 0.7, 2} {
				want := 0.0
				for c := range corners * corners * corners {
					a, b := make([]coin, k), make([]coin, k)
					for i, x := 0, c; i < k; i, x = i+1, x/corners {
						a[i], b[i] = pairs[x%corners][0], pairs[x%corners][1]
					}
					want = max(want, answersOne(g, poissonBinomial(a))-math.Exp(e)*answersOne(g, poissonBinomial(b)))
				}
				// The trivial outputs: nothing and everything.
				want = max(want, -math.Expm1(e))
				if got := deltaOf(t, p, e); math.Abs(got-want) > 1e-13 {
					t.Errorf("Δ=%g monotone=%v: δ(%g) = %.16g, want %.16g", delta, monotone, e, got, want)
				}
				if got := deltaOf(t, profiles.Reverse(p), e); math.Abs(got-want) > 1e-13 {
					t.Errorf("reverse, Δ=%g: δ(%g) = %.16g, want %.16g", delta, e, got, want)
				}
			}
			m, err := newMechanism(context.Background(), profiles.Substitute, k, eps, delta, g)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []float64{0, 0.1, 0.4} {
				if up, low := deltaOf(t, m.Directions[0].Upper, e), deltaOf(t, m.Directions[0].Lower, e); low > up {
					t.Errorf("the attack's δ(%g) = %v is above the bound %v", e, low, up)
				}
			}
		}
	}
}

// Many mechanisms and a small Δ have probabilities down to Δ^K: the profile is
// still the maximum over all multisets, and keeps the budget of its γ.
func TestProfileOfManyMechanisms(t *testing.T) {
	for _, c := range []struct {
		p    Params
		free bool
	}{
		{approx(101, 0.05, 10, 1e-6), false}, {approx(201, 0.05, 10, 1e-6), false}, {pure(401, 0.02, 10), false},
		{pure(101, 3, 5), false}, {approx(15, 0.1, 3, 1e-5), true}, {pure(51, 0.1, 5), true}, {approx(101, 0.1, 3, 1e-20), false},
	} {
		r, err := Optimize(context.Background(), c.p, Surrogate{0.6}, Options{Free: c.free})
		if err != nil {
			t.Fatal(err)
		}
		p, err := privacyProfile(context.Background(), c.p.Mechanisms, c.p.Epsilon, c.p.Delta, r.Gamma)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{0, 0.3 * c.p.budget(), c.p.budget(), 1.5 * c.p.budget(), 4 * c.p.budget()} {
			want := 0.0
			newCornerTable(c.p.Mechanisms, c.p.Epsilon, c.p.Delta, r.Gamma.monotone()).visit(context.Background(), r.Gamma, func(r *run) {
				for i, v := range r.P {
					want = max(want, v-math.Exp(eps)*r.Q[i])
				}
			})
			// The rounding that is charged to both sides.
			tol := 4 * newCornerTable(c.p.Mechanisms, c.p.Epsilon, c.p.Delta, true).tableError()
			if got := deltaOf(t, p, eps); math.Abs(got-want) > tol {
				t.Errorf("%+v: δ(%g) = %.15g, want %.15g", c.p, eps, got, want)
			}
		}
		if got := deltaOf(t, p, c.p.budget()); got > c.p.OutputDelta+1e-12 {
			t.Errorf("%+v: δ(mε) = %v is above the certified δ", c.p, got)
		}
	}
}

// privacyProfile is the upper profile of one release by independent (ε, Δ)-DP mechanisms.
func privacyProfile(ctx context.Context, mechanisms int, epsilon, delta float64, g Gamma) (*profiles.Discrete, error) {
	h, _, err := Params{Mechanisms: mechanisms, Epsilon: epsilon, Delta: delta}.hulls(ctx, g)
	if err != nil {
		return nil, err
	}
	return h.profile()
}

func TestDisjointShards(t *testing.T) {
	// Parallel composition: the (ε, Δ) pair itself.
	m, err := newMechanism(context.Background(), profiles.AddRemove, 1, 0.5, 1e-3, constant(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	// P and e^ε P' are each charged 24 u (tableError at K = 1): 24 u·1.25 =
	// 3.3e-15; reading δ off two logarithms of tails near 0.62 adds up to 2e-15.
	if d := deltaOf(t, m.Directions[0].Upper, 0.5); math.Abs(d-1e-3) > 5.3e-15 {
		t.Errorf("δ(ε) = %v, want Δ", d)
	}
	// §3 of the paper, KOV: δ(0) = (e^ε − 1 + 2Δ)/(e^ε + 1).
	near(t, "δ(0)", deltaOf(t, m.Directions[0].Upper, 0), (math.Expm1(0.5)+2e-3)/(math.Exp(0.5)+1), 1e-14)
}

func TestBadParams(t *testing.T) {
	nan := math.NaN()
	ok := Params{Mechanisms: 5, Epsilon: 0.1, Delta: 1e-5, Allowance: 2, OutputDelta: 1e-4}
	for i, change := range []func(*Params){
		func(p *Params) { p.Mechanisms = 0 }, func(p *Params) { p.Mechanisms = -1 }, func(p *Params) { p.Mechanisms = 1 << 40 },
		func(p *Params) { p.Epsilon = nan }, func(p *Params) { p.Epsilon = 0 }, func(p *Params) { p.Epsilon = math.Inf(1) },
		func(p *Params) { p.Delta = -1 }, func(p *Params) { p.Delta = 1 }, func(p *Params) { p.Delta = nan }, func(p *Params) { p.Delta = 1e-310 },
		func(p *Params) { p.Allowance = 0.5 }, func(p *Params) { p.Allowance = 6 }, func(p *Params) { p.Allowance = nan },
		func(p *Params) { p.OutputDelta = 1e-6 }, func(p *Params) { p.OutputDelta = 1 }, func(p *Params) { p.OutputDelta = nan },
	} {
		p := ok
		change(&p)
		if _, err := Optimize(context.Background(), p, Surrogate{0.75}, Options{}); err == nil {
			t.Errorf("case %d: %+v has no error", i, p)
		}
	}
	for _, o := range []Objective{Surrogate{nan}, Surrogate{0.5}, FewestDisagreements{2}, TrueError{Low: 1, High: 0, Samples: 1}, TrueError{High: 1}} {
		if _, err := Optimize(context.Background(), ok, o, Options{}); err == nil {
			t.Errorf("%+v has no error", o)
		}
	}
	for _, g := range []Gamma{nil, {1}, {1, 2}, {nan, nan}, {0, 1, 1, 0.5}} {
		if g.check() == nil {
			t.Errorf("%v is accepted", g)
		}
	}
	if _, err := Optimize(context.Background(), Params{Mechanisms: 101, Epsilon: 0.1, Delta: 1e-5, Allowance: 2, OutputDelta: 1e-4}, Surrogate{0.75}, Options{Free: true}); err == nil {
		t.Error("K = 101 with Δ > 0 and free γ has no error")
	}
}

// §8, E-5: the error under its real prior has another minimiser.
func TestTrueErrorOptimum(t *testing.T) {
	for _, c := range []struct {
		k        int
		m, error float64
		gamma    []float64 // where a constraint fixes it
		free     bool
	}{
		{3, 1, 0.0637, []float64{1, 0.33555}, true},
		{5, 2, 0.0181, []float64{1, 1, 0.34213}, true},
		{7, 3, 0.0036, []float64{1, 1, 1, 0.51228}, true},
		{11, 3, 0.0155, []float64{1, 1, 1, 0.51228}, true},
	} {
		r, err := Optimize(context.Background(), pure(c.k, 0.1, c.m), TrueError{Low: 0, High: 1, Samples: 4000, Seed: 1}, Options{Free: c.free})
		if err != nil {
			t.Fatal(err)
		}
		// Printed to 4 digits; another sample of 4000 differs by about 2%.
		if e := 1 - r.Value; math.Abs(e-c.error) > 0.06*c.error {
			t.Errorf("K=%d m=%g: error %.5f, want %.4f", c.k, c.m, e, c.error)
		}
		for j, want := range c.gamma {
			if got := r.Gamma.right()[j]; math.Abs(got-want) > 6e-6 {
				t.Errorf("K=%d m=%g: γ(%d) = %.6f, want %.5f", c.k, c.m, half(c.k)+j, got, want)
			}
		}
	}
}

// Random noise functions over the whole range of parameters.
func TestProfileRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	tested := 0
	for range 600 {
		k := 1 + 2*rng.IntN(20)
		eps := math.Exp(math.Log(1e-6) + rng.Float64()*math.Log(9e6))
		delta := 0.0
		if rng.IntN(2) == 0 {
			delta = math.Exp(-60 * rng.Float64())
		}
		g := randomGamma(rng, k, k > 11 || rng.IntN(2) == 0)
		if rng.IntN(3) == 0 {
			for l, v := range g {
				if v > 0.5 {
					g[l] = 1
				}
			}
		}
		p, err := privacyProfile(context.Background(), k, eps, delta, g)
		if err != nil {
			t.Fatal(err)
		}
		ct := newCornerTable(k, eps, delta, g.monotone())
		for range 3 {
			e := (1.2*rng.Float64() - 0.1) * eps * float64(half(k))
			want := max(0, -math.Expm1(e))
			ct.visit(context.Background(), g, func(r *run) {
				for i, v := range r.P {
					want = max(want, v-math.Exp(e)*r.Q[i])
				}
			})
			tested++
			// Both sides know P and e^ε' P' ≤ P to that relative error.
			if got := deltaOf(t, p, e); got < want-ct.tableError() || got > want+4*ct.tableError() {
				t.Errorf("K=%d ε=%g Δ=%g monotone=%v: δ(%g) = %.15g, want %.15g", k, eps, delta, g.monotone(), e, got, want)
			}
		}
	}
	if tested == 0 {
		t.Error("nothing was tested")
	}
}

func certificate(c *checker, g Gamma) Certificate {
	out, err := c.certify(g)
	if err != nil {
		panic(err) // the context of tests is never done
	}
	return out
}
