// The values of all transforms at equidistant frequencies on one line, and their sums.
//
// It assumes transforms that state the error of each value. It returns sums from which any ε can be read
// (certificate.go); a factor more is one more column.

package contour

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A plan fixes a table: the line, the period of the frequencies, the lines of the
// two remainders, and the last frequency.
type plan struct {
	theta, h    float64
	sHigh, sLow float64
	n           int     // the frequencies are 0, h, …, nh
	tol         float64 // wanted error of one log M
}

// lambda is the period 2π/h in ε. h has at most 30 bits, so that kh is exact: the
// theorem needs equidistant frequencies.
func (p plan) lambda() float64 { return 2 * math.Pi / p.h }

// A column is what one factor contributes, without its count.
type column struct {
	re, im, err []float64
	decay       float64 // bound of log |M| at and after frequency n+1
	high, low   float64 // upper bounds of log M(s) at sHigh, sLow
	terms       float64
}

// A table holds the columns of the factors on one line, and their sums.
type table struct {
	plan
	columns []column
	bump    column  // of the composition's bump
	waves   float64 // with a bump: logTail, of the factors that the table was made for
	terms   float64 // of all columns together
	folded  *folded // in place of columns, of laws on a lattice
	sums    sums

	// Sums over the factors. The integrand at ε is
	// e^{re0−θε} Σ_k (a_k + i b_k) e^{i(im_k − kh·ε)}.
	re0       float64
	im, a, b  []float64
	modulus   []float64 // |a + ib|
	mass      float64   // Σ modulus
	quad      float64   // error of the sum that errors of the transforms cause
	round     float64   // error of the sum by floating point, the phase left out
	logTail   float64   // log of the bound of what the frequencies after n add, in units e^{re0−θε}
	logHigh   float64   // upper bounds of log M(sHigh), log M(sLow)
	logLow    float64
	m0, m1    mass
	lastGuess float64 // the ε of the last answer: where the next search starts
}

