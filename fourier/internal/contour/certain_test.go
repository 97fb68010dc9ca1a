package contour

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
)

// TestAlmostCertainDeltaNeedsNoTable: where Chernoff's bound of 1 − δ is below what is asked of δ, laws are not summed; where it is not, they are.
func TestAlmostCertainDeltaNeedsNoTable(t *testing.T) {
	x := math.Log(3)
	l := &pld.Law{Offset: -x, Step: 2 * x, Index: []int64{0, 1}, Loss: []float64{-x, x}, LogMass: []float64{math.Log(0.25), math.Log(0.75)}, LogPInf: math.Log(1e-5)}
	sums := listed(l, 400)
	for _, c := range []struct {
		eps   float64
		table bool
	}{{20, false}, {100, false}, {140, false}, {185, true}} {
		comp := newComposition(t, law(l, 400))
		comp.Fold(l.Step, 1<<20, Gonum{})
		a, err := comp.Delta(t.Context(), c.eps, Options{Relative: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		if made := len(comp.tables) > 0; made != c.table {
			t.Errorf("δ(%v): a table is made: %v, want %v", c.eps, made, c.table)
		}
		less := 0.0
		for i, p := range sums.mass {
			less += p * math.Min(1, math.Exp(c.eps-sums.loss[i]))
		}
		truth := math.Log(less)
		if !(a.LogLower <= math.Log1p(-math.Exp(truth))+1e-12 && a.LogLower >= a.LogUpper-1e-3 && a.LogComplementUpper >= truth-1e-9) {
			t.Errorf("log δ(%v) in [%v, %v], log(1 − δ) at most %v: %v", c.eps, a.LogLower, a.LogUpper, a.LogComplementUpper, truth)
		}
		if !c.table && a.LogComplementUpper > truth+6 {
			t.Errorf("log(1 − δ(%v)) is at most %v, and is %v", c.eps, a.LogComplementUpper, truth)
		}
	}
}
