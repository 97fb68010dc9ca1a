package transform

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// A truth is M(z) to hundreds of bits.
type truth func(theta, t float64) bigComplex

// times returns z·x.
func times(theta, t float64, x *big.Float) bigComplex {
	return bigComplex{Re: oracle.Scale(x, theta), Im: oracle.Scale(x, t)}
}

// A laplacePair is a pair of mixtures of Laplace noise of scale 1 at multiples of theta, with
// weights p and q; the truth is computed from the densities themselves.
type laplacePair struct {
	theta   *big.Float
	centers []int
	p, q    []*big.Float
	last    int // outcomes from here on are one; 0: all are seen

	masses []*big.Float // filled by the first use
	losses []*big.Float
}

// density returns Σ_c w_c·½e^{−|x − cθ|}.
func (l laplacePair) density(w []*big.Float, x *big.Float) *big.Float {
	s := oracle.New()
	for i, c := range l.centers {
		if w[i].Sign() == 0 {
			continue
		}
		d := oracle.Sub(x, oracle.Scale(l.theta, float64(c)))
		s = oracle.Add(s, oracle.Mul(w[i], oracle.Exp(oracle.Neg(d.Abs(d)))))
	}
	return oracle.Scale(s, 0.5)
}

// tail returns the mass beyond the centre of number c, right of it or left.
func (l laplacePair) tail(w []*big.Float, at int, right bool) *big.Float {
	s := oracle.New()
	for i, c := range l.centers {
		d := float64(c - at) // > 0: the mean lies right of the point
		if !right {
			d = -d
		}
		half := oracle.Scale(oracle.Exp(oracle.Scale(l.theta, -math.Abs(d))), 0.5)
		if d > 0 {
			half = oracle.Sub(oracle.F(1), half)
		}
		s = oracle.Add(s, oracle.Mul(w[i], half))
	}
	return s
}

// at returns M(θ + it) for t·θ ≤ 70.
func (l *laplacePair) at(theta, t float64) bigComplex {
	if l.masses == nil {
		l.fill()
	}
	sum := bigC(0, 0)
	for i, p := range l.masses {
		sum = sum.Plus(bigExp(times(theta, t, l.losses[i])).Times(bigReal(p)))
	}
	return sum
}

func (l *laplacePair) fill() {
	const nodes = 28
	x, w := bigLegendre(nodes)
	put := func(p, q, weight *big.Float) {
		l.masses = append(l.masses, oracle.Mul(p, weight))
		l.losses = append(l.losses, oracle.Log(oracle.Div(p, q)))
	}
	first, last := l.centers[0], l.centers[len(l.centers)-1]
	if l.last > 0 {
		last = l.last
	}
	put(l.tail(l.p, first, false), l.tail(l.q, first, false), oracle.F(1))
	put(l.tail(l.p, last, true), l.tail(l.q, last, true), oracle.F(1))
	step, _ := l.theta.Float64()
	panels := int(math.Ceil(step)) + 4
	for c := first; c < last; c++ {
		for k := range panels {
			h := oracle.Div(l.theta, oracle.F(float64(2*panels)))
			mid := oracle.Add(oracle.Scale(l.theta, float64(c)), oracle.Scale(h, float64(2*k+1)))
			for j := range x {
				v := oracle.Add(mid, oracle.Mul(h, x[j]))
				put(l.density(l.p, v), l.density(l.q, v), oracle.Mul(h, w[j]))
			}
		}
	}
}

func bigs(xs ...float64) []*big.Float {
	var out []*big.Float
	for _, x := range xs {
		out = append(out, oracle.F(x))
	}
	return out
}

// off returns |M·e^{−(re+i·im)} − 1|: what −log(1−err) … err allows.
func off(m bigComplex, re, im float64) float64 {
	x := m.Times(bigExp(bigC(-re, -im))).Minus(bigC(1, 0))
	f, _ := x.Abs().Float64()
	return f
}

