package pld_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// core.md §3.4 for T = 1: at a lattice point the upper law is exact and the lower
// one Δ²·f/8 below, halfway the upper one is Δ²·f/8 above; f is the density of the
// loss under P.
func TestSecondOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		p    profiles.Profile
		sd   float64
		off  float64
		tol  float64 // of the ratio, at Δ = sd/16, sd/32
	}{
		// The next term of the expansion is Δ/sd times a constant near 1 for the smooth
		// ones; the offsets of the others put their atoms on the lattice.
		{"gaussian 2", gaussian(2), 0.5, 0, 0.02},
		{"gaussian 0.3", gaussian(0.3), 10. / 3, 0.1, 0.02},
		{"laplace 2", laplace(2), 0.5, -0.5, 0.03},
		{"gaussian 2 at 0.5", sampled(gaussian(2), 0.5), 0.25, 0, 0.05},
	} {
		for _, div := range []float64{16, 32, 64} {
			step := c.sd / div
			lo, hi := pld.Range(c.p, -60, -60)
			up, low := pld.Discretize(c.p, pld.Uniform(c.off, step, int64(math.Floor((lo-c.off)/step)), int64(math.Ceil((hi-c.off)/step))))
			u, l := newReader(up), newReader(low)
			if !low.SecondOrder {
				t.Errorf("%s, Δ = sd/%g: first order", c.name, div)
			}
			k := math.Round(0.4 * div)
			for _, x := range []float64{0, 0.5} {
				eps := c.off + (k+x)*step
				ld, _ := profiles.LogDelta(c.p, eps)
				d := math.Exp(ld)
				h := 1e-5 * c.sd
				f := (math.Exp(c.p.Tails(eps-h, 0).P) - math.Exp(c.p.Tails(eps+h, 0).P)) / (2 * h)
				above, _ := u.at(eps).Float64()
				below, _ := l.at(eps).Float64()
				// x = 0: 0 and −Δ²f(1/24 + 1/12) = −Δ²f/8. x = ½: B2 = −1/12, so +Δ²f/8 and
				// −Δ²f(1/24 − 1/24) = 0.
				unit := step * step * f / 8
				wantUp, wantLow := 0.0, 1.0
				if x == 0.5 {
					wantUp, wantLow = 1, 0
				}
				tol := c.tol * 32 / div
				if got := (above - d) / unit; math.Abs(got-wantUp) > tol {
					t.Errorf("%s, Δ = sd/%g, x = %g: upper error %.4f Δ²f/8, want %v", c.name, div, x, got, wantUp)
				}
				if got := (d - below) / unit; math.Abs(got-wantLow) > tol {
					t.Errorf("%s, Δ = sd/%g, x = %g: lower error %.4f Δ²f/8, want %v", c.name, div, x, got, wantLow)
				}
			}
		}
	}
}

// compose returns the law of n copies of l by brute force, on l's lattice, for a
// reader of δ: losses index·Step, offsets added.
func compose(l *pld.Law, n int) *pld.Law {
	lo, hi := l.Index[0], l.Index[len(l.Index)-1]
	one := make([]float64, hi-lo+1)
	for i, k := range l.Index {
		one[k-lo] = math.Exp(l.LogMass[i])
	}
	sum := []float64{1}
	for range n {
		next := make([]float64, len(sum)+len(one)-1)
		for i, x := range sum {
			if x < 1e-40 {
				continue
			}
			for j, y := range one {
				next[i+j] += x * y
			}
		}
		sum = next
	}
	out := &pld.Law{Offset: float64(n) * l.Offset, Step: l.Step, LogPInf: math.Inf(-1)}
	for i, x := range sum {
		if x > 0 {
			k := int64(i) + int64(n)*lo
			out.Index = append(out.Index, k)
			out.Loss = append(out.Loss, out.Offset+float64(k)*l.Step)
			out.LogMass = append(out.LogMass, math.Log(x))
		}
	}
	return out
}

