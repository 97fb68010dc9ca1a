package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
)

// twoLists is the composition of two lists whose losses have an irrational ratio.
func twoLists(t *testing.T) *Sum {
	s := New(1<<23, nil)
	for i, eps := range []float64{0.01, 0.01 * math.Sqrt2} {
		b, err := profiles.NewPure(eps)
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Pair(profiles.ZeroOut)
		if err != nil {
			t.Fatal(err)
		}
		s.Set(i, closed.Step{Profile: p, Support: p.Support(), Count: 1000}, false)
	}
	return s
}

// TestStepMeetsAllLists: a step divides the losses of the first list, and those of another one to a thirtieth of a step, at most 1.2
// times as fine.
func TestStepMeetsAllLists(t *testing.T) {
	s := twoLists(t)
	var spent float64
	m := meter.New(t.Context(), 2.5e8, 1<<23, &spent)
	if _, err := s.coarse(m, -80, 1e-3); err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{1e-4, 5e-5, 1e-5} {
		step, exact := s.fitStep(want, target{theta: 20})
		if exact || step > want || step < want/1.3 {
			t.Errorf("step %v for %v, exact %v", step, want, exact)
		}
		for i, e := range s.entries {
			atoms := e.Profile.(*profiles.Discrete).Atoms()
			cells := (atoms[len(atoms)-1].Loss - atoms[0].Loss) / step
			if off := math.Abs(cells - math.Round(cells)); off > 1./30 {
				t.Errorf("step %v: list %d ends %v of a step off", step, i, off)
			}
		}
	}
}
