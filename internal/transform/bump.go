// The transform of a privacy loss with a smooth density on a short interval: one more mechanism, which costs at most its largest
// loss, and whose transform decays where those of atoms do not (docs/theory/contour.md, Theorem 9).
//
// It assumes a half-width as it is stored. It returns values with what their arithmetic loses.

package transform

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// bumpOrder is how many uniform losses make a bump: |M| falls with that power of 1/t.
const bumpOrder = 4 // steers: fewer waves for a larger loss

// A Bump is the transform of the sum of bumpOrder independent losses, each uniform on an interval of half-width a around log S(a),
//
//	M(z) = (e^{z·log S(a)}·S(az))^bumpOrder,   S(w) = sinh(w)/w,
//
// so that M(0) = M(−1) = 1: such a loss is that of some mechanism.
type Bump struct {
	a        float64
	reversed bool // of (Q, P): M(−1−z)
}

// NewBump returns a bump of which no loss is above most > 0: log S(a) is below a²/6 and below a.
func NewBump(most float64) Bump { return Bump{a: most / bumpOrder / (1 + min(most, 1))} }

// Strip implements Transform: the loss is bounded.
func (Bump) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform.
func (Bump) Infinite() (pInf, qInf float64) { return 0, 0 }

// Reverse implements Transform.
func (b Bump) Reverse() Transform { return Bump{b.a, !b.reversed} }

// Real implements Transform.
func (b Bump) Real(s float64) (k, slope, err float64) {
	k, _, err = b.at(s, 0)
	const d = 1e-3
	up, _, _ := b.at(s+d, 0)
	down, _, _ := b.at(s-d, 0)
	return k, (up - down) / (2 * d), err
}

// at returns log M(s + it) and the bound of its complex error.
func (b Bump) at(s, t float64) (re, im, err float64) {
	rounded := 0.0
	if b.reversed {
		s, t = -1-s, -t
		rounded = xmath.U * math.Abs(s)
	}
	c, _, cErr := logSinhc(b.a, 0)
	x, y, e := logSinhc(b.a*s, b.a*t)
	z := math.Hypot(s, t)
	// |d log S(w)/dw| ≤ |w|/3 + 1 on the real line, where rounding of s matters.
	err = bumpOrder * (e + z*cErr + rounded*(c+b.a*(1+b.a*z)) + 4*xmath.U*(z*c+math.Hypot(x, y)))
	return bumpOrder * (s*c + x), bumpOrder * (t*c + y), err
}

// sinhcSeriesLog are the coefficients of log S(w) in w², and sinhcNear is up to where they serve: the first one left out is
// below 2u of the sum there.
var sinhcSeriesLog = [...]float64{1.0 / 6, -1.0 / 180, 1.0 / 2835, -1.0 / 37800, 1.0 / 467775, -691.0 / 3831077250, 2.0 / 127702575, -3617.0 / 2605132530000}

const sinhcNear = 0.25

// logSinhc returns log S(w) for w = x + iy, and the bound of its complex error, +Inf where S is next to 0; x and y may be off by u of
// themselves.
func logSinhc(x, y float64) (re, im, err float64) {
	if mod := math.Hypot(x, y); mod <= sinhcNear {
		w := complex(x, y)
		w *= w
		var sum complex128
		for i := len(sinhcSeriesLog) - 1; i >= 0; i-- {
			sum = (sum + complex(sinhcSeriesLog[i], 0)) * w
		}
		// w² is off by 8u with its arguments, and each of the later terms, together a fiftieth of the first, by more.
		return real(sum), imag(sum), 20 * xmath.U * mod * mod / 6
	} else {
		// Over e^|x|.
		sin, cos := math.Sincos(y)
		sinh, cosh := math.Copysign(-math.Expm1(-2*math.Abs(x))/2, x), (1+math.Exp(-2*math.Abs(x)))/2
		a, b := sinh*cos, cosh*sin
		size := math.Hypot(a, b)
		wrong := xmath.U * (12 + 2*math.Abs(x) + 2*math.Abs(y)) * cosh / size
		if !(wrong < 0.1) {
			return math.Abs(x) - xmath.Log(mod), 0, math.Inf(1)
		}
		re, im = math.Abs(x)+xmath.Log(size)-xmath.Log(mod), math.Atan2(b, a)-math.Atan2(y, x)
		return re, im, 1.2*wrong + xmath.U*(8+4*math.Abs(x)+2*math.Abs(re)+2*math.Abs(xmath.Log(mod))+4*math.Abs(im))
	}
}

// Reach returns a frequency from which on the bump alone makes the tail of a sum over 1/t² at θ, ∫|M/M(θ)|/(πt²) dt, about e^aim.
func (b Bump) Reach(theta, aim float64) float64 {
	return math.Exp((bumpOrder*(math.Abs(b.a*theta)-xmath.Log(b.a)) - xmath.Log(math.Pi) - aim) / (bumpOrder + 1))
}

// Line implements Transform.
func (b Bump) Line(_ context.Context, theta, tMax, _ float64, _ int) (Line, error) {
	if err := checkLine(b, theta, tMax); err != nil {
		return nil, err
	}
	k, _, err := b.at(theta, 0)
	return bumpLine{Bump: b, theta: theta, top: k + err}, nil
}

// bumpLine is a bump on one line.
type bumpLine struct {
	Bump
	theta, top float64
}

// Terms implements Line.
func (bumpLine) Terms(n int) float64 { return float64(n) }

// LogM implements Line.
func (l bumpLine) LogM(t float64) (re, im, err float64) {
	if re, im, err = l.at(l.theta, t); math.IsInf(err, 1) {
		return l.Decay(t), 0, err
	}
	return re, im, err
}

// Decay implements Line: |sinh(x + iy)| ≤ cosh x.
func (l bumpLine) Decay(t float64) float64 {
	s := l.theta
	if l.reversed {
		s = -1 - s
	}
	c, _, _ := logSinhc(l.a, 0)
	x := math.Abs(l.a * s)
	bound := bumpOrder * (s*c + x + math.Log1p(math.Exp(-2*x)) - math.Ln2 - xmath.Log(l.a*t))
	return min(l.top, bound+xmath.U*(64+16*math.Abs(bound)+16*math.Abs(s*c)+16*x))
}