// check compares one value with the truth, and Decay with its modulus.
func check(t *testing.T, name string, m Transform, want truth, theta, tt, tol float64) (ratio float64) {
	t.Helper()
	line, err := m.Line(context.Background(), theta, tt, tol, 0)
	if err != nil {
		t.Errorf("%s: Line(%v, %v): %v", name, theta, tt, err)
		return 0
	}
	re, im, e := line.LogM(tt)
	truth := want(theta, tt)
	size := oracle.LogF(truth.Abs())
	if d := line.Decay(tt); !(size <= d) {
		t.Errorf("%s: log|M(%v+%vi)| = %v above Decay %v", name, theta, tt, size, d)
	}
	if d := line.Decay(tt * 0.7); tt > 0 && !(size <= d) {
		t.Errorf("%s: log|M(%v+%vi)| = %v above Decay %v of an earlier frequency", name, theta, tt, size, d)
	}
	if math.IsInf(e, 1) {
		if !(size <= re) {
			t.Errorf("%s: log|M(%v+%vi)| = %v above %v", name, theta, tt, size, re)
		}
		return math.Inf(1)
	}
	d := off(truth, re, im)
	if !(d <= math.Expm1(e)) {
		t.Errorf("%s: M(%v+%vi): off by %v, bound %v; log M = %v", name, theta, tt, d, e, re)
	}
	if tt == 0 {
		k, slope, e := m.Real(theta)
		if !(off(truth, k, 0) <= math.Expm1(e)) {
			t.Errorf("%s: Real(%v) = %v: off by %v, bound %v", name, theta, k, off(truth, k, 0), e)
		}
		if k1, _, _ := m.Real(theta + 1e-4); math.Abs((k1-k)/1e-4-slope) > 1e-2*(math.Abs(slope)+math.Abs(k)) {
			t.Errorf("%s: slope at %v is %v, differences give %v", name, theta, slope, (k1-k)/1e-4)
		}
	}
	return d / e
}

// randomZ draws a point of the plane where M neither vanishes nor leaves the range.
func randomZ(r *rand.Rand, m float64) (theta, t float64) {
	theta = []float64{0.5, 5, 40}[r.IntN(3)] * (2*r.Float64() - 1)
	if r.IntN(4) == 0 {
		theta = -0.5 + 0.5*(2*r.Float64()-1)
	}
	if math.Abs(theta)*m > 300 {
		theta = 300 / m
	}
	t = math.Exp(math.Log(1e-3)+math.Log(1e5)*r.Float64()) / m
	if r.IntN(5) == 0 {
		t = 0
	}
	return theta, min(t, 60/m+2)
}

func logUniform(r *rand.Rand, lo, hi float64) float64 {
	return math.Exp(math.Log(lo) + math.Log(hi/lo)*r.Float64())
}

func laplaceTruth(m float64) truth {
	p := &laplacePair{theta: oracle.F(m), centers: []int{0, 1}, p: bigs(0, 1), q: bigs(1, 0)}
	return p.at
}

func laplaceClosed(m *big.Float) truth {
	return func(theta, t float64) bigComplex {
		z := bigC(theta, t)
		z1 := z.Plus(bigC(1, 0))
		a := bigExp(z.Times(bigReal(m)))
		b := bigExp(z1.Times(bigReal(oracle.Neg(m))))
		return z1.Times(a).Plus(z.Times(b)).Over(z.Plus(z1))
	}
}

func TestLegendreTables(t *testing.T) {
	for _, n := range legendreSizes {
		x, w := legendre(n)
		bx, bw := bigLegendre(n)
		for i := range x {
			best, at := math.Inf(1), 0
			for j := range bx {
				d, _ := oracle.Sub(oracle.F(x[i]), bx[j]).Float64()
				if math.Abs(d) < best {
					best, at = math.Abs(d), j
				}
			}
			if best > 4*xmath.U {
				t.Errorf("n = %d: node %v is off by %v u", n, x[i], best/xmath.U)
			}
			if u := oracle.Ulps(w[i], bw[at]); u*xmath.U > legendreErr {
				t.Errorf("n = %d: weight of %v is off by %v u", n, x[i], u)
			}
		}
	}
}

func TestLaplaceClosedForm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	// The closed form itself, against the densities.
	for _, m := range []float64{0.1, 1, 3} {
		a, b := laplaceTruth(m)(1.7, 2.1), laplaceClosed(oracle.F(m))(1.7, 2.1)
		if d, _ := a.Minus(b).Abs().Float64(); d > 1e-25 {
			t.Fatalf("m = %v: the closed form is off by %v", m, d)
		}
	}
	lost, n := 0, 0
	for range 1500 {
		m := logUniform(r, 1e-6, 200)
		theta, tt := randomZ(r, m)
		if r.IntN(3) == 0 {
			tt = logUniform(r, 1e-3, 1e4) / m
		}
		if r.IntN(6) == 0 {
			theta = -0.5 + (r.Float64()-0.5)*logUniform(r, 1e-12, 1)
		}
		n++
		if x := check(t, "laplace", NewLaplace(m, 0), laplaceClosed(oracle.F(m)), theta, tt, 1e-15); math.IsInf(x, 1) {
			lost++
		}
	}
	if lost > n/50 {
		t.Errorf("%d of %d values have no digit", lost, n)
	}
}

