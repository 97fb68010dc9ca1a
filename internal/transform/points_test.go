package transform

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// direct returns Σ m·e^{zl} of points.
func direct(losses, logMass []float64) truth {
	return func(theta, t float64) bigComplex {
		sum := bigC(0, 0)
		for i, l := range losses {
			e := times(theta, t, oracle.F(l))
			e.Re = oracle.Add(e.Re, oracle.F(logMass[i]))
			sum = sum.Plus(bigExp(e))
		}
		return sum
	}
}

func TestPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		reach := logUniform(r, 1e-3, 30)
		n := 1 + r.IntN(8)
		losses, logMass := make([]float64, n), make([]float64, n)
		logPInf := math.Inf(-1)
		if r.IntN(2) == 0 {
			logPInf = -50 * r.Float64()
		}
		total := math.Exp(logPInf)
		for i := range losses {
			losses[i] = reach * (2*r.Float64() - 1)
			logMass[i] = -20 * r.Float64()
			total += math.Exp(logMass[i])
		}
		// A law has total mass 1 up to rounding; here somewhat more or less.
		shift := math.Log(total) + (r.Float64()-0.5)*1e-3
		for i := range logMass {
			logMass[i] -= shift
		}
		logPInf -= shift
		m := NewPoints(losses, logMass, logPInf)
		scale := oracle.New()
		for _, x := range append([]float64{logPInf}, logMass...) {
			if !math.IsInf(x, -1) {
				scale = oracle.Add(scale, oracle.Exp(oracle.F(x)))
			}
		}
		x := oracle.LogF(scale)
		if excess, wrong := m.Excess(); math.Abs(excess-x) > wrong+xmath.U*math.Abs(x) || wrong > 8*xmath.U {
			t.Errorf("Excess = %v ± %v, want %v", excess, wrong, x)
		}
		law := direct(losses, logMass)
		want := func(theta, t float64) bigComplex {
			return law(theta, t).Over(bigReal(scale))
		}
		theta, tt := randomZ(r, reach)
		check(t, "points", m, want, theta, tt, 1e-14)
		back := func(theta, t float64) bigComplex { // e^{−(1+z)l}
			sum := bigC(0, 0)
			for i, l := range losses {
				e := times(-theta, -t, oracle.F(l))
				e.Re = oracle.Add(e.Re, oracle.F(logMass[i]))
				e.Re = oracle.Sub(e.Re, oracle.F(l))
				sum = sum.Plus(bigExp(e))
			}
			return sum.Over(bigReal(scale))
		}
		check(t, "points reversed", m.Reverse(), back, theta, tt, 1e-14)
		pInf, qInf := m.Infinite()
		m0, _ := want(0, 0).Re.Float64()
		m1, _ := want(-1, 0).Re.Float64()
		if math.Abs(1-pInf-m0) > 1e-14 || math.Abs(1-qInf-m1) > 1e-13*(1+m1) {
			t.Errorf("Infinite = %v, %v; 1 − M(0) = %v, 1 − M(−1) = %v", pInf, qInf, 1-m0, 1-m1)
		}
	}
}

// TestInfinite is the counterexample to D = M − 1 of the page contour, §3: with
// P(L = ∞) = 1e-4 and Q(L = −∞) = 2e-4 the sum over the finite losses is not M − 1.
func TestInfinite(t *testing.T) {
	// Two atoms with P = 1 − 1e-4 and Q = 1 − 2e-4.
	const pInf, qInf = 1e-4, 2e-4
	const l1, l2 = 0.09, -0.05
	// a + b = 1 − pInf, a·e^{−l1} + b·e^{−l2} = 1 − qInf.
	e1, e2 := math.Exp(-l1), math.Exp(-l2)
	a := ((1 - qInf) - (1-pInf)*e2) / (e1 - e2)
	b := 1 - pInf - a
	losses, logMass := []float64{l1, l2}, []float64{math.Log(a), math.Log(b)}
	m := NewMixed([]Atom{
		{LogMass: logMass[0], Loss: -l1, Reversed: true}, {LogMass: logMass[1], Loss: -l2, Reversed: true},
	}, nil, pInf, qInf, 0)
	line, err := m.Line(context.Background(), 2, 5, 1e-14, 0)
	if err != nil {
		t.Fatal(err)
	}
	re, im, _ := line.LogM(1)
	if d := off(direct(losses, logMass)(2, 1), re, im); d > 1e-14 {
		t.Errorf("M(2+i) is off by %v", d)
	}
	// What §3 has leaves −p∞ + z(q∞ − p∞) = 1e-4·(1 + i) out.
	v := line.(*mixedLine)
	v.infinite(-pInf, 0, pInf-qInf, 0)
	re, im, _ = line.LogM(1)
	if d := off(direct(losses, logMass)(2, 1), re, im); d < 1e-4 || d > 2e-4 {
		t.Errorf("without the infinite parts M(2+i) is off by %v, want about 1.4e-4", d)
	}
}

