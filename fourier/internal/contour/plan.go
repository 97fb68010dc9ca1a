// The choice of the line θ, of the period λ and of the last frequency. Any choice is
// sound; these are meant to be cheap.
//
// It assumes sketches and real values of the transforms, which may be wrong by a few per cent. It returns a table
// for a goal, or why there is none. The constants here decide what a table costs.

package contour

import (
	"context"
	"math"
	"runtime"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A goal is what a table must be good for: the quantity of a side is about e^{logX} at eps.
type goal struct {
	side      side
	eps, logX float64
	theta     float64 // the saddle
	tol       float64 // wanted errors as shares of the quantity, but for those that grow with the condition
	rounding  float64 // what these may be
	own       float64 // the condition of the sum at the saddle, about
	reserve   float64 // extra share of period and of last frequency
	work      int64   // what is left of the work limit
	most      float64 // frequencies
}

// build makes a table for a goal.
func (c *Composition) build(ctx context.Context, q *cumulant, g goal) (*table, error) {
	l := q.choose(ctx, g)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !(l.lambda > 0) || math.IsInf(l.lambda, 0) || l.theta == 0 || l.theta == -1 {
		return nil, &NotServed{Reason: "no line with a finite transform on both sides of it"}
	}
	if len(q.factors) != len(c.factors) {
		c.reconsider(&l, g)
		if math.IsInf(l.lambda, 1) {
			return nil, &NotServed{Reason: "no line beside has a finite transform of all factors"}
		}
	}
	if c.lattice != nil {
		return c.fold(ctx, l, g)
	}
	h := floorBits(2 * math.Pi / (l.lambda * (longer * (1 + g.reserve))))
	p := plan{theta: l.theta, h: h, sHigh: l.sHigh, sLow: l.sLow, tol: g.error(l, c.runs())}

	if c.bump != nil {
		return c.atoms(ctx, q, g, p)
	}
	lines := make([]transform.Line, len(q.factors))
	q.reached = 0
	t, err := q.cut(ctx, p, g, lines)
	if err != nil {
		return nil, err
	}
	t *= 1 + g.reserve
	if t/h > g.most-2 {
		return nil, &NotServed{Reason: "too many frequencies", Work: maxFrequencies}
	}
	p.n = max(1, int(math.Ceil(t/h))-1)
	// The lines of the search serve if they reach to the last frequency.
	last, expected := float64(p.n+1)*h, 0.0
	if last > q.reached {
		if err := q.prepare(ctx, p, last, lines); err != nil {
			return nil, err
		}
	}

	if w := termsOf(lines, p.n+1) * float64(len(c.factors)) / float64(len(lines)); w > float64(g.work) {
		return nil, &NotServed{Reason: "too many frequencies", Work: int64(math.Min(w, 1e18))}
	}
	t2 := &table{plan: p, lastGuess: g.eps}
	if len(lines) != len(c.factors) {
		expected = -q.at(l.theta).k
		for i, l := range lines {
			expected += q.count[i] * l.Decay(last)
		}
		lines = nil
	}
	if err := t2.extend(ctx, c, lines); err != nil {
		return nil, err
	}
	if d := (t2.sums.decay.sum.Value() - t2.re0) / expected; expected < 0 && d > 0 && d < 10 {
		q.decay = d
	}
	return t2, nil
}

// longer is by how much the period is longer than its bound asks: what a period lacks is one-sided, and the estimate, which
// knows nothing of it, should hardly be off by it. steers: time for width.
const longer = 1.15

// maxFrequencies bounds n: kh must be exact for a step h of 30 bits.
const maxFrequencies = 1 << 23

// floorBits rounds x > 0 down to 30 bits.
func floorBits(x float64) float64 {
	f, e := math.Frexp(x)
	return math.Ldexp(math.Floor(f*(1<<30)), e-30)
}

// A choice is a line, the period that it needs, the lines of the two remainders, and about the last frequency and the
// condition.
type choice struct{ theta, lambda, sHigh, sLow, t, condition float64 }

const (
	lineRatio = 1.15 // steers: of neighbouring lines that are tried
	linesDown = 15   // steers: how many of them
)

// choose returns the line on which a table costs least. The saddle has the smallest terms; where rare jumps make the
// upper side heavy, a line on its left needs a far shorter period, and costs terms that are larger than their sum.
func (q *cumulant) choose(ctx context.Context, g goal) choice {
	best, least := choice{}, math.Inf(1)
	base := q.excess(g.theta, g.eps)
	aim := g.logX + xmath.Log(g.tol)
	t, worse := 0.0, 0
	for i := range linesDown + 1 {
		theta := g.theta
		if i > 0 {
			// Those of one grid, so that the next table meets what is known of them.
			theta = math.Pow(lineRatio, math.Ceil(xmath.Log(math.Abs(g.theta))/xmath.Log(lineRatio)-0.5)-float64(i))
		}
		if i > 0 && (g.side != right || worse == 3 || ctx.Err() != nil) {
			break
		}
		// The best line of a remainder is far away in units of the width of the tilted sum.
		kk := q.curvature(theta)
		drop := math.Max(1, q.at(theta).k-theta*g.eps-aim)
		width := math.Sqrt(2 * drop / kk)
		if !(width > 0) || math.IsInf(width, 0) {
			width = math.Max(0.1, math.Abs(theta))
		}
		// The longer period of the two is what counts.
		high, low := q.best(theta, g.eps, aim)
		if i == 0 || high.k > low.k {
			q.explore(theta, width, +1, g.eps, aim, high)
			high, _ = q.best(theta, g.eps, aim)
		}
		if low.k > high.k {
			q.explore(theta, width, -1, g.eps, aim, low)
			_, low = q.best(theta, g.eps, aim)
		}
		c := choice{theta: theta, lambda: math.Max(high.k, low.k), sHigh: high.s, sLow: low.s}
		if q.folded {
			c.t = 1 // all lines have a whole period
			c.lambda = math.Max(c.lambda, q.massPeriod(c, g.eps, aim))
		} else if c.t = q.reach(ctx, c, aim-(q.at(theta).k-theta*g.eps), t); c.t < math.Inf(1) {
			t = c.t
		}
		c.condition = g.own * math.Exp(math.Max(0, q.excess(theta, g.eps)-base))
		lost := c.condition * q.lost() / g.rounding
		last := c.t
		if q.bump != nil {
			last += waveShare * q.bump.Reach(theta, aim-(q.at(theta).k-theta*g.eps))
		}
		cost := c.lambda * last * (1 + lost + lost*lost/10)
		if !q.affords(c, g) {
			cost = math.MaxFloat64 // the last resort
		}
		if cost < least {
			best, least, worse = c, cost, 0
		} else {
			worse++
		}
	}
	return best
}

// lost is about the error of a sum by floating point, as a share of its terms: of laws, what their FFTs lose.
func (q *cumulant) lost() float64 {
	if runs := q.runs(); q.folded && runs < directRuns {
		return math.Max(roundingShare, fftShare*runs)
	}
	return roundingShare
}

// fftShare is about what the FFT of a law loses. steers: digits for period.
const fftShare = 1e-13

// lawError is about the error of a mass of a tilted law. steers: period for width.
const lawError = 1e-14

// massPeriod returns the period at which the rounding of the masses of laws does not count in the series of aliasing.go.
func (q *cumulant) massPeriod(c choice, eps, aim float64) (period float64) {
	x := xmath.Log(q.runs()*lawError) - aim
	if c.sLow < 0 && c.sHigh > 0 {
		period = x / math.Abs(c.theta)
	}
	if c.sLow < -1 && c.sHigh > -1 {
		period = math.Max(period, (x+eps)/math.Abs(1+c.theta))
	}
	return period
}

// error is what the logarithm of one transform may be off on a line.
func (g goal) error(l choice, runs float64) float64 {
	return 0.6 * g.rounding / (math.Max(1, runs) * math.Max(firstOwn, l.condition))
}

// affords reports whether there is work for a table.
func (q *cumulant) affords(l choice, g goal) bool {
	if q.folded {
		return true
	}
	h, lines := 2*math.Pi/l.lambda, q.lines(l.theta)
	if lines == nil || g.work == 0 {
		return true
	}
	return l.t < g.most*h && lines.terms(l.t, h, g.error(l, q.runs())) < float64(g.work)
}

// reconsider corrects the lines of the remainders and the period by all factors, of which a sample knows too little next to a wall:
// one factor may make M there what thousands together do not.
func (c *Composition) reconsider(l *choice, g goal) {
	lambda := 0.0
	for _, s := range []*float64{&l.sHigh, &l.sLow} {
		least, at := math.Inf(1), *s
		for i, d := 0, *s-l.theta; i < mostLooks; i, d = i+1, d*nearerRatio {
			x := l.theta + d
			if x == 0 || x == -1 {
				continue
			}
			need := period(x, l.theta, g.eps, c.total(x), g.logX+xmath.Log(g.tol))
			if need < least {
				least, at = need, x
			} else if !math.IsInf(need, 1) {
				break
			}
			if least < 1.02*l.lambda {
				break
			}
		}
		*s = at
		lambda = math.Max(lambda, least)
	}
	l.lambda = math.Max(l.lambda, lambda)
}

// How many lines of a remainder are tried, and how much nearer to θ each is than the one before where all factors are asked.
const (
	nearerRatio = 0.97 // steers: time for width
	mostLooks   = 12   // steers: time for width
)

// total returns about K(s) of all factors.
func (c *Composition) total(s float64) float64 {
	sum := 0.0
	for i, k := range c.reals(s) {
		sum += float64(c.factors[i].Count) * k
	}
	return sum
}

// reach returns about the frequency from which on a table on the line can end, beginning with a guess t.
func (q *cumulant) reach(ctx context.Context, c choice, aim, t float64) float64 {
	guess := math.Sqrt(2 * math.Max(1, -aim) / q.curvature(c.theta))
	lines := q.lines(c.theta)
	if lines == nil || !(guess > 0) || math.IsInf(guess, 0) {
		return guess
	}
	if t == 0 {
		t = guess
	}
	t, err := q.decline(ctx, t, aim, 2*math.Pi/c.lambda, 1.3, sketchedFall{lines, 2 * math.Pi / c.lambda, 0}, goal{work: math.MaxInt64, most: maxFrequencies})
	if err != nil {
		return math.Inf(1)
	}
	return t
}

// atSaddle returns what a cost on the line theta is at the saddle, where terms are smaller.
func (q *cumulant) atSaddle(cost, theta, saddle, eps float64) float64 {
	return cost / math.Exp(math.Max(0, q.excess(theta, eps)-q.excess(saddle, eps)))
}

// excess is the logarithm of the first term of the sum on the line s, but for the step.
func (q *cumulant) excess(s, eps float64) float64 { return q.at(s).k - s*eps - logPoles(s) }

// explore evaluates K on one side of theta around the point with the smallest
// period: where |s−θ|(K'(s)−ε) = K(s) − sε − aim, the left side of which grows faster. It begins at the best one known.
func (q *cumulant) explore(theta, width, sign, eps, aim float64, known point) {
	d := width
	if !math.IsInf(known.k, 1) {
		d = math.Abs(known.s - theta)
	}
	lo, hi := 0.0, math.Inf(1)
	for i := range mostLooks {
		s := theta + sign*d
		if i == 0 && !math.IsInf(known.k, 1) {
			s = known.s
		}
		if s == 0 || s == -1 {
			s += sign * width * 0x1p-20
		}
		p := q.at(s)
		f := math.Inf(1)
		var ratio float64
		if !math.IsInf(p.k, 0) {
			x, y := d*sign*(p.slope-eps), p.k-s*eps-aim
			f = x - y
			ratio = x / y
		}
		if f > 0 {
			hi = d
		} else {
			lo = d
		}
		if hi-lo < 0.2*hi {
			return
		}
		switch {
		case math.IsInf(hi, 1):
			d *= 1.8
		case lo == 0:
			shrink := 3.0
			if ratio > 0 {
				shrink = math.Max(1.3, math.Min(4, math.Sqrt(ratio)))
			}
			d /= shrink
		default:
			d = math.Sqrt(lo * hi)
		}
		// The minimum is flat: close to the root is enough.
		if ratio > 0.8 && ratio < 1.25 {
			return
		}
	}
}

// best returns the points known on both sides of theta that need the smallest
// period, which is in the k of each.
func (q *cumulant) best(theta, eps, aim float64) (high, low point) {
	high.k, low.k = math.Inf(1), math.Inf(1)
	for _, p := range q.points {
		if p.s == theta || p.s == 0 || p.s == -1 || math.IsInf(p.k, 0) {
			continue
		}
		l := period(p.s, theta, eps, p.k, aim)
		if p.s > theta && l < high.k {
			high = point{s: p.s, k: l}
		}
		if p.s < theta && l < low.k {
			low = point{s: p.s, k: l}
		}
	}
	return high, low
}

// cut returns a t from which on the frequencies together are below the goal, to
// about a tenth, and fills in the lines it used: none where sketches know.
func (q *cumulant) cut(ctx context.Context, p plan, g goal, lines []transform.Line) (float64, error) {
	base := q.at(p.theta)
	// Relative to M(θ): the tail may be e^{logX + logTol − F}·πt.
	aim := g.logX + xmath.Log(g.tol) - (base.k - p.theta*g.eps)
	kk := q.curvature(p.theta)
	t := math.Sqrt(2 * math.Max(1, -aim) / kk)
	if !(t > 0) || math.IsInf(t, 0) {
		t = 8 * p.h
	}
	t = math.Max(t, 2*p.h)
	if t/p.h > maxFrequencies {
		return 0, &NotServed{Reason: "the transform does not decay", Work: maxFrequencies}
	}
	if sketches := q.lines(p.theta); sketches != nil {
		return q.decline(ctx, t, aim, p.h, 1.03, sketchedFall{sketches, p.h, p.tol}, g)
	}
	if err := q.prepare(ctx, p, 1.8*t*(1+g.reserve), lines); err != nil {
		return 0, err
	}
	return q.decline(ctx, t, aim, p.h, 1.12, &certainFall{lines: lines, count: q.count, k: base.k, h: p.h}, g)
}

// A falling is how log |M/M(θ)| of a product falls with the frequency, and what the terms up to one cost.
type falling interface {
	fall(t float64) float64
	cost(t float64) float64
}

// A certainFall is by the bounds of lines; k is log M(θ).
type certainFall struct {
	lines []transform.Line
	count []float64
	k, h  float64
}

func (f *certainFall) fall(t float64) float64 {
	sum := -f.k
	for i, l := range f.lines {
		sum += f.count[i] * l.Decay(t)
	}
	return sum
}

func (f *certainFall) cost(t float64) float64 { return termsOf(f.lines, int(t/f.h)) }

// A sketchedFall is by sketches, for frequencies h apart and errors of tol.
type sketchedFall struct {
	*sketchLines
	h, tol float64
}

func (f sketchedFall) cost(t float64) float64 { return f.terms(t, f.h, f.tol) }

// decline returns a t at which the logarithm of |M/M(θ)| is 1 to most times as deep as the tail needs. It
// gives up where the frequencies are too many for a goal.
func (q *cumulant) decline(ctx context.Context, t, aim, h, most float64, by falling, g goal) (float64, error) {
	var err error
	near := 0.4 * (most - 1)
	u := root(func(u float64) float64 {
		t := math.Exp(u)
		need, fall := aim+xmath.Log(math.Pi*t), q.decay*by.fall(t) // both are negative
		deep := need >= 0 || fall <= need
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
			return 0
		case deep && t <= 2*h:
			return 0
		case !deep && (t/h > g.most || g.work < math.MaxInt64 && by.cost(t) > float64(g.work)):
			err = &NotServed{Reason: "the transform does not decay early enough", Work: int64(math.Min(by.cost(t), 1e18))}
			return 0
		case need >= 0:
			return 20
		case fall >= 0:
			return -20
		}
		return xmath.Log(fall / need)
	}, xmath.Log(t), 1.4, near, 1.5)
	return math.Exp(u + near/2), err
}

