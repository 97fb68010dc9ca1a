package contour

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier/godsp"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

const prec = 300 // bits of the reference arithmetic

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func newBig() *big.Float { return new(big.Float).SetPrec(prec) }

// bigExp is e^x by halving the argument and Taylor's series.
func bigExp(x *big.Float) *big.Float {
	const halvings = 40
	r := newBig().SetMantExp(x, -halvings)
	sum, term := bf(1), bf(1)
	for k := 1; k < 40; k++ {
		term.Quo(term.Mul(term, r), bf(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// circular returns the n-point circular convolution of x and y.
func circular(x, y []*big.Float) []*big.Float {
	n := len(x)
	out := make([]*big.Float, n)
	for i := range out {
		out[i] = newBig()
	}
	m := newBig()
	for i, a := range x {
		if a.Sign() == 0 {
			continue
		}
		for j, b := range y {
			o := out[(i+j)%n]
			o.Add(o, m.Mul(a, b))
		}
	}
	return out
}

// The certificate's R covers the whole floating-point error of transform,
// powers, payoff and summation, measured against 300-bit arithmetic on the same
// float64 masses (core.md §6.3), and overstates it by the factor that an a-priori
// bound of the FFT must.
func TestRoundOffCoversMeasuredError(t *testing.T) {
	// ε is kept away from lattice points, where the window of n points, and with
	// it what wraps around, is ambiguous.
	const n = 48
	for _, c := range []struct {
		sigma, step float64
		runs        int64
		eps, theta  float64
		dp          bool // subsampled at 0.01
	}{
		{3, 0.25, 30, 4, 2, false},
		{30, 0.1, 1000, 2.53, 2, false},
		{30, 0.25, 1000, 3.5, 3, false},
		{300, 0.2, 100000, 3.5, 3, false},
		{3000, 0.25, 10000000, 3.5, 3, false},
		{0.5, 0.5, 4, 30, 2, false},
		{1, 0.1, 1000, 1.83, 5, true},
	} {
		var p profiles.Profile
		g, err := profiles.NewGaussian(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		p = g
		if c.dp {
			p = dpsgd(t, 0.01, c.sigma)
		}
		half := int64(max(3, 12/c.sigma/c.step))
		up, _ := pld.Discretize(p, pld.Uniform(0, c.step, -half, half))
		for name, way := range map[string]FFT{"fft": Gonum{}, "go-dsp": godsp.Transform, "direct": nil} {
			x := &folded{theta: c.theta, step: c.step, n: n}
			ok, work := false, 1e7
			switch {
			case way != nil:
				x.n = int64(way.Length(n))
				ok = x.multiply(t.Context(), x.tilt([]Factor{law(up, c.runs)}), way)
			default:
				ok = x.direct(t.Context(), x.tilt([]Factor{law(up, c.runs)}), &work)
			}
			if !ok {
				if name != "direct" {
					t.Errorf("%s: no composition", name)
				}
				continue
			}
			x.finish()
			r, _ := x.at(c.eps)
			exact := exactReading(up, c.theta, int(x.n), c.runs, c.eps)
			diff, wrong := math.Abs(r.s-exact), r.quad+r.round+r.tail
			if !(exact > 0) || diff > wrong {
				t.Errorf("%s σ=%v T=%v: |S−exact| = %.3g exceeds R = %.3g (S = %.3g)", name, c.sigma, c.runs, diff, wrong, exact)
			}
			if math.IsNaN(wrong) || wrong > 1e-3*exact {
				t.Errorf("%s σ=%v T=%v: R = %.3g says nothing about S = %.3g", name, c.sigma, c.runs, wrong, exact)
			}
		}
	}
}

// exactReading returns S of core.md §4.3 for the float64 masses that compose
// uses.
func exactReading(l *pld.Law, theta float64, n int, runs int64, eps float64) float64 {
	k, mean, _ := l.Tilted(theta)
	centre := int64(math.Round((mean - l.Offset) / l.Step))
	sp, _, _ := newSpectrum(l, float64(runs), theta, k, centre)
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = newBig()
	}
	for i, v := range sp.x {
		j := ((int(sp.d[i]) % n) + n) % n
		x[j].Add(x[j], bf(v))
	}
	var power []*big.Float
	for m := runs; m > 0; m >>= 1 {
		if m&1 == 1 {
			if power == nil {
				power = x
			} else {
				power = circular(power, x)
			}
		}
		if m > 1 {
			x = circular(x, x)
		}
	}
	// Position of index 0 of the sum: Σ T(o + cΔ).
	origin := newBig().Mul(bf(float64(centre)), bf(l.Step))
	origin.Add(origin, bf(l.Offset))
	origin.Mul(origin, bf(float64(runs)))
	gap := newBig().Sub(bf(eps), origin)
	q, _ := newBig().Quo(gap, bf(l.Step)).Float64()
	j0 := int64(math.Floor(q)) + 1
	sum := newBig()
	for i := range int64(n) {
		pos := newBig().Mul(bf(float64(j0+i)), bf(l.Step))
		pos.Add(pos, origin)
		pos.Sub(pos, bf(eps)) // l − ε > 0
		w := newBig()
		// The periods above come along: both geometric series.
		for q, s := range []float64{theta, theta + 1} {
			v := bigExp(newBig().Neg(newBig().Mul(bf(s), pos)))
			period := newBig().Mul(newBig().Mul(bf(s), bf(float64(n))), bf(l.Step))
			v.Quo(v, newBig().Sub(bf(1), bigExp(newBig().Neg(period))))
			if q == 0 {
				w.Add(w, v)
			} else {
				w.Sub(w, v)
			}
		}
		at := (((j0 + i) % int64(n)) + int64(n)) % int64(n)
		sum.Add(sum, w.Mul(w, power[at]))
	}
	s, _ := sum.Float64()
	return s
}

// Powers in log-polar form against 300-bit repeated squaring (core.md §6.2): the
// claimed bound covers the error, and at the frequencies that count, where the
// phase is about T^−½, the error itself stays below √T·u·16 — the table's 12,
// 111, 1.4e3, 8.9e3, 1.1e5 u for T = 10 … 1e9 are about 4√T.
func TestPowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int64{1, 2, 10, 1e3, 1e5, 1e7, 1e9, 1e12} {
		T := float64(count)
		worst := 0.0
		for i := range 60 {
			// |z|^T = e^−2 and a phase that counts; every third anywhere.
			phi := (rng.Float64() - 0.5) * 4 / math.Sqrt(T)
			if i%3 == 0 {
				phi = (rng.Float64() - 0.5) * 6
			}
			abs := math.Exp(-2 * rng.Float64() / T)
			z := complex(abs*math.Cos(phi), abs*math.Sin(phi))
			var f freq
			if !f.times(z, T, 0) {
				t.Fatalf("T=%v: z = %v was dropped", T, z)
			}
			m := math.Exp(f.re)
			sin, cos := math.Sincos(f.im)
			re, im := bigPower(z, count)
			diff := math.Hypot(m*cos-re, m*sin-im)
			mod := math.Hypot(re, im)
			if f.pow += 8 * 0x1p-53 * (1 + math.Abs(f.re)); diff > f.pow*mod*(1+1e-9) {
				t.Errorf("T=%v φ=%v: error %.3g of z^T exceeds %.3g", T, phi, diff/mod, f.pow)
			}
			if i%3 != 0 {
				worst = max(worst, diff)
			}
		}
		if limit := (16*math.Sqrt(T) + 64) * 0x1p-53; worst > limit {
			t.Errorf("T=%v: error %.3g, above 16√T·u = %.3g", T, worst, limit)
		}
	}
}

func bigPower(z complex128, n int64) (re, im float64) {
	a, b := bf(real(z)), bf(imag(z))
	pr, pi := bf(1), bf(0)
	mul := func(a, b, c, d *big.Float) (x, y *big.Float) {
		x = newBig().Sub(newBig().Mul(a, c), newBig().Mul(b, d))
		y = newBig().Add(newBig().Mul(a, d), newBig().Mul(b, c))
		return x, y
	}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			pr, pi = mul(pr, pi, a, b)
		}
		a, b = mul(a, b, a, b)
	}
	re, _ = pr.Float64()
	im, _ = pi.Float64()
	return re, im
}

// named is a transform that knows its library.
type named interface {
	FFT
	Name() string
}

// Both transforms stay within their a-priori bound, against a direct sum in
// 300-bit arithmetic whose roots of unity come from square roots.
func TestTransformError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, tr := range []named{Gonum{}, godsp.Transform} {
		for _, want := range []int{2, 20, 64, 100, 128, 180} {
			n := tr.Length(want)
			if n < want || n%2 != 0 {
				t.Errorf("%s: Length(%d) = %d", tr.Name(), want, n)
			}
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.Float64()
				if want%20 == 0 { // a narrow bump
					x[i] = math.Exp(-float64(i*i) / 8)
				}
			}
			z := tr.Coefficients(x)
			if len(z) != n/2+1 {
				t.Fatalf("%s: %d coefficients for length %d", tr.Name(), len(z), n)
			}
			cos, sin := roots(n)
			var err2, norm2 float64
			for k, v := range z {
				re, im := newBig(), newBig()
				for i, a := range x {
					j := i * k % n
					re.Add(re, newBig().Mul(bf(a), cos[j]))
					im.Sub(im, newBig().Mul(bf(a), sin[j]))
				}
				er, _ := newBig().Sub(re, bf(real(v))).Float64()
				ei, _ := newBig().Sub(im, bf(imag(v))).Float64()
				w := 2.0
				if k == 0 || 2*k == n {
					w = 1
				}
				err2 += w * (er*er + ei*ei)
				norm2 += w * (real(v)*real(v) + imag(v)*imag(v))
			}
			if got := math.Sqrt(err2 / norm2); got > tr.Eta(n) {
				t.Errorf("%s n=%d: error %.3g exceeds η = %.3g", tr.Name(), n, got, tr.Eta(n))
			}
		}
	}
}

