package audit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// choose is a binomial coefficient.
func choose(n, k int) float64 {
	x, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(k))).Float64()
	return x
}

// mass is P[Bin(n, p) = k] for small n.
func mass(n, k int, p float64) float64 {
	return choose(n, k) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

// TestTailsEncloseExact: the tails against sums of exact masses with 400 bits.
func TestTailsEncloseExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 15, 16, 17, 40, 300, 2000} {
		for _, p := range []float64{0x1p-40, 0.001, 0.25, 0.5, 0.731, 1 - 0x1p-20} {
			for _, k := range []int{0, 1, 2, n / 4, n / 2, int(float64(n) * p), n - 1, n} {
				if k < 0 {
					continue
				}
				// Mass by mass, each from the one before it.
				exact := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
				odds := new(big.Float).Quo(exact(p), exact(1-p))
				x, sum := exact(1), exact(0)
				for range n {
					x.Mul(x, exact(1-p))
				}
				for j := range n + 1 {
					if j >= k {
						sum.Add(sum, x)
					}
					x.Mul(x, odds).Mul(x, exact(float64(n-j))).Quo(x, exact(float64(j+1)))
				}
				lo, up := xmath.BinomialTail(int64(k), int64(n), p, 1-p)
				want, _ := sum.Float64()
				// 1−p has been rounded: the masses are those of a p and a q of which the
				// sum is 1 to u, and each of n factors can differ by that.
				tol := 1e-15 + float64(n)*0x1p-53
				if lo > want*(1+tol) || up < want*(1-tol) || want > 1e-290 && up-lo > 1e-9*want {
					t.Errorf("n = %d, k = %d, p = %v: [%v, %v], want %v", n, k, p, lo, up, want)
				}
			}
		}
	}
}

// TestClopperPearson: the golden values are the closed forms for k = 0, 1 − α^(1/n), and
// the table of the F distribution for 8 of 20 (0.6395 at 97.5 %).
func TestClopperPearson(t *testing.T) {
	for _, n := range []int{1, 10, 1000, 1 << 20} {
		for _, a := range []float64{0.025, 1e-9} {
			got, want := proportionAbove(n, 0, a), -math.Expm1(math.Log(a)/float64(n))
			if !(got >= want && got < want*(1+1e-7)) {
				t.Errorf("0 of %d at %v: %v, want %v", n, a, got, want)
			}
		}
	}
	if got := proportionAbove(20, 8, 0.025); math.Abs(got-0.6395) > 5e-5 {
		t.Errorf("8 of 20: %v", got)
	}
	if got := proportionAbove(5, 5, 0.1); got != 1 {
		t.Errorf("5 of 5: %v", got)
	}
}

// TestManyRunsCoverage: by enumeration of all counts, the bound of ε is above the truth
// with a probability of at most 1 − confidence, for tests on the very border of (ε, δ);
// and so is the bound of μ for tests of the Gaussian mechanism.
func TestManyRunsCoverage(t *testing.T) {
	const n0, n1 = 30, 40
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, confidence := range []float64{0.5, 0.9, 0.95} {
		type truth struct{ fp, fn, epsilon, delta, mu float64 }
		var all []truth
		for _, epsilon := range []float64{0, 0.5, 1, 2} {
			for _, delta := range []float64{0, 0.1} {
				for _, fp := range []float64{0, 0.01, 0.05, 0.2} {
					if tp := math.Exp(epsilon)*fp + delta; tp <= 1 && 1-fp <= math.Exp(epsilon)*(1-tp)+delta+1e-12 {
						all = append(all, truth{fp, 1 - tp, epsilon, delta, math.Inf(1)})
					}
				}
			}
		}
		for _, mu := range []float64{0.1, 1, 2} {
			for _, x := range []float64{-2, -1, 0, 1} {
				all = append(all, truth{phi(x), 1 - phi(x+mu), math.Inf(1), 0, mu})
			}
		}
		if len(all) < 20 {
			t.Fatalf("only %d cases", len(all))
		}
		a := (1 - confidence) / 2
		var above0, above1 []float64
		for k := range n0 + 1 {
			above0 = append(above0, proportionAbove(n0, k, a))
		}
		for k := range n1 + 1 {
			above1 = append(above1, proportionAbove(n1, k, a))
		}
		for _, c := range all {
			wrong := 0.0
			for fp := range n0 + 1 {
				for fn := range n1 + 1 {
					r := Rates{FalsePositiveUpper: above0[fp], FalseNegativeUpper: above1[fn]}
					if r.Epsilon(c.delta) > c.epsilon || r.Mu() > c.mu {
						wrong += mass(n0, fp, c.fp) * mass(n1, fn, c.fn)
					}
				}
			}
			if wrong > 1-confidence {
				t.Errorf("%+v at %v: wrong with probability %v", c, confidence, wrong)
			}
		}
	}
}