// TestErrorTerms declares errors of 1e-6 of the parameters and moves them by as much: the
// bound must hold, and without any of its terms must not.
func TestErrorTerms(t *testing.T) {
	const d = 1e-6
	names := []string{"masses", "losses", "sums at θ", "growth with t", "turns"}
	without := []func(m *Mixed, s *sums){
		func(m *Mixed, _ *sums) {
			for i := range m.atoms {
				m.atoms[i].MassErr = 0
			}
		},
		func(m *Mixed, _ *sums) {
			for i := range m.atoms {
				m.atoms[i].LossErr = 0
			}
		},
		func(_ *Mixed, s *sums) { s.roundOff.g0 = 0 },
		func(_ *Mixed, s *sums) { s.roundOff.g1 = 0 },
		func(_ *Mixed, s *sums) { s.roundOff.turns = [bands]turnErrors{} },
	}
	caught := make([]int, len(names))
	r := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		// A pair of atoms whose masses or losses are off, and a last one that makes up for it: the
		// exact pair (P, Q) sums to 1.
		reach := logUniform(r, 1e-2, 4)
		n := 3
		var atoms []Atom
		exact := bigC(0, 0)
		theta, tt := randomZ(r, reach)
		kind := r.IntN(2)
		for range n {
			l, p := reach*(2*r.Float64()-1), r.Float64()/float64(n)
			a := Atom{LogMass: math.Log(p), Loss: -l, Reversed: true}
			lb, pb := oracle.F(l), oracle.Exp(oracle.F(a.LogMass))
			sign := float64(2*r.IntN(2) - 1)
			if kind == 0 {
				a.MassErr = d
				pb = oracle.Scale(pb, 1+sign*d)
			} else {
				a.LossErr = d
				lb = oracle.Add(lb, oracle.F(sign*d))
			}
			atoms = append(atoms, a)
			// p[ex(zL) + z·ex(−L)] of the exact atom.
			z := bigC(theta, tt)
			zl := z.Times(bigReal(lb))
			one := bigC(1, 0)
			term := bigExp(zl).Minus(one).Minus(zl)
			ex := oracle.Add(oracle.Sub(oracle.Exp(oracle.Neg(lb)), oracle.F(1)), lb)
			term = term.Plus(z.Times(bigReal(ex)))
			exact = exact.Plus(term.Times(bigReal(pb)))
		}
		exact = exact.Plus(bigC(1, 0))
		m := NewMixed(atoms, nil, 0, 0, 0)
		line, err := m.Line(context.Background(), theta, tt, 1e-14, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := line.(*mixedLine)
		if v.unit == 0 {
			continue // these atoms do not add up to 1
		}
		re, im, e := v.LogM(tt)
		if got := off(exact, re, im); !math.IsInf(e, 1) && got > math.Expm1(e) {
			t.Errorf("kind %d at %v+%vi: off by %v, bound %v", kind, theta, tt, got, e)
		}
		for i, f := range without {
			bad := *m
			bad.atoms = slices.Clone(m.atoms)
			f(&bad, &sums{})
			w := must(bad.Line(context.Background(), theta, tt, 1e-14, 0)).(*mixedLine)
			f(&bad, &w.sums)
			if re, im, e := w.LogM(tt); !math.IsInf(e, 1) && off(exact, re, im) > math.Expm1(e) {
				caught[i]++
			}
		}
	}
	for i, n := range caught {
		if n == 0 {
			t.Errorf("no case needs the errors of %s", names[i])
		}
	}
}

// TestQuadratureError: with few nodes the error is that of the quadrature, and its bound holds.
func TestQuadratureError(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	needed := 0
	for range 150 {
		m := logUniform(r, 0.05, 8)
		rate := logUniform(r, 1e-3, 1)
		theta, tt := randomZ(r, m)
		if rate > 0.999 {
			continue
		}
		for _, tol := range []float64{1, 1e-3, 1e-6} {
			tr := NewSampledLaplace(item(m), 0, rate, 0)
			rough, err := tr.line(context.Background(), theta, tt, tol, 0)
			if err != nil {
				t.Fatal(err)
			}
			fine, err := tr.line(context.Background(), theta, tt, 1e-15, 0)
			if err != nil {
				t.Fatal(err)
			}
			re, im, e := rough.LogM(tt)
			re2, im2, e2 := fine.LogM(tt)
			if math.IsInf(e, 1) || math.IsInf(e2, 1) {
				continue
			}
			d := math.Hypot(re-re2, math.Remainder(im-im2, 2*math.Pi))
			if d > (e+e2)*(1+e) {
				t.Errorf("m = %v, rate = %v, %v+%vi: off by %v, bound %v", m, rate, theta, tt, d, e)
			}
			bad := *rough
			bad.own = 0
			if _, _, e := bad.LogM(tt); d > e+e2 {
				needed++
			}
		}
	}
	if needed == 0 {
		t.Error("no case needs the bound of the quadrature")
	}
	t.Logf("%d cases need it", needed)
}

