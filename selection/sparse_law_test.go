package selection

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
	"gonum.org/v1/gonum/integrate/quad"
)

// This file finds the laws of what the searches return by quadrature over the noise on the threshold, in its own
// arithmetic, and compares each output, and each set of outputs, for two neighbours with the price. That the code draws
// from these laws is TestHaltsWhereTheNoiseSays.

// tailAbove returns Pr[scale·ξ ≥ x] for Laplace ξ.
func tailAbove(x, scale float64) float64 {
	if x > 0 {
		return math.Exp(-x/scale) / 2
	}
	return 1 - math.Exp(x/scale)/2
}

// threshold returns points and weights for integrals over level + scale·ν of functions that are smooth between kinks: ten
// Gauss–Legendre points between any two, and at least so many for every three scales, out to 60 scales beyond them.
func threshold(level, scale float64, kinks []float64) (xs, ws []float64) {
	cuts := append([]float64{level}, kinks...)
	cuts = append(cuts, slices.Min(cuts)-60*scale, slices.Max(cuts)+60*scale)
	slices.Sort(cuts)
	x, w := make([]float64, 10), make([]float64, 10)
	for i := range cuts[1:] {
		parts := math.Ceil((cuts[i+1] - cuts[i]) / (3 * scale))
		for k := range int(parts) {
			width := (cuts[i+1] - cuts[i]) / parts
			quad.Legendre{}.FixedLocations(x, w, cuts[i]+float64(k)*width, cuts[i]+float64(k+1)*width)
			for j := range x {
				xs = append(xs, x[j])
				ws = append(ws, w[j]*math.Exp(-math.Abs(x[j]-level)/scale)/(2*scale))
			}
		}
	}
	return xs, ws
}

// firsts adds to out the probabilities, times weight, that query i is the first that passes, and last that none does.
func firsts(out, passes []float64, weight float64) {
	for i, p := range passes {
		out[i] += weight * p
		weight *= 1 - p
	}
	out[len(passes)] += weight
}

// hockey returns the largest p(S) − e^ε q(S) over sets of outputs, and loss the largest |log p/q|.
func hockey(p, q []float64, eps float64) (delta float64) {
	for i := range p {
		delta += max(0, p[i]-math.Exp(eps)*q[i])
	}
	return delta
}

func loss(p, q []float64) float64 { return max(maxDivergence(p, q), maxDivergence(q, p)) }

// sums fails unless a law has the total 1.
func sums(t *testing.T, p []float64) {
	t.Helper()
	total := 0.0
	for _, x := range p {
		total += x
	}
	near(t, "total", total, 1, 1e-12)
}

// neighbour returns the largest probability that an ε-DP mechanism gives to what had probability p.
func neighbour(p, eps float64) float64 { return min(math.Exp(eps)*p, 1-math.Exp(-eps)*(1-p)) }

// TestVectorLaw: for streams of up to five queries whose probabilities move as far as they may, one way for all but the
// last and any way for that, no output's probability changes by more than e^Epsilon; and for a large one nearly so.
func TestVectorLaw(t *testing.T) {
	for _, v := range []SparseVector{{0.5, 0.1, 0.5}, {0.2, 1, 1}, {0.2, 0.5, 20}} {
		nu, xi := 2*2*v.CandidateEpsilon/v.Epsilon, 4*2*v.CandidateEpsilon/v.Epsilon
		odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
		var moves [][2]float64
		for _, p := range []float64{0.01, 1 / (1 + math.Exp(v.CandidateEpsilon)), 0.99} {
			q := neighbour(p, v.CandidateEpsilon)
			moves = append(moves, [2]float64{odds(p), odds(q)}, [2]float64{odds(q), odds(p)})
		}
		worst := 0.0
		for _, first := range moves {
			for _, last := range moves {
				for _, n := range []int{0, 3} {
					var laws [2][]float64
					for d := range laws {
						xs, ws := threshold(odds(v.Percentile), nu, []float64{first[d], last[d]})
						laws[d] = make([]float64, n+2)
						passes := make([]float64, n+1)
						for k, x := range xs {
							for i := range n {
								passes[i] = tailAbove(x-first[d], xi)
							}
							passes[n] = tailAbove(x-last[d], xi)
							firsts(laws[d], passes, ws[k])
						}
						sums(t, laws[d])
					}
					worst = max(worst, loss(laws[0], laws[1]))
				}
			}
		}
		if !(worst <= v.Epsilon+1e-10) || v.Epsilon > 10 && worst < 0.8*v.Epsilon {
			t.Errorf("%+v: the largest loss is %v", v, worst)
		}
	}
}