// symmetric is a law of the errors of r guesses: g[w] is the probability of each pattern
// with w errors.
type symmetric []float64

// delta is the smallest δ at ε of the mechanism among m canaries.
func (g symmetric) delta(epsilon float64, m int) float64 {
	r := len(g) - 1
	d := 0.0
	for w := range r {
		d += choose(r-1, w) * (max(0, g[w]-math.Exp(epsilon)*g[w+1]) + max(0, g[w+1]-math.Exp(epsilon)*g[w]))
	}
	return d * float64(r) / float64(m)
}

// correct is the probability of at least v correct guesses.
func (g symmetric) correct(v int) float64 {
	r := len(g) - 1
	p := 0.0
	for w := 0; w <= r-v; w++ {
		p += choose(r, w) * g[w]
	}
	return p
}

// TestOneRunHolds: no symmetric mechanism (and by averaging no other, onerun.go) has
// more correct guesses than pValue says.
func TestOneRunHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.IntRange(1, 9).Draw(t, "r")
		m := r + rapid.IntRange(0, 5).Draw(t, "abstentions")
		epsilon := rapid.Float64Range(0, 3).Draw(t, "ε")
		g := make(symmetric, r+1)
		sum := 0.0
		for w := range g {
			g[w] = math.Exp(-rapid.Float64Range(0, 12).Draw(t, "weight"))
			sum += choose(r, w) * g[w]
		}
		for w := range g {
			g[w] /= sum
		}
		delta := g.delta(epsilon, m)
		for v := 1; v <= r; v++ {
			p := Guesses{Canaries: m, In: r, Correct: v, Tests: 1}.pValue(epsilon, delta)
			if got := g.correct(v); got > p*(1+1e-12) {
				t.Fatalf("%d of %d correct with probability %v, bound %v", v, r, got, p)
			}
		}
	})
}

// TestOneRunIsAttained: the mixture of the binomial law and of itself given at least v
// correct guesses reaches the bound. Where S(v) ≤ ½ the bound is below that of Steinke, Nasr
// and Jagielski, Corollary 5.4 and appendix D: S(v) + 2mδ·max_i (S(v−i) − S(v))/i.
func TestOneRunIsAttained(t *testing.T) {
	gain := 0.0
	for _, r := range []int{1, 2, 5, 12, 30} {
		for _, epsilon := range []float64{0, 0.3, 1, 2.5} {
			q := 1 / (1 + math.Exp(-epsilon))
			tail := func(k int) float64 {
				s := 0.0
				for j := max(0, k); j <= r; j++ {
					s += mass(r, j, q)
				}
				return s
			}
			for v := 1; v <= r; v++ {
				g, part := make(symmetric, r+1), 0.3
				for w := range g {
					g[w] = (1 - part) * mass(r, r-w, q) / choose(r, w)
					if r-w >= v {
						g[w] += part * mass(r, r-w, q) / choose(r, w) / tail(v)
					}
				}
				m := 2 * r
				delta := g.delta(epsilon, m)
				p := Guesses{Canaries: m, In: r, Correct: v, Tests: 1}.pValue(epsilon, delta)
				if got := g.correct(v); got > p || got < p*(1-1e-11) {
					t.Errorf("r = %d, ε = %v, v = %d: reached %v, bound %v", r, epsilon, v, got, p)
				}
				theirs := 0.0
				for i := 1; i <= v; i++ {
					theirs = max(theirs, (tail(v-i)-tail(v))/float64(i))
				}
				theirs = tail(v) + 2*float64(m)*delta*theirs
				if tail(v) <= 0.5 {
					if theirs < p*(1-1e-11) {
						t.Errorf("r = %d, ε = %v, v = %d: Corollary 5.4 has %v, below the attained %v", r, epsilon, v, theirs, p)
					}
					gain = max(gain, (theirs-tail(v))/(p-tail(v)))
				}
			}
		}
	}
	t.Logf("the term of δ is up to %.3g times smaller than in Corollary 5.4", gain)
}

