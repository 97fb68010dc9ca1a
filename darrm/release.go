package darrm

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io"
	"math/big"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Release answers with the majority of the votes with probability γ(number of
// ones), and with a fair coin otherwise. The law of the bit is exact: γ is
// compared with as many random bits as a float can have. The bit is the only
// thing that may be published: neither the count of votes, nor which of the two
// happened.
//
// Each call spends the whole budget of g. A second call on the same votes is a
// second release, and to be accounted for as one.
//
// random is a source of uniform bytes; nil means crypto/rand. It must not be
// predictable or reused.
func Release(g Gamma, votes []bool, random io.Reader) (bool, error) {
	if err := g.Check(); err != nil {
		return false, err
	}
	if len(votes) != len(g)-1 {
		return false, fault.New("votes", "there are %d, must be one for each of the %d mechanisms", len(votes), len(g)-1)
	}
	ones := count(votes)
	buf := make([]byte, fractionBytes+1)
	if err := fill(random, buf); err != nil {
		return false, err
	}
	truthful := bytes.Compare(buf[:fractionBytes], fraction(g[ones])) < 0
	if truthful || g[ones] == 1 {
		return ones >= half(len(votes)), nil
	}
	return buf[fractionBytes]&1 == 1, nil
}

// fractionBytes holds every binary digit of a float in [0, 1).
const fractionBytes = (1074 + 7) / 8

// fraction returns the binary digits of v in [0, 1), and zeros for 1.
func fraction(v float64) []byte {
	out := make([]byte, fractionBytes)
	if v < 1 {
		f := new(big.Float).SetFloat64(v)
		f.SetMantExp(f, 8*fractionBytes)
		n, _ := f.Int(nil)
		n.FillBytes(out)
	}
	return out
}

// ReleaseSubsampled answers with the majority of m of the votes, drawn without
// replacement, a tie decided by a fair coin. It is Release with the noise
// function of Subsampling (Lemma 3.1 of the paper), without a float in it.
func ReleaseSubsampled(m int, votes []bool, random io.Reader) (bool, error) {
	if err := checkMechanisms(len(votes)); err != nil {
		return false, err
	}
	if m < 1 || m > len(votes) {
		return false, fault.New("votes", "%d is not in [1, %d]", m, len(votes))
	}
	deck := append([]bool(nil), votes...)
	for i := range m {
		j, err := uniform(len(deck)-i, random)
		if err != nil {
			return false, err
		}
		deck[i], deck[i+j] = deck[i+j], deck[i]
	}
	ones := count(deck[:m])
	tie, err := uniform(2, random)
	if err != nil {
		return false, err
	}
	return 2*ones > m || 2*ones == m && tie == 1, nil
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

func fill(random io.Reader, buf []byte) error {
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, buf); err != nil {
		return fault.In("random", err)
	}
	return nil
}

// uniform returns a number in [0, n), by rejection.
func uniform(n int, random io.Reader) (int, error) {
	var buf [8]byte
	limit := -uint64(n) % uint64(n) // 2^64 mod n
	for {
		if err := fill(random, buf[:]); err != nil {
			return 0, err
		}
		if v := binary.LittleEndian.Uint64(buf[:]); v >= limit {
			return int(v % uint64(n)), nil
		}
	}
}
