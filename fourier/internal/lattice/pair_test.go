package lattice

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// TestPairIsOnTheSafeSide: laws of a total mass of their own, whose losses may be displaced, compose to what their runs make of
// both: δ(ε) is e^excess·δ'(ε ∓ moved) of the same laws with mass 1 and exact losses.
func TestPairIsOnTheSafeSide(t *testing.T) {
	const runs4, more, lossErr = 4, 0.01, 0.02
	b, err := profiles.NewPure(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	read := func(eps, more, lossErr float64) Answer {
		s := runs(p, runs4)
		q := asking(t, s, 1e-6)
		q.ofDelta, q.eps, q.floor, q.top = true, eps, math.Inf(-1), math.Inf(1)
		q.best = q.none()
		d := p.(*profiles.Discrete)
		upper, lower, ok := pld.OnLattice(d, d.Atoms()[0].Loss, 1)
		if !ok {
			t.Fatal("not on a lattice")
		}
		for i, l := range []*pld.Law{upper, lower} {
			l.LossErr = lossErr
			for j := range l.LogMass {
				l.LogMass[j] += float64(1-2*i) * more
			}
		}
		s.entries[0].laws = []lawPair{{step: 1, tilt: 1, above: -10 - FarMargin(q.relative) - math.Log(runs4) - spare, upper: upper, lower: lower}}
		ps, err := q.pair(target{logDelta: -10, theta: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.read(ps, 1e7); err != nil {
			t.Fatal(err)
		}
		return q.best
	}
	const eps = 0.7
	r := read(eps, more, lossErr)
	for i, got := range []float64{r.Upper, r.Lower} {
		out := float64(1 - 2*i)
		as := read(eps-out*runs4*lossErr, 0, 0)
		want := []float64{as.Upper, as.Lower}[i] + out*runs4*more
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("end %d: log δ(%v) = %v, want %v", i, eps, got, want)
		}
	}
}

// TestExcessIsOutward: of any law, the excess of the upper end is above that of its masses and that of the lower end below.
func TestExcessIsOutward(t *testing.T) {
	s := runs(dpsgd(t, 0.01, 1), 1)
	q := asking(t, s, 1e-3)
	for i := range 40 {
		l := &pld.Law{Step: 1, LogPInf: math.Inf(-1)}
		total := oracle.New()
		for k := range int64(5) {
			m := -0.1 - float64((7*i+3*int(k))%11)/3
			l.Index, l.Loss, l.LogMass = append(l.Index, k), append(l.Loss, float64(k)), append(l.LogMass, m)
			total = oracle.Add(total, oracle.Exp(oracle.F(m)))
		}
		s.entries[0].Count = int64(1 + i*i)
		s.entries[0].laws = []lawPair{{step: 1, tilt: 1, above: -10 - FarMargin(q.relative) - spare, upper: l, lower: l}}
		ps, err := q.pair(target{logDelta: -10, theta: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := oracle.Scale(oracle.Log(total), float64(s.entries[0].Count))
		if oracle.F(ps.excess[0]).Cmp(want) < 0 || oracle.F(ps.excess[1]).Cmp(want) > 0 {
			x, _ := want.Float64()
			t.Errorf("excess in [%v, %v], %v by the masses", ps.excess[1], ps.excess[0], x)
		}
	}
}