// TestCorollary54Counterexample: far below the mean the published p-value is too small.
// Three canaries, all guessed; the guesses are any of the seven that are not all wrong, each
// with probability 1/7. Neighbours differ in one of the seven, so that this is (0, 1/7)-private,
// and at least one guess is right always; Corollary 5.4 of the paper has 0.982 for that.
func TestCorollary54Counterexample(t *testing.T) {
	g := symmetric{1. / 7, 1. / 7, 1. / 7, 0}
	if d := g.delta(0, 3); math.Abs(d-1./7) > 1e-15 || math.Abs(g.correct(1)-1) > 1e-15 {
		t.Fatalf("δ = %v, at least one right with probability %v", d, g.correct(1))
	}
	published := 7./8 + 2*3*(1./7)*mass(3, 0, 0.5)
	if published > 0.9822 {
		t.Errorf("the published number is %v", published)
	}
	if p := (Guesses{Canaries: 3, In: 2, Out: 1, Correct: 1, Tests: 1}).pValue(0, 1./7); p < 1-1e-12 {
		t.Errorf("p-value %v, truth 1", p)
	}
}

// An output is which r canaries are guessed and how.
type output struct{ set, says int }

// anyMechanism draws a mechanism of m canaries: the probability of each output for each choice of members.
func anyMechanism(rng *rand.Rand, m, r int) (outputs []output, p [][]float64) {
	for set := range 1 << m {
		if ones(set) == r {
			for says := range 1 << m {
				if says&^set == 0 {
					outputs = append(outputs, output{set, says})
				}
			}
		}
	}
	p = make([][]float64, 1<<m)
	for s := range p {
		sum := 0.0
		for _, o := range outputs {
			x := math.Exp(3 * rng.Float64() * float64(r-ones((s^o.says)&o.set)))
			p[s] = append(p[s], x)
			sum += x
		}
		for i := range p[s] {
			p[s][i] /= sum
		}
	}
	return outputs, p
}

// anyDelta is the smallest δ at ε of such a mechanism.
func anyDelta(p [][]float64, m int, epsilon float64) (delta float64) {
	for s := range p {
		for i := range m {
			d := 0.0
			for j, x := range p[s] {
				d += max(0, x-math.Exp(epsilon)*p[s^1<<i][j])
			}
			delta = max(delta, d)
		}
	}
	return delta
}

// anyCorrect is its probability of at least v right guesses of r.
func anyCorrect(outputs []output, p [][]float64, r, v int) (sum float64) {
	for s := range p {
		for j, o := range outputs {
			if r-ones((s^o.says)&o.set) >= v {
				sum += p[s][j] / float64(len(p))
			}
		}
	}
	return sum
}

// TestOneRunAnyMechanism: mechanisms of two or three canaries without any symmetry, drawn at
// random, with the auditor's answers as their outputs: the averaging of the proof.
func TestOneRunAnyMechanism(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := 2 + rng.IntN(2)
		r := 1 + rng.IntN(m)
		outputs, p := anyMechanism(rng, m, r)
		epsilon := 2 * rng.Float64()
		delta := anyDelta(p, m, epsilon)
		for v := 1; v <= r; v++ {
			got := anyCorrect(outputs, p, r, v)
			if bound := (Guesses{Canaries: m, In: r, Correct: v, Tests: 1}).pValue(epsilon, delta); got > bound*(1+1e-12) {
				t.Errorf("m = %d, r = %d, v = %d, ε = %v, δ = %v: %v, bound %v", m, r, v, epsilon, delta, got, bound)
			}
		}
	}
}

func ones(x int) (n int) {
	for ; x > 0; x >>= 1 {
		n += x & 1
	}
	return n
}

