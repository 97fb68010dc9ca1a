package transform

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// The counterexamples of contour-errata.md: each is a bound that an earlier text of the
// specification had wrong. Errata 1 (rates above 0.999 in the add direction), the overflow of κ
// and K > 709 are points of TestHighPrecision.

// Errata 2: with nodes up to y = 13.5 Mills' bound does not hold at s = 14 and 25.
func TestMillsHypothesis(t *testing.T) {
	m := poisson(0.01, 1).(*mixture)
	level := m.levelFor(0.1)
	hi := int(13.5 / m.step(level))
	for _, s := range []float64{14, 25} {
		l := m.tilt(s, level, -8*hi/10, hi)
		if _, _, err := l.real(); !math.IsInf(err, 1) {
			t.Errorf("M(%v) with nodes up to 13.5 has error %v", s, err)
		}
	}
	if _, _, err := m.tilt(10, level, -8*hi/10, hi).real(); math.IsInf(err, 1) {
		t.Errorf("M(10) with nodes up to 13.5 has no error bound")
	}
}

// Errata 4: on a line the integrand of a mixture exceeds e^{b²/2σ²}P^{θ+1}Q^{−θ}, but
// not the sector factor times that.
func TestSectorFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	bare := 0
	for range 300 {
		q, sigma := math.Pow(10, -3*r.Float64()), math.Pow(10, r.Float64()-0.5)
		m := must(NewGaussianMixture(Pair{Sigma: sigma, LogP0: math.Log1p(-q), LogQ0: math.Log1p(-q),
			Components: []Component{{1, math.Log(q), math.Inf(-1), 0}, {-1, math.Inf(-1), math.Log(q), 0}}})).(*mixture)
		theta := 10*r.Float64() - 0.5
		a := m.width() * (0.02 + 0.96*r.Float64())
		d := (2*r.Float64() - 1) * (theta + 4) * m.inv2
		n := m.at(d)
		n.ofP, _, _ = m.p.at(d)
		n.ofQ, _, _ = m.q.at(d)
		P, Q := m.turn(&n, m.angles(a))
		p := complex(1-q, 0) + complex(q, 0)*cmplx.Exp(complex(d-m.inv2/2, a))
		q0 := complex(1-q, 0) + complex(q, 0)*cmplx.Exp(complex(-d-m.inv2/2, -a))
		pr := (1 - q) + q*math.Exp(d-m.inv2/2)
		qr := (1 - q) + q*math.Exp(-d-m.inv2/2)
		if math.Abs(P.logMod-math.Log(cmplx.Abs(p)/pr)) > 1e-12 || math.Abs(Q.logMod-math.Log(cmplx.Abs(q0)/qr)) > 1e-12 {
			t.Fatalf("q=%v σ=%v d=%v a=%v: moduli %v, %v", q, sigma, d, a, P, Q)
		}
		if im := imLoss(P, Q, a); math.Abs(im-cmplx.Phase(p/q0)) > 1e-12 && math.Abs(im-cmplx.Phase(p/q0)-2*math.Pi) > 1e-12 || im > a*m.span {
			t.Fatalf("q=%v σ=%v d=%v a=%v: Im L = %v, want %v", q, sigma, d, a, im, cmplx.Phase(p/q0))
		}
		if math.Abs(n.loss-math.Log(pr/qr)) > 1e-12*(1+math.Abs(n.loss)) {
			t.Fatalf("loss %v, want %v", n.loss, math.Log(pr/qr))
		}
		over := (theta+1)*P.logMod - theta*Q.logMod
		if over > 1e-12 {
			bare++
		}
		if over > m.logSector(theta, a)+1e-12 {
			t.Errorf("q=%v σ=%v θ=%v a=%v: the integrand is e^%v above its size, the sector factor %v", q, sigma, theta, a, over, m.logSector(theta, a))
		}
	}
	if bare == 0 {
		t.Error("no point needs the sector factor")
	}
}

// Errata 5: nodes skipped in the sums over frequencies cost up to W·|e^{itL} − 1 − itL|,
// beyond 2(1+t)·W.
func TestSkippedNodes(t *testing.T) {
	m := poisson(0.01, 1).(*mixture)
	base := must(m.line(t.Context(), nil, 4, 50, 1e-17, maxLineNodes))
	l := newLine(&base.tilted, &base.moved.tilted, base.best, base.logMoving, 50, 1e-3)
	if len(l.loss) == len(l.nodes) {
		t.Fatal("no node is skipped")
	}
	full := l.tilted
	full.loss, full.weight = nil, nil
	for i, f := range l.logF {
		full.loss, full.weight = append(full.loss, l.nodes[i].loss), append(full.weight, math.Exp(f-l.scale))
	}
	off := 0.0
	for at := 45.0; at <= 50; at += 0.25 {
		a, b := l.at(at)
		c, d := full.at(at)
		o := math.Hypot(a-c, b-d)
		off = max(off, o)
		if o > l.skip0+l.skip1*at {
			t.Errorf("t = %v: skipped nodes move the sum by %g, bound %g", at, o, l.skip0+l.skip1*at)
		}
		re, _, err := l.LogM(at)
		if least := (l.skip0 + l.skip1*at + l.quadrature(at)) / math.Exp(re); err < least {
			t.Errorf("t = %v: the error %g of log M leaves out skipped nodes: %g", at, err, least)
		}
	}
	if off < 100*u {
		t.Errorf("skipped nodes move the sum by %g only", off)
	}
}

