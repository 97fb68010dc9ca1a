// Where ε is, by tables of a sample of the factors.
//
// Where rare jumps carry δ, Chernoff's bound and the saddle-point approximation are off by orders of
// magnitude, and the integral is not. A table of the sample's sketches knows every ε at once: its readings bracket
// the answer, and the next table is made for the bracket. Nothing here is a bound of the composition.

package contour

import (
	"context"
	"math"
)

const (
	locateTol   = 1e-2    // steers: the errors that they are made for, as a share of δ
	sketchTol   = 1e-12   // steers: of the sum of all runs
	locateTerms = 1 << 13 // steers: their frequencies
)

// A place is where ε is, about: the saddle there, by how much the logarithm of the quantity falls with ε, and the condition
// of the sum at the saddle.
type place struct{ eps, theta, slope, condition float64 }

// locate improves a guess of ε where the quantity of the right side is e^{logX}, for some of the budget.
func (q *cumulant) locate(ctx context.Context, b *budget, logX, eps, theta float64) place {
	slope := 0.0
	lo, hi := q.ends(logX)
	if !(eps > lo && eps < hi) {
		eps = lo + (hi-lo)/2
	}
	if q.folded {
		return q.approach(logX, eps, theta, lo, hi)
	}
	own := float64(firstOwn)
	for range maxTables {
		if ctx.Err() != nil || b.work <= b.extra {
			break
		}
		theta = q.saddle(right, eps, theta)
		t := q.sampleTable(ctx, b, goal{side: right, eps: eps, logX: logX, theta: theta, tol: locateTol, rounding: locateTol * roundingShare / sketchTol, own: own})
		if t == nil {
			break
		}
		f := t.solve(logX, 0, eps, lo, hi, &terms{aliasing: 1, truncation: 1, transform: 1, rounding: 1, infinite: 1})
		narrower := f.upper-f.lower < 0.5*(hi-lo)
		lo, hi = math.Max(lo, f.lower), math.Min(hi, f.upper)
		next := f.eps
		certain := f.reading.high-f.reading.low < 0.1
		if !certain {
			if next = hi; !narrower {
				next = lo + (hi-lo)/2
			}
		}
		moved := math.Abs(next - eps)
		eps = next
		c := q.atSaddle(f.reading.condition, t.theta, theta, eps)
		if c > own && !math.IsInf(c, 0) {
			own = c
		}
		if certain {
			slope, own = math.Abs(f.reading.slope), math.Max(1, c)
			if moved*theta < 0.3 || moved < 0.02*eps {
				break
			}
		}
	}
	theta = q.saddle(right, eps, theta)
	return place{eps: eps, theta: theta, slope: math.Max(slope, theta), condition: own}
}

// approach improves a guess of ε in (lo, hi) by the saddle-point approximation, of laws.
func (q *cumulant) approach(logX, eps, theta, lo, hi float64) place {
	theta = q.saddle(right, eps, theta)
	miss := q.approximate(theta, eps) - logX
	for range maxTables {
		next := eps + miss/theta
		if !(next < hi) {
			next = eps + (hi-eps)/2
		}
		next = math.Max(next, lo)
		s := q.saddle(right, next, theta)
		m := q.approximate(s, next) - logX
		if !(math.Abs(m) < math.Abs(miss)) {
			break
		}
		moved := math.Abs(next - eps)
		if eps, theta, miss = next, s, m; moved < 1e-3*math.Abs(eps) {
			break
		}
	}
	return place{eps: eps, theta: theta, slope: theta, condition: firstOwn}
}

// sampleTable makes a table of the sketches of the sample, nil where they know too little or it would be long.
func (q *cumulant) sampleTable(ctx context.Context, b *budget, g goal) *table {
	l := q.choose(ctx, g)
	if !(l.lambda > 0) || math.IsInf(l.lambda, 0) || !(l.t > 0) {
		return nil
	}
	h := floorBits(2 * math.Pi / l.lambda)
	if !(l.t/h < locateTerms) {
		return nil
	}
	p := plan{theta: l.theta, h: h, sHigh: l.sHigh, sLow: l.sLow, n: max(1, int(math.Ceil(l.t/h))-1)}
	c := &Composition{scale: terms{aliasing: 1, truncation: 1, transform: 1, rounding: 1, infinite: 1}}
	t := &table{plan: p, lastGuess: g.eps}
	tol := sketchTol / math.Max(1, q.runs())
	lines := q.lines(p.theta)
	if lines == nil {
		return nil
	}
	for i, s := range q.sketch {
		line := lines.lines[i]
		if ctx.Err() != nil || b.work <= 0 {
			return nil
		}
		re, im, terms := line.Table(p.h, p.n, tol, b.work)
		if re == nil {
			return nil
		}
		b.spend(terms + 1)
		k, _ := s.Real(p.theta)
		col := column{re: re, im: im, err: make([]float64, len(re))}
		for j := range re {
			col.err[j] = tol * math.Exp(-re[j])
			re[j] += k
		}
		col.decay = k + line.Fall(float64(p.n+1)*p.h)
		col.high, _ = s.Real(p.sHigh)
		col.low, _ = s.Real(p.sLow)
		t.columns = append(t.columns, col)
		c.factors = append(c.factors, Factor{q.factors[i].Transform, int64(q.count[i])})
	}
	t.sum(c)
	return t
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
