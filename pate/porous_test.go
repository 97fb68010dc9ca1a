package pate

import (
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
)

// TestEveryClassForEveryVote: the noisy maximum can be every class, whatever the votes, and the check of Confident can
// pass and fail: random words lead there, so that no answer tells neighbours apart by floating point.
func TestEveryClassForEveryVote(t *testing.T) {
	for _, votes := range [][]int64{{10, 0, 0}, {9, 1, 0}, {0, 250, 0}} {
		most := max(votes[0], votes[1], votes[2])
		for class := range votes {
			words := func(script func(*big.Float) []uint64, scale float64) (all []uint64) {
				for j, n := range votes {
					z := 0.25
					if j == class {
						z = float64(most-n)/scale + 1
					}
					all = append(all, script(big.NewFloat(z))...)
				}
				return all
			}
			if got := must(gnMax{40}.Label(votes, 0, nil, &randomtest.Script{Words: words(randomtest.Normal, 40)})); got.Class != class {
				t.Errorf("gnmax of %v: %d, want %d", votes, got.Class, class)
			}
			if got := must(lnMax{0.5}.Label(votes, 0, nil, &randomtest.Script{Words: words(randomtest.Laplace, 2)})); got.Class != class {
				t.Errorf("lnmax of %v: %d, want %d", votes, got.Class, class)
			}
		}
		for _, pass := range []bool{true, false} {
			z := (100-float64(most))/10 + 0.5
			if !pass {
				z--
			}
			words := randomtest.Normal(big.NewFloat(z))
			for range votes {
				words = append(words, randomtest.Normal(big.NewFloat(0.25))...)
			}
			if a := must((confident{100, 10, 5}).Label(votes, 0, nil, &randomtest.Script{Words: words})); a.Answered != pass {
				t.Errorf("check of %v: answered %v, want %v", votes, a.Answered, pass)
			}
		}
	}
}
