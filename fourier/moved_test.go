package fourier

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// What the masses of laws have beyond 1, times runs, is added with the error of each and the rounding of the sum: outward
// on both sides.
func TestExcessOfLawsIsRoundedOutward(t *testing.T) {
	a, b := pair(0.51, 0.5, 5e-10)
	d, err := profiles.NewDiscrete([]profiles.Atom{a, b}, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	s := integral(t, Options{Relative: 1e-6}, gaussian(t, 1), 1, opaque{d}, 1000)
	if _, err := s.Epsilon(t.Context(), 1e-5); err != nil {
		t.Fatal(err)
	}
	movedOutward(t, s)
	// Laws whose masses are so far from 1 that the rounding of the sum is as large as the error of each.
	for i := range s.factors.list {
		if l := s.factors.list[i].laws; l != nil {
			far := transform.NewPoints([]float64{-1, 1}, []float64{-1, -2}, math.Inf(-1))
			s.factors.list[i].laws = &lawPair{l.laws, [2]*transform.Mixed{far, far}}
			s.factors.list[i].count = 7
		}
	}
	movedOutward(t, s)
}

func movedOutward(t *testing.T, s *Sum) {
	t.Helper()
	seen := 0
	for end, sign := range []float64{1, -1} {
		exact := oracle.New()
		for _, f := range s.factors.list {
			if f.laws == nil {
				continue
			}
			seen++
			e, err := f.laws.points[end].Excess()
			part := oracle.Add(oracle.F(e), oracle.F(sign*(err+3*xmath.U*math.Abs(e))))
			exact = oracle.Add(exact, oracle.Mul(oracle.F(float64(f.count)), part))
		}
		got, _ := s.factors.moved(end)
		if oracle.F(sign*got).Cmp(oracle.Mul(oracle.F(sign), exact)) < 0 {
			t.Errorf("end %d: moved by %v, with errors it is %.17g", end, got, exact)
		}
	}
	if seen != 2 {
		t.Errorf("%d laws: nothing is tested", seen)
	}
}
