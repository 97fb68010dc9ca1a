package contour

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Options are what a question wants. The zero value asks for 1e-9.
type Options struct {
	// Relative and Absolute are the wanted width: Upper − Lower at most the larger of
	// Relative·|ε| and Absolute for Epsilon; for Delta, the same of log δ (where that is
	// near 0, Relative itself). 0 and 0 mean a relative width of 1e-9.
	Relative, Absolute float64
	// Work limits the terms (nodes × frequencies, summed over the factors) that one
	// question may take, so that every question ends after the same work on every
	// machine. 0 means 5e6, and 2e4 more for each factor.
	Work int64
	// Reserve is the share by which tables reach further than the question needs, for
	// questions to come; 0.3 suits a running total, whose every next step needs a little more.
	Reserve float64
	// Easy gives a question up, with no answer and at little cost, when quick values that prove nothing predict
	// that it takes a good part of the work or loses too many digits. The error says that more work may help.
	Easy bool
	// Epsilon and Theta, where Theta is not 0, are those of the answer to a similar
	// question: the search starts there. Guessed says that they are only a guess.
	Epsilon, Theta float64
	Guessed        bool
}

func (o *Options) check() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"relative", o.Relative}, {"absolute", o.Absolute}, {"reserve", o.Reserve}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("%s: %v is not in [0, Inf)", v.name, v.value)
		}
	}
	if o.Work < 0 {
		return fmt.Errorf("work: %d is negative", o.Work)
	}
	if math.IsNaN(o.Epsilon) || math.IsInf(o.Epsilon, 0) || math.IsNaN(o.Theta) || math.IsInf(o.Theta, 0) {
		return fmt.Errorf("start: %v, %v are not finite", o.Epsilon, o.Theta)
	}
	if o.Relative == 0 && o.Absolute == 0 {
		o.Relative = 1e-9
	}
	return nil
}

// A Report says how an answer came about.
type Report struct {
	Theta, Lambda float64 // the line and the period in ε
	Frequencies   int
	Tables        int   // how many were made for this question; 0: an earlier one served
	Work          int64 // terms evaluated
	// What the parts of the error contribute to the answer, in ε for Epsilon and in
	// log δ for Delta: the periods beside, the frequencies left out, the errors of the
	// transforms, floating point.
	Aliasing, Truncation, Quadrature, Rounding float64
}

// An EpsilonAnswer is a certified interval of ε(δ). Without one, it is (−Inf, +Inf).
type EpsilonAnswer struct {
	Lower, Upper float64
	Estimate     float64 // NaN if there is none
	Report
}

// A DeltaAnswer is a certified interval of log δ(ε) and of log(1 − δ(ε)), each to a
// relative accuracy of its own; (−Inf, 0) where it was not computed.
type DeltaAnswer struct {
	LogLower, LogUpper                     float64
	LogComplementLower, LogComplementUpper float64
	Report
}

// cheap is the number of terms of one factor that a table may have whose ε is a guess.
const cheap = 1e5

// hopeless is how often the work limit a table may need by the first guess of ε, that is often too small
// where jumps are rare, before the question is given up.
const hopeless = 30

// nearby is how close the logarithm of a quantity must be to the target for its ε to be a start.
const nearby = 1

// maxTables bounds how many tables one question may make.
const maxTables = 8

// budget is the state of one question.
type budget struct {
	opt    Options
	work   int64 // left
	report Report
}

// width is the wanted width of a logarithm of about that size.
func (b *budget) width(log float64) float64 {
	if math.IsInf(log, 0) || math.IsNaN(log) {
		log = 0
	}
	return math.Max(b.opt.Relative*math.Max(1, math.Abs(log)), b.opt.Absolute)
}

func (c *Composition) begin(opt Options) (*budget, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if len(c.factors) == 0 {
		return nil, &NotServed{Reason: "no factors"}
	}
	b := &budget{opt: opt, work: opt.Work}
	if b.work == 0 {
		b.work = 5e6 + 2e4*int64(len(c.factors))
	}
	return b, nil
}

// extend brings an earlier table up to date, and reports whether it serves.
func (c *Composition) extend(ctx context.Context, t *table, b *budget) (bool, error) {
	missing := len(c.factors) - len(t.columns)
	if missing > 0 {
		cost := int64(float64(t.nodes)/float64(len(t.columns))+1) * int64(missing) * int64(t.n+1)
		if cost > b.work {
			return false, nil
		}
		b.work -= cost
		b.report.Work += cost
	}
	err := t.extend(ctx, c, nil)
	var not *NotServed
	if errors.As(err, &not) {
		return false, nil
	}
	return err == nil, err
}

