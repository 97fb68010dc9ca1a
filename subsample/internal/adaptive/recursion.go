package adaptive

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
	"gonum.org/v1/gonum/dsp/fourier"
)

// The recursion over data configurations (docs/theory/subsampling.md §10). G_k(α), the largest
// hockey-stick divergence of k-step adaptive protocols, satisfies
//
//	G_k(α) = sup over configurations of E_P[G_{k−1}(αe^{−L})],  G_0 = (1−α)₊;
//
// it is convex, decreasing, and symmetric, G(α) = 1 − α + αG(1/α), as the
// relation is. Replacing the configurations by laws that dominate them gives
// upper bounds, by laws of concrete data sets below them a concrete attack.

// A recursion runs G on α = e^{i·step}, i = 0..top, multiplied by e^{cx}: with c
// the slope of −log δ where δ is asked, what is transformed is level there and
// the transform's error is small relative to δ.
type recursion struct {
	step  float64
	c     float64
	laws  []massLaw
	join  func(values [][]float64, g []float64) // sets G, given each law's expectations
	upper bool                                  // round up, else down
	joint *joint                                // that join is of, nil if it is a mere maximum
}

// perPoint and perValue are what a point of a law's transform takes and a member's value at one, measured,
// in the unit of parallel.WithWork. They decide where a limit ends a recursion, and prove nothing.
const (
	perPoint = 2.5
	perValue = 0.25
)

// compared returns the work of the comparisons since it was asked last.
func (r recursion) compared() float64 {
	if r.joint == nil {
		return 0
	}
	return perValue * float64(r.joint.values.Swap(0))
}

// size is how many lattice points a transform holds, with losses of a step up to reach and down to −low, of which
// those below −cut count as −cut.
func (r recursion) size(top, reach, low int) (size, cut int) {
	// G decreases, so that a loss below −cut may count as −cut, or be left out of a
	// lower bound; it is rare, and G there is e^−5 times that at 0.
	cut = low
	if r.c > 0 {
		cut = int(min(float64(low), 5/(r.c*r.step)+1))
	}
	return top + cut + reach + 1, cut
}

// stepPrice is what the transforms of a step take.
func stepPrice(size, laws int) float64 {
	return perPoint * float64(gonumfft.Length(size)) * float64(laws+1)
}

// run replaces G by G after k more steps. What g holds after an error, that of a
// cancelled context, is of no use.
// It is long because the buffers of all steps are made once, before the loop over them.
func (r recursion) run(ctx context.Context, g []float64, k int64) error {
	top := len(g) - 1
	reach, low := 0, 0
	for _, l := range r.laws {
		for _, i := range l.index {
			reach, low = max(reach, i), max(low, -i)
		}
	}
	size, cut := r.size(top, reach, low)
	n := gonumfft.Length(size)
	eta := gonumfft.Eta(n)
	fft := fourier.NewFFT(n)
	freq := make([][]complex128, len(r.laws))
	buf := make([]float64, n)
	// A law's transform has an error of eta relative to its 2-norm (see gonumfft.Eta), each
	// of the others relative to what they transform.
	spread := 0.0
	for i, l := range r.laws {
		clear(buf)
		for j, p := range l.mass {
			at := l.index[j]
			if at < -cut {
				if !r.upper {
					continue
				}
				at = -cut
			}
			buf[(at+n)%n] += p * math.Exp(r.c*float64(at)*r.step)
		}
		sum, square := 0.0, 0.0
		for _, v := range buf {
			sum += v
			square += v * v
		}
		spread = max(spread, 3*sum+math.Sqrt(float64(n)*square))
		freq[i] = fft.Coefficients(nil, buf)
	}
	weight := make([]float64, size) // of index i − reach
	for i := range weight {
		weight[i] = math.Exp(r.c * float64(i-reach) * r.step)
	}
	scale := make([]float64, top+1) // of what a transform returns
	for i := range scale {
		scale[i] = 1 / float64(n) / weight[i+reach]
	}
	alpha, minus := make([]float64, reach+1), make([]float64, reach+1) // α and 1 − α
	for i := range alpha {
		x := -float64(i) * r.step
		alpha[i], minus[i] = math.Exp(x), -math.Expm1(x)
	}
	out := make([][]float64, len(r.laws))
	for i := range out {
		out[i] = make([]float64, n)
	}
	f := make([]complex128, n/2+1)
	back := make([]*fourier.FFT, len(r.laws)) // a plan serves one goroutine
	z := make([][]complex128, len(r.laws))
	for i := range back {
		back[i], z[i] = fourier.NewFFT(n), make([]complex128, n/2+1)
	}
	// Weights, α and masses have relative errors of a few u times their exponents.
	rounding := 32 * xmath.U * (4 + (1+r.c)*float64(size)*r.step)
	sign := 1.0
	if !r.upper {
		sign = -1
	}
	price := stepPrice(size, len(r.laws))
	if _, left := parallel.Work(ctx); float64(k)*price > left {
		return parallel.ErrWork
	}
	for done := range k {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := parallel.Spend(ctx, price+r.compared()); err != nil {
			return err
		}
		clear(buf)
		norm := 0.0
		for i := range weight {
			var v float64
			switch j := i - reach; {
			case j > top && r.upper:
				v = g[top]
			case j > top: // at least 0
			case j >= 0:
				v = g[j]
			case -j > top && !r.upper:
				v = minus[-j]
			default:
				v = minus[-j] + alpha[-j]*g[min(-j, top)]
			}
			v *= weight[i]
			norm += v * v
			buf[(i-reach+n)%n] = v
		}
		fft.Coefficients(f, buf)
		parallel.Do(len(r.laws), func(l int) {
			for i, v := range f {
				z[l][i] = v * freq[l][i]
			}
			back[l].Sequence(out[l], z[l])
			for i := range g {
				out[l][i] = out[l][i]*scale[i] + r.laws[l].inf
			}
		})
		slack := eta * math.Sqrt(norm) * spread
		r.join(out, g)
		for i, v := range g {
			v = v*(1+sign*rounding) + sign*slack/weight[i+reach]
			switch {
			case r.upper:
				g[i] = max(0, v) // or no number, which Upper refuses
			case v > 0:
				g[i] = v
			default: // an overflow too
				g[i] = 0
			}
		}
		if done%64 == 63 || done == k-1 {
			parallel.Progress(ctx, done+1)
		}
	}
	return nil
}

