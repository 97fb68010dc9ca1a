// δ(ε) from the tables of a composition.
//
// It assumes a finite ε. It returns bounds of log δ and of log(1 − δ), the one from the other where that
// is no difference of near-equal numbers.

package contour

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Delta returns δ(ε) for any finite ε.
func (c *Composition) Delta(ctx context.Context, eps float64, opt Options) (ans DeltaAnswer, err error) {
	ans = DeltaAnswer{LogLower: math.Inf(-1), LogComplementLower: math.Inf(-1)}
	b, err := c.begin(opt)
	if err != nil {
		return ans, err
	}
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return ans, fmt.Errorf("epsilon: %v is not a finite number", eps)
	}
	if c.lattice != nil && eps >= c.largest() {
		m0, _ := c.finite()
		ans.LogLower, _, ans.LogUpper = m0.infinite()
		ans.LogUpper = math.Min(0, ans.LogUpper)
		ans.LogComplementLower, ans.LogComplementUpper = complement(ans.LogLower, ans.LogUpper)
		return ans, nil
	}
	q := c.cumulant()
	d := q.sideAt(eps)
	if d == middle && c.lattice != nil {
		// By Chernoff's bound of 1 − δ, δ may be known as well as asked.
		high := math.Min(0, c.boundAt(q.saddle(d, eps, 0)).at(eps))
		if least, _ := complement(math.Inf(-1), high); least >= -math.Max(b.opt.Relative, b.opt.Absolute) {
			ans.LogLower, ans.LogComplementUpper = least, high
			return ans, nil
		}
	}
	low, high, rep, err := c.quantity(ctx, q, d, eps, b)
	ans.Report = rep
	ans.Work, ans.Tables = b.report.Work, b.report.Tables
	var not *NotServed
	if errors.As(err, &not) && d == right {
		high = math.Min(high, c.boundAt(q.saddle(d, eps, 0)).at(eps))
	}
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

// leastPart is how far, in logarithm, the part of finite losses may be below the whole: next to rounding nothing is known of it.
const leastPart = 34

// finitePart returns about the logarithm of the part of a quantity that finite losses make, NaN where that cannot be told.
func (c *Composition) finitePart(d side, logQuantity float64) float64 {
	m0, _ := c.finite()
	if d != right || m0.log >= 0 {
		return logQuantity
	}
	_, infinite, _ := m0.infinite()
	if x := xmath.LogSub(logQuantity, infinite); x > logQuantity-leastPart {
		return x
	}
	return math.NaN()
}

// quantity returns bounds of the logarithm of the quantity of a side at ε.
func (c *Composition) quantity(ctx context.Context, q *cumulant, d side, eps float64, b *budget) (low, high float64, rep Report, err error) {
	low, high = math.Inf(-1), math.Inf(1)
	want := 0.0
	logX, theta := math.NaN(), 0.0
	var last reading
	take := func(t *table) bool {
		r := t.read(eps, &c.scale)
		b.spend(t.readings())
		if r.high-r.low < high-low || rep.Frequencies == 0 {
			rep = b.describe(t, r, 1)
		}
		low, high = math.Max(low, r.low), math.Min(high, r.high)
		want = b.width(high)
		if high-low < 1 {
			theta, t.lastGuess = t.theta, eps
			logX = c.finitePart(d, (low+high)/2)
		} else if high < logX {
			logX = high // less was foreseen of the digits that the sum loses
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
		logX = q.approximate(theta, eps)
	}
	want = b.width(logX)
	try := newEffort(1)
	for range c.tableLimit() {
		tol := math.Max(1e-12, math.Min(1e-4, want/12))
		t, err := c.tabulate(ctx, q, goal{
			side: d, eps: eps, logX: logX, theta: theta, tol: tol * try.finer, rounding: 10 * tol, own: try.own, work: b.work, most: maxFrequencies,
		}, b)
		if err != nil {
			return low, high, rep, err
		}
		if take(t) {
			return low, high, rep, nil
		}
		if !try.after(last, q.atSaddle(last.cost(), t.theta, theta, eps)) {
			return low, high, rep, &NotServed{Reason: "floating point does not reach the width"}
		}
	}
	return low, high, rep, &NotServed{Reason: "the width was not reached"}
}