// tabulate makes a table, and keeps it.
func (c *Composition) tabulate(ctx context.Context, q *cumulant, g goal, b *budget) (*table, error) {
	g.reserve = b.opt.Reserve
	// The sum may be smaller than its terms by the condition.
	g.perFactorTol = 0.6 * math.Exp(g.logTol) / (math.Max(1, c.runs()) * math.Max(g.seen, math.Max(30, g.condition)))
	t, err := c.build(ctx, q, g)
	if err != nil {
		return nil, err
	}
	cost := t.nodes * int64(t.n+1)
	b.work -= cost
	b.report.Work += cost
	b.report.Tables++
	if len(c.tables) == keptTables {
		copy(c.tables, c.tables[1:])
		c.tables = c.tables[:keptTables-1]
	}
	c.tables = append(c.tables, t)
	return t, nil
}

// used moves table i to the end of the list.
func (c *Composition) used(i int) {
	t := c.tables[i]
	copy(c.tables[i:], c.tables[i+1:])
	c.tables[len(c.tables)-1] = t
}

func (b *budget) describe(t *table, r reading, scale float64) Report {
	rep := b.report
	rep.Theta, rep.Lambda, rep.Frequencies = t.theta, t.lambda(), t.n+1
	rep.Aliasing, rep.Truncation = r.aliasing*scale, r.truncation*scale
	rep.Quadrature, rep.Rounding = r.quadrature*scale, r.rounding*scale
	return rep
}

