package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
)

// TestChernoffOfDisplacedLosses: where losses may be displaced, all that coarse laws prove of ε is shifted by as much.
func TestChernoffOfDisplacedLosses(t *testing.T) {
	const runs, moved, tilt, logDelta = 4, 0.08, 6, -20
	of := func(moved float64) (*Sum, *guess) {
		s := New(1<<23, contour.Gonum{})
		step := closed.Step{Profile: dpsgd(t, 0.01, 1), Count: runs}
		step.Support = step.Profile.Support()
		step.Support.LossErr = moved / runs
		s.Set(0, step, false)
		g, err := s.coarse(allowed(t), logDelta, 1e-3)
		if err != nil {
			t.Fatal(err)
		}
		return s, g
	}
	_, exact := of(0)
	s, g := of(moved)
	const eps = 3
	if got, want := g.log(eps, tilt), exact.log(eps-moved, tilt); !(math.Abs(got-want) < 1e-12) {
		t.Errorf("log δ(%v) ≤ %v, want %v", eps, got, want)
	}
	at := exact.epsilon(logDelta, tilt)
	if got, want := g.epsilon(logDelta, tilt), at+moved; !(math.Abs(got-want) < 1e-12) {
		t.Errorf("ε(e^%v) ≤ %v, want %v", logDelta, got, want)
	}
	least := at
	for v := 1.0; v < 50; v++ {
		least = min(least, exact.epsilon(logDelta, v))
	}
	if !s.Proves(allowed(t), least+moved+1e-9, math.Exp(logDelta), 1e-3) || s.Proves(allowed(t), least, math.Exp(logDelta), 1e-3) {
		t.Errorf("δ(%v) ≤ e^%v is to be proved, δ(%v) not", least+moved, logDelta, least)
	}
}
