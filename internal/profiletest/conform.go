package profiletest

import (
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/profiles"
)

// Grid returns about 40 values of ε that show a profile whose losses are of the
// given size: both signs, from 1e-9 to 50 of it, and the neighbourhood of its
// atoms and of the ends of its support.
func Grid(p profiles.Profile, size float64) []float64 {
	eps := []float64{0}
	for _, x := range []float64{1e-9, 1e-4, 0.01, 0.1, 0.3, 0.7, 1, 1.6, 2.5, 4, 7, 12, 25, 50} {
		eps = append(eps, x*size, -x*size)
	}
	s := p.Support()
	marks := append([]float64{s.Min, s.Max, s.Spike}, s.Atoms...)
	for _, a := range marks {
		if math.IsInf(a, 0) || math.IsNaN(a) {
			continue
		}
		for _, d := range []float64{1e-12, 1e-6, 1e-3, 0.03} {
			eps = append(eps, a-d*size, a+d*size)
		}
	}
	slices.Sort(eps)
	return slices.Compact(eps)
}

// Run checks what holds for every profile, at every ε and every pair of
// neighbouring ε; and, where exact is given, that all four tails and δ are
// within the bounds that the profile states for its own errors.
//
// A statement of a profile carries an error bound; a check allows the bounds of
// the numbers in it, and the rounding of the check itself.
func Run(t *testing.T, p profiles.Profile, exact Exact, grid []float64) {
	t.Helper()
	s := p.Support()
	near := func(e float64) bool { // where the location of an atom decides
		slack := 4*s.LossErr + 8*xmath.U*math.Abs(e)
		atoms := s.Atoms
		if d, ok := p.(*profiles.Discrete); ok {
			atoms = nil
			for _, a := range d.Atoms() {
				atoms = append(atoms, a.Loss)
			}
		}
		for _, a := range atoms {
			if math.Abs(e-a) <= slack+8*xmath.U*math.Abs(a) {
				return true
			}
		}
		return false
	}
	grid = slices.DeleteFunc(slices.Clone(grid), near)

	ts := make([]profiles.Tails, len(grid))
	ds := make([]float64, len(grid)) // log δ
	es := make([]float64, len(grid))
	rev := profiles.Reverse(p)
	for i, e := range grid {
		x := p.Tails(e, 0)
		ts[i] = x
		ds[i], es[i] = profiles.LogDelta(p, e)
		checkPoint(t, e, x, ds[i], es[i])
		// δ_rev(ε) = 1 − e^ε + e^ε·δ(−ε), as log masses of outputs: 1 − δ_rev(−ε) =
		// e^{−ε}(1 − δ(ε)).
		dr, er := profiles.LogDelta(rev, -e)
		if !math.IsInf(es[i], 1) && !math.IsInf(er, 1) {
			a, b := -math.Expm1(dr), math.Exp(-e)*-math.Expm1(ds[i])
			tol := math.Exp(dr)*math.Expm1(er) + math.Exp(-e+ds[i])*math.Expm1(es[i]) + 8*xmath.U*(1+math.Exp(-e)*(1+math.Abs(e)))
			if math.Abs(a-b) > tol {
				t.Errorf("ε = %v: 1 − δ_rev(−ε) = %v, e^{−ε}(1 − δ(ε)) = %v (tolerance %g)", e, a, b, tol)
			}
		}
		if back := profiles.Reverse(rev).Tails(e, 0); back != x {
			t.Errorf("ε = %v: reversed twice gives %+v, want %+v", e, back, x)
		}
		if r := rev.Tails(-e, 0); !closeLog(r.P, x.QC, r.Err+x.ErrC) || !closeLog(r.QC, x.P, r.ErrC+x.Err) {
			t.Errorf("ε = %v: the reverse has %+v at −ε, the profile %+v", e, r, x)
		}
		if exact != nil {
			checkExact(t, e, x, ds[i], es[i], exact)
		}
	}
	for i := 1; i < len(grid); i++ {
		checkStep(t, grid[i-1], grid[i], ts[i-1], ts[i], s)
		checkSlope(t, grid[i-1], grid[i], ts[i-1], ts[i], ds[i-1], ds[i], es[i-1], es[i])
	}
	checkEnds(t, p, s)
	checkTol(t, p, grid, near)
	checkTransform(t, p)
}