// sketchLines are sketches of the lines of the factors of a cumulant.
type sketchLines struct {
	theta float64
	count []float64
	lines []transform.SketchLine
}

// lines returns the sketches at theta, nil unless all factors have one.
func (q *cumulant) lines(theta float64) *sketchLines {
	for _, s := range q.kept {
		if s.theta == theta {
			return s
		}
	}
	s := &sketchLines{theta, q.count, make([]transform.SketchLine, len(q.sketch))}
	for i, f := range q.sketch {
		if s.lines[i] = f.Line(theta); q.bump != nil {
			s.lines[i] = transform.SketchWaves(q.factors[i].Transform, theta)
		}
		if s.lines[i] == nil {
			return nil
		}
	}
	if len(q.kept) > linesDown {
		q.kept = q.kept[1:]
	}
	q.kept = append(q.kept, s)
	return s
}

// fall returns about log |M/M(θ)| at t.
func (s *sketchLines) fall(t float64) float64 {
	sum := 0.0
	for i, l := range s.lines {
		sum += s.count[i] * l.Fall(t)
	}
	return sum
}

// terms returns about the terms of the columns of all lines up to t.
func (s *sketchLines) terms(t, h, tol float64) float64 {
	sum := 0.0
	for _, l := range s.lines {
		sum += transform.ColumnTerms(l.Nodes(t, tol), t/h)
	}
	return sum
}

// termsOf is the number of terms of the columns of all lines with n frequencies.
func termsOf(lines []transform.Line, n int) float64 {
	var sum float64
	for _, l := range lines {
		sum += l.Terms(n)
	}
	return sum
}

// prepare makes the lines of the factors up to reach.
func (q *cumulant) prepare(ctx context.Context, p plan, reach float64, lines []transform.Line) error {
	errs := make([]error, len(lines))
	order, few := q.order, alike
	if len(order) != len(lines) {
		order, few = make([]int, len(lines)), 1
		for i := range order {
			order[i] = i
		}
	}
	workers := min((len(lines)+few-1)/few, runtime.GOMAXPROCS(0))
	parallel.Do(workers, func(w int) {
		for from := w * few; from < len(lines); from += workers * few {
			var like transform.Line
			for _, i := range order[from:min(from+few, len(lines))] {
				if ctx.Err() != nil {
					return
				}
				lines[i], errs[i] = p.line(ctx, q.factors[i].Transform, like, reach)
				like = lines[i]
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	q.reached = reach
	return nil
}
