package lattice

import (
	"math"
	"testing"
)

// A lattice point within rounding of the end of a support: its tail is unknown,
// and must not spoil the law.
func TestLatticePointAtTheEnd(t *testing.T) {
	p := dpsgd(t, 0.01, 1.1)
	end := math.Log1p(-0.01)
	for _, near := range []float64{0, 1e-18, 1.5e-18, 3e-18, 1e-17, 4e-13, -1e-17} {
		const step = 0.0003416483456942657
		s := runs(p, 1000)
		e := s.entries[0]
		q := asking(t, s, 1e-3)
		q.logDelta, q.logInf, q.floor = math.Log(1e-5), math.Inf(-1), -1e-5
		q.best = q.none()
		a, _, err := q.look()
		if err != nil {
			t.Fatal(err)
		}
		e.Support.Spike = math.NaN()
		e.anchored, e.atoms = e.coarse, []anchor{{loss: end + near + step, share: 1, logMass: 0}}
		e.Support.Atoms = []float64{end + near + step}
		l, err := s.lawsAt(q.m, e, step, q.newTarget(a), -50)
		if err != nil {
			t.Errorf("%g from the end: %v", near, err)
			continue
		}
		if k, _, _ := l.upper.Tilted(0); math.Abs(k) > 1e-9 {
			t.Errorf("%g from the end: log of the mass %g", near, k)
		}
	}
}
