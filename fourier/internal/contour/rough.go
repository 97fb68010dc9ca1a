package contour

// The first guess of ε, improved by a sum over sketches. Nothing here is a bound.
//
// Where one rare jump carries δ the saddle-point approximation is off by orders of magnitude, and so are the
// costs that a search would predict from it. The integral itself is not, and to a tenth of log δ it is cheap: with
// the terms damped by e^{−s²t²/2}, which spreads e^{θε}·δ(ε) over s = dampedBy/θ, the slow decay that the
// bulk of the losses causes does not count.

import "math"

const (
	dampedBy    = 0.5
	dampedDepth = 16.0 // of the last term
	roughTries  = 6
	// roughTerms bounds the frequencies of a rough sum.
	roughTerms = 2000
	// mostRough is the condition up to which a rough sum is meant to serve.
	mostRough = 3e3
	// roughTol is the error of log δ that it aims at.
	roughTol = 0.03
)

// refine improves a guess of ε where the quantity of the right side is e^{logX}, and of the saddle there. It returns
// the guess as it was where sketches know too little.
func (q *cumulant) refine(logX, eps, theta float64) (refined, saddle, condition float64) {
	for range roughTries {
		next, c, ok := q.roughRoot(logX, eps, theta)
		if !ok {
			return eps, theta, condition
		}
		moved := math.Abs(next-eps) * theta
		eps, theta, condition = next, q.saddle(right, next, theta), c
		if moved < 1 {
			break
		}
	}
	return eps, theta, condition
}

// ends returns about the mean of the total loss and Chernoff's bound of ε at the points known.
func (q *cumulant) ends(logX float64) (lo, hi float64) {
	lo, hi = q.at(0).slope, math.Inf(1)
	if math.IsInf(lo, 0) || math.IsNaN(lo) {
		lo = 0
	}
	for _, p := range q.points {
		if p.s > 0 && !math.IsInf(p.k, 0) {
			hi = math.Min(hi, (p.k+logWeight(p.s)-logX)/p.s)
		}
	}
	return lo, hi
}

// roughRoot solves for ε on the line of one guess.
func (q *cumulant) roughRoot(logX, eps, theta float64) (root, condition float64, ok bool) {
	g := goal{side: right, eps: eps, logX: logX, theta: theta, logTol: math.Log(roughTol), condition: 30}
	line, lambda, _, _ := q.choose(g)
	if !(lambda > 0) || math.IsInf(lambda, 0) || !(line > 0) {
		return eps, 0, false
	}
	h := 2 * math.Pi / (1.02 * lambda)
	s := dampedBy / line
	n := int(math.Min(roughTerms+1, math.Ceil(math.Sqrt(2*dampedDepth)/s/h)))
	if n > roughTerms || n < 1 {
		return eps, 0, false
	}
	re, im := make([]float64, n+1), make([]float64, n+1)
	tol := roughTol / math.Max(1, q.runs()) / mostRough
	for i, f := range q.sketch {
		l := f.Line(line)
		if l == nil {
			return eps, 0, false
		}
		x, y := l.Table(h, n, tol)
		for k := range re {
			re[k] += q.count[i] * x[k]
			im[k] += q.count[i] * y[k]
		}
	}
	base := q.at(line).k
	if math.IsInf(base, 0) {
		return eps, 0, false
	}
	lo, hi := q.ends(logX)
	eps = math.Max(lo, math.Min(hi, eps))
	for range 20 {
		v, dv, mass := 0.0, 0.0, 0.0
		for k := range re {
			t := float64(k) * h
			damped := math.Exp(-s * s * t * t / 2)
			w := h / math.Pi * math.Exp(re[k]) * damped
			if k == 0 {
				w /= 2
			}
			p := line * (1 + line)
			d := (line*line + t*t) * ((1+line)*(1+line) + t*t)
			a, b := w*(p-t*t)/d, -w*t*(2*line+1)/d
			sin, cos := math.Sincos(im[k] - t*eps)
			x, y := a*cos-b*sin, a*sin+b*cos
			v += x
			dv -= line*x - t*y
			mass += math.Hypot(a, b) / damped
		}
		condition = mass / v
		if math.IsNaN(v) {
			return eps, 0, false
		}
		step := -lambda / 4 // the sum is noise: the quantity is larger for smaller ε
		if slope := dv / v; v > 0 && slope < 0 {
			step = (logX - (base - line*eps + math.Log(v))) / slope
			step = math.Max(-lambda/4, math.Min(lambda/4, step))
		}
		if step > 0 {
			lo = math.Max(lo, eps)
		} else {
			hi = math.Min(hi, eps)
		}
		next := eps + step
		if next <= lo || next >= hi {
			next = (lo + hi) / 2
		}
		if math.Abs(next-eps)*line < roughTol && condition > 0 {
			return next, condition, !math.IsInf(condition, 0)
		}
		eps = next
	}
	return eps, condition, condition > 0 && !math.IsInf(condition, 0)
}
