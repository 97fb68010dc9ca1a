package random

import (
	"math/rand/v2"
	"slices"
)

// Subset returns a uniformly random set of k of the n indices, sorted: Floyd's
// algorithm (Bentley and Floyd, CACM 1987), whose work is linear in k.
func Subset(r *rand.Rand, n, k int64) []int64 {
	set := newIndexSet(k)
	out := make([]int64, 0, k)
	for j := n - k; j < n; j++ {
		x := r.Int64N(j + 1)
		if !set.add(x) {
			x = j
			set.add(j)
		}
		out = append(out, x)
	}
	slices.Sort(out)
	return out
}

// indexSet is a set of non-negative integers with open addressing: at twice the
// size it is several times faster than a map.
type indexSet struct {
	slot  []int64 // value + 1; 0 is empty
	shift uint
}

func newIndexSet(k int64) indexSet {
	bits := uint(1)
	for int64(1)<<bits < 2*k {
		bits++
	}
	return indexSet{make([]int64, int64(1)<<bits), 64 - bits}
}

// add returns false if x is there already.
func (s indexSet) add(x int64) bool {
	mask := uint64(len(s.slot) - 1)
	for i := uint64(x) * 0x9e3779b97f4a7c15 >> s.shift; ; i = (i + 1) & mask {
		switch s.slot[i] {
		case 0:
			s.slot[i] = x + 1
			return true
		case x + 1:
			return false
		}
	}
}
