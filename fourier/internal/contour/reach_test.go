package contour

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
)

// The rounding of the origin is one of the sizes of its terms, of whatever sign.
func TestReachIsOfTheSizesOfTerms(t *testing.T) {
	up, _ := goldenLaws(t)
	l := *up
	for _, offset := range []float64{-2.5, 2.5} {
		l.Offset = offset
		f := &folded{theta: 5, step: l.Step, n: 1 << 14}
		f.tilt([]Factor{law(&l, 1000), law(&l, 7)})
		if want := 1007 * 2.5; !(f.reach >= want) {
			t.Errorf("offset %v: reach %v, want at least %v", offset, f.reach, want)
		}
	}
}

// Where all frequencies were dropped nothing is known.
func TestEverythingDroppedIsUnknown(t *testing.T) {
	x := &table{plan: plan{theta: 1, h: 1, sHigh: 2, sLow: -2}, folded: &folded{theta: 1, step: 0.1, n: 64, dropped: true}}
	x.folded.finish()
	if r := x.read(0.5, &unscaled); !math.IsInf(r.low, -1) || !math.IsInf(r.high, 1) {
		t.Errorf("log δ is in [%v, %v]", r.low, r.high)
	}
}

// A mass at +∞ below every float64 is some, and no lower bound of δ.
func TestLeastMassAtInfinity(t *testing.T) {
	l := &pld.Law{Step: 0.5, Index: []int64{-1, 1}, Loss: []float64{-0.5, 0.5}, LogMass: []float64{-math.Ln2, -math.Ln2}, LogPInf: -2000}
	c := newComposition(t, law(l, 40))
	c.Fold(0.5, 1<<20, Gonum{})
	a, err := c.Delta(t.Context(), 25, Options{Relative: 1e-6})
	if a.LogLower > -2000 || a.LogUpper < -2000 {
		t.Errorf("log δ beyond all finite losses is in [%v, %v], %v", a.LogLower, a.LogUpper, err)
	}
}
