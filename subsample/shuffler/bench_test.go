package shuffler

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Targets, in processor time: one bit of 10^4 users 20 ms and of 10^8 users 0.5 s, the profile of any randomizer of 10^9 users 0.3 s.
func BenchmarkRound(b *testing.B) {
	for _, c := range []struct {
		name string
		r    profiles.Mechanism
		n    int64
		q    profiles.Question
	}{
		{"bit/1e4", must(NewKRR(1, 2)), 1e4, profiles.Question{Runs: 1, Total: 1, Alone: true, Delta: 1e-6, Width: 5e-4}},
		{"bit/1e8", must(NewKRR(1, 2)), 1e8, profiles.Question{Runs: 1, Total: 1, Alone: true, Delta: 1e-6, Width: 5e-4}},
		{"pure/1e9", must(profiles.NewPure(1)), 1e9, profiles.Question{Runs: 1000, Total: 1024, Alone: true, Delta: 1e-6, Width: 5e-4}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := must(New(c.n))
			for b.Loop() {
				must(must(s.Laws(c.r, profiles.Substitute)).For(ctx, c.q))
			}
		})
	}
}