// core.md §3.4 for T = 8 Gaussians, whose sum is a Gaussian: the errors follow
// the law, and the lower one is half the upper one.
func TestErrorLawComposed(t *testing.T) {
	const sigma, n = 2.0, 8
	p := gaussian(sigma)
	truth := must(profiles.NewGaussian(sigma / math.Sqrt(n)))
	for _, div := range []float64{4, 8} {
		step := 1 / sigma / div
		up, low := pld.Discretize(p, pld.Uniform(0, step, int64(-5/step), int64(5/step)))
		u, l := newReader(compose(up, n)), newReader(compose(low, n))
		for _, k := range []float64{4, 12, 24} {
			for _, x := range []float64{0, 0.5, 0.25} {
				eps := (k + x) * step
				ld, _ := profiles.LogDelta(truth, eps)
				h := 1e-5
				f := (math.Exp(truth.Tails(eps-h, 0).P) - math.Exp(truth.Tails(eps+h, 0).P)) / (2 * h)
				b2 := x*x - x + 1.0/6
				wantUp, wantLow := n/12.0-b2/2, n/24.0+b2/2
				above, _ := u.at(eps).Float64()
				below, _ := l.at(eps).Float64()
				gotUp, gotLow := (above-math.Exp(ld))/(step*step*f), (math.Exp(ld)-below)/(step*step*f)
				// core.md §3.4 measures 0.98 … 1.04 at sd/3 … sd/20 for Gaussians; the lower law has
				// the relative excess of first order that the larger of two depths leaves.
				if r := gotUp / wantUp; math.Abs(r-1) > 0.05 {
					t.Errorf("Δ = sd/%g, ε = %v: upper error is %.4f of the law", div, eps, r)
				}
				if r := gotLow / wantLow; math.Abs(r-1) > 0.1 {
					t.Errorf("Δ = sd/%g, ε = %v: lower error is %.4f of the law", div, eps, r)
				}
			}
		}
	}
}

// Range holds what it promises and is not much wider than needed.
func TestRange(t *testing.T) {
	for _, s := range subjects() {
		sup := s.p.Support()
		for _, depth := range []float64{-5, -40, -700} {
			lo, hi := pld.Range(s.p, depth, depth)
			if sup.Min > sup.Max { // no finite loss
				if !math.IsInf(lo, 1) || !math.IsInf(hi, -1) {
					t.Errorf("%s: range [%v, %v] of no finite loss", s.name, lo, hi)
				}
				continue
			}
			if math.IsNaN(lo) || math.IsNaN(hi) || lo > hi {
				t.Errorf("%s, %v: range [%v, %v]", s.name, depth, lo, hi)
				continue
			}
			x := s.p.Tails(hi, 0)
			finite := math.Exp(x.P) - math.Exp(sup.LogPInf)
			if x.P > depth+x.Err && finite > math.Exp(depth)+16*0x1p-53*math.Exp(sup.LogPInf) && hi < sup.Max {
				t.Errorf("%s, %v: log P(L > %v) = %v", s.name, depth, hi, x.P)
			}
			if x := s.p.Tails(lo, 0); x.PC > depth+x.ErrC && lo > sup.Min {
				t.Errorf("%s, %v: log P(L ≤ %v) = %v", s.name, depth, lo, x.PC)
			}
			// A tenth nearer to 0 the tail must be larger, or the end be that of the support.
			if hi > 0 && hi < sup.Max {
				if x := s.p.Tails(0.9*hi, 0); x.P < depth && !(math.Exp(sup.LogPInf) > 0) {
					t.Errorf("%s, %v: log P(L > ε) is %v already at 0.9·%v", s.name, depth, x.P, hi)
				}
			}
		}
	}
}

// Coarse is an upper law: it is above the profile, and so is its K(θ).
func TestCoarse(t *testing.T) {
	for _, s := range subjects() {
		c := pld.Coarse(s.p, -100, -60, 0.3, nil)
		r := newReader(c)
		lo, hi := pld.Range(s.p, -60, -60)
		if lo > hi {
			lo, hi = -1, 1
		}
		for i := range 40 {
			e := lo + (hi-lo)*float64(i)/40
			d, rel := s.truth(e, false)
			if d == nil {
				continue
			}
			if x := hp(0).Mul(r.at(e-c.LossErr), hp(1+rel+4*0x1p-53)); x.Cmp(d) < 0 {
				t.Errorf("%s: coarse δ(%v) = %.17g below %.17g", s.name, e, x, d)
			}
		}
		if !math.IsInf(s.p.Support().LogPInf, -1) || !(lo < hi) {
			continue
		}
		if d, ok := s.p.(*profiles.Discrete); ok && len(d.Atoms()) < 2 {
			continue
		}
		step := max(s.sd/30, (hi-lo)/4000)
		_, low := pld.Discretize(s.p, pld.Uniform(lo, step, 0, int64((hi-lo)/step)+1))
		for _, theta := range []float64{0.5, 1, 3, 8} {
			ku, eu := c.K(theta)
			kl, el := low.K(theta)
			if ku+eu < kl-el-theta*(c.LossErr+low.LossErr) {
				t.Errorf("%s: coarse K(%v) = %v is below the lower law's %v", s.name, theta, ku, kl)
			}
		}
	}
	// Gaussian: K(θ) = θ(θ+1)μ²/2 exactly; what lies above the range, e^-100, is not in it.
	for _, theta := range []float64{0.1, 1, 4, 10} {
		c := pld.Coarse(gaussian(2), -400, -60, 0.1, nil)
		k, err := c.K(theta)
		if want := theta * (theta + 1) / 8; k+err < want || k > want*1.1 {
			t.Errorf("coarse K(%v) = %v, exactly %v", theta, k, want)
		}
	}
}