// Epsilon returns ε(δ) for log δ < 0. The error is a *NotServed when the answer beside
// it, which is proved all the same, is not as narrow as wanted.
func (c *Composition) Epsilon(ctx context.Context, logDelta float64, opt Options) (EpsilonAnswer, error) {
	ans := EpsilonAnswer{Lower: math.Inf(-1), Upper: math.Inf(1), Estimate: math.NaN()}
	if !(logDelta < 0) || math.IsInf(logDelta, 0) {
		return ans, fmt.Errorf("logDelta: %v is not in (-Inf, 0)", logDelta)
	}
	b, err := c.begin(opt)
	if err != nil {
		return ans, err
	}
	d, target, logX := right, logDelta, logDelta
	slack := 2 * xmath.U * math.Abs(logDelta) // the rounding of the logarithm of δ
	if logDelta > -math.Ln2 {
		d = middle
		target = math.Log(-math.Expm1(logDelta))
		slack = 8 * xmath.U * (1 + math.Abs(target))
		logX = target
	} else if m0, _ := c.finite(); m0.log < 0 {
		least, infinite, _ := m0.infinite()
		if logDelta+slack < least {
			// δ is never below P(L = +∞).
			ans.Lower, ans.Estimate = math.Inf(1), math.Inf(1)
			return ans, nil
		}
		if logX = xmath.LogSub(logDelta, infinite); !(logX > logDelta-34) {
			return ans, &NotServed{Reason: "δ is the probability of an infinite loss"}
		}
	}

	done := func() bool {
		size := math.Max(math.Abs(ans.Upper), math.Abs(ans.Lower))
		return !math.IsInf(size, 1) && ans.Upper-ans.Lower <= math.Max(opt.Relative*size, opt.Absolute)
	}
	opt = b.opt
	guess, theta := math.NaN(), 0.0
	take := func(t *table, eps float64) found {
		f := t.solve(target, slack, eps, ans.Lower, ans.Upper, &c.scale)
		if f.reading.low > math.Inf(-1) && f.reading.high-f.reading.low < 1 {
			guess, theta, t.lastGuess = f.eps, t.theta, f.eps
		}
		width := ans.Upper - ans.Lower
		ans.Lower, ans.Upper = math.Max(ans.Lower, f.lower), math.Min(ans.Upper, f.upper)
		if math.IsNaN(ans.Estimate) || f.upper-f.lower < width {
			ans.Estimate = f.eps
			ans.Report = b.describe(t, f.reading, 1/math.Abs(f.reading.slope))
		} else {
			ans.Work, ans.Tables = b.report.Work, b.report.Tables
		}
		return f
	}
	for i := len(c.tables) - 1; i >= 0; i-- {
		t := c.tables[i]
		if sideOf(t.theta) != d {
			continue
		}
		if ok, err := c.extend(ctx, t, b); err != nil {
			return ans, err
		} else if !ok {
			continue
		}
		eps, line := guess, theta
		f := take(t, t.lastGuess)
		if done() {
			c.used(i)
			return ans, nil
		}
		if !(math.Abs(f.reading.mid-target) < nearby) {
			// Its sum is noise before ε is as far out as δ wants: it knows of no place to start.
			guess, theta = eps, line
		}
	}

	q := c.cumulant()
	guessKnown := guess
	switch {
	case !math.IsNaN(guess):
		q = c.resample(q, theta)
		theta = q.saddle(d, guess, theta)
	case opt.Theta != 0 && sideOf(opt.Theta) == d:
		if guess = opt.Epsilon; !opt.Guessed {
			guessKnown = guess
		}
		q = c.resample(q, opt.Theta)
		theta = q.saddle(d, guess, opt.Theta)
	default:
		guess, theta = q.start(d, logX)
		if r := c.resample(q, theta); r != q {
			q = r
			guess, theta = q.start(d, logX)
		}
	}
	try := effort{goal: 1, condition: 1, own: 1}
	atSaddle := 0.0
	terms := math.Inf(1) // that the first table may take
	if d == right && math.IsNaN(guessKnown) && q.lines(theta) != nil && q.doubtful(theta) {
		guess, theta, atSaddle = q.refine(logX, guess, theta)
		try.own = math.Max(1, math.Min(atSaddle/1e3, 1e6))
		if opt.Easy {
			if terms, err = q.uneasy(theta, atSaddle, float64(b.work)); err != nil {
				return ans, err
			}
		}
	}
	blind := math.IsNaN(guessKnown) && atSaddle == 0
	for range maxTables {
		width := math.Max(opt.Relative*math.Abs(guess), opt.Absolute)
		tol := math.Max(1e-12, math.Min(1e-4, width*math.Min(math.Abs(theta), 1e3)/12)) * try.goal
		condition := try.allowed(tol)
		g := goal{side: d, eps: guess, logX: logX, theta: theta, logTol: math.Log(tol), condition: condition, seen: math.Max(try.seen, atSaddle*condition), work: b.work, hopeless: float64(b.work)}
		if blind {
			// Where a table is dear, the first one only has to find out where ε is.
			g.work = min(b.work, cheap*int64(len(c.factors)))
			g.hopeless = hopeless * float64(b.work)
		}
		g.hopeless = math.Min(g.hopeless, terms)
		terms = math.Inf(1)
		t, err := c.tabulate(ctx, q, g, b)
		var not *NotServed
		if blind && errors.As(err, &not) && not.Work > 0 && float64(not.Work) < g.hopeless {
			g.logTol, g.work, g.hopeless = math.Log(1e-3), b.work, float64(b.work)
			t, err = c.tabulate(ctx, q, g, b)
		}
		blind = false
		if err != nil {
			return ans, err
		}
		before := guess
		f := take(t, guess)
		if done() {
			return ans, nil
		}
		moved := math.Abs(guess-before) > 0.01*math.Max(math.Abs(guess), 1e-3)
		if f.reading.low == math.Inf(-1) || math.IsNaN(f.eps) {
			// The line is so far from the answer that nothing is known: go where the sum
			// points to, and doubt less next time.
			if !math.IsNaN(f.eps) && f.eps != guess {
				guess = f.eps
			}
			try.condition = math.Max(try.condition/10, 1e-3)
			try.goal = math.Max(try.goal/4, 1e-3)
		} else if !moved && !try.after(f.reading) {
			return ans, &NotServed{Reason: "floating point does not reach the width"}
		}
		last := theta
		theta = q.saddle(d, guess, theta)
		if d == right && !math.IsNaN(f.eps) {
			try.learn(q, f.reading, last, f.eps, theta)
		}
	}
	return ans, &NotServed{Reason: "the width was not reached"}
}

// An effort is how much more than planned the next table of a question tries: shares of the
// goal of its errors and of the condition allowed, and the condition of the last table, by
// which the errors of the transforms count.
// own is what of that is not the choice of the line: the condition at the saddle.
type effort struct{ goal, condition, seen, own float64 }

// allowed is how far above the smallest possible the terms of a sum may be, for errors of tol.
func (e *effort) allowed(tol float64) float64 {
	return math.Max(1.5, math.Max(30, math.Min(1e4, tol/1e-14))*e.condition/e.own)
}

// learn takes the own condition from a table.
func (e *effort) learn(q *cumulant, r reading, theta, eps, saddle float64) {
	if c := r.condition; c > 0 && !math.IsInf(c, 0) {
		loss := math.Exp(math.Max(0, q.excess(theta, eps)-q.excess(saddle, eps)))
		if own := c / loss / 30; own > e.own {
			e.own = math.Min(own, 1e6)
		}
	}
}