// Errata 6: log|M| = ½log1p(2·Re D + |D|²) loses its digits for small |M|.
func TestLogOfSmallModulus(t *testing.T) {
	for _, mod := range []float64{0.9, 0.5, 0.1, 0.01, 1e-3, 1e-5, 1e-9} {
		for phase := 0.1; phase < 3.1; phase += 0.3 {
			// M = 1 + D with D exact in float64 after this rounding.
			re, im := mod*math.Cos(phase)-1, mod*math.Sin(phase)
			a, b, err := logComplex(1, re, im, 0, 0)
			wantRe, wantIm := math.Log(math.Hypot(1+re, im)), math.Atan2(im, 1+re)
			if d := math.Hypot(a-wantRe, b-wantIm); d > err+2*u*math.Hypot(wantRe, wantIm) || err > 8*u*(1+math.Hypot(a, b)) {
				t.Errorf("|M| = %v: log M = %v + %vi ± %g, want %v + %vi", mod, a, b, err, wantRe, wantIm)
			}
		}
	}
	if re, _, err := logComplex(1, -1+1e-8, 0, 1e-8, 0); !math.IsInf(err, 1) || re < math.Log(2e-8) {
		t.Errorf("a modulus that may be 0: %v ± %v", re, err)
	}
}

// Errata 11: at q = 1e-6, σ = 4, θ = 442 rounding moves log B by 8.9e-14.
func TestShiftedLineRounding(t *testing.T) {
	l := must(poisson(1e-6, 4).Line(context.Background(), 442, 1, 1e-15, 0)).(*mixtureLine)
	s := l.moved.newShiftedLine(0.01)
	upper := l.logB(s, 1)
	clear(s.err)
	clear(s.slip)
	if plain := l.logB(s, 1); upper-plain < 8.9e-14 || upper-plain > 1e-10 {
		t.Errorf("the allowance for rounding is %g", upper-plain)
	}
}

// Pairs whose loss does not increase are refused.
func TestMonotone(t *testing.T) {
	none := math.Inf(-1)
	for _, cs := range [][]Component{
		{{1, none, math.Log(0.1), 0}},
		{{1, math.Log(0.1), none, 0}, {2, none, math.Log(0.01), 0}},
		{{0, math.Log(0.1), none, 0}},
		{{1, math.Log(0.1), none, 0}, {1, math.Log(0.1), none, 0}},
		{{1, math.NaN(), none, 0}},
	} {
		if _, err := NewGaussianMixture(Pair{Sigma: 1, Components: cs, LogP0: math.Log(0.9), LogQ0: math.Log(0.9)}); err == nil {
			t.Errorf("%v is accepted", cs)
		}
	}
	for _, f := range []func() (Transform, error){
		func() (Transform, error) { return NewPoissonGaussian(0, 0, 1, 0) },
		func() (Transform, error) { return NewPoissonGaussian(math.NaN(), 0, 1, 0) },
		func() (Transform, error) { return NewPoissonGaussian(0.5, 0, 0, 0) },
		func() (Transform, error) { return NewPoissonGaussian(0.5, 0, math.NaN(), 0) },
		func() (Transform, error) { return NewGaussian(-1, 0) },
	} {
		if _, err := f(); err == nil {
			t.Error("a parameter out of range is accepted")
		}
	}
	tr := poisson(0.01, 1)
	for _, c := range [][3]float64{{math.NaN(), 1, 1}, {1, math.NaN(), 1}, {1, -1, 1}, {1, math.Inf(1), 1}, {1, 1, 0}, {math.Inf(1), 1, 1}} {
		if _, err := tr.Line(context.Background(), c[0], c[1], c[2], 0); err == nil {
			t.Errorf("Line(%v) is accepted", c)
		}
	}
	if _, err := tr.Line(context.Background(), 4, 1e6, 1e-15, 100); err == nil {
		t.Error("a line of more than maxNodes nodes is delivered")
	}
	if _, _, err := tr.Real(math.NaN()); !math.IsInf(err, 1) {
		t.Error("log M(NaN) has an error bound")
	}
}
