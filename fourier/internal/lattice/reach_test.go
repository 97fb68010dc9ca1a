package lattice

import "testing"

// The place of ε among the losses is a sum of terms that nearly cancel: its rounding is that of their sizes, not of
// their sum.
func TestReachIsOfTheSizesOfTerms(t *testing.T) {
	up, _ := goldenLaws(t)
	law := *up
	for _, offset := range []float64{-2.5, 2.5} {
		law.Offset = offset
		c, _ := begin([]term{{&law, 1000}, {&law, 7}}, 5, 1<<14, nil)
		if want := 1007 * 2.5; !(c.reach >= want) {
			t.Errorf("offset %v: reach %v, want at least %v", offset, c.reach, want)
		}
	}
}
