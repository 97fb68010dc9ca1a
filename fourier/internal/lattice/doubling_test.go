package lattice

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// TestDoublingHolds: intervals of laws multiplied one by one hold what is known in closed
// form, of Gaussians and of randomized response, and what the contour engine proves.
func TestDoublingHolds(t *testing.T) {
	slow.Test(t)
	flip, err := profiles.NewPure(0.3)
	if err != nil {
		t.Fatal(err)
	}
	pure, err := flip.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	gauss, err := profiles.NewGaussian(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		p     profiles.Profile
		runs  int64
		width float64
	}{
		{"pure, 5 runs", pure, 5, 1e-9},
		{"pure, 30 runs", pure, 30, 1e-9},
		{"Gaussian, 3 runs", gauss, 3, 0.1},
		{"Poisson, 1000 runs", dpsgd(t, 0.01, 1), 1000, 0.3},
		{"Poisson, other direction", profiles.Reverse(dpsgd(t, 0.01, 1)), 1000, 0.3},
	} {
		for _, delta := range []float64{1e-3, 1e-50} {
			if c.runs == 1000 && (delta > 1e-20 || c.name != "Poisson, 1000 runs" && !slow.All()) {
				continue // takes seconds
			}
			s := runs(c.p, c.runs)
			_, _, top := s.steps().Ends()
			floor := math.Log1p(-delta)
			truth := known(t, s, delta)
			q := asking(t, s, c.width)
			q.logDelta, q.floor, q.top, q.best = math.Log(delta), floor, top, Answer{Lower: floor, Upper: top, Estimate: math.NaN()}
			if err := q.byProducts(); err != nil {
				t.Fatal(err)
			}
			r := q.best
			if r.Lower > truth.Upper || r.Upper < truth.Lower {
				t.Errorf("%s at %v: [%v, %v] misses [%v, %v]", c.name, delta, r.Lower, r.Upper, truth.Lower, truth.Upper)
			}
			if w := r.Upper - r.Lower; !(w <= c.width*math.Abs(truth.Upper)) && !(w <= 1e-6) {
				t.Errorf("%s at %v: [%v, %v] is %v wide", c.name, delta, r.Lower, r.Upper, w)
			}
			if c.p == pure || delta < 1e-20 {
				continue // next to the largest loss many δ have one ε
			}
			// And the other way round.
			q = asking(t, s, 1)
			q.ofDelta, q.eps, q.best = true, truth.Estimate, Answer{Lower: math.Inf(-1), Estimate: math.NaN()}
			if err := q.byProducts(); err != nil {
				t.Fatal(err)
			}
			d := q.best
			if want := 1e-6 + 10*math.Abs(math.Log(delta))*1e-9; d.Lower > math.Log(delta)+want || d.Upper < math.Log(delta)-want {
				t.Errorf("%s at ε = %v: [%v, %v] misses %v", c.name, truth.Estimate, d.Lower, d.Upper, delta)
			}
		}
	}
}

