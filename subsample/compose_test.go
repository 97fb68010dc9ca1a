package subsample

import (
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// composer composes k runs on a plain circular lattice: connect the dots and one
// FFT, absolute accuracy about 1e-15·k. For these tests only: package fourier
// has the certificate.
type composer struct {
	freq []complex128
	n    int
	step float64
	lo   int64
	inf  float64
}

func newComposer(p profiles.Profile, step, reach float64, n int) composer {
	half := int64(math.Round(reach / step))
	l, _ := pld.Discretize(p, pld.Uniform(0, step, -half, half))
	x := make([]float64, n)
	for i, lm := range l.LogMass {
		x[((l.Index[i]%int64(n))+int64(n))%int64(n)] += math.Exp(lm)
	}
	return composer{fourier.NewFFT(n).Coefficients(nil, x), n, step, -int64(n) / 4, math.Exp(l.LogPInf)}
}

// delta returns δ_k as a function; indices from lo on are read as negative.
func (c composer) deltaOf(k int) func(eps float64) float64 {
	z := make([]complex128, len(c.freq))
	for i, f := range c.freq {
		z[i] = cmplx.Pow(f, complex(float64(k), 0))
	}
	x := fourier.NewFFT(c.n).Sequence(nil, z)
	top := int64(c.n) + c.lo
	inf := -math.Expm1(float64(k) * math.Log1p(-c.inf))
	return func(eps float64) float64 {
		s := 0.0
		for j := top - 1; float64(j)*c.step > eps && j >= c.lo; j-- {
			v := x[(j+int64(c.n))%int64(c.n)] / float64(c.n)
			s += -math.Expm1(eps-float64(j)*c.step) * v
		}
		return s + inf
	}
}

func epsilonOf(f func(float64) float64, delta float64) float64 {
	lo, hi := 0.0, 60.0
	for range 50 {
		if mid := (lo + hi) / 2; f(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// must.md §7.6: k-fold compositions of the pairs A, B and C by a contour oracle.
// Connect the dots is above and converges as step²: two steps extrapolate.
//
// Not taken from there: the k = 10 entries of the heavy-tailed rows. For WW C
// the table has ε(1e-5) = 8.33784; the upper and lower laws of pld with step
// 0.004, convolved ten times term by term (no transform), enclose it in
// [8.33671, 8.33673].
func TestCompositionGolden(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	upper := func(s FixedSize) profiles.Profile { return ok(s.Apply(base, profiles.Substitute)).Directions[0].Upper }
	for _, c := range []struct {
		name        string
		p           profiles.Profile
		reach, step float64
		eps         [3]float64 // ε(1e-5) at k = 10, 100, 1000; 0 is not given
	}{
		{"WOR A", ok(wor.PaperPairNotABound(base)), 4, 1e-3, [3]float64{0.0978959650061, 0.340969344953, 1.19912900188}},
		{"WOR B", ok(wor.Attack(base)), 4, 1e-3, [3]float64{0.141980648803, 0.404724554331, 1.32967512505}},
		{"WOR C", upper(wor), 4, 1e-3, [3]float64{0.146191667175, 0.444288574303, 1.53393601172}},
		{"WR A", ok(wr.PaperPairNotABound(base)), 4, 1e-3, [3]float64{0.0979644358914, 0.341007504655, 1.19917447107}},
		{"WR B", ok(wr.Attack(base)), 4, 1e-3, [3]float64{0.144653154742, 0.407738294043, 1.33549622533}},
		{"WR C", ok(wr.Theorem5(base)), 10, 2e-3, [3]float64{0.235927823088, 0.564966685754, 1.62544383714}},
		{"OW A", ok(ow.PaperPairNotABound(base)), 10, 2e-3, [3]float64{0.130377645877, 0.366974899835, 1.23759477152}},
		{"OW B", ok(ow.Attack(base)), 30, 4e-3, [3]float64{0, 6.25986823787, 9.40840101779}},
		{"OW C", ok(ow.Theorem5(base)), 40, 5e-3, [3]float64{0, 12.0711598301, 17.8104258082}},
		{"WW B", ok(ww.Attack(base)), 30, 4e-3, [3]float64{0, 6.90281809725, 10.6369929277}},
		{"WW C", ok(ww.Theorem5(base)), 40, 5e-3, [3]float64{8.33672, 13.1940198846, 19.8585795977}},
		// must-gap.md §6, Richardson column.
		{"WR upper", upper(wr), 4, 1e-3, [3]float64{.148925, .447864, 1.543624}},
		// There 3.708519, 6.281888, 9.625189 with R6 stopped after three stages. The
		// optimum over all stages, ours, is a little lower near α = 1.
		{"OW upper", upper(ow), 30, 4e-3, [3]float64{3.708519, 6.28186, 9.624935}},
		// 4.004620, 6.924437, 10.843702 there, from a few fixed ways of sharing.
		{"WW upper", upper(ww), 16, 1e-2, [3]float64{4.004620, 6.924437, 10.843702}},
	} {
		var eps [2][3]float64
		for i, step := range []float64{2 * c.step, c.step} {
			n := int(math.Exp2(math.Ceil(math.Log2((2*c.reach + 12) / step))))
			f := newComposer(c.p, step, c.reach, n)
			for j, k := range []int{10, 100, 1000} {
				eps[i][j] = epsilonOf(f.deltaOf(k), 1e-5)
			}
		}
		for j, want := range c.eps {
			if want == 0 {
				continue
			}
			// Off the lattice δ is not smooth in the step, which the extrapolation
			// does not see: step²/8·(δ''/δ') ≲ step²·10.
			got := (4*eps[1][j] - eps[0][j]) / 3
			if math.Abs(got-want) > 10*c.step*c.step+2e-6*want {
				t.Errorf("%s: eps(1e-5) of 10, 100, 1000 runs: no. %d is %.9f, want %.9f", c.name, j, got, want)
			}
			if eps[1][j] < want*(1-3e-6) {
				t.Errorf("%s: connect the dots gives %v, below the exact %v", c.name, eps[1][j], want)
			}
		}
	}
}