// after turns up what the last table lacked. It returns false when that was tried before.
func (e *effort) after(r reading) bool {
	if math.Max(r.rounding, r.quadrature) <= math.Max(r.aliasing, r.truncation) {
		e.goal /= 20
		return true
	}
	if r.quadrature > 8*r.rounding && r.condition > 4*e.seen {
		// The nodes were too few; what the transforms lose by floating point is a few
		// times the rounding here.
		e.seen = r.condition
		return true
	}
	e.seen = math.Max(e.seen, r.condition)
	if e.condition <= 1e-3 {
		return false
	}
	e.condition /= 20
	return true
}

// found is what a table knows about the ε of a quantity.
type found struct {
	eps          float64 // where the quantity is as wanted, by the table's own value
	lower, upper float64 // certified
	reading      reading // at eps
}

// solve finds ε with quantity e^target in a table, and certified ends. Every reading that
// is certified to lie on one side of the target is an end, too: lower and upper are those
// known before.
func (t *table) solve(target, slack, eps, lower, upper float64, scale *terms) found {
	f := found{eps: math.NaN(), lower: lower, upper: upper, reading: reading{low: math.Inf(-1), high: math.Inf(1)}}
	dir := sideOf(t.theta).slope()
	limit := t.lambda() / 4
	read := func(eps float64) reading {
		r := t.read(eps, scale)
		r.low, r.high = r.low-slack, r.high+slack
		return r
	}
	lo, hi := lower, upper // where the root is by the values, which may be noise
	inside := func(x float64) float64 {
		if x > lo && x < hi {
			return x
		}
		switch {
		case !math.IsInf(lo, 0) && !math.IsInf(hi, 0):
			return lo + (hi-lo)/2
		case math.IsInf(hi, 0):
			return lo + limit
		}
		return hi - limit
	}
	eps = inside(eps)
	for range 60 {
		r := read(eps)
		if math.IsNaN(r.mid) || !(r.slope*dir > 0) {
			// The sum is noise here: the quantity is too small for its terms. It is larger on
			// the other side.
			if dir < 0 {
				hi = eps
			} else {
				lo = eps
			}
			next := inside(eps + dir*math.Min(limit, 8/math.Abs(t.theta)))
			if next == eps || math.Abs(next-eps) < 1e-13*math.Abs(eps) {
				break
			}
			eps = next
			continue
		}
		f.eps, f.reading = eps, r
		if dir*(r.mid-target) <= 0 {
			lo = eps
		} else {
			hi = eps
		}
		if dir*(pick(r, dir > 0)-target) <= 0 {
			f.lower = math.Max(f.lower, eps)
		}
		if dir*(pick(r, dir < 0)-target) >= 0 {
			f.upper = math.Min(f.upper, eps)
		}
		step := (target - r.mid) / r.slope
		if math.Abs(step) > limit {
			step = math.Copysign(limit, step)
		}
		noise := 0.02 * (r.high - r.low) / math.Abs(r.slope)
		if math.Abs(step) <= math.Max(math.Min(noise, 1e-6*math.Abs(eps)), 2*xmath.U*math.Abs(eps)) {
			break
		}
		next := inside(eps + step)
		if next == eps || next <= lo || next >= hi {
			break
		}
		eps = next
	}
	if math.IsNaN(f.eps) {
		return f
	}
	r := f.reading
	slope := math.Abs(r.slope)
	// Upwards a decreasing quantity must have its upper bound below the target, an
	// increasing one its lower bound above it; downwards the other way round.
	f.upper = math.Min(f.upper, certify(read, f.eps, math.Max(0, dir*(target-pick(r, dir < 0)))/slope, func(r reading) bool {
		return dir*(pick(r, dir < 0)-target) >= 0
	}))
	f.lower = math.Max(f.lower, certify(read, f.eps, -math.Max(0, dir*(pick(r, dir > 0)-target))/slope, func(r reading) bool {
		return dir*(pick(r, dir > 0)-target) <= 0
	}))
	return f
}

func pick(r reading, high bool) float64 {
	if high {
		return r.high
	}
	return r.low
}

// certify goes from eps by 1.05·step, and further while the condition is not met. It
// returns an infinite end when it never is.
func certify(read func(float64) reading, eps, step float64, met func(reading) bool) float64 {
	sign := math.Copysign(1, step)
	if math.IsInf(step, 0) || math.IsNaN(step) {
		return math.Copysign(math.Inf(1), step)
	}
	d := 1.05*math.Abs(step) + 4*xmath.U*math.Abs(eps) + math.SmallestNonzeroFloat64
	for range 12 {
		if x := eps + sign*d; met(read(x)) {
			return x
		}
		d *= 1.5
	}
	return math.Copysign(math.Inf(1), sign)
}

