package lattice

import (
	"math"
	"testing"
)

// Runs of which nothing but an infinite loss is left, beside others: there is no finite loss, and what is infinite is either's.
func TestNothingFiniteBesideSomething(t *testing.T) {
	j := convolver{up: true, res: 1e-9, log: -30, runs: 2, all: 2, m: allowed(t)}
	none := &measure{inf: 0.5 / massUnit}
	some := &measure{loss: []float64{-1, 2}, mass: []float64{0.25 / massUnit, 0.5 / massUnit}, inf: 0.25 / massUnit}
	for _, pair := range [][2]*measure{{none, some}, {some, none}, {none, none}} {
		out, err := j.times(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		want := 0.5 // of both, as the one has no finite loss
		if pair[0] == pair[1] {
			want = 0.25
		}
		if got := out.inf * massUnit; len(out.loss) != 0 || math.Abs(got-want) > 1e-15 {
			t.Errorf("%d finite losses, and %v at infinity, want %v", len(out.loss), got, want)
		}
	}
}
