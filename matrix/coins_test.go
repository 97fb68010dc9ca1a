package matrix_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func coinPlan(t *testing.T, sigma float64, n int, c []float64, q, delta float64) *accountant.Accountant {
	t.Helper()
	return coinPlans(t, 1, sigma, n, c, q, delta)
}

// coinPlans is coinPlan of several runs.
func coinPlans(t *testing.T, count int64, sigma float64, n int, c []float64, q, delta float64) *accountant.Accountant {
	t.Helper()
	s, err := matrix.Toeplitz(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := matrix.Poisson(q, delta)
	if err != nil {
		t.Fatal(err)
	}
	r, err := matrix.New(matrix.Config{NoiseMultiplier: sigma, Steps: n, Strategy: s, Participation: p})
	if err != nil {
		t.Fatal(err)
	}
	a := accountant.New(profiles.AddRemove)
	if err := a.Add(t.Context(), accountant.Step{Mechanism: r}, count); err != nil {
		t.Fatal(err)
	}
	return a
}

// Two steps, by a sum over a grid of both outputs: the pair that is attained (Theorem M3) is
// between the attack and the bound, in both directions.
func TestTwoStepsWithCoins(t *testing.T) {
	slow.Test(t)
	for _, sigma := range []float64{0.6, 1, 3} {
		for _, q := range []float64{0.05, 0.3, 0.9} {
			for _, c := range []float64{0.3, 1} {
				a := coinPlan(t, sigma, 2, []float64{1, c}, q, 1e-4)
				// Of outputs in units of σ: means of the four patterns, and their weights.
				means := [4][2]float64{{0, 0}, {1 / sigma, c / sigma}, {0, 1 / sigma}, {1 / sigma, (1 + c) / sigma}}
				weights := [4]float64{(1 - q) * (1 - q), q * (1 - q), (1 - q) * q, q * q}
				const h = 0.04
				eps := []float64{0.05, 1.5}
				var truth [2][2]float64
				for x := -7.0; x < 7+1/sigma; x += h {
					for y := -7.0; y < 7+2/sigma; y += h {
						n := math.Exp(-(x*x+y*y)/2) / (2 * math.Pi) * h * h
						p := 0.0
						for i, m := range means {
							p += weights[i] * n * math.Exp(m[0]*x+m[1]*y-(m[0]*m[0]+m[1]*m[1])/2)
						}
						for i, e := range eps {
							truth[i][0] += max(0, p-math.Exp(e)*n)
							truth[i][1] += max(0, n-math.Exp(e)*p)
						}
					}
				}
				for i, e := range eps {
					iv, err := a.Delta(t.Context(), e)
					if err != nil {
						t.Fatal(err)
					}
					// The sum errs by kinks, O(h²), and by what is outside.
					worst := max(truth[i][0], truth[i][1])
					if iv.Upper < worst-1e-5 || iv.Lower > worst*(1+1e-3)+1e-5 {
						t.Errorf("σ = %v, q = %v, c = %v: δ(%v) in [%v, %v], summed %v", sigma, q, c, e, iv.Lower, iv.Upper, truth[i])
					}
				}
			}
		}
	}
}

// Two runs of two steps: the losses of the pair that is attained, by a sum over a grid of the outputs of one run, rounded
// down and up to a lattice and convolved.
func TestTwoRunsWithCoins(t *testing.T) {
	const c, q, given, lattice, h = 0.5, 0.3, 1e-3, 0.02, 0.05
	for _, sigma := range []float64{1, 2} {
		a := coinPlans(t, 2, sigma, 2, []float64{1, c}, q, given)
		means := [4][2]float64{{0, 0}, {1 / sigma, c / sigma}, {0, 1 / sigma}, {1 / sigma, (1 + c) / sigma}}
		weights := [4]float64{(1 - q) * (1 - q), q * (1 - q), (1 - q) * q, q * q}
		var losses [2]map[int]float64 // by direction: masses under the first of the two, of losses rounded down
		losses[0], losses[1] = map[int]float64{}, map[int]float64{}
		for x := -7.0; x < 7+1/sigma; x += h {
			for y := -7.0; y < 7+2/sigma; y += h {
				n := math.Exp(-(x*x+y*y)/2) / (2 * math.Pi) * h * h
				ratio := 0.0
				for i, m := range means {
					ratio += weights[i] * math.Exp(m[0]*x+m[1]*y-(m[0]*m[0]+m[1]*m[1])/2)
				}
				l := math.Log(ratio) / lattice
				losses[0][int(math.Floor(l))] += n * ratio
				losses[1][int(math.Floor(-l))] += n
			}
		}
		for _, eps := range []float64{0, 0.4, 1} {
			lower, upper := 0.0, 0.0
			for _, one := range losses {
				low, up := 0.0, 0.0
				for i, p := range one {
					for j, r := range one {
						low += p * r * max(0, -math.Expm1(eps-lattice*float64(i+j)))
						up += p * r * max(0, -math.Expm1(eps-lattice*float64(i+j+2)))
					}
				}
				lower, upper = max(lower, low), max(upper, up)
			}
			iv, err := a.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			// The sum errs by kinks, O(h²), and by what is outside.
			if iv.Upper < lower-1e-5 || iv.Lower > upper*(1+1e-3)+1e-5 {
				t.Errorf("σ = %v: δ(%v) in [%v, %v], summed [%v, %v]", sigma, eps, iv.Lower, iv.Upper, lower, upper)
			}
		}
	}
}

// What the rows say of a coin: with outputs drawn with the record, its posterior by Bayes over
// all patterns is above the bound in no more cases than may be lost.
func TestPosteriorsOfCoins(t *testing.T) {
	c, n, q, sigma := []float64{1, 0.5, 0.375, 0.3125}, 4, 0.2, 0.8
	for _, share := range []float64{0.2, 0.02} {
		bound, err := matrix.Posteriors(t.Context(), c, n, q, sigma, -math.Log(share))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		mean := func(s, r int) float64 {
			m := 0.0
			for j := range r + 1 {
				if s>>j&1 == 1 {
					m += c[r-j]
				}
			}
			return m
		}
		const draws = 20000
		for d := 1; d < n; d++ {
			j := n - 1 - d // the last row, n−1, sees d rows of column j
			above := 0
			for range draws {
				s := 0
				for i := range n {
					if rng.Float64() < q {
						s |= 1 << i
					}
				}
				y := make([]float64, n-1)
				for r := range y {
					y[r] = mean(s, r) + sigma*rng.NormFloat64()
				}
				in, all := 0.0, 0.0
				for s := range 1 << n {
					w := 1.0
					for i := range n {
						if s>>i&1 == 1 {
							w *= q
						} else {
							w *= 1 - q
						}
					}
					for r := range y {
						m := mean(s, r)
						w *= math.Exp((m*y[r] - m*m/2) / (sigma * sigma))
					}
					all += w
					if s>>j&1 == 1 {
						in += w
					}
				}
				if in > bound[d]*all*(1+1e-9) {
					above++
				}
			}
			if rate := float64(above) / draws; rate > share+4*math.Sqrt(share/draws) {
				t.Errorf("lag %d: the posterior is above %v in %v of all cases, may be in %v", d, bound[d], rate, share)
			}
			if !(bound[d] >= q && bound[d] < 1) {
				t.Errorf("lag %d: bound %v", d, bound[d])
			}
		}
	}
}

// With independent noise rows say nothing of other steps: Poisson-Gaussian steps, and delta.
func TestCoinsOfIndependentNoise(t *testing.T) {
	a := coinPlan(t, 1, 20, []float64{1}, 0.1, 1e-4)
	p := accountant.New(profiles.AddRemove)
	if err := p.Add(t.Context(), accountant.Step{Mechanism: must(profiles.NewGaussianMechanism(1)), Sampling: must(subsample.NewPoisson(0.1))}, 20); err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0, 0.5, 2} {
		got, err := a.Delta(t.Context(), eps)
		want, err2 := p.Delta(t.Context(), eps)
		if err != nil || err2 != nil || got.Upper < want.Upper*(1-1e-3) || got.Upper > (want.Upper+1e-4)*(1+1e-2) || got.Lower > want.Upper || got.Lower < want.Lower*(1-1e-3) {
			t.Errorf("δ(%v) in [%v, %v], Poisson-Gaussian [%v, %v] (%v, %v)", eps, got.Lower, got.Upper, want.Lower, want.Upper, err, err2)
		}
	}
}

