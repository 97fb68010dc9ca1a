package positive

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// This file chooses grids. Nothing in it is part of a proof: any grid gives laws above and below.

const (
	cutShare  = 1e-14 // of δ: where grids end
	softShare = 1e-4  // of δ: what lies so deep may be coarse
	kappa     = 3.0   // points per width of the middle, over those per unit of log
	coarse    = 0.35  // unit of the sketches
	backdrop  = 0.8   // unit of the grids away from what is asked
	broadLogs = 500   // cells of the first look at a sum
	broadMid  = 300
)

// broad returns a grid that covers a sum or product whatever its shape.
func broad(op operation, a, b *Law) []float64 {
	join := func(x, y float64) float64 {
		if op == add {
			return x + y
		}
		return x * y
	}
	lo, hi := join(a.X[0], b.X[0]), join(a.X[len(a.X)-1], b.X[len(b.X)-1])
	if a.X[0] == 0 || b.X[0] == 0 { // the first positive value
		lo = hi
		for _, l := range []*Law{a, b} {
			for _, x := range l.X {
				if x > 0 {
					lo = min(lo, x)
					break
				}
			}
		}
	}
	ma, wa := a.middle()
	mb, wb := b.middle()
	mid, wide := join(ma, mb), math.Hypot(wa, wb)
	if op == multiply {
		wide = math.Hypot(wa*mb, wb*ma)
	}
	var g []float64
	if lo > 0 && hi > lo {
		step := (xmath.Log(hi) - xmath.Log(lo)) / broadLogs
		for i := range broadLogs {
			g = append(g, lo*math.Exp(step*float64(i)))
		}
	}
	for i := range broadMid {
		x := mid + wide*math.Sinh(8*(2*float64(i)/(broadMid-1)-1))/4
		if x > lo && x < hi {
			g = append(g, x)
		}
	}
	// Deep in the tails: both operands far out by the shares of their variances, or one alone.
	for k, l := range []*Law{a, b} {
		if k == 1 && a == b {
			break
		}
		m, w, om, ow := ma, wa, mb, wb
		if k == 1 {
			m, w, om, ow = mb, wb, ma, wa
		}
		both := func(x float64) float64 { return join(x, om+(x-m)*(ow/w)*(ow/w)) }
		if op == multiply {
			r := (ow / om) * (m / w)
			both = func(x float64) float64 { return x * om * math.Pow(x/m, r*r) }
		}
		for i := 1; i < len(l.X); i++ {
			for _, s := range [4]float64{0, 0.25, 0.5, 0.75} {
				x := l.X[i-1] + s*(l.X[i]-l.X[i-1])
				for _, v := range [2]float64{both(x), join(x, om)} {
					if v > lo && v < hi {
						g = append(g, v)
					}
				}
			}
		}
	}
	g = append(g, lo)
	return distinct(g)
}

// distinct sorts and drops what is next to equal.
func distinct(g []float64) []float64 {
	slices.Sort(g)
	out := g[:0]
	for _, x := range g {
		if n := len(out); n == 0 || x-out[n-1] > 1e-13*x {
			out = append(out, x)
		}
	}
	return out
}

// middle returns the median and half the range from 16 to 84 %.
func (l *Law) middle() (median, wide float64) {
	total := 0.0
	for _, m := range l.Mass {
		total += m
	}
	q := [3]float64{}
	at := 0
	sum := 0.0
	for i, m := range l.Mass {
		sum += m
		for at < 3 && sum >= total*[3]float64{0.16, 0.5, 0.84}[at] {
			q[at] = l.X[i]
			at++
		}
	}
	return q[1], max((q[2]-q[0])/2, 1e-9*q[1])
}

// reach returns E(X − x)₊ right of the mean and E(x − X)₊ left of it, at every value.
func (l *Law) reach(mean float64) []float64 {
	h := make([]float64, len(l.X))
	m, v := 0.0, l.Top
	for i := len(l.X) - 1; i >= 0; i-- {
		if i+1 < len(l.X) {
			v += m * (l.X[i+1] - l.X[i])
		}
		if l.X[i] >= mean {
			h[i] = v
		}
		m += l.Mass[i]
	}
	m, v = 0, 0
	for i := range l.X {
		if i > 0 {
			v += m * (l.X[i] - l.X[i-1])
		}
		if l.X[i] < mean {
			h[i] = v
		}
		m += l.Mass[i]
	}
	return h
}

