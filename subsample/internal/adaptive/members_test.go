package adaptive

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestJoinIsTheLargestMember compares the join, which leaves out members range by range,
// with the largest of all members at every point. Laws' values fall along the lattice at
// rates of their own, and cross; d, their scale, changes by orders of magnitude. Every tenth lattice is so long that
// stretches of it are worked on at the same time: its values are the same on one core and on four.
func TestJoinIsTheLargestMember(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for trial := range 30 {
		const laws = 6
		points := 700
		if trial%10 == 0 {
			points = 4*longStretch + 7
		}
		var members []member
		for range 1 + rnd.IntN(60) {
			m, sum := make(member, laws), 0.0
			for j := range m {
				m[j] = math.Max(0, rnd.Float64()-0.4)
				sum += m[j]
			}
			m[worst] += 0.1
			for j := range m {
				m[j] /= sum + 0.1
			}
			members = append(members, m)
		}
		values := make([][]float64, laws)
		rate, gap := 0.01+0.1*rnd.Float64(), math.Pow(10, -8*rnd.Float64())
		for j := range values {
			phase, bend := 6*rnd.Float64(), 0.03*rnd.Float64()
			for i := range points {
				v := math.Exp(-rate * float64(i))
				if j != worst {
					v *= 1 - gap*(1+math.Sin(phase+bend*float64(i))+0.2*rnd.Float64()*float64(trial%2))
				}
				values[j] = append(values[j], v)
			}
		}
		got := make([]float64, points)
		(&joint{members: members, worst: worst}).join(values, got)
		if trial%10 == 0 {
			many := make([]float64, points)
			before := runtime.GOMAXPROCS(4)
			(&joint{members: members, worst: worst}).join(values, many)
			runtime.GOMAXPROCS(before)
			if !slices.Equal(got, many) {
				t.Fatalf("trial %d: other values on four cores", trial)
			}
		}
		for i, v := range got {
			want := 0.0
			for _, m := range members {
				want = max(want, m.value(values, i))
			}
			if !(v >= want && v <= want*(1+1e-13)) {
				t.Fatalf("trial %d, point %d of %d members: %v, the largest is %v", trial, i, len(members), v, want)
			}
		}
	}
}
