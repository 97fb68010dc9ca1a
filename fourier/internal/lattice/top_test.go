package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
)

// TestNextToTheLargestLoss: of runs that lose log 3 or log 2 at most on no common lattice, all do with probability .75^30·(2/3)^30, about e^−21.
// Far below that δ is reached next to the largest loss, and shortly above it not at all.
func TestNextToTheLargestLoss(t *testing.T) {
	s := New(1<<23, contour.Gonum{})
	top, logP := 0.0, 0.0
	for i, odds := range []float64{3, 2} {
		b, err := profiles.NewPure(math.Log(odds))
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		s.Set(i, closed.Step{Profile: p, Support: p.Support(), Count: 30}, false)
		top += 30 * math.Log(odds)
		logP += 30 * math.Log(odds/(1+odds))
	}
	_, _, most := s.steps().Ends()
	for _, c := range []struct{ logDelta, wide float64 }{{-230, 1e-9}, {-60, 1e-9}, {logP - 3, 1e-3}} {
		total := 0.0
		r, err := s.Epsilon(meter.New(t.Context(), 1e9, 1<<23, &total), Accuracy{Relative: 1e-3}, c.logDelta, math.Inf(-1), -1, most)
		if err != nil {
			t.Fatal(err)
		}
		want := top + math.Log1p(-math.Exp(c.logDelta-logP)) // no other loss is above it
		if !(r.Lower <= want+1e-12 && want-1e-12 <= r.Upper && r.width() <= c.wide*want) || len(r.Warnings) > 0 {
			t.Errorf("ε(e^%v) in [%v, %v], want %v: %v", c.logDelta, r.Lower, r.Upper, want, r.Warnings)
		}
		if c.logDelta < -50 && total > 1e5 {
			t.Errorf("ε(e^%v) took %v", c.logDelta, total)
		}
	}
}