// progress returns how many units of the plain rule lie left of each value: steps of log h, less
// where h is far below δ, and of the width of the middle. Values beyond the cut count nothing.
func (l *Law) progress(mean float64, t Target) []float64 {
	h := l.reach(mean)
	median, wide := l.middle()
	soft, cut := softShare*t.Delta*mean, cutShare*t.Delta*mean
	y := make([]float64, len(l.X))
	for i := 1; i < len(l.X); i++ {
		a, b := h[i-1], h[i]
		d := 0.0
		if a > cut || b > cut {
			if a > 0 && b > 0 && (l.X[i-1] >= mean) == (l.X[i] >= mean) {
				d = math.Abs(xmath.Log(max(a, cut) / max(b, cut)))
			}
			d *= math.Sqrt(min(1, max(max(a, b)/soft, 1./50)))
			gap := l.X[i] - l.X[i-1]
			if off := math.Abs((l.X[i]+l.X[i-1])/2-median) / wide; off < 6 {
				d = math.Hypot(d, min(3, kappa*gap/wide)*math.Exp(-off*off/16))
			}
		}
		y[i] = y[i-1] + d
	}
	return y
}

// uniform returns about n values at equal steps of the plain rule.
func uniform(l *Law, mean float64, t Target, n int) []float64 {
	return spaced(l.X, l.progress(mean, t), float64(n))
}

// spaced returns about n values of x at equal steps of y, which grows with x.
func spaced(x, y []float64, n float64) []float64 {
	total := y[len(y)-1]
	if !(total > 0) {
		return slices.Clone(x[:1])
	}
	step := total / n
	var g []float64
	next := 0.0
	for i := 0; i+1 < len(x); i++ {
		for d := y[i+1] - y[i]; d > 0 && next < y[i+1]; next += step {
			if v := x[i] + (x[i+1]-x[i])*max(0, next-y[i])/d; v > 0 && (len(g) == 0 || v > g[len(g)-1]*(1+1e-13)) {
				g = append(g, v)
			}
		}
	}
	for i := len(x) - 1; i > 0; i-- {
		if y[i-1] < total {
			if len(g) == 0 || x[i] > g[len(g)-1]*(1+1e-13) {
				g = append(g, x[i])
			}
			break
		}
	}
	return g
}

// thinned returns the law with fewer values, by the plain rule.
func (l *Law) thinned(mean float64, t Target) *Law {
	y := l.progress(mean, t)
	unit := coarse
	if t.At > 0 {
		unit *= 2 // one point is asked, and many times
	}
	g := spaced(l.X, y, max(8, y[len(y)-1]/unit))
	if len(g) < 2 || len(g) >= len(l.X) {
		return l
	}
	return combine(add, l, &Law{X: []float64{0}, Mass: []float64{1}}, g, false)
}

