package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestChargingByEnumeration: every adaptive strategy of up to six calls, each one of a list
// of extreme ε-close pairs that publish a bit, until the last hit that is paid for. What the
// best one reaches is below the price, at every ε'.
func TestChargingByEnumeration(t *testing.T) {
	for _, eps := range []float64{0.3, 1} {
		e := math.Exp(eps)
		var pairs [][2]float64 // of Pr[outcome]
		for _, a := range []float64{0.001, 0.1, 1 / (1 + e), 0.5} {
			pairs = append(pairs, [2]float64{a, min(1-(1-a)/e, a*e)}, [2]float64{min(1-(1-a)/e, a*e), a})
		}
		for hits := 1; hits <= 3; hits++ {
			for _, target := range []float64{0.2, 0.8, 2} {
				var best func(calls, hits int, p, q float64) float64
				best = func(calls, hits int, p, q float64) float64 {
					v := max(0, p-math.Exp(target)*q)
					if calls == 0 || hits == 0 {
						return v
					}
					for _, x := range pairs {
						v = max(v, best(calls-1, hits-1, p*x[0], q*x[1])+best(calls-1, hits, p*(1-x[0]), q*(1-x[1])))
					}
					return v
				}
				reached := best(6, hits, 1, 1)
				bound := 1.0
				for n := 1; n < 200; n++ {
					bound = min(bound, responses(n, eps, target)+binomialTail(n, hits, 1/(e+1)))
				}
				if reached > bound {
					t.Errorf("ε = %v, %d hits: a strategy reaches δ(%v) = %v, the price says %v", eps, hits, target, reached, bound)
				}
				// "Not found" is no free answer: more is reached than with hits calls alone.
				if alone := responses(hits, eps, target); target < eps && !(reached > alone) {
					t.Errorf("ε = %v, %d hits: %v is reached, %v by the hits alone", eps, hits, reached, alone)
				}
			}
		}
	}
}

// TestChargingByOutcomes: every adaptive strategy of up to four calls that publish one of two outcomes
// or none, so that a hit can tell more than that it was one; of extreme ε-close pairs on three outcomes.
func TestChargingByOutcomes(t *testing.T) {
	for _, eps := range []float64{0.3, 1} {
		e := math.Exp(eps)
		lo, hi := 1/(1+e), e/(1+e)
		// None, and the two outcomes, under either data set.
		var pairs [][2][3]float64
		for _, none := range []float64{0, lo, 0.5, hi} {
			pairs = append(pairs, [2][3]float64{{none, (1 - none) * hi, (1 - none) * lo}, {none, (1 - none) * lo, (1 - none) * hi}})
		}
		for _, small := range []float64{0.01, 0.2} {
			// None is the likelier one under one data set; what is left are outcomes of either ratio.
			none := small * e
			x := (1 - small - (1-none)/e) / (e - 1/e) // under the second: the outcome that rises by e from x
			p, q := [3]float64{none, x, 1 - none - x}, [3]float64{small, x * e, 1 - small - x*e}
			pairs = append(pairs, [2][3]float64{p, q}, [2][3]float64{q, p})
		}
		for _, x := range pairs {
			for i := range 3 {
				if p, q := x[0][i], x[1][i]; p < 0 || q < 0 || p > q*e*(1+1e-12) || q > p*e*(1+1e-12) {
					t.Fatalf("%v is not %v-close", x, eps)
				}
			}
		}
		for hits := 1; hits <= 3; hits++ {
			for _, target := range []float64{0.2, 0.8, 2} {
				var best func(calls, hits int, p, q float64) float64
				best = func(calls, hits int, p, q float64) float64 {
					v := max(0, p-math.Exp(target)*q)
					if calls == 0 || hits == 0 || p == 0 {
						return v
					}
					for _, x := range pairs {
						s := best(calls-1, hits, p*x[0][0], q*x[1][0])
						for i := 1; i < 3; i++ {
							s += best(calls-1, hits-1, p*x[0][i], q*x[1][i])
						}
						v = max(v, s)
					}
					return v
				}
				reached := best(4, hits, 1, 1)
				bound := 1.0
				for n := hits; n < 200; n++ {
					bound = min(bound, responses(n, eps, target)+binomialTail(n, hits, 1/(e+1)))
				}
				if alone := responses(min(hits, 4), eps, target); reached > bound || reached < alone*(1-1e-6)-1e-300 {
					t.Errorf("ε = %v, %d hits: a strategy reaches δ(%v) = %v, hits alone %v, the price says %v", eps, hits, target, reached, alone, bound)
				}
			}
		}
	}
}