// TestTransformOfRoundedLosses: a loss far below its offset is known to the rounding of the offset, and so is K.
func TestTransformOfRoundedLosses(t *testing.T) {
	const offset, step, theta = 1e6 + 0.3, 0.1, 40
	for i := int64(-10000003); i < -9999903; i++ {
		x := float64(i) * step
		l := &pld.Law{Offset: offset, Step: step, Index: []int64{i}, Loss: []float64{offset + x}, LogMass: []float64{0}, LogPInf: math.Inf(-1)}
		exact := hp(0).Mul(hp(float64(i)), hp(step))
		exact.Mul(exact.Add(exact, hp(offset)), hp(theta))
		k, err := l.K(theta)
		if d := exact.Sub(exact, hp(k)); d.Abs(d).Cmp(hp(err)) > 0 {
			t.Fatalf("K(%v) = %v ± %v is off by %v", theta, k, err, d)
		}
	}
}

func TestSpacing(t *testing.T) {
	atoms := func(xs ...float64) *profiles.Discrete {
		var as []profiles.Atom
		for _, x := range xs {
			m := -math.Log(float64(len(xs)))
			as = append(as, profiles.Atom{Loss: x, LogP: m, LogQ: m - x - 10})
		}
		restP, restQ := math.Inf(-1), 0.0
		if len(xs) == 0 {
			restP = 0
		}
		for _, a := range as {
			restQ -= math.Exp(a.LogQ)
		}
		return must(profiles.NewDiscrete(as, restP, math.Log1p(restQ), 0x1p-53, 1e-15))
	}
	for _, c := range []struct {
		d            *profiles.Discrete
		max          int64
		offset, step float64
		ok           bool
	}{
		{atoms(), 100, 0, 1, true},
		{atoms(3), 100, 3, 0, true},
		{atoms(-1, 1), 100, -1, 2, true},
		{atoms(-1, 0, 1), 100, -1, 1, true},
		{atoms(0, 2, 5), 100, 0, 1, true},
		{atoms(0.1, 0.2, 0.3, 0.7), 100, 0.1, 0.1, true},
		{atoms(0.1, 0.2*(1+8*0x1p-53), 0.3, 0.7*(1-8*0x1p-53)), 100, 0.1, 0.1, true},
		{atoms(0, 1, math.Sqrt2), 1000, 0, 0, false},
		{atoms(0, 1, 1000), 100, 0, 0, false},
		{atoms(0, 1e-9, 1), 1 << 20, 0, 0, false},
	} {
		o, s, ok := pld.Spacing(c.d, c.max)
		if ok != c.ok || ok && (math.Abs(o-c.offset) > 1e-15 || math.Abs(s-c.step) > 1e-14) {
			t.Errorf("Spacing(%v) = %v, %v, %v, want %v, %v, %v", c.d.Atoms(), o, s, ok, c.offset, c.step, c.ok)
			continue
		}
		if !ok || s == 0 {
			continue
		}
		up, low, on := pld.OnLattice(c.d, o, s)
		if !on {
			t.Errorf("%v is not on its own lattice", c.d.Atoms())
			continue
		}
		if len(up.Loss) != len(c.d.Atoms()) || !slices.Equal(up.Index, low.Index) {
			t.Errorf("laws have %d and %d losses, the profile %d", len(up.Loss), len(low.Loss), len(c.d.Atoms()))
		}
		for i, a := range c.d.Atoms() {
			if up.LogMass[i] < a.LogP || low.LogMass[i] > a.LogP || up.LogMass[i]-low.LogMass[i] > 1e-14*(1+math.Abs(a.LogP)) {
				t.Errorf("log mass %v lies not between %v and %v", a.LogP, low.LogMass[i], up.LogMass[i])
			}
			// On top of what the losses of the profile may be off by themselves.
			if own := c.d.Support().LossErr; math.Abs(up.Loss[i]-a.Loss) > up.LossErr-own {
				t.Errorf("loss %v is off %v by more than %v, of which %v are the profile's", up.Loss[i], a.Loss, up.LossErr, own)
			}
		}
		if _, _, on := pld.OnLattice(c.d, o+s/3, s); on && len(c.d.Atoms()) > 0 {
			t.Errorf("%v is on a shifted lattice", c.d.Atoms())
		}
	}
}