// TestLaplaceRelative: log M keeps its digits however small it is.
func TestLaplaceRelative(t *testing.T) {
	for _, m := range []float64{1e-6, 1e-4, 1e-2} {
		for _, s := range []float64{1e-4 / m, -0.3, -0.5, 0.01 / m, 0.5, -1 - 0.01/m} {
			k, _, err := NewLaplace(m, 0).Real(s)
			if !(err <= 400*xmath.U*math.Abs(k)) {
				t.Errorf("m = %v, s = %v: log M = %v ± %v", m, s, k, err)
			}
			line, _ := NewLaplace(m, 0).Line(context.Background(), s, 10/m, 0, 0)
			re, im, err := line.LogM(0.01 / m)
			if size := math.Hypot(re, im); !(err <= 400*xmath.U*size) {
				t.Errorf("m = %v, s = %v: log M = %v ± %v", m, s, size, err)
			}
		}
	}
}

// TestLaplaceVariation is a counterexample to V = ½e^{θm}/M of the page contour, §5.2.
func TestLaplaceVariation(t *testing.T) {
	const b, theta, tt = 0.174, -0.898, 1.06
	m := 1 / b
	line, err := NewLaplace(m, 0).Line(context.Background(), theta, 2, 1e-12, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, _, _ := NewLaplace(m, 0).Real(theta)
	re, _, _ := line.LogM(tt)
	if x := math.Exp(re - k); math.Abs(x-0.546) > 1e-3 {
		t.Errorf("|M|/M(θ) = %v, want 0.546", x)
	}
	wrong := (0.5*math.Exp(theta*m)+0.5*math.Exp(-m-theta*m))/math.Exp(k) + 0.5*math.Exp(theta*m-k)/tt
	if math.Abs(wrong-0.453) > 1e-3 {
		t.Errorf("the page has %v, want 0.453", wrong)
	}
	if d := line.Decay(tt); d < re {
		t.Errorf("Decay = %v below log|M| = %v", d, re)
	}
}

func item(m float64) []LaplaceItem { return []LaplaceItem{{M: m}} }

func TestSampledLaplace(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(2, 2))
	lost, n := 0, 0
	for range 25 {
		m := logUniform(r, 1e-4, 12)
		rate := logUniform(r, 1e-5, 1)
		if r.IntN(5) == 0 {
			rate = 1 - logUniform(r, 1e-12, 0.3)
		}
		var tr Transform = NewSampledLaplace(item(m), 0, rate, 0)
		l := &laplacePair{theta: oracle.F(m), centers: []int{0, 1},
			p: []*big.Float{oracle.Sub(oracle.F(1), oracle.F(rate)), oracle.F(rate)}, q: bigs(1, 0)}
		if r.IntN(2) == 0 {
			tr = tr.Reverse()
			l.p, l.q = l.q, l.p
		}
		for range 5 {
			theta, tt := randomZ(r, m)
			n++
			if x := check(t, "sampled", tr, l.at, theta, tt, 1e-14); math.IsInf(x, 1) {
				lost++
			}
		}
	}
	if lost > n/20 {
		t.Errorf("%d of %d values have no digit", lost, n)
	}
}

func TestOppositeLaplace(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(3, 3))
	for range 18 {
		m := logUniform(r, 1e-4, 8)
		rate := logUniform(r, 1e-5, 1)
		none := oracle.Sub(oracle.F(1), oracle.F(rate))
		l := &laplacePair{theta: oracle.F(m), centers: []int{-1, 0, 1},
			p: []*big.Float{oracle.New(), none, oracle.F(rate)}, q: []*big.Float{oracle.F(rate), none, oracle.New()}}
		for range 5 {
			theta, tt := randomZ(r, m)
			check(t, "opposite", NewOppositeLaplace(m, 0, rate), l.at, theta, tt, 1e-14)
		}
	}
}

