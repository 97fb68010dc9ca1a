// δ of the coarse laws as a Fourier series: where to compute, when a saddle point is misled.
//
// Where one step has rare big losses, the sum of many is far from the law that a
// saddle point describes: the ε of cumulant.epsilon was found up to three times too
// large. A Fourier series of the coarse laws is good to about a percent there, and
// costs a fraction of a millisecond. Like all that is read off coarse laws it
// decides where to compute and proves nothing.

package lattice

import (
	"math"
	"math/cmplx"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// skewness is that of the sum under the tilt.
func (c cumulant) skewness(theta float64) float64 {
	var v, m3 float64
	for _, t := range c {
		k, mean, vt := t.law.Tilted(theta)
		v += t.count * vt
		for i, m := range t.law.LogMass {
			if e := m + theta*t.law.Loss[i] - k; e > -40 {
				d := t.law.Loss[i] - mean
				m3 += t.count * math.Exp(e) * d * d * d
			}
		}
	}
	return m3 / math.Pow(max(v, 1e-300), 1.5)
}

// Constants that steer the series. They prove nothing.
const (
	settled     = 0.2  // of its width: an ε that moves less was found
	blurred     = 0.1  // of what δ falls in by a factor e, over which the density is averaged
	mostRatio   = 1e9  // of a loss: more is noise of the series
	mildSkew    = 0.3  // a saddle point's δ is then good to a few percent
	guessReach  = 50   // ε beyond which the series would need too many frequencies
	guessPoints = 2048 // frequencies of the series, in blocks
	guessBlock  = 128
	guessWork   = 2e6  // frequencies times losses
	guessAlias  = 1e-3 // share of δ that may alias
)

// sharpen improves on the ε that the saddle point gave for δ.
func (c cumulant) sharpen(logDelta, eps, theta float64) (at, saddle float64, l *shape) {
	floor, top := math.Log1p(-math.Exp(logDelta)), c.maxLoss()
	if !(math.Abs(c.skewness(theta)) > mildSkew) || !(eps < min(top, guessReach)) {
		return eps, theta, nil
	}
	var s series
	for range 4 {
		s = c.series(eps, logDelta, theta)
		if len(s.coef) == 0 {
			return eps, theta, nil
		}
		next := s.solve(logDelta, floor, top)
		if math.IsNaN(next) {
			return eps, theta, nil
		}
		move := math.Abs(next - eps)
		eps = next
		theta = c.saddle(eps, theta)
		if move < settled*s.width {
			break
		}
	}
	return eps, theta, s.shape(c, eps, theta)
}

// sharpenDelta improves on the log δ that the saddle point gave for ε.
func (c cumulant) sharpenDelta(logDelta, eps, theta float64) (float64, *shape) {
	if !(math.Abs(c.skewness(theta)) > mildSkew) || !(math.Abs(eps) < guessReach) {
		return logDelta, nil
	}
	v := logDelta
	for range 6 {
		s := c.series(eps, v, theta)
		if len(s.coef) == 0 {
			break
		}
		next, _ := s.at(eps)
		if math.Abs(next-v) < 1 {
			return next, s.shape(c, eps, theta)
		}
		// The width of the series follows from δ. One far too small may come out
		// as aliasing or below 0.
		if v = max(next, v-4); math.IsNaN(next) {
			v -= 4
		}
	}
	return logDelta, nil
}

// A series is δ as a Fourier series about a centre: with the sum S tilted by θ,
// δ(ε) = e^{K−θε}·E g(S − ε), g(x) = e^{−θx}(1 − e^{−x}) for x > 0, and g repeated
// with period width.
type series struct {
	theta, k, centre, width float64
	coef                    []complex128
	one                     [][]complex128 // log of the characteristic function of a step less its mean, by term
}

// series returns nil coefficients when there are too many losses to sum.
func (c cumulant) series(eps, logDelta, theta float64) series {
	w := c.window(eps, logDelta, theta, maxTilt, guessAlias)
	s := series{theta: w.theta, centre: eps, width: w.width, one: make([][]complex128, len(c))}
	omega := 2 * math.Pi / s.width
	type wave struct{ at, turn complex128 }
	waves := make([][]wave, len(c)) // of each loss that counts
	shift, losses := -eps, 0
	for n, t := range c {
		k, mean, _ := t.law.Tilted(s.theta)
		s.k += t.count * k
		shift += t.count * mean
		for i, m := range t.law.LogMass {
			if x := math.Exp(m + s.theta*t.law.Loss[i] - k); x > 1e-3*guessAlias/t.count {
				waves[n] = append(waves[n], wave{complex(x, 0), cmplx.Rect(1, omega*(t.law.Loss[i]-mean))})
			}
		}
		losses += len(waves[n])
	}
	points := min(guessPoints, guessWork/max(1, losses))
	log := make([]complex128, guessBlock) // of the characteristic function of S − ε
	one := make([]complex128, guessBlock) // of that of one copy
	for from := 0; from+guessBlock <= points; from += guessBlock {
		clear(log)
		for n, t := range c {
			clear(one)
			for i, w := range waves[n] {
				for j := range one {
					one[j] += w.at
					w.at *= w.turn
				}
				waves[n][i].at = w.at
			}
			for j, z := range one {
				one[j] = cmplx.Log(z)
				log[j] += complex(t.count, 0) * one[j]
			}
			s.one[n] = append(s.one[n], one...)
		}
		most := 0.0
		for j, l := range log {
			om := omega * float64(from+j)
			z := cmplx.Exp(l+complex(0, om*shift)) / (complex(s.theta, om) * complex(1+s.theta, om))
			if from+j > 0 {
				z *= 2
			}
			most = max(most, cmplx.Abs(z))
			s.coef = append(s.coef, z/complex(s.width, 0))
		}
		if most < 1e-3*guessAlias*cmplx.Abs(s.coef[0])*s.width {
			break
		}
	}
	return s
}

// at returns log δ(ε) and its derivative.
func (s series) at(eps float64) (log, slope float64) {
	omega := 2 * math.Pi / s.width
	turn, at := cmplx.Rect(1, -omega*(eps-s.centre)), complex(1, 0)
	var sum, d float64
	for j, c := range s.coef {
		z := c * at
		sum += real(z)
		d += omega * float64(j) * imag(z)
		at *= turn
	}
	return s.k - s.theta*eps + xmath.Log(sum), -s.theta + d/sum
}

// shape looks at the density of the sum, whose coefficients are z(1+z) times those
// of δ, averaged over a part, blurred, of what δ falls in by a factor e.
func (s series) shape(c cumulant, eps, theta float64) *shape {
	omega := 2 * math.Pi / s.width
	turn, at := cmplx.Rect(1, -omega*(eps-s.centre)), complex(1, 0)
	var delta, density float64
	f := make([]complex128, 0, len(s.coef))
	for j, z := range s.coef {
		om := omega * float64(j)
		z *= at
		at *= turn
		delta += real(z)
		x := blurred * om / s.theta
		if x > 6 {
			continue
		}
		z *= complex(s.theta, om) * complex(1+s.theta, om) * complex(math.Exp(-x*x/2), 0)
		density += real(z)
		f = append(f, z)
	}
	l := &shape{density: density / delta, ratio: make([][]float64, len(c))}
	if !(l.density > 0) {
		return nil
	}
	rest := make([]complex128, len(f)) // of all steps but one
	for n, t := range c {
		for j, z := range f {
			rest[j] = 0
			if o := s.one[n][j]; real(o) > -20 {
				rest[j] = z * cmplx.Exp(-o)
			}
		}
		k, mean, _ := t.law.Tilted(s.theta)
		k1, _, _ := t.law.Tilted(theta)
		l.ratio[n] = make([]float64, len(t.law.Loss))
		for i, loss := range t.law.Loss {
			turn, at, sum := cmplx.Rect(1, omega*(loss-mean)), complex(1, 0), 0.0
			for _, z := range rest {
				sum += real(z * at)
				at *= turn
			}
			if sum > 0 { // the series has a tilt of its own
				l.ratio[n][i] = min(mostRatio, sum/density*math.Exp(min((s.theta-theta)*loss-k+k1, 700)))
			}
		}
	}
	return l
}

// solve returns the ε in [floor, top] of the given δ, NaN if it is not in reach.
func (s series) solve(logDelta, floor, top float64) float64 {
	lo, hi := max(floor, s.centre-s.width/2), min(top, s.centre+s.width/2)
	first, last := lo, hi
	eps := s.centre
	for range 200 {
		v, slope := s.at(eps)
		if v > logDelta {
			lo = eps
		} else { // or so small that the series is negative there
			hi = eps
		}
		if !(hi-lo > 1e-3*math.Abs(hi)) {
			break
		}
		next := eps + (logDelta-v)/slope
		if !(slope < 0 && next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		small := math.Abs(next-eps) < 1e-3*math.Abs(eps)
		eps = next
		if small {
			return eps
		}
	}
	if lo == first || hi == last {
		return math.NaN()
	}
	return hi
}