// roots returns cos and sin of 2πj/n: e^{2πi/n} by Newton's iteration for the
// n-th root of 1 from its float64 value.
func roots(n int) (cos, sin []*big.Float) {
	s, c := math.Sincos(2 * math.Pi / float64(n))
	a, b := bf(c), bf(s)
	mul := func(a, b, c, d *big.Float) (x, y *big.Float) {
		x = newBig().Sub(newBig().Mul(a, c), newBig().Mul(b, d))
		y = newBig().Add(newBig().Mul(a, d), newBig().Mul(b, c))
		return x, y
	}
	for range 6 {
		// z ← z − (z − z^{1−n}·…)/n: for |z| ≈ 1, z ← z(1 − (zⁿ−1)/n).
		pr, pi := bf(1), bf(0)
		for range n {
			pr, pi = mul(pr, pi, a, b)
		}
		pr.Sub(pr, bf(1))
		inv := bf(float64(n))
		pr.Quo(pr, inv)
		pi.Quo(pi, inv)
		dr, di := mul(a, b, pr, pi)
		a.Sub(a, dr)
		b.Sub(b, di)
	}
	cos, sin = make([]*big.Float, n), make([]*big.Float, n)
	pr, pi := bf(1), bf(0)
	for j := range n {
		cos[j], sin[j] = pr, pi
		pr, pi = mul(pr, pi, a, b)
	}
	return cos, sin
}

