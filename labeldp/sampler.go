// An exact sampler of a staircase row: probabilities are whole multiples of a power of
// two, and privacy holds for those.

package labeldp

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// logTotal is the binary logarithm of the total that probabilities are
// integers over, before padding.
const logTotal = 62

// A sampler draws from rows of integer weights with a common total, so that
// the ratio of two probabilities of an output is a ratio of two integers.
//
// An atom of weight c has u = ⌊c·2^62⌋ from the labels that are down and
// ⌊e^ε u⌋ (e^ε rounded down) from those up. What the rows lack to a common
// total, plus K each, goes to one pad output; K is so large that the pads are
// within e^ε of each other. The pad (probability about 2k·2^−62·e^ε/(e^ε − 1))
// is reported as the output nearest the middle of the labels, which is
// post-processing.
type sampler struct {
	cum   [][]uint64 // cum[i][j]: weight of outputs 0..j from label i
	total uint64
	limit uint64     // largest multiple of total in 2^64
	pad   uint64     // the largest pad
	guide [][]uint16 // guide[i][g]: where the search for g·2^guideShift starts
}

// guideShift makes about 2^8 slices of a total near 2^62.
const guideShift = logTotal - 8

func newSampler(labels, outputs []float64, atoms []Atom, at []int, e float64) *sampler {
	n := len(outputs)
	mid := labels[0]/2 + labels[len(labels)-1]/2
	padAt := 0
	for j, t := range outputs {
		if math.Abs(t-mid) < math.Abs(outputs[padAt]-mid) {
			padAt = j
		}
	}
	rows := make([][]uint64, len(labels))
	sums := make([]uint64, len(rows))
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for i := range rows {
		rows[i] = make([]uint64, n)
		for j, a := range atoms {
			u := uint64(math.Ldexp(a.Weight, logTotal))
			if a.Up != nil && a.Up[i] {
				u = mulFloor(e, u)
			}
			rows[i][at[j]] += u
			sums[i] += u
		}
		lo, hi = min(lo, sums[i]), max(hi, sums[i])
	}
	k := uint64(0)
	if hi > lo {
		k = uint64(float64(hi-lo)/(e-1)*(1+1e-9)) + 2
	}
	s := &sampler{total: hi + k, pad: hi + k - lo, cum: rows}
	for i := range rows {
		rows[i][padAt] += hi - sums[i] + k
		for j := 1; j < n; j++ {
			rows[i][j] += rows[i][j-1]
		}
	}
	s.limit = math.MaxUint64 - (math.MaxUint64%s.total+1)%s.total
	s.guide = make([][]uint16, len(rows))
	for i, row := range rows {
		s.guide[i] = make([]uint16, (s.total-1)>>guideShift+1)
		j := 0
		for g := range s.guide[i] {
			for row[j] <= uint64(g)<<guideShift {
				j++
			}
			s.guide[i][g] = uint16(j)
		}
	}
	return s
}

// mulFloor returns ⌊e·u⌋ exactly, for a float e < 2^41 with e·u < 2^63.
func mulFloor(e float64, u uint64) uint64 {
	frac, exp := math.Frexp(e) // e = frac·2^exp, frac·2^53 is an integer
	h, l := bits.Mul64(uint64(math.Ldexp(frac, 53)), u)
	shift := uint(53 - exp)
	return h<<(64-shift) | l>>shift
}

func (s *sampler) sample(i int, src rand.Source) int {
	x := src.Uint64()
	for x > s.limit {
		x = src.Uint64()
	}
	x %= s.total
	row := s.cum[i]
	j := int(s.guide[i][x>>guideShift])
	for row[j] <= x {
		j++
	}
	return j
}
