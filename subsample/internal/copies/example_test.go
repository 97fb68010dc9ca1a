package copies_test

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// 200 draws with replacement from 10,000 records, noise multiplier 4: a substitution moves
// the mean by 2/4 standard deviations for each copy.
func ExampleNewGaussianWR() {
	law := copies.WithReplacement(10000, 200)
	upper, _ := profiles.LogDelta(copies.NewGaussianWR(law, 0.5), 0.1)
	attack, _ := profiles.LogDelta(copies.NewGaussianAttack(law, 0.5), 0.1)
	fmt.Printf("delta(0.1) is in [%.3g, %.3g]\n", math.Exp(attack), math.Exp(upper))
	// Output: delta(0.1) is in [9.81e-07, 9.81e-07]
}
