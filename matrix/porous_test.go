package matrix

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
)

// TestEveryRowForEveryInput: each row that a stream computes can be each multiple of its grid, whatever the
// vectors were, and what it returns is computed from rows alone: two runs with other vectors and the same rows
// return the same bits (the attack of Mironov, CCS 2012, has nothing to tell them apart by).
func TestEveryRowForEveryInput(t *testing.T) {
	for _, s := range []Strategy{Identity(), rooted(4), must(BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6}))} {
		const steps, clip = 4, 1
		want := []float64{0.25, -1.5, 3 + 0x1p-30, -0x1p-29}
		var first []float64
		for _, x := range [][]float64{{0, 0, 0, 0}, {1, 0, 0, 0}, {0.1, -1. / 3, 0x1p-60, 1}} {
			stream := must(NewStream(Config{1, steps, s, Single()}, clip, 1, &randomtest.Script{}))
			var released []float64
			for i := range steps {
				row, _ := stream.row(x[i : i+1])
				stream.src = &randomtest.Script{Words: randomtest.Normal(randomtest.Between(row[0], want[i], 1))}
				released = append(released, must(stream.Next(x[i : i+1]))[0])
			}
			if first == nil {
				first = released
			}
			for i := range steps {
				if math.Float64bits(released[i]) != math.Float64bits(first[i]) {
					t.Errorf("%v: step %d is %v with %v, and %v with zeros", s, i, released[i], x, first[i])
				}
			}
		}
	}
}