// binomialLaw returns the law of hits in n trials.
func binomialLaw(n int, p float64) []float64 {
	w := make([]float64, n+1)
	for k := range w {
		a, _ := math.Lgamma(float64(n) + 1)
		b, _ := math.Lgamma(float64(k) + 1)
		c, _ := math.Lgamma(float64(n-k) + 1)
		w[k] = math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return w
}

// TestOffsetCoversSampling: the offset is large enough that counts of neighbours, drawn apart, are within e^{ε₀+ε₁} of each
// other but for the share of δ that the theorems give to it: 1/(2R) in a search, 1/(4T) in a stream.
func TestOffsetCoversSampling(t *testing.T) {
	for _, c := range []struct{ slack, eps, delta float64 }{{0.9, 0.1, 1e-3}, {0.9, 1, 1e-6}, {0.3, 3, 1e-2}} {
		search := must(ThresholdSearch{Percentile: 0.5, CandidateEpsilon: c.eps, Slack: c.slack, Epsilon: 1, Delta: c.delta, Beta: 0.1, Resolution: 4}.Plan())
		stream := must(SampledSparseVector{Percentile: 0.5, CandidateEpsilon: c.eps, Slack: c.slack, Epsilon: 1, Delta: c.delta, Beta: 0.1, Queries: 2}.Plan())
		near(t, "both offsets", search.Offset, stream.Offset, 1e-12)
		delta0 := c.delta / 8
		failure := func(offset float64) (worst float64) {
			for _, n := range []int{100, 600} {
				for _, p := range []float64{0.03, 0.3, 0.9} {
					for range 2 {
						q := p * math.Exp(-c.eps)
						x, y := binomialLaw(n, p), binomialLaw(n, q)
						total, below, j := 0.0, 0.0, 0
						for i := range x { // Pr[Y + Δ ≤ e^{−ε₀−ε₁}(i + Δ)]
							for j <= n && float64(j)+offset <= math.Exp(-c.slack-c.eps)*(float64(i)+offset) {
								below += y[j]
								j++
							}
							total += x[i] * below
						}
						worst = max(worst, total)
						p = neighbour(p, c.eps)
					}
				}
			}
			return worst
		}
		for _, offset := range []float64{search.PaperOffset, search.Offset} {
			if got := failure(offset); !(got <= delta0) {
				t.Errorf("%+v: counts are apart with probability %v, more than %v", c, got, delta0)
			}
		}
		if got := failure(search.PaperOffset / 10); got < delta0 {
			t.Errorf("%+v: a tenth of the offset fails with %v, this test could not", c, got)
		}
	}
}

// TestHaltsWhereTheNoiseSays: Run passes a query exactly if noise of the theorem's scale on its statistic is at least that
// on the threshold, to 1e-9 of a scale.
func TestHaltsWhereTheNoiseSays(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 41))
	check := func(what string, level, nu, stat, xi float64, run func(rng *rand.Rand) bool) {
		t.Helper()
		z := r.ExpFloat64() * float64(1-2*r.IntN(2))
		at := (level + nu*z - stat) / xi
		for _, by := range []float64{-1e-9, 1e-9} {
			words := append(randomtest.Laplace(big.NewFloat(z)), randomtest.Laplace(big.NewFloat(at+by))...)
			words = append(words, randomtest.Laplace(big.NewFloat(0.5))...) // for the query after it
			if got := run(rand.New(&randomtest.Script{Words: words})); got != (by > 0) {
				t.Errorf("%s: noise %v on the threshold %v and %v on %v: passes is %v", what, nu*z, level, xi*(at+by), stat, got)
			}
		}
	}
	for range 20 {
		eps, slack, price := 0.1+r.Float64(), 0.1+0.8*r.Float64(), 0.1+5*r.Float64()
		p, at := 0.01+0.98*r.Float64(), 0.01+0.98*r.Float64()
		v := SparseVector{at, eps, price}
		check("vector", math.Log(at/(1-at)), 4*eps/price, math.Log(p/(1-p)), 8*eps/price, func(rng *rand.Rand) bool {
			i, err := v.run(t.Context(), rng, 1, func(context.Context, int) (float64, error) { return p, nil })
			return err == nil && i == 0
		})
		n, hits := 1000.0, float64(r.IntN(1001))
		s := SampledSparseVector{Percentile: at, CandidateEpsilon: eps, Slack: slack, Epsilon: price, Delta: 1e-5, Beta: 0.1, Queries: 2}
		plan := must(s.Plan())
		plan.Calls, s.Queries = n, 1
		check("sampled", math.Log((n*at+plan.Offset)/(n*(1-at)+plan.Offset)), 4*(eps+slack)/price,
			math.Log((hits+plan.Offset)/(n-hits+plan.Offset)), 8*(eps+slack)/price, func(rng *rand.Rand) bool {
				i, err := s.run(t.Context(), plan, rng, func(int) (float64, error) { return hits, nil })
				return err == nil && i == 0
			})
		ts := ThresholdSearch{Percentile: at, CandidateEpsilon: eps, Slack: slack, Epsilon: price, Delta: 1e-5, Beta: 0.1, Resolution: 2}
		plan = must(ts.Plan())
		plan.Calls = n
		margin := 6*(eps+slack)/price*math.Log(10) + slack/2
		check("search", math.Log(n*at+plan.Offset)-margin, 2*(eps+slack)/price, math.Log(hits+plan.Offset), 4*(eps+slack)/price, func(rng *rand.Rand) bool {
			k := 0.0
			got, err := ts.run(t.Context(), plan, rng, func() (float64, error) { // scores in the upper half: step 0 of 2
				k++
				if k <= hits {
					return 0.75, nil
				}
				return 0.25, nil
			})
			return err == nil && got == 0.5
		})
	}
}

