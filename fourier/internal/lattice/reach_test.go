package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// The place of ε among the losses is a sum of terms that nearly cancel: its rounding is that of their sizes, not of
// their sum.
func TestReachIsOfTheSizesOfTerms(t *testing.T) {
	up, _ := goldenLaws(t)
	law := *up
	for _, offset := range []float64{-2.5, 2.5} {
		law.Offset = offset
		c, _ := begin([]term{{&law, 1000, nil}, {&law, 7, nil}}, 5, 1<<14, nil)
		if want := 1007 * 2.5; !(c.reach >= want) {
			t.Errorf("offset %v: reach %v, want at least %v", offset, c.reach, want)
		}
	}
}

// The ends of a reading enclose log s + logScale, in 320 bits, though the sum of the two is rounded to a unit of hundreds.
func TestReadingsEncloseTheirLogarithm(t *testing.T) {
	none := math.Inf(-1)
	for i := range 200 {
		s, scale := 0.1+float64(i)/77, -700+float64(i)*3.3
		r := reading{s: s, logScale: scale, logInf: none}
		want := oracle.Add(oracle.Log(oracle.F(s)), oracle.F(scale))
		if want.Sign() < 0 && (oracle.F(r.lower()).Cmp(want) > 0 || oracle.F(r.upper()).Cmp(want) < 0) {
			t.Errorf("log %v + %v: [%v, %v], want %.20g", s, scale, r.lower(), r.upper(), want)
		}
	}
}
