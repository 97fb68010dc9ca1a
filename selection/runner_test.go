package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// twoCandidates is the end-to-end vector of selection.md §5.5: two candidates
// with scores {0.2, 0.8} and {0.5, 0.6}.
func twoCandidates(p8, p6 float64) Trial[Choice[string]] {
	pair := func(p, hi, lo float64) Trial[string] {
		return func(_ context.Context, rng *rand.Rand) (string, float64, error) {
			if rng.Float64() < p {
				return "high", hi, nil
			}
			return "low", lo, nil
		}
	}
	return must(Mixture(nil, pair(p8, 0.8, 0.2), pair(p6, 0.6, 0.5)))
}

// Acceptance check 13: the real runners on that vector, frequencies within five
// standard errors of the exact law, and the empirical log-ratio below the price.
func TestCheck13MonteCarlo(t *testing.T) {
	slow.Test(t)
	const gamma = 0.25
	trials := []Trial[Choice[string]]{twoCandidates(1./3, 1./2), twoCandidates(2./3, 1./4)}
	bases := [][]float64{{1. / 3, 1. / 4, 1. / 4, 1. / 6}, {1. / 6, 3. / 8, 1. / 8, 1. / 3}}
	scores := []float64{0.2, 0.5, 0.6, 0.8}
	for _, c := range []struct {
		l     Law
		first bool
		n     int
		pad   bool
	}{
		{must(newGeometric(gamma)), false, repeats(100_000, 1_000_000), false},
		{must(newGeometric(gamma)), true, repeats(100_000, 1_000_000), false},
		{must(newConditionedLaw(1, gamma, 3)), false, 100_000, true},
		{must(newConditionedLaw(1, gamma, 3)), true, 100_000, true},
		{must(newCensoredLaw(gamma, 3)), true, 100_000, false},
		{must(newPoisson(3)), false, 100_000, false},
		{must(newBinomial(4, 0.5)), false, 100_000, false},
	} {
		t.Run(fmt.Sprintf("%v first=%v", c.l, c.first), func(t *testing.T) {
			if testing.Short() {
				c.n = min(c.n, 50_000)
			}
			var freq [2][]float64
			for side := range 2 {
				want := bestLaw(c.l, bases[side])
				if c.first {
					want = firstLaw(c.l, bases[side][2:])
					want = []float64{want[0], 0, 0, want[1], want[2]}
				}
				counts := make([]float64, 5)
				for i := range c.n {
					var seed [32]byte
					seed[0], seed[1], seed[2], seed[3] = byte(i), byte(i>>8), byte(i>>16), byte(side)
					opts := Options{Source: rand.NewChaCha8(seed), Padding: c.pad}
					var r Result[Choice[string]]
					var err error
					if c.first {
						r, err = FirstAbove(t.Context(), c.l, 0.6, trials[side], opts)
					} else {
						r, err = Best(t.Context(), c.l, trials[side], opts)
					}
					if err != nil {
						t.Fatal(err)
					}
					k := 0
					for j, s := range scores {
						if r.Found && r.Score == s {
							k = j + 1
							if r.Payload.Candidate != []int{0, 1, 1, 0}[j] {
								t.Fatalf("payload %+v with score %v", r.Payload, s)
							}
						}
					}
					counts[k]++
				}
				for k := range counts {
					counts[k] /= float64(c.n)
					if se := math.Sqrt(want[k]*(1-want[k])/float64(c.n)) + 1e-15; math.Abs(counts[k]-want[k]) > 5*se {
						t.Errorf("side %d, outcome %d: frequency %v, want %v ± %v", side, k, counts[k], want[k], se)
					}
				}
				freq[side] = counts
			}
			price := PriceOfBest(c.l)
			if c.first {
				price = must(PriceOfFirstAbove(c.l))
			}
			bound := must(price.Pure(math.Ln2))
			for k := range 5 {
				if freq[0][k] > 0 && math.Abs(math.Log(freq[0][k]/freq[1][k])) > bound {
					t.Errorf("outcome %d: log-ratio %v above %v", k, math.Log(freq[0][k]/freq[1][k]), bound)
				}
			}
		})
	}
}

// Acceptance check 12, second half: the mean number of calls of both algorithms.
func TestCheck12Calls(t *testing.T) {
	const n = 40000
	for _, l := range []Law{must(newGeometric(0.1)), must(newCensoredLaw(0.1, 7)), must(newConditionedLaw(1, 0.1, 7))} {
		for _, first := range []bool{false, true} {
			var calls, sum, squares float64
			trial := func(_ context.Context, rng *rand.Rand) (int, float64, error) {
				calls++
				return 0, rng.Float64(), nil
			}
			for i := range n {
				calls = 0
				seed := [32]byte{byte(i), byte(i >> 8), 9}
				var err error
				if first {
					_, err = FirstAbove(t.Context(), l, 0.8, trial, Options{Source: rand.NewChaCha8(seed)}) // p₁ = 0.2
				} else {
					_, err = Best(t.Context(), l, trial, Options{Source: rand.NewChaCha8(seed)})
				}
				if err != nil {
					t.Fatal(err)
				}
				sum, squares = sum+calls, squares+calls*calls
			}
			want := l.Mean()
			if first {
				want = l.Hit(0.2) / 0.2
			}
			mean := sum / n
			if se := math.Sqrt((squares/n - mean*mean) / n); math.Abs(mean-want) > 4*se {
				t.Errorf("%v first=%v: %v calls, want %v ± %v", l, first, mean, want, se)
			}
		}
	}
}