// closeLog compares log masses; those below e^{-1e5} count as none.
func closeLog(a, b, err float64) bool {
	return a == b || math.Abs(a-b) <= err || a < -1e5 && b < -1e5
}

func checkPoint(t *testing.T, e float64, x profiles.Tails, ld, le float64) {
	t.Helper()
	for _, v := range []float64{x.P, x.Q, x.PC, x.QC, ld} {
		if math.IsNaN(v) || v > 0 {
			t.Errorf("ε = %v: a log mass is %v: %+v, log δ %v", e, v, x, ld)
			return
		}
	}
	for _, v := range []float64{x.Err, x.ErrC, le} {
		if math.IsNaN(v) || v < 0 {
			t.Errorf("ε = %v: an error bound is %v: %+v, %v", e, v, x, le)
			return
		}
	}
	tol := x.Err*math.Exp(max(x.P, x.Q)) + x.ErrC*math.Exp(max(x.PC, x.QC)) + 4*xmath.U
	for _, c := range [][2]float64{{x.P, x.PC}, {x.Q, x.QC}} {
		if sum := math.Exp(c[0]) + math.Exp(c[1]); math.Abs(sum-1) > tol {
			t.Errorf("ε = %v: tails %v and %v sum to 1 %+.3g, stated error %.3g", e, c[0], c[1], sum-1, tol)
		}
	}
	round := 4 * xmath.U * (1 + math.Abs(e))
	if x.P < e+x.Q-2*x.Err-round-4*xmath.U*math.Abs(xmath.Finite(x.Q)) {
		t.Errorf("ε = %v: log P(L>ε) = %v is below ε + log Q(L>ε) = %v (error %g)", e, x.P, e+x.Q, x.Err)
	}
	if x.PC > e+x.QC+2*x.ErrC+round+4*xmath.U*math.Abs(xmath.Finite(x.QC)) {
		t.Errorf("ε = %v: log P(L≤ε) = %v is above ε + log Q(L≤ε) = %v (error %g)", e, x.PC, e+x.QC, x.ErrC)
	}
	if math.IsInf(le, 1) {
		return
	}
	if least := -math.Expm1(e); math.Exp(ld)*math.Exp(le)*(1+4*xmath.U) < least {
		t.Errorf("ε = %v: δ = %v is below 1 − e^ε = %v", e, math.Exp(ld), least)
	}
	// δ = P − e^ε·Q, in units of the larger term.
	a, b := 1.0, math.Exp(e+x.Q-x.P)
	if math.IsInf(x.P, -1) {
		if !math.IsInf(ld, -1) {
			t.Errorf("ε = %v: log δ = %v, but P(L>ε) = 0", e, ld)
		}
		return
	}
	d := math.Exp(ld - x.P)
	if tol := d*math.Expm1(min(le, 700)) + (a+b)*(2*x.Err+round+4*xmath.U*math.Abs(xmath.Finite(x.P))); math.Abs(d-(a-b)) > tol {
		t.Errorf("ε = %v: δ/P(L>ε) = %v, but its tails give %v (tolerance %g)", e, d, a-b, tol)
	}
}

