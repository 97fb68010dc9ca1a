// The transform of one Gaussian, in closed form.
//
// It assumes σ known to a relative error. Every value has the rounding of three operations and that error.

package transform

// Gaussian noise on the whole data set: a closed form at every z, with the error of its σ.

import (
	"context"
	"fmt"
	"math"
)

// gaussian is the pair (N(1, σ²), N(0, σ²)), whose loss is normal: log M(z) = z(z+1)/(2σ²). It
// is its own reverse.
type gaussian struct{ half, err float64 } // 1/(2σ²) and its relative error

// NewGaussian returns the transform of the pair (N(1, σ²), N(0, σ²)); sigmaErr bounds the
// relative error of σ.
func NewGaussian(sigma, sigmaErr float64) (Transform, error) {
	if !(sigma > 0 && sigma < math.Inf(1)) {
		return nil, fmt.Errorf("sigma: %v is not in (0, ∞)", sigma)
	}
	return gaussian{0.5 / sigma / sigma, 2.1*sigmaErr + 3*u}, nil
}

func (g gaussian) Strip() (lo, hi float64)        { return math.Inf(-1), math.Inf(1) }
func (g gaussian) Infinite() (pInf, qInf float64) { return 0, 0 }
func (g gaussian) Reverse() Transform             { return g }
func (g gaussian) Real(s float64) (k, slope, err float64) {
	k = s * (s + 1) * g.half
	if math.IsNaN(k) || math.IsInf(k, 0) {
		return k, 0, math.Inf(1)
	}
	return k, (2*s + 1) * g.half, math.Abs(k) * (g.err + 4*u)
}

func (g gaussian) Line(_ context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	if math.IsNaN(theta) || math.IsInf(theta, 0) {
		return nil, fmt.Errorf("theta: %v is not a number", theta)
	}
	return gaussianLine{g, theta}, nil
}

type gaussianLine struct {
	g     gaussian
	theta float64
}

// Terms implements Line: a closed form counts as one.
func (gaussianLine) Terms(n int) float64 { return float64(n) }

// LogM implements Line: z(z+1) = θ(θ+1) − t² + it(2θ+1).
func (l gaussianLine) LogM(t float64) (re, im, err float64) {
	a, b := l.theta*(l.theta+1), t*t
	re, im = (a-b)*l.g.half, t*(2*l.theta+1)*l.g.half
	size := (math.Abs(a) + b) * l.g.half
	return re, im, (size + math.Abs(im)) * (l.g.err + 6*u)
}

// Decay implements Line.
func (l gaussianLine) Decay(t float64) float64 {
	re, _, err := l.LogM(max(t, 0))
	return re + err
}
