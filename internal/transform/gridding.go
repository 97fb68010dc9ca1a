// Columns by Gaussian gridding (docs/theory/contour.md, "Columns"): Σ W_j e^{ikhℓ_j} at all k by one FFT.
//
// It assumes weights W ≥ 0 and losses as they are; their errors are the caller's. It returns values and bounds of
// what gridding and its rounding add.

package transform

// Theorem. Let M ≥ 4K be a power of 2, d = 2π/M, x_j = Mhℓ_j/2π = c_j + f_j with a whole c_j, a > 0, and
//
//	g_m = Σ_j W_j Σ_r e^{−a(f_j−r)²} over r in {−S+1, …, S} with c_j + r ≡ m modulo M,
//	F̃_k = √(a/π)·e^{(πk/M)²/a} Σ_m g_m e^{2πikm/M}.
//
// Then |F̃_k − Σ W_j e^{ikhℓ_j}| ≤ W(A_k + T_k) for |k| < K, W = ΣW_j, with τ = π²/(M²a),
//
//	A_k = Σ_{p≥1} e^{−τ(p²M² − 2pkM)} + e^{−τ(p²M² + 2pkM)},
//	T_k = 2√(a/π)·e^{k²τ}·Σ_{r≥S} e^{−ar²}.
//
// The periodic Gaussian Σ_l e^{−(y−2πl)²/4τ} has the Fourier coefficients √(τ/π)e^{−k²τ}; summed over the grid, F_{k+pM} comes
// in with e^{−(k+pM)²τ}, which makes A_k, and |F_m| ≤ W. T_k is what the cut kernels lack.
//
// Where log M(θ+it) is small against 1, an error relative to W is too much. Second differences have one that is relative
// to what they sum: with s_k = Σ W_j(e^{ikhℓ_j} − 1 − ikhℓ_j) and V_k = Σ v_j e^{ikhℓ_j}, v_j = 4W_j sin²(hℓ_j/2),
//
//	s_k = k·s_1 − Σ_{m=1}^{k−1} (k−m)V_m,
//
// as e^{i(k+1)x} − 2e^{ikx} + e^{i(k−1)x} = −4 sin²(x/2)e^{ikx}.
//
// Rounding. h and ℓ are floats, and ν = fl(Mh/2π) stands for the h of the theorem: frequencies are off by at most 2u of
// themselves. (1) Positions: ℓν = p + e exactly, by one FMA, and f = (p − ⌊p⌋) + e is off by 2u cells, which turns a term by at
// most 2u·2πk/M ≤ 3.2u, as k/M ≤ 1/4. (2) The kernel: fl(W·e^{−af²}) is off by 4u (exp by 2u), e^{2af} by 3u and so its r-th power
// by 4|r|u with the products, e^{−ar²} by (2 + 2ar²)u, their product by u: (7 + 4|r| + 2ar²)u. The mean over the kernel has
// E|r| ≤ 1 + 1/√(πa) and E ar² ≤ ½ + 2√(a/π) + a, which makes less than 20u for ½ ≥ a ≥ .15; it counts as 25u. (3) Adding up: each addition to a
// cell loses at most u of what it makes, and a cell counts once in each value, times √(a/π).
// (4) The FFT: gonumfft.Componentwise of Σ_m g_m, which is at most √(π/a)·W. (5) √(a/π), e^{(πk/M)²/a} with an exponent
// off by 4u, and the products: (8 + 4(πk/M)²/a)u; the weights v: 10u for |hℓ| ≤ π, with ν. With (1) they are below 32u and that exponent.
//
// Second differences. The argument of s_1 is off by 3u of itself with ν, which moves s_1 by at most 3u·h²ΣWℓ², and its terms round by
// a few u of as much, k times in s_k. An error of x = hℓ by 3u|x| moves v by 6u·W|x sin x|, and as |Σ_{m<k}(k−m)e^{imx}| ≤ k/|sin(x/2)|
// that moves s_k by at most 12u·k|x|W, which for |x| > π is below 4u·k·x²W. Together: 16u·k·h²ΣWℓ². Each of k additions
// rounds by u(|s_1| + |p_k|) in both parts, |p_k| ≤ kV: 4u(k|s_1| + ½k²V). Plain columns: real − W by 2uW; t·ΣWℓ and the sum by
// 2u·tΣW|ℓ|, and ν by 2u more of that. What ν does to s_k: |∂s/∂t| ≤ ΣW|ℓ|·min(t|ℓ|, 2), times 2u·t.