// curvature sets ψ at the result: bumps of unit area where E(M − α)₊ = δ and E(1 − αM)₊ = δ, with
// what an error of δ there is in units of the error of log α that is asked for. A law of fewer than two
// values, as next to no noise leaves, has no place for a bump.
func curvature(l *Law, psi []float64, t Target) {
	n := len(l.X)
	if n < 2 {
		return
	}
	// Right: δ(K) = E(X − K)₊ falls; dδ/d log K = −K·Q(X > K).
	right, tailRight := l.right(t.Delta)
	epsRight := xmath.Log(max(right, 1e-300))
	// Left: δ(K) = 1 − α·E min(…) = E(K − X)₊/K; dδ/d log α = −E[X; X < K]/K.
	left, tailLeft, meanLeft := l.left(t.Delta)
	epsLeft := -xmath.Log(max(left, 1e-300))
	_, wide := l.middle()
	bump := func(at, weight, fold float64) {
		i, _ := slices.BinarySearch(l.X, at)
		i = min(max(i, 1), n-1)
		w := max(min(0.15*wide, 0.7*fold), l.X[i]-l.X[i-1])
		for j, x := range l.X {
			d := (x - at) / w
			psi[j] += weight * math.Exp(-d*d/2) / (w * math.Sqrt(2*math.Pi))
		}
	}
	if t.At > 0 {
		tail := 0.0
		for i := n - 1; i > 0 && l.X[i] > t.At; i-- {
			tail += l.Mass[i]
		}
		h := max(l.Above(t.At), t.Delta)
		bump(t.At, 1/(h*t.Relative), h/max(tail, 1e-300))
		return
	}
	if tailRight > 0 && right > 0 {
		bump(right, 1/(right*tailRight*t.Relative*max(math.Abs(epsRight), leastEps)), t.Delta/tailRight)
	}
	if meanLeft > 0 && left > 0 {
		// An error Δ of E(K − X)₊ is one of Δ/K of δ, and of Δ/E[X; X<K] of ε.
		bump(left, 1/(meanLeft*t.Relative*max(math.Abs(epsLeft), math.Abs(epsRight)/4, leastEps)), t.Delta*left/tailLeft)
	}
}

// pull adds to ψ of an operand what its curvature is worth in the result.
func pull(op operation, a *Law, psiA []float64, b *Law, r *Law, psi []float64) {
	for i, x := range a.X {
		k, sum := 0, 0.0
		for j, y := range b.X {
			v, w := x+y, 1.0
			if op == multiply {
				v, w = x*y, y*y
			}
			for k+1 < len(r.X) && r.X[k+1] <= v {
				k++
			}
			if k+1 >= len(r.X) {
				break
			}
			if v < r.X[k] {
				continue
			}
			s := (v - r.X[k]) / (r.X[k+1] - r.X[k])
			sum += b.Mass[j] * w * (psi[k] + s*(psi[k+1]-psi[k]))
		}
		psiA[i] += sum
	}
}

// A shape says where the points of a node's grid are to be: how much weight lies left of
// each value, by what is asked and by the plain rule.
type shape struct {
	x, psi, weight, plain []float64
	size                  float64 // ∫(density·ψ)^{1/3}
}

func newShape(l *Law, psi []float64, mean float64, t Target) shape {
	n := len(l.X)
	s := shape{x: l.X, psi: psi, weight: make([]float64, n), plain: l.progress(mean, t)}
	density := func(i int) float64 {
		a, b := max(i-1, 0), min(i+1, n-1)
		w := (l.X[b] - l.X[a]) / float64(max(b-a, 1)) * 1
		if w <= 0 {
			return 0
		}
		return l.Mass[i] / w
	}
	last := 0.0
	for i := range n {
		p := math.Cbrt(density(i) * psi[i])
		if i > 0 {
			s.weight[i] = s.weight[i-1] + (p+last)/2*(l.X[i]-l.X[i-1])
		}
		last = p
	}
	s.size = s.weight[n-1]
	return s
}

// grid returns about n values for what is asked, and a few more.
func (s shape) grid(n float64) []float64 {
	y := make([]float64, len(s.x))
	for i := 1; i < len(y); i++ {
		a := 0.0
		if s.size > 0 {
			a = (s.weight[i] - s.weight[i-1]) / s.size * n
		}
		y[i] = y[i-1] + math.Hypot(a, (s.plain[i]-s.plain[i-1])/backdrop)
	}
	return spaced(s.x, y, y[len(y)-1])
}

// Theory (docs/theory/allocation.md §3): grids.
//
// Grids prove nothing. Errors of one node are `w²/24` (means) and `w²/12` (ends) times the integral of density times ψ,
// `ψ = E φ''` given the node's value. A coarse run gives the laws, a backward run ψ for the two questions `E(M − α)₊ =
// δ` and `E(1 − αM)₊ = δ`; then `w ∝ (density·ψ)^{−1/3}` minimises the error for a number of points N, and N ∝ I^{3/4},
// `I = ∫ (density·ψ)^{1/3}`, the work for an error. A few points lie where nothing was asked, so that a curve stays a
// curve. `TestAnyGridBounds` takes random grids of 2 to 8 points.