func checkExact(t *testing.T, e float64, x profiles.Tails, ld, le float64, exact Exact) {
	t.Helper()
	eps := oracle.F(e)
	m := exact(eps)
	for _, c := range []struct {
		name     string
		got, err float64
		want     float64
	}{
		{"P(L>ε)", x.P, x.Err, oracle.LogF(m.P)},
		{"Q(L>ε)", x.Q, x.Err, oracle.LogF(m.Q)},
		{"P(L≤ε)", x.PC, x.ErrC, oracle.LogF(m.PC)},
		{"Q(L≤ε)", x.QC, x.ErrC, oracle.LogF(m.QC)},
	} {
		// Converting the truth to float64 costs 1 u of it, and it is a logarithm of a
		// number of 300 bits. Masses below e^{-1e5} are treated as none.
		if c.got == c.want || c.got < -1e5 && c.want < -1e5 {
			continue
		}
		if !(math.Abs(c.got-c.want) <= c.err+xmath.U*math.Abs(c.want)+1e-85) {
			t.Errorf("ε = %v: log %s = %v, exactly %v: off by %.3g, stated %.3g", e, c.name, c.got, c.want, c.got-c.want, c.err)
		}
	}
	d := m.Delta(eps)
	if d.Sign() <= 0 || d.MantExp(nil) < m.P.MantExp(nil)-oracle.Prec+80 {
		return // no digit of the truth is left either
	}
	if math.IsInf(le, 1) && ld > -750 && (math.IsInf(x.Q, -1) || x.P > e+x.Q+1e-9+4*x.Err) {
		t.Errorf("ε = %v: no error bound for log δ = %v, though its terms differ: %+v", e, ld, x)
	}
	if want := oracle.LogF(d); ld > -1e5 && !(math.Abs(ld-want) <= le+xmath.U*math.Abs(want)+1e-85) {
		t.Errorf("ε = %v: log δ = %v, exactly %v: off by %.3g, stated %.3g", e, ld, want, ld-want, le)
	}
}

// checkStep: tails fall.
func checkStep(t *testing.T, e0, e1 float64, a, b profiles.Tails, s profiles.Support) {
	t.Helper()
	if b.P > a.P+a.Err+b.Err || b.Q > a.Q+a.Err+b.Err {
		t.Errorf("upper tails rise from ε = %v to %v: %+v, %+v", e0, e1, a, b)
	}
	if b.PC < a.PC-a.ErrC-b.ErrC || b.QC < a.QC-a.ErrC-b.ErrC {
		t.Errorf("lower tails fall from ε = %v to %v: %+v, %+v", e0, e1, a, b)
	}
}

// checkSlope: δ is convex in α = e^ε with slope −Q(L > ε), so that between two
// points Q(L > ε₁)·(α₁−α₀) ≤ δ(ε₀) − δ(ε₁) ≤ Q(L > ε₀)·(α₁−α₀).
func checkSlope(t *testing.T, e0, e1 float64, a, b profiles.Tails, d0, d1, r0, r1 float64) {
	t.Helper()
	if math.IsInf(r0, 1) || math.IsInf(r1, 1) || math.IsInf(d0, -1) {
		return
	}
	// In units of δ(ε₀).
	width := math.Expm1(e1 - e0)
	fall := -math.Expm1(d1 - d0)
	lo, hi := math.Exp(b.Q+e0-d0)*width, math.Exp(a.Q+e0-d0)*width
	if math.IsInf(hi, 1) || hi > 1e10 {
		return
	}
	tol := math.Expm1(r0) + math.Expm1(r1) + (lo+hi)*(2*a.Err+2*b.Err+16*xmath.U*(1+math.Abs(e0)+math.Abs(e1)+math.Abs(d0)+math.Abs(xmath.Finite(a.Q))+math.Abs(xmath.Finite(b.Q)))) +
		xmath.U*(math.Abs(d0)+math.Abs(d1)+math.Abs(e0)+8) + hi/width*2*xmath.U*math.Abs(e1)*math.Exp(e1-e0)
	if fall < lo-tol || fall > hi+tol {
		t.Errorf("from ε = %v to %v δ falls by %.17g of itself, its slopes say between %.17g and %.17g (tolerance %g)", e0, e1, fall, lo, hi, tol)
	}
}

