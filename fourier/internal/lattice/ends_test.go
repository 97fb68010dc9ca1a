package lattice

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
)

// TestEndsOfManyLists: no lattice meets the largest losses of many lists. That they cost first order in the step is foreseen,
// so that one pass does.
func TestEndsOfManyLists(t *testing.T) {
	s := New(1<<24, contour.Gonum{})
	for i := range 100 {
		b, err := profiles.NewPure(0.01 + 0.0004*float64(i))
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Pair(profiles.AddRemove)
		if err != nil {
			t.Fatal(err)
		}
		s.Set(i, closed.Step{Profile: p, Support: p.Support(), Count: 1}, false)
	}
	_, _, top := s.steps().Ends()
	total := 0.0
	r, err := s.Epsilon(meter.New(context.Background(), 1e9, 1<<24, &total), Accuracy{Relative: 1e-3, Absolute: 1e-6}, math.Log(1e-6), math.Inf(-1), 0, top)
	if err != nil {
		t.Fatal(err)
	}
	if once := 2 * meter.PerPoint * float64(r.Points*100); !(total < 1.5*once) || !(r.width() <= 1e-3*r.Lower) {
		t.Errorf("[%v, %v] for %.3g of work, %.3g a pass", r.Lower, r.Upper, total, once)
	}
}