// core.md §3.5: at the offset the mass of the first cell has the likelihood ratio
// of its lattice point.
func TestSpikeOffset(t *testing.T) {
	p := sampled(gaussian(0.8), 0.001)
	for _, step := range []float64{1e-4, 9.7e-4} {
		o := pld.SpikeOffset(p, step)
		x := p.Tails(o+step/2, 0)
		if got := x.PC - x.QC; math.Abs(got-o) > 1e-9*step+x.ErrC {
			t.Errorf("step %v: offset %v, log likelihood ratio below its cell's end %v", step, o, got)
		}
		r := profiles.Reverse(p)
		o = pld.SpikeOffset(r, step)
		x = r.Tails(o-step/2, 0)
		if got := x.P - x.Q; math.Abs(got-o) > 1e-9*step+x.Err {
			t.Errorf("reversed, step %v: offset %v, log likelihood ratio above its cell's start %v", step, o, got)
		}
	}
}

// The top cell of a loss that ends beyond it holds a mass below float64: it stays
// in the upper law.
func TestDeepTopCell(t *testing.T) {
	p := profiles.Reverse(sampled(gaussian(1/0.04571525022747514), 0.9669961395232365))
	const o, step = 2.1971870642844467, 1.2139436759289726
	up, low := pld.Discretize(p, pld.Uniform(o, step, -3, 1))
	d, err := profiles.LogDelta(p, o) // about -1525
	for name, got := range map[string]float64{"upper": oracle.LogF(newReader(up).at(o)), "lower": oracle.LogF(newReader(low).at(o))} {
		if name == "upper" && got < d-err || name == "lower" && got > d+err {
			t.Errorf("%s: log δ = %v, want %v ± %v", name, got, d, err)
		}
	}
}

// A tiny mass at +∞ keeps its relative accuracy; disjoint supports and P = Q.
func TestInfiniteMass(t *testing.T) {
	for _, delta := range []float64{1e-5, 1e-17, 1e-250} {
		b := must(profiles.NewApproximate(1, delta))
		p := must(b.Pair(profiles.AddRemove))
		up, low := pld.Discretize(p, pld.Uniform(-1, 0.25, 0, 8))
		for _, l := range []*pld.Law{up, low} {
			// log δ is stored to half an ulp of it, and moved outwards by a few.
			if math.Abs(l.LogPInf-math.Log(delta)) > 20*0x1p-53*(1+math.Abs(math.Log(delta))) {
				t.Errorf("δ = %g: mass at +∞ is e^%v, want e^%v", delta, l.LogPInf, math.Log(delta))
			}
		}
		if !(low.LogPInf <= math.Log(delta) && math.Log(delta) <= up.LogPInf) {
			t.Errorf("δ = %g: masses at +∞ %v, %v are not on its sides", delta, low.LogPInf, up.LogPInf)
		}
	}
	disjoint := must(profiles.NewFinite([]float64{1, 0}, []float64{0, 1}))
	up, low, ok := pld.OnLattice(disjoint, 0, 1)
	if !ok || up.LogPInf != 0 || low.LogPInf > 0 || low.LogPInf < -1e-14 || len(up.Loss) != 0 || !math.IsInf(up.MaxLoss(), -1) {
		t.Errorf("disjoint supports: %v, %+v, %+v", ok, up, low)
	}
	// Q-mass at −∞ does not enter P.
	half := must(profiles.NewFinite([]float64{1, 0}, []float64{0.5, 0.5}))
	up, low, ok = pld.OnLattice(half, math.Ln2, 1)
	if !ok || !math.IsInf(up.LogPInf, -1) || math.Abs(up.LogMass[0]) > 1e-14 || math.Abs(low.LogMass[0]) > 1e-14 {
		t.Errorf("Q-mass at −∞: %v, %+v, %+v", ok, up, low)
	}
}