// searched returns the law of what a search of three steps returns, ⅔, ⅓ or 0 (0 also where none passes), for scores with
// the probabilities high, middle and low of being there, from n runs.
func searched(s ThresholdSearch, n int, offset, high, middle float64) []float64 {
	k := 6 * (s.CandidateEpsilon + s.Slack) / s.Epsilon
	nu, xi := k/3, 2*k/3
	level := math.Log(float64(n)*s.Percentile+offset) - k*math.Log(1/s.Beta) - s.Slack/2
	stats := make([]float64, n+1)
	for c := range stats {
		stats[c] = math.Log(float64(c) + offset)
	}
	xs, ws := threshold(level, nu, stats)
	out, passes, pass := make([]float64, 4), make([]float64, 3), make([]float64, n+1)
	top := binomialLaw(n, high)
	rest := make([][]float64, n+1)
	for c := range rest {
		rest[c] = binomialLaw(n-c, middle/(1-high))
	}
	for i, x := range xs {
		for c := range stats {
			pass[c] = tailAbove(x-stats[c], xi)
		}
		for c, w := range top {
			for m, v := range rest[c] {
				passes[0], passes[1], passes[2] = pass[c], pass[c+m], pass[n]
				firsts(out, passes, ws[i]*w*v)
			}
		}
	}
	return []float64{out[0], out[1], out[2] + out[3]}
}

// TestSearchLaw: the law of the threshold that is found, over all counts, for neighbours: δ at the price is at most
// Delta for every number of runs, as privacy does not depend on it.
func TestSearchLaw(t *testing.T) {
	for _, c := range []struct{ price, high float64 }{{0.5, 0.3}, {6, 0.3}, {6, 0.02}} {
		const n, slack, eps, delta = 30, 0.9, 0.5, 0.5
		s := ThresholdSearch{Percentile: 0.5, CandidateEpsilon: eps, Slack: slack, Epsilon: c.price, Delta: delta, Beta: 0.5, Resolution: 3}
		plan := must(s.Plan())
		// ⅔ more often by e^ε₁, and all else less often.
		more := neighbour(c.high, eps)
		left := (1 - more) / (1 - c.high)
		p, q := searched(s, n, plan.Offset, c.high, 0.2), searched(s, n, plan.Offset, more, 0.2*left)
		sums(t, p)
		sums(t, q)
		for _, d := range []float64{hockey(p, q, c.price), hockey(q, p, c.price)} {
			if !(d <= delta) {
				t.Errorf("%+v: δ(%v) = %v", c, c.price, d)
			}
		}
	}
}