// extend computes the columns of factors that have none, at the same time, and
// sums again when a factor or a count is new.
func (t *table) extend(ctx context.Context, c *Composition, lines []transform.Line) error {
	first := len(t.columns)
	todo := len(c.factors) - first
	if todo > 0 {
		cols := make([]column, todo)
		errs := make([]error, todo)
		// Neighbours in this order are alike: what served the first of some serves the others, whoever computes them.
		order, few := []int(nil), 1
		if c.known != nil && len(c.known.order) == todo {
			order, few = c.known.order, alike
		} else {
			order = c.inOrder(0)[:todo]
		}
		var next atomic.Int64
		parallel.Do(min((todo+few-1)/few, runtime.GOMAXPROCS(0)), func(int) {
			for {
				from := (int(next.Add(1)) - 1) * few
				if from >= todo {
					return
				}
				var line transform.Line
				for _, i := range order[from:min(from+few, todo)] {
					if ctx.Err() != nil {
						return
					}
					if lines != nil {
						line = lines[first+i]
					} else if line, errs[i] = t.line(ctx, c.factors[first+i].Transform, line, t.plan.last()); errs[i] != nil {
						line = nil
						continue
					}
					cols[i] = newColumn(ctx, c.factors[first+i].Transform, t.plan, line)
					if len(c.factors) > sampleAbove {
						release(c.factors[first+i].Transform)
					}
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
		t.columns = append(t.columns, cols...)
		for _, col := range cols {
			t.terms += col.terms
		}
	}
	t.sum(c)
	return nil
}

// alike is how many neighbours in order of what they contribute take lines after that of the first. steers: time for width.
const alike = 16

// last is the first frequency that is left out.
func (p plan) last() float64 { return float64(p.n+1) * p.h }

// line prepares the line of a factor up to the frequency last, after that of a similar one, nil for none.
func (p plan) line(ctx context.Context, f transform.Transform, like transform.Line, last float64) (line transform.Line, err error) {
	if l, ok := f.(transform.Follower); ok {
		line, err = l.LineAfter(ctx, like, p.theta, last, p.tol, 0)
	} else {
		line, err = f.Line(ctx, p.theta, last, p.tol, 0)
	}
	if err != nil && ctx.Err() == nil {
		err = &NotServed{Reason: err.Error()}
	}
	return line, err
}

// newColumn evaluates one factor. The frequencies beyond the first 64 look at ctx from time to time: a column is not
// to be used once that is done.
func newColumn(ctx context.Context, f transform.Transform, p plan, line transform.Line) column {
	store := make([]float64, 3*(p.n+1))
	col := column{re: store[:p.n+1], im: store[p.n+1 : 2*p.n+2], err: store[2*p.n+2:], terms: line.Terms(p.n + 1)}
	if c, ok := line.(transform.Columner); !ok || !c.Column(p.h, col.re, col.im, col.err) {
		for k := range col.re {
			if k&63 == 63 && ctx.Err() != nil {
				return col
			}
			col.re[k], col.im[k], col.err[k] = line.LogM(float64(k) * p.h)
		}
	}
	col.decay = line.Decay(p.last())
	col.high = realBound(f, p.sHigh)
	col.low = realBound(f, p.sLow)
	return col
}

// realBound returns an upper bound of log M(s), +Inf where there is none.
func realBound(f transform.Transform, s float64) float64 {
	k, _, err := f.Real(s)
	if b := k + err; !math.IsNaN(b) {
		return b + 2*xmath.U*math.Abs(b)
	}
	return math.Inf(1)
}

// phaseError bounds, in units of u, the error of one term of the frequency sum that
// does not grow with its exponent and phase: exp 2, sine and cosine 2, products and
// the complex division 11 make 15; the compensated sum adds 2.
const phaseError = 24

// A total is Σ T_i x_i over the columns so far: the products are exact and the sum is
// compensated, so that its error is 2u of the result and m²u² of the sum of moduli.
type total struct {
	sum xmath.Sum
	abs float64
}

func (a *total) add(count, x float64) {
	a.sum.AddProduct(count, x)
	a.abs += count * math.Abs(x)
}

// above returns an upper bound of the total; one infinite term makes it so.
func (a *total) above(share float64) float64 {
	if math.IsInf(a.abs, 0) || math.IsNaN(a.abs) {
		return math.Inf(1)
	}
	v := a.sum.Value()
	return v + 2*xmath.U*math.Abs(v) + 1.01*share*a.abs
}

// A frequency is the sums over the factors at one frequency.
type frequency struct {
	re, im, eta total
	unknown     bool // the logarithm of some factor
}

// sums are all sums over the columns so far, in their order: another column, or more runs of
// one, cost that column.
type sums struct {
	counts           []int64 // of the columns so far
	terms            int     // how many were added: a column that grew is several
	at               []frequency
	decay, high, low total
	m0, m1           massTotal
	large            bool // some count is above 2^53, and so rounded
}

// add adds so many runs of a column, those of f.
func (s *sums) add(f Factor, col *column) {
	count := float64(f.Count)
	for k := range s.at {
		a := &s.at[k]
		a.re.add(count, col.re[k])
		a.im.add(count, col.im[k])
		if math.IsInf(col.err[k], 0) || math.IsNaN(col.err[k]) {
			a.unknown = true
		} else {
			a.eta.add(count, col.err[k])
		}
	}
	s.decay.add(count, col.decay)
	s.bounds(f, col.high, col.low)
}

// bounds adds what a factor has beside its frequencies: log M(s) of one run on both lines beside, and the masses.
func (s *sums) bounds(f Factor, high, low float64) {
	s.terms++
	s.large = s.large || f.Count > 1<<53
	count := float64(f.Count)
	s.high.add(count, high)
	s.low.add(count, low)
	pInf, qInf := f.Transform.Infinite()
	s.m0.add(f, pInf, 0)
	s.m1.add(f, qInf, -1)
}

// current reports whether the sums are those of the factors and counts as they are.
func (t *table) current(c *Composition) bool {
	return slices.EqualFunc(t.sums.counts, c.factors, func(n int64, f Factor) bool { return n == f.Count })
}

// maxTerms bounds how many terms a sum may have before it is made anew: m²u² stays far below u.
const maxTerms = 1 << 22

// sum brings the sums up to date, and what follows from them.
func (t *table) sum(c *Composition) {
	const u = xmath.U
	n := t.n + 1
	for i, count := range t.sums.counts {
		if c.factors[i].Count < count || t.sums.terms > maxTerms {
			t.sums = sums{}
			break
		}
	}
	if t.sums.at == nil {
		t.sums.at = make([]frequency, n)
	}
	before := t.sums.terms
	for i, f := range c.factors {
		if i == len(t.sums.counts) {
			t.sums.counts = append(t.sums.counts, 0)
		}
		if more := f.Count - t.sums.counts[i]; more > 0 {
			t.sums.add(Factor{f.Transform, more}, &t.columns[i])
			t.sums.counts[i] = f.Count
		}
	}
	if t.sums.terms == before {
		return
	}
	if c.bump != nil && before == 0 {
		t.sums.add(Factor{c.bump, 1}, &t.bump)
	}
	if t.im == nil {
		store := make([]float64, 4*n)
		t.im, t.a, t.b, t.modulus = store[:n], store[n:2*n], store[2*n:3*n], store[3*n:]
	}
	share := t.sums.share()

	t.mass, t.quad, t.round = 0, 0, 0
	for k := range t.sums.at {
		q := &t.sums.at[k]
		x, y := q.re.sum.Value(), q.im.sum.Value()
		if k == 0 {
			t.re0 = x
		}
		rounding := c.scale.rounding * (2*u*(math.Abs(x)+math.Abs(y)) + share*(q.re.abs+q.im.abs))
		transform := c.scale.transform * q.eta.above(share) * (1 + 8*u)
		f := float64(k) * t.h
		weight := t.h / math.Pi
		if k == 0 {
			weight /= 2
		}
		p := t.theta * (1 + t.theta)
		d := (t.theta*t.theta + f*f) * ((1+t.theta)*(1+t.theta) + f*f)
		t.im[k], t.a[k], t.b[k], t.modulus[k] = y, 0, 0, 0
		if q.unknown || !(transform+rounding < 0.5) {
			// Nothing is known about the phase: the term is left out, and its bound counted.
			bound := x + transform + rounding - t.re0
			t.quad += weight * math.Exp(bound) / math.Sqrt(d) * (1 + 64*u + 4*u*math.Abs(bound))
			continue
		}
		e := weight * math.Exp(x-t.re0)
		t.a[k] = e * (p - f*f) / d
		t.b[k] = -e * f * (2*t.theta + 1) / d
		t.modulus[k] = e / math.Sqrt(d)
		t.mass += t.modulus[k]
		t.quad += t.modulus[k] * math.Expm1(transform) * 1.000001
		t.round += t.modulus[k] * (2*rounding + c.scale.rounding*u*(phaseError+4*math.Abs(x-t.re0)))
	}
	// Plain sums of at most 2^23 positive terms.
	t.quad *= 1 + 1e-8
	t.round *= 1 + 1e-8

	t.logTail = t.sums.decay.above(share) - t.re0
	t.logTail += 4*u*(math.Abs(t.logTail)+math.Abs(t.re0)+1) - xmath.Log(math.Pi*float64(t.n)*t.h)
	if c.bump != nil {
		// Over the values at θ, which re0 is to their errors.
		t.logTail = t.waves + 1e-6 + t.sums.at[0].eta.above(share) + 4*u*math.Abs(t.re0)
	}
	t.ends(share)
}

// share is what a total of the sums may have lost, over that of its moduli.
func (s *sums) share() float64 {
	m := float64(s.terms)
	share := 4 * m * m * xmath.U * xmath.U
	if s.large {
		share += xmath.U
	}
	return share
}

// ends brings up to date what a table knows beside its frequencies.
func (t *table) ends(share float64) {
	t.logHigh = t.sums.high.above(share)
	t.logLow = t.sums.low.above(share)
	t.m0, t.m1 = t.sums.m0.value(share), t.sums.m1.value(share)
}
