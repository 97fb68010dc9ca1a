// How fast the transform of a bounded loss falls, where its bound for large frequencies says nothing yet.
//
// Let all losses be within a range of the span R. For two independent ones of the tilted law φ = M(θ+it)/M(θ) has |φ(t)|² = E cos(t(L − L')),
// and each of these cosines falls up to tR = π: so does |φ|. Beyond, |φ(t') − e^{i(t'−t)c}φ(t)| ≤ |t' − t|·E|L − c| for every c, and as
// x² ≤ 2(cosh hx − 1)/h², the c at which both halves of the cosh are the same has
//
//	(E|L − c|)² ≤ 2(e^D − 1)/h²,   D = (K(θ+h) + K(θ−h))/2 − K(θ),   K = log M.
//
// It assumes lines whose values and whose tails are bounds. What it returns holds for every later frequency.

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A boundedLine is a Line of a bounded loss.
type boundedLine interface {
	Line
	// tail returns an upper bound of log |M(θ + it')| for all t' ≥ t, which is of use for large t.
	tail(t float64) float64
}

// A falling is what bounds |M| on a line.
type falling struct {
	turn float64        // π over the range of the losses
	top  float64        // log M(θ), rounded up
	late func() float64 // upper bound of log |M| from turn on
}

// lateBound returns an upper bound of log |M(θ + it)| for all t ≥ turn, by values of l up to last. top is log M(θ), rounded up.
func lateBound(t Transform, l boundedLine, theta, last, top, span float64) float64 {
	h := 1 / span
	up, _, upErr := t.Real(theta + h)
	down, _, downErr := t.Real(theta - h)
	mid, _, midErr := t.Real(theta)
	// θ ± h round, and K moves by at most the largest loss times that.
	bend := (up+down)/2 - mid + upErr + downErr + midErr + 8*u*(math.Abs(up)+math.Abs(down)+(1+math.Abs(theta))*span)
	rate := math.Sqrt(2*math.Expm1(bend)) / h * (1 + 1e-9)
	worst, at := math.Inf(-1), turnOf(span)
	for range mostLooks {
		if !(at <= last) || l.tail(at) <= worst {
			break
		}
		size := math.Exp(min(0, modulus(l, at)-top))
		next := size + looksShare*(1-size)
		worst = max(worst, top+xmath.Log(next)+4*u*(1+math.Abs(top)))
		at += (next - size) / rate * (1 - 1e-9)
	}
	return min(top, max(worst, l.tail(at)))
}

// turnOf returns up to where |M| falls.
func turnOf(span float64) float64 { return math.Pi / span * (1 - 1e-9) }

// steers: time for width: how many values are looked at, and by which share of what each is below M(θ) those up to the next may be above it.
const (
	mostLooks  = 1 << 10
	looksShare = 0.9
)

// modulus returns an upper bound of log |M(θ + it)|.
func modulus(l Line, t float64) float64 {
	re, _, err := l.LogM(t)
	if math.IsInf(err, 1) {
		return re
	}
	return re + err
}

// bound returns an upper bound of log |M(θ + it')| for all t' ≥ t on l, which has values up to tMax.
func (f *falling) bound(l boundedLine, t, tMax float64) float64 {
	if !(t > 0) {
		return f.top
	}
	best := min(f.top, l.tail(t))
	if t >= f.turn {
		return best
	}
	near := modulus(l, min(t, tMax))
	if l.tail(f.turn) > near {
		near = max(near, f.late())
	}
	return min(best, near)
}
