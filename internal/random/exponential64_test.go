package random

import (
	"math"
	"testing"
)

// The bits of both ends reach the result.
func TestExponentialKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		bits []uint64
		want float64 // −log(1−v)
	}{
		{[]uint64{1 << 63}, math.Ln2},
		{[]uint64{1, 0}, 0x1p-64},                                         // v = 2^-64
		{[]uint64{0, 1 << 63}, 0x1p-65},                                   // v = 2^-65
		{[]uint64{math.MaxUint64, 1 << 63}, 65 * math.Ln2},                // 1 − v = 2^-65
		{[]uint64{math.MaxUint64 - 1, 0}, 64 * math.Ln2},                  // 1 − v = 2^-64
		{[]uint64{math.MaxUint64 - 1<<20}, 44*math.Ln2 - 0x1p-21},         // 1 − v = 2^-44, at the middle of its last bit
		{[]uint64{1 << 62}, -math.Log(0.75)},                              // v = ¼; the next word follows
		{[]uint64{math.MaxUint64 >> 1, math.MaxUint64}, math.Ln2 - 1e-16}, // v just below ½
	} {
		w := words64{append(c.bits, 0, 0)}
		if got := Exponential64(&w); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("%x: %v, want %v", c.bits, got, c.want)
		}
	}
}
