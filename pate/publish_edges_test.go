package pate

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

// TestSmoothBoundDoesNotCountEqualRows: a thousand queries that cost the same, of one histogram or of a thousand. The smooth bound was
// raised for rounding by the number of different rows, which neighbours have different: more than η allows for, of 10⁵ queries.
func TestSmoothBoundDoesNotCountEqualRows(t *testing.T) {
	const n = 1000
	bound := func(rows [][]int64) (float64, float64) {
		v, err := ballots.NewVotes(rows, 0)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewLNMax(5)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Account(t.Context(), v, g, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFar(l, 2)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := f.within(t.Context(), l, 100)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := discounted(sum, 100)
		return s, f.eta
	}
	equal, different := make([][]int64, n), make([][]int64, n)
	for i := range n {
		equal[i], different[i] = []int64{1000, 90, 50, 0}, []int64{1000, 90 - int64(i/50), 1 + int64(i%50), int64(i/50) + 49 - int64(i%50)}
	}
	x, eta := bound(equal)
	y, _ := bound(different)
	if d := math.Abs(math.Log(x / y)); d > 200*u || eta < 1e-11+n*u {
		t.Errorf("smooth bounds %v and %v of the same costs differ by %v units; η is %v", x, y, d/u, eta)
	}
}
