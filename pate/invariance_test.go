package pate

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

// The law of the winner moves with its classes, does not see what all counts have in common, and
// for two classes is a tail of the normal law (pate-exact.md §8). A common part of 10⁸ votes
// would cost eight digits if gaps were not taken first.
func TestLawInvariance(t *testing.T) {
	law := func(votes []int64, sigma float64) (logs, errs []float64) {
		g, ok := newGaussLaw(newHistogram(votes), sigma)
		if !ok {
			t.Fatalf("%v: no law", votes)
		}
		return g.law(nobody, votes)
	}
	votes, sigma := []int64{9, 6, 6, 2, 0}, 2.5
	want, errs := law(votes, sigma)
	order := []int{3, 0, 4, 2, 1}
	for _, common := range []int64{0, 7, 100_000_000} {
		moved := make([]int64, len(votes))
		for i, j := range order {
			moved[i] = votes[j] + common
		}
		got, more := law(moved, sigma)
		for i, j := range order {
			if d := math.Abs(got[i] - want[j]); d > errs[j]+more[i] || more[i] > 1e-11 {
				t.Errorf("%v: class %d has %v ± %v, want %v", moved, i, got[i], more[i], want[j])
			}
		}
	}
	for _, gap := range []int64{0, 1, 30, 90} {
		got, e := law([]int64{gap, 0}, 3)
		tail := math.Log(math.Erfc(float64(gap)/(2*3)) / 2)
		if d := math.Abs(got[1] - tail); d > e[1]+1e-14*(1+math.Abs(tail)) {
			t.Errorf("gap %d: %v ± %v, want %v", gap, got[1], e[1], tail)
		}
	}
}

// Where the union bound on q is above 1 the best bound from q is still one (the errata, A5):
// twelve classes of the same count have q̃ = 5.5.
func TestBestWhereTheUnionBoundIsVoid(t *testing.T) {
	n := slices.Repeat([]int64{4}, 12)
	v := must(ballots.NewVotes([][]int64{n}, 0))
	for _, price := range []Price{Best, Exact} {
		c := cost(t, must(Account(context.Background(), v, gnMax{3}, Options{Price: price, Orders: []float64{1.5, 4, 30}})), Worst, nil)
		for k, order := range c.Total.Orders {
			if x := c.Total.Values[k]; !(x > 0 && x <= gnMax{3}.RDP(order)*(1+1e-12)) {
				t.Errorf("%v, order %v: %v, at every data set %v", price, order, x, gnMax{3}.RDP(order))
			}
		}
	}
}
