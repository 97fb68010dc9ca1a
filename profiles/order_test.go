package profiles

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Random lists, with outcomes that only one has, equal ones and next to equal ones: at every loss the
// result is the larger profile of both orders, in sums of positive terms from the lists themselves; in
// between it is not below it. It is its own reverse.
func TestEitherOrderIsTheLargerOfBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261123, 5))
	for range 3000 {
		n := 2 + rng.IntN(6)
		if rng.IntN(20) == 0 {
			n = 100
		}
		p, q := make([]float64, n), make([]float64, n)
		sp, sq := 0.0, 0.0
		for i := range n {
			p[i], q[i] = rng.Float64(), rng.Float64()
			switch rng.IntN(8) {
			case 0:
				p[i] = 0
			case 1:
				q[i] = 0
			case 2:
				q[i] = p[i]
			case 3:
				q[i] = p[i] * (1 + 1e-13*rng.Float64())
			case 4:
				p[i] *= math.Exp(-600 * rng.Float64())
			}
			sp, sq = sp+p[i], sq+q[i]
		}
		if sp < 1e-3 || sq < 1e-3 {
			continue
		}
		for i := range n {
			p[i], q[i] = p[i]/sp, q[i]/sq
		}
		d, err := NewFinite(p, q)
		if err != nil {
			t.Fatal(err)
		}
		s, err := EitherOrder(d)
		if err != nil {
			t.Fatalf("%v against %v: %v", p, q, err)
		}
		delta := func(p, q []float64, eps float64) float64 {
			sum := 0.0
			for i := range p {
				if q[i] == 0 {
					sum += p[i]
				} else if l := math.Log(p[i]) - math.Log(q[i]); l > eps {
					sum -= p[i] * math.Expm1(eps-l)
				}
			}
			return sum
		}
		corners := []float64{0}
		for i := range p {
			if p[i] > 0 && q[i] > 0 {
				corners = append(corners, math.Abs(math.Log(p[i])-math.Log(q[i])))
			}
		}
		for i := range 20 {
			eps := rng.ExpFloat64()
			if i < 10 {
				eps = corners[rng.IntN(len(corners))]
			}
			want := max(delta(p, q, eps), delta(q, p, eps))
			log, off := LogDelta(s, eps)
			if math.IsInf(off, 1) {
				continue // next to the last loss
			}
			slack := 1e-13 + 4*(s.lossErr+d.lossErr) + 1e-12*want
			if got := math.Exp(log); want > got*math.Exp(off)+slack || slices.Contains(corners, eps) && got > want*(1+1e-11)+slack {
				t.Fatalf("%v against %v: δ(%v) is %v, of either order %v", p, q, eps, got, want)
			}
			mirror, off2 := LogDelta(Reverse(s), eps)
			if math.Abs(mirror-log) > off+off2+1e-12 && math.Exp(max(mirror, log)) > 1e-13 {
				t.Fatalf("%v against %v: δ(%v) is %v, of the reverse %v", p, q, eps, math.Exp(log), math.Exp(mirror))
			}
		}
	}
}

// TestEitherOrderAtTheEnds: a pair of which one order has no loss above 0 but for rounding, where the profile above was 0
// everywhere, and one with losses that e^x is no number for, where its masses were none.
func TestEitherOrderAtTheEnds(t *testing.T) {
	tiny, err := NewFinite([]float64{1e-20, 1}, []float64{1e-30, 1})
	if err != nil {
		t.Fatal(err)
	}
	p, q := math.Log(1e-5), math.Log1p(-1e-5)
	far, err := NewDiscrete([]Atom{{q, q, 0}, {800, p, p - 800}}, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Discrete{tiny, far} {
		either, err := EitherOrder(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []float64{1e-3, 1, 10, 22, 700, 799} {
			for _, one := range []Profile{d, Reverse(d)} {
				least, err := LogDelta(one, eps)
				if most, _ := LogDelta(either, eps); !(most >= least-err) && !math.IsInf(err, 1) {
					t.Errorf("atoms %v, ε = %v: log δ is %v, of one order %v ± %v", d.Atoms(), eps, most, least, err)
				}
			}
		}
	}
}