// TestLineLimits: what cannot be done is an error, not a wait.
func TestLineLimits(t *testing.T) {
	m := NewSampledLaplace(item(1), 0, 0.1, 0)
	for _, c := range []struct{ theta, tMax float64 }{{math.NaN(), 1}, {math.Inf(1), 1}, {1, math.NaN()}, {1, math.Inf(1)}, {1, -1}} {
		for _, m := range []Transform{m, NewLaplace(1, 0)} {
			if _, err := m.Line(context.Background(), c.theta, c.tMax, 1e-10, 0); err == nil {
				t.Errorf("Line(%v, %v) has no error", c.theta, c.tMax)
			}
		}
	}
	if _, err := m.Line(context.Background(), 1, 1e6, 1e-10, 100); err == nil {
		t.Error("a limit of 100 nodes is not kept")
	}
	if line, err := m.Line(context.Background(), 1, 10, 1e-10, 0); err != nil {
		t.Error(err)
	} else if re, _, e := line.LogM(11); !math.IsInf(e, 1) || re > 1 {
		t.Errorf("LogM beyond tMax = %v ± %v", re, e)
	}
	if _, _, err := NewSampledLaplace(item(1e5), 0, 0.1, 0).Real(1); !math.IsInf(err, 1) {
		t.Error("a piece of length 2e5 has a transform")
	}
}

// TestSpread: near the real axis Decay is hardly above the modulus (of tiny losses the atoms
// beat, and further out the modulus comes back), and a bound for a set
// that claims a tenth more variance than there is would be below it.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ m, rate, theta float64 }{{1, 0.01, 0.01}, {0.03, 0.5, 3}, {0.1, 0.001, 40}, {5, 0.3, 0.2}, {0.01, 1, 1}} {
		for _, tr := range []Transform{NewSampledLaplace(item(c.m), 0, c.rate, 0), NewLaplace(c.m, 0)} {
			k, _, _ := tr.Real(c.theta)
			plus, _, _ := tr.Real(c.theta + 1e-3/c.m)
			minus, _, _ := tr.Real(c.theta - 1e-3/c.m)
			sd := math.Sqrt((plus + minus - 2*k)) / 1e-3 * c.m
			tt := 0.05 / sd
			if rate := 2e-2 / c.m; tt > rate {
				tt = rate // of the scale of the range of the loss
			}
			line, err := tr.Line(context.Background(), c.theta, tt, 1e-20, 0)
			if err != nil {
				t.Fatal(err)
			}
			re, _, _ := line.LogM(tt)
			d := line.Decay(tt)
			if !(d >= re) || !(d-k < 0.9*(re-k)) {
				t.Errorf("%+v %T: log|M/M(θ)| = %v, Decay %v", c, tr, re-k, d-k)
			}
			var s spread
			switch v := line.(type) {
			case *mixedLine:
				s = slices.Clone(v.spread)
			case laplaceLine:
				s = slices.Clone(v.spread)
			}
			s[0].rate *= 1.1
			if bad := s[0].at(tt); bad >= re-k {
				t.Errorf("%+v %T: more variance than there is goes unnoticed: %v, %v", c, tr, bad, re-k)
			}
		}
	}
}

// Release drops what is kept and changes no value.
func TestRelease(t *testing.T) {
	tr := NewGivenAway(poisson(0.01, 1), 1e-6)
	k, slope, err := tr.Real(3)
	tr.(Releaser).Release()
	m := tr.(givenAway).base.(*mixture)
	for i := range m.lattices {
		if m.lattices[i].nodes != nil {
			t.Errorf("level %d keeps %d nodes", i, len(m.lattices[i].nodes))
		}
	}
	if a, b, c := tr.Real(3); a != k || b != slope || c != err {
		t.Errorf("log M(3) = %v, %v ± %v, before Release %v, %v ± %v", a, b, c, k, slope, err)
	}
}

// TestLineOfPointsEnds: beyond the frequency that a line was asked for its error is infinite.
func TestLineOfPointsEnds(t *testing.T) {
	m := NewPoints([]float64{-1, 2}, []float64{math.Log(0.5), math.Log(0.5)}, math.Inf(-1))
	l := must(m.Line(t.Context(), 1, 10, 1e-9, 100))
	if _, _, err := l.LogM(10); math.IsInf(err, 1) {
		t.Error("no value at the last frequency")
	}
	if _, _, err := l.LogM(10.5); !math.IsInf(err, 1) {
		t.Errorf("an error of %v beyond it", err)
	}
}
