// One private answer, drawn exactly.

package darrm

import (
	"fmt"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
)

// Release answers with the majority of the votes with probability γ(number of
// ones), and with a fair coin otherwise. The law of the bit is exact: γ is
// compared with as many random bits as it takes. The bit is the only
// thing that may be published: neither the count of votes, nor which of the two
// happened.
//
// Each call spends the whole budget of g. A second call on the same votes is a
// second release, and to be accounted for as one.
//
// The source nil is the operating system's; another must not be predictable or reused.
func Release(g Gamma, votes []bool, src rand.Source) (bool, error) {
	if err := g.Check(); err != nil {
		return false, err
	}
	if len(votes) != len(g)-1 {
		return false, fault.New("votes", "there are %d, must be one for each of the %d mechanisms", len(votes), len(g)-1)
	}
	src = random.Source(src)
	ones := count(votes)
	if random.Coin(src, g[ones]) {
		return ones >= half(len(votes)), nil
	}
	return random.Coin(src, 0.5), nil
}

// ReleaseLabel answers with the label of an absolute majority of the votes, each in
// [0, classes), with probability γ(its votes), and otherwise, and without one, with a label
// drawn uniformly. It is what Params.Classes is certified for; all that Release requires
// holds for it.
func ReleaseLabel(g Gamma, votes []int, classes int, src rand.Source) (int, error) {
	if err := g.Check(); err != nil {
		return 0, err
	}
	if len(votes) != len(g)-1 {
		return 0, fault.New("votes", "there are %d, must be one for each of the %d mechanisms", len(votes), len(g)-1)
	}
	if classes < 2 || classes > maxLabels {
		return 0, fault.New("classes", "%d is not in [2, %d]", classes, maxLabels)
	}
	counts := make([]int, classes)
	top := 0
	for i, v := range votes {
		if v < 0 || v >= classes {
			return 0, fault.New(fmt.Sprintf("votes[%d]", i), "%d is not in [0, %d)", v, classes)
		}
		if counts[v]++; counts[v] > counts[top] {
			top = v
		}
	}
	src = random.Source(src)
	if counts[top] >= half(len(votes)) && random.Coin(src, g[counts[top]]) {
		return top, nil
	}
	return rand.New(src).IntN(classes), nil
}

func count(votes []bool) int {
	n := 0
	for _, v := range votes {
		if v {
			n++
		}
	}
	return n
}