// checkEnds: nothing is left beyond the support, and tails at an atom count it as
// not above.
func checkEnds(t *testing.T, p profiles.Profile, s profiles.Support) {
	t.Helper()
	out := func(x float64) float64 { return 8*s.LossErr + 16*xmath.U*math.Abs(x) + 1e-300 }
	if !math.IsInf(s.Max, 0) {
		if x := p.Tails(s.Max+out(s.Max), 0); !closeLog(x.P, s.LogPInf, x.Err+8*xmath.U*(1+math.Abs(xmath.Finite(s.LogPInf)))) || !math.IsInf(x.Q, -1) {
			t.Errorf("above the largest loss %v: tails %+v, want log P(L=+∞) = %v and none", s.Max, x, s.LogPInf)
		}
	}
	if !math.IsInf(s.Min, 0) {
		if x := p.Tails(s.Min-out(s.Min), 0); !closeLog(x.QC, s.LogQInf, x.ErrC+8*xmath.U*(1+math.Abs(xmath.Finite(s.LogQInf)))) || !math.IsInf(x.PC, -1) {
			t.Errorf("below the smallest loss %v: tails %+v, want log Q(L=−∞) = %v and none", s.Min, x, s.LogQInf)
		}
	}
	for i, a := range s.Atoms {
		if i > 0 && a <= s.Atoms[i-1] {
			t.Errorf("atoms are not ascending: %v", s.Atoms)
		}
		at, above, below := p.Tails(a, 0), p.Tails(a+out(a), 0), p.Tails(a-out(a), 0)
		// An atom is a jump of the tails between below and a, none between a and
		// above. An atom on the wrong side would have all of the jump in after;
		// density over the few LossErr between a and above has under a hundredth.
		jump := math.Exp(below.P) - math.Exp(at.P)
		after := math.Exp(at.P) - math.Exp(above.P)
		noise := (below.Err+at.Err)*math.Exp(below.P) + 4*xmath.U
		if jump <= noise {
			jump, after = math.Exp(at.PC)-math.Exp(below.PC), math.Exp(above.PC)-math.Exp(at.PC)
			noise = (above.ErrC + at.ErrC) * math.Exp(above.PC)
			if jump <= noise && !math.IsInf(at.PC, -1) {
				t.Errorf("atom %v has no mass: %+v below it, %+v at it", a, below, at)
			}
		}
		if after > noise+1e-2*jump {
			t.Errorf("atom %v: P(L>ε) falls by %v just above it, by %v at it", a, after, jump)
		}
	}
}

// checkTol: an inexact argument is covered by the error bound.
func checkTol(t *testing.T, p profiles.Profile, grid []float64, near func(float64) bool) {
	t.Helper()
	for _, e := range grid {
		for _, tol := range []float64{1e-13 * (1 + math.Abs(e)), 1e-7} {
			x := p.Tails(e, tol)
			for _, f := range []float64{e - tol, e + tol} {
				y := p.Tails(f, 0)
				if crosses(p, e, f, tol) || near(f) {
					continue
				}
				if !closeLog(x.P, y.P, x.Err+y.Err) || !closeLog(x.Q, y.Q, x.Err+y.Err) ||
					!closeLog(x.PC, y.PC, x.ErrC+y.ErrC) || !closeLog(x.QC, y.QC, x.ErrC+y.ErrC) {
					t.Errorf("tails at %v with tolerance %g are %+v, at %v %+v", e, tol, x, f, y)
				}
			}
		}
	}
}

// crosses reports whether an atom or an end of the support lies between or next
// to two losses.
func crosses(p profiles.Profile, a, b, tol float64) bool {
	s := p.Support()
	marks := append([]float64{s.Min, s.Max}, s.Atoms...)
	if d, ok := p.(*profiles.Discrete); ok {
		for _, x := range d.Atoms() {
			marks = append(marks, x.Loss)
		}
	}
	for _, m := range marks {
		if min(a, b)-tol <= m && m <= max(a, b)+tol {
			return true
		}
	}
	return false
}