// The numbers of specification 4.7 (mmcc.py): full square root, n = 10, q = 0.1, σ = 6 and
// δ₁ = 1e-3. The bound is above a Monte Carlo simulation of the pair, and near that of the
// prototype, which has exact quantiles of sums where this has Chernoff's, and pays δ₁ by adding.
func TestCoinsGolden(t *testing.T) {
	slow.Test(t)
	c := []float64{1}
	for i := 1; i < 10; i++ {
		c = append(c, c[i-1]*(2*float64(i)-1)/(2*float64(i)))
	}
	a := coinPlan(t, 6, 10, c, 0.1, 1e-3)
	for _, g := range []struct{ eps, prototype, simulated float64 }{
		{0.05, 0.0746, 0.0349}, {0.5, 0.00324, 7.2e-5},
	} {
		iv, err := a.Delta(t.Context(), g.eps)
		if err != nil {
			t.Fatal(err)
		}
		if !(iv.Upper > g.simulated && iv.Upper < 1.5*g.prototype && iv.Lower < g.simulated) {
			t.Errorf("δ(%v) in [%v, %v], the prototype has %v, simulated %v", g.eps, iv.Lower, iv.Upper, g.prototype, g.simulated)
		}
	}
}

func TestCoinsRefused(t *testing.T) {
	list := must(matrix.Toeplitz([]float64{1, 0.5}))
	for _, c := range []struct {
		config matrix.Config
		want   string
	}{
		{matrix.Config{NoiseMultiplier: 1, Steps: 4, Strategy: matrix.Tree(false)}, "participation: poisson: is covered for Toeplitz matrices alone"},
		{matrix.Config{NoiseMultiplier: 1, Steps: 1, Strategy: must(matrix.Rows([][]float64{{1}}))}, "participation: poisson: is covered for Toeplitz matrices alone"},
		{matrix.Config{NoiseMultiplier: 1, Steps: 10000, Strategy: list}, "participation: poisson: is covered for at most 8192 steps"},
		{matrix.Config{NoiseMultiplier: 1, Steps: 4, Strategy: must(matrix.Toeplitz([]float64{1, -0.5}))}, "participation: poisson: is not covered for matrices with negative entries"},
	} {
		c.config.Participation = must(matrix.Poisson(0.1, 1e-6))
		if _, err := matrix.New(c.config); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for _, c := range []struct {
		rate, delta float64
		want        string
	}{{-1, 1e-6, "rate: -1 is not in [0, 1]"}, {0.1, 0, "delta: 0 is not in [1e-200, 0.5]"}, {0.1, math.NaN(), "delta: NaN is not in"}} {
		if _, err := matrix.Poisson(c.rate, c.delta); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	r := must(matrix.New(matrix.Config{NoiseMultiplier: 1, Steps: 4, Strategy: list, Participation: must(matrix.Poisson(0.1, 1e-6))}))
	if err := accountant.New(profiles.Substitute).Add(t.Context(), accountant.Step{Mechanism: r}, 1); err == nil || !strings.Contains(err.Error(), "is not covered under substitute") {
		t.Error(err)
	}
	persons := accountant.New(profiles.AddRemove, accountant.Options{RecordsPerPerson: 2})
	if err := persons.Add(t.Context(), accountant.Step{Mechanism: r}, 1); err == nil || !strings.Contains(err.Error(), "records-per-person: 2 is not covered") {
		t.Error(err)
	}
	// So little noise that delta pays for nothing.
	r = must(matrix.New(matrix.Config{NoiseMultiplier: 0.01, Steps: 4, Strategy: list, Participation: must(matrix.Poisson(0.9, 1e-6))}))
	if err := accountant.New(profiles.AddRemove).Add(t.Context(), accountant.Step{Mechanism: r}, 1); err == nil || !strings.Contains(err.Error(), "participation: poisson: delta: 1e-06 is too small") {
		t.Error(err)
	}
}
