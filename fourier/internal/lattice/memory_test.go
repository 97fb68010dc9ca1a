package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
)

// TestShortPeriodsWhereMemoryEnds: a sum that is far more accurate than asked may need more points than there are; one as accurate as
// asked does not.
func TestShortPeriodsWhereMemoryEnds(t *testing.T) {
	b, err := profiles.NewPure(0.01)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]Answer // with memory to spare, and next to the limit
	for i, points := range []int{1 << 20, 1000} {
		s := New(points, contour.Gonum{})
		s.Set(0, closed.Step{Profile: p, Support: p.Support(), Count: 1e5}, false)
		total := 0.0
		r, err := s.Epsilon(meter.New(t.Context(), 2.5e8, points, &total), Accuracy{Relative: 1e-6}, math.Log(1e-6), math.Inf(-1), -1, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) > 0 || !(r.width() <= 1e-6*r.Lower) {
			t.Errorf("%d points: [%v, %v], %v", points, r.Lower, r.Upper, r.Warnings)
		}
		ends[i] = r
	}
	if a, b := ends[0], ends[1]; a.Points <= b.Points || a.Lower > b.Upper || b.Lower > a.Upper {
		t.Errorf("[%v, %v] of %d points, [%v, %v] of %d", a.Lower, a.Upper, a.Points, b.Lower, b.Upper, b.Points)
	}
}
