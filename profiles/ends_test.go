package profiles

import (
	"math"
	"testing"
)

// TestNothingAboveTheLargestLoss: P(L > ε) is 0 at the largest loss itself, where the atom at it is not above it; just
// below it the atom counts whole.
func TestNothingAboveTheLargestLoss(t *testing.T) {
	for _, l := range []laplacePlusMinus{newLaplacePlusMinus(1, 0.1), newLaplacePlusMinus(3, 0.7)} {
		if x := l.Tails(l.top, 0); !math.IsInf(x.P, -1) || !math.IsInf(x.Q, -1) || x.PC != 0 || x.QC != 0 {
			t.Errorf("%+v: tails %+v at the largest loss", l, x)
		}
		if x := l.Tails(l.top*(1-1e-9), 0); x.P < -5 || x.PC > -1e-3 {
			t.Errorf("%+v: tails %+v below the largest loss, at which there is an atom", l, x)
		}
	}
}

// TestLargestCountsTheErrorsOfMasses: of two laws whose masses are known to a thousandth, and which seem to be the same, the
// profile of one is above the other within the errors of both.
func TestLargestCountsTheErrorsOfMasses(t *testing.T) {
	b, err := NewDiscreteGaussianMechanism(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	noise := b.(vectorNoise).one
	noise.massErr = 1e-3
	law := vectorLaw{noise: noise, g: 1, norm2: 1}
	p, err := largestOf([]vectorLaw{law, law}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if e := p.(*Discrete).MassErr(); e < 3e-3 {
		t.Errorf("masses are within %v of themselves, want 3e-3: the law's own 1e-3, and the other's and its own again", e)
	}
}