// TestDroppedFrequenciesCount: frequencies that are left out may each have a product of e^dropLog, all of them in step with
// the payoff's transform, whose absolute values add up to more than its largest value.
func TestDroppedFrequenciesCount(t *testing.T) {
	const n, step, theta, eps = 1 << 18, 0.01, 1e-4, 3.005
	c := &folded{theta: theta, step: step, n: n, dropped: true, freqs: []freq{{k: n / 2, re: -40, abs: -40}}}
	c.finish()
	y, _, ok := c.place(eps)
	if !ok {
		t.Fatalf("ε = %v is in no cell", eps)
	}
	sum := 0.0 // of |W|, W the transform of e^{−θx} − e^{−(θ+1)x} at x = y, y + step, …
	for k := range n {
		turn := cmplx.Rect(1, 2*math.Pi*float64(k)/n)
		part := func(s float64) complex128 {
			return complex(math.Exp(-s*y), 0) / (1 - complex(math.Exp(-s*step), 0)*turn)
		}
		if k != n/2 {
			sum += cmplx.Abs(part(theta) - part(theta+1))
		}
	}
	want := math.Exp(dropLog) * sum / n
	if r, _ := c.at(eps); !(r.tail >= want) || sum/n < 1.5 {
		t.Errorf("tail %v, but %v of what is dropped (%v times e^%v)", r.tail, want, sum/n, dropLog)
	}
}