// Acceptance check 15: the result holds the outcome alone, and padding makes the
// number of runs constant without changing the outcome.
func TestCheck15Secrecy(t *testing.T) {
	typ := reflect.TypeFor[Result[int]]()
	for i := range typ.NumField() {
		if name := typ.Field(i).Name; name != "Found" && name != "Payload" && name != "Score" {
			t.Errorf("the result has a field %s", name)
		}
	}
	if typ.NumField() != 3 || typ.NumMethod() != 0 || reflect.PointerTo(typ).NumMethod() != 0 {
		t.Error("the result must hold the outcome alone")
	}
	l := must(newConditionedLaw(1, 0.2, 9))
	var calls int
	trial := func(_ context.Context, rng *rand.Rand) (uint64, float64, error) {
		calls++
		return rng.Uint64(), rng.Float64(), nil
	}
	seen := map[int]bool{}
	for i := range 200 {
		seed := [32]byte{byte(i)}
		for _, first := range []bool{false, true} {
			do := func(pad bool) Result[uint64] {
				calls = 0
				opts := Options{Source: rand.NewChaCha8(seed), Padding: pad}
				if first {
					return must(FirstAbove(t.Context(), l, 0.7, trial, opts))
				}
				return must(Best(t.Context(), l, trial, opts))
			}
			plain := do(false)
			seen[calls] = true
			padded := do(true)
			if calls != 9 {
				t.Errorf("padded: %d runs, want 9", calls)
			}
			if plain != padded {
				t.Errorf("padding changes the outcome: %+v, %+v", plain, padded)
			}
			if again := do(false); again != plain {
				t.Errorf("not reproducible: %+v, %+v", plain, again)
			}
		}
	}
	if len(seen) < 5 {
		t.Error("without padding the number of runs varies")
	}
	if _, err := Best(t.Context(), must(newGeometric(0.5)), trial, Options{Padding: true}); err == nil {
		t.Error("padding needs a bounded law")
	}
}

func TestRunnerStops(t *testing.T) {
	l := must(newFixed(5))
	boom := errors.New("boom")
	var calls atomic.Int64
	_, err := Best(t.Context(), l, func(context.Context, *rand.Rand) (int, float64, error) {
		calls.Add(1)
		return 0, 0, boom
	}, Options{})
	if !errors.Is(err, boom) || !errors.Is(err, ErrRun) || calls.Load() != 1 {
		t.Errorf("error %v after %d runs", err, calls.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Best(ctx, l, func(context.Context, *rand.Rand) (int, float64, error) {
		cancel()
		return 7, 1, nil
	}, Options{})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrRun) || r != (Result[int]{}) {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	// NaN ranks last and is never retried; the first of equals wins.
	scores := []float64{math.NaN(), 2, 2, 1, math.NaN()}
	i := 0
	r, err = Best(t.Context(), l, func(context.Context, *rand.Rand) (int, float64, error) {
		i++
		return i, scores[i-1], nil
	}, Options{})
	if err != nil || r != (Result[int]{true, 2, 2}) || i != 5 {
		t.Errorf("%+v after %d runs, %v", r, i, err)
	}
	if _, err := FirstAbove(t.Context(), must(newGeometric(0.5)), math.NaN(), func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, nil }, Options{}); err == nil {
		t.Error("a NaN threshold must be refused")
	}
	if _, err := FirstAbove(t.Context(), must(newPoisson(2)), 0, func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, nil }, Options{}); err == nil {
		t.Error("a Poisson law has no price with a threshold and must be refused")
	}
	// A tiny γ neither hangs nor hinders.
	n := 0
	r, err = FirstAbove(t.Context(), must(newGeometric(1e-290)), 5, func(context.Context, *rand.Rand) (int, float64, error) {
		n++
		return n, float64(n), nil
	}, Options{})
	if err != nil || r.Payload != 5 || n != 5 {
		t.Errorf("γ = 1e-290: %+v after %d runs, %v", r, n, err)
	}
	for _, l := range []Law{must(newPoisson(1e12)), must(newNegativeBinomial(0, 1e-12))} {
		if _, err := Best(t.Context(), l, func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, nil }, Options{}); err == nil {
			t.Errorf("%v must be refused", l)
		}
	}
	// Tossed lazily or beforehand, the coins are the same.
	for i := range 100 {
		seed := [32]byte{byte(i), 77}
		n := 0
		_, err := Best(t.Context(), must(newGeometric(0.2)), func(context.Context, *rand.Rand) (int, float64, error) { n++; return 0, 0, nil }, Options{Source: rand.NewChaCha8(seed)})
		if want := must(newGeometric(0.2)).Sample(generators(rand.NewChaCha8(seed))()); err != nil || n != want {
			t.Errorf("%d runs, want %d (%v)", n, want, err)
		}
	}
	for _, w := range [][]float64{{1}, {0, 0}, {1, -1}, {1, math.NaN()}} {
		if _, err := Mixture(w, twoCandidates(0.5, 0.5), twoCandidates(0.5, 0.5)); err == nil {
			t.Errorf("weights %v must be refused", w)
		}
	}
	m := must(Mixture([]float64{0, 1, 3}, twoCandidates(1, 1), twoCandidates(1, 1), twoCandidates(1, 1)))
	rng := rand.New(rand.NewPCG(1, 1))
	var counts [3]float64
	for range 40000 {
		c, _, err := m(t.Context(), rng)
		if err != nil {
			t.Fatal(err)
		}
		counts[c.Candidate]++
	}
	if counts[0] != 0 || math.Abs(counts[1]-10000) > 5*math.Sqrt(7500) {
		t.Errorf("weighted draws: %v", counts)
	}
}