// known is ε(δ) in closed form, where there is one, or by tilted transforms to 1e-9.
func known(t *testing.T, s *Sum, delta float64) Answer {
	t.Helper()
	_, _, top := s.steps().Ends()
	floor, logDelta := math.Log1p(-delta), math.Log(delta)
	var one profiles.Profile
	if g, ok := s.entries[0].Profile.(profiles.Gaussian); ok {
		one = g.Repeat(s.entries[0].Count, nil)
	} else if list := s.steps().List(); list != nil {
		one = list
	}
	if one != nil {
		lo, hi := closed.Epsilon(one, logDelta, floor, top)
		move := one.Support().LossErr
		return Answer{Lower: lo - move, Estimate: lo + (hi-lo)/2, Upper: hi + move}
	}
	r, err := s.Epsilon(allowed(t), Accuracy{1e-9, 1e-13}, logDelta, math.Inf(-1), floor, top)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exactDelta is δ(eps) of masses on losses and at +∞, in massUnit, in long arithmetic.
func exactDelta(loss []*big.Float, mass []*big.Float, inf, eps *big.Float) *big.Float {
	sum := oracle.Add(inf, oracle.F(0))
	for i, l := range loss {
		if d := oracle.Sub(eps, l); d.Sign() < 0 {
			sum = oracle.Add(sum, oracle.Mul(mass[i], oracle.Sub(oracle.F(1), oracle.Exp(d))))
		}
	}
	return sum
}

// longs are the losses and masses of a measure.
func (p *measure) longs() (loss, mass []*big.Float, inf *big.Float) {
	for i := range p.loss {
		loss, mass = append(loss, oracle.F(p.loss[i])), append(mass, oracle.F(p.mass[i]))
	}
	return loss, mass, oracle.F(p.inf)
}

// TestMeasuresRoundOutwards: products, laws taken over and δ read from them are on their side
// of what they are in long arithmetic. Each rounding taken the other way fails here.
func TestMeasuresRoundOutwards(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := allowed(t)
	draw := func(n int, at, spread, inf float64) *measure {
		p := &measure{inf: inf * rng.Float64() / massUnit}
		for range n {
			p.loss = append(p.loss, at+spread*rng.Float64())
			p.mass = append(p.mass, rng.Float64()/massUnit/float64(n))
		}
		slices.Sort(p.loss)
		return p
	}
	for trial := range 120 {
		spread := []float64{0, 1e-7, 1e-3, 1, 30}[trial%5]
		inf := float64(trial % 2)
		a := draw(1+trial%6, []float64{-1, 0, 700}[trial%3], spread, inf)
		b := a
		if trial%4 != 0 {
			b = draw(1+trial%5, 0.3, 2*spread, 0.5*inf)
		}
		la, ma, ia := a.longs()
		lb, mb, ib := b.longs()
		var loss, mass []*big.Float
		unit := oracle.F(massUnit)
		totalA, totalB := oracle.F(0), oracle.F(0)
		for i := range la {
			totalA = oracle.Add(totalA, ma[i])
			for k := range lb {
				loss, mass = append(loss, oracle.Add(la[i], lb[k])), append(mass, oracle.Mul(unit, oracle.Mul(ma[i], mb[k])))
			}
		}
		for _, x := range mb {
			totalB = oracle.Add(totalB, x)
		}
		top := oracle.Mul(unit, oracle.Add(oracle.Mul(ia, oracle.Add(totalB, ib)), oracle.Mul(totalA, ib)))
		for _, up := range []bool{true, false} {
			// Cells joined, or a cell each; all that counts, or only what is worth more than a third.
			j := convolver{up: up, res: []float64{1e-9, 300}[trial/2%2], log: []float64{math.Log(1e-50), deepMargin + 7, deepMargin + 1}[trial/3%3], runs: 2, all: 2, m: m}
			p, err := j.times(a, b)
			if err != nil {
				t.Fatal(err)
			}
			lp, mp, ip := p.longs()
			for _, l := range append(slices.Clone(p.loss), a.loss[0]+b.loss[0]-1e3, math.Nextafter(a.loss[0]+b.loss[0], -1e9), a.loss[len(a.loss)-1]+b.loss[len(b.loss)-1]) {
				at := oracle.Sub(oracle.F(l), oracle.F(p.moved))
				if !up {
					at = oracle.Add(oracle.F(l), oracle.F(p.moved))
				}
				want, got := exactDelta(loss, mass, top, oracle.F(l)), exactDelta(lp, mp, ip, at)
				if c := got.Cmp(want); up && c < 0 || !up && c > 0 {
					t.Errorf("trial %d, up %v at %v: %v, exactly %v", trial, up, l, got, want)
				}
				exact := exactDelta(lp, mp, ip, oracle.F(l))
				if exact.Sign() == 0 {
					continue
				}
				v, _ := p.logDelta(l, up)
				truth := oracle.Log(oracle.Mul(exact, unit))
				if c := oracle.F(v).Cmp(truth); v < 0 && (up && c < 0 || !up && c > 0) {
					t.Errorf("trial %d, up %v: log δ(%v) = %v, exactly %v", trial, up, l, v, truth)
				}
			}
		}
	}
	// A law taken over; its masses down to 1e-700 are of the measure.
	l := &pld.Law{LogPInf: -40.7}
	for range 300 {
		l.Loss, l.LogMass = append(l.Loss, float64(len(l.Loss))), append(l.LogMass, -900*rng.Float64())
	}
	for _, up := range []bool{true, false} {
		p := newMeasure(l, up)
		for i, log := range append(slices.Clone(l.LogMass), l.LogPInf) {
			got := append(slices.Clone(p.mass), p.inf)[i]
			want := oracle.Div(oracle.Exp(oracle.F(log)), oracle.F(massUnit))
			if c := oracle.F(got).Cmp(want); up && c < 0 || !up && c > 0 {
				t.Errorf("up %v: e^%v is %v, exactly %v", up, log, got, want)
			}
		}
	}
}

// TestMeasuresCountUnderflow: what no float64 holds is still above 0 in an upper law.
func TestMeasuresCountUnderflow(t *testing.T) {
	p := newMeasure(&pld.Law{Loss: []float64{1}, LogMass: []float64{-2000}, LogPInf: math.Inf(-1)}, true)
	if v, _ := p.logDelta(0, true); !(v > -2000) {
		t.Errorf("log δ ≤ %v, but it is about −2000", v)
	}
	p = newMeasure(&pld.Law{Loss: []float64{1}, LogMass: []float64{-951.9}, LogPInf: math.Inf(-1)}, false)
	if v, _ := p.logDelta(0, false); v > -952 {
		t.Errorf("log δ ≥ %v, but it is less", v)
	}
}

// TestMeasuresOfManyLosses: sums of many masses that each round the same way.
func TestMeasuresOfManyLosses(t *testing.T) {
	for _, c := range []struct {
		mass float64 // of each, next to 1
		up   bool
	}{{0.45 * 0x1p-52, true}, {0.55 * 0x1p-52, false}} {
		p := &measure{inf: 1 / massUnit}
		for i := range 20_000 {
			p.loss, p.mass = append(p.loss, 1e3+float64(i)), append(p.mass, c.mass/massUnit)
		}
		truth := 20_000 * c.mass
		// Above 1 log δ is cut off: half of it all.
		p.inf /= 2
		for i := range p.mass {
			p.mass[i] /= 2
		}
		v, _ := p.logDelta(0, c.up)
		if v += math.Ln2; c.up && v < truth || !c.up && v > truth {
			t.Errorf("up %v: log δ = %v, exactly %v", c.up, v, truth)
		}
	}
}

// TestMeasuresOfRuns: displacements of losses add up over runs, and a sum of two kinds of
// steps has both.
func TestMeasuresOfRuns(t *testing.T) {
	m := allowed(t)
	p := &measure{loss: []float64{0.25, 0.75}, mass: []float64{0.5 / massUnit, 0.5 / massUnit}, moved: 1e-3}
	j := convolver{up: true, res: 1e-9, log: -30, all: 13, m: m}
	all, err := j.power(p, 13)
	if err != nil {
		t.Fatal(err)
	}
	if all.moved < 13e-3 || all.moved > 13.1e-3 {
		t.Errorf("13 runs displaced by %v, want 0.013", all.moved)
	}
	// 13 halves of 0.25 or 0.75: binomial.
	for k, c := range []float64{1, 13, 78, 286} {
		i, ok := slices.BinarySearch(all.loss, 9.75-0.5*float64(k))
		if !ok || math.Abs(all.mass[i]*massUnit*8192/c-1) > 1e-12 {
			t.Errorf("no mass %v/8192 at %v", c, 9.75-0.5*float64(k))
		}
	}
}

// TestFinerRes: the next resolution is one whose products are expected to have no more cells than they may
// have, if that is finer at all, and one for which there is work.
func TestFinerRes(t *testing.T) {
	const limit = mostCells + pairsKept
	for _, c := range []struct {
		name  string
		left  float64
		cells int
		want  float64
		err   error
	}{
		{"few cells", 1e9, limit / 1000, 0.1 * leastFiner, nil},
		// A pass at 0.3 of the resolution would have 73164/0.09 cells, three times the limit.
		{"near the limit", 1e9, 73164, 0.1 * 1.05 * math.Sqrt(73164./limit), nil},
		{"at the limit", 1e9, limit * 2 / 3, 0, errLosses},
		{"no work", 5e6, limit / 1000, 0, meter.ErrWork},
	} {
		got, err := finerRes(0.1, 1e-9, 1e-3, 1e6, c.left, c.cells)
		if math.Abs(got-c.want) > 1e-12 || err != c.err {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, got, err, c.want, c.err)
		}
		if err == nil && float64(c.cells)*(0.1/got)*(0.1/got) > limit {
			t.Errorf("%s: %v is expected to fail", c.name, got)
		}
	}
}