// What is known about one step of a scheme (§10, from §3 and §4).

// A share splits one step's bound for α ≥ 1: it is at most
// p_1·∫[N(x) − a·N(z) − b·N(x')]₊ + rest wherever the other record z of the
// first copy is (docs/theory/subsampling.md §10).
type share struct{ logA, logB, rest float64 }

// A Step is what is known about one step, for any distance theta between a record and its
// substitute, in units of the noise: [Single] or [Repeated].
type Step func(theta float64) stepBound

// A stepBound is what is known about one step: noise 1, θ = |x − x'|.
type stepBound struct {
	theta, p1 float64
	copies    float64                   // expected number: copies·θ is the scale of the loss
	shares    func(eps float64) []share // any of them holds
	single    bool                      // never more than one copy
}

// Single is sampling without replacement.
func Single(rate float64) Step {
	return func(theta float64) stepBound { return singleStep(theta, rate) }
}

func singleStep(theta, rate float64) stepBound {
	logOdds := math.Log1p(-rate) - xmath.Log(rate)
	return stepBound{theta: theta, p1: rate, copies: rate, single: true, shares: func(eps float64) []share {
		if eps == 0 {
			return []share{{math.Inf(-1), 0, 0}}
		}
		l := xmath.Log(math.Expm1(eps))
		// The two terms may cancel.
		return []share{{l + logOdds - 8*xmath.U*(1+math.Abs(l)+math.Abs(logOdds)), eps, 0}}
	}}
}

// Repeated is a scheme with several copies (docs/theory/subsampling.md §10):
// with probability rate the record is eligible, and then has the given law of
// copies; else, where the eligible record would have been, another one is. At
// α = e^eps the masses of all others are those of α' = α + odds·(α−1).
//
// The copies after the first count as far apart as they can be, as in R6. The
// first copy's share of the mass without a copy is that which R6 gives it when
// z = x', or all of it.
func Repeated(law copies.Law, rate, odds float64) Step {
	return func(theta float64) stepBound { return repeatedStep(law, theta, rate, odds) }
}