// withInfinity is a profile that reveals all with probability x, and is p otherwise.
type withInfinity struct {
	p profiles.Profile
	x float64
}

func (w withInfinity) Tails(eps, tol float64) profiles.Tails {
	t := w.p.Tails(eps, tol)
	rest, x := math.Log1p(-w.x), math.Log(w.x)
	t.P, t.PC, t.Q, t.QC = xmath.LogAdd(t.P+rest, x), t.PC+rest, t.Q+rest, xmath.LogAdd(t.QC+rest, x)
	slack := 8 * xmath.U * (1 + max(math.Abs(xmath.Finite(t.PC)), math.Abs(xmath.Finite(t.Q))))
	t.Err, t.ErrC = t.Err+slack, t.ErrC+slack
	return t
}

func (w withInfinity) Support() profiles.Support {
	s := w.p.Support()
	s.LogPInf, s.LogQInf = math.Log(w.x), math.Log(w.x)
	return s
}

// The lower law keeps the mass at +∞, and all of the rest.
func TestLowerLawWithInfiniteMass(t *testing.T) {
	for _, x := range []float64{1e-9, 1e-3} {
		p := withInfinity{gaussian(1), x}
		_, low := pld.Discretize(p, pld.Uniform(0, 0.05, -160, 160))
		if m := newReader(low).total(); !low.SecondOrder || !(math.Abs(m-1) < 1e-10) {
			t.Errorf("%g at +∞: a lower law of mass 1 %+.3g, second order %v", x, m-1, low.SecondOrder)
		}
	}
}

func ExampleDiscretize() {
	g, _ := profiles.NewGaussian(2)
	lo, hi := pld.Range(g, -40, -40)
	const step = 0.01
	upper, lower := pld.Discretize(g, pld.Uniform(0, step, int64(lo/step), int64(hi/step)+1))
	u, _, _ := upper.Tilted(4)
	l, _, _ := lower.Tilted(4)
	fmt.Printf("K(4) = 2.5 lies between %.4f and %.4f\n", l, u)
	// Output: K(4) = 2.5 lies between 2.4999 and 2.5002
}

func ExampleSpacing() {
	b, _ := profiles.NewRandomizedResponse(0.5, 4)
	p, _ := b.Pair(profiles.AddRemove)
	offset, step, ok := pld.Spacing(p.(*profiles.Discrete), 1<<20)
	fmt.Printf("%.4f %.4f %v\n", offset, step, ok)
	// Output: -1.6094 1.6094 true
}

func ExampleCoarse() {
	g, _ := profiles.NewGaussian(2)
	l := pld.Coarse(g, -100, -40, 0.2, nil)
	k, _ := l.K(1)
	fmt.Println(len(l.Loss) < 2000, k >= 0.25, k < 0.26)
	// Output: true true true
}

func ExampleOnLattice() {
	b, _ := profiles.NewPure(1)
	p, _ := b.Pair(profiles.AddRemove)
	upper, _, ok := pld.OnLattice(p.(*profiles.Discrete), -1, 2)
	fmt.Println(ok, upper.Index)
	// Output: true [0 1]
}

func ExampleRange() {
	g, _ := profiles.NewGaussian(2) // a loss of mean 1/8 and standard deviation 1/2
	lo, hi := pld.Range(g, -40, -40)
	fmt.Printf("all but e^-40 of the loss lies between %.2f and %.2f\n", lo, hi)
	// Output: all but e^-40 of the loss lies between -4.17 and 4.42
}

func ExampleUniform() {
	g := pld.Uniform(0, 0.25, -4, 4)
	fmt.Printf("from %v to %v\n", g.Offset+float64(g.Lo)*g.Step, g.Offset+float64(g.Hi)*g.Step)
	// Output: from -1 to 1
}

func ExampleSpikeOffset() {
	// The loss of this sampled mechanism piles up just above log(1 − q).
	const q = 0.01
	p := sampled(gaussian(0.5), q)
	o := pld.SpikeOffset(p, 1e-3)
	fmt.Printf("%.6f, above %.6f\n", o, math.Log1p(-q))
	// Output: -0.009752, above -0.010050
}
