// The first guess of ε, improved by a damped sum over sketches.
//
// Where one rare jump carries δ the saddle-point approximation is off by orders of magnitude, and so are the
// costs that a search would predict from it. The integral itself is not, and to a tenth of log δ it is cheap: with
// the terms damped by e^{−s²t²/2}, which spreads e^{θε}·δ(ε) over s = dampedBy/θ, the slow decay that the
// bulk of the losses causes does not count. It assumes sketches of all factors, and returns a guess; nothing
// here is a bound.

package contour

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

const (
	dampedBy    = 0.7
	dampedDepth = 12.0 // of the last term
	roughTries  = 6
	// roughTerms bounds the frequencies of a rough sum.
	roughTerms = 2000
	// mostRough is the condition up to which a rough sum is meant to serve.
	mostRough = 1e3
	// roughTol is the error of log δ that it aims at.
	roughTol = 0.03
)

// refine improves a guess of ε where the quantity of the right side is e^{logX}, and of the saddle there, and returns
// the condition of the sum at that. Where sketches know too little that is 0, and the guess as it was.
func (q *cumulant) refine(logX, eps, theta float64) (refined, saddle, condition float64) {
	for range roughTries {
		next, c, loss, ok := q.roughRoot(logX, eps, theta)
		if !ok {
			return eps, theta, 0
		}
		moved := math.Abs(next-eps) * theta
		eps, theta, condition = next, q.saddle(right, next, theta), c/loss
		if moved < 0.3 || c < mostRough/10 {
			break
		}
	}
	return eps, theta, condition
}

// doubtful reports whether the saddle-point approximation may be far off at theta: it is good where the tilted
// losses are close to normal, and where their skewness K”'/K”^{3/2} is negative. Rare jumps make it positive.
func (q *cumulant) doubtful(theta float64) bool {
	k := q.curvature(theta)
	if q.curvature(theta/2) < fairShare*k {
		return true
	}
	skew := (k - q.curvature(0.85*theta)) / (0.15 * theta * math.Pow(k, 1.5))
	return !(skew < fairSkew)
}

// fairShare is the share of its curvature that K has at half the saddle where no jump took over in between.
const fairShare = 0.2

// fairSkew is a skewness up to which the approximation was found within 0.01 of log δ; at twice that it may be
// off by 8.
const fairSkew = 0.1

// What an easy question is given up for. Calibrated, not derived: of 600 random questions, half of them a few runs at
// tiny rates, 124 were not served to 1e-9 without these values, at 76 ms of processor each; with them 132 are not,
// at 11 ms each, most of them below 2 ms.
const (
	// uneasyCondition is the condition at the saddle from which floating point is likely to spoil 1e-9.
	uneasyCondition = 1e4
	// easyShare is the share of the work that the first table may take, as it is not the last one where
	// jumps are rare, and easyTrouble is what its terms may be times the condition, by which the next one grows.
	easyShare   = 0.2
	easyTrouble = 1e8
)

// uneasy returns why a question should be given up at once, nil if it should not, and the number of terms that its
// first table may take.
func (q *cumulant) uneasy(theta, condition, work float64) (terms float64, why error) {
	if !(condition > 0 && condition < uneasyCondition) {
		return 0, &NotServed{Reason: "the sum is likely to lose too many digits", Work: int64(work)}
	}
	return math.Min(easyShare*work, easyTrouble/condition), nil
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

// A roughSum is the sum over sketches on one line, whose terms are damped.
type roughSum struct {
	q            *cumulant
	line, lambda float64
	h, s         float64 // the step of frequencies, and the width that the damping spreads ε over
	sLow         float64 // the line of the remainder below
	base         float64 // K on the line
	re, im       []float64
}

// newRoughSum makes the sum for a goal; false where sketches know too little, or it would be long.
func (q *cumulant) newRoughSum(g goal) (*roughSum, bool) {
	r := &roughSum{q: q}
	r.line, r.lambda, _, r.sLow = q.choose(g)
	if !(r.lambda > 0) || math.IsInf(r.lambda, 0) || !(r.line > 0) {
		return nil, false
	}
	r.lambda *= 1.02
	r.h = 2 * math.Pi / r.lambda
	// The bulk of the losses, near 0, must not be spread to ε.
	r.s = dampedBy / r.line
	if g.eps > 0 {
		r.s = math.Min(r.s, 0.5*g.eps/math.Sqrt(2*(4-g.logX)))
	}
	n := int(math.Min(roughTerms+1, math.Ceil(math.Sqrt(2*dampedDepth)/r.s/r.h)))
	if n > roughTerms || n < 1 {
		return nil, false
	}
	r.re, r.im = make([]float64, n+1), make([]float64, n+1)
	tol := roughTol / math.Max(1, q.runs()) / mostRough
	for i, f := range q.sketch {
		l := f.Line(r.line)
		if l == nil {
			return nil, false
		}
		x, y := l.Table(r.h, n, tol)
		if x == nil {
			return nil, false
		}
		for k := range r.re {
			r.re[k] += q.count[i] * x[k]
			r.im[k] += q.count[i] * y[k]
		}
	}
	r.base = q.at(r.line).k
	return r, !math.IsInf(r.base, 0)
}

// at returns the sum at ε and its derivative, over e^{base − line·ε}, and the sum of the moduli before damping.
func (r *roughSum) at(eps float64) (v, dv, mass float64) {
	line := r.line
	for k := range r.re {
		t := float64(k) * r.h
		damped := math.Exp(-r.s * r.s * t * t / 2)
		w := r.h / math.Pi * math.Exp(r.re[k]) * damped
		if k == 0 {
			w /= 2
		}
		p := line * (1 + line)
		d := (line*line + t*t) * ((1+line)*(1+line) + t*t)
		a, b := w*(p-t*t)/d, -w*t*(2*line+1)/d
		sin, cos := math.Sincos(r.im[k] - t*eps)
		x, y := a*cos-b*sin, a*sin+b*cos
		v += x
		dv -= line*x - t*y
		mass += math.Hypot(a, b) / damped
	}
	// The series of aliasing.go, with masses of 1.
	if f := r.base - line*eps; r.sLow < 0 {
		v -= math.Exp(logGeometric(line*r.lambda) - f)
		if r.sLow < -1 {
			x := math.Exp(eps - f + logGeometric((line+1)*r.lambda))
			v, dv = v+x, dv+x
		}
	}
	return v, dv, mass
}

// roughRoot solves for ε on the line of one guess, where the condition is loss times that at the saddle.
func (q *cumulant) roughRoot(logX, eps, theta float64) (root, condition, loss float64, ok bool) {
	r, ok := q.newRoughSum(goal{side: right, eps: eps, logX: logX, theta: theta, logTol: xmath.Log(roughTol), condition: 30})
	if !ok {
		return eps, 0, 1, false
	}
	line, lambda := r.line, r.lambda
	loss = math.Exp(math.Max(0, q.excess(line, eps)-q.excess(theta, eps)))
	lo, hi := q.ends(logX)
	eps = math.Max(lo, math.Min(hi, eps))
	for range 20 {
		v, dv, mass := r.at(eps)
		condition = mass / v
		if math.IsNaN(v) {
			return eps, 0, 1, false
		}
		step := -lambda / 4 // the sum is noise: the quantity is larger for smaller ε
		if slope := dv / v; v > 0 && slope < 0 {
			step = (logX - (r.base - line*eps + xmath.Log(v))) / slope
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
			return next, condition, loss, !math.IsInf(condition, 0)
		}
		eps = next
	}
	return eps, condition, loss, condition > 0 && !math.IsInf(condition, 0)
}