// TestOneRunCoverage: by enumeration, for the mechanism that answers for each canary by the
// worst (ε, δ) mechanism of one bit, the bound is above ε with a probability of at most
// 1 − confidence; and the bound of μ for noisy bits with their signs.
func TestOneRunCoverage(t *testing.T) {
	for _, m := range []int{1, 6, 25, 60} {
		for _, confidence := range []float64{0.5, 0.9, 0.99} {
			for _, epsilon := range []float64{0, 0.5, 1.5} {
				for _, delta := range []float64{0, 1e-3, 0.05} {
					right := (math.Exp(epsilon) + delta) / (1 + math.Exp(epsilon))
					wrong := 0.0
					for v := range m + 1 {
						if (Guesses{Canaries: m, In: m, Correct: v, Tests: 1}).Epsilon(delta, confidence) > epsilon {
							wrong += mass(m, v, right)
						}
					}
					if wrong > 1-confidence {
						t.Errorf("m = %d, ε = %v, δ = %v at %v: wrong with probability %v", m, epsilon, delta, confidence, wrong)
					}
				}
			}
			for _, mu := range []float64{0.3, 1.5} {
				right := math.Erfc(-mu/2/math.Sqrt2) / 2
				wrong := 0.0
				for v := range m + 1 {
					if (Guesses{Canaries: m, In: m, Correct: v, Tests: 1}).Mu(confidence) > mu {
						wrong += mass(m, v, right)
					}
				}
				if wrong > 1-confidence {
					t.Errorf("m = %d, μ = %v at %v: wrong with probability %v", m, mu, confidence, wrong)
				}
			}
		}
	}
}

// TestOneRunGolden: with δ = 0 and all of r guesses right, ε is log(x/(1−x)), x = α^(1/r).
func TestOneRunGolden(t *testing.T) {
	g := Guesses{Canaries: 100, In: 100, Correct: 100, Tests: 1}
	x := math.Pow(0.05, 0.01)
	want := math.Log(x / (1 - x))
	if got := g.Epsilon(0, 0.95); got > want || got < want-1e-9 {
		t.Errorf("ε ≥ %v, want %v", got, want)
	}
	if got := g.Epsilon(1e-5, 0.95); got >= want || got < want-0.1 {
		t.Errorf("ε ≥ %v at δ = 1e-5, want a little below %v", got, want)
	}
	if got := (Guesses{Canaries: 100, In: 100, Correct: 50, Tests: 1}).Epsilon(0, 0.95); got != 0 {
		t.Errorf("ε ≥ %v from guesses that are half right", got)
	}
}

// noisy are scores of a Gaussian mechanism with a μ.
func noisy(n int, mu float64) (s Scores) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range n {
		s.Members = append(s.Members, mu+rng.NormFloat64())
		s.NonMembers = append(s.NonMembers, rng.NormFloat64())
	}
	return s
}

