package choice

// What is possible for one data set is possible for its neighbours: shown by random words that lead there, so that
// no outcome tells them apart by floating point (Mironov, CCS 2012; Haney and others, 2022).

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
)

// index returns the word for which rand.IntN(n) is i.
func index(i, n int) uint64 {
	if n&(n-1) == 0 {
		return uint64(i)
	}
	return (uint64(i)<<32 + 1<<31) / uint64(n) << 32
}

// TestEveryCandidateForEveryScore: also one that is 800 scales behind, where e^−800 is 0 as a float64.
func TestEveryCandidateForEveryScore(t *testing.T) {
	for _, scores := range [][]float64{{0, 0.1, 3}, {0.5, -0.4, 2.5}, {0, 800, 1e-300}, {1e15, 1e15 - 40, 1e15 + 30}, {1, 2, 3, 4}} {
		c := Candidates{Scores: scores, Sensitivity: 0.5}
		for i, x := range scores {
			behind := new(big.Float).Add(randomtest.Between(x, slices.Max(scores), 1), big.NewFloat(1))
			s := &randomtest.Script{Words: append([]uint64{index(i, len(scores))}, randomtest.Exponential(behind)...)}
			if got, err := c.Exponential(1, s); got != i || err != nil {
				t.Errorf("exponential mechanism, %v: candidate %d, want %d (%v)", scores, got, i, err)
			}
			// Permute and flip: the candidate is first in the order.
			turned := Candidates{Scores: append(append([]float64{}, scores[i:]...), scores[:i]...), Sensitivity: 0.5}
			var words []uint64
			for range len(scores) - 1 {
				words = append(words, math.MaxUint64)
			}
			s = &randomtest.Script{Words: append(words, randomtest.Exponential(behind)...)}
			if got, err := turned.PermuteAndFlip(1, s); got != 0 || err != nil {
				t.Errorf("permute and flip, %v: candidate %d, want %d (%v)", scores, got, i, err)
			}
			// Noisy maximum: noise for this one that makes up for what it lacks.
			words = nil
			for j := range scores {
				z := big.NewFloat(0.25)
				if j == i {
					z = new(big.Float).Add(behind, big.NewFloat(1))
				}
				words = append(words, randomtest.Laplace(z)...)
			}
			if got, err := c.NoisyMax("laplace", 1, &randomtest.Script{Words: words}); got != i || err != nil {
				t.Errorf("noisy maximum, %v: candidate %d, want %d (%v)", scores, got, i, err)
			}
		}
	}
}

// TestEveryCountForEveryPartition: counts that are shown are the multiples of one grid from the threshold on, for
// every number of persons.
func TestEveryCountForEveryPartition(t *testing.T) {
	for _, c := range []struct {
		noise  string
		script func(*big.Float) []uint64
	}{{"gaussian", randomtest.Normal}, {"laplace", randomtest.Laplace}} {
		th := must(NewThreshold(c.noise, 1.3, 4, 1))
		const grid = 0x1p-10 // the power of two below 1.3/1000
		for _, count := range []int64{1, 2, 3, 20} {
			for k := range 200 {
				want := 4 + float64(k)*grid
				z := randomtest.Between(float64(count), want+grid/4, 1.3)
				shown, got, err := th.Release(count, &randomtest.Script{Words: c.script(z)})
				if !shown || got != want || err != nil {
					t.Fatalf("%s, %d persons: %v %v, want %v (%v)", c.noise, count, shown, got, want, err)
				}
			}
		}
	}
	th := must(NewThreshold("discrete-laplace", 1.3, 4, 1))
	for _, count := range []int64{1, 2, 3, 20} {
		for want := 4; want < 60; want++ {
			up, down := max(want-int(count), 0), max(int(count)-want, 0)
			at := func(n int) *big.Float { return randomtest.Between(0, float64(n)+0.5, 1.3) }
			words := append(randomtest.Exponential(at(up)), randomtest.Exponential(at(down))...)
			shown, got, err := th.Release(count, &randomtest.Script{Words: words})
			if !shown || got != float64(want) || err != nil {
				t.Fatalf("%d persons: %v %v, want %d (%v)", count, shown, got, want, err)
			}
		}
	}
	// A key is kept, and is not, for every number of persons whose probability is neither 0 nor 1.
	s := must(NewSelectPartitions(0.5, 0.01, 1))
	for _, persons := range []int64{1, 2, 5, 9, 40, 1 << 50} {
		yes, _ := s.Keep(persons, &randomtest.Script{})
		no, _ := s.Keep(persons, &randomtest.Script{Words: []uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}})
		if yes == no && s.(selectPartitions).probability(persons) < 1 {
			t.Errorf("%d persons: always %v", persons, yes)
		}
	}
}

// BenchmarkScores: the time of the exponential mechanism by rejection depends on the scores (docs/reference/randomness.md).
func BenchmarkScores(b *testing.B) {
	for name, lead := range map[string]float64{"equal": 0, "one leads by 20": 20} {
		b.Run(name, func(b *testing.B) {
			scores := make([]float64, 100)
			scores[7] = lead
			c, src := Candidates{Scores: scores, Sensitivity: 1, Monotone: true}, rand.NewPCG(1, 2)
			for b.Loop() {
				must(c.Exponential(1, src))
			}
		})
	}
}