// TestScalesCoverSensitivity: statistics that move by the sensitivity, any number of them one way and the last any way,
// change no output's probability by more than e^ε, and some nearly by that: noise of a tenth less would be too little.
func TestScalesCoverSensitivity(t *testing.T) {
	const eps, slack, price = 0.7, 0.4, 1.5
	nu, xi := SparseVector{0.5, eps, price}.scales()
	stream := must(SampledSparseVector{Percentile: 0.5, CandidateEpsilon: eps, Slack: slack, Epsilon: price, Delta: 0.1, Beta: 0.1, Queries: 2}.Plan())
	search := must(ThresholdSearch{Percentile: 0.5, CandidateEpsilon: eps, Slack: slack, Epsilon: price, Delta: 0.1, Beta: 0.1, Resolution: 2}.Plan())
	for _, c := range []struct {
		name                string
		nu, xi, sensitivity float64
	}{
		{"vector", nu, xi, 2 * eps}, // of the logit of a probability
		{"stream", stream.ThresholdScale, stream.QueryScale, 2 * (eps + slack)},
		{"search", search.ThresholdScale, search.QueryScale, eps + slack}, // of the logarithm of a count
	} {
		worst := 0.0
		for _, up := range []float64{0, 3 * c.nu, 12 * c.nu} {
			for _, last := range []float64{up, -5 * c.nu} {
				for _, n := range []int{0, 1, 4} {
					for way := range 4 {
						var laws [2][]float64
						for d, move := range []float64{0, c.sensitivity} {
							first := up + move*float64(1-way&2)
							end := last + move*float64(1-way&1*2)
							xs, ws := threshold(0, c.nu, []float64{first, end})
							laws[d] = make([]float64, n+2)
							passes := make([]float64, n+1)
							for k, x := range xs {
								for i := range n {
									passes[i] = tailAbove(x-first, c.xi)
								}
								passes[n] = tailAbove(x-end, c.xi)
								firsts(laws[d], passes, ws[k])
							}
						}
						worst = max(worst, loss(laws[0], laws[1]))
					}
				}
			}
		}
		if !(worst <= price*(1+1e-10) && worst >= 0.9*price) {
			t.Errorf("%s: the largest loss is %v of %v", c.name, worst, price)
		}
	}
}

// TestTwoStageLaw: the law of the threshold and of the outcome that both stages return, over all counts, is within the price
// for neighbours, and the part of the second stage is nearly reached.
func TestTwoStageLaw(t *testing.T) {
	const eps, n = 2.0, 30
	two := TwoStage{Candidates: 1, CandidateEpsilon: eps, Slack: 1, Delta: 0.5, Beta: 0.5, Resolution: 3}
	plan := must(two.Plan())
	search := must(plan.Search.Plan())
	// Outcomes: two of score ⅔, one of ⅓, one of 0.
	p := []float64{1e-4, 0.02, 0.01, 0}
	q := []float64{p[0] * math.Exp(eps), p[1] * math.Exp(-eps), p[2] * math.Exp(-eps), 0}
	var laws [2][]float64
	for d, law := range [][]float64{p, q} {
		law[3] = 1 - law[0] - law[1] - law[2]
		found := searched(plan.Search, n, search.Offset, law[0]+law[1], law[2])
		for i, count := range []int{2, 3, 4} { // outcomes at or above the threshold
			reach, short := 0.0, 0.0
			for k, x := range law {
				if k < count {
					reach += x
				} else {
					short += x
				}
			}
			// The first at or above it, before a coin of Gamma says stop.
			ends := reach + short*plan.Gamma
			for _, x := range law[:count] {
				laws[d] = append(laws[d], found[i]*x/ends)
			}
			laws[d] = append(laws[d], found[i]*short*plan.Gamma/ends)
		}
		sums(t, laws[d])
	}
	p, q = laws[0], laws[1]
	if !(max(hockey(p, q, plan.Epsilon), hockey(q, p, plan.Epsilon)) <= two.Delta && plan.Epsilon <= 2*eps+two.Slack) {
		t.Errorf("%v of %+v does not cover the law", plan.Epsilon, two)
	}
	// Both parts can be reached, the first by statistics of TestScalesCoverSensitivity.
	if plan.Epsilon < plan.Search.Epsilon+2*eps {
		t.Errorf("%v for both, of %v and %v", plan.Epsilon, plan.Search.Epsilon, 2*eps)
	}
	if got := loss(p, q); !(got <= plan.Epsilon && got >= 1.9*eps) {
		t.Errorf("the largest loss is %v of %v", got, plan.Epsilon)
	}
}