// TestAuditsFindTheTruth: on many scores of a mechanism with μ = 2 the bounds are below
// the truth, and not far: the number is a regression value, the truth is a theorem.
func TestAuditsFindTheTruth(t *testing.T) {
	s := noisy(5000, 2)
	r, err := ManyRuns(t.Context(), s, 1e-5, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if mu := r.Mu; mu > 2 || mu < 1.7 {
		t.Errorf("many runs: μ ≥ %v, truth 2", mu)
	}
	if e := r.Epsilon; e < 3.5 || e > 9.9973 { // ε(1e-5) of μ = 2, Balle and Wang's closed form
		t.Errorf("many runs: ε ≥ %v", e)
	}
	g, err := OneRun(s, 1e-5, 0.95, 0)
	if err != nil {
		t.Fatal(err)
	}
	if mu := g.Mu(0.95); mu > 2 || mu < 0.7 {
		t.Errorf("one run: μ ≥ %v, truth 2", mu)
	}
	if e := g.Epsilon(1e-5, 0.95); e < 1 || e > 9.9973 {
		t.Errorf("one run: ε ≥ %v", e)
	}
	again, err := ManyRuns(t.Context(), s, 1e-5, 0.95)
	if diff := cmp.Diff(r, again); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

// TestEqualScoresCountAsWrong: a constant score tells nothing, in whatever order the rows
// are.
func TestEqualScoresCountAsWrong(t *testing.T) {
	s := Scores{make([]float64, 100), make([]float64, 100)}
	g, err := OneRun(s, 0, 0.95, 100)
	if err != nil || g.Correct != 0 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, c := range []struct {
		in, out string
		k, want int
	}{
		{"1 2 3", "0 0 0", 3, 3},
		{"1 2 3", "3 3 0", 3, 1},
		{"3 3 3", "3 0 0", 3, 2},
		{"3 3 3", "3 0 0", 4, 3},
		{"5 4 0", "4 1 1", 2, 1},
		{"5 4 0", "4 1 1", 6, 3},
	} {
		read := func(text string) (xs []float64) {
			for _, w := range strings.Fields(text) {
				var x float64
				fmt.Sscan(w, &x)
				xs = append(xs, x)
			}
			return sorted(xs)
		}
		if got := correctAbove(read(c.in), read(c.out), c.k); got != c.want {
			t.Errorf("members %s, others %s: %d of the %d highest, want %d", c.in, c.out, got, c.k, c.want)
		}
		// The lowest scores of the negatives, with the roles changed.
		if got := correctBelow(negated(read(c.out)), negated(read(c.in)), c.k); got != c.want {
			t.Errorf("members %s, others %s, negated: %d, want %d", c.in, c.out, got, c.want)
		}
	}
}

// TestTinyEnds: probabilities below the least float64 are not 0, nor below the truth where float64 has few digits, and a
// confidence of nearly 0 is not one of exactly 0, at which any ε would do.
func TestTinyEnds(t *testing.T) {
	exact := func(r, v int) *big.Float { // P[Bin(r, ½) ≥ v]
		sum := new(big.Int)
		for j := v; j <= r; j++ {
			sum.Add(sum, new(big.Int).Binomial(int64(r), int64(j)))
		}
		x := new(big.Float).SetPrec(200).SetInt(sum)
		return x.SetMantExp(x, -r)
	}
	for r := 1060; r < 1110; r++ {
		for _, v := range []int{r, r - 1} {
			want := exact(r, v)
			lo, up := xmath.BinomialTail(int64(v), int64(r), 0.5, 0.5)
			if big.NewFloat(up).Cmp(want) < 0 || big.NewFloat(lo).Cmp(want) > 0 {
				t.Errorf("P[Bin(%d, ½) ≥ %d] in [%v, %v], is %v", r, v, lo, up, want)
			}
		}
	}
	if p := (Guesses{Canaries: 5000, In: 5000, Correct: 5000, Tests: 1}).pValue(0, 0); !(p > 0) {
		t.Errorf("p-value %v of something possible", p)
	}
	few := Guesses{Canaries: 100, In: 50, Out: 50, Correct: 50, Tests: 1}
	if e, mu := few.Epsilon(0, 1e-20), few.Mu(1e-20); e > 2 || mu > 2 {
		t.Errorf("half of the guesses right: ε ≥ %v, μ ≥ %v", e, mu)
	}
}

func TestROC(t *testing.T) {
	got := Scores{[]float64{3, 2, 2}, []float64{2, 1}}.ROC(100)
	if diff := cmp.Diff([]Rate{{0, 0}, {0, 1. / 3}, {0.5, 1}, {1, 1}}, got); diff != "" {
		t.Error(diff)
	}
	thin := noisy(5000, 1).ROC(50)
	if len(thin) > 52 || thin[0] != (Rate{}) || thin[len(thin)-1] != (Rate{1, 1}) {
		t.Errorf("%d points from %v to %v", len(thin), thin[0], thin[len(thin)-1])
	}
}

func TestRefusals(t *testing.T) {
	ok := Scores{[]float64{1, math.Inf(1)}, []float64{0, 0}}
	for _, c := range []struct {
		s                 Scores
		delta, confidence float64
		guesses           int
		want              string
	}{
		{Scores{nil, []float64{0}}, 0, 0.9, 0, "members: are missing"},
		{Scores{[]float64{0}, nil}, 0, 0.9, 0, "non-members: are missing"},
		{Scores{[]float64{math.NaN()}, []float64{0}}, 0, 0.9, 0, "members: have a score that is not a number"},
		{ok, -1, 0.9, 0, "delta: -1 is not in [0, 1)"},
		{ok, math.NaN(), 0.9, 0, "delta: NaN is not in"},
		{ok, 0, 1, 0, "confidence: 1 is not in (0, 1)"},
		{ok, 0, 0.9, 5, "guesses: 5 is not in [0, 4]"},
		{Scores{make([]float64, 2000), make([]float64, 45)}, 0, 0.9, 1, "members: are 2000 of 2045 canaries, which fair coins give with a chance below 1e-12"},
	} {
		_, err := OneRun(c.s, c.delta, c.confidence, c.guesses)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if c.guesses == 0 {
			if _, err := ManyRuns(t.Context(), c.s, c.delta, c.confidence); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
	if _, err := ManyRunsAt(ok, math.NaN(), 0.9); err == nil || !strings.HasPrefix(err.Error(), "threshold: NaN is not") {
		t.Error(err)
	}
	if r, err := ManyRunsAt(ok, 1, 0.9); err != nil || r.TruePositives != 2 || r.FalsePositives != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