import (
	"math"
	"math/bits"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The kernel: the grid has at least 2·gridOver points for each frequency, and a kernel 2·gridHalf of them.
const (
	gridOver = 4  // steers: length for kernel
	gridHalf = 12 // steers: kernel for accuracy
)

// mostGrid bounds the length of a grid, and so the memory of a column while it is made: some 55 MB. steers: time for width.
const mostGrid = 1 << 20

// gridTerms returns about what a grid costs, in terms of a direct sum, +Inf where it would be too long.
func gridTerms(nodes, n int) float64 {
	m := gridLength(n)
	if m > mostGrid {
		return math.Inf(1)
	}
	return 20*float64(nodes) + float64(m)*math.Log2(float64(m))/8
}

// ColumnTerms returns about what n frequencies of a sum of so many nodes cost, by the cheaper way, in terms of a direct sum.
func ColumnTerms(nodes, n float64) float64 {
	return min(nodes*n, gridTerms(int(min(nodes, 1<<40)), int(min(max(n, 1), 1<<40))))
}

func gridLength(n int) int { return 1 << bits.Len(uint(2*gridOver*n-1)) }

// secondOrderSums are s_k for k < n, and the bounds of the complex error that their computation adds.
type secondOrderSums struct{ re, im, err []float64 }

var gridPlans [64]sync.Pool // of *fourier.FFT, by the logarithm of the length

// secondOrderGrid returns s_k at the frequencies kh, k < n; ok is false where the losses are too many periods away. half is S, and
// scale multiplies the bound of the theorem: gridHalf and 1 but in tests.
//
// Losses that hardly turn up to the last frequency are most of the mass where rare events make the others. They are summed by their
// moments, so that the errors of the grid are relative to the mass of the others.
func secondOrderGrid(loss, weight []float64, h float64, n, half int, scale float64) (_ secondOrderSums, ok bool) {
	slow := moments{reach: slowTurn / (h * float64(n))}
	fast, mass := make([]float64, 0, len(loss)), make([]float64, 0, len(loss))
	for j, l := range loss {
		if math.Abs(l) <= slow.reach {
			slow.add(weight[j], l/slow.reach)
		} else {
			fast, mass = append(fast, l), append(mass, weight[j])
		}
	}
	out, ok := secondOrderFast(fast, mass, h, n, half, scale)
	if ok {
		for k := range n {
			re, im, err := slow.at(float64(k) * h)
			out.re[k], out.im[k], out.err[k] = out.re[k]+re, out.im[k]+im, out.err[k]+err
		}
	}
	return out, ok
}

// slowTurn is up to which angle a loss is summed by moments, of which the last is of order lastMoment: what the series lacks is at
// most 1.1·slowTurn^31/31! of a weight, 2e-25 of its first term, as the bound of at needs.
const (
	slowTurn   = 2
	lastMoment = 30
)

// moments are Σ W y^m, m = 2 … lastMoment, of losses y·reach, |y| ≤ 1.
type moments struct {
	reach float64
	sums  [lastMoment + 1]xmath.Sum
}

func (m *moments) add(w, y float64) {
	p := w * y
	for i := 2; i <= lastMoment; i++ {
		p *= y
		m.sums[i].Add(p)
	}
}

// at returns Σ W(e^{itℓ} − 1 − itℓ), |tℓ| ≤ slowTurn, and the bound of its complex error. With x = t·reach, off by 2u, a term is off by (3m + 6)u of
// x^m/m!·ΣW|y|^m ≤ x^m/m!·ΣWy², and their sums by 4u of the whole, which makes (3x(e^x−1) + 10(e^x−1−x))u ≤ 20.6u·x² for x ≤ 2: 24u·x²ΣWy²
// together with what the series lacks.
func (m *moments) at(t float64) (re, im, err float64) {
	x := t * m.reach
	for i := lastMoment; i >= 2; i -= 2 {
		re = m.sums[i].Value()/factorial[i] - x*x*re
	}
	for i := lastMoment - 1; i >= 3; i -= 2 {
		im = m.sums[i].Value()/factorial[i] - x*x*im
	}
	return -x * x * re, -x * x * x * im, 24 * u * x * x * m.sums[2].Value()
}

var factorial = func() (f [lastMoment + 1]float64) {
	f[0] = 1
	for i := 1; i < len(f); i++ {
		f[i] = f[i-1] * float64(i)
	}
	return f
}()

// secondOrderFast is secondOrderGrid without moments.
func secondOrderFast(loss, weight []float64, h float64, n, half int, scale float64) (_ secondOrderSums, ok bool) {
	m := gridLength(n)
	nu := h * float64(m) / (2 * math.Pi)
	second := make([]float64, len(weight))
	// Direct sums: s_1, W, ΣWℓ, and bounds of ΣWℓ² and ΣW|ℓ|.
	var re1, im1, mass, first xmath.Sum
	var square, size float64
	for j, w := range weight {
		l := loss[j]
		x := h * l
		a, b := oscillation(x)
		sin := math.Sin(x / 2) // 1 − cos x loses its digits next to 2π
		second[j] = 4 * w * sin * sin
		re1.Add(-2 * w * a)
		im1.Add(w * b)
		mass.Add(w)
		first.AddProduct(w, l)
		square += w * l * l
		size += w * math.Abs(l)
	}
	plain, plainErr, ok := grid(loss, weight, nu, n, m, half, scale)
	if !ok {
		return secondOrderSums{}, false
	}
	v, vErr, _ := grid(loss, second, nu, n, m, half, scale)
	out := secondOrderSums{make([]float64, n), make([]float64, n), make([]float64, n)}
	s1 := complex(re1.Value(), im1.Value())
	w, wl, v0 := mass.Value(), first.Value(), real(v[0])
	var pRe, pIm, sRe, sIm xmath.Sum
	worst := 0.0 // of the V so far
	for k := range n {
		t := float64(k) * h
		// The frequencies of the grid are multiples of 2πν/M, off by 2u of them.
		slip := 2.1 * u * t * min(t*square, 2*size)
		kk := float64(k)
		bySecond := kk*(kk-1)/2*worst + 16*u*kk*h*h*square + 4*u*(kk*math.Hypot(real(s1), imag(s1))+kk*kk/2*v0)
		byPlain := plainErr[k] + 6*u*(w+t*size)
		if bySecond <= byPlain {
			out.re[k], out.im[k], out.err[k] = sRe.Value(), sIm.Value(), bySecond+slip
		} else {
			out.re[k], out.im[k], out.err[k] = real(plain[k])-w, math.FMA(-t, wl, imag(plain[k])), byPlain+slip
		}
		// s_{k+1} = s_k + s_1 − (V_1 + … + V_k).
		if k > 0 {
			pRe.Add(real(v[k]))
			pIm.Add(imag(v[k]))
			worst = max(worst, vErr[k])
		}
		sRe.Add(real(s1) - pRe.Value())
		sIm.Add(imag(s1) - pIm.Value())
	}
	return out, true
}

// grid returns Σ W_j e^{2πikx_j/M}, x_j = ℓ_jν, for k < n, and the bounds of its errors for these x_j; ok is false where some x_j is
// so large that its place in the grid is not known.
func grid(loss, weight []float64, nu float64, n, m, half int, scale float64) (f []complex128, err []float64, ok bool) {
	var farthest float64
	for _, l := range loss {
		farthest = max(farthest, math.Abs(l*nu))
	}
	eta := 0x1p-52 * farthest
	if !(eta < 1e-3) {
		return nil, nil, false
	}
	over := float64(m) / float64(2*n)
	a := math.Pi * (over - 0.5) / (over * float64(half))
	tails := make([]float64, 2*half) // e^{−ar²} for r = −half+1 … half
	for i := range tails {
		r := float64(i - half + 1)
		tails[i] = math.Exp(-a * r * r)
	}
	g := make([]float64, m)
	mask := m - 1
	kernel := make([]float64, 2*half)
	var mass, added float64 // added is the sum of what each addition to a cell made
	place := func(j int) {
		w := weight[j]
		// Exact: x = p + e. The whole part is found at p's own size, so that nothing is lost there.
		p := loss[j] * nu
		e := math.FMA(loss[j], nu, -p)
		c := math.Floor(p)
		x := (p - c) + e
		at := int(int64(c))
		q := math.Exp(2 * a * x)
		up := w * math.Exp(-a*x*x)
		down := up / q
		for r := range half {
			kernel[half-1+r] = up * tails[half-1+r]
			up *= q
		}
		kernel[2*half-1] = up * tails[2*half-1]
		for r := 1; r < half; r++ {
			kernel[half-1-r] = down * tails[half-1-r]
			down /= q
		}
		if first := (at - half + 1) & mask; first+2*half <= m {
			cells := g[first : first+2*half]
			var even, odd float64
			for i := 0; i < 2*half; i += 2 {
				cells[i] += kernel[i]
				cells[i+1] += kernel[i+1]
				even += cells[i]
				odd += cells[i+1]
			}
			added += even + odd
		} else {
			for i, x := range kernel {
				g[(first+i)&mask] += x
				added += g[(first+i)&mask]
			}
		}
		mass += w
	}
	// From the ends inwards, as what is added late is rounded less often.
	for i, j := 0, len(weight)-1; i <= j; {
		if weight[i] <= weight[j] {
			place(i)
			i++
		} else {
			place(j)
			j--
		}
	}
	k := bits.Len(uint(m)) - 1
	plan, ok := gridPlans[k].Get().(*fourier.FFT)
	if !ok {
		plan = fourier.NewFFT(m)
	}
	f = plan.Coefficients(nil, g)[:n]
	gridPlans[k].Put(plan)

	front := math.Sqrt(a / math.Pi)
	rounding := 25 + gonumfft.Componentwise(m)/u
	if mass > 0 {
		rounding += front * added / mass
	}
	var cut float64
	for r := half; r < half+64; r++ {
		x := float64(r) - eta
		cut += math.Exp(-a * x * x)
	}
	tau := math.Pi * math.Pi / a
	err = make([]float64, n)
	for k := range f {
		x := float64(k) / float64(m)
		raise := math.Exp(tau * x * x)
		alias := 0.0
		for p := 1.0; p <= 3; p++ {
			alias += math.Exp(-tau*(p*p-2*p*x)) + math.Exp(-tau*(p*p+2*p*x))
		}
		f[k] = complex(front*raise*real(f[k]), -front*raise*imag(f[k]))
		err[k] = mass * (scale*1.001*(alias+2*front*raise*cut) + u*raise*rounding*(1+1e-3) + u*(32+4*tau*x*x))
	}
	return f, err, true
}
