package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// sampled is the transform of the Poisson-subsampled Gaussian (rate q < 1, noise
// multiplier σ) by a fine trapezoid in y = (2x−1)/(2σ²): an independent and slow stand-in
// for the real one. Its error bounds are generous rather than proved.
type sampled struct {
	q, sigma float64
	add      bool
}

func (f sampled) Strip() (lo, hi float64)      { return math.Inf(-1), math.Inf(1) }
func (f sampled) Infinite() (float64, float64) { return 0, 0 }
func (f sampled) Reverse() transform.Transform { return sampled{f.q, f.sigma, !f.add} }

// ex is e^v − 1 − v.
func ex(v float64) float64 {
	if math.Abs(v) > 0.5 {
		return math.Expm1(v) - v
	}
	s, p := 0.0, v
	for k := 2.0; k < 20; k++ {
		p *= v / k
		s += p
	}
	return s
}

type sampledLine struct {
	f                   sampled
	theta, d, slope     float64
	err                 float64
	w, l, y, p, g, base []float64 // tilted masses, losses, nodes; w·h and its log terms
	h                   float64
}

func (f sampled) nodes(theta, tMax float64) *sampledLine {
	s2 := f.sigma * f.sigma
	e := theta + 1
	if f.add {
		e = -theta
	}
	b := math.Min(2, 9/f.sigma)
	h := 2 * math.Pi * b / (80 + s2*b*b/2 + tMax*math.Min(b, 0.02*b*tMax))
	lo := -1/(2*s2) + math.Min(0, e)/s2 - 11/f.sigma
	hi := -1/(2*s2) + math.Max(1, e)/s2 + 11/f.sigma
	if e < 0 {
		lo = -1/(2*s2) - 11/f.sigma
	}
	l := &sampledLine{f: f, theta: theta, h: h}
	for j := math.Floor(lo / h); j*h < hi; j++ {
		y := j * h
		z := f.sigma * (y + 1/(2*s2))
		w := h * f.sigma / math.Sqrt(2*math.Pi) * math.Exp(-z*z/2)
		r := f.q * math.Expm1(y)
		loss, p := math.Log1p(r), w*(1+r)
		if f.add {
			loss, p = -loss, w
		}
		kappa := p * ex(-loss)
		l.d += p*ex(theta*loss) + theta*kappa
		l.slope += p*loss*math.Expm1(theta*loss) + kappa
		l.err += math.Abs(p*ex(theta*loss)) + math.Abs(theta*kappa)
		l.w = append(l.w, p*math.Exp(theta*loss))
		l.l = append(l.l, loss)
		l.y = append(l.y, y)
		l.p = append(l.p, math.Log(w))
		l.g = append(l.g, 1+r)
	}
	return l
}

func (f sampled) Real(s float64) (k, slope, err float64) {
	l := f.nodes(s, 0)
	if math.IsInf(l.d, 0) || math.IsNaN(l.d) {
		return 0, 0, math.Inf(1)
	}
	return math.Log1p(l.d), l.slope / (1 + l.d), 1e-13 * (l.err/(1+l.d) + math.Abs(math.Log1p(l.d)))
}

func (f sampled) Line(theta, tMax, tol float64, maxNodes int) (transform.Line, error) {
	return f.nodes(theta, tMax), nil
}

func (l *sampledLine) Nodes() int { return len(l.w) }

func (l *sampledLine) LogM(t float64) (re, im, err float64) {
	var c, s, size xmath.Sum
	for j, w := range l.w {
		x := t * l.l[j]
		sin := math.Sin(x / 2)
		c.Add(w * sin * sin)
		if math.Abs(x) > 0.3 {
			s.Add(w * (math.Sin(x) - x))
		} else {
			s.Add(-w * x * x * x / 6 * (1 - x*x/20*(1-x*x/42*(1-x*x/72*(1-x*x/110*(1-x*x/156))))))
		}
		size.Add(w * x * x)
	}
	dr, di := l.d-2*c.Value(), t*l.slope+s.Value()
	e := 8 * xmath.U * (l.err + size.Value() + t*math.Abs(l.slope))
	m := math.Hypot(1+dr, di)
	re = math.Log(m)
	if r := 2*dr + dr*dr + di*di; r > -0.5 {
		re = 0.5 * math.Log1p(r)
	}
	im = math.Atan2(di, 1+dr)
	return re, im, e/m + 4*xmath.U*math.Hypot(re, im)
}

// Decay is Theorem 6 at a few shifts of the noise.
func (l *sampledLine) Decay(t float64) float64 {
	best := math.Log1p(l.d)
	s2 := l.f.sigma * l.f.sigma
	e := l.theta + 1
	if l.f.add {
		e = -l.theta
	}
	q := l.f.q
	for a := math.Min(1.5, 4*t*math.Abs(l.slope)/s2+0.5); a > 1e-3; a /= 1.5 {
		sum := 0.0
		for j, y := range l.y {
			sq := math.Sin(a / 2)
			ratio := 1 - 4*q*(1-q)*math.Exp(y)*sq*sq/(l.g[j]*l.g[j])
			arg := math.Atan2(q*math.Exp(y)*math.Sin(a), 1-q+q*math.Exp(y)*math.Cos(a))
			sum += math.Exp(l.p[j] + e*math.Log(l.g[j]) + e/2*math.Log(ratio) - t*arg)
		}
		best = math.Min(best, s2*a*a/2+math.Log(sum)+1e-12)
	}
	return best
}
