// One private answer, drawn exactly.

package darrm

import (
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"math/rand/v2"
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

// ReleaseSubsampled answers with the majority of m of the votes, drawn without
// replacement, a tie decided by a fair coin. It is Release with the noise
// function of Subsampling (Lemma 3.1 of the paper), without a float in it.
func ReleaseSubsampled(m int, votes []bool, src rand.Source) (bool, error) {
	if err := checkMechanisms(len(votes)); err != nil {
		return false, err
	}
	if m < 1 || m > len(votes) {
		return false, fault.New("votes", "%d is not in [1, %d]", m, len(votes))
	}
	r := rand.New(random.Source(src))
	deck := append([]bool(nil), votes...)
	for i := range m {
		j := r.IntN(len(deck) - i)
		deck[i], deck[i+j] = deck[i+j], deck[i]
	}
	ones := count(deck[:m])
	return 2*ones > m || 2*ones == m && random.Coin(r, 0.5), nil
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
