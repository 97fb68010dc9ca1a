package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/pld"
)

// When the label K of the tilt is so far off that even frequency 0 is dropped,
// nothing is known: not δ = 0.
func TestEverythingDroppedIsUnknown(t *testing.T) {
	c := &composition{theta: 1, step: 0.1, n: 64, dropped: true}
	r := c.read(0.5)
	if got := r.upper(); got != 0 {
		t.Errorf("upper bound of log δ is %v, want 0", got)
	}
	if got := r.lower(); !math.IsInf(got, -1) {
		t.Errorf("lower bound of log δ is %v, want −Inf", got)
	}
}

// A lower law without any loss, of a step that the lattice does not resolve, proves
// nothing; an upper one has all its mass at +∞.
func TestEmptyLaw(t *testing.T) {
	empty := func(logPInf float64) reading {
		l := &pld.Law{Step: 0.1, LogPInf: logPInf}
		return compose(nil, []term{{l, 3, nil}}, 1, 64, Gonum{}, nil).read(1)
	}
	if r := empty(math.Inf(-1)); !math.IsInf(r.lower(), -1) {
		t.Errorf("an empty lower law proves log δ ≥ %v", r.lower())
	}
	if r := empty(0); r.upper() < 0 {
		t.Errorf("all mass at +∞, and log δ ≤ %v", r.upper())
	}
}