func TestCopiedLaplace(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		theta1 := logUniform(r, 1e-4, 2)
		n := 2 + r.IntN(4)
		w := make([]float64, n)
		total := 0.0
		for u := range w {
			w[u] = logUniform(r, 1e-6, 1)
			total += w[u]
		}
		l := &laplacePair{theta: oracle.F(theta1)}
		var logP []float64
		left := oracle.F(1)
		for u := range w {
			p := oracle.F(w[u] / total)
			if u == n-1 {
				p = left
			}
			left = oracle.Sub(left, p)
			l.centers = append(l.centers, u)
			l.p, l.q = append(l.p, p), append(l.q, oracle.F(map[bool]float64{true: 1}[u == 0]))
			logP = append(logP, oracle.LogF(p))
		}
		errs := make([]float64, n)
		for u := range errs {
			errs[u] = xmath.U * math.Abs(logP[u])
		}
		last := n - 1 - r.IntN(n-1)
		l.last = last
		tr := NewCopiedLaplace(logP, errs, math.Inf(-1), theta1, 0, last)
		for range 5 {
			theta, tt := randomZ(r, theta1*float64(last))
			check(t, "copied", tr, l.at, theta, tt, 1e-14)
		}
	}
}

// envelopeTruth is the pair of an envelope: loss above 0 as sampled, its mirror image, the rest at 0.
func envelopeTruth(m, rate float64) truth {
	return func(theta, t float64) bigComplex {
		x, w := bigLegendre(28)
		q, none := oracle.F(rate), oracle.Sub(oracle.F(1), oracle.F(rate))
		g := func(y *big.Float) *big.Float { return oracle.Add(none, oracle.Mul(q, oracle.Exp(y))) }
		sum, seen := bigC(0, 0), oracle.New()
		put := func(mass, ratio *big.Float) { // mass under Q at loss log ratio, and the mirror image
			l := oracle.Log(ratio)
			p := oracle.Mul(mass, ratio)
			sum = sum.Plus(bigExp(times(theta, t, l)).Times(bigReal(p)))
			sum = sum.Plus(bigExp(times(-theta, -t, l)).Times(bigReal(mass)))
			seen = oracle.Add(seen, oracle.Add(p, mass))
		}
		mb := oracle.F(m)
		put(oracle.Scale(oracle.Exp(oracle.Neg(mb)), 0.5), g(mb))
		panels := int(math.Ceil(m + t*m/16))
		for k := range panels {
			h := oracle.Div(mb, oracle.F(float64(2*panels)))
			mid := oracle.Scale(h, float64(2*k+1))
			for j := range x {
				y := oracle.Add(mid, oracle.Mul(h, x[j])) // base loss in (0, m), Q density ¼e^{−(y+m)/2}
				d := oracle.Scale(oracle.Exp(oracle.Scale(oracle.Add(y, mb), -0.5)), 0.25)
				put(oracle.Mul(d, oracle.Mul(h, w[j])), g(y))
			}
		}
		return sum.Plus(bigReal(oracle.Sub(oracle.F(1), seen)))
	}
}

func TestLaplaceEnvelope(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 40 {
		m := logUniform(r, 1e-4, 12)
		rate := logUniform(r, 1e-5, 0.9)
		theta, tt := randomZ(r, m)
		check(t, "envelope", NewLaplaceEnvelope(item(m), 0, rate, 0), envelopeTruth(m, rate), theta, tt, 1e-14)
	}
}

// An atom so far out that P's mass is 0 in floating point, and e^{sL} infinite, while their product is neither.
func TestAtomBeyondFloats(t *testing.T) {
	const s, near, far, logP = 55, 0.001, 13.0, -760.0
	up := 1 / (1 + math.Exp(near)) // Q(L = near): then P and Q are 1 both, but for the far atom
	m := NewMixed([]Atom{
		{LogMass: math.Log(up), Loss: near},
		{LogMass: math.Log1p(-up), Loss: -near},
		{LogMass: logP - far, Loss: far},
	}, nil, 0, 0, 1e-15)
	k, slope, err := m.Real(s)
	// M(s) = Σ Q(L)·e^{(s+1)L}.
	a, b, c := up*math.Exp((s+1)*near), (1-up)*math.Exp(-(s+1)*near), math.Exp(logP+s*far)
	if want := math.Log(a + b + c); !(math.Abs(k-want) <= err+1e-12 && err < 1e-9) {
		t.Errorf("log M(%v) = %v ± %v, not %v", s, k, err, want)
	}
	if want := (near*(a-b) + far*c) / (a + b + c); !(math.Abs(slope-want) < 1e-3*math.Abs(want)) {
		t.Errorf("slope %v, not %v", slope, want)
	}
}