func repeatedStep(law copies.Law, theta, rate, odds float64) stepBound {
	c := copies.NewGaussianWR(law, theta)
	up := make([]float64, len(c.P)) // p_u and the rounding of a term with it, from above
	for u := range up {
		up[u] = rate * c.P[u] * math.Exp(law.Err[u]) * (1 + 1e-12)
	}
	p1 := up[1]
	lost := rate * math.Exp(law.LogAbove[len(law.LogP)])
	// normal is Φ̄(t − s) − e^l·Φ̄(t) from above, e^l the likelihood ratio of s at t.
	normal := func(s, t, l float64) float64 {
		p := math.Exp(xmath.LogNormalTail(t - s))
		// Rounding of t moves the first term by t² u, that of l the second, which is
		// the smaller one.
		return p - math.Exp(l+xmath.LogNormalTail(t)) + 16*xmath.U*(4+t*t+s*s+math.Abs(l))*p
	}
	alone := func(u int, eps float64) float64 {
		s := float64(u) * theta
		return up[u] * normal(s, s/2+eps/s, eps)
	}
	mean := 0.0
	for u, p := range c.P {
		mean += float64(u) * p
	}
	return stepBound{theta: theta, p1: p1, copies: rate * mean, shares: func(eps float64) []share {
		inner := eps // log α'
		if odds > 0 {
			inner = math.Log1p(math.Expm1(eps) * (1 + odds))
		}
		all := share{math.Inf(-1), eps, lost}
		for u := 2; u <= c.Last(); u++ {
			all.rest += alone(u, inner)
		}
		if eps == 0 {
			return []share{all}
		}
		// (α'−1)p_0/p_1 without a copy, and α'−α of other records in its place.
		l := xmath.Log(math.Expm1(eps))
		all.logA = l + xmath.LogAdd(math.Log1p(odds)+law.LogNone-law.LogP[1], xmath.Log(odds)) - law.EtaErr - law.Err[1] -
			8*xmath.U*(1+math.Abs(l)+math.Abs(law.LogNone)+math.Abs(law.LogP[1])+math.Log1p(odds))
		t, dt, i := c.Threshold(inner, 4*xmath.U*(1+inner))
		t -= dt // any threshold below R6's is allowed
		log1 := c.Exponent(1, t)
		if !(log1 >= 0) { // rounding of t
			return []share{all}
		}
		part := share{math.Inf(-1), min(eps, log1), lost}
		if log1 > eps {
			part.logA = min(all.logA, eps+xmath.Log(math.Expm1(log1-eps))-8*xmath.U*(1+eps+theta*(t+theta))/min(1, log1-eps))
		}
		for u := 2; u <= c.Last(); u++ {
			if u > i {
				part.rest += alone(u, inner)
				continue
			}
			part.rest += up[u] * normal(float64(u)*theta, t, c.Exponent(u, t))
		}
		return []share{part, all}
	}}
}

// at returns the bound of a configuration, from above. The triangle is in units
// of the ball's radius.
func (s stepBound) at(ways []share, g triangle) float64 {
	g = triangle{g.s * s.theta / 2, g.t * s.theta / 2, g.r * s.theta / 2}
	h := math.Inf(1)
	for _, w := range ways {
		if w.rest >= h {
			continue
		}
		h = min(h, (s.p1*math.Exp(max(-700, g.excess(w.logA, w.logB)))+w.rest)*(1+1e-12))
	}
	return h
}

// corner returns the bound where z = x', and where z = x, in closed form.
func (s stepBound) corner(g profiles.Gaussian, ways []share) (near, reverse float64) {
	delta := func(eps float64) float64 {
		l, _ := profiles.LogDelta(g, eps)
		return math.Exp(l)
	}
	near, reverse = math.Inf(1), math.Inf(1)
	for _, w := range ways {
		near = min(near, s.p1*delta(xmath.LogAdd(w.logA, w.logB))+w.rest)
		r := 0.0
		if w.logA < 0 {
			l := xmath.Log1mExp(w.logA)
			r = math.Exp(l) * delta(w.logB-l)
		}
		reverse = min(reverse, s.p1*r+w.rest)
	}
	return near, reverse
}

// Proof (docs/theory/subsampling.md §10): a step.
//
// The step. `E_law[G(αe^{−L})]` is a convolution in log α, by FFT on `G(e^x)e^{cx}` with c the slope of −log δ at the ε
// of interest, so that the transform's error, counted in the 2-norm, is small relative to δ. Only x ≥ 0 is stored;
// symmetry gives the rest. Beyond the top of the lattice G counts as its value there, and losses below −5/c as that:
// both are upper bounds because G falls. Losses that k steps exceed with probability e^−9·δ count as infinite. Upper
// bounds of G at the lattice points are joined by chords, which keeps the bound convex. Rounding in the masses is a
// displacement of the loss by a few units per step, added at the end.

// Theory (docs/theory/accuracy.md §12): the errors of the recursion, all on the safe side.
//
//   - the integral Φ over a triangle: tangents of the log-concave marginal above, chords below; intervals halved until
//     both agree to 1.2e-3. Laws that must dominate are built for a shift 2e-4 larger.
//   - rounding of the marginal and its slope: raises the tangents; where nothing is left the triangle is flattened, or
//     the third Gaussian left out.
//   - cells in place of configurations: each cell's worst triangle is dominated at every node by a mixture of the seven
//     laws, after moving 1e-7 of weight to the worst, with 1e-11 to spare.
//   - nodes 3 % of the loss apart, lattice steps: chords of convex functions are above them; up to 1e-3 of ε.
//   - the largest of the mixtures, by ranges: 64 u of the largest value is added.
//   - losses of probability below e^−9 of δ in all steps: count as infinite.
//   - transforms: 14 u·log₂n of the 2-norms, added to G at each step after undoing the tilt.
//   - weights e^{cx}, masses: a relative 32 u·(4 + largest exponent) at each step.
//   - masses that do not sum to 1: 4e-12 more mass at loss 0 in every step; in the profile a displacement of the loss by
//     8 u over the mass at 0.
