package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue: whatever was added, replaced and taken, what is taken is the first of what is left.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		left := make([]int, rng.IntN(20))
		for i := range left {
			left[i] = rng.IntN(30)
		}
		q := New(func(x, y int) bool { return x > y }, slices.Clone(left)...)
		for range 60 {
			slices.Sort(left)
			slices.Reverse(left)
			all := slices.Clone(q.All())
			slices.Sort(all)
			slices.Reverse(all)
			if q.Len() != len(left) || !slices.Equal(all, left) {
				t.Fatalf("%v left, want %v", all, left)
			}
			if len(left) > 0 && q.First() != left[0] {
				t.Fatalf("%d comes first of %v", q.First(), left)
			}
			x := rng.IntN(30)
			switch rng.IntN(3) {
			case 0:
				q.Add(x)
				left = append(left, x)
			case 1:
				if len(left) > 0 {
					q.Replace(x)
					left[0] = x
				}
			case 2:
				if len(left) > 0 {
					if got := q.Take(); got != left[0] {
						t.Fatalf("%d is taken, %v were left", got, left)
					}
					left = left[1:]
				}
			}
		}
	}
}
