// The noisy maximum itself, drawn exactly: no draw depends on how a float64 rounds.

package pate

import (
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/random"
)

// noisyArgmax returns the index of the largest count after adding scale times an
// independent draw to each. The draws are exact, and so is the law of the answer.
func noisyArgmax(votes []int64, scale float64, draw func(rand.Source) *random.Real, src rand.Source) int {
	var best random.Sum
	at := -1
	for i, n := range votes {
		// A count above 2^53 goes in as two numbers: nothing is rounded.
		high := n &^ (1<<32 - 1)
		z := random.Sum{Fixed: []float64{float64(high), float64(n - high)}, Noise: []random.Term{{Scale: scale, Z: draw(src)}}}
		if at < 0 || best.Less(z) {
			best, at = z, i
		}
	}
	return at
}