// TestDummyLaw: who is picked follows the weights, word by word; and the law of the pick, over all scores, is within the
// price for neighbours, which many scores that fall while one rises come near.
func TestDummyLaw(t *testing.T) {
	d := DummyExponential{Threshold: 1, Gamma: 0.2, Exponent: 2}
	weights := []float64{math.Exp(2 * (0.75 - 1)), 1}
	for class := range uint64(8) { // two scores, 1 + 1/Gamma = 6 dummies: three bits of the first word
		for _, side := range []int64{-1, 1} {
			words, want := []uint64{class}, -1
			if class == 0 {
				words = append(words, uint64(int64(math.Ldexp(weights[0], 64-12))+side)<<12)
			}
			if class < 2 && (class == 1 || side < 0) {
				want = int(class)
			}
			words = append(words, 7)
			if got := d.pick(rand.New(&randomtest.Script{Words: words}), []float64{0.75, 3}); got != want {
				t.Errorf("class %d is drawn, coin %d: %d is picked, want %d", class, side, got, want)
			}
		}
	}
	// Three scores below, between and at the threshold, of other laws each.
	for _, gamma := range []float64{0.2, 0.01} {
		for _, eps := range []float64{0.1, 1} {
			price := must(DummyExponential{1, gamma, 1}.Epsilon(eps))
			up, down := math.Exp(eps), math.Exp(-eps)
			a := [][]float64{{0.6, 0.39, 0.01}, {0.5, 0.4, 0.1}, {0.9, 0.05, 0.05}}
			b := [][]float64{{1 - (0.39*down + 0.01*up), 0.39 * down, 0.01 * up}, {1 - 0.5*down, 0.4 * down, 0.1 * down}, {1 - 0.1*down, 0.05 * down, 0.05 * down}}
			picked := func(laws [][]float64) []float64 {
				out := make([]float64, 4)
				for list := range 27 {
					p, total, w := 1.0, 1+1/gamma, [3]float64{}
					for i, rest := 0, list; i < 3; i, rest = i+1, rest/3 {
						p *= laws[i][rest%3]
						w[i] = []float64{0, math.Exp(-1), 1}[rest%3]
						total += w[i]
					}
					for i := range w {
						out[i] += p * w[i] / total
					}
					out[3] += p * (1 + 1/gamma) / total
				}
				return out
			}
			if got := loss(picked(a), picked(b)); !(got <= price) {
				t.Errorf("γ = %v, ε = %v: three scores lose %v of %v", gamma, eps, got, price)
			}
			// One that rises among 4000 others that fall: p·E[1/(2 + 1/γ + K)].
			one := func(p, others float64) (pick float64) {
				for k, w := range binomialLaw(4000, others) {
					pick += p * w / (2 + 1/gamma + float64(k))
				}
				return pick
			}
			if got := math.Log(one(0.01*up, 0.9*down) / one(0.01, 0.9)); !(got <= price && got >= 1.9*eps) {
				t.Errorf("γ = %v, ε = %v: one of many loses %v of %v", gamma, eps, got, price)
			}
		}
	}
}