// TestCost: one hit at ε = 0.1 and δ = 1e-6 by hand: q = 0.47502, (1−q)^22 = 7e-7 is the first
// tail below δ, and 22 calls cost at most 2.2.
func TestCost(t *testing.T) {
	eps, n, err := AdaptiveCost(0.1, 1, 1e-6)
	if err != nil || !(eps <= 2.2 && eps > 0.1 && n >= 22) {
		t.Errorf("ε = %v for %d calls, %v", eps, n, err)
	}
	last := 0.0
	for _, hits := range []int{1, 2, 5, 20, 100} {
		eps, n, err := AdaptiveCost(0.1, hits, 1e-6)
		if err != nil || !(eps > last) || n < 2*hits {
			t.Errorf("%d hits: ε = %v for %d calls, %v", hits, eps, n, err)
		}
		last = eps
	}
	for _, c := range []struct {
		epsilon float64
		hits    int
	}{{0, 1}, {math.NaN(), 1}, {21, 1}, {1, 0}, {1, 10001}, {20, 10}} {
		if _, _, err := AdaptiveCost(c.epsilon, c.hits, 1e-6); err == nil {
			t.Errorf("%v has a price", c)
		}
	}
	for _, d := range []float64{0, 1, math.NaN(), -1} {
		if _, _, err := AdaptiveCost(1, 1, d); err == nil {
			t.Errorf("δ = %v has a price", d)
		}
	}
}

func TestSearch(t *testing.T) {
	s, err := NewAdaptiveSearch[int](2, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	trial := func(score float64) Trial[int] {
		return func(context.Context, *rand.Rand) (int, float64, error) { return 7, score, nil }
	}
	for i, c := range []struct {
		score float64
		found bool
	}{{0.1, false}, {math.NaN(), false}, {0.5, true}, {0.4, false}, {0.9, true}} {
		r, err := s.Try(t.Context(), 0.5, trial(c.score))
		if err != nil || r.Found != c.found {
			t.Errorf("call %d: %+v, %v", i, r, err)
		}
	}
	if _, err := s.Try(t.Context(), 0.5, trial(1)); !errors.Is(err, ErrSpent) || s.Left() != 0 {
		t.Errorf("after the last outcome: %v", err)
	}
	s, _ = NewAdaptiveSearch[int](2, nil)
	bad := func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, errors.New("disk") }
	if _, err := s.Try(t.Context(), 0, bad); !errors.Is(err, ErrRun) || s.Left() != 0 {
		t.Errorf("a failing trial: %v", err)
	}
	if _, err := NewAdaptiveSearch[int](0, nil); err == nil {
		t.Error("a search of no outcome")
	}
}

// Each next learning rate depends on what was found; fifty calls that find nothing cost
// nothing by themselves.
func ExampleAdaptiveSearch() {
	s, _ := NewAdaptiveSearch[float64](2, rand.NewChaCha8([32]byte{1}))
	rate, best := 1.0, 0.6
	for range 50 {
		r, err := s.Try(context.Background(), best, func(_ context.Context, rng *rand.Rand) (float64, float64, error) {
			return rate, 0.9 - math.Abs(math.Log10(rate)+2)/4 + 0.01*rng.NormFloat64(), nil
		})
		if errors.Is(err, ErrSpent) {
			break
		}
		if r.Found {
			best = r.Score + 0.1 // only a clear improvement counts
		}
		rate /= 2
	}
	eps, _, _ := AdaptiveCost(0.1, 2, 1e-6)
	fmt.Printf("%d left, epsilon at most %.2f\n", s.Left(), eps)
	// Output: 0 left, epsilon at most 2.28
}

// responses returns δ of n randomised responses at eps, rounded up, at an ε within 2 units of e.
func responses(n int, eps, e float64) float64 {
	s, p, q := 0.0, 1/(1+math.Exp(-eps)), 1/(1+math.Exp(eps))
	for k := n; k >= 0; k-- {
		x := eps*float64(2*k-n) - e
		if x <= 0 {
			break
		}
		l, err := xmath.BinomialMass(int64(k), int64(n), p, q)
		s += math.Exp(l+err) * -math.Expm1(-x)
	}
	// Each term has a few roundings, and the sum one for each of them.
	return min(1, s*(1+2*float64(n+16)*xmath.U)+1e-320)
}