// Delta returns δ(ε) for any finite ε.
func (c *Composition) Delta(ctx context.Context, eps float64, opt Options) (DeltaAnswer, error) {
	ans := DeltaAnswer{LogLower: math.Inf(-1), LogComplementLower: math.Inf(-1)}
	b, err := c.begin(opt)
	if err != nil {
		return ans, err
	}
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return ans, fmt.Errorf("epsilon: %v is not a finite number", eps)
	}
	q := c.cumulant()
	d := right
	mean := q.at(0).slope
	if math.IsInf(mean, 0) {
		mean = 0 // 0 is at the end of the strip
	}
	if eps < mean {
		d = middle // more likely than not, the loss is above ε
	}
	low, high, rep, err := c.quantity(ctx, q, d, eps, b)
	ans.Report = rep
	if d == right {
		ans.LogLower, ans.LogUpper = low, math.Min(0, high)
		ans.LogComplementLower, ans.LogComplementUpper = complement(low, math.Min(0, high))
	} else {
		ans.LogComplementLower, ans.LogComplementUpper = low, math.Min(0, high)
		ans.LogLower, ans.LogUpper = complement(low, math.Min(0, high))
	}
	return ans, err
}

// complement turns an interval of log x into one of log(1−x), rounded outward by what
// log1p, expm1 and exp may lose.
func complement(low, high float64) (float64, float64) {
	const e = 16 * xmath.U
	f := func(x float64) float64 { return xmath.Log1mExp(x) }
	l, h := f(high), f(low)
	return l - e*(1+math.Abs(l)), math.Min(0, h+e*math.Abs(h))
}

// quantity returns bounds of the logarithm of the quantity of a side at ε.
func (c *Composition) quantity(ctx context.Context, q *cumulant, d side, eps float64, b *budget) (low, high float64, rep Report, err error) {
	low, high = math.Inf(-1), math.Inf(1)
	want := 0.0
	logX, theta := math.NaN(), 0.0
	var last reading
	take := func(t *table) bool {
		r := t.read(eps, &c.scale)
		if r.high-r.low < high-low || rep.Frequencies == 0 {
			rep = b.describe(t, r, 1)
		}
		rep.Work, rep.Tables = b.report.Work, b.report.Tables
		low, high = math.Max(low, r.low), math.Min(high, r.high)
		want = b.width(high)
		if high-low < 1 {
			theta, t.lastGuess = t.theta, eps
			if m0, m1 := c.finite(); m0 == (mass{}) && m1 == (mass{}) {
				logX = (low + high) / 2
			}
		}
		last = r
		return high-low <= want
	}
	for i := len(c.tables) - 1; i >= 0; i-- {
		t := c.tables[i]
		if sideOf(t.theta) != d {
			continue
		}
		if ok, err := c.extend(ctx, t, b); err != nil {
			return low, high, rep, err
		} else if ok && take(t) {
			c.used(i)
			return low, high, rep, nil
		}
	}
	theta = q.saddle(d, eps, theta)
	if r := c.resample(q, theta); r != q {
		q = r
		theta = q.saddle(d, eps, theta)
	}
	if math.IsNaN(logX) {
		// The saddle-point approximation.
		kk := q.curvature(theta) + 1/(theta*theta) + 1/((1+theta)*(1+theta))
		logX = q.at(theta).k - theta*eps - logPoles(theta) - 0.5*math.Log(2*math.Pi*math.Max(kk, 1e-300))
	}
	want = b.width(logX)
	try := effort{goal: 1, condition: 1, own: 1}
	for range maxTables {
		tol := math.Max(1e-12, math.Min(1e-4, want/12)) * try.goal
		t, err := c.tabulate(ctx, q, goal{
			side: d, eps: eps, logX: logX, theta: theta, logTol: math.Log(tol), work: b.work, hopeless: float64(b.work),
			condition: try.allowed(tol), seen: try.seen,
		}, b)
		if err != nil {
			return low, high, rep, err
		}
		if take(t) {
			return low, high, rep, nil
		}
		if !try.after(last) {
			return low, high, rep, &NotServed{Reason: "floating point does not reach the width"}
		}
	}
	return low, high, rep, &NotServed{Reason: "the width was not reached"}
}
